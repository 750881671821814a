/* SPDX-License-Identifier: Apache-2.0 */
/* Help texts, made from the tables of commands and options. All functions print to standard output. */
#ifndef HACCTL_HELP_H
#define HACCTL_HELP_H

#include "command.h"

/* Lists all commands, or those of a group ("parquet") unless `group` is NULL. */
HAC_MUST_USE hac_status hac_help_all(const hac_command *commands, const char *group, hac_error *err);
HAC_MUST_USE hac_status hac_help_command(const hac_command *command, hac_error *err);
HAC_MUST_USE hac_status hac_help_version(hac_error *err);

#endif
