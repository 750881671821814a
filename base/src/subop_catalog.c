/* SPDX-License-Identifier: Apache-2.0 */
/* The sub-operators of logic files. */
#include <string.h>

#include "base/op_catalog.h"

#define R      HAC_ARGUMENT_REQUIRED
#define VALUES (HAC_FORM(FIX_VALUE) | HAC_FORM(PVAR))
#define ROWS_OF_ALL                                                                                          \
    (HAC_FORM_PLAIN | HAC_FORM(SPARSE_VALUE) | HAC_FORM(VARIABLE_LEN) | HAC_FORM(SPARSE_MATRIX))
#define MATRICES    (VALUES | HAC_FORM(SPARSE_MATRIX))
#define RESULT_FIX  HAC_FORM(FIX_VALUE)
#define RESULT_ONE  HAC_FORM(VAR)
#define DISTANCES   "euclidean squared_euclidean manhattan cosine"
#define CPU_AND_GPU "cpu gpu"
#define HOST_ONLY   "cpu"
#define EVERYWHERE  ""

static const hac_subop_info subops[] = {
#define HAC_SUBOP(id, run, name, text, codelets, unit, kinds, walk, operands, example, ...)                  \
    {HAC_SUBOP_##id, name, text, codelets, unit, kinds, HAC_WALK_##walk, operands, {__VA_ARGS__}, example},
#define HAC_SUBOP_CONTROL(id, name, text, example)                                                           \
    {HAC_SUBOP_##id, name, text, "", "", EVERYWHERE, HAC_WALK_CONTROL, 0, {{0}}, example},
#include "base/op_catalog.def"
};

const hac_subop_info *hac_subop_get(hac_subop_id id)
{
    for (size_t i = 0; i < sizeof subops / sizeof *subops; i++)
        if (subops[i].id == id)
            return &subops[i];
    return NULL;
}

const hac_subop_info *hac_subop_find(const char *name)
{
    for (size_t i = 0; i < sizeof subops / sizeof *subops; i++)
        if (strcmp(subops[i].name, name) == 0)
            return &subops[i];
    return NULL;
}

const hac_subop_argument *hac_subop_argument_find(const hac_subop_info *subop, const char *name)
{
    for (const hac_subop_argument *a = subop->arguments; a->name != NULL; a++)
        if (strcmp(a->name, name) == 0)
            return a;
    return NULL;
}
