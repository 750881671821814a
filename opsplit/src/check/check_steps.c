/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of steps: OPs, pieces outside of OPs, control flow. */
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "check.h"

/* Consecutive pieces that become an OP. */
typedef struct piece_run {
    hac_grow pieces;
    const hac_yaml_node *first;
} piece_run;

static bool is_whole(const hac_logic_step *step)
{
    for (size_t i = 0; i < step->n_pieces; i++)
        if (step->pieces[i].kind != HAC_PIECE_EXCEPTION)
            return false;
    return true;
}

static hac_status close_run(hac_logic_checker *c, piece_run *r, hac_grow *steps)
{
    if (r->pieces.n == 0)
        return HAC_OK;
    const hac_logic_piece *pieces = r->pieces.data;
    hac_logic_step *step = hac_logic_grow(c, steps, sizeof *step);
    char *name = hac_logic_copy(c, c->context.name != NULL ? c->context.name : pieces[0].name);
    char *device = c->context.device != NULL ? hac_logic_copy(c, c->context.device) : NULL;
    if (step == NULL || name == NULL || (c->context.device != NULL && device == NULL))
        return HAC_NO_MEMORY;
    *step = (hac_logic_step){.kind = HAC_STEP_OP,
                             .name = name,
                             .at = pieces[0].at,
                             .operation = c->context.operation,
                             .device = device,
                             .pieces = r->pieces.data,
                             .n_pieces = r->pieces.n,
                             .index = -1};
    step->whole = c->context.name != NULL && is_whole(step);
    *r = (piece_run){{NULL, 0, 0}, NULL};
    return HAC_OK;
}

static hac_status add_piece(hac_logic_checker *c, const hac_yaml_node *node, piece_run *r)
{
    hac_logic_piece piece;
    hac_status status = hac_check_piece(c, node, &piece);
    if (status != HAC_OK)
        return status;
    hac_logic_piece *at = hac_logic_grow(c, &r->pieces, sizeof *at);
    if (at == NULL)
        return HAC_NO_MEMORY;
    *at = piece;
    return HAC_OK;
}

static hac_status add_let(hac_logic_checker *c, const hac_yaml_node *let, piece_run *r)
{
    hac_status status = hac_logic_need(c, let, HAC_YAML_MAP), first = status;
    if (status == HAC_OK && let->count == 0)
        return hac_logic_problem(c, let, "`let` has no name; write it as in {rank: next}");
    for (const hac_yaml_node *node = status == HAC_OK ? let->first : NULL; node != NULL; node = node->next) {
        hac_logic_piece piece;
        status = hac_check_assignment(c, let, node, &piece);
        hac_logic_piece *at = status == HAC_OK ? hac_logic_grow(c, &r->pieces, sizeof *at) : NULL;
        if (at != NULL)
            *at = piece;
        if (!hac_logic_goes_on(status))
            return status;
        first = first != HAC_OK ? first : status;
    }
    return first;
}

static bool is_control(const char *name)
{
    return strcmp(name, "for") == 0 || strcmp(name, "while") == 0 || strcmp(name, "if") == 0;
}

/* The key that gives the kind of an item: op, for, while, if or a sub-operator. */
static const hac_yaml_node *head_of(const hac_yaml_node *item)
{
    static const char *const heads[] = {"op", "for", "while", "if"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        const hac_yaml_node *head = hac_logic_field(item, heads[i]);
        if (head != NULL)
            return head;
    }
    return item->first;
}

/* ---- OPs ---- */

static const char operations[] = "VectorMap MatrixMap GlobalMap CrossMap TaskMap DirMap";

static hac_status op_context(hac_logic_checker *c, const hac_yaml_node *item, const hac_yaml_node *op,
                             hac_op_context *ret)
{
    const hac_yaml_node *operation = hac_logic_field(item, "operation"),
                        *device = hac_logic_field(item, "device");
    int place = 0;
    char *pin = NULL;
    hac_status status = hac_logic_fields(c, item, "op operation device do use with");
    if (status == HAC_OK)
        status = hac_logic_text(c, op, &ret->name);
    if (status == HAC_OK)
        status = hac_logic_new_name(c, op, ret->name);
    if (status == HAC_OK && operation != NULL) {
        status = hac_logic_word(c, operation, operations, &place);
        ret->operation = (hac_operation)(place + 1);
    }
    if (status == HAC_OK && device != NULL) {
        status = hac_logic_device(c, device, &pin);
        ret->device = pin;
    }
    return status;
}

static hac_status check_op(hac_logic_checker *c, const hac_yaml_node *item, const hac_yaml_node *op,
                           hac_grow *steps)
{
    const hac_yaml_node *body = hac_logic_field(item, "do"), *use = hac_logic_field(item, "use");
    hac_op_context outer = c->context, context = {.device = outer.device};
    hac_status status = op_context(c, item, op, &context), first = status;
    if (!hac_logic_goes_on(status))
        return status;
    if ((body == NULL) == (use == NULL))
        return hac_logic_problem(c, op,
                                 body == NULL ? "an OP has `do`, a list of sub-operators, or `use`, the "
                                                "name of one that was added"
                                              : "an OP has `do` or `use`, not both");
    if (use == NULL && hac_logic_field(item, "with") != NULL)
        return hac_logic_problem_key(c, hac_logic_field(item, "with"),
                                     "`with` goes with `use`; pieces of `do` name "
                                     "vectors themselves");
    size_t before = steps->n;
    c->context = context;
    status =
        use != NULL ? hac_check_use(c, item, use, hac_check_list, steps) : hac_check_list(c, body, steps);
    c->context = outer;
    first = first != HAC_OK ? first : status;
    if (first == HAC_OK && context.operation != HAC_OPERATION_NONE)
        first = hac_check_operation(c, hac_logic_field(item, "operation"), context.operation,
                                    (const hac_logic_step *)steps->data + before, steps->n - before);
    return first;
}

/* ---- if ---- */

static hac_status check_condition(hac_logic_checker *c, const hac_yaml_node *map, hac_logic_expression **ret)
{
    const hac_yaml_node *node = hac_logic_field(map, "condition");
    if (node == NULL)
        return hac_logic_problem_key(c, map, "`condition` is missing; as in {condition: \"n > 100\"}");
    hac_status status = hac_check_scalar(c, node, HAC_KIND_NONE, ret);
    if (status == HAC_OK && (*ret)->kind != HAC_KIND_BOOL)
        return hac_logic_problem(c, node, "a condition has to be bool, and this is %s",
                                 hac_element_name((*ret)->kind));
    return status;
}

static hac_status branch(hac_logic_checker *c, const hac_yaml_node *list, hac_logic_step **ret, size_t *ret_n)
{
    hac_status status = hac_check_steps(c, list, ret, ret_n);
    return hac_logic_goes_on(status) ? HAC_OK : status;
}

static hac_status check_if(hac_logic_checker *c, const hac_yaml_node *item, hac_logic_step *step)
{
    const hac_yaml_node *head = hac_logic_field(item, "if");
    const hac_yaml_node *then = hac_logic_field(item, "then"), *otherwise = hac_logic_field(item, "else");
    hac_status status = hac_logic_fields(c, item, "if then else"), first = status;
    if (status == HAC_OK)
        status = hac_logic_need(c, head, HAC_YAML_MAP);
    if (status == HAC_OK && (status = hac_logic_fields(c, head, "condition")) == HAC_OK)
        status = check_condition(c, head, &step->condition);
    first = first != HAC_OK ? first : status;
    if (hac_logic_goes_on(status) && then == NULL)
        return hac_logic_problem_key(c, head, "`then` is missing: a list of steps");
    hac_vector_state *before = hac_logic_alloc(c, sizeof c->state),
                     *after = hac_logic_alloc(c, sizeof c->state);
    if (!hac_logic_goes_on(status) || before == NULL || after == NULL)
        return hac_logic_goes_on(status) ? HAC_NO_MEMORY : status;
    memcpy(before, c->state, sizeof c->state);
    step->name = hac_logic_copy(c, "if");
    status = branch(c, then, &step->body, &step->n_body);
    memcpy(after, c->state, sizeof c->state);
    memcpy(c->state, before, sizeof c->state);
    if (status == HAC_OK && otherwise != NULL)
        status = branch(c, otherwise, &step->otherwise, &step->n_otherwise);
    hac_states_merge(c, after, c->state, head->key_line, c->state);
    return first != HAC_OK ? first : status;
}

/* ---- lists ---- */

static hac_status check_control(hac_logic_checker *c, const hac_yaml_node *item, const hac_yaml_node *head,
                                hac_grow *steps)
{
    hac_logic_step step = {.at = hac_logic_key_at(head), .operation = c->context.operation, .index = -1};
    if (strcmp(head->key, "if") == 0)
        step.kind = HAC_STEP_IF;
    else
        step.kind = strcmp(head->key, "for") == 0 ? HAC_STEP_FOR : HAC_STEP_WHILE;
    hac_status status =
        step.kind == HAC_STEP_IF ? check_if(c, item, &step) : hac_check_loop(c, item, hac_check_list, &step);
    hac_logic_step *at = hac_logic_goes_on(status) ? hac_logic_grow(c, steps, sizeof *at) : NULL;
    if (at == NULL)
        return hac_logic_goes_on(status) ? HAC_NO_MEMORY : status;
    *at = step;
    return status;
}

static hac_status check_item(hac_logic_checker *c, const hac_yaml_node *item, piece_run *r, hac_grow *steps)
{
    hac_status status = hac_logic_need(c, item, HAC_YAML_MAP);
    if (status != HAC_OK)
        return status;
    const hac_yaml_node *head = head_of(item);
    if (head == NULL)
        return hac_logic_problem(c, item, "this is empty; a step is an OP, a sub-operator, for, while or if");
    bool op = strcmp(head->key, "op") == 0;
    if (op || is_control(head->key)) {
        status = close_run(c, r, steps);
        if (status != HAC_OK)
            return status;
        return op ? check_op(c, item, head, steps) : check_control(c, item, head, steps);
    }
    if (item->count != 1)
        return hac_logic_problem_key(c, head->next,
                                     "`%s` stands beside `%s`; every sub-operator is an entry of its "
                                     "own, which begins with -",
                                     head->next->key, head->key);
    return strcmp(head->key, "let") == 0 ? add_let(c, head, r) : add_piece(c, head, r);
}

hac_status hac_check_list(hac_logic_checker *c, const hac_yaml_node *list, hac_grow *steps)
{
    piece_run r = {{NULL, 0, 0}, NULL};
    hac_status status = hac_logic_need(c, list, HAC_YAML_LIST), first = status;
    for (const hac_yaml_node *item = status == HAC_OK ? list->first : NULL; item != NULL; item = item->next) {
        status = check_item(c, item, &r, steps);
        if (!hac_logic_goes_on(status))
            return status;
        first = first != HAC_OK ? first : status;
    }
    status = close_run(c, &r, steps);
    return first != HAC_OK ? first : status;
}

hac_status hac_check_steps(hac_logic_checker *c, const hac_yaml_node *list, hac_logic_step **ret,
                           size_t *ret_n)
{
    hac_grow steps = {NULL, 0, 0};
    hac_status status = hac_check_list(c, list, &steps);
    *ret = steps.data;
    *ret_n = steps.n;
    return status;
}
