/* SPDX-License-Identifier: Apache-2.0 */
/* Walks vectors. Another process may write the memory meanwhile, so each value is read once, then checked.
 * The vector may also be resized meanwhile, so the position may be after the end. */
#include "vector.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/op_layout.h"

struct hac_vector_iterator {
    const hac_vector *vector;
    uint64_t at;              /* index of the next entry or element */
    uint64_t end, row, begin; /* templates with offsets: the current row and its entries */
    uint64_t next_row;
    uint64_t past; /* sparse: last index plus 1, the lowest valid next index */
};

static uint64_t load(const hac_vector *vector, uint64_t part, uint64_t i)
{
    return __atomic_load_n((const uint64_t *)(const void *)(vector->data + part) + i, __ATOMIC_RELAXED);
}

static uint64_t load_u32(const hac_vector *vector, uint64_t part, uint64_t i)
{
    return __atomic_load_n((const uint32_t *)(const void *)(vector->data + part) + i, __ATOMIC_RELAXED);
}

static hac_vector_value value_at(const hac_vector *vector, uint64_t at)
{
    hac_vector_value value = {.type = (hac_vector_type)vector->operand.kind};
    size_t size = hac_op_element_size(vector->operand.kind);
    memcpy(&value.u64, vector->data + vector->operand.values + at * size, size);
    if (value.type == HAC_VECTOR_OF_BOOL)
        value.boolean = value.boolean != 0;
    return value;
}

static hac_status no_more(hac_error *err)
{
    return hac_fail(err, HAC_NOT_FOUND, "the vector has no more elements");
}

static hac_status next_dense(hac_vector_iterator *it, hac_vector_entry *ret, hac_error *err)
{
    const hac_op_operand *o = &it->vector->operand;
    if (it->at >= o->rows * o->columns)
        return no_more(err);
    *ret = (hac_vector_entry){it->at / o->columns, it->at % o->columns, value_at(it->vector, it->at)};
    it->at++;
    return HAC_OK;
}

/* Checks that the index of entry `at` is in [past, limit). */
static hac_status check_index(hac_vector_iterator *it, uint64_t index, uint64_t limit, hac_error *err)
{
    if (index < it->past || index >= limit)
        return hac_fail(err, HAC_FAILED,
                        "entry %" PRIu64
                        " of the vector: its indices do not ascend, or are not below %" PRIu64,
                        it->at, limit);
    it->past = index + 1;
    return HAC_OK;
}

static hac_status next_sparse(hac_vector_iterator *it, hac_vector_entry *ret, hac_error *err)
{
    const hac_op_operand *o = &it->vector->operand;
    if (it->at >= o->entries)
        return no_more(err);
    uint64_t row = load(it->vector, o->indices, it->at);
    hac_status status = check_index(it, row, o->rows, err);
    if (status == HAC_OK)
        *ret = (hac_vector_entry){row, 0, value_at(it->vector, it->at++)};
    return status;
}

/* Enters the next row, which must exist. */
static hac_status enter_row(hac_vector_iterator *it, hac_error *err)
{
    const hac_op_operand *o = &it->vector->operand;
    uint64_t from = load(it->vector, o->offsets, it->next_row);
    uint64_t to = load(it->vector, o->offsets, it->next_row + 1);
    if (from > to || to > o->entries)
        return hac_fail(err, HAC_FAILED,
                        "row %" PRIu64 " of the vector: its offsets do not ascend, or lie outside of %" PRIu64
                        " entries",
                        it->next_row, o->entries);
    it->row = it->next_row++;
    it->begin = it->at = from;
    it->end = to;
    it->past = 0;
    return HAC_OK;
}

static hac_status next_text(hac_vector_iterator *it, hac_vector_entry *ret, hac_error *err)
{
    const hac_op_operand *o = &it->vector->operand;
    if (it->next_row >= o->rows)
        return no_more(err);
    hac_status status = enter_row(it, err);
    if (status != HAC_OK)
        return status;
    const char *text = ""; /* without characters, `values` may be any offset */
    if (it->end > it->at)
        text = (const char *)it->vector->data + o->values + it->at;
    *ret = (hac_vector_entry){it->row, 0, hac_vector_text(text, it->end - it->at)};
    return HAC_OK;
}

static hac_status next_in_rows(hac_vector_iterator *it, hac_vector_entry *ret, hac_error *err)
{
    const hac_op_operand *o = &it->vector->operand;
    hac_status status = HAC_OK;
    while (it->at == it->end) {
        if (it->next_row >= o->rows)
            return no_more(err);
        if ((status = enter_row(it, err)) != HAC_OK)
            return status;
    }
    uint64_t column = it->at - it->begin;
    if (o->form == HAC_VECTOR_SPARSE_MATRIX) {
        column = load_u32(it->vector, o->indices, it->at);
        status = check_index(it, column, o->columns, err);
    }
    if (status == HAC_OK)
        *ret = (hac_vector_entry){it->row, column, value_at(it->vector, it->at++)};
    return status;
}

hac_status hac_vector_iter(const hac_vector *vector, hac_vector_iterator **ret_iterator, hac_error *err)
{
    if (vector->data == NULL)
        return hac_fail(err, HAC_INVALID, "the vector is not laid out: hac_vector_finish does that");
    hac_vector_iterator *it = calloc(1, sizeof *it);
    if (it == NULL)
        return hac_fail_no_memory(err);
    it->vector = vector;
    *ret_iterator = it;
    return HAC_OK;
}

hac_status hac_vector_next(hac_vector_iterator *iterator, hac_vector_entry *ret_entry, hac_error *err)
{
    unsigned form = iterator->vector->operand.form;
    if (hac_op_form_is_dense(form))
        return next_dense(iterator, ret_entry, err);
    if (form == HAC_VECTOR_SPARSE_VALUE)
        return next_sparse(iterator, ret_entry, err);
    return form == HAC_VECTOR_SPARSE_TEXT ? next_text(iterator, ret_entry, err)
                                          : next_in_rows(iterator, ret_entry, err);
}

void hac_vector_iter_free(hac_vector_iterator *iterator)
{
    free(iterator);
}
