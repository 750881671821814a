/* SPDX-License-Identifier: Apache-2.0 */
/* Splits as codelets read them: rounds with carries in between give the same bytes as a single merge; invalid
 * splits are refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "base/split_layout.h"
#include "base/test_support.h"
#include "compile_support.h"
#include "query/codelets.h"

#define SETS_MAX   24
#define PARTITIONS 8

static size_t sets;
static uint64_t region, capacity; /* bytes of a partial's region, of a partition's groups */

static uint64_t random_state = 11;

static hac_status run(const char *name, const hac_task *task, hac_task_result *result, hac_error *err)
{
    const hac_codelet *table = hac_query_codelets();
    for (size_t i = 0; table[i].name != NULL; i++) {
        if (strcmp(table[i].name, name) != 0)
            continue;
        hac_status status = table[i].check(NULL, task, err);
        result->n_values = 0;
        return status == HAC_OK ? table[i].run(NULL, task, result, err) : status;
    }
    fail();
    return HAC_INTERNAL;
}

static void good(const char *name, const hac_task *task, hac_task_result *result)
{
    hac_error err = HAC_ERROR_NONE;
    if (run(name, task, result, &err) != HAC_OK)
        fail_msg("%s: %s", name, err.message);
}

static hac_span make_span(uint64_t bytes)
{
    hac_span span = {.data = aligned_alloc(64, (bytes + 63) / 64 * 64), .bytes = bytes};
    assert_non_null(span.data);
    memset(span.data, 0xee, bytes);
    return span;
}

/* ---- splits ---- */

static char *data_sets[SETS_MAX]; /* some lines each */

static void make_data(size_t n_sets, size_t lines, unsigned keys)
{
    sets = n_sets;
    region = (lines * 400 + 65536) / 4096 * 4096;
    capacity = region * n_sets / 4 / 64 * 64;
    for (size_t i = 0; i < sets; i++) {
        char *to = data_sets[i] = malloc(lines * 64 + 1);
        assert_non_null(to);
        for (size_t l = 0; l < lines; l++) {
            unsigned key = (unsigned)(hac_random_u64(&random_state) % keys);
            double value = (double)(hac_random_u64(&random_state) % 1000003) / 7;
            if (key % 11 == 3)
                to += sprintf(to, ",%u,%.15g,\n", key % 5, value);
            else
                to += sprintf(to, "the key %u,%u,%.15g,word %u is long enough\n", key, key % 17, value,
                              key % 7);
        }
    }
}

static void free_data(void)
{
    for (size_t i = 0; i < sets; i++)
        free(data_sets[i]);
}

/* Makes a split of data sets [first, first + n) after a header. */
static hac_span make_split(const char *header, size_t first, size_t n)
{
    hac_split_header h = {.magic = HAC_SPLIT_MAGIC, .n_sets = (uint32_t)n, .lines_before = 1};
    h.header_bytes = (uint32_t)strlen(header);
    h.text_offset = (sizeof h + (n + 1) * 8 + 63) / 64 * 64;
    h.text_bytes = h.header_bytes;
    for (size_t i = 0; i < n; i++)
        h.text_bytes += strlen(data_sets[first + i]);
    hac_span span = make_span(h.text_offset + h.text_bytes);
    uint64_t at = h.header_bytes;
    memcpy(span.data + h.text_offset, header, at);
    for (size_t i = 0; i <= n; i++) {
        memcpy(span.data + sizeof h + i * sizeof at, &at, sizeof at);
        if (i == n)
            break;
        memcpy(span.data + h.text_offset + at, data_sets[first + i], strlen(data_sets[first + i]));
        at += strlen(data_sets[first + i]);
    }
    memcpy(span.data, &h, sizeof h);
    return span;
}

/* ---- rounds ---- */

#define HEADER "k,i,v,w\n"
#define SCHEMA "k:string,i:i64,v:f64,w:string"

typedef struct rounds {
    const char *group_by, *select;
    uint8_t blob[HAC_INLINE_MAX];
    uint8_t out[HAC_INLINE_MAX];
    hac_task task;
    hac_task_result result;
    hac_span partials, carry, groups;
    uint64_t held, generation;
} rounds;

static void compile(rounds *r)
{
    const hac_query_text text = {.schema = SCHEMA,
                                 .group_by = r->group_by,
                                 .select = r->select,
                                 .limit = UINT64_MAX,
                                 .source = {.format = HAC_INPUT_CSV}};
    size_t bytes = 0;
    r->result.inline_out = r->out;
    assert_int_equal(compile_blob(&text, NULL, NULL, r->blob, &bytes, NULL, NULL), HAC_OK);
    r->task = (hac_task){.fd = -1,
                         .inline_in = r->blob,
                         .inline_in_bytes = bytes,
                         .n_params = HAC_PARAMS_COUNT(hac_query_params)};
    HAC_EDIT_PARAMS(hac_query_params, &r->task)->chunk = 1;
    HAC_EDIT_PARAMS(hac_query_params, &r->task)->region = region;
    HAC_EDIT_PARAMS(hac_query_params, &r->task)->partitions = PARTITIONS;
    HAC_EDIT_PARAMS(hac_query_params, &r->task)->group_region = capacity;
    HAC_EDIT_PARAMS(hac_query_params, &r->task)->seed = 99;
}

static void aggregate(rounds *r, size_t first, size_t n)
{
    hac_span split = make_split(HEADER, first, n);
    hac_task *t = &r->task;
    t->n_spans = 3;
    t->spans[0] = r->partials;
    t->spans[1] = (hac_span){0};
    t->spans[2] = split;
    t->first = 0;
    t->count = n;
    HAC_EDIT_PARAMS(hac_query_params, t)->first_chunk = r->held;
    HAC_EDIT_PARAMS(hac_query_params, t)->chunks = sets;
    HAC_EDIT_PARAMS(hac_query_params, t)->generation = r->generation;
    HAC_EDIT_PARAMS(hac_query_params, t)->data_sets = n;
    good("query.aggregate", t, &r->result);
    assert_true(r->result.values[HAC_AGGREGATE_VALUE_NEEDED] <= region);
    r->held += n;
    free(split.data);
}

static void merge(rounds *r, const char *codelet)
{
    hac_task *t = &r->task;
    t->n_spans = 3;
    t->spans[0] = r->partials;
    t->spans[1] = r->groups;
    t->spans[2] = r->carry;
    t->first = 0;
    t->count = PARTITIONS;
    HAC_EDIT_PARAMS(hac_query_params, t)->chunks = r->held;
    HAC_EDIT_PARAMS(hac_query_params, t)->generation = r->generation;
    HAC_EDIT_PARAMS(hac_query_params, t)->data_sets = 0;
    HAC_EDIT_PARAMS(hac_query_params, t)->carry = r->generation > 1 ? capacity : 0;
    good(codelet, t, &r->result);
    assert_true(r->result.values[1] <= capacity);
}

/* The other buffer becomes the carry; later partials overwrite the current ones. */
static void carry(rounds *r)
{
    merge(r, "query.carry");
    hac_span old = r->carry;
    r->carry = r->groups;
    r->groups = old;
    r->held = 0;
    r->generation++;
    memset(r->partials.data, 0xdd, r->partials.bytes);
}

/* Starts the first generation: partials of data sets are kept, and the query is compiled first. */
static rounds *new_rounds(const char *group_by, const char *select)
{
    rounds *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->group_by = group_by;
    r->select = select;
    r->generation = 1;
    r->partials = make_span(sets * region);
    return r;
}

/* Merges the partials that are held and writes the result; returns its bytes. */
static uint64_t result_of_partials(rounds *r, hac_span ret)
{
    merge(r, "query.merge");
    r->task.n_spans = 2;
    r->task.spans[0] = r->groups;
    r->task.spans[1] = ret;
    good("query.finish", &r->task, &r->result);
    assert_in_range(r->result.values[1], 1, ret.bytes);
    return r->result.values[1];
}

/* The result's bytes for all data sets, with a carry after every `each` of them; 0: none. */
static uint64_t result_of(const char *group_by, const char *select, size_t each, char *ret)
{
    rounds *r = new_rounds(group_by, select);
    r->carry = make_span(PARTITIONS * capacity);
    r->groups = make_span(PARTITIONS * capacity);
    hac_span end = make_span(8 * capacity);
    compile(r);
    for (size_t i = 0, n; i < sets; i += n) {
        n = each == 0 ? sets : each < sets - i ? each : sets - i;
        aggregate(r, i, n);
        if (each != 0 && (i / each) % 3 != 1) /* some rounds end without a carry */
            carry(r);
    }
    uint64_t bytes = result_of_partials(r, end);
    memcpy(ret, end.data, bytes);
    free(r->partials.data);
    free(r->carry.data);
    free(r->groups.data);
    free(end.data);
    free(r);
    return bytes;
}

/* ---- tests ---- */

static const char *const every[] = {
    "count() as n",
    "count(v) as n, sum(v) as s, avg(v) as a",
    "variance(v) as v1, stddev(v) as v2, var_pop(v) as v3, stddev_pop(v) as v4",
    "sum(i) as s, avg(i) as a, min(i) as lo, max(i) as hi",
    "min(v) as lo, max(v) as hi, min(w) as low, max(w) as high",
    "first(w) as f, last(w) as l, first(v) as g, last(i) as m",
    "count_distinct(i) as d, count_distinct(w) as e, count_distinct(v) as f",
    "approx_quantile(v, 0.25) as q, approx_quantile(v, 0.9) as r",
    "top_k(w, 3) as t, top_k(i, 2) as u",
    "histogram(v, 0, 100000, 7) as h",
    "string_list(w) as l",
    "string_agg(w, ', ') as l, list(w order by v desc) as m, list(distinct i order by i) as n",
};

static void compare(const char *group_by, size_t step)
{
    char *want = malloc(8 * capacity), *got = malloc(8 * capacity), select[256];
    assert_non_null(want);
    assert_non_null(got);
    for (size_t i = 0; i < sizeof every / sizeof *every; i += step) {
        snprintf(select, sizeof select, "%s%s%s", group_by, group_by[0] ? ", " : "", every[i]);
        uint64_t n = result_of(group_by, select, 0, want);
        for (size_t each = 1; each <= sets; each = each * HAC_TEST_CASES(2, 4) + 1) {
            if (result_of(group_by, select, each, got) != n || memcmp(want, got, n) != 0)
                fail_msg("group by '%s', %s: rounds of %zu give something else", group_by, select, each);
        }
    }
    free(want);
    free(got);
}

/* Few groups, none without rows: partials have groups. */
static void test_groups(void **state)
{
    (void)state;
    make_data(SETS_MAX, 60, 40);
    compare("k", 1);
    compare("i", 2);
    compare("k, i", 3);
    compare("", 1);
    free_data();
}

/* Partials have rows in windows: nearly every row of the first two runs (query/partial.h) begins a group. */
static void test_windows(void **state)
{
    (void)state;
    make_data(HAC_TEST_CASES(3, 2), 36000, 1000000);
    compare("k", 2);
    free_data();
}

static void refuse(const hac_task *task, const char *codelet, const char *part)
{
    static uint8_t out[HAC_INLINE_MAX];
    hac_task_result result = {.inline_out = out};
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(run(codelet, task, &result, &err), HAC_INVALID);
    if (strstr(err.message, part) == NULL)
        fail_msg("wanted \"%s\", got \"%s\"", part, err.message);
}

/* Damages every number of a split's header. */
static void test_damaged(void **state)
{
    (void)state;
    make_data(SETS_MAX, 5, 5);
    rounds *r = new_rounds("k", "k, count() as n");
    compile(r);
    aggregate(r, 0, 3);
    hac_span split = make_split(HEADER, 0, 3);
    hac_task task = r->task;
    static const struct {
        size_t at;
        uint64_t value;
    } bad[] = {{0, 1},  {8, 32}, {8, UINT64_MAX - 63}, {16, UINT64_MAX}, {16, 1}, {32, 4}, {36, UINT32_MAX},
               {64, 1}, {72, 1}, {80, UINT64_MAX},     {88, 100000}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t width = bad[i].at == 32 || bad[i].at == 36 ? 4 : 8;
        hac_span spoilt = make_span(split.bytes);
        memcpy(spoilt.data, split.data, split.bytes);
        memcpy(spoilt.data + bad[i].at, &bad[i].value, width);
        task.spans[2] = spoilt;
        refuse(&task, "query.aggregate", "split");
        free(spoilt.data);
    }
    task.spans[2] = (hac_span){.data = split.data, .bytes = 63};
    refuse(&task, "query.aggregate", "a split of 63 bytes");
    task.spans[2] = (hac_span){.data = split.data, .bytes = split.bytes - 1};
    refuse(&task, "query.aggregate", "is no split");
    task.spans[2] = split;
    task.count = 4;
    refuse(&task, "query.aggregate", "chunks 0");
    free(split.data);
    free(r->partials.data);
    free(r);
    free_data();
}

/* A carry of another generation, or a damaged one, is refused. */
static void test_wrong_carry(void **state)
{
    (void)state;
    make_data(SETS_MAX, 20, 10);
    rounds *r = new_rounds("k", "k, sum(v) as s");
    r->carry = make_span(PARTITIONS * capacity);
    r->groups = make_span(PARTITIONS * capacity);
    compile(r);
    aggregate(r, 0, 2);
    carry(r);
    aggregate(r, 2, 2);
    merge(r, "query.merge");
    hac_task task = r->task;
    HAC_EDIT_PARAMS(hac_query_params, &task)->generation = 3;
    HAC_EDIT_PARAMS(hac_query_params, &task)->data_sets = 0;
    refuse(&task, "query.merge", "is damaged, or not there");
    task = r->task;
    HAC_EDIT_PARAMS(hac_query_params, &task)->carry = 2 * capacity;
    refuse(&task, "query.carry", "do not fit span 2");
    HAC_EDIT_PARAMS(hac_query_params, &task)->carry = 0;
    HAC_EDIT_PARAMS(hac_query_params, &task)->generation = 0;
    refuse(&task, "query.carry", "no splits");
    task = r->task;
    task.n_spans = 2;
    refuse(&task, "query.merge", "there should be a carry");
    free(r->partials.data);
    free(r->carry.data);
    free(r->groups.data);
    free(r);
    free_data();
}

/* ---- in a file ---- */

#define RECORD      12
#define SET_RECORDS 1000

/* The records of data sets [first, first + n) of the file, the last of which is shorter. */
static void aggregate_fixed(rounds *r, int fd, const uint8_t *bytes, uint64_t n_bytes, size_t first, size_t n)
{
    hac_task *t = &r->task;
    uint64_t set = SET_RECORDS * RECORD, from = first * set,
             end = from + n * set < n_bytes ? from + n * set : n_bytes;
    hac_span split = {0};
    t->fd = fd;
    t->n_spans = 3;
    t->spans[0] = r->partials;
    t->spans[1] = (hac_span){0};
    t->first = 0;
    t->count = n;
    HAC_EDIT_PARAMS(hac_query_params, t)->first_chunk = first;
    HAC_EDIT_PARAMS(hac_query_params, t)->chunks = sets;
    HAC_EDIT_PARAMS(hac_query_params, t)->generation = 1;
    HAC_EDIT_PARAMS(hac_query_params, t)->data_sets = n;
    HAC_EDIT_PARAMS(hac_query_params, t)->chunk = set;
    HAC_EDIT_PARAMS(hac_query_params, t)->source_bytes = end - from;
    HAC_EDIT_PARAMS(hac_query_params, t)->file_offset = from;
    HAC_EDIT_PARAMS(hac_query_params, t)->bytes_before = from;
    if (fd < 0) {
        hac_split_header h = {.magic = HAC_SPLIT_MAGIC, .n_sets = (uint32_t)n, .text_bytes = end - from};
        h.text_offset = (sizeof h + (n + 1) * 8 + 63) / 64 * 64;
        split = make_span(h.text_offset + h.text_bytes);
        memcpy(split.data, &h, sizeof h);
        for (size_t i = 0; i <= n; i++) {
            uint64_t at = i * set < h.text_bytes ? i * set : h.text_bytes;
            memcpy(split.data + sizeof h + i * sizeof at, &at, sizeof at);
        }
        memcpy(split.data + h.text_offset, bytes + from, h.text_bytes);
    }
    t->spans[2] = split;
    good("query.aggregate", t, &r->result);
    free(split.data);
}

static void compile_fixed(rounds *r)
{
    const hac_query_text text = {.schema = "k:i32,v:f64",
                                 .group_by = "k",
                                 .select = "k, sum(v) as s, sum(cast(k - 6 as u8)) as q",
                                 .limit = UINT64_MAX,
                                 .source = {.format = HAC_INPUT_FIXED}};
    size_t bytes = 0;
    r->result.inline_out = r->out;
    assert_int_equal(compile_blob(&text, NULL, NULL, r->blob, &bytes, NULL, NULL), HAC_OK);
    r->task = (hac_task){.fd = -1,
                         .inline_in = r->blob,
                         .inline_in_bytes = bytes,
                         .n_params = HAC_PARAMS_COUNT(hac_query_params)};
    HAC_EDIT_PARAMS(hac_query_params, &r->task)->region = region;
    HAC_EDIT_PARAMS(hac_query_params, &r->task)->partitions = PARTITIONS;
    HAC_EDIT_PARAMS(hac_query_params, &r->task)->group_region = capacity;
    HAC_EDIT_PARAMS(hac_query_params, &r->task)->seed = 99;
}

static void fails_at(const hac_task *task, const char *says)
{
    hac_task_result result = {0};
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(run("query.aggregate", task, &result, &err), HAC_FAILED);
    if (strstr(err.message, says) == NULL)
        fail_msg("wanted \"%s\", got \"%s\"", says, err.message);
}

static uint8_t *make_records(uint64_t n)
{
    uint8_t *bytes = malloc(n * RECORD);
    assert_non_null(bytes);
    for (uint64_t i = 0; i < n; i++) {
        int32_t key = 6 + (int32_t)(hac_random_u64(&random_state) % 50);
        double value = (double)(hac_random_u64(&random_state) % 1000003) / 7;
        memcpy(bytes + i * RECORD, &key, sizeof key);
        memcpy(bytes + i * RECORD + 4, &value, sizeof value);
    }
    return bytes;
}

/* Records in a file and in memory give the same bytes, wherever splits end. Errors name records of the whole
 * source and bytes of the file. */
static void test_in_file(void **state)
{
    (void)state;
    const uint64_t n = 9 * SET_RECORDS + 17, n_bytes = n * RECORD;
    uint8_t *bytes = make_records(n);
    rounds *r = calloc(1, sizeof *r);
    assert_non_null(r);
    sets = 10;
    region = capacity = 65536;
    compile_fixed(r);
    r->generation = 1;
    r->held = sets;
    r->partials = make_span(sets * region);
    r->groups = make_span(PARTITIONS * capacity);
    hac_span there = make_span(8 * capacity), here = make_span(8 * capacity);
    int fd = hac_test_file(bytes, n_bytes);
    aggregate_fixed(r, -1, bytes, n_bytes, 0, sets);
    uint64_t n_there = result_of_partials(r, there);
    for (size_t each = 1; each <= sets; each++) {
        memset(r->partials.data, 0xee, r->partials.bytes);
        for (size_t i = 0; i < sets; i += each)
            aggregate_fixed(r, fd, NULL, n_bytes, i, each < sets - i ? each : sets - i);
        assert_int_equal(result_of_partials(r, here), n_there);
        assert_memory_equal(here.data, there.data, n_there);
    }
    aggregate_fixed(r, fd, NULL, n_bytes, 3, 4);
    hac_task good_task = r->task, task = good_task;
    static const struct {
        size_t param; /* its offset */
        uint64_t value;
    } bad[] = {{offsetof(hac_query_params, source_bytes), 0},
               {offsetof(hac_query_params, chunk), 12},
               {offsetof(hac_query_params, chunk), UINT64_MAX},
               {offsetof(hac_query_params, source_bytes), 5 * SET_RECORDS * RECORD},
               {offsetof(hac_query_params, file_offset), INT64_MAX},
               {offsetof(hac_query_params, file_offset), UINT64_MAX}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        task = good_task;
        task.params[bad[i].param / sizeof *task.params] = bad[i].value;
        refuse(&task, "query.aggregate", "data sets of");
    }
    const int32_t five = 5;
    assert_int_equal(pwrite(fd, &five, sizeof five, 5 * SET_RECORDS * RECORD), sizeof five);
    fails_at(&good_task, "record 5001");
    assert_int_equal(ftruncate(fd, 4 * SET_RECORDS * RECORD + 100), 0);
    fails_at(&good_task, "the input ended after 48100 bytes: it was truncated while it was read");
    close(fd);
    free(there.data);
    free(here.data);
    free(r->partials.data);
    free(r->groups.data);
    free(bytes);
    free(r);
}

/* Only the bytes of these formats tell where records end. */
static void test_no_text_in_file(void **state)
{
    (void)state;
    make_data(4, 5, 5);
    rounds *r = new_rounds("k", "k, count() as n");
    compile(r);
    aggregate(r, 0, 1);
    hac_task task = r->task;
    task.fd = hac_test_file(HEADER, strlen(HEADER));
    refuse(&task, "query.aggregate", "a split in a file has records of fixed width");
    close(task.fd);
    free(r->partials.data);
    free(r);
    free_data();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_file), cmocka_unit_test(test_no_text_in_file),
        cmocka_unit_test(test_groups),  cmocka_unit_test(test_windows),
        cmocka_unit_test(test_damaged), cmocka_unit_test(test_wrong_carry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
