/* SPDX-License-Identifier: Apache-2.0 */
/* What a name in FROM stands for. hac_files of libhac finds the files, as for `hacctl query`. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver.h"

static hac_status fail_no_memory(hac_error *err)
{
    err->code = HAC_NO_MEMORY;
    snprintf(err->message, sizeof(err->message), "out of memory");
    return HAC_NO_MEMORY;
}

void hac_adbc_source_clear(hac_adbc_source *source)
{
    hac_files_free(source->files);
    source->files = NULL;
}

static hac_status add(hac_adbc_source *source, const char *path, hac_error *err)
{
    hac_status status = source->files != NULL ? HAC_OK : hac_files_new(&source->files, err);
    return status == HAC_OK ? hac_files_add(source->files, path, HAC_FILES_PATTERNS, err) : status;
}

hac_status hac_adbc_source_add(hac_adbc_source *source, const char *folder, const char *name, hac_error *err)
{
    char *path = NULL;
    struct stat st;
    bool whole = name[0] == '/' || folder[0] == '\0';
    if (asprintf(&path, "%s%s%s", whole ? "" : folder, whole ? "" : "/", name) < 0)
        return fail_no_memory(err);
    hac_status status = add(source, path, err);
    if (status == HAC_FAILED && stat(path, &st) < 0 && errno == ENOENT)
        status = err->code = HAC_NOT_FOUND;
    free(path);
    return status;
}

hac_status hac_adbc_list_folder(hac_adbc_source *source, const char *folder, hac_error *err)
{
    char *path = NULL;
    if (asprintf(&path, "%s%s**", folder, folder[strlen(folder) - 1] == '/' ? "" : "/") < 0)
        return fail_no_memory(err);
    hac_status status = add(source, path, err);
    if (status == HAC_FAILED && hac_files_count(source->files) == 0 && access(folder, R_OK | X_OK) == 0)
        status = HAC_OK; /* there is no file */
    free(path);
    return status;
}
