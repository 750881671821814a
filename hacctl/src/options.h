/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of all commands, once each: parsing, help and shell completion are made from this table. A
 * command names the ones it takes as a set of bits.
 */
#ifndef HACCTL_OPTIONS_H
#define HACCTL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum hac_option_id {
    /* everywhere, before or after the command */
    HAC_OPT_SOCKET,
    HAC_OPT_JSON,
    HAC_OPT_QUIET,
    HAC_OPT_NO_AUTOSTART,
    HAC_OPT_HELP,
    HAC_OPT_VERSION,
    /* sort */
    HAC_OPT_TYPE,
    HAC_OPT_OUTPUT,
    HAC_OPT_DESCENDING,
    HAC_OPT_ARGSORT,
    HAC_OPT_ALGORITHM,
    HAC_OPT_SCHEME,
    HAC_OPT_FOLD,
    HAC_OPT_ITEMS,
    /* any job */
    HAC_OPT_DEVICES,
    HAC_OPT_DETACH,
    HAC_OPT_PRIORITY,
    HAC_OPT_DEADLINE,
    HAC_OPT_MEMORY,
    HAC_OPT_DETERMINISM,
    HAC_OPT_TRACE,
    HAC_OPT_RECEIPT,
    /* queries */
    HAC_OPT_PARSE,
    HAC_OPT_SCHEMA,
    HAC_OPT_WHERE,
    HAC_OPT_GROUP_BY,
    HAC_OPT_SELECT,
    HAC_OPT_ORDER_BY,
    HAC_OPT_LIMIT,
    HAC_OPT_OUTPUT_FORMAT,
    HAC_OPT_DELIMITER,
    HAC_OPT_NO_HEADER,
    HAC_OPT_HEADER,
    HAC_OPT_NULL,
    HAC_OPT_BYTE_ORDER,
    HAC_OPT_ON_ERROR,
    HAC_OPT_WAY,
    HAC_OPT_HOT_KEYS,
    HAC_OPT_SAMPLE,
    HAC_OPT_HOT_SHARE,
    HAC_OPT_WORK_GROUPS,
    HAC_OPT_WORK_ITEMS,
    /* queries over splits */
    HAC_OPT_SPLIT_SIZE,
    HAC_OPT_IO,
    /* jobs by name */
    HAC_OPT_CENTROIDS,
    HAC_OPT_WITH,
    /* files of rows that are no queries */
    HAC_OPT_INPUT_FORMAT,
    HAC_OPT_KEY,
    /* results that are Parquet files */
    HAC_OPT_CODEC,
    HAC_OPT_ROW_GROUP_SIZE,
    HAC_OPT_ROW_GROUP_ROWS,
    HAC_OPT_BLOCK_SIZE,
    /* single commands */
    HAC_OPT_FORMAT,
    HAC_OPT_PROFILES,
    HAC_OPT_INPUT_SIZE,
    HAC_OPT_FOLLOW,
    HAC_OPT_DEVICE,
    HAC_OPT_ONCE,
    HAC_OPT_INTERVAL,
    /* logic files */
    HAC_OPT_INPUT,
    HAC_OPT_PLACEMENT,
    HAC_OPT_THRESHOLD,
    HAC_OPT_COMPONENTS,
    HAC_OPT_KERNELS,
    HAC_OPT_COUNT
} hac_option_id;

_Static_assert(HAC_OPT_COUNT <= 64, "sets of options are bits of 64");
#define HAC_OPT_BIT(id) (UINT64_C(1) << (id))

#define HAC_OPTIONS_GLOBAL                                                                                   \
    (HAC_OPT_BIT(HAC_OPT_SOCKET) | HAC_OPT_BIT(HAC_OPT_JSON) | HAC_OPT_BIT(HAC_OPT_QUIET) |                  \
     HAC_OPT_BIT(HAC_OPT_NO_AUTOSTART) | HAC_OPT_BIT(HAC_OPT_HELP) | HAC_OPT_BIT(HAC_OPT_VERSION))
#define HAC_OPTIONS_SUBMIT                                                                                   \
    (HAC_OPT_BIT(HAC_OPT_DETACH) | HAC_OPT_BIT(HAC_OPT_PRIORITY) | HAC_OPT_BIT(HAC_OPT_DEADLINE) |           \
     HAC_OPT_BIT(HAC_OPT_MEMORY) | HAC_OPT_BIT(HAC_OPT_TRACE) | HAC_OPT_BIT(HAC_OPT_RECEIPT))
/* Of jobs that are planned: where, and how exactly. */
#define HAC_OPTIONS_PLANNED                                                                                  \
    (HAC_OPTIONS_SUBMIT | HAC_OPT_BIT(HAC_OPT_DEVICES) | HAC_OPT_BIT(HAC_OPT_DETERMINISM))

/* How the fields of text are cut and read. */
#define HAC_OPTIONS_TEXT                                                                                     \
    (HAC_OPT_BIT(HAC_OPT_SCHEMA) | HAC_OPT_BIT(HAC_OPT_DELIMITER) | HAC_OPT_BIT(HAC_OPT_NO_HEADER) |         \
     HAC_OPT_BIT(HAC_OPT_NULL) | HAC_OPT_BIT(HAC_OPT_ON_ERROR) | HAC_OPT_BIT(HAC_OPT_BYTE_ORDER))
/* Of a result that is a Parquet file. */
#define HAC_OPTIONS_PARQUET                                                                                  \
    (HAC_OPT_BIT(HAC_OPT_CODEC) | HAC_OPT_BIT(HAC_OPT_ROW_GROUP_SIZE) |                                      \
     HAC_OPT_BIT(HAC_OPT_ROW_GROUP_ROWS) | HAC_OPT_BIT(HAC_OPT_BLOCK_SIZE))
/* The form and place of rows that are a result. */
#define HAC_OPTIONS_RESULT                                                                                   \
    (HAC_OPTIONS_PARQUET | HAC_OPT_BIT(HAC_OPT_OUTPUT) | HAC_OPT_BIT(HAC_OPT_OUTPUT_FORMAT))

/* Of sorts: of raw arrays, of whole rows, of both. */
#define HAC_OPTIONS_RAW_SORT                                                                                 \
    (HAC_OPT_BIT(HAC_OPT_TYPE) | HAC_OPT_BIT(HAC_OPT_DESCENDING) | HAC_OPT_BIT(HAC_OPT_ARGSORT) |            \
     HAC_OPT_BIT(HAC_OPT_ALGORITHM) | HAC_OPT_BIT(HAC_OPT_SCHEME) | HAC_OPT_BIT(HAC_OPT_FOLD) |              \
     HAC_OPT_BIT(HAC_OPT_ITEMS))
#define HAC_OPTIONS_ROW_SORT                                                                                 \
    (HAC_OPTIONS_TEXT | HAC_OPTIONS_PARQUET | HAC_OPT_BIT(HAC_OPT_OUTPUT_FORMAT) |                           \
     HAC_OPT_BIT(HAC_OPT_INPUT_FORMAT) | HAC_OPT_BIT(HAC_OPT_KEY))
#define HAC_OPTIONS_SORT                                                                                     \
    (HAC_OPTIONS_PLANNED | HAC_OPT_BIT(HAC_OPT_OUTPUT) | HAC_OPTIONS_ROW_SORT |                              \
     (HAC_OPTIONS_RAW_SORT & ~HAC_OPT_BIT(HAC_OPT_ITEMS)))

/* What is asked, and of which format; the same for every command that takes a query. */
#define HAC_OPTIONS_ASKED                                                                                    \
    (HAC_OPTIONS_TEXT | HAC_OPT_BIT(HAC_OPT_PARSE) | HAC_OPT_BIT(HAC_OPT_WHERE) |                            \
     HAC_OPT_BIT(HAC_OPT_GROUP_BY) | HAC_OPT_BIT(HAC_OPT_SELECT) | HAC_OPT_BIT(HAC_OPT_ORDER_BY) |           \
     HAC_OPT_BIT(HAC_OPT_LIMIT) | HAC_OPT_BIT(HAC_OPT_WAY) | HAC_OPT_BIT(HAC_OPT_HOT_KEYS) |                 \
     HAC_OPT_BIT(HAC_OPT_SAMPLE) | HAC_OPT_BIT(HAC_OPT_HOT_SHARE) | HAC_OPT_BIT(HAC_OPT_WORK_GROUPS) |       \
     HAC_OPT_BIT(HAC_OPT_WORK_ITEMS))
#define HAC_OPTIONS_QUERY (HAC_OPTIONS_ASKED | HAC_OPTIONS_RESULT)
#define HAC_OPTIONS_MAPREDUCE                                                                                \
    (HAC_OPTIONS_PLANNED | HAC_OPTIONS_QUERY | HAC_OPT_BIT(HAC_OPT_CENTROIDS) | HAC_OPT_BIT(HAC_OPT_WITH))
#define HAC_OPTIONS_OPSPLIT                                                                                  \
    (HAC_OPTIONS_PLANNED | HAC_OPT_BIT(HAC_OPT_OUTPUT) | HAC_OPT_BIT(HAC_OPT_INPUT) |                        \
     HAC_OPT_BIT(HAC_OPT_PLACEMENT) | HAC_OPT_BIT(HAC_OPT_THRESHOLD) | HAC_OPT_BIT(HAC_OPT_COMPONENTS) |     \
     HAC_OPT_BIT(HAC_OPT_KERNELS))
#define HAC_OPTIONS_PARQUET_QUERY (HAC_OPTIONS_PLANNED | HAC_OPTIONS_QUERY)
#define HAC_OPTIONS_SPLICE        (HAC_OPTIONS_PLANNED | HAC_OPTIONS_QUERY | HAC_OPT_BIT(HAC_OPT_SPLIT_SIZE))
/* Who starts it hands the input over: there is nothing to come back to later. */
#define HAC_OPTIONS_PIPE                                                                                     \
    ((HAC_OPTIONS_PLANNED & ~HAC_OPT_BIT(HAC_OPT_DETACH)) | HAC_OPTIONS_ASKED |                              \
     HAC_OPT_BIT(HAC_OPT_SPLIT_SIZE) | HAC_OPT_BIT(HAC_OPT_IO) | HAC_OPT_BIT(HAC_OPT_HEADER))
#define HAC_OPTIONS_CONVERT                                                                                  \
    (HAC_OPTIONS_PLANNED | HAC_OPTIONS_TEXT | HAC_OPTIONS_PARQUET | HAC_OPT_BIT(HAC_OPT_PARSE) |             \
     HAC_OPT_BIT(HAC_OPT_TYPE))

typedef struct hac_option {
    const char *name;     /* "type" */
    char letter;          /* 'o', or 0 */
    const char *argument; /* "TYPE"; NULL: a flag */
    const char *choices;  /* "u32 i32 …": what is allowed, or what the shell completes; NULL: anything */
    const char *help;
} hac_option;

/* What `choices` says of values that are no fixed words. */
#define HAC_CHOICES_FILE    "<file>"
#define HAC_CHOICES_FOLDER  "<folder>"
#define HAC_CHOICES_DEVICES "<devices>"

const hac_option *hac_option_get(hac_option_id id);

/* The option of this long name, HAC_OPT_COUNT when there is none. */
hac_option_id hac_option_find(const char *name);

/* The place of `value` among the option's choices, -1 if it is none of them. */
int hac_option_choice(hac_option_id id, const char *value);

/* The nearest name of an option of the set to a mistyped one, NULL when none is near. */
const char *hac_option_nearest(uint64_t set, const char *name);

#endif
