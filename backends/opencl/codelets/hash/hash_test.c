/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash aggregation on a device against the C engine and a naive count, on the first device found and in both
 * styles. HAC_TEST_SMALL=1 keeps to sizes for an instrumented device (oclgrind); HAC_TEST_PLATFORM names
 * another platform.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/random.h"
#include "expr/query_blob.h"
#include "hash_aggregate.h"
#include "hash_partial.h"
#include "query/task.h"
#include "test_codelets.h"

#define COLUMNS 9

static uint64_t random_state = 88172645463325252u;

/* ---- tables: k u32, n i64, f f64, g f32, s string, b bool, d decimal, t u8 ---- */

static const char schema[] = "k:u32,n:i64,f:f64,g:f32,s:string,b:bool,d:decimal(15,2),t:u8,y:bytes";

typedef enum hash_pattern {
    ONE_KEY,
    FEW,
    THOUSAND,
    DISTINCT,
    ZIPF,
    ZIPF_STEEP,
    STRIDED,
    HIGH_BITS,
    DRIFT,
    PATTERNS
} hash_pattern;

typedef struct hash_table {
    uint8_t *memory;
    uint64_t bytes, used;
    hac_table_column columns[COLUMNS];
    hac_table table;
} hash_table;

static uint64_t take(hash_table *t, uint64_t bytes)
{
    uint64_t at = t->used;
    t->used += (bytes + 63) / 64 * 64;
    assert_true(t->used <= t->bytes);
    return at;
}

static uint32_t key_of(hash_pattern p, uint64_t i, uint64_t rows)
{
    double u = ((double)(hac_random_u64(&random_state) >> 11) + 1) / 0x1p53;
    switch (p) {
    case ONE_KEY:
        return 7;
    case FEW:
        return (uint32_t)(hac_random_u64(&random_state) % 4);
    case THOUSAND:
        return (uint32_t)(hac_random_u64(&random_state) % 1000);
    case DISTINCT:
        return (uint32_t)(i * 2654435761u);
    case ZIPF:
        return (uint32_t)pow(u, -1.0) % 1000003;
    case ZIPF_STEEP:
        return (uint32_t)fmin(pow(u, -0.7), 1e9);
    case STRIDED:
        return (uint32_t)(hac_random_u64(&random_state) % 500) << 16;
    case HIGH_BITS:
        return 0xffffffffu - (uint32_t)(hac_random_u64(&random_state) % 300) * 0x01010101u;
    default: /* other keys are frequent in the second half */
        return (uint32_t)(hac_random_u64(&random_state) % 8 == 0 ? hac_random_u64(&random_state) % 5000
                                                                 : (i < rows / 2 ? 1 : 100000) + i % 3);
    }
}

static void add_strings(hash_table *t, hac_table_column *c, uint64_t rows, hash_pattern p)
{
    c->values = take(t, (rows + 1) * 4);
    c->bytes = take(t, rows * 40);
    int32_t *offsets = (int32_t *)(void *)(t->memory + c->values);
    char *bytes = (char *)t->memory + c->bytes;
    int32_t at = 0;
    for (uint64_t i = 0; i < rows; i++) {
        char text[48];
        uint32_t k = key_of(p, i, rows);
        int n = k % 5 == 0
                    ? 0
                    : snprintf(text, sizeof text, k % 3 == 0 ? "a longer text that is key %u" : "%u", k);
        offsets[i] = at;
        memcpy(bytes + at, text, (size_t)n);
        at += n;
    }
    offsets[rows] = at;
    c->n_bytes = (uint64_t)at;
}

static hash_table table_new(uint64_t rows, hash_pattern p, bool nulls)
{
    static const hac_value_type types[COLUMNS] = {
        {HAC_KIND_U32, 0, 0},      {HAC_KIND_I64, 0, 0},    {HAC_KIND_F64, 0, 0},
        {HAC_KIND_F32, 0, 0},      {HAC_KIND_STRING, 0, 0}, {HAC_KIND_BOOL, 0, 0},
        {HAC_KIND_DECIMAL, 15, 2}, {HAC_KIND_U8, 0, 0},     {HAC_KIND_BYTES, 0, 0}};
    hash_table t = {.bytes = rows * 168 + 8192};
    t.bytes = (t.bytes + 63) / 64 * 64;
    t.memory = aligned_alloc(64, t.bytes);
    assert_non_null(t.memory);
    memset(t.memory, 0, t.bytes);
    for (size_t c = 0; c < COLUMNS; c++) {
        t.columns[c] =
            (hac_table_column){.type = types[c], .validity = HAC_TABLE_NONE, .bytes = HAC_TABLE_NONE};
        if (nulls) {
            t.columns[c].validity = take(&t, rows / 8 + 1);
            for (uint64_t i = 0; i < rows / 8 + 1; i++) {
                uint64_t one = hac_random_u64(&random_state),
                         two = hac_random_u64(&random_state); /* seven of eight bits are set */
                t.memory[t.columns[c].validity + i] = (uint8_t)(one | two | hac_random_u64(&random_state));
            }
        }
        if (hac_kind_is_text(types[c].kind)) {
            add_strings(&t, &t.columns[c], rows, p);
            continue;
        }
        t.columns[c].values = take(&t, rows * 8 + 8);
        uint8_t *values = t.memory + t.columns[c].values;
        for (uint64_t i = 0; i < rows; i++) {
            uint64_t r = hac_random_u64(&random_state);
            uint32_t k = key_of(p, i, rows);
            double f = r % 50 == 0 ? (r % 100 == 0 ? NAN : -0.0) : (double)(int64_t)(r >> 20) / 1024.0 - 1e9;
            float g = (float)(int)(r % 7) - 3.0f;
            int64_t n = r % 9 == 0 ? (int64_t)r : (int64_t)(r % 2001) - 1000;
            uint64_t word = c == 6 ? r % 1000000 : r % 5;
            if (c == 5)
                values[i / 8] |= (uint8_t)((r >> 7 & 1) << i % 8);
            else
                memcpy(values + i * hac_value_size(types[c]),
                       c == 0   ? (const void *)&k
                       : c == 1 ? (const void *)&n
                       : c == 2 ? (const void *)&f
                       : c == 3 ? (const void *)&g
                                : (const void *)&word,
                       hac_value_size(types[c]));
        }
    }
    t.table = (hac_table){.rows = rows, .n_columns = COLUMNS, .columns = NULL};
    return t;
}

static hac_query *query_of(const char *where, const char *group_by, const char *select)
{
    hac_error err = HAC_ERROR_NONE;
    hac_query *query = NULL;
    hac_query_text text = {.schema = schema,
                           .where = where,
                           .group_by = group_by,
                           .select = select,
                           .limit = UINT64_MAX,
                           .source = {.format = HAC_INPUT_TABLE}};
    if (hac_query_compile(&text, NULL, &query, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return query;
}

/* ---- results as sorted lines ---- */

typedef struct hash_lines {
    char **line;
    size_t n;
} hash_lines;

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_value(const hac_column *v, size_t row, char *ret, size_t capacity)
{
    hac_repr repr = hac_repr_of(v->type);
    const uint8_t *at = (const uint8_t *)v->values + row * hac_repr_size(repr);
    uint64_t words[2] = {0, 0};
    if (v->states != NULL && v->states[row] != HAC_ROW_OK) {
        snprintf(ret, capacity, "null%u", v->states[row]);
    } else if (repr == HAC_REPR_STRING) {
        hac_string_ref ref;
        memcpy(&ref, at, sizeof ref);
        snprintf(ret, capacity, "'%.*s'", (int)ref.length, (const char *)v->bytes + ref.offset);
    } else {
        memcpy(words, at, hac_repr_size(repr));
        snprintf(ret, capacity, "%llx:%llx", (unsigned long long)words[1], (unsigned long long)words[0]);
    }
}

static hash_lines results_of(const hac_query *query, hac_group_table *table)
{
    hac_error err = HAC_ERROR_NONE;
    hash_lines all = {.n = hac_group_table_groups(table)};
    all.line = calloc(all.n + 1, sizeof *all.line);
    size_t columns = query->n_keys + query->n_aggregates;
    hac_column vectors[64];
    assert_true(columns <= 64);
    for (size_t first = 0; first < all.n; first += HAC_BATCH_ROWS) {
        size_t n = all.n - first < HAC_BATCH_ROWS ? all.n - first : HAC_BATCH_ROWS;
        if (hac_group_table_results(table, first, n, vectors, &err) != HAC_OK)
            fail_msg("%s", err.message);
        for (size_t i = 0; i < n; i++) {
            char line[2048] = "", value[128];
            for (size_t c = 0; c < columns; c++) {
                print_value(&vectors[c], i, value, sizeof value);
                strncat(line, value, sizeof line - strlen(line) - 2);
                strcat(line, "|");
            }
            all.line[first + i] = strdup(line);
        }
    }
    qsort(all.line, all.n, sizeof *all.line, by_text);
    return all;
}

static void lines_free(hash_lines *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->line[i]);
    free(l->line);
}

/* ---- a run on the device, and the same by the C engine ---- */

typedef struct hash_run {
    const hac_query *query;
    const hash_table *table;
    uint64_t chunk_rows, chunks, region;
    uint8_t *partials; /* region c belongs to chunk c */
    hac_hash_options options;
    hac_hash_job_figures figures;
} hash_run;

static hac_group_options group_options(const hash_run *r)
{
    return (hac_group_options){
        .seed = r->options.seed, .memory = UINT64_C(1) << 32, .partitions = 16, .passes = 1};
}

/* ---- the C engine ---- */

static hac_status add_batch(const hash_run *r, hac_machine_c *filter, hac_machine_c *rows,
                            hac_partial_writer *writer, hac_batch *batch, hac_error *err)
{
    hac_column keep, outputs[16];
    assert_true(r->query->rows->n_outputs <= 16);
    if (filter != NULL) {
        hac_machine_c_run(filter, batch, &keep);
        batch->rows = hac_batch_keep(batch, &keep);
    }
    if (batch->rows == 0)
        return HAC_OK;
    hac_machine_c_run(rows, batch, outputs);
    return hac_partial_add(writer, outputs, batch->rows, err);
}

static void engine_chunk(const hash_run *r, uint64_t chunk, uint64_t *ret_groups, uint64_t *ret_bytes)
{
    hac_error err = HAC_ERROR_NONE;
    hac_table table = r->table->table;
    table.columns = (hac_table_column *)(uintptr_t)r->table->columns;
    hac_source_place place = {.fd = -1, .memory = r->table->memory, .bytes = r->table->bytes};
    hac_group_options options = group_options(r);
    hac_source *source = NULL;
    hac_machine_c *filter = NULL, *rows = NULL;
    hac_partial_writer *writer = NULL;
    hac_batch batch;
    uint64_t first = chunk * r->chunk_rows, end = first + r->chunk_rows;
    if (r->query->filter != NULL)
        assert_int_equal(hac_machine_c_new(r->query->filter, 4096, &filter, &err), HAC_OK);
    if (hac_source_open(r->query, &place, &table, &source, &err) != HAC_OK ||
        hac_machine_c_new(r->query->rows, 4096, &rows, &err) != HAC_OK ||
        hac_partial_writer_new(r->query, &options, &writer, &err) != HAC_OK ||
        hac_source_begin(source, first, end < table.rows ? end : table.rows, false, &err) != HAC_OK)
        fail_msg("%s", err.message);
    hac_partial_begin(writer, chunk, r->partials + chunk * r->region, r->region);
    hac_status status = HAC_OK;
    while (status == HAC_OK && (status = hac_source_next(source, &batch, &err)) == HAC_OK)
        status = add_batch(r, filter, rows, writer, &batch, &err);
    assert_int_equal(status, HAC_NOT_FOUND);
    assert_int_equal(hac_partial_end(writer, ret_bytes, ret_groups, &err), HAC_OK);
    assert_true(*ret_bytes <= r->region);
    hac_partial_writer_free(writer);
    hac_machine_c_free(filter);
    hac_machine_c_free(rows);
    hac_source_free(source);
}

static void run_engine(hash_run *r)
{
    uint64_t groups, bytes;
    for (uint64_t c = 0; c < r->chunks; c++)
        engine_chunk(r, c, &groups, &bytes);
}

/* ---- the device ---- */

static hac_status refused(hac_hash_partials *partials, uint64_t chunk, hac_error *err)
{
    uint64_t groups, bytes;
    (void)err;
    engine_chunk(partials->context, chunk, &groups, &bytes);
    hac_hash_partials_count(partials, groups, bytes);
    return HAC_OK;
}

static hac_status run_device(hash_run *r, hac_device *device, hac_error *err)
{
    hac_group_layout layout;
    hac_hash_job *job = calloc(1, sizeof *job);
    hac_table table = r->table->table;
    hac_span memory = {r->table->memory, r->table->bytes};
    assert_non_null(job);
    assert_int_equal(hac_group_layout_init(r->query, &layout, err), HAC_OK);
    table.columns = (hac_table_column *)(uintptr_t)r->table->columns;
    hac_hash_partials partials = {.query = r->query,
                                  .job = job,
                                  .options = group_options(r),
                                  .context = r,
                                  .refused = refused,
                                  .regions = r->partials,
                                  .region = r->region};
    hac_status status = hac_hash_job_init(job, device, r->query, &layout, &table, &memory, &r->options, err);
    if (status == HAC_OK)
        status = hac_hash_partials_init(&partials, err);
    if (status == HAC_OK)
        status = hac_hash_job_run(job, r->chunk_rows, 0, r->chunks, hac_hash_partials_write, &partials, err);
    if (status == HAC_OK && partials.needed > r->region)
        fail_msg("a partial takes %llu bytes", (unsigned long long)partials.needed);
    r->figures = job->figures;
    hac_hash_partials_clear(&partials);
    hac_hash_job_clear(job);
    hac_group_layout_clear(&layout);
    free(job);
    return status;
}

static hash_lines merged(const hash_run *r)
{
    hac_error err = HAC_ERROR_NONE;
    hac_group_options options = group_options(r);
    hac_group_table *table = NULL;
    assert_int_equal(hac_group_table_new(r->query, &options, &table, &err), HAC_OK);
    for (uint32_t p = 0; p < options.partitions; p++)
        for (uint64_t c = 0; c < r->chunks; c++)
            if (hac_group_table_merge(table, c, r->partials + c * r->region, r->region, p, &err) != HAC_OK)
                fail_msg("%s", err.message);
    hash_lines all = results_of(r->query, table);
    hac_group_table_free(table);
    return all;
}

static hash_run run_new(const hac_query *query, const hash_table *table, uint64_t chunk_rows,
                        hac_hash_options options)
{
    hash_run r = {.query = query, .table = table, .chunk_rows = chunk_rows, .options = options};
    r.chunks = (table->table.rows + chunk_rows - 1) / chunk_rows;
    r.region = (chunk_rows * 240 + 65536) / 64 * 64;
    r.partials = aligned_alloc(64, (r.chunks + 1) * r.region);
    assert_non_null(r.partials);
    return r;
}

static void assert_equal(const hash_lines *a, const hash_lines *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->line[i], b->line[i]) != 0)
            fail_msg("group %zu: %s, not %s", i, a->line[i], b->line[i]);
}

static hac_hash_job_figures try_query(hac_device *device, const char *where, const char *group_by,
                                      const char *select, const hash_table *table, uint64_t chunk_rows,
                                      hac_hash_options options)
{
    hac_error err = HAC_ERROR_NONE;
    hac_query *query = query_of(where, group_by, select);
    hash_run r = run_new(query, table, chunk_rows, options);
    if (run_device(&r, device, &err) != HAC_OK)
        fail_msg("%s, %s by %s: %s", where, select, group_by, err.message);
    hash_lines got = merged(&r);
    run_engine(&r);
    hash_lines expected = merged(&r);
    assert_equal(&got, &expected);
    assert_int_equal(r.figures.rows, table->table.rows);
    lines_free(&got);
    lines_free(&expected);
    free(r.partials);
    hac_query_free(query);
    return r.figures;
}

/* ---- tests ---- */

/* Block style needs long loops, and the test may be told to leave it out. */
static bool only_simt(void)
{
    hac_device *device = test_open_device((hac_device_options){0});
    bool only = hac_device_get_facts(device)->max_loop_iterations != 0 || getenv("HAC_TEST_SIMT") != NULL;
    hac_device_close(device);
    return only;
}

#define SKIP_BLOCK_STYLE                                                                                     \
    if (only_simt())                                                                                         \
    skip()
#define FIRST_STYLE (only_simt() ? HAC_STYLE_CHOICE_SIMT : HAC_STYLE_CHOICE_BLOCK)

static const char order_free[] =
    "count() as c, count(n) as cn, avg(n) as sn, min(n) as mn, max(n) as xn, sum(d) as sd, avg(t) as at";
static const char floats[] =
    "min(f) as nf, max(f) as xf, min(g) as ng, max(g) as xg, min(b) as nb, max(t) as xt";
static void try_patterns(hac_device_options options, bool wide)
{
    hac_device *device = test_open_device(options);
    uint64_t rows = test_small_sizes() ? 300 : 20000;
    for (hash_pattern p = 0; p < PATTERNS; p++)
        for (int hot = 0; hot < 2; hot++) {
            hash_table t = table_new(rows, p, p % 2 == 1);
            hac_hash_options o = {.seed = hac_random_u64(&random_state), .hot_keys = hot != 0, .sample = 50};
            try_query(device, NULL, "k", wide ? order_free : "count() as c, avg(n) as a", &t, rows / 2 + 7,
                      o);
            try_query(device, "t < 3", "y", "count() as c, avg(n) as a", &t, rows, o);
            try_query(device, "t < 3", "s", "count() as c, avg(n) as a", &t, rows, o);
            if (wide && hac_device_get_facts(device)->fp64)
                try_query(device, "b or n > 0", "k, b, g", floats, &t, rows, o);
            free(t.memory);
        }
    hac_device_close(device);
}

static void test_block_patterns(void **state)
{
    (void)state;
    SKIP_BLOCK_STYLE;
    try_patterns((hac_device_options){.style = HAC_STYLE_CHOICE_BLOCK}, true);
}

static bool has_int64_atomics(void)
{
    hac_device *device = test_open_device((hac_device_options){0});
    bool has = hac_device_get_facts(device)->int64_atomics;
    hac_device_close(device);
    return has;
}

static void test_simt_patterns(void **state)
{
    (void)state;
    try_patterns((hac_device_options){.style = HAC_STYLE_CHOICE_SIMT}, has_int64_atomics());
}

static void test_copied_memory(void **state)
{
    (void)state;
    if (!only_simt())
        try_patterns((hac_device_options){.style = HAC_STYLE_CHOICE_BLOCK, .copy_memory = true}, true);
    try_patterns((hac_device_options){.style = HAC_STYLE_CHOICE_SIMT, .copy_memory = true}, false);
}

static void try_sizes(hac_device_options options)
{
    static const uint64_t sizes[] = {1,    2,    31,   32,   33,   63,   64,   65,    127,  128,
                                     129,  255,  256,  257,  511,  512,  513,  1023,  1024, 1025,
                                     2047, 2048, 2049, 4095, 4097, 8191, 8193, 16385, 33000};
    hac_device *device = test_open_device(options);
    size_t n = test_small_sizes() ? 9 : sizeof sizes / sizeof *sizes;
    for (size_t i = 0; i < n; i++) {
        hash_table t = table_new(sizes[i], (hash_pattern)(i % PATTERNS), i % 3 == 0);
        hac_hash_options o = {.seed = hac_random_u64(&random_state), .hot_keys = i % 2 == 0, .sample = 100};
        o.groups = i % 4 < 2 ? 0 : test_small_sizes() ? 5 : 528; /* more than there are rows for */
        o.items = i % 4 == 1 ? 256 : 0;
        const uint64_t chunks[] = {sizes[i], sizes[i] / 2 + 1, 100};
        for (size_t c = 0; c < (sizes[i] < 3000 ? 3 : 2); c++) {
            try_query(device, NULL, "k", "count() as c, avg(n) as a", &t, chunks[c], o);
            try_query(device, "n > 0", NULL, "count() as c, avg(n) as a", &t, chunks[c], o);
        }
        free(t.memory);
    }
    hac_device_close(device);
}

static void test_block_sizes(void **state)
{
    (void)state;
    SKIP_BLOCK_STYLE;
    try_sizes((hac_device_options){.style = HAC_STYLE_CHOICE_BLOCK});
}

static void test_simt_sizes(void **state)
{
    (void)state;
    try_sizes((hac_device_options){.style = HAC_STYLE_CHOICE_SIMT});
    try_sizes((hac_device_options){.style = HAC_STYLE_CHOICE_SIMT, .copy_memory = true});
}

/* Tables that begin far too small are enlarged; with little memory, keys go in passes. */
static void try_overflow(hac_style_choice style, uint64_t memory)
{
    hac_device *device = test_open_device((hac_device_options){.style = style});
    hash_table t = table_new(test_small_sizes() ? 400 : 30000, DISTINCT, true);
    hac_hash_options o = {.seed = 5, .hot_keys = true, .first_pairs = 64, .memory = memory, .groups = 3};
    hac_hash_job_figures f =
        try_query(device, NULL, "k, t", "count() as c, avg(n) as a", &t, t.table.rows, o);
    if (memory == 0 && !test_small_sizes())
        assert_true(f.grown > 0);
    if (memory != 0)
        assert_true(f.passes > 0);
    free(t.memory);
    hac_device_close(device);
}

static void test_overflow(void **state)
{
    (void)state;
    for (int style = FIRST_STYLE; style <= HAC_STYLE_CHOICE_SIMT; style++) {
        try_overflow((hac_style_choice)style, 0);
        if (!test_small_sizes())
            try_overflow((hac_style_choice)style, 1 << 21);
    }
}

/* Sums of floats: of one unit, of another unit than the first, and of none. */
static void try_floats(hac_style_choice style)
{
    static const char *const selects[] = {
        "sum(f) as s, avg(g) as a, max(g) as m, count() as c",
        "sum(g * 1e200) as s, sum(g * 1e-200) as t, sum(n * 1e0) as u",
        "sum(case when n % 3 = 0 then g * 1e30 else g end) as s, sum(g) as t",
        "sum(case when n % 97 = 0 then g * 1e300 else g * 1e-300 end) as s, avg(case when n % 2 = 0 then g / "
        "0e0 else g "
        "end) as t"};
    hac_device *device = test_open_device((hac_device_options){.style = style});
    bool fp64 = hac_device_get_facts(device)->fp64;
    for (hash_pattern p = 0; fp64 && p < PATTERNS; p++)
        for (size_t i = 0; i < sizeof selects / sizeof *selects; i++) {
            hash_table t = table_new(test_small_sizes() ? 200 : 30000, p, p % 2 == 0);
            hac_hash_options o = {.seed = hac_random_u64(&random_state), .hot_keys = p % 3 != 0};
            try_query(device, "t <> 2", "k", selects[i], &t, 20000, o);
            if (i == 0 && !test_small_sizes()) /* in passes */
                try_query(device, NULL, "k", selects[1], &t, 20000,
                          (hac_hash_options){.seed = 5, .memory = 1 << 21, .first_pairs = 64});
            free(t.memory);
        }
    hac_device_close(device);
}

static void test_floats(void **state)
{
    (void)state;
    for (int style = FIRST_STYLE; style <= HAC_STYLE_CHOICE_SIMT; style++)
        try_floats((hac_style_choice)style);
}

/* Exactly the bytes that the C engine writes. */
static void test_same_bytes(void **state)
{
    (void)state;
    SKIP_BLOCK_STYLE;
    hac_error err = HAC_ERROR_NONE;
    hac_device *device = test_open_device((hac_device_options){.style = HAC_STYLE_CHOICE_BLOCK});
    for (int i = 0; i < 2; i++) {
        hash_table t = table_new(test_small_sizes() ? 200 : 9000, THOUSAND, true);
        hac_query *query = query_of("n > -500", i == 0 ? "k" : "s, t",
                                    "count() as c, sum(t) as x, avg(n) as a, max(d) as m");
        hash_run r = run_new(query, &t, 3000, (hac_hash_options){.seed = 17, .hot_keys = true});
        memset(r.partials, 0, r.chunks * r.region);
        if (run_device(&r, device, &err) != HAC_OK)
            fail_msg("%s", err.message);
        uint8_t *device_bytes = r.partials;
        r.partials = calloc(1, r.chunks * r.region);
        run_engine(&r);
        for (uint64_t c = 0; c < r.chunks; c++) {
            hac_partial_header a, b;
            memcpy(&a, device_bytes + c * r.region, sizeof a);
            memcpy(&b, r.partials + c * r.region, sizeof b);
            a.rows_read = b.rows_read; /* for the receipt only */
            assert_memory_equal(&a, &b, sizeof a);
            assert_memory_equal(device_bytes + c * r.region + sizeof a, r.partials + c * r.region + sizeof a,
                                a.bytes - sizeof a);
        }
        free(device_bytes);
        free(r.partials);
        hac_query_free(query);
        free(t.memory);
    }
    hac_device_close(device);
}

/* If the keys drift, the hot set is chosen again. */
static void test_drift(void **state)
{
    (void)state;
    SKIP_BLOCK_STYLE;
    hac_device *device = test_open_device((hac_device_options){.style = HAC_STYLE_CHOICE_BLOCK});
    hash_table t = table_new(test_small_sizes() ? 500 : 800000, DRIFT, false);
    hac_hash_job_figures f = try_query(device, NULL, "k", "count() as c", &t, t.table.rows,
                                       (hac_hash_options){.seed = 3, .hot_keys = true, .hot_share = 100});
    assert_true(test_small_sizes() || f.chosen > 1);
    free(t.memory);
    hac_device_close(device);
}

#define DOMINANT UINT32_C(4000000000)

/* Nine of ten rows have one key, the others one of fifty. */
static void set_dominant(hash_table *t)
{
    uint32_t *k = (uint32_t *)(void *)(t->memory + t->columns[0].values);
    for (uint64_t i = 0; i < t->table.rows; i++) {
        uint64_t r = hac_random_u64(&random_state);
        k[i] = r % 10 != 0 ? DOMINANT : (uint32_t)(r / 10 % 50);
    }
}

static uint64_t count_dominant(const hash_table *t, uint64_t first, uint64_t end)
{
    uint64_t n = 0;
    for (uint64_t i = first; i < end; i++)
        n += ((const uint32_t *)(const void *)(t->memory + t->columns[0].values))[i] == DOMINANT;
    return n;
}

/* One chunk: in block style its work-group is the only one; in lock-step style groups take rows in turn. */
static void check_one_chunk(const hac_hash_job_figures *f, const hash_table *t, bool simt)
{
    uint64_t rows = t->table.rows, groups = simt ? 3 : 1, items = simt ? 32 : rows;
    const hac_hash_work_groups *g = &f->work_groups;
    assert_int_equal(f->covered, count_dominant(t, 0, f->sampled));
    assert_int_equal(f->behind, rows - f->sampled);
    assert_int_equal(f->hits, count_dominant(t, f->sampled, rows));
    assert_true(f->hits > f->behind / 100 * 88 && f->hits < f->behind / 100 * 92);
    assert_int_equal(g->n, groups);
    uint64_t rows_of[HAC_HOT_BARS] = {0}, hits_of[HAC_HOT_BARS] = {0};
    for (uint64_t i = f->sampled; i < rows; i++) {
        uint64_t of = (i - f->sampled) / items % groups;
        rows_of[of]++;
        hits_of[of] += count_dominant(t, i, i + 1);
    }
    assert_memory_equal(g->rows, rows_of, sizeof rows_of);
    assert_memory_equal(g->hits, hits_of, sizeof hits_of);
    for (size_t i = 0; i < groups; i++) {
        if (rows_of[i] == 0) {
            fail();
            continue;
        }
        uint64_t rate = hits_of[i] * 1000000 / rows_of[i];
        assert_true(g->min <= rate && rate <= g->max && (simt || g->min == rate));
    }
}

/* The hit rate counts the chosen keys only, whatever else is in local memory. */
static void test_hit_rate(void **state)
{
    (void)state;
    if (test_small_sizes())
        skip();
    for (int style = FIRST_STYLE; style <= HAC_STYLE_CHOICE_SIMT; style++) {
        bool simt = style == HAC_STYLE_CHOICE_SIMT;
        hac_device *device = test_open_device((hac_device_options){.style = (hac_style_choice)style});
        hac_hash_options o = {.hot_keys = true, .sample = 50, .hot_share = 1, .groups = 3, .items = 32};
        hash_table t = table_new(100000, THOUSAND, false);
        set_dominant(&t);
        hac_hash_job_figures f = try_query(device, NULL, "k", "count() as c, avg(n) as a", &t, 100000, o);
        assert_int_equal(f.hot_keys, 1); /* a thousandth of the sample's keys */
        assert_true(f.sampled >= 5000 && f.sampled < 5000 + HAC_BATCH_ROWS);
        check_one_chunk(&f, &t, simt);
        /* lock-step style: all 51 keys fit every block's local memory */
        assert_int_equal(f.local_hits, simt ? f.behind : f.hits);
        assert_true(f.pairs_local >= (simt ? 3 * 51 : 1));
        assert_int_equal(f.pairs_global, simt ? 0 : 50);
        o.hot_keys = false;
        f = try_query(device, NULL, "k", "count() as c, avg(n) as a", &t, 100000, o);
        assert_int_equal(f.sampled + f.behind + f.hits + f.local_hits + f.pairs_local + f.work_groups.n, 0);
        free(t.memory);
        hac_device_close(device);
    }
}

/* Forty chunks share sixteen bars; the figures of all add up. */
static void test_hit_rate_of_chunks(void **state)
{
    (void)state;
    if (test_small_sizes() || only_simt())
        skip();
    hac_device *device = test_open_device((hac_device_options){.style = HAC_STYLE_CHOICE_BLOCK});
    hash_table t = table_new(40 * 4096 - 100, THOUSAND, false);
    set_dominant(&t);
    for (uint64_t i = 17 * 4096 + HAC_BATCH_ROWS; i < 18 * 4096; i++)
        ((uint32_t *)(void *)(t.memory + t.columns[0].values))[i] =
            (uint32_t)i; /* only the chunk's sample has hot keys */
    hac_hash_job_figures f = try_query(device, NULL, "k", "count() as c", &t, 4096,
                                       (hac_hash_options){.seed = 3, .hot_keys = true, .hot_share = 1});
    const hac_hash_work_groups *g = &f.work_groups;
    uint64_t sum[HAC_HOT_BARS] = {0}, hits[HAC_HOT_BARS] = {0};
    for (uint64_t c = 0; c < 40; c++) {
        uint64_t end = c < 39 ? (c + 1) * 4096 : t.table.rows, from = c * 4096 + HAC_BATCH_ROWS;
        sum[c * HAC_HOT_BARS / 40] += end - from;
        hits[c * HAC_HOT_BARS / 40] += count_dominant(&t, from, end);
    }
    assert_int_equal(g->n, 40);
    assert_memory_equal(g->rows, sum, sizeof sum);
    assert_memory_equal(g->hits, hits, sizeof hits);
    assert_int_equal(f.sampled, 40 * HAC_BATCH_ROWS);
    assert_int_equal(g->min, 0);
    assert_true(g->max > 880000 && g->max < 940000);
    free(t.memory);
    hac_device_close(device);
}

/* A naive count, so that not everything depends on the C engine. */
static void test_naive(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    for (int style = FIRST_STYLE; style <= HAC_STYLE_CHOICE_SIMT; style++) {
        hac_device *device = test_open_device((hac_device_options){.style = (hac_style_choice)style});
        hash_table t = table_new(test_small_sizes() ? 300 : 12345, FEW, false);
        const uint32_t *k = (const uint32_t *)(const void *)(t.memory + t.columns[0].values);
        hac_query *query = query_of(NULL, "k", "count() as c, max(k) as x, sum(t) as s");
        hash_run r = run_new(query, &t, 5000, (hac_hash_options){.seed = 9, .hot_keys = true});
        uint64_t count[4] = {0}, sum[4] = {0};
        for (uint64_t i = 0; i < t.table.rows; i++) {
            count[k[i]]++;
            sum[k[i]] += t.memory[t.columns[7].values + i];
        }
        hac_status status = run_device(&r, device, &err);
        if (status != HAC_UNSUPPORTED) { /* max of a device without 64-bit atomics */
            assert_int_equal(status, HAC_OK);
            hash_lines got = merged(&r);
            assert_int_equal(got.n, 4);
            for (uint32_t i = 0; i < 4; i++) {
                char line[128];
                snprintf(line, sizeof line, "0:%x|0:%llx|0:%x|0:%llx|", i, (unsigned long long)count[i], i,
                         (unsigned long long)sum[i]);
                assert_string_equal(got.line[i], line);
            }
            lines_free(&got);
        }
        free(r.partials);
        hac_query_free(query);
        free(t.memory);
        hac_device_close(device);
    }
}

static void test_errors(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    for (int style = FIRST_STYLE; style <= HAC_STYLE_CHOICE_SIMT; style++) {
        hac_device *device = test_open_device((hac_device_options){.style = (hac_style_choice)style});
        hash_table t = table_new(5000, FEW, false);
        int64_t *n = (int64_t *)(void *)(t.memory + t.columns[1].values);
        for (int i = 0; i < 5000; i++)
            n[i] = i;
        n[4321] = n[4444] = INT64_MAX;
        hac_query *query = query_of(NULL, "k", "sum(n + 1) as s");
        hash_run r = run_new(query, &t, 5000, (hac_hash_options){.seed = 9, .hot_keys = true});
        assert_int_equal(run_device(&r, device, &err), HAC_FAILED);
        assert_non_null(strstr(err.message, "row 4322: "));
        assert_non_null(strstr(err.message, "overflow"));
        free(r.partials);
        hac_query_free(query);
        query = query_of("n < 4000", "k", "sum(n + 1) as s"); /* rows in error that do not count */
        r = run_new(query, &t, 5000, (hac_hash_options){.seed = 9});
        assert_int_equal(run_device(&r, device, &err), HAC_OK);
        free(r.partials);
        hac_query_free(query);
        query = query_of(NULL, "k", "first(n) as s");
        r = run_new(query, &t, 5000, (hac_hash_options){.seed = 9});
        assert_int_equal(run_device(&r, device, &err), HAC_UNSUPPORTED);
        free(r.partials);
        hac_query_free(query);
        free(t.memory);
        hac_device_close(device);
    }
}

/* String offsets with arbitrary values. */
static void test_hostile_offsets(void **state)
{
    (void)state;
    SKIP_BLOCK_STYLE;
    hac_error err = HAC_ERROR_NONE;
    for (int way = 0; way < 4; way++) {
        hac_device *device = test_open_device((hac_device_options){
            .style = way % 2 == 0 ? HAC_STYLE_CHOICE_BLOCK : HAC_STYLE_CHOICE_SIMT, .copy_memory = way >= 2});
        hash_table t = table_new(300, FEW, true);
        int32_t *offsets = (int32_t *)(void *)(t.memory + t.columns[4].values);
        const int32_t bad[] = {-1, INT32_MIN, INT32_MAX, offsets[300] + 1};
        /* also if both rows beside the offset are null, or no row counts */
        t.memory[t.columns[4].validity + 149 / 8] &= (uint8_t) ~(1 << 149 % 8);
        t.memory[t.columns[4].validity + 150 / 8] &= (uint8_t) ~(1 << 150 % 8);
        for (size_t i = 0; i < 8; i++) {
            hac_query *query = query_of(i < 4 ? NULL : "t > 200", "s", "count() as c");
            hash_run r = run_new(query, &t, 300, (hac_hash_options){.seed = 9});
            int32_t before = offsets[150];
            assert_int_equal(run_device(&r, device, &err), HAC_OK);
            offsets[150] = bad[i % 4];
            assert_int_equal(run_device(&r, device, &err), HAC_FAILED);
            offsets[150] = before;
            free(r.partials);
            hac_query_free(query);
        }
        free(t.memory);
        hac_device_close(device);
    }
}

static void test_known_answers(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    for (int style = FIRST_STYLE; style <= HAC_STYLE_CHOICE_SIMT; style++) {
        hac_device *device = test_open_device((hac_device_options){.style = (hac_style_choice)style});
        if (!test_small_sizes() && hac_hash_aggregate_known_answer(device, HAC_TYPE_U32, &err) != HAC_OK)
            fail_msg("%s", err.message);
        hac_device_close(device);
    }
}

/* As a task: its partials merge to the same groups as those of query.aggregate. */
static void test_task(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_device *device = test_open_device((hac_device_options){0});
    hash_table t = table_new(test_small_sizes() ? 400 : 20000, ZIPF, true);
    t.table.columns = t.columns;
    hac_query *query = query_of("t > 0", "s, k", "count() as c, avg(n) as a");
    hash_run r = run_new(query, &t, 3000, (hac_hash_options){.seed = 77});
    static uint8_t blob[HAC_QUERY_INLINE_MAX];
    size_t bytes = 0;
    assert_int_equal(hac_query_blob_write(query, &t.table, blob, sizeof blob, &bytes, &err), HAC_OK);
    hac_task task = {.count = r.chunks,
                     .n_spans = 3,
                     .n_params = HAC_PARAMS_COUNT(hac_query_params),
                     .fd = -1,
                     .inline_in = blob,
                     .inline_in_bytes = bytes};
    task.spans[0] = (hac_span){r.partials, r.chunks * r.region};
    task.spans[2] = (hac_span){t.memory, t.bytes};
    HAC_EDIT_PARAMS(hac_query_params, &task)->source_bytes = t.table.rows;
    HAC_EDIT_PARAMS(hac_query_params, &task)->chunk = r.chunk_rows;
    HAC_EDIT_PARAMS(hac_query_params, &task)->chunks = r.chunks;
    HAC_EDIT_PARAMS(hac_query_params, &task)->region = r.region;
    HAC_EDIT_PARAMS(hac_query_params, &task)->partitions = group_options(&r).partitions;
    HAC_EDIT_PARAMS(hac_query_params, &task)->seed = 77;
    HAC_EDIT_PARAMS(hac_query_params, &task)->passes = 1;
    HAC_EDIT_PARAMS(hac_query_params, &task)->method = HAC_QUERY_HOT_KEYS;
    HAC_EDIT_PARAMS(hac_query_params, &task)->sample = 20;
    HAC_EDIT_PARAMS(hac_query_params, &task)->hot_share = 100;
    HAC_EDIT_PARAMS(hac_query_params, &task)->inline_bytes = bytes;
    hac_task_result result = {0};
    if (hac_hash_aggregate_check(hac_device_get_facts(device), &task, &err) != HAC_OK ||
        hac_hash_aggregate_run(device, &task, &result, &err) != HAC_OK)
        fail_msg("%s", err.message);
    assert_int_equal(result.values[HAC_AGGREGATE_VALUE_ROWS], t.table.rows);
    assert_true(result.values[HAC_AGGREGATE_VALUE_HOT_KEYS] > 0);
    hash_lines got = merged(&r);
    run_engine(&r);
    hash_lines expected = merged(&r);
    assert_equal(&got, &expected);
    hac_task bad = task;
    HAC_EDIT_PARAMS(hac_query_params, &bad)->region += 64;
    assert_int_equal(hac_hash_aggregate_check(hac_device_get_facts(device), &bad, &err), HAC_INVALID);
    bad = task;
    bad.spans[2].bytes = 64; /* columns lie outside of the memory */
    assert_int_equal(hac_hash_aggregate_run(device, &bad, &result, &err), HAC_INVALID);
    lines_free(&got);
    lines_free(&expected);
    free(r.partials);
    hac_query_free(query);
    free(t.memory);
    hac_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_naive),         cmocka_unit_test(test_block_patterns),
        cmocka_unit_test(test_simt_patterns), cmocka_unit_test(test_copied_memory),
        cmocka_unit_test(test_block_sizes),   cmocka_unit_test(test_simt_sizes),
        cmocka_unit_test(test_overflow),      cmocka_unit_test(test_floats),
        cmocka_unit_test(test_same_bytes),    cmocka_unit_test(test_drift),
        cmocka_unit_test(test_hit_rate),      cmocka_unit_test(test_hit_rate_of_chunks),
        cmocka_unit_test(test_errors),        cmocka_unit_test(test_hostile_offsets),
        cmocka_unit_test(test_known_answers), cmocka_unit_test(test_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
