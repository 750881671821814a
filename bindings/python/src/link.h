/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link is a connection to hacd that several threads and several owners share: the Connection object, and
 * every buffer and job made from it. It calls nothing of Python.
 *
 * libhac wants a client and all that was made from it to be used by one thread at a time. Therefore a link
 * has a lock. Python frees objects on any thread, at any time, and readers of Arrow columns release them on
 * threads of their own; none of these may wait for the lock. They put what is to be freed into the link's
 * list, and whoever has the lock frees the list: at once if nobody has it, else when it is given back.
 *
 * A process that was forked has the link's memory, but the connection belongs to its parent. Nothing is sent
 * or freed there; only the socket's descriptor is closed, or hacd would not see the parent's end.
 */
#ifndef HACPY_LINK_H
#define HACPY_LINK_H

#include <stdbool.h>

#include <hac/hac.h>

#include "progress.h"

typedef struct hacpy_link hacpy_link;

/* Makes a link that owns `client`. NULL: there is no memory; the client stays the caller's. */
hacpy_link *hacpy_link_new(hac_client *client);
hacpy_link *hacpy_link_ref(hacpy_link *link);
/* Drops a reference. Not with the lock held. */
void hacpy_link_unref(hacpy_link *link);

/* Returns the client for the use of this thread alone, until hacpy_link_unlock. May wait, so not with the GIL
 * held. */
hac_client *hacpy_link_lock(hacpy_link *link);
void hacpy_link_unlock(hacpy_link *link);

/* Whether this process made the link. Only then it may be used. */
bool hacpy_link_is_ours(const hacpy_link *link);
/* Whether hacd has closed the connection. */
bool hacpy_link_is_broken(const hacpy_link *link);
/* Waits until hacd has sent something, or a signal has arrived, or the time is up. Needs no lock. */
void hacpy_link_poll(const hacpy_link *link, int timeout_ms);

/* Something of libhac that is freed with the lock of its link held, when its last reference is dropped. */
typedef struct hacpy_held {
    hacpy_link *link;
    hac_job *job;
    hac_buffer *buffer;
    struct ArrowArray array;  /* release NULL: none */
    hacpy_progress *progress; /* of the job's callback; NULL: none */
    /* private */
    struct hacpy_held *next;
    int references;
} hacpy_held;

/* Makes an empty one, with one reference. NULL: there is no memory. */
hacpy_held *hacpy_held_new(hacpy_link *link);
hacpy_held *hacpy_held_ref(hacpy_held *held);
/* Keeps the record that the options of its job name, if they do. */
void hacpy_held_keep_progress(hacpy_held *held, const hac_job_options *options);
/* Drops a reference; from any thread, with or without the GIL, never waits. NULL is allowed. */
void hacpy_held_unref(hacpy_held *held);

#endif
