/* SPDX-License-Identifier: Apache-2.0 */
/* Emits checked trees as operations of a program builder. Failures stick to the builder. */
#ifndef EXPR_EMIT_H
#define EXPR_EMIT_H

#include "expr/query.h"
#include "syntax/function.h"

struct hac_emitter {
    hac_program_builder *builder;
    uint32_t *pass; /* number of the last pass over the nodes */
    uint32_t current;
    bool folding;             /* a constant is being folded */
    unsigned folds;           /* constants that were folded */
    const int *column_inputs; /* for each column of the schema, its input; NULL: columns are among `inputs` */
    hac_node *const *inputs;  /* nodes that are inputs of the program; in `finals`: keys and aggregates */
    size_t n_inputs;
};

/* Begins a new pass, for the program of `builder`. */
void hac_emitter_begin(hac_emitter *e, hac_program_builder *builder, uint32_t *pass);

hac_value_id hac_emit_node(hac_emitter *e, hac_node *node);
/* The node's value, converted to `type`. */
hac_value_id hac_emit_as(hac_emitter *e, hac_node *node, hac_value_type type);
/* Argument i, converted to the type that the checker has chosen. */
hac_value_id hac_emit_argument(hac_emitter *e, const hac_node *node, size_t i);

/* Converts a value: `cast`, and every implicit conversion. */
hac_value_id hac_emit_convert(hac_program_builder *builder, hac_value_id value, hac_value_type from,
                              hac_value_type to);

typedef enum hac_relation { HAC_EQ, HAC_NE, HAC_LT, HAC_LE, HAC_GT, HAC_GE } hac_relation;

hac_value_id hac_emit_comparison(hac_emitter *e, hac_relation which, hac_node *a, hac_node *b);

/* Functions of more than one operation: struct hac_function, `emit`. */
hac_value_id hac_emit_compare(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_in(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_like(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_if(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_coalesce(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_nullif(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_greatest(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_whole(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_round_digits(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_round_decimal(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_sign(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_typeof(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_pi(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_concat(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_substr(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_left(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_right(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_hash(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_regexp(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_strftime(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_strptime(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_zone(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_add_days(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_timestamp_part(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_trunc_date(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_trunc_timestamp(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_add_months(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_add_interval(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_epoch(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_make_timestamp(hac_emitter *e, const hac_node *node);
hac_value_id hac_emit_date_diff(hac_emitter *e, const hac_node *node);

/* `k` of hac_emit_regexp. */
enum { HAC_EMIT_MATCHES, HAC_EMIT_EXTRACT, HAC_EMIT_REPLACE };

/* `k` of hac_emit_whole. */
enum { HAC_WHOLE_FLOOR, HAC_WHOLE_CEIL, HAC_WHOLE_TRUNC, HAC_WHOLE_ROUND };

#endif
