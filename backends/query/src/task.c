/* SPDX-License-Identifier: Apache-2.0 */
#include "query/task.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/split_layout.h"

HAC_DEFINE_CLEANUP(hac_query *, hac_query_free)

/* ---- compiled queries with their tables ---- */

static size_t padded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static hac_status read_columns(const uint8_t *data, size_t n, hac_table *ret, hac_error *err)
{
    hac_table_column *columns = calloc(n, sizeof *columns);
    if (columns == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        hac_query_blob_column c;
        memcpy(&c, data + i * sizeof c, sizeof c);
        columns[i] = (hac_table_column){.type = {c.kind, c.precision, c.scale},
                                        .large = c.large != 0,
                                        .validity = c.validity,
                                        .values = c.values,
                                        .bytes = c.bytes,
                                        .n_bytes = c.n_bytes};
    }
    *ret = (hac_table){.n_columns = n, .columns = columns};
    return HAC_OK;
}

hac_status hac_query_blob_read(const uint8_t *data, size_t bytes, hac_query **ret_query, hac_table *ret_table,
                               hac_error *err)
{
    hac_query_blob blob;
    hac_cleanup(hac_query_free_cleanup) hac_query *query = NULL;
    hac_table table = {0};
    if (bytes < sizeof blob)
        return hac_fail(err, HAC_INVALID, "no compiled query");
    memcpy(&blob, data, sizeof blob);
    if (blob.magic != HAC_QUERY_BLOB_MAGIC || blob.query_bytes > bytes - sizeof blob)
        return hac_fail(err, HAC_INVALID, "no compiled query");
    size_t columns_at = padded(sizeof blob + blob.query_bytes);
    if (blob.n_columns > HAC_TABLE_COLUMNS_MAX ||
        (blob.n_columns != 0 &&
         (columns_at > bytes || blob.n_columns > (bytes - columns_at) / sizeof(hac_query_blob_column))))
        return hac_fail(err, HAC_INVALID, "the compiled query's table is not whole");
    hac_status status = hac_query_read(data + sizeof blob, blob.query_bytes, &query, err);
    if (status == HAC_OK && (query->source.format == HAC_FORMAT_TABLE) != (blob.n_columns != 0))
        return hac_fail(err, HAC_INVALID, "a table source, and no table");
    if (status == HAC_OK && blob.n_columns != 0)
        status = read_columns(data + columns_at, blob.n_columns, &table, err);
    if (status != HAC_OK)
        return status;
    *ret_query = hac_steal_ptr(query);
    *ret_table = table;
    return HAC_OK;
}

static void write_columns(const hac_table *table, uint8_t *ret)
{
    for (size_t i = 0; i < table->n_columns; i++) {
        const hac_table_column *from = &table->columns[i];
        hac_query_blob_column c = {.kind = from->type.kind,
                                   .precision = from->type.precision,
                                   .scale = from->type.scale,
                                   .large = from->large,
                                   .validity = from->validity,
                                   .values = from->values,
                                   .bytes = from->bytes,
                                   .n_bytes = from->n_bytes};
        memcpy(ret + i * sizeof c, &c, sizeof c);
    }
}

hac_status hac_query_blob_write(const hac_query *query, const hac_table *table, uint8_t *ret, size_t room,
                                size_t *ret_bytes, hac_error *err)
{
    hac_cleanup(hac_text_clear) hac_text text = HAC_TEXT_NONE;
    hac_autofree char *bytes = NULL;
    size_t n, n_columns = table == NULL ? 0 : table->n_columns;
    hac_status status = hac_query_write(query, &text, err);
    if (status == HAC_OK)
        status = hac_text_finish(&text, &bytes, &n, err);
    if (status != HAC_OK)
        return status;
    hac_query_blob blob = {HAC_QUERY_BLOB_MAGIC, (uint32_t)n, (uint32_t)n_columns};
    size_t columns_at = padded(sizeof blob + n), all = columns_at + n_columns * sizeof(hac_query_blob_column);
    if (all > room)
        return hac_fail(err, HAC_INVALID, "the query is too large: %zu bytes when compiled, %zu are possible",
                        all, room);
    memset(ret, 0, columns_at);
    memcpy(ret, &blob, sizeof blob);
    memcpy(ret + sizeof blob, bytes, n);
    if (n_columns != 0)
        write_columns(table, ret + columns_at);
    *ret_bytes = all;
    return HAC_OK;
}

/* ---- tasks ---- */

_Static_assert(HAC_QUERY_N_PARAMS <= HAC_TASK_MAX_PARAMS && HAC_COMPILE_N_VALUES <= HAC_TASK_MAX_VALUES,
               "tasks have room for what they are told, and tell");

static uint64_t param(const hac_task *task, hac_query_param which)
{
    return which < task->n_params ? task->params[which] : 0;
}

#define TICK_NS                                                                                              \
    INT64_C(10000000) /* between two times that files get; the kernel's clock for them is coarse */

/* Whether a further write would leave the file's time as it is. */
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

/* Links and permissions may change: they leave the bytes as they are. */
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
    t->starts[n] = t->starts[n - 1]; /* without data sets: an empty one */
    bool sound = t->starts[0] == h->header_bytes && t->starts[n - 1] == h->text_bytes;
    for (size_t i = 1; i < n; i++)
        sound = sound && t->starts[i - 1] <= t->starts[i];
    return sound ? HAC_OK : hac_fail(err, HAC_INVALID, "a split whose data sets are not one after another");
}

hac_status hac_query_open_split(const hac_task *task, const hac_span *span, hac_query_task *t, hac_error *err)
{
    hac_split_header h;
    uint64_t sets = (uint32_t)param(task, HAC_QUERY_PARAM_SPLIT), room = span == NULL ? 0 : span->bytes;
    if (room < sizeof h)
        return hac_fail(err, HAC_INVALID, "a split of %llu bytes", (unsigned long long)room);
    memcpy(&h, span->data, sizeof h);
    bool all = h.n_sets == sets || (h.n_sets == 0 && sets == 1);
    if (h.magic != HAC_SPLIT_MAGIC || !all || sets > HAC_SPLIT_SETS_MAX || h.text_offset % 64 != 0 ||
        h.text_offset > room || h.text_offset < sizeof h + (sets + 1) * sizeof(uint64_t) ||
        h.text_bytes > room - h.text_offset || h.header_bytes > h.text_bytes)
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

/* A split that lies in a file: its sets have `chunk_bytes` each. */
static hac_status open_range(const hac_task *task, hac_query_task *t, hac_error *err)
{
    uint64_t sets = (uint32_t)param(task, HAC_QUERY_PARAM_SPLIT),
             offset = param(task, HAC_QUERY_PARAM_FILE_OFFSET), record = t->query->schema_columns;
    if (t->query->source.format != HAC_FORMAT_FIXED)
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
                                  .lines_before = param(task, HAC_QUERY_PARAM_BYTES_BEFORE) / record};
    return HAC_OK;
}

/* ---- sources ---- */

/* The file that query.compile or query.footer has seen. */
static hac_status open_file(const hac_task *task, hac_query_task *t, hac_error *err)
{
    uint64_t stamp = param(task, HAC_QUERY_PARAM_FILE_STAMP);
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
    bool parquet = t->query->source.format == HAC_FORMAT_PARQUET;
    t->place.bytes = parquet ? param(task, HAC_QUERY_PARAM_FILE_BYTES) : t->source_bytes;
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
    uint64_t pass = param(task, HAC_QUERY_PARAM_PASS);
    t->source_bytes = param(task, HAC_QUERY_PARAM_SOURCE_BYTES);
    t->chunk_bytes = param(task, HAC_QUERY_PARAM_CHUNK);
    t->first_chunk = param(task, HAC_QUERY_PARAM_FIRST_CHUNK);
    t->chunks = param(task, HAC_QUERY_PARAM_CHUNKS);
    t->region = param(task, HAC_QUERY_PARAM_REGION);
    t->group_region = param(task, HAC_QUERY_PARAM_GROUP_REGION);
    t->partitions = (uint32_t)param(task, HAC_QUERY_PARAM_PARTITIONS);
    t->seed = param(task, HAC_QUERY_PARAM_SEED);
    t->pass = (uint32_t)pass;
    t->passes = (uint32_t)(pass >> 32);
    t->generation = (uint32_t)(param(task, HAC_QUERY_PARAM_SPLIT) >> 32);
    t->carry = param(task, HAC_QUERY_PARAM_CARRY);
}

/* Of rows that are given round by round: those that earlier ones gave count, and the first one has the
 * header. */
static void continue_rows(hac_query_task *t)
{
    hac_query *query = t->query;
    if (t->generation == 0 || query->aggregates)
        return;
    query->headless = t->generation > 1;
    if (query->limit != UINT64_MAX)
        query->limit -= t->carry < query->limit ? t->carry : query->limit;
}

hac_status hac_query_task_read(const hac_task *task, int table_span, hac_query_task *ret, hac_error *err)
{
    uint64_t inline_bytes = param(task, HAC_QUERY_PARAM_INLINE);
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
    if (status == HAC_OK)
        continue_rows(&t);
    if (status != HAC_OK)
        hac_query_task_clear(&t);
    else
        *ret = t;
    return status;
}

hac_status hac_query_check_source(const hac_query_task *task, hac_error *err)
{
    hac_source *source = NULL;
    if (task->parquet == NULL)
        return HAC_OK;
    hac_status status = hac_source_open(task->query, &task->place, NULL, &source, err);
    hac_source_free(source);
    return status;
}

void hac_query_task_clear(hac_query_task *task)
{
    hac_query_free(task->query);
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

/* What lies in a partial as rows becomes groups where it is merged, which are larger. */
uint64_t hac_query_table_memory(uint64_t region)
{
    const uint64_t least = UINT64_C(64) << 20;
    return region > UINT64_MAX / 32 ? UINT64_MAX : least + 16 * region;
}

/* ---- checks ---- */

hac_status hac_query_check_params(const hac_task *task, hac_error *err)
{
    if (task->n_params != HAC_QUERY_N_PARAMS)
        return hac_fail(err, HAC_INVALID, "%zu params; there are %d", task->n_params, HAC_QUERY_N_PARAMS);
    if (task->params[HAC_QUERY_PARAM_INLINE] > task->inline_in_bytes)
        return hac_fail(err, HAC_INVALID, "the inline data is shorter than its query");
    return HAC_OK;
}

static hac_status check_partitions(const hac_task *task, hac_error *err)
{
    uint64_t partitions = task->params[HAC_QUERY_PARAM_PARTITIONS];
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
    const uint64_t *p = task->params;
    uint64_t chunk = p[HAC_QUERY_PARAM_CHUNK], source = p[HAC_QUERY_PARAM_SOURCE_BYTES];
    uint64_t chunks = p[HAC_QUERY_PARAM_CHUNKS], first = p[HAC_QUERY_PARAM_FIRST_CHUNK];
    if (chunk == 0 || source > INT64_MAX)
        return hac_fail(err, HAC_INVALID, "chunks of %llu in a source of %llu", (unsigned long long)chunk,
                        (unsigned long long)source);
    /* a source without bytes has one chunk without rows */
    uint64_t own = source == 0 ? 1 : source / chunk + (source % chunk != 0);
    if (p[HAC_QUERY_PARAM_SPLIT] >> 32 != 0)
        own = (uint32_t)p[HAC_QUERY_PARAM_SPLIT];
    if (task->first > own || task->count > own - task->first || first > chunks || own > chunks - first)
        return hac_fail(err, HAC_INVALID, "chunks %llu … %llu of %llu, behind %llu of %llu",
                        (unsigned long long)task->first, (unsigned long long)(task->first + task->count),
                        (unsigned long long)own, (unsigned long long)first, (unsigned long long)chunks);
    return check_partitions(task, err);
}
