/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <string.h>

#include "base/suggest.h"
#include "base/text.h"

/* Bytes of the first word of a name */
static size_t first_word(const char *name)
{
    return strcspn(name, " ");
}

bool hac_command_in_group(const hac_command *command, const char *word)
{
    return strlen(word) == first_word(command->name) && strncmp(command->name, word, strlen(word)) == 0;
}

bool hac_command_is_group(const hac_command *commands, const char *word)
{
    for (const hac_command *c = commands; c->name != NULL; c++)
        if (hac_command_in_group(c, word) && c->name[first_word(c->name)] == ' ')
            return true;
    return false;
}

const hac_command *hac_command_find(const hac_command *commands, char *const *words, size_t n_words,
                                    size_t *ret_words)
{
    for (const hac_command *c = commands; c->name != NULL; c++) {
        const char *second = c->name + first_word(c->name);
        if (n_words == 0 || !hac_command_in_group(c, words[0]) ||
            (*second != '\0' && (n_words < 2 || strcmp(second + 1, words[1]) != 0)))
            continue;
        *ret_words = *second != '\0' ? 2 : 1;
        return c;
    }
    return NULL;
}

static const char *name_of(const void *list, size_t i)
{
    return ((const hac_command *)list)[i].name;
}

/* The command whose name is nearest to both words, or to the first word alone. */
static const char *nearest(const hac_command *commands, char *const *words, size_t n_words)
{
    char both[132];
    snprintf(both, sizeof both, "%.64s %.64s", words[0], n_words > 1 ? words[1] : "");
    size_t n = 0;
    while (commands[n].name != NULL)
        n++;
    const char *near = n_words > 1 ? hac_suggest(both, commands, n, name_of) : NULL;
    return near != NULL && strchr(near, ' ') != NULL ? near : hac_suggest(words[0], commands, n, name_of);
}

/* Lists the names of a group's commands, or of all commands if `group` is NULL. */
static hac_status list_names(const hac_command *commands, const char *group, char **ret, hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    for (const hac_command *c = commands; c->name != NULL; c++)
        if (group == NULL || hac_command_in_group(c, group))
            hac_text_addf(&text, "%s%s", text.bytes > 0 ? ", " : "", c->name);
    return hac_text_finish(&text, ret, NULL, err);
}

hac_status hac_command_unknown(const hac_command *commands, char *const *words, size_t n_words,
                               hac_error *err)
{
    hac_autofree char *list = NULL;
    bool group = hac_command_is_group(commands, words[0]);
    hac_status status = list_names(commands, group ? words[0] : NULL, &list, err);
    if (status != HAC_OK)
        return status;
    if (group && n_words < 2)
        return hac_fail(err, HAC_INVALID, "%s: which command? There are: %s", words[0], list);
    char name[132];
    snprintf(name, sizeof name, "%.64s%s%.64s", words[0], group ? " " : "", group ? words[1] : "");
    const char *near = nearest(commands, words, n_words);
    if (near != NULL)
        return hac_fail(err, HAC_INVALID, "unknown command '%s'; did you mean %s? There are: %s", name, near,
                        list);
    return hac_fail(err, HAC_INVALID, "unknown command '%s'; there are: %s", name, list);
}
