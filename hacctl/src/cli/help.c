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

/* Adds `s`, wrapped at MARGIN; the first line begins in column `at`, the others are indented. */
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

/* Adds a term and its explanation side by side. */
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
    char term[64];
    hac_text help = HAC_TEXT_NONE;
    hac_autofree char *explanation = NULL;
    snprintf(term, sizeof term, "%s%c%s--%s%s%s", option->letter != 0 ? "-" : "",
             option->letter != 0 ? option->letter : ' ', option->letter != 0 ? ", " : "   ", option->name,
             option->argument != NULL ? " " : "", option->argument != NULL ? option->argument : "");
    hac_text_add(&help, option->help);
    if (option->choices != NULL && *option->choices != '<')
        for (const char *p = option->choices; *p != '\0'; p += strcspn(p, " "), p += *p == ' ')
            hac_text_addf(&help, "%s%.*s", p == option->choices ? ": " : ", ", (int)strcspn(p, " "), p);
    if (option->default_text != NULL)
        hac_text_addf(&help, " (default: %s)", option->default_text);
    if (hac_text_finish(&help, &explanation, NULL, NULL) == HAC_OK)
        add_term(text, term, explanation);
    else
        text->broken = true;
}

/* The options of the set, under the headings of their sections. */
static void add_options(hac_text *text, hac_option_set set)
{
    static const char *const headings[HAC_SECTION_COUNT] = {
        [HAC_SECTION_ARRAY] = "raw arrays", [HAC_SECTION_ROWS] = "sorting of rows",
        [HAC_SECTION_QUERY] = "query",      [HAC_SECTION_LOGIC] = "logic file",
        [HAC_SECTION_INPUT] = "input",      [HAC_SECTION_TEXT] = "text input",
        [HAC_SECTION_OUTPUT] = "output",    [HAC_SECTION_PARQUET] = "Parquet output",
        [HAC_SECTION_JOB] = "job",          [HAC_SECTION_COMMAND] = "options",
        [HAC_SECTION_TUNING] = "tuning",    [HAC_SECTION_GLOBAL] = "options of every command",
    };
    hac_option_section section = HAC_SECTION_COUNT;
    for (size_t i = 0; i < HAC_OPT_COUNT; i++) {
        const hac_option *option = hac_option_get((hac_option_id)i);
        if (!hac_option_set_has(set, i))
            continue;
        if (option->section != section)
            hac_text_addf(text, "\n%s:\n", headings[option->section]);
        section = option->section;
        add_option(text, option);
    }
}

static hac_status print(hac_text *text, hac_error *err)
{
    hac_autofree char *all = NULL;
    hac_status status = hac_text_finish(text, &all, NULL, err);
    return status != HAC_OK ? status : hac_cli_print(all, err);
}

hac_status hac_help_all(const hac_command *commands, const char *group, hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    if (group == NULL)
        hac_text_add(&text, "hacctl - give work to hacd, the service that lends a machine's accelerators\n\n"
                            "usage: hacctl [OPTION…] COMMAND [ARGUMENT…]\n\ncommands:\n");
    else
        hac_text_addf(&text, "usage: hacctl %s COMMAND [ARGUMENT…]\n\ncommands:\n", group);
    for (const hac_command *c = commands; c->name != NULL; c++)
        if (group == NULL || hac_command_in_group(c, group))
            add_term(&text, c->name, c->summary);
    add_options(&text, hac_options_in(HAC_SECTION_GLOBAL));
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
    add_options(&text, hac_options_for(command->options));
    return print(&text, err);
}

hac_status hac_help_version(hac_error *err)
{
    return hac_cli_print("hacctl " HACCTL_VERSION, err);
}
