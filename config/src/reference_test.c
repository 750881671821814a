/* SPDX-License-Identifier: Apache-2.0 */
/* The committed pages are what the key tables say; `cmake --build . --target hac_config_docs` writes them
 * anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "config/daemon_config.h"
#include "config/profile.h"
#include "profile_keys.h"

/* *ret_text is malloc'ed. */
static void generate(void (*write)(FILE *out), char **ret_text)
{
    size_t length = 0;
    FILE *out = open_memstream(ret_text, &length);
    assert_non_null(out);
    write(out);
    assert_int_equal(fclose(out), 0);
}

static void assert_committed(const char *path, void (*write)(FILE *out))
{
    hac_autofree char *expected = NULL;
    generate(write, &expected);
    size_t length = strlen(expected);
    hac_autofree char *found = calloc(1, length + 2);
    hac_autofclose FILE *in = fopen(path, "re");
    if (in == NULL)
        fail_msg("%s is missing; build the target hac_config_docs", path);
    size_t n = fread(found, 1, length + 1, in);
    if (n != length || memcmp(found, expected, length) != 0)
        fail_msg("%s differs from the key table; build the target hac_config_docs", path);
}

static void test_pages(void **state)
{
    (void)state;
    assert_committed(HAC_SOURCE_DIR "/docs/profiles.md", hac_profile_reference);
    assert_committed(HAC_SOURCE_DIR "/docs/hacd.yaml.md", hac_daemon_config_reference);
    assert_committed(HAC_SOURCE_DIR "/config/hacd.yaml", hac_daemon_config_example);
}

/* Each key has its row, and each row all its cells. */
static void test_table(void **state)
{
    (void)state;
    hac_autofree char *page = NULL;
    generate(hac_profile_reference, &page);
    const hac_config_schema *schema = hac_profile_schema();
    char row[128];
    for (size_t i = 0; i < schema->n_keys; i++) {
        snprintf(row, sizeof row, "\n| `%s` | ", schema->keys[i].path);
        const char *at = strstr(page, row);
        if (at == NULL)
            fail_msg("no row for %s", schema->keys[i].path);
        int cells = -1;
        for (at++; *at != '\n'; at++)
            cells += at[0] == '|' && at[-1] != '\\';
        assert_int_equal(cells, 6);
    }
    assert_non_null(
        strstr(page, "| `executors[].threads` | whole number | whole number from 1 to 1024, or `auto` | "
                     "`auto` | only | "));
    assert_non_null(strstr(page, "| `kind` | word | `cpu`, `gpu`, `fpga`, `dsp`, `arm` | `cpu` | yes | "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
