/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file format as one table. Each key of a configuration file is a row: its path, type, unit, bounds,
 * default, help, and where in a struct its value goes. The table checks files, fills structs, sets defaults
 * and writes the reference page, so that none of these can differ from the others.
 *
 * Messages are "FILE:LINE: key `a.b`: what is wrong; allowed: what is".
 */
#ifndef CONFIG_SCHEMA_H
#define CONFIG_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "config/yaml_tree.h"

/* The type of a key, and what its `offset` leads to. */
typedef enum hac_key_type {
    HAC_KEY_NAME,     /* char[HAC_NAME_MAX]: letters, digits, _ - . */
    HAC_KEY_TEXT,     /* char *, owned */
    HAC_KEY_CHOICE,   /* an enum */
    HAC_KEY_BOOL,     /* bool */
    HAC_KEY_INTEGER,  /* uint32_t */
    HAC_KEY_NUMBER,   /* double */
    HAC_KEY_SIZE,     /* uint64_t, bytes */
    HAC_KEY_RATE,     /* double, bytes/s */
    HAC_KEY_DURATION, /* double, seconds */
    HAC_KEY_OTHER     /* what the key's `read` makes of it */
} hac_key_type;

typedef struct hac_choice {
    const char *name; /* NULL ends the list */
    int value;
} hac_choice;

enum {
    HAC_KEY_REQUIRED = 1, /* must be given; top-level keys only */
    HAC_KEY_OVERRIDE = 2  /* may be given again in an entry of the list `entries` */
};

typedef struct hac_key hac_key;
typedef struct hac_config_schema hac_config_schema;

/* Where a map is read: which rows apply there. `entry` is true within an entry of the schema's list. */
typedef struct hac_scope {
    const hac_config_schema *schema;
    const char *file;
    bool entry;
    hac_error *err;
} hac_scope;

typedef hac_status hac_key_reader(const hac_scope *scope, const hac_key *key, const hac_yaml_node *value,
                                  void *at);

struct hac_key {
    const char *path; /* "memory.limit"; of entries only: "executors[].threads" */
    hac_key_type type;
    unsigned flags;
    size_t offset;
    const char *word;          /* stands for 0, false or "": `auto`, `none`; NULL: no such word */
    const char *min, *max;     /* bounds, as one would write them in the file; NULL: none */
    const char *unit;          /* of a plain number */
    const hac_choice *choices; /* of HAC_KEY_CHOICE */
    hac_key_reader *read;      /* of HAC_KEY_OTHER */
    const char *type_name;     /* of HAC_KEY_OTHER */
    const char *allowed;       /* in words; NULL: made from type, bounds, choices and word */
    const char *fallback;      /* default as one would write it; NULL: the key is required */
    const char *help;          /* one line */
};

struct hac_config_schema {
    const char *entries; /* "executors[].": the list whose entries may override keys; NULL: none */
    const hac_key *keys;
    size_t n_keys;
};

/* Sets every key that has a scalar default. */
HAC_MUST_USE hac_status hac_schema_defaults(const hac_config_schema *schema, void *target, hac_error *err);

/* Checks `map` and writes its values into `target`; keys that are not given are left as they are. */
HAC_MUST_USE hac_status hac_schema_read(const hac_scope *scope, const hac_yaml_node *map, void *target);

/* Makes the message for a bad value of `key` at `node` and returns HAC_INVALID. */
hac_status hac_key_fail(const hac_scope *scope, const hac_key *key, const hac_yaml_node *node,
                        const char *fmt, ...) HAC_PRINTF(4, 5);

/* Refuses what is not of that kind, in the words of hac_key_fail. A null is no scalar here. */
HAC_MUST_USE hac_status hac_key_need(const hac_scope *scope, const hac_key *key, const hac_yaml_node *node,
                                     hac_yaml_kind kind);

/* Reads one value by a row's type, bounds and word; readers of lists use it for their items. */
HAC_MUST_USE hac_status hac_key_read(const hac_scope *scope, const hac_key *key, const hac_yaml_node *value,
                                     void *at);

/* Letters, digits, _ - . beginning with a letter or digit, at most HAC_NAME_MAX - 1 bytes. */
bool hac_name_is_valid(const char *name);

/* What is allowed, in words, as in messages and on the reference page. */
const char *hac_key_allowed(const hac_key *key, char *buffer, size_t size);
const char *hac_key_type_name(const hac_key *key);

/* The Markdown table of all keys, and a file with every key commented out at its default. */
void hac_schema_table(const hac_config_schema *schema, FILE *out);
void hac_schema_example(const hac_config_schema *schema, FILE *out);

#endif
