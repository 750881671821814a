/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of reading one logic file, or one definition of a user. All of check_*.c work on it.
 *
 * The steps are walked several times. The template and the type of a vector hold for the whole program: if a
 * walk finds that one has to grow, the walk is repeated, until nothing grows. What a vector has at one place
 * (whether it has a value, how many rows) follows the control flow; bodies of loops are walked until that
 * settles, too. Only the last walk reports problems, and its steps are the program.
 *
 * A function that returns HAC_INVALID has reported a problem (hac_logic_problem). Any other failure ends the
 * check.
 */
#ifndef OPSPLIT_CHECK_H
#define OPSPLIT_CHECK_H

#include "base/arena.h"
#include "library/logic_access.h"

#define HAC_LOGIC_DIMENSIONS_MAX 4096
#define HAC_LOGIC_LOOPS_MAX      4      /* nested loops */
#define HAC_LOGIC_USES_MAX       4      /* nested OPs of users */
#define HAC_LOGIC_WORK_MAX       100000 /* pieces checked in all walks together */
#define HAC_LOGIC_PARAMETERS_MAX 32     /* of a definition */

/* What a vector has at one place of the program. */
typedef struct hac_vector_state {
    bool defined;
    unsigned maybe; /* the line of control flow that may have given it a value; 0: none */
    int rows, columns, entries, below;
} hac_vector_state;

typedef struct hac_dimension_key {
    const void *node; /* the node that makes the dimension */
    const char *prefix;
    int which;    /* which of the node's dimensions */
    int *members; /* HAC_DIMENSION_JOIN: the dimensions that it joins, ascending */
    size_t n_members;
} hac_dimension_key;

typedef struct hac_binding {
    const char *name;
    int vector;
} hac_binding;

/* Where names are looked up: the file, or the body of a user's OP. */
typedef struct hac_logic_scope {
    const char *file;   /* for messages */
    const char *prefix; /* of names that are not parameters: "step." */
    hac_binding bound[HAC_LOGIC_PARAMETERS_MAX];
    size_t n_bound;
    bool closed; /* only bound names are visible */
} hac_logic_scope;

/* What the pieces of an OP share. */
typedef struct hac_op_context {
    const char *name; /* NULL: pieces outside of an OP */
    hac_operation operation;
    const char *device;
} hac_op_context;

/* A list that grows in the arena. */
typedef struct hac_grow {
    void *data;
    size_t n, capacity;
} hac_grow;

/* The prefix of names in an OP that is used. */
typedef struct hac_prefix {
    const hac_yaml_node *node;
    const char *outer, *prefix;
} hac_prefix;

/* A parsed definition of a user. It lives as long as the check. */
typedef struct hac_definition hac_definition;

typedef struct hac_logic_checker {
    hac_logic *logic;
    hac_arena *arena;
    const hac_library *library; /* NULL: built-in sub-operators only */
    hac_logic_scope *scope;
    hac_op_context context;

    hac_vector_state state[HAC_LOGIC_VECTORS_MAX];
    const hac_yaml_node *value[HAC_LOGIC_VECTORS_MAX];     /* constants, as written */
    const hac_yaml_node *partition[HAC_LOGIC_VECTORS_MAX]; /* as written */
    bool written[HAC_LOGIC_VECTORS_MAX];                   /* some piece writes it */
    hac_dimension_key keys[HAC_LOGIC_DIMENSIONS_MAX];
    size_t dimensions_capacity;

    bool grew;      /* in this walk */
    unsigned quiet; /* > 0: problems are not reported */
    bool no_memory; /* memory ran out, so problems may be wrong */
    unsigned loops, uses;
    size_t work, n_pieces;

    hac_definition *definitions; /* a list */
    hac_grow prefixes;           /* hac_prefix, of all OPs used so far */

    hac_grow problems; /* char * */
    hac_grow notes;    /* char * */
    hac_grow programs; /* hac_program *, owned */
    hac_error *err;
} hac_logic_checker;

/* ---- problems, memory (problems.c) ---- */

void *hac_logic_alloc(hac_logic_checker *c, size_t bytes); /* NULL: no memory; *c->err says so */
char *hac_logic_copy(hac_logic_checker *c, const char *text);
char *hac_logic_print(hac_logic_checker *c, const char *fmt, ...) HAC_PRINTF(2, 3);
/* Makes room for one more element of `size` bytes. NULL: no memory. */
void *hac_logic_grow(hac_logic_checker *c, hac_grow *list, size_t size);

/* Reports a problem, "FILE:LINE:COLUMN: …", at the node's value or at its key. Returns HAC_INVALID. */
hac_status hac_logic_problem(hac_logic_checker *c, const hac_yaml_node *node, const char *fmt, ...)
    HAC_PRINTF(3, 4);
hac_status hac_logic_problem_key(hac_logic_checker *c, const hac_yaml_node *node, const char *fmt, ...)
    HAC_PRINTF(3, 4);
/* Reports a message that has its place already. */
hac_status hac_logic_problem_text(hac_logic_checker *c, const char *message);
/* Reports a problem at a character of a text, from 1; 0: at the whole text. */
hac_status hac_logic_problem_in(hac_logic_checker *c, const hac_yaml_node *node, size_t character,
                                const char *message);
void hac_logic_note(hac_logic_checker *c, const hac_yaml_node *node, const char *fmt, ...) HAC_PRINTF(3, 4);
hac_status hac_logic_no_memory(hac_logic_checker *c);
hac_logic_position hac_logic_at(const hac_yaml_node *node);
hac_logic_position hac_logic_key_at(const hac_yaml_node *node);
/* The node with the position of its key, for problems about the key. */
static inline hac_yaml_node hac_logic_key_node(const hac_yaml_node *node)
{
    hac_yaml_node key = *node;
    key.line = node->key_line;
    key.column = node->key_column;
    key.text_column = 0;
    return key;
}
/* Whether the check goes on after this status. */
static inline bool hac_logic_goes_on(hac_status status)
{
    return status == HAC_OK || status == HAC_INVALID;
}

/* ---- keys and values of YAML (check_fields.c) ---- */

/* Refuses keys of the map that are not among the words `allowed`. */
hac_status hac_logic_fields(hac_logic_checker *c, const hac_yaml_node *map, const char *allowed);
hac_status hac_logic_need(hac_logic_checker *c, const hac_yaml_node *node, hac_yaml_kind kind);
/* Checks each entry of a map, also after one that is wrong. Returns the first status that is not HAC_OK. */
hac_status hac_logic_each(hac_logic_checker *c, const hac_yaml_node *map,
                          hac_status (*check)(hac_logic_checker *c, const hac_yaml_node *entry));
/* Reads a text that is not empty. */
hac_status hac_logic_text(hac_logic_checker *c, const hac_yaml_node *node, const char **ret);
hac_status hac_logic_whole(hac_logic_checker *c, const hac_yaml_node *node, uint64_t min, uint64_t max,
                           uint64_t *ret);
hac_status hac_logic_truth(hac_logic_checker *c, const hac_yaml_node *node, bool *ret);
/* Reads one of `words`; *ret is its index. */
hac_status hac_logic_word(hac_logic_checker *c, const hac_yaml_node *node, const char *words, int *ret);
/* Checks a new name of a vector, input, output or parameter. */
hac_status hac_logic_new_name(hac_logic_checker *c, const hac_yaml_node *node, const char *name);
hac_status hac_logic_device(hac_logic_checker *c, const hac_yaml_node *node, char **ret);
/* Prints "there are: a, b (did you mean a?)". `ret` has HAC_SUGGEST_TEXT_MAX bytes. */
const char *hac_logic_there_are(const char *name, const char *words, char *ret);

/* ---- dimensions (check_dimensions.c) ---- */

int hac_dimension_constant(hac_logic_checker *c, uint64_t value);
int hac_dimension_input(hac_logic_checker *c, int input);
/* The value of a Var; it is a constant if no piece writes the Var. */
int hac_dimension_var(hac_logic_checker *c, int vector);
/* A number that `node` finds. Its name is made only once. */
int hac_dimension_data(hac_logic_checker *c, const hac_yaml_node *node, int which, const char *what);
int hac_dimension_parameter(hac_logic_checker *c, const char *name);
int hac_dimension_join(hac_logic_checker *c, int a, int b);
const char *hac_dimension_name(const hac_logic_checker *c, int dimension);
#define HAC_DIMENSION_PHRASE_SIZE 320
/* Prints "10 rows" or "as many rows as `filter` gives in line 9". `ret` has HAC_DIMENSION_PHRASE_SIZE
 * bytes. */
const char *hac_dimension_phrase(const hac_logic_checker *c, int dimension, const char *what, char *ret);
/* Something with a number of rows or columns, for a message. */
typedef struct hac_counted {
    const char *name, *what; /* "p.x", "rows" */
    int dimension;
    bool is; /* an argument that is a number itself */
} hac_counted;
/* Reports that two numbers have to be equal. */
hac_status hac_dimensions_differ(hac_logic_checker *c, const hac_yaml_node *node, const hac_counted *a,
                                 const hac_counted *b);
/* Reads a number, or the name of an input before `end` whose rows count: `rows: points`. */
hac_status hac_check_extent(hac_logic_checker *c, const hac_yaml_node *node, int end, int *ret);
/* Whether two numbers may be equal, as far as is known without data. */
bool hac_dimension_fits(const hac_logic_checker *c, int a, int b);

/* ---- names of vectors (check_names.c) ---- */

/* The vector that a name means in the scope; -1: there is none. Reports nothing. */
int hac_vector_lookup(hac_logic_checker *c, const char *name);
/* The same, or a new vector; -1: too many vectors (reported), or no memory. */
int hac_vector_lookup_or_add(hac_logic_checker *c, const hac_yaml_node *node, const char *name);
int hac_vector_add(hac_logic_checker *c, const hac_yaml_node *node, const char *full_name);
/* The name of a vector as the scope writes it. */
const char *hac_vector_name(const hac_logic_checker *c, int vector);
/* Finds a vector that is read. Reports an unknown name, and a vector without a value. */
hac_status hac_vector_read(hac_logic_checker *c, const hac_yaml_node *node, const char *name, int *ret);
/* Reports an unknown name at a character of the text (0: at the whole text). */
hac_status hac_vector_unknown(hac_logic_checker *c, const hac_yaml_node *node, size_t character,
                              const char *name);
hac_status hac_vector_defined(hac_logic_checker *c, const hac_yaml_node *node, int vector);

/* What a piece writes into a vector. */
typedef struct hac_written {
    hac_vector_template form;
    hac_kind kind;
    int rows, columns, entries, below;
    bool flexible;   /* a program makes the values, in any kind of number */
    const char *who; /* "`csr`" */
} hac_written;
hac_status hac_vector_write(hac_logic_checker *c, const hac_yaml_node *node, int vector,
                            const hac_written *written);

/* The kind that holds the values of both; HAC_KIND_NONE: there is none. */
hac_kind hac_kind_join(hac_kind a, hac_kind b);

/* What holds after either of two branches, which part at `line`. */
void hac_states_merge(hac_logic_checker *c, const hac_vector_state *a, const hac_vector_state *b,
                      unsigned line, hac_vector_state *ret);
bool hac_states_equal(const hac_logic_checker *c, const hac_vector_state *a, const hac_vector_state *b);

/* ---- the section `vectors` (check_vectors.c) ---- */

/* Checks the section. hac_finish_vectors does the rest when types have settled. */
hac_status hac_check_vectors(hac_logic_checker *c, const hac_yaml_node *map);
hac_status hac_finish_vectors(hac_logic_checker *c);
/* Reads template and type of a declared vector or parameter into a new vector. */
hac_status hac_check_declared(hac_logic_checker *c, const hac_yaml_node *map, hac_logic_vector *ret);

/* ---- constant contents (check_values.c) ---- */

/* Finds the template, type and shape of a value where they are not declared (NONE). */
hac_status hac_value_describe(hac_logic_checker *c, const hac_yaml_node *map, const hac_yaml_node *value,
                              hac_logic_vector *vector, hac_vector_state *state);
/* Makes the bytes of a value, in the vector's final template and type. */
hac_status hac_value_build(hac_logic_checker *c, const hac_yaml_node *value, hac_logic_vector *vector);

/* ---- expressions (check_expressions.c) ---- */

/* The shape of the result of an expression. */
typedef struct hac_shape {
    hac_vector_template form;
    int rows, columns, entries, below;
} hac_shape;

/* The kind in which vectors store values of a type; NONE: they do not. */
hac_kind hac_element_of(hac_value_type type);

/* Compiles an expression. `as` HAC_KIND_NONE: to its own kind. `max`: the maximum number of vectors that
 * it may read. HAC_INVALID also if an earlier problem has left a vector unknown. */
hac_status hac_check_expression(hac_logic_checker *c, const hac_yaml_node *node, const char *text,
                                hac_kind as, unsigned max, hac_logic_expression **ret, hac_shape *ret_shape);
/* Compiles an expression over Vars: one value. */
hac_status hac_check_scalar(hac_logic_checker *c, const hac_yaml_node *node, hac_kind as,
                            hac_logic_expression **ret);
/* The value of a constant expression as a whole number; false: it is not one. */
bool hac_expression_constant(const hac_logic_expression *expression, int64_t *ret);

/* ---- pieces (check_pieces.c, check_arguments.c) ---- */

/* Checks one piece. `node` is the entry whose key is the name of the piece. */
hac_status hac_check_piece(hac_logic_checker *c, const hac_yaml_node *node, hac_logic_piece *ret);
/* Checks the arguments by their row in the catalogue, and the results. */
hac_status hac_check_arguments(hac_logic_checker *c, const hac_yaml_node *node, hac_logic_piece *piece);
/* Checks one name of a `let`. */
hac_status hac_check_assignment(hac_logic_checker *c, const hac_yaml_node *let, const hac_yaml_node *node,
                                hac_logic_piece *ret);
/* Sets what a piece reads and writes, from its arguments. */
hac_status hac_piece_vectors(hac_logic_checker *c, hac_logic_piece *piece);

/* ---- steps (check_steps.c, check_loops.c) ---- */

/* Checks a list of steps, the body of a loop or of an OP, and appends them to `steps`. The checks of loops
 * and of used OPs get it as a parameter: bodies may have loops and OPs of their own. */
typedef hac_status hac_body_checker(hac_logic_checker *c, const hac_yaml_node *list, hac_grow *steps);
hac_body_checker hac_check_list;
hac_status hac_check_steps(hac_logic_checker *c, const hac_yaml_node *list, hac_logic_step **ret,
                           size_t *ret_n);
hac_status hac_check_loop(hac_logic_checker *c, const hac_yaml_node *item, hac_body_checker *check_body,
                          hac_logic_step *ret);
/* Whether no iteration needs a result of another one. Sets the vectors that the body writes. */
bool hac_body_is_independent(const hac_logic *logic, const hac_logic_step *steps, size_t n, int index,
                             bool *ret_written);

/* ---- inputs and outputs (check_inputs.c, check_outputs.c) ---- */

hac_status hac_check_inputs(hac_logic_checker *c, const hac_yaml_node *map);
/* Checks an input with `template`: a vector that a program passes in. */
hac_status hac_check_input_vector(hac_logic_checker *c, const hac_yaml_node *map, int index);
hac_status hac_check_outputs(hac_logic_checker *c, const hac_yaml_node *map);
hac_status hac_check_reducer(hac_logic_checker *c, const hac_yaml_node *map);
/* Reports a message of hac_query_compile at the key that it is about. */
hac_status hac_problem_of_query(hac_logic_checker *c, const hac_yaml_node *map, const char *message);

/* ---- users' definitions (definition.c) ---- */

typedef struct hac_parameter {
    const char *name;
    const hac_yaml_node *node;
    hac_logic_vector vector;    /* template and kind */
    const char *rows, *columns; /* names of dimensions, or NULL */
} hac_parameter;

struct hac_definition {
    hac_definition *next;
    hac_library_kind kind;
    const char *name;
    unsigned version;
    const char *file; /* for messages */
    const char *about;
    hac_yaml_node *root;       /* owned */
    const hac_yaml_node *body; /* OP: `do`; SUBOP: `expr` */
    hac_parameter parameters[HAC_LOGIC_PARAMETERS_MAX];
    size_t n_parameters;
    hac_parameter results[HAC_LOGIC_PARAMETERS_MAX];
    size_t n_results;
    hac_kind result; /* SUBOP: `result`; NONE: the kind of its expression */
    hac_operation operation;
    hac_logic_scope scope; /* for messages about the definition */
};

/* Finds and parses the newest version of a definition, or the one that the name states ("damp@2"). *ret is
 * NULL if there is none. */
hac_status hac_definition_find(hac_logic_checker *c, hac_library_kind kind, const char *name,
                               hac_definition **ret);
/* Parses the text of a definition. The checker keeps it. */
hac_status hac_definition_parse(hac_logic_checker *c, hac_library_kind kind, const char *file,
                                const char *text, size_t length, hac_definition **ret);
/* Checks a definition by itself, with the types of its parameters. */
hac_status hac_definition_check(hac_logic_checker *c, const hac_definition *definition,
                                hac_body_checker *check_body);
/* Checks a piece that calls a user's sub-operator. */
hac_status hac_check_user_piece(hac_logic_checker *c, const hac_yaml_node *node, hac_definition *definition,
                                hac_logic_piece *piece);
/* Checks `use: NAME` with `with: {…}` of an OP, and appends its steps. */
hac_status hac_check_use(hac_logic_checker *c, const hac_yaml_node *item, const hac_yaml_node *use,
                         hac_body_checker *check_body, hac_grow *steps);

/* Checks that the steps of an OP have what its `operation` walks. `node` is for messages. */
hac_status hac_check_operation(hac_logic_checker *c, const hac_yaml_node *node, hac_operation operation,
                               const hac_logic_step *steps, size_t n);

/* The begin and the end of a check. */
hac_status hac_checker_new(const char *file, const hac_library *library, hac_logic_checker **ret,
                           hac_error *err);
/* Returns the first problem as the error, or else the failure itself. */
hac_status hac_checker_conclude(hac_logic_checker *c, hac_status status);
/* Moves the logic to *ret and the problems to *problems; both may be NULL. */
void hac_checker_finish(hac_logic_checker *c, hac_logic **ret, hac_logic_problems *problems);
void hac_checker_free(hac_logic_checker *c);
/* Calls `walk` until nothing grows. Only the problems of the last call count. */
hac_status hac_checker_settle(hac_logic_checker *c,
                              hac_status (*walk)(hac_logic_checker *c, const void *what), const void *what);

#endif
