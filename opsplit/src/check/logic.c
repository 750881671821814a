/* SPDX-License-Identifier: Apache-2.0 */
/* A logic file as a whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "check.h"

HAC_DEFINE_CLEANUP(hac_logic_checker *, hac_checker_free)
HAC_DEFINE_CLEANUP(hac_yaml_node *, hac_yaml_free)

typedef struct file_walk {
    const hac_yaml_node *root;
    const hac_vector_state *start;
} file_walk;

static hac_status check_operators(hac_logic_checker *c, const hac_yaml_node *root)
{
    const hac_yaml_node *operators = hac_logic_field(root, "operators");
    if (operators == NULL)
        return HAC_OK;
    return hac_check_steps(c, operators, &c->logic->steps, &c->logic->n_steps);
}

static hac_status walk(hac_logic_checker *c, const void *what)
{
    const file_walk *w = what;
    hac_logic *logic = c->logic;
    memcpy(c->state, w->start, sizeof c->state);
    logic->n_outputs = 0;
    logic->reducer = NULL;
    hac_status status = check_operators(c, w->root);
    if (!hac_logic_goes_on(status))
        return status;
    hac_status reducer = hac_check_reducer(c, hac_logic_field(w->root, "reducer"));
    if (!hac_logic_goes_on(reducer))
        return reducer;
    hac_status outputs = hac_check_outputs(c, hac_logic_field(w->root, "outputs"));
    if (!hac_logic_goes_on(outputs))
        return outputs;
    logic->n_pieces = c->n_pieces;
    return status != HAC_OK ? status : reducer != HAC_OK ? reducer : outputs;
}

static hac_status check_head(hac_logic_checker *c, const hac_yaml_node *root)
{
    const hac_yaml_node *name = hac_logic_field(root, "name"), *about = hac_logic_field(root, "text");
    const char *text = NULL;
    hac_status status = hac_logic_fields(c, root, "name text inputs vectors operators reducer outputs"),
               first = status;
    if (name != NULL && (status = hac_logic_text(c, name, &text)) == HAC_OK)
        c->logic->name = hac_logic_copy(c, text);
    first = first != HAC_OK ? first : status;
    if (about != NULL && (status = hac_logic_text(c, about, &text)) == HAC_OK)
        c->logic->about = hac_logic_copy(c, text);
    first = first != HAC_OK ? first : status;
    if (hac_logic_field(root, "outputs") == NULL)
        first = hac_logic_problem(c, root,
                                  "`outputs` is missing: the files that are written, as in outputs: {ranks: "
                                  "{format: csv, columns: {node: node, rank: rank}}}");
    if (c->logic->name == NULL || c->logic->about == NULL)
        return HAC_NO_MEMORY;
    return first;
}

/* Names the logic file after its file unless it has a `name`: "docs/pagerank.yaml" is pagerank. */
static hac_status default_name(hac_logic_checker *c)
{
    const char *slash = strrchr(c->logic->file, '/'), *base = slash != NULL ? slash + 1 : c->logic->file;
    if (c->logic->name[0] != '\0')
        return HAC_OK;
    c->logic->name = hac_logic_copy(c, base);
    if (c->logic->name == NULL)
        return HAC_NO_MEMORY;
    char *dot = strrchr(c->logic->name, '.');
    if (dot != NULL && dot != c->logic->name)
        *dot = '\0';
    return HAC_OK;
}

/* Checks the steps only if the vectors that they work on are known. */
static hac_status check_file(hac_logic_checker *c, const hac_yaml_node *root)
{
    hac_status first = check_head(c, root);
    if (!hac_logic_goes_on(first))
        return first;
    hac_status status = hac_check_inputs(c, hac_logic_field(root, "inputs"));
    if (!hac_logic_goes_on(status))
        return status;
    first = first != HAC_OK ? first : status;
    status = hac_check_vectors(c, hac_logic_field(root, "vectors"));
    first = first != HAC_OK ? first : status;
    if (first != HAC_OK)
        return hac_logic_goes_on(status) ? first : status;
    hac_vector_state *start = hac_logic_alloc(c, sizeof c->state);
    if (start == NULL || default_name(c) != HAC_OK)
        return HAC_NO_MEMORY;
    memcpy(start, c->state, sizeof c->state);
    file_walk w = {root, start};
    status = hac_checker_settle(c, walk, &w);
    return status == HAC_OK ? hac_finish_vectors(c) : status;
}

hac_status hac_logic_parse(const char *file, const char *text, size_t length, const hac_library *library,
                           hac_logic **ret, hac_logic_problems *problems, hac_error *err)
{
    hac_cleanup(hac_checker_free_cleanup) hac_logic_checker *c = NULL;
    hac_cleanup(hac_yaml_free_cleanup) hac_yaml_node *root = NULL;
    hac_error unused = HAC_ERROR_NONE;
    if (problems != NULL)
        *problems = (hac_logic_problems)HAC_LOGIC_PROBLEMS_NONE;
    err = err != NULL ? err : &unused;
    hac_status status = hac_checker_new(file, library, &c, err);
    if (status == HAC_OK)
        status = hac_yaml_parse_columns(file, text, length, &root, err);
    if (status != HAC_OK)
        return status;
    status = hac_checker_conclude(c, check_file(c, root));
    hac_checker_finish(c, status == HAC_OK ? ret : NULL, problems);
    return status;
}

hac_status hac_logic_read(const char *path, const hac_library *library, hac_logic **ret,
                          hac_logic_problems *problems, hac_error *err)
{
    hac_autofree char *text = NULL;
    size_t length = 0;
    if (problems != NULL)
        *problems = (hac_logic_problems)HAC_LOGIC_PROBLEMS_NONE;
    hac_status status = hac_yaml_read_file(path, &text, &length, err);
    return status == HAC_OK ? hac_logic_parse(path, text, length, library, ret, problems, err) : status;
}

hac_status hac_logic_read_own(const char *path, hac_library **ret_library, hac_logic **ret,
                              hac_logic_problems *problems, hac_error *err)
{
    if (problems != NULL)
        *problems = (hac_logic_problems)HAC_LOGIC_PROBLEMS_NONE;
    hac_status status = hac_library_open_own(ret_library, err);
    if (status == HAC_OK)
        status = hac_logic_read(path, *ret_library, ret, problems, err);
    return status == HAC_NOT_FOUND ? hac_fail(err, HAC_NOT_FOUND, "%s: there is no such file", path) : status;
}
