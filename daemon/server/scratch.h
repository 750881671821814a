/* SPDX-License-Identifier: Apache-2.0 */
/* Private scratch directories of children (their driver's own cache). Each child gets a fresh one: what one
 * executor left there must never be loaded by another. */
#ifndef SERVER_SCRATCH_H
#define SERVER_SCRATCH_H

#include <limits.h>
#include <uv.h>

#include "base/error.h"

typedef char hac_scratch_path[PATH_MAX];

/* Makes a new directory below `parent`. */
HAC_MUST_USE hac_status hac_scratch_make(const char *parent, hac_scratch_path ret, hac_error *err);

/* Removes it with all it holds, on libuv's thread pool. */
void hac_scratch_remove(uv_loop_t *loop, const char *path);

/* Removes a tree at once: at the end, when the loop has stopped. */
void hac_scratch_remove_now(const char *path);

#endif
