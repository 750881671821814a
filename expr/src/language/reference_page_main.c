/* SPDX-License-Identifier: Apache-2.0 */
/* Writes docs/expressions.md and docs/sql-words.md: hac-expr-reference SOURCE-DIRECTORY */
#include <stdio.h>

#include "base/cleanup.h"
#include "expr/query.h"

static int write_page(const char *folder, const char *name, void (*make)(hac_text *))
{
    hac_text page = HAC_TEXT_NONE;
    hac_autofree char *path = NULL, *text = NULL;
    size_t bytes = 0;
    make(&page);
    if (hac_text_finish(&page, &text, &bytes, NULL) != HAC_OK ||
        asprintf(&path, "%s/docs/%s", folder, name) < 0)
        return 1;
    FILE *out = fopen(path, "we");
    if (out == NULL || fwrite(text, 1, bytes, out) != bytes || fclose(out) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s SOURCE-DIRECTORY\n", argv[0]);
        return 2;
    }
    return write_page(argv[1], "expressions.md", hac_expression_reference) |
           write_page(argv[1], "sql-words.md", hac_sql_words_page);
}
