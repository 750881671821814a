/* SPDX-License-Identifier: Apache-2.0 */
/* Delimiters and headers: cases that a person decides at a glance, and tables made with a known delimiter. */
#include "query/detect.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/query_layout.h"
#include "base/random.h"
#include "base/test_support.h"

enum { BOTH = HAC_DETECT_DELIMITER | HAC_DETECT_HEADER };

static hac_source_options found_bytes(hac_input_format format, unsigned what, const char *text, size_t bytes)
{
    hac_source_options options = {.format = format};
    const hac_source_place place = {.fd = -1, .memory = (const uint8_t *)text, .bytes = bytes};
    assert_int_equal(hac_detect_options(what, &place, &options, NULL), HAC_OK);
    return options;
}

/* `delimiter` 0: the format's own. */
static void check(const char *text, char delimiter, bool header)
{
    hac_source_options options = found_bytes(HAC_INPUT_CSV, BOTH, text, strlen(text));
    if (options.options.delimiter != (uint8_t)delimiter || options.options.no_header == header)
        fail_msg("%s: delimiter '%c', %s", text, options.options.delimiter,
                 options.options.no_header ? "no header" : "header");
}

static void test_delimiters(void **state)
{
    (void)state;
    check("a,b\n1,2\n", 0, true);
    check("a;b\n1;2\n", ';', true);
    check("a\tb\n1\t2\n", '\t', true);
    check("a|b\n1|2\n", '|', true);
    check("a b\n1 2\n3 4\n", ' ', true);
    check("a b\n1 2\n", 0, true);                /* two records: it may be one column of text */
    check("to be\nor not\nto be\n", 0, true);    /* words */
    check("a;b\n1,5;2\n2,25;3\n", ';', true);    /* a comma in one record only */
    check("a;b\n1,5;2,5\n2,2;3,1\n", ';', true); /* none in the header */
    check("a,b\n1;2,3;4\n5;6,7;8\n", 0, true);   /* as many of both: the comma */
    check("a|b;c;d\n1|2;3;4\n", ';', true);      /* the one with the most */
    check("\"a;x\",b\n\"1;2\",3\n\"4\",5\n", 0, true);
    check("a;b\n\"x\n;y\";2\n\"z\";3\n", ';', true); /* a line feed and a delimiter in quotes */
    check("a;b\r\n1;2\r\n", ';', true);
    check("\n\na;b\n\n1;2\n\n", ';', true); /* empty lines are no records */
    check("\xef\xbb\xbf"
          "a;b\n1;2\n",
          ';', true);             /* a byte order mark */
    check("a;b\n1;2", ';', true); /* no line feed at the end */
    check("a;b", ';', true);
    check("a,b;c\n1;2\n3;4\n", ';', true);
    check("word\n", 0, true);
}

static void test_headers(void **state)
{
    (void)state;
    check("1,2\n3,4\n", 0, false);
    check("x,1\ny,2\n", 0, false);
    check("x,y\na,b\n", 0, true); /* nothing but text */
    check("2019,2020,2021\n5,6,7\n", 0, true);
    check("2019,2020,2021\n", 0, false); /* one record of numbers */
    check("2019,2021\n5,6\n", 0, false); /* years, but not successive ones */
    check("2019\n5\n", 0, false);        /* one year */
    check("k,2019,2020\nx,6,7\n", 0, true);
    check("id,when\n1,2024-05-01\n", 0, true);
    check("7,2024-05-01\n1,2024-05-02\n", 0, false);
    check("flag\ntrue\nFALSE\n", 0, true);
    check("true\nFALSE\n", 0, false);
    check("a,b\n,\n,\n", 0, true);
    check(",1\n,2\n", 0, false);
    check(",b\n1,2\n", 0, true); /* a name that is missing */
    check("\"1\",\"2\"\n\"3\",\"4\"\n", 0, false);
    check("a,b\n1,x\n\\N,y\n", 0, true);
    check("1,n\n2,3\n", 0, true); /* n is no number: a name */
}

static void test_what_is_not_asked_for_stays(void **state)
{
    static const char text[] = "1;2\n3;4\n";
    (void)state;
    hac_source_options options = found_bytes(HAC_INPUT_CSV, 0, text, sizeof text - 1);
    assert_int_equal(options.options.delimiter, 0);
    assert_false(options.options.no_header);
    options = found_bytes(HAC_INPUT_CSV, HAC_DETECT_DELIMITER, text, sizeof text - 1);
    assert_int_equal(options.options.delimiter, ';');
    assert_false(options.options.no_header);
    options = found_bytes(HAC_INPUT_CSV, HAC_DETECT_HEADER, text, sizeof text - 1);
    assert_int_equal(options.options.delimiter, 0);
    assert_false(options.options.no_header); /* one column of text */
    options = found_bytes(HAC_INPUT_TSV, BOTH, "1;2\t3\n4;5\t6\n", 12);
    assert_int_equal(options.options.delimiter, 0);
    assert_true(options.options.no_header); /* 1;2 is text, 3 a number */
    options = found_bytes(HAC_INPUT_TSV, BOTH, "1\t3\n4\t6\n", 8);
    assert_int_equal(options.options.delimiter, 0);
    assert_true(options.options.no_header);
    options = found_bytes(HAC_INPUT_JSONL, BOTH, "1;2\n3;4\n", 8);
    assert_int_equal(options.options.delimiter, 0);
    assert_false(options.options.no_header);
}

static void test_nothing_to_look_at(void **state)
{
    static char quote[HAC_DETECT_BYTES + 100];
    (void)state;
    check("", 0, true);
    check("\n\n\r\n", 0, true);
    memset(quote, ';', sizeof quote);
    quote[0] = '"'; /* the first record does not end in the bytes that are looked at */
    hac_source_options options = found_bytes(HAC_INPUT_CSV, BOTH, quote, sizeof quote);
    assert_int_equal(options.options.delimiter, 0);
    assert_false(options.options.no_header);
    hac_source_place folder = {.fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), .bytes = 10};
    assert_int_equal(hac_detect_options(BOTH, &folder, &options, NULL), HAC_OK); /* it cannot be read */
    close(folder.fd);
}

/* What lies behind the beginning, and the record across its end, change nothing. */
static void test_the_end_of_what_is_looked_at(void **state)
{
    hac_text text = HAC_TEXT_NONE;
    (void)state;
    hac_text_add(&text, "a;b\n");
    while (text.bytes <= HAC_DETECT_BYTES)
        hac_text_add(&text, "17;4\n");
    for (int i = 0; i < 3; i++)
        hac_text_add(&text, "x,y,z|w\n");
    assert_false(text.broken);
    for (size_t bytes = HAC_DETECT_BYTES + 1; bytes <= text.bytes; bytes++) {
        hac_source_options options = found_bytes(HAC_INPUT_CSV, BOTH, text.data, bytes);
        assert_int_equal(options.options.delimiter, ';');
        assert_false(options.options.no_header);
    }
    hac_text_clear(&text);
}

/* Columns beyond the limit are not looked at, and do not disturb. */
static void test_many_columns(void **state)
{
    hac_text text = HAC_TEXT_NONE;
    (void)state;
    for (int record = 0; record < 3; record++)
        for (int c = 0; c < HAC_COLUMNS_MAX + 10; c++)
            hac_text_addf(&text, "%s%d", c == 0 ? "" : ";", c);
    hac_text_add(&text, "\n1;2\n");
    assert_false(text.broken);
    hac_source_options options = found_bytes(HAC_INPUT_CSV, HAC_DETECT_HEADER, text.data, text.bytes);
    assert_false(options.options.no_header);
    hac_text_clear(&text);
}

static void add_value(hac_text *text, uint64_t *random, unsigned type)
{
    static const char *const words[] = {"ash", "Birch tree", "oak-leaf", "x", ""};
    uint64_t v = hac_random_u64(random);
    if (type == 0)
        hac_text_addf(text, "%d", (int)(v % 2000) - 1000);
    else if (type == 1)
        hac_text_addf(text, "%d.%02d", (int)(v % 100), (int)(v >> 32 & 63));
    else if (type == 2)
        hac_text_addf(text, "20%02d-%02d-%02d", (int)(v % 30), 1 + (int)(v >> 8 & 7),
                      1 + (int)(v >> 16 & 15));
    else
        hac_text_add(text, words[v % 5]);
}

/* Tables of a random delimiter, with and without a header; one column has numbers in every row. */
static void test_random_tables(void **state)
{
    static const char delimiters[] = ",;\t|";
    uint64_t random = 4711;
    (void)state;
    for (int round = 0; round < HAC_TEST_CASES(3000, 300); round++) {
        hac_text text = HAC_TEXT_NONE;
        char delimiter = delimiters[hac_random_u64(&random) % 4];
        size_t columns = 2 + hac_random_u64(&random) % 6, rows = 2 + hac_random_u64(&random) % 20;
        bool header = hac_random_u64(&random) % 2 == 0;
        unsigned types[8] = {0};
        for (size_t c = 1; c < columns; c++)
            types[c] = (unsigned)(hac_random_u64(&random) % 4);
        for (size_t c = 0; header && c < columns; c++)
            hac_text_addf(&text, "%.*sname %zu", c != 0, &delimiter, c);
        hac_text_add(&text, header ? "\n" : "");
        for (size_t i = 0; i < rows; i++)
            for (size_t c = 0; c < columns; c++) {
                hac_text_add_bytes(&text, &delimiter, c != 0);
                add_value(&text, &random, types[c]);
                hac_text_add(&text, c + 1 == columns ? "\n" : "");
            }
        assert_false(text.broken);
        hac_text_add_bytes(&text, "", 1);
        check(text.data, (char)(delimiter == ',' ? 0 : delimiter), header);
        hac_text_clear(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delimiters),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_what_is_not_asked_for_stays),
        cmocka_unit_test(test_nothing_to_look_at),
        cmocka_unit_test(test_the_end_of_what_is_looked_at),
        cmocka_unit_test(test_many_columns),
        cmocka_unit_test(test_random_tables),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
