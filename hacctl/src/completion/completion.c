/* SPDX-License-Identifier: Apache-2.0 */
#include "completion.h"

#include <string.h>

#include "request/query_request.h"

static void add_name(hac_text *text, const char *dashes, const char *name, int bytes)
{
    bool first = text->bytes == 0 || strchr("' ", text->data[text->bytes - 1]) != NULL;
    hac_text_addf(text, "%s%s%.*s", first ? "" : " ", dashes, bytes, name);
}

void hac_completion_options(hac_text *text, hac_option_set set, bool all)
{
    for (size_t i = 0; i < HAC_OPT_COUNT; i++) {
        const hac_option *o = hac_option_get((hac_option_id)i);
        if (!hac_option_set_has(set, i) || (!all && o->argument == NULL))
            continue;
        if (o->letter != 0)
            add_name(text, "-", &o->letter, 1);
        add_name(text, "--", o->name, (int)strlen(o->name));
    }
}

bool hac_completion_begins(const hac_command *commands, size_t index)
{
    const char *name = commands[index].name;
    return index == 0 || strncmp(commands[index - 1].name, name, strcspn(name, " ") + 1) != 0;
}

void hac_completion_first_words(hac_text *text, const hac_command *commands, bool groups)
{
    for (size_t i = 0; commands[i].name != NULL; i++) {
        const char *name = commands[i].name;
        size_t bytes = strcspn(name, " ");
        if (hac_completion_begins(commands, i) && (!groups || name[bytes] != '\0'))
            add_name(text, "", name, (int)bytes);
    }
}

void hac_completion_quoted(hac_text *text, const char *said, const char *quote)
{
    hac_text_add(text, "'");
    for (; *said != '\0'; said++)
        hac_text_add_bytes(text, *said == '\'' ? quote : said, *said == '\'' ? strlen(quote) : 1);
    hac_text_add(text, "'");
}

void hac_completion_named_jobs(hac_text *text)
{
    for (size_t i = 0; hac_named_job_get(i) != NULL; i++)
        hac_text_addf(text, "%s%s", i > 0 ? " " : "", hac_named_job_get(i)->name);
}

const char *hac_completion_words(const hac_command *command)
{
    switch (command->words) {
    case HAC_WORDS_PLAN:
        return "query sort splice mapreduce parquet opsplit";
    case HAC_WORDS_OPERATOR:
        return "list show add remove";
    case HAC_WORDS_SHELL:
        return "bash fish zsh";
    case HAC_WORDS_NONE:
    case HAC_WORDS_FILE:
    case HAC_WORDS_DEVICE:
    case HAC_WORDS_JOB:
    case HAC_WORDS_NAMED:
    case HAC_WORDS_COMMAND:
        break;
    }
    return "";
}
