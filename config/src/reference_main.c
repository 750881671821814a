/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the pages that are made from the key tables: hac-config-reference SOURCE-DIRECTORY */
#include <stdio.h>

#include "base/cleanup.h"
#include "config/daemon_config.h"
#include "config/profile.h"

static int write_page(const char *root, const char *name, void (*write)(FILE *out))
{
    hac_autofree char *path = NULL;
    if (asprintf(&path, "%s/%s", root, name) < 0)
        return 1;
    FILE *out = fopen(path, "we");
    if (out == NULL) {
        perror(path);
        return 1;
    }
    write(out);
    if (fclose(out) != 0) {
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
    int failed = write_page(argv[1], "docs/profiles.md", hac_profile_reference);
    failed |= write_page(argv[1], "docs/hacd.yaml.md", hac_daemon_config_reference);
    failed |= write_page(argv[1], "config/hacd.yaml", hac_daemon_config_example);
    return failed;
}
