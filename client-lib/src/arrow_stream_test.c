/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests streams of record batches, in and out: that everything is released once, whatever fails, and that
 * arrays which lie about themselves are refused. All memory of a batch is malloc'ed, so that AddressSanitizer
 * sees a read beyond it and a second release. tests/integration/arrow_stream_test.py has the types.
 */
#include "fake_daemon.h"
#include "jobs/jobs.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static fake_daemon *the_daemon;
static hac_client *client;

static int start(void **state)
{
    return fake_setup(state, NULL, &the_daemon, &client);
}

static int stop(void **state)
{
    return fake_teardown(state, the_daemon, client);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

/* ---- a producer ---- */

enum { COLUMNS = 4, BATCHES = 8, ROWS = 10, WORDS = 3 };

/* What a stream does, and what happened to it. */
typedef struct producer {
    int batches; /* how many it has */
    int64_t rows[BATCHES];
    int fails_at;    /* the call of get_next that fails; 0: none */
    int schema_code; /* of get_schema */
    const char *error;
    void (*spoil)(struct ArrowSchema *schema);     /* changes the schema; may be NULL */
    void (*spoil_batch)(struct ArrowArray *array); /* changes a batch; may be NULL */
    int calls;
    int made, released; /* schemas, arrays and the stream */
} producer;

static producer *the_producer;

static void release_schema(struct ArrowSchema *schema)
{
    for (int i = 0; i < COLUMNS; i++) {
        free(schema->children[i]->dictionary);
        free(schema->children[i]);
    }
    free(schema->children);
    schema->release = NULL;
    the_producer->released++;
}

static void release_child_schema(struct ArrowSchema *schema)
{
    (void)schema;
    fail(); /* children are released with their parent */
}

static void release_child(struct ArrowArray *array)
{
    (void)array;
    fail();
}

/* Every pointer of an array is its own block of memory, in private_data, so that a test may change the array.
 */
typedef struct blocks {
    void *of[64];
    int n;
} blocks;

static void *block(blocks *own, size_t bytes)
{
    void *new = calloc(1, bytes > 0 ? bytes : 1);
    assert_non_null(new);
    return own->of[own->n++] = new;
}

static void release_array(struct ArrowArray *array)
{
    blocks *own = array->private_data;
    for (int i = 0; i < own->n; i++)
        free(own->of[i]);
    free(own);
    array->release = NULL;
    the_producer->released++;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret)
{
    static const char *const formats[COLUMNS] = {"l", "u", "vu", "c"};
    static const char *const names[COLUMNS] = {"number", "text", "view", "word"};
    (void)stream;
    if (the_producer->schema_code != 0)
        return the_producer->schema_code;
    *ret = (struct ArrowSchema){.format = "+s", .name = "", .n_children = COLUMNS, .release = release_schema};
    ret->children = calloc(COLUMNS, sizeof(struct ArrowSchema *));
    for (int i = 0; i < COLUMNS; i++) {
        ret->children[i] = calloc(1, sizeof(struct ArrowSchema));
        *ret->children[i] =
            (struct ArrowSchema){.format = formats[i], .name = names[i], .release = release_child_schema};
    }
    ret->children[3]->dictionary = calloc(1, sizeof(struct ArrowSchema));
    *ret->children[3]->dictionary =
        (struct ArrowSchema){.format = "u", .name = "", .release = release_child_schema};
    if (the_producer->spoil != NULL)
        the_producer->spoil(ret);
    the_producer->made++;
    return 0;
}

static struct ArrowArray *new_child(blocks *own, int64_t rows, int64_t n_buffers)
{
    struct ArrowArray *child = block(own, sizeof(*child));
    *child = (struct ArrowArray){.length = rows, .n_buffers = n_buffers, .release = release_child};
    child->buffers = block(own, (size_t)n_buffers * sizeof(void *));
    for (int64_t i = 1; i < n_buffers; i++)
        child->buffers[i] = NULL;
    return child;
}

/* "", "a", "bb" … */
static struct ArrowArray *new_texts(blocks *own, int64_t rows)
{
    struct ArrowArray *child = new_child(own, rows, 3);
    int32_t *offsets = block(own, (size_t)(rows + 1) * sizeof(*offsets));
    for (int64_t i = 0; i < rows; i++)
        offsets[i + 1] = offsets[i] + (int32_t)i;
    char *bytes = block(own, (size_t)offsets[rows]);
    for (int64_t i = 0; i < rows; i++)
        memset(bytes + offsets[i], 'a' + (int)i % 26, (size_t)i);
    child->buffers[1] = offsets;
    child->buffers[2] = bytes;
    return child;
}

/* The same texts of up to 12 bytes as views, and longer ones in a buffer. */
static struct ArrowArray *new_views(blocks *own, int64_t rows)
{
    struct ArrowArray *child = new_child(own, rows, 4);
    int32_t *views = block(own, (size_t)rows * 16);
    int64_t *sizes = block(own, sizeof(*sizes));
    char *bytes = block(own, (size_t)(rows * 20));
    for (int64_t i = 0; i < rows; i++) {
        bool is_long = i % 2 != 0;
        views[i * 4] = is_long ? 20 : 3;
        if (is_long)
            views[i * 4 + 3] = (int32_t)(i * 20);
        else
            memcpy(&views[i * 4 + 1], "abc", 3);
        memset(bytes + i * 20, 'A' + (int)i % 26, 20);
    }
    *sizes = rows * 20;
    child->buffers[1] = views;
    child->buffers[2] = bytes;
    child->buffers[3] = sizes;
    return child;
}

static void make_batch(int64_t rows, struct ArrowArray *ret)
{
    blocks *own = calloc(1, sizeof(*own));
    assert_non_null(own);
    *ret = (struct ArrowArray){
        .length = rows, .n_buffers = 1, .n_children = COLUMNS, .release = release_array, .private_data = own};
    ret->buffers = block(own, sizeof(void *));
    ret->children = block(own, COLUMNS * sizeof(struct ArrowArray *));
    ret->children[0] = new_child(own, rows, 2);
    int64_t *numbers = block(own, (size_t)rows * sizeof(*numbers));
    ret->children[0]->buffers[1] = numbers;
    ret->children[1] = new_texts(own, rows);
    ret->children[2] = new_views(own, rows);
    ret->children[3] = new_child(own, rows, 2);
    int8_t *indices = block(own, (size_t)rows);
    ret->children[3]->buffers[1] = indices;
    ret->children[3]->dictionary = new_texts(own, WORDS);
    for (int64_t i = 0; i < rows; i++) {
        numbers[i] = i * 3;
        indices[i] = (int8_t)(i % WORDS);
    }
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *ret)
{
    (void)stream;
    int call = ++the_producer->calls;
    if (call == the_producer->fails_at) {
        memset(ret, 0xff, sizeof(*ret)); /* what a failed call leaves behind is nothing to look at */
        return EIO;
    }
    if (call > the_producer->batches) {
        ret->release = NULL;
        return 0;
    }
    make_batch(the_producer->rows[call - 1], ret);
    if (the_producer->spoil_batch != NULL)
        the_producer->spoil_batch(ret);
    the_producer->made++;
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return the_producer->error;
}

static void release_stream(struct ArrowArrayStream *stream)
{
    free(stream->private_data);
    stream->release = NULL;
    the_producer->released++;
}

static struct ArrowArrayStream new_stream(producer *p)
{
    the_producer = p;
    p->made = 1; /* the stream */
    p->released = p->calls = 0;
    return (struct ArrowArrayStream){.get_schema = get_schema,
                                     .get_next = get_next,
                                     .get_last_error = get_last_error,
                                     .release = release_stream,
                                     .private_data = malloc(1)};
}

static hac_status query(producer *p, hac_job **ret, hac_error *err)
{
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    options.select = "*";
    options.result_format = HAC_RESULT_TABLE;
    struct ArrowArrayStream stream = new_stream(p);
    hac_status status = hac_query_arrow_stream(client, &stream, &options, ret, err);
    assert_null(stream.release);
    assert_int_equal(p->released, p->made);
    return status;
}

/* ---- in ---- */

static void assert_text(const struct ArrowArray *column, int64_t row, char letter, int32_t length)
{
    const int32_t *offsets = column->buffers[1];
    const char *text = (const char *)column->buffers[2] + offsets[row];
    assert_int_equal(offsets[row + 1] - offsets[row], length);
    for (int32_t i = 0; i < length; i++)
        assert_int_equal(text[i], letter);
}

static void assert_batch(const struct ArrowArray *array, int64_t at, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++) {
        assert_int_equal(((const int64_t *)array->children[0]->buffers[1])[at + i], i * 3);
        assert_text(array->children[1], at + i, (char)('a' + i), (int32_t)i);
        if (i % 2 != 0)
            assert_text(array->children[2], at + i, (char)('A' + i), 20);
        assert_text(array->children[3], at + i, (char)('a' + i % WORDS), (int32_t)(i % WORDS));
    }
}

/* Any number of batches becomes one table; those without rows leave no trace. */
static void test_batches(void **state)
{
    (void)state;
    for (int n = 0; n <= BATCHES; n++) {
        producer p = {.batches = n};
        int64_t rows = 0, at = 0;
        for (int i = 0; i < n; i++)
            rows += p.rows[i] = (i * 7 + n) % ROWS;
        hac_job *job = NULL;
        hac_error err = HAC_ERROR_NONE;
        struct ArrowSchema schema;
        struct ArrowArray array;
        if (query(&p, &job, &err) != HAC_OK)
            fail_msg("%s", err.message);
        assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
        assert_int_equal(hac_job_export_arrow(job, &schema, &array, NULL), HAC_OK);
        hac_job_free(job);
        assert_int_equal(array.length, rows);
        for (int i = 0; i < n; at += p.rows[i++])
            assert_batch(&array, at, p.rows[i]);
        schema.release(&schema);
        array.release(&array);
    }
}

static void expect(producer *p, hac_status status, const char *words)
{
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    assert_int_equal(query(p, &job, &err), status);
    assert_null(job);
    hac_test_assert_says(err.message, words);
}

/* Errors of the stream. What it has given before is released. */
static void test_failing_streams(void **state)
{
    (void)state;
    producer p = {.schema_code = EINVAL, .error = "no schema today"};
    expect(&p, HAC_FAILED, "the Arrow stream cannot be read: no schema today");
    p = (producer){.schema_code = ENOMEM};
    expect(&p, HAC_NO_MEMORY, "the Arrow stream cannot be read");
    p = (producer){.schema_code = ECANCELED, .error = ""};
    expect(&p, HAC_CANCELLED, "the Arrow stream cannot be read: Operation canceled");
    p = (producer){.schema_code = EINVAL, .error = "\nno schema today\n  at line 3\n"};
    expect(&p, HAC_FAILED, "the Arrow stream cannot be read: no schema today: ");
    for (int at = 1; at <= 4; at++) {
        p = (producer){.batches = 3, .rows = {5, 0, 9}, .fails_at = at, .error = "the cable is cut"};
        expect(&p, HAC_FAILED, "the cable is cut");
    }
}

/* The stream is released also if the caller's options are wrong, or the query. */
static void test_wrong_queries(void **state)
{
    (void)state;
    producer p = {.batches = 1, .rows = {3}};
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    hac_job *job = NULL;
    options.size = 3;
    struct ArrowArrayStream stream = new_stream(&p);
    assert_int_equal(hac_query_arrow_stream(client, &stream, &options, &job, NULL), HAC_INVALID);
    assert_null(stream.release);
    assert_int_equal(p.released, p.made);
    options.size = sizeof(options);
    options.select = "nowhere + 1";
    stream = new_stream(&p);
    assert_int_equal(hac_query_arrow_stream(client, &stream, &options, &job, NULL), HAC_INVALID);
    assert_int_equal(p.released, p.made);
    assert_int_equal(hac_query_arrow_stream(client, &stream, &options, &job, NULL),
                     HAC_INVALID); /* released */
    assert_int_equal(hac_query_arrow_stream(client, NULL, &options, &job, NULL), HAC_INVALID);
    stream = new_stream(&p);
    stream.get_next = NULL;
    assert_int_equal(hac_query_arrow_stream(client, &stream, &options, &job, NULL), HAC_INVALID);
    assert_int_equal(p.released, p.made);
    options.select = "*";
    options.job.memory_limit = 10;
    stream = new_stream(&p);
    assert_int_equal(hac_query_arrow_stream(client, &stream, &options, &job, NULL), HAC_REFUSED);
    assert_int_equal(p.released, p.made);
    assert_null(job);
}

/* ---- hostile arrays ---- */

static void one_child_less(struct ArrowArray *array)
{
    array->n_children = COLUMNS - 1;
}
static void no_children(struct ArrowArray *array)
{
    array->children = NULL;
}
static void no_child(struct ArrowArray *array)
{
    array->children[2] = NULL;
}
static void negative_length(struct ArrowArray *array)
{
    array->length = -5;
}
static void negative_offset(struct ArrowArray *array)
{
    array->children[0]->offset = -1;
}
static void huge_offset(struct ArrowArray *array)
{
    array->children[0]->offset = INT64_MAX;
}
static void short_child(struct ArrowArray *array)
{
    array->children[1]->length--;
}
static void no_buffers(struct ArrowArray *array)
{
    array->children[0]->buffers = NULL;
}
static void no_values(struct ArrowArray *array)
{
    array->children[2]->buffers[1] = NULL;
}
static void no_characters(struct ArrowArray *array)
{
    array->children[1]->buffers[2] = NULL;
}
static void few_buffers(struct ArrowArray *array)
{
    array->children[2]->n_buffers = 2;
}
static void nulls_nowhere(struct ArrowArray *array)
{
    array->children[3]->null_count = 1;
}
static void no_sizes(struct ArrowArray *array)
{
    array->children[2]->buffers[3] = NULL;
}
static void no_dictionary(struct ArrowArray *array)
{
    array->children[3]->dictionary = NULL;
}
static void short_dictionary(struct ArrowArray *array)
{
    array->children[3]->dictionary->length = 2;
}
static void negative_dictionary(struct ArrowArray *array)
{
    array->children[3]->dictionary->length = -1;
}
static void negative_index(struct ArrowArray *array)
{
    ((int8_t *)(uintptr_t)array->children[3]->buffers[1])[4] = -1;
}
/* The only value that is used has characters, of which the array has none. */
static void dictionary_goes_back(struct ArrowArray *array)
{
    struct ArrowArray *dictionary = array->children[3]->dictionary;
    int32_t *offsets = (int32_t *)(uintptr_t)dictionary->buffers[1];
    memset((void *)(uintptr_t)array->children[3]->buffers[1], 1, ROWS);
    offsets[0] = offsets[2] = offsets[WORDS] = 5;
    offsets[1] = 3;
    dictionary->buffers[2] = NULL;
}
static void offsets_go_back(struct ArrowArray *array)
{
    ((int32_t *)(uintptr_t)array->children[1]->buffers[1])[4] = 1;
}
static void offset_beyond(struct ArrowArray *array)
{
    ((int32_t *)(uintptr_t)array->children[1]->buffers[1])[4] = INT32_MAX;
}
static void negative_end(struct ArrowArray *array)
{
    ((int32_t *)(uintptr_t)array->children[1]->buffers[1])[ROWS] = INT32_MIN;
}
static void word_goes_back(struct ArrowArray *array)
{
    ((int32_t *)(uintptr_t)array->children[3]->dictionary->buffers[1])[2] = 77;
}
static int32_t *view_of(struct ArrowArray *array)
{
    return (int32_t *)(uintptr_t)array->children[2]->buffers[1] + 4; /* of row 1, which is long */
}
static void negative_view(struct ArrowArray *array)
{
    view_of(array)[0] = -1;
}
static void long_view(struct ArrowArray *array)
{
    view_of(array)[0] = INT32_MAX;
}
static void view_elsewhere(struct ArrowArray *array)
{
    view_of(array)[2] = 1; /* there is only buffer 0 */
}
static void view_before(struct ArrowArray *array)
{
    view_of(array)[3] = -1;
}
static void view_behind(struct ArrowArray *array)
{
    view_of(array)[3] = ROWS * 20 - 19;
}
static void view_of_nothing(struct ArrowArray *array)
{
    array->children[2]->buffers[2] = NULL;
}
static void null_rows(struct ArrowArray *array)
{
    array->null_count = 1;
}

static void (*the_spoil)(struct ArrowArray *array);

static void spoil_second(struct ArrowArray *array)
{
    if (the_producer->calls == 2)
        the_spoil(array);
}

static void test_hostile_batches(void **state)
{
    (void)state;
    static const struct {
        void (*spoil)(struct ArrowArray *array);
        hac_status status;
        const char *words;
    } cases[] = {
        {one_child_less, HAC_INVALID, "no valid Arrow array"},
        {no_children, HAC_INVALID, "no valid Arrow array"},
        {no_child, HAC_INVALID, "column view is no valid Arrow array"},
        {negative_length, HAC_INVALID, "no valid Arrow array"},
        {negative_offset, HAC_INVALID, "column number is no valid Arrow array"},
        {huge_offset, HAC_INVALID, "column number is no valid Arrow array"},
        {short_child, HAC_INVALID, "column text is no valid Arrow array"},
        {no_buffers, HAC_INVALID, "column number is no valid Arrow array"},
        {no_values, HAC_INVALID, "column view has no values"},
        {no_characters, HAC_INVALID, "column text has no characters"},
        {few_buffers, HAC_INVALID, "column view is no valid Arrow array"},
        {nulls_nowhere, HAC_INVALID, "column word has nulls, but does not say where"},
        {no_sizes, HAC_INVALID, "column view does not say how long its 1 buffers are"},
        {no_dictionary, HAC_INVALID, "it has no dictionary"},
        {short_dictionary, HAC_INVALID, "column word, row 13: the index is outside"},
        {negative_dictionary, HAC_INVALID, "column word is no valid Arrow array"},
        {dictionary_goes_back, HAC_INVALID, "column word, row 11: the text lies outside"},
        {negative_index, HAC_INVALID, "column word, row 15: the index is outside"},
        {offsets_go_back, HAC_INVALID, "column text, row 15: the text lies outside"},
        {offset_beyond, HAC_INVALID, "column text, row 15: the text lies outside"},
        {negative_end, HAC_INVALID, "column text, row"},
        {word_goes_back, HAC_INVALID, "column word, row 12: the text lies outside"},
        {negative_view, HAC_INVALID, "column view, row 12: the text lies outside"},
        {long_view, HAC_INVALID, "column view, row 12: the text lies outside"},
        {view_elsewhere, HAC_INVALID, "column view, row 12: the text lies outside"},
        {view_before, HAC_INVALID, "column view, row 12: the text lies outside"},
        {view_behind, HAC_INVALID, "column view, row 12: the text lies outside"},
        {view_of_nothing, HAC_INVALID, "column view, row 12: the text lies outside"},
        {null_rows, HAC_UNSUPPORTED, "whole rows are null"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        producer p = {.batches = 2, .rows = {ROWS, ROWS}};
        the_spoil = cases[i].spoil;
        p.spoil_batch = spoil_second;
        expect(&p, cases[i].status, cases[i].words);
    }
}

static void no_format(struct ArrowSchema *schema)
{
    schema->format = NULL;
}
static void no_struct(struct ArrowSchema *schema)
{
    schema->format = "l";
}
static void many_children(struct ArrowSchema *schema)
{
    schema->n_children = INT64_MAX;
}
static void fewer_than_none(struct ArrowSchema *schema)
{
    schema->n_children = -1;
}
static void child_is_list(struct ArrowSchema *schema)
{
    schema->children[1]->format = "+l";
}
static void child_has_no_name(struct ArrowSchema *schema)
{
    schema->children[1]->name = NULL;
}
static void child_left(struct ArrowSchema *schema)
{
    schema->children[1]->release = NULL;
}
static void index_is_text(struct ArrowSchema *schema)
{
    schema->children[3]->format = "u";
}

static void test_hostile_schemas(void **state)
{
    (void)state;
    static const struct {
        void (*spoil)(struct ArrowSchema *schema);
        hac_status status;
        const char *words;
    } cases[] = {{no_format, HAC_UNSUPPORTED, "format \"+s\", not \"\""},
                 {no_struct, HAC_UNSUPPORTED, "format \"+s\", not \"l\""},
                 {many_children, HAC_INVALID, "columns are too many"},
                 {fewer_than_none, HAC_INVALID, "no valid Arrow array"},
                 {child_is_list, HAC_UNSUPPORTED, "column text has Arrow format \"+l\", a list"},
                 {child_has_no_name, HAC_INVALID, "name has 0 bytes"},
                 {child_left, HAC_INVALID, "the schema of column 2 has been released"},
                 {index_is_text, HAC_INVALID, "which is no integer"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        producer p = {.batches = 1, .rows = {4}, .spoil = cases[i].spoil};
        expect(&p, cases[i].status, cases[i].words);
    }
}

/* ---- in place ---- */

static hac_buffer *pool;
static int pool_released;

static void release_pool(struct ArrowArray *array)
{
    hac_buffer_free(pool);
    free(array->private_data);
    array->release = NULL;
    pool_released++;
}

typedef struct pool_batch {
    struct ArrowSchema child_schema, *schema_at[1];
    struct ArrowArray child, *child_at[1];
    const void *buffers[2], *top[1];
    int given;
} pool_batch;

static void keep_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static int pool_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret)
{
    pool_batch *b = stream->private_data;
    b->child_schema = (struct ArrowSchema){.format = "l", .name = "x", .release = release_child_schema};
    b->schema_at[0] = &b->child_schema;
    *ret = (struct ArrowSchema){
        .format = "+s", .name = "", .n_children = 1, .children = b->schema_at, .release = keep_schema};
    return 0;
}

static int pool_next(struct ArrowArrayStream *stream, struct ArrowArray *ret)
{
    pool_batch *b = stream->private_data;
    *ret = (struct ArrowArray){0};
    if (b->given++ > 0)
        return 0;
    b->buffers[1] = hac_buffer_data(pool);
    b->child =
        (struct ArrowArray){.length = 100, .n_buffers = 2, .buffers = b->buffers, .release = release_child};
    b->child_at[0] = &b->child;
    *ret = (struct ArrowArray){.length = 100,
                               .n_buffers = 1,
                               .buffers = b->top,
                               .n_children = 1,
                               .children = b->child_at,
                               .release = release_pool,
                               .private_data = b};
    return 0;
}

static void pool_release(struct ArrowArrayStream *stream)
{
    stream->release = NULL; /* the batch has the memory */
}

/* A batch in pool memory is not copied; it is released when the job has ended, not before. */
static void test_in_place(void **state)
{
    (void)state;
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    hac_job *job = NULL;
    options.select = "*";
    options.result_format = HAC_RESULT_TABLE;
    pool_released = 0;
    assert_int_equal(hac_buffer_alloc(client, 4096, &pool, NULL), HAC_OK);
    int64_t *values = hac_buffer_data(pool);
    for (int i = 0; i < 100; i++)
        values[i] = i;
    struct ArrowArrayStream stream = {.get_schema = pool_schema,
                                      .get_next = pool_next,
                                      .get_last_error = get_last_error,
                                      .release = pool_release,
                                      .private_data = calloc(1, sizeof(pool_batch))};
    unsigned before = fake_count(the_daemon, HAC__CLIENT__REQUEST__WHAT_BUFFER_ALLOC);
    assert_int_equal(hac_query_arrow_stream(client, &stream, &options, &job, NULL), HAC_OK);
    assert_int_equal(fake_count(the_daemon, HAC__CLIENT__REQUEST__WHAT_BUFFER_ALLOC), before);
    assert_int_equal(pool_released, 0);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    assert_int_equal(pool_released, 1);
    hac_job_free(job);
    assert_int_equal(pool_released, 1);
}

/* ---- out ---- */

static hac_job *query_once(int64_t rows)
{
    producer p = {.batches = 1, .rows = {rows}};
    hac_job *job = NULL;
    assert_int_equal(query(&p, &job, NULL), HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    return job;
}

/* The schema can be had any number of times, also when the batch has been taken; the batch once, and it has
 * the job's own memory. It lives longer than the stream, which lives longer than the job. */
static void test_results(void **state)
{
    (void)state;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray array, none;
    hac_job *job = query_once(9);
    const uint8_t *data = hac_job_data(job);
    uint64_t bytes = hac_job_bytes(job);
    assert_int_equal(hac_job_export_arrow_stream(job, &stream, NULL), HAC_OK);
    hac_job_free(job);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(stream.get_schema(&stream, &schema), 0);
        assert_string_equal(schema.format, "+s");
        assert_int_equal(schema.n_children, COLUMNS);
        assert_string_equal(schema.children[1]->name, "text");
        assert_string_equal(schema.children[1]->format, "u");
        if (i == 1)
            assert_int_equal(stream.get_next(&stream, &array), 0);
        struct ArrowSchema left = *schema.children[0];
        schema.children[0]->release = NULL;
        schema.release(&schema);
        assert_null(schema.release);
        assert_string_equal(left.name, "number");
        left.release(&left);
    }
    assert_int_equal(stream.get_next(&stream, &none), 0);
    assert_null(none.release);
    assert_null(stream.get_last_error(&stream));
    stream.release(&stream);
    assert_null(stream.release);
    const uint8_t *values = array.children[0]->buffers[1];
    assert_true(values >= data && values < data + bytes);
    assert_batch(&array, 0, 9);
    array.release(&array);
}

/* A stream that nobody reads is released whole. One of an unfinished job, or of text, is refused. */
static void test_unread_results(void **state)
{
    (void)state;
    struct ArrowArrayStream stream;
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = query_once(5);
    assert_int_equal(hac_job_export_arrow_stream(job, &stream, NULL), HAC_OK);
    stream.release(&stream);
    hac_job_free(job);
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    options.input_format = HAC_INPUT_LINES;
    assert_int_equal(hac_query_memory(client, "a\n", 2, &options, &job, NULL), HAC_OK);
    assert_int_equal(hac_job_export_arrow_stream(job, &stream, &err), HAC_INVALID);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    assert_int_equal(hac_job_export_arrow_stream(job, &stream, &err), HAC_UNSUPPORTED);
    hac_job_free(job);
}

static void *release_in_thread(void *array)
{
    struct ArrowArray *released = array;
    released->release(released);
    return NULL;
}

/* Other threads release results while this one uses the client. */
static void test_released_by_threads(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    for (int round = 0; round < 20; round++) {
        struct ArrowSchema schema;
        struct ArrowArray arrays[THREADS];
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++) {
            hac_job *job = query_once(i);
            assert_int_equal(hac_job_export_arrow(job, &schema, &arrays[i], NULL), HAC_OK);
            schema.release(&schema);
            hac_job_free(job);
        }
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, release_in_thread, &arrays[i]), 0);
        hac_job_free(query_once(3));
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(hac_client_dispatch(client, NULL), HAC_OK);
    assert_true(TAILQ_EMPTY(&client->mappings.used));
}

/* Columns that are exported outlive the client: the connection ends with the last of them. */
static void test_outlive_the_client(void **state)
{
    (void)state;
    hac_client *first = client;
    struct ArrowArrayStream stream, unread;
    struct ArrowArray array;
    size_t before = hac_test_open_descriptors();
    client = fake_connect(the_daemon);
    hac_job *job = query_once(9);
    assert_int_equal(hac_job_export_arrow_stream(job, &stream, NULL), HAC_OK);
    assert_int_equal(hac_job_export_arrow_stream(job, &unread, NULL), HAC_OK);
    hac_job_free(job);
    hac_client_free(client);
    client = first;
    assert_true(hac_test_open_descriptors() > before); /* hacd does not take the memory back yet */
    unread.release(&unread);
    assert_int_equal(stream.get_next(&stream, &array), 0);
    stream.release(&stream);
    hac_job_free(query_once(7));
    assert_batch(&array, 0, 9);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, release_in_thread, &array), 0);
    assert_int_equal(pthread_join(thread, NULL), 0); /* teardown looks for an open socket */
}

/* Sorted keys, indices, and keys with payloads. */
static void test_sorted(void **state)
{
    (void)state;
    static const uint32_t keys[] = {3, 1, 2};
    for (int argsort = 0; argsort < 2; argsort++) {
        hac_sort_options options = HAC_SORT_OPTIONS_INIT;
        struct ArrowArrayStream stream;
        struct ArrowSchema schema;
        struct ArrowArray array;
        hac_job *job = NULL;
        options.type = HAC_TYPE_U32;
        options.argsort = argsort;
        assert_int_equal(hac_sort_memory(client, keys, 3, &options, &job, NULL), HAC_OK);
        assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
        assert_int_equal(hac_job_export_arrow_stream(job, &stream, NULL), HAC_OK);
        hac_job_free(job);
        assert_int_equal(stream.get_schema(&stream, &schema), 0);
        assert_int_equal(stream.get_next(&stream, &array), 0);
        stream.release(&stream);
        assert_int_equal(schema.n_children, 1);
        assert_string_equal(schema.children[0]->name, argsort ? "index" : "key");
        assert_string_equal(schema.children[0]->format, "I");
        assert_int_equal(array.length, 3);
        assert_int_equal(array.n_children, 1);
        struct ArrowArray column = *array.children[0]; /* a column that leaves lives on */
        array.children[0]->release = NULL;
        array.release(&array);
        schema.release(&schema);
        const uint32_t *values = column.buffers[1];
        assert_int_equal(values[0], argsort ? 0 : 1); /* the fake daemon does not sort indices */
        column.release(&column);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_batches),
                                       TEST(test_failing_streams),
                                       TEST(test_wrong_queries),
                                       TEST(test_hostile_batches),
                                       TEST(test_hostile_schemas),
                                       TEST(test_in_place),
                                       TEST(test_results),
                                       TEST(test_unread_results),
                                       TEST(test_sorted),
                                       TEST(test_released_by_threads),
                                       TEST(test_outlive_the_client)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
