/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a child of hacd may still do once it runs kernels or touches data. A device program can read and write
 * all memory of its process, so the process itself is the boundary. The functions, in the order of their use:
 *
 *   hac_sandbox_early   at once: non-dumpable (no other process of this user can trace it or read its
 *                       memory), no core files, no new privileges; the process dies with its parent, and
 *                       before it when memory runs out
 *   hac_sandbox_files   before the driver starts, since Landlock binds only threads that are made later:
 *                       files that drivers need can be read, the scratch directory can be written, nothing
 *                       else
 *   hac_sandbox_calls   after the driver has started, for all of its threads: no exec, no fork, no sockets,
 *                       no tracing or signalling of others, no memory that is both writable and executable
 *                       unless `jit`
 *
 * If the kernel is too old for a part, that part is left out and `ret_missing` names it. In builds with
 * sanitizers, and only there, HAC_SANDBOX=off in the environment leaves out the last two parts and allows
 * tracing, which leak checks need.
 */
#ifndef EXECUTOR_SANDBOX_H
#define EXECUTOR_SANDBOX_H

#include <stdbool.h>

#include "base/error.h"

HAC_MUST_USE hac_status hac_sandbox_early(hac_error *err);

/* `readable` and `writable` end with NULL. Names that do not exist are skipped. */
HAC_MUST_USE hac_status hac_sandbox_files(const char *const *readable, const char *const *writable,
                                          const char **ret_missing, hac_error *err);

HAC_MUST_USE hac_status hac_sandbox_calls(bool jit, const char **ret_missing, hac_error *err);

#endif
