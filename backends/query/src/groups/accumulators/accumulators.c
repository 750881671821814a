/* SPDX-License-Identifier: Apache-2.0 */
#include "accumulator.h"

#include <string.h>

#define ROW(kind, name, ...) [HAC_ACCUMULATOR_##kind] = &hac_accumulator_##name,
const hac_accumulator_ops *const hac_accumulators[HAC_ACCUMULATOR_END] = {HAC_ACCUMULATORS(ROW)};

void hac_group_layout_empty(const hac_group_layout *layout, uint8_t *record)
{
    memset(record, 0, layout->stride);
    for (size_t i = 0; i < layout->n_accumulators; i++) {
        const hac_accumulator *a = &layout->accumulators[i];
        if (hac_accumulator_ops_of(a)->empty != NULL)
            hac_accumulator_ops_of(a)->empty(a, record + a->offset);
    }
}
