/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a child of hacd may still do once it runs kernels or touches data. A device program can read and
 * write all of its process's memory, so the process itself is the boundary. In order of use:
 *
 *   hac_sandbox_early     at once: non-dumpable (no other process of this user can trace it or read its
 *                         memory), no core files, no new privileges, dies with its parent, and before it when
 * memory runs out hac_sandbox_files     before the driver starts, since Landlock binds only threads that are
 * made later: files that drivers need can be read, the scratch directory written, nothing else
 *   hac_sandbox_calls     after the driver has started, for all of its threads: no exec, no fork, no
 *                         sockets, no tracing or signalling of others, no memory both writable and
 *                         executable unless `jit`
 *
 * Where the kernel is too old for a part, that part is left out and `ret_missing` names it.
 * In builds with sanitizers, and only there, HAC_SANDBOX=off in the environment leaves out the last two and
 * lets the process be traced, which leak checks do.
 */
#ifndef EXECUTOR_SANDBOX_H
#define EXECUTOR_SANDBOX_H

#include <stdbool.h>

#include "base/error.h"

HAC_MUST_USE hac_status hac_sandbox_early(hac_error *err);

/* `readable` and `writable` end with NULL; names in them that do not exist are left out. */
HAC_MUST_USE hac_status hac_sandbox_files(const char *const *readable, const char *const *writable,
                                          const char **ret_missing, hac_error *err);

HAC_MUST_USE hac_status hac_sandbox_calls(bool jit, const char **ret_missing, hac_error *err);

#endif
