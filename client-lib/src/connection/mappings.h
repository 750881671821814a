/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool memory that this client has mapped, by buffer id.
 *
 * A mapping outlives the use of its buffer. hacd recycles memory within a user, and returns a recycled buffer
 * by its id, without a memfd. Reusing a mapping avoids page faults and costs a twentieth of a new mapping.
 * Idle mappings are limited. Above HAC_IDLE_MAPPED_BYTES the client shrinks the least recently used mappings
 * to one page; such a mapping can grow again without a descriptor. Above HAC_IDLE_MAPPINGS the client removes
 * the least recently used mappings.
 */
#ifndef CLIENT_MAPPINGS_H
#define CLIENT_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/error.h"
#include "id_table.h"
#include "proto/frame.h"
#include "proto/messages.h"

#define HAC_IDLE_MAPPED_BYTES (UINT64_C(8) << 30)
#define HAC_IDLE_MAPPINGS     4096

typedef struct hac_mapping {
    hac_id_link by_id;
    TAILQ_ENTRY(hac_mapping) in_list; /* of `idle` or `used` */
    uint8_t *address;
    uint64_t bytes;  /* known size of the memfd */
    uint64_t mapped; /* bytes that are mapped now: all bytes, or one page */
    int fd;          /* the memfd while it may still grow, else -1 */
    unsigned users;  /* buffer handles, and handles of the job whose result this is; 0: idle */
    bool lent;       /* a hac_buffer uses the mapping, so it may be the input of a job */
    bool fresh;      /* this process has not used the mapping yet */
} hac_mapping;

TAILQ_HEAD(hac_mapping_list, hac_mapping);

typedef struct hac_mappings {
    hac_id_table by_id;
    struct hac_mapping_list used, idle; /* idle: least recently used first */
    size_t n_idle;
    uint64_t idle_mapped; /* bytes */
    /* limits; tests change them */
    uint64_t max_idle_mapped;
    size_t max_idle;
} hac_mappings;

void hac_mappings_init(hac_mappings *mappings);

/* Unmaps everything. */
void hac_mappings_clear(hac_mappings *mappings);

/*
 * Maps the buffer that hacd describes in `buffer`, takes the memfd from `frame` if one is attached, and adds
 * a user. `lend`: the user is a hac_buffer, and the buffer must have no other user. Fails with HAC_PROTOCOL
 * or HAC_NO_MEMORY. After a failure the client and hacd disagree about what is mapped, so the caller must end
 * the connection.
 */
HAC_MUST_USE hac_status hac_mappings_take(hac_mappings *mappings, const Hac__Client__Buffer *buffer,
                                          hac_frame *frame, bool lend, hac_mapping **ret, hac_error *err);

/* Maps the rest of a buffer in use that has grown. The address may change. */
HAC_MUST_USE hac_status hac_mappings_grown(hac_mappings *mappings, const Hac__Client__Buffer *buffer,
                                           hac_frame *frame, hac_error *err);

/* Adds a user to a mapping that has one. */
void hac_mappings_share(hac_mapping *mapping);
/* Removes a user. A mapping without users is idle. */
void hac_mappings_drop(hac_mappings *mappings, hac_mapping *mapping);

/* Returns the lent mapping that contains [address, address + bytes), or NULL. */
hac_mapping *hac_mappings_containing(const hac_mappings *mappings, const void *address, uint64_t bytes);

static inline uint32_t hac_mapping_id(const hac_mapping *mapping)
{
    return (uint32_t)(mapping->by_id.key - 1); /* ids may be 0, keys not */
}

#endif
