/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/query_facts.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return XXH64(&value, sizeof(value), hash);
}

static uint64_t mix_type(uint64_t hash, hac_value_type type)
{
    return mix(hash, (uint64_t)type.kind << 16 | (uint64_t)type.precision << 8 | type.scale);
}

/* The operations. Constants are not among them, only their places. */
static uint64_t mix_program(uint64_t hash, const hac_program *program)
{
    if (program == NULL)
        return mix(hash, 0);
    hash = mix(hash, program->n_instructions + 1);
    for (size_t i = 0; i < program->n_inputs; i++)
        hash = mix_type(hash, program->inputs[i]);
    _Static_assert(sizeof(hac_instruction) == 6 * sizeof(uint16_t), "has no padding");
    return XXH64(program->instructions, program->n_instructions * sizeof(hac_instruction), hash);
}

static uint64_t mix_constants(uint64_t hash, const hac_program *program)
{
    for (size_t i = 0; program != NULL && i < program->n_constants; i++)
        hash = mix(mix(hash, program->constants[i].low), program->constants[i].high);
    return program != NULL && program->n_bytes > 0 ? XXH64(program->bytes, program->n_bytes, hash) : hash;
}

static uint32_t fold(uint64_t hash)
{
    uint32_t low = (uint32_t)(hash ^ hash >> 32);
    return low != 0 ? low : 1;
}

void hac_query_shape_read(const hac_query *q, uint32_t *ret_shape, uint32_t *ret_same)
{
    uint64_t hash = mix((uint64_t)q->source.format << 8 | q->output, q->n_keys);
    for (size_t i = 0; i < q->columns.n_fields; i++)
        hash = mix_type(hash, q->columns.fields[i].type);
    hash = mix_program(hash, q->filter);
    hash = mix_program(hash, q->rows);
    hash = mix_program(hash, q->finals);
    for (size_t i = 0; i < q->n_aggregates; i++)
        hash = mix(hash, q->aggregate[i].function);
    hash = mix(hash, q->n_order << 8 | q->n_limit_by << 4 | (uint64_t)(q->limit != UINT64_MAX) << 1 |
                         (uint64_t)q->aggregates);
    *ret_shape = fold(hash);
    for (size_t i = 0; i < q->columns.n_fields; i++)
        hash = XXH64(q->columns.fields[i].name, strlen(q->columns.fields[i].name), hash);
    hash = mix_constants(mix_constants(mix_constants(hash, q->filter), q->rows), q->finals);
    hash = mix(mix(hash, q->limit), q->offset);
    *ret_same = fold(hash);
}
