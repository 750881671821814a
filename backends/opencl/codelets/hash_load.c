/* SPDX-License-Identifier: Apache-2.0 */
#include "hash_load.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "query/codelets.h"
#include "query/pool.h"
#include "query/source.h"

#define CHUNK_ROWS_MAX (UINT64_C(1) << 28) /* kernels count a chunk's rows, and pairs, in 32 bits */
#define ROWS_ALIGNMENT 64                  /* of a chunk's first row: bitmaps are filled side by side */
#define FIRST_ROOM     8192                /* rows */

/* A column of a chunk while it is read. */
typedef struct part {
    uint8_t *values; /* narrow; bool: a byte a row; text: uint32_t, where each string ends */
    uint8_t *states; /* hac_row_state; only where `marked` */
    bool marked;     /* there are nulls */
    uint8_t *characters;
    uint64_t n_characters, room; /* of the characters */
} part;

/* A chunk while it is read; its memory serves the next wave, too. */
typedef struct piece {
    part *parts;
    uint64_t rows, room, skipped;
    bool full; /* the wave has no room for all of it */
} piece;

/* A wave: columns of several chunks. */
typedef struct half {
    hac_hash_rows rows;
    hac_hash_chunk *chunks; /* load.chunks of them */
    uint64_t room;          /* of rows.memory */
    bool too_large;
    hac_error err; /* of reading it; its code is the status */
} half;

struct hac_hash_loader {
    hac_hash_load load;
    const hac_schema *columns;
    uint64_t next, end; /* chunks */
    uint64_t most;      /* chunks of the next wave */
    piece *pieces;      /* load.chunks of them */
    hac_source **sources;
    unsigned threads;
    atomic_uint_fast64_t bytes; /* of the pieces */
    half halves[2];
    unsigned filling; /* the half that is read, or will be */
    pthread_t thread;
    bool is_running;
};

/* ---- a chunk ---- */

static size_t narrow_bytes(hac_value_type type)
{
    return hac_kind_is_text(type.kind) ? sizeof(uint32_t) : hac_value_size(type);
}

static hac_status reserve(uint8_t **memory, uint64_t bytes, hac_error *err)
{
    uint8_t *larger = realloc(*memory, bytes);
    if (larger == NULL)
        return hac_fail_no_memory(err);
    *memory = larger;
    return HAC_OK;
}

static hac_status reserve_rows(const hac_hash_loader *l, piece *p, uint64_t rows, hac_error *err)
{
    if (p->rows + rows <= p->room)
        return HAC_OK;
    uint64_t room = p->room == 0 ? FIRST_ROOM : 2 * p->room;
    hac_status status = HAC_OK;
    for (size_t c = 0; status == HAC_OK && c < l->columns->n_fields; c++) {
        part *to = &p->parts[c];
        status = reserve(&to->values, room * narrow_bytes(l->columns->fields[c].type), err);
        if (status == HAC_OK)
            status = reserve(&to->states, room, err);
    }
    if (status == HAC_OK)
        p->room = room;
    return status;
}

/* The low bytes of each value: representations are wider than types (little-endian). */
static void narrow(hac_value_type type, const void *from, size_t rows, uint8_t *to)
{
    size_t size = hac_value_size(type), stored = hac_repr_size(hac_repr_of(type));
    const uint64_t *words = from;
    if (size == stored)
        memcpy(to, from, rows * size);
    else if (size == 4)
        for (size_t i = 0; i < rows; i++)
            ((uint32_t *)(void *)to)[i] = (uint32_t)words[i];
    else if (size == 2)
        for (size_t i = 0; i < rows; i++)
            ((uint16_t *)(void *)to)[i] = (uint16_t)words[i];
    else
        for (size_t i = 0; i < rows; i++)
            to[i] = (uint8_t)words[i];
}

static hac_status add_strings(part *to, uint64_t first, const hac_vector *v, size_t rows, hac_error *err)
{
    const hac_string_ref *refs = v->values;
    uint64_t bytes = hac_vector_string_bytes(v, rows);
    if (bytes > to->room - to->n_characters) {
        uint64_t room = 2 * to->room > to->n_characters + bytes ? 2 * to->room : to->n_characters + bytes;
        hac_status status = reserve(&to->characters, room, err);
        if (status != HAC_OK)
            return status;
        to->room = room;
    }
    uint32_t *ends = (uint32_t *)(void *)to->values + first;
    uint64_t at = to->n_characters;
    for (size_t i = 0; i < rows; i++) {
        uint32_t n = v->states != NULL && v->states[i] != HAC_ROW_OK ? 0 : refs[i].length;
        if (n != 0)
            memcpy(to->characters + at, v->bytes + refs[i].offset, n);
        at += n;
        ends[i] = (uint32_t)at;
    }
    to->n_characters = at;
    return HAC_OK;
}

static void add_states(part *to, uint64_t first, const hac_vector *v, size_t rows)
{
    if (v->states == NULL && !to->marked)
        return;
    if (!to->marked)
        memset(to->states, HAC_ROW_OK, first);
    to->marked = true;
    if (v->states != NULL)
        memcpy(to->states + first, v->states, rows);
    else
        memset(to->states + first, HAC_ROW_OK, rows);
}

/* Bytes of a batch as columns. */
static uint64_t batch_bytes(const hac_hash_loader *l, const hac_batch *batch)
{
    uint64_t bytes = 0;
    for (size_t c = 0; c < batch->n_columns; c++) {
        const hac_vector *v = &batch->columns[c];
        bytes += batch->rows * narrow_bytes(l->columns->fields[c].type) + batch->rows / 8;
        if (hac_kind_is_text(v->type.kind))
            bytes += hac_vector_string_bytes(v, batch->rows);
    }
    return bytes;
}

static hac_status add_batch(hac_hash_loader *l, piece *p, const hac_batch *batch, hac_error *err)
{
    uint64_t bytes = batch_bytes(l, batch);
    p->full = atomic_fetch_add(&l->bytes, bytes) > l->load.bytes - bytes ||
              p->rows + batch->rows > CHUNK_ROWS_MAX || bytes > l->load.bytes;
    if (p->full)
        return HAC_OK;
    hac_status status = reserve_rows(l, p, batch->rows, err);
    for (size_t c = 0; status == HAC_OK && c < batch->n_columns; c++) {
        const hac_vector *v = &batch->columns[c];
        part *to = &p->parts[c];
        hac_value_type type = l->columns->fields[c].type;
        add_states(to, p->rows, v, batch->rows);
        if (hac_kind_is_text(type.kind))
            status = add_strings(to, p->rows, v, batch->rows, err);
        else
            narrow(type, v->values, batch->rows, to->values + p->rows * narrow_bytes(type));
    }
    p->rows += status == HAC_OK ? batch->rows : 0;
    return status;
}

static hac_status source_of(hac_hash_loader *l, unsigned worker, hac_source **ret, hac_error *err)
{
    const hac_query_task *t = l->load.task;
    hac_status status = HAC_OK;
    if (l->sources[worker] == NULL)
        status = hac_source_open(t->query, &t->place, t->table.n_columns != 0 ? &t->table : NULL,
                                 &l->sources[worker], err);
    *ret = l->sources[worker];
    return status;
}

static void empty(const hac_hash_loader *l, piece *p)
{
    p->rows = p->skipped = 0;
    p->full = false;
    for (size_t c = 0; c < l->columns->n_fields; c++) {
        p->parts[c].marked = false;
        p->parts[c].n_characters = 0;
    }
}

static hac_status read_chunk(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    hac_hash_loader *l = context;
    const hac_query_task *t = l->load.task;
    piece *p = &l->pieces[item];
    uint64_t chunk = l->next + item, first, end;
    hac_source *source;
    hac_batch batch;
    empty(l, p);
    hac_status status = source_of(l, worker, &source, err);
    if (status != HAC_OK)
        return status;
    uint64_t skipped = hac_source_skipped(source);
    hac_query_task_chunk(t, chunk, &first, &end);
    status = hac_source_begin(source, first, end,
                              hac_query_inside_quotes(&l->load.quotes, t->first_chunk, chunk), err);
    while (status == HAC_OK && !p->full && (status = hac_source_next(source, &batch, err)) == HAC_OK)
        status = add_batch(l, p, &batch, err);
    p->skipped = hac_source_skipped(source) - skipped;
    return status == HAC_NOT_FOUND ? HAC_OK : status;
}

/* ---- chunks put together ---- */

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Where each chunk begins. Strings of n rows have n + 1 offsets, so there is a row between. */
static void place_chunks(const hac_hash_loader *l, half *h, uint64_t n)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < n; i++) {
        const piece *p = &l->pieces[i];
        h->chunks[i] = (hac_hash_chunk){.first = at, .rows = p->rows, .skipped = p->skipped};
        at += (p->rows + ROWS_ALIGNMENT) / ROWS_ALIGNMENT * ROWS_ALIGNMENT;
    }
    h->rows.rows = at;
    h->rows.first_chunk = l->next;
    h->rows.n_chunks = n;
    h->rows.chunks = h->chunks;
}

/* Where each column's parts begin; returns their bytes. */
static uint64_t place_columns(const hac_hash_loader *l, half *h)
{
    uint64_t at = 0, rows = h->rows.rows;
    for (size_t c = 0; c < l->columns->n_fields; c++) {
        hac_table_column *to = &h->rows.columns[c];
        bool marked = false;
        *to = (hac_table_column){.type = l->columns->fields[c].type,
                                 .validity = HAC_TABLE_NONE,
                                 .values = at,
                                 .bytes = HAC_TABLE_NONE};
        for (uint64_t i = 0; i < h->rows.n_chunks; i++) {
            marked |= l->pieces[i].parts[c].marked;
            to->n_bytes += l->pieces[i].parts[c].n_characters;
        }
        bool text = hac_kind_is_text(to->type.kind), bits = to->type.kind == HAC_KIND_BOOL;
        at += rounded(bits ? rows / 8 : text ? (rows + 1) * 4 : rows * hac_value_size(to->type));
        if (marked) {
            to->validity = at;
            at += rounded(rows / 8);
        }
        if (text) {
            to->bytes = at;
            at += rounded(to->n_bytes);
        }
    }
    return at == 0 ? 64 : at;
}

/* Eight bytes that are 0 or 1 become eight bits. */
static uint8_t bits_of(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return (uint8_t)((word * UINT64_C(0x0102040810204080)) >> 56);
}

/* `flip`: 1 for states, whose zero is a valid row. */
static void put_bits(const uint8_t *bytes, uint64_t rows, uint8_t flip, uint8_t *to)
{
    uint64_t i = 0;
    for (; i + 8 <= rows; i += 8)
        to[i / 8] = (uint8_t)(bits_of(bytes + i) ^ (flip ? 0xff : 0));
    for (uint8_t bit = 1; i < rows; i++, bit = (uint8_t)(bit << 1))
        to[i / 8] = (uint8_t)((bit == 1 ? 0 : to[i / 8]) | ((bytes[i] ^ flip) & 1 ? bit : 0));
}

static void put_strings(const part *from, uint64_t rows, uint64_t base, const hac_table_column *column,
                        uint64_t first, uint8_t *memory)
{
    const uint32_t *ends = (const uint32_t *)(const void *)from->values;
    int32_t *offsets = (int32_t *)(void *)(memory + column->values) + first;
    offsets[0] = (int32_t)base;
    for (uint64_t i = 0; i < rows; i++)
        offsets[i + 1] = (int32_t)(base + ends[i]);
    if (from->n_characters != 0)
        memcpy(memory + column->bytes + base, from->characters, from->n_characters);
}

/* Characters of column `column` in front of a chunk's. */
static uint64_t characters_before(const hac_hash_loader *l, uint64_t chunk, size_t column)
{
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < chunk; i++)
        bytes += l->pieces[i].parts[column].n_characters;
    return bytes;
}

typedef struct putting {
    const hac_hash_loader *loader;
    const half *half;
} putting;

static hac_status put_chunk(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    const putting *w = context;
    const piece *p = &w->loader->pieces[item];
    uint8_t *memory = w->half->rows.memory.data;
    uint64_t first = w->half->chunks[item].first;
    (void)worker;
    (void)err;
    for (size_t c = 0; c < w->loader->columns->n_fields; c++) {
        const hac_table_column *to = &w->half->rows.columns[c];
        const part *from = &p->parts[c];
        if (to->validity != HAC_TABLE_NONE && from->marked)
            put_bits(from->states, p->rows, 1, memory + to->validity + first / 8);
        else if (to->validity != HAC_TABLE_NONE)
            memset(memory + to->validity + first / 8, 0xff, (p->rows + 7) / 8);
        if (hac_kind_is_text(to->type.kind))
            put_strings(from, p->rows, characters_before(w->loader, item, c), to, first, memory);
        else if (to->type.kind == HAC_KIND_BOOL)
            put_bits(from->values, p->rows, 0, memory + to->values + first / 8);
        else if (p->rows != 0)
            memcpy(memory + to->values + first * hac_value_size(to->type), from->values,
                   p->rows * hac_value_size(to->type));
    }
    return HAC_OK;
}

static hac_status put_together(const hac_hash_loader *l, half *h, uint64_t n, hac_error *err)
{
    place_chunks(l, h, n);
    uint64_t bytes = place_columns(l, h);
    if (bytes > h->room) {
        free(h->rows.memory.data);
        h->room = 0;
        h->rows.memory.data = hac_hash_alloc(bytes);
        if (h->rows.memory.data == NULL)
            return hac_fail_no_memory(err);
        h->room = bytes;
    }
    h->rows.memory.bytes = bytes;
    return hac_pool_run(n, put_chunk, &(putting){l, h}, err);
}

/* ---- waves ---- */

/* So many chunks as the largest of these would fit the next wave. */
static void choose_most(hac_hash_loader *l, uint64_t n)
{
    if (n == 0)
        return;
    uint64_t mean = atomic_load(&l->bytes) / n + 1, fit = l->load.bytes / (mean + mean / 4);
    l->most = fit < 1 ? 1 : fit < l->load.chunks ? fit : l->load.chunks;
}

static hac_status fill(hac_hash_loader *l, half *h, hac_error *err)
{
    h->too_large = false;
    if (l->next == l->end)
        return HAC_NOT_FOUND;
    for (;;) {
        uint64_t left = l->end - l->next, n = left < l->most ? left : l->most, whole = 0;
        atomic_store(&l->bytes, 0);
        hac_status status = hac_pool_run(n, read_chunk, l, err);
        if (status != HAC_OK)
            return status;
        while (whole < n && !l->pieces[whole].full)
            whole++;
        if (whole == 0 && n > 1) {
            l->most = 1;
            continue;
        }
        h->too_large = whole == 0;
        if (h->too_large)
            empty(l, &l->pieces[0]);
        choose_most(l, n);
        status = put_together(l, h, h->too_large ? 1 : whole, err);
        l->next += h->rows.n_chunks;
        return status;
    }
}

static void *run(void *argument)
{
    hac_hash_loader *l = argument;
    half *h = &l->halves[l->filling];
    hac_error err = HAC_ERROR_NONE;
    err.code = fill(l, h, &err);
    h->err = err;
    return NULL;
}

static void wait_for_thread(hac_hash_loader *l)
{
    if (l->is_running)
        pthread_join(l->thread, NULL);
    l->is_running = false;
}

/* Reads the other half, on a thread where one can be made. */
static void start(hac_hash_loader *l)
{
    l->is_running = pthread_create(&l->thread, NULL, run, l) == 0;
    if (!l->is_running)
        run(l);
}

hac_status hac_hash_loader_next(hac_hash_loader *l, const hac_hash_rows **ret, bool *ret_too_large,
                                hac_error *err)
{
    wait_for_thread(l);
    const half *h = &l->halves[l->filling];
    if (h->err.code != HAC_OK) {
        if (err != NULL)
            *err = h->err;
        return h->err.code;
    }
    *ret = &h->rows;
    *ret_too_large = h->too_large;
    l->filling = 1 - l->filling;
    start(l);
    return HAC_OK;
}

static hac_status make_pieces(hac_hash_loader *l, hac_error *err)
{
    l->pieces = calloc(l->load.chunks, sizeof *l->pieces);
    l->sources = calloc(l->threads, sizeof *l->sources);
    if (l->pieces == NULL || l->sources == NULL)
        return hac_fail_no_memory(err);
    for (uint64_t i = 0; i < l->load.chunks; i++)
        if ((l->pieces[i].parts = calloc(l->columns->n_fields + 1, sizeof(part))) == NULL)
            return hac_fail_no_memory(err);
    for (size_t i = 0; i < 2; i++)
        if ((l->halves[i].chunks = calloc(l->load.chunks, sizeof(hac_hash_chunk))) == NULL)
            return hac_fail_no_memory(err);
    return HAC_OK;
}

HAC_DEFINE_CLEANUP(hac_hash_loader *, hac_hash_loader_free)

hac_status hac_hash_loader_new(const hac_hash_load *load, hac_hash_loader **ret, hac_error *err)
{
    hac_cleanup(hac_hash_loader_free_cleanup) hac_hash_loader *l = calloc(1, sizeof *l);
    if (l == NULL)
        return hac_fail_no_memory(err);
    l->load = *load;
    l->columns = &load->task->query->columns;
    l->next = load->first;
    l->end = load->first + load->n;
    l->threads = hac_pool_threads();
    if (l->load.bytes == 0 || l->load.bytes > HAC_HASH_WAVE_BYTES)
        l->load.bytes = HAC_HASH_WAVE_BYTES;
    l->load.chunks = load->chunks < load->n ? load->chunks : load->n;
    l->most = l->load.chunks < l->threads ? l->load.chunks : l->threads;
    if (l->load.chunks == 0)
        return hac_fail(err, HAC_INVALID, "no chunks to read");
    hac_status status = make_pieces(l, err);
    if (status != HAC_OK)
        return status;
    start(l);
    *ret = hac_steal_ptr(l);
    return HAC_OK;
}

void hac_hash_loader_count(const hac_hash_loader *l, hac_source_counters *counters)
{
    for (unsigned i = 0; i < l->threads; i++)
        if (l->sources[i] != NULL)
            hac_source_count(l->sources[i], counters);
}

void hac_hash_loader_free(hac_hash_loader *l)
{
    if (l == NULL)
        return;
    wait_for_thread(l);
    for (uint64_t i = 0; l->pieces != NULL && i < l->load.chunks; i++) {
        for (size_t c = 0; l->pieces[i].parts != NULL && c < l->columns->n_fields; c++) {
            free(l->pieces[i].parts[c].values);
            free(l->pieces[i].parts[c].states);
            free(l->pieces[i].parts[c].characters);
        }
        free(l->pieces[i].parts);
    }
    for (unsigned i = 0; l->sources != NULL && i < l->threads; i++)
        hac_source_free(l->sources[i]);
    for (size_t i = 0; i < 2; i++) {
        free(l->halves[i].chunks);
        free(l->halves[i].rows.memory.data);
    }
    free(l->pieces);
    free(l->sources);
    free(l);
}
