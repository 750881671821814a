/* SPDX-License-Identifier: Apache-2.0 */
#include "base/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int hac_user_path(hac_user_folder folder, const char *name, char *ret, size_t capacity)
{
    static const struct {
        const char *variable, *in_home;
    } folders[] = {[HAC_FOLDER_STATE] = {"XDG_STATE_HOME", "/.local/state"},
                   [HAC_FOLDER_CACHE] = {"XDG_CACHE_HOME", "/.cache"},
                   [HAC_FOLDER_CONFIG] = {"XDG_CONFIG_HOME", "/.config"},
                   [HAC_FOLDER_DATA] = {"XDG_DATA_HOME", "/.local/share"}};
    const char *base = secure_getenv(folders[folder].variable), *in_home = "";
    if (base == NULL || base[0] != '/') {
        base = secure_getenv("HOME");
        in_home = folders[folder].in_home;
    }
    if (base == NULL || base[0] != '/')
        return ENOENT;
    int n = snprintf(ret, capacity, "%s%s/hac%s%s", base, in_home, name != NULL ? "/" : "",
                     name != NULL ? name : "");
    return n >= 0 && (size_t)n < capacity ? 0 : ENAMETOOLONG;
}

bool hac_temporary_path(const char *temporary, char *ret, size_t capacity)
{
    int n = snprintf(ret, capacity, "%s/hac-%u", temporary, (unsigned)geteuid());
    return n >= 0 && (size_t)n < capacity;
}

int hac_make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash != NULL)
            *slash = '\0';
        struct stat st; /* EACCES, EROFS and others may come for a folder that is there */
        int errnum = mkdir(path, 0700) == 0 ? 0 : errno;
        if (errnum != 0 && (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)))
            return errnum == EEXIST ? ENOTDIR : errnum;
        if (slash == NULL)
            return 0;
        *slash = '/';
    }
}
