/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the query.* codelets like an executor: from a specification to a result, in chunks or as a whole. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/random.h"
#include "base/test_support.h"
#include "compile_support.h"
#include "query/codelets.h"

#define REGION       (UINT64_C(1) << 20)
#define RESULT_BYTES (UINT64_C(1) << 22)

static uint64_t random_state = 5;

#define PARTS 16u

typedef struct asked {
    const char *schema, *where, *group_by, *having, *select, *order_by;
    uint64_t limit; /* 0: none */
    uint64_t offset;
    const char *limit_by; /* `limit` is for each of these */
    unsigned format;
    bool header, skip;
} asked;

typedef struct answer {
    hac_status status;
    hac_error err;
    uint64_t rows;
    uint64_t counts[3]; /* rows read, kept, records skipped */
    char *text;         /* owned, zero-terminated */
} answer;

static hac_status pack(const asked *a, uint8_t *ret, size_t *ret_bytes, bool *ret_aggregates, hac_error *err)
{
    const hac_query_text text = {.schema = a->schema,
                                 .where = a->where,
                                 .group_by = a->group_by,
                                 .having = a->having,
                                 .select = a->select,
                                 .order_by = a->order_by,
                                 .limit = a->limit != 0 && a->limit_by == NULL ? a->limit : UINT64_MAX,
                                 .offset = a->offset,
                                 .limit_by = a->limit_by,
                                 .limit_each = a->limit,
                                 .source = {.format = (hac_input_format)a->format,
                                            .options = {.no_header = a->format == HAC_INPUT_CSV && !a->header,
                                                        .skip_errors = a->skip}}};
    return compile_blob(&text, NULL, NULL, ret, ret_bytes, ret_aggregates, err);
}

static hac_status run(const char *name, const hac_task *task, hac_task_result *result, hac_error *err)
{
    const hac_codelet *table = hac_query_codelets();
    for (size_t i = 0; table[i].name != NULL; i++) {
        if (strcmp(table[i].name, name) != 0)
            continue;
        assert_in_range(task->n_spans, table[i].min_spans, table[i].max_spans);
        assert_int_equal(task->n_params, table[i].params);
        hac_status status = table[i].check(NULL, task, err);
        result->n_values = 0;
        return status == HAC_OK ? table[i].run(NULL, task, result, err) : status;
    }
    fail();
    return HAC_INTERNAL;
}

static hac_span make_span(uint64_t bytes)
{
    hac_span span = {.data = aligned_alloc(64, bytes), .bytes = bytes};
    assert_non_null(span.data);
    memset(span.data, 0xee, bytes);
    return span;
}

/* Parts in pieces, in any order, then the result from them. `task` has the rows and the result. */
static hac_status run_parts(hac_task *task, hac_task_result *result, hac_error *err)
{
    hac_query_params *params = HAC_EDIT_PARAMS(hac_query_params, task);
    hac_span rows = task->spans[0], end = task->spans[1], parts = make_span(PARTS * REGION);
    hac_status status = HAC_OK;
    params->partitions = PARTS;
    params->group_region = REGION;
    task->spans[1] = parts;
    for (uint64_t p = PARTS; status == HAC_OK && p-- > 0;) {
        task->first = p;
        task->count = 1;
        status = run("query.order", task, result, err);
    }
    task->spans[0] = parts;
    task->spans[1] = end;
    task->first = 0;
    task->count = PARTS;
    if (status == HAC_OK)
        status = run("query.join", task, result, err);
    task->spans[0] = rows;
    free(parts.data);
    return status;
}

/* What a plan does: quotes, chunks in pieces, merge or nothing, the end. */
static answer in_pieces(const asked *a, const hac_span *source, uint64_t chunk, uint64_t partitions)
{
    static uint8_t out[HAC_INLINE_MAX], blob[HAC_INLINE_MAX];
    answer got = {.text = calloc(1, RESULT_BYTES + 1)};
    hac_task_result result = {.inline_out = out};
    uint64_t chunks = source->bytes == 0 ? 1 : (source->bytes + chunk - 1) / chunk;
    size_t blob_bytes = 0;
    bool aggregates = false;
    got.status = pack(a, blob, &blob_bytes, &aggregates, &got.err);
    if (got.status != HAC_OK)
        return got;
    hac_span regions = make_span(chunks * REGION), quotes = make_span((chunks * 8 + 63) / 64 * 64);
    hac_span groups = make_span(partitions * REGION), end = make_span(RESULT_BYTES);
    hac_task task = {.fd = -1,
                     .inline_in = blob,
                     .inline_in_bytes = blob_bytes,
                     .n_params = HAC_PARAMS_COUNT(hac_query_params),
                     .params = {source->bytes, chunk, 0, chunks, REGION, partitions, REGION, 99},
                     .count = chunks,
                     .n_spans = 2};
    if (!aggregates && a->order_by != NULL &&
        a->limit_by == NULL) /* few rows in each part, and always enough parts */
        HAC_EDIT_PARAMS(hac_query_params, &task)->part_rows =
            1 + hac_random_u64(&random_state) % 3 + source->bytes / PARTS;
    task.spans[0] = quotes;
    task.spans[1] = *source;
    got.status = run("query.quotes", &task, &result, &got.err);
    task.n_spans = 3;
    task.spans[0] = regions;
    task.spans[1] = a->format == HAC_INPUT_CSV ? quotes : (hac_span){0};
    task.spans[2] = *source;
    for (uint64_t first = 0, n; got.status == HAC_OK && first < chunks; first += n) {
        n = 1 + hac_random_u64(&random_state) % (chunks - first);
        task.first = first;
        task.count = n;
        got.status = run(aggregates ? "query.aggregate" : "query.rows", &task, &result, &got.err);
        assert_true(got.status != HAC_OK || result.values[HAC_AGGREGATE_VALUE_NEEDED] <= REGION);
        for (size_t i = 0; i < 3; i++)
            got.counts[i] += result.values[HAC_AGGREGATE_VALUE_ROWS + i];
    }
    task.n_spans = 2;
    task.first = 0;
    if (got.status == HAC_OK && aggregates) {
        task.spans[1] = groups;
        task.count = partitions;
        got.status = run("query.merge", &task, &result, &got.err);
        task.spans[0] = groups;
    }
    task.spans[1] = end;
    if (got.status == HAC_OK && HAC_PARAMS(hac_query_params, &task)->part_rows != 0)
        got.status = run_parts(&task, &result, &got.err);
    else if (got.status == HAC_OK)
        got.status = run(aggregates ? "query.finish" : "query.gather", &task, &result, &got.err);
    if (got.status == HAC_OK) {
        got.rows = result.values[0];
        assert_true(result.values[1] <= RESULT_BYTES);
        memcpy(got.text, end.data, result.values[1]);
    }
    free(regions.data);
    free(quotes.data);
    free(groups.data);
    free(end.data);
    return got;
}

static answer as_whole(const asked *a, const hac_span *source, bool is_inline)
{
    static uint8_t data[HAC_QUERY_INLINE_MAX], out[HAC_INLINE_MAX];
    answer got = {.text = calloc(1, RESULT_BYTES + 1)};
    hac_task_result result = {.inline_out = out};
    hac_span end = make_span(RESULT_BYTES);
    hac_task task = {.fd = -1,
                     .inline_in = data,
                     .n_params = HAC_PARAMS_COUNT(hac_query_params),
                     .n_spans = is_inline ? 1 : 2};
    size_t n = 0;
    got.status = pack(a, data, &n, NULL, &got.err);
    if (got.status != HAC_OK) {
        free(end.data);
        return got;
    }
    HAC_EDIT_PARAMS(hac_query_params, &task)->source_bytes = source->bytes;
    HAC_EDIT_PARAMS(hac_query_params, &task)->inline_bytes = n;
    task.inline_in_bytes = n;
    task.spans[0] = is_inline ? (hac_span){0} : end;
    if (is_inline) {
        assert_true(n + source->bytes <= sizeof data);
        memcpy(data + n, source->data, source->bytes);
        task.inline_in_bytes += source->bytes;
    } else {
        task.spans[1] = *source;
    }
    got.status = run("query.whole", &task, &result, &got.err);
    if (got.status == HAC_OK) {
        got.rows = result.values[0];
        assert_int_equal(result.n_values, HAC_WHOLE_N_VALUES);
        memcpy(got.counts, &result.values[HAC_WHOLE_VALUE_READ], sizeof got.counts);
        memcpy(got.text, is_inline ? out : end.data, result.values[1]);
    }
    free(end.data);
    return got;
}

static hac_span source_of(const char *text)
{
    size_t n = strlen(text);
    hac_span span = make_span((n + 64) / 64 * 64);
    memcpy(span.data, text, n);
    span.bytes = n;
    return span;
}

static void expect(const asked *a, const char *text, const char *wanted)
{
    hac_span source = source_of(text);
    for (uint64_t chunk = 7; chunk < 5000; chunk *= 9) {
        answer got = in_pieces(a, &source, chunk, 4);
        if (got.status != HAC_OK)
            print_error("%s\n", got.err.message);
        assert_int_equal(got.status, HAC_OK);
        assert_string_equal(got.text, wanted);
        free(got.text);
    }
    for (int is_inline = 0; is_inline < 2; is_inline++) {
        answer got = as_whole(a, &source, is_inline != 0);
        if (got.status != HAC_OK)
            print_error("%s\n", got.err.message);
        assert_int_equal(got.status, HAC_OK);
        assert_string_equal(got.text, wanted);
        free(got.text);
    }
    free(source.data);
}

static void expect_failure(const asked *a, const char *text, hac_status status, const char *part)
{
    hac_span source = source_of(text);
    answer got = in_pieces(a, &source, 16, 4), whole = as_whole(a, &source, false);
    assert_int_equal(got.status, status);
    assert_int_equal(whole.status, status);
    if (strstr(got.err.message, part) == NULL || strstr(whole.err.message, part) == NULL)
        print_error("%s\n%s\n", got.err.message, whole.err.message);
    assert_non_null(strstr(got.err.message, part));
    assert_non_null(strstr(whole.err.message, part));
    free(got.text);
    free(whole.text);
    free(source.data);
}

static const char sales[] = "region,item,price,count\n"
                            "north,\"apple, red\",1.5,10\n"
                            "south,pear,2,3\n"
                            "north,\"a\nb\",0.25,4\n"
                            ",pear,2.5,\n"
                            "south,\"apple, red\",1.25,2\n"
                            "north,pear,,7\n";

static const asked by_region = {.schema = "region:string,item:string,price:f64,count:i64",
                                .group_by = "region",
                                .select =
                                    "sum(price * cast(count as f64)) as s, count() as n, max(count) as most",
                                .order_by = "region",
                                .format = HAC_INPUT_CSV,
                                .header = true};

static void test_groups(void **state)
{
    (void)state;
    asked a = by_region;
    expect(&a, sales, "region,s,n,most\nnorth,16.0,3,10\nsouth,8.5,2,3\n,,1,\n");
    a.order_by = "n desc, region desc";
    a.limit = 2;
    expect(&a, sales, "region,s,n,most\nnorth,16.0,3,10\nsouth,8.5,2,3\n");
    a.where = "price > 1.3";
    a.group_by = NULL;
    a.order_by = NULL;
    a.limit = 0;
    expect(&a, sales, "s,n,most\n21.0,3,10\n");
    a.where = "price > 1000";
    expect(&a, sales, "s,n,most\n,0,\n");
}

static void test_having(void **state)
{
    (void)state;
    asked a = by_region;
    a.having = "n > 1";
    expect(&a, sales, "region,s,n,most\nnorth,16.0,3,10\nsouth,8.5,2,3\n");
    a.having = "max(price) < 2.25"; /* of an aggregate that is not selected */
    a.limit = 1;
    expect(&a, sales, "region,s,n,most\nnorth,16.0,3,10\n");
    a.order_by = NULL; /* the limit counts the groups that are kept */
    a.having = "s is null";
    expect(&a, sales, "region,s,n,most\n,,1,\n");
    a.limit = 0;
    a.having = "s > 100 or s = null";
    expect(&a, sales, "region,s,n,most\n");
    a.having = "region = 'south' and 7 // (n - 2) is null";
    expect(&a, sales, "region,s,n,most\nsouth,8.5,2,3\n");
    a.having = "9223372036854775807 + n > 0";
    expect_failure(&a, sales, HAC_FAILED, "--having");
    /* a group that is left out may be in error */
    a.select = "9223372036854775804 + count() as n";
    a.having = "count() < 3 and region is not null";
    expect(&a, sales, "region,n\nsouth,9223372036854775806\n");
    a.group_by = NULL;
    a.select = "count(distinct item) as n";
    a.having = "n = 3";
    expect(&a, sales, "n\n3\n");
    a.having = "count(distinct item) > 3";
    expect(&a, sales, "n\n");
}

/* More groups than a batch: the rows that remain are those of their groups. */
static void test_having_of_many(void **state)
{
    (void)state;
    hac_text text = HAC_TEXT_NONE, wanted = HAC_TEXT_NONE;
    const asked a = {.schema = "k:i64,s:string",
                     .group_by = "k",
                     .having = "k % 7 = 3 or max(s) is null",
                     .select = "max(s) as s",
                     .order_by = "k",
                     .format = HAC_INPUT_CSV};
    hac_text_add(&wanted, "k,s\n");
    for (int k = 0; k < 3000; k++) {
        char s[32] = "";
        if (k % 100 != 0)
            snprintf(s, sizeof s, "text %d", k);
        hac_text_addf(&text, "%d,%s\n", k, s);
        if (k % 7 == 3 || k % 100 == 0)
            hac_text_addf(&wanted, "%d,%s\n", k, s);
    }
    hac_text_add_bytes(&text, "", 1);
    hac_text_add_bytes(&wanted, "", 1);
    expect(&a, text.data, wanted.data);
    hac_text_clear(&text);
    hac_text_clear(&wanted);
}

static const char numbers[] = "k,v\na,1\nb,2\na,3\n,4\nb,5\na,6\n,7\nc,8\na,9\n,10\n";
static const asked by_number = {.schema = "k:string,v:i64",
                                .select = "k, v",
                                .order_by = "v desc",
                                .format = HAC_INPUT_CSV,
                                .header = true};

static void test_offset(void **state)
{
    (void)state;
    asked a = by_number;
    a.offset = 8;
    expect(&a, numbers, "k,v\nb,2\na,1\n");
    a.limit = 1;
    expect(&a, numbers, "k,v\nb,2\n");
    a.offset = 10;
    expect(&a, numbers, "k,v\n");
    a.offset = UINT64_MAX; /* the sum of both is more than there is */
    expect(&a, numbers, "k,v\n");
    a.order_by = NULL; /* rows keep their order */
    a.offset = 3;
    a.limit = 2;
    expect(&a, numbers, "k,v\n,4\nb,5\n");
    a.limit = 0;
    a.offset = 9;
    expect(&a, numbers, "k,v\n,10\n");
    a.group_by = "k";
    a.select = "sum(v) as s";
    a.order_by = "k";
    a.having = "s > 7";
    a.offset = 2;
    expect(&a, numbers, "k,s\n,21\n");
}

static void test_limit_by(void **state)
{
    (void)state;
    asked a = by_number;
    a.limit_by = "k";
    a.limit = 1;
    expect(&a, numbers, "k,v\n,10\na,9\nc,8\nb,5\n");
    a.limit = 2;
    a.offset = 5;
    expect(&a, numbers, "k,v\nb,5\nb,2\n");
    a.order_by = NULL;
    a.offset = 0;
    a.limit = 1;
    expect(&a, numbers, "k,v\na,1\nb,2\n,4\nc,8\n");
    a.select = "v"; /* a column that is not shown, and an expression */
    a.limit_by = "k is null, v % 2";
    expect(&a, numbers, "v\n1\n2\n4\n7\n");
    a.limit_by = "1";
    a.limit = 3;
    a.offset = 7;
    expect(&a, numbers, "v\n8\n9\n10\n");
    a.group_by = "k, v % 2 as odd";
    a.select = "sum(v) as s";
    a.order_by = "s desc";
    a.limit_by = "odd";
    a.offset = 0;
    a.limit = 1;
    expect(&a, numbers, "k,odd,s\n,0,14\na,1,13\n");
}

/* Skipped records are counted, in one task and in many. */
static void test_skipped(void **state)
{
    (void)state;
    static const char text[] = "a,b\n1,x\ntwo,y\n3,x\n4\n5,z\nsix,z\n7,x\n";
    static const struct {
        const char *where, *group_by, *select;
        uint64_t counts[3];
    } cases[] = {{"", "", "sum(a) as s", {4, 4, 3}},
                 {"b = 'x'", "b", "count(a) as n", {4, 3, 3}},
                 /* columns that nobody asks for are not read */ {"b = 'x'", "", "b", {6, 3, 1}},
                 {"b = 'x'", "", "a, b", {4, 3, 3}},
                 {"b = 'none'", "", "a", {4, 0, 3}}};
    hac_span source = source_of(text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        asked a = {.schema = "a:i64,b:string",
                   .where = cases[i].where,
                   .group_by = cases[i].group_by,
                   .select = cases[i].select,
                   .format = HAC_INPUT_CSV,
                   .header = true,
                   .skip = true};
        for (int way = 0; way < 3; way++) {
            answer got = way == 0 ? in_pieces(&a, &source, 9, 4) : as_whole(&a, &source, way == 2);
            assert_int_equal(got.status, HAC_OK);
            assert_memory_equal(got.counts, cases[i].counts, sizeof got.counts);
            free(got.text);
        }
    }
    free(source.data);
}

static void test_rows(void **state)
{
    (void)state;
    asked a = {.schema = by_region.schema,
               .select = "item, price * 2 as double",
               .order_by = "price desc",
               .format = HAC_INPUT_CSV,
               .header = true};
    expect(&a, sales,
           "item,double\npear,5.0\npear,4.0\n\"apple, red\",3.0\n\"apple, red\",2.5\n\"a\nb\",0.5\npear,\n");
    a.order_by = NULL;
    a.limit = 2;
    expect(&a, sales, "item,double\n\"apple, red\",3.0\npear,4.0\n");
}

static void test_words(void **state)
{
    (void)state;
    asked a = {.group_by = "word",
               .select = "count() as count",
               .order_by = "count desc, word",
               .format = HAC_INPUT_WORDS};
    expect(&a, "to be or not to be, that is the question of a quite extraordinarily-long-word to",
           "word,count\nto,3\na,1\nbe,1\n\"be,\",1\nextraordinarily-long-word,1\nis,1\nnot,1\nof,1\nor,1\n"
           "question,1\nquite,1\nthat,1\nthe,1\n");
}

static void test_errors(void **state)
{
    (void)state;
    asked a = by_region;
    a.select = "sum(count * 9223372036854775807) as big";
    expect_failure(&a, sales, HAC_FAILED, "line 2, --select: big");
    a.select = "sum(count) + 9223372036854775807 as big";
    expect_failure(&a, sales, HAC_FAILED, "big");
    a.select = "sum(nothing)";
    expect_failure(&a, sales, HAC_INVALID, "nothing");
    a = by_region;
    a.where = "cast(item as i64) = 1";
    expect_failure(&a, sales, HAC_FAILED, "line 2, --where");
}

/* Groups of 128 KB: a table's memory is proportional to the regions, so the job fails early. */
static void test_large_groups(void **state)
{
    (void)state;
    static char select[512], text[6 * 2000 + 8];
    for (int i = 0; i < 16; i++)
        snprintf(select + strlen(select), sizeof select - strlen(select), "%shistogram(k, 0, %d, 1000)",
                 i > 0 ? ", " : "", i + 1);
    for (unsigned i = 0; i < 2000; i++)
        snprintf(text + (size_t)6 * i, sizeof text - (size_t)6 * i, "%05u\n", i);
    asked a = {.schema = "k:i64", .group_by = "k", .select = select, .format = HAC_INPUT_CSV};
    hac_span source = source_of(text);
    const struct {
        uint64_t bytes, chunk;
        /* too large for a merge's table */
    } cases[] = {{12000, 12000}, /* too large for a chunk's table */ {3600, 24}};
    for (size_t i = 0; i < 2; i++) {
        source.bytes = cases[i].bytes;
        answer got = in_pieces(&a, &source, cases[i].chunk, 1);
        assert_int_equal(got.status, HAC_NO_MEMORY);
        assert_non_null(strstr(got.err.message, "the groups need more than"));
        free(got.text);
    }
    free(source.data);
}

/* Random tasks and flipped blobs: refused, never a crash. */
static void test_hostile(void **state)
{
    (void)state;
    static uint8_t out[HAC_INLINE_MAX], blob[HAC_INLINE_MAX];
    static const char *const names[] = {"query.aggregate", "query.merge", "query.finish", "query.rows",
                                        "query.gather"};
    hac_span source = source_of(sales), regions = make_span(1 << 16), end = make_span(1 << 12);
    hac_task_result result = {.inline_out = out};
    size_t n = 0;
    assert_int_equal(pack(&by_region, blob, &n, NULL, NULL), HAC_OK);
    for (int round = 0; round < 3000; round++) {
        hac_task task = {.fd = -1,
                         .inline_in = blob,
                         .inline_in_bytes = n,
                         .n_params = HAC_PARAMS_COUNT(hac_query_params),
                         .params = {source.bytes, 64, 0, 3, 4096, 4, 4096, 99},
                         .count = 3};
        unsigned which = (unsigned)(hac_random_u64(&random_state) % 5);
        task.n_spans = which == 0 || which == 3 ? 3 : 2;
        task.spans[0] = regions;
        task.spans[1] = which == 0 || which == 3 ? (hac_span){0} : end;
        task.spans[2] = source;
        if (round % 3 == 0)
            task.params[hac_random_u64(&random_state) % HAC_PARAMS_COUNT(hac_query_params)] =
                hac_random_u64(&random_state) >> (hac_random_u64(&random_state) % 64);
        if (round % 3 == 1)
            task.count = hac_random_u64(&random_state) >> (hac_random_u64(&random_state) % 64);
        if (round % 3 == 2)
            regions.data[hac_random_u64(&random_state) % 8192] ^=
                (uint8_t)(1u << hac_random_u64(&random_state) % 8);
        size_t flip = hac_random_u64(&random_state) % (n > 0 ? n : 1);
        blob[flip] ^= round % 5 == 0 ? 4 : 0;
        (void)!run(names[which], &task, &result, NULL);
        blob[flip] ^= round % 5 == 0 ? 4 : 0;
    }
    free(source.data);
    free(regions.data);
    free(end.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),         cmocka_unit_test(test_having),
        cmocka_unit_test(test_having_of_many), cmocka_unit_test(test_offset),
        cmocka_unit_test(test_limit_by),       cmocka_unit_test(test_skipped),
        cmocka_unit_test(test_rows),           cmocka_unit_test(test_words),
        cmocka_unit_test(test_errors),         cmocka_unit_test(test_large_groups),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
