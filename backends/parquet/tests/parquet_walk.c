/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_walk FILE SEED STEPS: reads every leaf of a file from start to end, then again in random steps
 * (skipped rows, batches of any size, selections, codes, dictionaries), and compares each row with the first
 * reading. Ends with 1 if a row differs; a file that cannot be read is ignored. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/random.h"
#include "parquet/column.h"

/* A row group's rows, one after another, with copies of strings. */
typedef struct rows {
    uint64_t n;
    uint8_t *values, *states;
    char **texts;
} rows;

typedef struct walk {
    const hac_parquet_file *file;
    const hac_parquet_leaf *leaf;
    hac_parquet_column *column;
    size_t size;
    bool is_text;
    size_t group;
    rows whole;
    uint64_t at, random;
    uint64_t codes, entries, selections, skips; /* steps taken */
} walk;

static _Alignas(64) uint8_t batch_values[16 * HAC_BATCH_ROWS];
static uint8_t batch_states[HAC_BATCH_ROWS];

static void die(const walk *w, const char *what)
{
    fprintf(stderr, "column %s, row group %zu, row %" PRIu64 ": %s\n", w->leaf->name, w->group, w->at, what);
    exit(1);
}

static uint64_t draw(walk *w, uint64_t below)
{
    return hac_random_u64(&w->random) % below;
}

static void free_rows(rows *r)
{
    for (uint64_t i = 0; r->texts != NULL && i < r->n; i++)
        free(r->texts[i]);
    free(r->texts);
    free(r->values);
    free(r->states);
    *r = (rows){0};
}

/* The first reading. False: the leaf cannot be read. */
static bool read_whole(walk *w)
{
    hac_error err = HAC_ERROR_NONE;
    rows *r = &w->whole;
    r->n = w->file->groups[w->group].rows;
    r->values = calloc(r->n + 1, w->size);
    r->states = calloc(r->n + 1, 1);
    r->texts = w->is_text ? calloc(r->n + 1, sizeof *r->texts) : NULL;
    if (hac_parquet_column_begin(w->column, w->group, &err) != HAC_OK)
        return false;
    for (uint64_t at = 0, n = 0; at < r->n; at += n) {
        hac_column v = {.values = batch_values, .states = batch_states};
        bool marked = false;
        n = r->n - at < HAC_BATCH_ROWS ? r->n - at : HAC_BATCH_ROWS;
        if (hac_parquet_column_read(w->column, n, NULL, 0, &v, &marked, &err) != HAC_OK)
            return false;
        memcpy(r->values + at * w->size, batch_values, n * w->size);
        memcpy(r->states + at, batch_states, n);
        for (uint64_t i = 0; w->is_text && i < n; i++) {
            const hac_string_ref *ref = &((const hac_string_ref *)v.values)[i];
            r->texts[at + i] = malloc(ref->length + 1);
            if (ref->length > 0) /* without any text, there are no bytes */
                memcpy(r->texts[at + i], v.bytes + ref->offset, ref->length);
        }
    }
    return true;
}

static void compare_row(walk *w, uint64_t row, const hac_column *v, size_t i)
{
    const uint8_t *wanted = w->whole.values + row * w->size,
                  *value = (const uint8_t *)v->values + i * w->size;
    w->at = row;
    if (v->states[i] != w->whole.states[row])
        die(w, "another state");
    const hac_string_ref *a = (const void *)wanted, *b = (const void *)value;
    bool compared = w->is_text && v->states[i] == HAC_ROW_OK && a->length > 0;
    if (w->is_text && (a->length != b->length ||
                       (compared && memcmp(w->whole.texts[row], v->bytes + b->offset, a->length) != 0)))
        die(w, "another string");
    if (w->is_text && v->states[i] != HAC_ROW_OK && b->length != 0)
        die(w, "a null with a length");
    if (!w->is_text && v->states[i] == HAC_ROW_OK && memcmp(wanted, value, w->size) != 0)
        die(w, "another value");
}

static void check(walk *w, hac_status status, const hac_error *err)
{
    if (status != HAC_OK)
        die(w, err->message);
}

/* Reads a batch, or random rows of it. */
static void read_some(walk *w, uint64_t at, size_t n)
{
    hac_error err = HAC_ERROR_NONE;
    hac_column v = {.values = batch_values, .states = batch_states};
    uint16_t selection[HAC_BATCH_ROWS];
    size_t selected = 0, rarity = 1 + draw(w, draw(w, 2) ? 4 : 200);
    bool select = draw(w, 2), marked = false, any = false;
    for (size_t i = 0; select && i < n; i++)
        if (draw(w, rarity) == 0)
            selection[selected++] = (uint16_t)i;
    w->selections += select;
    memset(batch_values, 0xa5, sizeof batch_values);
    memset(batch_states, 0xa5, sizeof batch_states);
    check(w, hac_parquet_column_read(w->column, n, select ? selection : NULL, selected, &v, &marked, &err),
          &err);
    size_t given = select ? selected : n;
    for (size_t i = 0; i < given; i++) {
        compare_row(w, at + (select ? selection[i] : i), &v, i);
        any |= v.states[i] != HAC_ROW_OK;
    }
    if (any && !marked)
        die(w, "not said to be marked");
    if (given < HAC_BATCH_ROWS && (batch_states[given] != 0xa5 || batch_values[given * w->size] != 0xa5))
        die(w, "more was written than asked for");
}

/* Checks that each row's entry of the dictionary is its value. */
static void look_at_codes(walk *w, uint64_t at, size_t n)
{
    hac_error err = HAC_ERROR_NONE;
    const uint32_t *codes = NULL;
    const uint8_t *states = NULL;
    uint32_t entries = 0;
    uint64_t serial = 0;
    hac_status status = hac_parquet_column_codes(w->column, n, &codes, &states, &err);
    if (status == HAC_NOT_FOUND)
        return;
    check(w, status, &err);
    hac_parquet_column_dictionary(w->column, &entries, &serial);
    w->codes++;
    for (size_t i = 0; i < n; i++) {
        hac_column v = {.values = batch_values, .states = batch_states};
        bool marked = false;
        w->at = at + i;
        if ((states[i] == HAC_ROW_NULL) != (w->whole.states[at + i] == HAC_ROW_NULL))
            die(w, "another row is null among the codes");
        if (states[i] != HAC_ROW_OK || i % 7 != 0)
            continue;
        if (codes[i] >= entries)
            die(w, "a code that the dictionary has not");
        check(w, hac_parquet_column_entries(w->column, codes[i], 1, &v, &marked, &err), &err);
        compare_row(w, at + i, &v, 0);
        w->entries++;
    }
}

/* Sometimes all steps are of one kind, so that every kind follows every other. */
static void walk_group(walk *w)
{
    hac_error err = HAC_ERROR_NONE;
    uint64_t n = w->whole.n, at = 0;
    uint64_t longest = 1 + draw(w, draw(w, 3) == 0 ? 5 : HAC_BATCH_ROWS);
    check(w, hac_parquet_column_begin(w->column, w->group, &err), &err);
    while (at < n) {
        size_t some = 1 + (size_t)draw(w, longest);
        uint64_t far = 1 + draw(w, draw(w, 8) == 0 ? 5000 : 50);
        some = n - at < some ? (size_t)(n - at) : some;
        w->at = at;
        switch (draw(w, 4)) {
        case 0:
            far = n - at < far ? n - at : far;
            check(w, hac_parquet_column_skip(w->column, far, &err), &err);
            w->skips++;
            at += far;
            break;
        case 1:
            look_at_codes(w, at, some);
            break;
        default:
            read_some(w, at, some);
            at += some;
        }
    }
}

static void walk_leaf(walk *w, size_t leaf, size_t steps)
{
    hac_error err = HAC_ERROR_NONE;
    w->leaf = &w->file->leaves[leaf];
    w->size = hac_repr_size(hac_repr_of(w->leaf->type));
    w->is_text = hac_kind_is_text(w->leaf->type.kind);
    if (w->leaf->type.kind == HAC_KIND_NONE ||
        hac_parquet_column_new(w->file, leaf, &w->file->leaves[leaf], &w->column, &err) != HAC_OK)
        return;
    for (w->group = 0; w->group < w->file->n_groups; w->group++) {
        bool whole = read_whole(w);
        for (size_t i = 0; whole && i < steps; i++)
            walk_group(w);
        free_rows(&w->whole);
    }
    hac_parquet_column_free(w->column);
}

int main(int argc, char **argv)
{
    hac_error err = HAC_ERROR_NONE;
    hac_parquet_file *file = NULL;
    struct stat st;
    if (argc != 4) {
        fprintf(stderr, "usage: parquet_walk FILE SEED STEPS\n");
        return 2;
    }
    hac_autoclose int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        perror(argv[1]);
        return 2;
    }
    hac_parquet_place place = {.fd = fd, .bytes = (uint64_t)st.st_size};
    if (hac_parquet_open(&place, NULL, &file, &err) != HAC_OK) {
        printf("cannot be opened: %s\n", err.message);
        return 0;
    }
    walk w = {.file = file, .random = strtoull(argv[2], NULL, 10)};
    for (size_t leaf = 0; leaf < file->n_leaves; leaf++)
        walk_leaf(&w, leaf, strtoull(argv[3], NULL, 10));
    printf("codes %" PRIu64 ", entries %" PRIu64 ", selections %" PRIu64 ", skips %" PRIu64 "\n", w.codes,
           w.entries, w.selections, w.skips);
    hac_parquet_close(file);
    return 0;
}
