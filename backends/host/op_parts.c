/* SPDX-License-Identifier: Apache-2.0 */
#include "host/op_parts.h"

#include <stdlib.h>

#include "codelet/threads.h"

static const hac_op_kernels *best_kernels(void)
{
#if defined(HAC_KERNELS_X86_64)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
        return &hac_op_kernels_x86_64_v4;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt"))
        return &hac_op_kernels_x86_64_v3;
#endif
    return &hac_op_kernels_baseline;
}

const hac_op_kernels *hac_op_kernels_best(void)
{
    static const hac_op_kernels *best;
    const hac_op_kernels *known = __atomic_load_n(&best, __ATOMIC_RELAXED);
    if (known == NULL) {
        known = best_kernels();
        __atomic_store_n(&best, known, __ATOMIC_RELAXED);
    }
    return known;
}

hac_op_number hac_op_number_of(unsigned kind)
{
    switch (kind) {
    case HAC_KIND_F32:
        return HAC_OP_F32;
    case HAC_KIND_F64:
        return HAC_OP_F64;
    case HAC_KIND_I32:
    case HAC_KIND_I64:
        return HAC_OP_I64;
    default:
        return HAC_OP_U64;
    }
}

size_t hac_op_number_size(hac_op_number number)
{
    return number == HAC_OP_F32 ? 4 : 8;
}

typedef struct rows_work {
    hac_op_rows_work work;
    void *context;
    uint64_t first, count, step;
} rows_work;

static hac_status do_piece(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    const rows_work *w = context;
    uint64_t at = item * w->step, left = w->count - at;
    return w->work(w->context, w->first + at, left < w->step ? left : w->step, worker, err);
}

hac_status hac_op_for_rows(uint64_t first, uint64_t count, uint64_t step, hac_op_rows_work work,
                           void *context, hac_error *err)
{
    rows_work w = {.work = work, .context = context, .first = first, .count = count, .step = step};
    uint64_t n = count / step + (count % step != 0);
    return n == 0 ? HAC_OK : hac_pool_run_near(n, do_piece, &w, err);
}

void *hac_op_alloc(uint64_t n, uint64_t size)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX - 64)
        return NULL;
    return aligned_alloc(64, bytes == 0 ? 64 : (bytes + 63) / 64 * 64);
}

const void *hac_op_numbers(const hac_op_vector *v, hac_op_number number, uint64_t first, uint64_t n,
                           void *scratch)
{
    const void *x = hac_op_at(v, first);
    if (v->size == hac_op_number_size(number) && hac_op_number_of(v->kind) == number)
        return x;
    hac_op_kernels_best()->widen(v->kind, number, x, n, scratch);
    return scratch;
}

hac_status hac_op_fail_sum(hac_error *err, const hac_op_vector *v, const char *what, uint64_t row)
{
    return hac_fail(err, HAC_FAILED, "%s from row %llu on: the sum does not fit 64 bits", what,
                    (unsigned long long)(v->first + row));
}

hac_status hac_op_fail_index(hac_error *err, const hac_op_request *r, size_t operand, uint64_t row,
                             uint64_t limit)
{
    const hac_op_vector *v = &r->v[operand];
    return hac_op_fail(err, operand, "row %llu: it is not below %llu", (unsigned long long)(v->first + row),
                       (unsigned long long)limit);
}

hac_status hac_op_need_dense(const hac_op_request *r, size_t operand, hac_error *err)
{
    if (!hac_op_is_dense(&r->v[operand]))
        return hac_op_fail(err, operand, "it has to be dense");
    return HAC_OK;
}

hac_status hac_op_need_rows(const hac_op_request *r, size_t operand, uint64_t rows, hac_error *err)
{
    if (r->v[operand].rows != rows)
        return hac_op_fail(err, operand, "%llu rows, where %llu are needed",
                           (unsigned long long)r->v[operand].rows, (unsigned long long)rows);
    return HAC_OK;
}

hac_status hac_op_need_columns(const hac_op_request *r, size_t operand, uint64_t columns, hac_error *err)
{
    if (r->v[operand].columns != columns)
        return hac_op_fail(err, operand, "%llu columns, where %llu are needed",
                           (unsigned long long)r->v[operand].columns, (unsigned long long)columns);
    return HAC_OK;
}

hac_status hac_op_need_kind(const hac_op_request *r, size_t operand, unsigned kind, hac_error *err)
{
    char wanted[HAC_VALUE_TYPE_NAME_MAX], is[HAC_VALUE_TYPE_NAME_MAX];
    if (r->v[operand].kind != kind)
        return hac_op_fail(err, operand, "it is of %s, where %s is needed",
                           hac_value_type_name((hac_value_type){.kind = r->v[operand].kind}, is),
                           hac_value_type_name((hac_value_type){.kind = (uint8_t)kind}, wanted));
    return HAC_OK;
}
