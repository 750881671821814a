/* SPDX-License-Identifier: Apache-2.0 */
/* csv and tsv: by examples, compared with a naive parser of whole texts, for every division into chunks. */
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/test_support.h"
#include "source_support.h"

static void check(const char *schema, bool header, const char *text, const char *wanted)
{
    test_query q;
    test_query_make(&q, HAC_INPUT_CSV, header, schema);
    test_check_chunks(&q.query, text, strlen(text), wanted);
}

static void test_by_example(void **state)
{
    (void)state;
    const char *ab = "a:string b:string";
    check(ab, false, "1,2\n3,4\n", "<1:1>|<1:2>|\n<1:3>|<1:4>|\n");
    check(ab, false, "1,2\r\n3,4", "<1:1>|<1:2>|\n<1:3>|<1:4>|\n");
    check(ab, false, "1,2\r\n3,4\r", "<1:1>|<1:2>|\n<1:3>|<1:4>|\n");
    check(ab, false, ",\n\"\",\"\"\n", "-|-|\n<0:>|<0:>|\n");
    check(ab, false, "\"a,b\",\"c\nd\"\n\"e\r\nf\",\"g\"\r\n", "<3:a,b>|<3:c\nd>|\n<4:e\r\nf>|<1:g>|\n");
    check(ab, false, "\"\"\"\",\"a\"\"b\"\"\"\nx,y\n", "<1:\">|<4:a\"b\">|\n<1:x>|<1:y>|\n");
    check(ab, false, "\n1,2\n\r\n\n3,4\n\n", "<1:1>|<1:2>|\n<1:3>|<1:4>|\n"); /* empty lines */
    check(ab, false, "a\rb,c\n", "<3:a\rb>|<1:c>|\n");
    check(ab, false, " 1 , 2\n", "<3: 1 >|<2: 2>|\n");
    check(ab, false, "", "");
    check(ab, false, "\n", "");
    check("a:string", false, "x\n\n\"\"\n\r\ny", "<1:x>|\n-|\n<0:>|\n-|\n<1:y>|\n"); /* one column: a null */
    check("a:string", false, "\"\n\"", "<1:\n>|\n");
}

static void test_headers(void **state)
{
    (void)state;
    check("b:i64 a:i64", true, "a,b,c\n1,2,x\n3,4,y\n", "2|1|\n4|3|\n");
    check("b:i64 a:i64", true, "\xef\xbb\xbf\"a\",b,\"c\nc\"\r\n1,2,x\n", "2|1|\n");
    check("a:i64", true, "a,b\n", "");
    check("a:i64", true, "a,b", "");
    check("a:i64", true,
          "\xef\xbb\xbf"
          "a\n5\n",
          "5|\n");
    check("a:i64", false,
          "\xef\xbb\xbf"
          "5\n6\n",
          "5|\n6|\n");
    check("a\"b:i64", true, "\"a\"\"b\",a\n5,6\n", "5|\n");
    check("a:i64", true, "",
          "error: the input is empty: its first line should name the columns (--no-header: it has none)");
    check("d:i64", true, "a,b,c\n1,2,3\n", "error: the header has no column 'd'");
    check("a:i64", true, "a,b,a\n1,2,3\n", "1|\n");
    check("a_1:i64", true, "a,b,a\n1,2,3\n", "3|\n");
    check("column2:i64", true, "a,,a\n1,2,3\n", "2|\n");
    check("b:i64", true, "a,b,a\n1,2,3\n", "2|\n");
}

static void test_types(void **state)
{
    (void)state;
    check("a:i8 b:u64 c:f64 d:bool e:date f:decimal(5,2) g:timestamp h:decimal(30,1) i:f32", false,
          "-128,18446744073709551615,0.1,true,1970-01-02,123.455,1970-01-01 00:00:01,-1.5,0.5\n,,,,,,,,\n"
          "\"7\", 8,\t9 ,no,2000-01-01,-1,1970-01-01T00:00:00.5,1,1e3\n",
          "-128|18446744073709551615|0.10000000000000001|true|1|12346|1000000|-1:18446744073709551601|0.5|\n"
          "-|-|-|-|-|-|-|-|-|\n7|8|9|false|10957|-100|500000|0:10|1000|\n");
}

static void test_bytes(void **state)
{
    (void)state;
    check("a:bytes b:i64", false, "616263,1\n,2\n\"\",3\n\"4A4b\",4\n 41 ,5\n",
          "<3:abc>|1|\n-|2|\n<0:>|3|\n<2:JK>|4|\n<1:A>|5|\n");
    check("a:bytes", false, "6\n",
          "error: line 1, column a: '6' is not hexadecimal digits, two a byte (bytes)");
    check("a:bytes", false, "6x\n",
          "error: line 1, column a: '6x' is not hexadecimal digits, two a byte (bytes)");
    test_query q;
    test_query_make(&q, HAC_INPUT_TSV, false, "a:bytes b:string");
    const char *text = "6162\tx\n\ty\n\\N\tz\n";
    test_check_chunks(&q.query, text, strlen(text), "<2:ab>|<1:x>|\n<0:>|<1:y>|\n-|<1:z>|\n");
    test_query_make(&q, HAC_INPUT_CSV, false, "a:bytes b:bytes");
    q.query.source.options.skip_errors = true;
    text = "61,62\n6,62\n61,zz\n63,64\n";
    test_check_chunks(&q.query, text, strlen(text), "<1:a>|<1:b>|\n<1:c>|<1:d>|\nskipped: 2");
}

/* Commas part several null texts. */
static void test_null_texts(void **state)
{
    (void)state;
    test_query q;
    test_query_make(&q, HAC_INPUT_CSV, true, "a:string");
    strcpy(q.query.source.options.null_text, "NA,,NULL,n/a,-,123456789012345");
    hac_autofree char *all =
        test_read_text(&q.query, "a\nNA\nNULL\n\"NA\"\nN\nn/a\n-\n--\n123456789012345\n");
    assert_string_equal(all, "-|\n-|\n<2:NA>|\n<1:N>|\n-|\n-|\n<2:-->|\n-|\n");
}

static void test_null_text(void **state)
{
    (void)state;
    test_query q;
    test_query_make(&q, HAC_INPUT_CSV, false, "a:string b:i64");
    strcpy(q.query.source.options.null_text, "NA");
    const char *text = "NA,NA\n\"NA\",1\n,\nNAN,2\n";
    test_check_chunks(&q.query, text, strlen(text), "-|-|\n<2:NA>|1|\n-|-|\n<3:NAN>|2|\n");
}

static void test_trim(void **state)
{
    (void)state;
    test_query q;
    test_query_make(&q, HAC_INPUT_CSV, true, "a:string b c:string n:i64");
    q.query.source.options.trim = 1;
    strcpy(q.query.source.options.null_text, "NA");
    const char *text = " a , b c,n \r\n x y  ,  z,1\n NA,\" q \", 2 \r\n   ,, \n";
    test_check_chunks(&q.query, text, strlen(text), "<3:x y>|<1:z>|1|\n-|<3: q >|2|\n-|-|-|\n");
    test_query_make(&q, HAC_INPUT_TSV, false, "a:string b:i64");
    q.query.source.options.trim = 1;
    text = " \\N \t 1\n a\\t \t2 \n\t  \n";
    test_check_chunks(&q.query, text, strlen(text), "-|1|\n<2:a\t>|2|\n<0:>|-|\n");
    test_query_make(&q, HAC_INPUT_CSV, false, "a:string b:string");
    q.query.source.options.trim = 1;
    hac_autofree char *quoted = test_read_text(&q.query, "1, \"x\"\n");
    assert_non_null(strstr(quoted, "a double quote inside a field"));
}

static void test_delimiters(void **state)
{
    (void)state;
    static const char delimiters[] = ";|\t:a\x01\xff ";
    for (const char *d = delimiters; *d != 0; d++) {
        test_query q;
        char text[64];
        test_query_make(&q, HAC_INPUT_CSV, false, "x:string y:string");
        q.query.source.options.delimiter = (uint8_t)*d;
        snprintf(text, sizeof text, "1,%c\"2%c\"\n", *d, *d);
        char wanted[64];
        snprintf(wanted, sizeof wanted, "<2:1,>|<2:2%c>|\n", *d);
        hac_autofree char *got = test_read_text(&q.query, text);
        assert_string_equal(got, wanted);
    }
    static const char bad[] = "\"\n\r";
    for (const char *d = bad; *d != 0; d++) {
        test_query q;
        test_query_make(&q, HAC_INPUT_CSV, false, "x:string");
        q.query.source.options.delimiter = (uint8_t)*d;
        hac_autofree char *got = test_read_text(&q.query, "a\n");
        assert_string_equal(got, "error: a quote or an end of line cannot be the delimiter");
    }
}

static void check_whole(const char *schema, const char *text, const char *wanted)
{
    test_query q;
    test_query_make(&q, HAC_INPUT_CSV, false, schema);
    hac_autofree char *got = test_read_text(&q.query, text);
    assert_string_equal(got, wanted);
}

/* The line counts newlines in quotes and empty lines too. */
static void test_error_messages(void **state)
{
    (void)state;
    check_whole("a:i64 b:f64 c:string", "1,2,\"x\n\ny\"\n\n3,abc,y\n",
                "error: line 5, column b: 'abc' is not a number (f64)");
    check_whole("a:u8", "1\n256\n", "error: line 2, column a: '256' is out of the range of u8");
    check_whole("a:i32", "1.5\n", "error: line 1, column a: '1.5' is not a whole number (i32)");
    check_whole("a:date", "1.5\n", "error: line 1, column a: '1.5' is not a date like 2020-01-31 (date)");
}

static void test_error_order(void **state)
{
    (void)state;
    /* the first record in error is reported, whatever its error is */
    check_whole("a:i64 b:i64", "1,2\n3,x\ny,4\n5\n",
                "error: line 2, column b: 'x' is not a whole number (i64)");
    check_whole("a:i64 b:i64", "1,2\ny,x\n", "error: line 2, column a: 'y' is not a whole number (i64)");
    check_whole("a:i64 b:i64", "1,2\n3\nx,y\n", "1|2|\nerror: line 2: 1 field instead of 2");
    check_whole("a:i64 b:i64", "x,2\n3\n", "error: line 1, column a: 'x' is not a whole number (i64)");
    check_whole("a:i64 b:i64", "1,2,3\n", "error: line 1: 3 fields instead of 2");
    check_whole("a:i64 b:i64", "1,2\n\"\"\n", "1|2|\nerror: line 2: 1 field instead of 2");
}

static void test_quotes_out_of_order(void **state)
{
    (void)state;
    const char *inside =
        "a double quote inside a field: such a field must be in quotes, with each of its own quotes "
        "doubled";
    const char *open = "a quoted field that begins in this record has no closing quote";
    static const struct {
        const char *text, *rows;
        int line;
        bool open;
    } cases[] = {
        {"a,b\nc\"d,e\nf,g\n", "<1:a>|<1:b>|\n", 2, false},
        {"a,\"b\"c\n", "", 1, false},
        {"a,b\n\"c\" ,d\n", "<1:a>|<1:b>|\n", 2, false},
        {"a, \"b\"\n", "", 1, false},
        {"a,\"b\"\rc\n", "", 1, false},
        {"a,b\nc,\"d\n\n\n", "<1:a>|<1:b>|\n", 2, true},
        {"a,b\nc,\"", "<1:a>|<1:b>|\n", 2, true},
        {"a,b\nc,\"\"\"", "<1:a>|<1:b>|\n", 2, true},
        {"a,b\nc,\"\"x\"\"\n", "<1:a>|<1:b>|\n", 2, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[400];
        snprintf(wanted, sizeof wanted, "%serror: line %d: %s", cases[i].rows, cases[i].line,
                 cases[i].open ? open : inside);
        check_whole("a:string b:string", cases[i].text, wanted);
    }
}

static void test_long_and_unprintable_fields(void **state)
{
    (void)state;
    char text[200], shown[64];
    memset(text, 'x', sizeof text);
    text[199] = 0;
    hac_autofree char *wanted = NULL;
    snprintf(shown, sizeof shown, "%.60s", text);
    assert_true(asprintf(&wanted, "error: line 1, column a: '%s...' is not a number (f64)", shown) > 0);
    check_whole("a:f64", text, wanted);
    check_whole("a:f64", "\x01\xff\xc3\xa4", "error: line 1, column a: ' ?\xc3\xa4' is not a number (f64)");
}

static void test_skipped_records(void **state)
{
    (void)state;
    test_query q;
    test_query_make(&q, HAC_INPUT_CSV, false, "a:i64 b:string c:i8");
    q.query.source.options.skip_errors = true;
    const char *text = "1,a,1\nx,b,y\n2\n3,c,300\n4,,\n,d,1,\n5,\"e\ne\",5\n";
    test_check_chunks(&q.query, text, strlen(text), "1|<1:a>|1|\n4|-|-|\n5|<3:e\ne>|5|\nskipped: 4");
    hac_autofree char *got = test_read_text(&q.query, "1,a,1\n2,b\"c,2\n3,d,3\n");
    assert_non_null(strstr(got, "1|<1:a>|1|\nerror: line 2: a double quote")); /* cannot be skipped */
}

static void test_only_what_is_used(void **state)
{
    (void)state;
    test_query q;
    test_query_make(&q, HAC_INPUT_CSV, true, "c:i64");
    const char *text = "a,b,c,d\nx,\"\n\",1,\"\"\"\"\ny,,2,\n";
    test_check_chunks(&q.query, text, strlen(text), "1|\n2|\n");
    test_query_make(&q, HAC_INPUT_CSV, true, "");
    test_check_chunks(&q.query, text, strlen(text), "\n\n");
}

static void test_tsv(void **state)
{
    (void)state;
    test_query q;
    test_query_make(&q, HAC_INPUT_TSV, false, "a:string b:string c:i64");
    const char *text = "a\\tb\t\\N\t1\r\n\t\"x\t\\N\n\\\\\\n\tc\\d\t\nlast\t\\\t3";
    test_check_chunks(&q.query, text, strlen(text),
                      "<3:a\tb>|-|1|\n<0:>|<2:\"x>|-|\n<2:\\\n>|<3:c\\d>|-|\n<4:last>|<1:\\>|3|\n");
    test_query_make(&q, HAC_INPUT_TSV, true, "b\tc:string");
    text = "a\tb\\tc\n1\t2\n";
    test_check_chunks(&q.query, text, strlen(text), "<1:2>|\n");
}

/* ---- against a parser that goes byte by byte over the whole ---- */

#define FIELDS 3

typedef struct naive {
    const char *text;
    size_t bytes, at;
    hac_text *rows;
    bool failed;
} naive;

static bool line_end(const naive *n, size_t at)
{
    return at >= n->bytes || n->text[at] == '\n' ||
           (n->text[at] == '\r' && (at + 1 == n->bytes || n->text[at + 1] == '\n'));
}

static void naive_field(naive *n, hac_text *ret)
{
    size_t start = n->at;
    hac_text field = HAC_TEXT_NONE;
    bool quoted = n->at < n->bytes && n->text[n->at] == '"';
    if (quoted) {
        for (n->at++;; n->at++) {
            if (n->at >= n->bytes) {
                n->failed = true;
                break;
            }
            if (n->text[n->at] == '"' && (++n->at >= n->bytes || n->text[n->at] != '"'))
                break;
            hac_text_add_bytes(&field, n->text + n->at, 1);
        }
        if (!line_end(n, n->at) && n->text[n->at] != ',')
            n->failed = true;
    } else {
        while (!line_end(n, n->at) && n->text[n->at] != ',')
            n->failed |= n->text[n->at++] == '"';
        hac_text_add_bytes(&field, n->text + start, n->at - start);
    }
    if (field.bytes == 0 && !quoted) {
        hac_text_add(ret, "-|");
    } else {
        hac_text_addf(ret, "<%zu:", field.bytes);
        hac_text_add_bytes(ret, field.bytes > 0 ? field.data : "", field.bytes);
        hac_text_add(ret, ">|");
    }
    hac_text_clear(&field);
}

static void naive_record(naive *n)
{
    hac_text row = HAC_TEXT_NONE;
    size_t fields = 0, start = n->at;
    for (;; n->at++) {
        naive_field(n, &row);
        fields++;
        if (n->failed || line_end(n, n->at))
            break;
    }
    bool blank = fields == 1 && n->at == start;
    if (!blank && fields != FIELDS)
        n->failed = true;
    if (!blank) {
        hac_text_add_bytes(n->rows, row.data, row.bytes);
        hac_text_add(n->rows, "\n");
    }
    hac_text_clear(&row);
    n->at += n->at < n->bytes && n->text[n->at] == '\r';
    n->at++;
}

/* The rows; NULL: the text is invalid. */
static char *read_naively(const char *text, size_t bytes)
{
    hac_text rows = HAC_TEXT_NONE;
    naive n = {.text = text, .bytes = bytes, .rows = &rows};
    while (n.at < bytes && !n.failed)
        naive_record(&n);
    char *ret = NULL;
    hac_text_add(&rows, "");
    assert_int_equal(hac_text_finish(&rows, &ret, NULL, NULL), HAC_OK);
    if (n.failed)
        hac_freep(&ret);
    return ret;
}

static void check_naive(const test_query *q, const test_reading *reading)
{
    hac_autofree char *wanted = read_naively(reading->data, reading->bytes);
    hac_autofree char *got = test_read(&q->query, reading);
    if (wanted != NULL ? strcmp(got, wanted) != 0 : strstr(got, "error: ") == NULL)
        fail_msg("chunks of %llu: '%.*s' gives\n%s\nnot\n%s", (unsigned long long)reading->chunk,
                 (int)reading->bytes, reading->data, got, wanted != NULL ? wanted : "an error");
}

static void test_random_bytes(void **state)
{
    (void)state;
    static const char *const alphabets[] = {"a,\n", "a,\"\n", ",,,\n\r\"a", "\"\"\"\n,a", "a\",\",\n\r\0"};
    test_query q;
    test_query_make(&q, HAC_INPUT_CSV, false, "a:string b:string c:string");
    uint64_t seed = 21;
    int good = 0;
    for (int round = 0; round < 60000; round++) {
        const char *alphabet = alphabets[round % 5];
        size_t letters = strlen(alphabet), bytes = hac_random_u64(&seed) % 40;
        char text[40];
        for (size_t i = 0; i < bytes; i++)
            text[i] = alphabet[hac_random_u64(&seed) % letters];
        test_reading reading = {.data = text, .bytes = bytes, .chunk = hac_random_u64(&seed) % 9};
        check_naive(&q, &reading);
        hac_autofree char *rows = read_naively(text, bytes);
        good += rows != NULL && *rows != 0;
    }
    assert_true(good > 500); /* some texts are valid */
}

/* Fields with and without quotes, some long, CR LF and LF. */
static char *make_records(uint64_t *seed, size_t records, size_t longest, size_t *ret_bytes)
{
    static const char *const pieces[] = {"a", "bc", ",", "\"\"", "\n", "\r\n", "\xc3\xa4", " ", "12345678"};
    hac_text text = HAC_TEXT_NONE;
    for (size_t i = 0; i < records * FIELDS; i++) {
        bool quoted = hac_random_u64(seed) % 4 == 0;
        size_t n = hac_random_u64(seed) % (hac_random_u64(seed) % 50 == 0 ? longest : 5);
        hac_text_add(&text, quoted ? "\"" : "");
        for (; n > 0; n--) {
            const char *piece = pieces[hac_random_u64(seed) % 9];
            hac_text_add(&text, quoted || strpbrk(piece, ",\"\r\n") == NULL ? piece : "x");
        }
        hac_text_add(&text, quoted ? "\"" : "");
        hac_text_add(&text, i % FIELDS < FIELDS - 1 ? "," : hac_random_u64(seed) % 2 ? "\n" : "\r\n");
    }
    char *ret = NULL;
    assert_int_equal(hac_text_finish(&text, &ret, ret_bytes, NULL), HAC_OK);
    return ret;
}

static void test_random_records(void **state)
{
    (void)state;
    test_query q;
    test_query_make(&q, HAC_INPUT_CSV, false, "a:string b:string c:string");
    uint64_t seed = 22;
    for (int round = 0; round < HAC_TEST_CASES(300, 40); round++) {
        size_t bytes;
        hac_autofree char *text = make_records(&seed, 1 + hac_random_u64(&seed) % 12, 20, &bytes);
        hac_autofree char *wanted = read_naively(text, bytes);
        assert_non_null(wanted);
        test_check_chunks(&q.query, text, bytes, wanted);
    }
}

/* Records that cross the reader's blocks or are longer than them, many to a batch, in chunks of all sizes. */
static void test_large_inputs(void **state)
{
    (void)state;
    test_query q;
    test_query_make(&q, HAC_INPUT_CSV, false, "a:string b:string c:string");
    uint64_t seed = 23;
    static const size_t longest[] = {10, 3000, 400000},
                        records[] = {HAC_TEST_CASES(60000, 20000), HAC_TEST_CASES(6000, 2000),
                                     HAC_TEST_CASES(200, 60)};
    for (int round = 0; round < HAC_TEST_CASES(9, 3); round++) {
        size_t bytes;
        hac_autofree char *text = make_records(&seed, records[round % 3], longest[round % 3], &bytes);
        hac_autofree char *wanted = read_naively(text, bytes);
        assert_non_null(wanted);
        for (int i = 0; i < 6; i++) {
            uint64_t chunk = i == 0 ? 0 : 1 + hac_random_u64(&seed) % (bytes / 3 + 1);
            test_reading reading = {.data = text, .bytes = bytes, .chunk = chunk, .file = i % 2 == 1};
            hac_autofree char *got = test_read(&q.query, &reading);
            assert_string_equal(got, wanted);
        }
    }
}

static void test_truncated_everywhere(void **state)
{
    (void)state;
    test_query q;
    test_query_make(&q, HAC_INPUT_CSV, false, "a:string b:string c:string");
    const char *text = "a,\"b\"\"\",c\r\n\"\n\",,\"\"\n1,2,3\r\n";
    for (size_t bytes = 0; bytes <= strlen(text); bytes++)
        for (uint64_t chunk = 0; chunk < 5; chunk++) {
            test_reading reading = {.data = text, .bytes = bytes, .chunk = chunk, .file = chunk == 1};
            check_naive(&q, &reading);
        }
}

/* ---- real files ---- */

static void check_real(const char *name, char *text, size_t bytes)
{
    /* without a header, so that every column is in the schema; the first FIELDS columns of each line */
    test_query q;
    test_query_make(&q, HAC_INPUT_CSV, true, "");
    uint64_t lines = 0, rows = 0;
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    for (uint64_t chunk = 0; chunk < 3 * 65521; chunk += 65521) {
        test_reading reading = {.data = text, .bytes = bytes, .chunk = chunk, .file = chunk > 0};
        hac_autofree char *got = test_read(&q.query, &reading);
        assert_null(strstr(got, "error"));
        rows = strlen(got);
        if (rows != lines - (text[bytes - 1] == '\n')) /* none of these files has a newline in quotes */
            fail_msg("%s: %llu rows, %llu lines", name, (unsigned long long)rows, (unsigned long long)lines);
    }
}

static void test_real_files(void **state)
{
    (void)state;
    static const char *const names[] = {
        "birdstrikes.csv", "iris.csv",    "seattle-weather-hourly-normals.csv",
        "sp500-2000.csv",  "weather.csv", "zipcodes.csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t bytes = 0;
        hac_autofree char *text = test_data(names[i], &bytes);
        if (text == NULL)
            skip();
        check_real(names[i], text, bytes);
    }
}

/* Sums computed with Python's csv and decimal modules. */
static void test_real_values(void **state)
{
    (void)state;
    size_t bytes = 0;
    hac_autofree char *text = test_data("iris.csv", &bytes);
    if (text == NULL)
        skip();
    test_query q;
    test_query_make(&q, HAC_INPUT_CSV, true, "petal_width:decimal(4,1) species:string");
    test_reading reading = {.data = text, .bytes = bytes, .chunk = 100};
    hac_autofree char *got = test_read(&q.query, &reading);
    long sum = 0, rows = 0;
    for (char *at = got; *at != 0; at = strchr(at, '\n') + 1, rows++)
        sum += strtol(at, NULL, 10);
    assert_int_equal(rows, 150);
    assert_int_equal(sum, 1799);
}

/* ---- the header on its own ---- */

static hac_status header_of(const char *text, hac_input_format format, hac_schema *ret, hac_error *err)
{
    hac_source_options options = {.format = format};
    hac_source_place place = {.fd = -1, .memory = (const uint8_t *)text, .bytes = strlen(text)};
    return hac_source_header(&options, &place, ret, err);
}

static void check_names(const char *text, hac_input_format format, size_t n, const char *const *names)
{
    hac_schema schema = {0};
    assert_int_equal(header_of(text, format, &schema, NULL), HAC_OK);
    assert_int_equal(schema.n_fields, n);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(schema.fields[i].name, names[i]);
        assert_int_equal(schema.fields[i].type.kind, HAC_KIND_STRING);
    }
    free(schema.fields);
}

static void test_header_names(void **state)
{
    (void)state;
    check_names("\xef\xbb\xbf"
                "a,\"b \"\"c\",,\"d\ne\"\r\n1,2,3,4\n",
                HAC_INPUT_CSV, 4, (const char *const[]){"a", "b \"c", "column3", "d\ne"});
    check_names("a\tb\\tc\t\"d", HAC_INPUT_TSV, 3, (const char *const[]){"a", "b\tc", "\"d"});
    hac_error err = HAC_ERROR_NONE;
    hac_schema schema = {0};
    assert_int_equal(header_of("", HAC_INPUT_CSV, &schema, &err), HAC_FAILED);
    assert_int_equal(header_of("a,\"b\n", HAC_INPUT_CSV, &schema, &err), HAC_FAILED);
    assert_non_null(strstr(err.message, "no closing quote"));
}

/* Names that are too long are cut between characters, and found again. */
static void test_long_names(void **state)
{
    (void)state;
    char text[300], name[HAC_FIELD_NAME_MAX];
    memset(text, 'n', 126);
    strcpy(text + 126, "\xc3\xa4,b\n7,8\n");
    memset(name, 'n', 126);
    name[126] = 0;
    check_names(text, HAC_INPUT_CSV, 2, (const char *const[]){name, "b"});
    test_query q;
    test_query_make(&q, HAC_INPUT_CSV, true, "x:i64");
    strcpy(q.fields[0].name, name);
    hac_autofree char *got = test_read_text(&q.query, text);
    assert_string_equal(got, "7|\n");
}

static void test_many_fields(void **state)
{
    (void)state;
    hac_autofree char *text = malloc(200000);
    assert_non_null(text);
    memset(text, ',', 200000);
    test_query q;
    test_query_make(&q, HAC_INPUT_CSV, false, "a:i64");
    test_reading reading = {.data = text, .bytes = 200000};
    hac_autofree char *got = test_read(&q.query, &reading);
    assert_string_equal(got, "error: line 1: a record has more than 65535 fields");
    text[60000] = text[150000] = '\n';
    reading.bytes = 150001;
    hac_autofree char *got2 = test_read(&q.query, &reading);
    assert_string_equal(got2, "error: line 1: 60001 fields instead of 1");
    for (reading.chunk = 59999; reading.chunk < 60003; reading.chunk++) {
        hac_autofree char *got3 = test_read(&q.query, &reading);
        assert_non_null(strstr(got3, "error: line 1: 60001 fields"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_example),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_null_text),
        cmocka_unit_test(test_trim),
        cmocka_unit_test(test_null_texts),
        cmocka_unit_test(test_delimiters),
        cmocka_unit_test(test_error_messages),
        cmocka_unit_test(test_error_order),
        cmocka_unit_test(test_quotes_out_of_order),
        cmocka_unit_test(test_long_and_unprintable_fields),
        cmocka_unit_test(test_skipped_records),
        cmocka_unit_test(test_only_what_is_used),
        cmocka_unit_test(test_tsv),
        cmocka_unit_test(test_random_bytes),
        cmocka_unit_test(test_random_records),
        cmocka_unit_test(test_large_inputs),
        cmocka_unit_test(test_truncated_everywhere),
        cmocka_unit_test(test_real_files),
        cmocka_unit_test(test_real_values),
        cmocka_unit_test(test_header_names),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_many_fields),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
