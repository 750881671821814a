/* SPDX-License-Identifier: Apache-2.0 */
#include "base/folder_keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The keys of a path, as "name=value;": a null as "name;". */
static const char *keys_of(const char *path)
{
    static char text[4096];
    const char *at = path;
    hac_folder_key key;
    size_t used = 0;
    while (hac_folder_key_next(&at, path + strlen(path), &key)) {
        used += strlen(strcpy(text + used, key.name));
        if (!hac_folder_key_is_null(&key)) {
            text[used++] = '=';
            used += hac_folder_key_value(&key, text + used);
        }
        text[used++] = ';';
    }
    text[used] = '\0';
    return text;
}

static void keys(void **state)
{
    (void)state;
    assert_string_equal(keys_of("sales/year=2024/month=03/part-0.parquet"), "year=2024;month=03;");
    assert_string_equal(keys_of("/a=1//b=/c=x=y/f"), "a=1;b=;c=x=y;");
    assert_string_equal(keys_of("a=1"), ""); /* the last component is the file */
    assert_string_equal(keys_of("a=1/b=2"), "a=1;");
    assert_string_equal(keys_of("=1/x/f"), "");
    assert_string_equal(keys_of(""), "");
    assert_string_equal(keys_of("a=__HIVE_DEFAULT_PARTITION__/b=2/f"), "a;b=2;");
}

static void escapes(void **state)
{
    (void)state;
    assert_string_equal(keys_of("c%20d=S%C3%A3o%2f1/f"), "c d=S\xc3\xa3o/1;");
    assert_string_equal(keys_of("a=%/b=%2/c=%zz/d=100%25/f"), "a=%;b=%2;c=%zz;d=100%;");
    assert_string_equal(keys_of("%00=1/b=2/f"), "b=2;"); /* no name */
}

static void long_names(void **state)
{
    char path[400];
    (void)state;
    memset(path, 'k', sizeof path);
    strcpy(path + HAC_FIELD_NAME_MAX - 1, "=1/f");
    assert_int_equal(strlen(keys_of(path)), HAC_FIELD_NAME_MAX - 1 + 3);
    memset(path, 'k', sizeof path);
    strcpy(path + HAC_FIELD_NAME_MAX, "=1/b=2/f");
    assert_string_equal(keys_of(path), "b=2;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys), cmocka_unit_test(escapes),
                                       cmocka_unit_test(long_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
