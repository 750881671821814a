/* SPDX-License-Identifier: Apache-2.0 */
#include "instead_of_sql.h"

#include <string.h>
#include <strings.h>

static bool begins_with_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    return strncasecmp(text, word, n) == 0 && (text[n] == ' ' || text[n] == '\t' || text[n] == '\n');
}

const char *hac_instead_of_sql(const hac_token *token, const char *text)
{
    static const char *const words[][2] = {
        {"rlike", "; write regexp_matches(a, 'pattern')"},
        {"regexp", "; write regexp_matches(a, 'pattern')"},
        {"similar", "; write regexp_matches(a, '^(pattern)$')"},
        {"glob", "; write like, or regexp_matches(a, 'pattern')"},
        {"collate", "; texts are ordered by their bytes: order by lower(a)"},
        {"having", "; the condition on groups goes to --having"},
        {"over", "; there are no window functions"},
        {"from", "; input files stand beside the options, not in an expression"},
        {"where", "; the condition goes to --where"},
        {"group", "; keys go to --group-by"},
        {"order", "; the order goes to --order-by"},
        {"limit", "; the number of rows goes to --limit"},
        {"offset", "; the number of rows to leave out goes to --offset"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (hac_token_is_word(token, words[i][0]))
            return words[i][1];
    if (begins_with_word(text, "select"))
        return "; leave out SELECT, or give all of it to `hacctl query`";
    if (begins_with_word(text, "distinct"))
        return "; the distinct values of a are --group-by a, their number is count(distinct a)";
    return "";
}
