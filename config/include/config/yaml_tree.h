/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small YAML reader: libyaml's events become a tree whose nodes know their line and column. It takes the
 * part of YAML that a configuration needs (maps, lists, scalars) and refuses the rest (aliases, anchors,
 * tags, several documents, keys that are no scalars, duplicate keys), so that the size of the tree is bounded
 * by the size of the text and a file means what it looks like.
 *
 * Messages are "FILE:LINE: what is wrong", with "key `a.b`: " before it where a key is concerned; on request
 * "FILE:LINE:COLUMN: …" (hac_yaml_parse_columns).
 */
#ifndef CONFIG_YAML_TREE_H
#define CONFIG_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define HAC_YAML_BYTES_MAX    ((size_t)256 * 1024)
#define HAC_YAML_DEPTH_MAX    16
#define HAC_YAML_NODES_MAX    10000
#define HAC_YAML_CHILDREN_MAX 1024 /* of one map or list; bounds the search for duplicate keys */

#define HAC_YAML_PATH_SIZE 128 /* of a key path in a message */
#define HAC_YAML_SHOW_SIZE 48  /* of a foreign text in a message */

typedef enum hac_yaml_kind { HAC_YAML_SCALAR, HAC_YAML_LIST, HAC_YAML_MAP } hac_yaml_kind;

typedef struct hac_yaml_node {
    hac_yaml_kind kind;
    bool plain;    /* a scalar without quotes: may be a number, true, null … */
    unsigned line; /* where the value begins, from 1 */
    unsigned column;
    unsigned key_line, key_column;
    unsigned text_column; /* of a scalar that stands in one line as it is, without escapes: where its text
                           * begins; else 0 */
    char *key;            /* name within the parent, if that is a map */
    size_t index;         /* place within the parent */
    char *text;           /* of a scalar; holds no NUL */
    size_t count;         /* children */
    struct hac_yaml_node *first, *next;
    const struct hac_yaml_node *parent;
} hac_yaml_node;

/* Reads a regular file of at most HAC_YAML_BYTES_MAX; *ret_text is malloc'ed. HAC_NOT_FOUND: no such file,
 * HAC_IO: it cannot be read, HAC_INVALID: too large, not a file, or not for us. Never blocks on a FIFO. */
HAC_MUST_USE hac_status hac_yaml_read_file(const char *path, char **ret_text, size_t *ret_length,
                                           hac_error *err);

/* `file` is for messages only. An empty text is an empty map; a root that is no map is refused. */
HAC_MUST_USE hac_status hac_yaml_parse(const char *file, const char *text, size_t length, hac_yaml_node **ret,
                                       hac_error *err);
/* The same, messages with columns. */
HAC_MUST_USE hac_status hac_yaml_parse_columns(const char *file, const char *text, size_t length,
                                               hac_yaml_node **ret, hac_error *err);
void hac_yaml_free(hac_yaml_node *node);

/* The node at a path such as "memory.limit" below a map, or NULL. */
const hac_yaml_node *hac_yaml_get(const hac_yaml_node *map, const char *path);

/* Whether the value is left out or null. */
bool hac_yaml_is_null(const hac_yaml_node *node);

/* "executors[1].memory.limit"; `buffer` has HAC_YAML_PATH_SIZE bytes and is returned. */
const char *hac_yaml_path(const hac_yaml_node *node, char *buffer);

/* `text` for a message: at most 40 bytes, no control characters; `buffer` has HAC_YAML_SHOW_SIZE bytes and is
 * returned. */
const char *hac_yaml_show(const char *text, char *buffer);

/* Fails with HAC_INVALID and "FILE:LINE: message". */
hac_status hac_yaml_fail(const char *file, unsigned line, hac_error *err, const char *fmt, ...)
    HAC_PRINTF(4, 5);
/* "FILE:LINE:COLUMN: message"; column 0: without. */
hac_status hac_yaml_fail_at(const char *file, unsigned line, unsigned column, hac_error *err, const char *fmt,
                            ...) HAC_PRINTF(5, 6);

#endif
