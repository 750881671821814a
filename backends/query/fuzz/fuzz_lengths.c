/* SPDX-License-Identifier: Apache-2.0 */
/* Arbitrary binary records: with a leading length, or of fixed width, in both byte orders. Input: a byte for
 * the format and options, one for the chunk, one for the number of columns, one for each column's kind; then
 * the records. */
#include "fuzz_binary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define COLUMNS_MAX 6

/* Bit 0: lengths (else fixed); 1: big-endian; 2: skip_errors; 3: the first column is not read. */
static void make_query(fuzz_query *q, uint8_t flags, const uint8_t *kinds, size_t n, uint8_t *widths)
{
    bool lengths = (flags & 1) != 0;
    size_t at = 0, first = (flags & 8) != 0 && n > 1;
    char name[2] = "a";
    for (size_t i = 0; i < n; i++, name[0]++) {
        hac_kind kind = (hac_kind)(1 + kinds[i] % (HAC_KIND_END - 1));
        if (!lengths && hac_kind_is_text(kind))
            kind = HAC_KIND_I16;
        bool decimal = kind == HAC_KIND_DECIMAL;
        uint8_t digits = kinds[i] % 2 != 0 ? 7 : 30;
        hac_value_type type = {(uint8_t)kind, decimal ? digits : 0, decimal ? 2 : 0};
        widths[i] = (uint8_t)hac_value_size(type);
        if (i >= first) {
            fuzz_column(q, name, kind, type.precision, type.scale);
            q->positions[i - first] = (uint16_t)(lengths ? i : at);
        }
        at += widths[i];
    }
    q->query.schema_columns = lengths ? n : at;
    q->query.widths = lengths ? widths : NULL;
    q->query.source =
        (hac_source_options){.format = lengths ? HAC_INPUT_LENGTHS : HAC_INPUT_FIXED,
                             .options = {.big_endian = (flags & 2) != 0, .skip_errors = (flags & 4) != 0}};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t widths[COLUMNS_MAX];
    fuzz_query q = {0};
    if (size < 3)
        return 0;
    size_t n = 1 + data[2] % COLUMNS_MAX;
    if (size < 3 + n)
        return 0;
    make_query(&q, data[0], data + 3, n, widths);
    hac_source_place place = {.fd = -1, .memory = data + 3 + n, .bytes = size - 3 - n, .split = true};
    fuzz_split(&q, &place, 1 + data[1] % 8);
    return 0;
}
