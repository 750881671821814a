/* SPDX-License-Identifier: Apache-2.0 */
/* Logic files: good ones become programs; problems of bad ones are reported at their place. */
#include "test_logic.h"

#include <dirent.h>

/* ---- bad files ---- */

/* Lines 1 to 9. The lines of a case begin in line 10. */
static const char before[] = "inputs:\n"
                             "  p: {parse: csv, schema: \"x:f64,y:f64,k:i64,w:f32,s:string\"}\n"
                             "  q: {parse: csv, schema: \"x:f64\"}\n"
                             "  m: {parse: csv, schema: \"a:f64,b:f64,c:i64\", matrix: {t: [a, b]}}\n"
                             "vectors:\n"
                             "  two: {value: 2.0}\n"
                             "  n: {value: 5}\n"
                             "  cent: {template: PVar, value: [[1.0, 2.0], [3, 4]]}\n"
                             "operators:\n";
static const char after[] = "outputs:\n  o: {columns: [p.x]}\n";

static void check_steps(const bad_logic *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *text = NULL;
        assert_true(asprintf(&text, "%s%s%s", before, cases[i].text, after) > 0);
        check_bad(text, cases[i].message);
        free(text);
    }
}

#define CHECK_STEPS(...)                                                                                     \
    check_steps((const bad_logic[]){__VA_ARGS__},                                                            \
                sizeof((const bad_logic[]){__VA_ARGS__}) / sizeof(bad_logic))

static void test_names(void **state)
{
    (void)state;
    CHECK_STEPS(
        {"  - mpa: {in: p.x, out: z}\n",
         "10:5: `mpa` is in no library (did you mean `map`?); a sub-operator of your "
         "own has `expr` and `out`"},
        {"  - map: {expr: \"p.x + zz\", out: z}\n", "10:24: no vector is called `zz`; there are: p.x, p.y"},
        {"  - map: {expr: \"tow\", out: z}\n",
         "10:18: no vector is called `tow`; there are: p.x, p.y, p.k, p.w, p.s, "
         "q.x, m.t, m.c, two, n, cent (did you mean two?)"},
        {"  - scan: {in: cnet, out: z}\n", "10:16: no vector is called `cnet`; there are"},
        {"  - map: {expr: \"later\", out: z}\n  - let: {later: 1}\n",
         "10:17: vector `later` has no value here yet; read it after the step that writes it"},
        {"  - map: {exp: \"1\", out: z}\n",
         "10:11: unknown key `exp`; there are: expr, out, device (did you mean expr?)"},
        {"  - map: {expr: \"1\"}\n",
         "10:5: `out` of `map` is missing: one row for each row; as in map: {expr:"},
        {"  - map: {expr: \"1\", out: \"and\"}\n",
         "10:27: `and` is a word of expressions; choose another name"},
        {"  - map: {expr: \"1\", out: iLike}\n",
         "10:27: `iLike` is a word of expressions; choose another name"},
        {"  - map: {expr: \"1\", out: a b}\n",
         "10:27: `a b` cannot be a name; names are letters, digits and _"},
        {"  - map: {expr: \"1\", out: 3}\n", "10:27: `3` cannot be a name"},
        {"  - let: {p.x: 3}\n",
         "10:11: `p.x` is of an input, which is not written; give the result another name"},
        {"  - op: a b\n    do: []\n", "10:9: `a b` cannot be a name"},
        {"  - op: a\n    operation: VektorMap\n    do: []\n",
         "11:16: `VektorMap` is not known here; there are: VectorMap"},
        {"  - op: a\n    operation: MatrixMap\n    do: [{map: {expr: \"p.x * 2\", out: y}}]\n",
         "11:16: MatrixMap walks the elements of a matrix, and none of its sub-operators has one"},
        {"  - op: a\n    operation: CrossMap\n    do: [{map: {expr: \"p.x * 2\", out: y}}]\n",
         "11:16: CrossMap sets the rows of one vector against all rows of another, and none"},
        {"  - op: a\n    operation: DirMap\n    do: [{map: {expr: \"p.x * 2\", out: y}}]\n",
         "11:16: DirMap walks the files of a directory, and none of its sub-operators has rows"},
        {"  - op: a\n    device: \"a/b\"\n    do: []\n",
         "11:13: `a/b` is no device; write a processor type (cpu, gpu"},
        {"  - op: a\n    do: []\n    fo: 1\n",
         "12:5: unknown key `fo`; there are: op, operation, device, do, use, with"},
        {"  - op: a\n", "10:9: an OP has `do`, a list of sub-operators, or `use`"},
        {"  - op: a\n    use: b\n", "11:10: no OP is called `b`; of your own there are none"},
        {"  - op: a\n    use: b\n    do: []\n", "10:9: an OP has `do` or `use`, not both"},
        {"  - op: a\n    do: []\n    with: {}\n", "12:5: `with` goes with `use`"},
        {"  - foo\n", "10:5: this is a single value; it has to be a map of keys"},
        {"  - {}\n", "10:5: this is empty; a step is an OP"},
        {"  - map: [1]\n", "10:10: `map` is a list; it has to be a map of keys"},
        {"  - map: {expr: \"1\", out: z}\n    scan: {in: z, out: z}\n",
         "11:5: `scan` stands beside `map`; every "
         "sub-operator is an entry of its own"},
        {"  - let: {}\n", "10:10: `let` has no name"});
}

static void test_expressions(void **state)
{
    (void)state;
    CHECK_STEPS({"  - map: {expr: \"p.x +\", out: z}\n", "10:23: expected a value, but the text ends here"},
                {"  - map: {expr: 'ä', out: z}\n", "10:18: no vector is called `ä`"},
                {"  - map: {expr: \"upper(p.s)\", out: z}\n",
                 "10:17: this gives string, and elements of vectors are"},
                {"  - map: {expr: \"length(p.s)\", out: z}\n",
                 "10:17: `p.s` is text, which expressions of sub-operators do not "
                 "read; number it with `index`"},
                {"  - map: {expr: \"sum(p.x)\", out: z}\n",
                 "10:18: an aggregate needs many rows, and this expression sees one; "
                 "use `reduce`"},
                {"  - map: {expr: \"null\", out: z}\n", "10:18: null has no type here"},
                {"  - map: {expr: \"\", out: z}\n", "10:17: `expr` is empty"},
                {"  - filter: {where: \"p.x\", in: p.x, out: z}\n",
                 "10:21: a condition has to be bool, and this is f64"},
                {"  - axpy: {a: \"p.x > 1\", x: p.x, y: p.y, out: z}\n",
                 "10:15: this has as many rows as input `p`, and here one "
                 "value is needed; `reduce` makes one value of many"},
                {"  - map:\n      expr: |\n        p.x +\n        zz\n      out: z\n",
                 "11:13: character 7: no vector is called `zz`"},
                {"  - map: {expr: \"p.x + p.y + two + n + cast(p.k as f64) + p.w + q.x\", out: z}\n",
                 "10:17: `p.x` has as many "
                 "rows"},
                {"  - while: {condition: \"two\", rounds: 5}\n    do: [{let: {two: \"two / 2\"}}]\n",
                 "10:24: a condition has to be bool, and this is f64"});
}

static void test_types(void **state)
{
    (void)state;
    CHECK_STEPS(
        {"  - gemv: {matrix: p.x, in: m.c, out: z}\n",
         "10:29: `m.c` has elements of type i64, and matrix has f64; they "
         "have to be of one type: convert one with `map`"},
        {"  - spmv: {matrix: m.t, in: p.x, out: z}\n",
         "10:20: `m.t` is a FixValueVector; `matrix` of `spmv` takes "
         "SparseMatrix"},
        {"  - scan: {in: p.x, function: max, exclusive: true, out: z}\n",
         "10:47: `exclusive` is for `sum` only: before the first row there is no maximum"},
        {"  - scan: {in: p.x, exclusive: true, out: z, function: min}\n",
         "10:32: `exclusive` is for `sum` only: before the first row there is no minimum"},
        {"  - scan: {in: m.t, out: z}\n", "10:16: `m.t` has 2 columns; `in` of `scan` takes one column"},
        {"  - scan: {in: p.s, out: z}\n",
         "10:16: `p.s` is a SparseTextVector; `in` of `scan` takes FixValueVector, Var, "
         "PVar"},
        {"  - gather: {in: p.x, index: p.y, out: z}\n",
         "10:30: `p.y` has elements of type f64, and here whole numbers are "
         "needed; convert it"},
        {"  - dot: {in: [p.x, p.k], out: z}\n",
         "10:15: `p.k` has elements of type i64, and the first one has f64"},
        {"  - dot: {in: [p.x], out: z}\n", "10:15: `in` takes two vectors, not 1"},
        {"  - tokenize: {in: p.x, out: z}\n",
         "10:20: `p.x` is a FixValueVector; `in` of `tokenize` takes SparseTextVector"},
        {"  - csr: {row: p.k, column: p.k, value: p.w, rows: 5, columns: 5, out: z}\n",
         "10:41: `p.w` has elements of type f32, and here f64 are needed"},
        {"  - index: {in: [p.k, p.x], out: [a, b], distinct: d}\n",
         "10:17: `p.x` has elements of type f64, and the first "
         "one has i64"},
        {"  - index: {in: [p.k, m.c], out: a, distinct: d}\n", "10:34: `out` has 1 names, and `in` has 2"},
        {"  - filter: {where: \"p.x > 0\", in: [p.x, p.y], out: [z, z]}\n",
         "10:53: `z` is named as a result twice"},
        {"  - reduce: {in: p.s, function: sum, out: z}\n",
         "10:5: `p.s` is text, of which `reduce` knows only the function "
         "count"},
        {"  - reduce: {in: p.x, expr: \"p.x\", out: z}\n", "10:5: `reduce` takes only one of `in` or `expr`"},
        {"  - reduce: {out: z}\n", "10:5: `reduce` needs `in` or `expr`"},
        {"  - sort: {in: p.x}\n", "10:5: `sort` needs `out` or `order`"},
        {"  - sort: {in: p.x, descending: yes, out: z}\n", "10:33: `yes` is neither true nor false"},
        {"  - scan: {in: p.x, function: avg, out: z}\n",
         "10:31: `avg` is not known here; there are: sum, min, max"},
        {"  - histogram: {in: p.x, bins: 0, from: 0, to: 1, out: z}\n",
         "10:32: `0` is not a whole number from 1 to "
         "1048576"},
        {"  - index: {in: p.k, out: two, distinct: d}\n",
         "10:27: vector `two` is a FixValueVector of f64, and `index` gives a "
         "FixValueVector of u32; give the result another name"},
        {"  - tokenize: {in: p.s, out: two}\n", "10:30: vector `two` is a Var of f64, and `tokenize` gives a "
                                                "SparseTextVector of string"},
        {"  - reduce_by_key: {key: p.k, function: count, keys: 5, out: z}\n",
         "10:5: `in` of `reduce_by_key` is missing"},
        {"  - reduce_by_key: {key: p.k, function: count, in: p.x, keys: 5, out: z}\n",
         "10:5: the result of `function: count` is `count`, not `out`"},
        {"  - reduce_by_key: {key: p.k, in: p.k, keys: cent, empty: cent, out: z}\n",
         "10:59: `cent` has 2 columns, and `p.k` has 1 column; they have to be as many"},
        {"  - argmin: {in: m.t, out: a, value: b}\n", "10:5: `value` is there for a vector only"});
}

static void test_shapes(void **state)
{
    (void)state;
    CHECK_STEPS(
        {"  - map: {expr: \"p.x + q.x\", out: z}\n",
         "10:17: `p.x` has as many rows as input `p`, and `q.x` has as many "
         "rows as input `q`; they have to be as many. If both inputs always"},
        {"  - gemv: {matrix: m.t, in: p.x, out: z}\n",
         "10:29: `p.x` has as many rows as input `p`, and `m.t` has 2 "
         "columns; they have to be as many"},
        {"  - gemm: {left: m.t, right: m.t, out: z}\n",
         "10:30: `m.t` has as many rows as input `m`, and `m.t` has 2 "
         "columns"},
        {"  - filter: {where: \"p.x > 0\", in: p.x, out: a}\n  - map: {expr: \"a + p.y\", out: z}\n",
         "11:17: `p.y` has as many rows as input `p`, and `a` has as many rows as `filter` gives in line 10"},
        {"  - fill: {value: 1, rows: 10, out: z}\n  - map: {expr: \"z + p.x\", out: a}\n",
         "11:17: `p.x` has as many rows as input `p`, and `z` has 10 rows"},
        {"  - reduce_by_key: {key: p.k, in: p.x, out: z}\n",
         "10:5: the number of keys is not known here for `reduce_by_key`; add `keys`"},
        {"  - reduce_by_key: {key: p.k, keys: 0, in: p.x, out: z}\n",
         "10:37: `0` is not a whole number from 1"},
        {"  - reduce_by_key: {key: p.k, keys: two, in: p.x, out: z}\n",
         "10:37: `two` is a Var of f64; `keys` takes a "
         "whole number, a Var of one, or a vector"},
        {"  - csr: {row: p.k, column: p.k, out: z}\n",
         "10:5: the number of rows is not known here for `csr`"},
        {"  - csr: {row: p.k, column: p.k, rows: 5, columns: 6, symmetric: true, out: z}\n",
         "10:5: with `symmetric` there are as many rows as columns; here there are 5 rows, and 6 columns"},
        {"  - nearest: {in: m.t, to: p.x, out: z}\n", "10:28: `p.x` has 1 column, and `m.t` has 2 columns"},
        {"  - fill: {value: 1, rows: n, out: a}\n  - fill: {value: 1, rows: 6, out: b}\n  - dot: {in: [a, "
         "b], out: c}\n",
         "12:15: `b` has 6 rows, and `a` has 5 rows; they have to be as many"},
        {"  - let: {n: \"n + 1\"}\n  - fill: {value: 1, rows: n, out: a}\n  - map: {expr: \"a + p.k\", out: "
         "b}\n",
         "12:17: `p.k` has as many rows as input `p`, and `a` has as many rows as `n` says"});
}

static void test_flow(void **state)
{
    (void)state;
    CHECK_STEPS(
        {"  - while: {condition: \"two > 1\"}\n    do: []\n",
         "10:5: `rounds` is missing: the most rounds that are run, "
         "as in rounds: 100"},
        {"  - while: {rounds: 5}\n    do: []\n", "10:5: `condition` is missing"},
        {"  - while: {condition: \"two > 1\", rounds: 0}\n    do: []\n",
         "10:43: `0` is not a whole number from 1 to"},
        {"  - while: {condition: \"two > 1\", rounds: 5}\n", "10:5: `do` is missing: a list of steps"},
        {"  - while: {condition: \"nope > 1\", rounds: 3}\n    do: []\n",
         "10:25: no vector is called `nope`"},
        {"  - while: {condition: \"p.x > 1\", rounds: 3}\n    do: []\n",
         "10:24: this has as many rows as input `p`, and "
         "here one value is needed"},
        {"  - while: {condition: \"two > 1\", rounds: 3}\n    do: [{let: {a: 1}}]\n  - let: {b: a}\n",
         "12:14: vector `a` may have no value here: not all branches of line 10 give it one"},
        {"  - for: {index: i, from: 0}\n    do: []\n",
         "10:5: `to` is missing; as in {index: i, from: 0, to: 10}"},
        {"  - for: {index: i, from: 0, to: 5, by: 0}\n    do: []\n", "10:41: a step of 0 never ends"},
        {"  - for: {index: i, from: 0, to: p.k}\n    do: []\n", "10:34: this has as many rows as input `p`"},
        {"  - for: {index: i, from: 0, to: 5, split: 0}\n    do: []\n",
         "10:44: `0` is not a whole number from 1 to 1024"},
        {"  - for: {index: i, from: 0, to: n}\n    do: [{let: {a: i}}]\n  - let: {b: a}\n",
         "12:14: vector `a` may have no value here"},
        {"  - for: {index: i, from: 0, to: 5}\n    do: [{let: {a: i}}]\n  - let: {b: i}\n",
         "12:14: vector `i` has no value here yet"},
        {"  - for: {index: i, from: 0, to: 5, collect: {m.t: all}}\n    do: []\n",
         "10:47: `m.t` is a FixValueVector with "
         "columns; `collect` takes a Var"},
        {"  - for: {index: i, from: 0, to: 5, collect: {z: all}}\n    do: []\n",
         "10:47: no vector is called `z`"},
        {"  - if: {condition: \"two\"}\n    then: []\n",
         "10:21: a condition has to be bool, and this is f64"},
        {"  - if: {condition: \"two > 1\"}\n", "10:5: `then` is missing: a list of steps"},
        {"  - if: {condition: \"two > 1\"}\n    then: []\n    esle: []\n",
         "12:5: unknown key `esle`; there are: if, then, "
         "else (did you mean else?)"},
        {"  - if: {condition: \"two > 1\"}\n    then: [{let: {a: 1}}]\n  - let: {b: a}\n",
         "12:14: vector `a` may have no value here: not all branches of line 10"});
}

static const bad_logic sections[] = {
    {"", "1:1: `outputs` is missing: the files that are written"},
    {"output: {}\n", "1:1: unknown key `output`; there are: name, text, inputs"},
    {"- a\n", "1:1: the file holds a list"},
    {"a: &x 1\n", "1:4: anchors (&) are not allowed"},
    {"outputs: {}\n", "1:1: `outputs` names none"},
    {"outputs: {o: {columns: [a]}}\n", "1:25: no vector is called `a`; there are none"},
    {"vectors: {a: {value: 1}}\noutputs: {o: {format: cvs, columns: [a]}}\n",
     "2:23: `cvs` is not known here; there "
     "are: raw, csv, json, xml, parquet (did "
     "you mean csv?)"},
    {"vectors: {a: {value: 1}}\noutputs: {o: {colums: [a]}}\n",
     "2:15: unknown key `colums`; there are: format, "
     "columns, where, order_by, limit (did you mean "
     "columns?)"},
    {"vectors: {a: {value: 1}}\noutputs: {o: {format: csv}}\n", "2:11: `columns` is missing"},
    {"vectors: {a: {value: 1}, b: {value: [1, 2]}}\noutputs: {o: {columns: [a, b]}}\n",
     "2:28: `b` has 2 rows, and `a` has 1 row; they have to be as many"},
    {"vectors: {a: {value: 1}}\noutputs: {o: {columns: {x: a}, order_by: \"y\"}}\n",
     "2:43: unknown column 'y'"},
    {"vectors: {a: {value: 1}}\noutputs: {o: {columns: {x: a}, limit: 0}}\n",
     "2:39: `0` is not a whole number"},
    {"vectors: {a: {value: [[1], []]}, b: {value: [1, 2]}}\noutputs: {o: {columns: [a, b]}}\n",
     "2:28: a VariableLenVector is written as row, value, by itself"},
    {"vectors: {a: {value: [x]}}\noutputs: {o: {format: raw, columns: [a]}}\n",
     "2:11: raw is the values of one vector"},
    {"vectors: {a: {tempalte: Var}}\n",
     "1:15: unknown key `tempalte`; there are: template, type, value, rows, "
     "columns, split, partitioner (did you mean template?)"},
    {"vectors: {a: {template: Vat}}\n", "1:25: `Vat` is not known here; there are: FixValueVector"},
    {"vectors: {a: {type: int}}\n", "1:21: `int` is not known here; there are: bool, i32"},
    {"vectors: {a: {template: Var, type: string}}\n", "1:36: a Var cannot have elements of type string"},
    {"vectors: {a: {split: 0}}\n", "1:22: `0` is not a whole number from 1 to 1024"},
    {"vectors: {a: {split: 2, partitioner: modulo}}\n",
     "1:38: `modulo` is not known here; there are: range, hash, "
     "round-robin, weight"},
    {"inputs: {p: {parse: csv, schema: \"i:i64,v:f64\"}}\nvectors: {m: {split: 2, partitioner: hash}}\n"
     "operators:\n  - csr: {row: p.i, column: p.i, rows: 5, columns: 5, out: m}\n"
     "  - row_reduce: {in: m, function: sum, out: s}\noutputs: {o: {columns: [s]}}\n",
     "2:11: a row of `m`, a SparseMatrix, is not one value that could be hashed; name a vector: {hash: V}"},
    {"vectors: {a: {partitioner: {wait: b}}}\n", "1:29: unknown key `wait`; there are: weight, hash, expr"},
    {"vectors: {a: {value: [1, x]}}\n", "1:26: values of one vector are of one type"},
    {"vectors: {a: {type: i32, value: [1, 3000000000]}}\noutputs: {o: {columns: [a]}}\n",
     "1:37: `3000000000` is not a value of type i32"},
    {"vectors: {a: {type: i64, value: 1.5}}\noutputs: {o: {columns: [a]}}\n",
     "1:33: `1.5` is not a value of type i64"},
    {"vectors: {a: {template: FixValueVector, value: 1}}\n",
     "1:14: one value does not make a FixValueVector; add "
     "`rows`"},
    {"vectors: {a: {template: FixValueVector, value: [[1], [2, 3]]}}\n",
     "1:48: rows of a FixValueVector are of one "
     "length"},
    {"vectors: {a: {template: Var, value: [1, 2]}}\n", "1:37: a Var is one value; a list makes a PVar"},
    {"vectors: {a: {value: {rows: 2, indices: [0]}}}\n",
     "1:22: `values` is missing; a SparseValueVector is written "
     "as {rows: 8"},
    {"vectors: {a: {value: {rows: 2, indices: [1, 0], values: [1, 2]}}}\noperators: [{dense: {in: a, "
     "out: b}}]\n"
     "outputs: {o: {columns: [b]}}\n",
     "1:45: indices are in ascending order"},
    {"vectors: {a: {value: {rows: 2, columns: 2, entries: [[0, 2, 1]]}}}\noutputs: {o: {columns: [a]}}\n",
     "1:58: `2` is not a whole number from 0 to 1"},
    {"vectors: {a: {template: Var, type: f64}}\noutputs: {o: {columns: [a]}}\n",
     "2:25: vector `a` has no value here"},
    {"vectors: {b: {value: 1}, a: {template: Var, type: f64}}\noutputs: {o: {columns: [b]}}\n",
     "1:26: nothing writes vector `a`, and it has no `value`"},
    {"vectors: {a: {value: [1, 2, 3], partitioner: {weight: b}}, b: {value: [1, 2]}}\noutputs: {o: "
     "{columns: [a]}}\n",
     "1:55: `b` has 2 rows, and `a` has 3 rows"},
    {"vectors: {a: {value: [1, 2, 3], partitioner: {expr: \"b +\"}}, b: {value: 2}}\noutputs: {o: "
     "{columns: [a]}}\n",
     "1:57: expected a value"},
    {"inputs: {a: {parse: csw}}\n", "1:21: `csw` is not known here; there are: csv"},
    {"inputs: {a: {parse: csv}}\n", "1:10: `schema` is missing"},
    {"inputs: {a: {parse: lines, schema: \"a:i64\"}}\n", "1:28: this format has its own columns"},
    {"inputs: {a: {parse: csv, schema: \"a:i65\"}}\n", "1:37: 'i65' is not a type"},
    {"inputs: {a: {parse: csv, schema: \"a:i64\", where: \"b > 1\"}}\n", "1:51: unknown column 'b'"},
    {"inputs: {a: {parse: csv, schema: \"a:i64\", select: \"a +\"}}\n", "1:55: expected a value"},
    {"inputs: {a: {parse: csv, schema: \"a:date\"}}\n",
     "1:10: column `a` is date, and elements of vectors are"},
    {"inputs: {a: {parse: csv, schema: \"a:i64\", delimiter: \"ab\"}}\n",
     "1:54: 'ab' is not possible; allowed: one byte"},
    {"inputs: {a: {parse: csv, schema: \"a:i64\", matrix: {m: [b]}}}\n",
     "1:56: input `a` has no column `b`; there "
     "are: a"},
    {"inputs: {a: {parse: csv, schema: \"a:i64,b:f64\", matrix: {m: [a, b]}}}\n",
     "1:65: column `b` is f64; columns of "
     "a matrix are numbers of one type"},
    {"inputs: {a: {parse: csv, schema: \"a:i64\", rows: b}}\n",
     "1:49: `rows` is a whole number, or the name of an "
     "input above"},
    {"inputs: {a: {parse: csv, schema: \"a:i64\", header: 1}}\n", "1:51: `1` is neither true nor false"},
    {"inputs: {a: {parse: words, directory: true, limit: 5}}\n",
     "1:28: files of a directory are read one by one"},
    {"inputs: {\"a b\": {parse: lines}}\n", "1:10: `a b` cannot be a name"},
    {"inputs: {a: {template: FixValueVector}}\n", "1:10: `a` needs `template` and `type`, as in"},
    {"inputs: {a: {template: Var, type: f64, parse: csv}}\n",
     "1:40: unknown key `parse`; there are: template, type, rows, columns"},
    {"inputs: {a: {template: Fix, type: f64}}\n", "1:24: `Fix` is not known here; there are: FixValueVector"},
    {"inputs: {a: {template: SparseTextVector, type: f64}}\n",
     "1:48: a SparseTextVector cannot have elements of type f64"},
    {"inputs: {a: {template: Var, type: f64, rows: 2}}\n", "1:40: a Var has one row"},
    {"inputs: {a: {template: VariableLenVector, type: f64, columns: 2}}\n",
     "1:54: a VariableLenVector has no columns"},
    {"inputs: {a: {template: FixValueVector, type: f64, rows: a}}\n",
     "1:57: `rows` is a whole number, or the name of an input above that has as many"},
    {"inputs: {a: {template: FixValueVector, type: f64, columns: b}}\n",
     "1:60: `columns` is a whole number, or the name of an input above that has as many rows"},
    {"inputs: {a: {template: Var, type: f64}}\nvectors: {a: {value: 1}}\noutputs: {o: {columns: [a]}}\n",
     "2:11: `a` is an input already"},
    {"inputs: {a: {template: Var, type: f64}}\noperators: [{let: {a: 1}}]\noutputs: {o: {columns: [a]}}\n",
     "2:20: `a` is of an input, which is not written"},
    {"vectors: {a: {value: [1]}}\nreducer: {key: a}\noutputs: {o: {columns: [a]}}\n",
     "2:1: `keys` is missing"},
    {"vectors: {a: {value: [1.5]}}\nreducer: {key: a, keys: b}\noutputs: {o: {columns: [a]}}\n",
     "2:16: `a` is a FixValueVector of f64; keys are whole numbers or texts"},
    {"vectors: {a: {value: [1]}}\nreducer: {key: a, keys: b, values: {c: {function: sum}}}\noutputs: {o: "
     "{columns: "
     "[a]}}\n",
     "2:37: `in` is missing"},
};

static void test_sections(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        char *text = NULL;
        bool outputs =
            (strncmp(sections[i].text, "inputs", 6) == 0 || strncmp(sections[i].text, "vectors", 7) == 0) &&
            strstr(sections[i].text, "outputs") == NULL;
        assert_true(
            asprintf(&text, "%s%s", sections[i].text, outputs ? "outputs: {o: {columns: [a]}}\n" : "") >= 0);
        check_bad(text, sections[i].message);
        free(text);
    }
}

/* All problems are reported, but not those that follow from another one. */
static void test_many_problems(void **state)
{
    static const char text[] = "vectors: {a: {value: 1}}\n"
                               "operators:\n"
                               "  - map: {expr: \"a +\", out: b}\n"
                               "  - map: {expr: \"b + 1\", out: c}\n"
                               "  - foo: {in: c, out: d}\n"
                               "  - scan: {in: d, out: e, fnuction: sum}\n"
                               "  - while: {condition: \"e > 1\"}\n"
                               "    do:\n"
                               "      - reduce: {in: e, function: avg, out: f}\n"
                               "outputs: {o: {columns: [f]}}\n";
    static const char *const expected[] = {
        "t.yaml:3:21: ", "t.yaml:5:5: ", "t.yaml:6:27: ", "t.yaml:7:5: ", "t.yaml:9:35: ", "t.yaml:10:25: "};
    hac_logic *logic = NULL;
    hac_logic_problems problems;
    (void)state;
    assert_int_equal(hac_logic_parse("t.yaml", text, strlen(text), NULL, &logic, &problems, NULL),
                     HAC_INVALID);
    for (size_t i = 0; i < problems.n || i < 6; i++)
        if (i >= 6 || i >= problems.n || strncmp(problems.messages[i], expected[i], strlen(expected[i])) != 0)
            fail_msg("problem %zu of %zu: %s", i, problems.n,
                     i < problems.n ? problems.messages[i] : "missing");
    hac_logic_problems_clear(&problems);
}

/* ---- good files ---- */

static hac_logic *parse_steps(const char *steps)
{
    char *text = NULL;
    assert_true(asprintf(&text, "%s%s%s", before, steps, after) > 0);
    hac_logic *logic = parse(text);
    free(text);
    return logic;
}

static void read_folder(const char *path, size_t min)
{
    DIR *folder = opendir(path);
    size_t n = 0;
    assert_non_null(folder);
    for (const struct dirent *file; (file = readdir(folder)) != NULL;) {
        hac_logic *logic = NULL;
        hac_error err = HAC_ERROR_NONE;
        char name[1024];
        if (strstr(file->d_name, ".yaml") == NULL)
            continue;
        snprintf(name, sizeof name, "%s/%s", path, file->d_name);
        if (hac_logic_read(name, NULL, &logic, NULL, &err) != HAC_OK)
            fail_msg("%s", err.message);
        hac_logic_free(logic);
        n++;
    }
    closedir(folder);
    assert_true(n >= min);
}

static void test_good_files(void **state)
{
    (void)state;
    read_folder(HAC_SOURCE_DIR "/opsplit/tests/good", 4);
    read_folder(HAC_SOURCE_DIR "/docs/examples", 1);
}

static void test_pagerank(void **state)
{
    hac_logic *logic = NULL;
    hac_error err = HAC_ERROR_NONE;
    (void)state;
    assert_int_equal(hac_logic_read(HAC_SOURCE_DIR "/docs/examples/pagerank.yaml", NULL, &logic, NULL, &err),
                     HAC_OK);
    assert_string_equal(logic->name, "pagerank");
    assert_int_equal(hac_logic_input_find(logic, "edges"), 0);
    assert_int_equal(logic->inputs[0].source.options.delimiter, ' ');
    assert_int_equal(logic->inputs[0].source.options.no_header, 1);
    check_vector(logic, "edges.a", HAC_VECTOR_FIX_VALUE, HAC_KIND_I64);
    check_vector(logic, "link", HAC_VECTOR_SPARSE_MATRIX, HAC_KIND_F64);
    check_vector(logic, "src", HAC_VECTOR_FIX_VALUE, HAC_KIND_U32);
    assert_int_equal(vector(logic, "src")->below, vector(logic, "node")->rows);
    assert_int_equal(vector(logic, "rank")->rows, vector(logic, "node")->rows);
    assert_int_equal(vector(logic, "link")->columns, vector(logic, "node")->rows);
    assert_int_equal(*(const double *)vector(logic, "damping")->value->values * 100, 85);
    assert_int_equal(logic->n_outputs, 1);
    assert_string_equal(logic->outputs[0].name, "ranks");
    assert_string_equal(logic->outputs[0].suffix, "csv");
    assert_string_equal(logic->outputs[0].columns[0].name, "node");
    assert_string_equal(logic->outputs[0].columns[1].name, "rank");
    hac_logic_free(logic);
}

/* Inputs that are vectors, of every template, with extents of other inputs. */
static void test_handed(void **state)
{
    static const char text[] = "inputs:\n"
                               "  a: {template: SparseMatrix, type: f64, columns: a}\n"
                               "  x: {template: FixValueVector, type: f64, rows: a}\n"
                               "  k: {template: Var, type: i32}\n"
                               "  p: {template: PVar, type: bool, rows: 5, columns: 3}\n"
                               "  s: {template: SparseValueVector, type: i64}\n"
                               "  v: {template: VariableLenVector, type: u32}\n"
                               "  t: {template: SparseTextVector}\n"
                               "operators:\n"
                               "  - spmv: {matrix: a, in: x, out: y}\n"
                               "  - if: {condition: \"k > 1\"}\n"
                               "    then: [{let: {y: x}}]\n"
                               "outputs: {o: {columns: [y]}}\n";
    static const hac_vector_template forms[] = {
        HAC_VECTOR_SPARSE_MATRIX, HAC_VECTOR_FIX_VALUE,    HAC_VECTOR_VAR,        HAC_VECTOR_PVAR,
        HAC_VECTOR_SPARSE_VALUE,  HAC_VECTOR_VARIABLE_LEN, HAC_VECTOR_SPARSE_TEXT};
    hac_logic *logic = NULL;
    hac_error err = HAC_ERROR_NONE;
    (void)state;
    if (hac_logic_parse("t.yaml", text, strlen(text), NULL, &logic, NULL, &err) != HAC_OK)
        fail_msg("%s", err.message);
    assert_int_equal(logic->n_inputs, 7);
    for (size_t i = 0; i < logic->n_inputs; i++) {
        const hac_logic_vector *v = vector(logic, logic->inputs[i].name);
        assert_true(logic->inputs[i].is_vector && v->origin == HAC_ORIGIN_INPUT);
        assert_int_equal(v->form, forms[i]);
        assert_int_equal(v->input, i);
    }
    assert_int_equal(vector(logic, "a")->columns, vector(logic, "a")->rows);
    assert_int_equal(vector(logic, "x")->rows, vector(logic, "a")->rows);
    assert_int_equal(vector(logic, "x")->columns, HAC_DIMENSION_ONE);
    assert_int_equal(vector(logic, "k")->rows, HAC_DIMENSION_ONE);
    assert_int_equal(logic->dimensions[vector(logic, "p")->rows].value, 5);
    assert_int_equal(logic->dimensions[vector(logic, "p")->columns].value, 3);
    assert_int_equal(vector(logic, "t")->kind, HAC_KIND_STRING);
    hac_logic_free(logic);
}

/* Steps and pieces as in the file. An OP with control flow becomes several steps. */
static void test_steps(void **state)
{
    hac_logic *logic = parse_steps("  - op: a\n    device: gpu\n    operation: VectorMap\n    do:\n"
                                   "      - map: {expr: \"p.x + two\", out: z, device: cpu}\n"
                                   "      - odd: {expr: \"z * 2\", out: zz}\n"
                                   "      - if: {condition: \"two > 1\"}\n"
                                   "        then: [{scan: {in: z, out: z}}]\n"
                                   "      - reduce: {in: zz, function: max, out: s}\n"
                                   "  - let: {s: \"s * 2\", t: s}\n");
    (void)state;
    assert_int_equal(logic->n_steps, 4);
    assert_int_equal(logic->n_pieces, 6);
    const hac_logic_step *a = &logic->steps[0], *branch = &logic->steps[1], *rest = &logic->steps[2];
    assert_string_equal(a->name, "a");
    assert_string_equal(rest->name, "a");
    assert_int_equal(a->operation, HAC_OPERATION_VECTOR_MAP);
    assert_string_equal(a->device, "gpu");
    assert_int_equal(a->n_pieces, 2);
    assert_string_equal(a->pieces[0].device, "cpu");
    assert_string_equal(a->pieces[1].device, "gpu");
    assert_int_equal(a->pieces[0].kind, HAC_PIECE_LIBRARY);
    assert_int_equal(a->pieces[1].kind, HAC_PIECE_EXCEPTION);
    assert_int_equal(a->pieces[1].subop->id, HAC_SUBOP_MAP);
    assert_false(a->whole);
    assert_int_equal(branch->kind, HAC_STEP_IF);
    assert_int_equal(branch->body[0].pieces[0].subop->id, HAC_SUBOP_SCAN);
    assert_int_equal(rest->pieces[0].number, 3);
    assert_int_equal(hac_logic_argument_word(&rest->pieces[0], "function"), HAC_OP_MAX);
    assert_int_equal(hac_logic_argument_word(&branch->body[0].pieces[0], "function"), HAC_OP_SUM);
    const hac_logic_expression *e = hac_logic_argument_expression(&a->pieces[0], "expr");
    assert_int_equal(e->n_vectors, 2);
    assert_string_equal(logic->vectors[e->vectors[0]].name, "p.x");
    assert_string_equal(logic->vectors[e->vectors[1]].name, "two");
    assert_int_equal(e->program->n_inputs, 2);
    assert_int_equal(a->pieces[0].n_reads, 2);
    assert_int_equal(logic->steps[3].n_pieces, 2); /* one piece for each name of the let */
    assert_int_equal(hac_logic_argument_expression(&logic->steps[3].pieces[1], "name")->copy,
                     hac_logic_vector_find(logic, "s"));
    hac_logic_free(logic);
}

/* An OP without a piece of a library is placed as a whole. */
static void test_whole(void **state)
{
    hac_logic *logic = parse_steps("  - op: d\n    do:\n      - one: {expr: \"p.x\", out: z}\n"
                                   "      - other: {expr: \"z\", out: zz}\n");
    (void)state;
    assert_true(logic->steps[0].whole);
    hac_logic_free(logic);
}

static void test_growth(void **state)
{
    hac_logic *logic = parse_steps("  - let: {n: \"n * 0.5\"}\n" /* i64 to f64 */
                                   "  - let: {two: \"p.x\"}\n"   /* Var to FixValueVector */
                                   "  - let: {total: 64}\n"      /* i64 first */
                                   "  - while: {condition: \"total > 1\", rounds: 9}\n"
                                   "    do: [{let: {total: \"total / 2\"}}]\n"); /* then f64 */
    (void)state;
    check_vector(logic, "n", HAC_VECTOR_VAR, HAC_KIND_F64);
    assert_true(vector(logic, "n")->grown);
    assert_int_equal(vector(logic, "n")->declared_kind, HAC_KIND_I64);
    assert_true(*(const double *)vector(logic, "n")->value->values == 5.0);
    check_vector(logic, "two", HAC_VECTOR_FIX_VALUE, HAC_KIND_F64);
    assert_int_equal(logic->n_notes, 3);
    hac_logic_free(logic);
}

static int rows_of(const hac_logic *logic, const char *name, hac_dimension_kind kind)
{
    int rows = vector(logic, name)->rows;
    assert_true(rows >= 0);
    assert_int_equal(logic->dimensions[rows].kind, kind);
    return rows;
}

/* After a branch or a round a vector may have either number of rows. The join of both is a dimension of
 * its own. It does not depend on the order, is not joined again with its parts, and fits every other
 * dimension. Vectors made from it show this. */
static void test_joined_rows(void **state)
{
    (void)state;
    hac_logic *logic = parse_steps("  - if: {condition: \"two > 1\"}\n"
                                   "    then: [{let: {a: p.x, b: q.x, c: p.x, e: p.x}}]\n"
                                   "    else: [{let: {a: q.x, b: p.x, c: m.c, e: p.y}}]\n"
                                   "  - if: {condition: \"two > 2\"}\n"
                                   "    then: [{let: {d: a, f: a}}]\n"
                                   "    else: [{let: {d: p.x, f: c}}]\n"
                                   "  - let: {a1: \"a + 1\", b1: \"b + 1\", c1: \"c + 1\", d1: \"d + 1\", "
                                   "e1: \"e + 1\", f1: \"f + 1\"}\n"
                                   "  - map: {expr: \"a + p.x\", out: with_p}\n"
                                   "  - map: {expr: \"a + m.c\", out: with_m}\n"
                                   "  - let: {kept: p.x}\n"
                                   "  - while: {condition: \"two > 1\", rounds: 9}\n"
                                   "    do:\n"
                                   "      - map: {expr: \"kept * 2\", out: kept2}\n"
                                   "      - filter: {where: \"kept > 0\", in: kept, out: kept}\n"
                                   "      - let: {two: \"two / 2\"}\n");
    int a = rows_of(logic, "a1", HAC_DIMENSION_JOIN), c = rows_of(logic, "c1", HAC_DIMENSION_JOIN);
    int f = rows_of(logic, "f1", HAC_DIMENSION_JOIN), kept = rows_of(logic, "kept2", HAC_DIMENSION_JOIN);
    assert_int_equal(rows_of(logic, "b1", HAC_DIMENSION_JOIN), a);
    assert_int_equal(rows_of(logic, "d1", HAC_DIMENSION_JOIN), a);
    assert_int_equal(rows_of(logic, "e1", HAC_DIMENSION_INPUT), vector(logic, "p.x")->rows);
    assert_true(a != c && f != a && f != c && kept != a && kept != f);
    hac_logic_free(logic);
}

/* `reduce` gives i64. The result of a codelet does not change its type; that of an expression does. */
static void test_growth_has_limits(void **state)
{
    (void)state;
    CHECK_STEPS({"  - reduce: {expr: \"p.k\", out: total}\n  - let: {total: \"total / 2\"}\n",
                 "10:32: vector `total` is a Var of f64, and `reduce` gives a Var of i64; give the result "
                 "another name"},
                {"  - reduce: {in: p.x, out: n}\n  - reduce: {in: p.k, out: n}\n",
                 "11:28: vector `n` is a Var of f64"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),         cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_types),         cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_flow),          cmocka_unit_test(test_sections),
        cmocka_unit_test(test_many_problems), cmocka_unit_test(test_good_files),
        cmocka_unit_test(test_pagerank),      cmocka_unit_test(test_handed),
        cmocka_unit_test(test_steps),         cmocka_unit_test(test_whole),
        cmocka_unit_test(test_growth),        cmocka_unit_test(test_growth_has_limits),
        cmocka_unit_test(test_joined_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
