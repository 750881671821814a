/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/path_filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "compile.h"
#include "emit/emit.h"
#include "language/functions.h"
#include "syntax/types.h"

HAC_DEFINE_CLEANUP(hac_program_builder *, hac_program_builder_free)

void hac_path_filter_clear(hac_path_filter *filter)
{
    hac_schema_clear(&filter->columns);
    hac_program_free(filter->program);
    filter->program = NULL;
}

/* Whether the expression reads only columns in paths, at least one, and no aggregate. */
static bool reads_paths(const hac_compiler *c, const hac_node *node, bool *ret_any)
{
    if (node->kind == HAC_NODE_STAR || (node->kind == HAC_NODE_CALL && hac_name_is_aggregate(node->name)))
        return false;
    if (node->kind == HAC_NODE_COLUMN) {
        *ret_any = true;
        return hac_schema_find(&c->path, node->name, node->n_name) >= 0;
    }
    for (size_t i = 0; i < node->n_args; i++)
        if (!reads_paths(c, node->args[i], ret_any))
            return false;
    return true;
}

/* Joins the parts of a condition that read only columns in paths to *ret, which is NULL if there are none
 * yet. */
static void collect_parts(hac_compiler *c, hac_node *node, hac_node **ret)
{
    bool any = false;
    if (node->kind == HAC_NODE_CALL && strcmp(node->name, "and") == 0) {
        for (size_t i = 0; i < node->n_args; i++)
            collect_parts(c, node->args[i], ret);
        return;
    }
    if (c->parser.status != HAC_OK || !reads_paths(c, node, &any) || !any)
        return;
    *ret = *ret == NULL ? node : hac_node_call(&c->parser, "and", 0, 2, (hac_node *[]){*ret, node});
}

/* The condition on the rows of the source: that of WITH, if there is one. */
static hac_status find_condition(hac_compiler *c, hac_node **ret)
{
    hac_node *node = NULL;
    bool with = hac_text_given(c->text->with_select);
    const char *text = with ? c->text->with_where : c->text->where;
    if (!hac_text_given(text))
        return HAC_OK;
    hac_status status =
        hac_parse_expression(&c->parser, with ? &c->with_where_source : &c->where_source, &node);
    if (status == HAC_OK)
        collect_parts(c, node, ret);
    if (status == HAC_OK && *ret != NULL)
        *ret = hac_check(&c->checker, *ret);
    return c->parser.status;
}

static hac_status make_program(hac_compiler *c, hac_node *node, hac_program **ret, hac_error *err)
{
    hac_cleanup(hac_program_builder_free_cleanup) hac_program_builder *builder = NULL;
    int inputs[HAC_COLUMNS_MAX];
    for (size_t i = 0; i < c->path.n_fields; i++)
        inputs[i] = (int)i;
    hac_status status = hac_program_builder_new(&builder, err);
    if (status != HAC_OK)
        return status;
    hac_emitter e = {.column_inputs = inputs};
    hac_emitter_begin(&e, builder, &c->pass);
    hac_program_builder_output(builder, hac_emit_as(&e, node, HAC_TYPE(BOOL)), HAC_TYPE(BOOL));
    return hac_program_builder_finish(builder, ret, err);
}

static hac_status make(hac_compiler *c, hac_path_filter *ret)
{
    hac_node *node = NULL;
    hac_program *program = NULL;
    hac_status status = hac_compile_read_path(c);
    if (status == HAC_OK && hac_text_given(c->text->schema))
        status = hac_compile_read_schema(c);
    c->checker = (hac_checker){.parser = &c->parser, .schema = &c->path};
    if (status == HAC_OK)
        status = find_condition(c, &node);
    if (status == HAC_OK && node != NULL && node->type.kind == HAC_KIND_BOOL)
        status = make_program(c, node, &program, c->err);
    if (status != HAC_OK || program == NULL)
        return status;
    *ret = (hac_path_filter){.columns = c->path, .program = program};
    c->path = (hac_schema){NULL, 0};
    return HAC_OK;
}

hac_status hac_path_filter_make(const hac_query_text *text, hac_path_filter *ret, hac_error *err)
{
    hac_error unused = HAC_ERROR_NONE;
    *ret = (hac_path_filter){.program = NULL};
    hac_compiler *c = hac_compiler_new(text, &unused);
    if (c == NULL)
        return hac_fail_no_memory(err);
    hac_status status = make(c, ret);
    hac_compiler_free(c);
    return status == HAC_NO_MEMORY ? hac_fail_no_memory(err) : HAC_OK;
}
