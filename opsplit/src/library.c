/* SPDX-License-Identifier: Apache-2.0 */
/* The table of sub-operators. */
#include <string.h>

#include "opsplit/library.h"

#define R      HAC_ARGUMENT_REQUIRED
#define VALUES (HAC_FORM(FIX_VALUE) | HAC_FORM(PVAR))
#define ROWS_OF_ALL                                                                                          \
    (HAC_FORM_PLAIN | HAC_FORM(SPARSE_VALUE) | HAC_FORM(VARIABLE_LEN) | HAC_FORM(SPARSE_MATRIX))
#define MATRICES    (VALUES | HAC_FORM(SPARSE_MATRIX))
#define RESULT_FIX  HAC_FORM(FIX_VALUE)
#define RESULT_ONE  HAC_FORM(VAR)
#define DISTANCES   "euclidean squared_euclidean manhattan cosine"
#define CPU_AND_GPU "cpu gpu"
#define HOST_ONLY   "cpu"
#define EVERYWHERE  ""

/* clang-format off */
static const hac_subop_info subops[] = {
    {HAC_SUBOP_MAP, "map", "an expression of each row (of each element of matrices)",
     "op.map", "rows", CPU_AND_GPU, HAC_WALK_ROWS, 7,
     {{"expr", HAC_ARGUMENT_EXPRESSION, R, 0, HAC_ELEMENT_VALUE, NULL, "n", "c", NULL, NULL,
       "over vectors with as many rows, and Vars, which hold for every row"},
      {"out", HAC_ARGUMENT_RESULT, R, 0, HAC_ELEMENT_SAME, "expr", "n", "c", NULL, NULL, "a row for every row"}},
     "- map: {expr: \"rank / degree\", out: share}"},

    {HAC_SUBOP_REDUCE, "reduce", "all rows to one value",
     "op.reduce op.combine", "rows", CPU_AND_GPU, HAC_WALK_TOGETHER, 7,
     {{"in", HAC_ARGUMENT_VECTOR, HAC_ARGUMENT_EITHER | HAC_ARGUMENT_MATRIX, ROWS_OF_ALL | HAC_FORM(SPARSE_TEXT),
       HAC_ELEMENT_ANY, NULL, "n", NULL, NULL, NULL, "all of its elements; of texts only `count`"},
      {"expr", HAC_ARGUMENT_EXPRESSION, HAC_ARGUMENT_EITHER, 0, HAC_ELEMENT_VALUE, NULL, "n", NULL, NULL, NULL,
       "what it gives for each row"},
      {"function", HAC_ARGUMENT_WORD, 0, 0, HAC_ELEMENT_VALUE, NULL, NULL, NULL, NULL,
       "sum min max count squares magnitude largest",
       "squares: of x × x; magnitude: of |x|; largest: the greatest |x|; count of bool: of true ones; no rows have a sum of 0, "
       "and no min or max"},
      {"out", HAC_ARGUMENT_RESULT, R, RESULT_ONE, HAC_ELEMENT_TOTAL, "in expr", "1", "1", NULL, NULL, "one value"}},
     "- reduce: {expr: \"abs(next - rank)\", function: sum, out: residual}"},

    {HAC_SUBOP_SCAN, "scan", "running sum, least or greatest of the rows so far",
     "op.scan_sums op.scan", "rows", CPU_AND_GPU, HAC_WALK_TOGETHER, 0,
     {{"in", HAC_ARGUMENT_VECTOR, R, HAC_FORM_PLAIN, HAC_ELEMENT_VALUE, NULL, "n", "1", NULL, NULL, NULL},
      {"function", HAC_ARGUMENT_WORD, 0, 0, HAC_ELEMENT_VALUE, NULL, NULL, NULL, NULL, "sum min max", NULL},
      {"exclusive", HAC_ARGUMENT_TRUTH, 0, 0, HAC_ELEMENT_VALUE, NULL, NULL, NULL, NULL, NULL,
       "without the row itself; of sums only"},
      {"out", HAC_ARGUMENT_RESULT, R, RESULT_FIX, HAC_ELEMENT_TOTAL, "in", "n", "1", NULL, NULL, NULL}},
     "- scan: {in: length, function: sum, exclusive: true, out: start}"},

    {HAC_SUBOP_FILTER, "filter", "the rows for which a condition is true, moved together (compacted)",
     "op.filter_count op.filter_copy", "rows", CPU_AND_GPU, HAC_WALK_TOGETHER, 5,
     {{"where", HAC_ARGUMENT_EXPRESSION, R, 0, HAC_ELEMENT_BOOL, NULL, "n", "1", NULL, NULL, "the condition"},
      {"in", HAC_ARGUMENT_VECTORS, R | HAC_ARGUMENT_MATRIX, VALUES, HAC_ELEMENT_VALUE, NULL, "n", NULL, NULL, NULL,
       "what is to be kept"},
      {"out", HAC_ARGUMENT_RESULTS, R, RESULT_FIX, HAC_ELEMENT_SAME, "in", "*", "=", NULL, NULL,
       "as many as `in`"}},
     "- filter: {where: \"weight > 0\", in: [weight, node], out: [weight2, node2]}"},

    {HAC_SUBOP_SORT, "sort", "ascending order; equal ones keep theirs, -0.0 before 0.0, NaN last",
     "sort", "rows", CPU_AND_GPU, HAC_WALK_SERIAL, 0,
     {{"in", HAC_ARGUMENT_VECTOR, R, VALUES, HAC_ELEMENT_NUMBER, NULL, "n", "1", NULL, NULL, "the keys"},
      {"descending", HAC_ARGUMENT_TRUTH, 0, 0, HAC_ELEMENT_VALUE, NULL, NULL, NULL, NULL, NULL, "the other way round"},
      {"out", HAC_ARGUMENT_RESULT, HAC_ARGUMENT_ONE_OF, RESULT_FIX, HAC_ELEMENT_SAME, "in", "n", "1", NULL, NULL,
       "the keys in order"},
      {"order", HAC_ARGUMENT_RESULT, HAC_ARGUMENT_ONE_OF, RESULT_FIX, HAC_ELEMENT_U32, NULL, "n", "1", "n", NULL,
       "the number of the row that each is from, for `gather`"}},
     "- sort: {in: rank, descending: true, order: best}"},

    {HAC_SUBOP_REDUCE_BY_KEY, "reduce_by_key", "rows with equal keys to one row, key by key",
     "op.keys op.keys_combine", "rows", CPU_AND_GPU, HAC_WALK_TOGETHER, 0,
     {{"key", HAC_ARGUMENT_VECTOR, R, VALUES, HAC_ELEMENT_INTEGER, NULL, "n", "1", "e", NULL,
       "from 0 to one less than `keys`; others come from `index` or `nearest`"},
      {"in", HAC_ARGUMENT_VECTOR, HAC_ARGUMENT_MATRIX, VALUES, HAC_ELEMENT_VALUE, NULL, "n", "c", NULL, NULL,
       "what is put together; `count` needs none"},
      {"function", HAC_ARGUMENT_WORD, 0, 0, HAC_ELEMENT_VALUE, NULL, NULL, NULL, NULL, "sum min max mean count", NULL},
      {"keys", HAC_ARGUMENT_EXTENT, 0, 0, HAC_ELEMENT_VALUE, NULL, "e", NULL, NULL, NULL,
       "how many keys there are; may be left out when `key` is row numbers"},
      {"empty", HAC_ARGUMENT_VECTOR, HAC_ARGUMENT_WHOLE | HAC_ARGUMENT_MATRIX, VALUES, HAC_ELEMENT_NUMBER, NULL, "e", "c", NULL, NULL,
       "rows of `out` whose key no row has are as here; else 0, of mean NaN"},
      {"out", HAC_ARGUMENT_RESULT, HAC_ARGUMENT_ONE_OF, RESULT_FIX, HAC_ELEMENT_KEYED, "in", "e", "c", NULL, NULL,
       "row k is of the rows with key k"},
      {"count", HAC_ARGUMENT_RESULT, HAC_ARGUMENT_ONE_OF, RESULT_FIX, HAC_ELEMENT_I64, NULL, "e", "1", NULL, NULL,
       "how many rows each key has"}},
     "- reduce_by_key: {key: cluster, in: points, function: mean, keys: centroids, out: moved}"},

    {HAC_SUBOP_GATHER, "gather", "rows by their numbers: out[i] = in[index[i]]",
     "op.gather", "rows", CPU_AND_GPU, HAC_WALK_ROWS, 0,
     {{"in", HAC_ARGUMENT_VECTOR, HAC_ARGUMENT_WHOLE | R | HAC_ARGUMENT_MATRIX, VALUES, HAC_ELEMENT_VALUE, NULL, "m", "c", NULL, NULL, NULL},
      {"index", HAC_ARGUMENT_VECTOR, R, VALUES, HAC_ELEMENT_INTEGER, NULL, "n", "1", NULL, NULL, NULL},
      {"out", HAC_ARGUMENT_RESULT, R, RESULT_FIX, HAC_ELEMENT_SAME, "in", "n", "c", NULL, NULL, NULL}},
     "- gather: {in: idf, index: term, out: weight}"},

    {HAC_SUBOP_SCATTER, "scatter", "rows to their places: out[index[i]] = in[i], of equal places the last",
     "op.scatter", "rows", CPU_AND_GPU, HAC_WALK_SERIAL, 0,
     {{"in", HAC_ARGUMENT_VECTOR, R | HAC_ARGUMENT_MATRIX, VALUES, HAC_ELEMENT_VALUE, NULL, "n", "c", NULL, NULL, NULL},
      {"index", HAC_ARGUMENT_VECTOR, R, VALUES, HAC_ELEMENT_INTEGER, NULL, "n", "1", "e", NULL, NULL},
      {"rows", HAC_ARGUMENT_EXTENT, 0, 0, HAC_ELEMENT_VALUE, NULL, "e", NULL, NULL, NULL,
       "how many rows `out` has; may be left out when `index` is row numbers"},
      {"out", HAC_ARGUMENT_RESULT, R, RESULT_FIX, HAC_ELEMENT_SAME, "in", "e", "c", NULL, NULL,
       "0 where no row goes"}},
     "- scatter: {in: sorted, index: order, out: back}"},

    {HAC_SUBOP_DOT, "dot", "sum of the products of two vectors' rows",
     "op.reduce op.combine", "rows", CPU_AND_GPU, HAC_WALK_TOGETHER, 0,
     {{"in", HAC_ARGUMENT_VECTORS, R | HAC_ARGUMENT_PAIR, HAC_FORM_PLAIN, HAC_ELEMENT_NUMBER, NULL, "n", "1", NULL, NULL,
       "two vectors of one type"},
      {"out", HAC_ARGUMENT_RESULT, R, RESULT_ONE, HAC_ELEMENT_TOTAL, "in", "1", "1", NULL, NULL, NULL}},
     "- dot: {in: [r, r], out: rr}"},

    {HAC_SUBOP_AXPY, "axpy", "out = a × x + y",
     "op.map", "rows", CPU_AND_GPU, HAC_WALK_ROWS, 7,
     {{"a", HAC_ARGUMENT_SCALAR, R, 0, HAC_ELEMENT_NUMBER, NULL, "1", "1", NULL, NULL, NULL},
      {"x", HAC_ARGUMENT_VECTOR, R | HAC_ARGUMENT_MATRIX, HAC_FORM_PLAIN, HAC_ELEMENT_NUMBER, NULL, "n", "c", NULL, NULL, NULL},
      {"y", HAC_ARGUMENT_VECTOR, R | HAC_ARGUMENT_MATRIX, HAC_FORM_PLAIN, HAC_ELEMENT_NUMBER, NULL, "n", "c", NULL, NULL, NULL},
      {"expr", HAC_ARGUMENT_EXPRESSION, HAC_ARGUMENT_MADE, 0, HAC_ELEMENT_NUMBER, NULL, "n", "c", NULL, NULL,
       "a × x + y, as op.map runs it"},
      {"out", HAC_ARGUMENT_RESULT, R, 0, HAC_ELEMENT_SAME, "expr", "n", "c", NULL, NULL, NULL}},
     "- axpy: {a: \"-rate\", x: gradient, y: weights, out: weights}"},

    {HAC_SUBOP_GEMV, "gemv", "a dense matrix by a vector",
     "op.gemv", "multiplications", CPU_AND_GPU, HAC_WALK_ROWS, 0,
     {{"matrix", HAC_ARGUMENT_VECTOR, R | HAC_ARGUMENT_MATRIX, VALUES, HAC_ELEMENT_LINEAR, NULL, "r", "k", NULL, NULL, NULL},
      {"in", HAC_ARGUMENT_VECTOR, HAC_ARGUMENT_WHOLE | R, HAC_FORM_PLAIN, HAC_ELEMENT_SAME, "matrix", "k", "1", NULL, NULL,
       "as many rows as the matrix has columns"},
      {"out", HAC_ARGUMENT_RESULT, R, RESULT_FIX, HAC_ELEMENT_SAME, "matrix", "r", "1", NULL, NULL, NULL}},
     "- gemv: {matrix: features, in: weights, out: score}"},

    {HAC_SUBOP_GEMM, "gemm", "a dense matrix by a dense matrix",
     "op.gemm", "multiplications", CPU_AND_GPU, HAC_WALK_ROWS, 0,
     {{"left", HAC_ARGUMENT_VECTOR, R | HAC_ARGUMENT_MATRIX, VALUES, HAC_ELEMENT_LINEAR, NULL, "r", "k", NULL, NULL, NULL},
      {"right", HAC_ARGUMENT_VECTOR, HAC_ARGUMENT_WHOLE | R | HAC_ARGUMENT_MATRIX, VALUES, HAC_ELEMENT_SAME, "left", "k", "c", NULL, NULL,
       "as many rows as `left` has columns"},
      {"out", HAC_ARGUMENT_RESULT, R, RESULT_FIX, HAC_ELEMENT_SAME, "left", "r", "c", NULL, NULL, NULL}},
     "- gemm: {left: a, right: b, out: c}"},

    {HAC_SUBOP_SPMV, "spmv", "a sparse matrix by a vector",
     "op.spmv", "entries", CPU_AND_GPU, HAC_WALK_ROWS, 0,
     {{"matrix", HAC_ARGUMENT_VECTOR, R | HAC_ARGUMENT_MATRIX, HAC_FORM(SPARSE_MATRIX), HAC_ELEMENT_LINEAR, NULL, "r", "k", NULL,
       NULL, NULL},
      {"in", HAC_ARGUMENT_VECTOR, HAC_ARGUMENT_WHOLE | R, HAC_FORM_PLAIN, HAC_ELEMENT_SAME, "matrix", "k", "1", NULL, NULL,
       "as many rows as the matrix has columns"},
      {"out", HAC_ARGUMENT_RESULT, R, RESULT_FIX, HAC_ELEMENT_SAME, "matrix", "r", "1", NULL, NULL, NULL}},
     "- spmv: {matrix: link, in: share, out: spread}"},

    {HAC_SUBOP_NORM, "norm", "the length of a vector",
     "op.reduce op.combine", "rows", CPU_AND_GPU, HAC_WALK_TOGETHER, 0,
     {{"in", HAC_ARGUMENT_VECTOR, R | HAC_ARGUMENT_MATRIX, ROWS_OF_ALL, HAC_ELEMENT_NUMBER, NULL, "n", NULL, NULL, NULL,
       "all of its elements"},
      {"order", HAC_ARGUMENT_WORD, 0, 0, HAC_ELEMENT_VALUE, NULL, NULL, NULL, NULL, "2 1 inf",
       "2: the root of the sum of squares; 1: the sum of |x|; inf: the greatest |x|"},
      {"out", HAC_ARGUMENT_RESULT, R, RESULT_ONE, HAC_ELEMENT_F64, NULL, "1", "1", NULL, NULL, NULL}},
     "- norm: {in: difference, order: 1, out: residual}"},

    {HAC_SUBOP_DISTANCE, "distance", "of every row of one matrix to every row of another",
     "op.distance", "multiplications", CPU_AND_GPU, HAC_WALK_ROWS, 0,
     {{"in", HAC_ARGUMENT_VECTOR, R | HAC_ARGUMENT_MATRIX, VALUES, HAC_ELEMENT_FLOAT, NULL, "r", "k", NULL, NULL, NULL},
      {"to", HAC_ARGUMENT_VECTOR, HAC_ARGUMENT_WHOLE | R | HAC_ARGUMENT_MATRIX, VALUES, HAC_ELEMENT_SAME, "in", "c", "k", NULL, NULL,
       "as many columns as `in`"},
      {"function", HAC_ARGUMENT_WORD, 0, 0, HAC_ELEMENT_VALUE, NULL, NULL, NULL, NULL, DISTANCES, NULL},
      {"out", HAC_ARGUMENT_RESULT, R, RESULT_FIX, HAC_ELEMENT_SAME, "in", "r", "c", NULL, NULL,
       "rows of `in` × rows of `to`"}},
     "- distance: {in: points, to: points, function: euclidean, out: apart}"},

    {HAC_SUBOP_NEAREST, "nearest", "for every row of one matrix the nearest row of another, the first of equal ones",
     "op.nearest", "multiplications", CPU_AND_GPU, HAC_WALK_ROWS, 0,
     {{"in", HAC_ARGUMENT_VECTOR, R | HAC_ARGUMENT_MATRIX, VALUES, HAC_ELEMENT_FLOAT, NULL, "r", "k", NULL, NULL, NULL},
      {"to", HAC_ARGUMENT_VECTOR, HAC_ARGUMENT_WHOLE | R | HAC_ARGUMENT_MATRIX, VALUES, HAC_ELEMENT_SAME, "in", "c", "k", NULL, NULL,
       "as many columns as `in`"},
      {"function", HAC_ARGUMENT_WORD, 0, 0, HAC_ELEMENT_VALUE, NULL, NULL, NULL, NULL, DISTANCES, NULL},
      {"out", HAC_ARGUMENT_RESULT, R, RESULT_FIX, HAC_ELEMENT_U32, NULL, "r", "1", "c", NULL,
       "numbers of rows of `to`"},
      {"distance", HAC_ARGUMENT_RESULT, 0, RESULT_FIX, HAC_ELEMENT_SAME, "in", "r", "1", NULL, NULL,
       "how far that is"}},
     "- nearest: {in: points, to: centroids, out: cluster}"},

    {HAC_SUBOP_ARGMIN, "argmin", "the number of the row with the least value; of a matrix: the column, row by row",
     "op.reduce op.combine, op.arg_rows", "rows", CPU_AND_GPU, HAC_WALK_TOGETHER, 0,
     {{"in", HAC_ARGUMENT_VECTOR, R | HAC_ARGUMENT_MATRIX, VALUES, HAC_ELEMENT_NUMBER, NULL, "n", "c", NULL, NULL, NULL},
      {"out", HAC_ARGUMENT_RESULT, R, RESULT_ONE, HAC_ELEMENT_U64, NULL, "1", "1", "n", NULL,
       "the first of equal ones; of a matrix a FixValueVector of u32"},
      {"value", HAC_ARGUMENT_RESULT, 0, RESULT_ONE, HAC_ELEMENT_TOTAL, "in", "1", "1", NULL, NULL,
       "that value; not of a matrix"}},
     "- argmin: {in: cost, out: cheapest, value: price}"},

    {HAC_SUBOP_ARGMAX, "argmax", "the number of the row with the greatest value; of a matrix: the column, row by row",
     "op.reduce op.combine, op.arg_rows", "rows", CPU_AND_GPU, HAC_WALK_TOGETHER, 0,
     {{"in", HAC_ARGUMENT_VECTOR, R | HAC_ARGUMENT_MATRIX, VALUES, HAC_ELEMENT_NUMBER, NULL, "n", "c", NULL, NULL, NULL},
      {"out", HAC_ARGUMENT_RESULT, R, RESULT_ONE, HAC_ELEMENT_U64, NULL, "1", "1", "n", NULL,
       "the first of equal ones; of a matrix a FixValueVector of u32"},
      {"value", HAC_ARGUMENT_RESULT, 0, RESULT_ONE, HAC_ELEMENT_TOTAL, "in", "1", "1", NULL, NULL,
       "that value; not of a matrix"}},
     "- argmax: {in: votes, out: winner}"},

    {HAC_SUBOP_ROW_REDUCE, "row_reduce", "each row of a matrix to one value",
     "op.row_reduce", "entries", CPU_AND_GPU, HAC_WALK_ROWS, 0,
     {{"in", HAC_ARGUMENT_VECTOR, R | HAC_ARGUMENT_MATRIX, MATRICES | HAC_FORM(VARIABLE_LEN), HAC_ELEMENT_VALUE, NULL, "r", NULL,
       NULL, NULL, "dense, sparse, or rows of varying length"},
      {"function", HAC_ARGUMENT_WORD, 0, 0, HAC_ELEMENT_VALUE, NULL, NULL, NULL, NULL,
       "sum min max count squares magnitude largest", "count: entries of the row"},
      {"out", HAC_ARGUMENT_RESULT, R, RESULT_FIX, HAC_ELEMENT_TOTAL, "in", "r", "1", NULL, NULL,
       "0 of a row without entries"}},
     "- row_reduce: {in: link, function: sum, out: degree}"},

    {HAC_SUBOP_TOKENIZE, "tokenize", "texts to words: maximal runs of bytes other than blanks",
     "op.tokenize", "bytes", HOST_ONLY, HAC_WALK_SERIAL, 0,
     {{"in", HAC_ARGUMENT_VECTOR, R, HAC_FORM(SPARSE_TEXT), HAC_ELEMENT_TEXT, NULL, "n", "1", NULL, NULL, NULL},
      {"out", HAC_ARGUMENT_RESULT, R, HAC_FORM(SPARSE_TEXT), HAC_ELEMENT_TEXT, NULL, "*", "1", NULL, NULL, "the words"},
      {"row", HAC_ARGUMENT_RESULT, 0, RESULT_FIX, HAC_ELEMENT_U64, NULL, "*", "1", "n", NULL,
       "the number of the row of `in` that each is from"}},
     "- tokenize: {in: docs.line, out: word, row: doc}"},

    {HAC_SUBOP_INDEX, "index", "numbers for values: the distinct ones in ascending order, and each one's place among them",
     "op.index", "rows", HOST_ONLY, HAC_WALK_SERIAL, 0,
     {{"in", HAC_ARGUMENT_VECTORS, R, HAC_FORM(FIX_VALUE) | HAC_FORM(SPARSE_TEXT), HAC_ELEMENT_ANY, NULL, NULL, "1", NULL, NULL,
       "one or two vectors of one type, numbered together"},
      {"out", HAC_ARGUMENT_RESULTS, R, RESULT_FIX, HAC_ELEMENT_U32, "in", "=", "1", "*", NULL,
       "as many as `in`: row numbers of `distinct`"},
      {"distinct", HAC_ARGUMENT_RESULT, R, 0, HAC_ELEMENT_SAME, "in", "*", "1", NULL, NULL, "the distinct values"}},
     "- index: {in: [edges.a, edges.b], out: [src, dst], distinct: node}"},

    {HAC_SUBOP_CSR, "csr", "a sparse matrix from rows, columns and values; equal places are added up",
     "op.csr", "entries", HOST_ONLY, HAC_WALK_SERIAL, 0,
     {{"row", HAC_ARGUMENT_VECTOR, R, VALUES, HAC_ELEMENT_INTEGER, NULL, "n", "1", "e", NULL, NULL},
      {"column", HAC_ARGUMENT_VECTOR, R, VALUES, HAC_ELEMENT_INTEGER, NULL, "n", "1", "f", NULL, NULL},
      {"value", HAC_ARGUMENT_VECTOR, 0, VALUES, HAC_ELEMENT_F64, NULL, "n", "1", NULL, NULL, "else 1.0 each"},
      {"symmetric", HAC_ARGUMENT_TRUTH, 0, 0, HAC_ELEMENT_VALUE, NULL, NULL, NULL, NULL, NULL,
       "every place both ways and once, the first one's value: an undirected graph"},
      {"rows", HAC_ARGUMENT_EXTENT, 0, 0, HAC_ELEMENT_VALUE, NULL, "e", NULL, NULL, NULL,
       "how many; may be left out when `row` is row numbers"},
      {"columns", HAC_ARGUMENT_EXTENT, 0, 0, HAC_ELEMENT_VALUE, NULL, "f", NULL, NULL, NULL, "likewise of `column`"},
      {"out", HAC_ARGUMENT_RESULT, R, HAC_FORM(SPARSE_MATRIX), HAC_ELEMENT_F64, NULL, "e", "f", NULL, NULL, NULL}},
     "- csr: {row: src, column: dst, symmetric: true, out: link}"},

    {HAC_SUBOP_TRANSPOSE, "transpose", "rows become columns",
     "op.transpose", "entries", HOST_ONLY, HAC_WALK_SERIAL, 0,
     {{"in", HAC_ARGUMENT_VECTOR, R | HAC_ARGUMENT_MATRIX, MATRICES, HAC_ELEMENT_VALUE, NULL, "r", "c", NULL, NULL,
       "dense or sparse"},
      {"out", HAC_ARGUMENT_RESULT, R, 0, HAC_ELEMENT_SAME, "in", "c", "r", NULL, NULL, NULL}},
     "- transpose: {in: counts, out: by_term}"},

    {HAC_SUBOP_TERM_COUNTS, "term_counts", "how often each term is in each row: a sparse matrix",
     "op.csr", "entries", HOST_ONLY, HAC_WALK_SERIAL, 0,
     {{"row", HAC_ARGUMENT_VECTOR, R, VALUES, HAC_ELEMENT_INTEGER, NULL, "n", "1", "e", NULL, "of `tokenize`"},
      {"term", HAC_ARGUMENT_VECTOR, R, VALUES, HAC_ELEMENT_INTEGER, NULL, "n", "1", "f", NULL, "of `index`"},
      {"rows", HAC_ARGUMENT_EXTENT, 0, 0, HAC_ELEMENT_VALUE, NULL, "e", NULL, NULL, NULL,
       "how many; may be left out when `row` is row numbers"},
      {"terms", HAC_ARGUMENT_EXTENT, 0, 0, HAC_ELEMENT_VALUE, NULL, "f", NULL, NULL, NULL, "likewise of `term`"},
      {"out", HAC_ARGUMENT_RESULT, R, HAC_FORM(SPARSE_MATRIX), HAC_ELEMENT_F64, NULL, "e", "f", NULL, NULL, NULL}},
     "- term_counts: {row: doc, term: id, out: counts}"},

    {HAC_SUBOP_HISTOGRAM, "histogram", "how many rows fall into each of some intervals of equal width",
     "op.histogram op.keys_combine", "rows", CPU_AND_GPU, HAC_WALK_TOGETHER, 0,
     {{"in", HAC_ARGUMENT_VECTOR, R, HAC_FORM_PLAIN, HAC_ELEMENT_NUMBER, NULL, "n", "1", NULL, NULL, NULL},
      {"bins", HAC_ARGUMENT_INTEGER, R, 0, HAC_ELEMENT_VALUE, NULL, "b", NULL, NULL, NULL, "from 1 to 1048576"},
      {"from", HAC_ARGUMENT_SCALAR, R, 0, HAC_ELEMENT_F64, NULL, "1", "1", NULL, NULL, "what is less is left out"},
      {"to", HAC_ARGUMENT_SCALAR, R, 0, HAC_ELEMENT_F64, NULL, "1", "1", NULL, NULL,
       "belongs to the last interval; what is greater is left out, and NaN"},
      {"out", HAC_ARGUMENT_RESULT, R, RESULT_FIX, HAC_ELEMENT_U64, NULL, "b", "1", NULL, NULL, NULL}},
     "- histogram: {in: degree, bins: 32, from: 0, to: most, out: spread}"},

    {HAC_SUBOP_RANGE, "range", "consecutive whole numbers",
     "", "rows", EVERYWHERE, HAC_WALK_ROWS, 0,
     {{"rows", HAC_ARGUMENT_EXTENT, R, 0, HAC_ELEMENT_VALUE, NULL, "e", NULL, NULL, NULL, "how many"},
      {"from", HAC_ARGUMENT_SCALAR, 0, 0, HAC_ELEMENT_I64, NULL, "1", "1", NULL, NULL, "the first one, else 0"},
      {"out", HAC_ARGUMENT_RESULT, R, RESULT_FIX, HAC_ELEMENT_I64, NULL, "e", "1", "e", NULL,
       "row numbers, unless there is a `from`"}},
     "- range: {rows: points, out: number}"},

    {HAC_SUBOP_FILL, "fill", "one value in every row",
     "op.map", "rows", CPU_AND_GPU, HAC_WALK_ROWS, 7,
     {{"value", HAC_ARGUMENT_SCALAR, R, 0, HAC_ELEMENT_VALUE, NULL, "1", "1", NULL, NULL, NULL},
      {"rows", HAC_ARGUMENT_EXTENT, R, 0, HAC_ELEMENT_VALUE, NULL, "e", NULL, NULL, NULL, "how many"},
      {"columns", HAC_ARGUMENT_EXTENT, 0, 0, HAC_ELEMENT_VALUE, NULL, "f", NULL, NULL, NULL, "of a matrix; else 1"},
      {"out", HAC_ARGUMENT_RESULT, R, RESULT_FIX, HAC_ELEMENT_SAME, "value", "e", "f", NULL, NULL, NULL}},
     "- fill: {value: \"1.0 / n\", rows: node, out: rank}"},

    {HAC_SUBOP_DENSE, "dense", "a sparse vector with its zeros written out",
     "op.scatter", "rows", CPU_AND_GPU, HAC_WALK_SERIAL, 0,
     {{"in", HAC_ARGUMENT_VECTOR, R, HAC_FORM(SPARSE_VALUE), HAC_ELEMENT_VALUE, NULL, "n", "1", NULL, NULL, NULL},
      {"out", HAC_ARGUMENT_RESULT, R, RESULT_FIX, HAC_ELEMENT_SAME, "in", "n", "1", NULL, NULL, NULL}},
     "- dense: {in: weights, out: all_weights}"},

    {HAC_SUBOP_LET, "let", "new values for vectors: any number of `name: expression`, one after the other",
     "op.map", "rows", CPU_AND_GPU, HAC_WALK_ROWS, 7,
     {{"name", HAC_ARGUMENT_ASSIGNMENTS, R, 0, HAC_ELEMENT_VALUE, NULL, NULL, NULL, NULL, NULL,
       "a vector's name alone is a copy of it, whatever its template"}},
     "- let: {rank: next, round: \"round + 1\"}"},

    {HAC_SUBOP_FOR, "for", "steps again for every index from `from` to one less than `to`",
     "", "", EVERYWHERE, HAC_WALK_CONTROL, 0, {{0}},
     "- for: {index: i, from: 0, to: 10, split: 5, collect: {score: scores}}\n  do: [...]"},
    {HAC_SUBOP_WHILE, "while", "steps again as long as a condition is true, at most `rounds` times",
     "", "", EVERYWHERE, HAC_WALK_CONTROL, 0, {{0}},
     "- while: {condition: \"residual > 1e-12\", rounds: 500}\n  do: [...]"},
    {HAC_SUBOP_IF, "if", "steps when a condition is true, others when it is not",
     "", "", EVERYWHERE, HAC_WALK_CONTROL, 0, {{0}},
     "- if: {condition: \"n > 100\"}\n  then: [...]\n  else: [...]"},
};
/* clang-format on */

const hac_subop_info *hac_subop_get(hac_subop_id id)
{
    for (size_t i = 0; i < sizeof subops / sizeof *subops; i++)
        if (subops[i].id == id)
            return &subops[i];
    return NULL;
}

const hac_subop_info *hac_subop_find(const char *name)
{
    for (size_t i = 0; i < sizeof subops / sizeof *subops; i++)
        if (strcmp(subops[i].name, name) == 0)
            return &subops[i];
    return NULL;
}

const hac_subop_argument *hac_subop_argument_find(const hac_subop_info *subop, const char *name)
{
    for (const hac_subop_argument *a = subop->arguments; a->name != NULL; a++)
        if (strcmp(a->name, name) == 0)
            return a;
    return NULL;
}
