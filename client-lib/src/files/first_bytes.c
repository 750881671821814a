/* SPDX-License-Identifier: Apache-2.0 */
#include "first_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "base/packing.h"
#include "input/inflate.h"

enum { LOOK_AGAIN_MS = 5 };
enum { MEMORY_MAJOR = 1, NULL_MINOR = 3 }; /* of /dev/null */

hac_status hac_first_bytes_unpack(hac_first_bytes *c, hac_error *err)
{
    hac_cleanup(hac_inflate_free_cleanup) hac_inflate *state = NULL;
    bool unsure;
    hac_packing packing = hac_packing_of(c->data, c->bytes, &unsure);
    size_t used = 0, made = 0;
    if (packing == HAC_PACKING_NONE)
        return HAC_OK;
    hac_autofree uint8_t *out = malloc(c->capacity);
    if (out == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_inflate_new(packing, 0, &state, err);
    for (size_t in = 0; status == HAC_OK && in < c->bytes && made < c->capacity; in += used) {
        size_t some = 0;
        status = hac_inflate_run(state, c->data + in, c->bytes - in, &used, out + made, c->capacity - made,
                                 &some, err);
        made += some;
        if (used == 0 && some == 0)
            break;
    }
    if (status != HAC_OK)
        return hac_error_prefix(err, "%.200s", c->name);
    c->ended &= made < c->capacity;
    memcpy(c->data, out, made);
    c->bytes = made;
    return HAC_OK;
}

/* Copies the bytes that are in a pipe, and waits for the first ones. They stay in the pipe. 0: its end. */
static ssize_t copy_pipe(int fd, uint8_t *data, size_t bytes)
{
    int copies[2];
    if (HAC_FAILPOINT("content.pipe", -1, pipe2(copies, O_CLOEXEC)) < 0)
        return -1;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    ssize_t n;
    while ((n = HAC_FAILPOINT("content.tee", -1, tee(fd, copies[1], bytes, 0))) < 0 &&
           (errno == EAGAIN || errno == EINTR))
        if (errno == EAGAIN)
            (void)poll(&wait, 1, -1);
    if (n > 0)
        n = read(copies[0], data, (size_t)n);
    hac_close(copies[0]);
    hac_close(copies[1]);
    return n;
}

/* Whether the caller gives up. */
static bool is_stopped(const hac_first_bytes *c)
{
    struct pollfd stop = {.fd = c->stop_fd, .events = POLLIN};
    return c->stop_fd >= 0 && poll(&stop, 1, 0) > 0;
}

/* Waits until the pipe or socket has more bytes than were seen, or no process that could write more. The
 * bytes that are there keep it readable, so that its length is looked at in between. False: there will be no
 * more, or the caller gives up. */
static bool wait_for_more(const hac_first_bytes *c, int fd)
{
    while (!is_stopped(c)) {
        int there = 0;
        if (ioctl(fd, FIONREAD, &there) < 0 || (size_t)there > c->bytes)
            return there > 0;
        struct pollfd end = {.fd = fd, .events = POLLRDHUP};
        if (poll(&end, 1, LOOK_AGAIN_MS) > 0 && (end.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0) {
            int last = 0;
            return ioctl(fd, FIONREAD, &last) == 0 && (size_t)last > c->bytes;
        }
    }
    return false;
}

/* Waits for the first bytes of a pipe or socket. */
static hac_status wait_for_any(const hac_first_bytes *c, int fd, hac_error *err)
{
    struct pollfd p[] = {{.fd = fd, .events = POLLIN}, {.fd = c->stop_fd, .events = POLLIN}};
    while (poll(p, 2, -1) < 0 && errno == EINTR)
        ;
    return p[1].revents != 0 ? hac_fail(err, HAC_CANCELLED, "cancelled") : HAC_OK;
}

static hac_status look_once(int fd, hac_first_bytes *c, hac_error *err)
{
    struct stat st;
    ssize_t n = -1;
    if (fstat(fd, &st) < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%.200s", c->name);
    if (S_ISREG(st.st_mode)) {
        off_t at = lseek(fd, 0, SEEK_CUR);
        n = pread(fd, c->data, c->capacity, at < 0 ? 0 : at);
    } else if (S_ISFIFO(st.st_mode)) {
        n = copy_pipe(fd, c->data, c->capacity);
    } else if (S_ISSOCK(st.st_mode)) {
        n = recv(fd, c->data, c->capacity, MSG_PEEK);
    } else if (S_ISCHR(st.st_mode) && major(st.st_rdev) == MEMORY_MAJOR && minor(st.st_rdev) == NULL_MINOR) {
        return hac_fail(err, HAC_INVALID, "it is empty");
    } else {
        return hac_fail(err, HAC_INVALID, "its first bytes cannot be seen before it is read");
    }
    if (n < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%.200s", c->name);
    c->bytes = (size_t)n;
    c->ended = n == 0 || (S_ISREG(st.st_mode) && c->bytes < c->capacity);
    return HAC_OK;
}

static hac_status look(hac_first_bytes *c, int fd, bool (*is_enough)(const hac_first_bytes *first),
                       hac_error *err)
{
    struct stat st;
    const bool waits = fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
    c->stream = waits;
    hac_status status = waits ? wait_for_any(c, fd, err) : HAC_OK;
    if (status == HAC_OK)
        status = look_once(fd, c, err);
    while (waits && status == HAC_OK && c->bytes > 0 && c->bytes < c->capacity && !is_enough(c)) {
        c->ended = !wait_for_more(c, fd);
        if (is_stopped(c))
            return hac_fail(err, HAC_CANCELLED, "cancelled");
        if (c->ended)
            break;
        status = look_once(fd, c, err);
    }
    return status;
}

/* Whether the name is one of a descriptor of this process, as a shell makes it for <(…). */
static bool is_descriptor(const char *name)
{
    return strncmp(name, "/dev/fd/", 8) == 0 || strncmp(name, "/proc/self/fd/", 14) == 0 ||
           strcmp(name, "/dev/stdin") == 0;
}

hac_status hac_first_bytes_look(hac_first_bytes *c, int fd, bool (*is_enough)(const hac_first_bytes *first),
                                hac_error *err)
{
    struct stat st;
    if (fd < 0) {
        if (stat(c->name, &st) < 0)
            return hac_fail_errno(err, HAC_FAILED, errno, "%.200s", c->name);
        /* opening a pipe with a name would take what its writer has written */
        if (!S_ISREG(st.st_mode) && !is_descriptor(c->name))
            return hac_fail(err, HAC_INVALID, "its first bytes cannot be seen before it is read");
    }
    hac_autoclose int opened = fd < 0 ? open(c->name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    if (fd < 0 && opened < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%.200s", c->name);
    return look(c, fd < 0 ? opened : fd, is_enough, err);
}
