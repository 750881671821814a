/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled queries from hostile bytes: what is taken can be written again, and its programs run. */
#include <stdint.h>
#include <stdlib.h>

#include "expr/machine.h"
#include "expr/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok)
        abort();
}

static void run(const hac_program *program)
{
    static _Alignas(64) uint8_t zeros[HAC_BATCH_ROWS * 16];
    hac_vector columns[HAC_PROGRAM_INPUTS_MAX], outputs[HAC_PROGRAM_OUTPUTS_MAX];
    hac_machine_c *machine = NULL;
    for (size_t i = 0; i < program->n_inputs; i++)
        columns[i] = (hac_vector){program->inputs[i], zeros, NULL, zeros};
    if (hac_machine_c_new(program, 4096, &machine, NULL) == HAC_OK)
        hac_machine_c_run(machine, &(hac_batch){5, program->n_inputs, columns}, outputs);
    hac_machine_c_free(machine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hac_query *query = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_query_read(data, size, &query, &err) != HAC_OK) {
        check(query == NULL && err.message[0] != '\0');
        return 0;
    }
    hac_text again = HAC_TEXT_NONE;
    check(hac_query_write(query, &again, &err) == HAC_OK && again.bytes == size);
    hac_text_clear(&again);
    if (query->filter != NULL)
        run(query->filter);
    run(query->rows);
    if (query->finals != NULL)
        run(query->finals);
    hac_query_free(query);
    return 0;
}
