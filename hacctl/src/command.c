/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <string.h>

#include "base/text.h"
#include "help.h"

#define B                HAC_OPT_BIT
#define HAC_OPTIONS_PLAN (HAC_OPTIONS_SORT | HAC_OPTIONS_MAPREDUCE | B(HAC_OPT_ITEMS) | B(HAC_OPT_FORMAT))

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
    {"sort", "sort a raw little-endian array", "IN --type TYPE [-o OUT] [OPTION…]",
     "IN is a file, or - for standard input. Without -o the sorted array goes to standard output. Ties keep "
     "their "
     "input order; floats are in total order, -0.0 before +0.0 and all NaNs last.",
     HAC_OPTIONS_SORT, 1, 1, HAC_WORDS_FILE, hac_cmd_sort},
    {"mapreduce", "filter, group and aggregate the rows of files",
     "IN… --select EXPR,… [OPTION…] | JOB IN… [OPTION…]",
     "Up to 64 files are read as one. JOB is a query that has a name: wordcount, histogram, groupby, "
     "inverted-index, string-match, linear-regression, page-view-count, k-means (with --centroids), "
     "matrix-multiply (with --with); options change any part of it. The result goes to standard output "
     "without "
     "-o. Columns that no --schema gives a type are text. `man hacctl` has examples, docs/expressions.md the "
     "language.",
     HAC_OPTIONS_MAPREDUCE, 1, SIZE_MAX, HAC_WORDS_NAMED, hac_cmd_mapreduce},
    {"explain", "show the plan of a job before it runs",
     "sort IN|--items COUNT --type TYPE [OPTION…] | mapreduce [JOB] IN… [OPTION…]",
     "Takes a whole sort or mapreduce command. Nothing is sorted or written: options that say where results "
     "go "
     "are ignored.",
     HAC_OPTIONS_PLAN, 1, SIZE_MAX, HAC_WORDS_PLAN, hac_cmd_explain},
    {"simulate", "show the plan and predicted time of a job on another machine",
     "--profiles DIR sort IN|--items COUNT --type TYPE [OPTION…] | mapreduce [JOB] IN… [OPTION…]",
     "Every device profile *.yaml in DIR is one device that is present; its `match` is ignored and no OpenCL "
     "is "
     "needed. A profile must state the capabilities that the job needs.",
     /* NOLINTNEXTLINE(misc-redundant-expression): sort and mapreduce have options in common */
     HAC_OPTIONS_PLAN | B(HAC_OPT_PROFILES), 1, SIZE_MAX, HAC_WORDS_PLAN, hac_cmd_simulate},
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
    {"help", "explain a command", "[COMMAND]", NULL, 0, 0, 1, HAC_WORDS_COMMAND, hac_cmd_help},
};

#undef B

const hac_command *hac_command_get(size_t index)
{
    return index < sizeof commands / sizeof *commands ? &commands[index] : NULL;
}

const hac_command *hac_command_find(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static const char *nearest(const char *name)
{
    const char *found = NULL;
    size_t best = 3; /* more than two edits are another word */
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        size_t distance = hac_edit_distance(name, commands[i].name);
        if (distance < best && distance < strlen(commands[i].name)) {
            best = distance;
            found = commands[i].name;
        }
    }
    return found;
}

hac_status hac_command_unknown(const char *name, hac_error *err)
{
    hac_autofree char *list = NULL;
    hac_text text = HAC_TEXT_NONE;
    const char *near = nearest(name);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        hac_text_addf(&text, "%s%s", i > 0 ? ", " : "", commands[i].name);
    hac_status status = hac_text_finish(&text, &list, NULL, err);
    if (status != HAC_OK)
        return status;
    if (near != NULL)
        return hac_fail(err, HAC_INVALID, "unknown command '%.64s'; did you mean %s? There are: %s", name,
                        near, list);
    return hac_fail(err, HAC_INVALID, "unknown command '%.64s'; there are: %s", name, list);
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
    hac_status status = hac_args_parse(args, argc, argv, command->options | HAC_OPTIONS_GLOBAL, err);
    if (status != HAC_OK)
        return status;
    hac_cli_set(cli, args);
    if (hac_args_has(args, HAC_OPT_HELP))
        return hac_help_command(command, err);
    if (hac_args_has(args, HAC_OPT_VERSION))
        return hac_help_version(err);
    status = check_words(command, args, err);
    return status != HAC_OK ? status : command->run(cli, args, err);
}
