/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/type.h"

static void *symbol(void *library, const char *name, const char *what, hac_type type)
{
    char text[64];
    snprintf(text, sizeof text, "%s_%s_%s", name, what, hac_type_name(type));
    return dlsym(library, text);
}

bool bench_peer_load(const char *library, const char *name, hac_type type, bench_peer *ret)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    /* ISO C has no cast from an object pointer to a function pointer; POSIX promises that this works. */
    void *sort = symbol(handle, name, "sort", type), *argsort = symbol(handle, name, "argsort", type);
    memcpy(&ret->sort, &sort, sizeof sort);
    memcpy(&ret->argsort, &argsort, sizeof argsort);
    return sort != NULL;
}
