/* SPDX-License-Identifier: Apache-2.0 */
#include "query_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/byte_order_mark.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "base/input_options.h"
#include "base/io.h"
#include "base/text.h"
#include "expr/schema.h"
#include "text/json_fields.h"

#define BLOCK_BYTES ((size_t)1 << 20)
#define RANGE_BYTES (UINT64_C(1) << 25) /* bytes of an input of a logic file that are in memory at a time */

HAC_DEFINE_CLEANUP(hac_job *, hac_job_free)

/* The units of each file among those of all files, and the ones of this rank. */
typedef struct distribution {
    hac_mpi *mpi;
    hac_client *client;
    const hac_mpi_input *input;
    uint64_t units[HAC_QUERY_FILES_MAX]; /* of each file: row groups or bytes */
    uint64_t all;
    uint64_t record; /* record_bytes */
} distribution;

static unsigned ranks_of(const distribution *d)
{
    return hac_mpi_size(d->mpi);
}

static unsigned rank_of(const distribution *d)
{
    return hac_mpi_rank(d->mpi);
}

/* The first unit of rank r. */
static uint64_t border(const distribution *d, unsigned r)
{
    return (uint64_t)((unsigned __int128)d->all * r / ranks_of(d));
}

/* The units [*ret_first, *ret_end) of file `f` that rank r has. The file begins at unit `start`. */
static void overlap(const distribution *d, size_t f, uint64_t start, unsigned r, uint64_t *ret_first,
                    uint64_t *ret_end)
{
    uint64_t first = border(d, r), end = border(d, r + 1), stop = start + d->units[f];
    first = first > start ? first : start;
    end = end < stop ? end : stop;
    *ret_first = first < end ? first - start : 0;
    *ret_end = first < end ? end - start : 0;
}

/* ---- what there is ---- */

static hac_status count_row_groups(const distribution *d, size_t f, uint64_t *ret, hac_error *err)
{
    const hac_mpi_input *input = d->input;
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_autofree char *text = NULL;
    hac_autojson cJSON *json = NULL;
    hac_status status =
        hac_describe_parquet(d->client, input->fds[f], input->names[f], &d->input->options->job, &job, err);
    if (status == HAC_OK)
        status = hac_job_wait(job, -1, err);
    if (status != HAC_OK)
        return status;
    text = strndup(hac_job_data(job), hac_job_bytes(job));
    if (text == NULL)
        return hac_fail_no_memory(err);
    status = hac_json_parse_object(text, "the file", &json, err);
    *ret = status == HAC_OK ? (uint64_t)cJSON_GetArraySize(hac_json_get_array(json, "row_groups")) : 0;
    return status;
}

static hac_status measure(distribution *d, hac_error *err)
{
    const hac_mpi_input *input = d->input;
    hac_status status = HAC_OK;
    for (size_t f = 0; f < input->n_files && status == HAC_OK; f++) {
        d->units[f] = input->bytes[f];
        if (input->options->input_format == HAC_INPUT_PARQUET)
            status = count_row_groups(d, f, &d->units[f], err);
        d->all += d->units[f];
    }
    return status;
}

/* ---- what the other ranks have ---- */

/* What a rank was called with. */
typedef struct rank_input {
    uint64_t n_files, query;
    uint64_t bytes[HAC_QUERY_FILES_MAX], units[HAC_QUERY_FILES_MAX];
} rank_input;

/* FNV-1a of the bytes and of their number. */
static void add_hash(uint64_t *hash, const void *from, size_t bytes)
{
    const uint8_t *at = from;
    uint64_t h = *hash;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ at[i]) * UINT64_C(0x100000001b3);
    *hash = (h ^ bytes) * UINT64_C(0x100000001b3);
}

/* A hash of all options that the rows of the result depend on. NULL differs from an empty text. */
static hac_status hash_query(const hac_query_options *o, uint64_t *ret, hac_error *err)
{
    const char *const texts[] = {o->schema, o->where,    o->group_by,    o->select,    o->order_by,
                                 o->having, o->limit_by, o->with_select, o->with_where};
    const uint64_t numbers[] = {
        o->limit,          o->offset,        o->limit_each,      o->input_format, (uint64_t)o->infer_schema,
        (uint64_t)o->find, o->distinct != 0, o->select_only != 0};
    hac_text input = HAC_TEXT_NONE;
    hac_autofree char *bytes = NULL;
    size_t n = 0;
    hac_input_options_write(&o->input_options, &input);
    hac_status status = hac_text_finish(&input, &bytes, &n, err);
    if (status != HAC_OK)
        return status;
    *ret = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        add_hash(ret, texts[i], texts[i] != NULL ? strlen(texts[i]) + 1 : 0);
    add_hash(ret, numbers, sizeof numbers);
    add_hash(ret, bytes, n);
    return HAC_OK;
}

static hac_status compare(const distribution *d, const rank_input *first, const rank_input *own,
                          hac_error *err)
{
    const unsigned long long files = own->n_files;
    const unsigned rank = rank_of(d);
    if (first->n_files != own->n_files)
        return hac_fail(err, HAC_INVALID, "rank %u queries %llu files, and rank 0 queries %llu", rank, files,
                        (unsigned long long)first->n_files);
    for (size_t f = 0; f < own->n_files; f++)
        if (first->bytes[f] != own->bytes[f])
            return hac_fail(err, HAC_FAILED,
                            "rank %u sees another size of %s than rank 0: %llu bytes, not %llu; every rank "
                            "needs the same files, and nothing may write to them meanwhile",
                            rank, d->input->names[f], (unsigned long long)own->bytes[f],
                            (unsigned long long)first->bytes[f]);
    if (first->query != own->query)
        return hac_fail(err, HAC_INVALID, "rank %u: its query is not that of rank 0", rank);
    for (size_t f = 0; f < own->n_files; f++)
        if (first->units[f] != own->units[f])
            return hac_fail(
                err, HAC_FAILED,
                "rank %u sees other row groups in %s than rank 0; every rank needs the same files", rank,
                d->input->names[f]);
    return HAC_OK;
}

/* Fails on all ranks if a rank was called with other files or another query than rank 0. With other sizes the
 * parts would overlap or leave gaps. With another format or number of files a rank would wait for ever in a
 * collective that the others never call. */
static hac_status compare_with_first(const distribution *d, hac_error *err)
{
    const hac_mpi_input *input = d->input;
    const unsigned n = ranks_of(d);
    hac_autofree rank_input *first = calloc(1, sizeof *first);
    hac_autofree rank_input *own = calloc(1, sizeof *own);
    hac_autofree uint64_t *offsets = calloc(n + 1, sizeof *offsets);
    hac_status status = first == NULL || own == NULL || offsets == NULL ? hac_fail_no_memory(err) : HAC_OK;
    if (status == HAC_OK)
        status = hash_query(input->options, &own->query, err);
    status = hac_mpi_agree(d->mpi, status, err);
    if (status != HAC_OK)
        return status;
    own->n_files = input->n_files;
    memcpy(own->bytes, input->bytes, input->n_files * sizeof *own->bytes);
    memcpy(own->units, d->units, input->n_files * sizeof *own->units);
    if (rank_of(d) == 0)
        *first = *own;
    for (unsigned r = 1; r <= n; r++) /* only rank 0 sends */
        offsets[r] = sizeof *first;
    status = hac_mpi_share(d->mpi, first, offsets, err);
    if (status == HAC_OK)
        status = compare(d, first, own, err);
    return hac_mpi_agree(d->mpi, status, err);
}

/* ---- lines ---- */

static hac_status read_block(const distribution *d, size_t f, uint64_t at, void *to, size_t bytes,
                             size_t *ret, hac_error *err)
{
    uint64_t n = 0;
    int errnum = hac_pread_all(d->input->fds[f], to, bytes, at, &n, NULL);
    if (errnum != 0)
        return hac_fail_errno(err, HAC_FAILED, errnum, "%s", d->input->names[f]);
    *ret = (size_t)n;
    return n > 0 ? HAC_OK : hac_fail(err, HAC_FAILED, "%s: is shorter than it was", d->input->names[f]);
}

static hac_status count_quotes(const distribution *d, size_t f, uint64_t first, uint64_t end, uint64_t *ret,
                               hac_error *err)
{
    hac_autofree char *block = malloc(BLOCK_BYTES);
    hac_status status = block == NULL ? hac_fail_no_memory(err) : HAC_OK;
    for (size_t n = 0; first < end && status == HAC_OK; first += n) {
        status =
            read_block(d, f, first, block, end - first < BLOCK_BYTES ? end - first : BLOCK_BYTES, &n, err);
        for (const char *p = block; status == HAC_OK && (p = memchr(p, '"', (size_t)(block + n - p))) != NULL;
             p++)
            *ret += 1;
    }
    return status;
}

/* The first byte after an end of line, from `at` on. `quoted`: whether `at` is inside quotes. */
static hac_status next_line(const distribution *d, size_t f, uint64_t at, bool quoted, uint64_t *ret,
                            hac_error *err)
{
    uint64_t size = d->input->bytes[f];
    bool quotes = hac_format_has_quotes(d->input->options->input_format);
    hac_autofree char *block = malloc(BLOCK_BYTES);
    hac_status status = block == NULL ? hac_fail_no_memory(err) : HAC_OK;
    for (size_t n = 0; at < size && status == HAC_OK; at += n) {
        status = read_block(d, f, at, block, size - at < BLOCK_BYTES ? size - at : BLOCK_BYTES, &n, err);
        for (size_t i = 0; status == HAC_OK && i < n; i++) {
            quoted ^= quotes && block[i] == '"';
            if (block[i] != '\n' || quoted)
                continue;
            *ret = at + i + 1;
            return HAC_OK;
        }
    }
    *ret = size;
    return status;
}

/* Counts the quotes of each file before this rank's bytes, and up to their end. */
static hac_status share_quotes(const distribution *d, uint64_t *ret_before, uint64_t *ret_until,
                               hac_error *err)
{
    size_t files = d->input->n_files;
    unsigned n = ranks_of(d), own = rank_of(d);
    hac_autofree uint64_t *counts = calloc(n * files, sizeof *counts);
    hac_autofree uint64_t *offsets = calloc(n + 1, sizeof *offsets);
    hac_status status = counts == NULL || offsets == NULL ? hac_fail_no_memory(err) : HAC_OK;
    uint64_t start = 0, first, end;
    for (size_t f = 0; f < files && status == HAC_OK; start += d->units[f++]) {
        overlap(d, f, start, own, &first, &end);
        if (hac_format_has_quotes(d->input->options->input_format))
            status = count_quotes(d, f, first, end, &counts[own * files + f], err);
    }
    status = hac_mpi_agree(d->mpi, status, err);
    for (unsigned r = 0; r <= n && status == HAC_OK; r++)
        offsets[r] = r * files * sizeof *counts;
    if (status == HAC_OK)
        status = hac_mpi_share(d->mpi, counts, offsets, err);
    for (size_t f = 0; f < files && status == HAC_OK; f++) {
        for (unsigned r = 0; r < own; r++)
            ret_before[f] += counts[r * files + f];
        ret_until[f] = ret_before[f] + counts[own * files + f];
    }
    return status;
}

/* A byte-order mark at the beginning of a part would be taken for that of the file, and dropped. */
static hac_status skip_marks(const distribution *d, size_t f, uint64_t *at, hac_error *err)
{
    hac_status status = HAC_OK;
    for (bool marked = true; status == HAC_OK && marked && *at < d->input->bytes[f];) {
        char begin[3] = "";
        size_t n = 0;
        status = read_block(d, f, *at, begin, sizeof begin, &n, err);
        marked = status == HAC_OK && n == sizeof begin && memcmp(begin, "\xef\xbb\xbf", sizeof begin) == 0;
        if (marked)
            status = next_line(d, f, *at, false, at, err);
    }
    return status;
}

/* Moves a border of this rank's bytes to the begin of a record. */
static hac_status move_border(const distribution *d, size_t f, uint64_t quotes, uint64_t *border_at,
                              hac_error *err)
{
    if (*border_at == 0 || *border_at == d->units[f])
        return HAC_OK;
    char before = 0;
    size_t n;
    bool quoted = (quotes & 1) != 0;
    hac_status status = read_block(d, f, *border_at - 1, &before, 1, &n, err);
    if (status == HAC_OK && (before != '\n' || quoted))
        status = next_line(d, f, *border_at, quoted, border_at, err);
    return status == HAC_OK ? skip_marks(d, f, border_at, err) : status;
}

/* ---- pieces ---- */

static void add_piece(const distribution *d, hac_mpi_part *part, size_t f, uint64_t first, uint64_t end,
                      uint64_t header)
{
    bool whole = first == 0 && end == d->units[f];
    hac_mpi_piece *last = part->n > 0 ? &part->pieces[part->n - 1] : NULL;
    if (whole && last != NULL && last->whole)
        last->files = f - last->file + 1; /* files without units lie in between */
    else if ((whole || first < end) && part->n < HAC_MPI_PIECES)
        part->pieces[part->n++] = (hac_mpi_piece){f, 1, whole, first, end - first, header};
}

static hac_status distribute_lines(const distribution *d, hac_mpi_part *ret, hac_error *err)
{
    uint64_t start = 0, before[HAC_QUERY_FILES_MAX] = {0}, until[HAC_QUERY_FILES_MAX] = {0};
    const hac_query_options *options = d->input->options;
    bool fields = hac_formats[options->input_format].header;
    hac_status status = share_quotes(d, before, until, err);
    for (size_t f = 0; f < d->input->n_files && status == HAC_OK; start += d->units[f++]) {
        uint64_t first, end, header = 0;
        overlap(d, f, start, rank_of(d), &first, &end);
        if (first == end)
            continue;
        if (fields && !options->input_options.no_header)
            status = next_line(d, f, 0, false, &header, err);
        if (status == HAC_OK)
            status = move_border(d, f, before[f], &first, err);
        if (status == HAC_OK)
            status = move_border(d, f, until[f], &end, err);
        first = first > 0 && first < header ? header : first; /* the header line belongs to the first range */
        end = end < header ? header : end;
        if (status == HAC_OK)
            add_piece(d, ret, f, first, end, header);
    }
    return status;
}

/* Bytes of a record of fixed width; 0: the format has no such records, or hacd reports what is wrong with
 * the schema. */
static uint64_t record_bytes(const hac_mpi_input *input)
{
    hac_schema schema = {NULL, 0};
    uint64_t bytes = 0;
    if (input->options->input_format != HAC_INPUT_FIXED || input->options->schema == NULL ||
        hac_schema_parse(input->options->schema, &schema, NULL) != HAC_OK)
        return 0;
    for (size_t i = 0; i < schema.n_fields; i++)
        bytes += hac_value_size(schema.fields[i].type);
    hac_schema_clear(&schema);
    return bytes;
}

static void distribute_records(const distribution *d, hac_mpi_part *ret)
{
    uint64_t start = 0, first, end;
    for (size_t f = 0; f < d->input->n_files; start += d->units[f++]) {
        overlap(d, f, start, rank_of(d), &first, &end);
        first -= first % d->record;
        end -= end < d->units[f] ? end % d->record : 0; /* hacd refuses a partial record at the end */
        if (first < end)
            add_piece(d, ret, f, first, end, 0);
    }
}

/* Divides row groups by their number. Files of other formats go as a whole to the rank where they begin. */
static void distribute_units(const distribution *d, hac_mpi_part *ret)
{
    bool groups = d->input->options->input_format == HAC_INPUT_PARQUET;
    uint64_t start = 0, first, end;
    for (size_t f = 0; f < d->input->n_files; start += d->units[f++]) {
        overlap(d, f, start, rank_of(d), &first, &end);
        if (!groups && first < end) {
            end = first == 0 ? d->units[f] : 0;
            first = 0;
        }
        if (first < end)
            add_piece(d, ret, f, first, end, 0);
    }
}

/* ---- what is found in the records ---- */

/* What rank 0 tells the others; `bytes` of columns follow. */
typedef struct found_input {
    hac_input_options input_options;
    uint64_t infer_schema, find, bytes;
} found_input;

/* Memory of rank 0 for all ranks. */
static hac_status share_memory(hac_mpi *mpi, void *memory, uint64_t bytes, hac_error *err)
{
    const unsigned n = hac_mpi_size(mpi);
    hac_autofree uint64_t *offsets = calloc(n + 1, sizeof *offsets);
    hac_status status =
        hac_mpi_agree(mpi, offsets == NULL || memory == NULL ? hac_fail_no_memory(err) : HAC_OK, err);
    for (unsigned r = 1; status == HAC_OK && r <= n; r++)
        offsets[r] = bytes;
    return status == HAC_OK ? hac_mpi_share(mpi, memory, offsets, err) : status;
}

/* Types, delimiters and forms are those of all files, whichever part of them a rank reads: rank 0 finds them
 * as a query without ranks does. */
static hac_status find_columns(const distribution *d, hac_mpi_part *ret, hac_error *err)
{
    const hac_mpi_input *input = d->input;
    found_input f = {.bytes = 0};
    hac_status status = HAC_OK;
    if (rank_of(d) == 0 && d->all > 0) {
        status = hac_query_find_columns(d->client, input->fds, input->names, input->n_files, &ret->options,
                                        &ret->columns, &f.bytes, err);
        f = (found_input){ret->options.input_options, (uint64_t)ret->options.infer_schema,
                          (uint64_t)ret->options.find, f.bytes};
    }
    status = hac_mpi_agree(d->mpi, status, err);
    if (status != HAC_OK || d->all == 0)
        return status;
    status = share_memory(d->mpi, &f, sizeof f, err);
    if (status != HAC_OK)
        return status;
    ret->options.input_options = f.input_options;
    ret->options.infer_schema = (int)f.infer_schema;
    ret->options.find = (int)f.find;
    if (f.bytes == 0)
        return HAC_OK;
    if (rank_of(d) != 0)
        ret->columns = malloc(f.bytes);
    status = share_memory(d->mpi, ret->columns, f.bytes, err);
    ret->options.columns = ret->columns;
    ret->options.columns_bytes = f.bytes;
    return status;
}

void hac_mpi_part_clear(hac_mpi_part *part)
{
    free(part->columns);
    *part = (hac_mpi_part){.n = 0};
}

hac_status hac_mpi_divide(hac_mpi *mpi, hac_client *client, const hac_mpi_input *input, hac_mpi_part *ret,
                          hac_error *err)
{
    hac_mpi_input settled = *input;
    distribution d = {.mpi = mpi, .client = client, .input = input, .record = record_bytes(input)};
    *ret = (hac_mpi_part){.options = *input->options};
    settled.options = &ret->options;
    hac_status status = measure(&d, err);
    status = hac_mpi_agree(mpi, status, err);
    if (status == HAC_OK)
        status = compare_with_first(&d, err);
    if (status == HAC_OK)
        status = find_columns(&d, ret, err);
    if (status != HAC_OK)
        return status;
    d.input = &settled;
    if (hac_formats[input->options->input_format].text)
        status = distribute_lines(&d, ret, err);
    else if (d.record > 0)
        distribute_records(&d, ret);
    else
        distribute_units(&d, ret);
    if (d.all == 0 && rank_of(&d) == 0) { /* nothing to divide, but there is a result */
        ret->n = 1;
        ret->pieces[0] = (hac_mpi_piece){.files = input->n_files, .whole = true};
    }
    return hac_mpi_agree(mpi, status, err);
}

hac_status hac_mpi_head(const hac_mpi_input *input, hac_mpi_piece *ret, hac_error *err)
{
    const distribution d = {.input = input};
    uint64_t end = 0;
    size_t f = 0;
    bool text = hac_formats[input->options->input_format].text;
    while (text && f < input->n_files &&
           (input->bytes[f] == 0 || hac_is_mark_alone(input->fds[f], input->bytes[f])))
        f++;
    *ret = (hac_mpi_piece){.files = 1, .whole = true};
    if (!text || f == input->n_files)
        return HAC_OK;
    hac_status status = next_line(&d, f, 0, false, &end, err);
    *ret = (hac_mpi_piece){.file = f, .files = 1, .count = end};
    return status;
}

/* ---- queries ---- */

static hac_status query_files(hac_client *client, const hac_mpi_input *input, const hac_mpi_piece *piece,
                              const hac_query_options *options, hac_job **ret, hac_error *err)
{
    hac_query_options own = *options;
    const char *names[HAC_QUERY_FILES_MAX];
    for (size_t i = 0; i < piece->files; i++)
        names[i] = input->names[piece->file + i];
    if (!piece->whole) {
        own.input_options.first_row_group = piece->first;
        own.input_options.row_groups = piece->count;
    }
    return hac_query_files(client, input->fds + piece->file, names, piece->files, &own, ret, err);
}

static hac_status query_range(hac_client *client, const hac_mpi_input *input, const hac_mpi_piece *piece,
                              const hac_query_options *options, hac_buffer **buffer, hac_job **ret,
                              hac_error *err)
{
    const distribution d = {.input = input};
    uint64_t header = piece->first > 0 ? piece->header : 0, bytes = header + piece->count;
    hac_status status = hac_buffer_alloc(client, bytes, buffer, err);
    char *to = status == HAC_OK ? hac_buffer_data(*buffer) : NULL;
    size_t n = 0;
    for (uint64_t at = 0; at < bytes && status == HAC_OK; at += n)
        status = read_block(&d, piece->file, at < header ? at : piece->first + (at - header), to + at,
                            at < header ? header - at : bytes - at, &n, err);
    return status == HAC_OK ? hac_query_buffer(client, *buffer, 0, bytes, options, ret, err) : status;
}

hac_status hac_mpi_query_piece(hac_client *client, const hac_mpi_input *input, const hac_mpi_piece *piece,
                               const hac_query_options *options, hac_job **ret, hac_error *err)
{
    hac_buffer *buffer = NULL;
    bool files = piece->whole || input->options->input_format == HAC_INPUT_PARQUET;
    hac_status status = files ? query_files(client, input, piece, options, ret, err)
                              : query_range(client, input, piece, options, &buffer, ret, err);
    if (status == HAC_OK)
        status = hac_job_wait(*ret, -1, err);
    if (status != HAC_OK && !files)
        (void)hac_error_prefix(err, "%s from byte %llu on", input->names[piece->file],
                               (unsigned long long)piece->first);
    hac_buffer_free(buffer);
    return status;
}

/* ---- a logic file's inputs ---- */

/* The end of the records in bytes [at, end) that are queried together. */
static hac_status next_cut(const distribution *d, uint64_t at, uint64_t end, uint64_t *ret, hac_error *err)
{
    uint64_t quotes = 0;
    *ret = end;
    if (end - at <= RANGE_BYTES)
        return HAC_OK;
    if (d->record > 0) {
        *ret = at + (RANGE_BYTES / d->record + (RANGE_BYTES < d->record)) * d->record;
        return HAC_OK;
    }
    hac_status status = HAC_OK;
    if (hac_format_has_quotes(d->input->options->input_format))
        status = count_quotes(d, 0, at, at + RANGE_BYTES, &quotes, err);
    if (status == HAC_OK)
        status = next_line(d, 0, at + RANGE_BYTES, (quotes & 1) != 0, ret, err);
    if (status == HAC_OK)
        status = skip_marks(d, 0, ret, err);
    *ret = *ret < end ? *ret : end;
    return status;
}

static hac_status take_piece(hac_client *client, const hac_mpi_input *input, const hac_mpi_piece *piece,
                             hac_take_answer *take, void *taker, hac_error *err)
{
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_status status = hac_mpi_query_piece(client, input, piece, input->options, &job, err);
    return status == HAC_OK ? take(taker, job, err) : status;
}

hac_status hac_mpi_query_part(void *mpi, hac_client *client, int fd, const char *path, uint64_t bytes,
                              const hac_query_options *options, hac_take_answer *take, void *taker,
                              hac_error *err)
{
    const hac_mpi_input input = {
        .options = options, .fds = &fd, .names = &path, .bytes = &bytes, .n_files = 1};
    const distribution d = {
        .mpi = mpi, .client = client, .input = &input, .units = {bytes}, .record = record_bytes(&input)};
    hac_cleanup(hac_mpi_part_clear) hac_mpi_part part = {.n = 0};
    hac_status status = hac_mpi_divide(mpi, client, &input, &part, err);
    if (status != HAC_OK || part.n == 0)
        return status;
    hac_mpi_piece piece = part.pieces[0];
    if (piece.whole || options->input_format == HAC_INPUT_PARQUET)
        return take_piece(client, &input, &piece, take, taker, err);
    for (uint64_t end = piece.first + piece.count, cut; piece.first < end && status == HAC_OK;
         piece.first = cut) {
        status = next_cut(&d, piece.first, end, &cut, err);
        piece.count = cut - piece.first;
        if (status == HAC_OK)
            status = take_piece(client, &input, &piece, take, taker, err);
    }
    return status;
}
