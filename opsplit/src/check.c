/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, messages, and the walks that settle what vectors are. */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define ARENA_BYTES ((size_t)64 * 1024 * 1024)
#define WALKS_MAX   64 /* templates and types can only grow, and not often */

/* A hac_logic with what it owns. */
typedef struct owner {
    hac_logic logic; /* first: hac_logic_free finds the rest */
    hac_arena arena;
    hac_program **programs;
    size_t n_programs;
} owner;

HAC_DEFINE_CLEANUP(hac_logic_checker *, hac_checker_free)

/* ---- memory ---- */

void *hac_logic_alloc(hac_logic_checker *c, size_t bytes)
{
    void *memory = hac_arena_alloc(c->arena, bytes > 0 ? bytes : 1);
    if (memory == NULL)
        (void)hac_logic_no_memory(c);
    return memory;
}

hac_status hac_logic_no_memory(hac_logic_checker *c)
{
    c->no_memory = true;
    return hac_fail_no_memory(c->err);
}

char *hac_logic_copy(hac_logic_checker *c, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = hac_logic_alloc(c, bytes);
    return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}

char *hac_logic_print(hac_logic_checker *c, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int bytes = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = bytes >= 0 ? hac_logic_alloc(c, (size_t)bytes + 1) : NULL;
    if (text != NULL)
        vsnprintf(text, (size_t)bytes + 1, fmt, again);
    va_end(again);
    return text;
}

void *hac_logic_grow(hac_logic_checker *c, hac_grow *list, size_t size)
{
    if (list->n == list->room) {
        size_t room = list->room > 0 ? 2 * list->room : 8;
        void *data = hac_logic_alloc(c, room * size);
        if (data == NULL)
            return NULL;
        if (list->n > 0)
            memcpy(data, list->data, list->n * size);
        list->data = data;
        list->room = room;
    }
    return (char *)list->data + list->n++ * size;
}

/* ---- messages ---- */

hac_logic_position hac_logic_at(const hac_yaml_node *node)
{
    return (hac_logic_position){node->line, node->column};
}

hac_logic_position hac_logic_key_at(const hac_yaml_node *node)
{
    return (hac_logic_position){node->key_line, node->key_column};
}

hac_status hac_logic_problem_text(hac_logic_checker *c, const char *message)
{
    if (c->quiet > 0 || c->problems.n >= HAC_LOGIC_PROBLEMS_MAX)
        return HAC_INVALID;
    char *text = hac_logic_copy(c, message);
    for (size_t i = 0; text != NULL && i < c->problems.n; i++)
        if (strcmp(((char **)c->problems.data)[i], text) == 0)
            return HAC_INVALID; /* a user's OP that is used twice */
    char **entry = text != NULL ? hac_logic_grow(c, &c->problems, sizeof *entry) : NULL;
    if (entry == NULL)
        return HAC_NO_MEMORY;
    *entry = text;
    return HAC_INVALID;
}

static hac_status report(hac_logic_checker *c, hac_logic_position at, const char *message)
{
    hac_error place = HAC_ERROR_NONE;
    (void)hac_yaml_fail_at(c->scope->file, at.line, at.column, &place, "%s", message);
    return hac_logic_problem_text(c, place.message);
}

hac_status hac_logic_problem(hac_logic_checker *c, const hac_yaml_node *node, const char *fmt, ...)
{
    char message[HAC_ERROR_MESSAGE_SIZE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    return report(c, hac_logic_at(node), message);
}

hac_status hac_logic_problem_key(hac_logic_checker *c, const hac_yaml_node *node, const char *fmt, ...)
{
    char message[HAC_ERROR_MESSAGE_SIZE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    return report(c, hac_logic_key_at(node), message);
}

hac_status hac_logic_problem_in(hac_logic_checker *c, const hac_yaml_node *node, size_t character,
                                const char *message)
{
    hac_logic_position at = hac_logic_at(node);
    if (character == 0)
        return report(c, at, message);
    if (node->text_column == 0)
        return hac_logic_problem(c, node, "character %zu: %s", character, message);
    at.column = node->text_column + (unsigned)character - 1;
    return report(c, at, message);
}

void hac_logic_note(hac_logic_checker *c, const hac_yaml_node *node, const char *fmt, ...)
{
    char message[HAC_ERROR_MESSAGE_SIZE];
    hac_error place = HAC_ERROR_NONE;
    va_list args;
    if (c->quiet > 0 || c->notes.n >= HAC_LOGIC_PROBLEMS_MAX)
        return;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    (void)hac_yaml_fail_at(c->scope->file, node->key_line, node->key_column, &place, "%s", message);
    char *text = hac_logic_copy(c, place.message);
    char **entry = text != NULL ? hac_logic_grow(c, &c->notes, sizeof *entry) : NULL;
    if (entry != NULL)
        *entry = text;
}

/* ---- a checker ---- */

void hac_logic_free(hac_logic *logic)
{
    owner *o = (owner *)logic;
    if (o == NULL)
        return;
    for (size_t i = 0; i < o->n_programs; i++)
        hac_program_free(o->programs[i]);
    hac_arena_clear(&o->arena);
    free(o);
}

void hac_checker_free(hac_logic_checker *c)
{
    if (c == NULL)
        return;
    for (hac_definition *d = c->definitions; d != NULL; d = d->next)
        hac_yaml_free(d->root);
    if (c->logic != NULL) {
        owner *o = (owner *)c->logic;
        o->programs = c->programs.data;
        o->n_programs = c->programs.n;
    }
    hac_logic_free(c->logic);
    free(c);
}

static hac_status begin(hac_logic_checker *c, const char *file)
{
    hac_logic *logic = c->logic;
    c->scope = hac_logic_alloc(c, sizeof *c->scope);
    logic->file = hac_logic_copy(c, file);
    logic->name = logic->about = hac_logic_copy(c, "");
    logic->vectors = hac_logic_alloc(c, HAC_LOGIC_VECTORS_MAX * sizeof *logic->vectors);
    logic->dimensions = hac_logic_alloc(c, HAC_LOGIC_DIMENSIONS_MAX * sizeof *logic->dimensions);
    logic->inputs = hac_logic_alloc(c, HAC_LOGIC_INPUTS_MAX * sizeof *logic->inputs);
    logic->outputs = hac_logic_alloc(c, HAC_LOGIC_OUTPUTS_MAX * sizeof *logic->outputs);
    if (c->scope == NULL || logic->file == NULL || logic->about == NULL || logic->vectors == NULL ||
        logic->dimensions == NULL || logic->inputs == NULL || logic->outputs == NULL)
        return HAC_NO_MEMORY;
    c->scope->file = logic->file;
    c->scope->prefix = "";
    return hac_dimension_constant(c, 1) == HAC_DIMENSION_ONE ? HAC_OK : HAC_NO_MEMORY;
}

hac_status hac_checker_new(const char *file, const hac_library *library, hac_logic_checker **ret,
                           hac_error *err)
{
    hac_cleanup(hac_checker_free_cleanup) hac_logic_checker *c = calloc(1, sizeof *c);
    owner *o = calloc(1, sizeof *o);
    if (c == NULL || o == NULL) {
        free(o);
        return hac_fail_no_memory(err);
    }
    o->arena.limit = ARENA_BYTES;
    c->logic = &o->logic;
    c->arena = &o->arena;
    c->library = library;
    c->err = err;
    hac_status status = begin(c, file);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(c);
    return status;
}

void hac_checker_finish(hac_logic_checker *c, hac_logic **ret, hac_logic_problems *problems)
{
    if (problems != NULL) {
        char **messages = calloc(c->problems.n + 1, sizeof *messages);
        size_t n = 0;
        for (size_t i = 0; messages != NULL && i < c->problems.n; i++)
            if ((messages[n] = strdup(((char **)c->problems.data)[i])) != NULL)
                n++;
        *problems = (hac_logic_problems){messages, n};
    }
    if (ret == NULL)
        return;
    owner *o = (owner *)c->logic;
    o->programs = c->programs.data;
    o->n_programs = c->programs.n;
    o->logic.notes = c->notes.data;
    o->logic.n_notes = c->notes.n;
    *ret = &o->logic;
    c->logic = NULL;
}

hac_status hac_checker_conclude(hac_logic_checker *c, hac_status status)
{
    char **messages = c->problems.data;
    if (c->no_memory)
        return hac_fail_no_memory(c->err);
    if (status == HAC_INVALID && c->problems.n > 0)
        return hac_fail(c->err, HAC_INVALID, "%s", messages[0]);
    return status;
}

void hac_logic_problems_clear(hac_logic_problems *problems)
{
    for (size_t i = 0; i < problems->n; i++)
        free(problems->messages[i]);
    free(problems->messages);
    *problems = (hac_logic_problems)HAC_LOGIC_PROBLEMS_NONE;
}

/* What is wrong in an earlier walk may be right in a later one, when types are known. */
hac_status hac_checker_settle(hac_logic_checker *c,
                              hac_status (*walk)(hac_logic_checker *c, const void *what), const void *what)
{
    size_t problems = c->problems.n, notes = c->notes.n;
    for (unsigned i = 0;; i++) {
        c->grew = false;
        c->problems.n = problems;
        c->notes.n = notes;
        c->n_pieces = 0;
        c->quiet = 0;
        hac_status status = walk(c, what);
        if (c->no_memory)
            return hac_fail_no_memory(c->err);
        if (!hac_logic_goes_on(status))
            return status;
        if (!c->grew && status != HAC_OK && c->problems.n == problems)
            return hac_fail(c->err, HAC_INTERNAL, "%s is wrong, and nothing says why; this is a bug",
                            c->scope->file);
        if (!c->grew)
            return c->problems.n > problems ? HAC_INVALID : HAC_OK;
        if (i == WALKS_MAX)
            return hac_fail(c->err, HAC_INTERNAL, "the types of vectors do not settle; this is a bug");
    }
}

/* ---- looking things up ---- */

int hac_logic_vector_find(const hac_logic *logic, const char *name)
{
    for (size_t i = 0; i < logic->n_vectors; i++)
        if (strcmp(logic->vectors[i].name, name) == 0)
            return (int)i;
    return -1;
}

int hac_logic_input_find(const hac_logic *logic, const char *name)
{
    for (size_t i = 0; i < logic->n_inputs; i++)
        if (strcmp(logic->inputs[i].name, name) == 0)
            return (int)i;
    return -1;
}

int hac_logic_file_numbers(const hac_logic *logic, int rows)
{
    for (size_t i = 0; rows != HAC_DIMENSION_NONE && i < logic->n_inputs; i++)
        if (logic->inputs[i].directory && logic->inputs[i].rows == rows)
            return logic->inputs[i].file_vector;
    return -1;
}

const hac_logic_argument *hac_logic_argument_get(const hac_logic_piece *piece, const char *name)
{
    for (size_t i = 0; i < piece->n_arguments; i++)
        if (strcmp(piece->arguments[i].spec->name, name) == 0)
            return &piece->arguments[i];
    return NULL;
}

int hac_logic_argument_vector(const hac_logic_piece *piece, const char *name)
{
    const hac_logic_argument *argument = hac_logic_argument_get(piece, name);
    return argument != NULL && argument->n_vectors > 0 ? argument->vectors[0] : -1;
}

const hac_logic_expression *hac_logic_argument_expression(const hac_logic_piece *piece, const char *name)
{
    const hac_logic_argument *argument = hac_logic_argument_get(piece, name);
    return argument != NULL && argument->n_expressions > 0 ? argument->expressions[0] : NULL;
}

static int first_word(const hac_subop_argument *spec)
{
    char word[32];
    if (!hac_logic_nth_word(spec->words, 0, word, sizeof word))
        return 0;
    int function = strcmp(spec->name, "function") == 0 ? hac_op_function_find(word) : 0;
    return function > 0 ? function : 0;
}

int hac_logic_argument_word(const hac_logic_piece *piece, const char *name)
{
    const hac_logic_argument *argument = hac_logic_argument_get(piece, name);
    if (argument != NULL)
        return argument->word;
    const hac_subop_argument *spec = hac_subop_argument_find(piece->subop, name);
    return spec != NULL && spec->words != NULL ? first_word(spec) : 0;
}

bool hac_logic_argument_truth(const hac_logic_piece *piece, const char *name)
{
    const hac_logic_argument *argument = hac_logic_argument_get(piece, name);
    return argument != NULL && argument->integer != 0;
}
