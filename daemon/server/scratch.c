/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>

#define DESCRIPTORS 16 /* that nftw may hold open */

typedef struct removal {
    uv_work_t work;
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
    remove(path); /* what cannot be removed stays; the next daemon's start has another parent */
    return 0;
}

void hac_scratch_remove_now(const char *path)
{
    nftw(path, remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

static void run(uv_work_t *work)
{
    removal *r = work->data;
    hac_scratch_remove_now(r->path);
}

static void done(uv_work_t *work, int status)
{
    (void)status;
    free(work->data);
}

void hac_scratch_remove(uv_loop_t *loop, const char *path)
{
    removal *r = calloc(1, sizeof *r);
    if (r == NULL || path[0] == '\0') {
        free(r);
        return;
    }
    r->work.data = r;
    snprintf(r->path, sizeof r->path, "%s", path);
    if (uv_queue_work(loop, &r->work, run, done) != 0)
        free(r);
}
