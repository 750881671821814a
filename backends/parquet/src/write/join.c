/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet/join.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "part_facts.h"

struct hac_parquet_join {
    const hac_schema *schema;
    size_t n_columns;
    uint64_t block_bytes;
    uint64_t parts, position;
    hac_bytes groups;  /* hac_parquet_join_group */
    hac_bytes facts;   /* of all parts: hac_part_chunk and pages */
    uint8_t *not_utf8; /* one byte a column */
};

hac_status hac_parquet_join_new(const hac_schema *schema, size_t n_columns, uint64_t block_bytes,
                                hac_parquet_join **ret, hac_error *err)
{
    hac_parquet_join *join = calloc(1, sizeof *join);
    uint8_t *not_utf8 = calloc(n_columns + 1, 1);
    if (join == NULL || not_utf8 == NULL) {
        free(join);
        free(not_utf8);
        return hac_fail_no_memory(err);
    }
    *join = (hac_parquet_join){.schema = schema,
                               .n_columns = n_columns,
                               .block_bytes = block_bytes,
                               .position = 4,
                               .not_utf8 = not_utf8};
    *ret = join;
    return HAC_OK;
}

void hac_parquet_join_free(hac_parquet_join *join)
{
    if (join == NULL)
        return;
    hac_bytes_clear(&join->groups);
    hac_bytes_clear(&join->facts);
    free(join->not_utf8);
    free(join);
}

/* ---- reading descriptions ---- */

/* Bytes of a description that are not read yet. */
typedef struct unread {
    const uint8_t *data;
    uint64_t bytes;
} unread;

static bool take(unread *from, void *ret, uint64_t bytes)
{
    if (bytes > from->bytes)
        return false;
    memcpy(ret, from->data, bytes);
    from->data += bytes;
    from->bytes -= bytes;
    return true;
}

static bool is_bool(const uint8_t *object, size_t offset)
{
    return object[offset] <= 1;
}

static bool is_bound(const uint8_t *page, size_t at)
{
    return page[at + offsetof(hac_bound_value, bytes)] <= HAC_BOUND_BYTES &&
           is_bool(page, at + offsetof(hac_bound_value, exact)) &&
           is_bool(page, at + offsetof(hac_bound_value, none));
}

/* Whether the bytes of a hac_written_page may be used as one. */
static bool is_page(const uint8_t *page)
{
    size_t at = offsetof(hac_written_page, min_max);
    return is_bool(page, offsetof(hac_written_page, dictionary)) &&
           is_bool(page, at + offsetof(hac_min_max, any)) &&
           is_bound(page, at + offsetof(hac_min_max, min)) && is_bound(page, at + offsetof(hac_min_max, max));
}

/* Whether the descriptions of a group's chunks are whole, and its chunks as long as the group. */
static bool are_chunks(const uint8_t *facts, uint64_t facts_bytes, size_t columns, uint64_t group_bytes)
{
    unread rest = {.data = facts, .bytes = facts_bytes};
    uint64_t sum = 0;
    for (size_t c = 0; c < columns; c++) {
        hac_part_chunk chunk;
        if (!take(&rest, &chunk, sizeof chunk) || chunk.pages > rest.bytes / sizeof(hac_written_page) ||
            chunk.dictionary_bytes > chunk.bytes || chunk.bytes > group_bytes - sum)
            return false;
        sum += chunk.bytes;
        for (uint64_t i = 0; i < chunk.pages; i++)
            if (!is_page(rest.data + i * sizeof(hac_written_page)))
                return false;
        rest.data += chunk.pages * sizeof(hac_written_page);
        rest.bytes -= chunk.pages * sizeof(hac_written_page);
    }
    return sum == group_bytes && rest.bytes == 0;
}

/* ---- placing ---- */

/* A row group that fits a block, but not the rest of this one, begins at the next. */
static uint64_t place(const hac_parquet_join *join, uint64_t bytes)
{
    uint64_t used = join->block_bytes != 0 ? join->position % join->block_bytes : 0;
    bool crosses = used != 0 && bytes > join->block_bytes - used;
    return join->position + (crosses ? join->block_bytes - used : 0);
}

/* The description is the joiner's own copy: it does not change any more. */
static hac_status add_groups(hac_parquet_join *join, uint64_t part_bytes, const hac_part_head *head,
                             unread *rest, hac_error *err)
{
    uint64_t offset = 0;
    for (uint64_t g = 0; g < head->groups; g++) {
        hac_part_group group;
        bool sound = take(rest, &group, sizeof group) && group.facts_bytes <= rest->bytes &&
                     group.bytes <= part_bytes - offset &&
                     are_chunks(rest->data, group.facts_bytes, join->n_columns, group.bytes);
        if (!sound)
            return hac_fail(err, HAC_INVALID, "a part of the Parquet file is damaged");
        hac_parquet_join_group next = {.part = join->parts,
                                       .offset = offset,
                                       .bytes = group.bytes,
                                       .position = place(join, group.bytes),
                                       .rows = group.rows,
                                       .facts = join->facts.n};
        if (!hac_bytes_add(&join->groups, &next, sizeof next) ||
            !hac_bytes_add(&join->facts, rest->data, group.facts_bytes))
            return hac_fail_no_memory(err);
        rest->data += group.facts_bytes;
        rest->bytes -= group.facts_bytes;
        offset += group.bytes;
        join->position = next.position + group.bytes;
    }
    return HAC_OK;
}

hac_status hac_parquet_join_add(hac_parquet_join *join, uint64_t bytes, const uint8_t *described,
                                uint64_t described_bytes, hac_error *err)
{
    hac_part_head head;
    hac_autofree uint8_t *copy = malloc(described_bytes + 1);
    if (copy == NULL)
        return hac_fail_no_memory(err);
    if (described_bytes > 0)
        memcpy(copy, described, described_bytes);
    unread rest = {.data = copy, .bytes = described_bytes};
    uint64_t padded = (join->n_columns + 7) / 8 * 8;
    if (!take(&rest, &head, sizeof head) || head.columns != join->n_columns || rest.bytes < padded)
        return hac_fail(err, HAC_INVALID, "a part of the Parquet file is damaged");
    for (size_t c = 0; c < join->n_columns; c++)
        join->not_utf8[c] |= rest.data[c] != 0;
    rest.data += padded;
    rest.bytes -= padded;
    hac_status status = add_groups(join, bytes, &head, &rest, err);
    join->parts++;
    return status;
}

const hac_parquet_join_group *hac_parquet_join_groups(const hac_parquet_join *join, size_t *ret_n)
{
    *ret_n = join->groups.n / sizeof(hac_parquet_join_group);
    return (const hac_parquet_join_group *)(const void *)join->groups.data;
}

uint64_t hac_parquet_join_end(const hac_parquet_join *join)
{
    return join->position;
}

/* ---- the footer ---- */

static hac_status add_group(const hac_parquet_join *join, const hac_parquet_join_group *group,
                            hac_footer_writer *footer, hac_error *err)
{
    const uint8_t *at = join->facts.data + group->facts;
    uint64_t position = group->position;
    for (size_t c = 0; c < join->n_columns; c++) {
        hac_part_chunk chunk;
        memcpy(&chunk, at, sizeof chunk);
        at += sizeof chunk;
        hac_chunk_facts facts = {.stored = hac_stored_of(join->schema->fields[c].type),
                                 .pages = (const hac_written_page *)(const void *)at,
                                 .n_pages = chunk.pages,
                                 .bytes = chunk.bytes,
                                 .uncompressed = chunk.uncompressed,
                                 .dictionary_bytes = chunk.dictionary_bytes};
        hac_status status = hac_footer_add_chunk(footer, &facts, position, err);
        if (status != HAC_OK)
            return status;
        at += chunk.pages * sizeof(hac_written_page);
        position += chunk.bytes;
    }
    return hac_footer_add_group(footer, group->rows, err);
}

static hac_status write_footer(const hac_parquet_join *join, hac_parquet_codec codec,
                               hac_footer_writer *footer, hac_column_writer *columns, hac_bytes *ret,
                               hac_error *err)
{
    size_t n;
    const hac_parquet_join_group *groups = hac_parquet_join_groups(join, &n);
    hac_schema schema = {.fields = join->schema->fields, .n_fields = join->n_columns};
    hac_status status = HAC_OK;
    for (size_t c = 0; c < join->n_columns; c++) {
        hac_column_writer_init(&columns[c], join->schema->fields[c].type, 0, 0);
        columns[c].not_utf8 = join->not_utf8[c] != 0;
    }
    for (size_t g = 0; status == HAC_OK && g < n; g++)
        status = add_group(join, &groups[g], footer, err);
    if (status == HAC_OK && (!hac_bytes_add(ret, footer->column_indexes.data, footer->column_indexes.n) ||
                             !hac_bytes_add(ret, footer->offset_indexes.data, footer->offset_indexes.n)))
        status = hac_fail_no_memory(err);
    return status == HAC_OK ? hac_footer_write(footer, &schema, columns, codec, join->position, ret, err)
                            : status;
}

hac_status hac_parquet_join_footer(hac_parquet_join *join, hac_parquet_codec codec, uint8_t **ret,
                                   size_t *ret_n, hac_error *err)
{
    hac_footer_writer footer = {0};
    hac_bytes bytes = {0};
    hac_column_writer *columns = calloc(join->n_columns + 1, sizeof *columns);
    hac_status status =
        columns == NULL ? hac_fail_no_memory(err) : write_footer(join, codec, &footer, columns, &bytes, err);
    for (size_t c = 0; columns != NULL && c < join->n_columns; c++)
        hac_column_writer_clear(&columns[c]);
    free(columns);
    hac_footer_writer_clear(&footer);
    if (status != HAC_OK) {
        hac_bytes_clear(&bytes);
        return status;
    }
    *ret = bytes.data;
    *ret_n = bytes.n;
    return HAC_OK;
}
