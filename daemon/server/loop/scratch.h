/* SPDX-License-Identifier: Apache-2.0 */
/* Private scratch directories of children, for their drivers' caches. Each child gets a fresh one, because no
 * executor may load what another has left there. They lie in a directory of this hacd, which holds a lock on
 * it. An unlocked directory beside it was left by a hacd that was killed. */
#ifndef SERVER_SCRATCH_H
#define SERVER_SCRATCH_H

#include <limits.h>
#include <uv.h>

#include "base/error.h"

typedef char hac_scratch_path[PATH_MAX];

/* Makes hacd's own directory; its parent exists. If another hacd has that path (with the same process number
 * in another pid namespace), `path` gets a suffix. *ret_lock stays open as long as the directory is used; it
 * is -1 on file systems without locks. */
HAC_MUST_USE hac_status hac_scratch_claim(hac_scratch_path path, int *ret_lock, hac_error *err);

/* Removes what dead hacds of this user left beside `own`, on libuv's thread pool. */
void hac_scratch_sweep(uv_loop_t *loop, const char *own);

/* The same, synchronously. */
void hac_scratch_sweep_now(const char *own);

/* Makes a new directory in `parent`. */
HAC_MUST_USE hac_status hac_scratch_make(const char *parent, hac_scratch_path ret, hac_error *err);

/* Removes a directory tree, on libuv's thread pool. */
void hac_scratch_remove(uv_loop_t *loop, const char *path);

/* Removes a directory tree synchronously, once the loop has stopped. */
void hac_scratch_remove_now(const char *path);

#endif
