/* SPDX-License-Identifier: Apache-2.0 */
/* The folders with keys (base/folder_keys.h) that travel with an input of a query. */
#ifndef CLIENT_PATH_COLUMNS_H
#define CLIENT_PATH_COLUMNS_H

#include <hac/hac.h>

#include "base/folder_keys.h"

typedef struct hac_path_keys_text {
    char text[HAC_FOLDER_KEYS_BYTES];
    size_t bytes; /* 0: no folder has a key, or the query has no columns in paths */
} hac_path_keys_text;

/* Finds the folders with keys in the name of a file; `name` may be NULL. HAC_INVALID: they are too long. */
HAC_MUST_USE hac_status hac_path_keys(const hac_query_options *options, const char *name,
                                      hac_path_keys_text *ret, hac_error *err);

#endif
