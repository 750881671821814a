/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "completion.h"

/* clang-format would break the lines of the scripts. */
/* clang-format off */
static const char head[] =
    "# SPDX-License-Identifier: Apache-2.0\n"
    "# fish completion for hacctl. Made by `hacctl completion fish`; do not edit.\n"
    "\n";

static const char body[] =
    "# The command on the line: one word, or two of a group.\n"
    "function __hacctl_command\n"
    "    set -l words\n"
    "    set -l is_value 0\n"
    "    for word in (commandline -opc)[2..-1]\n"
    "        if test $is_value = 1\n"
    "            set is_value 0\n"
    "        else if contains -- $word $__hacctl_values\n"
    "            set is_value 1\n"
    "        else if not string match -q -- '-?*' $word\n"
    "            set -a words $word\n"
    "        end\n"
    "    end\n"
    "    if contains -- \"$words[1]\" $__hacctl_groups\n"
    "        string join ' ' -- $words[1..2]\n"
    "    else\n"
    "        echo $words[1]\n"
    "    end\n"
    "end\n"
    "\n"
    "function __hacctl_in\n"
    "    contains -- \"$(__hacctl_command)\" $argv\n"
    "end\n"
    "\n"
    "# Names of devices or ids of jobs, from a daemon that runs already.\n"
    "function __hacctl_names\n"
    "    timeout 2 hacctl --no-autostart --quiet $argv[1] 2>/dev/null |\n"
    "        awk 'NR > 1 && $1 ~ /^[[:alnum:]._-]+$/ { print $1 }'\n"
    "end\n"
    "\n"
    "complete -c hacctl -f\n";
/* clang-format on */

static const char in_quotes[] = "\\'";

static void add_commands(hac_text *text, const hac_command *commands)
{
    for (size_t i = 0; commands[i].name != NULL; i++) {
        const char *name = commands[i].name, *second = strchr(name, ' ');
        int bytes = (int)strcspn(name, " ");
        if (second == NULL || hac_completion_begins(commands, i)) {
            hac_text_addf(text, "complete -c hacctl -n '__hacctl_in \"\"' -a %.*s -d ", bytes, name);
            hac_completion_quoted(text, second == NULL ? commands[i].summary : "a group of commands",
                                  in_quotes);
            hac_text_add(text, "\n");
        }
        if (second == NULL)
            continue;
        hac_text_addf(text, "complete -c hacctl -n '__hacctl_in %.*s' -a %s -d ", bytes, name, second + 1);
        hac_completion_quoted(text, commands[i].summary, in_quotes);
        hac_text_add(text, "\n");
    }
}

static void add_words(hac_text *text, const hac_command *command)
{
    const char *words = hac_completion_words(command);
    bool files = command->words == HAC_WORDS_FILE || command->words == HAC_WORDS_NAMED ||
                 command->words == HAC_WORDS_PLAN || command->words == HAC_WORDS_OPERATOR;
    if (command->words == HAC_WORDS_NONE)
        return;
    hac_text_addf(text, "complete -c hacctl -n '__hacctl_in \"%s\"'%s", command->name, files ? " -F" : "");
    if (command->words == HAC_WORDS_DEVICE)
        hac_text_add(text, " -a '(__hacctl_names devices)'");
    else if (command->words == HAC_WORDS_JOB)
        hac_text_add(text, " -a '(__hacctl_names jobs)'");
    else if (command->words == HAC_WORDS_COMMAND)
        hac_text_add(text, " -a '$__hacctl_commands'");
    else if (*words != '\0')
        hac_text_addf(text, " -a '%s'", words);
    if (command->words == HAC_WORDS_NAMED) {
        hac_text_add(text, " -a '");
        hac_completion_named_jobs(text);
        hac_text_add(text, "'");
    }
    hac_text_add(text, "\n");
}

/* The value of an option: what may stand behind it. */
static void add_value(hac_text *text, const hac_option *o)
{
    if (o->argument == NULL)
        return;
    if (o->choices == NULL)
        hac_text_add(text, " -x");
    else if (strcmp(o->choices, HAC_CHOICES_FILE) == 0)
        hac_text_add(text, " -r -F");
    else if (strcmp(o->choices, HAC_CHOICES_FOLDER) == 0)
        hac_text_add(text, " -x -a '(__fish_complete_directories)'");
    else if (strcmp(o->choices, HAC_CHOICES_DEVICES) == 0)
        hac_text_add(text, " -x -a '(__hacctl_names devices)'");
    else
        hac_text_addf(text, " -x -a '%s'", o->choices);
}

static void add_option(hac_text *text, const hac_command *commands, size_t id)
{
    const hac_option *o = hac_option_get((hac_option_id)id);
    hac_text_add(text, "complete -c hacctl");
    if (!hac_option_set_has(hac_options_in(HAC_SECTION_GLOBAL), id)) {
        hac_text_add(text, " -n '__hacctl_in");
        for (size_t i = 0; commands[i].name != NULL; i++)
            if (hac_option_set_has(hac_options_for(commands[i].options), id))
                hac_text_addf(text, " \"%s\"", commands[i].name);
        hac_text_add(text, "'");
    }
    if (o->letter != 0)
        hac_text_addf(text, " -s %c", o->letter);
    hac_text_addf(text, " -l %s", o->name);
    add_value(text, o);
    hac_text_add(text, " -d ");
    hac_completion_quoted(text, o->help, in_quotes);
    hac_text_add(text, "\n");
}

void hac_completion_fish(const hac_command *commands, hac_text *text)
{
    hac_text_add(text, head);
    hac_text_add(text, "set -g __hacctl_values (string split -- ' ' '");
    hac_completion_options(text, hac_option_set_others((hac_option_set){{0}}), false);
    hac_text_add(text, "')\nset -g __hacctl_groups (string split -- ' ' '");
    hac_completion_first_words(text, commands, true);
    hac_text_add(text, "')\nset -g __hacctl_commands (string split -- ' ' '");
    hac_completion_first_words(text, commands, false);
    hac_text_add(text, "')\n\n");
    hac_text_add(text, body);
    add_commands(text, commands);
    for (size_t i = 0; commands[i].name != NULL; i++)
        add_words(text, &commands[i]);
    for (size_t i = 0; i < HAC_OPT_COUNT; i++)
        add_option(text, commands, i);
}
