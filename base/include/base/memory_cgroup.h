/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says of the memory cgroup of this process, of version 1 or 2: how much memory it may
 * have, and how many of its processes were killed for want of it; and the same of its pids cgroup. A
 * SIGKILL does not tell who sent it. hacd's children are in hacd's cgroup.
 * https://docs.kernel.org/admin-guide/cgroup-v2.html (memory.max, memory.high, memory.events),
 * …/cgroup-v1/memory.html (memory.limit_in_bytes, memory.oom_control). */
#ifndef BASE_MEMORY_CGROUP_H
#define BASE_MEMORY_CGROUP_H

#include <stdint.h>

/* Where a process's cgroup is said, as proc(5) has it, and where cgroups are mounted. */
#define HAC_MEMORY_CGROUP_SELF "/proc/self/cgroup"
#define HAC_MEMORY_CGROUP_ROOT "/sys/fs/cgroup"

/* Processes of this cgroup (version 2: and of those below it) that were killed so far, for want of its memory
 * or of the machine's; -1: it cannot be known here. In a container whose cgroup is all that is mounted, the
 * nearest one around that can be seen is the container's. */
int64_t hac_memory_cgroup_kills(const char *self, const char *root);

/* The lowest limit in bytes of this cgroup and of those that it is in; UINT64_MAX: there is none, or it
 * cannot be known here. */
uint64_t hac_memory_cgroup_limit(const char *self, const char *root);

/* Bytes that this cgroup can take more before its limit, or that of one around it, is reached; UINT64_MAX: it
 * has none, or it cannot be known here. */
uint64_t hac_memory_cgroup_available(const char *self, const char *root);

/* How many tasks (processes and threads) the pids cgroup of this process, and those around it, can take more;
 * UINT64_MAX: there is no limit, or it cannot be known here. (pids.max, pids.current) */
uint64_t hac_pids_cgroup_available(const char *self, const char *root);
/* Tasks that could not be made so far because of that limit (pids.events); -1: it cannot be known here. */
int64_t hac_pids_cgroup_refusals(const char *self, const char *root);

/* Bytes of memory that this process can have: the machine's RAM, or its cgroup's limit, whichever is less; 0:
 * it cannot be known here. */
uint64_t hac_memory_available(void);

#endif
