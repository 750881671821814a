/* SPDX-License-Identifier: Apache-2.0 */
/* The table of hacctl's commands. Dispatch, help, completion and their tests read it. */
#ifndef HACCTL_COMMAND_TABLE_H
#define HACCTL_COMMAND_TABLE_H

#include "cli/command.h"

/* Ends with a row without a name. */
extern const hac_command hac_commands[];

#endif
