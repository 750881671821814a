/* SPDX-License-Identifier: Apache-2.0 */
/* The section `inputs`: queries whose result columns become vectors. The queries are compiled for their
 * types. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "base/input_options.h"
#include "base/suggest.h"
#include "check.h"

HAC_DEFINE_CLEANUP(hac_query *, hac_query_free)

/* ---- the query ---- */

/* Reports a message about an option, "--select: character 7: …", at the key `select`. */
hac_status hac_problem_of_query(hac_logic_checker *c, const hac_yaml_node *map, const char *message)
{
    static const char *const options[] = {"--schema", "--where", "--group-by", "--select", "--order-by"};
    static const char *const keys[] = {"schema", "where", "group_by", "select", "order_by"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t length = strlen(options[i]), character = 0;
        const hac_yaml_node *node = hac_logic_field(map, keys[i]);
        int used = 0;
        if (strncmp(message, options[i], length) != 0 || strncmp(message + length, ": ", 2) != 0)
            continue;
        message += length + 2;
        if (sscanf(message, "character %zu: %n", &character, &used) == 1 && used > 0)
            message += used;
        else
            character = 0;
        if (node == NULL)
            return hac_logic_problem_key(c, map, "`%s`: %s", keys[i], message);
        return hac_logic_problem_in(c, node, character, message);
    }
    return hac_logic_problem_key(c, map, "%s", message);
}

static hac_status optional_text(hac_logic_checker *c, const hac_yaml_node *map, const char *key, char **ret)
{
    const hac_yaml_node *node = hac_logic_field(map, key);
    const char *text;
    if (node == NULL)
        return HAC_OK;
    hac_status status = hac_logic_text(c, node, &text);
    if (status != HAC_OK)
        return status;
    *ret = hac_logic_copy(c, text);
    return *ret != NULL ? HAC_OK : HAC_NO_MEMORY;
}

/* Reads the value of an option of the input's format. */
static hac_status read_option(hac_logic_checker *c, const hac_yaml_node *node, hac_input_option_id id,
                              hac_input_options *options)
{
    const hac_input_option *row = &hac_input_option_rows[id];
    hac_error why = HAC_ERROR_NONE;
    bool truth;
    int place;
    hac_status status = hac_logic_need(c, node, HAC_YAML_SCALAR);
    if (status == HAC_OK && (row->kind == HAC_OPTION_ON || row->kind == HAC_OPTION_OFF))
        status = hac_logic_truth(c, node, &truth);
    else if (status == HAC_OK && row->kind == HAC_OPTION_WORD)
        status = hac_logic_word(c, node, row->words, &place);
    if (status == HAC_OK && hac_input_option_parse(id, node->text, options, &why) != HAC_OK)
        return hac_logic_problem(c, node, "%s", why.message);
    return status;
}

static hac_status read_format(hac_logic_checker *c, const hac_yaml_node *map, hac_logic_input *input)
{
    const hac_yaml_node *parse = hac_logic_field(map, "parse");
    int place = 0;
    hac_error why = HAC_ERROR_NONE;
    hac_status status = HAC_OK;
    input->optional_format = parse == NULL;
    if (parse != NULL && (status = hac_logic_word(c, parse, HAC_FORMAT_WORDS, &place)) == HAC_OK)
        input->source.format = (hac_input_format)(HAC_INPUT_CSV + place);
    for (unsigned id = 0; id < HAC_INPUT_OPTIONS && status == HAC_OK; id++) {
        const hac_input_option *row = &hac_input_option_rows[id];
        const hac_yaml_node *node = row->text ? hac_logic_field(map, row->key) : NULL;
        if (node != NULL)
            status = read_option(c, node, (hac_input_option_id)id, &input->source.options);
    }
    if (status == HAC_OK && parse != NULL &&
        hac_input_options_check(input->source.format, &input->source.options, &why) != HAC_OK)
        return hac_logic_problem(c, parse, "%s", why.message);
    return status;
}

static hac_status read_texts(hac_logic_checker *c, const hac_yaml_node *map, hac_logic_input *input)
{
    const hac_yaml_node *limit = hac_logic_field(map, "limit");
    hac_status status = optional_text(c, map, "schema", &input->schema);
    if (status == HAC_OK)
        status = optional_text(c, map, "where", &input->where);
    if (status == HAC_OK)
        status = optional_text(c, map, "select", &input->select);
    if (status == HAC_OK)
        status = optional_text(c, map, "group_by", &input->group_by);
    if (status == HAC_OK)
        status = optional_text(c, map, "order_by", &input->order_by);
    input->limit = UINT64_MAX;
    if (status == HAC_OK && limit != NULL)
        status = hac_logic_whole(c, limit, 1, UINT64_C(1) << 40, &input->limit);
    return status;
}

/* The columns that the format or the schema gives. */
static hac_status source_schema(hac_logic_checker *c, const hac_yaml_node *map, const hac_logic_input *input,
                                hac_schema *ret)
{
    hac_error err = HAC_ERROR_NONE;
    const char *own = hac_formats[input->source.format].columns;
    if (own != NULL && input->schema != NULL)
        return hac_logic_problem_key(c, hac_logic_field(map, "schema"),
                                     "this format has its own columns (%s); leave the schema out", own);
    if (own == NULL && input->schema == NULL)
        return hac_logic_problem_key(c, map,
                                     "`schema` is missing: the columns and their types, as in \"a:i64,"
                                     "b:f64\"");
    hac_status status = hac_schema_parse(own != NULL ? own : input->schema, ret, &err);
    if (status == HAC_OK)
        return HAC_OK;
    if (status != HAC_INVALID)
        return hac_fail(c->err, status, "%s", err.message);
    (void)hac_error_prefix(&err, "--schema");
    return hac_problem_of_query(c, map, err.message);
}

static hac_status compile_query(hac_logic_checker *c, const hac_yaml_node *map, const hac_logic_input *input,
                                hac_query **ret)
{
    hac_error err = HAC_ERROR_NONE;
    hac_schema schema = {NULL, 0};
    hac_query_text text = {.where = input->where,
                           .group_by = input->group_by,
                           .select = input->select,
                           .order_by = input->order_by,
                           .limit = UINT64_MAX,
                           .source = {.format = HAC_INPUT_TABLE}};
    hac_status status = source_schema(c, map, input, &schema);
    if (status == HAC_OK) {
        status = hac_query_compile(&text, &schema, ret, &err);
        if (status == HAC_INVALID)
            status = hac_problem_of_query(c, map, err.message);
        else if (status != HAC_OK)
            (void)hac_fail(c->err, status, "%s", err.message);
    }
    hac_schema_clear(&schema);
    return status;
}

/* ---- columns to vectors ---- */

static int find_column(const hac_logic_input *input, const char *name)
{
    for (size_t i = 0; i < input->n_columns; i++)
        if (strcmp(input->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int add_vector(hac_logic_checker *c, const hac_yaml_node *node, int input, const char *name,
                      hac_kind kind, int rows, int columns)
{
    char full[2 * HAC_FIELD_NAME_MAX];
    snprintf(full, sizeof full, "%s.%s", c->logic->inputs[input].name, name);
    if (strlen(full) >= HAC_FIELD_NAME_MAX) {
        (void)hac_logic_problem(c, node, "the name %.40s... is too long; choose a shorter one with `select`",
                                full);
        return -1;
    }
    int index = hac_vector_add(c, node, full);
    if (index < 0)
        return -1;
    hac_logic_vector *v = &c->logic->vectors[index];
    v->form = v->declared_form = kind == HAC_KIND_STRING ? HAC_VECTOR_SPARSE_TEXT : HAC_VECTOR_FIX_VALUE;
    v->kind = v->declared_kind = kind;
    v->rows = rows;
    v->columns = columns;
    v->origin = HAC_ORIGIN_INPUT;
    v->input = input;
    if (kind == HAC_KIND_STRING)
        v->entries = hac_dimension_data(c, node, index, "bytes of texts");
    c->state[index] = (hac_vector_state){true, 0, v->rows, v->columns, v->entries, HAC_DIMENSION_NONE};
    return index;
}

static const char *column_at(const void *list, size_t i)
{
    return ((const hac_logic_input *)list)->columns[i].name;
}

/* Reads `matrix: {x: [a, b]}`: columns that become one vector. */
static hac_status check_matrix(hac_logic_checker *c, const hac_yaml_node *node, int index,
                               const hac_kind *kinds)
{
    hac_logic_input *input = &c->logic->inputs[index];
    char show[HAC_YAML_SHOW_SIZE], there[HAC_SUGGEST_TEXT_MAX];
    hac_kind kind = HAC_KIND_NONE;
    hac_status status = hac_logic_need(c, node, HAC_YAML_LIST);
    hac_yaml_node key = hac_logic_key_node(node);
    if (status == HAC_OK)
        status = hac_logic_new_name(c, &key, node->key);
    if (status == HAC_OK && node->count == 0)
        return hac_logic_problem(c, node, "a matrix has columns; name some");
    int vector = status == HAC_OK ? add_vector(c, &key, index, node->key, HAC_KIND_F64, input->rows,
                                               hac_dimension_constant(c, node->count))
                                  : -1;
    if (vector < 0)
        return HAC_INVALID;
    for (const hac_yaml_node *item = node->first; item != NULL; item = item->next) {
        const char *name = NULL;
        status = hac_logic_text(c, item, &name);
        if (status != HAC_OK)
            return status;
        int column = find_column(input, name);
        if (column < 0)
            return hac_logic_problem(c, item, "input `%s` has no column `%s`; %s", input->name,
                                     hac_yaml_show(name, show),
                                     hac_suggest_text(name, input, input->n_columns, column_at, there));
        if (input->columns[column].vector >= 0)
            return hac_logic_problem(c, item, "column `%s` is in a matrix already", name);
        if (kinds[column] == HAC_KIND_STRING || (kind != HAC_KIND_NONE && kinds[column] != kind))
            return hac_logic_problem(c, item,
                                     "column `%s` is %s; columns of a matrix are numbers of one type", name,
                                     hac_element_name(kinds[column]));
        kind = kinds[column];
        input->columns[column].vector = vector;
        input->columns[column].place = (unsigned)item->index;
    }
    c->logic->vectors[vector].kind = c->logic->vectors[vector].declared_kind = kind;
    return HAC_OK;
}

static hac_status check_matrices(hac_logic_checker *c, const hac_yaml_node *map, int index,
                                 const hac_kind *kinds)
{
    const hac_yaml_node *matrix = hac_logic_field(map, "matrix");
    if (matrix == NULL)
        return HAC_OK;
    hac_status status = hac_logic_need(c, matrix, HAC_YAML_MAP);
    for (const hac_yaml_node *node = status == HAC_OK ? matrix->first : NULL;
         node != NULL && status == HAC_OK; node = node->next)
        status = check_matrix(c, node, index, kinds);
    return status;
}

static hac_status column_kinds(hac_logic_checker *c, const hac_yaml_node *map, const hac_query *query,
                               hac_kind *ret)
{
    char type[HAC_VALUE_TYPE_NAME_MAX];
    const hac_yaml_node *at = hac_logic_field(map, "select");
    for (size_t i = 0; i < query->n_visible; i++) {
        const hac_field *field = &query->outputs.fields[i];
        ret[i] = (hac_kind)field->type.kind;
        if (hac_element_size(ret[i]) == 0 && ret[i] != HAC_KIND_STRING)
            return hac_logic_problem_key(
                c, at != NULL ? at : map,
                "column `%s` is %s, and elements of vectors are bool, i32, i64, u32, u64, "
                "f32, f64 or string; write cast(%s as f64), or another type, in `select`",
                field->name, hac_value_type_name(field->type, type), field->name);
    }
    return HAC_OK;
}

static hac_status make_vectors(hac_logic_checker *c, const hac_yaml_node *map, int index,
                               const hac_query *query)
{
    hac_logic_input *input = &c->logic->inputs[index];
    hac_kind kinds[HAC_PROGRAM_OUTPUTS_MAX];
    hac_status status = column_kinds(c, map, query, kinds);
    input->columns = hac_logic_alloc(c, query->n_visible * sizeof *input->columns);
    if (status != HAC_OK || input->columns == NULL)
        return status != HAC_OK ? status : HAC_NO_MEMORY;
    for (size_t i = 0; i < query->n_visible; i++) {
        input->columns[i] =
            (hac_logic_column){.name = hac_logic_copy(c, query->outputs.fields[i].name), .vector = -1};
        if (input->columns[i].name == NULL)
            return HAC_NO_MEMORY;
    }
    input->n_columns = query->n_visible;
    status = check_matrices(c, map, index, kinds);
    for (size_t i = 0; i < input->n_columns && status == HAC_OK; i++) {
        if (input->columns[i].vector >= 0)
            continue;
        input->columns[i].vector =
            add_vector(c, map, index, input->columns[i].name, kinds[i], input->rows, HAC_DIMENSION_ONE);
        if (input->columns[i].vector < 0)
            return HAC_INVALID;
    }
    return status;
}

/* ---- rows, directories ---- */

static hac_status check_rows(hac_logic_checker *c, const hac_yaml_node *map, int index)
{
    hac_logic_input *input = &c->logic->inputs[index];
    const hac_yaml_node *rows = hac_logic_field(map, "rows");
    input->rows = hac_dimension_input(c, index);
    return rows != NULL ? hac_check_extent(c, rows, index, &input->rows) : HAC_OK;
}

static hac_status check_directory(hac_logic_checker *c, const hac_yaml_node *map, int index)
{
    hac_logic_input *input = &c->logic->inputs[index];
    const hac_yaml_node *directory = hac_logic_field(map, "directory");
    input->file_vector = input->name_vector = -1;
    hac_status status = directory != NULL ? hac_logic_truth(c, directory, &input->directory) : HAC_OK;
    if (status != HAC_OK || !input->directory)
        return status;
    if (find_column(input, "file") >= 0 || find_column(input, "files") >= 0)
        return hac_logic_problem_key(c, map,
                                     "an input of a directory has vectors `file` and `files` of its own; "
                                     "call the column something else in `select`");
    if (input->group_by != NULL || input->order_by != NULL || input->limit != UINT64_MAX)
        return hac_logic_problem_key(c, directory,
                                     "files of a directory are read one by one, so that there is no "
                                     "`group_by`, `order_by` or `limit` over all of them");
    int files = hac_dimension_data(c, directory, 0, "files of the directory");
    input->file_vector =
        add_vector(c, directory, index, "file", HAC_KIND_U32, input->rows, HAC_DIMENSION_ONE);
    input->name_vector = add_vector(c, directory, index, "files", HAC_KIND_STRING, files, HAC_DIMENSION_ONE);
    if (input->file_vector < 0 || input->name_vector < 0)
        return HAC_INVALID;
    c->state[input->file_vector].below = c->logic->vectors[input->file_vector].below = files;
    return HAC_OK;
}

/* Reads an input that is a file, or a folder of files. */
static hac_status check_source(hac_logic_checker *c, const hac_yaml_node *node, int index)
{
    hac_cleanup(hac_query_free_cleanup) hac_query *query = NULL;
    hac_logic_input *input = &c->logic->inputs[index];
    hac_status status = hac_logic_fields(
        c, node, "parse schema where select group_by order_by limit matrix rows directory template"
#define HAC_INPUT_OPTION(id, member, kind, formats, name, key, ...) " " key
#include "base/input_options.def"
    );
    if (status == HAC_OK)
        status = read_format(c, node, input);
    if (status == HAC_OK)
        status = read_texts(c, node, input);
    if (status == HAC_OK)
        status = check_rows(c, node, index);
    if (status == HAC_OK)
        status = compile_query(c, node, input, &query);
    if (status == HAC_OK)
        status = make_vectors(c, node, index, query);
    input->row_by_row = query != NULL && query->finals == NULL && input->group_by == NULL &&
                        input->order_by == NULL && input->limit == UINT64_MAX;
    return status == HAC_OK ? check_directory(c, node, index) : status;
}

static hac_status check_input(hac_logic_checker *c, const hac_yaml_node *node)
{
    hac_yaml_node key = hac_logic_key_node(node);
    hac_status status = hac_logic_new_name(c, &key, node->key);
    if (status == HAC_OK)
        status = hac_logic_need(c, node, HAC_YAML_MAP);
    if (status == HAC_OK && c->logic->n_inputs == HAC_LOGIC_INPUTS_MAX)
        return hac_logic_problem(c, node, "more than %d inputs", HAC_LOGIC_INPUTS_MAX);
    if (status != HAC_OK)
        return status;
    int index = (int)c->logic->n_inputs;
    hac_logic_input *input = &c->logic->inputs[index];
    *input = (hac_logic_input){.name = hac_logic_copy(c, node->key), .at = hac_logic_key_at(node)};
    if (input->name == NULL)
        return HAC_NO_MEMORY;
    c->logic->n_inputs++;
    return hac_logic_field(node, "template") != NULL ? hac_check_input_vector(c, node, index)
                                                     : check_source(c, node, index);
}

hac_status hac_check_inputs(hac_logic_checker *c, const hac_yaml_node *map)
{
    if (map == NULL)
        return HAC_OK;
    hac_status status = hac_logic_need(c, map, HAC_YAML_MAP);
    return status == HAC_OK ? hac_logic_each(c, map, check_input) : status;
}
