/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of tsv results, which hacctl draws and summarizes. */
#ifndef HACCTL_TSV_FIELD_H
#define HACCTL_TSV_FIELD_H

#include <stddef.h>

/* Undoes the escapes \t, \n, \r and \\ in place; other backslashes stay. Returns the new length. */
size_t hac_tsv_unescape(char *text, size_t bytes);

#endif
