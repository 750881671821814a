/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library of flow D: vector templates, sub-operators, and what users have added to them.
 *
 * Two tables say all that there is to say of what is built in. The checker, the reference page
 * (docs/opsplit-library.md), the schema for editors (docs/opsplit.schema.json), `hacctl opsplit subop` and
 * the decomposition are made from them, so that none of these can differ from the others.
 *
 * Users add sub-operators (typed expressions with named, typed arguments) and OPs (compositions of pieces
 * with parameters). Each is a YAML file with a version, kept for the user (hac_library_directory):
 *
 *     subop/damp@1.yaml    op/rank_step@2.yaml
 */
#ifndef OPSPLIT_LIBRARY_H
#define OPSPLIT_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/op_layout.h"
#include "base/text.h"
#include "base/value.h"

/* ---- vector templates ---------------------------------------------------------------------------- */

typedef struct hac_vector_template_info {
    const char *name;  /* "FixValueVector" */
    const char *holds; /* one line */
    const char *split; /* how it is split into components: one line */
    const char *value; /* how a logic file writes one as `value` */
} hac_vector_template_info;

/* By hac_vector_template; NULL: there is none of that number. */
const hac_vector_template_info *hac_vector_template_get(hac_vector_template form);
/* HAC_VECTOR_NONE: no template is called that. */
hac_vector_template hac_vector_template_find(const char *name);

/* ---- sub-operators ------------------------------------------------------------------------------- */

/* Sets of templates: 1 << hac_vector_template. */
#define HAC_FORM(name)  (1u << HAC_VECTOR_##name)
#define HAC_FORM_VALUES HAC_FORM(FIX_VALUE)
#define HAC_FORM_ONE    (HAC_FORM(VAR) | HAC_FORM(PVAR))
#define HAC_FORM_PLAIN  (HAC_FORM_VALUES | HAC_FORM_ONE) /* values without offsets */

typedef enum hac_argument_kind {
    HAC_ARGUMENT_VECTOR = 1,  /* a vector's name */
    HAC_ARGUMENT_VECTORS,     /* a name, or a list of names */
    HAC_ARGUMENT_EXPRESSION,  /* over rows of vectors */
    HAC_ARGUMENT_SCALAR,      /* a number, or an expression over Vars */
    HAC_ARGUMENT_EXTENT,      /* how many: a whole number, a Var, or a vector that has as many rows */
    HAC_ARGUMENT_WORD,        /* one of the row's `words` */
    HAC_ARGUMENT_INTEGER,     /* a whole number */
    HAC_ARGUMENT_TRUTH,       /* true or false */
    HAC_ARGUMENT_RESULT,      /* the name of a vector that is written */
    HAC_ARGUMENT_RESULTS,     /* a name, or a list of names, one for each of `in` */
    HAC_ARGUMENT_ASSIGNMENTS, /* of let: any names instead of this one, each with an expression */
    HAC_ARGUMENT_KIND_END
} hac_argument_kind;

/* What elements an argument may have; of a result: what it gets. */
typedef enum hac_element_rule {
    HAC_ELEMENT_VALUE = 0, /* integers, floats, bool */
    HAC_ELEMENT_NUMBER,    /* integers, floats */
    HAC_ELEMENT_INTEGER,   /* i32, i64, u32, u64 */
    HAC_ELEMENT_FLOAT,     /* f32, f64 */
    HAC_ELEMENT_LINEAR,    /* i64, f32, f64 */
    HAC_ELEMENT_ANY,       /* text as well */
    HAC_ELEMENT_TEXT,
    HAC_ELEMENT_BOOL,
    HAC_ELEMENT_U32, /* row numbers */
    HAC_ELEMENT_U64,
    HAC_ELEMENT_I64,
    HAC_ELEMENT_F64,
    HAC_ELEMENT_SAME,  /* as the argument named by the row's `same` has */
    HAC_ELEMENT_TOTAL, /* results: of `function` over `same`. sum, squares, magnitude: i64 of signed integers,
                        * u64 of others, f64 of floats; min, max, largest: i64, u64, or the float itself;
                        * count: u64
                        */
    HAC_ELEMENT_KEYED, /* results of reduce_by_key: f64 of floats, else i64; mean: f64 */
    HAC_ELEMENT_END
} hac_element_rule;

enum {
    HAC_ARGUMENT_REQUIRED = 1,
    HAC_ARGUMENT_ONE_OF = 2, /* of the rows with this flag at least one has to be given */
    HAC_ARGUMENT_EITHER = 4, /* of the rows with this flag exactly one has to be given */
    HAC_ARGUMENT_MATRIX = 8, /* may have several columns */
    HAC_ARGUMENT_PAIR = 16,  /* VECTORS: exactly two */
    HAC_ARGUMENT_MADE = 32,  /* by the checker from the others; not to be written */
    HAC_ARGUMENT_WHOLE = 64  /* of operands: every component needs all of it, not its own rows */
};

#define HAC_ARGUMENTS_MAX 12

/*
 * Shapes: `rows` and `columns` are letters. Arguments that have one in common have as many; "1" is one, "*"
 * in a result a number that only the data says, "=" as many as its counterpart among the vectors of `same`.
 * "e" and "f" are what the argument EXTENT with that letter says, or without it the bound
 * (hac_logic_vector.below) of the argument whose row has the letter as `below`. NULL: any.
 */
typedef struct hac_subop_argument {
    const char *name; /* "in"; NULL ends the list */
    hac_argument_kind kind;
    unsigned flags;
    unsigned forms; /* set of templates; of a result: the one that it gets, 0: as its operands */
    hac_element_rule elements;
    const char *same; /* of ELEMENT_SAME, TOTAL and KEYED */
    const char *rows, *columns;
    const char *below; /* letter. Of a result: its values are numbers of that many rows */
    const char *words; /* of WORD: "sum min max"; the first is the default */
    const char *text;  /* what it is */
} hac_subop_argument;

typedef enum hac_subop_id {
    HAC_SUBOP_NONE = 0,
    HAC_SUBOP_MAP,
    HAC_SUBOP_REDUCE,
    HAC_SUBOP_SCAN,
    HAC_SUBOP_FILTER,
    HAC_SUBOP_SORT,
    HAC_SUBOP_REDUCE_BY_KEY,
    HAC_SUBOP_GATHER,
    HAC_SUBOP_SCATTER,
    HAC_SUBOP_DOT,
    HAC_SUBOP_AXPY,
    HAC_SUBOP_GEMV,
    HAC_SUBOP_GEMM,
    HAC_SUBOP_SPMV,
    HAC_SUBOP_NORM,
    HAC_SUBOP_DISTANCE,
    HAC_SUBOP_NEAREST,
    HAC_SUBOP_ARGMIN,
    HAC_SUBOP_ARGMAX,
    HAC_SUBOP_ROW_REDUCE,
    HAC_SUBOP_TOKENIZE,
    HAC_SUBOP_INDEX,
    HAC_SUBOP_CSR,
    HAC_SUBOP_TRANSPOSE,
    HAC_SUBOP_TERM_COUNTS,
    HAC_SUBOP_HISTOGRAM,
    HAC_SUBOP_RANGE,
    HAC_SUBOP_FILL,
    HAC_SUBOP_DENSE,
    HAC_SUBOP_LET,
    HAC_SUBOP_FOR, /* control: steps, not pieces (logic.h) */
    HAC_SUBOP_WHILE,
    HAC_SUBOP_IF,
    HAC_SUBOP_END
} hac_subop_id;

/* How components of its operands depend on those of what comes before it. */
typedef enum hac_subop_walk {
    HAC_WALK_ROWS = 1, /* component by component: rows of a result need the same rows of the operands */
    HAC_WALK_TOGETHER, /* component by component, and what they give is put together: no row of a result is
                        * there before all of them are */
    HAC_WALK_SERIAL,   /* one task over everything */
    HAC_WALK_CONTROL
} hac_subop_walk;

typedef struct hac_subop_info {
    hac_subop_id id;
    const char *name;
    const char *text;     /* one line */
    const char *codelets; /* "op.reduce op.combine": what it becomes, in order; "": work of the client */
    const char *unit;     /* of the cost model: "rows", "entries", "multiplications", "bytes" */
    const char *kinds;    /* "cpu gpu": processor types that have it; "cpu": host codelets only */
    hac_subop_walk walk;
    unsigned operands_max; /* vectors that its expression may read */
    hac_subop_argument arguments[HAC_ARGUMENTS_MAX + 1];
    const char *example; /* YAML of one piece */
} hac_subop_info;

/* By number, HAC_SUBOP_NONE and beyond the end: NULL. */
const hac_subop_info *hac_subop_get(hac_subop_id id);
const hac_subop_info *hac_subop_find(const char *name);
/* An argument's row by name; NULL: there is none. */
const hac_subop_argument *hac_subop_argument_find(const hac_subop_info *subop, const char *name);

/* The functions that `function` may name, as words: "sum", "squared_euclidean" …; -1: no such one. */
int hac_op_function_find(const char *name);
const char *hac_op_function_name(hac_op_function function);

/* Names of element types that vectors may have; HAC_KIND_NONE: no such one. "string" is one, of texts. */
hac_kind hac_element_find(const char *name);
const char *hac_element_name(hac_kind kind);
/* Bytes of one element; 0: text. */
size_t hac_element_size(hac_kind kind);

/* The Markdown page and the JSON Schema that are made from the tables. */
void hac_library_reference(hac_text *ret);
void hac_library_json_schema(hac_text *ret);

/* ---- what users have added ----------------------------------------------------------------------- */

/* What is wrong with a file, all of it up to HAC_LOGIC_PROBLEMS_MAX messages. */
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
#define HAC_LIBRARY_ENTRIES_MAX 1024 /* versions included */

typedef struct hac_library hac_library;

typedef enum hac_library_kind { HAC_LIBRARY_SUBOP = 0, HAC_LIBRARY_OP = 1 } hac_library_kind;

/* A user's definition. */
typedef struct hac_library_entry {
    hac_library_kind kind;
    char name[HAC_LIBRARY_NAME_MAX];
    unsigned version; /* from 1 */
    char *text;       /* the file as it was added */
    char *about;      /* its `text`: one line, or "" */
    char *damage;     /* what is wrong with the file, its path included: it is no definition; NULL: nothing */
} hac_library_entry;

/* $XDG_DATA_HOME/hac/opsplit, else ~/.local/share/hac/opsplit. *ret is malloc'ed. HAC_INVALID: neither is
 * set.
 */
HAC_MUST_USE hac_status hac_library_directory(char **ret, hac_error *err);

/*
 * Reads what the folder has; one that is not there is an empty one, NULL: only what is built in. A file
 * that is no definition is an entry that says so (`damage`): only who uses it fails. Nothing is kept open.
 */
HAC_MUST_USE hac_status hac_library_open(const char *directory, hac_library **ret, hac_error *err);
/* What is kept for this user; without a home there is only what is built in. */
HAC_MUST_USE hac_status hac_library_open_own(hac_library **ret, hac_error *err);
void hac_library_free(hac_library *library);

size_t hac_library_count(const hac_library *library);
/* In order: sub-operators first, by name, then version. */
const hac_library_entry *hac_library_at(const hac_library *library, size_t i);
/* Version 0: the newest, damaged or not: an older one may be another operator. NULL: no such one. */
const hac_library_entry *hac_library_find(const hac_library *library, hac_library_kind kind, const char *name,
                                          unsigned version);

#define HAC_LIBRARY_ADVICE_MAX 192
/* What can be done with a damaged entry, to stand behind its `damage` and "; ". */
void hac_library_advise(const hac_library_entry *entry, char ret[HAC_LIBRARY_ADVICE_MAX]);

typedef struct hac_library_added {
    char name[HAC_LIBRARY_NAME_MAX];
    unsigned version;
    bool is_new; /* false: it is the same as the newest one, and was not stored again */
} hac_library_added;

/*
 * Checks a definition (types included, those of the ones that it uses as well) and stores it as the next
 * version of its name. HAC_INVALID: it is wrong (*problems, NULL allowed, says all that is), or the name is
 * built in; `file` is for messages.
 */
HAC_MUST_USE hac_status hac_library_add(hac_library *library, hac_library_kind kind, const char *file,
                                        const char *text, size_t length, hac_library_added *ret,
                                        hac_logic_problems *problems, hac_error *err);
/* Version 0: all of them. HAC_NOT_FOUND: there is none; HAC_INVALID: it is built in. */
HAC_MUST_USE hac_status hac_library_remove(hac_library *library, hac_library_kind kind, const char *name,
                                           unsigned version, hac_error *err);

#endif
