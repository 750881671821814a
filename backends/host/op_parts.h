/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the host codelets of sub-operators: what their checks and runs share. */
#ifndef HOST_OP_PARTS_H
#define HOST_OP_PARTS_H

#include "host/op.h"
#include "host/op_call.h"
#include "op_kernels.h"

/* Calls `work` for pieces of `step` rows of [first, first + count), on all CPUs. The status is that of the
 * lowest piece that failed. */
typedef hac_status (*hac_op_rows_work)(void *context, uint64_t first, uint64_t count, unsigned worker,
                                       hac_error *err);
HAC_MUST_USE hac_status hac_op_for_rows(uint64_t first, uint64_t count, uint64_t step, hac_op_rows_work work,
                                        void *context, hac_error *err);

/* Memory that is 64-byte aligned and not empty; NULL: there is none. */
void *hac_op_alloc(uint64_t n, uint64_t size);

/* `n` elements of `v` from `first` on as numbers: where they lie, or widened into `room`. */
const void *hac_op_numbers(const hac_op_vector *v, hac_op_number number, uint64_t first, uint64_t n,
                           void *room);

/* Element `i` of a vector of elements of `size` bytes. */
static inline uint8_t *hac_op_at(const hac_op_vector *v, uint64_t i)
{
    return v->values + i * v->size;
}

hac_status hac_op_fail_sum(hac_error *err, const hac_op_vector *v, const char *what, uint64_t row);

/* Of an index or a key that is not below `limit`. */
hac_status hac_op_fail_index(hac_error *err, const hac_op_request *r, size_t operand, uint64_t row,
                             uint64_t limit);

/* op.scan: what each block of the request's range begins with, malloc'ed. */
HAC_MUST_USE hac_status hac_op_scan_carries(const hac_op_request *r, uint8_t **ret, hac_error *err);

/* op.filter_copy: the row of y that each block of the range begins at, and behind the last one; malloc'ed. */
HAC_MUST_USE hac_status hac_op_filter_places(const hac_op_request *r, uint64_t **ret, hac_error *err);

/* ---- checks that several sub-operators have ---- */

HAC_MUST_USE hac_status hac_op_need_dense(const hac_op_request *r, size_t operand, hac_error *err);
HAC_MUST_USE hac_status hac_op_need_rows(const hac_op_request *r, size_t operand, uint64_t rows,
                                         hac_error *err);
HAC_MUST_USE hac_status hac_op_need_columns(const hac_op_request *r, size_t operand, uint64_t columns,
                                            hac_error *err);
HAC_MUST_USE hac_status hac_op_need_kind(const hac_op_request *r, size_t operand, unsigned kind,
                                         hac_error *err);

/* Returns what the call has returned, unless that is HAC_OK. */
#define HAC_OP_TRY(call)                                                                                     \
    do {                                                                                                     \
        hac_status hac_op_status = (call);                                                                   \
        if (hac_op_status != HAC_OK)                                                                         \
            return hac_op_status;                                                                            \
    } while (0)

#define HAC_OP_DECLARE(name)                                                                                 \
    hac_status hac_op_check_of_##name(const hac_op_request *r, hac_error *err);                              \
    hac_status hac_op_do_##name(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err);
HAC_OP_NAMES(HAC_OP_DECLARE)
HAC_OP_HOST_NAMES(HAC_OP_DECLARE)

#endif
