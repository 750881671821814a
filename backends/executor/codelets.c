/* SPDX-License-Identifier: Apache-2.0 */
#include "codelets.h"

#include <string.h>

#include "host/codelets.h"
#include "opencl/codelets.h"
#include "query/codelets.h"

typedef const hac_codelet *(*get_table)(void);

static const get_table tables[] = {hac_opencl_codelets, hac_query_codelets, hac_host_codelets};

#define N_TABLES (sizeof tables / sizeof *tables)

const hac_codelet *hac_codelet_at(size_t index)
{
    for (size_t t = 0; t < N_TABLES; t++)
        for (const hac_codelet *c = tables[t](); c->name != NULL; c++)
            if (index-- == 0)
                return c;
    return NULL;
}

size_t hac_codelet_index(const hac_codelet *codelet)
{
    size_t index = 0;
    for (size_t t = 0; t < N_TABLES; t++)
        for (const hac_codelet *c = tables[t](); c->name != NULL; c++, index++)
            if (c == codelet)
                return index;
    return index;
}

const hac_codelet *hac_codelet_find(const char *name)
{
    for (size_t t = 0; t < N_TABLES; t++)
        for (const hac_codelet *c = tables[t](); c->name != NULL; c++)
            if (strcmp(c->name, name) == 0)
                return c;
    return NULL;
}
