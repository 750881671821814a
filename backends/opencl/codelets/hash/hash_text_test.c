/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash aggregation on a device of sources that are no tables, in both styles: the kernels' answers against
 * those of the host codelets, byte for byte.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/random.h"
#include "base/text.h"
#include "expr/query_blob.h"
#include "hash_aggregate.h"
#include "query/codelets.h"
#include "query/task.h"
#include "test_codelets.h"

#define PARTITIONS 16
#define REGION     (UINT64_C(1) << 18)
#define RESULT     (UINT64_C(8) << 20)

static uint64_t random_state = 2463534242u;

static uint64_t dice(uint64_t sides)
{
    return hac_random_u64(&random_state) % sides;
}

/* ---- texts ---- */

/* Fields that are empty (null), quoted, quoted with line breaks and quotes, or plain. */
static void add_string(hac_text *out, bool quotes)
{
    static const char *const odd[] = {"\"\"", "\"a,b\"", "\"two\nlines\"", "\"say \"\"x\"\"\"", ""};
    if (quotes && dice(4) == 0)
        hac_text_add(out, odd[dice(5)]);
    else if (dice(9) == 0)
        hac_text_addf(out, "a longer word that is number %d", (int)dice(20));
    else
        hac_text_addf(out, "w%d", (int)(dice(3) == 0 ? dice(2000) : dice(5)));
}

static void add_number(hac_text *out, const char *null)
{
    if (dice(8) == 0)
        hac_text_add(out, null);
    else
        hac_text_addf(out, "%d", (int)dice(2001) - 1000);
}

/* k u16, s string, n i32, f f64, b bool. One of `bad` records cannot be read; 0: none. */
static void add_record(hac_text *out, hac_input_format format, unsigned bad)
{
    const char *k = bad != 0 && dice(bad) == 0 ? "x" : "", *sep = format == HAC_INPUT_CSV ? "," : "\t";
    if (format == HAC_INPUT_JSONL) {
        hac_text_addf(out, "{\"k\": %s%d, \"n\": ", k, (int)dice(400));
        add_number(out, "null");
        hac_text_addf(out, ", \"f\": %.3f, \"b\": %s, \"s\": \"w%d\"}\n", (double)dice(1000000) / 7,
                      dice(2) ? "true" : "false", (int)dice(30));
        return;
    }
    hac_text_addf(out, "%s%d%s", k, (int)dice(400), sep);
    add_string(out, format == HAC_INPUT_CSV);
    hac_text_add(out, sep);
    add_number(out, "");
    hac_text_addf(out, "%s%.3f%s%s\n", sep, (double)dice(1000000) / 7, sep,
                  dice(5) == 0 ? ""
                  : dice(2)    ? "true"
                               : "false");
}

static void add_fixed(hac_text *out)
{
    uint8_t record[2 + 4 + 8 + 1];
    uint64_t words[] = {dice(400), dice(100000), dice(1000000)};
    double f = (double)words[2] / 7;
    memcpy(record, words, 2);
    memcpy(record + 2, words + 1, 4);
    memcpy(record + 6, &f, 8);
    record[14] = (uint8_t)dice(2);
    hac_text_add_bytes(out, (const char *)record, sizeof record);
}

typedef struct text_table {
    hac_input_format format;
    const char *schema;
    uint8_t *bytes; /* 64-byte aligned */
    uint64_t n;
} text_table;

static text_table text_new(hac_input_format format, uint64_t records, unsigned bad)
{
    hac_error err = HAC_ERROR_NONE;
    hac_cleanup(hac_text_clear) hac_text out = HAC_TEXT_NONE;
    hac_autofree char *bytes = NULL;
    size_t n;
    text_table t = {.format = format, .schema = "k:u16,s:string,n:i32,f:f64,b:bool"};
    for (uint64_t i = 0; i < records; i++) {
        if (format == HAC_INPUT_FIXED)
            add_fixed(&out);
        else if (format == HAC_INPUT_WORDS || format == HAC_INPUT_LINES)
            hac_text_addf(&out, "w%d%s", (int)(dice(3) ? dice(7) : dice(900)), dice(9) ? " " : "\n");
        else
            add_record(&out, format, bad);
    }
    if (format == HAC_INPUT_FIXED)
        t.schema = "k:u16,n:i32,f:f64,b:bool";
    if (format == HAC_INPUT_WORDS || format == HAC_INPUT_LINES)
        t.schema = NULL;
    assert_int_equal(hac_text_finish(&out, &bytes, &n, &err), HAC_OK);
    t.n = n;
    t.bytes = aligned_alloc(64, (n + 64) / 64 * 64);
    assert_non_null(t.bytes);
    memcpy(t.bytes, bytes, n);
    return t;
}

/* ---- a query over a text, by one way or the other ---- */

typedef struct text_trial {
    hac_query *query;
    uint8_t blob[HAC_QUERY_INLINE_MAX];
    size_t blob_bytes;
    hac_task task; /* the task of aggregation */
    uint64_t chunks;
    uint64_t values[HAC_TASK_VALUES_MAX]; /* of the last aggregation */
} text_trial;

static uint8_t *new_memory(uint64_t bytes)
{
    uint8_t *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(memory);
    memset(memory, 0, (bytes + 63) / 64 * 64);
    return memory;
}

static text_trial *trial_new(const text_table *t, const char *where, const char *group_by, const char *select,
                             uint64_t chunk, bool skip_errors)
{
    hac_error err = HAC_ERROR_NONE;
    text_trial *r = calloc(1, sizeof *r);
    assert_non_null(r);
    hac_query_text query = {
        .schema = t->schema,
        .where = where,
        .group_by = group_by,
        .select = select,
        .order_by = group_by,
        .limit = UINT64_MAX,
        .source = {.format = t->format,
                   .options = {.no_header = t->format == HAC_INPUT_CSV || t->format == HAC_INPUT_TSV,
                               .skip_errors = skip_errors}}};
    if (hac_query_compile(&query, NULL, &r->query, &err) != HAC_OK ||
        hac_query_blob_write(r->query, NULL, r->blob, sizeof r->blob, &r->blob_bytes, &err) != HAC_OK)
        fail_msg("%s by %s: %s", select, group_by, err.message);
    r->chunks = t->n == 0 ? 1 : (t->n + chunk - 1) / chunk;
    r->task = (hac_task){.count = r->chunks,
                         .n_spans = 3,
                         .n_params = HAC_PARAMS_COUNT(hac_query_params),
                         .fd = -1,
                         .inline_in = r->blob,
                         .inline_in_bytes = r->blob_bytes};
    hac_query_params *p = HAC_EDIT_PARAMS(hac_query_params, &r->task);
    p->source_bytes = t->n;
    p->chunk = chunk;
    p->chunks = r->chunks;
    p->region = p->group_region = REGION;
    p->partitions = PARTITIONS;
    p->seed = 77;
    p->inline_bytes = r->blob_bytes;
    r->task.spans[0] = (hac_span){new_memory(r->chunks * REGION), r->chunks * REGION};
    if (t->format == HAC_INPUT_CSV)
        r->task.spans[1] = (hac_span){new_memory(r->chunks * 8), (r->chunks * 8 + 63) / 64 * 64};
    r->task.spans[2] = (hac_span){t->bytes, t->n};
    return r;
}

static void trial_free(text_trial *r)
{
    free(r->task.spans[0].data);
    free(r->task.spans[1].data);
    hac_query_free(r->query);
    free(r);
}

/* The result's bytes; NULL: aggregation failed, and the message is in `err`. */
static char *answer_of(text_trial *r, hac_device *device, bool hot, hac_error *err)
{
    hac_task_result result = {0};
    hac_task quotes = r->task;
    quotes.n_spans = 2;
    quotes.spans[0] = r->task.spans[1];
    quotes.spans[1] = r->task.spans[2];
    if (r->task.spans[1].bytes != 0)
        assert_int_equal(hac_query_run_quotes(NULL, &quotes, &result, err), HAC_OK);
    hac_query_params *p = HAC_EDIT_PARAMS(hac_query_params, &r->task);
    p->method = hot ? HAC_QUERY_HOT_KEYS : 0;
    p->sample = hot ? 50 : 0;
    p->hot_share = hot ? 80 : 0;
    hac_status status = device != NULL ? hac_hash_aggregate_run(device, &r->task, &result, err)
                                       : hac_query_run_aggregate(NULL, &r->task, &result, err);
    if (status != HAC_OK)
        return NULL;
    memcpy(r->values, result.values, sizeof r->values);
    assert_true(result.values[HAC_AGGREGATE_VALUE_NEEDED] <= REGION);
    hac_task merge = r->task, finish = r->task;
    hac_span groups = {new_memory(PARTITIONS * REGION), PARTITIONS * REGION},
             out = {new_memory(RESULT), RESULT};
    merge.n_spans = finish.n_spans = 2;
    merge.count = PARTITIONS;
    merge.spans[1] = finish.spans[0] = groups;
    finish.spans[1] = out;
    finish.count = 1;
    if (hac_query_run_merge(NULL, &merge, &result, err) != HAC_OK ||
        hac_query_run_finish(NULL, &finish, &result, err) != HAC_OK)
        fail_msg("%s", err->message);
    free(groups.data);
    out.data[result.values[1]] = '\0';
    return (char *)out.data;
}

/* Every data set went through the buffers exactly once. */
static void check_buffers(const text_trial *r)
{
    const uint64_t *v = r->values + HAC_AGGREGATE_VALUE_SPLICE;
    uint64_t records = r->values[HAC_AGGREGATE_VALUE_ROWS] + r->values[HAC_AGGREGATE_VALUE_SKIPPED];
    assert_int_equal(v[HAC_SPLICE_SETS], r->chunks);
    assert_int_equal(v[HAC_SPLICE_SET_RECORDS], records);
    assert_int_equal(v[HAC_SPLICE_SPLICED_RECORDS], r->values[HAC_AGGREGATE_VALUE_ROWS]);
    assert_int_equal(v[HAC_SPLICE_SPLICED], v[HAC_SPLICE_BLOCKS]);
    assert_true(v[HAC_SPLICE_RESULT_BYTES] >= v[HAC_SPLICE_RESULT_LARGEST]);
    assert_true(v[HAC_SPLICE_RESULT_LARGEST] > 0 && v[HAC_SPLICE_THREADS] > 0);
    assert_true(v[HAC_SPLICE_FILL] <= v[HAC_SPLICE_CAPACITY]);
    for (unsigned i = 0; records != 0 && i < HAC_SPLICE_N_STAGES; i++) {
        const uint64_t *stage = v + HAC_SPLICE_STAGES + i * HAC_SPLICE_STAGE_VALUES;
        assert_true(stage[1] <= stage[2]);
        /* records of fixed width in memory are converted in place */
        bool idle =
            i == HAC_STAGE_SPLICE || (i == HAC_STAGE_READ && r->query->source.format == HAC_INPUT_FIXED);
        assert_true(idle || stage[2] > 0);
    }
}

static void try_query(hac_device *device, const text_table *t, const char *where, const char *group_by,
                      const char *select, uint64_t chunk)
{
    hac_error err = HAC_ERROR_NONE;
    text_trial *r = trial_new(t, where, group_by, select, chunk, true);
    char *expected = answer_of(r, NULL, false, &err);
    assert_non_null(expected);
    uint64_t rows = r->values[HAC_AGGREGATE_VALUE_ROWS], kept = r->values[HAC_AGGREGATE_VALUE_KEPT],
             skipped = r->values[HAC_AGGREGATE_VALUE_SKIPPED];
    check_buffers(r);
    for (int hot = 0; hot < 2; hot++) {
        char *got = answer_of(r, device, hot != 0, &err);
        if (got == NULL)
            fail_msg("%s by %s: %s", select, group_by, err.message);
        assert_string_equal(got, expected);
        assert_int_equal(r->values[HAC_AGGREGATE_VALUE_ROWS], rows);
        assert_int_equal(r->values[HAC_AGGREGATE_VALUE_KEPT], kept);
        assert_int_equal(r->values[HAC_AGGREGATE_VALUE_SKIPPED], skipped);
        check_buffers(r);
        if (hot && rows > 2200 * r->chunks && where == NULL)
            assert_true(r->values[HAC_AGGREGATE_VALUE_HOT_KEYS] > 0);
        free(got);
    }
    free(expected);
    trial_free(r);
}

/* ---- tests ---- */

static bool loops_are_short(void)
{
    hac_device *device = test_open_device((hac_device_options){0});
    bool are = hac_device_get_facts(device)->max_loop_iterations != 0;
    hac_device_close(device);
    return are;
}

#define FIRST_STYLE (loops_are_short() ? HAC_STYLE_CHOICE_SIMT : HAC_STYLE_CHOICE_BLOCK)
#define COPY_WAY    (HAC_STYLE_CHOICE_SIMT + 1) /* lock-step style on a copy of the memory */
#define LAST_WAY    (HAC_STYLE_CHOICE_SIMT + 2) /* a device that is declared to be big-endian */

static hac_device *device_of(int way)
{
    hac_device_options options = {.style = (hac_style_choice)way};
    if (way >= COPY_WAY)
        options.style =
            way == LAST_WAY && !loops_are_short() ? HAC_STYLE_CHOICE_BLOCK : HAC_STYLE_CHOICE_SIMT;
    options.copy_memory = way == COPY_WAY;
    options.byte_order = way == LAST_WAY ? HAC_BYTE_ORDER_BIG : HAC_BYTE_ORDER_NATIVE;
    hac_device *device = test_open_device(options);
    const hac_device_facts *facts = hac_device_get_facts(device);
    assert_int_equal(facts->other_order, way == LAST_WAY);
    assert_int_equal(facts->turns_order, way == LAST_WAY);
    return device;
}

static const char exact[] = "count() as c, count(n) as cn, sum(n) as sn, avg(n) as an, sum(k) as sk";

static void try_texts(hac_device *device, uint64_t records, uint64_t chunk)
{
    static const hac_input_format formats[] = {HAC_INPUT_CSV, HAC_INPUT_TSV, HAC_INPUT_JSONL};
    bool floats =
        hac_device_get_facts(device)->style == HAC_STYLE_BLOCK && hac_device_get_facts(device)->fp64;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        text_table t = text_new(formats[i], records, i % 2 == 0 ? 10 : 0);
        try_query(device, &t, NULL, "k", exact, chunk);
        try_query(device, &t, "n > 0 or b", "s, b", exact, chunk);
        try_query(device, &t, NULL, NULL, "count() as c", chunk);
        if (floats) {
            try_query(device, &t, "b", "s", "min(f) as sf, max(f) as x, min(n) as y", chunk);
            try_query(device, &t, NULL, "n, k", "min(f) as s, max(f) as a", chunk); /* goes to windows */
        }
        free(t.bytes);
    }
    text_table words = text_new(HAC_INPUT_WORDS, records * 4, 0),
               lines = text_new(HAC_INPUT_LINES, records, 0);
    text_table fixed = text_new(HAC_INPUT_FIXED, records, 0);
    try_query(device, &words, NULL, "word", "count() as count", chunk);
    try_query(device, &lines, NULL, "line", "count() as count", chunk);
    try_query(device, &fixed, "b", "k", "count() as c, sum(n) as sn", chunk);
    free(words.bytes);
    free(lines.bytes);
    free(fixed.bytes);
}

static void test_texts(void **state)
{
    (void)state;
    for (int way = FIRST_STYLE; way <= LAST_WAY; way++) {
        hac_device *device = device_of(way);
        static const struct {
            uint64_t records, chunk;
        } sizes[] = {{0, 64}, {1, 64}, {9, 40}, {64, 5000}, {1100, 9973}, {9000, 150003}};
        for (size_t i = 0; i < (test_small_sizes() ? 4 : sizeof sizes / sizeof *sizes); i++)
            try_texts(device, sizes[i].records, sizes[i].chunk);
        hac_device_close(device);
    }
}

/* A record in error: the message is that of the host codelet, with the line. */
static void test_errors(void **state)
{
    (void)state;
    for (int way = FIRST_STYLE; way <= LAST_WAY; way++) {
        hac_device *device = device_of(way);
        text_table t = text_new(HAC_INPUT_TSV, 3000, 300);
        const char *selects[] = {
            "count() as c, sum(k) as sn",
            "sum(case when k = 17 then 9223372036854774800 + n + 2000 else n end) as sk"};
        for (int i = 0; i < 2; i++) {
            hac_error expected = HAC_ERROR_NONE, err = HAC_ERROR_NONE;
            text_trial *r = trial_new(&t, NULL, "s", selects[i], 5000, i == 1);
            assert_null(answer_of(r, NULL, false, &expected));
            assert_non_null(strstr(expected.message, "line "));
            assert_null(answer_of(r, device, true, &err));
            assert_string_equal(err.message, expected.message);
            trial_free(r);
        }
        free(t.bytes);
        hac_device_close(device);
    }
}

static void test_known_count(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    text_table t = {.format = HAC_INPUT_WORDS, .bytes = (uint8_t *)new_memory(4096)};
    t.n = (uint64_t)snprintf((char *)t.bytes, 4096, "to be or not to be, that is the to\nbe");
    for (int way = FIRST_STYLE; way <= LAST_WAY; way++) {
        hac_device *device = device_of(way);
        text_trial *r = trial_new(&t, NULL, "word", "count() as count", 9, false);
        char *got = answer_of(r, device, true, &err);
        if (got == NULL)
            fail_msg("%s", err.message);
        assert_string_equal(got, "word,count\nbe,2\n\"be,\",1\nis,1\nnot,1\nor,1\nthat,1\nthe,1\nto,3\n");
        free(got);
        trial_free(r);
        hac_device_close(device);
    }
    free(t.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_count),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
