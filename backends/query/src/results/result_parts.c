/* SPDX-License-Identifier: Apache-2.0 */
#include "result_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "codelet/threads.h"
#include "parquet/join.h"
#include "parquet/writer.h"
#include "query/output.h"

#define PART_MAGIC   UINT64_C(0x3154524150434148) /* "HACPART1" */
#define FOOTER_GUESS (UINT64_C(4) << 10)          /* of a Parquet file, without its row groups … */
#define FACTS_FACTOR 2 /* … and times what describes them: the footer takes less than that */

HAC_DEFINE_CLEANUP(hac_parquet_writer *, hac_parquet_writer_free)
HAC_DEFINE_CLEANUP(hac_parquet_join *, hac_parquet_join_free)

typedef struct part_header {
    uint64_t magic; /* written last */
    uint64_t seed, number, rows;
    uint64_t bytes;     /* after the header */
    uint64_t described; /* bytes that describe row groups, at the next multiple of 8 */
    uint64_t unused[2];
} part_header;

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + 7) & ~UINT64_C(7);
}

uint64_t hac_part_rows(const hac_query *query, uint64_t wanted)
{
    uint64_t group = query->output == HAC_RESULT_PARQUET ? query->parquet.group_rows : 0;
    if (group == 0 || wanted > UINT64_MAX - group)
        return wanted;
    return (wanted + group - 1) / group * group;
}

/* ---- writing ---- */

typedef struct printing {
    const hac_query *query;
    hac_output_buffer output;
} printing;

static hac_status print(void *context, const hac_column *columns, size_t rows, hac_error *err)
{
    printing *p = context;
    hac_status status = hac_finish_check_times(p->query, columns, rows, err);
    if (status != HAC_OK)
        return status;
    hac_output_rows(&p->output, p->query->output, &p->query->outputs, p->query->n_visible, columns, rows);
    return HAC_OK;
}

static hac_status write_text(const hac_ordered_rows *rows, bool first, hac_output_buffer *output,
                             hac_error *err)
{
    const hac_query *query = rows->query;
    printing p = {.query = query, .output = *output};
    if (first && !query->headless)
        hac_output_header(&p.output, query->output, &query->outputs, query->n_visible);
    hac_status status = hac_ordered_for_batches(rows, print, &p, err);
    *output = p.output;
    return status;
}

static hac_status write_groups(const hac_ordered_rows *rows, hac_output_buffer *output, uint8_t **ret,
                               size_t *ret_n, hac_error *err)
{
    const hac_query *query = rows->query;
    const hac_parquet_write_options options = {.codec = (uint8_t)hac_finish_codec(&query->parquet),
                                               .group_rows = query->parquet.group_rows,
                                               .threads = 1,
                                               .part = true};
    hac_cleanup(hac_parquet_writer_free_cleanup) hac_parquet_writer *writer = NULL;
    uint64_t bytes;
    hac_status status = hac_parquet_writer_new(&query->outputs, query->n_visible, &options, hac_finish_put,
                                               output, &writer, err);
    if (status == HAC_OK)
        status = hac_ordered_for_batches(rows, hac_finish_add, writer, err);
    return status == HAC_OK ? hac_parquet_writer_end_part(writer, &bytes, ret, ret_n, err) : status;
}

hac_status hac_part_write(const hac_ordered_rows *rows, uint64_t number, uint64_t seed, uint8_t *region,
                          uint64_t capacity, uint64_t *ret_bytes, uint64_t *ret_result, hac_error *err)
{
    hac_autofree uint8_t *described = NULL;
    size_t n = 0;
    const uint64_t head = sizeof(part_header);
    hac_output_buffer output = {.data = region + (capacity < head ? capacity : head),
                                .capacity = capacity < head ? 0 : capacity - head};
    memset(region, 0, capacity < sizeof(uint64_t) ? capacity : sizeof(uint64_t));
    bool parquet = rows->query->output == HAC_RESULT_PARQUET;
    hac_status status = parquet ? write_groups(rows, &output, &described, &n, err)
                                : write_text(rows, number == 0, &output, err);
    if (status != HAC_OK)
        return status;
    part_header header = {.magic = PART_MAGIC,
                          .seed = seed,
                          .number = number,
                          .rows = rows->n,
                          .bytes = output.bytes,
                          .described = n};
    uint64_t at = head + aligned(output.bytes);
    *ret_bytes = at + aligned(n);
    *ret_result = output.bytes + FACTS_FACTOR * n + (parquet && number == 0 ? FOOTER_GUESS : 0);
    if (*ret_bytes > capacity)
        return HAC_OK;
    if (n > 0)
        memcpy(region + at, described, n);
    memcpy(region, &header, sizeof header);
    return HAC_OK;
}

/* ---- joining ---- */

static const uint8_t *region_of(const hac_result_parts *parts, uint64_t number)
{
    return parts->regions + number * parts->region_bytes;
}

/* Copies the header of a part, checked. */
static hac_status header_of(const hac_result_parts *parts, uint64_t number, part_header *ret, hac_error *err)
{
    uint64_t capacity = parts->region_bytes - sizeof *ret;
    if (parts->region_bytes >= sizeof *ret) {
        memcpy(ret, region_of(parts, number), sizeof *ret);
        if (ret->magic == PART_MAGIC && ret->seed == parts->seed && ret->number == number &&
            ret->bytes <= capacity && aligned(ret->bytes) <= capacity &&
            ret->described <= capacity - aligned(ret->bytes) && ret->rows < INT64_MAX)
            return HAC_OK;
    }
    return hac_fail(err, HAC_INVALID, "part %llu of the result is damaged, or not there",
                    (unsigned long long)number);
}

/* A stretch of a region and its place in the result. */
typedef struct copy {
    const uint8_t *from;
    uint64_t to, bytes;
} copy;

typedef struct joining {
    const hac_result_parts *parts;
    copy *copies;
    size_t n, capacity;
    uint8_t *result;
} joining;

static hac_status add_copy(joining *j, const uint8_t *from, uint64_t to, uint64_t bytes, hac_error *err)
{
    if (j->n == j->capacity) {
        size_t capacity = 2 * j->capacity + 16;
        copy *copies = reallocarray(j->copies, capacity, sizeof *copies);
        if (copies == NULL)
            return hac_fail_no_memory(err);
        j->copies = copies;
        j->capacity = capacity;
    }
    j->copies[j->n++] = (copy){.from = from, .to = to, .bytes = bytes};
    return HAC_OK;
}

static hac_status run_copy(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    const joining *j = context;
    const copy *c = &j->copies[item];
    (void)worker;
    (void)err;
    if (c->bytes > 0)
        memcpy(j->result + c->to, c->from, c->bytes);
    return HAC_OK;
}

static hac_status join_text(joining *j, uint64_t first, uint64_t count, uint64_t *ret_rows,
                            uint64_t *ret_bytes, hac_error *err)
{
    hac_status status = HAC_OK;
    *ret_rows = *ret_bytes = 0;
    for (uint64_t p = 0; status == HAC_OK && p < j->parts->n; p++) {
        part_header header = {0};
        status = header_of(j->parts, p, &header, err);
        if (status == HAC_OK && p >= first && p - first < count)
            status = add_copy(j, region_of(j->parts, p) + sizeof header, *ret_bytes, header.bytes, err);
        *ret_rows += header.rows;
        *ret_bytes += header.bytes;
    }
    return status;
}

/* Adds all parts, as the places of row groups depend on those before. */
static hac_status add_parts(const hac_result_parts *parts, hac_parquet_join *join, uint64_t *ret_rows,
                            hac_error *err)
{
    hac_status status = HAC_OK;
    *ret_rows = 0;
    for (uint64_t p = 0; status == HAC_OK && p < parts->n; p++) {
        part_header header = {0};
        status = header_of(parts, p, &header, err);
        if (status == HAC_OK)
            status = hac_parquet_join_add(join, header.bytes,
                                          region_of(parts, p) + sizeof header + aligned(header.bytes),
                                          header.described, err);
        *ret_rows += header.rows;
    }
    return status;
}

/* Row groups of other parts end where these begin, with zeros up to them. */
static hac_status copy_groups(joining *j, const hac_parquet_join *join, uint64_t first, uint64_t count,
                              hac_error *err)
{
    static const uint8_t magic[] = {'P', 'A', 'R', '1'};
    size_t n;
    const hac_parquet_join_group *groups = hac_parquet_join_groups(join, &n);
    hac_status status = first == 0 ? add_copy(j, magic, 0, sizeof magic, err) : HAC_OK;
    for (size_t g = 0; status == HAC_OK && g < n; g++)
        if (groups[g].part >= first && groups[g].part - first < count)
            status = add_copy(j, region_of(j->parts, groups[g].part) + sizeof(part_header) + groups[g].offset,
                              groups[g].position, groups[g].bytes, err);
    return status;
}

static void put_padding(const joining *j, const hac_parquet_join *join, uint64_t first, uint64_t count)
{
    size_t n;
    const hac_parquet_join_group *groups = hac_parquet_join_groups(join, &n);
    uint64_t end = 4;
    for (size_t g = 0; g < n; g++) {
        if (groups[g].part >= first && groups[g].part - first < count && groups[g].position > end)
            memset(j->result + end, 0, groups[g].position - end);
        end = groups[g].position + groups[g].bytes;
    }
}

static hac_status copy_all(joining *j, hac_error *err)
{
    return hac_pool_run(j->n, run_copy, j, err);
}

static hac_status join_parquet(joining *j, uint64_t first, uint64_t count, hac_span result,
                               uint64_t *ret_rows, uint64_t *ret_bytes, hac_error *err)
{
    const hac_query *query = j->parts->query;
    hac_cleanup(hac_parquet_join_free_cleanup) hac_parquet_join *join = NULL;
    hac_autofree uint8_t *footer = NULL;
    size_t n = 0;
    hac_status status =
        hac_parquet_join_new(&query->outputs, query->n_visible, query->parquet.block_bytes, &join, err);
    if (status == HAC_OK)
        status = add_parts(j->parts, join, ret_rows, err);
    if (status == HAC_OK)
        status = copy_groups(j, join, first, count, err);
    bool last = first + count == j->parts->n;
    if (status == HAC_OK && last)
        status = hac_parquet_join_footer(join, hac_finish_codec(&query->parquet), &footer, &n, err);
    if (status != HAC_OK)
        return status;
    uint64_t end = hac_parquet_join_end(join);
    *ret_bytes = last ? end + n : 0;
    if (end + n > result.bytes)
        return HAC_OK;
    if (last)
        status = add_copy(j, footer, end, n, err);
    put_padding(j, join, first, count);
    return status == HAC_OK ? copy_all(j, err) : status;
}

hac_status hac_parts_join(const hac_result_parts *parts, uint64_t first, uint64_t count, hac_span result,
                          uint64_t *ret_rows, uint64_t *ret_bytes, hac_error *err)
{
    joining j = {.parts = parts, .result = result.data};
    hac_status status;
    if (parts->query->output == HAC_RESULT_PARQUET) {
        status = join_parquet(&j, first, count, result, ret_rows, ret_bytes, err);
    } else {
        status = join_text(&j, first, count, ret_rows, ret_bytes, err);
        if (status == HAC_OK && *ret_bytes <= result.bytes)
            status = copy_all(&j, err);
    }
    free(j.copies);
    return status;
}
