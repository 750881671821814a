/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The builder keeps values in the order in which they were made, so operands come before their users. Equal
 * values are found by hash. hac_program_builder_finish walks the values backwards to find which ones the
 * outputs need and where each is used last, then forwards to assign registers (linear scan; a register keeps
 * its representation).
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "op_info.h"

HAC_DEFINE_CLEANUP(hac_program_builder *, hac_program_builder_free)

#define VALUES_MAX (4 * HAC_PROGRAM_INSTRUCTIONS_MAX) /* before unused values are dropped */
#define POOL_MAX   (4 * HAC_PROGRAM_CONSTANTS_MAX)
#define BYTES_MAX  (1u << 20)
#define BUCKETS    512 /* of both hash tables; few, because each compilation clears them several times */
#define NONE       UINT32_MAX

/* values[0] is not a value. For constants, lists and patterns, `k` is an index into the pool. */
typedef struct value {
    uint16_t op;
    uint8_t repr;
    uint32_t a, b, c, k;
    uint32_t next; /* value of the same hash; 0: none */
} value;

/* An element of the pool of constants. A list lies behind its elements. */
typedef struct pooled {
    hac_constant constant;
    uint32_t next;
} pooled;

struct hac_program_builder {
    value *values;
    size_t n_values, values_capacity;
    pooled *pool;
    size_t n_pool, pool_capacity;
    uint8_t *bytes;
    size_t n_bytes, bytes_capacity;
    hac_value_type inputs[HAC_PROGRAM_INPUTS_MAX];
    size_t n_inputs;
    struct {
        hac_value_id value;
        hac_value_type type;
    } outputs[HAC_PROGRAM_OUTPUTS_MAX];
    size_t n_outputs;
    uint32_t value_heads[BUCKETS], pool_heads[BUCKETS];
    hac_error error; /* the first failure */
};

static void reset(hac_program_builder *builder)
{
    builder->n_values = 1;
    builder->n_pool = builder->n_bytes = builder->n_inputs = builder->n_outputs = 0;
    memset(builder->inputs, 0, sizeof builder->inputs);
    memset(builder->value_heads, 0, sizeof builder->value_heads);
    memset(builder->pool_heads, 0xff, sizeof builder->pool_heads);
    builder->error = (hac_error)HAC_ERROR_NONE;
}

hac_status hac_program_builder_new(hac_program_builder **ret, hac_error *err)
{
    hac_cleanup(hac_program_builder_free_cleanup) hac_program_builder *builder = calloc(1, sizeof *builder);
    if (builder == NULL)
        return hac_fail_no_memory(err);
    builder->values_capacity = 64;
    builder->values = calloc(builder->values_capacity, sizeof *builder->values);
    if (builder->values == NULL)
        return hac_fail_no_memory(err);
    reset(builder);
    *ret = hac_steal_ptr(builder);
    return HAC_OK;
}

void hac_program_builder_free(hac_program_builder *builder)
{
    if (builder == NULL)
        return;
    free(builder->values);
    free(builder->pool);
    free(builder->bytes);
    free(builder);
}

static bool broken(const hac_program_builder *builder)
{
    return builder->error.code != HAC_OK;
}

hac_value_id hac_program_builder_no_memory(hac_program_builder *builder)
{
    if (!broken(builder))
        hac_fail_no_memory(&builder->error);
    return 0;
}

/* Makes room for `more` elements, of at most `max` in all. */
static bool grow(hac_program_builder *builder, void **array, size_t *capacity, size_t used, size_t more,
                 size_t element, size_t max)
{
    if (used + more <= *capacity)
        return true;
    if (used + more > max) {
        hac_fail(&builder->error, HAC_INVALID, "the expressions are too large: simplify them");
        return false;
    }
    size_t wanted = *capacity * 2 > used + more ? *capacity * 2 : used + more;
    void *grown = realloc(*array, wanted * element);
    if (grown == NULL) {
        hac_fail_no_memory(&builder->error);
        return false;
    }
    *array = grown;
    *capacity = wanted;
    return true;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* ---- the pool ------------------------------------------------------------------------------------------ */

static uint32_t pool_push(hac_program_builder *builder, hac_constant constant)
{
    if (!grow(builder, (void **)&builder->pool, &builder->pool_capacity, builder->n_pool, 1, sizeof(pooled),
              POOL_MAX))
        return NONE;
    builder->pool[builder->n_pool] = (pooled){constant, NONE};
    return (uint32_t)builder->n_pool++;
}

static bool same_constant(const hac_program_builder *builder, const hac_constant *a, const hac_constant *b)
{
    if (a->repr != b->repr)
        return false;
    if (a->repr != HAC_REPR_STRING)
        return a->low == b->low && a->high == b->high;
    return a->high == b->high &&
           (a->high == 0 || memcmp(builder->bytes + a->low, builder->bytes + b->low, a->high) == 0);
}

static uint64_t hash_constant(const hac_program_builder *builder, const hac_constant *constant)
{
    uint64_t hash = mix(constant->repr, constant->high);
    if (constant->repr != HAC_REPR_STRING)
        return mix(hash, constant->low);
    for (uint64_t i = 0; i < constant->high; i++)
        hash = mix(hash, builder->bytes[constant->low + i]);
    return hash;
}

/* Returns the index of an equal constant, or of a new one. */
static uint32_t pool_add(hac_program_builder *builder, hac_constant constant)
{
    uint32_t *head = &builder->pool_heads[hash_constant(builder, &constant) % BUCKETS];
    for (uint32_t i = *head; i != NONE; i = builder->pool[i].next)
        if (same_constant(builder, &builder->pool[i].constant, &constant))
            return i;
    uint32_t index = pool_push(builder, constant);
    if (index != NONE) {
        builder->pool[index].next = *head;
        *head = index;
    }
    return index;
}

static uint32_t pool_string(hac_program_builder *builder, const uint8_t *bytes, size_t n)
{
    if (n > BYTES_MAX || !grow(builder, (void **)&builder->bytes, &builder->bytes_capacity, builder->n_bytes,
                               n + 1, 1, BYTES_MAX)) {
        if (!broken(builder))
            hac_fail(&builder->error, HAC_INVALID, "the texts in the expressions are too long");
        return NONE;
    }
    if (n > 0)
        memcpy(builder->bytes + builder->n_bytes, bytes, n);
    hac_constant constant = {HAC_REPR_STRING, builder->n_bytes, n};
    builder->n_bytes += n;
    uint32_t index = pool_add(builder, constant);
    if (index != NONE && builder->pool[index].constant.low != constant.low)
        builder->n_bytes -= n; /* an equal string was there */
    return index;
}

/* Adds a list of sorted elements; equal elements are kept once. */
static uint32_t pool_list(hac_program_builder *builder, const hac_constant *elements, size_t n)
{
    size_t first = builder->n_pool, kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && hac_constant_compare(&builder->pool[first + kept - 1].constant, &elements[i],
                                             builder->bytes) == 0)
            continue;
        if (pool_push(builder, elements[i]) == NONE)
            return NONE;
        kept++;
    }
    return pool_push(builder, (hac_constant){HAC_REPR_NONE, first, kept});
}

/* ---- values -------------------------------------------------------------------------------------------- */

static hac_value_id add(hac_program_builder *builder, value made)
{
    if (broken(builder))
        return 0;
    uint64_t hash = mix(mix(made.op, (uint64_t)made.a << 32 | made.b), (uint64_t)made.c << 32 | made.k);
    uint32_t *head = &builder->value_heads[mix(hash, made.repr) % BUCKETS];
    for (uint32_t i = *head; i != 0; i = builder->values[i].next) {
        const value *v = &builder->values[i];
        if (v->op == made.op && v->repr == made.repr && v->a == made.a && v->b == made.b && v->c == made.c &&
            v->k == made.k)
            return i;
    }
    if (!grow(builder, (void **)&builder->values, &builder->values_capacity, builder->n_values, 1,
              sizeof(value), VALUES_MAX))
        return 0;
    made.next = *head;
    *head = (uint32_t)builder->n_values;
    builder->values[builder->n_values] = made;
    return (hac_value_id)builder->n_values++;
}

static hac_value_id misuse(hac_program_builder *builder, const char *what)
{
    if (!broken(builder))
        hac_fail(&builder->error, HAC_INTERNAL, "building a program: %s", what);
    return 0;
}

hac_repr hac_program_builder_repr(const hac_program_builder *builder, hac_value_id id)
{
    return id < builder->n_values ? builder->values[id].repr : HAC_REPR_NONE;
}

hac_value_id hac_program_builder_input(hac_program_builder *builder, size_t index, hac_value_type type)
{
    if (index >= HAC_PROGRAM_INPUTS_MAX || !hac_value_type_valid(type))
        return misuse(builder, "no such input");
    if (builder->inputs[index].kind != HAC_KIND_NONE && !hac_value_type_equal(builder->inputs[index], type))
        return misuse(builder, "an input has two types");
    builder->inputs[index] = type;
    if (builder->n_inputs <= index)
        builder->n_inputs = index + 1;
    return add(builder,
               (value){.op = HAC_OP_COLUMN, .repr = (uint8_t)hac_repr_of(type), .k = (uint32_t)index});
}

static hac_value_id constant_value(hac_program_builder *builder, hac_repr repr, uint32_t pool)
{
    return pool == NONE ? 0 : add(builder, (value){.op = HAC_OP_CONSTANT, .repr = (uint8_t)repr, .k = pool});
}

hac_value_id hac_program_builder_constant(hac_program_builder *builder, hac_repr repr, uint64_t low,
                                          uint64_t high)
{
    if (broken(builder))
        return 0;
    if (repr == HAC_REPR_NONE || repr >= HAC_REPR_STRING)
        return misuse(builder, "no such constant");
    hac_constant constant = {(uint8_t)repr, low, repr == HAC_REPR_I128 ? high : 0};
    return constant_value(builder, repr, pool_add(builder, constant));
}

hac_value_id hac_program_builder_string(hac_program_builder *builder, const uint8_t *bytes, size_t n)
{
    return broken(builder) ? 0 : constant_value(builder, HAC_REPR_STRING, pool_string(builder, bytes, n));
}

hac_value_id hac_program_builder_null(hac_program_builder *builder, hac_repr repr)
{
    if (repr == HAC_REPR_NONE || repr >= HAC_REPR_END)
        return misuse(builder, "no such null");
    return add(builder, (value){.op = HAC_OP_NULL, .repr = (uint8_t)repr});
}

/* Adds an operation whose immediate `k` is valid. Operands that do not fit are misuse. */
static hac_value_id add_op(hac_program_builder *builder, hac_op op, hac_value_id a, hac_value_id b,
                           hac_value_id c, uint32_t k)
{
    if (broken(builder))
        return 0;
    const hac_op_info *info = &hac_op_table[op];
    const uint8_t wanted[] = {info->a, info->b, info->c};
    const hac_value_id operands[] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        if ((wanted[i] == HAC_REPR_NONE) != (operands[i] == 0) || operands[i] >= builder->n_values)
            return misuse(builder, "not the operands that the operation takes");
        if (wanted[i] != HAC_REPR_NONE && wanted[i] != HAC_REPR_ANY &&
            builder->values[operands[i]].repr != wanted[i])
            return misuse(builder, "an operand of another representation");
    }
    hac_value_id like =
        op == HAC_OP_SELECT ? b : a; /* has the result's representation, where the table says ANY */
    uint8_t repr = info->result == HAC_REPR_ANY ? builder->values[like].repr : info->result;
    if ((op == HAC_OP_SELECT && builder->values[c].repr != repr) ||
        (op == HAC_OP_COALESCE && builder->values[b].repr != repr))
        return misuse(builder, "branches of two representations");
    return add(builder, (value){.op = (uint16_t)op, .repr = repr, .a = a, .b = b, .c = c, .k = k});
}

hac_value_id hac_program_builder_op(hac_program_builder *builder, hac_op op, hac_value_id a, hac_value_id b,
                                    hac_value_id c, unsigned k)
{
    if (op >= HAC_OP_END || op == HAC_OP_NULL)
        return misuse(builder, "no such operation");
    unsigned immediate = hac_op_table[op].k;
    if (immediate != HAC_IMMEDIATE_NONE && immediate != HAC_IMMEDIATE_DIGITS &&
        immediate != HAC_IMMEDIATE_UNIT)
        return misuse(builder, "the operation has a function of its own");
    if ((immediate == HAC_IMMEDIATE_NONE && k != 0) ||
        (immediate == HAC_IMMEDIATE_DIGITS && k > HAC_DIGITS_MAX) ||
        (immediate == HAC_IMMEDIATE_UNIT && !hac_op_takes_unit(op, k)))
        return misuse(builder, "not an immediate that the operation takes");
    return add_op(builder, op, a, b, c, k);
}

hac_value_id hac_program_builder_range(hac_program_builder *builder, hac_op op, hac_value_id a,
                                       __int128 lowest, __int128 highest)
{
    if (broken(builder))
        return 0;
    if (op >= HAC_OP_END || hac_op_table[op].k != HAC_IMMEDIATE_RANGE || lowest > highest)
        return misuse(builder, "no such range");
    uint8_t repr = hac_op_table[op].a;
    bool wide = repr == HAC_REPR_I128;
    hac_constant ends[2] = {{repr, (uint64_t)lowest, wide ? (uint64_t)(lowest >> 64) : 0},
                            {repr, (uint64_t)highest, wide ? (uint64_t)(highest >> 64) : 0}};
    /* Equal pairs are found, so that equal operations are. */
    for (size_t i = 2; i < builder->n_pool; i++) {
        const hac_constant *list = &builder->pool[i].constant;
        if (list->repr == HAC_REPR_NONE && list->high == 2 &&
            same_constant(builder, &builder->pool[list->low].constant, &ends[0]) &&
            same_constant(builder, &builder->pool[list->low + 1].constant, &ends[1]))
            return add_op(builder, op, a, 0, 0, (uint32_t)i);
    }
    size_t first = builder->n_pool;
    if (pool_push(builder, ends[0]) == NONE || pool_push(builder, ends[1]) == NONE)
        return 0;
    uint32_t pair = pool_push(builder, (hac_constant){HAC_REPR_NONE, first, 2});
    return pair == NONE ? 0 : add_op(builder, op, a, 0, 0, pair);
}

static int compare_elements(const void *a, const void *b, void *bytes)
{
    return hac_constant_compare(a, b, bytes);
}

hac_value_id hac_program_builder_in(hac_program_builder *builder, hac_op op, hac_value_id a,
                                    const hac_value_id *list, size_t n)
{
    if (broken(builder))
        return 0;
    if (op >= HAC_OP_END || hac_op_table[op].k != HAC_IMMEDIATE_LIST)
        return misuse(builder, "no such operation on a list");
    hac_autofree hac_constant *elements = calloc(n + 1, sizeof *elements);
    if (elements == NULL) {
        hac_fail_no_memory(&builder->error);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (list[i] == 0 || list[i] >= builder->n_values || builder->values[list[i]].op != HAC_OP_CONSTANT ||
            builder->values[list[i]].repr != hac_op_table[op].a)
            return misuse(builder, "a list of values that are not constants");
        elements[i] = builder->pool[builder->values[list[i]].k].constant;
    }
    qsort_r(elements, n, sizeof *elements, compare_elements, builder->bytes);
    uint32_t k = pool_list(builder, elements, n);
    return k == NONE ? 0 : add_op(builder, op, a, 0, 0, k);
}

hac_value_id hac_program_builder_like(hac_program_builder *builder, hac_value_id a, const uint8_t *pattern,
                                      size_t n, uint8_t escape)
{
    if (broken(builder))
        return 0;
    hac_autofree uint8_t *canonical = n < BYTES_MAX ? malloc(2 * n + 1) : NULL;
    if (canonical == NULL) {
        hac_fail_no_memory(&builder->error);
        return 0;
    }
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        bool escaped = escape != 0 && pattern[i] == escape;
        if (escaped && ++i == n) {
            hac_fail(&builder->error, HAC_INVALID, "the like pattern ends with its escape character");
            return 0;
        }
        if (pattern[i] == HAC_PATTERN_ESCAPE || (escaped && (pattern[i] == '%' || pattern[i] == '_')))
            canonical[used++] = HAC_PATTERN_ESCAPE;
        canonical[used++] = pattern[i];
    }
    uint32_t k = pool_string(builder, canonical, used);
    return k == NONE ? 0 : add_op(builder, HAC_OP_LIKE, a, 0, 0, k);
}

hac_value_id hac_program_builder_text(hac_program_builder *builder, hac_op op, hac_value_id a, hac_value_id b,
                                      const uint8_t *text, size_t n)
{
    if (broken(builder))
        return 0;
    if (op >= HAC_OP_END || hac_op_table[op].k != HAC_IMMEDIATE_TEXT)
        return misuse(builder, "no such operation with a text");
    uint32_t k = pool_string(builder, text, n);
    return k == NONE ? 0 : add_op(builder, op, a, b, 0, k);
}

void hac_program_builder_output(hac_program_builder *builder, hac_value_id id, hac_value_type type)
{
    if (broken(builder))
        return;
    if (id == 0 || id >= builder->n_values || builder->values[id].repr != hac_repr_of(type))
        misuse(builder, "an output of another representation than its type");
    else if (builder->n_outputs == HAC_PROGRAM_OUTPUTS_MAX)
        hac_fail(&builder->error, HAC_INVALID, "more than %d columns", HAC_PROGRAM_OUTPUTS_MAX);
    else {
        builder->outputs[builder->n_outputs].value = id;
        builder->outputs[builder->n_outputs++].type = type;
    }
}

/* ---- finishing ----------------------------------------------------------------------------------------- */

/* What becomes of values, by id, and of the pool, by index. */
typedef struct plan {
    const hac_program_builder *builder;
    hac_program *program;
    uint32_t *last_use; /* id of the last user, NONE for an output; 0: not needed */
    uint16_t *reg;
    uint32_t *constant; /* index in the program, NONE until it has one */
    uint32_t *string;   /* where the string that began there is in the program, NONE until it is */
    uint16_t free[HAC_REPR_END][HAC_PROGRAM_REGISTERS_MAX];
    size_t n_free[HAC_REPR_END];
} plan;

static void plan_free(plan *p)
{
    if (p == NULL)
        return;
    hac_program_free(p->program);
    free(p->last_use);
    free(p->reg);
    free(p->constant);
    free(p->string);
    free(p);
}
HAC_DEFINE_CLEANUP(plan *, plan_free)

static void needed_by(plan *p, uint32_t operand, uint32_t user)
{
    if (operand != 0 && p->last_use[operand] == 0)
        p->last_use[operand] = user;
}

static void find_last_uses(plan *p)
{
    for (size_t i = 0; i < p->builder->n_outputs; i++)
        p->last_use[p->builder->outputs[i].value] = NONE;
    for (size_t i = p->builder->n_values; i-- > 1;) {
        const value *v = &p->builder->values[i];
        if (p->last_use[i] == 0)
            continue;
        needed_by(p, v->a, (uint32_t)i);
        needed_by(p, v->b, (uint32_t)i);
        needed_by(p, v->c, (uint32_t)i);
    }
}

/* Equal strings begin at the same place: each is copied once. */
static void place_string(plan *p, hac_constant *constant)
{
    hac_program *program = p->program;
    uint32_t *place = &p->string[constant->low];
    if (constant->high == 0) {
        constant->low = 0;
        return;
    }
    if (*place == NONE) {
        *place = (uint32_t)program->n_bytes;
        memcpy(program->bytes + program->n_bytes, p->builder->bytes + constant->low, constant->high);
        program->n_bytes += constant->high;
    }
    constant->low = *place;
}

static void place_scalar(plan *p, uint32_t index)
{
    hac_program *program = p->program;
    hac_constant constant = p->builder->pool[index].constant;
    if (constant.repr == HAC_REPR_STRING)
        place_string(p, &constant);
    p->constant[index] = (uint32_t)program->n_constants;
    program->constants[program->n_constants++] = constant;
}

/* A constant's place in the program. A list's elements belong to it alone and come first. */
static uint32_t place_constant(plan *p, uint32_t index)
{
    const hac_constant *constant = &p->builder->pool[index].constant;
    if (p->constant[index] != NONE)
        return p->constant[index];
    if (constant->repr != HAC_REPR_NONE) {
        place_scalar(p, index);
        return p->constant[index];
    }
    hac_constant list = {HAC_REPR_NONE, p->program->n_constants, constant->high};
    for (uint64_t i = 0; i < constant->high; i++)
        place_scalar(p, (uint32_t)(constant->low + i));
    p->constant[index] = (uint32_t)p->program->n_constants;
    p->program->constants[p->program->n_constants++] = list;
    return p->constant[index];
}

static hac_status take_register(plan *p, uint8_t repr, uint16_t *ret, hac_error *err)
{
    if (p->n_free[repr] > 0) { /* the one that was free last is still in the cache */
        *ret = p->free[repr][--p->n_free[repr]];
        return HAC_OK;
    }
    if (p->program->n_registers == HAC_PROGRAM_REGISTERS_MAX)
        return hac_fail(err, HAC_INVALID, "the expressions need more than %d values at once: simplify them",
                        HAC_PROGRAM_REGISTERS_MAX);
    *ret = (uint16_t)p->program->n_registers++;
    p->program->registers[*ret] = repr;
    return HAC_OK;
}

static void release(plan *p, uint32_t operand, uint32_t user)
{
    if (operand == 0 || p->last_use[operand] != user)
        return;
    uint8_t repr = p->builder->values[operand].repr;
    p->free[repr][p->n_free[repr]++] = p->reg[operand];
    p->last_use[operand] = 0; /* once, also when it is two operands of one instruction */
}

/* Constants and columns are made where they are needed first, not where they were asked for. */
static hac_status emit(plan *p, uint32_t id, hac_error *err)
{
    const value *v = &p->builder->values[id];
    hac_program *program = p->program;
    if (program->n_instructions == HAC_PROGRAM_INSTRUCTIONS_MAX)
        return hac_fail(err, HAC_INVALID, "the expressions have more than %d operations: simplify them",
                        HAC_PROGRAM_INSTRUCTIONS_MAX);
    hac_status status = take_register(p, v->repr, &p->reg[id], err);
    if (status != HAC_OK)
        return status;
    unsigned immediate = hac_op_table[v->op].k;
    bool pooled_one = immediate == HAC_IMMEDIATE_CONSTANT || immediate == HAC_IMMEDIATE_RANGE ||
                      immediate == HAC_IMMEDIATE_LIST || immediate == HAC_IMMEDIATE_PATTERN ||
                      immediate == HAC_IMMEDIATE_TEXT;
    program->instructions[program->n_instructions++] = (hac_instruction){
        .op = v->op,
        .result = p->reg[id],
        .a = v->a == 0 ? 0 : p->reg[v->a],
        .b = v->b == 0 ? 0 : p->reg[v->b],
        .c = v->c == 0 ? 0 : p->reg[v->c],
        .k = (uint16_t)(pooled_one ? place_constant(p, v->k) : v->k),
    };
    release(p, v->a, id);
    release(p, v->b, id);
    release(p, v->c, id);
    return HAC_OK;
}

static bool is_leaf(const value *v)
{
    return v->op == HAC_OP_COLUMN || v->op == HAC_OP_CONSTANT || v->op == HAC_OP_NULL;
}

static hac_status emit_leaf(plan *p, uint32_t id, hac_error *err)
{
    if (id == 0 || !is_leaf(&p->builder->values[id]) || p->reg[id] != UINT16_MAX)
        return HAC_OK;
    return emit(p, id, err);
}

static hac_status emit_all(plan *p, hac_error *err)
{
    const hac_program_builder *builder = p->builder;
    hac_status status = HAC_OK;
    for (uint32_t i = 1; status == HAC_OK && i < builder->n_values; i++) {
        const value *v = &builder->values[i];
        if (p->last_use[i] == 0 || is_leaf(v))
            continue;
        status = emit_leaf(p, v->a, err);
        if (status == HAC_OK)
            status = emit_leaf(p, v->b, err);
        if (status == HAC_OK)
            status = emit_leaf(p, v->c, err);
        if (status == HAC_OK)
            status = emit(p, i, err);
    }
    for (size_t i = 0; status == HAC_OK && i < builder->n_outputs; i++)
        status = emit_leaf(p, builder->outputs[i].value, err);
    return status;
}

static hac_status plan_new(const hac_program_builder *builder, plan **ret, hac_error *err)
{
    hac_cleanup(plan_free_cleanup) plan *p = calloc(1, sizeof *p);
    hac_program *program = calloc(1, sizeof *program);
    if (p == NULL || program == NULL) {
        free(program);
        return hac_fail_no_memory(err);
    }
    p->builder = builder;
    p->program = program;
    p->last_use = calloc(builder->n_values, sizeof *p->last_use);
    p->reg = malloc(builder->n_values * sizeof *p->reg);
    p->constant = malloc((builder->n_pool + 1) * sizeof *p->constant);
    p->string = malloc((builder->n_bytes + 1) * sizeof *p->string);
    program->inputs = calloc(builder->n_inputs + 1, sizeof *program->inputs);
    program->registers = calloc(HAC_PROGRAM_REGISTERS_MAX, 1);
    program->instructions = calloc(builder->n_values, sizeof *program->instructions);
    program->constants = calloc(builder->n_pool + 1, sizeof *program->constants);
    program->bytes = calloc(builder->n_bytes + 1, 1);
    program->outputs = calloc(builder->n_outputs + 1, sizeof *program->outputs);
    if (p->last_use == NULL || p->reg == NULL || p->constant == NULL || p->string == NULL ||
        program->inputs == NULL || program->registers == NULL || program->instructions == NULL ||
        program->constants == NULL || program->bytes == NULL || program->outputs == NULL)
        return hac_fail_no_memory(err);
    memset(p->reg, 0xff, builder->n_values * sizeof *p->reg);
    memset(p->constant, 0xff, (builder->n_pool + 1) * sizeof *p->constant);
    memset(p->string, 0xff, (builder->n_bytes + 1) * sizeof *p->string);
    *ret = hac_steal_ptr(p);
    return HAC_OK;
}

static hac_status make_program(const hac_program_builder *builder, hac_program **ret, hac_error *err)
{
    hac_cleanup(plan_free_cleanup) plan *p = NULL;
    hac_status status = plan_new(builder, &p, err);
    if (status != HAC_OK)
        return status;
    hac_program *program = p->program;
    find_last_uses(p);
    status = emit_all(p, err);
    if (status != HAC_OK)
        return status;
    program->n_inputs = builder->n_inputs;
    memcpy(program->inputs, builder->inputs, builder->n_inputs * sizeof *program->inputs);
    program->n_outputs = builder->n_outputs;
    for (size_t i = 0; i < builder->n_outputs; i++) {
        program->outputs[i].reg = p->reg[builder->outputs[i].value];
        program->outputs[i].type = builder->outputs[i].type;
    }
    status = hac_program_verify(program, err);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(p->program);
    return status;
}

hac_status hac_program_builder_finish(hac_program_builder *builder, hac_program **ret, hac_error *err)
{
    hac_status status;
    if (broken(builder))
        status = hac_fail(err, builder->error.code, "%s", builder->error.message);
    else
        status = make_program(builder, ret, err);
    reset(builder);
    return status;
}
