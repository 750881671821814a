/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options (options.def), and sets of options. */
#ifndef HACCTL_OPTIONS_H
#define HACCTL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/input_options.h"

typedef enum hac_option_id {
#define HAC_OPTION(id, ...) HAC_OPT_##id,
#include "options.def"
#undef HAC_OPTION
    HAC_OPT_COUNT
} hac_option_id;

/* The headings of --help, in their order. */
typedef enum hac_option_section {
    HAC_SECTION_ARRAY,
    HAC_SECTION_ROWS,
    HAC_SECTION_QUERY,
    HAC_SECTION_LOGIC,
    HAC_SECTION_INPUT,
    HAC_SECTION_TEXT,
    HAC_SECTION_OUTPUT,
    HAC_SECTION_PARQUET,
    HAC_SECTION_JOB,
    HAC_SECTION_COMMAND,
    HAC_SECTION_GLOBAL, /* every command takes these, before or after its name */
    HAC_SECTION_TUNING,
    HAC_SECTION_COUNT
} hac_option_section;

/* Commands that take options, as bits. explain and simulate also take the options of the jobs that they
 * plan. */
enum {
    HAC_FOR_SORT = 1 << 0,
    HAC_FOR_SPLICE = 1 << 1,
    HAC_FOR_PIPE = 1 << 2,
    HAC_FOR_MAPREDUCE = 1 << 3,
    HAC_FOR_PARQUET_QUERY = 1 << 4,
    HAC_FOR_CONVERT = 1 << 5,
    HAC_FOR_OPSPLIT = 1 << 6,
    HAC_FOR_MEASURE = 1 << 7, /* calibrate, tune */
    HAC_FOR_KERNELS = 1 << 8,
    HAC_FOR_EXPLAIN = 1 << 9,
    HAC_FOR_SIMULATE = 1 << 10,
    HAC_FOR_SHOW = 1 << 11,
    HAC_FOR_RESULT = 1 << 12,
    HAC_FOR_LOG = 1 << 13,
    HAC_FOR_TRACE = 1 << 14,
    HAC_FOR_TOP = 1 << 15,
    HAC_FOR_TUNE = 1 << 16, /* tune alone */
    HAC_FOR_QUERY = 1 << 17,
    HAC_FOR_LIST = 1 << 18,    /* jobs */
    HAC_FOR_RUN = 1 << 19,     /* run */
    HAC_FOR_SUMMARY = 1 << 20, /* describe, summarize */

    HAC_FOR_QUERIES =
        HAC_FOR_QUERY | HAC_FOR_SPLICE | HAC_FOR_PIPE | HAC_FOR_MAPREDUCE | HAC_FOR_PARQUET_QUERY,
    HAC_FOR_RESULTS =
        HAC_FOR_QUERY | HAC_FOR_SORT | HAC_FOR_SPLICE | HAC_FOR_MAPREDUCE | HAC_FOR_PARQUET_QUERY,
    HAC_FOR_PLANNED = HAC_FOR_QUERIES | HAC_FOR_SORT | HAC_FOR_CONVERT | HAC_FOR_OPSPLIT,
    HAC_FOR_TEXT = HAC_FOR_QUERIES | HAC_FOR_SORT | HAC_FOR_CONVERT | HAC_FOR_SUMMARY,
    HAC_FOR_JOBS = HAC_FOR_PLANNED | HAC_FOR_MEASURE,
    HAC_FOR_ANY_PLAN = HAC_FOR_QUERY | HAC_FOR_SORT | HAC_FOR_SPLICE | HAC_FOR_MAPREDUCE | HAC_FOR_CONVERT |
                       HAC_FOR_OPSPLIT | HAC_FOR_EXPLAIN
};

typedef struct hac_option {
    const char *name;     /* "type" */
    char letter;          /* 'o', or 0 */
    const char *argument; /* "TYPE"; NULL: a flag */
    const char *choices;  /* "u32 i32 …": the allowed words, or what the shell completes; NULL: anything */
    const char *default_text; /* NULL: nothing to show */
    hac_option_section section;
    uint32_t commands;
    const char *help;
} hac_option;

/* Special `choices`: values that are not fixed words. */
#define HAC_CHOICES_FILE    "<file>"
#define HAC_CHOICES_FOLDER  "<folder>"
#define HAC_CHOICES_DEVICES "<devices>"

const hac_option *hac_option_get(hac_option_id id);

/* The option with this long name; HAC_OPT_COUNT if there is none. */
hac_option_id hac_option_find(const char *name);

/* The index of `value` among the option's choices; -1 if it is not among them. */
int hac_option_choice(hac_option_id id, const char *value);

typedef struct hac_option_set {
    uint64_t bits[(HAC_OPT_COUNT + 63) / 64];
} hac_option_set;

/* The options of a list: HAC_OPTION_SET(HAC_OPT_DETACH, HAC_OPT_TRACE). */
#define HAC_OPTION_SET(...)                                                                                  \
    hac_option_set_of((const hac_option_id[]){__VA_ARGS__},                                                  \
                      sizeof((const hac_option_id[]){__VA_ARGS__}) / sizeof(hac_option_id))
hac_option_set hac_option_set_of(const hac_option_id *ids, size_t n);
/* The options of a section. */
hac_option_set hac_options_in(hac_option_section section);
/* The options that any of these commands (HAC_FOR_…) takes, and the global ones. */
hac_option_set hac_options_for(uint32_t commands);

bool hac_option_set_has(hac_option_set set, size_t id);
hac_option_set hac_option_set_union(hac_option_set a, hac_option_set b);
/* The options of `a` that are not in `b`. */
hac_option_set hac_option_set_minus(hac_option_set a, hac_option_set b);
/* The options that are not in the set. */
hac_option_set hac_option_set_others(hac_option_set set);

/* The option name of the set that is nearest to a mistyped one; NULL if none is near. */
const char *hac_option_nearest(hac_option_set set, const char *name);

#endif
