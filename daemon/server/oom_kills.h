/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the kernel has killed for want of memory. A SIGKILL does not tell who sent it; the kernel counts,
 * for each memory cgroup, the processes that it has ended because the cgroup's memory or the machine's ran
 * out. hacd's children are in hacd's cgroup.
 */
#ifndef SERVER_OOM_KILLS_H
#define SERVER_OOM_KILLS_H

#include <stdint.h>

#define HAC_OOM_CGROUP "/proc/self/cgroup"
#define HAC_OOM_ROOT   "/sys/fs/cgroup"

/*
 * Processes of this cgroup (version 2: and of those below it) that were killed so far; -1: it cannot be known
 * here. `cgroup` says which one it is, as proc(5) has it; `root` is where cgroups are mounted.
 * https://docs.kernel.org/admin-guide/cgroup-v2.html (memory.events), …/cgroup-v1/memory.html
 * (memory.oom_control).
 */
int64_t hac_oom_kills(const char *cgroup, const char *root);

#endif
