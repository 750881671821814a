/* SPDX-License-Identifier: Apache-2.0 */
/* Arbitrary JSON. Input: a byte for options, one for the chunk; then the text. Additional oracle: JSON that
 * is written, read and written again is the same. */
#include "fuzz_infer.h"
#include "fuzz_rows.h"
#include "query/output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The rows as JSON. */
static size_t write_json(const fuzz_query *q, const uint8_t *data, size_t size, uint8_t *ret, size_t capacity)
{
    hac_source_place place = {.fd = -1, .memory = data, .bytes = size};
    hac_output_buffer output = {.data = ret, .capacity = capacity};
    hac_source *source = NULL;
    hac_batch batch;
    if (hac_source_open(&q->query, &place, NULL, &source, NULL) != HAC_OK ||
        hac_source_begin(source, 0, size, false, NULL) != HAC_OK)
        abort();
    hac_status status;
    while ((status = hac_source_next(source, &batch, NULL)) == HAC_OK)
        hac_output_rows(&output, HAC_RESULT_JSON, &q->query.columns, batch.n_columns, batch.columns,
                        batch.rows);
    if (status != HAC_NOT_FOUND || output.bytes > capacity)
        abort();
    hac_source_free(source);
    return (size_t)output.bytes;
}

static void check_round_trip(const fuzz_query *q, const uint8_t *data, size_t size)
{
    size_t capacity = size * 64 + 4096;
    uint8_t *first = malloc(capacity), *second = malloc(capacity);
    if (first == NULL || second == NULL)
        abort();
    size_t n = write_json(q, data, size, first, capacity), m = write_json(q, first, n, second, capacity);
    if (n != m || memcmp(first, second, n) != 0)
        abort();
    free(first);
    free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    fuzz_query q = {0};
    q.query.source = (hac_source_options){.format = HAC_INPUT_JSONL, .options = {.skip_errors = data[0] & 1}};
    fuzz_column(&q, "a", HAC_KIND_STRING, 0, 0);
    fuzz_column(&q, "b", HAC_KIND_F64, 0, 0);
    fuzz_column(&q, "c", data[0] & 2 ? HAC_KIND_BYTES : HAC_KIND_STRING, 0, 0);
    if (data[0] & 4) {
        fuzz_column(&q, "a.b", HAC_KIND_STRING, 0, 0);
        fuzz_column(&q, "d.a.b", HAC_KIND_F64, 0, 0);
    }
    hac_source_place place = {.fd = -1, .memory = data + 2, .bytes = size - 2};
    fuzz_rows whole = fuzz_read(&q, &place, NULL, 0), cut = fuzz_read(&q, &place, NULL, 1 + data[1]);
    fuzz_compare(&whole, &cut);
    fuzz_infer(&q.query.source, &place);
    if (whole.status == HAC_OK)
        check_round_trip(&q, data + 2, size - 2);
    return 0;
}
