/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of reading one logic file, or one definition of a user's: what all of check_*.c work on.
 *
 * The steps are walked several times. What a vector is (template, type) holds for the whole program: a walk
 * that finds that one has to grow is done over, until nothing grows. What a vector has at a place (a value at
 * all, how many rows) follows the control flow; bodies of loops are walked until that is settled, too. Only
 * the last walk reports problems, and its steps are the program.
 *
 * A function that returns HAC_INVALID has reported a problem (hac_logic_problem); any other failure ends all.
 */
#ifndef OPSPLIT_CHECK_H
#define OPSPLIT_CHECK_H

#include "base/arena.h"
#include "config/yaml_tree.h"
#include "opsplit/logic.h"

#define HAC_LOGIC_DIMENSIONS_MAX 4096
#define HAC_LOGIC_LOOPS_MAX      4      /* loops within loops */
#define HAC_LOGIC_USES_MAX       4      /* OPs of users within such */
#define HAC_LOGIC_WORK_MAX       100000 /* pieces looked at, in all walks together */
#define HAC_LOGIC_PARAMETERS_MAX 32     /* of a definition */

/* What a vector has at a place of the program. */
typedef struct hac_vector_state {
    bool defined;
    unsigned maybe; /* line of control flow that may have given it a value; 0: none has */
    int rows, columns, entries, below;
} hac_vector_state;

typedef struct hac_dimension_key {
    const void *node; /* what makes it … */
    const char *prefix;
    int which;    /* … and which of its dimensions */
    int *members; /* HAC_DIMENSION_JOIN: of what, ascending */
    size_t n_members;
} hac_dimension_key;

typedef struct hac_binding {
    const char *name;
    int vector;
} hac_binding;

/* Where names are looked up: the file, or the body of a user's OP. */
typedef struct hac_logic_scope {
    const char *file;   /* for messages */
    const char *prefix; /* of names that are no parameters: "step." */
    hac_binding bound[HAC_LOGIC_PARAMETERS_MAX];
    size_t n_bound;
    bool closed; /* only what is bound is seen */
} hac_logic_scope;

/* What the pieces of an OP have in common. */
typedef struct hac_op_context {
    const char *name; /* NULL: pieces outside of an OP */
    hac_operation operation;
    const char *device;
} hac_op_context;

/* A list that grows in the arena. */
typedef struct hac_grow {
    void *data;
    size_t n, room;
} hac_grow;

/* The prefix that the names of a use of an OP have. */
typedef struct hac_prefix {
    const hac_yaml_node *node;
    const char *outer, *prefix;
} hac_prefix;

/* A definition of a user's, parsed; kept for as long as the check lasts. */
typedef struct hac_definition hac_definition;

typedef struct hac_logic_checker {
    hac_logic *logic;
    hac_arena *arena;
    const hac_library *library; /* NULL: only what is built in */
    hac_logic_scope *scope;
    hac_op_context context;

    hac_vector_state state[HAC_LOGIC_VECTORS_MAX];
    const hac_yaml_node *value[HAC_LOGIC_VECTORS_MAX];     /* constant contents, as written */
    const hac_yaml_node *partition[HAC_LOGIC_VECTORS_MAX]; /* as written */
    bool written[HAC_LOGIC_VECTORS_MAX];                   /* by some piece */
    hac_dimension_key keys[HAC_LOGIC_DIMENSIONS_MAX];
    size_t room_dimensions;

    bool grew;      /* in this walk */
    unsigned quiet; /* > 0: problems are not for reporting */
    bool no_memory; /* there was none: what is found wrong then need not be */
    unsigned loops, uses;
    size_t work, n_pieces;

    hac_definition *definitions; /* a list */
    hac_grow prefixes;           /* hac_prefix: of uses of OPs so far */

    hac_grow problems; /* char * */
    hac_grow notes;    /* char * */
    hac_grow programs; /* hac_program *, owned */
    hac_error *err;
} hac_logic_checker;

/* ---- problems, memory (check.c) ---- */

void *hac_logic_alloc(hac_logic_checker *c, size_t bytes); /* NULL: *c->err says so */
char *hac_logic_copy(hac_logic_checker *c, const char *text);
char *hac_logic_print(hac_logic_checker *c, const char *fmt, ...) HAC_PRINTF(2, 3);
/* A place for one more of `size` bytes; NULL: no memory. */
void *hac_logic_grow(hac_logic_checker *c, hac_grow *list, size_t size);

/* "FILE:LINE:COLUMN: …" where the node's value, or its key, begins. Returns HAC_INVALID. */
hac_status hac_logic_problem(hac_logic_checker *c, const hac_yaml_node *node, const char *fmt, ...)
    HAC_PRINTF(3, 4);
hac_status hac_logic_problem_key(hac_logic_checker *c, const hac_yaml_node *node, const char *fmt, ...)
    HAC_PRINTF(3, 4);
/* A message that says where by itself. */
hac_status hac_logic_problem_text(hac_logic_checker *c, const char *message);
/* At a character of a text, from 1; 0: of the whole. */
hac_status hac_logic_problem_in(hac_logic_checker *c, const hac_yaml_node *node, size_t character,
                                const char *message);
void hac_logic_note(hac_logic_checker *c, const hac_yaml_node *node, const char *fmt, ...) HAC_PRINTF(3, 4);
hac_status hac_logic_no_memory(hac_logic_checker *c);
hac_logic_position hac_logic_at(const hac_yaml_node *node);
hac_logic_position hac_logic_key_at(const hac_yaml_node *node);
/* The node, placed where its key is: for messages about the key. */
static inline hac_yaml_node hac_logic_key_node(const hac_yaml_node *node)
{
    hac_yaml_node key = *node;
    key.line = node->key_line;
    key.column = node->key_column;
    key.text_column = 0;
    return key;
}
/* Whether a status is one that checking goes on after. */
static inline bool hac_logic_goes_on(hac_status status)
{
    return status == HAC_OK || status == HAC_INVALID;
}

/* ---- keys and values of YAML (check_fields.c) ---- */

const hac_yaml_node *hac_logic_field(const hac_yaml_node *map, const char *name); /* NULL: not given */
/* Refuses keys of the map that are not among `allowed`, words with a blank between. */
hac_status hac_logic_fields(hac_logic_checker *c, const hac_yaml_node *map, const char *allowed);
hac_status hac_logic_need(hac_logic_checker *c, const hac_yaml_node *node, hac_yaml_kind kind);
/* A text that is not empty. */
hac_status hac_logic_text(hac_logic_checker *c, const hac_yaml_node *node, const char **ret);
hac_status hac_logic_whole(hac_logic_checker *c, const hac_yaml_node *node, uint64_t least, uint64_t most,
                           uint64_t *ret);
hac_status hac_logic_truth(hac_logic_checker *c, const hac_yaml_node *node, bool *ret);
/* One of `words`, with a blank between; *ret is its place. */
hac_status hac_logic_word(hac_logic_checker *c, const hac_yaml_node *node, const char *words, int *ret);
/* A name that a vector, input, output or parameter may be given. */
hac_status hac_logic_new_name(hac_logic_checker *c, const hac_yaml_node *node, const char *name);
hac_status hac_logic_device(hac_logic_checker *c, const hac_yaml_node *node, char **ret);
/* "there are: a, b (did you mean a?)" of words with a blank between; `ret` has HAC_SUGGEST_TEXT_MAX bytes. */
const char *hac_logic_there_are(const char *name, const char *words, char *ret);
/* The i-th of words with a blank between, into ret; false: there are not so many. */
bool hac_logic_nth_word(const char *words, size_t i, char *ret, size_t room);

/* ---- dimensions and vectors (check_vectors.c) ---- */

int hac_dimension_constant(hac_logic_checker *c, uint64_t value);
int hac_dimension_input(hac_logic_checker *c, int input);
/* The value of a Var: a constant if nothing ever writes it. */
int hac_dimension_var(hac_logic_checker *c, int vector);
/* What `node` finds out; name is made with the format once. */
int hac_dimension_data(hac_logic_checker *c, const hac_yaml_node *node, int which, const char *what);
int hac_dimension_parameter(hac_logic_checker *c, const char *name);
int hac_dimension_join(hac_logic_checker *c, int a, int b);
const char *hac_dimension_name(const hac_logic_checker *c, int dimension);
#define HAC_DIMENSION_PHRASE_SIZE 320
/* "10 rows", "as many rows as `filter` gives in line 9"; ret has HAC_DIMENSION_PHRASE_SIZE bytes. */
const char *hac_dimension_phrase(const hac_logic_checker *c, int dimension, const char *what, char *ret);
/* What has so many of something. */
typedef struct hac_counted {
    const char *name, *what; /* "p.x", "rows" */
    int dimension;
    bool is; /* an argument, which is a number itself */
} hac_counted;
/* Reports that two have to be as many, and are not. */
hac_status hac_dimensions_differ(hac_logic_checker *c, const hac_yaml_node *node, const hac_counted *a,
                                 const hac_counted *b);
/* Whether they are as many as far as can be told without data. */
bool hac_dimension_fits(const hac_logic_checker *c, int a, int b);

/* The vector of a name as the scope sees it; -1: there is none (nothing is reported). */
int hac_vector_lookup(hac_logic_checker *c, const char *name);
/* The same, or a new one; -1: there are too many (reported) or no memory. */
int hac_vector_lookup_or_add(hac_logic_checker *c, const hac_yaml_node *node, const char *name);
int hac_vector_add(hac_logic_checker *c, const hac_yaml_node *node, const char *full_name);
/* As it is called where one stands. */
const char *hac_vector_name(const hac_logic_checker *c, int vector);
/* A vector that is read: reports an unknown name and one without a value. */
hac_status hac_vector_read(hac_logic_checker *c, const hac_yaml_node *node, const char *name, int *ret);
/* Reports that there is none of that name, at a character of the text (0: of the whole). */
hac_status hac_vector_unknown(hac_logic_checker *c, const hac_yaml_node *node, size_t character,
                              const char *name);
hac_status hac_vector_defined(hac_logic_checker *c, const hac_yaml_node *node, int vector);

/* What is written into a vector. */
typedef struct hac_written {
    hac_vector_template form;
    hac_kind kind;
    int rows, columns, entries, below;
    bool flexible;   /* a program makes it, which can give any kind of number */
    const char *who; /* "`csr`" */
} hac_written;
hac_status hac_vector_write(hac_logic_checker *c, const hac_yaml_node *node, int vector,
                            const hac_written *written);

/* The kind that has the values of both; HAC_KIND_NONE: there is none. */
hac_kind hac_kind_join(hac_kind a, hac_kind b);

/* What holds after either of two ways: `line` is where they part. */
void hac_states_merge(hac_logic_checker *c, const hac_vector_state *a, const hac_vector_state *b,
                      unsigned line, hac_vector_state *ret);
bool hac_states_equal(const hac_logic_checker *c, const hac_vector_state *a, const hac_vector_state *b);

/* The section `vectors`, and what is left to do for it when all is settled. */
hac_status hac_check_vectors(hac_logic_checker *c, const hac_yaml_node *map);
hac_status hac_finish_vectors(hac_logic_checker *c);
/* template, type, rows, columns of a declared vector or parameter, into an untouched vector. */
hac_status hac_check_declared(hac_logic_checker *c, const hac_yaml_node *map, hac_logic_vector *ret);

/* ---- constant contents (check_values.c) ---- */

/* What template, type and shape a value suggests, where they are not declared (NONE). */
hac_status hac_value_describe(hac_logic_checker *c, const hac_yaml_node *map, const hac_yaml_node *value,
                              hac_logic_vector *vector, hac_vector_state *state);
/* The contents, in the vector's final template and type. */
hac_status hac_value_build(hac_logic_checker *c, const hac_yaml_node *value, hac_logic_vector *vector);

/* ---- expressions (check_expressions.c) ---- */

/* Shape of what an expression gives. */
typedef struct hac_shape {
    hac_vector_template form;
    int rows, columns, entries, below;
} hac_shape;

/* The kind that vectors have for values of a type; NONE: they have none. */
hac_kind hac_element_of(hac_value_type type);

/* Compiles; `as` HAC_KIND_NONE: its own kind. HAC_INVALID also when it reads a vector of which nothing is
 * known because of an earlier problem. `most`: vectors that it may read. */
hac_status hac_check_expression(hac_logic_checker *c, const hac_yaml_node *node, const char *text,
                                hac_kind as, unsigned most, hac_logic_expression **ret, hac_shape *ret_shape);
/* The same over Vars only: one value. */
hac_status hac_check_scalar(hac_logic_checker *c, const hac_yaml_node *node, hac_kind as,
                            hac_logic_expression **ret);
/* A constant expression's value as a whole number; false: it is none. */
bool hac_expression_constant(const hac_logic_expression *expression, int64_t *ret);

/* ---- pieces (check_pieces.c, check_arguments.c) ---- */

/* One piece: `node` is the entry whose key is its name. */
hac_status hac_check_piece(hac_logic_checker *c, const hac_yaml_node *node, hac_logic_piece *ret);
/* Its arguments by the library's row, and what it writes. */
hac_status hac_check_arguments(hac_logic_checker *c, const hac_yaml_node *node, hac_logic_piece *piece);
/* One name of a `let`. */
hac_status hac_check_assignment(hac_logic_checker *c, const hac_yaml_node *let, const hac_yaml_node *node,
                                hac_logic_piece *ret);
/* What a piece reads and writes, from its arguments. */
hac_status hac_piece_vectors(hac_logic_checker *c, hac_logic_piece *piece);

/* ---- steps (check_steps.c, check_loops.c) ---- */

hac_status hac_check_steps(hac_logic_checker *c, const hac_yaml_node *list, hac_logic_step **ret,
                           size_t *ret_n);
hac_status hac_check_loop(hac_logic_checker *c, const hac_yaml_node *item, hac_logic_step *ret);
/* Whether no iteration needs what another one leaves, and which vectors it writes. */
bool hac_body_is_independent(const hac_logic *logic, const hac_logic_step *steps, size_t n, int index,
                             bool *ret_written);

/* ---- inputs and outputs (check_inputs.c, check_outputs.c) ---- */

hac_status hac_check_inputs(hac_logic_checker *c, const hac_yaml_node *map);
/* An input with `template`: a vector that a program hands over (check_handed.c). */
hac_status hac_check_handed(hac_logic_checker *c, const hac_yaml_node *map, int index);
/* A number, or as many as one of the inputs before `end` has rows: `rows: points`. */
hac_status hac_check_extent(hac_logic_checker *c, const hac_yaml_node *node, int end, int *ret);
hac_status hac_check_outputs(hac_logic_checker *c, const hac_yaml_node *map);
hac_status hac_check_reducer(hac_logic_checker *c, const hac_yaml_node *map);
/* Reports a message of hac_query_compile at the key that it is about. */
hac_status hac_problem_of_query(hac_logic_checker *c, const hac_yaml_node *map, const char *message);

/* ---- users' definitions (definition.c) ---- */

typedef struct hac_parameter {
    const char *name;
    const hac_yaml_node *node;
    hac_logic_vector vector;    /* template, kind */
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
    hac_kind result; /* SUBOP: `result`; NONE: as its expression gives */
    hac_operation operation;
    hac_logic_scope scope; /* for messages about it */
};

/* The newest, or that version ("damp@2"), of the library, parsed; NULL in *ret: there is none. */
hac_status hac_definition_find(hac_logic_checker *c, hac_library_kind kind, const char *name,
                               hac_definition **ret);
/* Parses the text of one; it is kept by the checker. */
hac_status hac_definition_parse(hac_logic_checker *c, hac_library_kind kind, const char *file,
                                const char *text, size_t length, hac_definition **ret);
/* Checks a definition by itself, against the types of its own parameters. */
hac_status hac_definition_check(hac_logic_checker *c, const hac_definition *definition);
/* A piece that calls a user's sub-operator. */
hac_status hac_check_user_piece(hac_logic_checker *c, const hac_yaml_node *node, hac_definition *definition,
                                hac_logic_piece *piece);
/* `use: NAME` with `with: {…}` of an OP: its steps. */
hac_status hac_check_use(hac_logic_checker *c, const hac_yaml_node *item, const hac_yaml_node *use,
                         hac_grow *steps);
hac_status hac_check_list(hac_logic_checker *c, const hac_yaml_node *list, hac_grow *steps);

/* Whether an OP's steps have what its `operation`, which stands at `node`, walks. */
hac_status hac_check_operation(hac_logic_checker *c, const hac_yaml_node *node, hac_operation operation,
                               const hac_logic_step *steps, size_t n);

/* Reads a whole checker's worth: begins, ends. */
hac_status hac_checker_new(const char *file, const hac_library *library, hac_logic_checker **ret,
                           hac_error *err);
/* Of several problems the first one is the error; a failure that is none is the error itself. */
hac_status hac_checker_conclude(hac_logic_checker *c, hac_status status);
/* Gives the logic away in *ret (if not NULL), the problems in *problems (likewise). */
void hac_checker_finish(hac_logic_checker *c, hac_logic **ret, hac_logic_problems *problems);
void hac_checker_free(hac_logic_checker *c);
/* Calls `walk` until nothing grows; the last time its problems count. */
hac_status hac_checker_settle(hac_logic_checker *c,
                              hac_status (*walk)(hac_logic_checker *c, const void *what), const void *what);

#endif
