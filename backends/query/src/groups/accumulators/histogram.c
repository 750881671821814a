/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of the values in k buckets of equal width (base/histogram.h). */
#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "base/value_text.h"

/* The accumulator's borders, which the table keeps. */
static hac_status buckets_of(hac_group_table *t, const hac_accumulator *a, const hac_buckets **ret,
                             hac_error *err)
{
    if (t->buckets == NULL)
        t->buckets = calloc(t->layout.n_accumulators, sizeof *t->buckets);
    if (t->buckets == NULL)
        return hac_fail_no_memory(err);
    hac_buckets *buckets = &t->buckets[a - t->layout.accumulators];
    if (buckets->border == NULL && buckets->wide == NULL &&
        !hac_buckets_init(&a->low, &a->high, a->k, a->type, buckets))
        return hac_fail_no_memory(err);
    *ret = buckets;
    return HAC_OK;
}

static uint64_t bucket_of(const hac_buckets *buckets, const hac_accumulator *a, const hac_column *v, size_t i)
{
    double x = hac_number(v, a->type, a->repr, i);
    hac_i128 wide;
    switch (a->repr) {
    case HAC_REPR_F32:
    case HAC_REPR_F64:
        return hac_bucket_of(buckets, hac_bucket_key_of_f64(x), x);
    case HAC_REPR_U64:
        return hac_bucket_of(buckets, hac_bucket_key_of_u64(((const uint64_t *)v->values)[i]), x);
    case HAC_REPR_I128:
        memcpy(&wide, (const uint8_t *)v->values + i * 16, 16);
        return hac_bucket_of_wide(buckets, wide, x);
    default:
        return hac_bucket_of(buckets, ((const int64_t *)v->values)[i], x);
    }
}

static hac_status add_histogram(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                                const hac_column *v, hac_error *err)
{
    const hac_buckets *buckets = NULL;
    hac_status status = buckets_of(t, a, &buckets, err);
    if (status != HAC_OK)
        return status;
    EACH_VALUE(v->states, b->rows, uint64_t bucket = bucket_of(buckets, a, v, i);
               if (bucket != HAC_NO_BUCKET)++ PLACE(uint64_t, b, a->offset, i)[bucket];)
    return HAC_OK;
}

static hac_status merge_histogram(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                                  const uint8_t *from, hac_error *err)
{
    (void)t;
    (void)err;
    for (size_t i = 0; i < b->rows; i++)
        for (uint32_t k = 0; k < a->k; k++)
            PLACE(uint64_t, b, a->offset, i)[k] += FROM(uint64_t, b, a->offset, from, i)[k];
    return HAC_OK;
}

static hac_status histogram_result(const hac_result_cell *cell, const hac_accumulator *a, const uint8_t *from,
                                   hac_error *err)
{
    const uint64_t *counts = (const uint64_t *)(const void *)from;
    hac_group_text *text = &cell->t->results->text;
    hac_string_ref ref = {.offset = (uint32_t)text->n};
    (void)err;
    for (uint32_t i = 0; i < a->k; i++) {
        char number[HAC_PRINT_MAX];
        hac_group_text_add(text, ", ", i == 0 ? 0 : 2);
        hac_group_text_add(text, number, hac_print_u64(counts[i], number));
    }
    ref.length = (uint32_t)(text->n - ref.offset);
    ((hac_string_ref *)cell->v->values)[cell->row] = ref;
    return HAC_OK;
}

const hac_accumulator_ops hac_accumulator_histogram = {
    .add = add_histogram, .merge = merge_histogram, .result = histogram_result};
