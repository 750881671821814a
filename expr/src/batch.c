/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "expr/machine.h"

/* r[i] = r[from[i]]; from ascends and is never below i, so nothing is overwritten before it is moved. */
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

static void gather(hac_vector *column, const uint16_t *from, size_t n)
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
}

size_t hac_batch_keep(hac_batch *batch, const hac_vector *keep)
{
    uint16_t from[HAC_BATCH_ROWS + 1];
    const uint8_t *value = keep->values, *states = keep->states;
    size_t kept = 0;
    for (size_t i = 0; i < batch->rows; i++) {
        from[kept] = (uint16_t)i;
        kept += (value[i] & 1u) & (states == NULL || states[i] == HAC_ROW_OK);
    }
    if (kept < batch->rows)
        for (size_t i = 0; i < batch->n_columns; i++)
            if (batch->columns[i].values != NULL && batch->columns[i].type.kind != HAC_KIND_NONE)
                gather(&batch->columns[i], from, kept);
    batch->rows = kept;
    return kept;
}
