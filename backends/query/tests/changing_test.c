/* SPDX-License-Identifier: Apache-2.0 */
/* Queries over memory that another thread changes all the time, as users' programs can: their columns, and
 * the partials, rows and results that executors write. The result may be wrong or an error, but nothing
 * crashes. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "base/test_support.h"
#include "compile_support.h"
#include "query/codelets.h"

#define ROWS       6000u
#define REGION     (UINT64_C(1) << 20)
#define PARTITIONS 4u
#define CHUNKS     3u
#define SECONDS    0.4 /* for each query */

typedef struct changer {
    pthread_t thread;
    atomic_bool stop;
    hac_span spans[4];
    size_t n_spans;
    bool back; /* changes are undone */
} changer;

static uint64_t random_state = 11;

static void *change(void *context)
{
    changer *c = context;
    uint64_t state = 12;
    while (!atomic_load_explicit(&c->stop, memory_order_relaxed)) {
        const hac_span *span = &c->spans[hac_random_u64(&state) % c->n_spans];
        /* half of the changes hit the first bytes, where headers are */
        uint64_t at = (hac_random_u64(&state) >> hac_random_u64(&state) % 56) % span->bytes;
        uint8_t bits = (uint8_t)(hac_random_u64(&state) >> hac_random_u64(&state) % 8);
        _Atomic uint8_t *byte = (_Atomic uint8_t *)(void *)(span->data + at);
        atomic_fetch_xor_explicit(byte, bits, memory_order_relaxed);
        if (c->back)
            atomic_fetch_xor_explicit(byte, bits, memory_order_relaxed);
    }
    return NULL;
}

static void begin(changer *c)
{
    atomic_init(&c->stop, false);
    assert_int_equal(pthread_create(&c->thread, NULL, change, c), 0);
}

static void end(changer *c)
{
    atomic_store(&c->stop, true);
    assert_int_equal(pthread_join(c->thread, NULL), 0);
}

static hac_span make_span(uint64_t bytes)
{
    hac_span span = {.data = aligned_alloc(64, (bytes + 63) / 64 * 64), .bytes = bytes};
    assert_non_null(span.data);
    memset(span.data, 0, bytes);
    return span;
}

static hac_status run(const char *name, const hac_task *task, hac_task_result *result, hac_error *err)
{
    const hac_codelet *table = hac_query_codelets();
    size_t i = 0;
    while (strcmp(table[i].name, name) != 0)
        assert_non_null(table[++i].name);
    result->n_values = 0;
    hac_status status = table[i].check(NULL, task, err);
    return status == HAC_OK ? table[i].run(NULL, task, result, err) : status;
}

/* ---- a table ---- */

#define AT(n) (UINT64_C(64) * 1024 * (n)) /* offsets of its parts */

static const struct {
    const char *name;
    hac_kind kind;
    uint64_t values, validity, bytes;
} columns[] = {{"k", HAC_KIND_STRING, AT(0), HAC_TABLE_NONE, AT(4)},
               {"v", HAC_KIND_I64, AT(1), AT(9), 0},
               {"u", HAC_KIND_U32, AT(2), HAC_TABLE_NONE, 0},
               {"d", HAC_KIND_F64, AT(3), HAC_TABLE_NONE, 0}};

/* Strings of `length` bytes; 0: of random lengths up to 40. */
static hac_span make_table(uint32_t rows, uint32_t length, uint64_t *ret_bytes)
{
    hac_span span = make_span(AT(10));
    uint32_t used = 0;
    memset(span.data + AT(9), 0xff, AT(1));
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t v = hac_random_u64(&random_state) % 700;
        uint32_t u = (uint32_t)(hac_random_u64(&random_state) % 5000), n = length;
        double d = (double)v / 8;
        memcpy(span.data + AT(0) + i * 4, &used, 4);
        memcpy(span.data + AT(1) + i * 8, &v, 8);
        memcpy(span.data + AT(2) + i * 4, &u, 4);
        memcpy(span.data + AT(3) + i * 8, &d, 8);
        if (length == 0)
            n = (uint32_t)(hac_random_u64(&random_state) % 40);
        for (uint32_t b = 0; b < n; b++)
            span.data[AT(4) + used + b] = (uint8_t)('a' + hac_random_u64(&random_state) % 2);
        used += n;
    }
    memcpy(span.data + AT(0) + rows * UINT64_C(4), &used, 4);
    *ret_bytes = used;
    return span;
}

typedef struct asked {
    const char *where, *group_by, *select, *order_by;
    unsigned output;
} asked;

static hac_task compile(const asked *a, uint32_t rows, uint64_t bytes, bool *ret_aggregates)
{
    static uint8_t blob[HAC_INLINE_MAX];
    hac_field fields[4] = {0};
    hac_table_column places[4];
    for (size_t i = 0; i < 4; i++) {
        fields[i].type.kind = (uint8_t)columns[i].kind;
        strcpy(fields[i].name, columns[i].name);
        places[i] = (hac_table_column){.type = fields[i].type,
                                       .values = columns[i].values,
                                       .validity = columns[i].validity,
                                       .bytes = columns[i].bytes,
                                       .n_bytes = columns[i].bytes != 0 ? bytes : 0};
    }
    const hac_schema schema = {fields, 4};
    const hac_table table = {rows, 4, places};
    const hac_query_text text = {.where = a->where,
                                 .group_by = a->group_by,
                                 .select = a->select,
                                 .order_by = a->order_by,
                                 .limit = UINT64_MAX,
                                 .output = (hac_result_format)a->output,
                                 .source = {.format = HAC_INPUT_TABLE}};
    hac_error err = HAC_ERROR_NONE;
    size_t blob_bytes = 0;
    if (compile_blob(&text, &schema, &table, blob, &blob_bytes, ret_aggregates, &err) != HAC_OK)
        fail_msg("%s", err.message);
    uint64_t chunk = (rows + CHUNKS - 1) / CHUNKS;
    return (hac_task){.fd = -1,
                      .inline_in = blob,
                      .inline_in_bytes = blob_bytes,
                      .n_params = HAC_PARAMS_COUNT(hac_query_params),
                      .params = {rows, chunk, 0, (rows + chunk - 1) / chunk, REGION, PARTITIONS, REGION, 99}};
}

/* ---- tests ---- */

/* Runs each of the job's tasks, even after failures. Returns whether all succeeded. */
static bool run_all(hac_task task, bool aggregates, const hac_span *source, const hac_span *spans)
{
    hac_task_result result = {.inline_out = NULL};
    task.n_spans = 3;
    task.spans[0] = spans[0];
    task.spans[1] = (hac_span){0};
    task.spans[2] = *source;
    task.count = HAC_PARAMS(hac_query_params, &task)->chunks;
    bool well = run(aggregates ? "query.aggregate" : "query.rows", &task, &result, NULL) == HAC_OK;
    task.n_spans = 2;
    task.spans[1] = aggregates ? spans[1] : spans[2];
    task.count = PARTITIONS;
    if (!aggregates)
        return (run("query.gather", &task, &result, NULL) == HAC_OK) & well;
    well &= run("query.merge", &task, &result, NULL) == HAC_OK;
    task.spans[0] = spans[1];
    task.spans[1] = spans[2];
    return (run("query.finish", &task, &result, NULL) == HAC_OK) & well;
}

static void test_all(void **state)
{
    static const asked all[] = {
        {"", "k", "count() as n, sum(v) as s, min(k) as a, max(k) as b, first(k) as f", "n desc, k", 0},
        {"", "k, v", "count() as n, sum(d) as s", "", HAC_RESULT_TABLE},
        {"", "u", "count() as n, sum(d) as s", "s", HAC_RESULT_TABLE},
        {"", "v", "string_list(k) as l, count(distinct k) as c, top_k(k, 3) as t", "l", 0},
        {"", "v", "string_agg(k, '; ') as l, list(k order by u desc) as m", "l", 0},
        {"k like '%a_b%'", "", "k, upper(k) as x, v", "k desc, v", 0},
        {"", "", "k, v, d", "v, k", HAC_RESULT_TABLE},
    };
    uint64_t bytes;
    size_t well = 0;
    (void)state;
    hac_span source = make_table(ROWS, 0, &bytes);
    hac_span spans[3] = {make_span(CHUNKS * REGION), make_span(PARTITIONS * REGION), make_span(REGION)};
    changer c = {.spans = {source, spans[0], spans[1], spans[2]}, .n_spans = 4, .back = true};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        bool aggregates = false;
        hac_task task = compile(&all[i], ROWS, bytes, &aggregates);
        assert_true(run_all(task, aggregates, &source, spans));
        begin(&c);
        for (clock_t start = clock(); (double)(clock() - start) < SECONDS * CLOCKS_PER_SEC;)
            well += run_all(task, aggregates, &source, spans);
        end(&c);
    }
    assert_true(well > 0); /* not all fail at the first check */
    free(source.data);
    for (size_t i = 0; i < 3; i++)
        free(spans[i].data);
}

/* Records with long strings: it takes long to go from one to the next. */
static void test_records(void **state)
{
    static const asked a = {"", "k", "min(k) as a, max(k) as b, first(k) as c, last(k) as d", "", 0};
    uint64_t bytes;
    bool aggregates = false;
    (void)state;
    hac_span source = make_table(3, 60000, &bytes), region = make_span(3 * REGION);
    hac_task task = compile(&a, 3, bytes, &aggregates);
    hac_task_result result = {.inline_out = NULL};
    changer c = {.spans = {{region.data, 512}}, .n_spans = 1};
    task.n_spans = 3;
    task.spans[0] = region;
    task.spans[2] = source;
    task.count = 1;
    begin(&c);
    for (int i = 0; i < 500; i++)
        assert_int_equal(run("query.aggregate", &task, &result, NULL), HAC_OK);
    end(&c);
    free(source.data);
    free(region.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_records),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
