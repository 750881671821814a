/* SPDX-License-Identifier: Apache-2.0 */
/* Small csv files of numbers, and files that are not. */
#include "number_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/hac-test-XXXXXX";
static hac_number_table table;

static int set_up(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    hac_number_table_clear(&table);
    return unlink(path);
}

static void put(const char *text, size_t bytes)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    hac_number_table_clear(&table);
}

static void good(const char *text, size_t rows, size_t columns, const double *values)
{
    hac_error err = HAC_ERROR_NONE;
    put(text, strlen(text));
    if (hac_number_table_read(path, &table, &err) != HAC_OK)
        fail_msg("%s", err.message);
    assert_int_equal(table.rows, rows);
    assert_int_equal(table.columns, columns);
    assert_memory_equal(table.values, values, rows * columns * sizeof *values); /* also -0 */
}

/* The message begins with the file and the line. */
static void bad_bytes(const char *text, size_t bytes, unsigned line, const char *says)
{
    hac_error err = HAC_ERROR_NONE;
    char begin[64];
    put(text, bytes);
    assert_int_equal(hac_number_table_read(path, &table, &err), HAC_INVALID);
    snprintf(begin, sizeof begin, "%s:%u: ", path, line);
    if (strncmp(err.message, begin, strlen(begin)) != 0 || strstr(err.message, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\" of line %u", err.message, says, line);
}

static void bad(const char *text, unsigned line, const char *says)
{
    bad_bytes(text, strlen(text), line, says);
}

static void numbers(void **state)
{
    (void)state;
    good("1,2\n3,4\n", 2, 2, (const double[]){1, 2, 3, 4});
    assert_null(table.names);
    good("1,2\n3,4", 2, 2, (const double[]){1, 2, 3, 4});
    good("\n1,2\r\n\r\n3,4\r\n\n", 2, 2, (const double[]){1, 2, 3, 4});
    good("7", 1, 1, (const double[]){7});
    good("\xef\xbb\xbf"
         "7\n8\n",
         2, 1, (const double[]){7, 8});
    assert_null(table.names);
    good("\xef\xbb\xbfx,y\n7,8\n", 1, 2, (const double[]){7, 8});
    assert_string_equal(table.names[0], "x");
    good("\"1.5\",-0,1e-5\n0.1,1.7976931348623157e308,5e-324\n", 2, 3,
         (const double[]){1.5, -0.0, 1e-5, 0.1, 1.7976931348623157e308, 5e-324});
}

static void headers(void **state)
{
    (void)state;
    good("x,y\n1,2\n", 1, 2, (const double[]){1, 2});
    assert_string_equal(table.names[0], "x");
    assert_string_equal(table.names[1], "y");
    good("\"a, \"\"b\"\"\",Zoë\r\n1,2\n", 1, 2, (const double[]){1, 2});
    assert_string_equal(table.names[0], "a, \"b\"");
    assert_string_equal(table.names[1], "Zoë");
    bad("x,2\n1,2\n", 1, "'x' is not a number");
    bad(",y\n1,2\n", 1, "1 to 127 bytes");
    bad("x\"y\n1,2\n", 2, "2 columns, and the first line has 1");
}

static void no_tables(void **state)
{
    (void)state;
    bad("", 1, "no row of numbers");
    bad("\n\n", 3, "no row of numbers");
    bad("x,y\n", 2, "no row of numbers");
    bad("1,2\n3\n", 2, "1 columns, and the first line has 2");
    bad("1,2\n3,4,5\n", 2, "3 columns");
    bad("1,2\n\n3,\n", 3, "'' is not a number");
    bad("1,2\n3, 4\n", 2, "' 4' is not a number");
    bad("1,2\n3,0x4\n", 2, "'0x4' is not a number");
    bad("1,nan\n", 1, "nan is not a finite number");
    bad("x\n1\n-inf\n", 3, "-inf is not a finite number");
    bad("1e309\n", 1, "1e309 is not a finite number");
    bad("1,\"2\n3\",4\n", 1, "a quote");
    bad("1,\"2\"3\n", 1, "a quote");
    bad_bytes("1,2\n3\0,4\n", 9, 2, "not text");
}

static void limits(void **state)
{
    (void)state;
    static char text[HAC_NUMBER_TABLE_BYTES_MAX + 2];
    static double ones[256];
    for (size_t i = 0; i < 256; i++)
        ones[i] = 1, memcpy(text + 2 * i, "1,", 2);
    text[511] = '\0';
    good(text, 1, 256, ones);
    strcpy(text + 511, ",1\n");
    bad(text, 1, "more than 256 columns");
    memset(text, '\n', sizeof text - 1);
    text[0] = '1';
    text[HAC_NUMBER_TABLE_BYTES_MAX] = '\0';
    good(text, 1, 1, ones);
    text[HAC_NUMBER_TABLE_BYTES_MAX] = '\n';
    put(text, sizeof text - 1);
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_number_table_read(path, &table, &err), HAC_INVALID);
    assert_non_null(strstr(err.message, "larger than 1048576 bytes"));
    assert_int_equal(hac_number_table_read("/nonexistent/x", &table, &err), HAC_FAILED);
    assert_int_equal(hac_number_table_read("/tmp", &table, &err), HAC_FAILED);
}

static void first_lines(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    put("x\t1,5\nnonsense", 14);
    assert_int_equal(hac_number_table_read_header(path, '\t', &table, &err), HAC_OK);
    assert_int_equal(table.columns, 2);
    assert_string_equal(table.names[1], "1,5");
    assert_null(table.values);
    put("1;2;3\n", 6);
    assert_int_equal(hac_number_table_read_header(path, ';', &table, &err), HAC_OK);
    assert_int_equal(table.columns, 3);
    assert_null(table.names);
    put("", 0);
    assert_int_equal(hac_number_table_read_header(path, ',', &table, &err), HAC_OK);
    assert_int_equal(table.columns, 0);
    assert_null(table.names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers), cmocka_unit_test(headers),     cmocka_unit_test(no_tables),
        cmocka_unit_test(limits),  cmocka_unit_test(first_lines),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
