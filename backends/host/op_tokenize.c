/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.tokenize. Each row is read twice, to count and to write. If it has changed in between, what is written
 * stays within what was counted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "host/op_parts.h"

#define STEP 1024 /* rows that a thread takes at a time */

static const uint8_t blank[256] = {[' '] = 1, ['\t'] = 1, ['\n'] = 1, ['\v'] = 1, ['\f'] = 1, ['\r'] = 1};

hac_status hac_op_check_of_tokenize(const hac_op_request *r, hac_error *err)
{
    if (r->v[0].form != HAC_VECTOR_SPARSE_TEXT || r->v[2].form != HAC_VECTOR_SPARSE_TEXT)
        return hac_fail(err, HAC_INVALID, "words and lines are text");
    HAC_OP_TRY(hac_op_need_dense(r, 1, err));
    HAC_OP_TRY(hac_op_need_kind(r, 1, HAC_KIND_U64, err));
    return hac_op_need_columns(r, 1, 1, err);
}

typedef struct tokenize_piece {
    uint64_t words, bytes;
} tokenize_piece;

typedef struct tokenize_work {
    const hac_op_request *r;
    tokenize_piece *pieces; /* number of words, then where each row's words begin, and the end */
} tokenize_work;

/* The next word of text[*at … end). Returns its length, 0 at the end; *at is behind the word then. */
static uint64_t next_word(const uint8_t *text, uint64_t *at, uint64_t end)
{
    uint64_t i = *at;
    while (i < end && blank[text[i]])
        i++;
    uint64_t first = i;
    while (i < end && !blank[text[i]])
        i++;
    *at = i;
    return i - first;
}

static hac_status count_rows(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    tokenize_work *w = context;
    const hac_op_vector *x = &w->r->v[2];
    tokenize_piece p = {0, 0};
    (void)worker;
    for (uint64_t row = first; row < first + count; row++) {
        uint64_t at, end, bytes;
        if (!hac_op_row_at(x, row, &at, &end))
            return hac_op_fail_offsets(err, 2, x, row);
        while ((bytes = next_word(x->values, &at, end)) > 0) {
            p.words++;
            p.bytes += bytes;
        }
    }
    w->pieces[first / STEP] = p;
    return HAC_OK;
}

static hac_status fail_change(hac_error *err, const hac_op_vector *x, uint64_t row)
{
    return hac_op_fail(err, 2, "row %llu changes", (unsigned long long)(x->first + row));
}

static hac_status write_row(const hac_op_request *r, uint64_t row, tokenize_piece *at,
                            const tokenize_piece *limit, hac_error *err)
{
    const hac_op_vector *words = &r->v[0], *x = &r->v[2];
    uint64_t from, end, bytes, number = x->first + row;
    if (!hac_op_row_at(x, row, &from, &end))
        return hac_op_fail_offsets(err, 2, x, row);
    while ((bytes = next_word(x->values, &from, end)) > 0) {
        if (at->words == limit->words || bytes > limit->bytes - at->bytes)
            return fail_change(err, x, row);
        words->offsets[at->words] = at->bytes;
        memcpy(words->values + at->bytes, x->values + from - bytes, bytes);
        memcpy(hac_op_at(&r->v[1], at->words), &number, sizeof number);
        at->words++;
        at->bytes += bytes;
    }
    return HAC_OK;
}

static hac_status write_rows(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    tokenize_work *w = context;
    tokenize_piece at = w->pieces[first / STEP], limit = w->pieces[first / STEP + 1];
    (void)worker;
    for (uint64_t row = first; row < first + count; row++)
        HAC_OP_TRY(write_row(w->r, row, &at, &limit, err));
    if (at.words != limit.words || at.bytes != limit.bytes)
        return fail_change(err, &w->r->v[2], first);
    return HAC_OK;
}

hac_status hac_op_do_tokenize(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    const hac_op_vector *words = &r->v[0], *x = &r->v[2];
    uint64_t n = x->rows / STEP + (x->rows % STEP != 0);
    hac_autofree tokenize_piece *pieces = calloc(n + 1, sizeof *pieces);
    tokenize_work w = {.r = r, .pieces = pieces};
    tokenize_piece sum = {0, 0};
    if (pieces == NULL)
        return hac_fail_no_memory(err);
    HAC_OP_TRY(hac_op_for_rows(0, x->rows, STEP, count_rows, &w, err));
    for (uint64_t i = 0; i <= n; i++) {
        tokenize_piece own = pieces[i];
        pieces[i] = sum;
        sum.words += own.words;
        sum.bytes += own.bytes;
    }
    values[0] = values[2] = values[3] = sum.words;
    values[1] = sum.bytes;
    *n_values = 4;
    if (sum.words > words->rows || sum.bytes > words->entries || sum.words > r->v[1].rows)
        return HAC_OK;
    words->offsets[sum.words] = sum.bytes;
    return hac_op_for_rows(0, x->rows, STEP, write_rows, &w, err);
}
