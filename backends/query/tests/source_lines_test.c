/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of lines, kv and words. */
#include <string.h>

#include "base/random.h"
#include "source_support.h"

static void check(hac_input_format format, const char *schema, const char *text, size_t bytes,
                  const char *wanted)
{
    test_query q;
    test_query_make(&q, format, false, schema);
    test_check_chunks(&q.query, text, bytes, wanted);
}

static void check_text(hac_input_format format, const char *schema, const char *text, const char *wanted)
{
    check(format, schema, text, strlen(text), wanted);
}

static void test_lines(void **state)
{
    (void)state;
    const char *s = "line:string";
    check_text(HAC_INPUT_LINES, s, "", "");
    check_text(HAC_INPUT_LINES, s, "a", "<1:a>|\n");
    check_text(HAC_INPUT_LINES, s, "a\n", "<1:a>|\n");
    check_text(HAC_INPUT_LINES, s, "\n\na\r\n\r\n\"b,\r", "<0:>|\n<0:>|\n<1:a>|\n<0:>|\n<3:\"b,>|\n");
    check_text(HAC_INPUT_LINES, s, "a\rb\r\r\n", "<4:a\rb\r>|\n");
    check_text(HAC_INPUT_LINES, "line:i64", "1\n 2 \n", "1|\n2|\n");
    check_text(HAC_INPUT_LINES, "", "a\n\nb", "\n\n\n");
}

static void test_kv(void **state)
{
    (void)state;
    check_text(HAC_INPUT_KV, "key:string value:string", "a\tb\nc\n\td\te\r\n\t\n\n",
               "<1:a>|<1:b>|\n<1:c>|-|\n<0:>|<3:d\te>|\n<0:>|<0:>|\n<0:>|-|\n");
    test_query q;
    test_query_make(&q, HAC_INPUT_KV, false, "value:i64");
    q.positions[0] = 1;
    test_check_chunks(&q.query, "a\t5\nb\n", 6, "5|\n-|\n");
    q.positions[0] = 2;
    hac_autofree char *got = test_read_text(&q.query, "a\n");
    assert_string_equal(got, "error: there is no column 'value': this format has key and value");
}

static void test_words(void **state)
{
    (void)state;
    const char *s = "word:string";
    check_text(HAC_INPUT_WORDS, s, "", "");
    check_text(HAC_INPUT_WORDS, s, " \t\n", "");
    check_text(HAC_INPUT_WORDS, s, "a", "<1:a>|\n");
    check_text(HAC_INPUT_WORDS, s, " a", "<1:a>|\n");
    check_text(HAC_INPUT_WORDS, s, "a b\tcc\nd\ve\ff\rg",
               "<1:a>|\n<1:b>|\n<2:cc>|\n<1:d>|\n<1:e>|\n<1:f>|\n<1:g>|\n");
    check_text(HAC_INPUT_WORDS, s, "\n\n The  the,\xc3\xa4 \x85 ",
               "<3:The>|\n<6:the,\xc3\xa4>|\n<1:\x85>|\n");
    check_text(HAC_INPUT_WORDS, "", "a b ccc", "\n\n\n");
}

static void test_errors(void **state)
{
    (void)state;
    test_query q;
    test_query_make(&q, HAC_INPUT_WORDS, false, "word:u8");
    hac_autofree char *got = test_read_text(&q.query, "1 2\n\n3 x 4");
    assert_string_equal(got, "error: line 3, column word: 'x' is not a whole number from 0 up (u8)");
    q.query.source.options.skip_errors = true;
    test_check_chunks(&q.query, "1 x 2\ny\n3", 9, "1|\n2|\n3|\nskipped: 2");
    test_query_make(&q, HAC_INPUT_LINES, false, "line:u8 more:u8");
    hac_autofree char *more = test_read_text(&q.query, "1\n");
    assert_string_equal(more, "error: there is no column 'more': this format has one");
}

/* ---- against the definitions, a byte at a time ---- */

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\v' || c == '\f' || c == '\r';
}

static void add_field(hac_text *rows, const char *text, size_t bytes)
{
    hac_text_addf(rows, "<%zu:", bytes);
    hac_text_add_bytes(rows, text, bytes);
    hac_text_add(rows, ">|\n");
}

static char *finish(hac_text *rows)
{
    char *ret = NULL;
    hac_text_add(rows, "");
    assert_int_equal(hac_text_finish(rows, &ret, NULL, NULL), HAC_OK);
    return ret;
}

static char *words_simply(const char *text, size_t bytes)
{
    hac_text rows = HAC_TEXT_NONE;
    for (size_t i = 0, start = 0; i <= bytes; i++) {
        if (i < bytes && !blank(text[i]))
            continue;
        if (i > start)
            add_field(&rows, text + start, i - start);
        start = i + 1;
    }
    return finish(&rows);
}

static char *lines_simply(const char *text, size_t bytes)
{
    hac_text rows = HAC_TEXT_NONE;
    for (size_t i = 0, start = 0; i <= bytes; i++) {
        if (i < bytes && text[i] != '\n')
            continue;
        if (i < bytes || start < bytes)
            add_field(&rows, text + start, i - start - (i > start && text[i - 1] == '\r'));
        start = i + 1;
    }
    return finish(&rows);
}

static void check_format(hac_input_format format, const char *text, size_t bytes, uint64_t chunk, bool file)
{
    test_query q;
    test_query_make(&q, format, false, "x:string");
    hac_autofree char *wanted =
        format == HAC_INPUT_WORDS ? words_simply(text, bytes) : lines_simply(text, bytes);
    test_reading reading = {.data = text, .bytes = bytes, .chunk = chunk, .file = file};
    hac_autofree char *got = test_read(&q.query, &reading);
    if (strcmp(got, wanted) != 0)
        fail_msg("format %d, %zu bytes in chunks of %llu: not as by the definition", (int)format, bytes,
                 (unsigned long long)chunk);
}

static void test_random_texts(void **state)
{
    (void)state;
    uint64_t seed = 41;
    for (int round = 0; round < 20000; round++) {
        char text[200];
        size_t bytes = hac_random_u64(&seed) % sizeof text, rare = 1 + hac_random_u64(&seed) % 20;
        for (size_t i = 0; i < bytes; i++)
            text[i] = hac_random_u64(&seed) % rare == 0 ? " \t\n\v\f\r"[hac_random_u64(&seed) % 6] : 'x';
        uint64_t chunk = hac_random_u64(&seed) % 80;
        check_format(HAC_INPUT_WORDS, text, bytes, chunk, round % 8 == 0);
        check_format(HAC_INPUT_LINES, text, bytes, chunk, round % 8 == 0);
    }
}

/* Words and lines as long as the reader's block, longer, and slightly shorter. */
static void test_long_records(void **state)
{
    (void)state;
    static const size_t lengths[] = {4095, 8191, 8192, 8193, 262143, 262144, 262145, 266240, 266241, 700000};
    hac_autofree char *text = malloc(3000000);
    assert_non_null(text);
    uint64_t seed = 42;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        size_t bytes = 0;
        for (int i = 0; i < 3; i++) {
            memset(text + bytes, 'a' + i, lengths[l]);
            bytes += lengths[l];
            text[bytes++] = i == 1 ? ' ' : '\n';
            memcpy(text + bytes, "b c\n", 4);
            bytes += 4;
        }
        for (int i = 0; i < 6; i++) {
            uint64_t chunk = i == 0 ? 0 : i == 1 ? lengths[l] : 1 + hac_random_u64(&seed) % bytes;
            check_format(HAC_INPUT_WORDS, text, bytes, chunk, i % 2 == 1);
            check_format(HAC_INPUT_LINES, text, bytes, chunk, i % 2 == 1);
        }
    }
}

static void test_record_cap(void **state)
{
    (void)state;
    const size_t bytes = (64u << 20) + 100;
    static const char *const wanted[] = {[HAC_INPUT_LINES] = "error: line 2: a record is longer than 64 MiB",
                                         [HAC_INPUT_WORDS] = "error: line 2: a word is longer than 64 MiB"};
    hac_autofree char *text = malloc(bytes);
    assert_non_null(text);
    memset(text, 'x', bytes);
    text[1] = '\n';
    for (int format = HAC_INPUT_LINES; format <= HAC_INPUT_WORDS; format++) {
        test_query q;
        test_query_make(&q, (hac_input_format)format, false, "x:string");
        test_reading reading = {.data = text, .bytes = bytes};
        hac_autofree char *got = test_read(&q.query, &reading);
        assert_memory_equal(got, "<1:x>|\n", 7);
        assert_string_equal(got + 7, wanted[format]);
    }
}

/* ---- a real text, and the counts that Python gives: len(open(…,'rb').read().split()) ---- */

static void test_shakespeare(void **state)
{
    (void)state;
    size_t bytes = 0, words = 0;
    hac_autofree char *text = test_data("shakespeare.txt", &bytes);
    if (text == NULL)
        skip();
    for (uint64_t chunk = 0; chunk < 700000; chunk += 99991) {
        check_format(HAC_INPUT_WORDS, text, bytes, chunk, chunk > 0);
        check_format(HAC_INPUT_LINES, text, bytes, chunk, chunk > 0);
    }
    test_query q;
    test_query_make(&q, HAC_INPUT_WORDS, false, "");
    test_reading reading = {.data = text, .bytes = bytes, .chunk = 1000};
    hac_autofree char *got = test_read(&q.query, &reading);
    words = strlen(got);
    assert_int_equal(words, 202651);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),        cmocka_unit_test(test_kv),
        cmocka_unit_test(test_words),        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_random_texts), cmocka_unit_test(test_long_records),
        cmocka_unit_test(test_record_cap),   cmocka_unit_test(test_shakespeare),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
