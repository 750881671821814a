/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pool memory that this client has mapped, by buffer id.
 *
 * A mapping outlives the use of its buffer: hacd recycles memory within a user and hands the same id again
 * without its memfd, and a mapping that was kept costs a twentieth of a new one (no page faults). What is
 * idle is bounded: beyond HAC_IDLE_MAPPED_BYTES the least recently used ones are cut down to one page, from
 * which they grow again without a descriptor, and beyond HAC_IDLE_MAPPINGS they are forgotten.
 */
#ifndef CLIENT_BUFFERS_H
#define CLIENT_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <hac/hac.h>

#include "base/error.h"
#include "proto/frame.h"
#include "proto/messages.h"
#include "table.h"

#define HAC_IDLE_MAPPED_BYTES (UINT64_C(8) << 30)
#define HAC_IDLE_MAPPINGS     4096

typedef struct hac_mapping {
    hac_link by_id;
    TAILQ_ENTRY(hac_mapping) in_list; /* of `idle` or `used` */
    uint8_t *address;
    uint64_t bytes;  /* what the memfd is known to hold */
    uint64_t mapped; /* of these, mapped now: all, or one page */
    int fd;          /* kept while the memfd may still grow, else -1 */
    unsigned users;  /* a buffer handle, or handles of the job whose result it is; 0: idle */
    bool lent;       /* used by a hac_buffer: may be the input of a job */
    bool fresh;      /* nobody has used it yet, in this process */
} hac_mapping;

TAILQ_HEAD(hac_mapping_list, hac_mapping);

typedef struct hac_mappings {
    hac_table by_id;
    struct hac_mapping_list used, idle; /* idle: least recently used first */
    size_t n_idle;
    uint64_t idle_mapped; /* bytes */
    /* limits, for tests */
    uint64_t max_idle_mapped;
    size_t max_idle;
} hac_mappings;

void hac_mappings_init(hac_mappings *mappings);

/* Unmaps everything. */
void hac_mappings_clear(hac_mappings *mappings);

/*
 * Takes in what hacd says of a buffer, with the memfd out of `frame` if it is attached, and adds a user.
 * `lend`: as a hac_buffer, which must then have no other user. Every failure is HAC_PROTOCOL or HAC_NO_MEMORY
 * and leaves hacd's and our idea of what is mapped apart: the connection must end.
 */
HAC_MUST_USE hac_status hac_mappings_take(hac_mappings *mappings, const Hac__Client__Buffer *buffer,
                                          hac_frame *frame, bool lend, hac_mapping **ret, hac_error *err);

/* A buffer in use has grown: maps the rest of it. The address may change. */
HAC_MUST_USE hac_status hac_mappings_grown(hac_mappings *mappings, const Hac__Client__Buffer *buffer,
                                           hac_frame *frame, hac_error *err);

/* Drops a user; the last one makes it idle. */
void hac_mappings_drop(hac_mappings *mappings, hac_mapping *mapping);

/* The lent mapping that [address, address + bytes) lies in, or NULL. */
hac_mapping *hac_mappings_containing(const hac_mappings *mappings, const void *address, uint64_t bytes);

static inline uint32_t hac_mapping_id(const hac_mapping *mapping)
{
    return (uint32_t)(mapping->by_id.key - 1); /* ids may be 0, keys not */
}

struct hac_buffer {
    hac_client *client;   /* counted */
    hac_mapping *mapping; /* a user of it */
};

/* Memory for a split of that job. HAC_REFUSED: *ret_retry says when to ask again, in seconds; 0: never. */
HAC_MUST_USE hac_status hac_buffer_alloc_split(hac_client *client, uint64_t job, uint64_t bytes,
                                               hac_buffer **ret_buffer, double *ret_retry, hac_error *err);

/* Gives memory back to hacd, and keeps it mapped; NULL allowed. */
void hac_buffer_give_back(hac_client *client, hac_mapping *mapping);

/* Frees the handle only: its use of the memory is the caller's. The client must have another reference. */
hac_mapping *hac_buffer_take(hac_buffer *buffer);

#endif
