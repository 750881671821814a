/* SPDX-License-Identifier: Apache-2.0 */
#include "byte_count.h"

#include <string.h>

/* The vector width that every 64-bit CPU supports. A comparison sets a lane to 255 if it is true. */
typedef uint8_t vector __attribute__((vector_size(16)));

enum {
    LANES = sizeof(vector),
    STEP = 4 * LANES,
    ROUNDS = 63, /* a lane of the sum of four vectors holds max 255 */
};

static inline vector load(const uint8_t *at)
{
    vector v;
    memcpy(&v, at, sizeof(v));
    return v;
}

static uint64_t add_up(vector sums)
{
    uint64_t all = 0;
    for (int i = 0; i < LANES; i++)
        all += sums[i];
    return all;
}

static inline vector matches(const uint8_t *at, uint8_t byte)
{
    const vector wanted = byte - (vector){0};
    return -((vector)(load(at) == wanted) + (vector)(load(at + LANES) == wanted) +
             (vector)(load(at + 2 * LANES) == wanted) + (vector)(load(at + 3 * LANES) == wanted));
}

static size_t steps_of(size_t bytes)
{
    return bytes / STEP < ROUNDS ? bytes / STEP : ROUNDS;
}

hac_byte_counts hac_byte_count_text(const uint8_t *data, size_t bytes)
{
    hac_byte_counts counts = {0, 0};
    for (size_t steps; (steps = steps_of(bytes)) > 0; data += steps * STEP, bytes -= steps * STEP) {
        vector newlines = {0}, quotes = {0};
        for (size_t i = 0; i < steps; i++) {
            newlines += matches(data + i * STEP, '\n');
            quotes += matches(data + i * STEP, '"');
        }
        counts.newlines += add_up(newlines);
        counts.quotes += add_up(quotes);
    }
    for (size_t i = 0; i < bytes; i++) {
        counts.newlines += data[i] == '\n';
        counts.quotes += data[i] == '"';
    }
    return counts;
}

uint64_t hac_byte_count_lines(const uint8_t *data, size_t bytes)
{
    uint64_t count = 0;
    for (size_t steps; (steps = steps_of(bytes)) > 0; data += steps * STEP, bytes -= steps * STEP) {
        vector newlines = {0};
        for (size_t i = 0; i < steps; i++)
            newlines += matches(data + i * STEP, '\n');
        count += add_up(newlines);
    }
    for (size_t i = 0; i < bytes; i++)
        count += data[i] == '\n';
    return count;
}
