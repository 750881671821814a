/* SPDX-License-Identifier: Apache-2.0 */
/* Arbitrary text in every format of lines and words. Input: a byte for the format and options, one for the
 * chunk, one for the delimiter; then the text. */
#include "fuzz_detect.h"
#include "fuzz_infer.h"
#include "fuzz_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const hac_input_format formats[] = {HAC_INPUT_CSV,   HAC_INPUT_CSV, HAC_INPUT_CSV,  HAC_INPUT_TSV,
                                               HAC_INPUT_LINES, HAC_INPUT_KV,  HAC_INPUT_WORDS};
    if (size < 3)
        return 0;
    hac_input_format format = formats[(data[0] >> 3) % 7];
    fuzz_query q = {0};
    q.query.source = (hac_source_options){
        .format = format,
        .options = {.no_header = !(data[0] & 1), .skip_errors = (data[0] & 2) != 0, .delimiter = data[2]}};
    if (data[0] & 4)
        memcpy(q.query.source.options.null_text, "NA,b", 5);
    fuzz_column(&q, "a", HAC_KIND_STRING, 0, 0);
    if (format != HAC_INPUT_LINES && format != HAC_INPUT_WORDS)
        fuzz_column(&q, "b", data[0] & 4 ? HAC_KIND_F64 : HAC_KIND_STRING, 0, 0);
    if (format == HAC_INPUT_TSV && data[0] & 128)
        fuzz_column(&q, "c", HAC_KIND_BYTES, 0, 0);
    if (format == HAC_INPUT_CSV && data[0] & 128)
        fuzz_column(&q, "c", HAC_KIND_DECIMAL, 20, 3);
    hac_source_place place = {.fd = -1, .memory = data + 3, .bytes = size - 3};
    fuzz_rows whole = fuzz_read(&q, &place, NULL, 0), cut = fuzz_read(&q, &place, NULL, 1 + data[1]);
    fuzz_compare(&whole, &cut);
    fuzz_detect(&q.query.source, &place);
    fuzz_infer(&q.query.source, &place);
    return 0;
}
