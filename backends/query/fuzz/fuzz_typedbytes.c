/* SPDX-License-Identifier: Apache-2.0 */
/* Arbitrary typed bytes. Input: a byte for options, one for the chunk; then the objects. Additional oracle:
 * typed bytes that are written, read and written again are the same. */
#include "fuzz_binary.h"
#include "query/output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The rows as typed bytes; false: they cannot be read. */
static bool write_typed(const fuzz_query *q, const uint8_t *data, size_t size, hac_output_buffer *output)
{
    hac_source_place place = {.fd = -1, .memory = data, .bytes = size};
    hac_source *source = NULL;
    hac_batch batch;
    hac_status status;
    if (hac_source_open(&q->query, &place, NULL, &source, NULL) != HAC_OK ||
        hac_source_begin(source, 0, size, false, NULL) != HAC_OK)
        abort();
    while ((status = hac_source_next(source, &batch, NULL)) == HAC_OK)
        hac_output_rows(output, HAC_RESULT_TYPEDBYTES, &q->query.columns, batch.n_columns, batch.columns,
                        batch.rows);
    hac_source_free(source);
    if (output->bytes > output->capacity)
        abort();
    return status == HAC_NOT_FOUND;
}

static hac_output_buffer make_output(size_t capacity)
{
    hac_output_buffer output = {.data = malloc(capacity), .capacity = capacity};
    if (output.data == NULL)
        abort();
    return output;
}

/* A null comes back as empty text in a string column, so the first time may differ. */
static void check_round_trip(const fuzz_query *q, const uint8_t *data, size_t size)
{
    size_t capacity = size * 64 + 4096;
    hac_output_buffer first = make_output(capacity), second = make_output(capacity),
                      third = make_output(capacity);
    if (write_typed(q, data, size, &first) &&
        (!write_typed(q, first.data, first.bytes, &second) ||
         !write_typed(q, second.data, second.bytes, &third) || third.bytes != second.bytes ||
         memcmp(third.data, second.data, second.bytes) != 0))
        abort();
    free(first.data);
    free(second.data);
    free(third.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const hac_kind kinds[][3] = {{HAC_KIND_STRING, HAC_KIND_STRING, HAC_KIND_STRING},
                                        {HAC_KIND_I64, HAC_KIND_F64, HAC_KIND_STRING},
                                        {HAC_KIND_U16, HAC_KIND_F32, HAC_KIND_BOOL},
                                        {HAC_KIND_DATE, HAC_KIND_TIMESTAMP, HAC_KIND_U64},
                                        {HAC_KIND_DECIMAL, HAC_KIND_I8, HAC_KIND_STRING}};
    if (size < 2)
        return 0;
    fuzz_query q = {0};
    const hac_kind *chosen = kinds[(data[0] >> 3) % 5];
    for (size_t i = 0; i < 1 + (size_t)(data[0] >> 1 & 3) % 3; i++)
        fuzz_column(&q, (const char *[]){"a", "b", "c"}[i], chosen[i], chosen[i] == HAC_KIND_DECIMAL ? 9 : 0,
                    chosen[i] == HAC_KIND_DECIMAL ? 2 : 0);
    q.query.source =
        (hac_source_options){.format = HAC_INPUT_TYPEDBYTES, .options = {.skip_errors = data[0] & 1}};
    hac_source_place place = {.fd = -1, .memory = data + 2, .bytes = size - 2, .split = true};
    fuzz_split(&q, &place, 1 + data[1] % 8);
    check_round_trip(&q, data + 2, size - 2);
    return 0;
}
