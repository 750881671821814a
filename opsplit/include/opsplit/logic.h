/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logic files (docs/flows/opsplit.md), read and checked: a program as plain data, that a runtime walks and
 * the decomposition cuts.
 *
 *     hac_logic *logic = NULL;
 *     hac_logic_problems problems = HAC_LOGIC_PROBLEMS_NONE;
 *     if (hac_logic_read("pagerank.yaml", library, &logic, &problems, &err) != HAC_OK)
 *         for (size_t i = 0; i < problems.n; i++)
 *             fprintf(stderr, "%s\n", problems.messages[i]);
 *
 * Everything is checked without data: keys, names, templates, types (every expression is compiled against the
 * types of the vectors that it reads), shapes as far as they are known by name, definition before use. What
 * only data can show (a matrix whose rows are not as many as stated, a key out of range, a null) the runtime
 * checks.
 *
 * Messages are "FILE:LINE:COLUMN: what is wrong; what would be right".
 *
 * Vectors, dimensions, inputs are named by their index in the arrays below. All strings and arrays belong to
 * the hac_logic. A hac_logic is never changed once it is made: any thread may read it.
 */
#ifndef OPSPLIT_LOGIC_H
#define OPSPLIT_LOGIC_H

#include "expr/query.h"
#include "opsplit/library.h"

#define HAC_LOGIC_VECTORS_MAX    256
#define HAC_LOGIC_PIECES_MAX     2048
#define HAC_LOGIC_INPUTS_MAX     64
#define HAC_LOGIC_OUTPUTS_MAX    64
#define HAC_LOGIC_SPLIT_MAX      1024
#define HAC_LOGIC_EXPRESSION_MAX 4096 /* bytes of one expression */

typedef struct hac_logic_position {
    unsigned line, column; /* from 1; of a user's OP: in its own file */
} hac_logic_position;

/* ---- dimensions ---------------------------------------------------------------------------------- */

/*
 * How many rows, columns or entries: known, or known by name. Vectors with the same dimension have as many
 * rows, whatever that turns out to be; the runtime learns a number when it loads an input or runs what makes
 * it.
 */
typedef enum hac_dimension_kind {
    HAC_DIMENSION_CONSTANT = 0, /* `value` */
    HAC_DIMENSION_INPUT,        /* rows of input `index` */
    HAC_DIMENSION_VAR,          /* the value of vector `index`, a Var */
    HAC_DIMENSION_DATA,         /* what a sub-operator finds: filter, index, tokenize … */
    HAC_DIMENSION_PARAMETER,    /* of a user's OP that is checked by itself */
    HAC_DIMENSION_JOIN /* of a vector that has had different ones: no other has as many for certain */
} hac_dimension_kind;

typedef struct hac_logic_dimension {
    hac_dimension_kind kind;
    uint64_t value;
    int index;
    char *name; /* for people: "rows of edges", "4", "what filter in line 12 keeps" */
} hac_logic_dimension;

#define HAC_DIMENSION_ONE  0    /* dimensions[0] is the constant 1 */
#define HAC_DIMENSION_NONE (-1) /* not known, or there is none */

/* ---- vectors ------------------------------------------------------------------------------------- */

typedef enum hac_partitioner {
    HAC_PARTITION_RANGE = 0,   /* equal numbers of rows */
    HAC_PARTITION_HASH,        /* by a hash of the row's value (or of `partition_by`'s) */
    HAC_PARTITION_ROUND_ROBIN, /* row number modulo components */
    HAC_PARTITION_WEIGHT, /* by range, so that the sums of `partition_by`, a vector with as many rows, agree
                           */
    HAC_PARTITION_EXPRESSION /* `partition` gives each row's component, taken modulo their number */
} hac_partitioner;

/* Constant contents, laid out as base/op_layout.h has them, but each part on its own. */
typedef struct hac_logic_value {
    uint64_t rows, columns, entries;
    void *values; /* of the vector's final type; of text: the characters */
    size_t value_bytes;
    uint64_t *offsets; /* rows + 1; NULL where the template has none */
    uint64_t *indices; /* entries; NULL likewise. Of a SparseMatrix: columns */
} hac_logic_value;

typedef struct hac_logic_expression {
    char *text;
    hac_logic_position at;
    hac_program *program; /* one output, of type `kind`; its inputs are columns by the vectors below. NULL: a
                           * copy of a vector of texts */
    hac_kind kind;        /* of the result: one that vectors have */
    int *vectors;         /* of each input of the program: a vector */
    size_t n_vectors;
    uint64_t
        ones;   /* bits: those of these vectors that are one value by the file, which holds for every row */
    bool exact; /* the same bits everywhere */
    bool constant; /* reads no vector */
    int copy;      /* it is nothing but this vector, of the kind that is wanted; -1: it is not */
} hac_logic_expression;

typedef enum hac_vector_origin {
    HAC_ORIGIN_RESULT = 0, /* some piece writes it first */
    HAC_ORIGIN_VALUE,      /* the file gives its contents */
    HAC_ORIGIN_INPUT,      /* a column of an input, or several as a matrix */
    HAC_ORIGIN_PARAMETER   /* of a user's OP that is checked by itself */
} hac_vector_origin;

typedef struct hac_logic_vector {
    char *name; /* "rank", "edges.a", of a used OP's own: "step.share" */
    hac_logic_position at;
    hac_vector_template form;
    hac_kind kind;     /* of its elements; HAC_KIND_STRING: text */
    int rows, columns; /* dimensions; columns of what is no matrix is HAC_DIMENSION_ONE */
    int entries;       /* dimension; of templates without entries HAC_DIMENSION_NONE */
    int below;      /* its values are row numbers less than this dimension; HAC_DIMENSION_NONE: not known */
    unsigned split; /* components; 0: not stated */
    hac_partitioner partitioner;
    int partition_by;                /* vector; -1: none */
    hac_logic_expression *partition; /* HAC_PARTITION_EXPRESSION */
    hac_vector_origin origin;
    hac_logic_value *value;            /* HAC_ORIGIN_VALUE */
    int input;                         /* HAC_ORIGIN_INPUT; else -1 */
    bool declared;                     /* under `vectors` */
    hac_vector_template declared_form; /* what it was declared as, or first made as, … */
    hac_kind declared_kind;            /* … if it has grown since; else as above */
    bool grown;
    bool local; /* of an iteration: every iteration of an independent loop has its own */
} hac_logic_vector;

/* ---- inputs and outputs -------------------------------------------------------------------------- */

/* A column of an input that becomes part of a vector. */
typedef struct hac_logic_column {
    char *name;     /* in the query's result */
    int vector;     /* -1: not used */
    unsigned place; /* of a matrix: which of its columns; else 0 */
} hac_logic_column;

typedef struct hac_logic_input {
    char *name;
    hac_logic_position at;
    bool handed;          /* a vector of its name, which a program hands over; its only column. No query */
    bool directory;       /* all regular files of a folder, in the order of their names (DirMap) */
    bool optional_format; /* `parse` was left out: by the file's suffix */
    /* The query that loads it; result columns are those below, in order. `select` casts them to the vectors'
     * types. NULL where there is none. */
    hac_source_options source;
    char *schema, *where, *select, *group_by, *order_by;
    uint64_t limit;  /* UINT64_MAX: none */
    bool row_by_row; /* each of its rows is made of one record, in their order: parts can be loaded apart */
    hac_logic_column *columns;
    size_t n_columns;
    int rows;        /* dimension */
    int file_vector; /* directory: for each row the number of its file (u32); -1: not wanted */
    int name_vector; /* directory: the files' names (text), a row a file; -1 */
} hac_logic_input;

typedef enum hac_logic_format {
    HAC_LOGIC_RAW = 0, /* the values, little-endian, one vector */
    HAC_LOGIC_CSV,
    HAC_LOGIC_JSON, /* one object a line */
    HAC_LOGIC_XML,
    HAC_LOGIC_PARQUET
} hac_logic_format;

typedef struct hac_logic_output_column {
    char *name; /* a dense matrix has columns name0, name1 …; a sparse one is three: row, column, name */
    int vector;
} hac_logic_output_column;

/* A file DIR/name.suffix. */
typedef struct hac_logic_output {
    char *name;
    hac_logic_position at;
    hac_logic_format format;
    const char *suffix;               /* "csv", of raw "bin" */
    hac_logic_output_column *columns; /* of the same rows, or all of one row */
    size_t n_columns;
    char *where, *order_by; /* expressions over the columns; NULL: none */
    uint64_t limit;         /* UINT64_MAX: none */
} hac_logic_output;

/* Same-key values combined, on each node and then across nodes. */
typedef struct hac_logic_reducer_value {
    hac_op_function function; /* sum, min, max, count */
    int in;                   /* vector with the key's rows; -1: count needs none */
    int out;
} hac_logic_reducer_value;
typedef struct hac_logic_reducer {
    hac_logic_position at;
    int key;  /* vector: integers or text */
    int keys; /* the distinct keys in ascending order */
    hac_logic_reducer_value *values;
    size_t n_values;
    /* What it is made of, as an OP: `index` of the key, then `reduce_by_key` for each value. Its pieces say
     * what they read and write, and have no arguments. */
    struct hac_logic_step *step;
} hac_logic_reducer;

/* ---- steps and pieces ---------------------------------------------------------------------------- */

/* `function: mean` of reduce_by_key: sums and counts, divided. */
#define HAC_LOGIC_MEAN ((int)HAC_OP_FUNCTION_END)

typedef enum hac_piece_kind {
    HAC_PIECE_LIBRARY = 0, /* of the built-in library */
    HAC_PIECE_USER,        /* of the user's: a typed expression, run as a map */
    HAC_PIECE_EXCEPTION    /* of no library: a typed expression, run as a map */
} hac_piece_kind;

/* An argument as written and resolved. */
typedef struct hac_logic_argument {
    const hac_subop_argument *spec; /* its row in the library */
    hac_logic_position at;
    int *vectors; /* VECTOR(S), RESULT(S); EXTENT: a vector whose rows count, or a Var; ASSIGNMENTS: the
                     target */
    size_t n_vectors;
    hac_logic_expression **expressions; /* EXPRESSION, SCALAR, ASSIGNMENTS: one */
    size_t n_expressions;
    int word; /* WORD: hac_op_function (or HAC_LOGIC_MEAN) for `function`, else its place in the words */
    uint64_t integer; /* INTEGER, TRUTH, EXTENT without vectors */
    int dimension;    /* EXTENT: what it stands for */
} hac_logic_argument;

/* A `let` of several names is several pieces, one each. */
typedef struct hac_logic_piece {
    hac_piece_kind kind;
    char *name;                  /* as written: "spmv", "damp" */
    const hac_subop_info *subop; /* of USER and EXCEPTION: map's */
    unsigned version;            /* USER */
    hac_logic_position at;
    char *device; /* pin: processor type or device; the OP's unless it has its own; NULL: none */
    hac_logic_argument *arguments; /* those that are given, in the order of the library's row */
    size_t n_arguments;
    int *reads, *writes; /* vectors, each once */
    size_t n_reads, n_writes;
    size_t number; /* from 0 over the whole file, in its order */
    bool of_rows;  /* argmin, argmax: of each row of a matrix */
} hac_logic_piece;

/* The argument of that name; NULL: it was not given. */
const hac_logic_argument *hac_logic_argument_get(const hac_logic_piece *piece, const char *name);
/* Its first vector; -1: it was not given. */
int hac_logic_argument_vector(const hac_logic_piece *piece, const char *name);
/* Its expression; NULL: it was not given. */
const hac_logic_expression *hac_logic_argument_expression(const hac_logic_piece *piece, const char *name);
/* A WORD, given or the default. */
int hac_logic_argument_word(const hac_logic_piece *piece, const char *name);
bool hac_logic_argument_truth(const hac_logic_piece *piece, const char *name);

/* How an OP walks its data (flow D): Map interfaces. */
typedef enum hac_operation {
    HAC_OPERATION_NONE = 0, /* not stated: as its sub-operators are */
    HAC_OPERATION_VECTOR_MAP,
    HAC_OPERATION_MATRIX_MAP,
    HAC_OPERATION_GLOBAL_MAP,
    HAC_OPERATION_CROSS_MAP,
    HAC_OPERATION_TASK_MAP,
    HAC_OPERATION_DIR_MAP,
    HAC_OPERATION_END
} hac_operation;
/* "VectorMap"; NULL: no such number. HAC_OPERATION_NONE is "". */
const char *hac_operation_name(hac_operation operation);
const char *hac_operation_text(hac_operation operation);

typedef enum hac_step_kind { HAC_STEP_OP = 0, HAC_STEP_FOR, HAC_STEP_WHILE, HAC_STEP_IF } hac_step_kind;

/*
 * Steps are done in order. An OP is a run of pieces, without control flow: one job. An OP of the file that
 * has for, while or if inside becomes several steps with its name.
 */
typedef struct hac_logic_step hac_logic_step;
struct hac_logic_step {
    hac_step_kind kind;
    char *name; /* of the OP; of control: "for i", "while", "if" */
    hac_logic_position at;
    hac_operation operation;
    char *device; /* pin; NULL: none */
    bool reducer; /* OP: the file's reducer */

    hac_logic_piece *pieces; /* OP */
    size_t n_pieces;
    bool whole; /* OP: no piece is of the library: it is placed as a whole */

    int index;                            /* FOR: a Var (i64), written before each iteration */
    hac_logic_expression *from, *to, *by; /* FOR: i64, constant or over Vars; `by` NULL: 1. [from, to) */
    bool independent; /* FOR: no iteration needs what another one leaves: may be split into sub-loops */
    unsigned split;   /* FOR: sub-loops; 0: not stated */
    struct hac_logic_collect {
        int in, out; /* row i of `out` (of `iterations` rows) is what iteration i leaves in `in` */
    } * collect;
    size_t n_collect;

    hac_logic_expression *condition; /* WHILE, IF: bool, over Vars */
    uint64_t rounds; /* WHILE: at most. Reaching it with the condition still true is not an error */
    bool first; /* WHILE: the first round is run without looking: the condition reads what it writes first */

    hac_logic_step *body; /* FOR, WHILE, IF: then */
    size_t n_body;
    hac_logic_step *otherwise; /* IF: else */
    size_t n_otherwise;
};

typedef struct hac_logic {
    char *file;
    char *name;
    char *about; /* `text`: one line, or "" */
    hac_logic_dimension *dimensions;
    size_t n_dimensions;
    hac_logic_vector *vectors;
    size_t n_vectors;
    hac_logic_input *inputs;
    size_t n_inputs;
    hac_logic_step *steps;
    size_t n_steps;
    size_t n_pieces;            /* all of them, the reducer's, too */
    hac_logic_reducer *reducer; /* NULL: none. Runs after the steps */
    hac_logic_output *outputs;
    size_t n_outputs;
    char **notes; /* not wrong, but worth a look: "FILE:LINE:COLUMN: …" */
    size_t n_notes;
} hac_logic;

/* Reads and checks. `library` NULL: only what is built in. `problems` may be NULL; *err has the first one.
 * HAC_INVALID: the file is wrong; HAC_NOT_FOUND, HAC_IO: it cannot be read. */
HAC_MUST_USE hac_status hac_logic_read(const char *path, const hac_library *library, hac_logic **ret,
                                       hac_logic_problems *problems, hac_error *err);
/* The same with the operators that are kept for this user. *ret_library, which the program needs as long as
 * it lives, is set also when the file is wrong. */
HAC_MUST_USE hac_status hac_logic_read_own(const char *path, hac_library **ret_library, hac_logic **ret,
                                           hac_logic_problems *problems, hac_error *err);
HAC_MUST_USE hac_status hac_logic_parse(const char *file, const char *text, size_t length,
                                        const hac_library *library, hac_logic **ret,
                                        hac_logic_problems *problems, hac_error *err);
void hac_logic_free(hac_logic *logic);

/* Sets ret[v] for each vector v that some of these steps may write; `ret` has HAC_LOGIC_VECTORS_MAX. */
void hac_logic_mark_writes(const hac_logic_step *steps, size_t n, bool *ret);
/* The index of a vector, an input by name; -1: there is none. */
int hac_logic_vector_find(const hac_logic *logic, const char *name);
int hac_logic_input_find(const hac_logic *logic, const char *name);
/* The vector of the numbers of the files that rows of this dimension are from; -1: they are of no directory.
 */
int hac_logic_file_numbers(const hac_logic *logic, int rows);

#endif
