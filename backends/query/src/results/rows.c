/* SPDX-License-Identifier: Apache-2.0 */
#include "query/rows.h"

#include <stdlib.h>
#include <string.h>

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + 7) & ~UINT64_C(7);
}

/* Finds the offsets of each column's values and states (0: none); returns the offset of the strings. */
static uint64_t place_columns(const hac_rows_block *block, const uint8_t *repr, size_t n_columns,
                              hac_rows_column_place *ret)
{
    uint64_t at = sizeof *block;
    for (size_t c = 0; c < n_columns; c++) {
        ret[c] = (hac_rows_column_place){.values = at};
        at += aligned(block->rows * hac_repr_size(repr[c]));
        if ((block->nullable[c / 64] >> (c % 64) & 1) != 0) {
            ret[c].states = at;
            at += aligned(block->rows);
        }
    }
    return at;
}

/* ---- writing ---- */

void hac_rows_begin(hac_rows_writer *writer, uint8_t *region, uint64_t capacity, uint64_t seed,
                    uint64_t number)
{
    *writer = (hac_rows_writer){.region = region,
                                .capacity = capacity,
                                .bytes = sizeof(hac_rows_header),
                                .seed = seed,
                                .number = number};
    /* the region is empty until it is complete */
    memset(region, 0, capacity < sizeof(uint64_t) ? capacity : sizeof(uint64_t));
}

static bool is_nullable(const hac_column *v, size_t rows)
{
    uint8_t seen = 0;
    for (size_t i = 0; v->states != NULL && i < rows; i++)
        seen |= v->states[i];
    return seen != 0;
}

static void write_strings(const hac_column *v, size_t rows, hac_string_ref *to, uint8_t *strings,
                          uint32_t *used)
{
    const hac_string_ref *refs = v->values;
    for (size_t i = 0; i < rows; i++) {
        uint32_t n = v->states != NULL && v->states[i] != 0 ? 0 : refs[i].length;
        if (n != 0)
            memcpy(strings + *used, v->bytes + refs[i].offset, n);
        to[i] = (hac_string_ref){.offset = *used, .length = n};
        *used += n;
    }
}

/* Splits the rows into two blocks, because references to strings have 32 bits. */
static void add_halves(hac_rows_writer *w, const hac_column *columns, size_t n_columns, size_t rows)
{
    hac_column second[HAC_PROGRAM_OUTPUTS_MAX];
    size_t half = rows / 2;
    for (size_t c = 0; c < n_columns; c++) {
        second[c] = columns[c];
        second[c].values = (uint8_t *)columns[c].values + half * hac_repr_size(hac_repr_of(columns[c].type));
        second[c].states = columns[c].states == NULL ? NULL : columns[c].states + half;
    }
    hac_rows_add(w, columns, n_columns, half);
    hac_rows_add(w, second, n_columns, rows - half);
}

void hac_rows_add(hac_rows_writer *w, const hac_column *columns, size_t n_columns, size_t rows)
{
    hac_rows_column_place places[HAC_PROGRAM_OUTPUTS_MAX];
    uint8_t repr[HAC_PROGRAM_OUTPUTS_MAX] = {0};
    hac_rows_block block = {.rows = (uint32_t)rows};
    uint64_t strings = 0;
    uint32_t used = 0;
    for (size_t c = 0; c < n_columns; c++) {
        repr[c] = (uint8_t)hac_repr_of(columns[c].type);
        if (is_nullable(&columns[c], rows))
            block.nullable[c / 64] |= UINT64_C(1) << (c % 64);
        strings += repr[c] == HAC_REPR_STRING ? hac_column_string_bytes(&columns[c], rows) : 0;
    }
    if (strings > UINT32_MAX && rows > 1) {
        add_halves(w, columns, n_columns, rows);
        return;
    }
    block.strings_offset = place_columns(&block, repr, n_columns, places);
    block.strings_bytes = (uint32_t)strings;
    /* no region has room for a row that does not fit a block */
    block.bytes = strings > UINT32_MAX ? INT64_MAX : aligned(block.strings_offset + strings);
    bool fits = w->bytes <= w->capacity && block.bytes <= w->capacity - w->bytes;
    uint8_t *data = fits ? w->region + w->bytes : NULL;
    w->bytes = block.bytes < INT64_MAX - w->bytes ? w->bytes + block.bytes : INT64_MAX;
    w->rows += rows;
    w->blocks++;
    if (!fits)
        return;
    memcpy(data, &block, sizeof block);
    for (size_t c = 0; c < n_columns; c++) {
        void *to = data + places[c].values;
        if (repr[c] == HAC_REPR_STRING)
            write_strings(&columns[c], rows, to, data + block.strings_offset, &used);
        else
            memcpy(to, columns[c].values, rows * hac_repr_size(repr[c]));
        for (size_t i = 0; places[c].states != 0 && i < rows; i++)
            data[places[c].states + i] = columns[c].states[i] != 0;
    }
}

void hac_rows_add_run(hac_rows_writer *w, const void *entries, uint64_t n)
{
    uint64_t bytes = n * HAC_ROWS_ENTRY_BYTES;
    bool fits = entries != NULL && w->bytes <= w->capacity && bytes <= w->capacity - w->bytes;
    if (fits && n > 0)
        memcpy(w->region + w->bytes, entries, bytes);
    w->run_offset = w->bytes;
    w->run_rows = n;
    w->bytes = bytes < INT64_MAX - w->bytes ? w->bytes + bytes : INT64_MAX;
}

bool hac_rows_end(hac_rows_writer *w)
{
    if (w->bytes > w->capacity)
        return false;
    hac_rows_header h = {.magic = HAC_ROWS_MAGIC,
                         .bytes = w->bytes,
                         .seed = w->seed,
                         .number = w->number,
                         .rows = w->rows,
                         .blocks = w->blocks,
                         .run_offset = w->run_offset,
                         .run_rows = w->run_rows};
    memcpy(w->region, &h, sizeof h);
    return true;
}

/* ---- reading ---- */

void hac_rows_reader_init(hac_rows_reader *reader, const hac_query *query)
{
    memset(reader, 0, sizeof *reader);
    reader->n_columns = query->outputs.n_fields;
    for (size_t c = 0; c < reader->n_columns; c++)
        reader->repr[c] = (uint8_t)hac_repr_of(query->outputs.fields[c].type);
}

void hac_rows_reader_clear(hac_rows_reader *reader)
{
    free(reader->blocks);
    free(reader->places);
    reader->blocks = NULL;
    reader->places = NULL;
    reader->n_blocks = reader->capacity = 0;
}

static hac_status reserve(hac_rows_reader *reader, uint64_t blocks, hac_error *err)
{
    if (blocks <= reader->capacity)
        return HAC_OK;
    uint64_t capacity = blocks * 2;
    hac_rows_place *places = realloc(reader->blocks, capacity * sizeof *places);
    if (places == NULL)
        return hac_fail_no_memory(err);
    reader->blocks = places;
    hac_rows_column_place *columns = realloc(reader->places, capacity * reader->n_columns * sizeof *columns);
    if (columns == NULL)
        return hac_fail_no_memory(err);
    reader->places = columns;
    reader->capacity = capacity;
    for (size_t i = 0; i < reader->n_blocks; i++)
        reader->blocks[i].columns = columns + i * reader->n_columns;
    return HAC_OK;
}

/* Checks the block at `at` of a region of `bytes` bytes; *ret_bytes is its length. */
static bool add_block(hac_rows_reader *reader, const uint8_t *region, uint64_t at, uint64_t bytes,
                      uint64_t *ret_bytes)
{
    hac_rows_block block;
    hac_rows_column_place *columns = reader->places + reader->n_blocks * reader->n_columns;
    if (at > bytes || bytes - at < sizeof block)
        return false;
    memcpy(&block, region + at, sizeof block);
    if (block.bytes > bytes - at || block.bytes % 8 != 0 || block.rows > HAC_BATCH_ROWS || block.rows == 0)
        return false;
    uint64_t strings = place_columns(&block, reader->repr, reader->n_columns, columns);
    if (strings > block.bytes || block.strings_offset != strings ||
        block.strings_bytes > block.bytes - strings)
        return false;
    for (size_t c = 0; c < reader->n_columns; c++) {
        columns[c].values += at;
        columns[c].states += columns[c].states != 0 ? at : 0;
    }
    reader->blocks[reader->n_blocks++] = (hac_rows_place){.region = region,
                                                          .rows = block.rows,
                                                          .strings = at + strings,
                                                          .strings_bytes = block.strings_bytes,
                                                          .columns = columns};
    *ret_bytes = block.bytes;
    return true;
}

/* Finds the region's run. */
static bool take_run(hac_rows_reader *reader, const uint8_t *region, const hac_rows_header *h)
{
    reader->run = NULL;
    reader->run_rows = 0;
    if (h->run_offset == 0)
        return true;
    if (h->run_offset % 8 != 0 || h->run_offset > h->bytes || h->run_rows > h->rows ||
        h->run_rows > (h->bytes - h->run_offset) / HAC_ROWS_ENTRY_BYTES)
        return false;
    reader->run = region + h->run_offset;
    reader->run_rows = h->run_rows;
    return true;
}

hac_status hac_rows_reader_add(hac_rows_reader *reader, const uint8_t *region, uint64_t capacity,
                               uint64_t seed, uint64_t number, hac_error *err)
{
    hac_rows_header h;
    bool sound = capacity >= sizeof h;
    if (sound)
        memcpy(&h, region, sizeof h);
    sound = sound && h.magic == HAC_ROWS_MAGIC && h.seed == seed && h.number == number &&
            h.bytes <= capacity && h.blocks <= capacity / (sizeof(hac_rows_block) + 8 * reader->n_columns);
    hac_status status = sound ? reserve(reader, reader->n_blocks + h.blocks, err) : HAC_OK;
    uint64_t at = sizeof h, rows = reader->rows, bytes = 0;
    for (uint64_t b = 0; sound && status == HAC_OK && b < h.blocks; b++) {
        sound = add_block(reader, region, at, h.bytes, &bytes);
        at += bytes;
        rows += sound ? reader->blocks[reader->n_blocks - 1].rows : 0;
    }
    sound = sound && take_run(reader, region, &h);
    if (status == HAC_OK && (!sound || rows - reader->rows != h.rows))
        return hac_fail(err, HAC_INVALID, "the rows of region %llu are damaged, or not there",
                        (unsigned long long)number);
    reader->rows = rows;
    return status;
}

static uint8_t string_value(const hac_rows_place *place, const uint8_t *at, uint64_t ret[2])
{
    hac_string_ref ref;
    memcpy(&ref, at, sizeof ref);
    /* checked when it is read: the region may change at any time */
    if (ref.length > place->strings_bytes || ref.offset > place->strings_bytes - ref.length)
        ref = (hac_string_ref){0, 0};
    ret[0] = (uint64_t)(uintptr_t)(place->region + place->strings + ref.offset);
    ret[1] = ref.length;
    return HAC_ROW_OK;
}

uint8_t hac_rows_value(const hac_rows_reader *reader, size_t block, uint32_t row, size_t column,
                       uint64_t ret[2])
{
    const hac_rows_place *place = &reader->blocks[block];
    const hac_rows_column_place *c = &place->columns[column];
    size_t size = hac_repr_size(reader->repr[column]);
    const uint8_t *at = place->region + c->values + row * size;
    ret[0] = ret[1] = 0;
    if (c->states != 0 && place->region[c->states + row] != 0)
        return HAC_ROW_NULL;
    if (reader->repr[column] == HAC_REPR_STRING)
        return string_value(place, at, ret);
    memcpy(ret, at, size);
    if (reader->repr[column] == HAC_REPR_BOOL)
        ret[0] = ret[0] != 0;
    return HAC_ROW_OK;
}
