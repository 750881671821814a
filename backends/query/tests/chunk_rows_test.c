/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of a table are aggregated in place (hac_chunk_rows_fixed), and which need a machine. */
#include <string.h>

#include "base/test_support.h"
#include "codelets/chunk_rows.h"
#include "query/source.h"

#define ROWS    100u
#define VALUES  512u  /* values of v, behind the keys */
#define LIMITED 1536u /* v's bitmap of nulls, if it has any */

static _Alignas(64) uint8_t memory[2048];

static hac_field fields[] = {{.name = "k", .type = {.kind = HAC_KIND_U32}},
                             {.name = "v", .type = {.kind = HAC_KIND_F64}},
                             {.name = "d", .type = {.kind = HAC_KIND_DECIMAL, .precision = 9}}};

/* Compiles a query of a table of k, v and d, and returns whether its rows are fixed rows. */
static bool fixed(const char *where, const char *group_by, const char *select, uint64_t validity,
                  const uint8_t **values)
{
    hac_table_column columns[] = {
        {.type = fields[0].type, .values = 0, .validity = HAC_TABLE_NONE, .bytes = HAC_TABLE_NONE},
        {.type = fields[1].type, .values = VALUES, .validity = validity, .bytes = HAC_TABLE_NONE},
        {.type = fields[2].type, .values = VALUES, .validity = HAC_TABLE_NONE, .bytes = HAC_TABLE_NONE}};
    hac_schema header = {.fields = fields, .n_fields = 3};
    hac_query_text text = {.where = where,
                           .group_by = group_by,
                           .select = select,
                           .limit = UINT64_MAX,
                           .source = {.format = HAC_INPUT_TABLE}};
    hac_query_task task = {.place = {.fd = -1, .memory = memory, .bytes = sizeof memory},
                           .table = {.rows = ROWS, .n_columns = 3, .columns = columns}};
    hac_chunk_rows rows = {0};
    hac_error err = HAC_ERROR_NONE;
    if (hac_query_compile(&text, &header, &task.query, &err) != HAC_OK ||
        hac_chunk_rows_init(&task, &rows, &err) != HAC_OK)
        fail_msg("%s", err.message);
    bool is = hac_chunk_rows_fixed(&rows, &task, 8, ROWS, values, task.query->rows->n_outputs);
    assert_int_equal(rows.read, is ? ROWS - 8 : 0);
    hac_chunk_rows_clear(&rows);
    hac_query_free(task.query);
    return is;
}

static void test_columns_as_they_are(void **state)
{
    const uint8_t *values[HAC_PROGRAM_OUTPUTS_MAX];
    (void)state;
    assert_true(fixed("", "k", "count() as n, sum(v) as s", HAC_TABLE_NONE, values));
    assert_ptr_equal(values[0], memory + 8 * sizeof(uint32_t));
    assert_ptr_equal(values[1], memory + VALUES + 8 * sizeof(double));
}

static void test_what_is_made_anew(void **state)
{
    const uint8_t *values[HAC_PROGRAM_OUTPUTS_MAX];
    (void)state;
    assert_false(fixed("", "k", "sum(v + v) as s", HAC_TABLE_NONE, values));
    /* the output is in the column's register */
    assert_false(fixed("", "k", "sum(-(v + v)) as s", HAC_TABLE_NONE, values));
    assert_false(fixed("", "k + k", "sum(v) as s", HAC_TABLE_NONE, values));
    /* the digits of a decimal must be checked */
    assert_false(fixed("", "k", "sum(d) as s", HAC_TABLE_NONE, values));
    assert_false(fixed("v > 0.5", "k", "sum(v) as s", HAC_TABLE_NONE, values));
}

static void test_nulls(void **state)
{
    const uint8_t *values[HAC_PROGRAM_OUTPUTS_MAX];
    (void)state;
    memset(memory + LIMITED, 0xff, ROWS / 8 + 1);
    assert_true(fixed("", "k", "sum(v) as s", LIMITED, values));
    memory[LIMITED + 3] = 0xbf;
    assert_false(fixed("", "k", "sum(v) as s", LIMITED, values));
    memory[LIMITED + 3] = 0xff;
    memory[LIMITED] = 0; /* before the chunk */
    assert_true(fixed("", "k", "sum(v) as s", LIMITED, values));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_as_they_are),
        cmocka_unit_test(test_what_is_made_anew),
        cmocka_unit_test(test_nulls),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
