/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts that complete command lines in a shell, made from the tables of commands and options. Each adds the
 * whole script to `text`; no memory is remembered in it. */
#ifndef HACCTL_COMPLETION_H
#define HACCTL_COMPLETION_H

#include "base/text.h"
#include "cli/command.h"

void hac_completion_bash(const hac_command *commands, hac_text *text);
void hac_completion_fish(const hac_command *commands, hac_text *text);
void hac_completion_zsh(const hac_command *commands, hac_text *text);

/* ---- what the scripts have in common ---- */

/* Adds the names of the set's options with a value: "--type -o --output …"; with `all` those of flags,
 * too. */
void hac_completion_options(hac_text *text, hac_option_set set, bool all);
/* Adds the first words of the commands, each once; with `groups` only those of groups. */
void hac_completion_first_words(hac_text *text, const hac_command *commands, bool groups);
/* Whether the command is the first one whose name begins with its first word. */
bool hac_completion_begins(const hac_command *commands, size_t index);
/* Adds `said` between single quotes, with `quote` in the place of each quote that it has. */
void hac_completion_quoted(hac_text *text, const char *said, const char *quote);
/* The words that may stand behind a command besides files: "" if there are none. */
const char *hac_completion_words(const hac_command *command);
/* Adds the names of the named jobs. */
void hac_completion_named_jobs(hac_text *text);

#endif
