/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of hac_query_splits, opened at their turn. */
#ifndef CLIENT_SPLITS_H
#define CLIENT_SPLITS_H

#include "cut.h"
#include "input.h"
#include "query.h"

typedef struct hac_turn {
    const hac_splits *splits;
    size_t index; /* of the input that is open, or was last */
    int fd;       /* -1: none is open */
    hac_input *input;
} hac_turn;

/* The next input, after closing the one before; HAC_NOT_FOUND: that was the last one. */
HAC_MUST_USE hac_status hac_turn_next(hac_turn *turn, hac_error *err);
void hac_turn_clear(hac_turn *turn);
static inline bool hac_turn_is_last(const hac_turn *turn)
{
    return turn->index + 1 == turn->splits->n_inputs;
}

/* How the inputs are cut, with sets of `set_bytes`. HAC_INVALID: the options say too little. */
HAC_MUST_USE hac_status hac_splits_rule(const hac_query_options *options, uint64_t set_bytes,
                                        hac_cut_rule *ret, hac_error *err);

/* A record of fixed width that the input ends within. */
hac_status hac_fail_ragged(const char *name, uint64_t bytes, const hac_cut_rule *rule, hac_error *err);

/* Where the rows need an order, or are columns: everything in one buffer, as one job (whole.c). */
HAC_MUST_USE hac_status hac_query_whole(hac_client *client, const hac_splits *splits,
                                        const hac_query_options *options, hac_job **ret_job, hac_error *err);

#endif
