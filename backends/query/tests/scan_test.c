/* SPDX-License-Identifier: Apache-2.0 */
/* Compares every scanner of this machine with one that reads byte by byte. */
#include "sources/scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "source_support.h"

#define BYTES 700

typedef struct found {
    uint32_t marks[BYTES + HAC_SCAN_SPARE], ends[BYTES];
    hac_scan_index index;
    hac_scan scan;
} found;

static void start(found *f, hac_scan_marks what)
{
    memset(f, 0, sizeof *f);
    f->index = (hac_scan_index){.marks = f->marks, .ends = f->ends};
    f->scan = (hac_scan){.what = what, .delimiter = ',', .special = '\\', .opens = 1, .known = BYTES};
}

/* The definition, byte by byte. */
static void scan_simply(found *f, const uint8_t *data, size_t bytes)
{
    bool inside = false, quoted = f->scan.what == HAC_SCAN_QUOTED;
    for (size_t i = 0; i < bytes; i++) {
        if (data[i] == '"' && quoted) {
            bool before = i == 0 || data[i - 1] == ',' || data[i - 1] == '\n' || data[i - 1] == '"';
            bool behind = i + 1 == bytes || strchr(",\n\"", data[i + 1]) != NULL ||
                          (data[i + 1] == '\r' && (i + 2 == bytes || data[i + 2] == '\n'));
            size_t at = inside ? i + 1 : i;
            if (!(inside ? behind && data[i + (i + 1 < bytes)] != 0 : before) && !f->scan.misquoted) {
                f->scan.misquoted = true;
                f->scan.misquoted_at = at;
            }
            inside = !inside;
        }
        f->scan.special_seen |= quoted ? data[i] == '"' : f->scan.what == HAC_SCAN_FIELDS && data[i] == '\\';
        if (inside || (data[i] != '\n' && (data[i] != ',' || f->scan.what == HAC_SCAN_LINES)))
            continue;
        if (data[i] == '\n')
            f->ends[f->index.n_ends++] = (uint32_t)f->index.n_marks;
        f->marks[f->index.n_marks++] = (uint32_t)i + 1;
    }
    f->scan.inside = inside ? UINT64_MAX : 0;
}

static void check_equal(const found *got, const found *wanted, const char *name, const uint8_t *data,
                        size_t bytes)
{
    if (got->index.n_marks != wanted->index.n_marks || got->index.n_ends != wanted->index.n_ends ||
        memcmp(got->marks, wanted->marks, wanted->index.n_marks * sizeof *got->marks) != 0 ||
        memcmp(got->ends, wanted->ends, sizeof got->ends) != 0 ||
        got->scan.special_seen != wanted->scan.special_seen ||
        got->scan.misquoted != wanted->scan.misquoted ||
        got->scan.misquoted_at != wanted->scan.misquoted_at || got->scan.inside != wanted->scan.inside)
        fail_msg("%s, what %d: misquoted %d at %zu, wanted %d at %zu: %.*s", name, (int)got->scan.what,
                 got->scan.misquoted, got->scan.misquoted_at, wanted->scan.misquoted,
                 wanted->scan.misquoted_at, (int)bytes, data);
}

static void fill(uint8_t *data, const char *alphabet, uint64_t *seed)
{
    size_t letters = strlen(alphabet);
    for (size_t i = 0; i < BYTES; i++)
        data[i] = (uint8_t)alphabet[hac_random_u64(seed) % letters];
    memset(data + BYTES, '"', HAC_SCAN_PAD); /* bytes behind the end do not count */
}

static void check_fields(const hac_scanner *scanner, hac_scan_marks what, const uint8_t *data, size_t bytes)
{
    static found wanted, got;
    start(&wanted, what);
    scan_simply(&wanted, data, bytes);
    for (size_t slice = 64; slice <= 704; slice += 128) {
        start(&got, what);
        got.scan.known = bytes;
        for (size_t at = 0; at < bytes; at += slice)
            scanner->fields(&got.scan, data, at, at + slice < bytes ? at + slice : bytes, &got.index);
        check_equal(&got, &wanted, scanner->name, data, bytes);
    }
}

static void test_fields(void **state)
{
    (void)state;
    static const char *const alphabets[] = {"abcdefgh,\n",
                                            "a,\"\n",
                                            "\"\n,\r",
                                            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,\n\"",
                                            "\\,\nab",
                                            "\"",
                                            "abcdefghijklmnopqrstuvwxyz\n"};
    uint8_t data[BYTES + HAC_SCAN_PAD];
    const hac_scanner *scanner;
    for (size_t s = 0; (scanner = hac_scanner_at(s)) != NULL; s++) {
        uint64_t seed = 5;
        for (int round = 0; round < 700; round++) {
            fill(data, alphabets[round % 7], &seed);
            size_t bytes = round % 3 == 0 ? BYTES : hac_random_u64(&seed) % (BYTES + 1);
            for (int what = HAC_SCAN_LINES; what <= HAC_SCAN_QUOTED; what++)
                check_fields(scanner, (hac_scan_marks)what, data, bytes);
        }
    }
}

/* Valid quotes are never reported as misplaced: fields made by the rules. */
static void test_good_quotes(void **state)
{
    (void)state;
    static const char *const fields[] = {"a",        "",      "\"\"",   "\"a\"",
                                         "\"\"\"\"", "\",\"", "\"\n\"", "\"\"\"x\"\"\""};
    static const char *const ends[] = {",", "\n", "\r\n"};
    uint8_t data[BYTES + HAC_SCAN_PAD];
    static found got;
    const hac_scanner *scanner;
    uint64_t seed = 9;
    for (size_t s = 0; (scanner = hac_scanner_at(s)) != NULL; s++) {
        for (int round = 0; round < 2000; round++) {
            size_t bytes = 0, marks = 0;
            while (bytes < BYTES - 16) {
                const char *field = fields[hac_random_u64(&seed) % 8], *end = ends[hac_random_u64(&seed) % 3];
                bytes += (size_t)sprintf((char *)data + bytes, "%s%s", field, end);
                marks++;
            }
            start(&got, HAC_SCAN_QUOTED);
            got.scan.known = bytes;
            scanner->fields(&got.scan, data, 0, bytes, &got.index);
            assert_false(got.scan.misquoted);
            assert_int_equal(got.index.n_marks, marks);
        }
    }
}

static bool blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\v' || c == '\f' || c == '\r';
}

static void test_words(void **state)
{
    (void)state;
    uint8_t data[BYTES + HAC_SCAN_PAD];
    static uint32_t marks[BYTES + HAC_SCAN_SPARE], wanted[BYTES];
    const hac_scanner *scanner;
    uint64_t seed = 3;
    for (size_t s = 0; (scanner = hac_scanner_at(s)) != NULL; s++) {
        for (int round = 0; round < 500; round++) {
            for (size_t i = 0; i < sizeof data; i++) /* all byte values, with many blanks */
                data[i] = hac_random_u64(&seed) % 3 == 0 ? (uint8_t)(8 + hac_random_u64(&seed) % 7)
                                                         : (uint8_t)hac_random_u64(&seed);
            size_t bytes = hac_random_u64(&seed) % (BYTES + 1), n = 0;
            uint64_t in = (uint64_t)round % 2, carry = in;
            for (size_t i = 0; i < bytes; i++) {
                if (in != !blank(data[i]))
                    wanted[n++] = (uint32_t)i;
                in = !blank(data[i]);
            }
            hac_scan_index index = {.marks = marks};
            for (size_t at = 0; at < bytes; at += 128)
                scanner->words(data, at, at + 128 < bytes ? at + 128 : bytes, &carry, &index);
            assert_int_equal(index.n_marks, n);
            assert_memory_equal(marks, wanted, n * sizeof *marks);
            assert_int_equal(carry, in);
        }
    }
}

static void test_count(void **state)
{
    (void)state;
    const hac_scanner *scanner;
    uint64_t seed = 4;
    for (size_t s = 0; (scanner = hac_scanner_at(s)) != NULL; s++)
        for (size_t bytes = 0; bytes < 300; bytes++) {
            hac_autofree uint8_t *data = malloc(bytes + 1);
            uint64_t wanted = 0;
            for (size_t i = 0; i < bytes; i++)
                wanted += (data[i] = (uint8_t)(33 + hac_random_u64(&seed) % 3)) == '"';
            assert_int_equal(scanner->count(data, bytes, '"'), wanted);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_good_quotes),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
