/* SPDX-License-Identifier: Apache-2.0 */
/* Buffer handles: pool memory that the caller owns. */
#ifndef CLIENT_BUFFERS_H
#define CLIENT_BUFFERS_H

#include "connection/release.h"

struct hac_buffer {
    hac_client *client; /* holds a reference */
    hac_release release;
    hac_mapping *mapping; /* the handle counts as a user */
};

HAC_DEFINE_CLEANUP(hac_buffer *, hac_buffer_free)

/* Allocates memory for a split of `job`. HAC_REFUSED: *ret_retry is the number of seconds after which to
 * retry; 0 means never. */
HAC_MUST_USE hac_status hac_buffer_alloc_split(hac_client *client, uint64_t job, uint64_t bytes,
                                               hac_buffer **ret_buffer, double *ret_retry, hac_error *err);

/* Frees only the handle. The caller becomes the user of the returned mapping. The client must have another
 * reference. */
hac_mapping *hac_buffer_take(hac_buffer *buffer);

#endif
