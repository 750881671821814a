/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "interrupt.h"

#define ACL_NAME "system.posix_acl_access"

enum { LINKS_MAX = 40, WIDTH_DEFAULT = 80, ACL_BYTES_MAX = 4096 };

struct hac_output_file {
    char *name; /* as the user wrote it */
    int fd;
    bool standard; /* standard output */
    bool outlives; /* a reader that goes away does not end the process */
    uint64_t written, reserved;
    /* For a file that replaces another. dirfd is -1 if the output is written directly. */
    int dirfd;
    char *final;
    char temporary[NAME_MAX + 1];
    int slot; /* of hac_interrupt_keep */
};

const char *hac_output_name(const hac_output_file *output)
{
    return output->name;
}

void hac_output_outlive_reader(hac_output_file *output)
{
    output->outlives = true;
}

bool hac_output_is_terminal(const hac_output_file *output)
{
    return isatty(output->fd) == 1;
}

hac_box_look hac_output_look(const hac_output_file *output)
{
    const char *said = getenv("COLUMNS"), *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    struct winsize size = {.ws_col = 0};
    bool dumb = term == NULL || *term == '\0' || strcmp(term, "dumb") == 0;
    long columns = said != NULL ? strtol(said, NULL, 10) : 0;
    if (!hac_output_is_terminal(output))
        return (hac_box_look){.width = columns > 0 ? (size_t)columns : 0};
    if (ioctl(output->fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        columns = size.ws_col;
    return (hac_box_look){.width = columns > 0 ? (size_t)columns : WIDTH_DEFAULT,
                          .colour = (no_color == NULL || *no_color == '\0') && !dumb};
}

void hac_output_free(hac_output_file *output)
{
    if (output == NULL)
        return;
    if (output->temporary[0] != '\0') {
        sigset_t before;
        hac_interrupt_block(&before);
        unlinkat(output->dirfd, output->temporary, 0);
        hac_interrupt_drop(output->slot);
        hac_interrupt_unblock(&before);
    }
    hac_close(output->fd);
    hac_close(output->dirfd);
    free(output->final);
    free(output->name);
    free(output);
}

static hac_status fail(const hac_output_file *output, int errnum, hac_error *err)
{
    return hac_fail_errno(err, HAC_FAILED, errnum, "%s", output->name);
}

/* Writes through the open descriptor: opening the path again would start a redirected file from its
 * beginning. */
int hac_output_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (path == NULL || strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t length = strlen(folders[i]);
        char *end;
        if (strncmp(path, folders[i], length) != 0)
            continue;
        long fd = strtol(path + length, &end, 10);
        if (end != path + length && *end == '\0' && fd >= 0 && fd <= INT_MAX)
            return (int)fd;
    }
    return -1;
}

static hac_status open_straight(hac_output_file *output, const char *path, int descriptor, hac_error *err)
{
    output->standard = descriptor == STDOUT_FILENO;
    output->fd =
        descriptor >= 0
            ? fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
            /* O_CREAT: for the kernel's own protection of files in sticky directories (proc_sys_fs(5)) */
            : open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    return output->fd >= 0 ? HAC_OK : fail(output, errno, err);
}

static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* Opens the path's directory and keeps the name in it. */
static hac_status open_directory(hac_output_file *output, const char *path, hac_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    if (*name == '\0')
        return hac_fail(err, HAC_FAILED, "%s: is a directory", output->name);
    output->final = strdup(name);
    hac_autofree char *directory = directory_of(path);
    if (output->final == NULL || directory == NULL)
        return hac_fail_no_memory(err);
    output->dirfd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return output->dirfd >= 0 ? HAC_OK : fail(output, errno, err);
}

static int create_temporary(hac_output_file *output, mode_t mode)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
            random = (uint64_t)attempt;
        /* only the beginning of the name: the temporary name must stay below NAME_MAX */
        snprintf(output->temporary, sizeof output->temporary, ".%.200s.hacctl-%ld-%08lx", output->final,
                 (long)getpid(), (unsigned long)(random & 0xffffffff));
        int fd = HAC_FAILPOINT(
            "output.open", -1,
            openat(output->dirfd, output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* In a directory like /tmp, anybody may have put the file there, to get what another user writes. */
static hac_status check_stranger(const hac_output_file *output, const char *path, const struct stat *file,
                                 hac_error *err)
{
    struct stat directory;
    hac_autofree char *name = directory_of(path);
    if (name == NULL)
        return hac_fail_no_memory(err);
    if (stat(name, &directory) < 0)
        return fail(output, errno, err);
    bool shared = (directory.st_mode & S_ISVTX) != 0 && (directory.st_mode & 022) != 0;
    if (!shared || file->st_uid == geteuid() || file->st_uid == directory.st_uid)
        return HAC_OK;
    return hac_fail(err, HAC_FAILED,
                    "%s: belongs to another user (uid %u), in a directory that others write to", output->name,
                    (unsigned)file->st_uid);
}

/* Reads the access list of the file that is replaced: as getxattr(2), and -1 if the file cannot be
 * opened. Not through /proc, which need not be mounted. */
static ssize_t read_acl(const hac_output_file *output, char *list, size_t size)
{
    const int flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    hac_autoclose int old = openat(output->dirfd, output->final, O_RDONLY | flags);
    if (old < 0) /* whoever replaces a file may write to it, at least */
        old = openat(output->dirfd, output->final, O_WRONLY | flags);
    return old >= 0 ? fgetxattr(old, ACL_NAME, list, size) : -1;
}

/* Gives the new file the access list of the file that it replaces, and not the one that the directory has
 * for new files. Returns false if that is not possible: the group's permissions are those of everybody in
 * the list, then. */
static bool take_over_acl(const hac_output_file *output)
{
    char list[ACL_BYTES_MAX];
    ssize_t bytes = read_acl(output, list, sizeof list);
    bool none = bytes < 0 && (errno == ENODATA || errno == ENOTSUP);
    if (bytes > 0 && fsetxattr(output->fd, ACL_NAME, list, (size_t)bytes, 0) == 0)
        return true;
    return (fremovexattr(output->fd, ACL_NAME) == 0 || errno == ENODATA || errno == ENOTSUP) && none;
}

/*
 * Gives the new file the owner, group and permissions of the file that it replaces. Only root may give a file
 * away. If the group cannot be kept, the group's permissions are dropped, since another group would get them.
 */
static hac_status take_over(const hac_output_file *output, const struct stat *existing, hac_error *err)
{
    struct stat made;
    mode_t mode = existing->st_mode & 0777;
    if (fstat(output->fd, &made) < 0)
        return fail(output, errno, err);
    bool same = made.st_uid == existing->st_uid && made.st_gid == existing->st_gid;
    if (!same && fchown(output->fd, existing->st_uid, existing->st_gid) < 0 &&
        fchown(output->fd, (uid_t)-1, existing->st_gid) < 0)
        mode &= ~(mode_t)070 | ((mode & 07) << 3);
    if (!take_over_acl(output))
        mode &= ~(mode_t)070;
    /* A file system without permissions refuses fchmod; the file then has the permissions that all files
     * have there. */
    if (fchmod(output->fd, mode) < 0 && errno != EPERM && errno != ENOTSUP)
        return fail(output, errno, err);
    return HAC_OK;
}

static hac_status open_temporary(hac_output_file *output, const struct stat *existing, hac_error *err)
{
    sigset_t before;
    hac_interrupt_block(&before);
    /* Never more permissive than it will be: whoever opens the file in between reads what is written
     * later. */
    output->fd = create_temporary(output, existing != NULL ? existing->st_mode & 0600 : 0666);
    int errnum = errno;
    if (output->fd >= 0)
        output->slot = hac_interrupt_keep(output->dirfd, output->temporary);
    else
        output->temporary[0] = '\0';
    hac_interrupt_unblock(&before);
    if (output->fd < 0)
        return fail(output, errnum, err);
    return existing != NULL ? take_over(output, existing, err) : HAC_OK;
}

/* Where a file that does not exist yet will be: at the end of symbolic links. NULL: errno says why. */
static char *resolve_new(const char *path)
{
    char target[PATH_MAX];
    char *at = strdup(path);
    for (int links = 0; at != NULL; links++) {
        ssize_t n = readlink(at, target, sizeof target - 1);
        if (n < 0)
            return at; /* not a link: the end */
        target[n] = '\0';
        const char *slash = strrchr(at, '/');
        int folder = slash == NULL || target[0] == '/' ? 0 : (int)(slash - at) + 1;
        char *next = NULL;
        if (links == LINKS_MAX)
            errno = ELOOP;
        else if (asprintf(&next, "%.*s%s", folder, at, target) < 0)
            next = NULL;
        free(at);
        at = next;
    }
    return NULL;
}

/* What is no regular file is written to, and not replaced. */
static hac_status open_special(hac_output_file *output, const char *path, const struct stat *existing,
                               hac_error *err)
{
    hac_autofree char *resolved = S_ISFIFO(existing->st_mode) ? realpath(path, NULL) : NULL;
    hac_status status = resolved != NULL ? check_stranger(output, resolved, existing, err) : HAC_OK;
    return status == HAC_OK ? open_straight(output, path, -1, err) : status;
}

static hac_status open_path(hac_output_file *output, const char *path, hac_error *err)
{
    struct stat st;
    int descriptor = hac_output_descriptor(path);
    if (descriptor >= 0)
        return open_straight(output, path, descriptor, err);
    bool exists = stat(path, &st) == 0;
    if (!exists && errno != ENOENT)
        return fail(output, errno, err);
    if (exists && S_ISDIR(st.st_mode))
        return fail(output, EISDIR, err);
    /* Renaming needs no permission on the file itself, but a user who write-protected the file meant it. */
    if (exists && !S_ISREG(st.st_mode))
        return open_special(output, path, &st, err);
    if (exists && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0)
        return fail(output, errno, err);
    hac_autofree char *resolved = exists ? realpath(path, NULL) : resolve_new(path);
    if (resolved == NULL)
        return fail(output, errno, err);
    hac_status status = exists ? check_stranger(output, resolved, &st, err) : HAC_OK;
    if (status == HAC_OK)
        status = open_directory(output, resolved, err);
    return status != HAC_OK ? status : open_temporary(output, exists ? &st : NULL, err);
}

hac_status hac_output_open(const char *path, hac_output_file **ret, hac_error *err)
{
    hac_output_file *output = calloc(1, sizeof *output);
    if (output == NULL)
        return hac_fail_no_memory(err);
    output->fd = output->dirfd = output->slot = -1;
    output->name = strdup(path == NULL || strcmp(path, "-") == 0 ? "standard output" : path);
    hac_status status = output->name == NULL ? hac_fail_no_memory(err) : open_path(output, path, err);
    if (status != HAC_OK) {
        hac_output_free(output);
        return status;
    }
    *ret = output;
    return HAC_OK;
}

hac_status hac_output_temporary(const hac_output_file *output, char **ret, hac_error *err)
{
    char link[64], folder[PATH_MAX];
    if (output->dirfd < 0)
        return hac_fail(err, HAC_INVALID,
                        "%s is not a regular file, so several processes cannot write parts of it",
                        output->name);
    snprintf(link, sizeof link, "/proc/self/fd/%d", output->dirfd);
    ssize_t n = readlink(link, folder, sizeof folder);
    if (n < 0 || (size_t)n == sizeof folder)
        return hac_fail_errno(err, HAC_FAILED, n < 0 ? errno : ENAMETOOLONG, "%s", output->name);
    return asprintf(ret, "%.*s/%s", (int)n, folder, output->temporary) >= 0 ? HAC_OK
                                                                            : hac_fail_no_memory(err);
}

static hac_status write_failed(const hac_output_file *output, int errnum, uint64_t bytes, hac_error *err)
{
    if (errnum == EPIPE && output->standard && !output->outlives)
        hac_interrupt_broken_pipe();
    if (errnum == EBADF && output->standard)
        return hac_fail(err, HAC_FAILED, "%s is closed", output->name);
    if (errnum == EPIPE)
        return hac_fail(err, output->standard ? HAC_NOT_FOUND : HAC_FAILED,
                        "%s: the reader has gone (broken pipe)", output->name);
    const char *why = errnum == ENOSPC   ? "no space left on device"
                      : errnum == EFBIG  ? "file too large for this process or file system"
                      : errnum == EDQUOT ? "disk quota exceeded"
                                         : strerrordesc_np(errnum);
    if (output->dirfd < 0)
        return hac_fail(err, HAC_FAILED, "%s: %s (after %llu bytes)", output->name, why,
                        (unsigned long long)output->written);
    return hac_fail(err, HAC_FAILED, "%s: %s (%llu bytes to write); nothing was written to it", output->name,
                    why, (unsigned long long)bytes);
}

hac_status hac_output_reserve(hac_output_file *output, uint64_t bytes, hac_error *err)
{
    if (output->dirfd < 0 || bytes <= output->reserved || bytes > INT64_MAX)
        return HAC_OK;
    int r;
    do {
        /* Keeps the size: the file is as long as what was written, whatever happens. */
        r = HAC_FAILPOINT("output.reserve", -1, fallocate(output->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes));
    } while (r < 0 && errno == EINTR);
    if (r == 0)
        output->reserved = bytes;
    else if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
        return write_failed(output, errno, bytes, err);
    return HAC_OK;
}

hac_status hac_output_write(hac_output_file *output, const void *data, uint64_t bytes, hac_error *err)
{
    const char *p = data;
    uint64_t left = bytes;
    while (left > 0) {
        size_t size =
            HAC_FAILPOINT_SHORT("output.write", left < HAC_OUTPUT_PIECE ? (size_t)left : HAC_OUTPUT_PIECE);
        ssize_t n = HAC_FAILPOINT("output.write", -1, write(output->fd, p, size));
        if (n < 0 && errno == EAGAIN) {
            /* another process that shares the terminal or pipe made it non-blocking */
            struct pollfd ready = {.fd = output->fd, .events = POLLOUT};
            poll(&ready, 1, -1);
            continue;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return write_failed(output, errno, bytes, err);
        p += n;
        left -= (uint64_t)n;
        output->written += (uint64_t)n;
    }
    return HAC_OK;
}

hac_status hac_output_write_text(hac_output_file *output, const char *text, hac_error *err)
{
    size_t bytes = strlen(text);
    hac_status status = hac_output_write(output, text, bytes, err);
    if (status == HAC_OK && bytes > 0 && text[bytes - 1] != '\n')
        status = hac_output_write(output, "\n", 1, err);
    return status;
}

/* Closes the file, because some file systems report a full disk only then. */
static hac_status finish_writing(hac_output_file *output, hac_error *err)
{
    if (output->written < output->reserved &&
        HAC_FAILPOINT("output.size", -1, ftruncate(output->fd, (off_t)output->written)) < 0)
        return fail(output, errno, err);
    int r = close(hac_steal_fd(&output->fd));
    if (r < 0 && errno != EINTR)
        return write_failed(output, errno, output->written, err);
    return HAC_OK;
}

hac_status hac_output_commit(hac_output_file *output, hac_error *err)
{
    hac_status status = finish_writing(output, err);
    if (status != HAC_OK || output->dirfd < 0)
        return status;
    sigset_t before;
    hac_interrupt_block(&before);
    int r = HAC_FAILPOINT("output.rename", -1,
                          renameat(output->dirfd, output->temporary, output->dirfd, output->final));
    int errnum = errno;
    if (r == 0) {
        hac_interrupt_drop(output->slot);
        output->temporary[0] = '\0';
    }
    hac_interrupt_unblock(&before);
    return r == 0 ? HAC_OK : fail(output, errnum, err);
}
