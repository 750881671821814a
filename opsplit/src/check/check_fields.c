/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and plain values of the YAML tree. Messages say what would be right. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "check.h"
#include "expr/expression.h"

typedef struct word_list {
    char words[64][HAC_LIBRARY_NAME_MAX];
    size_t n;
} word_list;

static const char *word_at(const void *list, size_t i)
{
    return ((const word_list *)list)->words[i];
}

const char *hac_logic_there_are(const char *name, const char *words, char *ret)
{
    word_list list = {.n = 0};
    while (list.n < 64 && hac_logic_nth_word(words, list.n, list.words[list.n], sizeof list.words[0]))
        list.n++;
    return hac_suggest_text(name, &list, list.n, word_at, ret);
}

static int find_word(const char *words, const char *name)
{
    char word[HAC_LIBRARY_NAME_MAX];
    for (size_t i = 0; hac_logic_nth_word(words, i, word, sizeof word); i++)
        if (strcmp(word, name) == 0)
            return (int)i;
    return -1;
}

hac_status hac_logic_fields(hac_logic_checker *c, const hac_yaml_node *map, const char *allowed)
{
    char there[HAC_SUGGEST_TEXT_MAX], show[HAC_YAML_SHOW_SIZE];
    hac_status status = HAC_OK;
    for (const hac_yaml_node *node = map->first; node != NULL; node = node->next)
        if (find_word(allowed, node->key) < 0)
            status = hac_logic_problem_key(c, node, "unknown key `%s`; %s", hac_yaml_show(node->key, show),
                                           hac_logic_there_are(node->key, allowed, there));
    return status;
}

hac_status hac_logic_need(hac_logic_checker *c, const hac_yaml_node *node, hac_yaml_kind kind)
{
    static const char *const kinds[] = {
        [HAC_YAML_SCALAR] = "a single value", [HAC_YAML_LIST] = "a list", [HAC_YAML_MAP] = "a map of keys"};
    char show[HAC_YAML_SHOW_SIZE];
    if (node->kind == kind && !hac_yaml_is_null(node))
        return HAC_OK;
    const char *what = hac_yaml_is_null(node) ? "nothing" : kinds[node->kind];
    if (node->key == NULL)
        return hac_logic_problem(c, node, "this is %s; it has to be %s", what, kinds[kind]);
    return hac_logic_problem(c, node, "`%s` is %s; it has to be %s", hac_yaml_show(node->key, show), what,
                             kinds[kind]);
}

hac_status hac_logic_each(hac_logic_checker *c, const hac_yaml_node *map,
                          hac_status (*check)(hac_logic_checker *c, const hac_yaml_node *entry))
{
    hac_status first = HAC_OK;
    for (const hac_yaml_node *entry = map->first; entry != NULL; entry = entry->next) {
        hac_status status = check(c, entry);
        if (!hac_logic_goes_on(status))
            return status;
        first = first != HAC_OK ? first : status;
    }
    return first;
}

hac_status hac_logic_text(hac_logic_checker *c, const hac_yaml_node *node, const char **ret)
{
    char show[HAC_YAML_SHOW_SIZE];
    hac_status status = hac_logic_need(c, node, HAC_YAML_SCALAR);
    if (status != HAC_OK)
        return status;
    if (node->text[0] == '\0')
        return hac_logic_problem(c, node, "`%s` is empty; leave the key out or give it a value",
                                 node->key != NULL ? hac_yaml_show(node->key, show) : "this");
    *ret = node->text;
    return HAC_OK;
}

hac_status hac_logic_whole(hac_logic_checker *c, const hac_yaml_node *node, uint64_t min, uint64_t max,
                           uint64_t *ret)
{
    char show[HAC_YAML_SHOW_SIZE];
    hac_status status = hac_logic_need(c, node, HAC_YAML_SCALAR);
    if (status != HAC_OK)
        return status;
    char *end = NULL;
    errno = 0;
    uint64_t value = isdigit((unsigned char)node->text[0]) ? strtoull(node->text, &end, 10) : 0;
    bool whole = end != NULL && *end == '\0' && errno == 0 && node->plain;
    if (!whole || value < min || value > max)
        return hac_logic_problem(c, node, "`%s` is not a whole number from %" PRIu64 " to %" PRIu64,
                                 hac_yaml_show(node->text, show), min, max);
    *ret = value;
    return HAC_OK;
}

hac_status hac_logic_truth(hac_logic_checker *c, const hac_yaml_node *node, bool *ret)
{
    char show[HAC_YAML_SHOW_SIZE];
    hac_status status = hac_logic_need(c, node, HAC_YAML_SCALAR);
    if (status != HAC_OK)
        return status;
    bool yes = strcmp(node->text, "true") == 0;
    if (!node->plain || (!yes && strcmp(node->text, "false") != 0))
        return hac_logic_problem(c, node, "`%s` is neither true nor false", hac_yaml_show(node->text, show));
    *ret = yes;
    return HAC_OK;
}

hac_status hac_logic_word(hac_logic_checker *c, const hac_yaml_node *node, const char *words, int *ret)
{
    char there[HAC_SUGGEST_TEXT_MAX], show[HAC_YAML_SHOW_SIZE];
    hac_status status = hac_logic_need(c, node, HAC_YAML_SCALAR);
    if (status != HAC_OK)
        return status;
    int found = find_word(words, node->text);
    if (found < 0)
        return hac_logic_problem(c, node, "`%s` is not known here; %s", hac_yaml_show(node->text, show),
                                 hac_logic_there_are(node->text, words, there));
    *ret = found;
    return HAC_OK;
}

hac_status hac_logic_new_name(hac_logic_checker *c, const hac_yaml_node *node, const char *name)
{
    char show[HAC_YAML_SHOW_SIZE];
    size_t length = strlen(name);
    bool good = length > 0 && length < HAC_LIBRARY_NAME_MAX && !isdigit((unsigned char)name[0]);
    for (size_t i = 0; good && i < length; i++)
        good = isalnum((unsigned char)name[i]) || name[i] == '_';
    if (!good)
        return hac_logic_problem(c, node,
                                 "`%s` cannot be a name; names are letters, digits and _, no digit first, at "
                                 "most %d",
                                 hac_yaml_show(name, show), HAC_LIBRARY_NAME_MAX - 1);
    if (hac_expression_reserves(name))
        return hac_logic_problem(c, node, "`%s` is a word of expressions; choose another name", name);
    return HAC_OK;
}

hac_status hac_logic_device(hac_logic_checker *c, const hac_yaml_node *node, char **ret)
{
    const char *text = "";
    char show[HAC_YAML_SHOW_SIZE];
    hac_status status = hac_logic_text(c, node, &text);
    if (status != HAC_OK)
        return status;
    bool good = strlen(text) < HAC_LIBRARY_NAME_MAX;
    for (const char *p = text; good && *p != '\0'; p++)
        good = isalnum((unsigned char)*p) || strchr("_-.", *p) != NULL;
    if (!good)
        return hac_logic_problem(
            c, node,
            "`%s` is no device; write a processor type (cpu, gpu, fpga, dsp, arm) or the "
            "name that `hacctl devices` lists",
            hac_yaml_show(text, show));
    *ret = hac_logic_copy(c, text);
    return *ret != NULL ? HAC_OK : HAC_NO_MEMORY;
}
