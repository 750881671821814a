/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_RUN_ON_ZEROS_H
#define FUZZ_RUN_ON_ZEROS_H

#include "expr/machine.h"
#include "expr/query.h"

/* Runs a verified program on rows of zeros: it must do no harm. */
static inline void run_on_zeros(const hac_program *program)
{
    static _Alignas(64) uint8_t zeros[HAC_BATCH_ROWS * 16];
    hac_column columns[HAC_PROGRAM_INPUTS_MAX], outputs[HAC_PROGRAM_OUTPUTS_MAX];
    hac_machine_c *machine = NULL;
    for (size_t i = 0; i < program->n_inputs; i++)
        columns[i] = (hac_column){.type = program->inputs[i], .values = zeros, .bytes = zeros};
    if (hac_machine_c_new(program, 4096, &machine, NULL) == HAC_OK)
        hac_machine_c_run(machine, &(hac_batch){5, program->n_inputs, columns}, outputs);
    hac_machine_c_free(machine);
}

/* Runs all programs of a query. */
static inline void run_query_on_zeros(const hac_query *query)
{
    if (query->filter != NULL)
        run_on_zeros(query->filter);
    run_on_zeros(query->rows);
    if (query->finals != NULL)
        run_on_zeros(query->finals);
}

#endif
