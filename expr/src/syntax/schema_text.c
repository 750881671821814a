/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "expr/schema.h"
#include "lexer.h"

#define TYPE_TEXT_MAX 32

typedef struct schema_reader {
    hac_expr_source source;
    hac_lexer lexer;
    hac_token token;
    hac_error *err;
} schema_reader;

static hac_status advance(schema_reader *r)
{
    return hac_lexer_next(&r->lexer, &r->token, r->err);
}

static size_t offset(const schema_reader *r)
{
    return (size_t)(r->token.text - r->source.text);
}

/* Reads a name of 1 to HAC_FIELD_NAME_MAX - 1 bytes, with or without quotes. */
static hac_status read_name(schema_reader *r, char *ret)
{
    if (r->token.kind != HAC_TOKEN_NAME && r->token.kind != HAC_TOKEN_QUOTED)
        return hac_expr_fail(&r->source, offset(r), r->err, "expected a column's name, found %s%.*s%s",
                             r->token.bytes > 0 ? "'" : "the end", (int)r->token.bytes, r->token.text,
                             r->token.bytes > 0 ? "'" : "");
    char *name = malloc(r->token.bytes + 1);
    if (name == NULL)
        return hac_fail_no_memory(r->err);
    size_t n = r->token.bytes;
    if (r->token.kind == HAC_TOKEN_QUOTED)
        n = hac_token_unquote(&r->token, name);
    else
        memcpy(name, r->token.text, n);
    bool fits = n > 0 && n < HAC_FIELD_NAME_MAX;
    if (fits)
        memcpy(ret, name, n);
    free(name);
    if (!fits)
        return hac_expr_fail(&r->source, offset(r), r->err, "a column's name has 1 to %d bytes",
                             HAC_FIELD_NAME_MAX - 1);
    ret[n] = '\0';
    return advance(r);
}

/* Adds the token to the text of a type, in lower case, and reads the next token. */
static hac_status take_into(schema_reader *r, char *text, size_t *used)
{
    if (*used + r->token.bytes >= TYPE_TEXT_MAX)
        return hac_expr_fail(&r->source, offset(r), r->err, "this is too long for the name of a type");
    for (size_t i = 0; i < r->token.bytes; i++) {
        char c = r->token.text[i];
        text[(*used)++] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    return advance(r);
}

static hac_status read_type(schema_reader *r, hac_value_type *ret)
{
    char text[TYPE_TEXT_MAX] = "";
    size_t used = 0, at = offset(r);
    if (r->token.kind != HAC_TOKEN_NAME)
        return hac_expr_fail(&r->source, at, r->err, "expected a type, as in name:i64");
    hac_status status = take_into(r, text, &used);
    if (status == HAC_OK && hac_token_is_symbol(&r->token, "(")) {
        while (status == HAC_OK && r->token.kind != HAC_TOKEN_END && !hac_token_is_symbol(&r->token, ")"))
            status = take_into(r, text, &used);
        if (status == HAC_OK && r->token.kind != HAC_TOKEN_END)
            status = take_into(r, text, &used);
    }
    hac_error why = HAC_ERROR_NONE;
    if (status == HAC_OK && hac_value_type_parse(text, used, ret, &why) != HAC_OK)
        return hac_expr_fail(&r->source, at, r->err, "%s", why.message);
    return status;
}

static hac_status push(schema_reader *r, hac_schema *schema, const hac_field *field)
{
    size_t n = schema->n_fields;
    if ((n & (n - 1)) == 0) { /* the fields fill their memory */
        hac_field *fields = realloc(schema->fields, (n == 0 ? 1 : 2 * n) * sizeof *fields);
        if (fields == NULL)
            return hac_fail_no_memory(r->err);
        schema->fields = fields;
    }
    schema->fields[schema->n_fields++] = *field;
    return HAC_OK;
}

static hac_status read_field(schema_reader *r, hac_schema *schema)
{
    hac_field field = {0};
    size_t at = offset(r);
    hac_status status = read_name(r, field.name);
    if (status != HAC_OK)
        return status;
    if (!hac_token_is_symbol(&r->token, ":"))
        return hac_expr_fail(&r->source, offset(r), r->err, "expected ':' and a type behind '%s'",
                             field.name);
    status = advance(r);
    if (status == HAC_OK)
        status = read_type(r, &field.type);
    if (status != HAC_OK)
        return status;
    if (hac_schema_find(schema, field.name, strlen(field.name)) >= 0)
        return hac_expr_fail(&r->source, at, r->err, "there is a column '%s' already", field.name);
    if (schema->n_fields == HAC_COLUMNS_MAX)
        return hac_expr_fail(&r->source, at, r->err, "more than %d columns", HAC_COLUMNS_MAX);
    return push(r, schema, &field);
}

static hac_status read_fields(schema_reader *r, hac_schema *schema)
{
    hac_status status = advance(r);
    while (status == HAC_OK) {
        status = read_field(r, schema);
        if (status != HAC_OK || r->token.kind == HAC_TOKEN_END)
            return status;
        if (!hac_token_is_symbol(&r->token, ","))
            return hac_expr_fail(&r->source, offset(r), r->err, "expected ',' between columns, found '%.*s'",
                                 (int)r->token.bytes, r->token.text);
        status = advance(r);
    }
    return status;
}

hac_status hac_schema_parse(const char *text, hac_schema *ret, hac_error *err)
{
    hac_schema schema = {0};
    schema_reader r = {.source = {.option = "", .text = text}, .err = err};
    r.lexer = (hac_lexer){&r.source, text};
    hac_status status = read_fields(&r, &schema);
    if (status != HAC_OK) {
        hac_schema_clear(&schema);
        return status;
    }
    *ret = schema;
    return HAC_OK;
}

static bool is_bare(const char *name)
{
    if (!hac_is_name_start(*name))
        return false;
    while (hac_is_name_part(*name))
        name++;
    return *name == '\0';
}

void hac_schema_print(const hac_schema *schema, hac_text *ret)
{
    char type[HAC_VALUE_TYPE_NAME_MAX];
    for (size_t i = 0; i < schema->n_fields; i++) {
        const char *name = schema->fields[i].name;
        bool bare = is_bare(name);
        hac_text_add(ret, i > 0 ? "," : "");
        hac_text_add(ret, bare ? "" : "\"");
        for (; *name != '\0'; name++) {
            hac_text_add_bytes(ret, name, 1);
            if (*name == '"')
                hac_text_add(ret, "\"");
        }
        hac_text_addf(ret, "%s:%s", bare ? "" : "\"", hac_value_type_name(schema->fields[i].type, type));
    }
}
