/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSON_FIND_H
#define BASE_JSON_FIND_H

#include <stdbool.h>
#include <stddef.h>

/* Finds a string in a JSON text: the member that `path` leads to from the outermost object, as
 * "receipt.query.output_format". Members of arrays and keys with a dot cannot be named. *ret and *ret_bytes
 * are the text between the quotes, in which escapes stand as they are written. False: there is no such
 * member, it is no string, or the text before it is not JSON. */
bool hac_json_find_string(const char *json, const char *path, const char **ret, size_t *ret_bytes);

#endif
