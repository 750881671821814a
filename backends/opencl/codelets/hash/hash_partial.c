/* SPDX-License-Identifier: Apache-2.0 */
#include "hash_partial.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

hac_status hac_hash_partials_init(hac_hash_partials *p, hac_error *err)
{
    size_t n = p->query->columns.n_fields, outputs = p->query->rows->n_outputs;
    hac_status status = hac_group_table_new(p->query, &p->options, &p->groups_table, err);
    if (status == HAC_OK)
        status = hac_machine_c_new(p->query->rows, 0, &p->rows, err);
    if (status != HAC_OK)
        return status;
    p->values = hac_hash_alloc((n + 1) * HAC_BATCH_ROWS * 16);
    p->states = hac_hash_alloc((n + 1) * HAC_BATCH_ROWS);
    p->columns = calloc(n + 1, sizeof *p->columns);
    p->outputs = calloc(outputs + 1, sizeof *p->outputs);
    if (p->values == NULL || p->states == NULL || p->columns == NULL || p->outputs == NULL)
        return hac_fail_no_memory(err);
    return HAC_OK;
}

void hac_hash_partials_clear(hac_hash_partials *p)
{
    hac_group_table_free(p->groups_table);
    hac_machine_c_free(p->rows);
    free(p->values);
    free(p->states);
    free(p->columns);
    free(p->outputs);
    free(p->strings);
}

/* ---- rows that stand for groups, as a batch ---- */

static void gather_values(const hac_table_column *c, const uint8_t *memory, const uint64_t *rows, size_t n,
                          uint8_t *ret)
{
    const uint8_t *values = memory + c->values;
    size_t size = hac_value_size(c->type);
    hac_repr repr = hac_repr_of(c->type);
    for (size_t i = 0; i < n; i++) {
        uint64_t wide[2] = {0, 0};
        if (c->type.kind == HAC_KIND_BOOL) {
            ret[i] = values[rows[i] / 8] >> rows[i] % 8 & 1;
            continue;
        }
        memcpy(wide, values + rows[i] * size, size);
        if (repr == HAC_REPR_I64 && size < 8)
            wide[0] = (uint64_t)((int64_t)(wide[0] << (64 - 8 * size)) >> (64 - 8 * size));
        memcpy(ret + i * hac_repr_size(repr), wide, hac_repr_size(repr));
    }
}

static hac_status reserve_strings(hac_hash_partials *p, uint64_t bytes, hac_error *err)
{
    if (bytes <= p->strings_capacity)
        return HAC_OK;
    if (bytes > UINT32_MAX)
        return hac_fail(err, HAC_UNSUPPORTED, "the keys of %d groups take more than 4 GiB", HAC_BATCH_ROWS);
    uint64_t capacity = bytes > UINT32_MAX / 2 ? UINT32_MAX : bytes * 2;
    uint8_t *strings = realloc(p->strings, capacity);
    if (strings == NULL)
        return hac_fail_no_memory(err);
    p->strings = strings;
    p->strings_capacity = capacity;
    return HAC_OK;
}

/* Characters are copied, since a column's offsets may be wider than a vector's. */
static hac_status gather_strings(hac_hash_partials *p, const hac_table_column *c, const uint64_t *rows,
                                 size_t n, const uint8_t *nulls, hac_string_ref *ret, uint64_t *used,
                                 hac_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t *bytes = NULL;
        uint64_t length = 0;
        ret[i] = (hac_string_ref){0, 0};
        if (nulls != NULL && nulls[i] != HAC_ROW_OK)
            continue;
        if (!hac_table_string(c, p->job->memory.data, rows[i], &bytes, &length))
            return hac_fail(err, HAC_FAILED, "the offsets of a string column are not in order");
        hac_status status = reserve_strings(p, *used + length, err);
        if (status != HAC_OK)
            return status;
        if (length != 0)
            memcpy(p->strings + *used, bytes, length);
        ret[i] = (hac_string_ref){(uint32_t)*used, (uint32_t)length};
        *used += length;
    }
    return HAC_OK;
}

static hac_status gather(hac_hash_partials *p, const hac_table_column *columns, const uint64_t *rows,
                         size_t n, hac_error *err)
{
    const hac_query *q = p->query;
    uint64_t used = 0;
    for (size_t i = 0; i < q->columns.n_fields; i++) {
        const hac_table_column *c = &columns[i];
        uint8_t *values = p->values + i * HAC_BATCH_ROWS * 16, *states = p->states + i * HAC_BATCH_ROWS;
        p->columns[i] = (hac_column){.type = c->type, .values = values};
        if (c->validity != HAC_TABLE_NONE) {
            for (size_t r = 0; r < n; r++)
                states[r] = !(p->job->memory.data[c->validity + rows[r] / 8] >> rows[r] % 8 & 1);
            p->columns[i].states = states;
        }
        if (!hac_kind_is_text(c->type.kind)) {
            gather_values(c, p->job->memory.data, rows, n, values);
            continue;
        }
        hac_status status =
            gather_strings(p, c, rows, n, p->columns[i].states, (hac_string_ref *)(void *)values, &used, err);
        if (status != HAC_OK)
            return status;
    }
    for (size_t i = 0; i < q->columns.n_fields; i++)
        p->columns[i].bytes = p->strings;
    return HAC_OK;
}

/* ---- writing ---- */

static hac_status put_groups(hac_hash_partials *p, const hac_hash_chunk_groups *g, uint64_t first, size_t n,
                             hac_error *err)
{
    uint64_t rows[HAC_BATCH_ROWS];
    const uint64_t *figures[HAC_BATCH_ROWS];
    uint64_t begins, in_chunk = hac_hash_chunk_rows(p->job, g->chunk, &begins);
    for (size_t i = 0; i < n; i++) {
        rows[i] = g->pairs[first + i][PAIR_FIRST] + g->first_row;
        figures[i] = g->pairs[first + i] + p->job->shape.tail;
        if (rows[i] < begins || rows[i] - begins >= in_chunk)
            return hac_fail(err, HAC_DEVICE, "a group's row is %llu, of %llu from %llu on",
                            (unsigned long long)rows[i], (unsigned long long)in_chunk,
                            (unsigned long long)begins);
    }
    hac_status status = gather(p, hac_hash_chunk_columns(p->job, g->chunk), rows, n, err);
    if (status != HAC_OK)
        return status;
    hac_batch batch = {.rows = n, .n_columns = p->query->columns.n_fields, .columns = p->columns};
    hac_machine_c_run(p->rows, &batch, p->outputs);
    return hac_group_table_put(p->groups_table, p->outputs, figures, p->job->shape.units, n, err);
}

void hac_hash_partials_count(hac_hash_partials *p, uint64_t groups, uint64_t bytes)
{
    p->groups += groups;
    p->bytes = bytes;
    p->needed = bytes > p->needed ? bytes : p->needed;
}

static hac_status write_groups(hac_hash_partials *p, const hac_hash_chunk_groups *g, hac_error *err)
{
    uint64_t number = p->first_chunk + g->chunk, bytes = 0;
    hac_group_table_reset(p->groups_table);
    hac_status status = hac_group_table_put(p->groups_table, NULL, NULL, NULL, 0, err);
    for (uint64_t at = 0; status == HAC_OK && at < g->n; at += HAC_BATCH_ROWS)
        status = put_groups(p, g, at, g->n - at < HAC_BATCH_ROWS ? (size_t)(g->n - at) : HAC_BATCH_ROWS, err);
    if (status == HAC_OK)
        status = hac_group_table_write(p->groups_table, number, p->regions + number * p->region, p->region,
                                       &bytes, err);
    if (status == HAC_OK)
        hac_hash_partials_count(p, hac_group_table_groups(p->groups_table), bytes);
    return status;
}

hac_status hac_hash_partials_write(void *context, const hac_hash_chunk_groups *groups, hac_error *err)
{
    hac_hash_partials *p = context;
    return groups->refused ? p->refused(p, groups->chunk, err) : write_groups(p, groups, err);
}
