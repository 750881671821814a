/* SPDX-License-Identifier: Apache-2.0 */
/* Names of vectors, and the messages about a name that nothing defines or that has no value yet; what is
 * written into a vector, and what it has at a place of the program. */
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "check.h"

/* ---- names ---- */

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

int hac_vector_lookup(hac_logic_checker *c, const char *name)
{
    const hac_logic_scope *scope = c->scope;
    for (size_t i = 0; i < scope->n_bound; i++)
        if (strcmp(scope->bound[i].name, name) == 0)
            return scope->bound[i].vector;
    size_t prefix = strlen(scope->prefix);
    for (size_t i = 0; i < c->logic->n_vectors; i++) {
        const char *full = c->logic->vectors[i].name;
        if (starts_with(full, scope->prefix) && strcmp(full + prefix, name) == 0)
            return (int)i;
    }
    return -1;
}

const char *hac_vector_name(const hac_logic_checker *c, int vector)
{
    for (size_t i = 0; i < c->scope->n_bound; i++)
        if (c->scope->bound[i].vector == vector)
            return c->scope->bound[i].name;
    const char *full = c->logic->vectors[vector].name;
    return starts_with(full, c->scope->prefix) ? full + strlen(c->scope->prefix) : full;
}

int hac_vector_add(hac_logic_checker *c, const hac_yaml_node *node, const char *full_name)
{
    hac_logic *logic = c->logic;
    if (logic->n_vectors == HAC_LOGIC_VECTORS_MAX) {
        (void)hac_logic_problem(c, node, "more than %d vectors; reuse names", HAC_LOGIC_VECTORS_MAX);
        return -1;
    }
    hac_logic_vector *v = &logic->vectors[logic->n_vectors];
    *v = (hac_logic_vector){.name = hac_logic_copy(c, full_name),
                            .at = hac_logic_at(node),
                            .rows = HAC_DIMENSION_NONE,
                            .columns = HAC_DIMENSION_ONE,
                            .entries = HAC_DIMENSION_NONE,
                            .below = HAC_DIMENSION_NONE,
                            .partition_by = -1,
                            .input = -1};
    if (v->name == NULL)
        return -1;
    return (int)logic->n_vectors++;
}

int hac_vector_lookup_or_add(hac_logic_checker *c, const hac_yaml_node *node, const char *name)
{
    char full[2 * HAC_LIBRARY_NAME_MAX + HAC_FIELD_NAME_MAX];
    int found = hac_vector_lookup(c, name);
    if (found >= 0)
        return found;
    if (hac_logic_new_name(c, node, name) != HAC_OK)
        return -1;
    snprintf(full, sizeof full, "%s%s", c->scope->prefix, name);
    return hac_vector_add(c, node, full);
}

/* ---- reading ---- */

typedef struct name_list {
    const char *names[HAC_LOGIC_VECTORS_MAX + HAC_LOGIC_PARAMETERS_MAX];
    size_t n;
} name_list;

static const char *name_at(const void *list, size_t i)
{
    return ((const name_list *)list)->names[i];
}

/* Lists the vectors that have a value here, for a message. */
static const char *there_are(hac_logic_checker *c, const char *name, char *ret)
{
    name_list list = {.n = 0};
    for (size_t i = 0; i < c->scope->n_bound; i++)
        list.names[list.n++] = c->scope->bound[i].name;
    for (size_t i = 0; i < c->logic->n_vectors; i++)
        if (c->state[i].defined && starts_with(c->logic->vectors[i].name, c->scope->prefix))
            list.names[list.n++] = c->logic->vectors[i].name + strlen(c->scope->prefix);
    return hac_suggest_text(name, &list, list.n, name_at, ret);
}

hac_status hac_vector_defined(hac_logic_checker *c, const hac_yaml_node *node, int vector)
{
    const hac_vector_state *state = &c->state[vector];
    if (state->defined)
        return HAC_OK;
    if (state->maybe > 0)
        return hac_logic_problem(c, node,
                                 "vector `%s` may have no value here: not all branches of line %u give it "
                                 "one; give it one before that line",
                                 hac_vector_name(c, vector), state->maybe);
    return hac_logic_problem(c, node,
                             "vector `%s` has no value here yet; read it after the step that writes it, or "
                             "give it a `value` under vectors",
                             hac_vector_name(c, vector));
}

hac_status hac_vector_unknown(hac_logic_checker *c, const hac_yaml_node *node, size_t character,
                              const char *name)
{
    char show[HAC_YAML_SHOW_SIZE], there[HAC_SUGGEST_TEXT_MAX], message[HAC_ERROR_MESSAGE_SIZE];
    snprintf(message, sizeof message, "no vector is called `%s`; %s", hac_yaml_show(name, show),
             there_are(c, name, there));
    return hac_logic_problem_in(c, node, character, message);
}

hac_status hac_vector_read(hac_logic_checker *c, const hac_yaml_node *node, const char *name, int *ret)
{
    int vector = hac_vector_lookup(c, name);
    if (vector < 0)
        return hac_vector_unknown(c, node, 0, name);
    hac_status status = hac_vector_defined(c, node, vector);
    if (status == HAC_OK)
        *ret = vector;
    return status;
}

/* ---- writing ---- */

static unsigned width(hac_kind kind)
{
    return kind == HAC_KIND_BOOL ? 1 : (unsigned)hac_element_size(kind);
}

static bool is_signed(hac_kind kind)
{
    return kind == HAC_KIND_I32 || kind == HAC_KIND_I64;
}

static bool is_unsigned(hac_kind kind)
{
    return kind == HAC_KIND_U32 || kind == HAC_KIND_U64;
}

hac_kind hac_kind_join(hac_kind a, hac_kind b)
{
    if (a == b)
        return a;
    if (a == HAC_KIND_STRING || b == HAC_KIND_STRING || a == HAC_KIND_NONE || b == HAC_KIND_NONE)
        return HAC_KIND_NONE;
    if (a == HAC_KIND_BOOL || b == HAC_KIND_BOOL)
        return a == HAC_KIND_BOOL ? b : a;
    if (hac_kind_is_float(a) || hac_kind_is_float(b))
        return HAC_KIND_F64; /* f32 does not hold all integers of 32 bits */
    if (is_signed(a) == is_signed(b))
        return width(a) > width(b) ? a : b;
    hac_kind without_sign = is_unsigned(a) ? a : b;
    return without_sign == HAC_KIND_U32 ? HAC_KIND_I64 : HAC_KIND_NONE;
}

/* The template of a vector after a result with another template is written into it; NONE: that is not
 * possible. */
static hac_vector_template join_forms(const hac_logic_vector *v, const hac_written *w)
{
    if (v->form == w->form || v->form == HAC_VECTOR_NONE)
        return w->form;
    if (hac_op_form_is_dense(v->form) && hac_op_form_is_dense(w->form)) {
        if (w->form == HAC_VECTOR_VAR)
            return v->form;
        if (v->form == HAC_VECTOR_VAR)
            return w->form;
        return v->declared ? v->form : HAC_VECTOR_FIX_VALUE;
    }
    bool zeros = v->form == HAC_VECTOR_SPARSE_VALUE && v->origin == HAC_ORIGIN_VALUE;
    return zeros && w->form == HAC_VECTOR_FIX_VALUE ? HAC_VECTOR_FIX_VALUE : HAC_VECTOR_NONE;
}

static hac_status cannot_write(hac_logic_checker *c, const hac_yaml_node *node, int vector,
                               const hac_written *w)
{
    const hac_logic_vector *v = &c->logic->vectors[vector];
    if (v->origin == HAC_ORIGIN_INPUT || v->origin == HAC_ORIGIN_PARAMETER)
        return hac_logic_problem(c, node, "`%s` is %s, which is not written; give the result another name",
                                 hac_vector_name(c, vector),
                                 v->origin == HAC_ORIGIN_INPUT ? "of an input" : "a parameter");
    return hac_logic_problem(
        c, node, "vector `%s` is a %s of %s, and %s gives a %s of %s; give the result another name",
        hac_vector_name(c, vector), hac_vector_template_get(v->form)->name, hac_element_name(v->kind), w->who,
        hac_vector_template_get(w->form)->name, hac_element_name(w->kind));
}

/* Sets kind and template, which hold for the whole program. */
static hac_status write_type(hac_logic_checker *c, const hac_yaml_node *node, int vector,
                             const hac_written *w)
{
    hac_logic_vector *v = &c->logic->vectors[vector];
    hac_kind kind = v->kind == HAC_KIND_NONE ? w->kind : hac_kind_join(v->kind, w->kind);
    hac_vector_template form = join_forms(v, w);
    if (kind == HAC_KIND_NONE || form == HAC_VECTOR_NONE || v->origin == HAC_ORIGIN_INPUT ||
        v->origin == HAC_ORIGIN_PARAMETER)
        return cannot_write(c, node, vector, w);
    if (v->declared_kind == HAC_KIND_NONE)
        v->declared_kind = kind;
    if (v->declared_form == HAC_VECTOR_NONE)
        v->declared_form = form;
    c->grew |= kind != v->kind || form != v->form || !c->written[vector];
    c->written[vector] = true;
    v->kind = kind;
    v->form = form;
    if (kind != w->kind && !w->flexible)
        return cannot_write(c, node, vector, w);
    return HAC_OK;
}

hac_status hac_vector_write(hac_logic_checker *c, const hac_yaml_node *node, int vector, const hac_written *w)
{
    hac_logic_vector *v = &c->logic->vectors[vector];
    c->state[vector] = (hac_vector_state){
        .defined = true, .rows = w->rows, .columns = w->columns, .entries = w->entries, .below = w->below};
    if (w->kind == HAC_KIND_NONE)
        return HAC_INVALID; /* the type is unknown because of an earlier problem */
    hac_status status = write_type(c, node, vector, w);
    if (status != HAC_OK)
        return status;
    v->rows = w->rows;
    v->columns = w->columns;
    v->entries = w->entries;
    v->below = w->below;
    return HAC_OK;
}

/* ---- what holds at a place ---- */

void hac_states_merge(hac_logic_checker *c, const hac_vector_state *a, const hac_vector_state *b,
                      unsigned line, hac_vector_state *ret)
{
    for (size_t i = 0; i < c->logic->n_vectors; i++) {
        if (!a[i].defined && !b[i].defined) {
            ret[i] = (hac_vector_state){.maybe = a[i].maybe > 0 ? a[i].maybe : b[i].maybe};
            continue;
        }
        if (!a[i].defined || !b[i].defined) {
            ret[i] = a[i].defined ? a[i] : b[i]; /* the state that it would have */
            ret[i].defined = false;
            ret[i].maybe = line;
            continue;
        }
        ret[i] = (hac_vector_state){.defined = true,
                                    .rows = hac_dimension_join(c, a[i].rows, b[i].rows),
                                    .columns = hac_dimension_join(c, a[i].columns, b[i].columns),
                                    .entries = hac_dimension_join(c, a[i].entries, b[i].entries),
                                    .below = a[i].below == b[i].below ? a[i].below : HAC_DIMENSION_NONE};
    }
}

bool hac_states_equal(const hac_logic_checker *c, const hac_vector_state *a, const hac_vector_state *b)
{
    for (size_t i = 0; i < c->logic->n_vectors; i++)
        if (a[i].defined != b[i].defined ||
            (a[i].defined && (a[i].rows != b[i].rows || a[i].columns != b[i].columns ||
                              a[i].entries != b[i].entries || a[i].below != b[i].below)))
            return false;
    return true;
}
