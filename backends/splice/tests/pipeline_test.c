/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline: its output compared with the source read chunk by chunk, for all sizes and threads; who waits
 * for whom; errors, and early ends. */
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/random.h"
#include "base/text.h"
#include "query/codelets.h"
#include "splice/pipeline.h"

/* cmocka.h comes last */
#include "base/test_support.h"

static uint64_t random_state = 521288629u;

static uint64_t dice(uint64_t sides)
{
    return hac_random_u64(&random_state) % sides;
}

/* ---- a task over a text ---- */

typedef struct trial {
    hac_query_task task;
    char *text;
} trial;

/* Lines of a k:u16, an s:string and an f:f64, some null. `bad`: number of a line that cannot be read. */
static char *text_of(uint64_t lines, uint64_t bad)
{
    hac_error err = HAC_ERROR_NONE;
    hac_text out = HAC_TEXT_NONE;
    char *ret;
    for (uint64_t i = 0; i < lines; i++) {
        hac_text_addf(&out, "%s%d,", i == bad ? "x" : "", (int)dice(60000));
        hac_text_addf(&out, dice(7) ? "word %d," : ",", (int)dice(1000));
        hac_text_addf(&out, dice(5) ? "%.3f\n" : "\n", (double)dice(100000) / 7);
    }
    assert_int_equal(hac_text_finish(&out, &ret, NULL, &err), HAC_OK);
    hac_text_clear(&out);
    return ret;
}

static trial *trial_new(uint64_t lines, uint64_t chunk, uint64_t bad, bool skip_errors)
{
    hac_error err = HAC_ERROR_NONE;
    trial *t = calloc(1, sizeof *t);
    assert_non_null(t);
    hac_query_text query = {
        .schema = "k:u16,s:string,f:f64",
        .select = "sum(k) as a, count(s) as b, sum(f) as c",
        .limit = UINT64_MAX,
        .source = {.format = HAC_INPUT_CSV, .options = {.no_header = 1, .skip_errors = skip_errors}}};
    if (hac_query_compile(&query, NULL, &t->task.query, &err) != HAC_OK)
        fail_msg("%s", err.message);
    t->text = text_of(lines, bad);
    t->task.source_bytes = strlen(t->text);
    t->task.place = (hac_source_place){.fd = -1, .memory = (uint8_t *)t->text, .bytes = t->task.source_bytes};
    t->task.chunk_bytes = chunk;
    t->task.chunks = (t->task.source_bytes + chunk - 1) / chunk;
    return t;
}

static void trial_free(trial *t)
{
    hac_query_free(t->task.query);
    free(t->text);
    free(t);
}

/* ---- rows as text ---- */

static void add_value(hac_text *out, const hac_table_column *column, const uint8_t *memory, uint64_t row)
{
    const uint8_t *bytes;
    uint64_t n, word = 0;
    if (column->validity != HAC_TABLE_NONE && !(memory[column->validity + row / 8] >> row % 8 & 1)) {
        hac_text_add(out, "null|");
    } else if (column->type.kind == HAC_KIND_STRING) {
        assert_true(hac_table_string(column, memory, row, &bytes, &n));
        hac_text_add_bytes(out, (const char *)bytes, n);
        hac_text_add(out, "|");
    } else {
        memcpy(&word, memory + column->values + row * hac_value_size(column->type),
               hac_value_size(column->type));
        hac_text_addf(out, "%llx|", (unsigned long long)word);
    }
}

static void add_buffer(hac_text *out, const hac_working_buffer *w)
{
    for (size_t b = 0; b < w->n_blocks; b++) {
        hac_text_addf(out, "chunk %d, skipped %d\n", (int)(w->first_chunk + b), (int)w->blocks[b].skipped);
        for (uint64_t r = 0; r < w->blocks[b].records; r++) {
            for (size_t c = 0; c < w->schema->n_fields; c++)
                add_value(out, &hac_working_buffer_columns(w, b)[c], w->memory, r);
            hac_text_add(out, "\n");
        }
    }
}

static void add_batch(hac_text *out, const hac_batch *batch)
{
    for (size_t r = 0; r < batch->rows; r++) {
        for (size_t c = 0; c < batch->n_columns; c++) {
            const hac_column *v = &batch->columns[c];
            uint64_t word = 0;
            memcpy(&word, (const uint8_t *)v->values + r * 8, 8);
            if (v->states != NULL && v->states[r] != HAC_ROW_OK)
                hac_text_add(out, "null|");
            else if (v->type.kind == HAC_KIND_STRING)
                hac_text_addf(out, "%.*s|", (int)(word >> 32), (const char *)v->bytes + (uint32_t)word);
            else
                hac_text_addf(out, "%llx|", (unsigned long long)word);
        }
        hac_text_add(out, "\n");
    }
}

/* Reads one chunk with the source itself. */
static void add_chunk(hac_text *out, const hac_query_task *task, uint64_t chunk)
{
    hac_error err = HAC_ERROR_NONE;
    hac_text rows = HAC_TEXT_NONE;
    hac_source *source;
    hac_batch batch;
    uint64_t first, end;
    hac_query_task_chunk(task, chunk, &first, &end);
    assert_int_equal(hac_source_open(task->query, &task->place, NULL, &source, &err), HAC_OK);
    assert_int_equal(hac_source_begin(source, first, end, false, &err), HAC_OK);
    while (hac_source_next(source, &batch, &err) == HAC_OK)
        add_batch(&rows, &batch);
    hac_text_addf(out, "chunk %d, skipped %d\n", (int)chunk, (int)hac_source_skipped(source));
    hac_autofree char *text = NULL;
    assert_int_equal(hac_text_finish(&rows, &text, NULL, &err), HAC_OK);
    hac_text_add(out, text);
    hac_text_clear(&rows);
    hac_source_free(source);
}

static char *finished(hac_text *out)
{
    hac_error err = HAC_ERROR_NONE;
    char *ret;
    assert_int_equal(hac_text_finish(out, &ret, NULL, &err), HAC_OK);
    hac_text_clear(out);
    return ret;
}

static char *by_source(const hac_query_task *task, uint64_t first, uint64_t n)
{
    hac_text out = HAC_TEXT_NONE;
    for (uint64_t c = first; c < first + n; c++)
        add_chunk(&out, task, c);
    return finished(&out);
}

/* Data sets that are too large are read with the source. Compares the counters with the output. */
static char *by_pipeline(const hac_pipeline_options *options, uint64_t *ret_too_large)
{
    hac_error err = HAC_ERROR_NONE;
    hac_text out = HAC_TEXT_NONE;
    hac_pipeline *pipeline;
    hac_pipeline_work work;
    hac_source_counters reading = {0};
    hac_splice_counters counters = {0};
    hac_status status;
    uint64_t next = options->first, buffers = 0, blocks = 0, records = 0, fill = 0;
    assert_int_equal(hac_pipeline_new(options, &pipeline, &err), HAC_OK);
    *ret_too_large = 0;
    while ((status = hac_pipeline_next(pipeline, &work, &err)) == HAC_OK) {
        assert_int_equal(work.chunk, next);
        if (work.buffer == NULL) {
            add_chunk(&out, options->task, next++);
            (*ret_too_large)++;
            continue;
        }
        assert_true(work.buffer->n_blocks >= 1 && work.buffer->n_blocks <= options->blocks);
        if (options->other_order)
            hac_working_buffer_turn(work.buffer);
        add_buffer(&out, work.buffer);
        next += work.buffer->n_blocks;
        buffers++;
        blocks += work.buffer->n_blocks;
        records += work.buffer->records;
        fill = work.buffer->bytes > fill ? work.buffer->bytes : fill;
        memset(work.buffer->memory, 0x55, work.buffer->bytes); /* it is not read any more */
    }
    assert_int_equal(status, HAC_NOT_FOUND);
    assert_int_equal(next, options->first + options->n);
    hac_pipeline_count(pipeline, &reading, &counters);
    const uint64_t *v = counters.values;
    assert_int_equal(v[HAC_SPLICE_SETS], blocks);
    assert_int_equal(v[HAC_SPLICE_BLOCKS], blocks);
    assert_int_equal(v[HAC_SPLICE_SPLICED], blocks);
    assert_int_equal(v[HAC_SPLICE_SPLICED_RECORDS], records);
    assert_int_equal(v[HAC_SPLICE_TRIGGERS], buffers);
    assert_true(v[HAC_SPLICE_PAUSES] <= v[HAC_SPLICE_TRIGGERS]);
    assert_true(v[HAC_SPLICE_PAUSES] + *ret_too_large + 1 >= v[HAC_SPLICE_TRIGGERS]);
    assert_int_equal(v[HAC_SPLICE_FILL], fill);
    assert_true(v[HAC_SPLICE_FILL] <= v[HAC_SPLICE_CAPACITY]);
    assert_true(options->ring == 0 || v[HAC_SPLICE_BLOCKS_MAX] <= options->ring);
    for (int i = 0; i < HAC_STAGE_MAP; i++)
        assert_true(counters.stages[i].first <= counters.stages[i].last);
    assert_true(counters.stages[HAC_STAGE_PREPROCESS].busy > 0);
    hac_pipeline_free(pipeline);
    return finished(&out);
}

/* ---- tests ---- */

static void test_rows(void **state)
{
    (void)state;
    static const uint64_t bytes[] = {0, 1 << 20, 30000, 9000, 5000};
    uint64_t too_large = 0, all_too_large = 0;
    for (int i = 0; i < 60; i++) {
        trial *t = trial_new(1 + dice(4000), 1000 + dice(9000), UINT64_MAX, false);
        uint64_t first = dice(t->task.chunks);
        hac_pipeline_options options = {.task = &t->task,
                                        .first = first,
                                        .n = 1 + dice(t->task.chunks - first),
                                        .blocks = 1 + dice(7),
                                        .bytes = bytes[dice(5)],
                                        .other_order = dice(3) == 0,
                                        .ring = (unsigned)dice(5),
                                        .alone = dice(4) == 0};
        hac_autofree char *expected = by_source(&t->task, options.first, options.n);
        hac_autofree char *got = by_pipeline(&options, &too_large);
        assert_string_equal(got, expected);
        all_too_large += too_large;
        trial_free(t);
    }
    assert_true(all_too_large > 0);
}

static void test_skipped(void **state)
{
    (void)state;
    trial *t = trial_new(3000, 4096, 1500, true);
    uint64_t too_large;
    hac_pipeline_options options = {.task = &t->task, .n = t->task.chunks, .blocks = 3};
    hac_autofree char *expected = by_source(&t->task, 0, t->task.chunks);
    hac_autofree char *got = by_pipeline(&options, &too_large);
    assert_non_null(strstr(expected, "skipped 1\n"));
    assert_string_equal(got, expected);
    options.blocks = 0;
    hac_pipeline *none;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_pipeline_new(&options, &none, &err), HAC_INVALID);
    trial_free(t);
}

/* All data sets before the one in error are returned, then the message; of two errors, that of the lower
 * one. */
static void test_error(void **state)
{
    (void)state;
    for (int alone = 0; alone < 2; alone++) {
        trial *t = trial_new(5000, 2000, 3000, false);
        char *second = t->text + strlen(t->text) - 400; /* another one, later */
        second[strcspn(second, "\n") + 1] = 'y';
        hac_error err = HAC_ERROR_NONE;
        hac_pipeline_options options = {
            .task = &t->task, .n = t->task.chunks, .blocks = 2, .alone = alone != 0};
        hac_pipeline *pipeline;
        hac_pipeline_work work;
        hac_status status;
        uint64_t rows = 0;
        assert_int_equal(hac_pipeline_new(&options, &pipeline, &err), HAC_OK);
        while ((status = hac_pipeline_next(pipeline, &work, &err)) == HAC_OK)
            rows += work.buffer->records;
        assert_int_equal(status, HAC_FAILED);
        assert_non_null(strstr(err.message, "line 3001, column k"));
        assert_true(rows <= 3000 && rows > 2800);
        assert_int_equal(hac_pipeline_next(pipeline, &work, &err), HAC_FAILED); /* it stays like this */
        hac_pipeline_free(pipeline);
        trial_free(t);
    }
}

/* Freed at any time: no thread hangs, no memory is lost. */
static void test_freed(void **state)
{
    (void)state;
    trial *t = trial_new(6000, 1500, UINT64_MAX, false);
    for (int i = 0; i < 60; i++) {
        hac_error err = HAC_ERROR_NONE;
        hac_pipeline_options options = {.task = &t->task,
                                        .n = t->task.chunks,
                                        .blocks = 1 + dice(4),
                                        .bytes = dice(2) ? 0 : 3000,
                                        .ring = (unsigned)dice(4)};
        hac_pipeline *pipeline;
        hac_pipeline_work work;
        assert_int_equal(hac_pipeline_new(&options, &pipeline, &err), HAC_OK);
        for (uint64_t n = dice(10); n > 0; n--)
            assert_int_equal(hac_pipeline_next(pipeline, &work, &err), HAC_OK);
        if (dice(2))
            usleep((useconds_t)dice(2000));
        hac_pipeline_free(pipeline);
    }
    trial_free(t);
}

static atomic_uint_fast64_t begun;

static void count_begun(void *context, uint64_t chunk)
{
    (void)chunk;
    atomic_fetch_add(&begun, 1);
    if (context != NULL)
        usleep(*(useconds_t *)context);
}

/* Waits until readers have stopped after `min` data sets, or have begun more than `max`. On a busy machine
 * they may pause earlier. */
static uint64_t settled(uint64_t min, uint64_t max)
{
    uint64_t before = 0, same = 0;
    for (int looks = 0; looks < 6000 && (same < 20 || before < min) && before <= max; looks++) {
        usleep(5000);
        uint64_t now = atomic_load(&begun);
        same = now == before ? same + 1 : 0;
        before = now;
    }
    return before;
}

/* The device is slow: readers wait, with the ring full and both WorkingBuffers. */
static void test_slow_device(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    trial *t = trial_new(8000, 1000, UINT64_MAX, false);
    hac_pipeline_options options = {
        .task = &t->task, .n = t->task.chunks, .blocks = 2, .ring = 3, .begins = count_begun};
    hac_pipeline *pipeline;
    hac_pipeline_work work;
    assert_true(t->task.chunks > 60);
    atomic_store(&begun, 0);
    assert_int_equal(hac_pipeline_new(&options, &pipeline, &err), HAC_OK);
    /* two buffers of two blocks, and a ring of three blocks; nothing is at the device */
    assert_int_equal(settled(7, 7), 7);
    assert_int_equal(hac_pipeline_next(pipeline, &work, &err), HAC_OK);
    assert_int_equal(settled(7, 7), 7); /* the device works: its buffer is not free */
    assert_int_equal(hac_pipeline_next(pipeline, &work, &err), HAC_OK);
    assert_int_equal(settled(9, 9), 9); /* one buffer more */
    while (hac_pipeline_next(pipeline, &work, &err) == HAC_OK)
        usleep(100);
    assert_int_equal(atomic_load(&begun), t->task.chunks);
    hac_pipeline_free(pipeline);
    trial_free(t);
}

/* The bytes of the ring are limited, too; the data set whose turn it is always continues. */
static void test_bytes_bounded(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    trial *t = trial_new(40000, 40000, UINT64_MAX, false);
    uint64_t too_large;
    hac_pipeline_options options = {
        .task = &t->task, .n = t->task.chunks, .blocks = 100, .bytes = 60000, .ring = 20};
    hac_autofree char *expected = by_source(&t->task, 0, t->task.chunks);
    hac_autofree char *got = by_pipeline(&options, &too_large);
    assert_string_equal(got, expected);
    assert_int_equal(too_large, 0);
    hac_pipeline *pipeline;
    hac_pipeline_work work;
    options.begins = count_begun;
    atomic_store(&begun, 0);
    assert_int_equal(hac_pipeline_new(&options, &pipeline, &err), HAC_OK);
    assert_true(settled(2, 20) < 10);
    while (hac_pipeline_next(pipeline, &work, &err) == HAC_OK)
        ;
    hac_pipeline_free(pipeline);
    trial_free(t);
}

/* Readers are slow: the device gets every full buffer, and the last one, which is not full. */
static void test_slow_reader(void **state)
{
    (void)state;
    trial *t = trial_new(1500, 1000, UINT64_MAX, false);
    useconds_t pace = 3000;
    uint64_t too_large;
    hac_pipeline_options options = {
        .task = &t->task, .n = t->task.chunks, .blocks = 2, .begins = count_begun, .context = &pace};
    hac_autofree char *expected = by_source(&t->task, 0, t->task.chunks);
    hac_autofree char *got = by_pipeline(&options, &too_large);
    assert_string_equal(got, expected);
    /* the first full buffer is ready long before the last data set begins */
    hac_error err = HAC_ERROR_NONE;
    hac_pipeline *pipeline;
    hac_pipeline_work work;
    options.ring = 2;
    atomic_store(&begun, 0);
    assert_true(t->task.chunks > 12);
    assert_int_equal(hac_pipeline_new(&options, &pipeline, &err), HAC_OK);
    assert_int_equal(hac_pipeline_next(pipeline, &work, &err), HAC_OK);
    assert_int_equal(work.buffer->n_blocks, 2);
    assert_true(atomic_load(&begun) <= 6); /* two buffers and the ring */
    hac_pipeline_free(pipeline);
    trial_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),        cmocka_unit_test(test_skipped),
        cmocka_unit_test(test_error),       cmocka_unit_test(test_freed),
        cmocka_unit_test(test_slow_device), cmocka_unit_test(test_bytes_bounded),
        cmocka_unit_test(test_slow_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
