/* SPDX-License-Identifier: Apache-2.0 */
/* Strings as two words: every length at every place of a page, including the last bytes before an unreadable
 * page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sources/string_words.h"

/* By the definition in codelet/hash.h. */
static void words_by_definition(const uint8_t *p, uint32_t n, uint64_t ret[2])
{
    uint8_t bytes[16] = {0};
    memcpy(bytes, &n, sizeof n);
    if (n <= HAC_STRING_SHORT) {
        for (uint32_t i = 0; i < n; i++)
            bytes[4 + i] = p[i];
    } else {
        uint64_t address = (uintptr_t)p;
        memcpy(bytes + 4, p, 4);
        memcpy(bytes + 8, &address, sizeof address);
    }
    memcpy(ret, bytes, sizeof bytes);
}

static uint8_t *two_pages(size_t page)
{
    uint8_t *memory = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + 2 * page, page, PROT_NONE), 0);
    for (size_t i = 0; i < 2 * page; i++) /* no zeros, so that bytes that are not masked out are seen */
        memory[i] = (uint8_t)(1 + i * 7 % 255);
    return memory;
}

static void check(const uint8_t *p, uint32_t n)
{
    uint64_t wanted[2], low, high;
    words_by_definition(p, n, wanted);
    hac_string_to_words(p, n, &low, &high);
    assert_int_equal(low, wanted[0]);
    assert_int_equal(high, wanted[1]);
    hac_string_to_words_exactly(p, n, &low, &high);
    assert_int_equal(low, wanted[0]);
    assert_int_equal(high, wanted[1]);
    assert_true(hac_string_words_equal(wanted, low, high));
}

static void test_lengths(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory = two_pages(page);
    check(NULL, 0);
    for (uint32_t n = 0; n <= 20; n++) {
        for (size_t at = page - 40; at < page + 40; at++)
            check(memory + at, n);
        for (size_t at = 2 * page - 60; at + n <= 2 * page; at++)
            check(memory + at, n);
    }
    munmap(memory, 3 * page);
}

/* The words do not depend on the bytes behind the string. */
static void test_surroundings(void **state)
{
    (void)state;
    _Alignas(64) uint8_t text[2][64];
    for (uint32_t n = 0; n <= HAC_STRING_SHORT; n++) {
        uint64_t low[2], high[2];
        memset(text[0], 0, sizeof text[0]);
        memset(text[1], 0xff, sizeof text[1]);
        for (size_t i = 0; i < 2; i++) {
            memcpy(text[i] + 3, "abcdefghijklm", n);
            hac_string_to_words(text[i] + 3, n, &low[i], &high[i]);
        }
        assert_int_equal(low[0], low[1]);
        assert_int_equal(high[0], high[1]);
        uint64_t words[2] = {low[0], high[0]};
        uint32_t length;
        assert_memory_equal(hac_words_to_string(words, &length), "abcdefghijklm", n);
        assert_int_equal(length, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_surroundings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
