/* SPDX-License-Identifier: Apache-2.0 */
/* Look-ups in a checked logic file, in YAML maps, and in lists of words. */
#include "logic_access.h"

#include <stdio.h>
#include <string.h>

int hac_logic_vector_find(const hac_logic *logic, const char *name)
{
    for (size_t i = 0; i < logic->n_vectors; i++)
        if (strcmp(logic->vectors[i].name, name) == 0)
            return (int)i;
    return -1;
}

int hac_logic_input_find(const hac_logic *logic, const char *name)
{
    for (size_t i = 0; i < logic->n_inputs; i++)
        if (strcmp(logic->inputs[i].name, name) == 0)
            return (int)i;
    return -1;
}

int hac_logic_file_numbers(const hac_logic *logic, int rows)
{
    for (size_t i = 0; rows != HAC_DIMENSION_NONE && i < logic->n_inputs; i++)
        if (logic->inputs[i].directory && logic->inputs[i].rows == rows)
            return logic->inputs[i].file_vector;
    return -1;
}

const hac_logic_argument *hac_logic_argument_get(const hac_logic_piece *piece, const char *name)
{
    for (size_t i = 0; i < piece->n_arguments; i++)
        if (strcmp(piece->arguments[i].spec->name, name) == 0)
            return &piece->arguments[i];
    return NULL;
}

int hac_logic_argument_vector(const hac_logic_piece *piece, const char *name)
{
    const hac_logic_argument *argument = hac_logic_argument_get(piece, name);
    return argument != NULL && argument->n_vectors > 0 ? argument->vectors[0] : -1;
}

const hac_logic_expression *hac_logic_argument_expression(const hac_logic_piece *piece, const char *name)
{
    const hac_logic_argument *argument = hac_logic_argument_get(piece, name);
    return argument != NULL && argument->n_expressions > 0 ? argument->expressions[0] : NULL;
}

static int first_word(const hac_subop_argument *spec)
{
    char word[32];
    if (!hac_logic_nth_word(spec->words, 0, word, sizeof word))
        return 0;
    int function = strcmp(spec->name, "function") == 0 ? hac_op_function_find(word) : 0;
    return function > 0 ? function : 0;
}

int hac_logic_argument_word(const hac_logic_piece *piece, const char *name)
{
    const hac_logic_argument *argument = hac_logic_argument_get(piece, name);
    if (argument != NULL)
        return argument->word;
    const hac_subop_argument *spec = hac_subop_argument_find(piece->subop, name);
    return spec != NULL && spec->words != NULL ? first_word(spec) : 0;
}

bool hac_logic_argument_truth(const hac_logic_piece *piece, const char *name)
{
    const hac_logic_argument *argument = hac_logic_argument_get(piece, name);
    return argument != NULL && argument->integer != 0;
}

const hac_yaml_node *hac_logic_field(const hac_yaml_node *map, const char *name)
{
    for (const hac_yaml_node *node = map->first; node != NULL; node = node->next)
        if (strcmp(node->key, name) == 0)
            return node;
    return NULL;
}

bool hac_logic_nth_word(const char *words, size_t i, char *ret, size_t capacity)
{
    for (const char *at = words; *at != '\0'; i--) {
        size_t length = strcspn(at, " ");
        if (i == 0) {
            snprintf(ret, capacity, "%.*s", (int)length, at);
            return true;
        }
        at += length;
        at += strspn(at, " ");
    }
    return false;
}
