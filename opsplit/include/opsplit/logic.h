/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logic files (docs/flows/opsplit.md), read and checked: a program as plain data. A runtime walks it, and the
 * decomposition splits it.
 *
 *     hac_logic *logic = NULL;
 *     hac_logic_problems problems = HAC_LOGIC_PROBLEMS_NONE;
 *     if (hac_logic_read("pagerank.yaml", library, &logic, &problems, &err) != HAC_OK)
 *         for (size_t i = 0; i < problems.n; i++)
 *             fprintf(stderr, "%s\n", problems.messages[i]);
 *
 * The check needs no data. It covers keys, names, templates, types (each expression is compiled against the
 * types of the vectors that it reads), shapes as far as they are known by name, and definition before use.
 * The runtime checks what only data can show: a matrix with another number of rows than stated, a key out of
 * range, a null.
 *
 * Messages are "FILE:LINE:COLUMN: what is wrong; what would be right".
 *
 * Vectors, dimensions and inputs are named by their index in the arrays below. All strings and arrays belong
 * to the hac_logic. A hac_logic never changes, so any thread may read it.
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
    unsigned line, column; /* from 1; a piece of a user's OP has the position in the file of the OP */
} hac_logic_position;

/* ---- dimensions ---------------------------------------------------------------------------------- */

/* A number of rows, columns or entries, known or known by name. Vectors with the same dimension have the
 * same number of rows, whatever that is. The runtime learns the number when it loads an input or runs the
 * sub-operator that makes it. */
typedef enum hac_dimension_kind {
    HAC_DIMENSION_CONSTANT = 0, /* `value` */
    HAC_DIMENSION_INPUT,        /* the rows of input `index` */
    HAC_DIMENSION_VAR,          /* the value of the Var `index` */
    HAC_DIMENSION_DATA,         /* what a sub-operator finds: filter, index, tokenize … */
    HAC_DIMENSION_PARAMETER,    /* a dimension of a parameter, where a user's OP is checked by itself */
    /* One of several dimensions, after control flow; equal to no other dimension for certain. */
    HAC_DIMENSION_JOIN
} hac_dimension_kind;

typedef struct hac_logic_dimension {
    hac_dimension_kind kind;
    uint64_t value;
    int index;
    char *name; /* for messages: "rows of edges", "4", "what filter in line 12 keeps" */
} hac_logic_dimension;

#define HAC_DIMENSION_ONE  0    /* dimensions[0] is the constant 1 */
#define HAC_DIMENSION_NONE (-1) /* no dimension, or an unknown one */

/* ---- vectors ------------------------------------------------------------------------------------- */

typedef enum hac_partitioner {
    HAC_PARTITION_RANGE = 0,   /* ranges of equal length */
    HAC_PARTITION_HASH,        /* hash of the row's value, or of the value of `partition_by` in that row */
    HAC_PARTITION_ROUND_ROBIN, /* row number modulo the number of components */
    HAC_PARTITION_WEIGHT,      /* ranges with equal sums of `partition_by`, a vector with as many rows */
    /* `partition` gives the component of each row, modulo the number of components */
    HAC_PARTITION_EXPRESSION
} hac_partitioner;

/* A constant. base/op_layout.h describes its parts; here each part has its own memory. */
typedef struct hac_logic_value {
    uint64_t rows, columns, entries;
    void *values; /* numbers of the vector's final type; of a text vector: the characters */
    size_t value_bytes;
    uint64_t *offsets; /* rows + 1 offsets; NULL: the template has no offsets */
    uint64_t *indices; /* `entries` indices (of a SparseMatrix: columns); NULL: the template has no indices */
} hac_logic_value;

typedef struct hac_logic_expression {
    char *text;
    hac_logic_position at;
    /* A program with one output of type `kind`; its inputs are rows of `vectors`. NULL: a copy of a text
     * vector. */
    hac_program *program;
    hac_kind kind; /* kind of the result, and of a vector made from it */
    int *vectors;  /* for each input of the program: the vector that it reads */
    size_t n_vectors;
    /* Bit i: vectors[i] has a single value according to the logic file, which is used for every row. */
    uint64_t ones;
    bool exact;    /* the result has the same bits on every device */
    bool constant; /* the expression reads no vector */
    int copy;      /* the expression is only the name of this vector, and has its kind; -1: it is more */
} hac_logic_expression;

typedef enum hac_vector_origin {
    HAC_ORIGIN_RESULT = 0, /* a piece writes the vector before any piece reads it */
    HAC_ORIGIN_VALUE,      /* the file has the contents */
    HAC_ORIGIN_INPUT,      /* a column of an input, or several columns as a matrix */
    HAC_ORIGIN_PARAMETER   /* a parameter of a user's OP that is checked by itself */
} hac_vector_origin;

typedef struct hac_logic_vector {
    char *name; /* "rank", "edges.a"; for a vector of a user's OP: "step.share" */
    hac_logic_position at;
    hac_vector_template form;
    hac_kind kind;     /* kind of the elements; HAC_KIND_STRING: text */
    int rows, columns; /* dimensions; `columns` is HAC_DIMENSION_ONE unless it is a matrix */
    int entries;       /* dimension; HAC_DIMENSION_NONE for templates without entries */
    int below;         /* the values are row numbers of this dimension; HAC_DIMENSION_NONE: not known */
    unsigned split;    /* number of components; 0: the file does not state it */
    hac_partitioner partitioner;
    int partition_by;                /* vector; -1: none */
    hac_logic_expression *partition; /* HAC_PARTITION_EXPRESSION */
    hac_vector_origin origin;
    hac_logic_value *value;            /* HAC_ORIGIN_VALUE */
    int input;                         /* HAC_ORIGIN_INPUT; else -1 */
    bool declared;                     /* the file declares the vector under `vectors` */
    hac_vector_template declared_form; /* template of the declaration, or of the first result */
    hac_kind declared_kind;            /* kind of the declaration, or of the first result */
    bool grown;                        /* `form` and `kind` differ from the declared ones */
    bool local;                        /* each iteration of an independent loop has a vector of its own */
} hac_logic_vector;

/* ---- inputs and outputs -------------------------------------------------------------------------- */

/* A column of an input that becomes part of a vector. */
typedef struct hac_logic_column {
    char *name;     /* name in the query's result */
    int vector;     /* the vector that the column becomes; -1: the column is not used */
    unsigned place; /* number of the column in a matrix; 0 for other templates */
} hac_logic_column;

typedef struct hac_logic_input {
    char *name;
    hac_logic_position at;
    bool is_vector;       /* a vector that a program passes in; it has one column and no query */
    bool directory;       /* all regular files of a folder, ordered by name (DirMap) */
    bool optional_format; /* `parse` is not given: the suffix of the file decides */
    /* The query that loads the input. Its result columns are `columns`, in order; `select` casts them to
     * the types of the vectors. NULL: not given. */
    hac_source_options source;
    char *schema, *where, *select, *group_by, *order_by;
    uint64_t limit;  /* UINT64_MAX: no limit */
    bool row_by_row; /* row i comes from record i, so ranks can load parts of the input */
    hac_logic_column *columns;
    size_t n_columns;
    int rows;        /* dimension */
    int file_vector; /* directory: for each row the number of its file (u32); -1: not wanted */
    int name_vector; /* directory: the names of the files (text), one in a row; -1: not wanted */
} hac_logic_input;

typedef enum hac_logic_format {
    HAC_LOGIC_RAW = 0, /* the values of one vector, little-endian */
    HAC_LOGIC_CSV,
    HAC_LOGIC_JSON, /* one object a line */
    HAC_LOGIC_XML,
    HAC_LOGIC_PARQUET
} hac_logic_format;

typedef struct hac_logic_output_column {
    char *name; /* a dense matrix has columns name0, name1 …; a sparse one row, column, name */
    int vector;
} hac_logic_output_column;

/* A file DIR/name.suffix. */
typedef struct hac_logic_output {
    char *name;
    hac_logic_position at;
    hac_logic_format format;
    const char *suffix;               /* "csv"; HAC_LOGIC_RAW: "bin" */
    hac_logic_output_column *columns; /* all columns have the same rows, or all have one row */
    size_t n_columns;
    char *where, *order_by; /* expressions over the columns; NULL: none */
    uint64_t limit;         /* UINT64_MAX: no limit */
} hac_logic_output;

/* Combines rows with the same key, on each node and then across nodes. */
typedef struct hac_logic_reducer_value {
    hac_op_function function; /* sum, min, max, count */
    int in;                   /* vector with the same rows as the key; -1: count reads no vector */
    int out;                  /* vector of the results */
} hac_logic_reducer_value;
typedef struct hac_logic_reducer {
    hac_logic_position at;
    int key;  /* vector of the keys: integers or text */
    int keys; /* vector of the distinct keys, ascending */
    hac_logic_reducer_value *values;
    size_t n_values;
    /* The reducer as an OP: `index` of the key, then `reduce_by_key` for each value. Its pieces have reads
     * and writes, and no arguments. */
    struct hac_logic_step *step;
} hac_logic_reducer;

/* ---- steps and pieces ---------------------------------------------------------------------------- */

/* `function: mean` of reduce_by_key: sums divided by counts. */
#define HAC_LOGIC_MEAN ((int)HAC_OP_FUNCTION_END)

typedef enum hac_piece_kind {
    HAC_PIECE_LIBRARY = 0, /* a built-in sub-operator */
    HAC_PIECE_USER,        /* a user's sub-operator: a typed expression, run as a map */
    HAC_PIECE_EXCEPTION    /* in no library: a typed expression, run as a map */
} hac_piece_kind;

/* An argument of a sub-operator, with its names resolved. */
typedef struct hac_logic_argument {
    const hac_subop_argument *spec; /* the argument's row in the catalogue */
    hac_logic_position at;
    /* VECTOR, VECTORS, RESULT, RESULTS; EXTENT: a Var, or a vector whose rows count; ASSIGNMENTS: the
     * target */
    int *vectors;
    size_t n_vectors;
    hac_logic_expression **expressions; /* EXPRESSION, SCALAR, ASSIGNMENTS: one */
    size_t n_expressions;
    int word;         /* WORD: the index of the word; for `function` hac_op_function or HAC_LOGIC_MEAN */
    uint64_t integer; /* INTEGER, TRUTH, EXTENT without vectors */
    int dimension;    /* EXTENT: the dimension that it names */
} hac_logic_argument;

/* One sub-operator of an OP. A `let` of several names is several pieces. */
typedef struct hac_logic_piece {
    hac_piece_kind kind;
    char *name;                  /* name in the file: "spmv", "damp" */
    const hac_subop_info *subop; /* for USER and EXCEPTION: map */
    unsigned version;            /* USER */
    hac_logic_position at;
    char *device; /* processor type or device to which the piece or its OP is pinned; NULL: not pinned */
    hac_logic_argument *arguments; /* the arguments that the file gives, in the order of the catalogue */
    size_t n_arguments;
    int *reads, *writes; /* the vectors that the piece reads and writes, without repetition */
    size_t n_reads, n_writes;
    size_t number; /* number of the piece in the file, from 0 */
    bool of_rows;  /* argmin, argmax: the result is for each row of a matrix */
} hac_logic_piece;

/* An argument by name; NULL: it is not given. */
const hac_logic_argument *hac_logic_argument_get(const hac_logic_piece *piece, const char *name);
/* The first vector of an argument; -1: it is not given. */
int hac_logic_argument_vector(const hac_logic_piece *piece, const char *name);
/* The expression of an argument; NULL: it is not given. */
const hac_logic_expression *hac_logic_argument_expression(const hac_logic_piece *piece, const char *name);
/* The value of a WORD, given or by default. */
int hac_logic_argument_word(const hac_logic_piece *piece, const char *name);
bool hac_logic_argument_truth(const hac_logic_piece *piece, const char *name);

/* How an OP walks its data: the Map interfaces. */
typedef enum hac_operation {
    HAC_OPERATION_NONE = 0, /* the file does not state it: the sub-operators decide */
    HAC_OPERATION_VECTOR_MAP,
    HAC_OPERATION_MATRIX_MAP,
    HAC_OPERATION_GLOBAL_MAP,
    HAC_OPERATION_CROSS_MAP,
    HAC_OPERATION_TASK_MAP,
    HAC_OPERATION_DIR_MAP,
    HAC_OPERATION_END
} hac_operation;
/* The name, such as "VectorMap". HAC_OPERATION_NONE: "". NULL: there is no such operation. */
const char *hac_operation_name(hac_operation operation);
const char *hac_operation_text(hac_operation operation);

typedef enum hac_step_kind { HAC_STEP_OP = 0, HAC_STEP_FOR, HAC_STEP_WHILE, HAC_STEP_IF } hac_step_kind;

/* Steps run in order. An OP is a list of pieces without control flow: one graph of tasks. An OP of the
 * file that contains for, while or if becomes several steps with its name. */
typedef struct hac_logic_step hac_logic_step;
struct hac_logic_step {
    hac_step_kind kind;
    char *name; /* name of the OP; for control flow "for i", "while" or "if" */
    hac_logic_position at;
    hac_operation operation;
    char *device; /* processor type or device to which the step is pinned; NULL: not pinned */
    bool reducer; /* OP: the step is the file's reducer */

    hac_logic_piece *pieces; /* OP */
    size_t n_pieces;
    bool whole; /* OP: no piece comes from a library; the OP goes to a device as a whole */

    int index;                            /* FOR: a Var (i64), written before each iteration */
    hac_logic_expression *from, *to, *by; /* FOR: i64, constant or over Vars, [from, to); `by` NULL: 1 */
    /* FOR: no iteration needs a result of another one, so the loop may be split into sub-loops */
    bool independent;
    unsigned split; /* FOR: number of sub-loops; 0: the file does not state it */
    struct hac_logic_collect {
        /* Row i of `out`, which has as many rows as there are iterations, is what iteration i leaves in
         * `in`. */
        int in, out;
    } * collect;
    size_t n_collect;

    hac_logic_expression *condition; /* WHILE, IF: bool, over Vars */
    uint64_t rounds;                 /* WHILE: maximum number of rounds; reaching it is no error */
    /* WHILE: the first round runs before the condition is evaluated, because the condition reads results of
     * the round */
    bool first;

    hac_logic_step *body; /* the steps of a loop, or the `then` of an IF */
    size_t n_body;
    hac_logic_step *otherwise; /* the `else` of an IF */
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
    size_t n_pieces;            /* number of pieces of all steps and of the reducer */
    hac_logic_reducer *reducer; /* runs after the steps; NULL: no reducer */
    hac_logic_output *outputs;
    size_t n_outputs;
    char **notes; /* hints that are no errors: "FILE:LINE:COLUMN: …" */
    size_t n_notes;
} hac_logic;

/* Reads and checks a file. `library` NULL: built-in sub-operators only. `problems` may be NULL; *err has
 * the first problem. HAC_INVALID: the file is wrong; HAC_NOT_FOUND, HAC_IO: it cannot be read. */
HAC_MUST_USE hac_status hac_logic_read(const char *path, const hac_library *library, hac_logic **ret,
                                       hac_logic_problems *problems, hac_error *err);
/* Reads and checks a file with the operators of this user. *ret_library is set even if the file is wrong.
 * The logic needs the library as long as it lives. */
HAC_MUST_USE hac_status hac_logic_read_own(const char *path, hac_library **ret_library, hac_logic **ret,
                                           hac_logic_problems *problems, hac_error *err);
HAC_MUST_USE hac_status hac_logic_parse(const char *file, const char *text, size_t length,
                                        const hac_library *library, hac_logic **ret,
                                        hac_logic_problems *problems, hac_error *err);
void hac_logic_free(hac_logic *logic);

/* Sets ret[v] for each vector v that some of the steps may write; `ret` has HAC_LOGIC_VECTORS_MAX
 * elements. */
void hac_logic_mark_writes(const hac_logic_step *steps, size_t n, bool *ret);
/* The index of a vector or an input by name; -1: not found. */
int hac_logic_vector_find(const hac_logic *logic, const char *name);
int hac_logic_input_find(const hac_logic *logic, const char *name);
/* The vector with the file number of each row of this dimension; -1: the rows are not of a directory. */
int hac_logic_file_numbers(const hac_logic *logic, int rows);

#endif
