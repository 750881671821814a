/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "completion.h"

/* clang-format would break the lines of the scripts. */
/* clang-format off */
static const char head[] =
    "#compdef hacctl\n"
    "# SPDX-License-Identifier: Apache-2.0\n"
    "# zsh completion for hacctl. Made by `hacctl completion zsh`; do not edit.\n"
    "\n"
    "# Names of devices or ids of jobs, from a daemon that runs already.\n"
    "_hacctl_names() {\n"
    "    local -a found\n"
    "    found=(${(f)\"$(timeout 2 hacctl --no-autostart --quiet $1 2>/dev/null |\n"
    "        awk 'NR > 1 && $1 ~ /^[[:alnum:]._-]+$/ { print $1 }')\"})\n"
    "    compadd -a found\n"
    "}\n"
    "\n"
    "_hacctl() {\n"
    "    local command='' word option\n"
    "    local -a shown\n"
    "    local -A help taken\n";

static const char body[] =
    "    local -i i is_value=0 after=0\n"
    "    for ((i = 2; i < CURRENT; i++)); do\n"
    "        word=$words[i]\n"
    "        if ((is_value)); then\n"
    "            is_value=0\n"
    "        elif [[ \" $values \" == *\" $word \"* ]]; then\n"
    "            is_value=1\n"
    "        elif [[ $word == -?* ]]; then\n"
    "            continue\n"
    "        elif [[ -z $command ]]; then\n"
    "            command=$word\n"
    "        elif [[ \" $groups \" == *\" $command \"* ]]; then\n"
    "            command+=\" $word\"\n"
    "        else\n"
    "            after+=1\n"
    "        fi\n"
    "    done\n"
    "    if ((is_value)); then\n"
    "        case $words[CURRENT-1] in\n";

static const char options_shown[] =
    "        esac\n"
    "        return\n"
    "    fi\n"
    "    if [[ $words[CURRENT] == -* ]]; then\n"
    "        for option in ${=taken[$command]} ${=global}; do\n"
    "            shown+=(\"$option:$help[$option]\")\n"
    "        done\n"
    "        _describe -o option shown\n"
    "        return\n"
    "    fi\n"
    "    case $command in\n";
/* clang-format on */

static const char in_quotes[] = "'\\''";

static void add_help_of(hac_text *text, const char *dashes, const char *name, int bytes, const char *help)
{
    hac_text_addf(text, "    help[%s%.*s]=", dashes, bytes, name);
    hac_completion_quoted(text, help, in_quotes);
    hac_text_add(text, "\n");
}

static void add_help(hac_text *text)
{
    for (size_t i = 0; i < HAC_OPT_COUNT; i++) {
        const hac_option *o = hac_option_get((hac_option_id)i);
        if (o->letter != 0)
            add_help_of(text, "-", &o->letter, 1, o->help);
        add_help_of(text, "--", o->name, (int)strlen(o->name), o->help);
    }
}

static void add_options(hac_text *text, const hac_command *commands)
{
    hac_option_set global = hac_options_in(HAC_SECTION_GLOBAL);
    for (size_t i = 0; commands[i].name != NULL; i++) {
        hac_text_addf(text, "    taken+=('%s' '", commands[i].name);
        hac_completion_options(text, hac_option_set_minus(hac_options_for(commands[i].options), global),
                               true);
        hac_text_add(text, "')\n");
    }
}

/* "--type) compadd u32 … ;;" */
static void add_values(hac_text *text)
{
    for (size_t i = 0; i < HAC_OPT_COUNT; i++) {
        const hac_option *o = hac_option_get((hac_option_id)i);
        if (o->argument == NULL || o->choices == NULL)
            continue;
        hac_text_add(text, "        ");
        if (o->letter != 0)
            hac_text_addf(text, "-%c | ", o->letter);
        hac_text_addf(text, "--%s) ", o->name);
        if (strcmp(o->choices, HAC_CHOICES_FILE) == 0)
            hac_text_add(text, "_files ;;\n");
        else if (strcmp(o->choices, HAC_CHOICES_FOLDER) == 0)
            hac_text_add(text, "_files -/ ;;\n");
        else if (strcmp(o->choices, HAC_CHOICES_DEVICES) == 0)
            hac_text_add(text, "_hacctl_names devices ;;\n");
        else
            hac_text_addf(text, "compadd -- %s ;;\n", o->choices);
    }
}

/* Adds "'sort:sorts …'" for each command of the group, or for the first words of all. */
static void add_described(hac_text *text, const hac_command *commands, size_t first, bool all)
{
    hac_text_add(text, " shown=(");
    for (size_t i = first;
         commands[i].name != NULL && (all || i == first || !hac_completion_begins(commands, i)); i++) {
        const char *name = commands[i].name, *second = strchr(name, ' ');
        hac_cleanup(hac_text_clear) hac_text said = HAC_TEXT_NONE;
        if (all && second != NULL && !hac_completion_begins(commands, i))
            continue;
        if (all)
            hac_text_addf(&said, "%.*s:%s", (int)strcspn(name, " "), name,
                          second == NULL ? commands[i].summary : "a group of commands");
        else
            hac_text_addf(&said, "%s:%s", second + 1, commands[i].summary);
        text->broken |= said.broken;
        if (!said.broken)
            hac_completion_quoted(text, said.data, in_quotes);
        hac_text_add(text, " ");
    }
    hac_text_add(text, "); _describe command shown ;;\n");
}

static void add_words(hac_text *text, const hac_command *command)
{
    const char *words = hac_completion_words(command);
    if (command->words == HAC_WORDS_NONE)
        return;
    hac_text_addf(text, "    '%s')", command->name);
    if (command->words == HAC_WORDS_DEVICE)
        hac_text_add(text, " _hacctl_names devices");
    else if (command->words == HAC_WORDS_JOB)
        hac_text_add(text, " _hacctl_names jobs");
    else if (command->words == HAC_WORDS_COMMAND)
        hac_text_add(text, " compadd -- ${=names}");
    else if (command->words == HAC_WORDS_SHELL)
        hac_text_addf(text, " compadd -- %s", words);
    else
        hac_text_add(text, " _files");
    if (command->words == HAC_WORDS_PLAN || command->words == HAC_WORDS_OPERATOR)
        hac_text_addf(text, "; ((after == 0)) && compadd -- %s", words);
    if (command->words == HAC_WORDS_NAMED) {
        hac_text_add(text, "; ((after == 0)) && compadd -- ");
        hac_completion_named_jobs(text);
    }
    hac_text_add(text, " ;;\n");
}

void hac_completion_zsh(const hac_command *commands, hac_text *text)
{
    hac_text_add(text, head);
    hac_text_add(text, "    local groups='");
    hac_completion_first_words(text, commands, true);
    hac_text_add(text, "'\n    local names='");
    hac_completion_first_words(text, commands, false);
    hac_text_add(text, "'\n    local global='");
    hac_completion_options(text, hac_options_in(HAC_SECTION_GLOBAL), true);
    hac_text_add(text, "'\n    local values='");
    hac_completion_options(text, hac_option_set_others((hac_option_set){{0}}), false);
    hac_text_add(text, "'\n");
    add_help(text);
    add_options(text, commands);
    hac_text_add(text, body);
    add_values(text);
    hac_text_add(text, options_shown);
    hac_text_add(text, "    '')");
    add_described(text, commands, 0, true);
    for (size_t i = 0; commands[i].name != NULL; i++) {
        const char *name = commands[i].name;
        if (strchr(name, ' ') != NULL && hac_completion_begins(commands, i)) {
            hac_text_addf(text, "    %.*s)", (int)strcspn(name, " "), name);
            add_described(text, commands, i, false);
        }
        add_words(text, &commands[i]);
    }
    hac_text_add(text, "    esac\n}\n\nif [[ $funcstack[1] == _hacctl ]]; then\n    _hacctl\nelse\n    "
                       "compdef _hacctl hacctl\nfi\n");
}
