/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of a logic file without `operators`: good and bad values of vectors; what outputs, the
 * reducer and inputs refuse; limits. */
#include "test_logic.h"

#include <math.h>

/* Values of a vector `a`. Messages begin with "t.yaml:1:". */
static const bad_logic bad_values[] = {
    {"value: ~", "22: `value` is empty"},
    {"value: [true, 1]", "29: values of one vector are of one type"},
    {"value: [1, true]", "26: values of one vector are of one type"},
    {"value: [1, \"1\"]", "26: values of one vector are of one type"},
    {"type: f64, value: [x]", "34: `x` is not a value of type f64"},
    {"value: [[1], 2]", "22: a value is a list of values, or a list of lists"},
    {"value: [1, [2]]", "22: a value is a list of values, or a list of lists"},
    {"value: [[[1]]]", "22: a value is a list of values, or a list of lists"},
    {"template: VariableLenVector, value: [1, 2]", "51: a VariableLenVector is a list of lists"},
    {"template: VariableLenVector, value: 1", "51: a VariableLenVector is written as"},
    {"template: SparseValueVector, type: f64, value: [1, 2]",
     "62: a SparseValueVector is written as {rows: 8"},
    {"template: SparseMatrix, type: f64, value: [1, 2]", "57: a SparseMatrix is written as {rows: 2"},
    {"value: [[a], [b]]", "22: a SparseTextVector is a list of texts"},
    {"value: [[], []]", "22: the rows are empty"},
    {"template: FixValueVector, value: {rows: 2, indices: [0], values: [1]}",
     "48: a FixValueVector is not written as a map of keys"},
    {"value: 1, rows: 4097, columns: 4096", "46: more than 4194304 values; use `fill`"},
    {"template: Var, value: 1, rows: 2", "46: a Var has one value; several are a PVar"},
    {"template: Var, value: 1, columns: 2", "49: a Var has one value; several are a PVar"},
    /* Rows and columns repeat one value; lists, maps and texts refuse them. */
    {"value: [1, 2], rows: 5", "30: `rows` is how often one value is repeated"},
    {"value: [[1, 2]], columns: 5", "32: `columns` is how often one value is repeated"},
    {"value: {rows: 2, indices: [0], values: [1]}, rows: 5", "60: `rows` is how often one value is repeated"},
    {"value: x, rows: 3", "25: `rows` is how often one value is repeated"},
    {"type: i32, value: -2147483649", "33: `-2147483649` is not a value of type i32"},
    {"type: i32, value: 18446744073709551615", "33: `18446744073709551615` is not a value of type i32"},
    {"type: i64, value: 9223372036854775808", "33: `9223372036854775808` is not a value of type i64"},
    {"type: i64, value: -9223372036854775809", "33: `-9223372036854775809` is not a value of type i64"},
    {"type: u32, value: 4294967296", "33: `4294967296` is not a value of type u32"},
    {"type: u32, value: -1", "33: `-1` is not a value of type u32"},
    {"type: u64, value: -1", "33: `-1` is not a value of type u64"},
    {"type: u64, value: 18446744073709551616", "33: `18446744073709551616` is not a value of type u64"},
    {"value: [-1, 18446744073709551615]", "23: `-1` is not a value of type u64"},
    {"type: bool, value: 1", "34: `1` is not a value of type bool"},
    {"type: f32, value: 1e39", "33: `1e39` is not a value of type f32"},
    {"type: f32, value: -3.5e38", "33: `-3.5e38` is not a value of type f32"},
    {"type: f64, value: 1e309", "33: `1e309` is not a value of type f64"},
    {"type: f64, value: 1.2.3", "33: `1.2.3` is not a value of type f64"},
    {"type: f64, value: e", "33: `e` is not a value of type f64"},
    {"value: {rows: 2, indices: [0, 1], values: [1]}",
     "22: there are 2 indices and 1 values; they go in pairs"},
    {"value: {rows: 2, indices: [0, 0], values: [1, 2]}", "45: indices are in ascending order, each once"},
    {"value: {rows: 2, indices: [2], values: [1]}", "42: `2` is not a whole number from 0 to 1"},
    {"value: {rows: 2, indices: 1, values: 2}", "41: `indices` is a single value; it has to be a list"},
    {"value: {rows: 2, indices: [1], values: 2}", "54: `values` is a single value; it has to be a list"},
    {"value: {rows: 2, indices: [1], values: {b: 2}}", "54: `values` is a map of keys; it has to be a list"},
    {"value: {rows: 2, indices: [1], values: [[2]]}", "55: values are numbers"},
    {"value: {rows: 2, indeces: [1], values: [2]}", "32: unknown key `indeces`"},
    {"value: {rows: 16777217, columns: 1, entries: []}", "29: more than 16777216 rows; use `csr`"},
    {"value: {rows: 2, columns: 2, entries: 5}", "53: `entries` is a single value; it has to be a list"},
    {"value: {rows: 2, columns: 2, entries: [5]}", "54: an entry is [row, column, value]"},
    {"value: {rows: 2, columns: 2, entries: [[0, 1]]}", "54: an entry is [row, column, value]"},
    {"value: {rows: 2, columns: 2, entries: [[0, 1, 2, 3]]}", "54: an entry is [row, column, value]"},
    {"value: {rows: 2, columns: 2, entries: [[0, 1, [2]]]}", "54: an entry is [row, column, value]"},
    {"value: {rows: 2, columns: 2, entries: [[2, 1, 1]]}", "55: `2` is not a whole number from 0 to 1"},
    {"value: {rows: 2, columns: 2, entries: [[1, 0, 1], [0, 0, 1]]}", "65: entries are in the order of rows"},
    {"value: {rows: 2, columns: 2, entries: [[1, 1, 1], [1, 0, 1]]}", "65: entries are in the order of rows"},
    {"value: {rows: 2, columns: 2, entries: [[1, 1, 1], [1, 1, 1]]}", "65: entries are in the order of rows"},
    {"value: {rows: 2, columns: 2, entries: [[1, 1, x]]}", "61: `x` is not a value of type f64"},
};

static void test_bad_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_values / sizeof *bad_values; i++) {
        char *text = NULL, message[300];
        assert_true(asprintf(&text, "vectors: {a: {%s}, b: {value: 1}}\noutputs: {o: {columns: [b]}}\n",
                             bad_values[i].text) > 0);
        snprintf(message, sizeof message, "1:%s", bad_values[i].message);
        check_bad(text, message);
        free(text);
    }
}

/* Whole files and their messages. */
static const bad_logic bad_files[] = {
    /* Outputs: names of columns, options of formats. */
    {"vectors: {a: {value: [1]}}\noutputs: {o: {columns: []}}\n", "2:24: `columns` names none"},
    {"vectors: {a: {value: [1]}}\noutputs: {o: {columns: 3}}\n",
     "2:24: `columns` is a single value; it has to be a map"},
    {"vectors: {a: {value: [1]}}\noutputs: {o: {columns: [[a]]}}\n",
     "2:25: this is a list; it has to be a single value"},
    {"vectors: {a: {value: [1]}}\noutputs: {o: {columns: {\"\": a}}}\n",
     "2:29: `` is too long, or too short, for a column's name"},
    {"vectors: {a: {value: [1]}}\noutputs: {o: {columns: [a, a]}}\n", "2:11: two columns are called `a`"},
    {"vectors: {a: {value: [[1, 2]]}, b: {value: [1]}}\noutputs: {o: {columns: {x: a, x1: b}}}\n",
     "2:11: two columns are called `x1`"},
    {"vectors: {a: {value: {rows: 2, columns: 2, entries: []}}, b: {value: [1, 2]}}\noutputs: {o: {columns: "
     "[a, b]}}\n",
     "2:28: a SparseMatrix is written as row, column, value, by itself"},
    {"vectors: {a: {value: {rows: 2, indices: [], values: []}}}\noutputs: {o: {columns: [a]}}\n",
     "2:25: `a` is a SparseValueVector; write out its zeros with `dense` first"},
    {"vectors: {a: {value: [1]}}\noutputs: {o: {format: raw, columns: [a], limit: 3}}\n",
     "2:11: raw takes no `where`, `order_by` or `limit`"},
    {"vectors: {a: {value: [1]}}\noutputs: {o: {format: raw, columns: [a], where: \"a > 0\"}}\n",
     "2:11: raw takes no `where`, `order_by` or `limit`"},
    {"vectors: {a: {value: [1]}}\noutputs: {o: {format: raw, columns: [a], order_by: a}}\n",
     "2:11: raw takes no `where`, `order_by` or `limit`"},
    {"vectors: {a: {value: [1]}, b: {value: [2]}}\noutputs: {o: {format: raw, columns: [a, b]}}\n",
     "2:11: raw is the values of one vector of numbers"},
    {"vectors: {a: {value: [1]}}\noutputs: {o: {columns: [a], where: \"a + 1\"}}\n",
     "2:37: a condition is true or false, and this is i64"},
    {"vectors: {a: {value: [1]}}\noutputs: {o: {columns: [a], where: []}}\n",
     "2:36: `where` is a list; it has to be a single value"},
    {"vectors: {a: {value: [1]}}\noutputs: []\n", "2:10: `outputs` is a list; it has to be a map of keys"},
    {"vectors: {a: {value: [1]}}\noutputs: {\"a b\": {columns: [a]}}\n", "2:11: `a b` cannot be a name"},
    {"vectors: {a: {value: [1]}}\noutputs: {o: 5}\n",
     "2:14: `o` is a single value; it has to be a map of keys"},
    /* The reducer. */
    {"vectors: {a: {value: [1]}}\nreducer: {keys: b}\noutputs: {o: {columns: [a]}}\n",
     "2:1: `key` is missing"},
    {"vectors: {a: {value: [1]}}\nreducer: {key: b, keys: c}\noutputs: {o: {columns: [a]}}\n",
     "2:16: no vector is called `b`"},
    {"vectors: {a: {value: [[1, 2]]}}\nreducer: {key: a, keys: c}\noutputs: {o: {columns: [a]}}\n",
     "2:16: `a` is a FixValueVector of i64; keys are whole numbers or texts, a row each"},
    {"vectors: {a: {value: 1}}\nreducer: {key: a, keys: c}\noutputs: {o: {columns: [a]}}\n",
     "2:16: `a` is a Var of i64; keys are whole numbers"},
    {"vectors: {a: {value: [1]}}\nreducer: {key: a, keys: c, values: [d]}\noutputs: {o: {columns: [a]}}\n",
     "2:36: `values` is a list; it has to be a map of keys"},
    {"vectors: {a: {value: [1]}, t: {value: [x]}}\nreducer: {key: a, keys: c, values: {d: {in: "
     "t}}}\noutputs: {o: {columns: [a]}}\n",
     "2:45: `t` is a SparseTextVector of string; values are numbers, a row each"},
    {"vectors: {a: {value: [1]}, t: {value: [[1, 2]]}}\nreducer: {key: a, keys: c, values: {d: {in: "
     "t}}}\noutputs: {o: {columns: [a]}}\n",
     "2:45: `t` is a FixValueVector of i64; values are numbers, a row each"},
    {"vectors: {a: {value: [1]}, t: {value: 2}}\nreducer: {key: a, keys: c, values: {d: {in: t}}}\noutputs: "
     "{o: {columns: [a]}}\n",
     "2:45: `t` is a Var of i64; values are numbers, a row each"},
    {"vectors: {a: {value: [1]}, t: {value: [2, 3]}}\nreducer: {key: a, keys: c, values: {d: {in: "
     "t}}}\noutputs: {o: {columns: [a]}}\n",
     "2:45: `t` has 2 rows, and `a` has 1 row"},
    {"vectors: {a: {value: [1]}}\nreducer: {key: a, keys: c, values: {d: {function: mean, in: a}}}\noutputs: "
     "{o: {columns: [a]}}\n",
     "2:51: `mean` is not known here; there are: sum, min, max, count"},
    {"vectors: {a: {value: [1]}}\nreducer: {key: a, keys: c, values: {d: {fn: sum}}}\noutputs: {o: {columns: "
     "[a]}}\n",
     "2:41: unknown key `fn`; there are: function, in"},
    /* Vectors: partitioners. */
    {"vectors: {a: {value: [1], rows: 2}}\noutputs: {o: {columns: [a]}}\n",
     "1:27: `rows` is how often one value is repeated"},
    {"vectors: {a: {rows: 2}}\noutputs: {o: {columns: [a]}}\n",
     "1:15: `rows` is how often a `value` is repeated, and there is none"},
    {"vectors: {a: {value: [1], partitioner: {weight: t}}, t: {value: [x]}}\noutputs: {o: {columns: [a]}}\n",
     "1:49: `t` is text; weights are numbers"},
    {"vectors: {a: {value: [1], partitioner: {weight: t, hash: t}}, t: {value: [1]}}\noutputs: {o: {columns: "
     "[a]}}\n",
     "1:40: `partitioner` has 2 keys; it takes one of weight, hash, expr"},
    {"vectors: {a: {value: [1], partitioner: {}}}\noutputs: {o: {columns: [a]}}\n",
     "1:40: `partitioner` has 0 keys"},
    {"vectors: {a: {value: [1], partitioner: [hash]}}\noutputs: {o: {columns: [a]}}\n",
     "1:40: `partitioner` is a list; it has to be"},
    {"vectors: {a: {value: [1, 2, 3], partitioner: {expr: \"b\"}}, b: {value: [1, 2]}}\noutputs: {o: "
     "{columns: [a]}}\n",
     "1:53: `expr` has 2 rows, and `a` has 3 rows"},
    {"vectors: {a: {value: [1], partitioner: {hash: b}}}\noutputs: {o: {columns: [a]}}\n",
     "1:47: no vector is called `b`"},
    /* inputs */
    {"inputs: {a: {parse: csv, schema: \"x:i64\", delimiter: \"\"}}\noutputs: {o: {columns: [a.x]}}\n",
     "1:54: '' is not possible; allowed: one byte, or \\t"},
    {"inputs: {a: {parse: csv, schema: \"x:i64\", delimiter: '\"'}}\noutputs: {o: {columns: [a.x]}}\n",
     "1:54: '\"' is not possible; allowed: one byte, or \\t"},
    {"inputs: {a: {parse: csv, schema: \"x:i64\", delimiter: [\",\"]}}\noutputs: {o: {columns: [a.x]}}\n",
     "1:54: `delimiter` is a list; it has to be a single value"},
    {"inputs: {a: {parse: csv, schema: \"x:i64\", on_error: drop}}\noutputs: {o: {columns: [a.x]}}\n",
     "1:53: `drop` is not known here; there are: fail, skip"},
    {"inputs: {a: {parse: csv, schema: \"x:i64\", null_text: "
     "\"123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
     "01234567890123456789012345678\"}}\noutputs: {o: {columns: [a.x]}}\n",
     "1:54: must be valid UTF-8 of at most 127 bytes"},
    {"inputs: {a: {parse: csv, schema: \"x:i64\", limit: 0}}\noutputs: {o: {columns: [a.x]}}\n",
     "1:50: `0` is not a whole number from 1"},
    {"inputs: {a: {parse: csv, schema: \"x:i64\", where: []}}\noutputs: {o: {columns: [a.x]}}\n",
     "1:50: `where` is a list; it has to be a single value"},
    {"inputs: {a: {parse: kv, schema: \"x:i64\"}}\noutputs: {o: {columns: [a.x]}}\n",
     "1:25: this format has its own columns (key:string,value:string)"},
    {"inputs: {a: {parse: csv, schema: \"x:i64\", matrix: {m: []}}}\noutputs: {o: {columns: [a.x]}}\n",
     "1:55: a matrix has columns; name some"},
    {"inputs: {a: {parse: csv, schema: \"x:i64\", matrix: {m: x}}}\noutputs: {o: {columns: [a.m]}}\n",
     "1:55: `m` is a single value; it has to be a list"},
    {"inputs: {a: {parse: csv, schema: \"x:i64\", matrix: {m: [x, x]}}}\noutputs: {o: {columns: [a.m]}}\n",
     "1:59: column `x` is in a matrix already"},
    {"inputs: {a: {parse: csv, schema: \"x:string\", matrix: {m: [x]}}}\noutputs: {o: {columns: [a.m]}}\n",
     "1:59: column `x` is string; columns of a matrix are numbers of one type"},
    {"inputs: {a: {parse: csv, schema: \"file:i64\", directory: true}}\noutputs: {o: {columns: [a.file]}}\n",
     "1:10: an input of a directory has vectors `file` and `files` of its own"},
    {"inputs: {a: {parse: csv, schema: \"files:i64\", directory: true}}\noutputs: {o: {columns: [a.file]}}\n",
     "1:10: an input of a directory has vectors `file` and `files` of its own"},
    {"inputs: {a: {parse: csv, schema: \"x:i64\", group_by: x, directory: true}}\noutputs: {o: {columns: "
     "[a.x]}}\n",
     "1:56: files of a directory are read one by one"},
    {"inputs: {a: {parse: csv, schema: \"x:i64\", order_by: x, directory: true}}\noutputs: {o: {columns: "
     "[a.x]}}\n",
     "1:56: files of a directory are read one by one"},
    {"inputs: {a: {parse: csv, schema: \"x:i64\", directory: 2}}\noutputs: {o: {columns: [a.x]}}\n",
     "1:54: `2` is neither true nor false"},
    {"inputs: {a: {parse: csv, schema: \"x:i64\", rows: 0}}\noutputs: {o: {columns: [a.x]}}\n",
     "1:49: `0` is not a whole number from 1"},
    {"inputs: [a]\noutputs: {o: {columns: [a.x]}}\n", "1:9: `inputs` is a list; it has to be a map of keys"},
};

static void test_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++)
        check_bad(bad_files[i].text, bad_files[i].message);
}

/* As many of a kind as are allowed, and one more. */
static void check_many(const char *before_all, const char *each, const char *after_all, int max,
                       const char *message)
{
    for (int n = max; n <= max + 1; n++) {
        hac_logic *logic = NULL;
        hac_error err = HAC_ERROR_NONE;
        char *text = NULL;
        size_t bytes = 0;
        FILE *file = open_memstream(&text, &bytes);
        assert_non_null(file);
        fputs(before_all, file);
        for (int i = 0; i < n; i++) {
            fprintf(file, "  n%d: ", i);
            fputs(each, file);
        }
        fputs(after_all, file);
        assert_int_equal(fclose(file), 0);
        hac_status status = hac_logic_parse("t.yaml", text, bytes, NULL, &logic, NULL, &err);
        if (status != (n <= max ? HAC_OK : HAC_INVALID))
            fail_msg("%d: %s", n, err.message);
        if (n > max && strstr(err.message, message) == NULL)
            fail_msg("%s, not %s", err.message, message);
        hac_logic_free(logic);
        free(text);
    }
}

static void test_too_many(void **state)
{
    (void)state;
    check_many("vectors: {a: {value: 1}}\noutputs:\n", "{columns: [a]}\n", "", HAC_LOGIC_OUTPUTS_MAX,
               "more than 64 outputs");
    check_many("inputs:\n", "{template: Var, type: f64}\n", "outputs: {o: {columns: [n0]}}\n",
               HAC_LOGIC_INPUTS_MAX, "more than 64 inputs");
    check_many("vectors:\n", "{value: 1}\n", "outputs: {o: {columns: [n0]}}\n", HAC_LOGIC_VECTORS_MAX,
               "more than 256 vectors");
}

/* The vectors `a` … of a file with these values, and their contents. */
static hac_logic *parse_values(const char *values)
{
    char *text = NULL;
    assert_true(asprintf(&text, "vectors:\n%soutputs: {o: {format: json, columns: [a]}}\n", values) > 0);
    hac_logic *logic = parse(text);
    free(text);
    return logic;
}

static void check_value(const hac_logic *logic, const char *name, uint64_t rows, uint64_t columns,
                        const void *values, size_t bytes)
{
    const hac_logic_value *value = vector(logic, name)->value;
    assert_non_null(value);
    assert_int_equal(value->rows, rows);
    assert_int_equal(value->columns, columns);
    assert_int_equal(value->value_bytes, bytes);
    assert_memory_equal(value->values, values, bytes);
}

static void test_values(void **state)
{
    (void)state;
    hac_logic *logic =
        parse_values("  a: {type: i32, value: [-2147483648, 2147483647, +5]}\n"
                     "  b: {value: [-9223372036854775808, 9223372036854775807]}\n"
                     "  c: {type: u32, value: [0, 4294967295]}\n"
                     "  d: {value: [1, 18446744073709551615, 2]}\n"
                     "  e: {value: [.inf, -.inf, inf, -inf, 1, 2.5e-3, 18446744073709551615]}\n"
                     "  f: {type: f32, value: [.inf, -inf, 0.1, 3, 3.4e38]}\n"
                     "  g: {value: [true, false, true]}\n"
                     "  h: {value: 1.5, rows: 2, columns: 3}\n"
                     "  i: {value: [[1, 2], [3, 4], [5, 6]]}\n"
                     "  j: {value: []}\n"
                     "  k: {type: f64, value: [nan, .nan]}\n"
                     "  l: {template: PVar, value: 7}\n");
    check_vector(logic, "b", HAC_VECTOR_FIX_VALUE, HAC_KIND_I64);
    check_vector(logic, "d", HAC_VECTOR_FIX_VALUE, HAC_KIND_U64);
    check_vector(logic, "e", HAC_VECTOR_FIX_VALUE, HAC_KIND_F64);
    check_vector(logic, "g", HAC_VECTOR_FIX_VALUE, HAC_KIND_BOOL);
    check_vector(logic, "j", HAC_VECTOR_FIX_VALUE, HAC_KIND_F64);
    check_vector(logic, "l", HAC_VECTOR_PVAR, HAC_KIND_I64);
    check_value(logic, "a", 3, 1, (int32_t[]){INT32_MIN, INT32_MAX, 5}, 12);
    check_value(logic, "b", 2, 1, (int64_t[]){INT64_MIN, INT64_MAX}, 16);
    check_value(logic, "c", 2, 1, (uint32_t[]){0, UINT32_MAX}, 8);
    check_value(logic, "d", 3, 1, (uint64_t[]){1, UINT64_MAX, 2}, 24);
    check_value(logic, "e", 7, 1,
                (double[]){INFINITY, -INFINITY, INFINITY, -INFINITY, 1, 0.0025, 18446744073709551616.0}, 56);
    check_value(logic, "f", 5, 1, (float[]){INFINITY, -INFINITY, 0.1f, 3, 3.4e38f}, 20);
    check_value(logic, "g", 3, 1, (uint8_t[]){1, 0, 1}, 3);
    check_value(logic, "h", 2, 3, (double[]){1.5, 1.5, 1.5, 1.5, 1.5, 1.5}, 48);
    check_value(logic, "i", 3, 2, (int64_t[]){1, 2, 3, 4, 5, 6}, 48);
    check_value(logic, "j", 0, 1, "", 0);
    check_value(logic, "l", 1, 1, (int64_t[]){7}, 8);
    const double *nans = vector(logic, "k")->value->values;
    assert_true(isnan(nans[0]) && isnan(nans[1]));
    hac_logic_free(logic);
}

static void test_sparse_values(void **state)
{
    (void)state;
    hac_logic *logic =
        parse_values("  a: {value: [one, \"\", three]}\n"
                     "  b: {value: [[1, 2], [], [3]]}\n"
                     "  c: {value: {rows: 8, indices: [1, 7], values: [0.5, 2]}}\n"
                     "  d: {value: {rows: 4, columns: 3, entries: [[0, 2, 1], [2, 0, 2.5], [2, 1, -3]]}}\n"
                     "  e: {value: alone}\n"
                     "  f: {value: {rows: 2, columns: 2, entries: []}}\n");
    check_vector(logic, "a", HAC_VECTOR_SPARSE_TEXT, HAC_KIND_STRING);
    check_vector(logic, "b", HAC_VECTOR_VARIABLE_LEN, HAC_KIND_I64);
    check_vector(logic, "c", HAC_VECTOR_SPARSE_VALUE, HAC_KIND_F64);
    check_vector(logic, "d", HAC_VECTOR_SPARSE_MATRIX, HAC_KIND_F64);
    check_value(logic, "a", 3, 1, "onethree", 8);
    assert_memory_equal(vector(logic, "a")->value->offsets, ((uint64_t[]){0, 3, 3, 8}), 32);
    check_value(logic, "b", 3, 1, (int64_t[]){1, 2, 3}, 24);
    assert_memory_equal(vector(logic, "b")->value->offsets, ((uint64_t[]){0, 2, 2, 3}), 32);
    check_value(logic, "c", 8, 1, (double[]){0.5, 2}, 16);
    assert_int_equal(vector(logic, "c")->value->entries, 2);
    assert_memory_equal(vector(logic, "c")->value->indices, ((uint64_t[]){1, 7}), 16);
    check_value(logic, "d", 4, 3, (double[]){1, 2.5, -3}, 24);
    assert_memory_equal(vector(logic, "d")->value->offsets, ((uint64_t[]){0, 1, 1, 3, 3}), 40);
    assert_memory_equal(vector(logic, "d")->value->indices, ((uint64_t[]){2, 0, 1}), 24);
    check_value(logic, "e", 1, 1, "alone", 5);
    check_value(logic, "f", 2, 2, "", 0);
    assert_memory_equal(vector(logic, "f")->value->offsets, ((uint64_t[]){0, 0, 0}), 24);
    hac_logic_free(logic);
}

/* A sparse value that is overwritten by a dense result is dense from the start. */
static void test_sparse_value_grows(void **state)
{
    (void)state;
    hac_logic *logic = parse("vectors:\n"
                             "  a: {type: f64, value: {rows: 4, indices: [1, 3], values: [5, 7]}}\n"
                             "  b: {value: [1.0, 2.0, 3.0, 4.0]}\n"
                             "operators: [{let: {a: b}}]\n"
                             "outputs: {o: {columns: [a]}}\n");
    check_vector(logic, "a", HAC_VECTOR_FIX_VALUE, HAC_KIND_F64);
    check_value(logic, "a", 4, 1, (double[]){0, 5, 0, 7}, 32);
    assert_null(vector(logic, "a")->value->indices);
    hac_logic_free(logic);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_values),    cmocka_unit_test(test_files),
        cmocka_unit_test(test_too_many),      cmocka_unit_test(test_values),
        cmocka_unit_test(test_sparse_values), cmocka_unit_test(test_sparse_value_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
