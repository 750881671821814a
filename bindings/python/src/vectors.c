/* SPDX-License-Identifier: Apache-2.0 */
#include "vectors.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hac_status fail(hac_error *err, hac_status code, const char *message)
{
    err->code = code;
    snprintf(err->message, sizeof(err->message), "%s", message);
    return code;
}

uint64_t hacpy_element_size(hac_vector_type type)
{
    switch (type) {
    case HAC_VECTOR_OF_BOOL:
        return 1;
    case HAC_VECTOR_OF_I32:
    case HAC_VECTOR_OF_U32:
    case HAC_VECTOR_OF_F32:
        return 4;
    case HAC_VECTOR_OF_I64:
    case HAC_VECTOR_OF_U64:
    case HAC_VECTOR_OF_F64:
        return 8;
    default:
        return 0;
    }
}

/* ---- in ---- */

static hac_status fill_dense(hac_vector *vector, const hacpy_array *array, hac_error *err)
{
    hac_op_operand place;
    hac_status status = hac_vector_operand(vector, &place, err);
    if (status != HAC_OK)
        return status;
    uint64_t bytes = array->shape.rows * array->shape.columns * hacpy_element_size(array->shape.type);
    memcpy((char *)hac_buffer_data(hac_vector_buffer(vector)) + place.values, array->values, bytes);
    return HAC_OK;
}

static hac_status emit_all(hac_vector *vector, const hacpy_array *array, hac_error *err)
{
    uint64_t size = hacpy_element_size(array->shape.type);
    hac_status status = HAC_OK;
    for (uint64_t i = 0; i < array->shape.entries && status == HAC_OK; i++) {
        hac_vector_value value = hac_vector_u64(0);
        value.type = array->shape.type;
        memcpy(&value.u64, (const char *)array->values + i * size, size); /* members begin at one address */
        status = hac_vector_emit(vector, array->rows[i], array->columns[i], value, err);
    }
    return status;
}

hac_status hacpy_vector_from(hac_client *client, const hacpy_array *array, hac_vector **ret, hac_error *err)
{
    hac_vector *vector = NULL;
    hac_vector_shape shape = array->shape;
    hac_status status;
    shape.entries = 0;
    if (array->rows == NULL) {
        status = hac_vector_alloc(&shape, client, &vector, err);
        if (status == HAC_OK)
            status = fill_dense(vector, array, err);
    } else {
        status = hac_vector_new(&shape, &vector, err);
        if (status == HAC_OK)
            status = emit_all(vector, array, err);
        if (status == HAC_OK)
            status = hac_vector_finish(vector, client, err);
    }
    if (status == HAC_OK)
        *ret = vector;
    else
        hac_vector_free(vector);
    return status;
}

/* ---- out ---- */

void hacpy_elements_clear(hacpy_elements *elements)
{
    free(elements->values);
    free(elements->rows);
    free(elements->columns);
    *elements = (hacpy_elements){.values = NULL};
}

static hac_status read_dense(const hac_vector *vector, const hac_op_operand *place, hacpy_elements *ret,
                             hac_error *err)
{
    uint64_t bytes = place->rows * place->columns * hacpy_element_size(ret->shape.type);
    ret->values = malloc(bytes + 1);
    if (ret->values == NULL)
        return fail(err, HAC_NO_MEMORY, "no memory for a vector");
    memcpy(ret->values, (const char *)hac_vector_data(vector) + place->values, bytes);
    ret->shape.entries = place->rows * place->columns;
    return HAC_OK;
}

/* Makes memory for `capacity` elements. */
static bool grow(hacpy_elements *e, uint64_t capacity)
{
    char *values = reallocarray(e->values, capacity, sizeof(uint64_t));
    e->values = values != NULL ? values : e->values;
    uint64_t *rows = reallocarray(e->rows, capacity, sizeof(*rows));
    e->rows = rows != NULL ? rows : e->rows;
    uint64_t *columns = reallocarray(e->columns, capacity, sizeof(*columns));
    e->columns = columns != NULL ? columns : e->columns;
    return values != NULL && rows != NULL && columns != NULL;
}

static hac_status read_entries(hac_vector_iterator *walk, hacpy_elements *ret, hac_error *err)
{
    uint64_t size = hacpy_element_size(ret->shape.type), capacity = 16, n = 0;
    hac_vector_entry entry;
    if (!grow(ret, capacity))
        return fail(err, HAC_NO_MEMORY, "no memory for a vector");
    for (;; n++) {
        hac_status status = hac_vector_next(walk, &entry, err);
        if (status == HAC_NOT_FOUND)
            break;
        if (status != HAC_OK)
            return status;
        if (n == capacity && !grow(ret, capacity *= 2))
            return fail(err, HAC_NO_MEMORY, "no memory for a vector");
        memcpy(ret->values + n * size, &entry.value.u64, size);
        ret->rows[n] = entry.row;
        ret->columns[n] = entry.column;
    }
    ret->shape.entries = n;
    return HAC_OK;
}

hac_status hacpy_vector_read(const hac_vector *vector, hacpy_elements *ret, hac_error *err)
{
    hac_op_operand place;
    hac_vector_iterator *walk = NULL;
    *ret = (hacpy_elements){.values = NULL};
    hac_status status = hac_vector_operand(vector, &place, err);
    if (status != HAC_OK)
        return status;
    ret->shape = (hac_vector_shape){(hac_vector_template)place.form, (hac_vector_type)place.kind, place.rows,
                                    place.columns, 0};
    if (hacpy_element_size(ret->shape.type) == 0)
        return fail(err, HAC_UNSUPPORTED, "vectors of strings are no arrays: let the logic file write them");
    if (place.form == HAC_VECTOR_FIX_VALUE)
        return read_dense(vector, &place, ret, err);
    status = hac_vector_iter(vector, &walk, err);
    if (status == HAC_OK)
        status = read_entries(walk, ret, err);
    hac_vector_iter_free(walk);
    return status;
}
