/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "cli/command_run.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "command_table.h"
#include "run/detach.h"

/* Global options may stand between a group ("parquet") and its second word, which then follows the first. */
static hac_status close_up(hac_args *args, hac_error *err)
{
    char *group = args->words[0];
    hac_status status =
        hac_args_parse_front(args, (int)args->n_words, args->words, hac_options_in(HAC_SECTION_GLOBAL), err);
    args->words[-1] = group;
    args->words--;
    args->n_words++;
    return status;
}

static hac_status run(hac_cli *cli, int argc, char **argv, hac_error *err)
{
    hac_args args = {.n_words = 0};
    size_t named = 0;
    hac_status status = hac_interrupt_install(err);
    if (status == HAC_OK)
        status = hac_args_parse_front(&args, argc, argv, hac_options_in(HAC_SECTION_GLOBAL), err);
    if (status == HAC_OK && args.n_words > 0 && hac_command_is_group(cli->commands, args.words[0]))
        status = close_up(&args, err);
    if (status != HAC_OK)
        return status;
    const hac_command *command = hac_command_find(cli->commands, args.words, args.n_words, &named);
    if (command != NULL)
        return hac_command_run(command, cli, &args, (int)(args.n_words - named + 1), args.words + named - 1,
                               err);
    const char *group =
        args.n_words == 1 && hac_command_is_group(cli->commands, args.words[0]) ? args.words[0] : NULL;
    bool alone = args.n_words == 0 || group != NULL;
    if (alone && hac_args_has(&args, HAC_OPT_VERSION))
        return hac_help_version(err);
    if (alone && hac_args_has(&args, HAC_OPT_HELP))
        return hac_help_all(cli->commands, group, err);
    if (args.n_words == 0)
        return hac_fail(err, HAC_INVALID, "which command? `hacctl help` lists them");
    return hac_command_unknown(cli->commands, args.words, args.n_words, err);
}

/* The next file that is opened would take the number of a closed standard descriptor. Fills the number
 * with a descriptor that cannot be used for its purpose, so that its use fails. */
static void fill_standard_descriptors(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            _exit(1);
}

int main(int argc, char **argv)
{
    fill_standard_descriptors();
    hac_cli cli = {.commands = hac_commands};
    hac_error err = HAC_ERROR_NONE;
    hac_status status = run(&cli, argc, argv, &err);
    if (status != HAC_OK) {
        err.code = status;
        hac_cli_report(&err);
    }
    hac_detach_end(&cli, status, &err);
    hac_cli_clear(&cli);
    return hac_status_exit_code(status);
}
