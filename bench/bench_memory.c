/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory bandwidth of this machine, the bound that sorts are held against: one pass that reads one array and
 * writes another, with N threads. Prints one JSON object: bytes read and written a second.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define BYTES   (UINT64_C(256) << 20)
#define REPEATS 15

typedef struct part {
    uint8_t *to;
    const uint8_t *from;
    size_t bytes;
} part;

static void *copy(void *argument)
{
    part *p = argument;
    memmove(p->to, p->from, p->bytes);
    return NULL;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    size_t threads = argc > 1 ? (size_t)atoi(argv[1]) : 2;
    uint8_t *from = malloc(BYTES), *to = malloc(BYTES);
    double seconds[REPEATS];
    pthread_t ids[64];
    part parts[64];
    if (from == NULL || to == NULL || threads < 1 || threads > 64)
        return 2;
    memset(from, 1, BYTES);
    memset(to, 2, BYTES);
    for (int r = 0; r < REPEATS; r++) {
        uint64_t start = hac_now_ns();
        for (size_t i = 0; i < threads; i++) {
            parts[i] = (part){to + BYTES / threads * i, from + BYTES / threads * i, BYTES / threads};
            if (pthread_create(&ids[i], NULL, copy, &parts[i]) != 0)
                return 1;
        }
        for (size_t i = 0; i < threads; i++)
            pthread_join(ids[i], NULL);
        seconds[r] = hac_seconds_since(start);
    }
    qsort(seconds, REPEATS, sizeof *seconds, by_value);
    printf("{\"threads\":%zu,\"bytes_per_second\":%.0f}\n", threads,
           2.0 * (double)BYTES / seconds[REPEATS / 2]);
    free(from);
    free(to);
    return 0;
}
