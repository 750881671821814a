/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <errno.h>
#include <string.h>

#include "base/test_support.h"
#include "base/text.h"

static void test_fail_fills_and_returns(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_fail(&err, HAC_FAILED, "%s has %d bytes", "a.bin", 7), HAC_FAILED);
    assert_int_equal(err.code, HAC_FAILED);
    assert_string_equal(err.message, "a.bin has 7 bytes");
    assert_int_equal(hac_fail(NULL, HAC_REFUSED, "ignored"), HAC_REFUSED);
    assert_int_equal(hac_fail_no_memory(&err), HAC_NO_MEMORY);
    assert_string_equal(err.message, "out of memory");
}

static void test_errno(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_fail_errno(&err, HAC_IO, ENOENT, "cannot open %s", "x"), HAC_IO);
    assert_string_equal(err.message, "cannot open x: No such file or directory");
    assert_int_equal(hac_fail_errno(&err, HAC_IO, 99999, "odd"), HAC_IO);
    assert_string_equal(err.message, "odd: unknown error");
    assert_int_equal(hac_fail_errno(NULL, HAC_IO, ENOENT, "ignored"), HAC_IO);
}

static void test_prefix(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_fail(&err, HAC_DEVICE, "it broke");
    assert_int_equal(hac_error_prefix(&err, "device %d", 3), HAC_DEVICE);
    assert_string_equal(err.message, "device 3: it broke");
    assert_int_equal(hac_error_prefix(NULL, "ignored"), HAC_INTERNAL);
    for (int i = 0; i < 200; i++)
        hac_error_prefix(&err, "step %d", i);
    assert_int_equal(strlen(err.message), HAC_ERROR_MESSAGE_SIZE - 1);
}

/* Whatever is put in, a message is one line of valid UTF-8, also where it is cut. */
static void test_messages_are_tidy(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_fail(&err, HAC_INVALID, "file %s", "two\nlines \x1b[31m \xff\xc3\r\x7f");
    assert_string_equal(err.message, "file two lines \\x1b[31m ??\\r\\x7f");
    hac_error_prefix(&err, "here"); /* what is escaped stays as it is */
    assert_string_equal(err.message, "here: file two lines \\x1b[31m ??\\r\\x7f");
    char name[1200];
    for (size_t pad = 0; pad < 5; pad++) {
        memset(name, 'x', pad);
        for (size_t i = pad; i + 4 < sizeof name; i += 3)
            memcpy(name + i, "\xe2\x82\xac", 4); /* U+20AC */
        hac_fail(&err, HAC_INVALID, "%s", name);
        size_t bytes = strlen(err.message), step;
        assert_true(bytes <= HAC_ERROR_MESSAGE_SIZE - 1 && bytes >= HAC_ERROR_MESSAGE_SIZE - 5);
        for (size_t i = 0; i < bytes; i += step) {
            step = hac_utf8_sequence(err.message + i, bytes - i);
            assert_true(step > 0);
        }
    }
}

static void test_codes(void **state)
{
    (void)state;
    static const struct {
        hac_status status;
        int exit_code;
        const char *name;
    } wanted[] = {{HAC_OK, 0, "ok"},
                  {HAC_FAILED, 1, "failed"},
                  {HAC_INVALID, 2, "invalid"},
                  {HAC_NO_DAEMON, 3, "no_daemon"},
                  {HAC_REFUSED, 4, "refused"},
                  {HAC_CANCELLED, 130, "cancelled"},
                  {HAC_PROTOCOL, 3, "protocol"},
                  {HAC_NOT_FOUND, 2, "not_found"},
                  {HAC_INTERNAL, 1, "internal"},
                  {14, 1, "unknown"},
                  {-1, 1, "unknown"}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_int_equal(hac_status_exit_code(wanted[i].status), wanted[i].exit_code);
        assert_string_equal(hac_status_name(wanted[i].status), wanted[i].name);
    }
    for (hac_status s = HAC_OK; s <= HAC_INTERNAL; s++)
        assert_string_not_equal(hac_status_name(s), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fail_fills_and_returns),
        cmocka_unit_test(test_errno),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_messages_are_tidy),
        cmocka_unit_test(test_codes),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
