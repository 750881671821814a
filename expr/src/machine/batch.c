/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "expr/machine.h"

/* r[i] = r[from[i]]. `from` ascends, and from[i] ≥ i, so no value is overwritten before it is moved. */
#define GATHER(name, T)                                                                                      \
    static void name(void *values, const uint16_t *from, size_t n)                                           \
    {                                                                                                        \
        T *r = values;                                                                                       \
        for (size_t i = 0; i < n; i++)                                                                       \
            r[i] = r[from[i]];                                                                               \
    }
GATHER(gather_1, uint8_t)
GATHER(gather_4, uint32_t)
GATHER(gather_8, uint64_t)
GATHER(gather_16, unsigned __int128)

static void gather(hac_column *column, const uint16_t *from, size_t n)
{
    switch (hac_repr_size(hac_repr_of(column->type))) {
    case 1:
        gather_1(column->values, from, n);
        break;
    case 4:
        gather_4(column->values, from, n);
        break;
    case 8:
        gather_8(column->values, from, n);
        break;
    default:
        gather_16(column->values, from, n);
    }
    if (column->states != NULL)
        gather_1(column->states, from, n);
    if (column->codes != NULL)
        gather_4(column->codes, from, n);
}

void hac_batch_gather(hac_batch *batch, const uint16_t *rows, size_t n)
{
    for (size_t i = 0; n < batch->rows && i < batch->n_columns; i++)
        if (batch->columns[i].values != NULL && batch->columns[i].type.kind != HAC_KIND_NONE)
            gather(&batch->columns[i], rows, n);
    batch->rows = n;
}

/* Looks up the kept rows of four by their bits: there is no branch for each row, and only `count` is a
 * dependency from one step to the next. */
static size_t keep_four(unsigned bits, uint64_t first, uint16_t *ret)
{
    static const uint16_t places[16][4] = {{0},    {0},       {1},       {0, 1},      {2},    {0, 2},
                                           {1, 2}, {0, 1, 2}, {3},       {0, 3},      {1, 3}, {0, 1, 3},
                                           {2, 3}, {0, 2, 3}, {1, 2, 3}, {0, 1, 2, 3}};
    static const uint8_t counts[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    uint64_t four;
    memcpy(&four, places[bits], sizeof four);
    four += first * UINT64_C(0x0001000100010001);
    memcpy(ret, &four, sizeof four);
    return counts[bits];
}

size_t hac_rows_kept(const uint8_t *keep, size_t rows, uint16_t *ret)
{
    size_t kept = 0, i = 0;
    for (; i + 8 <= rows; i += 8) {
        uint64_t bytes;
        memcpy(&bytes, keep + i, sizeof bytes);
        unsigned bits = (unsigned)(bytes * UINT64_C(0x0102040810204080) >> 56); /* byte b is bit b */
        kept += keep_four(bits & 15, i, ret + kept);
        kept += keep_four(bits >> 4, i + 4, ret + kept);
    }
    for (; i < rows; i++) {
        ret[kept] = (uint16_t)i;
        kept += keep[i];
    }
    return kept;
}

size_t hac_batch_keep(hac_batch *batch, const hac_column *keep)
{
    uint16_t kept[HAC_BATCH_ROWS + 3];
    _Alignas(64) uint8_t bytes[HAC_BATCH_ROWS];
    const uint8_t *value = keep->values, *states = keep->states;
    for (size_t i = 0; i < batch->rows; i++)
        bytes[i] = value[i] & 1u;
    for (size_t i = 0; states != NULL && i < batch->rows; i++)
        bytes[i] &= states[i] == HAC_ROW_OK;
    hac_batch_gather(batch, kept, hac_rows_kept(bytes, batch->rows, kept));
    return batch->rows;
}
