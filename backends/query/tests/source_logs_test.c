/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of clf, logfmt and syslog. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "source_support.h"

static void check(hac_input_format format, const char *schema, const uint16_t *places, const char *text,
                  const char *wanted)
{
    test_query q;
    test_query_make(&q, format, false, schema);
    for (size_t i = 0; places != NULL && i < q.query.columns.n_fields; i++)
        q.positions[i] = places[i];
    test_check_chunks(&q.query, text, strlen(text), wanted);
}

#define REQUEST "1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET /a?b=c HTTP/1.0\" 200 2326"

static void test_clf(void **state)
{
    (void)state;
    static const uint16_t who[] = {0, 1, 2}, request[] = {4, 5, 6, 7}, numbers[] = {3, 8, 9},
                          rest[] = {10, 11, 12};
    const char *three = "a:string b:string c:string";
    check(HAC_INPUT_CLF, three, who, REQUEST "\n::1 id Jo Doe [10/Oct/2000:13:55:36 -0700] \"\" 1 -\r\n\n",
          "<7:1.2.3.4>|-|-|\n<3:::1>|<2:id>|<6:Jo Doe>|\n");
    check(HAC_INPUT_CLF, "a:string b:string c:string d:string", request,
          REQUEST "\nh - - [10/Oct/2000:13:55:36 -0700] \"a \\\"b\\x41\\\\ \\q c\" 400 -\n",
          "<19:GET /a?b=c HTTP/1.0>|<3:GET>|<6:/a?b=c>|<8:HTTP/1.0>|\n<11:a \"bA\\ \\q c>|-|-|-|\n");
    check(HAC_INPUT_CLF, "a:timestamp b:i32 c:i64", numbers,
          "h - - [01/Jan/1970:01:00:00 +0100] \"-\" 200 0\nh - - [01/Jan/1970:00:00:01 +0000] \"-\" - -\n",
          "0|200|0|\n1000000|-|-|\n");
    check(HAC_INPUT_CLF, three, rest,
          REQUEST "\n" REQUEST " \"-\" \"curl \\\"x\\\"\"\n" REQUEST " \"r\" \"a\" 0.5 \"x\"\n" REQUEST
                  " 17\n",
          "-|-|-|\n-|<8:curl \"x\">|-|\n<1:r>|<1:a>|<7:0.5 \"x\">|\n-|-|<2:17>|\n");
}

/* Debian's vhost_combined: a host with a port is none, nor is an address of IPv6. */
static void test_vhost(void **state)
{
    (void)state;
    static const uint16_t places[] = {13, 0, 1, 2};
    check(HAC_INPUT_CLF, "a:string b:string c:string d:string", places,
          "h.example:80 " REQUEST
          " \"-\" \"curl\"\n[::1]:443 h - Jo Doe [10/Oct/2000:13:55:36 -0700] \"\" 1 -\n"
          "1.2.3.4:5678 - Jo Doe [10/Oct/2000:13:55:36 -0700] \"\" 1 -\n1.2.3.4:56 " REQUEST "\n"
          "1.2.3.4:5678 - - [10/Oct/2000:13:55:36 -0700] \"\" 1 -\n"
          "fe80::80 id Jo Doe [10/Oct/2000:13:55:36 -0700] \"\" 1 -\n",
          "<12:h.example:80>|<7:1.2.3.4>|-|-|\n<9:[::1]:443>|<1:h>|-|<6:Jo Doe>|\n"
          "-|<12:1.2.3.4:5678>|-|<6:Jo Doe>|\n<10:1.2.3.4:56>|<7:1.2.3.4>|-|-|\n"
          "-|<12:1.2.3.4:5678>|-|-|\n-|<8:fe80::80>|<2:id>|<6:Jo Doe>|\n");
}

static void test_syslog(void **state)
{
    (void)state;
    static const uint16_t texts[] = {1, 2, 3, 6}, times[] = {0, 7, 8}, rest[] = {4, 5, 6};
    check(HAC_INPUT_SYSLOG, "a:string b:string c:string d:string", texts,
          "<34>Oct 11 22:14:15 mymachine su: 'su root' failed\nFeb  5 17:32:18 10.0.0.99 sshd[42]: x: y\n"
          "2024-05-01T12:00:00.5+02:00 h just words\n<0>1 - - - - - -\n",
          "<9:mymachine>|<2:su>|-|<16:'su root' failed>|\n<9:10.0.0.99>|<4:sshd>|<2:42>|<4:x: y>|\n"
          "<1:h>|-|-|<10:just words>|\n-|-|-|-|\n");
    check(HAC_INPUT_SYSLOG, "a:timestamp b:i32 c:i32", times,
          "<165>1 1970-01-01T00:00:01.000003Z h a p m -\n1970-01-01 h x\n<0>1 - h - - - -\n",
          "1000003|20|5|\n0|-|-|\n-|0|0|\n");
    check(HAC_INPUT_SYSLOG, "a:string b:string c:string", rest,
          "<1>1 2003-10-11T22:14:15Z h evnt - ID47 [x@1 a=\"\\\"]\" b=\"c\"][y] \xef\xbb\xbfmsg\n",
          "<4:ID47>|<22:[x@1 a=\"\\\"]\" b=\"c\"][y]>|<3:msg>|\n");
}

/* Years of times without one, in whatever year the test runs: the day after `today` is the last one. Days
 * from `date -u -d 2024-02-28 +%s`. */
static void test_syslog_years(void **state)
{
    (void)state;
    static const struct {
        uint64_t today;
        const char *line;
        int64_t day;
    } cases[] = {
        {19781, "Feb 29 00:00:00 h x", 19782}, /* 2024 */
        {19780, "Feb 29 00:00:00 h x", 18321}, /* 2020 */
        {19781, "Mar  1 00:00:00 h x", 19417}, /* 2023 */
        {19722, "Jan  1 00:00:00 h x", 19723}, /* 2024, on the last day of 2023 */
        {19722, "Jan  2 00:00:00 h x", 19359}, /* 2023 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[32];
        test_query q;
        test_query_make(&q, HAC_INPUT_SYSLOG, false, "a:timestamp");
        q.positions[0] = 0;
        q.query.source.options.today = cases[i].today;
        snprintf(wanted, sizeof wanted, "%lld|\n", (long long)cases[i].day * 86400000000);
        test_check_chunks(&q.query, cases[i].line, strlen(cases[i].line), wanted);
    }
}

static void test_logfmt(void **state)
{
    (void)state;
    check(HAC_INPUT_LOGFMT, "b:string a:i64", NULL,
          "a=1 b=two\n\n  b=\"x \\\"y\\\"\" c a=\r\nb a=5 a=7\nc=3\n",
          "<3:two>|1|\n<5:x \"y\">|-|\n<0:>|7|\n-|-|\n");
}

/* Lines that are none: refused with their byte, or skipped. */
static void test_broken(void **state)
{
    (void)state;
    static const struct {
        hac_input_format format;
        const char *line, *says; /* ~ stands for a zero byte */
    } cases[] = {
        {HAC_INPUT_CLF, "x", "error: line 1: byte 2 of the line: expected a blank"},
        {HAC_INPUT_CLF, "h - - [10-Oct-2000] \"\" 1 1", "the time is not written as"},
        {HAC_INPUT_CLF, "h - - [10/Oct/2000:13:55:36 -0700 \"\" 1 1", "the [ of the time is never closed"},
        {HAC_INPUT_CLF, "h - - [10/Oct/2000:13:55:36 -0700] \"a 1 1", "a quote is never closed"},
        {HAC_INPUT_CLF, REQUEST " \"r\"", "expected the referer and the agent"},
        {HAC_INPUT_CLF, "h - - [10/Oct/2000:13:55~ 36 -0700] \"\" 1 1", "the time is not written as"},
        {HAC_INPUT_CLF, "h - - [10/Oct/2000:13:55:36~-0700] \"\" 1 1", "is not a"},
        {HAC_INPUT_CLF, "h - - [1~/Oct/2000:13:55:36 -0700] \"\" 1 1", "the time is not written as"},
        {HAC_INPUT_CLF, "h - - [10/Oct/20 0:13:55:36 -0700] \"\" 1 1", "the time is not written as"},
        {HAC_INPUT_CLF, "h " REQUEST, "and nothing else but a virtual host"},
        {HAC_INPUT_CLF, "::1:80 " REQUEST, "and nothing else but a virtual host"},
        {HAC_INPUT_SYSLOG, "<192>Oct 11 22:14:15 h x", "expected a priority"},
        {HAC_INPUT_SYSLOG, "hello", "expected a time"},
        {HAC_INPUT_SYSLOG, "Oct 41 22:14:15 h x", "expected a day"},
        {HAC_INPUT_SYSLOG, "Oct  0 22:14:15 h x", "expected a day"},
        {HAC_INPUT_SYSLOG, "Oct /< 22:14:15 h x", "expected a time"},
        {HAC_INPUT_SYSLOG, "Oct 1  22:14:15 h x", "expected a time"},
        {HAC_INPUT_SYSLOG, "Oct 11 22:14~:5 h x", "expected a time"},
        {HAC_INPUT_SYSLOG, "<1>1 2003-10-11T22:14~:15Z h a p m - x", "is not a time"},
        {HAC_INPUT_SYSLOG, "<1>1 2003-10-11T22:14:15Z h a p m [x", "the structured data are never closed"},
        {HAC_INPUT_LOGFMT, "a=\"b", "a quote is never closed"},
        {HAC_INPUT_LOGFMT, "a=\"b\"c", "expected a blank behind the quote"},
        {HAC_INPUT_LOGFMT, "=b", "expected a key"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_query q;
        char line[128];
        test_reading reading = {.data = line, .bytes = strlen(cases[i].line)};
        for (size_t k = 0; k < reading.bytes; k++)
            line[k] = cases[i].line[k] == '~' ? '\0' : cases[i].line[k];
        const char *schema = cases[i].format == HAC_INPUT_LOGFMT ? "a:string" : "a:timestamp";
        test_query_make(&q, cases[i].format, false, schema);
        q.positions[0] = cases[i].format == HAC_INPUT_CLF ? 3 : 0;
        hac_autofree char *got = test_read(&q.query, &reading);
        if (strstr(got, cases[i].says) == NULL)
            fail_msg("%s: %s", cases[i].line, got);
        q.query.source.options.skip_errors = 1;
        hac_autofree char *skipped = test_read(&q.query, &reading);
        assert_string_equal(skipped, "skipped: 1");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clf),          cmocka_unit_test(test_vhost),  cmocka_unit_test(test_syslog),
        cmocka_unit_test(test_syslog_years), cmocka_unit_test(test_logfmt), cmocka_unit_test(test_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
