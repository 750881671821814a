/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hac knows of codelets op.* and of the sub-operators of logic files. Both are rows of
 * base/op_catalog.def. The enumerations, the host's rules, the checks of logic files, the reference page and
 * the schema for editors are made from these rows.
 */
#ifndef BASE_OP_CATALOG_H
#define BASE_OP_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hac/op.h>
#include <hac/type.h>

/* ---- codelets ---- */

/* Who has the codelet: HOST is C only. The others have kernels as well; the family names their OpenCL
 * program. */
typedef enum hac_op_family {
    HAC_OP_FAMILY_HOST = 0,
    HAC_OP_FAMILY_EXPR,   /* op.expr: runs the program of an expression, and reduces */
    HAC_OP_FAMILY_NUMBER, /* op.number: computes with one type */
    HAC_OP_FAMILY_MOVE    /* op.move: moves rows */
} hac_op_family;

#define HAC_OP_NO_RANGE 255 /* hac_op_codelet.range */
#define HAC_OP_NO_ONES  255 /* hac_op_codelet.ones */

typedef enum hac_op_program_use {
    HAC_OP_PROGRAM_NONE = 0,
    HAC_OP_PROGRAM_MAY,
    HAC_OP_PROGRAM_MUST
} hac_op_program_use;

/* A row HAC_CODELET: what <hac/op.h> says about the codelet in words. */
typedef struct hac_op_codelet {
    const char *name; /* "op.map" */
    hac_op_family family;
    uint8_t operands_min, operands_max;
    uint8_t program_at; /* the operand that is the first input of a program */
    uint8_t program;    /* hac_op_program_use */
    uint8_t range;      /* the operand whose rows the range is over */
    uint32_t grain;     /* rows; the range begins at a multiple */
    uint32_t functions; /* bits of hac_op_function; a codelet without functions has bit 0 */
    uint32_t flags;     /* bits of hac_op_flag that it knows */
    uint8_t ones;       /* the operand that may be `ones` */
    uint8_t whole;      /* bits of the operands that a kernel needs as a whole, whatever its range */
    uint8_t typed_by;   /* the operand whose elements it computes with */
    hac_type type; /* the type that it computes with, whatever its operands; HAC_TYPE_NONE: see `typed_by` */
} hac_op_codelet;

/* Of the rows HAC_CODELET, in the order of the catalogue. */
#define HAC_CODELET(name, ...) HAC_OP_CODELET_##name,
typedef enum hac_op_codelet_id {
#include "base/op_catalog.def"
    HAC_OP_CODELETS
} hac_op_codelet_id;

extern const hac_op_codelet hac_op_codelets[HAC_OP_CODELETS];

/* By name, with or without ".cl" at the end; NULL: there is none. */
const hac_op_codelet *hac_op_codelet_find(const char *name);

/* ---- sub-operators ---- */

/* A set of templates: bits 1 << hac_vector_template. */
#define HAC_FORM(name)  (1u << HAC_VECTOR_##name)
#define HAC_FORM_VALUES HAC_FORM(FIX_VALUE)
#define HAC_FORM_ONE    (HAC_FORM(VAR) | HAC_FORM(PVAR))
#define HAC_FORM_PLAIN  (HAC_FORM_VALUES | HAC_FORM_ONE) /* values without offsets */

typedef enum hac_argument_kind {
    HAC_ARGUMENT_VECTOR = 1, /* a vector's name */
    HAC_ARGUMENT_VECTORS,    /* a name, or a list of names */
    HAC_ARGUMENT_EXPRESSION, /* over rows of vectors */
    HAC_ARGUMENT_SCALAR,     /* a number, or an expression over Vars */
    /* A number of rows or columns: a whole number, a Var, or a vector that has as many rows. */
    HAC_ARGUMENT_EXTENT,
    HAC_ARGUMENT_WORD,        /* one of `words` */
    HAC_ARGUMENT_INTEGER,     /* a whole number */
    HAC_ARGUMENT_TRUTH,       /* true or false */
    HAC_ARGUMENT_RESULT,      /* the name of a vector that is written */
    HAC_ARGUMENT_RESULTS,     /* a name, or a list of names, one for each vector of `in` */
    HAC_ARGUMENT_ASSIGNMENTS, /* of let: any names, each with an expression */
    HAC_ARGUMENT_KIND_END
} hac_argument_kind;

/* The element types of an argument; of a result: the type that it gets. */
typedef enum hac_element_rule {
    HAC_ELEMENT_VALUE = 0, /* integers, floats, bool */
    HAC_ELEMENT_NUMBER,    /* integers, floats */
    HAC_ELEMENT_INTEGER,   /* i32, i64, u32, u64 */
    HAC_ELEMENT_FLOAT,     /* f32, f64 */
    HAC_ELEMENT_LINEAR,    /* i64, f32, f64 */
    HAC_ELEMENT_ANY,       /* any type, also text */
    HAC_ELEMENT_TEXT,
    HAC_ELEMENT_BOOL,
    HAC_ELEMENT_U32, /* row numbers */
    HAC_ELEMENT_U64,
    HAC_ELEMENT_I64,
    HAC_ELEMENT_F64,
    HAC_ELEMENT_SAME, /* the type of the argument that `same` names */
    /* Results: the type of `function` over `same`. sum, squares, magnitude: i64 for signed integers, f64
     * for floats, else u64; min, max, largest: i64, u64, or the float itself; count: u64. */
    HAC_ELEMENT_TOTAL,
    HAC_ELEMENT_KEYED, /* results of reduce_by_key: f64 for floats, else i64; mean: f64 */
    HAC_ELEMENT_END
} hac_element_rule;

enum {
    HAC_ARGUMENT_REQUIRED = 1,
    HAC_ARGUMENT_ONE_OF = 2, /* at least one of the arguments with this flag is needed */
    HAC_ARGUMENT_EITHER = 4, /* exactly one of the arguments with this flag is needed */
    HAC_ARGUMENT_MATRIX = 8, /* may have several columns */
    HAC_ARGUMENT_PAIR = 16,  /* VECTORS: exactly two */
    HAC_ARGUMENT_MADE = 32,  /* the checker makes it from other arguments; a file may not give it */
    HAC_ARGUMENT_WHOLE = 64  /* an operand that every component needs as a whole, not only its own rows */
};

#define HAC_ARGUMENTS_MAX 12

/* Shapes: `rows` and `columns` are letters. Arguments with the same letter have the same number. "1" is
 * one; "*" of a result is a number that only the data gives; "=" is the number of the counterpart among
 * the vectors of `same`. "e" and "f" are the values of the EXTENT argument with that letter; without that
 * argument they are the bound (hac_logic_vector.below) of the argument that has the letter as `below`.
 * NULL: any number. */
typedef struct hac_subop_argument {
    const char *name; /* "in"; NULL ends the list */
    hac_argument_kind kind;
    unsigned flags;
    unsigned forms; /* set of templates; of a result: its template, 0: the template of its operands */
    hac_element_rule elements;
    const char *same; /* for ELEMENT_SAME, TOTAL and KEYED */
    const char *rows, *columns;
    const char *below; /* a letter. Of a result: its values are row numbers below it */
    const char *words; /* of WORD: "sum min max"; the first is the default */
    const char *text;  /* for the reference page */
} hac_subop_argument;

/* One for each row HAC_SUBOP and HAC_SUBOP_CONTROL, in the order of the catalogue. */
#define HAC_SUBOP(id, ...)         HAC_SUBOP_##id,
#define HAC_SUBOP_CONTROL(id, ...) HAC_SUBOP_##id,
typedef enum hac_subop_id {
    HAC_SUBOP_NONE = 0,
#include "base/op_catalog.def"
    HAC_SUBOP_END
} hac_subop_id;

/* How the components of the results depend on those of the operands. */
typedef enum hac_subop_walk {
    HAC_WALK_ROWS = 1, /* component by component: a result row needs the same row of the operands */
    /* Component by component, then put together: no result row exists before all components ran. */
    HAC_WALK_TOGETHER,
    HAC_WALK_SERIAL, /* one task over all rows */
    HAC_WALK_CONTROL
} hac_subop_walk;

typedef struct hac_subop_info {
    hac_subop_id id;
    const char *name;
    const char *text;     /* one line */
    const char *codelets; /* "op.reduce op.combine": its codelets, in order; "": the client does the work */
    const char *unit;     /* of the cost model: "rows", "entries", "multiplications", "bytes" */
    const char *kinds;    /* "cpu gpu": processor types that have it; "cpu": C codelets only */
    hac_subop_walk walk;
    unsigned operands_max; /* maximum number of vectors that its expression reads */
    hac_subop_argument arguments[HAC_ARGUMENTS_MAX + 1];
    const char *example; /* YAML of one piece */
} hac_subop_info;

/* NULL: HAC_SUBOP_NONE, or no such number. */
const hac_subop_info *hac_subop_get(hac_subop_id id);
const hac_subop_info *hac_subop_find(const char *name);
/* An argument by name; NULL: not found. */
const hac_subop_argument *hac_subop_argument_find(const hac_subop_info *subop, const char *name);

#endif
