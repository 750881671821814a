/* SPDX-License-Identifier: Apache-2.0 */
/* A whole Parquet file in memory: reads all its columns in batches of 1024 rows, and again in random steps:
 * skipped rows, selections, codes, and the parts of lists. Oracle in addition to the sanitizers: both
 * readings are the same, a failure has a message, strings lie in the column's memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "parquet/column.h"

#define ROWS_MAX (1 << 16) /* rows of a row group that are read */
#define PAGE_MAX (1 << 22)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct walk {
    hac_parquet_column *column;
    size_t value_size;
    uint64_t rows, random;
    uint64_t *digests; /* for each row of the first reading */
    bool compare;
} walk;

static _Alignas(64) uint8_t values[16 * HAC_BATCH_ROWS];
static uint8_t states[HAC_BATCH_ROWS];

static void must(bool condition)
{
    if (!condition)
        abort();
}

/* Whether the call succeeded; a failure must have a message. */
static bool good(hac_status status, const hac_error *err)
{
    must(status == HAC_OK || (status == err->code && err->message[0] != 0));
    return status == HAC_OK;
}

static uint64_t mix(uint64_t digest, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        digest = (digest ^ bytes[i]) * UINT64_C(0x100000001b3);
    return digest;
}

static uint64_t digest_of(const walk *w, const hac_column *v, size_t i)
{
    uint64_t digest = mix(UINT64_C(0xcbf29ce484222325), &v->states[i], 1);
    const hac_string_ref *ref = &((const hac_string_ref *)v->values)[i];
    if (v->bytes == NULL)
        return v->states[i] == HAC_ROW_OK
                   ? mix(digest, (uint8_t *)v->values + i * w->value_size, w->value_size)
                   : digest;
    must(v->states[i] == HAC_ROW_OK || ref->length == 0);
    return mix(digest, v->bytes + ref->offset, ref->length);
}

static void take(walk *w, uint64_t row, const hac_column *v, size_t i, bool marked)
{
    uint64_t digest = digest_of(w, v, i);
    must(v->states[i] == HAC_ROW_OK || v->states[i] == HAC_ROW_NULL || v->states[i] == HAC_ROW_RANGE ||
         v->states[i] == HAC_ROW_PRECISION);
    must(marked || v->states[i] == HAC_ROW_OK);
    if (w->compare)
        must(w->digests[row] == digest);
    else
        w->digests[row] = digest;
}

static bool read_some(walk *w, uint64_t at, size_t n, bool select)
{
    hac_error err = HAC_ERROR_NONE;
    hac_column v = {.values = values, .states = states};
    uint16_t selection[HAC_BATCH_ROWS];
    size_t given = 0;
    bool marked = false;
    for (size_t i = 0; i < n; i++)
        if (!select || hac_random_u64(&w->random) % 3 == 0)
            selection[given++] = (uint16_t)i;
    if (!good(hac_parquet_column_read(w->column, n, select ? selection : NULL, given, &v, &marked, &err),
              &err))
        return false;
    for (size_t i = 0; i < given; i++)
        take(w, at + selection[i], &v, i, marked);
    return true;
}

static bool look_at_codes(walk *w, size_t n)
{
    hac_error err = HAC_ERROR_NONE;
    const uint32_t *codes;
    const uint8_t *nulls;
    uint32_t entries = 0;
    uint64_t serial = 0;
    hac_status status = hac_parquet_column_codes(w->column, n, &codes, &nulls, &err);
    if (status == HAC_NOT_FOUND)
        return true;
    if (!good(status, &err))
        return false;
    hac_parquet_column_dictionary(w->column, &entries, &serial);
    for (size_t i = 0; i < n; i++)
        must(nulls[i] == HAC_ROW_NULL || (nulls[i] == HAC_ROW_OK && codes[i] < entries));
    return true;
}

static bool step(walk *w, uint64_t at, size_t n)
{
    hac_error err = HAC_ERROR_NONE;
    switch (w->compare ? hac_random_u64(&w->random) % 5 : 0) {
    case 1:
        return good(hac_parquet_column_skip(w->column, n, &err), &err);
    case 2:
        return look_at_codes(w, n) && read_some(w, at, n, false);
    case 3:
        return look_at_codes(w, n) && read_some(w, at, n, true);
    case 4:
        return read_some(w, at, n, true);
    default:
        return read_some(w, at, n, false);
    }
}

static bool read_group(walk *w, size_t group)
{
    hac_error err = HAC_ERROR_NONE;
    uint64_t max = w->compare ? 1 + hac_random_u64(&w->random) % HAC_BATCH_ROWS : HAC_BATCH_ROWS;
    if (!good(hac_parquet_column_begin(w->column, group, &err), &err))
        return false;
    for (uint64_t at = 0, n = 0; at < w->rows; at += n) {
        n = w->compare ? 1 + hac_random_u64(&w->random) % max : max;
        n = w->rows - at < n ? w->rows - at : n;
        if (!step(w, at, (size_t)n))
            return false;
    }
    return true;
}

static void read_leaf(const hac_parquet_file *file, size_t leaf, const hac_parquet_leaf *as, uint64_t random)
{
    static uint64_t digests[ROWS_MAX];
    hac_error err = HAC_ERROR_NONE;
    walk w = {.digests = digests, .random = random};
    w.value_size = hac_repr_size(hac_repr_of(as->type));
    if (!good(hac_parquet_column_new(file, leaf, as, &w.column, &err), &err))
        return;
    for (size_t group = 0; group < file->n_groups && group < 4; group++) {
        uint64_t rows = file->groups[group].rows;
        w.rows = rows < ROWS_MAX ? rows : ROWS_MAX;
        w.compare = false;
        if (!read_group(&w, group))
            continue;
        w.compare = true;
        read_group(&w, group);
    }
    hac_parquet_column_free(w.column);
}

/* Unnests the first rows of a row group: elements belong to rows in ascending order, without end only if
 * there are as many as claimed. */
static void unnest_group(hac_parquet_column *column, uint64_t rows, uint64_t *random)
{
    static uint16_t rows_of[HAC_BATCH_ROWS];
    hac_error err = HAC_ERROR_NONE;
    rows = rows < ROWS_MAX ? rows : ROWS_MAX;
    for (uint64_t at = 0, calls = 0; at < rows && calls < 256; calls++) {
        hac_column v = {.values = values, .states = states};
        size_t n = 0, done = 0, max = 1 + (size_t)(hac_random_u64(random) % HAC_BATCH_ROWS);
        bool marked = false;
        if (calls % 8 == 7) { /* also out of the middle of a row */
            if (!good(hac_parquet_column_skip(column, 1, &err), &err))
                return;
            at++;
            continue;
        }
        max = rows - at < max ? (size_t)(rows - at) : max;
        if (!good(hac_parquet_column_unnest(column, max, &v, rows_of, &n, &done, &marked, &err), &err))
            return;
        must(n <= HAC_BATCH_ROWS && done <= max && (n > 0 || done > 0));
        for (size_t i = 0; i < n; i++) {
            must(rows_of[i] < max && (i == 0 || rows_of[i - 1] <= rows_of[i]));
            must(marked || v.states[i] == HAC_ROW_OK);
            if (v.bytes != NULL)
                (void)mix(0, v.bytes + ((hac_string_ref *)v.values)[i].offset,
                          ((hac_string_ref *)v.values)[i].length);
        }
        at += done;
    }
}

static void unnest_leaf(const hac_parquet_file *file, size_t leaf, const hac_parquet_leaf *as,
                        uint64_t random)
{
    hac_error err = HAC_ERROR_NONE;
    hac_parquet_column *column = NULL;
    if (!good(hac_parquet_column_new(file, leaf, as, &column, &err), &err))
        return;
    for (size_t group = 0; group < file->n_groups && group < 4; group++)
        if (good(hac_parquet_column_begin(column, group, &err), &err))
            unnest_group(column, file->groups[group].rows, &random);
    hac_parquet_column_free(column);
}

/* Every part of a column's lists. */
static void read_parts(const hac_parquet_file *file, size_t leaf, uint64_t random)
{
    static const struct {
        hac_list_part part;
        hac_kind kind; /* HAC_KIND_NONE: that of the elements */
        const char *argument;
    } parts[] = {{HAC_LIST_LENGTH, HAC_KIND_I64, ""},
                 {HAC_LIST_CONTAINS, HAC_KIND_BOOL, "1"},
                 {HAC_LIST_ELEMENT, HAC_KIND_NONE, "2"},
                 {HAC_LIST_ELEMENT, HAC_KIND_NONE, "-2"},
                 {HAC_LIST_UNNEST, HAC_KIND_NONE, ""}};
    const hac_parquet_leaf *found = &file->leaves[leaf];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        hac_value_type type = {.kind = (uint8_t)parts[i].kind};
        hac_parquet_leaf as;
        if (type.kind == HAC_KIND_NONE)
            type = found->nested.element;
        if (!hac_parquet_leaf_as(found, type, parts[i].part, parts[i].argument, &as))
            continue;
        if (parts[i].part == HAC_LIST_UNNEST)
            unnest_leaf(file, leaf, &as, random);
        else
            read_leaf(file, leaf, &as, random);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hac_error err = HAC_ERROR_NONE;
    hac_parquet_file *file = NULL;
    hac_parquet_place place = {.fd = -1, .memory = data, .bytes = size};
    /* checksums would hide most changes */
    hac_parquet_limits limits = {.page_bytes = PAGE_MAX, .ignore_checksums = size % 16 != 0};
    if (!good(hac_parquet_open(&place, &limits, &file, &err), &err))
        return 0;
    for (size_t leaf = 0; leaf < file->n_leaves && leaf < 32; leaf++) {
        read_leaf(file, leaf, &file->leaves[leaf], size + leaf);
        if (file->leaves[leaf].nested.kind != HAC_NESTED_NONE)
            read_parts(file, leaf, size + leaf);
    }
    hac_parquet_close(file);
    return 0;
}
