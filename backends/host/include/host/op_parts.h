/* SPDX-License-Identifier: Apache-2.0 */
/* What the checks and runs of the host's sub-operators share. */
#ifndef HOST_OP_PARTS_H
#define HOST_OP_PARTS_H

#include "base/histogram.h"
#include "host/op.h"
#include "host/op_call.h"
#include "host/op_kernels.h"

/* Calls `work` for pieces of `step` rows of [first, first + count), on all CPUs. Returns the status of the
 * lowest piece that failed. */
typedef hac_status (*hac_op_rows_work)(void *context, uint64_t first, uint64_t count, unsigned worker,
                                       hac_error *err);
HAC_MUST_USE hac_status hac_op_for_rows(uint64_t first, uint64_t count, uint64_t step, hac_op_rows_work work,
                                        void *context, hac_error *err);

/* 64-byte aligned memory, never empty; NULL: out of memory. */
void *hac_op_alloc(uint64_t n, uint64_t size);

/* `n` elements of `v` from `first` on as numbers: a pointer into `v`, or to `scratch`, where they are
 * widened. */
const void *hac_op_numbers(const hac_op_vector *v, hac_op_number number, uint64_t first, uint64_t n,
                           void *scratch);

/* Element `i` of a vector of elements of `size` bytes. */
static inline uint8_t *hac_op_at(const hac_op_vector *v, uint64_t i)
{
    return v->values + i * v->size;
}

hac_status hac_op_fail_sum(hac_error *err, const hac_op_vector *v, const char *what, uint64_t row);

/* An index or a key is not below `limit`. */
hac_status hac_op_fail_index(hac_error *err, const hac_op_request *r, size_t operand, uint64_t row,
                             uint64_t limit);

/* op.scan: the carry into each block of the request's range, malloc'ed. */
HAC_MUST_USE hac_status hac_op_scan_carries(const hac_op_request *r, uint8_t **ret, hac_error *err);

/* op.histogram: its borders. False: no memory. The caller clears them. */
HAC_MUST_USE bool hac_op_histogram_buckets(const hac_op_request *r, hac_buckets *ret);

/* op.filter_copy: the row of y where each block of the range begins, and the row after the last block;
 * malloc'ed. */
HAC_MUST_USE hac_status hac_op_filter_places(const hac_op_request *r, uint64_t **ret, hac_error *err);

/* ---- checks that several sub-operators have ---- */

HAC_MUST_USE hac_status hac_op_need_dense(const hac_op_request *r, size_t operand, hac_error *err);
HAC_MUST_USE hac_status hac_op_need_rows(const hac_op_request *r, size_t operand, uint64_t rows,
                                         hac_error *err);
HAC_MUST_USE hac_status hac_op_need_columns(const hac_op_request *r, size_t operand, uint64_t columns,
                                            hac_error *err);
HAC_MUST_USE hac_status hac_op_need_kind(const hac_op_request *r, size_t operand, unsigned kind,
                                         hac_error *err);

/* Returns the status of the call from the enclosing function, unless it is HAC_OK. */
#define HAC_OP_TRY(call)                                                                                     \
    do {                                                                                                     \
        hac_status hac_op_status = (call);                                                                   \
        if (hac_op_status != HAC_OK)                                                                         \
            return hac_op_status;                                                                            \
    } while (0)

/* For each codelet: check_of says whether a call is sound, do_ runs it. */
#define HAC_CODELET(name, ...)                                                                               \
    hac_status hac_op_check_of_##name(const hac_op_request *r, hac_error *err);                              \
    hac_status hac_op_do_##name(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err);
#include "base/op_catalog.def"

#endif
