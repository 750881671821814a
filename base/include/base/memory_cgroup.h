/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the cgroups of this process (version 1 or 2). The memory cgroup has a memory limit and counts the
 * processes that the kernel killed because memory was exhausted (OOM kills). The pids cgroup limits processes
 * and threads, and counts how often the limit was hit. hacd needs the counts because a SIGKILL does not name
 * its sender: they show whether a child was killed for lack of memory. hacd's children are in hacd's cgroup.
 *
 * https://docs.kernel.org/admin-guide/cgroup-v2.html (memory.max, memory.high, memory.events),
 * …/cgroup-v1/memory.html (memory.limit_in_bytes, memory.oom_control).
 */
#ifndef BASE_MEMORY_CGROUP_H
#define BASE_MEMORY_CGROUP_H

#include <stdint.h>

/* The file that names the cgroups of this process (cgroups(7)), and where cgroups are mounted. */
#define HAC_MEMORY_CGROUP_SELF "/proc/self/cgroup"
#define HAC_MEMORY_CGROUP_ROOT "/sys/fs/cgroup"

/* Number of OOM kills so far in this cgroup (version 2: and in the cgroups below it), whether its own memory
 * or the machine's was exhausted; -1: unknown on this system. If a container mounts only its own cgroup, the
 * number is that of the container. */
int64_t hac_memory_cgroup_kills(const char *self, const char *root);

/* The lowest memory limit, in bytes, of this cgroup and its ancestors; UINT64_MAX: there is no limit, or it
 * is unknown. */
uint64_t hac_memory_cgroup_limit(const char *self, const char *root);

/* Bytes that can still be allocated before the limit of this cgroup or of an ancestor is reached; UINT64_MAX:
 * there is no limit, or it is unknown. */
uint64_t hac_memory_cgroup_available(const char *self, const char *root);

/* Number of tasks (processes and threads) that can still be created before the limit of this pids cgroup or
 * of an ancestor is reached; UINT64_MAX: there is no limit, or it is unknown. (pids.max, pids.current) */
uint64_t hac_pids_cgroup_available(const char *self, const char *root);
/* Number of tasks that could not be created so far because of that limit (pids.events); -1: unknown. */
int64_t hac_pids_cgroup_refusals(const char *self, const char *root);

/* Bytes of memory that this process may use: the machine's RAM or its cgroup's limit, whichever is less; 0:
 * unknown. */
uint64_t hac_memory_available(void);

#endif
