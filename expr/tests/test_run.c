/* SPDX-License-Identifier: Apache-2.0 */
#include "test_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/value_text.h"
#include "expr/machine.h"

const char test_schema[] = "i8:i8,i32:i32,i64:i64,u8:u8,u32:u32,u64:u64,f32:f32,f64:f64,b:bool,s:string,"
                           "d:date,t:timestamp,p:decimal(15,2),w:decimal(30,4),raw:bytes";

typedef struct columns {
    int64_t i8[HAC_BATCH_ROWS], i32[HAC_BATCH_ROWS], i64[HAC_BATCH_ROWS], d[HAC_BATCH_ROWS],
        t[HAC_BATCH_ROWS], p[HAC_BATCH_ROWS];
    uint64_t u8[HAC_BATCH_ROWS], u32[HAC_BATCH_ROWS], u64[HAC_BATCH_ROWS];
    _Alignas(64) float f32[HAC_BATCH_ROWS];
    _Alignas(64) double f64[HAC_BATCH_ROWS];
    _Alignas(64) uint8_t b[HAC_BATCH_ROWS], states[HAC_BATCH_ROWS];
    _Alignas(64) hac_string_ref s[HAC_BATCH_ROWS];
    _Alignas(64) __int128 w[HAC_BATCH_ROWS];
} columns;

static const uint8_t text[] = "AbcZo\xc3\xab";

static void fill(columns *c)
{
    int64_t last = hac_days_from_civil(9999, 12, 31);
    int64_t leap = hac_days_from_civil(2020, 2, 29);
    *c = (columns){
        .i8 = {-128, 0, 127},
        .i32 = {-5, 0, 7},
        .i64 = {INT64_MIN, -1, INT64_MAX},
        .u8 = {0, 1, 255},
        .u32 = {0, 7, UINT32_MAX},
        .u64 = {0, 1, UINT64_MAX},
        .f32 = {-1.5f, 0.5f, NAN},
        .f64 = {-1.5, 0.1, INFINITY},
        .b = {1, 0, 1},
        .s = {{0, 0}, {0, 3}, {3, 4}},
        .d = {-1, leap, last},
        .t = {-1, (leap * 86400 + 13 * 3600 + 45 * 60 + 7) * 1000000 + 250000, last * 86400000000},
        .p = {-125, 5, 999999999999999},
        .w = {-1, 15000, ((__int128)1000000000000000 * 1000000000000000) - 1},
        .states = {0, 0, 0, HAC_ROW_NULL},
    };
}

/* The values of the column of that name. A query has only the columns that it uses. */
static void *values_of(columns *c, const char *name)
{
    const struct {
        const char *name;
        void *values;
    } all[] = {{"i8", c->i8},   {"i32", c->i32}, {"i64", c->i64}, {"u8", c->u8}, {"u32", c->u32},
               {"u64", c->u64}, {"f32", c->f32}, {"f64", c->f64}, {"b", c->b},   {"s", c->s},
               {"d", c->d},     {"t", c->t},     {"p", c->p},     {"w", c->w},   {"raw", c->s}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].values;
    fail_msg("no column %s", name);
    return NULL;
}

hac_status test_compile(const char *where, const char *group_by, const char *select, const char *order_by,
                        hac_query **ret, hac_error *err)
{
    hac_query_text query = {.schema = test_schema,
                            .where = where,
                            .group_by = group_by,
                            .select = select,
                            .order_by = order_by,
                            .limit = UINT64_MAX,
                            .source = {.format = HAC_INPUT_JSONL}};
    return hac_query_compile(&query, NULL, ret, err);
}

static size_t print_value(hac_value_type type, const hac_column *column, size_t row, char *ret)
{
    const int64_t *i64 = column->values;
    const hac_string_ref *refs = column->values;
    switch (hac_repr_of(type)) {
    case HAC_REPR_BOOL:
        return (size_t)sprintf(ret, "%s", ((const uint8_t *)column->values)[row] ? "true" : "false");
    case HAC_REPR_U64:
        return hac_print_u64(((const uint64_t *)column->values)[row], ret);
    case HAC_REPR_F32:
        return hac_print_f32(((const float *)column->values)[row], ret);
    case HAC_REPR_F64:
        return hac_print_f64(((const double *)column->values)[row], ret);
    case HAC_REPR_I128:
        return hac_print_decimal(((const __int128 *)column->values)[row], type.scale, ret);
    case HAC_REPR_STRING:
        if (type.kind == HAC_KIND_BYTES) {
            hac_print_hex(column->bytes + refs[row].offset, refs[row].length, ret);
            return (size_t)refs[row].length * 2;
        }
        memcpy(ret, column->bytes + refs[row].offset, refs[row].length);
        return refs[row].length;
    default:
        break;
    }
    if (type.kind == HAC_KIND_DATE)
        return hac_print_date((int32_t)i64[row], ret);
    if (type.kind == HAC_KIND_TIMESTAMP)
        return hac_print_value(type, i64, row, ret);
    if (type.kind == HAC_KIND_DECIMAL)
        return hac_print_decimal(i64[row], type.scale, ret);
    return hac_print_i64(i64[row], ret);
}

static size_t print_row(hac_value_type type, const hac_column *column, size_t row, char *ret)
{
    static const char *const states[] = {"",           "-",          "!overflow", "!range",
                                         "!malformed", "!precision", "!format",   "!json"};
    unsigned state = column->states != NULL ? column->states[row] : HAC_ROW_OK;
    assert_true(state < sizeof states / sizeof *states);
    return state == HAC_ROW_OK ? print_value(type, column, row, ret)
                               : (size_t)sprintf(ret, "%s", states[state]);
}

static void run_rows(const hac_query *query, size_t rows, char *ret, size_t capacity)
{
    static columns c;
    fill(&c);
    hac_column inputs[32] = {0}, output;
    for (size_t i = 0; i < query->columns.n_fields; i++)
        inputs[i] = (hac_column){.type = query->columns.fields[i].type,
                                 .values = values_of(&c, query->columns.fields[i].name),
                                 .states = c.states,
                                 .bytes = text};
    hac_batch batch = {rows, query->columns.n_fields, inputs};
    hac_machine_c *machine = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_machine_c_new(query->rows, 1 << 16, &machine, &err) != HAC_OK)
        fail_msg("%s", err.message);
    hac_machine_c_run(machine, &batch, &output);
    size_t used = 0;
    for (size_t row = 0; row < rows; row++) {
        assert_true(used + 256 < capacity);
        used += print_row(query->outputs.fields[0].type, &output, row, ret + used);
        if (row + 1 < rows)
            ret[used++] = '|';
    }
    ret[used] = '\0';
    hac_machine_c_free(machine);
}

const char *test_run(const char *expression, char *ret, size_t capacity)
{
    static char type[HAC_VALUE_TYPE_NAME_MAX];
    hac_query *query = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (test_compile("", "", expression, "", &query, &err) != HAC_OK) {
        snprintf(ret, capacity, "%s", err.message);
        return "";
    }
    assert_int_equal(query->n_visible, 1);
    hac_value_type_name(query->outputs.fields[0].type, type);
    run_rows(query, TEST_ROWS, ret, capacity);
    hac_query_free(query);
    return type;
}

void test_value(const char *expression, char *ret, size_t capacity)
{
    hac_query *query = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (test_compile("", "", expression, "", &query, &err) != HAC_OK)
        fail_msg("%s: %s", expression, err.message);
    assert_int_equal(query->columns.n_fields, 0);
    run_rows(query, 1, ret, capacity);
    hac_query_free(query);
}
