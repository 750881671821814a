/* SPDX-License-Identifier: Apache-2.0 */
/* Dimensions. Each is made once and kept with what makes it, so that repeated walks find the same ones. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

/* Makes a dimension; -1: there is no room, and the dimension fits every other one. */
static int add(hac_logic_checker *c, hac_logic_dimension dimension, hac_dimension_key key, const char *name)
{
    hac_logic *logic = c->logic;
    if (logic->n_dimensions == HAC_LOGIC_DIMENSIONS_MAX)
        return HAC_DIMENSION_NONE;
    dimension.name = hac_logic_copy(c, name);
    if (dimension.name == NULL)
        return HAC_DIMENSION_NONE;
    c->keys[logic->n_dimensions] = key;
    logic->dimensions[logic->n_dimensions] = dimension;
    return (int)logic->n_dimensions++;
}

int hac_dimension_constant(hac_logic_checker *c, uint64_t value)
{
    char name[24];
    for (size_t i = 0; i < c->logic->n_dimensions; i++)
        if (c->logic->dimensions[i].kind == HAC_DIMENSION_CONSTANT && c->logic->dimensions[i].value == value)
            return (int)i;
    snprintf(name, sizeof name, "%" PRIu64, value);
    return add(c, (hac_logic_dimension){.kind = HAC_DIMENSION_CONSTANT, .value = value, .index = -1},
               (hac_dimension_key){0}, name);
}

static int of_index(hac_logic_checker *c, hac_dimension_kind kind, int index, const char *what,
                    const char *name)
{
    char text[HAC_FIELD_NAME_MAX + 32];
    for (size_t i = 0; i < c->logic->n_dimensions; i++)
        if (c->logic->dimensions[i].kind == kind && c->logic->dimensions[i].index == index)
            return (int)i;
    snprintf(text, sizeof text, "%s %s", what, name);
    return add(c, (hac_logic_dimension){.kind = kind, .index = index}, (hac_dimension_key){0}, text);
}

int hac_dimension_input(hac_logic_checker *c, int input)
{
    return of_index(c, HAC_DIMENSION_INPUT, input, "rows of", c->logic->inputs[input].name);
}

int hac_dimension_var(hac_logic_checker *c, int vector)
{
    const hac_yaml_node *value = c->value[vector];
    if (!c->written[vector] && value != NULL && value->kind == HAC_YAML_SCALAR && value->plain) {
        uint64_t number = 0;
        c->quiet++;
        hac_status status = hac_logic_whole(c, value, 0, UINT64_C(1) << 40, &number);
        c->quiet--;
        if (status == HAC_OK)
            return hac_dimension_constant(c, number);
    }
    return of_index(c, HAC_DIMENSION_VAR, vector, "the value of", c->logic->vectors[vector].name);
}

int hac_dimension_data(hac_logic_checker *c, const hac_yaml_node *node, int which, const char *what)
{
    char text[HAC_FIELD_NAME_MAX + 64];
    for (size_t i = 0; i < c->logic->n_dimensions; i++)
        if (c->keys[i].node == node && c->keys[i].which == which &&
            strcmp(c->keys[i].prefix, c->scope->prefix) == 0)
            return (int)i;
    snprintf(text, sizeof text, "%s in line %u", what, node->key_line);
    return add(c, (hac_logic_dimension){.kind = HAC_DIMENSION_DATA, .index = -1},
               (hac_dimension_key){.node = node, .prefix = c->scope->prefix, .which = which}, text);
}

int hac_dimension_parameter(hac_logic_checker *c, const char *name)
{
    for (size_t i = 0; i < c->logic->n_dimensions; i++)
        if (c->logic->dimensions[i].kind == HAC_DIMENSION_PARAMETER &&
            strcmp(c->logic->dimensions[i].name, name) == 0)
            return (int)i;
    return add(c, (hac_logic_dimension){.kind = HAC_DIMENSION_PARAMETER, .index = -1}, (hac_dimension_key){0},
               name);
}

/* ---- joins ---- */

static void insert(int *set, size_t *n, int member)
{
    size_t at = 0;
    while (at < *n && set[at] < member)
        at++;
    if (at < *n && set[at] == member)
        return;
    memmove(set + at + 1, set + at, (*n - at) * sizeof *set);
    set[at] = member;
    (*n)++;
}

static void insert_all(const hac_logic_checker *c, int *set, size_t *n, int dimension)
{
    const hac_dimension_key *key = &c->keys[dimension];
    if (c->logic->dimensions[dimension].kind != HAC_DIMENSION_JOIN)
        insert(set, n, dimension);
    for (size_t i = 0; i < key->n_members; i++)
        insert(set, n, key->members[i]);
}

/* The join of {A, B} with A is {A, B} itself, which ends the walks over loops. */
int hac_dimension_join(hac_logic_checker *c, int a, int b)
{
    hac_logic *logic = c->logic;
    if (a == b || a == HAC_DIMENSION_NONE || b == HAC_DIMENSION_NONE)
        return a == b ? a : HAC_DIMENSION_NONE;
    size_t n = 0;
    int *set = hac_logic_alloc(c, (c->keys[a].n_members + c->keys[b].n_members + 2) * sizeof *set);
    if (set == NULL)
        return HAC_DIMENSION_NONE;
    insert_all(c, set, &n, a);
    insert_all(c, set, &n, b);
    for (size_t i = 0; i < logic->n_dimensions; i++)
        if (logic->dimensions[i].kind == HAC_DIMENSION_JOIN && c->keys[i].n_members == n &&
            memcmp(c->keys[i].members, set, n * sizeof *set) == 0)
            return (int)i;
    char name[2 * HAC_FIELD_NAME_MAX + 16];
    snprintf(name, sizeof name, "%s, or %s", logic->dimensions[set[0]].name, logic->dimensions[set[1]].name);
    return add(c, (hac_logic_dimension){.kind = HAC_DIMENSION_JOIN, .index = -1},
               (hac_dimension_key){.members = set, .n_members = n}, name);
}

const char *hac_dimension_name(const hac_logic_checker *c, int dimension)
{
    return dimension >= 0 ? c->logic->dimensions[dimension].name : "not known";
}

const char *hac_dimension_phrase(const hac_logic_checker *c, int dimension, const char *what, char *ret)
{
    const hac_logic_dimension *d = dimension >= 0 ? &c->logic->dimensions[dimension] : NULL;
    if (d == NULL)
        snprintf(ret, HAC_DIMENSION_PHRASE_SIZE, "an unknown number of %s", what);
    else if (d->kind == HAC_DIMENSION_CONSTANT)
        snprintf(ret, HAC_DIMENSION_PHRASE_SIZE, "%s %.*s", d->name, (int)strlen(what) - (d->value == 1),
                 what);
    else if (d->kind == HAC_DIMENSION_INPUT)
        snprintf(ret, HAC_DIMENSION_PHRASE_SIZE, "as many %s as input `%s`", what,
                 c->logic->inputs[d->index].name);
    else if (d->kind == HAC_DIMENSION_VAR)
        snprintf(ret, HAC_DIMENSION_PHRASE_SIZE, "as many %s as `%s` says", what,
                 c->logic->vectors[d->index].name);
    else if (d->kind == HAC_DIMENSION_DATA && strncmp(d->name, "what ", 5) == 0)
        snprintf(ret, HAC_DIMENSION_PHRASE_SIZE, "as many %s as %s", what, d->name + 5);
    else if (d->kind == HAC_DIMENSION_PARAMETER)
        snprintf(ret, HAC_DIMENSION_PHRASE_SIZE, "%s %s", d->name, what);
    else
        snprintf(ret, HAC_DIMENSION_PHRASE_SIZE, "as many %s as there are %s", what, d->name);
    return ret;
}

hac_status hac_dimensions_differ(hac_logic_checker *c, const hac_yaml_node *node, const hac_counted *a,
                                 const hac_counted *b)
{
    char first[HAC_DIMENSION_PHRASE_SIZE], second[HAC_DIMENSION_PHRASE_SIZE];
    const hac_logic_dimension *dimensions = c->logic->dimensions;
    bool inputs = a->dimension >= 0 && b->dimension >= 0 &&
                  dimensions[a->dimension].kind == HAC_DIMENSION_INPUT &&
                  dimensions[b->dimension].kind == HAC_DIMENSION_INPUT;
    return hac_logic_problem(c, node, "`%s` %s %s, and `%s` %s %s; they have to be as many%s", a->name,
                             a->is ? "is" : "has", hac_dimension_phrase(c, a->dimension, a->what, first),
                             b->name, b->is ? "is" : "has",
                             hac_dimension_phrase(c, b->dimension, b->what, second),
                             inputs ? ". If both inputs always have as many, say so with `rows` of one" : "");
}

bool hac_dimension_fits(const hac_logic_checker *c, int a, int b)
{
    return a == b || a < 0 || b < 0 || c->logic->dimensions[a].kind == HAC_DIMENSION_JOIN ||
           c->logic->dimensions[b].kind == HAC_DIMENSION_JOIN;
}

hac_status hac_check_extent(hac_logic_checker *c, const hac_yaml_node *node, int end, int *ret)
{
    const char *text = NULL;
    uint64_t n;
    hac_status status = hac_logic_text(c, node, &text);
    if (status != HAC_OK)
        return status;
    int other = hac_logic_input_find(c->logic, text);
    if (other >= 0 && other < end) {
        *ret = c->logic->inputs[other].rows;
        return HAC_OK;
    }
    if (strspn(text, "0123456789") != strlen(text))
        return hac_logic_problem(c, node,
                                 "`%s` is a whole number, or the name of an input above that has as many%s",
                                 node->key, strcmp(node->key, "rows") == 0 ? "" : " rows");
    status = hac_logic_whole(c, node, 1, UINT64_C(1) << 40, &n);
    if (status == HAC_OK)
        *ret = hac_dimension_constant(c, n);
    return status;
}
