/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "completion.h"

/* Adds a case for each group with its second words: "parquet) … query convert inspect". */
static void add_groups(hac_text *text, const hac_command *commands)
{
    for (size_t i = 0; commands[i].name != NULL; i++) {
        const char *name = commands[i].name;
        size_t bytes = strcspn(name, " ");
        if (name[bytes] == '\0')
            continue;
        bool last = commands[i + 1].name == NULL || strncmp(commands[i + 1].name, name, bytes + 1) != 0;
        if (hac_completion_begins(commands, i))
            hac_text_addf(text,
                          "    %.*s) if [[ $cur == -* ]]; then _hacctl_words \"$global\"; else _hacctl_words",
                          (int)bytes, name);
        hac_text_addf(text, " %s%s", name + bytes + 1, last ? "; fi ;;\n" : "");
    }
}

/* Adds a case for each option with a value: "--type) _hacctl_words u32 …; return ;;". */
static void add_values(hac_text *text)
{
    for (size_t i = 0; i < HAC_OPT_COUNT; i++) {
        const hac_option *o = hac_option_get((hac_option_id)i);
        if (o->argument == NULL)
            continue;
        hac_text_add(text, "    ");
        if (o->letter != 0)
            hac_text_addf(text, "-%c | ", o->letter);
        hac_text_addf(text, "--%s) ", o->name);
        if (o->choices == NULL)
            hac_text_add(text, "");
        else if (strcmp(o->choices, HAC_CHOICES_FILE) == 0)
            hac_text_add(text, "_hacctl_paths -f; ");
        else if (strcmp(o->choices, HAC_CHOICES_FOLDER) == 0)
            hac_text_add(text, "_hacctl_paths -d; ");
        else if (strcmp(o->choices, HAC_CHOICES_DEVICES) == 0)
            hac_text_add(text, "_hacctl_device_list; ");
        else
            hac_text_addf(text, "_hacctl_words %s; ", o->choices);
        hac_text_add(text, "return ;;\n");
    }
}

/* Adds the names of named jobs to the files, for the first word. */
static void add_named_jobs(hac_text *text)
{
    hac_text_add(text, " ((after == 0)) && mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W '");
    hac_completion_named_jobs(text);
    hac_text_add(text, "' -- \"$cur\");");
}

/* Adds the jobs that can be planned, then their files. Only explain offers logic files. */
static void add_planned(hac_text *text, const hac_command *command)
{
    bool logic = strcmp(command->name, "explain") == 0;
    hac_text_addf(text,
                  " elif ((after == 0)); then _hacctl_words query sort splice mapreduce parquet%s; else "
                  "_hacctl_paths -f; "
                  "[[ $prev == parquet ]] && _hacctl_words query convert;%s",
                  logic ? " opsplit" : "", logic ? " [[ $prev == opsplit ]] && _hacctl_words run;" : "");
}

static void add_words(hac_text *text, const hac_command *command)
{
    switch (command->words) {
    case HAC_WORDS_FILE:
        hac_text_add(text, " else _hacctl_paths -f;");
        break;
    case HAC_WORDS_DEVICE:
        hac_text_add(text, " else _hacctl_words \"$(_hacctl_names devices)\";");
        break;
    case HAC_WORDS_JOB:
        hac_text_add(text, " else _hacctl_words \"$(_hacctl_names jobs)\";");
        break;
    case HAC_WORDS_NAMED:
        hac_text_add(text, " else _hacctl_paths -f;");
        add_named_jobs(text);
        break;
    case HAC_WORDS_PLAN:
        add_planned(text, command);
        break;
    case HAC_WORDS_COMMAND:
        hac_text_add(text, " elif [[ $prev == parquet ]]; then _hacctl_words query convert inspect;"
                           " else _hacctl_words \"$commands\";");
        break;
    case HAC_WORDS_OPERATOR:
        hac_text_add(text,
                     " elif ((after == 0)); then _hacctl_words list show add remove; else _hacctl_paths -f;");
        break;
    case HAC_WORDS_SHELL:
        hac_text_addf(text, " else _hacctl_words %s;", hac_completion_words(command));
        break;
    case HAC_WORDS_NONE:
        break;
    }
}

/* clang-format would break the lines of the scripts. */
/* clang-format off */
static const char head[] =
    "# SPDX-License-Identifier: Apache-2.0\n"
    "# bash completion for hacctl. Made by `hacctl completion bash`; do not edit.\n"
    "\n"
    "_hacctl_words() { mapfile -t COMPREPLY < <(compgen -W \"$*\" -- \"$cur\"); }\n"
    "\n"
    "# Files (\"-f\") or folders (\"-d\").\n"
    "_hacctl_paths() {\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
    "}\n"
    "\n"
    "# Names of devices or ids of jobs, from a daemon that runs already.\n"
    "_hacctl_names() {\n"
    "    timeout 2 \"${COMP_WORDS[0]}\" --no-autostart --quiet \"$1\" 2>/dev/null |\n"
    "        awk 'NR > 1 && $1 ~ /^[[:alnum:]._-]+$/ { print $1 }'\n"
    "}\n"
    "\n"
    "# a,b,…: completes the last name.\n"
    "_hacctl_device_list() {\n"
    "    local before=''\n"
    "    [[ $cur == *,* ]] && before=${cur%,*},\n"
    "    compopt -o nospace 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$(_hacctl_names devices)\" -- \"${cur##*,}\")\n"
    "}\n"
    "\n"
    "_hacctl() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local command='' after=0 word i\n";

/* `values` are the options whose next word is a value and not a command. */
static const char body[] =
    "    COMPREPLY=()\n"
    "    # bash cuts --type=u32 into three words\n"
    "    if [[ $cur == '=' ]]; then\n"
    "        cur=''\n"
    "    elif [[ $prev == '=' ]]; then\n"
    "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if [[ $word == '=' || (\" $values \" == *\" $word \"* && ${COMP_WORDS[i + 1]} != '=') ]]; then\n"
    "            ((i++))\n"
    "        elif [[ $word == -?* ]]; then\n"
    "            continue\n"
    "        elif [[ -z $command ]]; then\n"
    "            command=$word\n"
    "        elif [[ \" $groups \" == *\" $command \"* ]]; then\n"
    "            command+=\" $word\"\n"
    "        else\n"
    "            ((after++))\n"
    "        fi\n"
    "    done\n"
    "    case $prev in\n";
/* clang-format on */

static void add_commands(hac_text *text, const hac_command *commands)
{
    hac_text_add(
        text,
        "    esac\n    case $command in\n    '') if [[ $cur == -* ]]; then _hacctl_words \"$global\"; else "
        "_hacctl_words \"$commands\"; fi ;;\n");
    add_groups(text, commands);
    hac_option_set global = hac_options_in(HAC_SECTION_GLOBAL);
    for (size_t i = 0; commands[i].name != NULL; i++) {
        const hac_command *command = &commands[i];
        const char *quote = strchr(command->name, ' ') != NULL ? "'" : "";
        hac_text_addf(text, "    %s%s%s)\n        if [[ $cur == -* ]]; then _hacctl_words ", quote,
                      command->name, quote);
        hac_completion_options(text, hac_option_set_minus(hac_options_for(command->options), global), true);
        hac_text_addf(text, "%s\"$global\";", command->options != 0 ? " " : "");
        add_words(text, command);
        hac_text_add(text, " fi\n        ;;\n");
    }
    hac_text_add(text, "    esac\n}\n\ncomplete -F _hacctl hacctl\n");
}

void hac_completion_bash(const hac_command *commands, hac_text *text)
{
    hac_text_add(text, head);
    hac_text_add(text, "    local commands='");
    hac_completion_first_words(text, commands, false);
    hac_text_add(text, "'\n    local groups='");
    hac_completion_first_words(text, commands, true);
    hac_text_add(text, "'\n    local global='");
    hac_completion_options(text, hac_options_in(HAC_SECTION_GLOBAL), true);
    hac_text_add(text, "'\n    local values='");
    hac_completion_options(text, hac_option_set_others((hac_option_set){{0}}), false);
    hac_text_add(text, "'\n");
    hac_text_add(text, body);
    add_values(text);
    add_commands(text, commands);
}
