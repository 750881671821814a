/* SPDX-License-Identifier: Apache-2.0 */
/* Logic files and definitions of users from hostile bytes. Any outcome is fine, as long as every problem
 * has a place and every accepted file can be decomposed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "opsplit/decompose.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok)
        abort();
}

/* Every index of a piece is valid. */
static void check_piece(const hac_logic *logic, const hac_logic_piece *piece)
{
    check(piece->subop != NULL && piece->number < logic->n_pieces);
    for (size_t i = 0; i < piece->n_reads; i++)
        check(piece->reads[i] >= 0 && (size_t)piece->reads[i] < logic->n_vectors);
    for (size_t i = 0; i < piece->n_writes; i++)
        check(piece->writes[i] >= 0 && (size_t)piece->writes[i] < logic->n_vectors);
    for (size_t i = 0; i < piece->n_arguments; i++) {
        const hac_logic_argument *a = &piece->arguments[i];
        check(a->spec != NULL);
        for (size_t j = 0; j < a->n_vectors; j++)
            check(a->vectors[j] >= 0 && (size_t)a->vectors[j] < logic->n_vectors);
        if (a->n_expressions > 0 && a->expressions[0]->program != NULL)
            check(a->expressions[0]->program->n_inputs == a->expressions[0]->n_vectors &&
                  hac_program_verify(a->expressions[0]->program, NULL) == HAC_OK);
    }
}

static void check_step(const hac_logic *logic, const hac_decomposed_step *d)
{
    const hac_logic_step *step = d->step;
    check(step->name != NULL);
    for (size_t i = 0; i < step->n_pieces; i++)
        check_piece(logic, &step->pieces[i]);
    for (size_t i = 0; i < d->n_suboperators; i++)
        for (size_t j = 0; j < d->suboperators[i].n_after; j++)
            check(d->suboperators[i].after[j].on < i);
    for (size_t i = 0; i < d->n_body; i++)
        check_step(logic, &d->body[i]);
    for (size_t i = 0; i < d->n_otherwise; i++)
        check_step(logic, &d->otherwise[i]);
}

static void check_vector(const hac_logic *logic, const hac_logic_vector *v)
{
    check(v->name != NULL && hac_vector_template_get(v->form) != NULL);
    check(v->kind == HAC_KIND_STRING || hac_element_size(v->kind) > 0);
    check(v->rows < (int)logic->n_dimensions && v->columns < (int)logic->n_dimensions);
    check(v->origin != HAC_ORIGIN_VALUE || v->value != NULL);
    for (uint64_t i = 0; v->value != NULL && v->value->offsets != NULL && i < v->value->rows; i++)
        check(v->value->offsets[i] <= v->value->offsets[i + 1] &&
              v->value->offsets[i + 1] <= v->value->entries);
}

static void fuzz_logic(const char *text, size_t size)
{
    hac_error err = HAC_ERROR_NONE;
    hac_logic *logic = NULL;
    hac_logic_problems problems;
    hac_status status = hac_logic_parse("fuzz.yaml", text, size, NULL, &logic, &problems, &err);
    check(status == HAC_OK || status == HAC_NO_MEMORY ||
          (status == HAC_INVALID && strncmp(err.message, "fuzz.yaml:", 10) == 0));
    check((status == HAC_OK) == (logic != NULL));
    hac_logic_problems_clear(&problems);
    if (status != HAC_OK)
        return;
    for (size_t i = 0; i < logic->n_vectors; i++)
        check_vector(logic, &logic->vectors[i]);
    const hac_decompose_options options = {.components = 3};
    hac_decomposition *d = NULL;
    hac_text out = HAC_TEXT_NONE;
    if (hac_decompose(logic, &options, &d, &err) == HAC_OK) {
        for (size_t i = 0; i < d->n_steps; i++)
            check_step(logic, &d->steps[i]);
        hac_decomposition_print(d, NULL, NULL, &out);
        hac_decomposition_json(d, NULL, NULL, NULL, &out);
    }
    hac_text_clear(&out);
    hac_decomposition_free(d);
    hac_logic_free(logic);
}

/* A library without a folder checks definitions and does not store them. */
static void fuzz_definition(hac_library_kind kind, const char *text, size_t size)
{
    hac_library *library = NULL;
    hac_error err = HAC_ERROR_NONE;
    hac_library_added added;
    if (hac_library_open(NULL, &library, &err) != HAC_OK)
        return;
    check(hac_library_add(library, kind, "fuzz.yaml", text, size, &added, NULL, &err) != HAC_OK);
    hac_library_free(library);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_logic((const char *)data, size);
    fuzz_definition(HAC_LIBRARY_SUBOP, (const char *)data, size);
    fuzz_definition(HAC_LIBRARY_OP, (const char *)data, size);
    return 0;
}
