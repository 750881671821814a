/* SPDX-License-Identifier: Apache-2.0 */
/* Groups compared with a naive reference: rows sorted by the text of their keys, and each aggregate computed
 * from a group's rows one by one. The same rows go through one table, and through partials of chunks and
 * their merge. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/test_support.h"
#include "base/value_text.h"
#include "codelet/hash.h"
#include "expr/group_layout.h"
#include "query/group_table.h"
#include "query/partial.h"

#define N_ARGUMENTS 3 /* after the keys: i64, f64, string */
#define N_FUNCTIONS 26
#define TEXT_MAX    4096

static uint64_t random_state = 1;

/* ---- rows ---- */

typedef struct value {
    bool null;
    union {
        int64_t i;
        uint64_t u;
        double d;
    };
    char text[40]; /* strings, short and long */
} value;

typedef struct rows {
    size_t n, n_keys, n_columns;
    hac_value_type types[8];
    value *values; /* row by row */
    hac_program_output outputs[8];
    hac_program program;
    hac_aggregate aggregates[N_FUNCTIONS];
    hac_query query;
} rows;

static value *at(const rows *r, size_t row, size_t column)
{
    return &r->values[row * r->n_columns + column];
}

static void random_value(hac_value_type type, uint64_t k, bool nulls, value *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->null = nulls && hac_random_u64(&random_state) % 7 == 0;
    switch (type.kind) {
    case HAC_KIND_STRING:
        snprintf(ret->text, sizeof ret->text, k % 3 == 0 ? "%" PRIu64 : "a longer string, number %" PRIu64,
                 k);
        if (k == 1)
            ret->text[0] = '\0';
        break;
    case HAC_KIND_F64:
        ret->d = k == 0   ? NAN
                 : k == 1 ? (hac_random_u64(&random_state) % 2 ? 0.0 : -0.0)
                          : (double)k * 0.25 - 100;
        break;
    case HAC_KIND_BOOL:
        ret->u = k % 2;
        break;
    case HAC_KIND_I64:
        ret->i = k == 0 ? INT64_MIN : k == 1 ? INT64_MAX : (int64_t)(k * 31) - 500;
        break;
    case HAC_KIND_I16:
        ret->i = (int16_t)(k * 7 - 300);
        break;
    default:
        ret->u = (uint32_t)(k * 2654435761u);
    }
}

static const hac_value_type type_i64 = {HAC_KIND_I64, 0, 0}, type_f64 = {HAC_KIND_F64, 0, 0},
                            type_u32 = {HAC_KIND_U32, 0, 0}, type_i16 = {HAC_KIND_I16, 0, 0},
                            type_string = {HAC_KIND_STRING, 0, 0}, type_bool = {HAC_KIND_BOOL, 0, 0};

/* Arguments are small multiples of 1/4: every order of additions gives the same sum. */
static void random_argument(hac_value_type type, bool nulls, value *ret)
{
    uint64_t k = hac_random_u64(&random_state) % 40;
    random_value(type, k + 2, nulls, ret);
    if (type.kind == HAC_KIND_I64)
        ret->i = (int64_t)k - 20;
}

static void add_aggregate(rows *r, unsigned function, int argument, hac_value_type type)
{
    hac_aggregate *a = &r->aggregates[r->query.n_aggregates++];
    *a = (hac_aggregate){.function = (uint8_t)function, .argument = -1, .type = type, .k = 3};
    if (argument >= 0)
        a->argument = (int16_t)(r->n_keys + (size_t)argument);
    if (function == HAC_AGGREGATE_HISTOGRAM) {
        a->k = 4;
        a->low = hac_constant_decimal(-20, 0);
        a->high = hac_constant_decimal(20, 0);
    }
    if (function == HAC_AGGREGATE_APPROX_QUANTILE)
        a->low = hac_constant_real(0.3);
}

static void make_query(rows *r)
{
    for (size_t c = 0; c < r->n_columns; c++)
        r->outputs[c].type = r->types[c];
    r->program = (hac_program){.outputs = r->outputs, .n_outputs = r->n_columns};
    r->query =
        (hac_query){.rows = &r->program, .aggregates = true, .n_keys = r->n_keys, .aggregate = r->aggregates};
    add_aggregate(r, HAC_AGGREGATE_COUNT_ROWS, -1, type_i64);
    for (int c = 0; c < N_ARGUMENTS; c++) {
        add_aggregate(r, HAC_AGGREGATE_COUNT, c, type_i64);
        add_aggregate(r, HAC_AGGREGATE_COUNT_DISTINCT, c, type_i64);
        add_aggregate(r, HAC_AGGREGATE_MIN, c, r->types[r->n_keys + (size_t)c]);
        add_aggregate(r, HAC_AGGREGATE_MAX, c, r->types[r->n_keys + (size_t)c]);
        add_aggregate(r, HAC_AGGREGATE_FIRST, c, r->types[r->n_keys + (size_t)c]);
        add_aggregate(r, HAC_AGGREGATE_LAST, c, r->types[r->n_keys + (size_t)c]);
    }
    add_aggregate(r, HAC_AGGREGATE_SUM, 0, type_i64);
    add_aggregate(r, HAC_AGGREGATE_SUM, 1, type_f64);
    add_aggregate(r, HAC_AGGREGATE_AVG, 0, type_f64);
    add_aggregate(r, HAC_AGGREGATE_TOP_K, 2, type_string);
    add_aggregate(r, HAC_AGGREGATE_HISTOGRAM, 0, type_string);
    add_aggregate(r, HAC_AGGREGATE_APPROX_QUANTILE, 0, type_f64);
    add_aggregate(r, HAC_AGGREGATE_STRING_LIST, 2, type_string);
}

static void make_rows(rows *r, size_t n, const hac_value_type *keys, size_t n_keys, uint64_t distinct,
                      bool nulls)
{
    *r = (rows){.n = n, .n_keys = n_keys, .n_columns = n_keys + N_ARGUMENTS};
    memcpy(r->types, keys, n_keys * sizeof *keys);
    r->types[n_keys] = type_i64;
    r->types[n_keys + 1] = type_f64;
    r->types[n_keys + 2] = type_string;
    r->values = calloc(n * r->n_columns + 1, sizeof *r->values);
    assert_non_null(r->values);
    for (size_t i = 0; i < n; i++) {
        uint64_t k = hac_random_u64(&random_state) % distinct;
        for (size_t c = 0; c < n_keys; c++)
            random_value(r->types[c], k >> (c * 3), nulls, at(r, i, c));
        for (size_t c = n_keys; c < r->n_columns; c++)
            random_argument(r->types[c], nulls, at(r, i, c));
    }
    make_query(r);
}

/* ---- a value as text ---- */

static size_t print_value(hac_value_type type, const value *v, bool key, char *ret)
{
    double d = v->d;
    if (v->null)
        return (size_t)sprintf(ret, "null");
    if (type.kind == HAC_KIND_STRING)
        return (size_t)sprintf(ret, "'%s'", v->text);
    if (type.kind != HAC_KIND_F64)
        return (size_t)sprintf(ret, "%" PRId64, v->i);
    if (isnan(d))
        return (size_t)sprintf(ret, "nan");
    return (size_t)sprintf(ret, "%a", key ? d + 0.0 : d);
}

static size_t print_cell(const hac_column *v, size_t row, bool key, char *ret)
{
    value x = {.null = v->states != NULL && v->states[row] != 0};
    if (x.null)
        return print_value(v->type, &x, key, ret);
    switch (hac_repr_of(v->type)) {
    case HAC_REPR_STRING: {
        hac_string_ref ref = ((hac_string_ref *)v->values)[row];
        assert_true(ref.length < TEXT_MAX / 2);
        return (size_t)sprintf(ret, "'%.*s'", (int)ref.length, (const char *)v->bytes + ref.offset);
    }
    case HAC_REPR_BOOL:
        x.u = ((uint8_t *)v->values)[row];
        break;
    default:
        memcpy(&x.u, (uint64_t *)v->values + row, 8);
    }
    return print_value(v->type, &x, key, ret);
}

/* ---- the reference ---- */

typedef struct keyed {
    char key[160];
    size_t row;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

static size_t print_key(const rows *r, size_t row, char *ret)
{
    size_t n = 0;
    ret[0] = '\0';
    for (size_t c = 0; c < r->n_keys; c++) {
        n += print_value(r->types[c], at(r, row, c), true, ret + n);
        ret[n++] = '|';
        ret[n] = '\0';
    }
    return n;
}

static int compare_values(hac_value_type type, const value *a, const value *b)
{
    if (type.kind == HAC_KIND_STRING)
        return strcmp(a->text, b->text);
    if (type.kind == HAC_KIND_F64)
        return (a->d > b->d) - (a->d < b->d);
    return (a->i > b->i) - (a->i < b->i);
}

typedef struct counted {
    const value *v;
    uint64_t count;
    hac_value_type type;
} counted;

static int by_count(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return compare_values(x->type, x->v, y->v);
}

static int by_value(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    return compare_values(x->type, x->v, y->v);
}

/* Distinct values of a group in input order. */
static size_t distinct_values(const rows *r, const keyed *group, size_t n, size_t column, counted *ret)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const value *v = at(r, group[i].row, column);
        size_t k = 0;
        if (v->null)
            continue;
        while (k < found && compare_values(r->types[column], ret[k].v, v) != 0)
            k++;
        if (k == found)
            ret[found++] = (counted){v, 0, r->types[column]};
        ret[k].count++;
    }
    return found;
}

static size_t print_list(const counted *values, size_t n, const hac_aggregate *a, char *ret)
{
    size_t at_text = (size_t)sprintf(ret, "'");
    for (size_t i = 0; i < n; i++) {
        if (a->function == HAC_AGGREGATE_TOP_K)
            at_text += (size_t)sprintf(ret + at_text, "%s%s:%" PRIu64, i ? ", " : "", values[i].v->text,
                                       values[i].count);
        else
            at_text += (size_t)sprintf(ret + at_text, "%s%s", i ? "," : "", values[i].v->text);
    }
    return at_text + (size_t)sprintf(ret + at_text, "'");
}

static size_t reference_set(const rows *r, const keyed *group, size_t n, const hac_aggregate *a, char *ret)
{
    counted all[64];
    size_t column = (size_t)a->argument, found = distinct_values(r, group, n, column, all);
    uint64_t sum = 0, seen = 0;
    if (a->function == HAC_AGGREGATE_COUNT_DISTINCT)
        return (size_t)sprintf(ret, "%zu", found);
    if (found == 0)
        return (size_t)sprintf(ret, "null");
    if (a->function == HAC_AGGREGATE_TOP_K) {
        qsort(all, found, sizeof *all, by_count);
        return print_list(all, found < a->k ? found : a->k, a, ret);
    }
    if (a->function == HAC_AGGREGATE_STRING_LIST)
        return print_list(all, found, a, ret);
    qsort(all, found, sizeof *all, by_value);
    for (size_t i = 0; i < found; i++)
        sum += all[i].count;
    double position = a->low.real * (double)(sum - 1), low = floor(position), x = 0, y = 0;
    for (size_t i = 0; i < found; seen += all[i++].count) {
        x = (double)seen <= low ? (double)all[i].v->i : x;
        y = (double)seen <= low + 1 ? (double)all[i].v->i : y;
    }
    double part = position - low; /* as NumPy: the end is met exactly */
    return (size_t)sprintf(ret, "%a", part < 0.5 ? x + (y - x) * part : y - (y - x) * (1 - part));
}

static size_t reference_histogram(const rows *r, const keyed *group, size_t n, const hac_aggregate *a,
                                  char *ret)
{
    unsigned buckets[4] = {0};
    for (size_t i = 0; i < n; i++) {
        const value *v = at(r, group[i].row, (size_t)a->argument);
        if (!v->null)
            buckets[v->i >= 20 ? 3 : (v->i + 20) / 10]++;
    }
    return (size_t)sprintf(ret, "'%u, %u, %u, %u'", buckets[0], buckets[1], buckets[2], buckets[3]);
}

static size_t reference_one(const rows *r, const keyed *group, size_t n, const hac_aggregate *a, char *ret)
{
    uint64_t count = 0;
    int64_t sum = 0;
    double f64 = 0;
    const value *min = NULL, *max = NULL, *first = NULL, *last = NULL, null = {.null = true};
    hac_value_type type = a->argument < 0 ? type_i64 : r->types[a->argument];
    for (size_t i = 0; i < n && a->argument >= 0; i++) {
        const value *v = at(r, group[i].row, (size_t)a->argument);
        if (v->null)
            continue;
        count++;
        if (type.kind == HAC_KIND_F64)
            f64 += v->d;
        else
            sum += type.kind == HAC_KIND_I64 ? v->i : 0;
        min = min == NULL || compare_values(type, v, min) < 0 ? v : min;
        max = max == NULL || compare_values(type, v, max) > 0 ? v : max;
        first = first == NULL ? v : first;
        last = v;
    }
    switch (a->function) {
    case HAC_AGGREGATE_COUNT_ROWS:
        return (size_t)sprintf(ret, "%zu", n);
    case HAC_AGGREGATE_COUNT:
        return (size_t)sprintf(ret, "%" PRIu64, count);
    case HAC_AGGREGATE_SUM:
        if (count == 0)
            return (size_t)sprintf(ret, "null");
        return type.kind == HAC_KIND_F64 ? (size_t)sprintf(ret, "%a", f64)
                                         : (size_t)sprintf(ret, "%" PRId64, sum);
    case HAC_AGGREGATE_AVG:
        return count == 0 ? (size_t)sprintf(ret, "null")
                          : (size_t)sprintf(ret, "%a", (double)sum / (double)count);
    case HAC_AGGREGATE_MIN:
        return print_value(type, min == NULL ? &null : min, false, ret);
    case HAC_AGGREGATE_MAX:
        return print_value(type, max == NULL ? &null : max, false, ret);
    case HAC_AGGREGATE_FIRST:
        return print_value(type, first == NULL ? &null : first, false, ret);
    case HAC_AGGREGATE_LAST:
        return print_value(type, last == NULL ? &null : last, false, ret);
    case HAC_AGGREGATE_HISTOGRAM:
        return reference_histogram(r, group, n, a, ret);
    default:
        return reference_set(r, group, n, a, ret);
    }
}

/* Groups as lines of text, sorted. */
typedef struct lines {
    char **line;
    size_t n, capacity;
} lines;

static void add_line(lines *l, const char *text)
{
    if (l->n == l->capacity) {
        l->capacity = l->capacity * 2 + 16;
        l->line = realloc(l->line, l->capacity * sizeof *l->line);
        assert_non_null(l->line);
    }
    l->line[l->n++] = strdup(text);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void clear_lines(lines *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->line[i]);
    free(l->line);
    *l = (lines){0};
}

static void reference(const rows *r, lines *ret)
{
    char text[TEXT_MAX];
    keyed *all = calloc(r->n + 1, sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < r->n; i++) {
        print_key(r, i, all[i].key);
        all[i].row = i;
    }
    qsort(all, r->n, sizeof *all, by_key);
    for (size_t i = 0, n; i < r->n || (r->n_keys == 0 && i == 0); i += n) {
        for (n = 1; i + n < r->n && strcmp(all[i].key, all[i + n].key) == 0; n++)
            ;
        n = r->n == 0 ? 0 : n;
        size_t used = (size_t)sprintf(text, "%s", all[i].key);
        for (size_t a = 0; a < r->query.n_aggregates; a++) {
            used += reference_one(r, all + i, n, &r->aggregates[a], text + used);
            text[used++] = ';';
        }
        text[used] = '\0';
        add_line(ret, text);
        if (n == 0)
            break;
    }
    free(all);
    qsort(ret->line, ret->n, sizeof *ret->line, by_text);
}

/* ---- the engine ---- */

typedef struct batch {
    hac_column columns[8];
    _Alignas(64) uint64_t values[8][HAC_BATCH_ROWS];
    uint8_t states[8][HAC_BATCH_ROWS];
    uint8_t bytes[8 * 40 * HAC_BATCH_ROWS];
} batch;

static void put_value(hac_column *v, size_t i, const value *from, uint32_t *used, uint8_t *bytes)
{
    v->states[i] = from->null ? HAC_ROW_NULL : HAC_ROW_OK;
    if (v->type.kind == HAC_KIND_STRING) {
        uint32_t n = (uint32_t)strlen(from->text);
        memcpy(bytes + *used, from->text, n);
        ((hac_string_ref *)v->values)[i] = (hac_string_ref){*used, from->null ? 0 : n};
        *used += n;
    } else if (v->type.kind == HAC_KIND_BOOL) {
        ((uint8_t *)v->values)[i] = from->u != 0;
    } else {
        ((uint64_t *)v->values)[i] = from->null ? 0xdeadbeef : from->u;
    }
}

static void load(const rows *r, size_t first, size_t n, batch *b)
{
    uint32_t used = 0;
    for (size_t c = 0; c < r->n_columns; c++) {
        bool nulls = false;
        b->columns[c] = (hac_column){
            .type = r->types[c], .values = b->values[c], .states = b->states[c], .bytes = b->bytes};
        for (size_t i = 0; i < n; i++) {
            put_value(&b->columns[c], i, at(r, first + i, c), &used, b->bytes);
            nulls |= at(r, first + i, c)->null;
        }
        if (!nulls)
            b->columns[c].states = NULL;
    }
}

static void collect(const rows *r, hac_group_table *t, lines *ret)
{
    hac_column results[8 + N_FUNCTIONS];
    char text[TEXT_MAX];
    size_t n_columns = r->n_keys + r->query.n_aggregates;
    uint64_t groups = hac_group_table_groups(t);
    for (uint64_t first = 0; first < groups; first += HAC_BATCH_ROWS) {
        size_t n = groups - first < HAC_BATCH_ROWS ? (size_t)(groups - first) : HAC_BATCH_ROWS;
        assert_int_equal(hac_group_table_results(t, first, n, results, NULL), HAC_OK);
        for (size_t i = 0; i < n; i++) {
            size_t used = 0;
            for (size_t c = 0; c < n_columns; c++) {
                used += print_cell(&results[c], i, c < r->n_keys, text + used);
                text[used++] = c < r->n_keys ? '|' : ';';
            }
            text[used] = '\0';
            add_line(ret, text);
        }
    }
}

static void same_lines(lines *got, lines *wanted)
{
    qsort(got->line, got->n, sizeof *got->line, by_text);
    for (size_t i = 0; i < got->n && i < wanted->n; i++)
        assert_string_equal(got->line[i], wanted->line[i]);
    assert_int_equal(got->n, wanted->n);
    clear_lines(got);
}

static void check_table(const rows *r, lines *wanted, uint64_t seed)
{
    hac_group_options options = {.seed = seed, .memory = UINT64_MAX, .partitions = 1};
    hac_group_table *t;
    lines got = {0};
    batch *b = aligned_alloc(64, (sizeof *b + 63) / 64 * 64);
    assert_non_null(b);
    assert_int_equal(hac_group_table_new(&r->query, &options, &t, NULL), HAC_OK);
    for (size_t i = 0, n; i < r->n; i += n) {
        n = 1 + hac_random_u64(&random_state) % HAC_BATCH_ROWS;
        n = n < r->n - i ? n : r->n - i;
        load(r, i, n, b);
        assert_int_equal(hac_group_table_add(t, b->columns, n, NULL), HAC_OK);
    }
    assert_int_equal(hac_group_table_ensure(t, NULL), HAC_OK);
    collect(r, t, &got);
    same_lines(&got, wanted);
    hac_group_table_free(t);
    free(b);
}

typedef struct partials {
    uint8_t **data;
    uint64_t *bytes;
    size_t n;
    hac_group_options options;
} partials;

static void write_partials(const rows *r, size_t chunk_rows, const hac_group_options *options, partials *ret)
{
    hac_partial_writer *w;
    batch *b = aligned_alloc(64, (sizeof *b + 63) / 64 * 64);
    uint64_t capacity = 1 << 20, needed, groups;
    ret->n = r->n == 0 ? 1 : (r->n + chunk_rows - 1) / chunk_rows;
    ret->options = *options;
    ret->data = calloc(ret->n, sizeof *ret->data);
    ret->bytes = calloc(ret->n, sizeof *ret->bytes);
    assert_int_equal(hac_partial_writer_new(&r->query, options, &w, NULL), HAC_OK);
    for (size_t c = 0; c < ret->n; c++) {
        size_t end = (c + 1) * chunk_rows < r->n ? (c + 1) * chunk_rows : r->n;
        for (;;) { /* it fits the second time */
            uint8_t *region = malloc(capacity);
            hac_partial_begin(w, c, region, capacity);
            for (size_t i = c * chunk_rows, n; i < end; i += n) {
                n = end - i < HAC_BATCH_ROWS ? end - i : 1 + hac_random_u64(&random_state) % HAC_BATCH_ROWS;
                load(r, i, n, b);
                assert_int_equal(hac_partial_add(w, b->columns, n, NULL), HAC_OK);
            }
            assert_int_equal(hac_partial_end(w, &needed, &groups, NULL), HAC_OK);
            if (needed <= capacity) {
                /* exactly as large as it is: what reads beyond is seen by a sanitizer */
                ret->data[c] = malloc(needed);
                memcpy(ret->data[c], region, needed);
                ret->bytes[c] = needed;
                free(region);
                break;
            }
            hac_partial_header h;
            assert_int_equal(
                hac_partial_check(&(hac_group_layout){0}, options, c, region, capacity, &h, NULL),
                HAC_INVALID);
            free(region);
            capacity = needed;
        }
    }
    hac_partial_writer_free(w);
    free(b);
}

static void clear_partials(partials *p)
{
    for (size_t c = 0; c < p->n; c++)
        free(p->data[c]);
    free(p->data);
    free(p->bytes);
}

/* Partials with `finer` times more partitions. */
static void check_partials(const rows *r, lines *wanted, size_t chunk_rows, uint32_t partitions,
                           uint32_t finer, uint32_t passes)
{
    lines got = {0};
    hac_group_options options = {.seed = hac_random_u64(&random_state),
                                 .memory = UINT64_MAX,
                                 .partitions = partitions,
                                 .passes = passes};
    for (uint32_t pass = 0; pass < passes; pass++) {
        hac_group_table *t;
        partials p;
        options.pass = pass;
        options.partitions = partitions * finer;
        write_partials(r, chunk_rows, &options, &p);
        options.partitions = partitions;
        assert_int_equal(hac_group_table_new(&r->query, &options, &t, NULL), HAC_OK);
        for (uint32_t partition = 0; partition < partitions; partition++) {
            hac_group_table_reset(t);
            for (size_t c = 0; c < p.n; c++)
                assert_int_equal(hac_group_table_merge(t, c, p.data[c], p.bytes[c], partition, NULL), HAC_OK);
            collect(r, t, &got);
        }
        hac_group_table_free(t);
        clear_partials(&p);
    }
    same_lines(&got, wanted);
}

static void check_all(rows *r)
{
    lines wanted = {0};
    reference(r, &wanted);
    check_table(r, &wanted, hac_random_u64(&random_state));
    check_partials(r, &wanted, r->n + 1, 1, 1, 1);
    check_partials(r, &wanted, r->n / 3 + 1, 16, 1, 1);
    check_partials(r, &wanted, r->n / 7 + 1, 256, 1, r->n_keys == 0 ? 1 : 3);
    check_partials(r, &wanted, r->n / 5 + 1, 8, 32, 1);
    clear_lines(&wanted);
    free(r->values);
}

/* ---- tests ---- */

static const struct {
    hac_value_type keys[3];
    size_t n;
} key_sets[] = {
    {{{0}}, 0},
    {{{HAC_KIND_U32, 0, 0}}, 1},
    {{{HAC_KIND_I64, 0, 0}}, 1},
    {{{HAC_KIND_F64, 0, 0}}, 1},
    {{{HAC_KIND_BOOL, 0, 0}}, 1},
    {{{HAC_KIND_STRING, 0, 0}}, 1},
    {{{HAC_KIND_I16, 0, 0}, {HAC_KIND_U32, 0, 0}}, 2}, /* in one word */
    {{{HAC_KIND_I64, 0, 0}, {HAC_KIND_F64, 0, 0}}, 2},
    {{{HAC_KIND_STRING, 0, 0}, {HAC_KIND_I16, 0, 0}, {HAC_KIND_STRING, 0, 0}}, 3},
};

static void test_keys(void **state)
{
    (void)state;
    static const uint64_t distinct[] = {1, 2, 63, 1000, 1u << 30};
    static const size_t sizes[] = {0, 1, 1023, 1024, 1025, 3000};
    for (size_t k = 0; k < sizeof key_sets / sizeof *key_sets; k++)
        for (size_t d = 0; d < sizeof distinct / sizeof *distinct; d++)
            for (size_t s = d % HAC_TEST_CASES(1, 3); s < sizeof sizes / sizeof *sizes;
                 s += HAC_TEST_CASES(1, 3)) {
                rows r;
                make_rows(&r, sizes[s], key_sets[k].keys, key_sets[k].n, distinct[d], (d + s) % 2 == 0);
                if (sizes[s] != 0 || key_sets[k].n == 0)
                    check_all(&r);
                else
                    free(r.values);
            }
}

/* Most rows begin new groups: they go into windows, after 32,768 rows that do not. */
static void test_windows(void **state)
{
    (void)state;
    for (size_t k = 1; k < sizeof key_sets / sizeof *key_sets; k += HAC_TEST_CASES(4, 8)) {
        rows r;
        const size_t n = HAC_TEST_CASES(150000, 90000);
        make_rows(&r, n, key_sets[k].keys, key_sets[k].n, 1u << 30, k != 1);
        lines wanted = {0};
        reference(&r, &wanted);
        check_partials(&r, &wanted, n / 15 * 11, 64, 1, 1);
        check_partials(&r, &wanted, n / 5 * 2, 8, 1, k == 1 ? 2 : 1);
        check_partials(&r, &wanted, n / 15 * 8, 4, 16, 1);
        clear_lines(&wanted);
        free(r.values);
    }
}

/* With a known seed, keys collide in the low bits, which select the slots. */
static void test_collisions(void **state)
{
    (void)state;
    rows r;
    make_rows(&r, 4000, &type_i64, 1, 1u << 30, false);
    uint64_t start = hac_hash_start(7), k = 0;
    for (size_t i = 0; i < r.n; i++) {
        while ((hac_hash_word(start, k) & 0x3ff) != 0x155)
            k++;
        at(&r, i, 0)->u = k;
        k += i % 3 != 0;
    }
    lines wanted = {0};
    reference(&r, &wanted);
    check_table(&r, &wanted, 7);
    clear_lines(&wanted);
    free(r.values);
}

/* Sums of floats are exact, for any partitions: of aggregated rows and of windows. Some values are far from
 * the others. */
static void test_float_sums(void **state)
{
    (void)state;
    enum { ROWS = 140000, KEYS = 80000, CHUNK = 70000 };
    hac_test_fsum *exact = calloc(KEYS, sizeof *exact);
    double *sums = calloc(KEYS, sizeof *sums);
    rows r;
    make_rows(&r, ROWS, &type_u32, 1, 2, false);
    for (size_t i = 0; i < ROWS; i++) {
        int range = hac_random_u64(&random_state) % 100 == 0 ? 1900 : 60;
        at(&r, i, 0)->u = hac_random_u64(&random_state) % KEYS;
        at(&r, i, 2)->d = ldexp((double)(int64_t)hac_random_u64(&random_state),
                                (int)(hac_random_u64(&random_state) % (uint64_t)range) - range / 2 - 60);
        hac_test_fsum_add(&exact[at(&r, i, 0)->u], at(&r, i, 2)->d);
    }
    for (size_t k = 0; k < KEYS; k++)
        sums[k] = hac_test_fsum_result(&exact[k]);
    r.query.n_aggregates = 0;
    add_aggregate(&r, HAC_AGGREGATE_SUM, 1, type_f64);
    for (uint32_t partitions = 1; partitions <= 256; partitions *= 16) {
        hac_group_options options = {
            .seed = hac_random_u64(&random_state), .memory = UINT64_MAX, .partitions = partitions};
        hac_group_table *t;
        hac_column results[2];
        partials p;
        uint64_t groups = 0;
        write_partials(&r, CHUNK, &options, &p);
        assert_int_equal(hac_group_table_new(&r.query, &options, &t, NULL), HAC_OK);
        for (uint32_t partition = 0; partition < partitions; partition++) {
            hac_group_table_reset(t);
            for (size_t c = 0; c < p.n; c++)
                assert_int_equal(hac_group_table_merge(t, c, p.data[c], p.bytes[c], partition, NULL), HAC_OK);
            groups += hac_group_table_groups(t);
            for (uint64_t g = 0; g < hac_group_table_groups(t); g++) {
                assert_int_equal(hac_group_table_results(t, g, 1, results, NULL), HAC_OK);
                assert_memory_equal(results[1].values, &sums[*(uint64_t *)results[0].values], sizeof(double));
            }
        }
        assert_true(groups > KEYS * 3 / 4);
        hac_group_table_free(t);
        clear_partials(&p);
    }
    free(sums);
    free(exact);
    free(r.values);
}

/* Damaged partials are refused or give some result; they never crash (run under a sanitizer). */
static void test_hostile(void **state)
{
    (void)state;
    for (size_t k = 1; k < sizeof key_sets / sizeof *key_sets; k += HAC_TEST_CASES(2, 4)) {
        for (int windows = 0; windows < 2; windows++) {
            hac_group_options options = {.seed = 3, .memory = 1 << 26, .partitions = 4};
            rows r;
            partials p;
            hac_group_table *t;
            unsigned refused = 0;
            make_rows(&r, windows ? 40000 : 300, key_sets[k].keys, key_sets[k].n, windows ? 1u << 30 : 20,
                      true);
            write_partials(&r, r.n, &options, &p);
            assert_int_equal(hac_group_table_new(&r.query, &options, &t, NULL), HAC_OK);
            uint8_t *copy = malloc(p.bytes[0]);
            for (int round = 0; round < (windows ? HAC_TEST_CASES(40, 12) : HAC_TEST_CASES(400, 120));
                 round++) {
                memcpy(copy, p.data[0], p.bytes[0]);
                uint64_t bytes = round % 4 == 0 ? hac_random_u64(&random_state) % p.bytes[0] : p.bytes[0];
                uint8_t *cut = malloc(bytes == 0 ? 1 : bytes);
                for (int flips = round % 4 == 0 ? 0 : 1 + round % 5; flips > 0; flips--)
                    copy[hac_random_u64(&random_state) % (round % 2 ? 256 : bytes)] ^=
                        (uint8_t)(1u << hac_random_u64(&random_state) % 8);
                memcpy(cut, copy, bytes);
                for (uint32_t partition = 0; partition < 4; partition++) {
                    hac_group_table_reset(t);
                    refused += hac_group_table_merge(t, 0, cut, bytes, partition, NULL) != HAC_OK;
                }
                free(cut);
            }
            assert_true(refused >= HAC_TEST_CASES(40, 12));
            assert_int_equal(hac_group_table_merge(t, 1, p.data[0], p.bytes[0], 0, NULL), HAC_INVALID);
            hac_group_table_free(t);
            clear_partials(&p);
            free(copy);
            free(r.values);
        }
    }
}

static void test_memory_limit(void **state)
{
    (void)state;
    rows r;
    batch *b = aligned_alloc(64, (sizeof *b + 63) / 64 * 64);
    make_rows(&r, 20000, &type_string, 1, 1u << 30, false);
    for (uint64_t memory = 1; memory < 1 << 22; memory = memory * 3 + 1000) {
        hac_group_options options = {.seed = 3, .memory = memory, .partitions = 1};
        hac_group_table *t;
        hac_status status = HAC_OK;
        assert_int_equal(hac_group_table_new(&r.query, &options, &t, NULL), HAC_OK);
        for (size_t i = 0; status == HAC_OK && i + HAC_BATCH_ROWS <= r.n; i += HAC_BATCH_ROWS) {
            load(&r, i, HAC_BATCH_ROWS, b);
            status = hac_group_table_add(t, b->columns, HAC_BATCH_ROWS, NULL);
        }
        assert_int_equal(status, HAC_NO_MEMORY);
        hac_group_table_free(t);
    }
    free(b);
    free(r.values);
}

static void test_overflow(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_group_options options = {.seed = 3, .memory = 1 << 24, .partitions = 1};
    hac_group_table *t;
    hac_column results[2];
    rows r;
    batch *b = aligned_alloc(64, (sizeof *b + 63) / 64 * 64);
    make_rows(&r, 2, &type_i64, 1, 1, false);
    at(&r, 0, 1)->i = at(&r, 1, 1)->i = INT64_MAX;
    r.query.n_aggregates = 0;
    add_aggregate(&r, HAC_AGGREGATE_SUM, 0, type_i64);
    load(&r, 0, 2, b);
    assert_int_equal(hac_group_table_new(&r.query, &options, &t, NULL), HAC_OK);
    assert_int_equal(hac_group_table_add(t, b->columns, 2, NULL), HAC_OK);
    assert_int_equal(hac_group_table_results(t, 0, 1, results, &err), HAC_FAILED);
    assert_non_null(strstr(err.message, "aggregate 1 (sum)"));
    /* within 64 bits again: intermediate sums are exact */
    at(&r, 0, 1)->i = at(&r, 1, 1)->i = -INT64_MAX;
    load(&r, 0, 1, b);
    assert_int_equal(hac_group_table_add(t, b->columns, 1, NULL), HAC_OK);
    assert_int_equal(hac_group_table_results(t, 0, 1, results, &err), HAC_OK);
    assert_int_equal(*(int64_t *)results[1].values, INT64_MAX);
    hac_group_table_free(t);
    free(b);
    free(r.values);
}

/* Moments of one table and of merged chunks, compared with two passes over the values; sums beyond 64 bits
 * are exact. */
static void test_moments(void **state)
{
    (void)state;
    enum { ROWS = 30000, KEYS = 17 };
    static const uint8_t functions[] = {HAC_AGGREGATE_VARIANCE, HAC_AGGREGATE_STDDEV, HAC_AGGREGATE_VAR_POP,
                                        HAC_AGGREGATE_STDDEV_POP, HAC_AGGREGATE_AVG};
    rows r;
    make_rows(&r, ROWS, &type_u32, 1, 2, true);
    for (size_t i = 0; i < ROWS; i++) {
        *at(&r, i, 0) = (value){.u = hac_random_u64(&random_state) % KEYS};
        at(&r, i, 2)->d = 1e6 + (double)(hac_random_u64(&random_state) % 1000) / 7;
    }
    r.query.n_aggregates = 0;
    for (size_t f = 0; f < sizeof functions; f++)
        add_aggregate(&r, functions[f], 1, type_f64);
    hac_group_options options = {.seed = 1, .memory = UINT64_MAX, .partitions = 1};
    hac_group_table *t;
    hac_column results[6];
    partials p;
    write_partials(&r, 7001, &options, &p);
    assert_int_equal(hac_group_table_new(&r.query, &options, &t, NULL), HAC_OK);
    for (size_t c = 0; c < p.n; c++)
        assert_int_equal(hac_group_table_merge(t, c, p.data[c], p.bytes[c], 0, NULL), HAC_OK);
    assert_int_equal(hac_group_table_groups(t), KEYS);
    assert_int_equal(hac_group_table_results(t, 0, KEYS, results, NULL), HAC_OK);
    for (size_t g = 0; g < KEYS; g++) {
        double sum = 0, square = 0, n = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t i = 0; i < ROWS; i++) {
                if (at(&r, i, 0)->u != ((uint64_t *)results[0].values)[g] || at(&r, i, 2)->null)
                    continue;
                n += pass == 0;
                sum += pass == 0 ? at(&r, i, 2)->d : 0;
                square += pass == 0 ? 0 : (at(&r, i, 2)->d - sum / n) * (at(&r, i, 2)->d - sum / n);
            }
        double wanted[] = {square / (n - 1), sqrt(square / (n - 1)), square / n, sqrt(square / n), sum / n};
        for (size_t f = 0; f < sizeof functions; f++)
            assert_true(fabs(((double *)results[1 + f].values)[g] - wanted[f]) <= 1e-9 * wanted[f]);
    }
    hac_group_table_free(t);
    clear_partials(&p);
    free(r.values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),       cmocka_unit_test(test_windows),
        cmocka_unit_test(test_collisions), cmocka_unit_test(test_float_sums),
        cmocka_unit_test(test_hostile),    cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_overflow),   cmocka_unit_test(test_moments),
    };
    (void)type_i16;
    (void)type_bool;
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
