/* SPDX-License-Identifier: Apache-2.0 */
/* Arbitrary lines of clf, syslog and logfmt. Input: a byte for the format and options, one for the chunk;
 * then the text. Oracle: rows are the same however the text is cut. */
#include "fuzz_infer.h"
#include "fuzz_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const hac_input_format formats[] = {HAC_INPUT_CLF, HAC_INPUT_SYSLOG, HAC_INPUT_LOGFMT,
                                               HAC_INPUT_CLF};
    if (size < 2)
        return 0;
    fuzz_query q = {0};
    hac_input_format format = formats[data[0] >> 1 & 3];
    q.query.source = (hac_source_options){.format = format, .options = {.skip_errors = data[0] & 1}};
    fuzz_column(&q, format == HAC_INPUT_LOGFMT ? "a" : "time",
                format == HAC_INPUT_LOGFMT ? HAC_KIND_STRING : HAC_KIND_TIMESTAMP, 0, 0);
    fuzz_column(&q, "b", HAC_KIND_STRING, 0, 0);
    fuzz_column(&q, "c", HAC_KIND_I32, 0, 0);
    if (format != HAC_INPUT_LOGFMT) {
        q.positions[0] = format == HAC_INPUT_CLF ? 3 : 0;
        q.positions[1] = (uint16_t)(1 + (data[0] >> 3) % 6);
        q.positions[2] = 8;
    }
    hac_source_place place = {.fd = -1, .memory = data + 2, .bytes = size - 2};
    fuzz_rows whole = fuzz_read(&q, &place, NULL, 0), cut = fuzz_read(&q, &place, NULL, 1 + data[1]);
    fuzz_compare(&whole, &cut);
    if (format == HAC_INPUT_LOGFMT)
        fuzz_infer(&q.query.source, &place);
    return 0;
}
