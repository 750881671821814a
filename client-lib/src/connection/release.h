/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of what was made from a client: handles of jobs and buffers, and exported arrays.
 *
 *     before hac_client_free    handles end at once, in the client's thread; any thread may release an array,
 *                               which ends in the next call of the client's thread
 *     after hac_client_free     any thread may end anything. One of them is the owner of the client at a
 *                               time: it ends its own, and what other threads add meanwhile. With the last
 *                               array the connection ends, with the last handle the client.
 *     in a forked child         nothing is said to hacd and the socket is not shut down, because the socket
 *                               and the memory behind arrays are still the parent's
 *
 * No lock is held while something ends: this may call functions of the caller, which may wait for other
 * threads.
 */
#ifndef CLIENT_RELEASE_H
#define CLIENT_RELEASE_H

#include "connection.h"

/* Something to end. It is part of what `run` ends and frees. */
typedef struct hac_release {
    struct hac_release *next;
    void (*run)(struct hac_release *release);
} hac_release;

/* Ends a handle, now or later. The handle holds a reference to the client. */
void hac_client_end_handle(hac_client *client, hac_release *release);

/* Counts an exported array, which keeps the connection open. */
void hac_client_begin_export(hac_client *client);

/* Ends an array that was counted, now or later. The array holds a reference to the client. Any thread may
 * call this. False: this process is a forked child, and the caller frees its own memory only. */
bool hac_client_end_export(hac_client *client, hac_release *release);

/* Ends the arrays that have been released. For the client's thread, before hac_client_free. */
void hac_client_end_released(hac_client *client);

/* hac_client_free: ends the connection, and drops the caller's reference to the client, now or with the
 * release of the last array. */
void hac_client_end(hac_client *client);

#endif
