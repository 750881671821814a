/* SPDX-License-Identifier: Apache-2.0 */
/* A split that a client has filled in (base/split_layout.h). Input: a byte for the format, one for the number
 * of data sets that hacd was told, then the split. Oracle in addition to the sanitizers: an accepted split
 * has data sets one after another within its text. */
#include "fuzz_rows.h"
#include "query/task.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make_query(fuzz_query *q, uint8_t format)
{
    static const hac_input_format formats[] = {HAC_INPUT_CSV,   HAC_INPUT_TSV,   HAC_INPUT_JSONL,
                                               HAC_INPUT_LINES, HAC_INPUT_WORDS, HAC_INPUT_KV};
    q->query.source.format = formats[format % (sizeof formats / sizeof *formats)];
    q->query.source.options.no_header = (format & 0x40) == 0;
    q->query.source.options.skip_errors = format >> 7;
    fuzz_column(q, "a", HAC_KIND_STRING, 0, 0);
}

static void read_sets(const fuzz_query *q, const hac_query_task *t)
{
    hac_source *source = NULL;
    hac_error err = HAC_ERROR_NONE;
    hac_batch batch;
    uint64_t before = 0, first, end;
    hac_status status = hac_source_open(&q->query, &t->place, NULL, &source, &err);
    for (uint64_t i = 0; i < t->sets; i++) {
        hac_query_task_chunk(t, i, &first, &end);
        if (first < before || end < first || end > t->place.bytes)
            abort();
        before = end;
        if (status == HAC_OK)
            status = hac_source_begin(source, first, end, false, &err);
        while (status == HAC_OK && (status = hac_source_next(source, &batch, &err)) == HAC_OK)
            if (batch.rows < 1 || batch.rows > HAC_BATCH_ROWS)
                abort();
        status = status == HAC_NOT_FOUND ? HAC_OK : status;
    }
    hac_source_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    fuzz_query q = {.query.limit = UINT64_MAX};
    make_query(&q, data[0]);
    hac_task task = {.fd = -1};
    HAC_SET_PARAMS(&task, &(hac_query_params){.generation = 1, .data_sets = data[1]});
    /* the split ends at the end of an allocation, so that the sanitizer sees a read beyond it */
    size_t bytes = size - 2;
    uint8_t *memory = NULL;
    if (posix_memalign((void **)&memory, 64, bytes > 0 ? bytes : 1) != 0)
        abort();
    memcpy(memory, data + 2, bytes);
    hac_span span = {.data = memory, .bytes = bytes};
    hac_query_task t = {0};
    hac_error err = HAC_ERROR_NONE;
    if (hac_query_open_split(&task, &span, &t, &err) == HAC_OK)
        read_sets(&q, &t);
    hac_query_task_clear(&t);
    free(memory);
    return 0;
}
