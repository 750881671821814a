/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation fails once: in compiling queries, in writing and reading them, in splitting filters and in
 * running programs. */
#include <string.h>

#include "base/cleanup.h"
#include "base/test_oom.h"
#include "expr/conjuncts.h"
#include "expr/expression.h"
#include "expr/machine.h"
#include "expr/partial.h"
#include "expr/query.h"

#define SCHEMA                                                                                               \
    "a:i8,b:i64,c:u64,d:f32,e:f64,f:bool,g:string,h:date,i:timestamp,j:decimal(15,2),\"k l\":decimal(30,4)"

/* Functions of every kind, literals of every type, folding, shared sub-expressions. */
static const hac_query_text rows_query = {
    .schema = SCHEMA,
    .where = "a > 1.5 and g like 'x!%' escape '!' or b in (1, 2, null) and h between date '2020-01-31' and "
             "date_trunc('month', i)",
    .select =
        "case a when 1 then 'x' else g || 'y' end as first, coalesce(e, 1e3), round(j, 1), \"k l\" * 2, "
        "try_cast(g as decimal(10,3)), i at time zone 'Europe/Berlin', replace(lower(trim(g)), 'a', 'b'), b "
        "% 3 // 2 + 1 + 2",
    .order_by = "first desc, length(g)",
    .limit = 10,
    .source = {.format = HAC_INPUT_JSONL}};

static const hac_query_text groups_query = {
    .schema = SCHEMA,
    .where = "f is not null and starts_with(g, 'a') and e * 2 < 1e6",
    .group_by = "g, year(h) as y",
    .having = "s > 1 or max(a) is null",
    .select = "g, sum(j) as s, count(), avg(d) / 2, count(distinct g), top_k(g, 3), histogram(e, 0, 1, 4), "
              "stddev(a), max(b) - min(b)",
    .order_by = "s desc, y",
    .limit = UINT64_MAX,
    .source = {.format = HAC_INPUT_JSONL}};

static hac_status compile(void *context, hac_error *err)
{
    hac_query *query = NULL;
    hac_status status = hac_query_compile(context, NULL, &query, err);
    hac_query_free(query);
    return status;
}

static hac_query *compiled(const hac_query_text *text)
{
    hac_query *query = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_query_compile(text, NULL, &query, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return query;
}

static hac_status write_query(void *context, hac_error *err)
{
    hac_text bytes = HAC_TEXT_NONE;
    hac_status status = hac_query_write(context, &bytes, err);
    hac_text_clear(&bytes);
    return status;
}

static hac_status read_query(void *context, hac_error *err)
{
    const hac_text *bytes = context;
    hac_query *query = NULL;
    hac_status status = hac_query_read((const uint8_t *)bytes->data, bytes->bytes, &query, err);
    hac_query_free(query);
    return status;
}

static hac_status run_program(void *context, hac_error *err)
{
    static _Alignas(64) uint8_t zeros[HAC_BATCH_ROWS * 16];
    static hac_column columns[HAC_PROGRAM_INPUTS_MAX], outputs[HAC_PROGRAM_OUTPUTS_MAX];
    const hac_program *program = context;
    hac_machine_c *machine = NULL;
    for (size_t i = 0; i < program->n_inputs; i++)
        columns[i] = (hac_column){.type = program->inputs[i], .values = zeros, .bytes = zeros};
    hac_status status = hac_machine_c_new(program, 4096, &machine, err);
    if (status == HAC_OK)
        hac_machine_c_run(machine, &(hac_batch){5, program->n_inputs, columns}, outputs);
    hac_machine_c_free(machine);
    return status;
}

static hac_status find_conjuncts(void *context, hac_error *err)
{
    hac_conjuncts conjuncts = {0};
    hac_status status = hac_conjuncts_find(context, &conjuncts, err);
    if (status == HAC_OK)
        hac_conjuncts_clear(&conjuncts);
    return status;
}

static hac_status make_partial(void *context, hac_error *err)
{
    (void)context;
    hac_partial partial;
    hac_status status =
        hac_partial_make(&(hac_partial_texts){.group_by = "g, year(h) as y",
                                              .having = "y > 1 and max(j) > 2",
                                              .select = "g, y, sum(j) as s, min(b) / 2 as half, max(c)",
                                              .order_by = "s desc, y"},
                         &partial, err);
    hac_partial_clear(&partial);
    return status;
}

static hac_status parse_schema(void *context, hac_error *err)
{
    (void)context;
    hac_schema schema = {0};
    hac_status status = hac_schema_parse(SCHEMA, &schema, err);
    if (status == HAC_OK)
        hac_schema_clear(&schema);
    return status;
}

static hac_status compile_expression(void *context, hac_error *err)
{
    hac_expression expression;
    size_t character = 0;
    hac_status status =
        hac_expression_compile("if(a > 1, sqrt(abs(e)) + b, pow(2, a))", context,
                               (hac_value_type){.kind = HAC_KIND_F64}, &expression, &character, err);
    if (status == HAC_OK)
        hac_expression_clear(&expression);
    return status;
}

static void test_compile(void **state)
{
    (void)state;
    hac_query_text text = rows_query;
    hac_test_exhaust(compile, &text, 60);
    text = groups_query;
    hac_test_exhaust(compile, &text, 60);
}

static void test_bytes(void **state)
{
    (void)state;
    hac_query *query = compiled(&groups_query);
    hac_test_exhaust(write_query, query, 1);
    hac_text bytes = HAC_TEXT_NONE;
    assert_int_equal(hac_query_write(query, &bytes, NULL), HAC_OK);
    hac_test_exhaust(read_query, &bytes, 20);
    hac_text_clear(&bytes);
    hac_query_free(query);
}

static void test_programs(void **state)
{
    (void)state;
    const hac_query_text *texts[] = {&rows_query, &groups_query};
    for (size_t i = 0; i < 2; i++) {
        hac_query *query = compiled(texts[i]);
        hac_test_exhaust(find_conjuncts, query->filter, 5);
        hac_test_exhaust(run_program, query->filter, 3);
        hac_test_exhaust(run_program, query->rows, 3);
        if (query->finals != NULL)
            hac_test_exhaust(run_program, query->finals, 3);
        hac_query_free(query);
    }
}

static void test_parts(void **state)
{
    (void)state;
    hac_test_exhaust(make_partial, NULL, 10);
    hac_test_exhaust(parse_schema, NULL, 2);
    hac_schema schema = {0};
    assert_int_equal(hac_schema_parse(SCHEMA, &schema, NULL), HAC_OK);
    hac_test_exhaust(compile_expression, &schema, 10);
    hac_schema_clear(&schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compile),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
