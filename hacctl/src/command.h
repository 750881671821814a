/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of commands. Dispatch, help, completion and their tests are made from it. */
#ifndef HACCTL_COMMAND_H
#define HACCTL_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "cli.h"

/* What the shell completes for the words of a command. */
typedef enum hac_words {
    HAC_WORDS_NONE,
    HAC_WORDS_FILE,
    HAC_WORDS_DEVICE,
    HAC_WORDS_JOB,
    HAC_WORDS_NAMED, /* a named job or a file, then files */
    HAC_WORDS_PLAN,  /* a job that can be planned, then files */
    HAC_WORDS_COMMAND,
    HAC_WORDS_OPERATOR, /* what to do with operators, then files */
    HAC_WORDS_SHELL
} hac_words;

typedef hac_status (*hac_command_function)(hac_cli *cli, const hac_args *args, hac_error *err);

typedef struct hac_command {
    const char *name;    /* one word, or two: those that begin alike are a group, "parquet query" */
    const char *summary; /* one line */
    const char *usage;   /* what stands behind the name */
    const char *details; /* a paragraph of help, NULL: none */
    uint64_t options;    /* besides the global ones */
    size_t least_words, most_words;
    hac_words words;
    hac_command_function run;
} hac_command;

/* The index-th command, NULL behind the last. */
const hac_command *hac_command_get(size_t index);

/* The command that the first one or two words name; *ret_words is how many. NULL: none. */
const hac_command *hac_command_find(char *const *words, size_t n_words, size_t *ret_words);
/* Whether this word alone begins commands of two words. */
bool hac_command_is_group(const char *word);
/* Whether the first word of its name is this one. */
bool hac_command_in_group(const hac_command *command, const char *word);

/* HAC_INVALID: "unknown command …", with a hint and the list of all; of a group, which it has. */
hac_status hac_command_unknown(char *const *words, size_t n_words, hac_error *err);

/* Parses the words behind the command's name (argv[0], or its last word) and runs it; --help is answered
 * here. */
HAC_MUST_USE hac_status hac_command_run(const hac_command *command, hac_cli *cli, hac_args *args, int argc,
                                        char **argv, hac_error *err);

/* The commands, in files of their own. */
hac_status hac_cmd_devices(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_calibrate(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_tune(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_sort(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_splice(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_pipe(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_mapreduce(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_parquet_query(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_parquet_convert(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_kernels_build(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_parquet_inspect(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_opsplit_run(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_opsplit_check(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_opsplit_explain(hac_cli *cli, const hac_args *args, hac_error *err); /* `explain` of it */
struct hac_simulated;
hac_status hac_cmd_opsplit_simulate(hac_cli *cli, const hac_args *args, const struct hac_simulated *machine,
                                    hac_error *err);
hac_status hac_cmd_opsplit_op(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_opsplit_subop(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_explain(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_simulate(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_jobs(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_show(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_why(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_wait(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_result(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_cancel(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_log(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_trace(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_doctor(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_top(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_metrics(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_reload(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_drain(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_version(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_help(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_completion(hac_cli *cli, const hac_args *args, hac_error *err);

#endif
