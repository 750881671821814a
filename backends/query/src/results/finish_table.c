/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the result as columns in memory, laid out as in Arrow. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/query_layout.h"
#include "base/table.h"
#include "codelet/threads.h"
#include "finish_internal.h"

#define PIECE_ROWS (UINT64_C(1) << 16)

/* Rows [first, end) of a column. */
typedef struct table_piece {
    size_t column;
    uint64_t first, end;
} table_piece;

typedef struct tabling {
    const hac_ordered_rows *rows;
    hac_result_column *columns;
    uint8_t *result;
    table_piece *pieces;
} tabling;

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + 63) & ~UINT64_C(63);
}

/* Whether any block has nulls in that column. */
static bool is_nullable(const tabling *t, size_t column)
{
    const hac_rows_reader *rows = t->rows->rows;
    for (size_t b = 0; b < rows->n_blocks; b++)
        if (rows->blocks[b].columns[column].states != 0)
            return true;
    return false;
}

/* Finds whether there are nulls, and how many bytes of strings. */
static hac_status survey(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    const tabling *t = context;
    hac_result_column *c = &t->columns[item];
    uint64_t words[2];
    bool nulls = false, string = hac_kind_is_text(c->kind);
    (void)worker;
    (void)err;
    uint64_t n = string || is_nullable(t, item) ? t->rows->n : 0;
    for (uint64_t i = 0; i < n; i++) {
        bool null = hac_ordered_value(t->rows, i, item, words) != HAC_ROW_OK;
        nulls |= null;
        c->n_bytes += string && !null ? words[1] : 0;
    }
    c->large = string && c->n_bytes > INT32_MAX;
    c->validity = nulls ? 0 : HAC_TABLE_NONE;
    return HAC_OK;
}

static uint64_t values_bytes(const hac_result_column *c, uint64_t n)
{
    if (hac_kind_is_text(c->kind))
        return (n + 1) * (c->large ? 8 : 4);
    if (c->kind == HAC_KIND_BOOL)
        return (n + 7) / 8;
    hac_value_type type = {.kind = c->kind, .precision = c->precision, .scale = c->scale};
    return n * hac_value_size(type);
}

/* Sets the offsets of all parts; returns the total size. */
static uint64_t place(const tabling *t, size_t n_columns)
{
    uint64_t n = t->rows->n, at = aligned(sizeof(hac_result_table) + n_columns * sizeof(hac_result_column));
    for (size_t i = 0; i < n_columns; i++) {
        hac_result_column *c = &t->columns[i];
        if (c->validity != HAC_TABLE_NONE) {
            c->validity = at;
            at += aligned((n + 7) / 8);
        }
        c->values = at;
        at += aligned(values_bytes(c, n));
        if (hac_kind_is_text(c->kind)) {
            c->bytes = at;
            at += aligned(c->n_bytes);
        }
    }
    return at;
}

static void put_string(const hac_result_column *c, uint8_t *result, uint64_t i, uint64_t *used,
                       const uint64_t words[2])
{
    /* another process may have changed the rows since they were counted: never exceeds the count */
    uint64_t n = words[1] <= c->n_bytes - *used ? words[1] : 0;
    if (n != 0)
        memcpy(result + c->bytes + *used, (const void *)(uintptr_t)words[0], n);
    *used += n;
    int32_t narrow = (int32_t)*used;
    if (c->large)
        memcpy(result + c->values + (i + 1) * 8, used, 8);
    else
        memcpy(result + c->values + (i + 1) * 4, &narrow, 4);
}

/* Fills a column with nulls, of strings or of bits: from its first row to its last. */
static void fill_any(const tabling *t, size_t column)
{
    const hac_result_column *c = &t->columns[column];
    hac_value_type type = {.kind = c->kind, .precision = c->precision, .scale = c->scale};
    size_t size = hac_value_size(type);
    uint64_t words[2], used = 0;
    uint64_t end = hac_kind_is_text(c->kind) ? c->bytes + aligned(c->n_bytes)
                                             : c->values + aligned(values_bytes(c, t->rows->n));
    uint64_t from = c->validity != HAC_TABLE_NONE ? c->validity : c->values;
    memset(t->result + from, 0, end - from);
    for (uint64_t i = 0; i < t->rows->n; i++) {
        bool null = hac_ordered_value(t->rows, i, column, words) != HAC_ROW_OK;
        uint8_t bit = (uint8_t)(1u << (i % 8));
        if (c->validity != HAC_TABLE_NONE && !null)
            t->result[c->validity + i / 8] |= bit;
        if (hac_kind_is_text(c->kind)) {
            words[1] = null ? 0 : words[1];
            put_string(c, t->result, i, &used, words);
        } else if (c->kind == HAC_KIND_BOOL) {
            t->result[c->values + i / 8] |= words[0] != 0 ? bit : 0;
        } else {
            memcpy(t->result + c->values + i * size, words, size);
        }
    }
}

static const uint8_t *place_of(const hac_ordered_rows *rows, size_t column, uint64_t at, size_t stored)
{
    const hac_rows_place *block = &rows->rows->blocks[at / HAC_BATCH_ROWS];
    return block->region + block->columns[column].values + at % HAC_BATCH_ROWS * stored;
}

static inline __attribute__((always_inline)) void
copy_values(const hac_ordered_rows *rows, const table_piece *p, size_t stored, size_t size, uint8_t *to)
{
    const hac_rows_place *blocks = rows->rows->blocks;
    for (uint64_t i = p->first, n; i < p->end; i += n) {
        uint64_t at = rows->order[i];
        const uint8_t *from = place_of(rows, p->column, at, stored);
        /* without an order, the rows of a block are consecutive */
        n = rows->query->n_order != 0 ? 1 : blocks[at / HAC_BATCH_ROWS].rows - at % HAC_BATCH_ROWS;
        n = n < p->end - i ? n : p->end - i;
        for (uint64_t j = 0; j < n; j++)
            memcpy(to + (i + j) * size, from + j * stored, size);
    }
}

/* Fills values of fixed width without nulls; for wider representations, the low bytes are used. */
static void fill_plain(const tabling *t, const table_piece *p)
{
    const hac_result_column *c = &t->columns[p->column];
    hac_value_type type = {.kind = c->kind, .precision = c->precision, .scale = c->scale};
    size_t size = hac_value_size(type), stored = hac_repr_size(t->rows->rows->repr[p->column]);
    uint8_t *to = t->result + c->values;
    if (size == 8 && stored == 8)
        copy_values(t->rows, p, 8, 8, to);
    else if (size == 4 && stored == 8)
        copy_values(t->rows, p, 8, 4, to);
    else
        copy_values(t->rows, p, stored, size, to);
    uint64_t bytes = t->rows->n * size;
    if (p->end == t->rows->n)
        memset(to + bytes, 0, aligned(bytes) - bytes);
}

static bool is_plain(const hac_result_column *c)
{
    return !hac_kind_is_text(c->kind) && c->kind != HAC_KIND_BOOL && c->validity == HAC_TABLE_NONE;
}

static hac_status fill(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    const tabling *t = context;
    const table_piece *p = &t->pieces[item];
    (void)worker;
    (void)err;
    if (is_plain(&t->columns[p->column]))
        fill_plain(t, p);
    else
        fill_any(t, p->column);
    return HAC_OK;
}

/* The longest work first: whole columns, then pieces of columns that can be split. */
static hac_status fill_all(tabling *t, size_t n_columns, hac_error *err)
{
    uint64_t rows = t->rows->n, n = 0;
    hac_autofree table_piece *pieces = calloc(n_columns * (rows / PIECE_ROWS + 1) + 1, sizeof *pieces);
    if (pieces == NULL)
        return hac_fail_no_memory(err);
    for (size_t c = 0; c < n_columns; c++)
        if (!is_plain(&t->columns[c]))
            pieces[n++] = (table_piece){c, 0, rows};
    for (size_t c = 0; c < n_columns; c++)
        for (uint64_t at = 0; is_plain(&t->columns[c]) && (at < rows || at == 0); at += PIECE_ROWS)
            pieces[n++] = (table_piece){c, at, rows - at < PIECE_ROWS ? rows : at + PIECE_ROWS};
    t->pieces = pieces;
    return hac_pool_run(n, fill, t, err);
}

hac_status hac_finish_table(const hac_ordered_rows *rows, uint8_t *result, uint64_t capacity,
                            uint64_t *ret_bytes, hac_error *err)
{
    const hac_query *query = rows->query;
    size_t n = query->n_visible;
    hac_autofree hac_result_column *columns = calloc(n + 1, sizeof *columns);
    if (columns == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const hac_field *field = &query->outputs.fields[i];
        columns[i].kind = field->type.kind;
        columns[i].precision = field->type.precision;
        columns[i].scale = field->type.scale;
        memcpy(columns[i].name, field->name, sizeof columns[i].name);
    }
    tabling t = {.rows = rows, .columns = columns, .result = result};
    hac_status status = hac_pool_run(n, survey, &t, err);
    if (status != HAC_OK)
        return status;
    hac_result_table header = {
        .magic = HAC_RESULT_TABLE_MAGIC, .rows = rows->n, .n_columns = n, .bytes = place(&t, n)};
    *ret_bytes = header.bytes;
    if (header.bytes > capacity)
        return HAC_OK;
    memcpy(result, &header, sizeof header);
    memcpy(result + sizeof header, columns, n * sizeof *columns);
    return fill_all(&t, n, err);
}
