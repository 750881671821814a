/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: bytes that may be a program. A valid program must be written back to the same bytes, run
 * on columns of its input types, and give strings that lie within their bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "expr/conjuncts.h"
#include "expr/machine.h"

#define ROWS         65
#define STRING_BYTES 4096
#define TEXT         "x\xc3\xa9 12.5 2020-01-31 true %_\\ -9223372036854775808"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void make_column(hac_value_type type, hac_column *ret)
{
    hac_repr repr = hac_repr_of(type);
    *ret = (hac_column){.type = type};
    if (repr == HAC_REPR_NONE)
        return;
    size_t size = hac_repr_size(repr) * HAC_BATCH_ROWS;
    ret->values = aligned_alloc(64, size);
    ret->states = calloc(HAC_BATCH_ROWS, 1);
    ret->bytes = (const uint8_t *)TEXT;
    must(ret->values != NULL && ret->states != NULL);
    uint64_t bits = UINT64_C(0x8000000000000000);
    uint8_t *values = ret->values;
    for (size_t i = 0; i < size; i++, bits = bits * 6364136223846793005u + 1442695040888963407u)
        values[i] = (uint8_t)(repr == HAC_REPR_BOOL ? bits >> 63 : bits >> 56);
    for (size_t row = 0; row < HAC_BATCH_ROWS; row++) {
        ret->states[row] = (uint8_t)(row % 4 == 3 ? row / 4 % 5 : 0);
        hac_string_ref ref = {(uint32_t)(row % sizeof TEXT),
                              (uint32_t)((sizeof TEXT - row % sizeof TEXT) / 2)};
        if (repr == HAC_REPR_STRING)
            ((hac_string_ref *)ret->values)[row] = ret->states[row] == 0 ? ref : (hac_string_ref){0, 0};
    }
}

static void look_at(const hac_column *output)
{
    unsigned sum = 0;
    const hac_string_ref *refs = output->values;
    for (size_t row = 0; row < ROWS; row++) {
        unsigned state = output->states == NULL ? HAC_ROW_OK : output->states[row];
        must(state <= HAC_ROW_JSON);
        if (!hac_kind_is_text((hac_kind)output->type.kind))
            continue;
        must(state == HAC_ROW_OK || refs[row].length == 0);
        for (uint32_t i = 0; i < refs[row].length; i++)
            sum += output->bytes[refs[row].offset + i];
    }
    must(sum != UINT32_MAX);
}

static void run(const hac_program *program)
{
    hac_column *columns = calloc(program->n_inputs + 1, sizeof *columns);
    hac_column *outputs = calloc(program->n_outputs + 1, sizeof *outputs);
    hac_machine_c *machine = NULL;
    must(columns != NULL && outputs != NULL);
    for (size_t i = 0; i < program->n_inputs; i++)
        make_column(program->inputs[i], &columns[i]);
    const hac_batch batch = {ROWS, program->n_inputs, columns};
    must(hac_machine_c_new(program, STRING_BYTES, &machine, NULL) == HAC_OK);
    hac_machine_c_run(machine, &batch, outputs);
    for (size_t i = 0; i < program->n_outputs; i++)
        look_at(&outputs[i]);
    hac_machine_c_free(machine);
    for (size_t i = 0; i < program->n_inputs; i++) {
        free(columns[i].values);
        free(columns[i].states);
    }
    free(columns);
    free(outputs);
}

/* Splits the program into conjuncts, if it is a filter. */
static void take_apart(const hac_program *program)
{
    hac_conjuncts conjuncts = {0};
    hac_program filter = *program;
    filter.n_outputs = program->n_outputs > 0;
    if (hac_conjuncts_find(&filter, &conjuncts, NULL) != HAC_OK)
        return;
    must(conjuncts.n > 0 && conjuncts.n <= HAC_CONJUNCTS_MAX);
    for (size_t i = 0; i < conjuncts.n; i++)
        must(hac_program_verify(conjuncts.conjuncts[i].program, NULL) == HAC_OK);
    for (size_t i = 0; i < conjuncts.n_bounds; i++)
        must(conjuncts.bounds[i].column < program->n_inputs);
    hac_conjuncts_clear(&conjuncts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    hac_program *program = NULL;
    size_t used = 0;
    if (bytes > 8192 || hac_program_read(data, bytes, &used, &program, NULL) != HAC_OK)
        return 0;
    hac_text text = HAC_TEXT_NONE;
    hac_program_write(program, &text);
    must(!text.broken && text.bytes == used && memcmp(text.data, data, used) == 0);
    hac_text_clear(&text);
    hac_program_print(program, &text);
    hac_text_clear(&text);
    run(program);
    take_apart(program);
    hac_program_free(program);
    return 0;
}
