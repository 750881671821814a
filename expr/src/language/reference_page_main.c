/* SPDX-License-Identifier: Apache-2.0 */
/* Writes docs/expressions.md: hac-expr-reference SOURCE-DIRECTORY */
#include <stdio.h>

#include "base/cleanup.h"
#include "expr/query.h"

int main(int argc, char **argv)
{
    hac_text page = HAC_TEXT_NONE;
    hac_autofree char *path = NULL, *text = NULL;
    size_t bytes = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: %s SOURCE-DIRECTORY\n", argv[0]);
        return 2;
    }
    hac_expression_reference(&page);
    if (hac_text_finish(&page, &text, &bytes, NULL) != HAC_OK ||
        asprintf(&path, "%s/docs/expressions.md", argv[1]) < 0)
        return 1;
    FILE *out = fopen(path, "we");
    if (out == NULL || fwrite(text, 1, bytes, out) != bytes || fclose(out) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}
