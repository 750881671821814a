/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl completion: a script for a shell. */
#include <string.h>

#include "cmd.h"
#include "completion/completion.h"

static const struct {
    const char *name;
    void (*add)(const hac_command *commands, hac_text *text);
} shells[] = {{"bash", hac_completion_bash}, {"fish", hac_completion_fish}, {"zsh", hac_completion_zsh}};

hac_status hac_cmd_completion(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    hac_autofree char *script = NULL;
    size_t i = 0, n = sizeof shells / sizeof *shells;
    while (i < n && strcmp(args->words[0], shells[i].name) != 0)
        i++;
    if (i == n)
        return hac_fail(err, HAC_INVALID, "completion: no script for '%.64s'; there are: bash fish zsh",
                        args->words[0]);
    shells[i].add(cli->commands, &text);
    hac_status status = hac_text_finish(&text, &script, NULL, err);
    return status == HAC_OK ? hac_cli_print(script, err) : status;
}
