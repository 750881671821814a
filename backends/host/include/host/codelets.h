/* SPDX-License-Identifier: Apache-2.0 */
/* The codelets in C that belong to no query: sub-operators, reading of files, random data. */
#ifndef HOST_CODELETS_H
#define HOST_CODELETS_H

#include "codelet/codelet.h"

/* A table that ends with an entry whose name is NULL. */
const hac_codelet *hac_host_codelets(void);

#endif
