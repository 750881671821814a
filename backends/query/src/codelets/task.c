/* SPDX-License-Identifier: Apache-2.0 */
#include "query/task.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/split_layout.h"
#include "expr/query_blob.h"

/* ---- tasks ---- */

_Static_assert(HAC_FOOTER_N_VALUES <= HAC_TASK_VALUES_MAX, "tasks have room for what they tell");

#define TICK_NS INT64_C(10000000) /* granularity of file times: the kernel's coarse clock */

/* Whether another write could leave the file's time unchanged. */
static bool is_fresh(const struct stat *st, struct timespec *ret_left)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (st->st_mtim.tv_sec < now.tv_sec - 1 || st->st_mtim.tv_sec > now.tv_sec)
        return false;
    int64_t age = (now.tv_sec - st->st_mtim.tv_sec) * 1000000000 + now.tv_nsec - st->st_mtim.tv_nsec;
    *ret_left = (struct timespec){.tv_nsec = TICK_NS - age};
    return age >= 0 && age < TICK_NS;
}

/* Changes of links and permissions do not matter: they leave the bytes unchanged. */
static uint64_t stamp_of(int fd, bool settled)
{
    struct stat st;
    struct timespec left;
    if (fd < 0 || fstat(fd, &st) < 0)
        return 0;
    if (settled && is_fresh(&st, &left)) {
        (void)nanosleep(&left, NULL);
        if (fstat(fd, &st) < 0)
            return 0;
    }
    uint64_t words[] = {(uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec, (uint64_t)st.st_size};
    return XXH3_64bits(words, sizeof words) | 1;
}

static hac_status fail_changed(hac_error *err)
{
    return hac_fail(err, HAC_FAILED, "the file has changed while it was read");
}

hac_status hac_query_source_read(const hac_query_task *task, hac_status status, hac_error *err)
{
    const hac_source_place *place = &task->place;
    bool same = task->parquet == NULL || place->stamp == 0 || status == HAC_CANCELLED ||
                place->stamp == stamp_of(place->fd, false);
    return same ? status : fail_changed(err);
}

hac_status hac_query_open_parquet(hac_source_place *place, hac_parquet_file **ret, hac_error *err)
{
    place->stamp = stamp_of(place->fd, true);
    hac_parquet_place there = {.fd = place->fd, .memory = place->memory, .bytes = place->bytes};
    hac_status status = hac_parquet_open(&there, &(hac_parquet_limits){0}, ret, err);
    place->parquet = status == HAC_OK ? *ret : NULL;
    return status;
}

/* ---- splits ---- */

static hac_status read_starts(const hac_span *span, const hac_split_header *h, hac_query_task *t,
                              hac_error *err)
{
    size_t n = h->n_sets + (size_t)1;
    t->starts = malloc((n + 1) * sizeof *t->starts);
    if (t->starts == NULL)
        return hac_fail_no_memory(err);
    memcpy(t->starts, span->data + sizeof *h, n * sizeof *t->starts);
    t->starts[n] = t->starts[n - 1]; /* a split without data sets has one empty one */
    bool sound = t->starts[0] == h->header_bytes && t->starts[n - 1] == h->text_bytes;
    for (size_t i = 1; i < n; i++)
        sound = sound && t->starts[i - 1] <= t->starts[i];
    return sound ? HAC_OK : hac_fail(err, HAC_INVALID, "a split whose data sets are not one after another");
}

hac_status hac_query_open_split(const hac_task *task, const hac_span *span, hac_query_task *t, hac_error *err)
{
    hac_split_header h;
    uint64_t sets = HAC_PARAMS(hac_query_params, task)->data_sets, capacity = span == NULL ? 0 : span->bytes;
    if (capacity < sizeof h)
        return hac_fail(err, HAC_INVALID, "a split of %llu bytes", (unsigned long long)capacity);
    memcpy(&h, span->data, sizeof h);
    bool all = h.n_sets == sets || (h.n_sets == 0 && sets == 1);
    if (h.magic != HAC_SPLIT_MAGIC || !all || sets > HAC_SPLIT_SETS_MAX || h.text_offset % 64 != 0 ||
        h.text_offset > capacity || h.text_offset < sizeof h + (sets + 1) * sizeof(uint64_t) ||
        h.text_bytes > capacity - h.text_offset || h.header_bytes > h.text_bytes)
        return hac_fail(err, HAC_INVALID, "what lies in the split's buffer is no split of %llu data sets",
                        (unsigned long long)sets);
    t->sets = sets;
    t->source_bytes = h.text_bytes;
    t->place = (hac_source_place){.fd = -1,
                                  .memory = span->data + h.text_offset,
                                  .bytes = h.text_bytes,
                                  .split = true,
                                  .head = h.header_bytes,
                                  .lines_before = h.lines_before};
    return read_starts(span, &h, t, err);
}

/* Opens a split in a file; its data sets have `chunk_bytes` bytes each. */
static hac_status open_range(const hac_task *task, hac_query_task *t, hac_error *err)
{
    const hac_query_params *p = HAC_PARAMS(hac_query_params, task);
    uint64_t sets = p->data_sets, offset = p->file_offset, record = t->query->schema_columns;
    if (t->query->source.format != HAC_INPUT_FIXED)
        return hac_fail(err, HAC_INVALID, "a split in a file has records of fixed width");
    if (record == 0 || t->source_bytes == 0 || t->chunk_bytes == 0 ||
        (t->source_bytes - 1) / t->chunk_bytes + 1 != sets || offset > INT64_MAX - t->source_bytes)
        return hac_fail(err, HAC_INVALID, "%llu bytes are not %llu data sets of %llu",
                        (unsigned long long)t->source_bytes, (unsigned long long)sets,
                        (unsigned long long)t->chunk_bytes);
    t->sets = sets;
    t->place = (hac_source_place){.fd = task->fd,
                                  .fd_offset = offset,
                                  .bytes = t->source_bytes,
                                  .split = true,
                                  .lines_before = p->bytes_before / record};
    return HAC_OK;
}

/* ---- sources ---- */

/* The file whose footer query.footer has seen. */
static hac_status open_file(const hac_task *task, hac_query_task *t, hac_error *err)
{
    uint64_t stamp = HAC_PARAMS(hac_query_params, task)->file_stamp;
    hac_status status = hac_query_open_parquet(&t->place, &t->parquet, err);
    return stamp != 0 && t->place.stamp != stamp ? fail_changed(err) : status;
}

static hac_status find_place(const hac_task *task, int table_span, size_t inline_bytes, hac_query_task *t,
                             hac_error *err)
{
    const hac_span *span =
        table_span >= 0 && (size_t)table_span < task->n_spans ? &task->spans[table_span] : NULL;
    t->place = (hac_source_place){.fd = -1};
    if (table_span < 0)
        return HAC_OK;
    if (t->generation != 0)
        return task->fd >= 0 ? open_range(task, t, err) : hac_query_open_split(task, span, t, err);
    if (t->table.n_columns != 0) {
        t->table.rows = t->source_bytes;
        t->place.memory = span == NULL ? NULL : span->data;
        t->place.bytes = span == NULL ? 0 : span->bytes;
        return hac_table_check(&t->table, t->place.bytes, err);
    }
    bool parquet = t->query->source.format == HAC_INPUT_PARQUET;
    t->place.bytes = parquet ? HAC_PARAMS(hac_query_params, task)->file_bytes : t->source_bytes;
    if (task->fd >= 0) {
        t->place.fd = task->fd;
        return parquet ? open_file(task, t, err) : HAC_OK;
    }
    uint64_t bytes = span != NULL && span->bytes != 0 ? span->bytes : task->inline_in_bytes - inline_bytes;
    t->place.memory = span != NULL && span->bytes != 0 ? span->data : task->inline_in + inline_bytes;
    if (t->place.bytes > bytes)
        return hac_fail(err, HAC_INVALID, "a source of %llu bytes, and %llu are there",
                        (unsigned long long)t->place.bytes, (unsigned long long)bytes);
    return parquet ? hac_query_open_parquet(&t->place, &t->parquet, err) : HAC_OK;
}

static void read_params(const hac_task *task, hac_query_task *t)
{
    const hac_query_params *p = HAC_PARAMS(hac_query_params, task);
    t->source_bytes = p->source_bytes;
    t->chunk_bytes = p->chunk;
    t->first_chunk = p->first_chunk;
    t->chunks = p->chunks;
    t->region = p->region;
    t->group_region = p->group_region;
    t->partitions = (uint32_t)p->partitions;
    t->seed = p->seed;
    t->part_rows = p->part_rows;
    t->pass = (uint32_t)p->pass;
    t->passes = (uint32_t)p->passes;
    t->generation = (uint32_t)p->generation;
    t->carry = p->carry;
}

/* For rows that are returned round by round: rows of earlier rounds count, and only the first round has the
 * header. */
static void continue_rows(hac_query_task *t)
{
    hac_query *query = t->query;
    if (t->generation == 0 || query->aggregates)
        return;
    query->headless = t->generation > 1;
    query->offset -= t->carry < query->offset ? t->carry : query->offset;
    if (query->limit != UINT64_MAX)
        query->limit -= t->carry < query->limit ? t->carry : query->limit;
}

static hac_status find_grouped(hac_query_task *t, hac_error *err)
{
    t->grouped = t->query;
    if (!hac_query_counts_distinct(t->query))
        return HAC_OK;
    t->distinct = calloc(1, sizeof *t->distinct);
    if (t->distinct == NULL)
        return hac_fail_no_memory(err);
    hac_distinct_query_init(t->query, t->distinct);
    t->grouped = &t->distinct->pairs;
    return HAC_OK;
}

hac_status hac_query_task_read(const hac_task *task, int table_span, hac_query_task *ret, hac_error *err)
{
    uint64_t inline_bytes = HAC_PARAMS(hac_query_params, task)->inline_bytes;
    if (inline_bytes == 0)
        inline_bytes = task->inline_in_bytes;
    if (inline_bytes > task->inline_in_bytes)
        return hac_fail(err, HAC_INVALID, "a query of %llu bytes in %zu", (unsigned long long)inline_bytes,
                        task->inline_in_bytes);
    hac_query_task t = {0};
    read_params(task, &t);
    hac_status status = hac_query_blob_read(task->inline_in, inline_bytes, &t.query, &t.table, err);
    if (status == HAC_OK)
        status = find_place(task, table_span, inline_bytes, &t, err);
    t.place.path = task->path;
    t.place.path_bytes = task->path_bytes;
    if (status == HAC_OK)
        continue_rows(&t);
    if (status == HAC_OK)
        status = find_grouped(&t, err);
    if (status != HAC_OK)
        hac_query_task_clear(&t);
    else
        *ret = t;
    return status;
}

void hac_query_task_clear(hac_query_task *task)
{
    hac_query_free(task->query);
    free(task->distinct);
    task->distinct = NULL;
    task->grouped = NULL;
    free(task->table.columns);
    free(task->starts);
    task->starts = NULL;
    hac_parquet_close(task->parquet);
    task->parquet = NULL;
    task->query = NULL;
    task->table.columns = NULL;
}

void hac_query_task_chunk(const hac_query_task *task, uint64_t chunk, uint64_t *ret_first, uint64_t *ret_end)
{
    if (task->starts != NULL) {
        *ret_first = task->starts[chunk];
        *ret_end = task->starts[chunk + 1];
        return;
    }
    uint64_t first = chunk * task->chunk_bytes, left = task->source_bytes - first;
    *ret_first = first;
    *ret_end = first + (left < task->chunk_bytes ? left : task->chunk_bytes);
}

/* Rows in a partial become groups when they are merged, and groups are larger. */
uint64_t hac_query_table_memory(uint64_t region)
{
    const uint64_t min = UINT64_C(64) << 20;
    return region > UINT64_MAX / 32 ? UINT64_MAX : min + 16 * region;
}

/* ---- checks ---- */

hac_status hac_query_check_inline(const hac_task *task, hac_error *err)
{
    const hac_query_params *p = HAC_PARAMS(hac_query_params, task);
    if (p->inline_bytes > task->inline_in_bytes)
        return hac_fail(err, HAC_INVALID, "the inline data is shorter than its query");
    if (p->source_bytes > INT64_MAX)
        return hac_fail(err, HAC_INVALID, "a source of %llu bytes", (unsigned long long)p->source_bytes);
    return HAC_OK;
}

hac_status hac_query_check_params(const hac_task *task, hac_error *err)
{
    if (HAC_PARAMS(hac_query_params, task)->inline_bytes > task->inline_in_bytes)
        return hac_fail(err, HAC_INVALID, "the inline data is shorter than its query");
    return HAC_OK;
}

static hac_status check_partitions(const hac_task *task, hac_error *err)
{
    uint64_t partitions = HAC_PARAMS(hac_query_params, task)->partitions;
    if (partitions == 0 || partitions > 4096 || (partitions & (partitions - 1)) != 0)
        return hac_fail(err, HAC_INVALID, "%llu partitions; a power of two up to 4096 is possible",
                        (unsigned long long)partitions);
    return HAC_OK;
}

hac_status hac_query_check_regions(const hac_task *task, size_t span, uint64_t regions, uint64_t bytes,
                                   hac_error *err)
{
    uint64_t needed;
    if (bytes % 64 != 0 || __builtin_mul_overflow(regions, bytes, &needed) ||
        needed > task->spans[span].bytes)
        return hac_fail(err, HAC_INVALID, "%llu regions of %llu bytes do not fit span %zu (%llu bytes)",
                        (unsigned long long)regions, (unsigned long long)bytes, span,
                        (unsigned long long)task->spans[span].bytes);
    return HAC_OK;
}

hac_status hac_query_check_chunks(const hac_task *task, hac_error *err)
{
    hac_status status = hac_query_check_params(task, err);
    if (status != HAC_OK)
        return status;
    const hac_query_params *p = HAC_PARAMS(hac_query_params, task);
    uint64_t chunk = p->chunk, source = p->source_bytes;
    uint64_t chunks = p->chunks, first = p->first_chunk;
    if (chunk == 0 || source > INT64_MAX)
        return hac_fail(err, HAC_INVALID, "chunks of %llu in a source of %llu", (unsigned long long)chunk,
                        (unsigned long long)source);
    /* an empty source has one chunk without rows */
    uint64_t own = source == 0 ? 1 : source / chunk + (source % chunk != 0);
    if (p->generation != 0)
        own = p->data_sets;
    if (task->first > own || task->count > own - task->first || first > chunks || own > chunks - first)
        return hac_fail(err, HAC_INVALID, "chunks %llu … %llu of %llu, behind %llu of %llu",
                        (unsigned long long)task->first, (unsigned long long)(task->first + task->count),
                        (unsigned long long)own, (unsigned long long)first, (unsigned long long)chunks);
    return check_partitions(task, err);
}

bool hac_query_inside_quotes(const hac_span *quotes, uint64_t first_chunk, uint64_t chunk)
{
    uint64_t sum = 0, count;
    for (uint64_t i = 0; quotes->bytes != 0 && i < chunk; i++) {
        memcpy(&count, quotes->data + (first_chunk + i) * sizeof count, sizeof count);
        sum += count;
    }
    return (sum & 1) != 0;
}
