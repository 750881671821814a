/* SPDX-License-Identifier: Apache-2.0 */
#include "pocl.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPECIAL "/1-1-1-goffs0-smallgrid/"
#define GENERIC "/0-0-0/"

bool hac_is_pocl(const hac_device_facts *facts)
{
    return strcmp(facts->platform, "Portable Computing Language") == 0;
}

/*
 * CACHE/XX/PROGRAM/KERNEL/1-1-1-goffs0-smallgrid/KERNEL.so, the variant that was launched, is made to stand
 * for CACHE/XX/PROGRAM/KERNEL/0-0-0/KERNEL.so too, which the driver then does not compile.
 */
static int stand_in(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)ftw;
    const char *special = strstr(path, SPECIAL);
    size_t length = strlen(path);
    if (flag != FTW_F || special == NULL || length < 3 || strcmp(path + length - 3, ".so") != 0)
        return 0;
    const char *file = special + strlen(SPECIAL);
    char generic[4096];
    int n = snprintf(generic, sizeof generic, "%.*s%s", (int)(special - path), path, GENERIC);
    if (n < 0 || (size_t)n + strlen(file) >= sizeof generic)
        return 0;
    mkdir(generic, 0700);
    strcpy(generic + n, file);
    if (link(path, generic) != 0)
        return 0; /* it is there already */
    return 0;
}

void hac_pocl_prepare_binaries(const hac_device *device, const hac_loaded_program *program)
{
    const char *cache = getenv("POCL_CACHE_DIR");
    char variants[HAC_MAX_LOCAL_SIZES * 48] = "";
    size_t used = 0;
    if (device->facts.style == HAC_STYLE_SIMT) {
        for (size_t i = 0; i < program->n_locals; i++)
            used += (size_t)snprintf(variants + used, sizeof variants - used, "%s%u-1-1-goffs0",
                                     i > 0 ? "," : "", program->locals[i]);
        setenv("POCL_BINARY_SPECIALIZE_WG", variants, 1);
    } else if (cache != NULL && cache[0] == '/' && program->n_locals == 1 && program->locals[0] == 1) {
        nftw(cache, stand_in, 16, FTW_PHYS);
    }
}
