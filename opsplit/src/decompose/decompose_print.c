/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a decomposition as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opsplit/decompose.h"

static const char *const kinds[] = {
    [HAC_SUBOPERATOR_LIBRARY] = "library",     [HAC_SUBOPERATOR_USER] = "user",
    [HAC_SUBOPERATOR_EXCEPTION] = "exception", [HAC_SUBOPERATOR_WHOLE] = "whole",
    [HAC_SUBOPERATOR_LOOP] = "loop",
};

typedef struct printer {
    const hac_logic *logic;
    const uint64_t *rows;
    const hac_placement *placement;
    hac_text *text;
    unsigned depth;
} printer;

/* ---- which rows ---- */

/* The vector whose rows a sub-operator walks: the first one with many rows that it writes, else reads; -1:
 * none. */
static int walked(const hac_logic *logic, const hac_suboperator *s)
{
    if (s->piece == NULL)
        return -1;
    bool together = s->piece->subop->walk == HAC_WALK_TOGETHER; /* its results have other rows */
    for (size_t i = 0; !together && i < s->piece->n_writes; i++)
        if (logic->vectors[s->piece->writes[i]].rows != HAC_DIMENSION_ONE)
            return s->piece->writes[i];
    for (size_t i = 0; i < s->piece->n_reads; i++)
        if (logic->vectors[s->piece->reads[i]].rows != HAC_DIMENSION_ONE)
            return s->piece->reads[i];
    return -1;
}

static bool rows_of(const printer *p, int vector, uint64_t *ret)
{
    int dimension = vector >= 0 ? p->logic->vectors[vector].rows : HAC_DIMENSION_NONE;
    if (dimension < 0)
        return false;
    if (p->logic->dimensions[dimension].kind == HAC_DIMENSION_CONSTANT)
        *ret = p->logic->dimensions[dimension].value;
    else if (p->rows != NULL && p->rows[dimension] != UINT64_MAX)
        *ret = p->rows[dimension];
    else
        return false;
    return true;
}

/* Whether components are ranges of equal length. */
static bool by_range(const hac_suboperator *s)
{
    return s->cut.partitioner == HAC_PARTITION_RANGE && !s->cut.files;
}

static const char *partitioner_name(const hac_suboperator *s)
{
    static const char *const names[] = {"range", "hash", "round-robin", "weight", "expression"};
    return s->cut.files ? "files" : names[s->cut.partitioner];
}

/* The placement of a sub-operator: of its piece, or of the pieces of an OP that is placed as a whole;
 * NULL: none was asked for. */
static const hac_piece_placement *placement_of(const printer *p, const hac_logic_piece *piece)
{
    bool asked = p->placement != NULL && piece->number < p->placement->n_pieces;
    return asked ? &p->placement->pieces[piece->number] : NULL;
}

/* ---- text ---- */

static void indent(const printer *p)
{
    for (unsigned i = 0; i < p->depth; i++)
        hac_text_add(p->text, "  ");
}

static void print_component(const printer *p, const hac_suboperator *s, int vector, unsigned i)
{
    unsigned n = s->components;
    uint64_t rows = 0;
    if (n == 1)
        hac_text_add(p->text, "all");
    else if (rows_of(p, vector, &rows)) {
        hac_component_range range = hac_component_of_rows(rows, n, 1, i);
        hac_text_addf(p->text, "[%" PRIu64 ", %" PRIu64 ")", range.first, range.first + range.count);
    } else {
        hac_text_addf(p->text, "[%u/%u, %u/%u)", i, n, i + 1, n);
    }
}

static void print_components(const printer *p, const hac_suboperator *s)
{
    enum { SHOWN = 8 };
    int vector = walked(p->logic, s);
    if (s->components > 1 && !by_range(s)) { /* the values decide the rows */
        hac_text_addf(p->text, "%u components of `%s` (%s)", s->components,
                      p->logic->vectors[s->cut.vector].name, partitioner_name(s));
        return;
    }
    hac_text_add(p->text, s->components == 1 ? "component " : "components ");
    for (unsigned i = 0; i < s->components && i < SHOWN; i++) {
        hac_text_add(p->text, i > 0 ? " " : "");
        print_component(p, s, vector, i);
    }
    if (s->components > SHOWN)
        hac_text_addf(p->text, " … %u in all", s->components);
    if (s->components > 1 && vector >= 0)
        hac_text_addf(p->text, " of `%s` (range)", p->logic->vectors[vector].name);
}

static void print_names(const printer *p, const char *before, const int *vectors, size_t n)
{
    hac_text_add(p->text, before);
    for (size_t i = 0; i < n; i++)
        hac_text_addf(p->text, "%s%s", i > 0 ? ", " : "", p->logic->vectors[vectors[i]].name);
}

static void print_after(const printer *p, const hac_suboperator *s)
{
    for (size_t i = 0; i < s->n_after; i++)
        hac_text_addf(p->text, "%s%zu%s", i == 0 ? "; after " : ", ", s->after[i].on + 1,
                      s->after[i].whole ? " (all of it)" : "");
}

static void print_placement(const printer *p, const hac_decomposed_step *d, const hac_suboperator *s)
{
    const hac_logic_piece *pieces = s->piece != NULL ? s->piece : d->step->pieces;
    size_t n = s->piece != NULL ? 1 : d->step->n_pieces;
    for (size_t i = 0; i < n; i++) {
        const hac_piece_placement *placement = placement_of(p, &pieces[i]);
        if (placement != NULL)
            hac_piece_placement_print(placement, 2 * p->depth + 5, p->text);
    }
}

static void print_suboperator(const printer *p, const hac_suboperator *s, size_t i)
{
    indent(p);
    hac_text_addf(p->text, "  %zu. %s", i + 1, s->name);
    if (s->kind == HAC_SUBOPERATOR_USER)
        hac_text_addf(p->text, "@%u", s->piece->version);
    hac_text_addf(p->text, " (%s", kinds[s->kind]);
    if (s->piece != NULL) {
        print_names(p, "; ", s->piece->reads, s->piece->n_reads);
        print_names(p, " → ", s->piece->writes, s->piece->n_writes);
        if (s->piece->device != NULL)
            hac_text_addf(p->text, "; device %s", s->piece->device);
    }
    hac_text_add(p->text, "): ");
    print_components(p, s);
    print_after(p, s);
    hac_text_add(p->text, "\n");
}

/* Prints the slots in order: which sub-operators run side by side, and over which component. */
static void print_order(const printer *p, const hac_decomposed_step *d)
{
    enum { SHOWN = 96 };
    if (d->components == 1)
        return;
    indent(p);
    hac_text_add(p->text, "  order:");
    for (size_t i = 0; i < d->n_parts && i < SHOWN; i++) {
        const hac_part *part = &d->parts[i];
        bool first = i == 0 || d->parts[i - 1].slot != part->slot;
        hac_text_addf(p->text, "%s%s%zu", first && i > 0 ? " |" : "", " ", part->suboperator + 1);
        if (d->suboperators[part->suboperator].components > 1)
            hac_text_addf(p->text, ".%u", part->component + 1);
    }
    hac_text_add(p->text, d->n_parts > SHOWN ? " …\n" : "\n");
}

static void print_step(printer *p, const hac_decomposed_step *d);

static void print_steps(printer *p, const hac_decomposed_step *steps, size_t n)
{
    p->depth++;
    for (size_t i = 0; i < n; i++)
        print_step(p, &steps[i]);
    p->depth--;
}

static void print_sub_loops(const printer *p, const hac_decomposed_step *d)
{
    const hac_logic_step *step = d->step;
    if (!step->independent) {
        hac_text_add(p->text, ": iterations need each other, one after the other\n");
        return;
    }
    hac_text_addf(p->text, ": independent, %u sub-loop%s", d->components, d->components > 1 ? "s" : "");
    for (unsigned i = 0; d->sub_loops != NULL && i < d->components && i < 16; i++)
        hac_text_addf(p->text, "%s[%" PRIu64 ", %" PRIu64 ")", i == 0 ? ": " : " ", d->sub_loops[i].first,
                      d->sub_loops[i].first + d->sub_loops[i].count);
    hac_text_add(p->text, "\n");
}

static void print_control(printer *p, const hac_decomposed_step *d)
{
    const hac_logic_step *step = d->step;
    if (step->kind == HAC_STEP_FOR) {
        hac_text_addf(p->text, "%s from %s to %s", step->name, step->from->text, step->to->text);
        if (step->by != NULL)
            hac_text_addf(p->text, " by %s", step->by->text);
        print_sub_loops(p, d);
    } else {
        hac_text_addf(p->text, "%s %s", step->name, step->condition->text);
        if (step->kind == HAC_STEP_WHILE)
            hac_text_addf(p->text, ", at most %" PRIu64 " rounds%s", step->rounds,
                          step->first ? ", the first one always" : "");
        hac_text_add(p->text, "\n");
    }
    print_steps(p, d->body, d->n_body);
    if (step->n_otherwise > 0) {
        indent(p);
        hac_text_add(p->text, "else\n");
        print_steps(p, d->otherwise, d->n_otherwise);
    }
}

static void print_step(printer *p, const hac_decomposed_step *d)
{
    const hac_logic_step *step = d->step;
    indent(p);
    if (step->kind != HAC_STEP_OP) {
        print_control(p, d);
        return;
    }
    hac_text_addf(p->text, "%s%s", step->reducer ? "" : "OP ", step->name);
    if (step->operation != HAC_OPERATION_NONE)
        hac_text_addf(p->text, " (%s)", hac_operation_name(step->operation));
    if (step->whole)
        hac_text_add(p->text, ": no library knows a piece of it, so it is placed as a whole\n");
    else
        hac_text_addf(p->text, ": %zu sub-operator%s, %u component%s\n", d->n_suboperators,
                      d->n_suboperators > 1 ? "s" : "", d->components, d->components > 1 ? "s" : "");
    for (size_t i = 0; i < d->n_suboperators; i++) {
        print_suboperator(p, &d->suboperators[i], i);
        print_placement(p, d, &d->suboperators[i]);
    }
    print_order(p, d);
}

void hac_decomposition_print(const hac_decomposition *decomposition, const uint64_t *rows,
                             const hac_placement *placement, hac_text *ret)
{
    printer p = {decomposition->logic, rows, placement, ret, 0};
    for (size_t i = 0; i < decomposition->n_steps; i++)
        print_step(&p, &decomposition->steps[i]);
    if (placement != NULL && hac_placement_has_max_rows(placement))
        hac_text_addf(ret, "(at most): the data decides the number of rows; placed for the maximum\n");
}

/* ---- JSON ---- */

static void json_names(const printer *p, const char *key, const int *vectors, size_t n)
{
    hac_json_open(p->text, key, '[');
    for (size_t i = 0; i < n; i++)
        hac_json_string(p->text, NULL, p->logic->vectors[vectors[i]].name);
    hac_json_close(p->text, ']');
}

static void json_range(const printer *p, hac_component_range range)
{
    hac_json_open(p->text, NULL, '[');
    hac_json_unsigned(p->text, NULL, range.first);
    hac_json_unsigned(p->text, NULL, range.first + range.count);
    hac_json_close(p->text, ']');
}

/* Prints the row ranges of components; null where they are not known or are not ranges. */
static void json_rows(const printer *p, const hac_suboperator *s)
{
    int vector = walked(p->logic, s);
    uint64_t rows = 0;
    if (!by_range(s) || !rows_of(p, vector, &rows)) {
        hac_json_null(p->text, "rows");
        return;
    }
    hac_json_open(p->text, "rows", '[');
    for (unsigned i = 0; i < s->components; i++)
        json_range(p, hac_component_of_rows(rows, s->components, 1, i));
    hac_json_close(p->text, ']');
}

static void json_codelets(const printer *p, const hac_suboperator *s)
{
    const char *at = s->piece != NULL ? s->piece->subop->codelets : "";
    hac_json_open(p->text, "codelets", '[');
    while (*at != '\0') {
        char name[HAC_OPS_CODELET_MAX + 1];
        size_t length = strcspn(at, " ,");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        hac_json_string(p->text, NULL, name);
        at += length;
        at += strspn(at, " ,");
    }
    hac_json_close(p->text, ']');
}

/* Writes the placement of each piece. */
static void json_placement(const printer *p, const hac_decomposed_step *d, const hac_suboperator *s)
{
    const hac_logic_piece *pieces = s->piece != NULL ? s->piece : d->step->pieces;
    size_t n = s->piece != NULL ? 1 : d->step->n_pieces;
    if (n == 0 || placement_of(p, &pieces[0]) == NULL) {
        hac_json_null(p->text, "placement");
        return;
    }
    hac_json_open(p->text, "placement", '[');
    for (size_t i = 0; i < n; i++) {
        hac_json_open(p->text, NULL, '{');
        hac_piece_placement_json(placement_of(p, &pieces[i]), p->text);
        hac_json_close(p->text, '}');
    }
    hac_json_close(p->text, ']');
}

static void json_suboperator(const printer *p, const hac_decomposed_step *d, const hac_suboperator *s)
{
    hac_json_open(p->text, NULL, '{');
    hac_json_string(p->text, "name", s->name);
    hac_json_string(p->text, "kind", kinds[s->kind]);
    if (s->kind == HAC_SUBOPERATOR_USER)
        hac_json_unsigned(p->text, "version", s->piece->version);
    json_codelets(p, s);
    if (s->piece != NULL) {
        json_names(p, "reads", s->piece->reads, s->piece->n_reads);
        json_names(p, "writes", s->piece->writes, s->piece->n_writes);
        hac_json_string(p->text, "device", s->piece->device);
        hac_json_unsigned(p->text, "line", s->piece->at.line);
    }
    hac_json_unsigned(p->text, "depth", s->depth);
    hac_json_unsigned(p->text, "lane", s->lane);
    hac_json_unsigned(p->text, "components", s->components);
    hac_json_string(p->text, "partitioner", partitioner_name(s));
    json_rows(p, s);
    json_placement(p, d, s);
    hac_json_open(p->text, "after", '[');
    for (size_t i = 0; i < s->n_after; i++) {
        hac_json_open(p->text, NULL, '{');
        hac_json_unsigned(p->text, "sub_operator", s->after[i].on);
        hac_json_bool(p->text, "whole", s->after[i].whole);
        hac_json_close(p->text, '}');
    }
    hac_json_close(p->text, ']');
    hac_json_close(p->text, '}');
}

static void json_parts(const printer *p, const hac_decomposed_step *d)
{
    hac_json_open(p->text, "parts", '[');
    for (size_t i = 0; i < d->n_parts; i++) {
        hac_json_open(p->text, NULL, '{');
        hac_json_unsigned(p->text, "sub_operator", d->parts[i].suboperator);
        hac_json_unsigned(p->text, "component", d->parts[i].component);
        hac_json_unsigned(p->text, "slot", d->parts[i].slot);
        hac_json_close(p->text, '}');
    }
    hac_json_close(p->text, ']');
}

static void json_steps(const printer *p, const char *key, const hac_decomposed_step *steps, size_t n);

static void json_control(const printer *p, const hac_decomposed_step *d)
{
    const hac_logic_step *step = d->step;
    if (step->kind == HAC_STEP_FOR) {
        hac_json_string(p->text, "from", step->from->text);
        hac_json_string(p->text, "to", step->to->text);
        hac_json_string(p->text, "by", step->by != NULL ? step->by->text : "1");
        hac_json_bool(p->text, "independent", step->independent);
        if (d->sub_loops == NULL)
            hac_json_null(p->text, "sub_loops");
        else
            hac_json_open(p->text, "sub_loops", '[');
        for (unsigned i = 0; d->sub_loops != NULL && i < d->components; i++)
            json_range(p, d->sub_loops[i]);
        if (d->sub_loops != NULL)
            hac_json_close(p->text, ']');
    } else {
        hac_json_string(p->text, "condition", step->condition->text);
    }
    if (step->kind == HAC_STEP_WHILE) {
        hac_json_unsigned(p->text, "rounds", step->rounds);
        hac_json_bool(p->text, "first_round_always", step->first);
    }
    json_steps(p, "body", d->body, d->n_body);
    json_steps(p, "otherwise", d->otherwise, d->n_otherwise);
}

static void json_step(const printer *p, const hac_decomposed_step *d)
{
    static const char *const names[] = {"op", "for", "while", "if"};
    const hac_logic_step *step = d->step;
    hac_json_open(p->text, NULL, '{');
    hac_json_string(p->text, "kind", step->reducer ? "reducer" : names[step->kind]);
    hac_json_string(p->text, "name", step->name);
    hac_json_unsigned(p->text, "line", step->at.line);
    hac_json_unsigned(p->text, "components", d->components);
    if (step->kind == HAC_STEP_OP) {
        hac_json_string(p->text, "operation",
                        step->operation != HAC_OPERATION_NONE ? hac_operation_name(step->operation) : NULL);
        hac_json_string(p->text, "device", step->device);
        hac_json_bool(p->text, "whole", step->whole);
        hac_json_open(p->text, "sub_operators", '[');
        for (size_t i = 0; i < d->n_suboperators; i++)
            json_suboperator(p, d, &d->suboperators[i]);
        hac_json_close(p->text, ']');
        hac_json_unsigned(p->text, "slots", d->slots);
        json_parts(p, d);
    } else {
        json_control(p, d);
    }
    hac_json_close(p->text, '}');
}

static void json_steps(const printer *p, const char *key, const hac_decomposed_step *steps, size_t n)
{
    hac_json_open(p->text, key, '[');
    for (size_t i = 0; i < n; i++)
        json_step(p, &steps[i]);
    hac_json_close(p->text, ']');
}

void hac_decomposition_json(const hac_decomposition *decomposition, const uint64_t *rows,
                            const hac_placement *placement, const char *key, hac_text *ret)
{
    printer p = {decomposition->logic, rows, placement, ret, 0};
    json_steps(&p, key, decomposition->steps, decomposition->n_steps);
}
