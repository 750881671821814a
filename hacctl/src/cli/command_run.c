/* SPDX-License-Identifier: Apache-2.0 */
#include "command_run.h"

#include <string.h>

#include "help.h"
#include "opsplit/run_options.h"

/* Options that a user may expect of a command, and why the command does not have them. */
static const struct {
    const char *command;
    hac_option_id option;
    const char *why;
} refused[] = {
    {"pipe", HAC_OPT_DETACH, "standard input is read, and the result written, while the job runs"},
};

/* The options that the command takes, or refuses with a reason. */
static hac_option_set options_of(const hac_command *command)
{
    hac_option_set set = hac_options_for(command->options);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i].command, command->name) == 0)
            set = hac_option_set_union(set, HAC_OPTION_SET(refused[i].option));
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
    if (args->n_words < command->min_words)
        return hac_fail(err, HAC_INVALID, "%s: too few arguments; usage: hacctl %s %s", command->name,
                        command->name, command->usage);
    if (args->n_words > command->max_words)
        return hac_fail(err, HAC_INVALID, "%s: '%.64s' is one argument too many; usage: hacctl %s%s%s",
                        command->name, args->words[command->max_words], command->name,
                        *command->usage != '\0' ? " " : "", command->usage);
    return HAC_OK;
}

/* Says that an option is without effect, where somebody uses it. */
static void note_determinism(const hac_cli *cli, const hac_args *args)
{
    bool first = cli->ranks == NULL || cli->ranks->rank == 0;
    if (first && hac_args_has(args, HAC_OPT_DETERMINISM))
        hac_cli_say(cli, "--determinism has no effect any more: every result is the same on all devices");
}

hac_status hac_command_run(const hac_command *command, hac_cli *cli, hac_args *args, int argc, char **argv,
                           hac_error *err)
{
    hac_status status = hac_args_parse(args, command->name, argc, argv, options_of(command), err);
    if (status != HAC_OK)
        return status;
    hac_cli_set(cli, args);
    args->of_rank = cli->ranks != NULL;
    args->cli = cli;
    if (hac_args_has(args, HAC_OPT_HELP))
        return hac_help_command(command, err);
    if (hac_args_has(args, HAC_OPT_VERSION))
        return hac_help_version(err);
    status = check_refused(command, args, err);
    if (status == HAC_OK)
        status = check_words(command, args, err);
    if (status != HAC_OK)
        return status;
    note_determinism(cli, args);
    return command->run(cli, args, err);
}
