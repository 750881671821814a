/* SPDX-License-Identifier: Apache-2.0 */
/* Known answers of hash.aggregate: sums over keys that are computed from the row's number. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "hash_aggregate.h"
#include "hash_job.h"

#define ROWS   150000 /* more iterations than drivers with limited loops allow */
#define KEYS   5000
#define CHUNKS 2

HAC_DEFINE_CLEANUP(hac_query *, hac_query_free)

typedef struct known_answer_rows {
    uint64_t count, sum;
} known_answer_rows;

typedef struct hash_trial {
    uint8_t *memory;
    uint64_t bytes;
    hac_table_column columns[2]; /* k u32, n i64 */
    known_answer_rows *expected; /* for each key and chunk */
    uint64_t chunk_rows;
    uint32_t tail;
} hash_trial;

/* A few keys are frequent. */
static uint32_t key_of(uint32_t row)
{
    uint32_t mixed = row * 2654435761u;
    return mixed % 3 == 0 ? (mixed >> 8) % KEYS : (mixed >> 8) % 17;
}

static hac_status trial_init(hash_trial *t, hac_error *err)
{
    uint64_t at = (ROWS * sizeof(uint32_t) + 63) / 64 * 64;
    t->bytes = at + (ROWS * sizeof(int64_t) + 63) / 64 * 64;
    t->memory = hac_hash_alloc(t->bytes);
    t->expected = calloc(CHUNKS * KEYS, sizeof *t->expected);
    if (t->memory == NULL || t->expected == NULL)
        return hac_fail_no_memory(err);
    t->chunk_rows = ROWS / CHUNKS;
    t->columns[0] = (hac_table_column){
        .type = {.kind = HAC_KIND_U32}, .validity = HAC_TABLE_NONE, .bytes = HAC_TABLE_NONE};
    t->columns[1] = t->columns[0];
    t->columns[1].type.kind = HAC_KIND_I64;
    t->columns[1].values = at;
    uint32_t *k = (uint32_t *)(void *)t->memory;
    int64_t *n = (int64_t *)(void *)(t->memory + at);
    for (uint32_t i = 0; i < ROWS; i++) {
        k[i] = key_of(i);
        n[i] = i % 2 == 0 ? -(int64_t)i : (int64_t)i << 33;
        known_answer_rows *a = &t->expected[i / t->chunk_rows * KEYS + k[i]];
        a->count++;
        a->sum += (uint64_t)n[i];
    }
    return HAC_OK;
}

static void trial_clear(hash_trial *t)
{
    free(t->memory);
    free(t->expected);
}

/* Each key of the chunk once, with its count and sum. */
static hac_status compare(void *context, const hac_hash_chunk_groups *g, hac_error *err)
{
    const hash_trial *t = context;
    const known_answer_rows *expected = t->expected + g->chunk * KEYS;
    uint64_t keys = 0, rows = 0;
    for (uint32_t k = 0; k < KEYS; k++)
        keys += expected[k].count != 0;
    for (uint64_t i = 0; i < g->n; i++) {
        const uint64_t *pair = g->pairs[i], *figures = pair + t->tail; /* rows, nulls, sum */
        uint64_t key = pair[PAIR_KEYS];
        if (key >= KEYS || figures[0] != expected[key].count || figures[1] != 0 ||
            figures[2] != expected[key].sum || figures[3] != (uint64_t)((int64_t)figures[2] >> 63))
            return hac_fail(err, HAC_DEVICE, "key %llu: %llu rows, sum %lld, which is wrong",
                            (unsigned long long)key, (unsigned long long)figures[0], (long long)figures[2]);
        rows += figures[0];
    }
    if (g->n != keys || rows != t->chunk_rows)
        return hac_fail(err, HAC_DEVICE, "%llu keys of %llu rows, should be %llu of %llu",
                        (unsigned long long)g->n, (unsigned long long)rows, (unsigned long long)keys,
                        (unsigned long long)t->chunk_rows);
    return HAC_OK;
}

static hac_status run(hac_device *device, hash_trial *t, const hac_query *query, bool hot, hac_error *err)
{
    hac_group_layout layout;
    hac_table table = {.rows = ROWS, .n_columns = 2, .columns = t->columns};
    hac_span memory = {t->memory, t->bytes};
    hac_hash_options options = {.seed = 1, .hot_keys = hot, .first_pairs = 1024};
    hac_autofree hac_hash_job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_group_layout_init(query, &layout, err);
    if (status != HAC_OK)
        return status;
    status = hac_hash_job_init(job, device, query, &layout, &table, &memory, &options, err);
    t->tail = job->shape.tail;
    if (status == HAC_OK)
        status = hac_hash_job_run(job, t->chunk_rows, 0, CHUNKS, compare, t, err);
    hac_hash_job_clear(job);
    hac_group_layout_clear(&layout);
    return status;
}

hac_status hac_hash_aggregate_known_answer(hac_device *device, hac_type type, hac_error *err)
{
    hac_cleanup(hac_query_free_cleanup) hac_query *query = NULL;
    hash_trial t = {0};
    hac_query_text text = {.schema = "k:u32,n:i64",
                           .group_by = "k",
                           .select = "count() as c, sum(n) as s",
                           .limit = UINT64_MAX,
                           .source = {.format = HAC_INPUT_TABLE}};
    if (type != HAC_TYPE_U32) /* queries have their own types, so one type is enough */
        return HAC_OK;
    hac_status status = hac_query_compile(&text, NULL, &query, err);
    if (status == HAC_OK)
        status = trial_init(&t, err);
    for (int hot = 0; status == HAC_OK && hot < 2; hot++)
        status = run(device, &t, query, hot != 0, err);
    trial_clear(&t);
    return status;
}
