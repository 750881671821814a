/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private scratch directories of children (their driver's own cache). Each child gets a fresh one: what one
 * executor left there must never be loaded by another. They lie in a directory of this hacd, which it keeps
 * locked: what lies beside it unlocked was left by a hacd that was killed.
 */
#ifndef SERVER_SCRATCH_H
#define SERVER_SCRATCH_H

#include <limits.h>
#include <uv.h>

#include "base/error.h"

typedef char hac_scratch_path[PATH_MAX];

/* Makes hacd's own directory; the one above it is there. Where another hacd has that path (of the same number
 * in another pid namespace) `path` gets a suffix. *ret_lock stays open as long as the directory is used; -1
 * where the file system has no locks. */
HAC_MUST_USE hac_status hac_scratch_claim(hac_scratch_path path, int *ret_lock, hac_error *err);

/* Removes what dead hacds of this user left beside `own`, on libuv's thread pool. */
void hac_scratch_sweep(uv_loop_t *loop, const char *own);

/* The same at once. */
void hac_scratch_sweep_now(const char *own);

/* Makes a new directory below `parent`. */
HAC_MUST_USE hac_status hac_scratch_make(const char *parent, hac_scratch_path ret, hac_error *err);

/* Removes it with all it holds, on libuv's thread pool. */
void hac_scratch_remove(uv_loop_t *loop, const char *path);

/* Removes a tree at once: at the end, when the loop has stopped. */
void hac_scratch_remove_now(const char *path);

#endif
