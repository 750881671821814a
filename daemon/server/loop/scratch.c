/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "blocking_work.h"

#define DESCRIPTORS 16 /* that nftw may hold open */
#define CLAIMS_MAX  100

typedef struct removal {
    uv_work_t work;
    void (*remove)(const char *path);
    hac_scratch_path path;
} removal;

hac_status hac_scratch_make(const char *parent, hac_scratch_path ret, hac_error *err)
{
    int n = snprintf(ret, sizeof(hac_scratch_path), "%s/XXXXXX", parent);
    if (n < 0 || (size_t)n >= sizeof(hac_scratch_path))
        return hac_fail(err, HAC_IO, "the path of the scratch directory is too long");
    if (mkdtemp(ret) == NULL)
        return hac_fail_errno(err, HAC_IO, errno, "cannot make a scratch directory in %s", parent);
    return HAC_OK;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
    (void)info;
    (void)type;
    (void)ftw;
    remove(path); /* what cannot be removed is tried again when the next daemon starts */
    return 0;
}

void hac_scratch_remove_now(const char *path)
{
    nftw(path, remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static void run(uv_work_t *work)
{
    removal *r = work->data;
    r->remove(r->path);
}

static void done(uv_work_t *work, int status)
{
    (void)status;
    free(work->data);
}

static void queue(uv_loop_t *loop, void (*remove)(const char *path), const char *path)
{
    removal *r = calloc(1, sizeof *r);
    if (r == NULL || path[0] == '\0') {
        free(r);
        return;
    }
    r->work.data = r;
    r->remove = remove;
    snprintf(r->path, sizeof r->path, "%s", path);
    if (hac_blocking_work_queue(loop, &r->work, run, done) != 0)
        free(r);
}

void hac_scratch_remove(uv_loop_t *loop, const char *path)
{
    queue(loop, hac_scratch_remove_now, path);
}

/* ---- hacd's own directory ---------------------------------------------------------------------------- */

/* Opens and locks a directory of this user; does not follow links. HAC_AGAIN: the directory is gone, another
 * hacd has swept it. HAC_REFUSED: the directory is locked, or belongs to someone else. */
static hac_status lock_directory(const char *path, int *ret_fd, hac_error *err)
{
    struct stat opened, at_path;
    hac_autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? HAC_AGAIN : hac_fail_errno(err, HAC_REFUSED, errno, "%s", path);
    if (fstat(fd, &opened) != 0 || opened.st_uid != geteuid())
        return hac_fail(err, HAC_REFUSED, "%s is another user's", path);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? hac_fail(err, HAC_REFUSED, "%s is in use", path)
                                    : hac_fail_errno(err, HAC_UNSUPPORTED, errno, "cannot lock %s", path);
    if (lstat(path, &at_path) != 0 || at_path.st_ino != opened.st_ino || at_path.st_dev != opened.st_dev)
        return HAC_AGAIN;
    *ret_fd = hac_steal_fd(&fd);
    return HAC_OK;
}

/* One attempt. HAC_AGAIN: another attempt may succeed. */
static hac_status claim(const char *path, int *ret_lock, hac_error *err)
{
    hac_autoclose int fd = -1;
    bool made = HAC_FAILPOINT("scratch.directory", -1, mkdir(path, 0700)) == 0;
    if (!made && errno != EEXIST)
        return hac_fail_errno(err, HAC_IO, errno, "cannot make the directory %s", path);
    hac_status status = lock_directory(path, &fd, err);
    if (made && status == HAC_UNSUPPORTED) /* network file systems; there, nobody sweeps either */
        status = HAC_OK;
    if (status != HAC_OK)
        return status;
    if (!made) { /* left by a dead hacd with the same process number */
        hac_scratch_remove_now(path);
        return HAC_AGAIN;
    }
    *ret_lock = hac_steal_fd(&fd);
    return HAC_OK;
}

hac_status hac_scratch_claim(hac_scratch_path path, int *ret_lock, hac_error *err)
{
    size_t length = strlen(path);
    hac_status status = HAC_AGAIN;
    unsigned taken = 0;
    for (int i = 0; i < CLAIMS_MAX && status != HAC_OK && status != HAC_IO; i++) {
        status = claim(path, ret_lock, err);
        if (status == HAC_OK || status == HAC_AGAIN || status == HAC_IO)
            continue;
        int n = snprintf(path + length, sizeof(hac_scratch_path) - length, "-%u", ++taken);
        if (n < 0 || (size_t)n >= sizeof(hac_scratch_path) - length)
            return hac_fail(err, HAC_IO, "the path of the scratch directory is too long");
    }
    return status == HAC_OK || status == HAC_IO
               ? status
               : hac_fail(err, HAC_IO, "cannot make a scratch directory like %s", path);
}

/* "PID" or "PID-N": everything else in there is not hacd's. */
static bool is_own_name(const char *name)
{
    return name[0] != '\0' && name[0] != '-' && strspn(name, "0123456789-") == strlen(name);
}

void hac_scratch_sweep_now(const char *own)
{
    hac_scratch_path parent, path;
    snprintf(parent, sizeof parent, "%s", own);
    char *slash = strrchr(parent, '/');
    if (slash == NULL || slash == parent)
        return;
    *slash = '\0';
    DIR *directory = opendir(parent);
    for (struct dirent *e = NULL; directory != NULL && (e = readdir(directory)) != NULL;) {
        hac_autoclose int lock = -1; /* held during the removal, so that nobody takes the directory over */
        if (!is_own_name(e->d_name) || strcmp(e->d_name, slash + 1) == 0)
            continue;
        int n = snprintf(path, sizeof path, "%s/%s", parent, e->d_name);
        if (n > 0 && (size_t)n < sizeof path && lock_directory(path, &lock, NULL) == HAC_OK)
            hac_scratch_remove_now(path);
    }
    if (directory != NULL)
        closedir(directory);
}

void hac_scratch_sweep(uv_loop_t *loop, const char *own)
{
    queue(loop, hac_scratch_sweep_now, own);
}
