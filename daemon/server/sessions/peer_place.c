/* SPDX-License-Identifier: Apache-2.0 */
#include "peer_place.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <nettle/sha2.h>
#include <nettle/version.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/cleanup.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#ifndef CGROUP2_SUPER_MAGIC
#define CGROUP2_SUPER_MAGIC 0x63677270
#endif

#define POD_UID_MIN 32 /* digits of a pod's UID, which has 4 dashes or underscores more, or none */

/* ---- what this machine has ----------------------------------------------------------------------------- */

static bool kernel_has_pidfds_of_peers(void)
{
    int pair[2], pidfd = -1;
    socklen_t length = sizeof pidfd;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    bool has = getsockopt(pair[0], SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) == 0;
    if (has)
        hac_close(pidfd);
    hac_close(pair[0]);
    hac_close(pair[1]);
    return has;
}

hac_status hac_place_roots_find(hac_place_roots *ret, hac_error *err)
{
    /* the second one: beside hierarchies of version 1 */
    static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    struct statfs info;
    if (!kernel_has_pidfds_of_peers())
        return hac_fail(err, HAC_INVALID,
                        "`identity: cgroup` needs Linux 6.5 or later, which ties a client to its process");
    for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++) {
        if (statfs(mounts[i], &info) == 0 && info.f_type == CGROUP2_SUPER_MAGIC) {
            *ret = (hac_place_roots){"/proc", mounts[i], 0};
            return HAC_OK;
        }
    }
    return hac_fail(
        err, HAC_INVALID,
        "`identity: cgroup` needs version 2 of cgroups at /sys/fs/cgroup; a container gets it from "
        "the machine by a mount");
}

/* ---- where a place ends -------------------------------------------------------------------------------- */

static bool ends_with(const char *name, size_t length, const char *end)
{
    size_t n = strlen(end);
    return length > n && strncmp(name + length - n, end, n) == 0;
}

/* "pod" and a UID, alone or at the end of a slice's name. */
static bool is_pod(const char *name, size_t length)
{
    length -= ends_with(name, length, ".slice") ? strlen(".slice") : 0;
    for (size_t at = 0; at + 3 + POD_UID_MIN <= length; at++) {
        if (strncmp(name + at, "pod", 3) != 0 || (at > 0 && name[at - 1] != '-'))
            continue;
        size_t i = at + 3;
        while (i < length && (isxdigit((unsigned char)name[i]) || name[i] == '-' || name[i] == '_'))
            i++;
        if (i == length)
            return true;
    }
    return false;
}

static bool is_end(const char *name, size_t length)
{
    return ends_with(name, length, ".scope") || ends_with(name, length, ".service") ||
           (strncmp(name, "user-", 5) == 0 && ends_with(name, length, ".slice")) || is_pod(name, length);
}

/* Whether the cgroup of the first `length` bytes of `path` is not root's. */
static hac_status is_delegated(const hac_place_roots *roots, const char *path, size_t length, bool *ret,
                               hac_error *err)
{
    char file[PATH_MAX];
    struct stat info;
    int n = snprintf(file, sizeof file, "%s%.*s", roots->cgroups, (int)length, path);
    if (n < 0 || (size_t)n >= sizeof file || stat(file, &info) != 0)
        return hac_fail(err, HAC_REFUSED, "hacd does not see the client's cgroup %s", path);
    *ret = info.st_uid != roots->owner;
    return HAC_OK;
}

hac_status hac_place_cut(const hac_place_roots *roots, char *path, hac_error *err)
{
    size_t length = strlen(path);
    bool end = false;
    if (path[0] != '/' || strncmp(path, "/..", 3) == 0)
        return hac_fail(
            err, HAC_REFUSED,
            "the client's cgroup %s is outside of hacd's cgroup namespace; hacd has to run in the "
            "machine's",
            path);
    for (size_t from = 1; !end && from < length;) {
        size_t n = strcspn(path + from, "/");
        hac_status status = is_delegated(roots, path, from + n, &end, err);
        if (status != HAC_OK)
            return status;
        end |= is_end(path + from, n);
        if (end)
            path[from + n] = '\0';
        from += n + 1;
    }
    return HAC_OK;
}

/* ---- a client's cgroup --------------------------------------------------------------------------------- */

/* The path in the line of version 2: "0::/path". */
static hac_status read_cgroup(const char *file, char ret[PATH_MAX], hac_error *err)
{
    char line[PATH_MAX + 8];
    bool begins = true; /* else it is the rest of a longer line, whose path its process may have chosen */
    hac_autofclose FILE *lines = fopen(file, "re");
    while (lines != NULL && fgets(line, sizeof line, lines) != NULL) {
        char *newline = strchr(line, '\n');
        bool is_line = begins && newline != NULL;
        begins = newline != NULL;
        if (!is_line || strncmp(line, "0::", 3) != 0)
            continue;
        *newline = '\0';
        snprintf(ret, PATH_MAX, "%.*s", PATH_MAX - 1, line + 3);
        return HAC_OK;
    }
    return hac_fail(err, HAC_REFUSED,
                    "hacd cannot read %s, which names the client's cgroup; a container needs the machine's "
                    "pids (hostPID), a unit ProtectProc=default",
                    file);
}

static uint64_t big_endian(const uint8_t *bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < sizeof number; i++)
        number = number << 8 | bytes[i];
    return number;
}

/* Neither of the places that stand for no name: that has the chance of a second name for a number. */
static hac_user_place number_of(const char *place)
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx hash;
    sha256_init(&hash);
    sha256_update(&hash, strlen(place), (const uint8_t *)place);
#if NETTLE_VERSION_MAJOR >= 4
    sha256_digest(&hash, digest);
#else
    sha256_digest(&hash, sizeof digest, digest);
#endif
    return (hac_user_place){big_endian(digest), big_endian(digest + 8)};
}

static hac_status place_of(const hac_place_roots *roots, const char *process, hac_user_place *ret,
                           hac_error *err)
{
    char file[PATH_MAX], path[PATH_MAX];
    snprintf(file, sizeof file, "%s/%s/cgroup", roots->proc, process);
    hac_status status = read_cgroup(file, path, err);
    if (status == HAC_OK)
        status = hac_place_cut(roots, path, err);
    if (status == HAC_OK)
        *ret = number_of(path);
    return status;
}

hac_status hac_peer_place(const hac_place_roots *roots, int socket, pid_t pid, hac_user_place *ret,
                          hac_error *err)
{
    hac_autoclose int pidfd = -1;
    socklen_t length = sizeof pidfd;
    char process[16];
    if (pid <= 0)
        return hac_fail(
            err, HAC_REFUSED,
            "hacd does not see the client's process; a container needs the machine's pids (hostPID)");
    if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) != 0)
        return hac_fail_errno(err, HAC_REFUSED, errno, "the kernel does not identify the client's process");
    snprintf(process, sizeof process, "%d", (int)pid);
    hac_status status = place_of(roots, process, ret, err);
    /* A process that is there now had its number while its cgroup was read: no other one had it. */
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    if (status == HAC_OK && poll(&ended, 1, 0) != 0)
        return hac_fail(err, HAC_REFUSED, "the process that connected has ended");
    return status;
}

hac_status hac_own_place(const hac_place_roots *roots, hac_user_place *ret, hac_error *err)
{
    return place_of(roots, "self", ret, err);
}
