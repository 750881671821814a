/* SPDX-License-Identifier: Apache-2.0 */
/* Writes definitions of users that have been checked. */
#ifndef OPSPLIT_LIBRARY_FILES_H
#define OPSPLIT_LIBRARY_FILES_H

#include "opsplit/library.h"

typedef struct hac_library_definition {
    const char *name, *about;
    const char *text; /* the YAML, as it is stored */
    size_t length;
} hac_library_definition;

/* Stores the definition as the next version of its name. Text that equals the newest version's is not stored
 * again. */
HAC_MUST_USE hac_status hac_library_put(hac_library *library, hac_library_kind kind,
                                        const hac_library_definition *definition, hac_library_added *ret,
                                        hac_error *err);

#endif
