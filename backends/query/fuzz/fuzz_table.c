/* SPDX-License-Identifier: Apache-2.0 */
/* A table that another process has filled in. Input: a byte for the chunk, two for the rows, one for the
 * number of columns; for each column its kind, precision, scale, flags, offsets of values, null bits and
 * characters in 64 bytes, and the number of characters; then the memory. */
#include "fuzz_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define COLUMN_BYTES 8

static hac_table_column make_column(const uint8_t *data)
{
    hac_table_column column = {.type = {.kind = data[0] % (HAC_KIND_END + 1)},
                               .large = data[3] & 1,
                               .values = (uint64_t)data[4] * 64,
                               .validity = data[3] & 2 ? (uint64_t)data[5] * 64 : HAC_TABLE_NONE,
                               .bytes = data[3] & 4 ? HAC_TABLE_NONE : (uint64_t)data[6] * 64,
                               .n_bytes = data[7]};
    if (column.type.kind == HAC_KIND_DECIMAL) {
        column.type.precision = data[1] % 40;
        column.type.scale = data[2] % 40;
    }
    if (data[3] & 8) /* odd offsets and sizes that overflow */
        column.values = UINT64_MAX - data[4];
    if (data[3] & 16)
        column.n_bytes = UINT64_MAX - data[7];
    return column;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4 || size < 4 + COLUMN_BYTES * (size_t)(data[3] % FUZZ_COLUMNS_MAX))
        return 0;
    hac_table_column columns[FUZZ_COLUMNS_MAX];
    hac_table table = {(uint64_t)data[1] | (uint64_t)data[2] << 8, data[3] % FUZZ_COLUMNS_MAX, columns};
    fuzz_query q = {.query.source = {.format = HAC_INPUT_TABLE, .options = {.skip_errors = data[3] >> 7}}};
    char name[2] = "a";
    for (size_t i = 0; i < table.n_columns; i++, name[0]++) {
        columns[i] = make_column(data + 4 + COLUMN_BYTES * i);
        fuzz_column(&q, name, (hac_kind)columns[i].type.kind, columns[i].type.precision,
                    columns[i].type.scale);
    }
    size_t head = 4 + COLUMN_BYTES * table.n_columns, bytes = size - head;
    /* the memory ends at the end of an allocation, so that the sanitizer sees a read beyond it */
    uint8_t *memory = NULL;
    if (posix_memalign((void **)&memory, 64, bytes > 0 ? bytes : 1) != 0)
        abort();
    memcpy(memory, data + head, bytes);
    hac_source_place place = {.fd = -1, .memory = memory, .bytes = bytes};
    fuzz_rows whole = fuzz_read(&q, &place, &table, 0), cut = fuzz_read(&q, &place, &table, 1 + data[0]);
    fuzz_compare(&whole, &cut);
    free(memory);
    return 0;
}
