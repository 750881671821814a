/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command is, and how the words of a command line name one. A table of commands ends with a row
 * without a name. main sets the program's table as hac_cli.commands.
 */
#ifndef HACCTL_COMMAND_H
#define HACCTL_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "cli.h"

/* What the shell completes as the words of a command. */
typedef enum hac_words {
    HAC_WORDS_NONE,
    HAC_WORDS_FILE,
    HAC_WORDS_DEVICE,
    HAC_WORDS_JOB,
    HAC_WORDS_NAMED, /* a named job or a file, then files */
    HAC_WORDS_PLAN,  /* a job that can be planned, then files */
    HAC_WORDS_COMMAND,
    HAC_WORDS_OPERATOR, /* list, show, add or remove, then files */
    HAC_WORDS_SHELL
} hac_words;

typedef hac_status (*hac_command_function)(hac_cli *cli, const hac_args *args, hac_error *err);

typedef struct hac_command {
    const char *name;    /* one word, or two for the commands of a group: "parquet query" */
    const char *summary; /* one line */
    const char *usage;   /* what follows the name on a command line */
    const char *details; /* a paragraph of help; NULL: none */
    uint32_t options;    /* HAC_FOR_…: whose options it takes */
    size_t min_words, max_words;
    hac_words words;
    hac_command_function run;
} hac_command;

/* Finds the command that the first one or two words name; *ret_words is their number. NULL if there is
 * none. */
const hac_command *hac_command_find(const hac_command *commands, char *const *words, size_t n_words,
                                    size_t *ret_words);
/* Whether `word` is the first word of a group of commands. */
bool hac_command_is_group(const hac_command *commands, const char *word);
/* Whether the command's name begins with `word` as its first word. */
bool hac_command_in_group(const hac_command *command, const char *word);

/* HAC_INVALID: "unknown command …", with the nearest name and a list of all commands; for the name of a
 * group, a list of its commands. */
hac_status hac_command_unknown(const hac_command *commands, char *const *words, size_t n_words,
                               hac_error *err);

#endif
