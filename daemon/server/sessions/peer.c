/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"

#define OVERFLOW_UID 65534

hac_status hac_peer_identify(int socket, struct ucred *ret, hac_error *err)
{
    socklen_t length = sizeof *ret;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, ret, &length) != 0)
        return hac_fail_errno(err, HAC_IO, errno, "the kernel does not identify the client");
    return HAC_OK;
}

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

gid_t *hac_peer_groups(int socket, gid_t primary, size_t *ret)
{
    socklen_t bytes = 0;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, NULL, &bytes) == 0 || errno != ERANGE)
        bytes = 0;
    gid_t *groups = malloc(sizeof *groups + bytes);
    *ret = 0;
    if (groups == NULL)
        return NULL;
    groups[0] = primary;
    if (bytes > 0 && getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups + 1, &bytes) != 0)
        bytes = 0;
    *ret = 1 + bytes / sizeof *groups;
    return groups;
}

/* Whether uids are the same inside and outside of hacd's user namespace. */
static bool maps_all_uids(void)
{
    hac_autofclose FILE *file = fopen("/proc/self/uid_map", "re");
    unsigned inside = 1, outside = 1, count = 0;
    if (file == NULL)
        return errno == ENOENT; /* a kernel without user namespaces */
    return fscanf(file, "%u %u %u", &inside, &outside, &count) == 3 && inside == 0 && outside == 0 &&
           count == UINT32_MAX;
}

uid_t hac_peer_foreign_uid(void)
{
    if (maps_all_uids())
        return (uid_t)-1;
    hac_autofclose FILE *file = fopen("/proc/sys/kernel/overflowuid", "re");
    unsigned uid = OVERFLOW_UID;
    if (file == NULL || fscanf(file, "%u", &uid) != 1)
        uid = OVERFLOW_UID;
    return (uid_t)uid;
}
