/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation fails once while a vector is filled and walked. The layout allocates only its pool buffer.
 * */
#include <stdio.h>

#include <hac/vector.h>

#include "base/test_oom.h"

enum { ROWS = 300 }; /* more than the initial capacity of each array */

static hac_status fill(void *context, hac_error *err)
{
    const hac_vector_shape shape = {HAC_VECTOR_SPARSE_TEXT, HAC_VECTOR_OF_STRING, ROWS, 1, 0};
    hac_vector *vector = NULL;
    char text[32];
    (void)context;
    hac_status status = hac_vector_new(&shape, &vector, err);
    for (uint64_t i = 0; i < ROWS && status == HAC_OK; i++) {
        int bytes = snprintf(text, sizeof text, "row %d", (int)i);
        status = hac_vector_emit(vector, i, 0, hac_vector_text(text, (uint64_t)bytes), err);
    }
    hac_vector_free(vector);
    return status;
}

static hac_status walk(void *context, hac_error *err)
{
    static const _Alignas(64) double values[] = {1, 2};
    const hac_op_operand operand = {HAC_VECTOR_FIX_VALUE, HAC_VECTOR_OF_F64, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0};
    hac_vector *vector = NULL;
    hac_vector_iterator *it = NULL;
    hac_vector_entry entry;
    size_t n = 0;
    (void)context;
    hac_status status = hac_vector_view(&operand, values, sizeof values, &vector, err);
    if (status == HAC_OK)
        status = hac_vector_iter(vector, &it, err);
    while (status == HAC_OK && hac_vector_next(it, &entry, NULL) == HAC_OK)
        n++;
    assert_int_equal(n, status == HAC_OK ? 2 : 0);
    hac_vector_iter_free(it);
    hac_vector_free(vector);
    return status;
}

static void test_fill(void **state)
{
    (void)state;
    hac_test_exhaust(fill, NULL, 8);
}

static void test_walk(void **state)
{
    (void)state;
    hac_test_exhaust(walk, NULL, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fill), cmocka_unit_test(test_walk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
