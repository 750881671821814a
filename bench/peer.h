/* SPDX-License-Identifier: Apache-2.0 */
/* Peers: other sorts, loaded at run time from the shared object that bench/run.py built of what it found. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <hac/type.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct bench_peer {
    void (*sort)(void *keys, uint64_t n);                           /* in place */
    void (*argsort)(const void *keys, uint64_t *index, uint64_t n); /* may be NULL */
} bench_peer;

/* The functions `<name>_sort_<type>` and `<name>_argsort_<type>` of the library; false if sort is missing. */
bool bench_peer_load(const char *library, const char *name, hac_type type, bench_peer *ret);

#endif
