/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HACCTL_COMMAND_RUN_H
#define HACCTL_COMMAND_RUN_H

#include "command.h"

/* Parses the words that follow the command's name, which is argv[0] or its last word, and runs the
 * command. Answers --help and --version. */
HAC_MUST_USE hac_status hac_command_run(const hac_command *command, hac_cli *cli, hac_args *args, int argc,
                                        char **argv, hac_error *err);

#endif
