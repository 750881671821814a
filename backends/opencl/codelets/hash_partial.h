/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the device's pairs to partials (query/partial.h), chunk by chunk: the sink of a hash job. A group's
 * keys are computed again from the row that stands for it, by the C machine, so that strings and all other
 * keys are what the C engine would have written. Chunks that a job refuses are the caller's, for the C
 * engine.
 */
#ifndef CODELETS_HASH_PARTIAL_H
#define CODELETS_HASH_PARTIAL_H

#include "expr/machine.h"
#include "hash_job.h"
#include "query/group_put.h"
#include "query/partial.h"

typedef struct hac_hash_partials hac_hash_partials;

struct hac_hash_partials {
    const hac_query *query;  /* borrowed, like all that is not said to be owned */
    const hac_hash_job *job; /* its columns are what rows are read from */
    hac_group_options options;
    uint64_t first_chunk; /* number of chunk 0 of the source among all */
    uint8_t *regions;     /* region c is that of number c */
    uint64_t region;
    uint64_t groups, needed; /* results: groups in all partials, the largest partial, */
    uint64_t bytes;          /* the last one */
    void *context;           /* the caller's */
    /* Writes the partial of a chunk that was refused, and counts it. */
    hac_status (*refused)(hac_hash_partials *partials, uint64_t chunk, hac_error *err);

    hac_group_table *groups_table; /* owned from here on */
    hac_machine_c *rows;
    uint8_t *values, *states; /* of a batch */
    hac_vector *columns, *outputs;
    uint8_t *strings;
    uint64_t strings_room;
};

/* The fields above `groups_table` but for the results are the caller's to fill in before. */
HAC_MUST_USE hac_status hac_hash_partials_init(hac_hash_partials *partials, hac_error *err);
void hac_hash_partials_clear(hac_hash_partials *partials);

/* Adds a partial to the results. */
void hac_hash_partials_count(hac_hash_partials *partials, uint64_t groups, uint64_t bytes);

/* A hac_hash_sink; the context is a hac_hash_partials. */
hac_status hac_hash_partials_write(void *context, const hac_hash_groups *groups, hac_error *err);

#endif
