/* SPDX-License-Identifier: Apache-2.0 */
#include "query_machine.h"

#define STRING_BYTES ((size_t)64 << 20)

hac_status hac_query_machine(const hac_program *program, hac_machine_c **ret, hac_error *err)
{
    return hac_machine_c_new(program, STRING_BYTES, ret, err);
}

size_t hac_query_bad_row(const hac_column *v, size_t rows)
{
    uint8_t worst = 0;
    for (size_t i = 0; v->states != NULL && i < rows; i++)
        worst = v->states[i] > worst ? v->states[i] : worst;
    for (size_t i = 0; worst > HAC_ROW_NULL && i < rows; i++)
        if (v->states[i] > HAC_ROW_NULL)
            return i;
    return SIZE_MAX;
}
