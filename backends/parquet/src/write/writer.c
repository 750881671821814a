/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet/writer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "codelet/background_task.h"
#include "codelet/threads.h"
#include "footer_writer.h"
#include "part_facts.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

enum {
    PENDING_ROWS = HAC_PAGE_ROWS,
    PENDING_ROWS_MAX = 4 * PENDING_ROWS, /* while the end of a group is searched */
    PENDING_BYTES = 16 << 20,
    PAGE_OVERHEAD = 64, /* approximate size of a page with few values */
    THREADS_MAX = 64,
};

struct hac_parquet_writer {
    hac_parquet_write_options options; /* defaults filled in */
    hac_schema schema;
    hac_column_writer *columns;
    unsigned threads;       /* that encode columns */
    hac_scratch *scratches; /* one for each of them */
    hac_parquet_sink sink;
    void *context;
    uint64_t position; /* bytes of the file that the sink has received */
    uint64_t rows;     /* added */
    bool failed;
    hac_footer_writer footer;
    hac_bytes part; /* of a part of a file: its row groups (part_facts.h) */
    uint64_t part_groups;

    size_t incoming_rows;
    uint64_t incoming_bytes;
    hac_background_task *encoder; /* encodes while rows are added; NULL: they wait for each other */
    hac_status encoded;           /* its result */
    hac_error encode_error;

    /* The members below belong to the encoder. */
    size_t pending_rows, pending_done; /* pending rows, and how many of them are encoded */
    uint64_t pending_bytes;            /* approximate size of their values */

    /* the row group */
    bool begun;
    uint64_t padding;  /* before it */
    uint64_t limit;    /* of its bytes */
    uint64_t enough;   /* a group of this size is large enough */
    uint64_t rows_in;  /* kept */
    uint64_t bytes_in; /* kept */
    double row_bytes;  /* size of a row in the last trial; 0: unknown */

    /* a trial: all columns are encoded in parallel */
    size_t trial_rows;
    bool sealing;
    hac_error *errors; /* one for each column; code HAC_OK: no error */
};

/* ---- making and freeing -------------------------------------------------------------------------------- */

static hac_status check_range(const char *name, uint64_t value, uint64_t min, uint64_t max, hac_error *err)
{
    if (value >= min && value <= max)
        return HAC_OK;
    return hac_fail(err, HAC_INVALID, "%s is %" PRIu64 ": it must be between %" PRIu64 " and %" PRIu64, name,
                    value, min, max);
}

static hac_status take_options(const hac_parquet_write_options *from, hac_parquet_write_options *ret,
                               hac_error *err)
{
    *ret = *from;
    ret->group_bytes = from->group_bytes == 0 ? 128 * MIB : from->group_bytes;
    ret->group_rows = from->group_rows == 0 ? UINT64_MAX : from->group_rows;
    ret->page_bytes = from->page_bytes == 0 ? MIB : from->page_bytes;
    ret->dictionary_bytes = from->dictionary_bytes == 0 ? MIB : from->dictionary_bytes;
    ret->threads = from->threads == 0 ? 1 : from->threads > THREADS_MAX ? THREADS_MAX : from->threads;
    if (!hac_compressor_knows(ret->codec))
        return hac_fail(err, HAC_INVALID, "codec %u is not written", ret->codec);
    hac_status status = check_range("the size of row groups", ret->group_bytes, 4 * KIB, 1024 * GIB, err);
    if (status == HAC_OK && ret->block_bytes != 0)
        status = check_range("the block size", ret->block_bytes, ret->group_bytes, INT64_MAX, err);
    if (status == HAC_OK)
        status = check_range("the size of pages", ret->page_bytes, 64, 256 * MIB, err);
    if (status == HAC_OK)
        status = check_range("the size of dictionaries", ret->dictionary_bytes, 1, 64 * MIB, err);
    return status;
}

static bool is_utf8(const char *text)
{
    while (*text != '\0') {
        size_t length = hac_utf8_sequence(text, strlen(text));
        if (length == 0)
            return false;
        text += length;
    }
    return true;
}

static hac_status check_columns(const hac_schema *schema, size_t n, hac_error *err)
{
    if (n == 0 || n > schema->n_fields)
        return hac_fail(err, HAC_INVALID, "a Parquet file needs a column");
    for (size_t i = 0; i < n; i++) {
        const hac_field *field = &schema->fields[i];
        if (!hac_value_type_valid(field->type))
            return hac_fail(err, HAC_INVALID, "column %s has no type", field->name);
        if (!is_utf8(field->name))
            return hac_fail(err, HAC_INVALID, "the name of column %zu, %s, is not UTF-8", i + 1, field->name);
        if (hac_schema_find(schema, field->name, strlen(field->name)) != (int)i)
            return hac_fail(err, HAC_INVALID, "two columns have the name %s", field->name);
    }
    return HAC_OK;
}

static hac_status make_parts(hac_parquet_writer *w, const hac_schema *schema, size_t n, hac_error *err)
{
    w->schema = (hac_schema){.fields = malloc(n * sizeof *w->schema.fields), .n_fields = n};
    w->columns = calloc(n, sizeof *w->columns);
    w->errors = calloc(n, sizeof *w->errors);
    w->threads = hac_pool_threads();
    w->threads = w->threads < w->options.threads ? w->threads : w->options.threads;
    w->threads = w->threads < n ? w->threads : (unsigned)n;
    w->scratches = calloc(w->threads, sizeof *w->scratches);
    if (w->schema.fields == NULL || w->columns == NULL || w->errors == NULL || w->scratches == NULL)
        return hac_fail_no_memory(err);
    if (w->options.threads > 1)
        w->encoder = hac_background_task_new();
    memcpy(w->schema.fields, schema->fields, n * sizeof *schema->fields);
    for (size_t i = 0; i < n; i++)
        hac_column_writer_init(&w->columns[i], schema->fields[i].type, w->options.page_bytes,
                               w->options.no_dictionary ? 0 : w->options.dictionary_bytes);
    for (unsigned i = 0; i < w->threads; i++)
        w->scratches[i].compressor.codec = (hac_parquet_codec)w->options.codec;
    return HAC_OK;
}

HAC_DEFINE_CLEANUP(hac_parquet_writer *, hac_parquet_writer_free)

hac_status hac_parquet_writer_new(const hac_schema *schema, size_t n_columns,
                                  const hac_parquet_write_options *options, hac_parquet_sink sink,
                                  void *context, hac_parquet_writer **ret, hac_error *err)
{
    hac_parquet_write_options checked;
    hac_status status = take_options(options, &checked, err);
    if (status == HAC_OK)
        status = check_columns(schema, n_columns, err);
    if (status != HAC_OK)
        return status;
    hac_cleanup(hac_parquet_writer_free_cleanup) hac_parquet_writer *w = calloc(1, sizeof *w);
    if (w == NULL)
        return hac_fail_no_memory(err);
    w->options = checked;
    w->sink = sink;
    w->context = context;
    status = make_parts(w, schema, n_columns, err);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(w);
    return status;
}

void hac_parquet_writer_free(hac_parquet_writer *writer)
{
    if (writer == NULL)
        return;
    hac_background_task_free(writer->encoder);
    for (size_t i = 0; writer->columns != NULL && i < writer->schema.n_fields; i++)
        hac_column_writer_clear(&writer->columns[i]);
    for (unsigned i = 0; writer->scratches != NULL && i < writer->threads; i++)
        hac_scratch_clear(&writer->scratches[i]);
    hac_footer_writer_clear(&writer->footer);
    hac_bytes_clear(&writer->part);
    free(writer->schema.fields);
    free(writer->scratches);
    free(writer->columns);
    free(writer->errors);
    free(writer);
}

/* ---- bytes --------------------------------------------------------------------------------------------- */

static hac_status put(hac_parquet_writer *w, const void *data, size_t bytes, hac_error *err)
{
    hac_status status = bytes == 0 ? HAC_OK : w->sink(w->context, data, bytes, err);
    if (status == HAC_OK)
        w->position += bytes;
    return status;
}

static hac_status pad(hac_parquet_writer *w, uint64_t bytes, hac_error *err)
{
    static const uint8_t zeros[16384];
    hac_status status = HAC_OK;
    while (bytes > 0 && status == HAC_OK) {
        size_t n = bytes < sizeof zeros ? (size_t)bytes : sizeof zeros;
        status = put(w, zeros, n, err);
        bytes -= n;
    }
    return status;
}

static hac_status put_magic(hac_parquet_writer *w, hac_error *err)
{
    return w->position == 0 && !w->options.part ? put(w, "PAR1", 4, err) : HAC_OK;
}

/* ---- trials -------------------------------------------------------------------------------------------- */

static hac_status try_column(void *context, uint64_t item, unsigned worker, hac_error *unused)
{
    hac_parquet_writer *w = context;
    hac_column_writer *column = &w->columns[item];
    hac_scratch *scratch = &w->scratches[worker];
    hac_error *err = &w->errors[item];
    (void)unused;
    err->code = HAC_OK;
    err->code = w->sealing ? hac_column_seal(column, scratch, err)
                           : hac_column_try(column, scratch, w->trial_rows, err);
    return HAC_OK;
}

static hac_status run_columns(hac_parquet_writer *w, bool sealing, size_t rows, hac_error *err)
{
    w->sealing = sealing;
    w->trial_rows = rows;
    (void)!hac_pool_run_few(w->schema.n_fields, w->threads, try_column, w, NULL);
    for (size_t i = 0; i < w->schema.n_fields; i++) {
        if (w->errors[i].code == HAC_OK)
            continue;
        if (err != NULL)
            *err = w->errors[i];
        return w->errors[i].code == HAC_NO_MEMORY
                   ? HAC_NO_MEMORY
                   : hac_error_prefix(err, "column %s", w->schema.fields[i].name);
    }
    return HAC_OK;
}

static uint64_t group_bytes(const hac_parquet_writer *w)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < w->schema.n_fields; i++)
        bytes += hac_column_bytes(&w->columns[i]);
    return bytes;
}

/* The group's size with `rows` more rows. Dictionaries are only compressed if it matters. */
static hac_status try_rows(hac_parquet_writer *w, size_t rows, uint64_t *ret_bytes, hac_error *err)
{
    hac_status status = run_columns(w, false, rows, err);
    if (status != HAC_OK)
        return status;
    *ret_bytes = group_bytes(w);
    if (*ret_bytes <= w->limit / 10 * 8)
        return HAC_OK;
    status = run_columns(w, true, rows, err);
    if (status == HAC_OK)
        *ret_bytes = group_bytes(w);
    return status;
}

static void keep(hac_parquet_writer *w, size_t rows, uint64_t bytes)
{
    for (size_t i = 0; i < w->schema.n_fields; i++)
        hac_column_keep(&w->columns[i]);
    w->pending_done += rows;
    w->rows_in += rows;
    w->bytes_in = bytes;
}

/* ---- row groups ---------------------------------------------------------------------------------------- */

static void begin_group(hac_parquet_writer *w)
{
    uint64_t wanted = w->options.group_bytes, block = w->options.block_bytes;
    uint64_t start = w->position == 0 ? 4 : w->position;
    w->begun = true;
    w->padding = w->rows_in = w->bytes_in = 0;
    w->limit = wanted;
    w->enough = wanted - wanted / 20;
    if (block == 0)
        return;
    uint64_t capacity = block - start % block;
    if (capacity >= wanted)
        return;
    if (capacity >= wanted - wanted / 32) /* slightly less than wanted, but enough */
        w->limit = capacity;
    else
        w->padding = capacity;
}

/* A group that is smaller than it could be needs no padding. A single row that does not fit the rest of the
 * block does. */
static void judge_padding(hac_parquet_writer *w, uint64_t bytes)
{
    uint64_t block = w->options.block_bytes;
    uint64_t start = w->position == 0 ? 4 : w->position;
    if (block == 0)
        return;
    uint64_t capacity = block - start % block;
    w->padding = bytes > capacity && capacity < block ? capacity : 0;
}

static hac_status describe_chunk(hac_parquet_writer *w, const hac_chunk_facts *facts, hac_error *err)
{
    const hac_part_chunk head = {.bytes = facts->bytes,
                                 .uncompressed = facts->uncompressed,
                                 .dictionary_bytes = facts->dictionary_bytes,
                                 .pages = facts->n_pages};
    return hac_bytes_add(&w->part, &head, sizeof head) &&
                   hac_bytes_add(&w->part, facts->pages, facts->n_pages * sizeof *facts->pages)
               ? HAC_OK
               : hac_fail_no_memory(err);
}

/* Writes the head of the row group whose chunks are described from byte `at` on. */
static void describe_group(hac_parquet_writer *w, size_t at, uint64_t bytes)
{
    const hac_part_group head = {
        .rows = w->rows_in, .bytes = bytes, .facts_bytes = w->part.n - at - sizeof head};
    memcpy(w->part.data + at, &head, sizeof head);
    w->part_groups++;
}

static hac_status put_chunks(hac_parquet_writer *w, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < w->schema.n_fields && status == HAC_OK; i++) {
        const hac_column_writer *column = &w->columns[i];
        const hac_chunk_facts facts = hac_chunk_facts_of(column);
        status = w->options.part ? describe_chunk(w, &facts, err)
                                 : hac_footer_add_chunk(&w->footer, &facts, w->position, err);
        if (status == HAC_OK && column->dictionary.n > 0)
            status = put(w, column->dictionary_page.data, column->dictionary_page.n, err);
        if (status == HAC_OK)
            status = put(w, column->data.data, column->data.n, err);
    }
    return status;
}

static hac_status end_group(hac_parquet_writer *w, hac_error *err)
{
    hac_status status = run_columns(w, true, 0, err);
    if (status != HAC_OK)
        return status;
    judge_padding(w, group_bytes(w));
    status = put_magic(w, err);
    if (status == HAC_OK)
        status = pad(w, w->padding, err);
    size_t described = w->part.n;
    uint64_t start = w->position;
    const hac_part_group head = {0};
    if (status == HAC_OK && w->options.part && !hac_bytes_add(&w->part, &head, sizeof head))
        status = hac_fail_no_memory(err);
    if (status == HAC_OK)
        status = put_chunks(w, err);
    if (status == HAC_OK && !w->options.part)
        status = hac_footer_add_group(&w->footer, w->rows_in, err);
    if (status != HAC_OK)
        return status;
    if (w->options.part)
        describe_group(w, described, w->position - start);
    for (size_t i = 0; i < w->schema.n_fields; i++)
        hac_column_next_group(&w->columns[i]);
    w->begun = false;
    return HAC_OK;
}

/* ---- where a row group ends ---------------------------------------------------------------------------- */

/* What is known about the number of rows that fit. */
typedef struct row_search {
    size_t n;         /* available rows */
    size_t low, high; /* `low` rows fit, `high` rows do not; high > n: unknown */
    uint64_t low_bytes, high_bytes;
    unsigned trials;
} row_search;

/* The first guess: all rows, or as many as should fill the group. */
static size_t guess(const hac_parquet_writer *w, size_t n)
{
    double left = (double)w->limit - (double)w->bytes_in;
    if (w->row_bytes <= 0 || (double)n * w->row_bytes <= left)
        return n;
    double rows = (left - (double)(w->limit - w->enough) / 4) / w->row_bytes;
    return rows < 1 ? 1 : rows > (double)n ? n : (size_t)rows;
}

/* The next guess, between `low` and `high`: alternates between linear interpolation and the middle. */
static size_t guess_again(const hac_parquet_writer *w, const row_search *s)
{
    double wanted = (double)w->limit - (double)(w->limit - w->enough) / 4;
    size_t max = s->high > s->n ? s->n : s->high - 1;
    double rows = (double)s->low + (double)(max - s->low) / 2;
    if (s->high <= s->n && s->trials % 3 != 0 && s->high_bytes > s->low_bytes)
        rows = (double)s->low + (double)(s->high - s->low) * (wanted - (double)s->low_bytes) /
                                    (double)(s->high_bytes - s->low_bytes);
    else if (s->high > s->n && s->low_bytes > w->bytes_in)
        rows = (double)s->low * (wanted - (double)w->bytes_in) / (double)(s->low_bytes - w->bytes_in);
    if (!(rows > (double)s->low + 1))
        return s->low + 1;
    return rows >= (double)max ? max : (size_t)rows;
}

/* Finds how many of n rows fit the group and leaves them as the trial. *ret_full: the group is full. */
static hac_status fit(hac_parquet_writer *w, size_t n, size_t *ret_rows, uint64_t *ret_bytes, bool *ret_full,
                      hac_error *err)
{
    row_search s = {.n = n, .high = n + 1, .low_bytes = w->bytes_in};
    size_t rows = guess(w, n);
    for (;;) {
        uint64_t bytes;
        hac_status status = try_rows(w, rows, &bytes, err);
        if (status != HAC_OK)
            return status;
        s.trials++;
        *ret_rows = rows;
        *ret_bytes = bytes;
        *ret_full = s.high == rows + 1 && s.high <= n;
        if (rows > 0 && bytes > w->bytes_in)
            w->row_bytes = (double)(bytes - w->bytes_in) / (double)rows;
        if (bytes <= w->limit) {
            if (bytes >= w->enough || rows == n || *ret_full || rows == 0)
                return HAC_OK;
            s.low = rows;
            s.low_bytes = bytes;
            rows = guess_again(w, &s);
            continue;
        }
        s.high = rows;
        s.high_bytes = bytes;
        if (s.high - s.low > 1) {
            rows = guess_again(w, &s);
        } else if (s.low > 0 || w->rows_in > 0) {
            rows = s.low; /* the next row does not fit */
        } else {
            *ret_full = true; /* a single row larger than a group */
            return HAC_OK;
        }
    }
}

/* Whether to wait for more rows, because pages in the rest of the group would consist mostly of headers. */
static bool better_wait(const hac_parquet_writer *w, uint64_t bytes)
{
    uint64_t overhead = (uint64_t)w->schema.n_fields * PAGE_OVERHEAD;
    return w->pending_rows - w->pending_done < PENDING_ROWS_MAX &&
           w->pending_bytes < 4 * (uint64_t)PENDING_BYTES && bytes > w->limit / 2 &&
           w->limit - bytes < 16 * overhead;
}

static bool is_full(size_t rows, uint64_t bytes)
{
    return rows >= PENDING_ROWS || bytes >= PENDING_BYTES;
}

/* Encodes pending rows as far as their row group is known. `all`: there are no more rows. */
static hac_status drain(hac_parquet_writer *w, bool all, hac_error *err)
{
    while (w->pending_done < w->pending_rows) {
        size_t n = w->pending_rows - w->pending_done, rows = 0;
        if (!w->begun) {
            if (!all && !is_full(n, w->pending_bytes))
                return HAC_OK; /* more rows give a better decision on dictionaries */
            begin_group(w);
        }
        uint64_t left = w->options.group_rows - w->rows_in, bytes = 0;
        bool full = false, by_rows = n >= left;
        if (by_rows)
            n = (size_t)left;
        hac_status status = fit(w, n, &rows, &bytes, &full, err);
        if (status != HAC_OK)
            return status;
        full = full || bytes >= w->enough || (by_rows && rows == n);
        if (!full && !all && better_wait(w, bytes))
            return HAC_OK;
        keep(w, rows, bytes);
        if (full && (status = end_group(w, err)) != HAC_OK)
            return status;
    }
    return HAC_OK;
}

/* ---- adding -------------------------------------------------------------------------------------------- */

static void drop_done(hac_parquet_writer *w)
{
    if (w->pending_done == 0)
        return;
    w->pending_bytes = 0;
    for (size_t i = 0; i < w->schema.n_fields; i++) {
        hac_column_writer *c = &w->columns[i];
        hac_pending_rows_drop(&c->pending, c->kept.row, c->kept.value);
        c->kept.row = c->kept.value = 0;
        w->pending_bytes += c->pending.values.n;
    }
    w->pending_rows -= w->pending_done;
    w->pending_done = 0;
}

static hac_status take_incoming(hac_parquet_writer *w, hac_error *err)
{
    drop_done(w);
    for (size_t i = 0; i < w->schema.n_fields; i++)
        if (!hac_pending_rows_append(&w->columns[i].pending, &w->columns[i].incoming))
            return hac_fail_no_memory(err);
    w->pending_rows += w->incoming_rows;
    w->pending_bytes += w->incoming_bytes;
    w->incoming_rows = 0;
    w->incoming_bytes = 0;
    return HAC_OK;
}

static void encode(void *context)
{
    hac_parquet_writer *w = context;
    w->encoded = drain(w, false, &w->encode_error);
}

static hac_status wait_for_encoder(hac_parquet_writer *w, hac_error *err)
{
    if (w->encoder != NULL)
        hac_background_task_wait(w->encoder);
    if (w->encoded != HAC_OK && err != NULL)
        *err = w->encode_error;
    return w->encoded;
}

/* Hands the added rows to the encoder, after the previous ones are encoded. */
static hac_status hand_over(hac_parquet_writer *w, hac_error *err)
{
    hac_status status = wait_for_encoder(w, err);
    if (status == HAC_OK)
        status = take_incoming(w, err);
    if (status != HAC_OK)
        return status;
    if (w->encoder == NULL)
        return drain(w, false, err);
    hac_background_task_begin(w->encoder, encode, w);
    return HAC_OK;
}

static hac_status check_rows(const hac_parquet_writer *w, const hac_column *columns, size_t rows,
                             hac_error *err)
{
    for (size_t c = 0; c < w->schema.n_fields; c++) {
        const hac_column *v = &columns[c];
        const hac_string_ref *refs =
            w->columns[c].pending.stored == HAC_STORED_TEXT ? (const hac_string_ref *)v->values : NULL;
        unsigned worst = HAC_ROW_OK;
        for (size_t i = 0; v->states != NULL && i < rows; i++)
            worst = v->states[i] > worst ? v->states[i] : worst;
        for (size_t i = 0; i < rows && (worst > HAC_ROW_NULL || refs != NULL); i++) {
            unsigned state = v->states == NULL ? HAC_ROW_OK : v->states[i];
            if (state > HAC_ROW_NULL)
                return hac_fail(err, HAC_FAILED, "row %" PRIu64 ", column %s: %s", w->rows + i + 1,
                                w->schema.fields[c].name, hac_row_state_text(state));
            if (refs != NULL && state == HAC_ROW_OK && refs[i].length > HAC_TEXT_BYTES_MAX)
                return hac_fail(err, HAC_FAILED,
                                "row %" PRIu64 ", column %s: a text of %u bytes; at most 1 GiB",
                                w->rows + i + 1, w->schema.fields[c].name, refs[i].length);
        }
    }
    return HAC_OK;
}

/* The number of rows from `first` on whose text is about PENDING_BYTES. */
static size_t rows_of_pending(const hac_parquet_writer *w, const hac_column *columns, size_t first,
                              size_t rows)
{
    uint64_t bytes = 0;
    for (size_t c = 0; c < w->schema.n_fields; c++)
        bytes +=
            w->columns[c].pending.stored == HAC_STORED_TEXT ? hac_column_string_bytes(&columns[c], rows) : 0;
    if (bytes <= PENDING_BYTES)
        return rows - first;
    bytes = 0;
    for (size_t i = first; i < rows; i++) {
        for (size_t c = 0; c < w->schema.n_fields; c++) {
            const hac_column *v = &columns[c];
            if (w->columns[c].pending.stored == HAC_STORED_TEXT &&
                (v->states == NULL || v->states[i] == HAC_ROW_OK))
                bytes += ((const hac_string_ref *)v->values)[i].length;
        }
        if (bytes > PENDING_BYTES)
            return i - first + 1;
    }
    return rows - first;
}

static hac_status add(hac_parquet_writer *w, const hac_column *columns, size_t rows, hac_error *err)
{
    hac_status status = check_rows(w, columns, rows, err);
    for (size_t first = 0; first < rows && status == HAC_OK;) {
        size_t n = rows_of_pending(w, columns, first, rows);
        for (size_t c = 0; c < w->schema.n_fields; c++) {
            hac_pending_rows *pending = &w->columns[c].incoming;
            size_t before = pending->values.n;
            if (!hac_pending_rows_add(pending, &columns[c], first, n))
                return hac_fail_no_memory(err);
            w->incoming_bytes += pending->values.n - before;
        }
        w->incoming_rows += n;
        w->rows += n;
        first += n;
        if (is_full(w->incoming_rows, w->incoming_bytes))
            status = hand_over(w, err);
    }
    return status;
}

static hac_status end_groups(hac_parquet_writer *w, hac_error *err)
{
    hac_status status = wait_for_encoder(w, err);
    if (status == HAC_OK)
        status = take_incoming(w, err);
    if (status == HAC_OK)
        status = drain(w, true, err);
    if (status == HAC_OK && w->begun)
        status = end_group(w, err);
    return status;
}

static hac_status end(hac_parquet_writer *w, hac_error *err)
{
    hac_bytes footer = {0};
    hac_status status = end_groups(w, err);
    if (status == HAC_OK)
        status = put_magic(w, err);
    uint64_t indexes = w->position;
    if (status == HAC_OK)
        status = hac_footer_write(&w->footer, &w->schema, w->columns, (hac_parquet_codec)w->options.codec,
                                  indexes, &footer, err);
    if (status == HAC_OK)
        status = put(w, w->footer.column_indexes.data, w->footer.column_indexes.n, err);
    if (status == HAC_OK)
        status = put(w, w->footer.offset_indexes.data, w->footer.offset_indexes.n, err);
    if (status == HAC_OK)
        status = put(w, footer.data, footer.n, err);
    hac_bytes_clear(&footer);
    return status;
}

static hac_status refuse_failed(const hac_parquet_writer *w, hac_error *err)
{
    return w->failed ? hac_fail(err, HAC_FAILED, "the file has ended already, or could not be written")
                     : HAC_OK;
}

hac_status hac_parquet_writer_add(hac_parquet_writer *writer, const hac_column *columns, size_t rows,
                                  hac_error *err)
{
    hac_status status = refuse_failed(writer, err);
    if (status == HAC_OK)
        status = add(writer, columns, rows, err);
    writer->failed = writer->failed || status != HAC_OK;
    return status;
}

hac_status hac_parquet_writer_end(hac_parquet_writer *writer, uint64_t *ret_bytes, hac_error *err)
{
    hac_status status = refuse_failed(writer, err);
    if (status == HAC_OK)
        status = end(writer, err);
    writer->failed = true;
    if (status == HAC_OK)
        *ret_bytes = writer->position;
    return status;
}

/* The head, and which columns have strings that are not UTF-8, in front of the row groups. */
static bool describe_all(const hac_parquet_writer *w, hac_bytes *all)
{
    const hac_part_head head = {.columns = w->schema.n_fields, .groups = w->part_groups};
    const uint64_t zeros = 0;
    bool there = hac_bytes_add(all, &head, sizeof head);
    for (size_t i = 0; i < w->schema.n_fields; i++) {
        uint8_t not_utf8 = w->columns[i].not_utf8;
        there = there && hac_bytes_add(all, &not_utf8, 1);
    }
    return there && hac_bytes_add(all, &zeros, -w->schema.n_fields % 8) &&
           hac_bytes_add(all, w->part.data, w->part.n);
}

hac_status hac_parquet_writer_end_part(hac_parquet_writer *writer, uint64_t *ret_bytes, uint8_t **ret,
                                       size_t *ret_n, hac_error *err)
{
    hac_bytes all = {0};
    hac_status status = refuse_failed(writer, err);
    if (status == HAC_OK)
        status = end_groups(writer, err);
    if (status == HAC_OK && !describe_all(writer, &all))
        status = hac_fail_no_memory(err);
    writer->failed = true;
    if (status != HAC_OK) {
        hac_bytes_clear(&all);
        return status;
    }
    *ret_bytes = writer->position;
    *ret = all.data;
    *ret_n = all.n;
    return HAC_OK;
}
