/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl help */
#include "cli/help.h"
#include "cmd.h"

hac_status hac_cmd_help(hac_cli *cli, const hac_args *args, hac_error *err)
{
    size_t named = 0;
    if (args->n_words == 0 || (args->n_words == 1 && hac_command_is_group(cli->commands, args->words[0])))
        return hac_help_all(cli->commands, args->n_words > 0 ? args->words[0] : NULL, err);
    const hac_command *command = hac_command_find(cli->commands, args->words, args->n_words, &named);
    if (command == NULL)
        return hac_command_unknown(cli->commands, args->words, args->n_words, err);
    if (named < args->n_words)
        return hac_fail(err, HAC_INVALID, "help: '%.64s' is one argument too many", args->words[named]);
    return hac_help_command(command, err);
}
