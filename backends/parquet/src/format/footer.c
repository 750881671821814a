/* SPDX-License-Identifier: Apache-2.0 */
#include "footer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chunk.h"
#include "created_by.h"
#include "schema.h"

#define PAGE_BYTES  8 /* the shortest header of a page */
#define GROUP_BYTES 5 /* the shortest row group: a list of columns and a number of rows */

/* Where parts of the metadata begin. They are read after the data they depend on: statistics depend on the
 * writer and the orders of columns, which come later in the footer. */
typedef struct footer_part {
    hac_thrift at; /* at == NULL: absent */
    size_t n;
} footer_part;

typedef struct metadata {
    footer_part schema, groups, orders;
    hac_parquet_slice created_by;
    uint32_t schema_bytes; /* from the beginning to the schema's end */
    bool encrypted;
} metadata;

static void note_list(hac_thrift *t, const hac_thrift_field *field, footer_part *ret)
{
    hac_thrift list = *t;
    if (hac_thrift_list(&list, field, HAC_THRIFT_STRUCT, &ret->n))
        ret->at = list;
    hac_thrift_skip(t, field);
}

static void find_parts(hac_thrift *t, metadata *ret)
{
    hac_thrift_field field = {0, 0};
    const uint8_t *begin = t->at;
    bool first = true; /* only the version was before this field */
    while (hac_thrift_next(t, &field)) {
        if (field.id == 2) {
            note_list(t, &field, &ret->schema);
            ret->schema_bytes = first ? (uint32_t)(t->at - begin) : 0;
        } else if (field.id == 4) {
            note_list(t, &field, &ret->groups);
        } else if (field.id == 6) {
            hac_thrift_binary(t, &field, &ret->created_by);
        } else if (field.id == 7) {
            note_list(t, &field, &ret->orders);
        } else {
            ret->encrypted |= field.id == 8;
            hac_thrift_skip(t, &field);
        }
        first &= field.id == 1;
    }
}

static hac_status take_created_by(hac_parquet_file *file, hac_arena *arena, hac_parquet_slice created_by,
                                  hac_error *err)
{
    char *text = hac_arena_alloc(arena, created_by.bytes + (size_t)1);
    if (text == NULL)
        return hac_fail_no_memory(err);
    for (uint32_t i = 0; i < created_by.bytes; i++)
        text[i] = created_by.data[i] == 0 ? '?' : (char)created_by.data[i];
    text[created_by.bytes] = '\0';
    file->created_by = text;
    file->doubts = hac_parquet_doubts_about(text);
    return HAC_OK;
}

/* A ColumnOrder: the number of its member. */
static int read_order(hac_thrift *t)
{
    hac_thrift_field field = {0, 0};
    int ret = 0;
    while (hac_thrift_next(t, &field)) {
        ret = field.id;
        hac_thrift_skip(t, &field);
    }
    return ret;
}

static bool is_float(const hac_parquet_leaf *leaf)
{
    return leaf->type.kind == HAC_KIND_F32 || leaf->type.kind == HAC_KIND_F64;
}

/* The order must be known and fit the values. 1: the order of the type, which INT96 does not have; 2: IEEE
 * 754's, for floats; 3: INT96 as times. Bounds are ignored without an order, and of a writer that is
 * doubted. */
static void judge_orders(hac_parquet_file *file, const footer_part *orders)
{
    hac_thrift t = orders->at;
    bool given = t.at != NULL && orders->n == file->n_leaves;
    for (size_t i = 0; i < file->n_leaves; i++) {
        hac_parquet_leaf *leaf = &file->leaves[i];
        int order = given ? read_order(&t) : 0;
        bool int96 = leaf->physical == HAC_PARQUET_INT96;
        if (!(order == 1 && !int96) && !(order == 2 && is_float(leaf)) && !(order == 3 && int96))
            leaf->order = HAC_PARQUET_UNORDERED;
        if (hac_parquet_doubtful_bounds(file->doubts, leaf))
            leaf->order = HAC_PARQUET_DOUBTFUL;
    }
}

static hac_status read_chunks(hac_parquet_file *file, hac_arena *arena, hac_parquet_group *group,
                              const footer_part *columns, size_t index, hac_error *err)
{
    hac_thrift t = columns->at;
    size_t n = t.at != NULL ? columns->n : 0;
    if (n != file->n_leaves)
        return hac_fail(err, HAC_FAILED,
                        "the footer is damaged: row group %zu has %zu columns, the schema %zu", index, n,
                        file->n_leaves);
    if (n > (size_t)(t.end - t.at) / HAC_PARQUET_CHUNK_BYTES)
        return hac_fail(err, HAC_FAILED, "the footer is damaged: row group %zu is cut off", index);
    group->chunks = n > 0 ? hac_arena_alloc(arena, n * sizeof *group->chunks) : NULL;
    if (n > 0 && group->chunks == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const hac_parquet_chunk_context context = {
            .file = file, .leaf = &file->leaves[i], .rows = group->rows, .arena = arena};
        hac_parquet_chunk_read(&t, &context, &group->chunks[i]);
        if (t.broken != NULL)
            return hac_fail(err, HAC_FAILED, "the footer is damaged: row group %zu, column '%.80s': %s",
                            index, file->leaves[i].name, t.broken);
    }
    return HAC_OK;
}

/* A page has a header and at most 2^31 - 1 values, which limits the rows that a few bytes can claim. */
static hac_status check_rows(const hac_parquet_file *file, const hac_parquet_group *group, size_t index,
                             hac_error *err)
{
    uint64_t max = 0;
    for (size_t i = 0; i < file->n_leaves; i++)
        max = group->chunks[i].bytes > max ? group->chunks[i].bytes : max;
    if (group->rows >> 31 <= max / PAGE_BYTES)
        return HAC_OK;
    return hac_fail(err, HAC_FAILED,
                    "the footer is damaged: row group %zu has %" PRIu64 " rows, more than its pages can hold",
                    index, group->rows);
}

static hac_status read_group(hac_thrift *t, hac_parquet_file *file, hac_arena *arena, hac_error *err)
{
    footer_part columns = {.n = 0};
    int64_t rows = -1;
    hac_thrift_field field = {0, 0};
    while (hac_thrift_next(t, &field)) {
        if (field.id == 1)
            note_list(t, &field, &columns);
        else if (field.id == 3)
            hac_thrift_i64(t, &field, &rows);
        else
            hac_thrift_skip(t, &field);
    }
    size_t index = file->n_groups;
    if (t->broken != NULL)
        return hac_fail(err, HAC_FAILED, "the footer is damaged: row group %zu: %s", index, t->broken);
    if (rows < 0 || __builtin_add_overflow(file->rows, (uint64_t)rows, &file->rows) || file->rows > INT64_MAX)
        return hac_fail(err, HAC_FAILED, "the footer is damaged: row group %zu has %" PRId64 " rows", index,
                        rows);
    hac_parquet_group *group = &file->groups[index];
    *group = (hac_parquet_group){.first_row = file->rows - (uint64_t)rows, .rows = (uint64_t)rows};
    file->n_groups++;
    hac_status status = read_chunks(file, arena, group, &columns, index, err);
    return status == HAC_OK ? check_rows(file, group, index, err) : status;
}

/* The footer's own number of rows is ignored: some writers leave it 0. */
static hac_status read_groups(hac_parquet_file *file, hac_arena *arena, const footer_part *groups,
                              hac_error *err)
{
    hac_thrift t = groups->at;
    if (t.at == NULL)
        return hac_fail(err, HAC_FAILED, "the footer is damaged: it has no row groups");
    if (groups->n > (size_t)(t.end - t.at) / GROUP_BYTES)
        return hac_fail(err, HAC_FAILED, "the footer is damaged: its row groups are cut off");
    file->groups = hac_arena_alloc(arena, (groups->n > 0 ? groups->n : 1) * sizeof *file->groups);
    if (file->groups == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < groups->n; i++) {
        hac_status status = read_group(&t, file, arena, err);
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}

hac_status hac_parquet_footer_read(hac_parquet_file *file, hac_arena *arena, const uint8_t *data,
                                   size_t bytes, hac_error *err)
{
    hac_thrift t;
    hac_thrift_begin(&t, data, bytes);
    metadata parts = {.encrypted = false};
    find_parts(&t, &parts);
    if (t.broken != NULL)
        return hac_fail(err, HAC_FAILED, "the footer is damaged: %s", t.broken);
    if (parts.encrypted)
        return hac_fail(err, HAC_FAILED,
                        "the file is encrypted (columns of it, under a footer in plain "
                        "text); encrypted files are not read");
    file->schema_bytes = parts.schema_bytes;
    if (parts.schema.at.at == NULL)
        return hac_fail(err, HAC_FAILED, "the footer is damaged: it has no schema");
    hac_status status = take_created_by(file, arena, parts.created_by, err);
    if (status == HAC_OK)
        status = hac_parquet_schema_read(&parts.schema.at, parts.schema.n, file, arena, err);
    if (status != HAC_OK)
        return status;
    judge_orders(file, &parts.orders);
    return read_groups(file, arena, &parts.groups, err);
}
