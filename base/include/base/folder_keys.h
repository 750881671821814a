/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys in the names of folders, as Hive and Spark write them: `sales/year=2024/city=S%C3%A3o/part-0.parquet`
 * has the keys year and city. The keys of a file are columns that have the same value in all of its rows.
 */
#ifndef BASE_FOLDER_KEYS_H
#define BASE_FOLDER_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/limits.h"

#define HAC_FOLDER_KEYS_MAX   64   /* of one file */
#define HAC_FOLDER_KEYS_BYTES 2048 /* of all folders of a file that have keys, with their slashes */

/* One key of a path. `value` points into the path and may have escapes (%2F). */
typedef struct hac_folder_key {
    char name[HAC_FIELD_NAME_MAX]; /* without escapes */
    const char *value;
    size_t value_bytes;
} hac_folder_key;

/* Finds the next key in [*at, end) and moves *at behind its folder. The last component of a path is its
 * file, and has no key. Folders whose key is empty or too long for a column's name are passed over. False:
 * no key follows. */
bool hac_folder_key_next(const char **at, const char *end, hac_folder_key *ret);

/* The value without escapes: at most value_bytes bytes at `ret`, whose number is returned. A % that begins
 * no escape stands for itself. */
size_t hac_folder_key_value(const hac_folder_key *key, char *ret);

/* Whether the value is null: Hive and Spark write __HIVE_DEFAULT_PARTITION__. */
bool hac_folder_key_is_null(const hac_folder_key *key);

#endif
