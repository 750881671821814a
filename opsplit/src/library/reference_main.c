/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the pages that are made from the tables. Usage: hac-opsplit-reference SOURCE-DIRECTORY */
#include <stdio.h>

#include "base/cleanup.h"
#include "opsplit/library.h"

static int write_page(const char *root, const char *name, void (*make)(hac_text *ret))
{
    hac_autofree char *path = NULL, *page = NULL;
    hac_text text = HAC_TEXT_NONE;
    make(&text);
    if (hac_text_finish(&text, &page, NULL, NULL) != HAC_OK || asprintf(&path, "%s/%s", root, name) < 0)
        return 1;
    FILE *out = fopen(path, "we");
    if (out == NULL || fputs(page, out) < 0 || fclose(out) != 0) {
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
    for (int i = HAC_VECTOR_NONE + 1; i < HAC_VECTOR_END; i++)
        if (hac_vector_template_get((hac_vector_template)i) == NULL) {
            fprintf(stderr,
                    "vector template %d (base/include/hac/op.h) has no row in "
                    "opsplit/src/library/templates.c; add one\n",
                    i);
            return 1;
        }
    return write_page(argv[1], "docs/opsplit-library.md", hac_library_reference) |
           write_page(argv[1], "docs/opsplit.schema.json", hac_library_json_schema);
}
