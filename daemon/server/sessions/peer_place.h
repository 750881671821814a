/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the *place* of a client, for `identity: cgroup`: each pod or container is then a user of its own,
 * even if several have the same uid. A place is the part of the client's cgroup path that the client could
 * not choose. The place ends with the first component that is
 *
 * - a pod (podUID, or …-podUID.slice of kubelet), so that the containers of a pod are one user,
 * - the slice of a logged-in user (user-UID.slice), so that the sessions of a user are one,
 * - a service or a scope, which is what container engines make under systemd, or
 * - owned by another user than root: a delegated cgroup, below which its owner can make cgroups.
 *
 * If there is no such component, the place is the whole path.
 * https://docs.kernel.org/admin-guide/cgroup-v2.html (Delegation), https://systemd.io/CGROUP_DELEGATION.
 */
#ifndef SERVER_PEER_PLACE_H
#define SERVER_PEER_PLACE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "resources/user_place.h"

/* Where the kernel shows processes and cgroups. Tests have others. */
typedef struct hac_place_roots {
    const char *proc;    /* "/proc" */
    const char *cgroups; /* where cgroups of version 2 are mounted */
    uid_t owner;         /* of cgroups that are not delegated: root */
} hac_place_roots;

/* HAC_INVALID if this machine cannot tell places: version 2 of cgroups is not mounted, or the kernel has
 * no SO_PEERPIDFD (Linux 6.5). */
HAC_MUST_USE hac_status hac_place_roots_find(hac_place_roots *ret, hac_error *err);

/* The place of the client that connected to `socket`, as process `pid`. HAC_REFUSED: hacd does not see the
 * process, or its cgroup, or the process has ended. *ret is neither
 * HAC_PLACE_ANYWHERE nor HAC_PLACE_UNKNOWN. */
HAC_MUST_USE hac_status hac_peer_place(const hac_place_roots *roots, int socket, pid_t pid,
                                       hac_user_place *ret, hac_error *err);
/* The place of hacd itself. */
HAC_MUST_USE hac_status hac_own_place(const hac_place_roots *roots, hac_user_place *ret, hac_error *err);

/* Cuts `path`, a cgroup as /proc/PID/cgroup has it, where its place ends. */
HAC_MUST_USE hac_status hac_place_cut(const hac_place_roots *roots, char *path, hac_error *err);

#endif
