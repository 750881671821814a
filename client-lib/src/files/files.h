/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of hac_files (hac.h), which files.c and path_columns.c share. */
#ifndef CLIENT_FILES_H
#define CLIENT_FILES_H

#include <hac/files.h>

struct hac_files {
    char **names; /* owned */
    size_t n, capacity;
    char note[512];
    char *path_columns; /* owned; NULL: none */
};

#endif
