/* SPDX-License-Identifier: Apache-2.0 */
#include "source_support.h"

#include <stdio.h>
#include <string.h>

#include "base/memfd.h"

#define FILE_OFFSET 13 /* offset of the source in its file */

void test_query_make(test_query *ret, hac_input_format format, bool header, const char *schema)
{
    size_t n = 0, at = 0;
    memset(ret, 0, sizeof *ret);
    for (const char *part = schema; *part != 0; n++) {
        const char *colon = strchr(part, ':');
        size_t bytes = strcspn(colon + 1, " ");
        snprintf(ret->fields[n].name, HAC_FIELD_NAME_MAX, "%.*s", (int)(colon - part), part);
        assert_int_equal(hac_value_type_parse(colon + 1, bytes, &ret->fields[n].type, NULL), HAC_OK);
        ret->positions[n] = (uint16_t)(format == HAC_INPUT_FIXED ? at : n);
        at += hac_value_size(ret->fields[n].type);
        ret->widths[n] = (uint8_t)hac_value_size(ret->fields[n].type);
        part = colon + 1 + bytes;
        part += *part == ' ';
    }
    ret->query.source = (hac_source_options){.format = format, .options.no_header = !header};
    ret->query.columns = (hac_schema){ret->fields, n};
    ret->query.widths = format == HAC_INPUT_LENGTHS ? ret->widths : NULL;
    ret->query.positions = ret->positions;
    ret->query.schema_columns = format == HAC_INPUT_FIXED ? at : n;
}

static void add_value(hac_text *text, const hac_column *column, size_t row)
{
    const void *values = column->values;
    hac_string_ref ref;
    switch (hac_repr_of(column->type)) {
    case HAC_REPR_BOOL:
        hac_text_add(text, ((const uint8_t *)values)[row] != 0 ? "true|" : "false|");
        break;
    case HAC_REPR_U64:
        hac_text_addf(text, "%llu|", (unsigned long long)((const uint64_t *)values)[row]);
        break;
    case HAC_REPR_F32:
        hac_text_addf(text, "%.9g|", (double)((const float *)values)[row]);
        break;
    case HAC_REPR_F64:
        hac_text_addf(text, "%.17g|", ((const double *)values)[row]);
        break;
    case HAC_REPR_I128:
        hac_text_addf(text, "%lld:%llu|", (long long)(((const __int128 *)values)[row] >> 64),
                      (unsigned long long)((const __int128 *)values)[row]);
        break;
    case HAC_REPR_STRING:
        ref = ((const hac_string_ref *)values)[row];
        hac_text_addf(text, "<%u:", ref.length);
        hac_text_add_bytes(text, ref.length > 0 ? (const char *)column->bytes + ref.offset : "", ref.length);
        hac_text_add(text, ">|");
        break;
    default:
        hac_text_addf(text, "%lld|", (long long)((const int64_t *)values)[row]);
    }
}

/* Checks what column.h promises for null rows and for bytes behind the rows. */
static void check_promises(const hac_batch *batch)
{
    assert_in_range(batch->rows, 1, HAC_BATCH_ROWS);
    for (size_t c = 0; c < batch->n_columns; c++) {
        const hac_column *column = &batch->columns[c];
        assert_int_equal((uintptr_t)column->values % 64, 0);
        if (!hac_kind_is_text(column->type.kind))
            continue;
        for (size_t r = 0; r < HAC_BATCH_ROWS; r++)
            if (r >= batch->rows || (column->states != NULL && column->states[r] != HAC_ROW_OK))
                assert_int_equal(((const hac_string_ref *)column->values)[r].length, 0);
    }
}

static void add_batch(hac_text *text, const hac_batch *batch)
{
    check_promises(batch);
    for (size_t r = 0; r < batch->rows; r++) {
        for (size_t c = 0; c < batch->n_columns; c++) {
            const hac_column *column = &batch->columns[c];
            if (column->states != NULL && column->states[r] != HAC_ROW_OK) {
                assert_int_equal(column->states[r], HAC_ROW_NULL);
                hac_text_add(text, "-|");
            } else {
                add_value(text, column, r);
            }
        }
        hac_text_add(text, "\n");
    }
}

static hac_status read_chunk(hac_source *source, const hac_source_place *place, uint64_t first, uint64_t end,
                             hac_text *text, hac_error *err)
{
    uint64_t quotes = 0;
    hac_batch batch;
    if (source == NULL)
        return HAC_INTERNAL;
    if (place != NULL)
        assert_int_equal(hac_source_quotes(place, 0, first, &quotes, err), HAC_OK);
    hac_status status = hac_source_begin(source, first, end, quotes % 2 == 1, err);
    while (status == HAC_OK) {
        status = hac_source_next(source, &batch, err);
        if (status == HAC_OK)
            add_batch(text, &batch);
    }
    return status == HAC_NOT_FOUND ? HAC_OK : status;
}

static void read_source(const hac_query *query, const hac_source_place *place, const test_reading *reading,
                        hac_text *text)
{
    hac_error err = HAC_ERROR_NONE;
    hac_source *source = NULL;
    uint64_t all = reading->table != NULL ? reading->table->rows : reading->bytes;
    uint64_t chunk = reading->chunk > 0 ? reading->chunk : all + 1;
    hac_status status = hac_source_open(query, place, reading->table, &source, &err);
    bool quotes = query->source.format == HAC_INPUT_CSV;
    for (uint64_t at = 0, i = 0, end; at < all && status == HAC_OK; at = end, i++) {
        end = reading->cuts == NULL ? at + chunk : i < reading->n_cuts ? reading->cuts[i] : all;
        status = read_chunk(source, quotes ? place : NULL, at, end, text, &err);
    }
    if (status != HAC_OK) {
        assert_int_equal(status, err.code);
        hac_text_addf(text, "error: %s", err.message);
    } else if (query->source.options.skip_errors) {
        hac_text_addf(text, "skipped: %llu", (unsigned long long)hac_source_skipped(source));
    }
    hac_source_free(source);
}

char *test_read(const hac_query *query, const test_reading *reading)
{
    hac_text text = HAC_TEXT_NONE;
    hac_autoclose int fd = -1;
    /* exact size, so that the sanitizer sees a read beyond the end */
    uint8_t *memory = aligned_alloc(64, (reading->bytes + 64) / 64 * 64);
    assert_non_null(memory);
    hac_autofree uint8_t *exact =
        reading->table == NULL ? malloc(reading->bytes > 0 ? reading->bytes : 1) : NULL;
    memcpy(exact != NULL ? exact : memory, reading->data, reading->bytes);
    hac_source_place place = {.fd = -1, .memory = exact != NULL ? exact : memory, .bytes = reading->bytes};
    place.split = reading->cuts != NULL;
    if (reading->file) {
        assert_int_equal(hac_memfd_create("source", FILE_OFFSET + reading->bytes + 7, false, &fd, NULL),
                         HAC_OK);
        assert_int_equal(pwrite(fd, reading->data, reading->bytes, FILE_OFFSET), reading->bytes);
        place.fd = fd;
        place.fd_offset = FILE_OFFSET;
        place.memory = NULL;
    }
    read_source(query, &place, reading, &text);
    free(memory);
    char *ret = NULL;
    hac_text_add(&text, "");
    assert_int_equal(hac_text_finish(&text, &ret, NULL, NULL), HAC_OK);
    return ret;
}

void test_put(hac_text *text, bool big, size_t bytes, __int128 value)
{
    char data[16];
    for (size_t i = 0; i < bytes; i++)
        data[big ? bytes - 1 - i : i] = (char)(value >> (8 * i));
    hac_text_add_bytes(text, data, bytes);
}

void test_put_text(hac_text *text, bool big, const char *data, size_t bytes)
{
    test_put(text, big, 4, (__int128)bytes);
    hac_text_add_bytes(text, data, bytes);
}

void test_check_records(const hac_query *query, const hac_text *data, const uint64_t *ends, size_t n,
                        const char *wanted)
{
    static const size_t steps[] = {0, 1, 2, 3, 7, 64, 1000, 1024, 1025};
    hac_autofree uint64_t *cuts = calloc(n + 1, sizeof *cuts);
    assert_non_null(cuts);
    for (size_t s = 0; s < sizeof steps / sizeof *steps && steps[s] < n + 1; s++) {
        size_t n_cuts = 0, step = steps[s];
        if (step > 0 && n / step > 5000) /* each chunk of a file is read again */
            continue;
        for (size_t i = step; step > 0 && i < n; i += step)
            cuts[n_cuts++] = ends[i - 1];
        for (int file = 0; file < 2; file++) {
            test_reading reading = {.data = data->data == NULL ? "" : data->data,
                                    .bytes = data->bytes,
                                    .cuts = step > 0 ? cuts : NULL,
                                    .n_cuts = n_cuts,
                                    .file = file != 0};
            hac_autofree char *got = test_read(query, &reading);
            if (strcmp(got, wanted) != 0)
                fail_msg("format %d, chunks of %zu records, file %d: gives\n%.2000s\nnot\n%.2000s",
                         (int)query->source.format, step, file, got, wanted);
        }
    }
}

char *test_read_text(const hac_query *query, const char *text)
{
    test_reading reading = {.data = text, .bytes = strlen(text)};
    return test_read(query, &reading);
}

void test_check_chunks(const hac_query *query, const char *data, size_t bytes, const char *wanted)
{
    for (uint64_t chunk = 0; chunk <= 64; chunk++) {
        for (int file = 0; file < 2; file++) {
            test_reading reading = {.data = data, .bytes = bytes, .chunk = chunk, .file = file != 0};
            hac_autofree char *got = test_read(query, &reading);
            if (strcmp(got, wanted) != 0)
                fail_msg("format %d, chunks of %d, file %d: '%.*s' gives\n%s\nnot\n%s",
                         (int)query->source.format, (int)chunk, file, (int)bytes, data, got, wanted);
            if (chunk > bytes)
                return;
        }
    }
}

char *test_data(const char *name, size_t *ret_bytes)
{
    char path[4096];
    const char *folder = getenv("HAC_TEST_DATA");
    if (folder == NULL) {
        print_message("SKIPPED: HAC_TEST_DATA does not name the folder with %s\n", name);
        return NULL;
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    hac_autofclose FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        print_message("SKIPPED: %s cannot be opened\n", path);
        return NULL;
    }
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size_t bytes = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(bytes + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, bytes, file), bytes);
    data[bytes] = 0;
    *ret_bytes = bytes;
    return data;
}
