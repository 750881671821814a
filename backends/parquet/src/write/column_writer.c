/* SPDX-License-Identifier: Apache-2.0 */
#include "column_writer.h"

#include "format/page_header.h"
#include "format/sizes.h"
#include "format/utf8_check.h"
#include "hybrid_writer.h"
#include "thrift_writer.h"

/* A sample decides whether there is a dictionary: not if more than 9 of 10 values in its second half are new.
 * A column without a dictionary is examined again after this multiple of the sample. */
enum { SAMPLE_AGAIN = 16, SAMPLE_MIN = 64 };

void hac_scratch_clear(hac_scratch *scratch)
{
    hac_compressor_clear(&scratch->compressor);
    hac_bytes_clear(&scratch->body);
    hac_bytes_clear(&scratch->packed);
    hac_bytes_clear(&scratch->header);
}

void hac_column_writer_init(hac_column_writer *column, hac_value_type type, size_t page_bytes,
                            size_t dictionary_bytes)
{
    *column = (hac_column_writer){.page_bytes = page_bytes};
    hac_pending_rows_init(&column->incoming, type);
    hac_pending_rows_init(&column->pending, type);
    column->dictionary = (hac_dictionary_writer){.width = column->pending.width, .limit = dictionary_bytes};
    column->no_dictionary = column->pending.stored == HAC_STORED_BOOL || dictionary_bytes == 0;
}

void hac_column_writer_clear(hac_column_writer *column)
{
    hac_pending_rows_clear(&column->incoming);
    hac_pending_rows_clear(&column->pending);
    hac_bytes_clear(&column->data);
    hac_bytes_clear(&column->pages);
    hac_bytes_clear(&column->dictionary_page);
    hac_dictionary_clear(&column->dictionary);
}

/* ---- whether a dictionary is worth it ------------------------------------------------------------------ */

/* Finds the codes of pending values [first, first + n), n ≤ HAC_PAGE_ROWS; returns how many there are. */
static size_t codes_of(hac_column_writer *c, size_t first, size_t n, uint32_t *ret_codes)
{
    if (c->pending.stored == HAC_STORED_TEXT)
        return hac_dictionary_text_codes(&c->dictionary, hac_pending_rows_ends(&c->pending) + first,
                                         c->pending.values.data, n, ret_codes);
    return hac_dictionary_codes(&c->dictionary, hac_pending_rows_value(&c->pending, first), n, ret_codes);
}

static bool worth_a_dictionary(hac_column_writer *c, hac_scratch *s, size_t sample)
{
    size_t half = sample / 2;
    if (codes_of(c, c->now.value, half, s->codes) < half)
        return false;
    uint32_t before = c->dictionary.n;
    size_t rest = sample - half, coded = codes_of(c, c->now.value + half, rest, s->codes);
    return coded == rest && (c->dictionary.n - before) * (uint64_t)10 <= rest * (uint64_t)9;
}

static void decide(hac_column_writer *c, hac_scratch *s)
{
    size_t sample = c->pending.n - c->now.value;
    if (sample > HAC_PAGE_ROWS)
        sample = HAC_PAGE_ROWS;
    if (c->last_values > 0 && sample > c->last_values * 2 + SAMPLE_MIN) /* small row groups */
        sample = c->last_values * 2 + SAMPLE_MIN;
    if (c->no_dictionary || c->no_dictionary_values > 0) {
        c->now.mode = HAC_COLUMN_PLAIN;
    } else if (sample > 0) {
        c->now.mode = worth_a_dictionary(c, s, sample) ? HAC_COLUMN_DICTIONARY : HAC_COLUMN_PLAIN;
        hac_dictionary_cut(&c->dictionary, 0);
        if (c->now.mode == HAC_COLUMN_PLAIN)
            c->no_dictionary_values = (uint64_t)sample * SAMPLE_AGAIN;
    }
    c->kept.mode = c->now.mode;
}

/* ---- pages --------------------------------------------------------------------------------------------- */

/* A range of pending rows that becomes a page. */
typedef struct page_span {
    size_t row, rows, value, values;
} page_span;

static size_t count_values(const uint8_t *levels, size_t rows)
{
    size_t n = 0;
    for (size_t i = 0; i < rows; i++)
        n += levels[i];
    return n;
}

/* The number of values from this one on that fit a page. */
static size_t values_of_page(const hac_column_writer *c, size_t value)
{
    size_t max = c->page_bytes / (c->pending.width == 0 ? 4 : c->pending.width);
    if (c->pending.stored == HAC_STORED_BOOL)
        max = c->page_bytes * 8;
    if (c->now.mode == HAC_COLUMN_DICTIONARY)
        max = c->page_bytes / sizeof(uint32_t);
    else if (c->pending.stored == HAC_STORED_TEXT) {
        const uint32_t *ends = hac_pending_rows_ends(&c->pending);
        size_t low = 0, left = c->pending.n - value, high = left < HAC_PAGE_ROWS ? left : HAC_PAGE_ROWS;
        while (low < high) {
            size_t middle = (low + high + 1) / 2;
            if (4 * middle + (ends[value + middle] - ends[value]) <= c->page_bytes)
                low = middle;
            else
                high = middle - 1;
        }
        max = low;
    }
    return max == 0 ? 1 : max;
}

/* The rows from `row` on, up to a number of values. */
static page_span next_span(const hac_column_writer *c, size_t row, size_t value, size_t end)
{
    const uint8_t *levels = c->pending.levels.data + row;
    size_t max = values_of_page(c, value);
    page_span ret = {.row = row, .rows = end - row, .value = value};
    if (ret.rows > HAC_PAGE_ROWS)
        ret.rows = HAC_PAGE_ROWS;
    ret.values = count_values(levels, ret.rows);
    if (ret.values <= max)
        return ret;
    ret.values = 0;
    for (ret.rows = 0; ret.values + levels[ret.rows] <= max; ret.rows++)
        ret.values += levels[ret.rows];
    return ret;
}

/* Shortens the span to the rows up to its `values`-th value. */
static void shorten(const hac_column_writer *c, page_span *s, size_t values)
{
    const uint8_t *levels = c->pending.levels.data + s->row;
    size_t rows = 0;
    for (size_t n = 0; n + levels[rows] <= values; rows++)
        n += levels[rows];
    s->rows = rows;
    s->values = values;
}

static bool put_levels(const hac_column_writer *c, const page_span *p, hac_bytes *body)
{
    uint32_t bytes = 0;
    body->n = 0;
    if (!hac_bytes_add(body, &bytes, sizeof bytes) ||
        !hac_hybrid_levels(body, c->pending.levels.data + p->row, p->rows))
        return false;
    bytes = (uint32_t)(body->n - sizeof bytes);
    memcpy(body->data, &bytes, sizeof bytes);
    return true;
}

static bool put_plain_texts(const hac_pending_rows *pending, const page_span *p, hac_bytes *body)
{
    const uint32_t *ends = hac_pending_rows_ends(pending) + p->value;
    if (p->values == 0)
        return true;
    if (!hac_bytes_reserve(body, p->values * 4 + (ends[p->values] - ends[0])))
        return false;
    uint8_t *at = body->data + body->n;
    for (size_t i = 0; i < p->values; i++) {
        uint32_t bytes = ends[i + 1] - ends[i];
        memcpy(at, &bytes, 4);
        memcpy(at + 4, pending->values.data + ends[i], bytes);
        at += 4 + bytes;
    }
    body->n = (size_t)(at - body->data);
    return true;
}

static bool put_plain(const hac_column_writer *c, const page_span *p, hac_bytes *body)
{
    if (c->pending.stored == HAC_STORED_TEXT)
        return put_plain_texts(&c->pending, p, body);
    if (p->values == 0)
        return true;
    const uint8_t *values = hac_pending_rows_value(&c->pending, p->value);
    if (c->pending.stored == HAC_STORED_BOOL)
        return hac_pack_bools(body, values, p->values);
    return hac_bytes_add(body, values, p->values * c->pending.width);
}

static bool put_codes(const hac_column_writer *c, const page_span *p, uint32_t *codes, hac_bytes *body)
{
    unsigned width = hac_parquet_bits(c->dictionary.n - 1);
    uint8_t byte = (uint8_t)(width == 0 ? 1 : width); /* not every reader accepts 0 */
    return hac_bytes_add(body, &byte, 1) && hac_hybrid_codes(body, codes, p->values, byte);
}

static void text_min_max(hac_column_writer *c, const page_span *p, const uint32_t *codes, hac_min_max *ret)
{
    hac_text_min_max min_max = {0};
    if (codes != NULL) { /* each entry counts once for a page */
        hac_dictionary_text *texts = hac_dictionary_texts(&c->dictionary);
        uint32_t mark = ++c->page_mark;
        for (size_t i = 0; i < p->values; i++) {
            hac_dictionary_text *text = &texts[codes[i]];
            if (text->seen == mark)
                continue;
            text->seen = mark;
            hac_text_min_max_add(&min_max, c->dictionary.plain.data + text->start, text->bytes);
        }
    } else {
        const uint32_t *ends = hac_pending_rows_ends(&c->pending) + p->value;
        for (size_t i = 0; i < p->values; i++)
            hac_text_min_max_add(&min_max, c->pending.values.data + ends[i], ends[i + 1] - ends[i]);
    }
    hac_text_min_max_end(&min_max, ret);
}

/* A dictionary's entries are checked when they are added. */
static void check_utf8(hac_column_writer *c, const page_span *p)
{
    if (c->not_utf8 || c->pending.stored != HAC_STORED_TEXT || p->values == 0)
        return;
    const uint32_t *ends = hac_pending_rows_ends(&c->pending) + p->value;
    const uint8_t *texts = c->pending.values.data;
    if (hac_is_ascii(texts + ends[0], ends[p->values] - ends[0]))
        return;
    for (size_t i = 0; i < p->values && !c->not_utf8; i++)
        c->not_utf8 = !hac_is_utf8(texts + ends[i], ends[i + 1] - ends[i]);
}

/* Writes the header of a data page, or of a dictionary's page (rows: entries). */
static bool put_header(hac_scratch *s, int type, size_t rows, hac_parquet_encoding encoding)
{
    hac_thrift_writer w = HAC_THRIFT_WRITER(&s->header);
    s->header.n = 0;
    hac_thrift_put_i32(&w, 1, type);
    hac_thrift_put_i32(&w, 2, (int32_t)s->body.n);
    hac_thrift_put_i32(&w, 3, (int32_t)s->packed.n);
    hac_thrift_put_i32(&w, 4, (int32_t)hac_page_crc(s->packed.data, s->packed.n));
    hac_thrift_put_open(&w, type == HAC_PAGE_DATA ? 5 : 7);
    hac_thrift_put_i32(&w, 1, (int32_t)rows);
    hac_thrift_put_i32(&w, 2, (int32_t)encoding);
    if (type == HAC_PAGE_DATA) {
        hac_thrift_put_i32(&w, 3, HAC_ENCODING_RLE);
        hac_thrift_put_i32(&w, 4, HAC_ENCODING_RLE);
    }
    hac_thrift_put_close(&w);
    hac_thrift_put_close(&w);
    return !s->header.broken;
}

/* Compresses the body and appends header and page to `ret`. */
static hac_status put_page(hac_scratch *s, int type, size_t rows, hac_parquet_encoding encoding,
                           hac_bytes *ret, hac_error *err)
{
    hac_status status = hac_compress(&s->compressor, s->body.data, s->body.n, &s->packed, err);
    if (status != HAC_OK)
        return status;
    if (!put_header(s, type, rows, encoding) || !hac_bytes_add(ret, s->header.data, s->header.n) ||
        !hac_bytes_add(ret, s->packed.data, s->packed.n))
        return hac_fail_no_memory(err);
    return HAC_OK;
}

static hac_status encode_page(hac_column_writer *c, hac_scratch *s, const page_span *p, bool dictionary,
                              hac_error *err)
{
    hac_written_page page = {.offset = c->data.n,
                             .first_row = c->now.group_row,
                             .rows = (uint32_t)p->rows,
                             .nulls = (uint32_t)(p->rows - p->values),
                             .dictionary = dictionary};
    if (!put_levels(c, p, &s->body) ||
        !(dictionary ? put_codes(c, p, s->codes, &s->body) : put_plain(c, p, &s->body)))
        return hac_fail_no_memory(err);
    if (!dictionary)
        check_utf8(c, p);
    if (c->pending.stored == HAC_STORED_TEXT)
        text_min_max(c, p, dictionary ? s->codes : NULL, &page.min_max);
    else if (p->values > 0)
        hac_min_max_of(c->pending.stored, c->pending.width, hac_pending_rows_value(&c->pending, p->value),
                       p->values, &page.min_max);
    hac_status status =
        put_page(s, HAC_PAGE_DATA, p->rows, dictionary ? HAC_ENCODING_RLE_DICTIONARY : HAC_ENCODING_PLAIN,
                 &c->data, err);
    if (status != HAC_OK)
        return status;
    page.bytes = (uint32_t)(c->data.n - page.offset);
    if (!hac_bytes_add(&c->pages, &page, sizeof page))
        return hac_fail_no_memory(err);
    c->now.uncompressed += s->header.n + s->body.n;
    c->now.row += p->rows;
    c->now.value += p->values;
    c->now.group_row += p->rows;
    return HAC_OK;
}

/* Writes the next page: with codes up to the value for which the dictionary has no room, without codes from
 * there on. */
static hac_status next_page(hac_column_writer *c, hac_scratch *s, size_t end, hac_error *err)
{
    page_span p = next_span(c, c->now.row, c->now.value, end);
    if (c->now.mode == HAC_COLUMN_DICTIONARY && p.values > 0) {
        size_t coded = codes_of(c, p.value, p.values, s->codes);
        if (c->dictionary.broken)
            return hac_fail_no_memory(err);
        if (coded < p.values)
            c->now.mode = HAC_COLUMN_PLAIN;
        if (coded == 0)
            return HAC_OK;
        if (coded < p.values)
            shorten(c, &p, coded);
        return encode_page(c, s, &p, true, err);
    }
    return encode_page(c, s, &p, c->now.mode == HAC_COLUMN_DICTIONARY && c->dictionary.n > 0, err);
}

/* ---- trials -------------------------------------------------------------------------------------------- */

static void take_back(hac_column_writer *c)
{
    c->data.n = c->kept.data;
    c->pages.n = c->kept.pages;
    hac_dictionary_cut(&c->dictionary, c->kept.entries);
    if (c->dictionary_entries > c->kept.entries)
        c->dictionary_entries = 0;
    c->now = c->kept;
}

hac_status hac_column_try(hac_column_writer *column, hac_scratch *scratch, size_t rows, hac_error *err)
{
    take_back(column);
    if (column->now.mode == HAC_COLUMN_UNDECIDED)
        decide(column, scratch);
    size_t end = column->now.row + rows;
    while (column->now.row < end) {
        hac_status status = next_page(column, scratch, end, err);
        if (status != HAC_OK)
            return status;
    }
    column->now.data = column->data.n;
    column->now.pages = column->pages.n;
    column->now.entries = column->dictionary.n;
    return HAC_OK;
}

void hac_column_keep(hac_column_writer *column)
{
    uint64_t values = column->now.value - column->kept.value;
    column->group_values += values;
    column->no_dictionary_values -=
        values < column->no_dictionary_values ? values : column->no_dictionary_values;
    column->not_utf8 = column->not_utf8 || column->dictionary.not_utf8;
    column->kept = column->now;
}

hac_status hac_column_seal(hac_column_writer *column, hac_scratch *scratch, hac_error *err)
{
    hac_dictionary_writer *d = &column->dictionary;
    if (d->n == column->dictionary_entries)
        return HAC_OK;
    column->dictionary_entries = 0;
    column->dictionary_page.n = scratch->body.n = 0;
    if (!hac_bytes_add(&scratch->body, d->plain.data, d->plain.n))
        return hac_fail_no_memory(err);
    hac_status status =
        put_page(scratch, HAC_PAGE_DICTIONARY, d->n, HAC_ENCODING_PLAIN, &column->dictionary_page, err);
    if (status != HAC_OK)
        return status;
    column->dictionary_entries = d->n;
    column->dictionary_uncompressed = scratch->header.n + scratch->body.n;
    return HAC_OK;
}

uint64_t hac_column_bytes(const hac_column_writer *column)
{
    const hac_dictionary_writer *d = &column->dictionary;
    if (d->n == 0)
        return column->data.n;
    if (d->n == column->dictionary_entries)
        return column->data.n + column->dictionary_page.n;
    return column->data.n + d->plain.n + d->plain.n / 64 + 64;
}

void hac_column_next_group(hac_column_writer *column)
{
    column->data.n = column->pages.n = 0;
    column->dictionary_entries = 0;
    hac_dictionary_cut(&column->dictionary, 0);
    column->last_values = column->group_values;
    column->group_values = 0;
    column->kept = column->now = (hac_column_state){.row = column->kept.row, .value = column->kept.value};
}
