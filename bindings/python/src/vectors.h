/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays as vectors of logic files, and back. Nothing here needs the GIL. */
#ifndef HACPY_VECTORS_H
#define HACPY_VECTORS_H

#include <hac/vector.h>

/* An array: dense, of shape.rows * shape.columns values row by row; or, for every other template, `entries`
 * values with the row and the column of each. */
typedef struct hacpy_array {
    hac_vector_shape shape;
    const void *values;
    const uint64_t *rows, *columns; /* NULL: dense */
} hacpy_array;

/* Size of an element in bytes; 0: the type has no fixed size. */
uint64_t hacpy_element_size(hac_vector_type type);

/* Makes a vector in pool memory. */
hac_status hacpy_vector_from(hac_client *client, const hacpy_array *array, hac_vector **ret, hac_error *err);

/* A copy of a vector's elements, in memory of malloc. */
typedef struct hacpy_elements {
    hac_vector_shape shape; /* entries: their number */
    char *values;
    uint64_t *rows, *columns; /* NULL: dense */
} hacpy_elements;

/* HAC_UNSUPPORTED: the elements are strings. hacpy_elements_clear follows, also on failure. */
hac_status hacpy_vector_read(const hac_vector *vector, hacpy_elements *ret, hac_error *err);
void hacpy_elements_clear(hacpy_elements *elements);

#endif
