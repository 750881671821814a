/* SPDX-License-Identifier: Apache-2.0 */
/* Makes docs/opsplit.schema.json from the tables: a JSON Schema of logic files (draft 7, which editors
 * know). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/input_options.h"
#include "opsplit/logic.h"

/* ---- small schemas ---- */

static void type_is(hac_text *out, const char *key, const char *type, const char *text)
{
    hac_json_open(out, key, '{');
    hac_json_string(out, "type", type);
    if (text != NULL)
        hac_json_string(out, "description", text);
    hac_json_close(out, '}');
}

static void refers(hac_text *out, const char *key, const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "#/definitions/%s", name);
    hac_json_open(out, key, '{');
    if (text == NULL) {
        hac_json_string(out, "$ref", path);
        hac_json_close(out, '}');
        return;
    }
    hac_json_string(out, "description", text); /* a text beside a $ref would be ignored */
    hac_json_open(out, "allOf", '[');
    refers(out, NULL, name, NULL);
    hac_json_close(out, ']');
    hac_json_close(out, '}');
}

static void one_of_words(hac_text *out, const char *key, const char *words, const char *text)
{
    hac_json_open(out, key, '{');
    if (text != NULL)
        hac_json_string(out, "description", text);
    hac_json_open(out, "enum", '[');
    while (*words != '\0') {
        char word[32];
        size_t length = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        if (word[strspn(word, "0123456789")] == '\0') /* YAML reads `order: 2` as a number */
            hac_json_integer(out, NULL, atoi(word));
        else
            hac_json_string(out, NULL, word);
        words += length;
        words += strspn(words, " ");
    }
    hac_json_close(out, ']');
    hac_json_close(out, '}');
}

static void whole(hac_text *out, const char *key, int64_t min, int64_t max, const char *text)
{
    hac_json_open(out, key, '{');
    hac_json_string(out, "type", "integer");
    hac_json_integer(out, "minimum", min);
    hac_json_integer(out, "maximum", max);
    if (text != NULL)
        hac_json_string(out, "description", text);
    hac_json_close(out, '}');
}

/* Writes "properties": {…}, which allows no other keys. */
static void open_object(hac_text *out, const char *key, const char *text)
{
    hac_json_open(out, key, '{');
    hac_json_string(out, "type", "object");
    if (text != NULL)
        hac_json_string(out, "description", text);
    hac_json_bool(out, "additionalProperties", false);
}

static void required(hac_text *out, const char *words)
{
    hac_json_open(out, "required", '[');
    while (*words != '\0') {
        char word[32];
        size_t length = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        hac_json_string(out, NULL, word);
        words += length;
        words += strspn(words, " ");
    }
    hac_json_close(out, ']');
}

static void map_of(hac_text *out, const char *key, const char *definition, const char *text)
{
    hac_json_open(out, key, '{');
    hac_json_string(out, "type", "object");
    if (text != NULL)
        hac_json_string(out, "description", text);
    refers(out, "additionalProperties", definition, NULL);
    hac_json_close(out, '}');
}

static void list_of(hac_text *out, const char *key, const char *definition)
{
    hac_json_open(out, key, '{');
    hac_json_string(out, "type", "array");
    refers(out, "items", definition, NULL);
    hac_json_close(out, '}');
}

static void any_of_types(hac_text *out, const char *key, const char *types, const char *text)
{
    hac_json_open(out, key, '{');
    if (text != NULL)
        hac_json_string(out, "description", text);
    hac_json_open(out, "type", '[');
    while (*types != '\0') {
        char type[16];
        size_t length = strcspn(types, " ");
        snprintf(type, sizeof type, "%.*s", (int)length, types);
        hac_json_string(out, NULL, type);
        types += length;
        types += strspn(types, " ");
    }
    hac_json_close(out, ']');
    hac_json_close(out, '}');
}

static void templates(hac_text *out)
{
    hac_json_open(out, "template", '{');
    hac_json_open(out, "enum", '[');
    for (int i = HAC_VECTOR_NONE + 1; i < HAC_VECTOR_END; i++)
        hac_json_string(out, NULL, hac_vector_template_get((hac_vector_template)i)->name);
    hac_json_close(out, ']');
    hac_json_close(out, '}');
}

static void operation(hac_text *out)
{
    hac_json_open(out, "operation", '{');
    hac_json_string(out, "description", "the Map interface: what the OP walks");
    hac_json_open(out, "enum", '[');
    for (int i = HAC_OPERATION_NONE + 1; i < HAC_OPERATION_END; i++)
        hac_json_string(out, NULL, hac_operation_name((hac_operation)i));
    hac_json_close(out, ']');
    hac_json_close(out, '}');
}

/* ---- sub-operators ---- */

static void argument(hac_text *out, const hac_subop_argument *a)
{
    static const char *const definitions[HAC_ARGUMENT_KIND_END] = {
        [HAC_ARGUMENT_VECTOR] = "name",           [HAC_ARGUMENT_VECTORS] = "names",
        [HAC_ARGUMENT_EXPRESSION] = "expression", [HAC_ARGUMENT_SCALAR] = "expression",
        [HAC_ARGUMENT_EXTENT] = "extent",         [HAC_ARGUMENT_RESULT] = "name",
        [HAC_ARGUMENT_RESULTS] = "names",
    };
    if (a->kind == HAC_ARGUMENT_WORD)
        one_of_words(out, a->name, a->words, a->text);
    else if (a->kind == HAC_ARGUMENT_TRUTH)
        type_is(out, a->name, "boolean", a->text);
    else if (a->kind == HAC_ARGUMENT_INTEGER)
        whole(out, a->name, 1, 1 << 20, a->text);
    else
        refers(out, a->name, definitions[a->kind], a->text);
}

static void subop(hac_text *out, const hac_subop_info *s)
{
    if (s->id == HAC_SUBOP_LET) {
        map_of(out, s->name, "expression", s->text);
        return;
    }
    open_object(out, s->name, s->text);
    hac_json_open(out, "properties", '{');
    for (const hac_subop_argument *a = s->arguments; a->name != NULL; a++)
        if ((a->flags & HAC_ARGUMENT_MADE) == 0)
            argument(out, a);
    refers(out, "device", "device", NULL);
    hac_json_close(out, '}');
    hac_json_open(out, "required", '[');
    for (const hac_subop_argument *a = s->arguments; a->name != NULL; a++)
        if ((a->flags & HAC_ARGUMENT_REQUIRED) != 0)
            hac_json_string(out, NULL, a->name);
    hac_json_close(out, ']');
    hac_json_close(out, '}');
}

static void piece(hac_text *out)
{
    hac_json_open(out, "piece", '{');
    hac_json_string(out, "type", "object");
    hac_json_string(
        out, "description",
        "a sub-operator of the library or of your own; with `expr` and `out` an exception sub-operator");
    hac_json_integer(out, "minProperties", 1);
    hac_json_integer(out, "maxProperties", 1);
    hac_json_open(out, "properties", '{');
    for (int i = HAC_SUBOP_NONE + 1; i < HAC_SUBOP_END; i++)
        if (hac_subop_get((hac_subop_id)i)->walk != HAC_WALK_CONTROL)
            subop(out, hac_subop_get((hac_subop_id)i));
    hac_json_close(out, '}');
    hac_json_open(out, "additionalProperties", '{');
    hac_json_string(out, "type", "object");
    hac_json_close(out, '}');
    hac_json_open(out, "not", '{');
    hac_json_open(out, "anyOf", '[');
    for (size_t i = 0; i < 4; i++) {
        static const char *const others[] = {"op", "for", "while", "if"};
        hac_json_open(out, NULL, '{');
        required(out, others[i]);
        hac_json_close(out, '}');
    }
    hac_json_close(out, ']');
    hac_json_close(out, '}');
    hac_json_close(out, '}');
}

/* ---- steps ---- */

static void op(hac_text *out)
{
    open_object(out, "op", "an OP: a list of sub-operators");
    required(out, "op");
    hac_json_open(out, "properties", '{');
    refers(out, "op", "new_name", NULL);
    operation(out);
    refers(out, "device", "device", NULL);
    refers(out, "do", "steps", NULL);
    type_is(out, "use", "string", "an OP of your own: NAME or NAME@VERSION");
    map_of(out, "with", "name", "the vectors for its parameters and results");
    hac_json_close(out, '}');
    hac_json_close(out, '}');
}

static void loop(hac_text *out, const char *name, const char *text, const char *needs)
{
    bool count = strcmp(name, "for") == 0;
    char needed[16];
    snprintf(needed, sizeof needed, "%s do", name);
    open_object(out, name, text);
    required(out, needed);
    hac_json_open(out, "properties", '{');
    open_object(out, name, NULL);
    required(out, needs);
    hac_json_open(out, "properties", '{');
    if (count) {
        refers(out, "index", "new_name", "a Var of i64 that each iteration can read");
        refers(out, "from", "expression", NULL);
        refers(out, "to", "expression", "one more than the last index");
        refers(out, "by", "expression", "without it 1");
        whole(out, "split", 1, HAC_LOGIC_SPLIT_MAX,
              "number of sub-loops, if iterations do not need each other");
        map_of(out, "collect", "name",
               "vectors that an iteration writes, each with the vector whose rows they become");
    } else {
        refers(out, "condition", "expression", NULL);
        whole(out, "rounds", 1, 1000000000, "maximum number of rounds");
    }
    hac_json_close(out, '}');
    hac_json_close(out, '}');
    refers(out, "do", "steps", NULL);
    hac_json_close(out, '}');
    hac_json_close(out, '}');
}

static void branch(hac_text *out)
{
    open_object(out, "if", "runs steps if a condition is true, and others if it is not");
    required(out, "if then");
    hac_json_open(out, "properties", '{');
    open_object(out, "if", NULL);
    required(out, "condition");
    hac_json_open(out, "properties", '{');
    refers(out, "condition", "expression", NULL);
    hac_json_close(out, '}');
    hac_json_close(out, '}');
    refers(out, "then", "steps", NULL);
    refers(out, "else", "steps", NULL);
    hac_json_close(out, '}');
    hac_json_close(out, '}');
}

static void steps(hac_text *out)
{
    static const char *const kinds[] = {"op", "for", "while", "if", "piece"};
    hac_json_open(out, "steps", '{');
    hac_json_string(out, "type", "array");
    hac_json_open(out, "items", '{');
    hac_json_open(out, "anyOf", '[');
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        refers(out, NULL, kinds[i], NULL);
    hac_json_close(out, ']');
    hac_json_close(out, '}');
    hac_json_close(out, '}');
    op(out);
    loop(out, "for", "repeats steps for each index", "index from to");
    loop(out, "while", "repeats steps while a condition is true", "condition rounds");
    branch(out);
    piece(out);
}

/* ---- sections ---- */

/* The table says what `false` means. */
static const char *off_text(const hac_input_option *row, char *ret, size_t capacity)
{
    snprintf(ret, capacity, "true by default; false: %s", row->help);
    return ret;
}

static void input_options(hac_text *out)
{
    char text[256];
    for (const hac_input_option *row = hac_input_option_rows; row < hac_input_option_rows + HAC_INPUT_OPTIONS;
         row++) {
        if (!row->text)
            continue;
        if (row->kind == HAC_OPTION_WORD)
            one_of_words(out, row->key, row->words, row->help);
        else if (row->kind == HAC_OPTION_OFF)
            type_is(out, row->key, "boolean", off_text(row, text, sizeof text));
        else if (row->kind == HAC_OPTION_ON)
            type_is(out, row->key, "boolean", row->help);
        else
            any_of_types(out, row->key, "string number", row->help);
    }
}

static void input(hac_text *out)
{
    open_object(
        out, "input",
        "a file, or a folder of files, whose columns become vectors INPUT.COLUMN; or, with `template`, "
        "a vector that a program passes in");
    hac_json_open(out, "properties", '{');
    one_of_words(out, "parse", HAC_FORMAT_WORDS, "the format; without it the suffix of the file decides");
    type_is(out, "schema", "string", "name:type,…");
    type_is(out, "where", "string", "keeps the rows for which it is true");
    type_is(out, "select", "string", "columns, as expressions with names");
    type_is(out, "group_by", "string", NULL);
    type_is(out, "order_by", "string", NULL);
    whole(out, "limit", 1, INT64_C(1) << 40, "maximum number of rows");
    input_options(out);
    map_of(out, "matrix", "names", "columns that become one vector INPUT.NAME");
    refers(out, "rows", "extent", "a number, or an earlier input with as many rows");
    type_is(out, "directory", "boolean",
            "all files of a folder; INPUT.file is the number of each row's file, INPUT.files has the names");
    templates(out);
    one_of_words(out, "type", "bool i32 i64 u32 u64 f32 f64 string", "type of a vector's elements");
    refers(out, "columns", "extent", "for a vector: a number, or an input with as many rows");
    hac_json_close(out, '}');
    hac_json_close(out, '}');
}

static void partitioner(hac_text *out)
{
    hac_json_open(out, "partitioner", '{');
    hac_json_string(out, "description", "how rows are assigned to components");
    hac_json_open(out, "anyOf", '[');
    one_of_words(out, NULL, "range hash round-robin weight", NULL);
    open_object(out, NULL, NULL);
    hac_json_integer(out, "minProperties", 1);
    hac_json_integer(out, "maxProperties", 1);
    hac_json_open(out, "properties", '{');
    refers(out, "weight", "name", "ranges with equal sums of this vector");
    refers(out, "hash", "name", "by a hash of the row of this vector");
    refers(out, "expr", "expression", "the number of the component");
    hac_json_close(out, '}');
    hac_json_close(out, '}');
    hac_json_close(out, ']');
    hac_json_close(out, '}');
}

static void vector(hac_text *out)
{
    open_object(out, "vector",
                "a constant, or a result whose template, type, split or partitioner is stated");
    hac_json_open(out, "properties", '{');
    templates(out);
    one_of_words(out, "type", "bool i32 i64 u32 u64 f32 f64 string", "type of its elements");
    any_of_types(out, "value", "number string boolean array object", "a constant");
    whole(out, "rows", 1, 1 << 24, "how often a single value is repeated");
    whole(out, "columns", 1, 4096, NULL);
    whole(out, "split", 1, HAC_LOGIC_SPLIT_MAX, "number of components");
    partitioner(out);
    hac_json_close(out, '}');
    hac_json_close(out, '}');
}

static void output(hac_text *out)
{
    open_object(out, "output", "a file NAME.SUFFIX");
    required(out, "columns");
    hac_json_open(out, "properties", '{');
    one_of_words(out, "format", "csv raw json xml parquet", "csv by default");
    hac_json_open(out, "columns", '{');
    hac_json_string(out, "description", "vectors, or names of columns with their vectors");
    hac_json_open(out, "anyOf", '[');
    list_of(out, NULL, "name");
    map_of(out, NULL, "name", NULL);
    hac_json_close(out, ']');
    hac_json_close(out, '}');
    type_is(out, "where", "string", "keeps the rows for which it is true");
    type_is(out, "order_by", "string", "expressions over the columns");
    whole(out, "limit", 1, INT64_C(1) << 40, "maximum number of rows");
    hac_json_close(out, '}');
    hac_json_close(out, '}');
}

static void reducer(hac_text *out)
{
    open_object(out, "reducer", "combines rows with equal keys, on each node and then across nodes");
    required(out, "key keys");
    hac_json_open(out, "properties", '{');
    refers(out, "key", "name", "a vector of whole numbers or texts");
    refers(out, "keys", "new_name", "the result with each key once");
    hac_json_open(out, "values", '{');
    hac_json_string(out, "type", "object");
    open_object(out, "additionalProperties", NULL);
    hac_json_open(out, "properties", '{');
    one_of_words(out, "function", "sum min max count", NULL);
    refers(out, "in", "name", NULL);
    hac_json_close(out, '}');
    hac_json_close(out, '}');
    hac_json_close(out, '}');
    hac_json_close(out, '}');
    hac_json_close(out, '}');
}

static void names(hac_text *out)
{
    type_is(out, "name", "string", "a vector");
    hac_json_open(out, "names", '{');
    hac_json_open(out, "anyOf", '[');
    refers(out, NULL, "name", NULL);
    list_of(out, NULL, "name");
    hac_json_close(out, ']');
    hac_json_close(out, '}');
    hac_json_open(out, "new_name", '{');
    hac_json_string(out, "type", "string");
    hac_json_string(out, "pattern", "^[A-Za-z_][A-Za-z0-9_]*$");
    hac_json_close(out, '}');
    any_of_types(out, "expression", "string number boolean", "an expression (docs/expressions.md)");
    any_of_types(out, "extent", "integer string", "a whole number, a Var, or a vector with as many rows");
    type_is(out, "device", "string", "a processor type (cpu, gpu, fpga, dsp, arm), or the name of a device");
}

static void whole_file(hac_text *out)
{
    hac_json_open(out, NULL, '{');
    hac_json_string(out, "$schema", "http://json-schema.org/draft-07/schema#");
    hac_json_string(out, "title", "Logic file of hacctl opsplit");
    hac_json_string(out, "$comment",
                    "Generated from base/include/base/op_catalog.def and opsplit/src/library; do not edit.");
    hac_json_string(out, "type", "object");
    hac_json_bool(out, "additionalProperties", false);
    required(out, "outputs");
    hac_json_open(out, "properties", '{');
    type_is(out, "name", "string", NULL);
    type_is(out, "text", "string", "one line");
    map_of(out, "inputs", "input", NULL);
    map_of(out, "vectors", "vector", NULL);
    refers(out, "operators", "steps", NULL);
    refers(out, "reducer", "reducer", NULL);
    map_of(out, "outputs", "output", NULL);
    hac_json_close(out, '}');
    hac_json_open(out, "definitions", '{');
    names(out);
    input(out);
    vector(out);
    steps(out);
    reducer(out);
    output(out);
    hac_json_close(out, '}');
    hac_json_close(out, '}');
}

/* ---- with lines ---- */

static void new_line(hac_text *out, unsigned depth)
{
    hac_text_add(out, "\n");
    for (unsigned i = 0; i < depth; i++)
        hac_text_add(out, "  ");
}

/* Whether the bracket at `at` closes before another one opens. Such a list stays on its line. */
static bool is_short(const char *at)
{
    size_t inner = strcspn(at + 1, "{}[]");
    return inner < 100 && (at[1 + inner] == ']' || at[1 + inner] == '}');
}

static void break_lines(const char *json, hac_text *out)
{
    bool text = false, flat = false;
    unsigned depth = 0;
    for (const char *at = json; *at != '\0'; at++) {
        bool closes = !text && (*at == ']' || *at == '}');
        if (closes && !flat)
            new_line(out, --depth);
        hac_text_add_bytes(out, at, 1);
        if (*at == '"' && at[-1] != '\\')
            text = !text;
        if (text)
            continue;
        if (*at == ':' || (*at == ',' && flat))
            hac_text_add(out, " ");
        else if (*at == ',')
            new_line(out, depth);
        else if ((*at == '{' || *at == '[') && is_short(at))
            flat = true;
        else if (*at == '{' || *at == '[')
            new_line(out, ++depth);
        else if (closes)
            flat = false;
    }
    hac_text_add(out, "\n");
}

void hac_library_json_schema(hac_text *ret)
{
    hac_text compact = HAC_TEXT_NONE;
    char *json = NULL;
    whole_file(&compact);
    if (hac_text_finish(&compact, &json, NULL, NULL) != HAC_OK)
        ret->broken = true;
    else
        break_lines(json, ret);
    free(json);
}
