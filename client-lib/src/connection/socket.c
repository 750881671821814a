/* SPDX-License-Identifier: Apache-2.0 */
#include "socket.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "base/cleanup.h"
#include "base/failpoint.h"

enum { BACKLOG = 128, CONNECT_SECONDS = 10 };

hac_status hac_socket_path_set(hac_socket_path ret, const char *path, hac_error *err)
{
    if (path[0] == '\0')
        return hac_fail(err, HAC_INVALID, "the socket's path is empty");
    if (strlen(path) >= sizeof(hac_socket_path))
        return hac_fail(err, HAC_INVALID, "the socket's path %s is longer than %zu bytes", path,
                        sizeof(hac_socket_path) - 1);
    strcpy(ret, path);
    return HAC_OK;
}

/* ---- the private directory ---- */

static bool is_own_directory(const char *path)
{
    struct stat st;
    return path != NULL && path[0] == '/' && stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
           st.st_uid == geteuid() && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Checks that only this user can write to the directory. Any other writer could pose as the daemon. */
static hac_status check_private(const char *path, hac_error *err)
{
    struct stat st;
    if (lstat(path, &st) < 0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot look at %s", path);
    if (!S_ISDIR(st.st_mode))
        return hac_fail(err, HAC_REFUSED, "%s is not a directory, so no private daemon is used: remove it",
                        path);
    if (st.st_uid != geteuid())
        return hac_fail(err, HAC_REFUSED,
                        "%s belongs to user %u, so no private daemon is used: set XDG_RUNTIME_DIR to a "
                        "directory of yours",
                        path, (unsigned)st.st_uid);
    if ((st.st_mode & 077) != 0)
        return hac_fail(err, HAC_REFUSED, "%s has mode %04o, others could use your daemon: chmod 700 it",
                        path, (unsigned)st.st_mode & 07777);
    return HAC_OK;
}

hac_status hac_private_socket(const char *runtime, const char *temporary, hac_socket_path ret, hac_error *err)
{
    char directory[sizeof(hac_socket_path)];
    bool own = is_own_directory(runtime);
    int n = own ? snprintf(directory, sizeof(directory), "%s/hac", runtime) : 0;
    if (n < 0 || (!own && !hac_temporary_path(temporary, directory, sizeof(directory))) ||
        (own ? (size_t)n : strlen(directory)) + strlen("/" HAC_SOCKET_NAME) >= sizeof(directory))
        return hac_fail(err, HAC_INVALID, "the directory \"%.60s…\" has too long a name for a socket in it",
                        directory);
    if (mkdir(directory, 0700) < 0 && errno != EEXIST)
        return hac_fail_errno(err, HAC_IO, errno, "cannot make the directory %s for a private daemon",
                              directory);
    hac_status status = check_private(directory, err);
    if (status != HAC_OK)
        return status;
    strcpy(ret, directory);
    strcat(ret, "/" HAC_SOCKET_NAME);
    return HAC_OK;
}

/* ---- connecting ---- */

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
    return address;
}

/* Checks the owner of the listening process. The kernel records the process that called listen(). Only that
 * process, or a process that got the socket from it, can accept connections. */
static hac_status check_listener(int fd, const char *path, bool any_owner, hac_error *err)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot see who listens at %s", path);
    struct stat st;
    if (peer.uid == geteuid() || peer.uid == 0 ||
        (any_owner && lstat(path, &st) == 0 && st.st_uid == peer.uid))
        return HAC_OK;
    return hac_fail(err, HAC_REFUSED, "user %u listens at %s, who is neither you nor the system: not used",
                    (unsigned)peer.uid, path);
}

static hac_status set_blocking(int fd, bool blocking, hac_error *err)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK) < 0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot set up a socket");
    return HAC_OK;
}

/* Chooses the status of a failed connect. HAC_NO_DAEMON allows the caller to remove the socket and start
 * another daemon, so it requires that no process listens. The library never starts a daemon at a `named`
 * socket, so there a socket of another type also gives HAC_NO_DAEMON. */
static hac_status fail_connect(const char *path, int reason, bool named, hac_error *err)
{
    switch (reason) {
    case ENOENT:
    case ENOTDIR:
    case ECONNREFUSED:
        return hac_fail_errno(err, HAC_NO_DAEMON, reason, "cannot connect to %s", path);
    case EACCES:
    case EPERM:
        return hac_fail_errno(
            err, HAC_REFUSED, reason,
            "cannot connect to %s: a daemon may be there, but owner and mode of the socket, "
            "or of a directory above it, keep you out",
            path);
    case EAGAIN:
        return hac_fail(err, HAC_REFUSED, "hacd at %s has taken no connection for %d s: try again later",
                        path, CONNECT_SECONDS);
    case EPROTOTYPE:
        return hac_fail(err, named ? HAC_NO_DAEMON : HAC_REFUSED,
                        "what listens at %s is no hacd: its socket is of another kind", path);
    default:
        return hac_fail_errno(err, HAC_IO, reason, "cannot connect to %s", path);
    }
}

hac_status hac_socket_connect(const char *path, bool any_owner, int *ret_socket, hac_error *err)
{
    hac_autoclose int fd =
        HAC_FAILPOINT("client.socket", -1, socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (fd < 0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot make a socket");
    /* A blocking connect waits while the backlog is full. The send timeout limits the wait. */
    const struct timeval limit = {.tv_sec = CONNECT_SECONDS}, none = {0};
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    const struct sockaddr_un address = address_of(path);
    int result;
    do
        result = HAC_FAILPOINT("client.connect", -1,
                               connect(fd, (const struct sockaddr *)&address, sizeof(address)));
    while (result < 0 && errno == EINTR);
    if (result < 0)
        return fail_connect(path, errno, any_owner, err);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof(none));
    hac_status status = check_listener(fd, path, any_owner, err);
    if (status == HAC_OK)
        status = set_blocking(fd, false, err);
    if (status == HAC_OK)
        *ret_socket = hac_steal_fd(&fd);
    return status;
}

hac_status hac_socket_listen(const char *path, int *ret_socket, hac_error *err)
{
    hac_autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot make a socket");
    const struct sockaddr_un address = address_of(path);
    /* Only this user can enter the directory, so no other user can connect before the mode is set. */
    if (HAC_FAILPOINT("autostart.bind", -1, bind(fd, (const struct sockaddr *)&address, sizeof(address))) <
            0 ||
        chmod(path, 0600) < 0 || listen(fd, BACKLOG) < 0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot listen at %s", path);
    *ret_socket = hac_steal_fd(&fd);
    return HAC_OK;
}
