/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "codelet/hash.h"
#include "op_index.h"

typedef struct index_text {
    uint64_t at, bytes, hash; /* in `characters` */
} index_text;

/* Distinct texts in the order of their first appearance. They are copied, since others may change the
 * vectors. */
typedef struct index_texts {
    index_text *distinct;
    uint64_t n, capacity;
    uint8_t *characters;
    uint64_t n_characters, characters_capacity;
    uint32_t *slots; /* number + 1; 0: free */
    uint64_t start;  /* seed of the hashes */
    uint64_t mask;
    uint8_t *row; /* a copy of the row that is being looked up */
    uint64_t row_capacity;
} index_texts;

static void texts_clear(index_texts *t)
{
    free(t->distinct);
    free(t->characters);
    free(t->slots);
    free(t->row);
}

static hac_status room_for(void **memory, uint64_t *capacity, uint64_t needed, size_t size, hac_error *err)
{
    if (needed <= *capacity)
        return HAC_OK;
    uint64_t more = needed < 1024 ? 1024 : needed * 2, bytes;
    void *grown = __builtin_mul_overflow(more, size, &bytes) ? NULL : realloc(*memory, bytes);
    if (grown == NULL)
        return hac_fail_no_memory(err);
    *memory = grown;
    *capacity = more;
    return HAC_OK;
}

static hac_status grow_slots(index_texts *t, hac_error *err)
{
    uint64_t n = t->slots == NULL ? 1024 : (t->mask + 1) * 2;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (slots == NULL)
        return hac_fail_no_memory(err);
    for (uint64_t i = 0; i < t->n; i++) {
        uint64_t at = t->distinct[i].hash & (n - 1);
        while (slots[at] != 0)
            at = (at + 1) & (n - 1);
        slots[at] = (uint32_t)(i + 1);
    }
    free(t->slots);
    t->slots = slots;
    t->mask = n - 1;
    return HAC_OK;
}

static hac_status add(index_texts *t, const uint8_t *s, uint64_t bytes, uint64_t hash, hac_error *err)
{
    if (t->n == UINT32_MAX)
        return hac_fail(err, HAC_UNSUPPORTED, "more than 2^32 - 1 distinct texts");
    HAC_OP_TRY(room_for((void **)&t->distinct, &t->capacity, t->n + 1, sizeof *t->distinct, err));
    HAC_OP_TRY(room_for((void **)&t->characters, &t->characters_capacity, t->n_characters + bytes, 1, err));
    if (bytes != 0)
        memcpy(t->characters + t->n_characters, s, bytes);
    t->distinct[t->n++] = (index_text){.at = t->n_characters, .bytes = bytes, .hash = hash};
    t->n_characters += bytes;
    return HAC_OK;
}

static hac_status number_text(index_texts *t, const uint8_t *s, uint64_t bytes, uint64_t *ret, hac_error *err)
{
    if (t->slots == NULL || 2 * t->n > t->mask)
        HAC_OP_TRY(grow_slots(t, err));
    HAC_OP_TRY(room_for((void **)&t->row, &t->row_capacity, bytes + 8, 1, err));
    memcpy(t->row, s, bytes);
    uint64_t hash = hac_hash_long_string(t->start, t->row, bytes), at = hash & t->mask;
    for (; t->slots[at] != 0; at = (at + 1) & t->mask) {
        const index_text *d = &t->distinct[t->slots[at] - 1];
        if (d->hash == hash && d->bytes == bytes &&
            (bytes == 0 || memcmp(t->characters + d->at, t->row, bytes) == 0)) {
            *ret = t->slots[at] - (uint64_t)1;
            return HAC_OK;
        }
    }
    HAC_OP_TRY(add(t, t->row, bytes, hash, err));
    t->slots[at] = (uint32_t)t->n;
    *ret = t->n - 1;
    return HAC_OK;
}

typedef struct ranked_text {
    const uint8_t *s;
    uint64_t bytes;
    uint32_t number;
} ranked_text;

static int by_bytes(const void *a, const void *b)
{
    const ranked_text *x = a, *y = b;
    uint64_t n = x->bytes < y->bytes ? x->bytes : y->bytes;
    int order = n == 0 ? 0 : memcmp(x->s, y->s, n);
    return order != 0 ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static hac_status number_rows(const hac_op_request *r, index_texts *t, uint64_t *numbers, hac_error *err)
{
    uint64_t at = 0;
    for (size_t x = 2; x < r->n; x += 2)
        for (uint64_t row = 0; row < r->v[x].rows; row++, at++) {
            uint64_t from, to;
            if (!hac_op_row_at(&r->v[x], row, &from, &to))
                return hac_op_fail_offsets(err, x, &r->v[x], row);
            HAC_OP_TRY(number_text(t, r->v[x].values + from, to - from, &numbers[at], err));
        }
    return HAC_OK;
}

static hac_status write_texts(const hac_op_request *r, const index_texts *t, const uint64_t *numbers,
                              hac_error *err)
{
    const hac_op_vector *to = &r->v[1];
    hac_autofree ranked_text *order = hac_op_alloc(t->n, sizeof *order);
    hac_autofree uint32_t *ranks = hac_op_alloc(t->n, sizeof *ranks);
    if (order == NULL || ranks == NULL)
        return hac_fail_no_memory(err);
    for (uint64_t i = 0; i < t->n; i++)
        order[i] = (ranked_text){t->characters + t->distinct[i].at, t->distinct[i].bytes, (uint32_t)i};
    qsort(order, t->n, sizeof *order, by_bytes);
    uint64_t at = 0;
    for (uint64_t i = 0; i < t->n; i++) {
        ranks[order[i].number] = (uint32_t)i;
        to->offsets[i] = at;
        if (order[i].bytes != 0)
            memcpy(to->values + at, order[i].s, order[i].bytes);
        at += order[i].bytes;
    }
    to->offsets[t->n] = at;
    hac_op_put_ids(r, numbers, ranks);
    return HAC_OK;
}

hac_status hac_op_index_texts(const hac_op_request *r, uint64_t *ret_distinct, uint64_t *ret_bytes,
                              hac_error *err)
{
    hac_cleanup(texts_clear) index_texts t = {.start = hac_op_index_hash_start()};
    uint64_t rows = r->v[2].rows + (r->n > 3 ? r->v[4].rows : 0);
    hac_autofree uint64_t *numbers = hac_op_alloc(rows, sizeof *numbers);
    if (numbers == NULL)
        return hac_fail_no_memory(err);
    HAC_OP_TRY(number_rows(r, &t, numbers, err));
    *ret_distinct = t.n;
    *ret_bytes = t.n_characters;
    if (t.n > r->v[1].rows || t.n_characters > r->v[1].entries)
        return HAC_OK;
    HAC_OP_TRY(
        /* memory is never NULL, even for empty texts */
        room_for((void **)&t.characters, &t.characters_capacity, 1, 1, err));
    return write_texts(r, &t, numbers, err);
}
