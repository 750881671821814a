/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line after getopt_long: the value of each option that was given, and the words between the
 * options. Options and words may be mixed; "--" ends the options. An option with a value may be given once,
 * since the second value would silently replace the first.
 * Only --input and --null may be given several times.
 */
#ifndef HACCTL_ARGS_H
#define HACCTL_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "options.h"

struct hac_cli;

typedef struct hac_args {
    const char *values[HAC_OPT_COUNT]; /* NULL: not given; "" for flags */
    const char *inputs[64];            /* values of --input */
    size_t n_inputs;
    const char *nulls[64]; /* values of --null */
    size_t n_nulls;
    char **words; /* in argv, moved behind the options */
    size_t n_words;
    struct hac_cli *cli; /* for inputs that are results of jobs (request/job_source.h) */
    bool of_rank;        /* hac-mpi: mpirun gives each rank a pseudo-terminal that nobody looks at */
} hac_args;

/* Parses the options of `set` that stand before the first word. */
HAC_MUST_USE hac_status hac_args_parse_front(hac_args *args, int argc, char **argv, hac_option_set set,
                                             hac_error *err);

/* Parses all options of `set`, wherever they stand behind argv[0]; `command` is for messages. Values that
 * `args` already holds stay. HAC_INVALID if an option is unknown, is given twice, lacks its value, has one
 * that it must not have, or has a word that is not allowed. */
HAC_MUST_USE hac_status hac_args_parse(hac_args *args, const char *command, int argc, char **argv,
                                       hac_option_set set, hac_error *err);

/* HAC_INVALID if an option of the set was given; the message is "COMMAND: --type is WHOSE". */
HAC_MUST_USE hac_status hac_args_refuse(const hac_args *args, const char *command, hac_option_set set,
                                        const char *whose, hac_error *err);

static inline bool hac_args_has(const hac_args *args, hac_option_id id)
{
    return args->values[id] != NULL;
}

/* A copy of `args` without the option. */
static inline hac_args hac_args_without(const hac_args *args, hac_option_id id)
{
    hac_args less = *args;
    less.values[id] = NULL;
    return less;
}

/* The index of the option's value among its choices, which stand in the order of libhac's enums; 0 if the
 * option was not given. */
static inline int hac_args_choice(const hac_args *args, hac_option_id id)
{
    return hac_args_has(args, id) ? hac_option_choice(id, args->values[id]) : 0;
}

#endif
