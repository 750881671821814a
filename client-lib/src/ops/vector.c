/* SPDX-License-Identifier: Apache-2.0 */
/* Fills vectors. The elements are kept in the order of the calls, and are sorted and laid out at the end. */
#include "vector.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/op_layout.h"

#define ROWS_MAX     (UINT64_C(1) << 56)
#define COLUMNS_MAX  (UINT64_C(1) << 32) /* indices have 32 bits */
#define CAPACITY_MIN 64

HAC_DEFINE_CLEANUP(hac_vector *, hac_vector_free)

static const char *type_name(unsigned type)
{
    bool known = type == HAC_VECTOR_OF_STRING || hac_op_element_size(type) > 0;
    return known ? hac_kind_name((hac_kind)type) : "of no known type";
}

static bool has_columns(unsigned form)
{
    return hac_op_form_is_dense(form) || form == HAC_VECTOR_SPARSE_MATRIX;
}

static hac_status check_shape(unsigned form, unsigned type, uint64_t rows, uint64_t columns, hac_error *err)
{
    if (form <= HAC_VECTOR_NONE || form >= HAC_VECTOR_END)
        return hac_fail(err, HAC_INVALID, "template %u of a vector does not exist", form);
    if (form == HAC_VECTOR_SPARSE_TEXT ? type != HAC_VECTOR_OF_STRING : hac_op_element_size(type) == 0)
        return hac_fail(err, HAC_INVALID, "a vector of this template cannot be of type %u (%s)", type,
                        type_name(type));
    if (rows > (form == HAC_VECTOR_VAR ? 1 : ROWS_MAX))
        return hac_fail(err, HAC_INVALID, "%" PRIu64 " rows are more than a vector of this template can have",
                        rows);
    if (columns > (has_columns(form) ? COLUMNS_MAX : 1))
        return hac_fail(err, HAC_INVALID,
                        "%" PRIu64 " columns are more than a vector of this template can have", columns);
    return HAC_OK;
}

static hac_status new_vector(const hac_vector_shape *shape, hac_vector **ret, hac_error *err)
{
    hac_status status =
        check_shape((unsigned)shape->form, (unsigned)shape->type, shape->rows, shape->columns, err);
    if (status != HAC_OK)
        return status;
    hac_vector *vector = calloc(1, sizeof *vector);
    if (vector == NULL)
        return hac_fail_no_memory(err);
    vector->shape = *shape;
    vector->in_order = true;
    *ret = vector;
    return HAC_OK;
}

hac_status hac_vector_new(const hac_vector_shape *shape, hac_vector **ret_vector, hac_error *err)
{
    hac_vector *vector = NULL;
    hac_status status = new_vector(shape, &vector, err);
    if (status != HAC_OK)
        return status;
    if (shape->form == HAC_VECTOR_VAR)
        vector->shape.rows = 1;
    if (!has_columns((unsigned)shape->form))
        vector->shape.columns = 1;
    *ret_vector = vector;
    return HAC_OK;
}

static void drop_staged(hac_vector *vector)
{
    free(hac_steal_ptr(vector->staged));
    free(hac_steal_ptr(vector->texts));
    vector->n_staged = vector->staged_capacity = vector->texts_bytes = vector->texts_capacity = 0;
}

void hac_vector_free(hac_vector *vector)
{
    if (vector == NULL)
        return;
    drop_staged(vector);
    hac_buffer_free(vector->buffer);
    free(vector);
}

/* ---- filling ---- */

static hac_status check_emit(const hac_vector *vector, uint64_t row, uint64_t column,
                             const hac_vector_value *value, hac_error *err)
{
    const hac_vector_shape *shape = &vector->shape;
    if (vector->data != NULL)
        return hac_fail(err, HAC_INVALID, "the vector is laid out: it takes no more elements");
    if (value->type != shape->type)
        return hac_fail(err, HAC_INVALID, "row %" PRIu64 ": a value of type %s; the vector is of %s", row,
                        type_name((unsigned)value->type), type_name((unsigned)shape->type));
    if (value->type == HAC_VECTOR_OF_STRING && value->text == NULL && value->bytes > 0)
        return hac_fail(err, HAC_INVALID, "row %" PRIu64 ": a text of %" PRIu64 " bytes that is NULL", row,
                        value->bytes);
    if (row >= (shape->rows > 0 ? shape->rows : ROWS_MAX))
        return hac_fail(err, HAC_INVALID, "row %" PRIu64 " of a vector of at most %" PRIu64 " rows", row,
                        shape->rows > 0 ? shape->rows : ROWS_MAX);
    if (shape->form == HAC_VECTOR_VARIABLE_LEN) /* `column` is only a sort key */
        return HAC_OK;
    if (column >= (shape->columns > 0 ? shape->columns : COLUMNS_MAX))
        return hac_fail(err, HAC_INVALID,
                        "row %" PRIu64 ", column %" PRIu64 " of a vector of at most %" PRIu64 " columns", row,
                        column, shape->columns > 0 ? shape->columns : COLUMNS_MAX);
    return HAC_OK;
}

/* Grows the array by `more` elements of `size` bytes. The capacity at least doubles. */
static hac_status make_room(void **array, uint64_t *capacity, uint64_t used, uint64_t more, size_t size,
                            hac_error *err)
{
    uint64_t wanted;
    if (__builtin_add_overflow(used, more, &wanted) || wanted > INT64_MAX / 2)
        return hac_fail_no_memory(err);
    if (wanted <= *capacity)
        return HAC_OK;
    uint64_t grown = wanted > 2 * *capacity ? wanted : 2 * *capacity;
    grown = grown > CAPACITY_MIN ? grown : CAPACITY_MIN;
    void *moved = reallocarray(*array, grown, size);
    if (moved == NULL)
        return hac_fail_no_memory(err);
    *array = moved;
    *capacity = grown;
    return HAC_OK;
}

static hac_status stage_text(hac_vector *vector, const hac_vector_value *value, uint64_t *ret_at,
                             hac_error *err)
{
    uint64_t bytes = value->bytes, more;
    if (__builtin_add_overflow(bytes, sizeof bytes, &more))
        return hac_fail_no_memory(err);
    void *texts = vector->texts;
    hac_status status = make_room(&texts, &vector->texts_capacity, vector->texts_bytes, more, 1, err);
    vector->texts = texts;
    if (status != HAC_OK)
        return status;
    *ret_at = vector->texts_bytes;
    memcpy(vector->texts + *ret_at, &bytes, sizeof bytes);
    if (bytes > 0)
        memcpy(vector->texts + *ret_at + sizeof bytes, value->text, bytes);
    vector->texts_bytes += more;
    return HAC_OK;
}

static uint64_t value_bits(const hac_vector_value *value)
{
    uint64_t bits = 0;
    if (value->type == HAC_VECTOR_OF_BOOL)
        return value->boolean != 0;
    memcpy(&bits, &value->u64, hac_op_element_size((unsigned)value->type));
    return bits;
}

static int by_key(const void *a, const void *b)
{
    const hac_vector_staged *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool same_key(const hac_vector_staged *a, const hac_vector_staged *b)
{
    return a->row == b->row && a->column == b->column;
}

hac_status hac_vector_emit(hac_vector *vector, uint64_t row, uint64_t column, hac_vector_value value,
                           hac_error *err)
{
    hac_vector_staged one = {.row = row, .column = column, .number = vector->n_staged};
    void *staged = vector->staged;
    hac_status status = check_emit(vector, row, column, &value, err);
    if (status == HAC_OK)
        status = make_room(&staged, &vector->staged_capacity, vector->n_staged, 1, sizeof one, err);
    vector->staged = staged;
    if (status == HAC_OK && value.type == HAC_VECTOR_OF_STRING)
        status = stage_text(vector, &value, &one.bits, err);
    else if (status == HAC_OK)
        one.bits = value_bits(&value);
    if (status != HAC_OK)
        return status;
    const hac_vector_staged *last = vector->staged + one.number - (one.number > 0);
    if (one.number > 0 && (same_key(last, &one) || by_key(last, &one) > 0))
        vector->in_order = false;
    vector->staged[vector->n_staged++] = one;
    vector->rows = row >= vector->rows ? row + 1 : vector->rows;
    vector->columns = column >= vector->columns ? column + 1 : vector->columns;
    return HAC_OK;
}

/* ---- layout ---- */

/* Sorts by key. Keeps only the last of equal keys, except for VariableLenVector, which keeps all elements. */
static void put_in_order(hac_vector *vector)
{
    hac_vector_staged *staged = vector->staged;
    uint64_t kept = 0;
    if (vector->in_order)
        return;
    qsort(staged, vector->n_staged, sizeof *staged, by_key);
    for (uint64_t i = 0; i < vector->n_staged; i++)
        if (vector->shape.form == HAC_VECTOR_VARIABLE_LEN || i + 1 == vector->n_staged ||
            !same_key(&staged[i], &staged[i + 1]))
            staged[kept++] = staged[i];
    vector->n_staged = kept;
    for (uint64_t i = 0; i < kept; i++) /* later elements get higher numbers if the layout fails */
        staged[i].number = i;
}

static uint64_t text_bytes(const hac_vector *vector, const hac_vector_staged *one)
{
    uint64_t bytes;
    memcpy(&bytes, vector->texts + one->bits, sizeof bytes);
    return bytes;
}

static uint64_t count_entries(const hac_vector *vector)
{
    uint64_t bytes = 0;
    if (vector->shape.form != HAC_VECTOR_SPARSE_TEXT)
        return vector->n_staged;
    for (uint64_t i = 0; i < vector->n_staged; i++)
        bytes += text_bytes(vector, &vector->staged[i]);
    return bytes;
}

/* Creates the operand for a complete shape, and sets the offsets of its parts. */
static hac_status place(hac_vector_shape shape, hac_op_operand *ret, uint64_t *ret_bytes, hac_error *err)
{
    *ret = (hac_op_operand){.form = (uint8_t)shape.form,
                            .kind = (uint8_t)shape.type,
                            .rows = shape.rows,
                            .columns = shape.columns > 0 ? shape.columns : 1,
                            .entries = hac_op_form_is_dense((unsigned)shape.form) ? 0 : shape.entries};
    if (!hac_op_place(ret, ret_bytes))
        return hac_fail(err, HAC_REFUSED,
                        "a vector of %" PRIu64 " rows, %" PRIu64 " columns and %" PRIu64
                        " entries is larger than can be",
                        ret->rows, ret->columns, ret->entries);
    return HAC_OK;
}

static void put_value(const hac_vector *vector, uint8_t *values, uint64_t at, const hac_vector_staged *one)
{
    size_t size = hac_op_element_size((unsigned)vector->shape.type);
    memcpy(values + at * size, &one->bits, size);
}

/* Writes an element of a template with offsets after the first `at` entries. Returns the number of entries
 * written. The entries of a SparseTextVector are bytes. */
static uint64_t put_entry(const hac_vector *vector, const hac_op_operand *o, uint8_t *to, uint64_t at,
                          const hac_vector_staged *one)
{
    if (o->form == HAC_VECTOR_SPARSE_TEXT) {
        uint64_t bytes = text_bytes(vector, one);
        memcpy(to + o->values + at, vector->texts + one->bits + sizeof bytes, bytes);
        return bytes;
    }
    put_value(vector, to + o->values, at, one);
    if (o->form == HAC_VECTOR_SPARSE_MATRIX)
        ((uint32_t *)(void *)(to + o->indices))[at] = (uint32_t)one->column;
    return 1;
}

static void write_rows(const hac_vector *vector, const hac_op_operand *o, uint8_t *to)
{
    uint64_t *offsets = (uint64_t *)(void *)(to + o->offsets);
    uint64_t at = 0, i = 0;
    for (uint64_t row = 0; row < o->rows; row++) {
        offsets[row] = at;
        for (; i < vector->n_staged && vector->staged[i].row == row; i++)
            at += put_entry(vector, o, to, at, &vector->staged[i]);
    }
    offsets[o->rows] = at;
}

static void write_parts(const hac_vector *vector, const hac_op_operand *o, uint8_t *to)
{
    const hac_vector_staged *staged = vector->staged;
    if (hac_op_form_is_dense(o->form)) { /* in the order of the calls, so that the last value remains */
        memset(to + o->values, 0, o->rows * o->columns * hac_op_element_size(o->kind));
        for (uint64_t i = 0; i < vector->n_staged; i++)
            put_value(vector, to + o->values, staged[i].row * o->columns + staged[i].column, &staged[i]);
    } else if (o->form == HAC_VECTOR_SPARSE_VALUE) {
        for (uint64_t i = 0; i < vector->n_staged; i++) {
            ((uint64_t *)(void *)(to + o->indices))[i] = staged[i].row;
            put_value(vector, to + o->values, i, &staged[i]);
        }
    } else {
        write_rows(vector, o, to);
    }
}

static void set_laid_out(hac_vector *vector, const hac_op_operand *operand, const void *data)
{
    vector->operand = *operand;
    vector->data = data;
    vector->rows_capacity = operand->rows;
    vector->entries_capacity = operand->entries;
}

hac_status hac_vector_finish(hac_vector *vector, hac_client *client, hac_error *err)
{
    hac_vector_shape shape = vector->shape;
    hac_op_operand operand;
    uint64_t bytes;
    if (vector->data != NULL)
        return hac_fail(err, HAC_INVALID, "the vector is laid out already");
    if (!hac_op_form_is_dense((unsigned)shape.form))
        put_in_order(vector);
    shape.rows = shape.rows > 0 ? shape.rows : vector->rows;
    shape.columns = shape.columns > 0 ? shape.columns : vector->columns;
    shape.entries = count_entries(vector);
    hac_status status = place(shape, &operand, &bytes, err);
    if (status == HAC_OK)
        status = hac_buffer_alloc(client, bytes, &vector->buffer, err);
    if (status != HAC_OK)
        return status;
    write_parts(vector, &operand, hac_buffer_data(vector->buffer));
    set_laid_out(vector, &operand, hac_buffer_data(vector->buffer));
    drop_staged(vector);
    return HAC_OK;
}

/* ---- with tasks ---- */

hac_status hac_vector_alloc(const hac_vector_shape *shape, hac_client *client, hac_vector **ret_vector,
                            hac_error *err)
{
    hac_cleanup(hac_vector_free_cleanup) hac_vector *vector = NULL;
    hac_op_operand operand;
    uint64_t bytes;
    hac_status status = new_vector(shape, &vector, err);
    if (status != HAC_OK)
        return status;
    if (shape->form == HAC_VECTOR_VAR)
        vector->shape.rows = 1;
    status = place(vector->shape, &operand, &bytes, err);
    if (status == HAC_OK)
        status = hac_buffer_alloc(client, bytes, &vector->buffer, err);
    if (status != HAC_OK)
        return status;
    set_laid_out(vector, &operand, hac_buffer_data(vector->buffer));
    *ret_vector = hac_steal_ptr(vector);
    return HAC_OK;
}

hac_status hac_vector_resize(hac_vector *vector, uint64_t rows, uint64_t entries, hac_error *err)
{
    bool dense = hac_op_form_is_dense(vector->operand.form);
    if (vector->data == NULL)
        return hac_fail(err, HAC_INVALID, "the vector is not laid out");
    if (vector->operand.form == HAC_VECTOR_VAR && rows != 1)
        return hac_fail(err, HAC_INVALID, "a Var has one row, not %" PRIu64, rows);
    if (rows > vector->rows_capacity || (!dense && entries > vector->entries_capacity))
        return hac_fail(err, HAC_REFUSED,
                        "%" PRIu64 " rows and %" PRIu64 " entries have no room in a vector of %" PRIu64
                        " and %" PRIu64 "; make a larger one and run the task again",
                        rows, entries, vector->rows_capacity, vector->entries_capacity);
    vector->operand.rows = rows;
    vector->operand.entries = dense ? 0 : entries;
    return HAC_OK;
}

hac_status hac_vector_operand(const hac_vector *vector, hac_op_operand *ret_operand, hac_error *err)
{
    if (vector->data == NULL)
        return hac_fail(err, HAC_INVALID, "the vector is not laid out: hac_vector_finish does that");
    *ret_operand = vector->operand;
    return HAC_OK;
}

hac_buffer *hac_vector_buffer(const hac_vector *vector)
{
    return vector->buffer;
}

const void *hac_vector_data(const hac_vector *vector)
{
    return vector->data;
}

static bool lies_inside(uint64_t at, uint64_t part, uint64_t bytes)
{
    return part == 0 || (at % 64 == 0 && at <= bytes && part <= bytes - at);
}

static bool parts_inside(const hac_op_operand *o, uint64_t bytes)
{
    hac_op_parts parts;
    return hac_op_part_bytes(o, &parts) && lies_inside(o->values, parts.values, bytes) &&
           lies_inside(o->offsets, parts.offsets, bytes) && lies_inside(o->indices, parts.indices, bytes);
}

hac_status hac_vector_view(const hac_op_operand *operand, const void *data, uint64_t bytes,
                           hac_vector **ret_vector, hac_error *err)
{
    const hac_vector_shape shape = {(hac_vector_template)operand->form, (hac_vector_type)operand->kind,
                                    operand->rows, operand->columns, operand->entries};
    hac_vector *vector = NULL;
    if (data == NULL || (uintptr_t)data % 64 != 0 || !parts_inside(operand, bytes))
        return hac_fail(err, HAC_INVALID,
                        "the parts of the vector (%" PRIu64 " rows, %" PRIu64 " columns, %" PRIu64
                        " entries) are not at multiples of 64, or outside of its %" PRIu64 " bytes",
                        operand->rows, operand->columns, operand->entries, bytes);
    if (operand->columns == 0 || (operand->form == HAC_VECTOR_VAR && operand->rows != 1))
        return hac_fail(err, HAC_INVALID, "a vector of %" PRIu64 " rows and %" PRIu64 " columns",
                        operand->rows, operand->columns);
    hac_status status = new_vector(&shape, &vector, err);
    if (status != HAC_OK)
        return status;
    set_laid_out(vector, operand, data);
    *ret_vector = vector;
    return HAC_OK;
}
