/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of users: what the files of sub-operators and OPs say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const char subop_keys[] = "subop text arguments result expr";
static const char op_keys[] = "op text parameters results operation do";

/* ---- parameters ---- */

/* Reads "n" of `rows: n`: a name that parameters may share. */
static hac_status read_dimension(hac_logic_checker *c, const hac_yaml_node *map, const char *key,
                                 const char **ret)
{
    const hac_yaml_node *node = hac_logic_field(map, key);
    const char *text = NULL;
    if (node == NULL)
        return HAC_OK;
    hac_status status = hac_logic_text(c, node, &text);
    if (status == HAC_OK)
        status = hac_logic_new_name(c, node, text);
    if (status == HAC_OK)
        *ret = text;
    return status;
}

/* Reads `spread: f64`, or `link: {template: SparseMatrix, type: f64, rows: n, columns: n}`. */
static hac_status read_parameter(hac_logic_checker *c, const hac_yaml_node *node, bool needs_form,
                                 hac_parameter *ret)
{
    static const char types[] = "bool i32 i64 u32 u64 f32 f64";
    hac_yaml_node key = hac_logic_key_node(node);
    int place;
    *ret = (hac_parameter){.name = node->key, .node = node};
    ret->vector.form = needs_form ? HAC_VECTOR_NONE : HAC_VECTOR_FIX_VALUE;
    hac_status status = hac_logic_new_name(c, &key, node->key);
    if (status != HAC_OK)
        return status;
    if (!needs_form) {
        status = hac_logic_word(c, node, types, &place);
        if (status == HAC_OK)
            ret->vector.kind = hac_element_find(node->text);
        return status;
    }
    status = hac_logic_need(c, node, HAC_YAML_MAP);
    if (status == HAC_OK)
        status = hac_logic_fields(c, node, "template type rows columns");
    if (status == HAC_OK)
        status = hac_check_declared(c, node, &ret->vector);
    if (status == HAC_OK && (ret->vector.form == HAC_VECTOR_NONE || ret->vector.kind == HAC_KIND_NONE))
        return hac_logic_problem_key(
            c, node,
            "`%s` needs `template` and `type`, as in {template: FixValueVector, type: "
            "f64}",
            node->key);
    if (status == HAC_OK)
        status = read_dimension(c, node, "rows", &ret->rows);
    return status == HAC_OK ? read_dimension(c, node, "columns", &ret->columns) : status;
}

static hac_status read_parameters(hac_logic_checker *c, const hac_yaml_node *map, bool needs_form,
                                  hac_parameter *ret, size_t *ret_n)
{
    hac_status status = map != NULL ? hac_logic_need(c, map, HAC_YAML_MAP) : HAC_OK, first = status;
    for (const hac_yaml_node *node = map != NULL && status == HAC_OK ? map->first : NULL; node != NULL;
         node = node->next) {
        if (*ret_n == HAC_LOGIC_PARAMETERS_MAX / 2)
            return hac_logic_problem_key(c, node, "more than %d", HAC_LOGIC_PARAMETERS_MAX / 2);
        status = read_parameter(c, node, needs_form, &ret[(*ret_n)++]);
        first = first != HAC_OK ? first : status;
        if (!hac_logic_goes_on(status))
            return status;
    }
    return first;
}

/* ---- files ---- */

static hac_status read_name(hac_logic_checker *c, hac_definition *d, const char *key)
{
    const hac_yaml_node *name = hac_logic_field(d->root, key), *about = hac_logic_field(d->root, "text");
    d->about = "";
    if (name == NULL)
        return hac_logic_problem(c, d->root, "`%s` is missing: the name", key);
    hac_status status = hac_logic_text(c, name, &d->name);
    if (status == HAC_OK)
        status = hac_logic_new_name(c, name, d->name);
    if (status == HAC_OK && about != NULL)
        status = hac_logic_text(c, about, &d->about);
    if (status == HAC_OK && strlen(d->about) > 200)
        return hac_logic_problem(c, about, "`text` is one line of at most 200 bytes");
    if (status == HAC_OK && hac_subop_find(d->name) != NULL)
        return hac_logic_problem(c, name, "`%s` is built in; choose another name", d->name);
    return status;
}

static hac_status read_subop(hac_logic_checker *c, hac_definition *d)
{
    const hac_yaml_node *result = hac_logic_field(d->root, "result");
    int place;
    hac_status status = hac_logic_fields(c, d->root, subop_keys);
    if (status == HAC_OK)
        status = read_name(c, d, "subop");
    if (status == HAC_OK)
        status =
            read_parameters(c, hac_logic_field(d->root, "arguments"), false, d->parameters, &d->n_parameters);
    for (size_t i = 0; i < d->n_parameters && status == HAC_OK; i++)
        if (strcmp(d->parameters[i].name, "out") == 0 || strcmp(d->parameters[i].name, "device") == 0)
            status = hac_logic_problem_key(c, d->parameters[i].node,
                                           "an argument cannot be called `%s`, which every "
                                           "sub-operator has",
                                           d->parameters[i].name);
    if (status == HAC_OK && result != NULL &&
        (status = hac_logic_word(c, result, "bool i32 i64 u32 u64 f32 f64", &place)) == HAC_OK)
        d->result = hac_element_find(result->text);
    d->body = hac_logic_field(d->root, "expr");
    if (status == HAC_OK && d->body == NULL)
        return hac_logic_problem(c, d->root,
                                 "`expr` is missing: what the sub-operator computes from its arguments");
    return status;
}

static hac_status read_op(hac_logic_checker *c, hac_definition *d)
{
    const hac_yaml_node *operation = hac_logic_field(d->root, "operation");
    int place = 0;
    hac_status status = hac_logic_fields(c, d->root, op_keys);
    if (status == HAC_OK)
        status = read_name(c, d, "op");
    if (status == HAC_OK)
        status =
            read_parameters(c, hac_logic_field(d->root, "parameters"), true, d->parameters, &d->n_parameters);
    if (status == HAC_OK)
        status = read_parameters(c, hac_logic_field(d->root, "results"), true, d->results, &d->n_results);
    for (size_t i = 0; i < d->n_results && status == HAC_OK; i++)
        for (size_t j = 0; j < d->n_parameters && status == HAC_OK; j++)
            if (strcmp(d->results[i].name, d->parameters[j].name) == 0)
                status = hac_logic_problem_key(c, d->results[i].node,
                                               "`%s` is a parameter and a result; one of them "
                                               "needs another name",
                                               d->results[i].name);
    if (status == HAC_OK && operation != NULL) {
        status =
            hac_logic_word(c, operation, "VectorMap MatrixMap GlobalMap CrossMap TaskMap DirMap", &place);
        d->operation = (hac_operation)(place + 1);
    }
    d->body = hac_logic_field(d->root, "do");
    if (status == HAC_OK && d->n_results == 0)
        return hac_logic_problem(c, d->root, "`results` is missing: the vectors that the OP gives");
    if (status == HAC_OK && d->body == NULL)
        return hac_logic_problem(c, d->root, "`do` is missing: a list of sub-operators");
    return status;
}

hac_status hac_definition_parse(hac_logic_checker *c, hac_library_kind kind, const char *file,
                                const char *text, size_t length, hac_definition **ret)
{
    hac_error err = HAC_ERROR_NONE;
    hac_definition *d = hac_logic_alloc(c, sizeof *d);
    if (d == NULL)
        return HAC_NO_MEMORY;
    *d = (hac_definition){.kind = kind, .file = hac_logic_copy(c, file)};
    d->scope = (hac_logic_scope){.file = d->file, .prefix = ""};
    if (d->file == NULL)
        return HAC_NO_MEMORY;
    hac_status status = hac_yaml_parse_columns(file, text, length, &d->root, &err);
    if (status != HAC_OK)
        return status == HAC_INVALID ? hac_logic_problem_text(c, err.message)
                                     : hac_fail(c->err, status, "%s", err.message);
    d->next = c->definitions;
    c->definitions = d;
    hac_logic_scope *outer = c->scope;
    c->scope = &d->scope;
    status = kind == HAC_LIBRARY_SUBOP ? read_subop(c, d) : read_op(c, d);
    c->scope = outer;
    if (status == HAC_OK)
        *ret = d;
    return status;
}

/* Splits "damp@2" into "damp" and 2, "damp" into "damp" and 0 (the newest). False: it is neither. */
static bool split_name(const char *text, char *ret_name, unsigned *ret_version)
{
    const char *at = strchr(text, '@');
    size_t length = at != NULL ? (size_t)(at - text) : strlen(text);
    if (length == 0 || length >= HAC_LIBRARY_NAME_MAX)
        return false;
    memcpy(ret_name, text, length);
    ret_name[length] = '\0';
    *ret_version = 0;
    if (at == NULL)
        return true;
    if (at[1] < '1' || at[1] > '9' || strlen(at + 1) > 6 || strspn(at + 1, "0123456789") != strlen(at + 1))
        return false;
    *ret_version = (unsigned)strtoul(at + 1, NULL, 10);
    return true;
}

static hac_status damaged(hac_logic_checker *c, const hac_library_entry *entry)
{
    hac_error err = HAC_ERROR_NONE;
    char advice[HAC_LIBRARY_ADVICE_MAX];
    hac_library_advise(entry, advice);
    (void)hac_fail(&err, HAC_INVALID, "%.300s; %s", entry->damage, advice);
    return hac_logic_problem_text(c, err.message);
}

hac_status hac_definition_find(hac_logic_checker *c, hac_library_kind kind, const char *name,
                               hac_definition **ret)
{
    char plain[HAC_LIBRARY_NAME_MAX], file[HAC_LIBRARY_NAME_MAX + 24];
    unsigned version = 0;
    *ret = NULL;
    if (c->library == NULL || !split_name(name, plain, &version))
        return HAC_OK;
    const hac_library_entry *entry = hac_library_find(c->library, kind, plain, version);
    if (entry == NULL)
        return HAC_OK;
    if (entry->damage != NULL)
        return damaged(c, entry);
    for (hac_definition *d = c->definitions; d != NULL; d = d->next)
        if (d->kind == kind && d->version == entry->version && d->name != NULL &&
            strcmp(d->name, plain) == 0) {
            *ret = d;
            return HAC_OK;
        }
    snprintf(file, sizeof file, "%s %s@%u", kind == HAC_LIBRARY_SUBOP ? "subop" : "op", plain,
             entry->version);
    hac_status status = hac_definition_parse(c, kind, file, entry->text, strlen(entry->text), ret);
    if (status == HAC_OK)
        (*ret)->version = entry->version;
    return status;
}
