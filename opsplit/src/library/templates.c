/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of vector templates, element types, functions and Map interfaces. */
#include <stdio.h>
#include <string.h>

#include "opsplit/logic.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const hac_vector_template_info templates[HAC_VECTOR_END] = {
    [HAC_VECTOR_FIX_VALUE] =
        {.name = "FixValueVector",
         .holds = "dense values, one in each row; with several columns a dense matrix, row by row",
         .split = "by range",
         .value = "a number for every row (with `rows`), a list, or a list of lists",
         .written = true},
    [HAC_VECTOR_SPARSE_VALUE] = {.name = "SparseValueVector",
                                 .holds = "pairs of index and value, indices ascending",
                                 .split = "by index range",
                                 .value = "{rows: 8, indices: [1, 5], values: [0.5, 2]}"},
    [HAC_VECTOR_SPARSE_TEXT] = {.name = "SparseTextVector",
                                .holds = "texts, one in each row",
                                .split = "by row",
                                .value = "a list of texts",
                                .written = true},
    [HAC_VECTOR_VARIABLE_LEN] = {.name = "VariableLenVector",
                                 .holds = "rows of any number of values",
                                 .split = "by row",
                                 .value = "a list of lists, which may differ in length",
                                 .written = true,
                                 .entry_columns = HAC_ENTRY_ROW},
    [HAC_VECTOR_VAR] = {.name = "Var",
                        .holds = "one global value",
                        .split = "not split: every component has a copy",
                        .value = "a number",
                        .written = true},
    [HAC_VECTOR_PVAR] = {.name = "PVar",
                         .holds = "a large global value, which every component reads as a whole",
                         .split =
                             "not split: every component has a copy, which the components of a node share",
                         .value = "a number, a list, or a list of lists",
                         .written = true},
    [HAC_VECTOR_SPARSE_MATRIX] =
        {.name = "SparseMatrix",
         .holds = "a sparse matrix by rows, columns ascending in each row",
         .split = "by row",
         .value = "{rows: 2, columns: 3, entries: [[0, 1, 0.5], [1, 2, 4]]}: row, column, value",
         .written = true,
         .entry_columns = HAC_ENTRY_ROW_COLUMN},
};

const hac_vector_template_info *hac_vector_template_get(hac_vector_template form)
{
    bool known = form > HAC_VECTOR_NONE && form < HAC_VECTOR_END && templates[form].name != NULL;
    return known ? &templates[form] : NULL;
}

const char *hac_vector_template_words(char ret[HAC_TEMPLATE_WORDS_MAX])
{
    size_t used = 0;
    for (int i = HAC_VECTOR_NONE + 1; i < HAC_VECTOR_END && used < HAC_TEMPLATE_WORDS_MAX; i++)
        used += (size_t)snprintf(ret + used, HAC_TEMPLATE_WORDS_MAX - used, "%s%s", used > 0 ? " " : "",
                                 templates[i].name);
    return ret;
}

hac_vector_template hac_vector_template_find(const char *name)
{
    for (int i = HAC_VECTOR_NONE + 1; i < HAC_VECTOR_END; i++)
        if (strcmp(templates[i].name, name) == 0)
            return (hac_vector_template)i;
    return HAC_VECTOR_NONE;
}

static const struct {
    const char *name;
    hac_kind kind;
    size_t size;
} elements[] = {
    {"bool", HAC_KIND_BOOL, 1}, {"i32", HAC_KIND_I32, 4},       {"i64", HAC_KIND_I64, 8},
    {"u32", HAC_KIND_U32, 4},   {"u64", HAC_KIND_U64, 8},       {"f32", HAC_KIND_F32, 4},
    {"f64", HAC_KIND_F64, 8},   {"string", HAC_KIND_STRING, 0},
};

hac_kind hac_element_find(const char *name)
{
    for (size_t i = 0; i < COUNT(elements); i++)
        if (strcmp(elements[i].name, name) == 0)
            return elements[i].kind;
    return HAC_KIND_NONE;
}

const char *hac_element_name(hac_kind kind)
{
    for (size_t i = 0; i < COUNT(elements); i++)
        if (elements[i].kind == kind)
            return elements[i].name;
    return "none";
}

size_t hac_element_size(hac_kind kind)
{
    for (size_t i = 0; i < COUNT(elements); i++)
        if (elements[i].kind == kind)
            return elements[i].size;
    return 0;
}

static const char *const functions[HAC_OP_FUNCTION_END] = {
    [HAC_OP_SUM] = "sum",
    [HAC_OP_MIN] = "min",
    [HAC_OP_MAX] = "max",
    [HAC_OP_COUNT] = "count",
    [HAC_OP_ARGMIN] = "argmin",
    [HAC_OP_ARGMAX] = "argmax",
    [HAC_OP_SQUARES] = "squares",
    [HAC_OP_MAGNITUDE] = "magnitude",
    [HAC_OP_LARGEST] = "largest",
    [HAC_OP_PRODUCTS] = "products",
    [HAC_OP_EUCLIDEAN] = "euclidean",
    [HAC_OP_SQUARED_EUCLIDEAN] = "squared_euclidean",
    [HAC_OP_MANHATTAN] = "manhattan",
    [HAC_OP_COSINE] = "cosine",
    [HAC_OP_EXACT_SUM] = "exact_sum",
    [HAC_OP_EXACT_MAGNITUDE] = "exact_magnitude",
    [HAC_OP_EXACT_PRODUCTS] = "exact_products",
    [HAC_OP_EXACT_SQUARES] = "exact_squares",
    [HAC_OP_EXACT_LENGTH] = "exact_length",
};

int hac_op_function_find(const char *name)
{
    for (size_t i = 0; i < COUNT(functions); i++)
        if (strcmp(functions[i], name) == 0)
            return (int)i;
    return -1;
}

const char *hac_op_function_name(hac_op_function function)
{
    return (size_t)function < COUNT(functions) ? functions[function] : "none";
}

static const struct {
    const char *name, *text;
} operations[HAC_OPERATION_END] = {
    [HAC_OPERATION_NONE] = {"", "not stated: the sub-operators decide"},
    [HAC_OPERATION_VECTOR_MAP] = {"VectorMap", "each row of a vector; each node has its own rows"},
    [HAC_OPERATION_MATRIX_MAP] = {"MatrixMap",
                                  "each element of a matrix; each node has its own rows; one of the "
                                  "sub-operators has a matrix"},
    [HAC_OPERATION_GLOBAL_MAP] = {"GlobalMap",
                                  "all data on every node: nothing is split, and every rank computes "
                                  "everything"},
    [HAC_OPERATION_CROSS_MAP] =
        {"CrossMap", "the data of each node against that of every other node: its own rows of one "
                     "vector against all rows of another, which are gathered"},
    [HAC_OPERATION_TASK_MAP] = {"TaskMap",
                                "several tasks on each node over its data: a component for each of its "
                                "processors where no `split` is stated"},
    [HAC_OPERATION_DIR_MAP] = {"DirMap",
                               "several tasks on each node over the files of a directory: as TaskMap, and "
                               "components end where a file ends, as nearly as the "
                               "sub-operator can be split"},
};

const char *hac_operation_name(hac_operation operation)
{
    return (size_t)operation < COUNT(operations) ? operations[operation].name : NULL;
}

const char *hac_operation_text(hac_operation operation)
{
    return (size_t)operation < COUNT(operations) ? operations[operation].text : NULL;
}
