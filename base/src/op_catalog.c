/* SPDX-License-Identifier: Apache-2.0 */
/* The codelets op.*. */
#include "base/op_catalog.h"

#include <string.h>

#define BIT(function) (1u << HAC_OP_##function)
#define ONLY          BIT(SUM) /* of codelets without functions */
#define SUMS          (BIT(SUM) | BIT(SQUARES) | BIT(MAGNITUDE) | BIT(MIN) | BIT(MAX) | BIT(LARGEST) | BIT(COUNT))
#define ARGS          (BIT(ARGMIN) | BIT(ARGMAX))
#define EXACT                                                                                                \
    (BIT(EXACT_SUM) | BIT(EXACT_MAGNITUDE) | BIT(EXACT_PRODUCTS) | BIT(EXACT_SQUARES) | BIT(EXACT_LENGTH))
#define FOLDS     (BIT(SUM) | BIT(MIN) | BIT(MAX))
#define DISTANCES (BIT(EUCLIDEAN) | BIT(SQUARED_EUCLIDEAN) | BIT(MANHATTAN) | BIT(COSINE))
#define EXCLUSIVE HAC_OP_EXCLUSIVE
#define SYMMETRIC HAC_OP_SYMMETRIC
#define NO        HAC_OP_PROGRAM_NONE
#define MAY       HAC_OP_PROGRAM_MAY
#define MUST      HAC_OP_PROGRAM_MUST
#define NO_RANGE  HAC_OP_NO_RANGE
#define NONE      HAC_OP_NO_ONES
#define BLOCK     HAC_OP_BLOCK
#define KEYS      HAC_OP_KEY_BLOCK
#define ALL       0xff

const hac_op_codelet hac_op_codelets[HAC_OP_CODELETS] = {
#define HAC_CODELET(name, family, min, max, program_at, program, range, grain, functions, flags, ones,       \
                    whole, typed_by, type)                                                                   \
    {"op." #name, HAC_OP_FAMILY_##family,                                                                    \
     min,         max,                                                                                       \
     program_at,  program,                                                                                   \
     range,       grain,                                                                                     \
     functions,   flags,                                                                                     \
     ones,        whole,                                                                                     \
     typed_by,    HAC_TYPE_##type},
#include "base/op_catalog.def"
};

const hac_op_codelet *hac_op_codelet_find(const char *name)
{
    size_t length = strlen(name);
    if (length > 3 && strcmp(name + length - 3, ".cl") == 0)
        length -= 3;
    for (size_t i = 0; i < HAC_OP_CODELETS; i++)
        if (strlen(hac_op_codelets[i].name) == length && memcmp(hac_op_codelets[i].name, name, length) == 0)
            return &hac_op_codelets[i];
    return NULL;
}
