/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the running code lies on disk, so that a moved installation and a build tree find their own other
 * files.
 */
#ifndef BASE_PROGRAM_FOLDER_H
#define BASE_PROGRAM_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Writes the folder, without links, of the library or program that `symbol` (any object or function) is a
 * part of. False: it is unknown, or its path is too long. */
bool hac_program_folder(const void *symbol, char ret[PATH_MAX]);

/* Writes the path of an existing file: `relative` to the folder of `symbol`'s library or program. False:
 * there is no such file, or somebody else than root and this process' user could have put it there. */
bool hac_program_file_beside(const void *symbol, const char *relative, char ret[PATH_MAX]);

/* Writes the path of hac's program `name`: in $HAC_LIBEXEC, if that is not empty; else in the first of the
 * `n` folders `beside`, relative to that of `symbol`, where it can be executed; else in `fallback`, whether
 * it is there or not. A set-user-ID program looks in `fallback` only. False: the path is too long. */
bool hac_program_find(const void *symbol, const char *const *beside, size_t n, const char *fallback,
                      const char *name, char ret[PATH_MAX]);

#endif
