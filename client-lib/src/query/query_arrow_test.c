/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the import and export of columns. The fake daemon returns a query's table, which must equal the
 * input. */
#include "fake_daemon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/query_layout.h"
#include "base/value.h"
#include "query.h"

enum { ROWS = 300 };

static fake_daemon *the_daemon;
static hac_client *client;
static Hac__Client__Input__WhereCase where;
static uint32_t buffer_id;

static bool look(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)session;
    (void)frame;
    if (request->what_case == HAC__CLIENT__REQUEST__WHAT_SUBMIT_QUERY) {
        where = request->submit_query->inputs[0]->where_case;
        buffer_id = request->submit_query->inputs[0]->buffer;
    }
    return false;
}

static int start(void **state)
{
    return fake_setup(state, look, &the_daemon, &client);
}

static int stop(void **state)
{
    return fake_teardown(state, the_daemon, client);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

/* ---- batches ---- */

static void keep_schema(struct ArrowSchema *schema)
{
    (void)schema;
}

static void keep_array(struct ArrowArray *array)
{
    (void)array;
}

enum { COLUMNS = 10 };

typedef struct batch {
    struct ArrowSchema schema, child_schema[COLUMNS], *schemas[COLUMNS];
    struct ArrowArray array, child[COLUMNS], *children[COLUMNS];
    const void *buffers[COLUMNS][3], *top[1];
    size_t n;
} batch;

static void batch_init(batch *b, int64_t rows, int64_t offset)
{
    memset(b, 0, sizeof(*b));
    b->schema =
        (struct ArrowSchema){.format = "+s", .name = "", .children = b->schemas, .release = keep_schema};
    b->array = (struct ArrowArray){.length = rows,
                                   .offset = offset,
                                   .n_buffers = 1,
                                   .buffers = b->top,
                                   .children = b->children,
                                   .release = keep_array};
}

static void add(batch *b, const char *name, const char *format, const void *validity, const void *values,
                const void *bytes)
{
    size_t i = b->n++;
    b->child_schema[i] = (struct ArrowSchema){.format = format, .name = name, .release = keep_schema};
    b->child[i] = (struct ArrowArray){.length = b->array.length + b->array.offset,
                                      .null_count = validity != NULL ? -1 : 0,
                                      .n_buffers = strchr("uUzZ", format[0]) != NULL ? 3 : 2,
                                      .buffers = b->buffers[i],
                                      .release = keep_array};
    b->buffers[i][0] = validity;
    b->buffers[i][1] = values;
    b->buffers[i][2] = bytes;
    b->schemas[i] = &b->child_schema[i];
    b->children[i] = &b->child[i];
    b->schema.n_children = b->array.n_children = (int64_t)b->n;
}

/* Values of every width, for ROWS rows. */
static struct {
    uint8_t validity[ROWS / 8 + 1], bools[ROWS / 8 + 1];
    int64_t numbers[ROWS];
    int32_t days[ROWS];
    int64_t decimals[ROWS][2];
    int32_t offsets[ROWS + 1];
    int64_t large_offsets[ROWS + 1];
    char characters[ROWS * 4];
} data;

static void fill_data(void)
{
    int32_t at = 5; /* the first offset may be nonzero */
    for (int i = 0; i < ROWS; i++) {
        data.validity[i / 8] = (uint8_t)(i * 37);
        data.bools[i / 8] = (uint8_t)(i * 91);
        data.numbers[i] = (int64_t)i * 1000000007 - 5;
        data.days[i] = i - 150;
        data.decimals[i][0] = i - 150;
        data.decimals[i][1] = i < 150 ? -1 : 0;
        data.offsets[i] = at;
        data.large_offsets[i] = at;
        at += i % 4;
    }
    data.offsets[ROWS] = at;
    data.large_offsets[ROWS] = at;
    for (size_t i = 0; i < sizeof(data.characters); i++)
        data.characters[i] = (char)('a' + i % 26);
}

static void add_all(batch *b)
{
    add(b, "number", "l", data.validity, data.numbers, NULL);
    add(b, "flag", "b", data.validity, data.bools, NULL);
    add(b, "day", "tdD", NULL, data.days, NULL);
    add(b, "short", "d:10,2", data.validity, data.decimals, NULL);
    add(b, "long", "d:38,2", NULL, data.decimals, NULL);
    add(b, "text", "u", data.validity, data.offsets, data.characters);
    add(b, "large", "U", NULL, data.large_offsets, data.characters);
    add(b, "bytes", "z", data.validity, data.offsets, data.characters);
    add(b, "large bytes", "Z", NULL, data.large_offsets, data.characters);
    add(b, "time", "tsu:Europe/Paris", NULL, data.numbers, NULL);
}

static hac_status query(const batch *b, hac_job **ret, hac_error *err)
{
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    options.select = "*";
    options.result_format = HAC_RESULT_TABLE;
    return hac_query_arrow(client, &b->schema, &b->array, &options, ret, err);
}

/* ---- comparing ---- */

static bool bit(const void *bits, int64_t i)
{
    return ((const uint8_t *)bits)[i / 8] >> (i % 8) & 1;
}

static bool is_valid(const struct ArrowArray *a, int64_t row)
{
    return a->buffers[0] == NULL || bit(a->buffers[0], a->offset + row);
}

static void text_of(const struct ArrowArray *a, const char *format, int64_t row, const char **ret,
                    int64_t *length)
{
    const int32_t *small = a->buffers[1];
    const int64_t *large = a->buffers[1];
    bool is_large = strchr("UZ", format[0]) != NULL;
    int64_t i = a->offset + row, begin = is_large ? large[i] : small[i],
            end = is_large ? large[i + 1] : small[i + 1];
    *ret = a->buffers[2] != NULL ? (const char *)a->buffers[2] + begin : ""; /* no characters */
    *length = end - begin;
}

static void assert_same_value(const char *format, const struct ArrowArray *want, int64_t want_row,
                              const struct ArrowArray *got, int64_t row)
{
    assert_int_equal(is_valid(got, row), is_valid(want, want_row));
    if (!is_valid(want, want_row))
        return;
    if (strcmp(format, "b") == 0) {
        assert_int_equal(bit(got->buffers[1], row), bit(want->buffers[1], want->offset + want_row));
    } else if (strchr("uUzZ", format[0]) != NULL) {
        const char *a, *b;
        int64_t la, lb;
        text_of(want, format, want_row, &a, &la);
        text_of(got, format, row, &b, &lb);
        assert_int_equal(la, lb);
        assert_memory_equal(a, b, (size_t)la);
    } else {
        size_t width = format[0] == 'd' ? 16 : strcmp(format, "tdD") == 0 ? 4 : 8;
        assert_memory_equal((const uint8_t *)got->buffers[1] + (size_t)row * width,
                            (const uint8_t *)want->buffers[1] + (size_t)(want->offset + want_row) * width,
                            width);
    }
}

/* Asserts that a query on `b` returns `want`. */
static void assert_same_answer(const batch *want, const batch *b)
{
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    struct ArrowSchema schema;
    struct ArrowArray array;
    if (query(b, &job, &err) != HAC_OK || hac_job_wait(job, -1, &err) != HAC_OK ||
        hac_job_export_arrow(job, &schema, &array, &err) != HAC_OK)
        fail_msg("%s", err.message);
    hac_job_free(job); /* the columns keep the memory */
    assert_string_equal(schema.format, "+s");
    assert_int_equal(schema.n_children, b->n);
    assert_int_equal(array.length, b->array.length);
    assert_int_equal(array.n_children, b->n);
    for (size_t i = 0; i < b->n; i++) {
        const char *format = b->child_schema[i].format;
        assert_string_equal(schema.children[i]->name, b->child_schema[i].name);
        assert_string_equal(schema.children[i]->format, strncmp(format, "tsu:", 4) == 0 ? "tsu:UTC" : format);
        assert_int_equal(array.children[i]->length, b->array.length);
        for (int64_t row = 0; row < b->array.length; row++)
            assert_same_value(format, &want->child[i], b->array.offset + row, array.children[i], row);
    }
    schema.release(&schema);
    array.release(&array);
    assert_null(schema.release);
    assert_null(array.release);
}

static void assert_round_trip(const batch *b)
{
    assert_same_answer(b, b);
}

/* ---- tests ---- */

static void test_round_trips(void **state)
{
    (void)state;
    static const int64_t lengths[] = {0, 1, 7, 8, 9, 63, 64, 65, 250};
    fill_data();
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        batch b;
        batch_init(&b, lengths[i], 0);
        add_all(&b);
        assert_round_trip(&b);
    }
}

/* A buffer may start at any address. */
static void test_buffers_at_any_byte(void **state)
{
    (void)state;
    static uint8_t numbers[sizeof(data.numbers) + 8], days[sizeof(data.days) + 8],
        decimals[sizeof(data.decimals) + 8], offsets[sizeof(data.offsets) + 8],
        large_offsets[sizeof(data.large_offsets) + 8];
    fill_data();
    for (size_t at = 1; at < 8; at += 2) {
        batch aligned, b;
        batch_init(&aligned, 200, 3);
        add_all(&aligned);
        b = aligned;
        const struct {
            const void *from;
            size_t bytes;
            uint8_t *to;
        } copies[] = {{data.numbers, sizeof(data.numbers), numbers},
                      {data.days, sizeof(data.days), days},
                      {data.decimals, sizeof(data.decimals), decimals},
                      {data.offsets, sizeof(data.offsets), offsets},
                      {data.large_offsets, sizeof(data.large_offsets), large_offsets}};
        for (size_t c = 0; c < sizeof(copies) / sizeof(copies[0]); c++) {
            memcpy(copies[c].to + at, copies[c].from, copies[c].bytes);
            for (size_t i = 0; i < b.n; i++)
                if (aligned.buffers[i][1] == copies[c].from)
                    b.buffers[i][1] = copies[c].to + at;
        }
        b.schema.children = b.schemas;
        b.array.children = b.children;
        for (size_t i = 0; i < b.n; i++) {
            b.schemas[i] = &b.child_schema[i];
            b.children[i] = &b.child[i];
            b.child[i].buffers = b.buffers[i];
        }
        assert_same_answer(&aligned, &b);
    }
}

/* Slices of the batch and of its columns, at every bit offset in a byte. */
static void test_slices(void **state)
{
    (void)state;
    fill_data();
    for (int64_t offset = 1; offset < 18; offset++) {
        batch b;
        batch_init(&b, 200, offset);
        add_all(&b);
        for (size_t i = 0; i < b.n; i++)
            b.child[i].offset = (int64_t)i;
        assert_round_trip(&b);
    }
}

static void test_children_can_leave(void **state)
{
    (void)state;
    batch b;
    hac_job *job = NULL;
    struct ArrowSchema schema;
    struct ArrowArray array;
    fill_data();
    batch_init(&b, 100, 0);
    add_all(&b);
    assert_int_equal(query(&b, &job, NULL), HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    assert_int_equal(hac_job_export_arrow(job, &schema, &array, NULL), HAC_OK);
    hac_job_free(job);
    struct ArrowArray moved = *array.children[0];
    array.children[0]->release = NULL;
    array.release(&array);
    schema.release(&schema);
    assert_int_equal(((const int64_t *)moved.buffers[1])[7], data.numbers[7]);
    moved.release(&moved);
}

/* The client does not copy columns that are in one buffer in the layout that hacd needs. */
static void test_in_place(void **state)
{
    (void)state;
    hac_buffer *buffer = NULL;
    batch b;
    fill_data();
    assert_int_equal(hac_buffer_alloc(client, 65536, &buffer, NULL), HAC_OK);
    uint8_t *at = hac_buffer_data(buffer);
    memcpy(at, data.numbers, sizeof(data.numbers));
    memcpy(at + 4096, data.offsets, sizeof(data.offsets));
    memcpy(at + 8192, data.characters, sizeof(data.characters));
    memcpy(at + 12288, data.validity, sizeof(data.validity));
    batch_init(&b, 200, 0);
    add(&b, "number", "l", at + 12288, at, NULL);
    add(&b, "text", "u", NULL, at + 4096, at + 8192);
    unsigned before = fake_count(the_daemon, HAC__CLIENT__REQUEST__WHAT_BUFFER_ALLOC);
    assert_round_trip(&b);
    assert_int_equal(where, HAC__CLIENT__INPUT__WHERE_BUFFER);
    assert_int_equal(fake_count(the_daemon, HAC__CLIENT__REQUEST__WHAT_BUFFER_ALLOC), before);
    /* The client copies columns outside the buffer or with a wrong alignment. The result is the same. */
    b.buffers[0][1] = data.numbers;
    assert_round_trip(&b);
    assert_int_equal(fake_count(the_daemon, HAC__CLIENT__REQUEST__WHAT_BUFFER_ALLOC), before + 1);
    b.buffers[0][1] = at + 8;
    assert_round_trip(&b);
    assert_int_equal(fake_count(the_daemon, HAC__CLIENT__REQUEST__WHAT_BUFFER_ALLOC), before + 2);
    hac_buffer_free(buffer);
}

static void expect(const batch *b, hac_status status, const char *words)
{
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    assert_int_equal(query(b, &job, &err), status);
    assert_null(job);
    hac_test_assert_says(err.message, words);
}

static void test_refused(void **state)
{
    (void)state;
    batch b;
    fill_data();
#define MAKE() (batch_init(&b, 100, 0), add(&b, "number", "l", NULL, data.numbers, NULL))
    MAKE();
    b.schema.format = "l";
    expect(&b, HAC_UNSUPPORTED, "\"+s\", not \"l\"");
    static const char *const formats[] = {
        "ttu",      "+l",        "d:40,2",      "d:10,20", "d:10,2,256", "",      "d:",      "d:19,2,64",
        "d:10",     "d:10,2,",   "d:10,2,x",    "d:10,2x", "d:10,256",   "d:0,0", "ll",      "d:10,258,64",
        "tdDx",     "d:-5,2",    "d:10,2,128x", "tdmx",    "tss",        "w:",    "w:4x",    "w:-4",
        "d:9,2,16", "d:10,2,32", "+s",          "+r",      "+vl",        "+m",    "+ud:0,1", "w:99999999999",
        "vux",      "tDs",       "tiM",         "ex",
    };
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        MAKE();
        b.child_schema[0].format = formats[i];
        expect(&b, HAC_UNSUPPORTED, "column number has Arrow format");
    }
    MAKE();
    b.child_schema[0].format = "tsn:UTC"; /* nothing is cut silently */
    expect(&b, HAC_INVALID, "column number, row 1: the time has nanoseconds");
    MAKE();
    b.child_schema[0].format = "tdm";
    expect(&b, HAC_INVALID, "column number, row 1: the date has a time of day");
    MAKE();
    b.child_schema[0].format = "n";
    expect(&b, HAC_INVALID, "no valid Arrow array"); /* it has no buffers */
    MAKE();
    b.child_schema[0].name = "";
    expect(&b, HAC_INVALID, "name has 0 bytes");
    MAKE();
    b.child[0].length = 99;
    expect(&b, HAC_INVALID, "no valid Arrow array");
    MAKE();
    b.child[0].n_buffers = 3;
    expect(&b, HAC_INVALID, "no valid Arrow array");
    MAKE();
    b.child[0].offset = -1;
    expect(&b, HAC_INVALID, "no valid Arrow array");
    MAKE();
    b.child[0].null_count = 3;
    expect(&b, HAC_INVALID, "does not say where");
    MAKE();
    b.array.null_count = 1;
    expect(&b, HAC_UNSUPPORTED, "whole rows");
    b.array.null_count = -1; /* count unknown, with a bitmap */
    b.top[0] = data.validity;
    expect(&b, HAC_UNSUPPORTED, "whole rows");
    MAKE();
    b.array.n_children = 2;
    expect(&b, HAC_INVALID, "no valid Arrow array");
    MAKE();
    b.array.release = NULL;
    expect(&b, HAC_INVALID, "released");
    MAKE();
    b.schema.release = NULL;
    expect(&b, HAC_INVALID, "released");
}

/* More invalid batches: wrong sizes, names, dictionaries, and strings without characters. */
static void test_refused_shapes(void **state)
{
    (void)state;
    batch b;
    char name[129];
    struct ArrowArray values;
    struct ArrowSchema of_values;
    fill_data();
    memset(name, 'n', sizeof(name));
    name[128] = '\0';
    memset(&values, 0, sizeof(values));
    memset(&of_values, 0, sizeof(of_values));
    const int64_t lengths[] = {-1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        MAKE();
        b.array.length = lengths[i];
        expect(&b, HAC_INVALID, "no valid Arrow array");
        MAKE();
        b.array.offset = lengths[i];
        expect(&b, HAC_INVALID, "no valid Arrow array");
        MAKE();
        b.array.n_children = b.schema.n_children = lengths[i];
        expect(&b, HAC_INVALID, lengths[i] < 0 ? "no valid Arrow array" : "are too many");
    }
    MAKE();
    b.child[0].length = -1;
    expect(&b, HAC_INVALID, "column number is no valid Arrow array");
    MAKE();
    b.array.offset = 1; /* the last row is after the child's end */
    expect(&b, HAC_INVALID, "column number is no valid Arrow array");
    MAKE();
    b.array.offset = 101;
    expect(&b, HAC_INVALID, "column number is no valid Arrow array");
    MAKE();
    b.child[0].buffers = NULL;
    expect(&b, HAC_INVALID, "column number is no valid Arrow array");
    MAKE();
    b.child[0].n_children = 1;
    expect(&b, HAC_INVALID, "column number is no valid Arrow array");
    MAKE();
    b.buffers[0][1] = NULL;
    expect(&b, HAC_INVALID, "column number has no values");
    MAKE();
    b.child_schema[0].name = NULL;
    expect(&b, HAC_INVALID, "name has 0 bytes");
    MAKE();
    b.child_schema[0].name = name;
    expect(&b, HAC_INVALID, "name has 128 bytes");
    MAKE();
    b.child_schema[0].format = NULL;
    expect(&b, HAC_UNSUPPORTED, "Arrow format \"\"");
    MAKE();
    b.schema.format = NULL;
    expect(&b, HAC_UNSUPPORTED, "not \"\"");
    MAKE();
    b.child_schema[0].dictionary = &of_values;
    expect(&b, HAC_UNSUPPORTED, "column number has a dictionary of Arrow format \"\"");
    of_values.format = "+l";
    expect(&b, HAC_UNSUPPORTED, "column number has a dictionary of Arrow format \"+l\", a list");
    of_values.format = "u";
    expect(&b, HAC_INVALID, "it has no dictionary");
    b.child_schema[0].format = "g";
    expect(&b, HAC_INVALID, "\"g\", which is no integer");
    MAKE();
    b.child[0].dictionary = &values;
    expect(&b, HAC_INVALID, "its schema has none");
    batch_init(&b, 100, 0);
    add(&b, "text", "u", NULL, data.offsets, NULL);
    expect(&b, HAC_INVALID, "column text has no characters");
}

/* A column of empty strings needs no characters. A column without rows needs no buffers. */
static void test_empty_strings(void **state)
{
    (void)state;
    static const int32_t zeros[11];
    batch b;
    batch_init(&b, 10, 0);
    add(&b, "text", "u", NULL, zeros, NULL);
    assert_round_trip(&b);
    batch_init(&b, 0, 0);
    add(&b, "text", "U", NULL, NULL, NULL);
    add(&b, "number", "l", NULL, NULL, NULL);
    hac_job *job = NULL;
    assert_int_equal(query(&b, &job, NULL), HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    hac_job_free(job);
}

/* Results with any byte damaged. libhac may return an error, and must not read beyond the result. */
static void test_damaged_results(void **state)
{
    (void)state;
    batch b;
    hac_job *job = NULL;
    fill_data();
    batch_init(&b, 60, 0);
    add_all(&b);
    assert_int_equal(query(&b, &job, NULL), HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    size_t bytes = (size_t)hac_job_bytes(job),
           head = sizeof(hac_result_table) + COLUMNS * sizeof(hac_result_column);
    uint8_t *copy = aligned_alloc(64, (bytes + 63) / 64 * 64);
    const uint8_t *good = hac_job_data(job);
    uint32_t random = 1;
    for (int round = 0; round < 20000; round++) {
        memcpy(copy, good, bytes);
        for (int n = 0; n <= round % 3; n++) {
            random = random * 1664525 + 1013904223;
            copy[(random >> 8) % (round % 2 ? head : bytes)] = (uint8_t)(random >> 24);
        }
        job->data = copy;
        job->bytes = round % 5 == 0 ? (random >> 4) % (bytes + 1) : bytes;
        struct ArrowSchema schema;
        struct ArrowArray array;
        if (hac_job_export_arrow(job, &schema, &array, NULL) != HAC_OK)
            continue;
        for (int64_t i = 0; i < array.n_children; i++) {
            const struct ArrowArray *child = array.children[i];
            const char *format = schema.children[i]->format;
            for (int64_t row = 0; row < child->length; row += 13)
                if (strchr("uUzZ", format[0]) != NULL && is_valid(child, row)) {
                    const char *text;
                    int64_t length;
                    text_of(child, format, row, &text, &length);
                    assert_true(length >= 0 && (uint64_t)length <= bytes);
                }
        }
        schema.release(&schema);
        array.release(&array);
    }
    job->data = good;
    job->bytes = bytes;
    hac_job_free(job);
    free(copy);
}

/* The formats of the first column of a result, as the export and the raw export say. */
static void assert_formats(const batch *b, const char *format, const char *raw)
{
    hac_job *job = NULL;
    struct ArrowSchema schema;
    struct ArrowArray array;
    const char *name, *type;
    assert_int_equal(query(b, &job, NULL), HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    assert_int_equal(hac_job_export_arrow(job, &schema, &array, NULL), HAC_OK);
    assert_string_equal(schema.children[0]->format, format);
    for (int64_t row = 0; row < array.length; row++)
        assert_same_value(format, &b->child[0], row, array.children[0], row);
    schema.release(&schema);
    array.release(&array);
    assert_int_equal(hac_job_export_arrow_raw(job, &schema, &array, NULL), HAC_OK);
    assert_string_equal(schema.children[0]->format, raw);
    schema.release(&schema);
    array.release(&array);
    assert_int_equal(hac_job_column(job, 0, &name, &type), 1);
    assert_string_equal(type, strchr("uU", raw[0]) != NULL ? "string" : "bytes");
    hac_job_free(job);
}

/* Texts that are no UTF-8 each, also if all of them together are. */
static void test_not_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *texts;
        int32_t at[4]; /* offsets of three texts */
        bool valid;
    } cases[] = {
        {"K\xc3\xb6lnBonn", {0, 5, 9, 9}, true},
        {"K\xf6lnBonn", {0, 4, 8, 8}, false},
        {"\xc3\xb6\xc3\xb6", {0, 2, 4, 4}, true},
        {"\xc3\xb6\xc3\xb6", {0, 1, 4, 4}, false},
        {"\xc3\xb6\xc3\xb6", {0, 2, 3, 3}, false},
        {"\xff\xfe"
         "ab\xff",
         {2, 3, 4, 4},
         true}, /* bytes of no value */
        {"", {0, 0, 0, 0}, true},
        {"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmn\xff", {0, 30, 60, 67}, false},
        {"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz\xe2\x82\xac"
         "cdefghijklmn",
         {0, 30, 55, 67},
         true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t wide[4];
        batch b;
        for (int j = 0; j < 4; j++)
            wide[j] = cases[i].at[j];
        batch_init(&b, 3, 0);
        add(&b, "text", "u", NULL, cases[i].at, cases[i].texts);
        assert_formats(&b, cases[i].valid ? "u" : "z", "u");
        batch_init(&b, 3, 0);
        add(&b, "text", "U", NULL, wide, cases[i].texts);
        assert_formats(&b, cases[i].valid ? "U" : "Z", "U");
        batch_init(&b, 3, 0);
        add(&b, "text", "z", NULL, cases[i].at, cases[i].texts);
        assert_formats(&b, "z", "z");
    }
}

/* Names that are no UTF-8, or that repeat. */
static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = {"stra\337e", "a", "a", "a_1", "a"};
    static const char *const expected[] = {"stra\357\277\275e", "a", "a_2", "a_1", "a_3"};
    batch b;
    hac_job *job = NULL;
    struct ArrowSchema schema;
    struct ArrowArray array;
    fill_data();
    batch_init(&b, 9, 0);
    for (size_t i = 0; i < 5; i++)
        add(&b, names[i], "l", NULL, data.numbers + i, NULL);
    assert_int_equal(query(&b, &job, NULL), HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    assert_int_equal(hac_job_export_arrow(job, &schema, &array, NULL), HAC_OK);
    assert_int_equal(array.n_children, 5);
    for (size_t i = 0; i < 5; i++) {
        const char *name, *type;
        assert_string_equal(schema.children[i]->name, expected[i]);
        assert_int_equal(hac_job_column(job, i, &name, &type), 1);
        assert_string_equal(name, expected[i]);
        assert_int_equal(((const int64_t *)array.children[i]->buffers[1])[0], data.numbers[i]);
    }
    hac_test_assert_says(hac_job_text(job), "with one that repeats, are called a_2, a_3");
    schema.release(&schema);
    array.release(&array);
    hac_job_free(job);
}

static void test_text_is_no_table(void **state)
{
    (void)state;
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    struct ArrowSchema schema;
    struct ArrowArray array;
    options.input_format = HAC_INPUT_LINES;
    assert_int_equal(hac_query_memory(client, "a\n", 2, &options, &job, NULL), HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    assert_int_equal(hac_job_export_arrow(job, &schema, &array, &err), HAC_UNSUPPORTED);
    hac_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_round_trips),     TEST(test_buffers_at_any_byte),
                                       TEST(test_slices),          TEST(test_children_can_leave),
                                       TEST(test_in_place),        TEST(test_refused),
                                       TEST(test_refused_shapes),  TEST(test_empty_strings),
                                       TEST(test_damaged_results), TEST(test_not_utf8),
                                       TEST(test_names),           TEST(test_text_is_no_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
