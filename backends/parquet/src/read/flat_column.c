/* SPDX-License-Identifier: Apache-2.0 */
#include "flat_column.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "codec.h"
#include "format/sizes.h"
#include "levels.h"
#include "pages.h"
#include "values.h"

#define BUFFERED_PAGES                                                                                       \
    4                  /* pages of maximum size that are held at once: a dictionary and those of one batch */
#define CLOCK_CALLS 16 /* every so-many-th read is timed and stands for all of them */

/* The current data page. */
typedef struct data_page {
    bool there, open; /* its header was read; it was decompressed */
    uint64_t number;
    uint32_t rows, at; /* rows of the page; rows read so far */
    hac_parquet_values_kind kind;
    hac_parquet_values values;
    size_t place, place_end; /* its bytes in the string buffer; equal: it is elsewhere */
    bool in_parts;           /* its values are read from the file piece by piece, … */
    size_t first;            /* … from this byte of the page on */
} data_page;

/* Codes that were returned but not consumed. */
typedef struct codes_ahead {
    size_t first, rows;
    uint32_t codes[2 * HAC_PARQUET_SCRATCH];
    uint8_t states[2 * HAC_PARQUET_SCRATCH];
} codes_ahead;

struct hac_flat_column {
    const hac_parquet_file *file;
    hac_parquet_leaf leaf;
    size_t leaf_index, group;
    hac_parquet_target target;
    hac_parquet_pages pages;
    hac_parquet_codecs codecs;
    uint8_t *buffer; /* a page, unless it is in the string buffer or in the window */
    size_t buffer_capacity;
    hac_parquet_levels levels; /* of the page */
    hac_string_buffer strings;
    hac_parquet_dictionary dictionary;
    uint64_t serial;
    hac_parquet_context context;
    bool begun, in_dictionary;
    uint64_t rows_left;    /* unread rows of the row group */
    uint64_t rows_unpaged; /* rows of the row group in pages that have not been reached */
    uint64_t next_page;
    data_page page;
    codes_ahead ahead;
    hac_parquet_counters counters;
    hac_parquet_memory *memory; /* NULL: no limit */
    uint64_t counted;           /* this column's share of it */
    uint64_t reads;
    hac_parquet_scratch scratch;
    _Alignas(64) uint8_t states[HAC_PARQUET_SCRATCH]; /* of rows */
    uint8_t marks[HAC_PARQUET_SCRATCH];               /* of values */
    uint16_t positions[HAC_BATCH_ROWS];
    _Alignas(64) uint8_t dense[16 * HAC_PARQUET_SCRATCH];
    uint32_t dense_codes[HAC_PARQUET_SCRATCH];
};

/* ---- life ---------------------------------------------------------------------------------------------- */

hac_status hac_flat_column_new(const hac_parquet_file *file, size_t leaf, const hac_parquet_leaf *as,
                               hac_flat_column **ret, hac_error *err)
{
    if (leaf >= file->n_leaves)
        return hac_fail(err, HAC_INVALID, "column %zu of %zu", leaf, file->n_leaves);
    const hac_parquet_leaf *l = as;
    if (l->type.kind == HAC_KIND_NONE)
        return hac_fail(err, HAC_INVALID, "column %s is not read: %s", l->name, l->why);
    hac_flat_column *column = aligned_alloc(64, (sizeof *column + 63) / 64 * 64);
    if (column == NULL)
        return hac_fail_no_memory(err);
    memset(column, 0, sizeof *column);
    column->file = column->pages.file = file;
    column->leaf = *l;
    column->leaf_index = leaf;
    column->pages.counters = &column->counters;
    column->context = (hac_parquet_context){.target = &column->target,
                                            .dictionary = &column->dictionary,
                                            .strings = &column->strings,
                                            .scratch = &column->scratch,
                                            .at_once = file->limits.page_bytes};
    if (file->limits.page_bytes < UINT32_MAX)
        column->strings.max = BUFFERED_PAGES * ((size_t)file->limits.page_bytes + HAC_PARQUET_SLACK);
    if (!hac_parquet_target_of(l, &column->target)) {
        hac_flat_column_free(column);
        return hac_fail(err, HAC_INVALID, "column %s is not read: its type is not known here", l->name);
    }
    *ret = column;
    return HAC_OK;
}

void hac_flat_column_free(hac_flat_column *column)
{
    if (column == NULL)
        return;
    hac_parquet_memory_leave(column->memory, column->counted);
    hac_parquet_pages_clear(&column->pages);
    hac_parquet_codecs_clear(&column->codecs);
    hac_string_buffer_clear(&column->strings);
    hac_parquet_dictionary_clear(&column->dictionary);
    free(column->buffer);
    hac_parquet_levels_clear(&column->levels);
    free(column->scratch.last.data);
    free(column);
}

void hac_flat_column_share(hac_flat_column *column, hac_parquet_memory *memory)
{
    column->memory = memory;
}

void hac_flat_column_counters(const hac_flat_column *column, hac_parquet_counters *ret)
{
    *ret = column->counters;
}

/* Whether the values of a chunk lie between two that the type has, or there are none. */
static bool is_bounded(const hac_parquet_chunk *chunk)
{
    const hac_parquet_statistics *s = &chunk->statistics;
    return (s->min.data != NULL && s->max.data != NULL) || s->nulls == chunk->values;
}

bool hac_flat_column_may_fail(const hac_flat_column *c)
{
    if (c->target.is_text || c->target.physical == HAC_PARQUET_BOOLEAN)
        return false;
    switch (c->target.rule.kind) {
    case HAC_RULE_COPY_4:
    case HAC_RULE_COPY_8:
    case HAC_RULE_I32:
    case HAC_RULE_U32:
    case HAC_RULE_HALF:
    case HAC_RULE_FLOAT_64:
    case HAC_RULE_HALF_64:
    case HAC_RULE_WIDE_32:
    case HAC_RULE_WIDE_64:
        return false;
    case HAC_RULE_NANOS: /* values in between need not be whole microseconds */
    case HAC_RULE_INT96:
    case HAC_RULE_INT96_NANOS:
        return true;
    default:
        break;
    }
    for (size_t g = 0; g < c->file->n_groups; g++)
        if (!is_bounded(&c->file->groups[g].chunks[c->leaf_index]))
            return true;
    return false;
}

/* Prefixes an error in the file with its place. */
static hac_status fail_at(const hac_flat_column *c, hac_status status, bool in_page, hac_error *err)
{
    char page[32] = "";
    if (status != HAC_FAILED)
        return status;
    if (in_page && c->in_dictionary)
        snprintf(page, sizeof page, ", dictionary page");
    else if (in_page)
        snprintf(page, sizeof page, ", page %llu",
                 (unsigned long long)(c->page.there ? c->page.number : c->next_page));
    return hac_error_prefix(err, "row group %zu, column %s%s", c->group, c->leaf.name, page);
}

/* ---- pages --------------------------------------------------------------------------------------------- */

static uint64_t more_than(uint64_t wanted, uint64_t capacity)
{
    return wanted > capacity ? wanted - capacity : 0;
}

/* The memory that the current page adds; a dictionary's values are made in addition to its bytes. */
static uint64_t growth(const hac_flat_column *c, bool in_strings)
{
    const hac_parquet_page_header *h = &c->pages.header;
    size_t min = c->target.width > 0 ? c->target.width : sizeof(uint32_t);
    uint64_t entries = h->uncompressed / min < h->values ? h->uncompressed / min : h->values;
    uint64_t made = in_strings ? more_than((uint64_t)c->strings.low + h->uncompressed, c->strings.size)
                               : more_than(h->uncompressed, c->buffer_capacity);
    if (c->in_dictionary)
        made += more_than(entries * c->target.size, c->dictionary.values_capacity);
    return made + more_than(h->compressed, c->pages.capacity);
}

/* Counts the column's memory and `more` bytes. */
static hac_status count_memory(hac_flat_column *c, uint64_t more, hac_error *err)
{
    uint64_t held = (uint64_t)c->pages.capacity + c->buffer_capacity + c->strings.size +
                    c->dictionary.values_capacity + c->dictionary.states_capacity + c->scratch.last.size;
    return hac_parquet_memory_count(c->memory, &c->counted, held + more, err);
}

static hac_status make_buffer(hac_flat_column *c, size_t bytes, hac_error *err)
{
    if (bytes <= c->buffer_capacity && c->buffer != NULL)
        return HAC_OK;
    free(c->buffer);
    c->buffer_capacity = 0;
    c->buffer = malloc(bytes + HAC_PARQUET_SLACK);
    if (c->buffer == NULL)
        return hac_fail_no_memory(err);
    c->buffer_capacity = bytes;
    return HAC_OK;
}

/* Reads the page's levels, which v2 does not compress, and its values. */
static hac_status unpack_page(hac_flat_column *c, const uint8_t *stored, uint8_t *to, hac_error *err)
{
    const hac_parquet_page_header *h = &c->pages.header;
    size_t levels = (size_t)h->definition_bytes + h->repetition_bytes;
    size_t bytes = h->compressed - levels, made = h->uncompressed - levels;
    uint8_t codec = h->type != HAC_PAGE_DATA_V2 || h->values_compressed ? c->pages.chunk->codec
                                                                        : (uint8_t)HAC_PARQUET_UNCOMPRESSED;
    uint64_t start = hac_now_ns();
    memcpy(to, stored, levels);
    if (bytes == 0 && made == 0) /* decompressors do not accept the empty page */
        return HAC_OK;
    hac_status status =
        hac_parquet_decompress(&c->codecs, codec, stored + levels, bytes, to + levels, made, err);
    memset(to + levels + made, 0, HAC_PARQUET_SLACK);
    c->counters.bytes_decompressed += h->uncompressed;
    c->counters.decompress_seconds += hac_seconds_since(start);
    return status;
}

/* Decompresses the page: into the string buffer, at *ret_place, if refs to its values will point there. */
static hac_status load(hac_flat_column *c, bool in_strings, const uint8_t **ret, size_t *ret_place,
                       hac_error *err)
{
    const hac_parquet_page_header *h = &c->pages.header;
    const uint8_t *stored = NULL;
    size_t place = 0;
    hac_status status = count_memory(c, growth(c, in_strings), err);
    if (status == HAC_OK)
        status = hac_parquet_pages_stored(&c->pages, &stored, err);
    if (status != HAC_OK)
        return status;
    bool as_is = c->pages.chunk->codec == HAC_PARQUET_UNCOMPRESSED && h->compressed == h->uncompressed;
    if (as_is && !in_strings) {
        *ret = stored;
        return HAC_OK;
    }
    status = in_strings ? hac_string_buffer_place(&c->strings, (size_t)h->uncompressed + HAC_PARQUET_SLACK,
                                                  &place, err)
                        : make_buffer(c, h->uncompressed, err);
    if (status != HAC_OK)
        return status;
    uint8_t *to = in_strings ? c->strings.data + place : c->buffer;
    status = unpack_page(c, stored, to, err);
    *ret = to;
    *ret_place = place;
    return status;
}

static hac_status load_dictionary(hac_flat_column *c, hac_error *err)
{
    const hac_parquet_page_header *h = &c->pages.header;
    const uint8_t *data = NULL;
    size_t place = 0;
    if (h->encoding != HAC_ENCODING_PLAIN && h->encoding != HAC_ENCODING_PLAIN_DICTIONARY)
        return hac_fail(err, HAC_FAILED, "a dictionary's encoding is PLAIN, and this one's is number %d",
                        (int)h->encoding);
    if (c->next_page > 0 || c->dictionary.there)
        return hac_fail(err, HAC_FAILED, "the dictionary is not the first page");
    hac_status status =
        load(c, hac_parquet_values_in_strings(&c->target, HAC_ENCODING_PLAIN), &data, &place, err);
    if (status == HAC_OK)
        status = hac_parquet_dictionary_make(&c->dictionary, &c->context, h->values, data, place,
                                             h->uncompressed, err);
    if (status == HAC_OK)
        hac_string_buffer_keep(&c->strings);
    c->serial++;
    return status;
}

static hac_status check_page(hac_flat_column *c, hac_error *err)
{
    const hac_parquet_page_header *h = &c->pages.header;
    if (h->values > c->rows_unpaged)
        return hac_fail(err, HAC_FAILED, "it holds %u values, and the row group has %llu left", h->values,
                        (unsigned long long)c->rows_unpaged);
    hac_status status = hac_parquet_levels_check(&c->leaf, h, err);
    return status == HAC_OK ? hac_parquet_values_kind_of(&c->target, h->encoding, &c->page.kind, err)
                            : status;
}

/* Reads the header of the next data page with rows, after a dictionary page, if any. */
static hac_status next_page(hac_flat_column *c, hac_error *err)
{
    c->page.there = c->page.open = false;
    c->page.rows = c->page.at = 0;
    while (c->page.rows == 0) {
        hac_status status = hac_parquet_pages_next(&c->pages, err);
        if (status == HAC_NOT_FOUND)
            return hac_fail(err, HAC_FAILED, "the column chunk ends %llu values too early",
                            (unsigned long long)c->rows_unpaged);
        c->in_dictionary = status == HAC_OK && c->pages.header.type == HAC_PAGE_DICTIONARY;
        if (c->in_dictionary)
            status = load_dictionary(c, err);
        else if (status == HAC_OK && (status = check_page(c, err)) == HAC_OK) {
            c->page.rows = c->pages.header.values;
            c->page.number = c->next_page++;
        }
        if (status != HAC_OK)
            return status;
    }
    c->rows_unpaged -= c->page.rows;
    c->page.there = true;
    return HAC_OK;
}

/* A page with only plain values is read in parts, which stay in the processor's cache. */
static bool open_in_parts(hac_flat_column *c)
{
    const hac_parquet_page_header *h = &c->pages.header;
    size_t levels = (size_t)h->definition_bytes + h->repetition_bytes;
    bool unchecked = !h->has_checksum || c->file->limits.ignore_checksums;
    c->page.in_parts = c->page.kind == HAC_VALUES_FIXED && !c->target.is_text &&
                       c->leaf.max_definition == 0 && c->pages.chunk->codec == HAC_PARQUET_UNCOMPRESSED &&
                       h->compressed == h->uncompressed && unchecked;
    if (!c->page.in_parts)
        return false;
    c->page.first = levels;
    c->page.values =
        (hac_parquet_values){.kind = HAC_VALUES_FIXED, .count = (h->uncompressed - levels) / c->target.width};
    c->page.open = true;
    c->levels.there = false;
    c->page.place = c->page.place_end = 0;
    return true;
}

static hac_status open_page(hac_flat_column *c, hac_error *err)
{
    const hac_parquet_page_header *h = &c->pages.header;
    const uint8_t *data = NULL;
    size_t place = 0, used = 0, bytes = h->uncompressed;
    bool in_strings = hac_parquet_values_in_strings(&c->target, h->encoding);
    if (open_in_parts(c))
        return HAC_OK;
    hac_status status = load(c, in_strings, &data, &place, err);
    if (status == HAC_OK)
        status =
            hac_parquet_levels_begin(&c->levels, &c->leaf, c->target.kernels, h, data, bytes, &used, err);
    if (status == HAC_OK)
        status = hac_parquet_values_begin(&c->page.values, &c->context, h->encoding, data + used,
                                          place + used, bytes - used, err);
    c->page.open = status == HAC_OK;
    c->page.place = place;
    c->page.place_end = in_strings ? place + bytes + HAC_PARQUET_SLACK : place;
    return status;
}

/* Reads the states of the next n rows into c->states, and the number of rows that are not null. */
static hac_status take_states(hac_flat_column *c, size_t n, size_t *ret_values, hac_error *err)
{
    size_t nulls = 0;
    hac_status status = hac_parquet_levels_states(&c->levels, &c->leaf, n, c->states, &nulls, err);
    *ret_values = n - nulls;
    return status;
}

/* Skips rows of an open page. */
static hac_status skip_in_page(hac_flat_column *c, uint64_t rows, hac_error *err)
{
    hac_status status = HAC_OK;
    for (uint64_t left = rows; left > 0 && status == HAC_OK;) {
        size_t n = left < HAC_BATCH_ROWS ? (size_t)left : HAC_BATCH_ROWS, values = n;
        if (c->levels.there)
            status = take_states(c, n, &values, err);
        if (status == HAC_OK)
            status = hac_parquet_values_skip(&c->page.values, &c->context, values, err);
        left -= n;
    }
    return status;
}

/* Finds a page with rows left, and skips its first `at` rows. */
static hac_status want_page(hac_flat_column *c, bool open, hac_error *err)
{
    hac_status status = HAC_OK;
    if (!c->page.there || c->page.at == c->page.rows)
        status = next_page(c, err);
    if (status != HAC_OK || !open || c->page.open)
        return status;
    status = open_page(c, err);
    if (status == HAC_OK)
        status = skip_in_page(c, c->page.at, err);
    return status;
}

/* After the last row: checks that no values are left. Bytes that are not a page may follow. */
static hac_status check_end(hac_flat_column *c, hac_error *err)
{
    hac_parquet_pages *pages = &c->pages;
    while (c->rows_left == 0 && pages->at < pages->end && !pages->chunk->short_by_header) {
        if (hac_parquet_pages_next(pages, NULL) != HAC_OK)
            return HAC_OK;
        pages->counters->pages--;
        c->page.there = false;
        if (pages->header.type != HAC_PAGE_DICTIONARY && pages->header.values > 0)
            return hac_fail(err, HAC_FAILED, "it is the first of those behind the last row of the row group");
    }
    return HAC_OK;
}

/* ---- beginning and leaving out ------------------------------------------------------------------------- */

hac_status hac_flat_column_begin(hac_flat_column *c, size_t group, hac_error *err)
{
    const hac_parquet_file *file = c->file;
    if (group >= file->n_groups)
        return hac_fail(err, HAC_INVALID, "row group %zu of %zu", group, file->n_groups);
    const hac_parquet_chunk *chunk = &file->groups[group].chunks[c->leaf_index];
    c->begun = false;
    c->group = group;
    hac_status status = chunk->why == NULL ? hac_parquet_codec_known(chunk->codec, err)
                                           : hac_fail(err, HAC_FAILED, "%s", chunk->why);
    if (status != HAC_OK)
        return fail_at(c, status, false, err);
    hac_parquet_pages_begin(
        &c->pages, chunk, group + 1 < file->n_groups ? &file->groups[group + 1].chunks[c->leaf_index] : NULL);
    hac_string_buffer_empty(&c->strings);
    size_t nowhere = 0;
    if ((status = hac_string_buffer_place(&c->strings, 0, &nowhere, err)) != HAC_OK)
        return status; /* refs of empty strings need a base, too */
    c->dictionary.there = false;
    c->dictionary.entries = 0;
    c->scratch.last.bytes = 0;
    c->rows_left = c->rows_unpaged = c->leaf.max_repetition > 0 ? chunk->values : file->groups[group].rows;
    c->next_page = 0;
    c->page = (data_page){0};
    c->ahead.rows = 0;
    c->in_dictionary = false;
    c->begun = true;
    return HAC_OK;
}

static hac_status check_rows(const hac_flat_column *c, uint64_t rows, hac_error *err)
{
    if (!c->begun || rows > c->rows_left)
        return hac_fail(err, HAC_INTERNAL, "%llu rows of a row group that has %llu left",
                        (unsigned long long)rows, (unsigned long long)(c->begun ? c->rows_left : 0));
    return HAC_OK;
}

/* After a failure nothing can be read. */
static hac_status failed(hac_flat_column *c, hac_status status, hac_error *err)
{
    c->begun = false;
    return fail_at(c, status, true, err);
}

hac_status hac_flat_column_skip(hac_flat_column *c, uint64_t rows, hac_error *err)
{
    hac_status status = check_rows(c, rows, err);
    if (status != HAC_OK)
        return status;
    size_t ahead = rows < c->ahead.rows ? (size_t)rows : c->ahead.rows;
    c->ahead.first += ahead;
    c->ahead.rows -= ahead;
    for (uint64_t left = rows - ahead, n = 0; left > 0; left -= n) {
        if ((status = want_page(c, false, err)) != HAC_OK)
            return failed(c, status, err);
        uint32_t rest = c->page.rows - c->page.at;
        n = left < rest ? left : rest;
        if (n == rest) {
            c->counters.pages_skipped += !c->page.open;
            c->counters.bytes_skipped += c->page.open ? 0 : c->pages.header.compressed;
            c->scratch.last.bytes = 0; /* it is unknown now */
        } else if (c->page.open && (status = skip_in_page(c, n, err)) != HAC_OK) {
            return failed(c, status, err);
        }
        c->page.at += (uint32_t)n;
    }
    c->rows_left -= rows;
    status = check_end(c, err);
    return status == HAC_OK ? HAC_OK : failed(c, status, err);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* Where the next piece of a batch goes, and which rows of it are wanted. */
typedef struct column_piece {
    size_t rows;               /* of the column */
    const uint16_t *selection; /* NULL: all rows; else the remaining rows, counted from `base` */
    size_t base, given;
    uint8_t *values, *states;
    uint32_t *codes; /* NULL: they are not wanted */
    bool marked;
    bool coded; /* all values are entries of the dictionary */
} column_piece;

static void spread(const hac_parquet_target *t, const void *from, const uint8_t *states, size_t n, void *ret)
{
    if (t->size == 8)
        t->kernels->spread_8(from, states, n, ret);
    else if (t->size == 4)
        t->kernels->spread_4(from, states, n, ret);
    else if (t->size == 1)
        t->kernels->spread_1(from, states, n, ret);
    else
        t->kernels->spread_16(from, states, n, ret);
}

/* Reads the next n values of a page that is read in parts. */
static hac_status next_part(hac_flat_column *c, size_t n, hac_parquet_values *ret, hac_error *err)
{
    hac_parquet_values *v = &c->page.values;
    const uint8_t *data = NULL;
    if (n > v->count - v->at)
        n = v->count - v->at; /* too few, which is found later */
    hac_status status = hac_parquet_pages_part(&c->pages, c->page.first + v->at * c->target.width,
                                               n * c->target.width, &data, err);
    *ret = (hac_parquet_values){.kind = HAC_VALUES_FIXED, .data = data, .count = n};
    v->at += n;
    return status;
}

/* Gives the codes of `n` values at `positions` (NULL: the first ones) of `from`. */
static void give_codes(const column_piece *p, const uint32_t *from, const uint16_t *positions, size_t n,
                       uint32_t *ret)
{
    if (p->codes == NULL || !p->coded)
        return;
    if (positions == NULL)
        memcpy(ret, from, n * sizeof *ret);
    else
        for (size_t i = 0; i < n; i++)
            ret[i] = from[positions[i]];
}

/* No row is null. */
static hac_status read_full(hac_flat_column *c, column_piece *p, hac_error *err)
{
    const uint16_t *positions = NULL;
    hac_parquet_values part, *values = c->page.in_parts ? &part : &c->page.values;
    bool marked = false;
    hac_status status = c->page.in_parts ? next_part(c, p->rows, &part, err) : HAC_OK;
    if (status != HAC_OK)
        return status;
    if (p->selection != NULL && p->base == 0) {
        positions = p->selection;
    } else if (p->selection != NULL) {
        for (size_t i = 0; i < p->given; i++)
            c->positions[i] = (uint16_t)(p->selection[i] - p->base);
        positions = c->positions;
    }
    memset(p->states, HAC_ROW_OK, p->given);
    status = hac_parquet_values_get(values, &c->context, p->rows, positions, p->given, p->values, c->marks,
                                    &marked, err);
    if (status != HAC_OK)
        return status;
    give_codes(p, c->scratch.codes, positions, p->given, p->codes);
    if (marked)
        memcpy(p->states, c->marks, p->given);
    p->marked = marked;
    return HAC_OK;
}

/* The positions among the values of the selected rows that are not null. */
static size_t rank(hac_flat_column *c, const column_piece *p)
{
    size_t n = 0, row = 0, values = 0;
    for (size_t i = 0; i < p->given; i++) {
        size_t wanted = p->selection[i] - p->base;
        for (; row < wanted; row++)
            values += c->states[row] == HAC_ROW_OK;
        p->states[i] = c->states[wanted];
        c->positions[n] = (uint16_t)values;
        n += c->states[wanted] == HAC_ROW_OK;
    }
    return n;
}

/* With nulls: values are read contiguously, then moved to their rows. */
static hac_status read_nulls(hac_flat_column *c, column_piece *p, size_t values, hac_error *err)
{
    size_t wanted = values;
    bool marked = false;
    if (p->selection != NULL)
        wanted = rank(c, p);
    else
        memcpy(p->states, c->states, p->given);
    hac_status status = hac_parquet_values_get(&c->page.values, &c->context, values,
                                               p->selection != NULL ? c->positions : NULL, wanted, c->dense,
                                               c->marks, &marked, err);
    if (status != HAC_OK)
        return status;
    spread(&c->target, c->dense, p->states, p->given, p->values);
    if (p->codes != NULL && p->coded) {
        give_codes(p, c->scratch.codes, p->selection != NULL ? c->positions : NULL, wanted, c->dense_codes);
        c->target.kernels->spread_4(c->dense_codes, p->states, p->given, p->codes);
    }
    for (size_t i = 0, next = 0; marked && i < p->given; i++)
        if (p->states[i] == HAC_ROW_OK)
            p->states[i] = c->marks[next++];
    p->marked = marked || wanted < p->given;
    return HAC_OK;
}

static hac_status read_from_page(hac_flat_column *c, column_piece *p, hac_error *err)
{
    size_t values = p->rows;
    hac_status status = take_states(c, p->rows, &values, err);
    if (status == HAC_OK)
        status = values == p->rows ? read_full(c, p, err) : read_nulls(c, p, values, err);
    c->page.at += (uint32_t)p->rows;
    return status;
}

/* Reads rows whose codes were returned before. */
static void read_from_ahead(hac_flat_column *c, column_piece *p)
{
    const uint32_t *codes = c->ahead.codes + c->ahead.first;
    const uint8_t *states = c->ahead.states + c->ahead.first;
    const uint16_t *positions = NULL;
    bool marked = false, nulls = false;
    if (p->selection != NULL) {
        for (size_t i = 0; i < p->given; i++) {
            c->positions[i] = (uint16_t)(p->selection[i] - p->base);
            p->states[i] = states[c->positions[i]];
        }
        positions = c->positions;
    } else {
        memcpy(p->states, states, p->given);
    }
    hac_parquet_dictionary_get(&c->dictionary, &c->target, codes, positions, p->given, p->values, c->marks,
                               &marked);
    give_codes(p, codes, positions, p->given, p->codes);
    for (size_t i = 0; i < p->given; i++) {
        nulls |= p->states[i] != HAC_ROW_OK;
        if (marked && p->states[i] == HAC_ROW_OK)
            p->states[i] = c->marks[i];
    }
    for (size_t i = 0; nulls && c->target.is_text && i < p->given; i++)
        if (p->states[i] != HAC_ROW_OK)
            ((hac_string_ref *)(void *)p->values)[i].length = 0;
    p->marked = nulls || marked;
    c->ahead.first += p->rows;
    c->ahead.rows -= p->rows;
}

/* The number of selected rows among the next `rows`. */
static size_t selected_below(const uint16_t *selection, size_t n, size_t end)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (selection[middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Reads the next piece of a batch from one page. */
static hac_status read_piece(hac_flat_column *c, column_piece *p, size_t left, size_t selected,
                             hac_error *err)
{
    hac_status status = HAC_OK;
    size_t there = c->ahead.rows;
    if (there == 0) {
        if ((status = want_page(c, true, err)) != HAC_OK)
            return status;
        there = c->page.rows - c->page.at;
    }
    p->rows = left < there ? left : there;
    p->given = p->selection == NULL ? p->rows : selected_below(p->selection, selected, p->base + p->rows);
    p->coded = c->ahead.rows > 0 || c->page.kind == HAC_VALUES_CODES;
    if (c->ahead.rows > 0)
        read_from_ahead(c, p);
    else
        status = read_from_page(c, p, err);
    return status;
}

static hac_status read_batch(hac_flat_column *c, size_t rows, const uint16_t *selection, size_t n_selected,
                             hac_column *ret, bool *ret_marked, hac_error *err)
{
    size_t given = 0;
    bool coded = ret->codes != NULL;
    for (size_t done = 0; done < rows;) {
        column_piece p = {.selection = selection != NULL ? selection + given : NULL,
                          .base = done,
                          .values = (uint8_t *)ret->values + given * c->target.size,
                          .states = ret->states + given,
                          .codes = ret->codes != NULL ? ret->codes + given : NULL};
        hac_status status = read_piece(c, &p, rows - done, n_selected - given, err);
        if (status != HAC_OK)
            return status;
        *ret_marked = *ret_marked || p.marked;
        coded &= p.coded;
        done += p.rows;
        given += p.given;
        c->rows_left -= p.rows;
    }
    ret->dictionary = coded ? c->serial : 0;
    ret->codes = coded ? ret->codes : NULL;
    ret->entries =
        c->dictionary.entries > 0 ? c->dictionary.entries : 1; /* rows without a value have code 0 */
    return check_end(c, err);
}

/* Only the current page still needs its place. */
static void begin_room(hac_flat_column *c)
{
    bool needed = c->page.open && c->page.at < c->page.rows;
    hac_string_buffer_begin(&c->strings, needed ? c->page.place : 0, needed ? c->page.place_end : 0);
}

/* The time of one call stands for that of several. */
static void count_read(hac_flat_column *c, size_t given, uint64_t start, double before)
{
    c->counters.bytes_decoded += given * c->target.size;
    if (c->reads++ % CLOCK_CALLS != 0)
        return;
    double others = c->counters.read_seconds + c->counters.decompress_seconds - before;
    c->counters.decode_seconds += CLOCK_CALLS * (hac_seconds_since(start) - others);
}

hac_status hac_flat_column_read(hac_flat_column *c, size_t rows, const uint16_t *selection, size_t n_selected,
                                hac_column *ret, bool *ret_marked, hac_error *err)
{
    hac_status status = check_rows(c, rows, err);
    if (status != HAC_OK)
        return status;
    if (selection != NULL && n_selected == 0) {
        *ret_marked = false;
        return hac_flat_column_skip(c, rows, err);
    }
    uint64_t start = c->reads % CLOCK_CALLS == 0 ? hac_now_ns() : 0;
    double before = c->counters.read_seconds + c->counters.decompress_seconds;
    bool marked = false;
    begin_room(c);
    status = read_batch(c, rows, selection, selection != NULL ? n_selected : rows, ret, &marked, err);
    if (status == HAC_OK) /* including assembled strings */
        status = count_memory(c, 0, err);
    if (status != HAC_OK)
        return failed(c, status, err);
    ret->type = c->target.type;
    ret->bytes = c->target.is_text ? c->strings.data : NULL;
    *ret_marked = marked;
    count_read(c, selection != NULL ? n_selected : rows, start, before);
    return HAC_OK;
}

/* ---- slots --------------------------------------------------------------------------------------------- */

uint64_t hac_flat_column_slots_left(const hac_flat_column *c)
{
    return c->begun ? c->rows_left : 0;
}

/* Reads the values of n slots, of which `values` are there. */
static hac_status read_slots(hac_flat_column *c, size_t n, size_t values, bool levels_only, hac_column *ret,
                             hac_error *err)
{
    column_piece p = {.rows = n, .given = n, .values = ret->values, .states = ret->states};
    if (!levels_only)
        return read_nulls(c, &p, values, err);
    memcpy(ret->states, c->states, n);
    return hac_parquet_values_skip(&c->page.values, &c->context, values, err);
}

hac_status hac_flat_column_slots(hac_flat_column *c, size_t max, bool levels_only, hac_column *ret,
                                 uint8_t *ret_repetition, uint8_t *ret_definition, size_t *ret_n,
                                 hac_error *err)
{
    size_t nulls = 0;
    uint64_t start = c->reads % CLOCK_CALLS == 0 ? hac_now_ns() : 0;
    double before = c->counters.read_seconds + c->counters.decompress_seconds;
    begin_room(c);
    hac_status status = want_page(c, true, err);
    if (status != HAC_OK)
        return failed(c, status, err);
    size_t left = c->page.rows - c->page.at, n = left < max ? left : max;
    status = hac_parquet_levels_slots(&c->levels, &c->leaf, n, ret_repetition, ret_definition, c->states,
                                      &nulls, err);
    if (status == HAC_OK)
        status = read_slots(c, n, n - nulls, levels_only, ret, err);
    c->page.at += (uint32_t)n;
    c->rows_left -= n;
    if (status == HAC_OK)
        status = count_memory(c, 0, err);
    if (status != HAC_OK)
        return failed(c, status, err);
    ret->type = c->target.type;
    ret->bytes = c->target.is_text ? c->strings.data : NULL;
    *ret_n = n;
    count_read(c, n, start, before);
    return HAC_OK;
}

hac_status hac_flat_column_end(hac_flat_column *c, hac_error *err)
{
    hac_status status = check_end(c, err);
    return status == HAC_OK ? HAC_OK : failed(c, status, err);
}

/* ---- codes --------------------------------------------------------------------------------------------- */

/* Appends the codes of the page's next n rows. */
static hac_status look_ahead(hac_flat_column *c, size_t n, hac_error *err)
{
    size_t values = n, at = c->ahead.first + c->ahead.rows;
    hac_status status = take_states(c, n, &values, err);
    uint32_t *codes = values == n ? c->ahead.codes + at : c->scratch.codes;
    if (status == HAC_OK)
        status = hac_parquet_values_codes(&c->page.values, &c->context, values, codes, err);
    if (status != HAC_OK)
        return status;
    if (values == n) {
        memset(c->ahead.states + at, HAC_ROW_OK, n);
    } else {
        memcpy(c->ahead.states + at, c->states, n);
        c->target.kernels->spread_4(c->scratch.codes, c->states, n, c->ahead.codes + at);
    }
    c->page.at += (uint32_t)n;
    c->ahead.rows += n;
    return HAC_OK;
}

hac_status hac_flat_column_codes(hac_flat_column *c, size_t rows, const uint32_t **ret_codes,
                                 const uint8_t **ret_states, hac_error *err)
{
    codes_ahead *ahead = &c->ahead;
    hac_status status = check_rows(c, rows, err);
    if (status != HAC_OK)
        return status;
    if (ahead->first > 0) {
        memmove(ahead->codes, ahead->codes + ahead->first, ahead->rows * sizeof *ahead->codes);
        memmove(ahead->states, ahead->states + ahead->first, ahead->rows);
        ahead->first = 0;
    }
    begin_room(c);
    while (ahead->rows < rows) {
        if ((status = want_page(c, false, err)) != HAC_OK)
            return failed(c, status, err);
        if (c->page.kind != HAC_VALUES_CODES)
            return HAC_NOT_FOUND;
        if ((status = want_page(c, true, err)) != HAC_OK)
            return failed(c, status, err);
        size_t there = c->page.rows - c->page.at, n = rows - ahead->rows;
        if ((status = look_ahead(c, n < there ? n : there, err)) != HAC_OK)
            return failed(c, status, err);
    }
    *ret_codes = ahead->codes;
    *ret_states = ahead->states;
    return HAC_OK;
}

void hac_flat_column_judge(const hac_flat_column *c, const uint8_t *of, const uint32_t *codes, size_t rows,
                           uint8_t *ret)
{
    if (c->dictionary.entries <= HAC_PARQUET_JUDGED_MIN)
        c->target.kernels->look_up_few(of, codes, rows, ret);
    else
        c->target.kernels->look_up_1(of, codes, NULL, rows, ret);
}

void hac_flat_column_dictionary(const hac_flat_column *c, uint32_t *ret_entries, uint64_t *ret_serial)
{
    *ret_entries = c->dictionary.there ? c->dictionary.entries : 0;
    *ret_serial = c->serial;
}

hac_status hac_flat_column_entries(hac_flat_column *c, uint32_t first, size_t rows, hac_column *ret,
                                   bool *ret_marked, hac_error *err)
{
    const hac_parquet_dictionary *d = &c->dictionary;
    if (!d->there || first > d->entries || rows > d->entries - first || rows > HAC_BATCH_ROWS)
        return hac_fail(err, HAC_INTERNAL, "entries from %u of a dictionary that has not so many", first);
    memcpy(ret->values, (const uint8_t *)d->values + first * c->target.size, rows * c->target.size);
    if (d->marked)
        memcpy(ret->states, d->states + first, rows);
    else
        memset(ret->states, HAC_ROW_OK, rows);
    ret->type = c->target.type;
    ret->bytes = c->target.is_text ? c->strings.data : NULL;
    ret->dictionary = 0; /* no entry comes twice */
    ret->codes = NULL;
    *ret_marked = d->marked;
    return HAC_OK;
}
