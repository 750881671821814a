/* SPDX-License-Identifier: Apache-2.0 */
#include "screen_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/text.h"
#include "tsv_field.h"

static void check_shown(const char *text, size_t bytes, const char *wanted)
{
    char *ret = malloc(HAC_SCREEN_TEXT_MAX(bytes)); /* exactly as many as promised: for ASan */
    hac_screen_text(text, bytes, ret);
    assert_string_equal(ret, wanted);
    free(ret);
}

static void escapes_what_a_terminal_obeys(void **state)
{
    (void)state;
    check_shown("", 0, "");
    check_shown("größer 漢字 🙂", 20, "größer 漢字 🙂");
    check_shown("a\nb\rc\td", 7, "a\\nb\\rc\\td");
    check_shown("\0\x1b[31m\x7f", 7, "\\x00\\x1b[31m\\x7f");
    check_shown("\xc2\x9b", 2, "\\x9b");                             /* CSI as one character of C1 */
    const char override[] = {(char)0xe2, (char)0x80, (char)0xae, 0}; /* right to left */
    check_shown(override, 3, "\\u202e");
    check_shown("\xe2\x80\x8b\xef\xbb\xbf", 6, "\\u200b\\ufeff");
    check_shown("\xf3\xa0\x80\x81", 4, "\\Ue0001");
    check_shown("\xff\xc3", 2, "\\xff\\xc3");          /* no UTF-8; a sequence that is cut */
    check_shown("\xed\xa0\x80", 3, "\\xed\\xa0\\x80"); /* a surrogate */
    check_shown("\xc0\xaf", 2, "\\xc0\\xaf");          /* an overlong slash */
    check_shown("\xff\xff\xff\xff\xff", 5, "\\xff\\xff\\xff\\xff\\xff");
}

static void counts_columns(void **state)
{
    (void)state;
    assert_int_equal(hac_screen_width(""), 0);
    assert_int_equal(hac_screen_width("größer"), 6);
    assert_int_equal(hac_screen_width("漢字"), 4);
    assert_int_equal(hac_screen_width("한"), 2);
    assert_int_equal(hac_screen_width("e\xcc\x81"), 1); /* e and a combining acute accent */
    assert_int_equal(hac_screen_width("🙂"), 2);
    assert_int_equal(hac_screen_width("…│"), 2);
}

static void check_cut(const char *text, size_t width, const char *wanted)
{
    char *copy = malloc(strlen(text) + sizeof "…");
    hac_screen_cut(strcpy(copy, text), width);
    assert_string_equal(copy, wanted);
    free(copy);
}

static void cuts(void **state)
{
    (void)state;
    check_cut("abcdef", 6, "abcdef");
    check_cut("abcdef", 5, "abcd…");
    check_cut("abcdef", 1, "…");
    check_cut("", 1, "");
    check_cut("漢字漢", 6, "漢字漢");
    check_cut("漢字漢", 5, "漢字…");
    check_cut("漢字漢", 4, "漢…"); /* half a character is not shown */
    check_cut("größer", 4, "grö…");
    check_cut("e\xcc\x81"
              "bc",
              2, "e\xcc\x81…"); /* an accent stays with its letter */
}

/* Random bytes: what is shown is UTF-8 without control characters, and a cut has at most the width. */
static void random_bytes_are_harmless(void **state)
{
    uint64_t random = 99;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        char raw[24], shown[HAC_SCREEN_TEXT_MAX(24) + 4];
        size_t bytes = hac_random_u64(&random) % sizeof raw, width = 1 + hac_random_u64(&random) % 30;
        for (size_t i = 0; i < bytes; i++) {
            uint64_t r = hac_random_u64(&random);
            raw[i] = (char)(r % 3 == 0 ? 0xe2 : r % 3 == 1 ? 0x80 | (r >> 8 & 0x3f) : r >> 8);
        }
        hac_screen_text(raw, bytes, shown);
        for (size_t left = strlen(shown), n; left > 0; left -= n) {
            const char *at = shown + strlen(shown) - left;
            n = hac_utf8_sequence(at, left);
            assert_true(n > 0 && (uint8_t)*at >= 0x20 && *at != 0x7f);
        }
        size_t before = hac_screen_width(shown);
        hac_screen_cut(shown, width);
        assert_true(hac_screen_width(shown) <= width);
        assert_true(before > width || hac_screen_width(shown) == before);
    }
}

static void check_field(const char *field, const char *wanted, size_t bytes)
{
    char *copy = strdup(field);
    assert_int_equal(hac_tsv_unescape(copy, strlen(field)), bytes);
    assert_memory_equal(copy, wanted, bytes);
    free(copy);
}

static void undoes_escapes_of_tsv(void **state)
{
    (void)state;
    check_field("plain", "plain", 5);
    check_field("a\\tb\\nc\\rd\\\\e", "a\tb\nc\rd\\e", 9);
    check_field("\\\\n", "\\n", 2);
    check_field("\\x\\", "\\x\\", 3); /* unknown, and one at the end */
    check_field("", "", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_what_a_terminal_obeys),
        cmocka_unit_test(counts_columns),
        cmocka_unit_test(cuts),
        cmocka_unit_test(random_bytes_are_harmless),
        cmocka_unit_test(undoes_escapes_of_tsv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
