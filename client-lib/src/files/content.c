/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the format of an input in its first bytes. */
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

#include <hac/files.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/foreign_format.h"
#include "base/format.h"
#include "input/inflate.h"

#define LOOK_BYTES 4096

enum { LOOK_AGAIN_MS = 5 };
enum { MEMORY_MAJOR = 1, NULL_MINOR = 3 }; /* of /dev/null */

/* The first bytes of an input. */
typedef struct content {
    const char *name;
    uint8_t data[LOOK_BYTES];
    size_t bytes;
} content;

/* Unpacks the first bytes in place. */
static hac_status unpack(content *c, hac_packing packing, hac_error *err)
{
    hac_cleanup(hac_inflate_free_cleanup) hac_inflate *state = NULL;
    uint8_t out[LOOK_BYTES];
    size_t used = 0, made = 0;
    hac_status status = hac_inflate_new(packing, 0, &state, err);
    for (size_t in = 0; status == HAC_OK && in < c->bytes && made < sizeof out; in += used) {
        size_t some = 0;
        status = hac_inflate_run(state, c->data + in, c->bytes - in, &used, out + made, sizeof out - made,
                                 &some, err);
        made += some;
        if (used == 0 && some == 0)
            break;
    }
    if (status != HAC_OK)
        return hac_error_prefix(err, "%.200s", c->name);
    memcpy(c->data, out, made);
    c->bytes = made;
    return HAC_OK;
}

static size_t skip_blanks(const content *c, size_t at)
{
    while (at < c->bytes && strchr(" \t\r\n", c->data[at]) != NULL && c->data[at] != '\0')
        at++;
    return at;
}

/* ---- looking without reading ---- */

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

/* Whether the first bytes are too few to tell the format, so that more must arrive. */
static bool is_undecided(const content *c)
{
    static const char parquet[] = {'P', 'A', 'R', '1'};
    content unpacked = *c;
    hac_error none = HAC_ERROR_NONE;
    bool unsure;
    hac_packing packing = hac_packing_of(c->data, c->bytes, &unsure);
    if (packing != HAC_PACKING_NONE && unpack(&unpacked, packing, &none) != HAC_OK)
        return false;
    bool begun = c->bytes < sizeof parquet && memcmp(c->data, parquet, c->bytes) == 0;
    return unsure || begun || skip_blanks(&unpacked, 0) == unpacked.bytes;
}

/* Waits until the pipe or socket has more bytes than were seen, or no process that could write more. The
 * bytes that are there keep it readable, so that its length is looked at in between. False: there will be no
 * more. */
static bool wait_for_more(int fd, size_t seen)
{
    for (;;) {
        int there = 0;
        if (ioctl(fd, FIONREAD, &there) < 0 || (size_t)there > seen)
            return there > 0;
        struct pollfd end = {.fd = fd, .events = POLLRDHUP};
        if (poll(&end, 1, LOOK_AGAIN_MS) > 0 && (end.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0) {
            int last = 0;
            return ioctl(fd, FIONREAD, &last) == 0 && (size_t)last > seen;
        }
    }
}

static hac_status look_once(int fd, content *c, hac_error *err)
{
    struct stat st;
    ssize_t n = -1;
    if (fstat(fd, &st) < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%.200s", c->name);
    if (S_ISREG(st.st_mode)) {
        off_t at = lseek(fd, 0, SEEK_CUR);
        n = pread(fd, c->data, sizeof c->data, at < 0 ? 0 : at);
    } else if (S_ISFIFO(st.st_mode)) {
        n = copy_pipe(fd, c->data, sizeof c->data);
    } else if (S_ISSOCK(st.st_mode)) {
        n = recv(fd, c->data, sizeof c->data, MSG_PEEK);
    } else if (S_ISCHR(st.st_mode) && major(st.st_rdev) == MEMORY_MAJOR && minor(st.st_rdev) == NULL_MINOR) {
        return hac_fail(err, HAC_INVALID, "it is empty");
    } else {
        return hac_fail(err, HAC_INVALID, "its first bytes cannot be seen before it is read");
    }
    if (n < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%.200s", c->name);
    c->bytes = (size_t)n;
    return HAC_OK;
}

/* Looks at the first bytes; of a pipe or socket, at as many as tell the format. */
static hac_status look(int fd, content *c, hac_error *err)
{
    struct stat st;
    hac_status status = look_once(fd, c, err);
    bool waits = status == HAC_OK && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode);
    while (waits && status == HAC_OK && c->bytes > 0 && c->bytes < sizeof c->data && is_undecided(c) &&
           wait_for_more(fd, c->bytes))
        status = look_once(fd, c, err);
    return status;
}

/* ---- formats of text ---- */

/* An object, or an array of objects. */
static bool is_json(const content *c, size_t at)
{
    if (at < c->bytes && c->data[at] == '[')
        at = skip_blanks(c, at + 1);
    if (at == c->bytes || c->data[at] != '{')
        return false;
    at = skip_blanks(c, at + 1);
    return at == c->bytes || c->data[at] == '"' || c->data[at] == '}';
}

/* Whether the bytes from `at` on are like the pattern: 0 is a digit, A a letter, other characters
 * themselves. */
static bool is_like(const content *c, size_t at, const char *pattern)
{
    for (; *pattern != '\0'; pattern++, at++) {
        if (at >= c->bytes)
            return false;
        uint8_t byte = c->data[at], letter = byte | 0x20;
        if (*pattern == '0' ? (byte < '0' || byte > '9')
                            : (*pattern == 'A' ? (letter < 'a' || letter > 'z') : byte != (uint8_t)*pattern))
            return false;
    }
    return true;
}

/* host ident user [10/Oct/2000:13:55:36 … */
static bool is_access_log(const content *c, size_t at)
{
    unsigned blanks = 0;
    for (; at < c->bytes && c->data[at] != '\n'; at++) {
        if (c->data[at] == '[' && blanks >= 3)
            return is_like(c, at, "[00/AAA/0000:00:");
        blanks += c->data[at] == ' ';
    }
    return false;
}

/* Oct 11 22:14:15 …, <34>… */
static bool is_syslog(const content *c, size_t at)
{
    return is_like(c, at, "AAA 00 00:00:00 ") || is_like(c, at, "AAA  0 00:00:00 ") ||
           is_like(c, at, "<0>") || is_like(c, at, "<00>") || is_like(c, at, "<000>");
}

static hac_input_format format_of_text(const content *c)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    bool marked = c->bytes >= sizeof mark && memcmp(c->data, mark, sizeof mark) == 0;
    size_t at = skip_blanks(c, marked ? sizeof mark : 0);
    if (is_json(c, at))
        return HAC_INPUT_JSONL;
    if (is_access_log(c, at))
        return HAC_INPUT_CLF;
    return is_syslog(c, at) ? HAC_INPUT_SYSLOG : HAC_INPUT_CSV;
}

/* Text has no control bytes but white space, and the escapes of terminals. */
static bool is_text(const content *c)
{
    for (size_t i = 0; i < c->bytes; i++)
        if (c->data[i] < ' ' && (c->data[i] < '\b' || c->data[i] > '\r') && c->data[i] != 0x1b)
            return false;
    return true;
}

/* ---- all formats ---- */

static bool is_parquet(const content *c)
{
    static const char magic[] = {'P', 'A', 'R', '1'};
    return c->bytes >= sizeof magic && memcmp(c->data, magic, sizeof magic) == 0;
}

static hac_status find_format(content *c, hac_input_format *ret, hac_error *err)
{
    bool unsure;
    hac_packing packing = hac_packing_of(c->data, c->bytes, &unsure);
    hac_status status = packing != HAC_PACKING_NONE ? unpack(c, packing, err) : HAC_OK;
    if (status == HAC_OK && packing == HAC_PACKING_NONE && is_parquet(c)) {
        *ret = HAC_INPUT_PARQUET;
        return HAC_OK;
    }
    if (status == HAC_OK)
        status = hac_foreign_refuse(c->data, c->bytes < HAC_FOREIGN_BYTES ? c->bytes : HAC_FOREIGN_BYTES,
                                    HAC_FOREIGN_TEXT, "text", c->name, err);
    if (status == HAC_OK && !is_text(c))
        return hac_fail(err, HAC_INVALID, "its first bytes are not text");
    if (status == HAC_OK)
        *ret = format_of_text(c);
    return status;
}

/* Whether the name is one of a descriptor of this process, as a shell makes it for <(…). */
static bool is_descriptor(const char *name)
{
    return strncmp(name, "/dev/fd/", 8) == 0 || strncmp(name, "/proc/self/fd/", 14) == 0 ||
           strcmp(name, "/dev/stdin") == 0;
}

hac_status hac_files_find_format(const char *name, int fd, hac_input_format *ret, hac_error *err)
{
    struct stat st;
    content c = {.name = name};
    if (fd < 0) {
        if (stat(name, &st) < 0)
            return hac_fail_errno(err, HAC_FAILED, errno, "%.200s", name);
        /* opening a pipe with a name would take what its writer has written */
        if (!S_ISREG(st.st_mode) && !is_descriptor(name))
            return hac_fail(err, HAC_INVALID, "its first bytes cannot be seen before it is read");
    }
    hac_autoclose int opened = fd < 0 ? open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    if (fd < 0 && opened < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%.200s", name);
    hac_status status = look(fd < 0 ? opened : fd, &c, err);
    return status == HAC_OK ? find_format(&c, ret, err) : status;
}
