/* SPDX-License-Identifier: Apache-2.0 */
#include "help.h"

#include <string.h>

#include "base/text.h"

enum { MARGIN = 78, INDENT = 26 };

static size_t columns(const char *s, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += ((unsigned char)s[i] & 0xc0) != 0x80;
    return n;
}

/* Adds `s` wrapped at MARGIN, later lines indented; `at` is the column it begins in. */
static void add_wrapped(hac_text *text, const char *s, size_t at, int indent)
{
    while (*s != '\0') {
        size_t word = strcspn(s, " ");
        size_t wide = columns(s, word);
        if (at + wide > MARGIN && at > (size_t)indent) {
            hac_text_addf(text, "\n%*s", indent, "");
            at = (size_t)indent;
        }
        hac_text_add_bytes(text, s, word);
        at += wide;
        s += word;
        if (*s == ' ') {
            s++;
            if (at + 1 + columns(s, strcspn(s, " ")) <= MARGIN) {
                hac_text_add(text, " ");
                at++;
            } else {
                at = MARGIN + 1;
            }
        }
    }
    hac_text_add(text, "\n");
}

/* A term and its explanation, side by side. */
static void add_term(hac_text *text, const char *term, const char *explanation)
{
    size_t wide = columns(term, strlen(term)) + 2;
    hac_text_addf(text, "  %s", term);
    if (wide + 2 > INDENT)
        hac_text_addf(text, "\n%*s", INDENT, "");
    else
        hac_text_addf(text, "%*s", (int)(INDENT - wide), "");
    add_wrapped(text, explanation, INDENT, INDENT);
}

static void add_option(hac_text *text, const hac_option *option)
{
    char term[64], help[256];
    snprintf(term, sizeof term, "%s%c%s--%s%s%s", option->letter != 0 ? "-" : "",
             option->letter != 0 ? option->letter : ' ', option->letter != 0 ? ", " : "   ", option->name,
             option->argument != NULL ? " " : "", option->argument != NULL ? option->argument : "");
    bool words = option->choices != NULL && *option->choices != '<' && option->argument != NULL;
    snprintf(help, sizeof help, "%s%s%s", option->help, words ? ": " : "", words ? option->choices : "");
    add_term(text, term, help);
}

static void add_options(hac_text *text, uint64_t set)
{
    for (size_t i = 0; i < HAC_OPT_COUNT; i++)
        if ((set & HAC_OPT_BIT(i)) != 0)
            add_option(text, hac_option_get((hac_option_id)i));
}

static hac_status print(hac_text *text, hac_error *err)
{
    hac_autofree char *all = NULL;
    hac_status status = hac_text_finish(text, &all, NULL, err);
    return status != HAC_OK ? status : hac_cli_print(all, err);
}

hac_status hac_help_all(const char *group, hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    if (group == NULL)
        hac_text_add(&text, "hacctl - give work to hacd, the service that lends a machine's accelerators\n\n"
                            "usage: hacctl [OPTION…] COMMAND [ARGUMENT…]\n\ncommands:\n");
    else
        hac_text_addf(&text, "usage: hacctl %s COMMAND [ARGUMENT…]\n\ncommands:\n", group);
    for (size_t i = 0; hac_command_get(i) != NULL; i++)
        if (group == NULL || hac_command_in_group(hac_command_get(i), group))
            add_term(&text, hac_command_get(i)->name, hac_command_get(i)->summary);
    hac_text_add(&text, "\noptions of every command:\n");
    add_options(&text, HAC_OPTIONS_GLOBAL);
    hac_text_add(&text,
                 "\nexit codes: 0 done, 1 the job failed, 2 usage, 3 no daemon, 4 refused, 130 interrupted,\n"
                 "141 the reader of standard output has gone\n"
                 "`hacctl help COMMAND` and `man hacctl` say more.\n");
    return print(&text, err);
}

hac_status hac_help_command(const hac_command *command, hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    hac_text_addf(&text, "usage: hacctl %s%s%s\n\n", command->name, *command->usage != '\0' ? " " : "",
                  command->usage);
    hac_text_addf(&text, "%s - %s\n", command->name, command->summary);
    if (command->details != NULL) {
        hac_text_add(&text, "\n");
        add_wrapped(&text, command->details, 0, 0);
    }
    if (command->options != 0) {
        hac_text_add(&text, "\noptions:\n");
        add_options(&text, command->options);
    }
    hac_text_add(&text, "\noptions of every command:\n");
    add_options(&text, HAC_OPTIONS_GLOBAL);
    return print(&text, err);
}

hac_status hac_help_version(hac_error *err)
{
    return hac_cli_print("hacctl " HACCTL_VERSION, err);
}

hac_status hac_cmd_help(hac_cli *cli, const hac_args *args, hac_error *err)
{
    (void)cli;
    size_t named = 0;
    if (args->n_words == 0 || (args->n_words == 1 && hac_command_is_group(args->words[0])))
        return hac_help_all(args->n_words > 0 ? args->words[0] : NULL, err);
    const hac_command *command = hac_command_find(args->words, args->n_words, &named);
    if (command == NULL)
        return hac_command_unknown(args->words, args->n_words, err);
    if (named < args->n_words)
        return hac_fail(err, HAC_INVALID, "help: '%.64s' is one argument too many", args->words[named]);
    return hac_help_command(command, err);
}
