/* SPDX-License-Identifier: Apache-2.0 */
/* Look-ups in YAML maps and in lists of words. opsplit/logic.h declares those in a checked logic file. */
#ifndef OPSPLIT_LOGIC_ACCESS_H
#define OPSPLIT_LOGIC_ACCESS_H

#include "config/yaml_tree.h"
#include "opsplit/logic.h"

/* The value of a key; NULL: it is not given. */
const hac_yaml_node *hac_logic_field(const hac_yaml_node *map, const char *name);
/* Copies the i-th of `words`, which are separated by blanks, to ret; false: there are not so many. */
bool hac_logic_nth_word(const char *words, size_t i, char *ret, size_t capacity);

#endif
