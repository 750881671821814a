/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one compilation: the columns of its source (compile_schema.c), reading the
 * texts (compile.c), and making the query (compile_programs.c). */
#ifndef EXPR_COMPILE_H
#define EXPR_COMPILE_H

#include <string.h>

#include "expr/query.h"
#include "language/check.h"

typedef struct hac_output_column {
    hac_node *node;
    const char *name; /* "": a hidden column */
    bool named;       /* the user gave the name */
    bool repeated;    /* another column before has the name that was asked for */
} hac_output_column;

typedef struct hac_compiler {
    const hac_query_text *text;
    hac_error *err;
    hac_arena arena;
    hac_parser parser;
    hac_checker checker;
    hac_schema schema; /* all columns of the source */
    hac_schema path;   /* those of them that are in the names of folders */
    /* Of a sort that keeps fields: the fields as which the values of the columns, which are strings in
     * `schema`, are read. NULL: it keeps none. */
    hac_field *values;
    hac_schema parts; /* of its lists, that the query reads */
    hac_expr_source where_source, group_source, having_source, select_source, order_source, limit_by_source,
        with_source, with_where_source;
    uint32_t pass;

    hac_node *where, *having, *with_where; /* NULL: none */
    hac_item withs[HAC_PROGRAM_OUTPUTS_MAX];
    hac_item *scope; /* the columns of WITH; NULL: those of the source */
    size_t n_withs, n_scope;
    /* What a name may stand for: the keys, then the items of select. */
    hac_item names[HAC_QUERY_KEYS_MAX + HAC_PROGRAM_OUTPUTS_MAX];
    hac_item order_names[HAC_QUERY_KEYS_MAX + HAC_PROGRAM_OUTPUTS_MAX];
    hac_item keys[HAC_QUERY_KEYS_MAX], selects[HAC_PROGRAM_OUTPUTS_MAX], orders[HAC_ORDER_MAX];
    hac_item limit_bys[HAC_QUERY_KEYS_MAX];
    size_t n_keys, n_selects, n_orders, n_limit_bys;
    bool aggregated;
    bool takes_all; /* `*` or columns(*) */

    hac_output_column outputs[HAC_PROGRAM_OUTPUTS_MAX]; /* the visible ones first */
    size_t n_outputs, n_visible, n_key_outputs; /* n_key_outputs: in front, of keys that nobody named */
    size_t left_out;                            /* columns that `*` leaves out */
    hac_order_item order[HAC_ORDER_MAX];
    size_t n_order;
    uint16_t having_output; /* HAC_QUERY_NO_OUTPUT: none */
    uint16_t limit_by[HAC_QUERY_KEYS_MAX];
    size_t n_limit_by;
    /* The inputs of `finals`: the keys, then the distinct aggregates. */
    hac_node *inputs[HAC_PROGRAM_INPUTS_MAX];
    size_t n_inputs;
} hac_compiler;

/* NULL: no memory. Borrows its arguments. */
hac_compiler *hac_compiler_new(const hac_query_text *text, hac_error *err);
void hac_compiler_free(hac_compiler *compiler);

/* Whether the user gave the text: it has more than blanks. */
static inline bool hac_text_given(const char *text)
{
    return text != NULL && text[strspn(text, " \t\r\n\v\f")] != '\0';
}

/* Refuses texts and options that do not go together. */
HAC_MUST_USE hac_status hac_compile_check_texts(const hac_query_text *text, hac_error *err);
/* Parses all texts but the schema. */
HAC_MUST_USE hac_status hac_compile_parse(hac_compiler *compiler);
/* Whether the parsed expression calls an aggregate. */
bool hac_compile_calls_aggregate(hac_compiler *compiler, hac_node *node);

/* Sets compiler->schema, from --schema, the format, and what the source says (NULL: nothing). It stays empty
 * if the source has more columns than a schema may have: hac_compile_named_columns takes some of them. */
HAC_MUST_USE hac_status hac_compile_schema(hac_compiler *compiler, const hac_schema *header);
/* Sets compiler->path from the text, before hac_compile_schema; adds its columns to compiler->schema at
 * last. */
HAC_MUST_USE hac_status hac_compile_read_path(hac_compiler *compiler);
/* Reads --schema into compiler->schema. The types that it gives to columns in paths go to compiler->path:
 * the file has no such columns. */
HAC_MUST_USE hac_status hac_compile_read_schema(hac_compiler *compiler);
HAC_MUST_USE hac_status hac_compile_add_path(hac_compiler *compiler);
/* Takes the columns that the parsed query names, and as many others as fit, for messages about unknown
 * names. */
HAC_MUST_USE hac_status hac_compile_named_columns(hac_compiler *compiler, const hac_schema *header);

/* Makes strings of the columns of a sort that keeps fields. */
HAC_MUST_USE hac_status hac_compile_keep_fields(hac_compiler *compiler);

/* Of compile_with.c: reads the texts of WITH, if there are any. */
HAC_MUST_USE hac_status hac_compile_parse_with(hac_compiler *compiler);
/* Checks them, and puts their columns in the place of the source's. */
HAC_MUST_USE hac_status hac_compile_with(hac_compiler *compiler);

/* Of compile_columns.c: puts an item for each column in the place of each item with columns('pattern'). */
HAC_MUST_USE hac_status hac_compile_expand_columns(hac_compiler *compiler, hac_item *items, size_t *n);
/* Puts the condition for each column, joined by `and`, in the place of a WHERE with columns('pattern'). */
HAC_MUST_USE hac_status hac_compile_where_columns(hac_compiler *compiler);
/* Whether the expression has columns('pattern'). */
bool hac_compile_names_columns(hac_compiler *compiler, hac_node *node);

/* Of compile_items.c: sets the item's node to the checked one. */
HAC_MUST_USE hac_status hac_compile_check_item(hac_compiler *compiler, hac_item *item);
HAC_MUST_USE hac_status hac_compile_check_condition(hac_compiler *compiler, const hac_node *node,
                                                    const hac_expr_source *source);
/* Whether the query can name the column: of WITH, or of the source. */
bool hac_compile_has_column(const hac_compiler *compiler, const char *name);
/* The columns that the query can name, for messages; `ret` has HAC_SUGGEST_TEXT_MAX bytes. */
const char *hac_compile_list_columns(const hac_compiler *compiler, const char *name, char *ret);
/* Checks what stands after `*`: the names of `exclude`, `replace` and `rename` become those of columns. */
HAC_MUST_USE hac_status hac_compile_check_star(hac_compiler *compiler, const hac_item *star);
bool hac_compile_is_excluded(const hac_item *star, const char *name);
/* What `* replace` puts in the place of a column; NULL: nothing. */
const hac_item *hac_compile_replaced(const hac_item *star, const char *name);
/* The text of an item, with single blanks; a text that is too long is cut. NULL: no memory. */
const char *hac_compile_own_text(hac_compiler *compiler, const hac_item *item);

/* Makes the columns, the programs and the rest of the query. */
HAC_MUST_USE hac_status hac_compile_query(hac_compiler *compiler, hac_query *query);

#endif
