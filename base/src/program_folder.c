/* SPDX-License-Identifier: Apache-2.0 */
#include "base/program_folder.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

bool hac_program_folder(const void *symbol, char ret[PATH_MAX])
{
    Dl_info info;
    const char *path = dladdr(symbol, &info) != 0 ? info.dli_fname : NULL;
    if (path == NULL || path[0] != '/') /* the program itself has the name that it was started by */
        path = "/proc/self/exe";
    if (realpath(path, ret) == NULL)
        return false;
    *strrchr(ret, '/') = '\0';
    return true;
}

static bool is_own(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && (st.st_uid == 0 || st.st_uid == geteuid()) &&
           ((st.st_mode & S_IWOTH) == 0 || (st.st_mode & S_ISVTX) != 0);
}

bool hac_program_file_beside(const void *symbol, const char *relative, char ret[PATH_MAX])
{
    char folder[PATH_MAX], path[PATH_MAX];
    if (!hac_program_folder(symbol, folder))
        return false;
    int n = snprintf(path, sizeof path, "%s/%s", folder, relative);
    if (n < 0 || (size_t)n >= sizeof path || realpath(path, ret) == NULL || !is_own(ret))
        return false;
    strcpy(folder, ret);
    *strrchr(folder, '/') = '\0';
    return is_own(folder[0] == '\0' ? "/" : folder);
}

bool hac_program_find(const void *symbol, const char *const *beside, size_t n, const char *fallback,
                      const char *name, char ret[PATH_MAX])
{
    char relative[PATH_MAX];
    const char *folder = secure_getenv("HAC_LIBEXEC");
    bool named = folder != NULL && folder[0] != '\0';
    for (size_t i = 0; i < n && !named && getauxval(AT_SECURE) == 0; i++) {
        int length = snprintf(relative, sizeof relative, "%s/%s", beside[i], name);
        if (length > 0 && (size_t)length < sizeof relative &&
            hac_program_file_beside(symbol, relative, ret) && access(ret, X_OK) == 0)
            return true;
    }
    int length = snprintf(ret, PATH_MAX, "%s/%s", named ? folder : fallback, name);
    return length > 0 && length < PATH_MAX;
}
