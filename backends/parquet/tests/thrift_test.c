/* SPDX-License-Identifier: Apache-2.0 */
#include "format/thrift.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Written by hand from the specification of the protocol. */
static const uint8_t all_types[] = {
    0x11, 0x12, 0x13, 0xff,                                           /* 1: true, 2: false, 3: i8 -1 */
    0x14, 0xff, 0xff, 0x03,                                           /* 4: i16 -32768 */
    0x15, 0xfe, 0xff, 0xff, 0xff,                                     /* 5: i32 2147483647 */
    0x0f, 0x16, 0xff, 0xff, 0xff,                                     /* 6: i64 -2^63 */
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x18, 3, 'a', 'b', 'c', /* 7: binary */
    0x39, 0x35, 0,    2,    1,                                        /* 10: list of i32 0 1 -1 */
    0x06, 0x50, 0x02,                                                 /* 40, in full: i64 1 */
    0x1c, 0x15, 0x08, 0x00,                                           /* 41: struct {1: i32 4} */
    0x19, 0x31, 0x01, 0x02, 0x00,                /* 42: list of bool true, false, false */
    0x19, 0xf2, 0x10, 1,    1,    1,    1,    1, /* 43: list of 16 bools, the other code */
    1,    1,    1,    1,    1,    1,    1,    1,    1, 1,   0,   0x00,
};

static void test_all_types(void **state)
{
    (void)state;
    hac_thrift t;
    hac_thrift_begin(&t, all_types, sizeof all_types);
    hac_thrift_field f = {0, 0}, inner = {0, 0};
    bool flag = false;
    int8_t i8 = 0;
    int16_t i16 = 0;
    int32_t i32 = 0;
    int64_t i64 = 0;
    size_t n = 0;
    hac_parquet_slice slice = {NULL, 0};
    assert_true(hac_thrift_next(&t, &f) && f.id == 1 && hac_thrift_bool(&t, &f, &flag) && flag);
    assert_true(hac_thrift_next(&t, &f) && f.id == 2 && hac_thrift_bool(&t, &f, &flag) && !flag);
    assert_true(hac_thrift_next(&t, &f) && f.id == 3 && hac_thrift_i8(&t, &f, &i8) && i8 == -1);
    assert_true(hac_thrift_next(&t, &f) && f.id == 4 && hac_thrift_i16(&t, &f, &i16) && i16 == INT16_MIN);
    assert_true(hac_thrift_next(&t, &f) && f.id == 5 && hac_thrift_i32(&t, &f, &i32) && i32 == INT32_MAX);
    assert_true(hac_thrift_next(&t, &f) && f.id == 6 && hac_thrift_i64(&t, &f, &i64) && i64 == INT64_MIN);
    assert_true(hac_thrift_next(&t, &f) && f.id == 7 && hac_thrift_binary(&t, &f, &slice));
    assert_true(slice.bytes == 3 && memcmp(slice.data, "abc", 3) == 0);
    assert_true(hac_thrift_next(&t, &f) && f.id == 10 && hac_thrift_list(&t, &f, HAC_THRIFT_I32, &n));
    assert_int_equal(n, 3);
    assert_int_equal(hac_thrift_i32_element(&t), 0);
    assert_int_equal(hac_thrift_i32_element(&t), 1);
    assert_int_equal(hac_thrift_i32_element(&t), -1);
    assert_true(hac_thrift_next(&t, &f) && f.id == 40 && hac_thrift_i64(&t, &f, &i64) && i64 == 1);
    assert_true(hac_thrift_next(&t, &f) && f.id == 41 && hac_thrift_struct(&t, &f));
    assert_true(hac_thrift_next(&t, &inner) && hac_thrift_i32(&t, &inner, &i32) && i32 == 4);
    assert_false(hac_thrift_next(&t, &inner));
    assert_true(hac_thrift_next(&t, &f) && f.id == 42 && hac_thrift_list(&t, &f, HAC_THRIFT_TRUE, &n));
    assert_int_equal(n, 3);
    assert_true(hac_thrift_bool_element(&t));
    assert_false(hac_thrift_bool_element(&t));
    assert_false(hac_thrift_bool_element(&t));
    assert_true(hac_thrift_next(&t, &f) && f.id == 43 && hac_thrift_list(&t, &f, HAC_THRIFT_TRUE, &n));
    assert_int_equal(n, 16);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(hac_thrift_bool_element(&t), i < 15);
    assert_false(hac_thrift_next(&t, &f));
    assert_null(t.broken);
    assert_ptr_equal(t.at, t.end);
}

/* All fields are skipped, as unknown ones or as ones of another type; truncated input is broken. */
static void test_skip(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes <= sizeof all_types; bytes++) {
        uint8_t *copy = malloc(bytes > 0 ? bytes : 1); /* so that a sanitizer sees its end */
        assert_non_null(copy);
        memcpy(copy, all_types, bytes);
        for (int wrong = 0; wrong < 2; wrong++) {
            hac_thrift t;
            hac_thrift_begin(&t, copy, bytes);
            hac_thrift_field f = {0, 0};
            int16_t kept = 77;
            while (hac_thrift_next(&t, &f)) {
                if (wrong == 1 && f.id != 4)
                    assert_false(hac_thrift_i16(&t, &f, &kept));
                else
                    hac_thrift_skip(&t, &f);
            }
            assert_int_equal(kept, 77);
            assert_int_equal(t.broken == NULL, bytes == sizeof all_types);
        }
        free(copy);
    }
}

static const char *skipped(const uint8_t *data, size_t bytes)
{
    hac_thrift t;
    hac_thrift_begin(&t, data, bytes);
    hac_thrift_field f = {0, 0};
    while (hac_thrift_next(&t, &f))
        hac_thrift_skip(&t, &f);
    assert_true(t.broken != NULL || t.at == t.end);
    return t.broken;
}

#define SKIPPED(...) skipped((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void test_hostile(void **state)
{
    (void)state;
    assert_null(SKIPPED(0x1d, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0)); /* uuid */
    assert_null(SKIPPED(0x1b, 0, 0));                                                    /* empty map */
    assert_null(SKIPPED(0x1b, 1, 0x85, 1, 'a', 2, 0));                                   /* map */
    assert_null(SKIPPED(0x17, 0, 0, 0, 0, 0, 0, 0, 0, 0));                               /* double */
    assert_null(SKIPPED(0x1a, 0x21, 0, 1, 0));                                           /* set */
    assert_non_null(SKIPPED(0x1e, 0));                                                   /* type 14 */
    assert_non_null(SKIPPED(0x19, 0x1e, 0, 0));                                          /* of type 14 */
    assert_non_null(SKIPPED(0x19, 0xf3, 0xff, 0xff, 0xff, 0xff, 0x0f, 0));               /* long list */
    assert_non_null(SKIPPED(0x19, 0x20, 0, 0, 0));                                       /* of type 0 */
    assert_non_null(SKIPPED(0x18, 0xff, 0xff, 0xff, 0xff, 0x0f, 0));                     /* long binary */
    assert_non_null(SKIPPED(0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0));
    assert_non_null(SKIPPED(0x16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0));
    assert_non_null(SKIPPED(0x06, 0xfe, 0xff, 0x03, 0, 0x16, 0, 0)); /* field 32768 */
    assert_non_null(SKIPPED(0x1b, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x11, 1));
    uint8_t deep[4096];
    memset(deep, 0x1c, sizeof deep); /* structs in structs */
    assert_non_null(skipped(deep, sizeof deep));
    memset(deep, 0x19, sizeof deep); /* lists in lists */
    assert_non_null(skipped(deep, sizeof deep));
    memset(deep, 0xbb, sizeof deep); /* maps in maps */
    assert_non_null(skipped(deep, sizeof deep));

    hac_thrift t;
    hac_thrift_field f = {0, 0};
    int32_t i32 = 5;
    const uint8_t wide[] = {0x15, 0x80, 0x80, 0x80, 0x80, 0x10, 0x00}; /* an i32 of 33 bits */
    hac_thrift_begin(&t, wide, sizeof wide);
    assert_true(hac_thrift_next(&t, &f));
    assert_false(hac_thrift_i32(&t, &f, &i32));
    assert_int_equal(i32, 5);
    assert_non_null(t.broken);
    assert_false(hac_thrift_next(&t, &f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_types),
        cmocka_unit_test(test_skip),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
