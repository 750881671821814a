/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sink of a hash job that turns the device's pairs into partials (query/partial.h), chunk by chunk. The C
 * machine computes a group's keys again from the row that represents the group, so strings and all other keys
 * are what the C engine would have written. Chunks that a job refuses are left to the caller, who uses the C
 * engine.
 */
#ifndef CODELETS_HASH_PARTIAL_H
#define CODELETS_HASH_PARTIAL_H

#include "expr/machine.h"
#include "hash_job.h"
#include "query/group_table.h"
#include "query/partial.h"

typedef struct hac_hash_partials hac_hash_partials;

struct hac_hash_partials {
    const hac_query *query;  /* borrowed, like everything that is not owned */
    const hac_hash_job *job; /* rows are read from its columns */
    hac_group_options options;
    uint64_t first_chunk; /* number of the source's chunk 0 among all chunks */
    uint8_t *regions;     /* region c belongs to chunk number c */
    uint64_t region;
    uint64_t groups, needed; /* results: groups of all partials, and the largest partial */
    uint64_t bytes;          /* the last partial */
    void *context;           /* the caller's */
    /* Writes the partial of a refused chunk and adds it to the results. */
    hac_status (*refused)(hac_hash_partials *partials, uint64_t chunk, hac_error *err);

    hac_group_table *groups_table; /* all members from here on are owned */
    hac_machine_c *rows;
    uint8_t *values, *states; /* of a batch */
    hac_column *columns, *outputs;
    uint8_t *strings;
    uint64_t strings_capacity;
};

/* Before the call the caller fills in the members above `groups_table`, except the results. */
HAC_MUST_USE hac_status hac_hash_partials_init(hac_hash_partials *partials, hac_error *err);
void hac_hash_partials_clear(hac_hash_partials *partials);

/* Adds a partial to the results. */
void hac_hash_partials_count(hac_hash_partials *partials, uint64_t groups, uint64_t bytes);

/* A hac_hash_sink whose context is a hac_hash_partials. */
hac_status hac_hash_partials_write(void *context, const hac_hash_chunk_groups *groups, hac_error *err);

#endif
