/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library of logic files: vector templates, sub-operators, and the definitions of users.
 *
 * Tables (library/templates.c, base/op_catalog.def) say everything about what is built in. The checker, the
 * reference page (docs/opsplit-library.md), the schema for editors (docs/opsplit.schema.json), `hacctl
 * opsplit subop` and the decomposition are made from these tables, so that they cannot differ.
 *
 * Users add sub-operators (typed expressions with named, typed arguments) and OPs (compositions of pieces
 * with parameters). Each definition is a YAML file with a version, in the folder of the user
 * (hac_library_directory):
 *
 *     subop/damp@1.yaml    op/rank_step@2.yaml
 */
#ifndef OPSPLIT_LIBRARY_H
#define OPSPLIT_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/op_catalog.h"
#include "base/op_layout.h"
#include "base/text.h"
#include "base/value.h"

/* ---- vector templates ---------------------------------------------------------------------------- */

/* The columns that come before the value where a vector is written to a file entry by entry. */
typedef enum hac_entry_columns {
    HAC_ENTRY_NONE = 0, /* it is written row by row */
    HAC_ENTRY_ROW,
    HAC_ENTRY_ROW_COLUMN
} hac_entry_columns;

/* What the checks, the outputs and the pages say of a template. base/op_layout.h has its layout in memory. */
typedef struct hac_vector_template_info {
    const char *name;  /* "FixValueVector" */
    const char *holds; /* one line */
    const char *split; /* how it is split into components: one line */
    const char *value; /* how a logic file writes one as `value` */
    bool written;      /* it can be written to an output */
    hac_entry_columns entry_columns;
} hac_vector_template_info;

/* By hac_vector_template; NULL: no template has that number. */
const hac_vector_template_info *hac_vector_template_get(hac_vector_template form);
#define HAC_TEMPLATE_WORDS_MAX 256
/* The names of all templates, separated by blanks. Returns `ret`. */
const char *hac_vector_template_words(char ret[HAC_TEMPLATE_WORDS_MAX]);
/* HAC_VECTOR_NONE: no template has that name. */
hac_vector_template hac_vector_template_find(const char *name);

/* The words that `function` may name: "sum", "squared_euclidean" …; -1: no such word. */
int hac_op_function_find(const char *name);
const char *hac_op_function_name(hac_op_function function);

/* Names of the element types of vectors; HAC_KIND_NONE: no such name. "string" is the type of text. */
hac_kind hac_element_find(const char *name);
const char *hac_element_name(hac_kind kind);
/* Bytes of one element; 0: text. */
size_t hac_element_size(hac_kind kind);

/* The reference page (Markdown) and the JSON Schema, made from the tables. */
void hac_library_reference(hac_text *ret);
void hac_library_json_schema(hac_text *ret);

/* ---- what users have added ----------------------------------------------------------------------- */

/* The problems of a file: up to HAC_LOGIC_PROBLEMS_MAX messages. */
typedef struct hac_logic_problems {
    char **messages;
    size_t n;
} hac_logic_problems;
#define HAC_LOGIC_PROBLEMS_NONE                                                                              \
    {                                                                                                        \
        NULL, 0                                                                                              \
    }
#define HAC_LOGIC_PROBLEMS_MAX 20
void hac_logic_problems_clear(hac_logic_problems *problems);

#define HAC_LIBRARY_NAME_MAX    64   /* with the terminating zero */
#define HAC_LIBRARY_ENTRIES_MAX 1024 /* including all versions */

typedef struct hac_library hac_library;

typedef enum hac_library_kind { HAC_LIBRARY_SUBOP = 0, HAC_LIBRARY_OP = 1 } hac_library_kind;

/* A definition of a user. */
typedef struct hac_library_entry {
    hac_library_kind kind;
    char name[HAC_LIBRARY_NAME_MAX];
    unsigned version; /* from 1 */
    char *text;       /* the file as it was added */
    char *about;      /* the definition's `text`: one line, or "" */
    char *damage;     /* why the file is not a definition, with its path; NULL: it is one */
} hac_library_entry;

/* The folder of the user's definitions: $XDG_DATA_HOME/hac/opsplit, else ~/.local/share/hac/opsplit. *ret
 * is malloc'ed. HAC_INVALID: neither variable is set. */
HAC_MUST_USE hac_status hac_library_directory(char **ret, hac_error *err);

/* Reads all definitions of the folder; a missing folder is an empty one. NULL: built-in sub-operators
 * only. A file that is not a definition becomes an entry with `damage`, so that only its users fail. No
 * file stays open. */
HAC_MUST_USE hac_status hac_library_open(const char *directory, hac_library **ret, hac_error *err);
/* Opens the folder of this user. Without a home directory there are only the built-in sub-operators. */
HAC_MUST_USE hac_status hac_library_open_own(hac_library **ret, hac_error *err);
void hac_library_free(hac_library *library);

size_t hac_library_count(const hac_library *library);
/* Ordered by kind (sub-operators first), name and version. */
const hac_library_entry *hac_library_at(const hac_library *library, size_t i);
/* Version 0: the newest, even if it is damaged, because an older version may be another operator. NULL:
 * not found. */
const hac_library_entry *hac_library_find(const hac_library *library, hac_library_kind kind, const char *name,
                                          unsigned version);

#define HAC_LIBRARY_ADVICE_MAX 192
/* What the user can do about a damaged entry: text to print after its `damage` and "; ". */
void hac_library_advise(const hac_library_entry *entry, char ret[HAC_LIBRARY_ADVICE_MAX]);

typedef struct hac_library_added {
    char name[HAC_LIBRARY_NAME_MAX];
    unsigned version;
    bool is_new; /* false: the text equals the newest version, and was not stored again */
} hac_library_added;

/* Checks a definition, including the types of the definitions that it uses, and stores it as the next
 * version of its name. `file` is for messages. HAC_INVALID: the definition is wrong, or its name is built
 * in; *problems (may be NULL) has all problems. */
HAC_MUST_USE hac_status hac_library_add(hac_library *library, hac_library_kind kind, const char *file,
                                        const char *text, size_t length, hac_library_added *ret,
                                        hac_logic_problems *problems, hac_error *err);
/* Version 0: all versions. HAC_NOT_FOUND: there is none; HAC_INVALID: the name is built in. */
HAC_MUST_USE hac_status hac_library_remove(hac_library *library, hac_library_kind kind, const char *name,
                                           unsigned version, hac_error *err);

#endif
