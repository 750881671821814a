/* SPDX-License-Identifier: Apache-2.0 */
/* A check from its begin to its end, and the walks that settle the templates and types of vectors. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define ARENA_BYTES ((size_t)64 * 1024 * 1024)
#define WALKS_MAX   64 /* templates and types can only grow, and not often */

/* A hac_logic and what it owns. */
typedef struct owner {
    hac_logic logic; /* the first member: hac_logic_free gets a pointer to it */
    hac_arena arena;
    hac_program **programs;
    size_t n_programs;
} owner;

HAC_DEFINE_CLEANUP(hac_logic_checker *, hac_checker_free)

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

/* Problems of an earlier walk do not count: once types are known, there may be none. */
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
            return hac_fail(c->err, HAC_INTERNAL, "%s is wrong, but no problem was reported; this is a bug",
                            c->scope->file);
        if (!c->grew)
            return c->problems.n > problems ? HAC_INVALID : HAC_OK;
        if (i == WALKS_MAX)
            return hac_fail(c->err, HAC_INTERNAL, "the types of vectors do not settle; this is a bug");
    }
}
