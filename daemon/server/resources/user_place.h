/* SPDX-License-Identifier: Apache-2.0 */
/* Where clients run, as a number: the first 128 bits of the SHA-256 of the place's name
 * (sessions/peer_place.h). It names folders and models, which are still there after a restart, so it depends
 * on the name alone. It keeps users apart, so nobody may find a second name for a number. */
#ifndef SERVER_USER_PLACE_H
#define SERVER_USER_PLACE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct hac_user_place {
    uint64_t high, low; /* 0, 0: anywhere */
} hac_user_place;

#define HAC_PLACE_ANYWHERE ((hac_user_place){0, 0})
/* Stands for the places of clients that hacd cannot tell. */
#define HAC_PLACE_UNKNOWN ((hac_user_place){UINT64_MAX, UINT64_MAX})

static inline bool hac_user_place_equal(hac_user_place a, hac_user_place b)
{
    return a.high == b.high && a.low == b.low;
}

#endif
