/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "id_table.h"

typedef struct object {
    int before;
    hac_id_link link;
} object;

static void test_put_find_remove(void **state)
{
    (void)state;
    enum { N = 1000 };
    hac_id_table table = {0};
    object *objects = calloc(N, sizeof(*objects));
    assert_null(hac_id_table_find(&table, 1));
    for (size_t i = 0; i < N; i++) /* 2^40 apart: all in one bucket */
        assert_int_equal(hac_id_table_put(&table, &objects[i].link, i % 2 ? i : (i + 1) << 40, NULL), HAC_OK);
    assert_int_equal(table.count, N);
    for (size_t i = 0; i < N; i++) {
        hac_id_link *link = hac_id_table_find(&table, i % 2 ? i : (i + 1) << 40);
        assert_ptr_equal(HAC_OWNER(link, object, link), &objects[i]);
    }
    for (size_t i = 0; i < N; i += 3)
        hac_id_table_remove(&table, &objects[i].link);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(hac_id_table_find(&table, i % 2 ? i : (i + 1) << 40) == NULL, i % 3 == 0);
    hac_id_table_remove(&table, &objects[0].link); /* in no table: no effect */
    assert_int_equal(table.count, N - (N + 2) / 3);
    hac_id_table_clear(&table);
    assert_null(hac_id_table_find(&table, 1));
    free(objects);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_put_find_remove)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
