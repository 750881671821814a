/* SPDX-License-Identifier: Apache-2.0 */
/* The sections `outputs` and `reducer`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "check.h"

static const char formats[] = "raw csv json xml parquet";
static const char *const suffixes[] = {"bin", "csv", "json", "xml", "parquet"};

HAC_DEFINE_CLEANUP(hac_query *, hac_query_free)

/* ---- columns ---- */

static hac_status check_column(hac_logic_checker *c, const hac_yaml_node *node, const char *name,
                               hac_logic_output_column *ret)
{
    const char *vector = NULL;
    char show[HAC_YAML_SHOW_SIZE];
    hac_status status = hac_logic_text(c, node, &vector);
    if (status == HAC_OK)
        status = hac_vector_read(c, node, vector, &ret->vector);
    if (status != HAC_OK)
        return status;
    if (strlen(name) == 0 || strlen(name) >= HAC_FIELD_NAME_MAX - 24)
        return hac_logic_problem(c, node, "`%s` is too long, or too short, for a column's name",
                                 hac_yaml_show(name, show));
    ret->name = hac_logic_copy(c, name);
    if (ret->name == NULL)
        return HAC_NO_MEMORY;
    const hac_logic_vector *v = &c->logic->vectors[ret->vector];
    if (v->kind == HAC_KIND_NONE)
        return HAC_INVALID; /* reported where it is written */
    if (!hac_vector_template_get(v->form)->written)
        return hac_logic_problem(c, node, "`%s` is a %s; write out its zeros with `dense` first", vector,
                                 hac_vector_template_get(v->form)->name);
    return HAC_OK;
}

/* Whether the vector is written entry by entry, with row numbers. */
static bool has_entries(const hac_logic_vector *v)
{
    return hac_vector_template_get(v->form)->entry_columns != HAC_ENTRY_NONE;
}

static hac_status check_rows(hac_logic_checker *c, const hac_yaml_node *node, const hac_logic_output *output)
{
    const hac_logic_output_column *first = &output->columns[0],
                                  *last = &output->columns[output->n_columns - 1];
    const hac_vector_state *a = &c->state[first->vector], *b = &c->state[last->vector];
    for (size_t i = 0; i < output->n_columns; i++) {
        const hac_logic_vector *v = &c->logic->vectors[output->columns[i].vector];
        if (has_entries(v) && output->n_columns > 1)
            return hac_logic_problem(
                c, node, "a %s is written as row, %svalue, by itself; give it an output of its own",
                hac_vector_template_get(v->form)->name,
                hac_vector_template_get(v->form)->entry_columns == HAC_ENTRY_ROW_COLUMN ? "column, " : "");
    }
    if (!hac_dimension_fits(c, a->rows, b->rows))
        return hac_dimensions_differ(
            c, node, &(hac_counted){hac_vector_name(c, last->vector), "rows", b->rows, false},
            &(hac_counted){hac_vector_name(c, first->vector), "rows", a->rows, false});
    return HAC_OK;
}

static hac_status check_columns(hac_logic_checker *c, const hac_yaml_node *map, hac_logic_output *output)
{
    const hac_yaml_node *columns = hac_logic_field(map, "columns");
    if (columns == NULL)
        return hac_logic_problem_key(
            c, map,
            "`columns` is missing: names and their vectors, as in {node: node, rank: "
            "rank}, or a list of vectors");
    bool list = columns->kind == HAC_YAML_LIST;
    hac_status status = list ? HAC_OK : hac_logic_need(c, columns, HAC_YAML_MAP), first = status;
    if (status == HAC_OK && columns->count == 0)
        return hac_logic_problem(c, columns, "`columns` names none");
    output->columns = status == HAC_OK ? hac_logic_alloc(c, columns->count * sizeof *output->columns) : NULL;
    if (output->columns == NULL)
        return status != HAC_OK ? status : HAC_NO_MEMORY;
    for (const hac_yaml_node *node = columns->first; node != NULL; node = node->next) {
        const char *name = list && node->kind == HAC_YAML_SCALAR ? node->text : node->key;
        status = check_column(c, node, name != NULL ? name : "", &output->columns[output->n_columns]);
        if (!hac_logic_goes_on(status))
            return status;
        first = first != HAC_OK ? first : status;
        if (status != HAC_OK)
            continue;
        output->n_columns++;
        if (first == HAC_OK)
            first = check_rows(c, node, output);
    }
    return first;
}

/* ---- the query that writes ---- */

static void add_field(hac_schema *schema, const char *name, hac_kind kind)
{
    hac_field *field = &schema->fields[schema->n_fields];
    if (schema->n_fields == HAC_COLUMNS_MAX)
        return;
    snprintf(field->name, sizeof field->name, "%s", name);
    field->type = (hac_value_type){.kind = (uint8_t)kind};
    schema->n_fields++;
}

/* Lists the columns that the file will have. */
static void file_columns(const hac_logic_checker *c, const hac_logic_output *output, hac_schema *ret)
{
    char name[HAC_FIELD_NAME_MAX];
    for (size_t i = 0; i < output->n_columns; i++) {
        const hac_logic_vector *v = &c->logic->vectors[output->columns[i].vector];
        const hac_logic_dimension *columns =
            &c->logic->dimensions[c->state[output->columns[i].vector].columns];
        if (has_entries(v))
            add_field(ret, "row", HAC_KIND_U64);
        if (hac_vector_template_get(v->form)->entry_columns == HAC_ENTRY_ROW_COLUMN)
            add_field(ret, "column", HAC_KIND_U32);
        if (has_entries(v) || columns == c->logic->dimensions) {
            add_field(ret, output->columns[i].name, v->kind);
            continue;
        }
        uint64_t n = columns->kind == HAC_DIMENSION_CONSTANT ? columns->value : 1;
        for (uint64_t j = 0; j < n && j < HAC_COLUMNS_MAX; j++) {
            snprintf(name, sizeof name, "%.*s%u", HAC_FIELD_NAME_MAX - 12, output->columns[i].name,
                     (unsigned)j);
            add_field(ret, name, v->kind);
        }
    }
}

static hac_status check_names(hac_logic_checker *c, const hac_yaml_node *map, const hac_schema *schema)
{
    for (size_t i = 0; i < schema->n_fields; i++)
        if (hac_schema_find(schema, schema->fields[i].name, strlen(schema->fields[i].name)) != (int)i)
            return hac_logic_problem_key(c, map, "two columns are called `%s`", schema->fields[i].name);
    return HAC_OK;
}

static hac_status check_query(hac_logic_checker *c, const hac_yaml_node *map, const hac_logic_output *output)
{
    hac_cleanup(hac_query_free_cleanup) hac_query *query = NULL;
    hac_error err = HAC_ERROR_NONE;
    hac_schema schema = {calloc(HAC_COLUMNS_MAX, sizeof *schema.fields), 0};
    hac_query_text text = {.where = output->where,
                           .order_by = output->order_by,
                           .select = "*",
                           .limit = UINT64_MAX,
                           .source = {.format = HAC_INPUT_TABLE}};
    if (schema.fields == NULL)
        return hac_logic_no_memory(c);
    file_columns(c, output, &schema);
    hac_status status = check_names(c, map, &schema);
    if (status == HAC_OK && (output->where != NULL || output->order_by != NULL)) {
        status = hac_query_compile(&text, &schema, &query, &err);
        if (status == HAC_INVALID)
            status = hac_problem_of_query(c, map, err.message);
        else if (status != HAC_OK)
            (void)hac_fail(c->err, status, "%s", err.message);
    }
    hac_schema_clear(&schema);
    return status;
}

static hac_status check_raw(hac_logic_checker *c, const hac_yaml_node *map, const hac_logic_output *output)
{
    const hac_logic_vector *v = &c->logic->vectors[output->columns[0].vector];
    bool plain = hac_op_form_is_dense(v->form);
    if (output->format != HAC_LOGIC_RAW)
        return HAC_OK;
    if (output->n_columns != 1 || !plain)
        return hac_logic_problem_key(c, map,
                                     "raw is the values of one vector of numbers: one column, a "
                                     "FixValueVector, Var or PVar");
    if (output->where != NULL || output->order_by != NULL || output->limit != UINT64_MAX)
        return hac_logic_problem_key(c, map, "raw takes no `where`, `order_by` or `limit`");
    return HAC_OK;
}

static hac_status read_settings(hac_logic_checker *c, const hac_yaml_node *map, hac_logic_output *output)
{
    const hac_yaml_node *format = hac_logic_field(map, "format"), *where = hac_logic_field(map, "where");
    const hac_yaml_node *order = hac_logic_field(map, "order_by"), *limit = hac_logic_field(map, "limit");
    const char *text = NULL;
    int place = HAC_LOGIC_CSV;
    hac_status status = hac_logic_fields(c, map, "format columns where order_by limit");
    if (status == HAC_OK && format != NULL)
        status = hac_logic_word(c, format, formats, &place);
    output->format = (hac_logic_format)place;
    output->suffix = suffixes[place];
    output->limit = UINT64_MAX;
    if (status == HAC_OK && limit != NULL)
        status = hac_logic_whole(c, limit, 1, UINT64_C(1) << 40, &output->limit);
    if (status == HAC_OK && where != NULL && (status = hac_logic_text(c, where, &text)) == HAC_OK)
        output->where = hac_logic_copy(c, text);
    if (status == HAC_OK && order != NULL && (status = hac_logic_text(c, order, &text)) == HAC_OK)
        output->order_by = hac_logic_copy(c, text);
    return status;
}

static hac_status check_output(hac_logic_checker *c, const hac_yaml_node *node)
{
    hac_yaml_node key = hac_logic_key_node(node);
    hac_status status = hac_logic_new_name(c, &key, node->key);
    if (status == HAC_OK)
        status = hac_logic_need(c, node, HAC_YAML_MAP);
    if (status == HAC_OK && c->logic->n_outputs == HAC_LOGIC_OUTPUTS_MAX)
        return hac_logic_problem(c, node, "more than %d outputs", HAC_LOGIC_OUTPUTS_MAX);
    if (status != HAC_OK)
        return status;
    hac_logic_output *output = &c->logic->outputs[c->logic->n_outputs];
    *output = (hac_logic_output){.name = hac_logic_copy(c, node->key), .at = hac_logic_key_at(node)};
    if (output->name == NULL)
        return HAC_NO_MEMORY;
    status = read_settings(c, node, output);
    if (status == HAC_OK)
        status = check_columns(c, node, output);
    if (status == HAC_OK)
        status = check_raw(c, node, output);
    if (status == HAC_OK)
        status = check_query(c, node, output);
    c->logic->n_outputs += status == HAC_OK;
    return status;
}

hac_status hac_check_outputs(hac_logic_checker *c, const hac_yaml_node *map)
{
    hac_status status = hac_logic_need(c, map, HAC_YAML_MAP);
    if (status == HAC_OK && map->count == 0)
        return hac_logic_problem_key(c, map, "`outputs` names none");
    return status == HAC_OK ? hac_logic_each(c, map, check_output) : status;
}

/* ---- reducer ---- */

static hac_status check_key(hac_logic_checker *c, const hac_yaml_node *map, hac_logic_reducer *r)
{
    const hac_yaml_node *key = hac_logic_field(map, "key"), *keys = hac_logic_field(map, "keys");
    const char *name = NULL;
    if (key == NULL || keys == NULL)
        return hac_logic_problem_key(c, map,
                                     "`%s` is missing; as in {key: word, keys: each, values: {n: {function: "
                                     "count}}}",
                                     key == NULL ? "key" : "keys");
    hac_status status = hac_logic_text(c, key, &name);
    if (status == HAC_OK)
        status = hac_vector_read(c, key, name, &r->key);
    if (status != HAC_OK)
        return status;
    const hac_logic_vector *v = &c->logic->vectors[r->key];
    if (v->kind == HAC_KIND_NONE)
        return HAC_INVALID;
    if ((!hac_kind_is_integer(v->kind) && v->kind != HAC_KIND_STRING) ||
        c->state[r->key].columns != HAC_DIMENSION_ONE ||
        (v->form != HAC_VECTOR_FIX_VALUE && v->form != HAC_VECTOR_SPARSE_TEXT))
        return hac_logic_problem(c, key, "`%s` is a %s of %s; keys are whole numbers or texts, a row each",
                                 name, hac_vector_template_get(v->form)->name, hac_element_name(v->kind));
    status = hac_logic_text(c, keys, &name);
    r->keys = status == HAC_OK ? hac_vector_lookup_or_add(c, keys, name) : -1;
    if (r->keys < 0)
        return HAC_INVALID;
    int entries =
        v->kind == HAC_KIND_STRING ? hac_dimension_data(c, keys, 1, "bytes of keys") : HAC_DIMENSION_NONE;
    hac_written w = {v->form,
                     v->kind,
                     hac_dimension_data(c, keys, 0, "distinct keys"),
                     HAC_DIMENSION_ONE,
                     entries,
                     HAC_DIMENSION_NONE,
                     false,
                     "the reducer"};
    return hac_vector_write(c, keys, r->keys, &w);
}

static hac_kind reduced_kind(hac_op_function function, hac_kind kind)
{
    if (function == HAC_OP_COUNT)
        return HAC_KIND_I64;
    return hac_kind_is_float(kind) ? HAC_KIND_F64 : HAC_KIND_I64;
}

static hac_status check_value(hac_logic_checker *c, const hac_yaml_node *node, const hac_logic_reducer *r,
                              hac_logic_reducer_value *ret)
{
    static const hac_op_function functions[] = {HAC_OP_SUM, HAC_OP_MIN, HAC_OP_MAX, HAC_OP_COUNT};
    const hac_yaml_node *function, *in;
    const char *name = NULL;
    int place = 0;
    hac_kind kind = HAC_KIND_I64;
    hac_yaml_node key = hac_logic_key_node(node);
    hac_status status = hac_logic_need(c, node, HAC_YAML_MAP);
    if (status == HAC_OK)
        status = hac_logic_fields(c, node, "function in");
    if (status != HAC_OK)
        return status;
    function = hac_logic_field(node, "function");
    in = hac_logic_field(node, "in");
    if (function != NULL)
        status = hac_logic_word(c, function, "sum min max count", &place);
    ret->function = functions[place];
    ret->in = -1;
    if (status == HAC_OK && in == NULL && ret->function != HAC_OP_COUNT)
        return hac_logic_problem_key(c, node, "`in` is missing: the vector whose rows are combined");
    if (status == HAC_OK && in != NULL) {
        status = hac_logic_text(c, in, &name);
        if (status == HAC_OK)
            status = hac_vector_read(c, in, name, &ret->in);
        if (status != HAC_OK)
            return status;
        const hac_logic_vector *v = &c->logic->vectors[ret->in];
        kind = v->kind;
        if (kind == HAC_KIND_NONE)
            return HAC_INVALID;
        if (kind == HAC_KIND_STRING || v->form != HAC_VECTOR_FIX_VALUE ||
            c->state[ret->in].columns != HAC_DIMENSION_ONE)
            return hac_logic_problem(c, in, "`%s` is a %s of %s; values are numbers, a row each", name,
                                     hac_vector_template_get(v->form)->name, hac_element_name(kind));
        if (kind == HAC_KIND_U64)
            return hac_logic_problem(
                c, in,
                "`%s` has elements of type u64; make others of it before, as in let: {wider: "
                "\"cast(%s as i64)\"}",
                name, name);
        if (!hac_dimension_fits(c, c->state[ret->in].rows, c->state[r->key].rows))
            return hac_dimensions_differ(
                c, in, &(hac_counted){name, "rows", c->state[ret->in].rows, false},
                &(hac_counted){hac_vector_name(c, r->key), "rows", c->state[r->key].rows, false});
    }
    ret->out = status == HAC_OK ? hac_vector_lookup_or_add(c, &key, node->key) : -1;
    if (ret->out < 0)
        return status != HAC_OK ? status : HAC_INVALID;
    hac_written w = {HAC_VECTOR_FIX_VALUE,
                     reduced_kind(ret->function, kind),
                     c->state[r->keys].rows,
                     HAC_DIMENSION_ONE,
                     HAC_DIMENSION_NONE,
                     HAC_DIMENSION_NONE,
                     false,
                     "the reducer"};
    return hac_vector_write(c, &key, ret->out, &w);
}

/* Makes a piece of the reducer, which reads up to three vectors; -1: none. */
static bool make_piece(hac_logic_checker *c, const hac_logic_reducer *r, hac_subop_id id, const int *reads,
                       int write, hac_logic_piece *ret)
{
    int *vectors = hac_logic_alloc(c, 4 * sizeof *vectors);
    *ret = (hac_logic_piece){.kind = HAC_PIECE_LIBRARY,
                             .subop = hac_subop_get(id),
                             .at = r->at,
                             .reads = vectors,
                             .writes = vectors + 3,
                             .n_writes = 1,
                             .number = c->n_pieces++};
    ret->name = hac_logic_copy(c, ret->subop->name);
    if (vectors == NULL || ret->name == NULL)
        return false;
    ret->writes[0] = write;
    for (size_t i = 0; i < 3; i++)
        if (reads[i] >= 0 && (i == 0 || reads[i] != reads[0]))
            ret->reads[ret->n_reads++] = reads[i];
    return true;
}

static hac_status make_step(hac_logic_checker *c, hac_logic_reducer *r)
{
    hac_logic_step *step = hac_logic_alloc(c, sizeof *step);
    hac_logic_piece *pieces = hac_logic_alloc(c, (r->n_values + 1) * sizeof *pieces);
    char *name = hac_logic_copy(c, "reducer");
    if (step == NULL || pieces == NULL || name == NULL)
        return HAC_NO_MEMORY;
    if (!make_piece(c, r, HAC_SUBOP_INDEX, (int[]){r->key, -1, -1}, r->keys, &pieces[0]))
        return HAC_NO_MEMORY;
    for (size_t i = 0; i < r->n_values; i++) {
        const hac_logic_reducer_value *value = &r->values[i];
        int in = value->function != HAC_OP_COUNT ? value->in : -1;
        if (!make_piece(c, r, HAC_SUBOP_REDUCE_BY_KEY, (int[]){r->key, in, r->keys}, value->out,
                        &pieces[i + 1]))
            return HAC_NO_MEMORY;
    }
    *step = (hac_logic_step){.kind = HAC_STEP_OP,
                             .name = name,
                             .at = r->at,
                             .reducer = true,
                             .pieces = pieces,
                             .n_pieces = r->n_values + 1,
                             .index = -1};
    r->step = step;
    return HAC_OK;
}

hac_status hac_check_reducer(hac_logic_checker *c, const hac_yaml_node *map)
{
    if (map == NULL)
        return HAC_OK;
    hac_logic_reducer *r = hac_logic_alloc(c, sizeof *r);
    if (r == NULL)
        return HAC_NO_MEMORY;
    r->at = hac_logic_key_at(map);
    hac_status status = hac_logic_need(c, map, HAC_YAML_MAP);
    if (status == HAC_OK)
        status = hac_logic_fields(c, map, "key keys values");
    if (status == HAC_OK)
        status = check_key(c, map, r);
    const hac_yaml_node *values = status == HAC_OK ? hac_logic_field(map, "values") : NULL;
    if (status == HAC_OK && values != NULL)
        status = hac_logic_need(c, values, HAC_YAML_MAP);
    if (status != HAC_OK)
        return status;
    r->values = hac_logic_alloc(c, (values != NULL ? values->count : 0) * sizeof *r->values);
    if (r->values == NULL)
        return HAC_NO_MEMORY;
    for (const hac_yaml_node *node = values != NULL ? values->first : NULL; node != NULL && status == HAC_OK;
         node = node->next)
        status = check_value(c, node, r, &r->values[r->n_values++]);
    c->logic->reducer = r;
    return status == HAC_OK ? make_step(c, r) : status;
}
