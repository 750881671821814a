/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line after getopt_long: the value of each option that was given, and the words between them. An
 * option with a value may stand once: of two that differ one would be ignored. Options and words may be
 * mixed;
 * "--" ends the options.
 */
#ifndef HACCTL_ARGS_H
#define HACCTL_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "options.h"

typedef struct hac_args {
    const char *values[HAC_OPT_COUNT]; /* NULL: not given; "" for flags */
    const char *inputs[64];            /* of --input, which may be given more than once */
    size_t n_inputs;
    char **words; /* argv's, moved together behind the options */
    size_t n_words;
} hac_args;

/* Options of `set` up to the first word: the global ones before the command. */
HAC_MUST_USE hac_status hac_args_parse_front(hac_args *args, int argc, char **argv, uint64_t set,
                                             hac_error *err);

/* All options of `set`, wherever they are behind argv[0]; `command` is named in messages. Values that args
 * already has stay. HAC_INVALID: unknown, given twice, lacks its value, has one too many, or a word not
 * allowed. */
HAC_MUST_USE hac_status hac_args_parse(hac_args *args, const char *command, int argc, char **argv,
                                       uint64_t set, hac_error *err);

/* HAC_INVALID when an option of the set was given: "COMMAND: --type is WHOSE". */
HAC_MUST_USE hac_status hac_args_refuse(const hac_args *args, const char *command, uint64_t set,
                                        const char *whose, hac_error *err);

static inline bool hac_args_has(const hac_args *args, hac_option_id id)
{
    return args->values[id] != NULL;
}

/* The same without the option. */
static inline hac_args hac_args_without(const hac_args *args, hac_option_id id)
{
    hac_args less = *args;
    less.values[id] = NULL;
    return less;
}

/* The place of the option's value among its choices, which are in the order of libhac's enums; 0: not given.
 */
static inline int hac_args_choice(const hac_args *args, hac_option_id id)
{
    return hac_args_has(args, id) ? hac_option_choice(id, args->values[id]) : 0;
}

#endif
