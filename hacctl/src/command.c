/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <string.h>

#include "base/suggest.h"
#include "base/text.h"
#include "help.h"

#define B HAC_OPT_BIT
#define HAC_OPTIONS_PLAN                                                                                     \
    (HAC_OPTIONS_SORT | HAC_OPTIONS_MAPREDUCE | HAC_OPTIONS_SPLICE | HAC_OPTIONS_CONVERT |                   \
     B(HAC_OPT_ITEMS) | B(HAC_OPT_INPUT_SIZE) | B(HAC_OPT_FORMAT))

static const hac_command commands[] = {
    {"devices", "list the devices: state, group, memory, capability", "", NULL, 0, 0, 0, HAC_WORDS_NONE,
     hac_cmd_devices},
    {"calibrate", "measure the devices, then print the break-even sizes of this machine", "[DEVICE…]",
     "Measures the performance models of the named devices, of all without a name: what they do alone, and "
     "together. Takes about a minute a device; may be interrupted, what was measured is kept.",
     HAC_OPTIONS_SUBMIT, 0, SIZE_MAX, HAC_WORDS_DEVICE, hac_cmd_calibrate},
    {"tune", "search thread, vector, work-group and block settings", "[DEVICE…]",
     "Tries settings on the named devices, on all without a name, and keeps the fastest ones.",
     HAC_OPTIONS_SUBMIT, 0, SIZE_MAX, HAC_WORDS_DEVICE, hac_cmd_tune},
    {"sort", "sort a raw little-endian array, or the rows of a file",
     "IN --type TYPE [-o OUT] [OPTION…] | IN --input-format csv|parquet --key COLUMN,… [-o OUT] [OPTION…]",
     "IN is a file, or - for standard input. Without -o the result goes to standard output. Ties keep their "
     "input order; floats are in total order, -0.0 before +0.0 and all NaNs last. With --key whole rows are "
     "sorted, nulls last; columns of csv that no --schema gives a type are sorted as text, and those that a "
     "--schema does not name are left out.",
     HAC_OPTIONS_SORT, 1, 1, HAC_WORDS_FILE, hac_cmd_sort},
    {"splice", "filter, group and aggregate a stream of any length", "IN…|- --select EXPR,… [OPTION…]",
     "Files, any number of them, are read one after another, with - among them standard input. They are cut "
     "into splits of whole records, which the devices work on while the next is read: the memory stays the "
     "same however long the input is. Inputs that are gzip or zstd are unpacked. Rows are written as they "
     "come, unless there is an --order-by or they become a Parquet file. docs/flows/splice.md says more.",
     HAC_OPTIONS_SPLICE, 1, SIZE_MAX, HAC_WORDS_FILE, hac_cmd_splice},
    {"pipe", "the same as a filter of Hadoop Streaming or Spark's pipe()", "--select EXPR,… [OPTION…]",
     "Reads standard input and writes standard output: columns joined by TAB, no header, null as \\N; with "
     "--io typedbytes Hadoop's typed bytes. Without --parse each line is a row with the column `line`; csv "
     "and tsv have no header line unless --header says so. Counters and states for Hadoop go to standard "
     "error (reporter: lines; not with --quiet). docs/hadoop-spark.md has command lines.",
     HAC_OPTIONS_PIPE, 0, 0, HAC_WORDS_NONE, hac_cmd_pipe},
    {"mapreduce", "filter, group and aggregate the rows of files",
     "IN… --select EXPR,… [OPTION…] | JOB IN… [OPTION…]",
     "Up to 253 files are read as one; - is standard input. JOB is a query that has a name: wordcount, "
     "histogram, groupby, inverted-index, string-match, linear-regression, page-view-count, k-means (with "
     "--centroids), matrix-multiply (with --with); options change any part of it. The result goes to "
     "standard "
     "output without -o. Columns that no --schema gives a type are text. `man hacctl` has examples, "
     "docs/expressions.md the language.",
     HAC_OPTIONS_MAPREDUCE, 1, SIZE_MAX, HAC_WORDS_NAMED, hac_cmd_mapreduce},
    {"parquet query", "filter, group and aggregate the rows of Parquet files",
     "IN… --select EXPR,… [OPTION…]",
     "IN are up to 253 files, or folders, which stand for their files *.parquet and those of their "
     "subfolders. "
     "Only what the query needs is read. Types are those of the file; --schema names columns and what they "
     "have "
     "to be. Text, such as csv, is converted first, in memory.",
     HAC_OPTIONS_PARQUET_QUERY, 1, SIZE_MAX, HAC_WORDS_FILE, hac_cmd_parquet_query},
    {"parquet convert", "write a Parquet file from csv, tsv, JSON lines, raw arrays or Parquet",
     "IN OUT [OPTION…]",
     "IN is read as its suffix or --parse says, or with --type as a raw array, which becomes the column "
     "`value`; - "
     "is standard input. OUT appears when it is whole.",
     HAC_OPTIONS_CONVERT, 2, 2, HAC_WORDS_FILE, hac_cmd_parquet_convert},
    {"parquet inspect", "show what a Parquet file holds", "FILE",
     "Its columns and their types, its row groups, and of these the columns' codecs, encodings, sizes and "
     "statistics. With --json all of it.",
     0, 1, 1, HAC_WORDS_FILE, hac_cmd_parquet_inspect},
    {"kernels build", "build a device's kernels ahead of time, into one file", "--device D -o FILE",
     "The file is for profiles that say `program: {binary: FILE}`: such a device needs no compiler, which "
     "FPGAs "
     "have not. It is for this device, driver and release of hac only. docs/fpga.md says more.",
     B(HAC_OPT_DEVICE) | B(HAC_OPT_OUTPUT), 0, 0, HAC_WORDS_NONE, hac_cmd_kernels_build},
    {"opsplit run", "run a logic file: operators over vectors, split over the devices",
     "LOGIC.yaml [--input NAME=FILE]… [-o DIR] [OPTION…]",
     "Its inputs are loaded, its operators become sub-operators that run where they end first (or where rule "
     "or "
     "pin say), and DIR gets exactly the outputs that it names. docs/flows/opsplit.md is the language.",
     HAC_OPTIONS_OPSPLIT, 1, 1, HAC_WORDS_FILE, hac_cmd_opsplit_run},
    {"opsplit check", "say what is wrong with a logic file", "LOGIC.yaml",
     "Prints OK, or says with file, line and column all that is wrong: names, templates, types, shapes, "
     "order. "
     "No data is looked at and no daemon is asked.",
     0, 1, 1, HAC_WORDS_FILE, hac_cmd_opsplit_check},
    {"opsplit op", "list, show, add or remove OPs of your own",
     "list | show NAME[@VERSION] | add FILE.yaml | remove NAME[@VERSION]",
     "An OP is a composition of sub-operators with parameters, which a logic file uses by its name. It is "
     "checked "
     "when it is added, and every change is a new version; without one, the newest is meant. They are kept "
     "in "
     "$XDG_DATA_HOME/hac/opsplit. docs/flows/opsplit.md says how they are written.",
     0, 1, 2, HAC_WORDS_OPERATOR, hac_cmd_opsplit_op},
    {"opsplit subop", "list, show, add or remove sub-operators",
     "list | show NAME[@VERSION] | add FILE.yaml | remove NAME[@VERSION]",
     "Those that are built in are listed, too; docs/opsplit-library.md has all about them. Your own are "
     "typed "
     "expressions with named arguments, kept and versioned as OPs are.",
     0, 1, 2, HAC_WORDS_OPERATOR, hac_cmd_opsplit_subop},
    {"explain", "show the plan of a job before it runs", "JOB [OPTION…]",
     "JOB is a whole sort, splice, mapreduce, parquet query or parquet convert command; of a sort of an "
     "array "
     "--items COUNT may stand for IN, of splice --input-size SIZE. Nothing is sorted or written: options "
     "that say where results go are ignored. Of `opsplit run LOGIC.yaml` it is what each OP becomes: "
     "sub-operators, the "
     "components that they get, in which order.",
     /* NOLINTNEXTLINE(misc-redundant-expression): jobs have options in common */
     HAC_OPTIONS_PLAN | HAC_OPTIONS_OPSPLIT, 1, SIZE_MAX, HAC_WORDS_PLAN, hac_cmd_explain},
    {"simulate", "show the plan and predicted time of a job on another machine",
     "--profiles DIR JOB [OPTION…]",
     "JOB is as of explain. Every device profile *.yaml in DIR is one device that is present; its `match` is "
     "ignored and no OpenCL is needed. A profile must state the capabilities that the job needs.",
     /* NOLINTNEXTLINE(misc-redundant-expression): sort and mapreduce have options in common */
     HAC_OPTIONS_PLAN | HAC_OPTIONS_OPSPLIT | B(HAC_OPT_PROFILES), 1, SIZE_MAX, HAC_WORDS_PLAN,
     hac_cmd_simulate},
    {"jobs", "list your jobs", "", NULL, 0, 0, 0, HAC_WORDS_NONE, hac_cmd_jobs},
    {"show", "show a job: state, progress, plan", "JOB [--format text|json|svg] [--receipt FILE]",
     "svg is a picture of the plan.", B(HAC_OPT_FORMAT) | B(HAC_OPT_RECEIPT), 1, 1, HAC_WORDS_JOB,
     hac_cmd_show},
    {"why", "say why a job runs where it does, and what it waits for", "JOB", NULL, 0, 1, 1, HAC_WORDS_JOB,
     hac_cmd_why},
    {"wait", "wait until a job has ended; the exit code is the job's", "JOB",
     "Interrupting this does not cancel the job.", 0, 1, 1, HAC_WORDS_JOB, hac_cmd_wait},
    {"result", "fetch the result of a detached job", "JOB [-o OUT]",
     "Waits for the job if need be. Interrupting this does not cancel the job.", B(HAC_OPT_OUTPUT), 1, 1,
     HAC_WORDS_JOB, hac_cmd_result},
    {"cancel", "cancel a job", "JOB", NULL, 0, 1, 1, HAC_WORDS_JOB, hac_cmd_cancel},
    {"log", "print a job's log", "JOB [-f]", NULL, B(HAC_OPT_FOLLOW), 1, 1, HAC_WORDS_JOB, hac_cmd_log},
    {"trace", "print a job's trace, prediction beside measurement", "JOB [-o FILE]",
     "Chrome/Perfetto JSON: open it with ui.perfetto.dev or chrome://tracing.", B(HAC_OPT_OUTPUT), 1, 1,
     HAC_WORDS_JOB, hac_cmd_trace},
    {"doctor", "check this machine's set-up", "", "Exits 1 if something is wrong.", 0, 0, 0, HAC_WORDS_NONE,
     hac_cmd_doctor},
    {"top", "show devices, jobs and memory, again and again", "[--once] [--interval TIME]",
     "On a terminal each look takes the place of the one before; elsewhere they follow one another. --json "
     "prints an object a line. How busy a device is follows from two looks: --once takes two. Ctrl-C ends "
     "it.",
     B(HAC_OPT_ONCE) | B(HAC_OPT_INTERVAL), 0, 0, HAC_WORDS_NONE, hac_cmd_top},
    {"metrics", "print the daemon's metrics (OpenMetrics text)", "", NULL, 0, 0, 0, HAC_WORDS_NONE,
     hac_cmd_metrics},
    {"reload", "make the daemon read its configuration and profiles again", "", NULL, 0, 0, 0, HAC_WORDS_NONE,
     hac_cmd_reload},
    {"drain", "make the daemon finish what runs, take nothing new, and leave", "", NULL, 0, 0, 0,
     HAC_WORDS_NONE, hac_cmd_drain},
    {"version", "print the versions of hacctl and of the daemon", "", NULL, 0, 0, 0, HAC_WORDS_NONE,
     hac_cmd_version},
    {"completion", "print the shell completion", "bash", "Use it with: source <(hacctl completion bash)", 0,
     1, 1, HAC_WORDS_SHELL, hac_cmd_completion},
    {"help", "explain a command", "[COMMAND]", NULL, 0, 0, 2, HAC_WORDS_COMMAND, hac_cmd_help},
};

#undef B

const hac_command *hac_command_get(size_t index)
{
    return index < sizeof commands / sizeof *commands ? &commands[index] : NULL;
}

/* Bytes of the first word of a name. */
static size_t first_word(const char *name)
{
    return strcspn(name, " ");
}

bool hac_command_in_group(const hac_command *command, const char *word)
{
    return strlen(word) == first_word(command->name) && strncmp(command->name, word, strlen(word)) == 0;
}

bool hac_command_is_group(const char *word)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (hac_command_in_group(&commands[i], word) && commands[i].name[first_word(commands[i].name)] == ' ')
            return true;
    return false;
}

const hac_command *hac_command_find(char *const *words, size_t n_words, size_t *ret_words)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const char *second = commands[i].name + first_word(commands[i].name);
        if (n_words == 0 || !hac_command_in_group(&commands[i], words[0]) ||
            (*second != '\0' && (n_words < 2 || strcmp(second + 1, words[1]) != 0)))
            continue;
        *ret_words = *second != '\0' ? 2 : 1;
        return &commands[i];
    }
    return NULL;
}

static const char *name_of(const void *list, size_t i)
{
    return ((const hac_command *)list)[i].name;
}

/* Of two words, or of the first alone, which may be the whole of a name. */
static const char *nearest(char *const *words, size_t n_words)
{
    char both[132];
    snprintf(both, sizeof both, "%.64s %.64s", words[0], n_words > 1 ? words[1] : "");
    const size_t n = sizeof commands / sizeof *commands;
    const char *near = n_words > 1 ? hac_suggest(both, commands, n, name_of) : NULL;
    return near != NULL && strchr(near, ' ') != NULL ? near : hac_suggest(words[0], commands, n, name_of);
}

/* The names of a group, or with NULL of all. */
static hac_status list_names(const char *group, char **ret, hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (group == NULL || hac_command_in_group(&commands[i], group))
            hac_text_addf(&text, "%s%s", text.bytes > 0 ? ", " : "", commands[i].name);
    return hac_text_finish(&text, ret, NULL, err);
}

hac_status hac_command_unknown(char *const *words, size_t n_words, hac_error *err)
{
    hac_autofree char *list = NULL;
    bool group = hac_command_is_group(words[0]);
    hac_status status = list_names(group ? words[0] : NULL, &list, err);
    if (status != HAC_OK)
        return status;
    if (group && n_words < 2)
        return hac_fail(err, HAC_INVALID, "%s: which command? There are: %s", words[0], list);
    char name[132];
    snprintf(name, sizeof name, "%.64s%s%.64s", words[0], group ? " " : "", group ? words[1] : "");
    const char *near = nearest(words, n_words);
    if (near != NULL)
        return hac_fail(err, HAC_INVALID, "unknown command '%s'; did you mean %s? There are: %s", name, near,
                        list);
    return hac_fail(err, HAC_INVALID, "unknown command '%s'; there are: %s", name, list);
}

/* What one would expect of these commands, and why they do not have it. */
static const struct {
    const char *command;
    hac_option_id option;
    const char *why;
} refused[] = {
    {"pipe", HAC_OPT_DETACH, "standard input is read, and the result written, while the job runs"},
};

static uint64_t refused_of(const hac_command *command)
{
    uint64_t set = 0;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i].command, command->name) == 0)
            set |= HAC_OPT_BIT(refused[i].option);
    return set;
}

static hac_status check_refused(const hac_command *command, const hac_args *args, hac_error *err)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i].command, command->name) == 0 && hac_args_has(args, refused[i].option))
            return hac_fail(err, HAC_INVALID, "%s: --%s is not possible: %s", command->name,
                            hac_option_get(refused[i].option)->name, refused[i].why);
    return HAC_OK;
}

static hac_status check_words(const hac_command *command, const hac_args *args, hac_error *err)
{
    if (args->n_words < command->least_words)
        return hac_fail(err, HAC_INVALID, "%s: too few arguments; usage: hacctl %s %s", command->name,
                        command->name, command->usage);
    if (args->n_words > command->most_words)
        return hac_fail(err, HAC_INVALID, "%s: '%.64s' is one argument too many; usage: hacctl %s%s%s",
                        command->name, args->words[command->most_words], command->name,
                        *command->usage != '\0' ? " " : "", command->usage);
    return HAC_OK;
}

hac_status hac_command_run(const hac_command *command, hac_cli *cli, hac_args *args, int argc, char **argv,
                           hac_error *err)
{
    uint64_t set = command->options | refused_of(command) | HAC_OPTIONS_GLOBAL;
    hac_status status = hac_args_parse(args, command->name, argc, argv, set, err);
    if (status != HAC_OK)
        return status;
    hac_cli_set(cli, args);
    if (hac_args_has(args, HAC_OPT_HELP))
        return hac_help_command(command, err);
    if (hac_args_has(args, HAC_OPT_VERSION))
        return hac_help_version(err);
    status = check_refused(command, args, err);
    if (status == HAC_OK)
        status = check_words(command, args, err);
    return status != HAC_OK ? status : command->run(cli, args, err);
}
