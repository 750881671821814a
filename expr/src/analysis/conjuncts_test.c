/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conjuncts: the bounds of typical filters, and random filters over random rows. Row by row, the test
 * compares the conjuncts with the filter, and each bound with its conjunct. The machine runs filters and
 * conjuncts; the test itself decides whether a value meets a bound.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/test_support.h"
#include "base/value_text.h"
#include "expr/conjuncts.h"
#include "expr/machine.h"
#include "expr/query.h"
#include "test_columns.h"

static const char schema[] = "i8:i8,i32:i32,i64:i64,u8:u8,u32:u32,u64:u64,f32:f32,f64:f64,b:bool,s:string,"
                             "d:date,t:timestamp,p:decimal(15,2),w:decimal(30,4)";
enum { COLUMNS = 14 };

static hac_query *compile(const char *where)
{
    hac_query_text text = {.schema = schema,
                           .where = where,
                           .select = "*",
                           .limit = UINT64_MAX,
                           .source = {.format = HAC_INPUT_JSONL}};
    hac_query *query = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_query_compile(&text, NULL, &query, &err) != HAC_OK)
        fail_msg("%s: %s", where, err.message);
    assert_int_equal(query->columns.n_fields, COLUMNS);
    return query;
}

static void take_apart(const hac_query *query, hac_conjuncts *ret)
{
    hac_error err = HAC_ERROR_NONE;
    if (hac_conjuncts_find(query->filter, ret, &err) != HAC_OK)
        fail_msg("%s", err.message);
}

/* ---- bounds as text ------------------------------------------------------------------------------------ */

static size_t print_constant(hac_value_type type, const hac_bound *bound, size_t i, char *ret)
{
    const hac_constant *value = &bound->values[i];
    float narrow;
    double real;
    assert_int_equal(value->repr, hac_repr_of(type));
    switch (value->repr) {
    case HAC_REPR_BOOL:
        return (size_t)sprintf(ret, "%s", value->low ? "true" : "false");
    case HAC_REPR_U64:
        return hac_print_u64(value->low, ret);
    case HAC_REPR_F32:
        memcpy(&narrow, &value->low, sizeof narrow);
        return hac_print_f32(narrow, ret);
    case HAC_REPR_F64:
        memcpy(&real, &value->low, sizeof real);
        return hac_print_f64(real, ret);
    case HAC_REPR_I128:
        return hac_print_decimal((__int128)((unsigned __int128)value->high << 64 | value->low), type.scale,
                                 ret);
    case HAC_REPR_STRING:
        return (size_t)sprintf(ret, "'%.*s'", (int)value->high, (const char *)bound->bytes + value->low);
    default:
        break;
    }
    if (type.kind == HAC_KIND_DATE)
        return hac_print_date((int32_t)value->low, ret);
    if (type.kind == HAC_KIND_TIMESTAMP)
        return hac_print_timestamp((int64_t)value->low, ret);
    return hac_print_decimal((int64_t)value->low, type.scale, ret);
}

static void print_bounds(const hac_query *query, const hac_conjuncts *conjuncts, char *ret)
{
    static const char *const words[] = {"", "=", "!=", "<", "<=", ">", ">=", "in", "null", "not null"};
    *ret = '\0';
    for (size_t i = 0; i < conjuncts->n_bounds; i++) {
        const hac_bound *bound = &conjuncts->bounds[i];
        const hac_field *field = &query->columns.fields[bound->column];
        ret += sprintf(ret, "%s%s %s", i == 0 ? "" : "; ", field->name, words[bound->comparison]);
        for (size_t k = 0; k < bound->n_values; k++) {
            *ret++ = ' ';
            ret += print_constant(field->type, bound, k, ret);
        }
    }
    *ret = '\0';
}

static const struct {
    const char *where;
    size_t n;
    const char *bounds;
} cases[] = {
    {"i32 > 5", 1, "i32 > 5"},
    {"5 > i32 and 7 <= i64", 2, "i32 < 5; i64 >= 7"},
    {"i32 between 1 and 3 and s = 'x'", 3, "i32 >= 1; i32 <= 3; s = 'x'"},
    {"not (i32 between 1 and 3)", 1, ""},
    {"not (i32 = 1 or u8 < 2)", 2, "i32 != 1; u8 >= 2"},
    {"not (i32 <> 1)", 1, "i32 = 1"},
    {"i32 = 1 or u8 = 2", 1, ""},
    {"i32 = 1 and (u8 = 2 or u8 = 7 or u8 in (3, 2))", 2, "i32 = 1; u8 in 2 3 7"},
    {"not (u8 <> 2 and u8 <> 7)", 1, "u8 in 2 7"},
    {"u8 = 2 or u8 > 7", 1, ""},
    {"b", 1, "b = true"},
    {"not b and b = false and b < true and b <= true", 4, "b = false; b = false; b < true; b <= true"},
    {"i8 is null and s is not null and not (t is null)", 3, "i8 null; s not null; t not null"},
    {"s in ('b', 'a', 'b')", 1, "s in 'a' 'b'"},
    {"s not in ('b', 'a')", 1, "s not null"},
    {"s >= 'a' and s < 'b'", 2, "s >= 'a'; s < 'b'"},
    {"s like 'a%' and starts_with(s, 'x')", 2, ""},
    {"i64 in (7, 1.5, 3, 2.0)", 1, "i64 in 2 3 7"},
    {"w in (1, 2.5)", 1, "w in 1.0000 2.5000"},
    {"f32 in (0.5, 0.1, 2)", 1, "f32 in 0.5 2.0"},
    {"f64 in (0.5, 0.1)", 1, "f64 in 0.1 0.5"},
    /* literals that are not values of the column's type */
    {"i32 < 1.5 and i32 >= -1.5 and i32 = 1.5 and i32 <> 1.5", 4, "i32 <= 1; i32 > -2; i32 in; i32 not null"},
    {"i32 < 5000000000 and u64 > -1", 2, "i32 <= 5000000000; u64 not null"},
    {"p = 1 and p > 1.005 and p < 0.1 and w <= 1", 4, "p = 1.00; p > 1.00; p < 0.10; w <= 1.0000"},
    /* constant expressions */
    {"p between 0.06 - 0.01 and 0.06 + 0.01", 2, "p >= 0.05; p <= 0.07"},
    {"d >= date '1994-01-01' and d < add_months(date '1994-01-01', 12)", 2,
     "d >= 1994-01-01; d < 1995-01-01"},
    {"d <= date '1998-12-01' - 90", 1, "d <= 1998-09-02"},
    {"u32 > 3 + 4 and p > 3 + 4", 2, "u32 >= 8; p >= 7.01"},
    /* conversions */
    {"f32 > 0.1 and f32 >= 0.5 and f32 < 0.1 and f32 = 0.1 and f32 <> 0.1", 5,
     "f32 >= 0.1; f32 >= 0.5; f32 <= 0.099999994; f32 in; f32 not null"},
    {"f32 <= 1e300 and f32 <> 0.5", 2, "f32 <= 3.4028235e+38; f32 != 0.5"},
    {"i64 < 9007199254740992e0 and i64 = 9007199254740992e0 and i32 > 2.5e0", 3,
     "i64 <= 9007199254740991; i64 >= 9007199254740992; i64 <= 9007199254740993; i32 >= 3"},
    {"u8 > 3e2 and u8 < 3e2 and u8 = 3e2", 3, "u8 in; u8 not null; u8 in"},
    {"p > 1e-1 and p <= 1.005e0 and w = 5e-1", 3, "p >= 0.11; p <= 1.00; w = 0.5000"},
    {"t >= date '2020-01-01'", 1, "t >= 2020-01-01 00:00:00"},
    {"d < timestamp '2020-01-01 00:00:01' and d < timestamp '2020-01-01' and "
     "d > timestamp '1969-12-31 23:00:00' and d = timestamp '2020-01-01 00:00:01'",
     4, "d <= 2020-01-01; d < 2020-01-01; d > 1969-12-31; d in"},
    /* rising functions */
    {"year(d) = 1994", 1, "d >= 1994-01-01; d <= 1994-12-31"},
    {"year(t) >= 1994 and date_trunc('month', d) <= date '2020-02-10'", 2,
     "t >= 1994-01-01 00:00:00; d <= 2020-02-29"},
    {"year(d) in (1994, 1996)", 1, "d >= 1994-01-01; d <= 1996-12-31"},
    {"i32 + 1 > 7 and i32 * 2 = 7 and i32 / 2 = 3", 3, "i32 >= 7; i32 in; i32 = 6"},
    {"i64 + 1 > 7", 1, ""}, /* overflows */
    {"cast(i32 as i8) > 7", 1, ""},
    {"month(d) = 3 and abs(i32) < 3 and i32 = i8", 3, ""},
    {"i32 > 1 and i32 > 1 and not (i32 <= 1)", 2, "i32 > 1; i32 > 1"},
    {"true and i32 > 1", 2, "i32 > 1"},
};

static void test_bounds(void **state)
{
    (void)state;
    char text[4096];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_query *query = compile(cases[i].where);
        hac_conjuncts conjuncts = {0};
        take_apart(query, &conjuncts);
        print_bounds(query, &conjuncts, text);
        if (strcmp(text, cases[i].bounds) != 0 || conjuncts.n != cases[i].n) {
            hac_cleanup(hac_text_clear) hac_text program = {0};
            hac_program_print(query->filter, &program);
            fail_msg("%s: %zu conjuncts: %s\n%s", cases[i].where, conjuncts.n, text, program.data);
        }
        hac_conjuncts_clear(&conjuncts);
        hac_query_free(query);
    }
}

static void test_columns_and_failures(void **state)
{
    (void)state;
    hac_query *query = compile("f64 > i8 and i64 + u8 = 3 and s = 'a'");
    hac_conjuncts conjuncts = {0};
    take_apart(query, &conjuncts);
    assert_int_equal(conjuncts.n, 3);
    const hac_conjunct *c = conjuncts.conjuncts;
    assert_int_equal(c[0].n_columns, 2);
    assert_string_equal(query->columns.fields[c[0].columns[0]].name, "i8");
    assert_string_equal(query->columns.fields[c[0].columns[1]].name, "f64");
    assert_false(c[0].fails);
    assert_true(c[1].fails);
    assert_false(c[2].fails);
    assert_true(hac_conjuncts_fail(&conjuncts));
    assert_int_equal(conjuncts.n_bounds, 1);
    assert_int_equal(conjuncts.bounds[0].conjunct, 2);
    hac_conjuncts_clear(&conjuncts);
    hac_query_free(query);
}

/* A filter with more than HAC_CONJUNCTS_MAX conjuncts: the rest stays unsplit, and nothing is lost. */
static void test_many(void **state)
{
    (void)state;
    char where[4096] = "i32 <> 0";
    for (int i = 1; i < 100; i++)
        sprintf(where + strlen(where), " and i32 <> %d", i);
    hac_query *query = compile(where);
    hac_conjuncts conjuncts = {0};
    take_apart(query, &conjuncts);
    assert_int_equal(conjuncts.n, HAC_CONJUNCTS_MAX);
    hac_conjuncts_clear(&conjuncts);
    hac_query_free(query);
}

static void test_no_filter(void **state)
{
    (void)state;
    hac_query *query = compile("i32 > 1");
    hac_conjuncts conjuncts = {0};
    assert_int_equal(hac_conjuncts_find(query->rows, &conjuncts, NULL), HAC_INVALID);
    hac_query_free(query);
}

/* ---- random filters ------------------------------------------------------------------------------------ */

static bool fits(hac_value_type type, const ref_value *value)
{
    static const int64_t max[HAC_KIND_END] = {
        [HAC_KIND_I8] = INT8_MAX,        [HAC_KIND_I32] = INT32_MAX,
        [HAC_KIND_U8] = UINT8_MAX,       [HAC_KIND_U32] = UINT32_MAX,
        [HAC_KIND_DATE] = 2932896,       [HAC_KIND_TIMESTAMP] = 253402300799999999,
        [HAC_KIND_DECIMAL] = 99999999999};
    if (max[type.kind] == 0)
        return true;
    if (hac_repr_of(type) == HAC_REPR_U64)
        return value->u64 <= (uint64_t)max[type.kind];
    if (hac_repr_of(type) == HAC_REPR_I128)
        return value->i128 < max[HAC_KIND_TIMESTAMP] && -value->i128 < max[HAC_KIND_TIMESTAMP];
    int64_t min = type.kind == HAC_KIND_DATE || type.kind == HAC_KIND_TIMESTAMP ? 0 : -max[type.kind] - 1;
    return value->i64 <= max[type.kind] && value->i64 >= min;
}

/* Half of the values are small, so that values and constants often coincide. */
static ref_value draw(test_random *random, hac_value_type type)
{
    hac_repr repr = hac_repr_of(type);
    ref_value value = test_value(random, repr);
    if (test_below(random, 2) == 0 || !fits(type, &value)) {
        int64_t small = (int64_t)test_below(random, 12) - (repr == HAC_REPR_U64 ? 0 : 4);
        value.u64 = (uint64_t)small;
        value.i64 = type.kind == HAC_KIND_DATE ? 10000 + 20 * small : small;
        value.i64 = type.kind == HAC_KIND_TIMESTAMP ? (small + 5) * 43200000000 : value.i64;
        value.f32 = (float)small / 2;
        value.f64 = (double)small / 2;
        value.i128 = small * 5000;
        value.boolean = small & 1;
        value.bytes = 1;
        value.string[0] = (char)('e' + small);
    }
    return value;
}

static void write_value(test_random *random, hac_value_type type, char *ret)
{
    ref_value value = draw(random, type);
    size_t n = 0;
    for (size_t i = 0; i < value.bytes; i++) /* bytes that need no escape in a literal */
        if (value.string[i] == '\'' || value.string[i] < ' ')
            value.string[i] = 'a';
    switch (hac_repr_of(type)) {
    case HAC_REPR_BOOL:
        n = (size_t)sprintf(ret, "%s", value.boolean ? "true" : "false");
        break;
    case HAC_REPR_U64:
        n = hac_print_u64(value.u64, ret);
        break;
    case HAC_REPR_F32:
        n = (size_t)sprintf(ret, "cast('%.9g' as f32)", (double)value.f32);
        break;
    case HAC_REPR_F64:
        n = (size_t)sprintf(ret, "cast('%.17g' as f64)", value.f64);
        break;
    case HAC_REPR_I128:
        n = hac_print_decimal(value.i128, type.scale, ret);
        break;
    case HAC_REPR_STRING:
        n = (size_t)sprintf(ret, "'%.*s'", (int)value.bytes, value.string);
        break;
    default:
        if (type.kind == HAC_KIND_DATE || type.kind == HAC_KIND_TIMESTAMP) {
            n = (size_t)sprintf(ret, type.kind == HAC_KIND_DATE ? "date '" : "timestamp '");
            n += type.kind == HAC_KIND_DATE ? hac_print_date((int32_t)value.i64, ret + n)
                                            : hac_print_timestamp(value.i64, ret + n);
            ret[n++] = '\'';
        } else if (value.i64 == INT64_MIN)
            n = (size_t)sprintf(ret, "-9223372036854775807");
        else
            n = hac_print_decimal(value.i64, type.scale, ret);
    }
    ret[n] = '\0';
}

static const hac_field *column_of(const hac_schema *columns, test_random *random)
{
    return &columns->fields[test_below(random, columns->n_fields)];
}

static bool is_number(hac_value_type type)
{
    return hac_kind_is_integer(type.kind) || hac_kind_is_float(type.kind) || type.kind == HAC_KIND_DECIMAL;
}

static bool is_time(hac_value_type type)
{
    return type.kind == HAC_KIND_DATE || type.kind == HAC_KIND_TIMESTAMP;
}

/* A constant that compares with `type`; half of the time it has another type. */
static void write_constant(test_random *random, const hac_schema *columns, hac_value_type type, char *ret)
{
    hac_value_type other = column_of(columns, random)->type;
    bool like = (is_number(type) && is_number(other)) || (is_time(type) && is_time(other));
    write_value(random, like ? other : type, ret);
}

/* The column, or a function of it with its type or another number type. */
static void write_operand(test_random *random, const hac_field *field, char *ret)
{
    static const char *const numbers[] = {"%s + 2",          "%s - 3",
                                          "%s * 3",          "cast(%s as f32)",
                                          "cast(%s as f64)", "cast(%s as decimal(20,1))",
                                          "cast(%s as i8)",  "-%s",
                                          "%s / 2",          "%s + 1 / %s"};
    static const char *const times[] = {"cast(%s as date)", "cast(%s as timestamp)", "date_trunc('year', %s)",
                                        "date_trunc('week', %s)"};
    const char *form = "%s";
    if (is_number(field->type) && test_below(random, 3) == 0)
        form = numbers[test_below(random, sizeof numbers / sizeof *numbers)];
    else if (is_time(field->type) && test_below(random, 3) == 0)
        form = times[test_below(random, sizeof times / sizeof *times)];
    char wide[128];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(wide, sizeof wide, form, field->name, field->name);
#pragma GCC diagnostic pop
    strcpy(ret, wide);
}

static void write_leaf(test_random *random, const hac_schema *columns, char *ret)
{
    static const char *const comparisons[] = {"=", "<>", "<", "<=", ">", ">="};
    const hac_field *field = column_of(columns, random);
    char operand[128], a[128], b[128];
    write_operand(random, field, operand);
    write_constant(random, columns, field->type, a);
    write_constant(random, columns, field->type, b);
    const char *comparison = comparisons[test_below(random, 6)];
    switch (test_below(random, 9)) {
    case 0:
        sprintf(ret, "%s is %snull", field->name, test_below(random, 2) ? "not " : "");
        break;
    case 1:
        sprintf(ret, "%s %sin (%s, %s)", operand, test_below(random, 2) ? "not " : "", a, b);
        break;
    case 2:
        sprintf(ret, "%s between %s and %s", operand, a, b);
        break;
    case 3:
        sprintf(ret, "%s %s %s", a, comparison, operand);
        break;
    case 4:
        sprintf(ret, "(%s = %s or %s = %s)", field->name, a, field->name, b);
        break;
    default:
        sprintf(ret, "%s %s %s", operand, comparison, a);
    }
}

static void write_filter(test_random *random, const hac_schema *columns, unsigned depth, char *ret)
{
    uint64_t form = test_below(random, 8);
    if (depth == 0 || form == 0) {
        write_leaf(random, columns, ret);
        return;
    }
    char a[2048], b[2048];
    write_filter(random, columns, depth - 1, a);
    write_filter(random, columns, depth - 1, b);
    if (form == 1)
        snprintf(ret, 2048, "not (%.2000s)", a);
    else
        snprintf(ret, 2048, "(%.1000s) %s (%.1000s)", a, form == 2 ? "or" : "and", b);
}

/* The order of a value and a constant, in the test's own implementation. */
static int order_of(hac_repr repr, const ref_value *a, const hac_constant *value, const uint8_t *bytes)
{
    float narrow;
    double x, y;
    __int128 wide = (__int128)((unsigned __int128)value->high << 64 | value->low);
    int64_t whole = (int64_t)value->low;
    switch (repr) {
    case HAC_REPR_BOOL:
        return (int)a->boolean - (int)value->low;
    case HAC_REPR_I64:
        return (a->i64 > whole) - (a->i64 < whole);
    case HAC_REPR_U64:
        return (a->u64 > value->low) - (a->u64 < value->low);
    case HAC_REPR_I128:
        return (a->i128 > wide) - (a->i128 < wide);
    case HAC_REPR_STRING: {
        size_t common = a->bytes < value->high ? a->bytes : value->high;
        int order = common == 0 ? 0 : memcmp(a->string, bytes + value->low, common);
        return order != 0 ? order : (a->bytes > value->high) - (a->bytes < value->high);
    }
    default:
        memcpy(&narrow, &value->low, sizeof narrow);
        memcpy(&y, &value->low, sizeof y);
        x = repr == HAC_REPR_F32 ? (double)a->f32 : a->f64;
        y = repr == HAC_REPR_F32 ? (double)narrow : y;
        if (x != x || y != y)
            return (x != x) - (y != y);
        return (x > y) - (x < y);
    }
}

static bool fulfilled(const hac_bound *bound, const ref_value *value)
{
    bool any = false;
    if (value->state != HAC_ROW_OK)
        return bound->comparison == HAC_COMPARE_NULL;
    int order = bound->n_values == 0 ? 0 : order_of(bound->repr, value, bound->values, bound->bytes);
    switch (bound->comparison) {
    case HAC_COMPARE_EQ:
        return order == 0;
    case HAC_COMPARE_NE:
        return order != 0;
    case HAC_COMPARE_LT:
        return order < 0;
    case HAC_COMPARE_LE:
        return order <= 0;
    case HAC_COMPARE_GT:
        return order > 0;
    case HAC_COMPARE_GE:
        return order >= 0;
    case HAC_COMPARE_IN:
        for (size_t i = 0; i < bound->n_values; i++)
            any |= order_of(bound->repr, value, &bound->values[i], bound->bytes) == 0;
        return any;
    default:
        return bound->comparison == HAC_COMPARE_NOT_NULL;
    }
}

typedef struct rows {
    hac_column columns[COLUMNS];
    ref_value (*values)[COLUMNS];
    hac_batch batch;
} rows;

/* The result of a filter in a row: a state above HAC_ROW_OK, or one of these. */
enum { IS_FALSE = 5, IS_TRUE = 6 };

static void run(const hac_program *program, const rows *r, uint8_t *ret)
{
    hac_machine_c *machine = NULL;
    hac_column output;
    assert_int_equal(hac_program_verify(program, NULL), HAC_OK);
    assert_int_equal(hac_machine_c_new(program, 1 << 16, &machine, NULL), HAC_OK);
    hac_machine_c_run(machine, &r->batch, &output);
    for (size_t i = 0; i < HAC_BATCH_ROWS; i++) {
        unsigned state = output.states == NULL ? HAC_ROW_OK : output.states[i];
        bool truth = (((const uint8_t *)output.values)[i] & 1) != 0;
        ret[i] = (uint8_t)(state != HAC_ROW_OK ? state : truth ? IS_TRUE : IS_FALSE);
    }
    hac_machine_c_free(machine);
}

static void fill_rows(test_random *random, const hac_schema *columns, rows *ret)
{
    ret->values = calloc(HAC_BATCH_ROWS, sizeof *ret->values);
    assert_non_null(ret->values);
    for (size_t c = 0; c < COLUMNS; c++) {
        hac_value_type type = columns->fields[c].type;
        ret->columns[c] = test_column_new(hac_repr_of(type), true);
        ret->columns[c].type = type;
        for (size_t i = 0; i < HAC_BATCH_ROWS; i++) {
            ref_value value = draw(random, type);
            if (test_below(random, 6) == 0)
                value.state = test_below(random, 20) == 0 ? HAC_ROW_MALFORMED : HAC_ROW_NULL;
            ret->values[i][c] = value;
            test_column_set(&ret->columns[c], hac_repr_of(type), i, &value);
        }
    }
    ret->batch = (hac_batch){HAC_BATCH_ROWS, COLUMNS, ret->columns};
}

static void free_rows(rows *r)
{
    for (size_t c = 0; c < COLUMNS; c++)
        test_column_free(&r->columns[c]);
    free(r->values);
}

/* AND of conjuncts, by the rules of conjuncts.h. */
static void combine(uint8_t *all, const uint8_t *one)
{
    for (size_t i = 0; i < HAC_BATCH_ROWS; i++) {
        if (all[i] == IS_FALSE || one[i] == IS_FALSE)
            all[i] = IS_FALSE;
        else if (all[i] == IS_TRUE || one[i] == IS_TRUE)
            all[i] = all[i] == IS_TRUE ? one[i] : all[i];
        else
            all[i] = all[i] > one[i] ? all[i] : one[i];
    }
}

static void check_conjunct(const char *where, const hac_conjuncts *conjuncts, size_t n, const rows *r,
                           const uint8_t *result)
{
    const hac_conjunct *conjunct = &conjuncts->conjuncts[n];
    for (size_t i = 0; i < HAC_BATCH_ROWS; i++) {
        bool column_fails = false;
        for (size_t c = 0; c < conjunct->n_columns; c++)
            column_fails |= r->values[i][conjunct->columns[c]].state > HAC_ROW_NULL;
        if (!conjunct->fails && !column_fails && result[i] > HAC_ROW_NULL && result[i] < IS_FALSE)
            fail_msg("%s: conjunct %zu is in error, and was said not to fail", where, n);
    }
    for (size_t k = 0; k < conjuncts->n_bounds; k++) {
        const hac_bound *bound = &conjuncts->bounds[k];
        for (size_t i = 0; bound->conjunct == n && i < HAC_BATCH_ROWS; i++) {
            const ref_value *value = &r->values[i][bound->column];
            if (value->state > HAC_ROW_NULL || fulfilled(bound, value))
                continue;
            bool may_be_null = value->state == HAC_ROW_NULL && bound->comparison != HAC_COMPARE_NULL;
            if (result[i] != IS_FALSE && !(may_be_null && result[i] == HAC_ROW_NULL))
                fail_msg("%s: row %zu: bound %zu is not fulfilled, and conjunct %zu is %u", where, i, k, n,
                         result[i]);
        }
    }
}

static size_t check_filter(const char *where, const rows *r)
{
    uint8_t expected[HAC_BATCH_ROWS], all[HAC_BATCH_ROWS], one[HAC_BATCH_ROWS];
    hac_query *query = compile(where);
    hac_conjuncts conjuncts = {0};
    take_apart(query, &conjuncts);
    run(query->filter, r, expected);
    memset(all, IS_TRUE, sizeof all);
    for (size_t n = 0; n < conjuncts.n; n++) {
        run(conjuncts.conjuncts[n].program, r, one);
        check_conjunct(where, &conjuncts, n, r, one);
        combine(all, one);
    }
    if (memcmp(all, expected, sizeof all) != 0)
        fail_msg("%s: the conjuncts are not the filter", where);
    size_t bounds = conjuncts.n_bounds;
    hac_conjuncts_clear(&conjuncts);
    hac_query_free(query);
    return bounds;
}

static void test_random_filters(void **state)
{
    (void)state;
    test_random random = {20};
    char where[2048];
    size_t bounds = 0;
    hac_query *query = compile("true");
    for (int round = 0; round < HAC_TEST_CASES(20, 5); round++) {
        rows r;
        fill_rows(&random, &query->columns, &r);
        for (int i = 0; i < 100; i++) {
            write_filter(&random, &query->columns, 3, where);
            bounds += check_filter(where, &r);
        }
        free_rows(&r);
    }
    assert_true(bounds > HAC_TEST_CASES(2000, 500));
    hac_query_free(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds),         cmocka_unit_test(test_columns_and_failures),
        cmocka_unit_test(test_many),           cmocka_unit_test(test_no_filter),
        cmocka_unit_test(test_random_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
