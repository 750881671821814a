/* SPDX-License-Identifier: Apache-2.0 */
/* The texts that centroids and matrices become. tests/integration/query_table_test.py tests what they
 * compute. */
#include "constant_query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/hac-test-XXXXXX";
static hac_constant_query query;

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL ? -1 : chdir(folder);
}

static int tear_down(void **state)
{
    char command[64];
    (void)state;
    hac_constant_query_clear(&query);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Writes `rows` of `columns` numbers that are all different, each of `digits` digits, under a header c0,c1
 * … */
static void put_numbers(const char *name, size_t rows, size_t columns, unsigned digits)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    for (size_t i = 0; i < columns; i++)
        fprintf(file, "%sc%zu", i > 0 ? "," : "", i);
    for (size_t i = 0; i < rows * columns; i++)
        fprintf(file, "%s1%0*zu", i % columns > 0 ? "," : "\n", (int)digits - 1, i);
    assert_int_equal(fclose(file), 0);
}

static hac_status k_means(const char *where, hac_error *err)
{
    hac_constant_query_clear(&query);
    return hac_constant_query_k_means("c.csv", where, &query, err);
}

static hac_status multiply(char delimiter, hac_error *err)
{
    hac_constant_query_clear(&query);
    return hac_constant_query_multiply("b.csv", "a.csv", delimiter, &query, err);
}

static void says(const hac_error *err, const char *words)
{
    if (strstr(err->message, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err->message, words);
}

static void centroids(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    put("c.csv", "cluster,x,the y,count\n0,1,-2.5,7\n1,0.1,1e30,8\n");
    assert_int_equal(k_means(NULL, &err), HAC_OK);
    assert_string_equal(query.schema, "x:f64,\"the y\":f64");
    assert_string_equal(query.where, "x is not null and \"the y\" is not null");
    assert_string_equal(query.select, "avg(x) as x,avg(\"the y\") as \"the y\",count() as count");
#define D0 "(x-1e0)*(x-1e0)+(\"the y\"+2.5e0)*(\"the y\"+2.5e0)"
#define D1 "(x-0.1e0)*(x-0.1e0)+(\"the y\"-1e+30)*(\"the y\"-1e+30)"
    assert_string_equal(query.group_by, "case least(" D0 "," D1 ") when " D0 " then 0 else 1 end as cluster");
    assert_false(query.no_header);
    assert_int_equal(k_means("x > 1 or x < 0", &err), HAC_OK);
    assert_string_equal(query.where, "(x > 1 or x < 0) and x is not null and \"the y\" is not null");
    /* squares of such centroids would overflow: all is scaled by 2^-996 */
    put("c.csv", "cluster,x,count\n0,1,7\n1,1e300,8\n");
    assert_int_equal(k_means(NULL, &err), HAC_OK);
    assert_non_null(strstr(query.group_by, "x*1.4932217896051502e-300-1.4932217896051502"));
    assert_true(0x1p-996 == 1.4932217896051502e-300);
}

static void names(void **state)
{
    static const struct {
        const char *header, *name;
    } all[] = {{"x", "x"},
               {"x7", "x7"},
               {"a_1", "a_1"},
               {"end", "\"end\""},
               {"or", "\"or\""},
               {"7x", "\"7x\""},
               {"\"a\"\"b\"", "\"a\"\"b\""},
               {"ë", "\"ë\""},
               {"a b1", "\"a b1\""}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        hac_error err = HAC_ERROR_NONE;
        char text[64], schema[64];
        snprintf(text, sizeof text, "%s\n1\n", all[i].header);
        snprintf(schema, sizeof schema, "%s:f64", all[i].name);
        put("c.csv", text);
        assert_int_equal(k_means(NULL, &err), HAC_OK);
        assert_string_equal(query.schema, schema);
    }
}

static void digits(void **state)
{
    /* what Python's float() reads back */
    static const struct {
        const char *number, *text;
    } all[] = {{"0.30000000000000004", "a1*0.30000000000000004e0"},
               {"9007199254740993", "a1*9007199254740992e0"},
               {"-5e-324", "a1*-5e-324"},
               {"-0", "a1*-0e0"},
               {"1e16", "a1*1e+16"},
               {"100", "a1*100e0"},
               {"1.0", "a1*1e0"},
               {"2.2250738585072014e-308", "a1*2.2250738585072014e-308"}};
    (void)state;
    put("a.csv", "");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        hac_error err = HAC_ERROR_NONE;
        char select[64];
        put("b.csv", all[i].number);
        assert_int_equal(multiply(',', &err), HAC_OK);
        snprintf(select, sizeof select, "%s as c1", all[i].text);
        assert_string_equal(query.select, select);
    }
}

static void products(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    put("a.csv", "1,2\n");
    put("b.csv", "1,2,3\n4,-5,6\n");
    assert_int_equal(multiply(',', &err), HAC_OK);
    assert_string_equal(query.schema, "a1:f64,a2:f64");
    assert_string_equal(query.select, "a1*1e0+a2*4e0 as c1,a1*2e0+a2*-5e0 as c2,a1*3e0+a2*6e0 as c3");
    assert_true(query.no_header);
    assert_null(query.group_by);
    put("a.csv", "x;end\n1;2\n");
    put("b.csv", "p,from\n1,2\n3,4\n");
    assert_int_equal(multiply(';', &err), HAC_OK);
    assert_false(query.no_header);
    assert_string_equal(query.schema, "x:f64,\"end\":f64");
    assert_string_equal(query.select, "x*1e0+\"end\"*3e0 as p,x*2e0+\"end\"*4e0 as \"from\"");
    assert_int_equal(multiply('\0', &err), HAC_OK); /* the file is not text */
    assert_string_equal(query.schema, "a1:f64,a2:f64");
    assert_int_equal(multiply(',', &err), HAC_INVALID);
    says(&err, "a.csv has 1 columns and b.csv 2 rows");
}

static void wrong_centroids(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    put("c.csv", "1,2\n");
    assert_int_equal(k_means(NULL, &err), HAC_INVALID);
    says(&err, "c.csv:1: the first line must name the columns");
    put("c.csv", "cluster,count\n1,2\n");
    assert_int_equal(k_means(NULL, &err), HAC_INVALID);
    says(&err, "c.csv:1: there is no column besides cluster and count");
    put("c.csv", "x\n1\nnan\n");
    assert_int_equal(k_means(NULL, &err), HAC_INVALID);
    says(&err, "c.csv:3: nan");
}

static void max_centroids(void **state)
{
    static const struct {
        size_t columns, max;
    } all[] = {{1, 124}, {2, 124}, {3, 123}, {4, 123}, {8, 63}, {16, 32}, {32, 16}, {64, 8}, {128, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        hac_error err = HAC_ERROR_NONE;
        char words[64];
        put_numbers("c.csv", all[i].max, all[i].columns, 4);
        if (k_means(NULL, &err) != HAC_OK)
            fail_msg("%s", err.message);
        put_numbers("c.csv", all[i].max + 1, all[i].columns, 4);
        assert_int_equal(k_means(NULL, &err), HAC_INVALID);
        snprintf(words, sizeof words, "k-means takes at most %zu of them", all[i].max);
        says(&err, words);
    }
    hac_error err = HAC_ERROR_NONE;
    put_numbers("c.csv", 100, 3, 15);
    assert_int_equal(k_means(NULL, &err), HAC_OK);
    put_numbers("c.csv", 120, 3, 15);
    assert_int_equal(k_means(NULL, &err), HAC_INVALID);
    says(&err, "30720 are possible");
    put_numbers("c.csv", 1, 256, 4);
    assert_int_equal(k_means(NULL, &err), HAC_INVALID);
}

static void largest_matrix(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    put("a.csv", "");
    put_numbers("b.csv", 30, 30, 17);
    assert_int_equal(multiply(',', &err), HAC_OK);
    put_numbers("b.csv", 17, 53, 17);
    assert_int_equal(multiply(',', &err), HAC_INVALID);
    says(&err, "are 901 numbers; matrix-multiply takes at most 900");
    put_numbers("b.csv", 1, 249, 4);
    assert_int_equal(multiply(',', &err), HAC_OK);
    put_numbers("b.csv", 249, 2, 4);
    assert_int_equal(multiply(',', &err), HAC_INVALID);
    says(&err, "at most 250 of both");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(centroids),      cmocka_unit_test(names),           cmocka_unit_test(digits),
        cmocka_unit_test(products),       cmocka_unit_test(wrong_centroids), cmocka_unit_test(max_centroids),
        cmocka_unit_test(largest_matrix),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
