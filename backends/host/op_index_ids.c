/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/random.h>

#include "base/clock.h"
#include "codelet/hash.h"
#include "op_index.h"

uint64_t hac_op_index_hash_start(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
        seed = hac_now_ns();
    return hac_hash_start(seed);
}

uint32_t *hac_op_index_ids(const hac_op_request *r, size_t x)
{
    return (uint32_t *)(void *)r->v[x == 2 ? 0 : 3].values;
}

void hac_op_put_ids(const hac_op_request *r, const uint64_t *numbers, const uint32_t *ranks)
{
    uint64_t at = 0;
    for (size_t x = 2; x < r->n; x += 2)
        for (uint64_t row = 0; row < r->v[x].rows; row++)
            hac_op_index_ids(r, x)[row] = ranks[numbers[at++]];
}
