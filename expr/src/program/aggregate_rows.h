/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row for each aggregate, for program/aggregate.c and language/functions.c:
 *
 *     X(FUNCTION, name, syntax, arguments, result, text, example, facts of hac_aggregate_info …)
 *     Y(FUNCTION, name, syntax, arguments, result, text, example)
 *
 * Y is the aggregate above it for other arguments. `arguments` are letters of struct hac_function, `result`
 * is a hac_result_rule, `example` is over a column x. The reference page shows `text`.
 */
#ifndef EXPR_AGGREGATE_ROWS_H
#define EXPR_AGGREGATE_ROWS_H

/* clang-format off */
#define HAC_AGGREGATES(X, Y) \
    X(COUNT_ROWS, "count", "count(), count(*)", "", I64, "the number of rows", "count()", \
      .type = count_type, .never_null = true, .merged_by = "sum") \
    X(COUNT, "count", "count(a)", "A", I64, "the number of rows whose a is not null", "count(x)", \
      .type = count_type, .never_null = true, .merged_by = "sum") \
    X(COUNT_DISTINCT, "count_distinct", "count_distinct(a), count(distinct a)", "A", I64, "the number of distinct values", "count(distinct x)", \
      .type = count_type, .accumulator = HAC_ACCUMULATOR_VALUES, .never_null = true) \
    X(SUM, "sum", NULL, "I", SAME, "the sum in 64 bits; a result that does not fit is an error, sums on the way may be larger", "sum(x)", \
      .type = sum_type, .accumulator = HAC_ACCUMULATOR_SUM, .merged_by = "sum") \
    Y(SUM, "sum", NULL, "D", DECIMAL_TOTAL, "exact, with up to 38 digits", "sum(x * 1.5)") \
    Y(SUM, "sum", NULL, "N", F64, "the exact sum, rounded once, in any order; infinite or NaN by the rules of IEEE 754", "sum(x / 2)") \
    X(MIN, "min", NULL, "X", SAME, "the smallest value", "min(x)", \
      .type = same_type, .accumulator = HAC_ACCUMULATOR_MIN, .merged_by = "min") \
    X(MAX, "max", NULL, "X", SAME, "the largest value", "max(x)", \
      .type = same_type, .accumulator = HAC_ACCUMULATOR_MAX, .merged_by = "max") \
    X(AVG, "avg", NULL, "I", F64, "the exact sum ÷ count, rounded once", "avg(x)", \
      .type = avg_type, .accumulator = HAC_ACCUMULATOR_SUM) \
    Y(AVG, "avg", NULL, "D", F64, "", "avg(x * 1.5)") \
    Y(AVG, "avg", NULL, "N", F64, "", "avg(x / 2)") \
    X(VARIANCE, "variance", NULL, "I", F64, "the variance of a sample (n - 1), exact and rounded once; null for fewer than two values, NaN if one is not finite", "variance(x)", \
      .type = avg_type, .accumulator = HAC_ACCUMULATOR_SQUARES) \
    Y(VARIANCE, "variance", NULL, "D", F64, "", "variance(x * 1.5)") \
    Y(VARIANCE, "variance", NULL, "N", F64, "", "variance(x / 2)") \
    X(STDDEV, "stddev", NULL, "I", F64, "the square root of the exact variance, rounded once", "stddev(x)", \
      .type = avg_type, .accumulator = HAC_ACCUMULATOR_SQUARES) \
    Y(STDDEV, "stddev", NULL, "D", F64, "", "stddev(x * 1.5)") \
    Y(STDDEV, "stddev", NULL, "N", F64, "", "stddev(x / 2)") \
    X(VAR_POP, "var_pop", NULL, "I", F64, "the variance of the whole population (n)", "var_pop(x)", \
      .type = avg_type, .accumulator = HAC_ACCUMULATOR_SQUARES) \
    Y(VAR_POP, "var_pop", NULL, "D", F64, "", "var_pop(x * 1.5)") \
    Y(VAR_POP, "var_pop", NULL, "N", F64, "", "var_pop(x / 2)") \
    X(STDDEV_POP, "stddev_pop", NULL, "I", F64, "the square root of the exact var_pop, rounded once", "stddev_pop(x)", \
      .type = avg_type, .accumulator = HAC_ACCUMULATOR_SQUARES) \
    Y(STDDEV_POP, "stddev_pop", NULL, "D", F64, "", "stddev_pop(x * 1.5)") \
    Y(STDDEV_POP, "stddev_pop", NULL, "N", F64, "", "stddev_pop(x / 2)") \
    X(FIRST, "first", NULL, "X", SAME, "the first value in the order of the input", "first(x)", \
      .type = same_type, .accumulator = HAC_ACCUMULATOR_FIRST) \
    X(LAST, "last", NULL, "X", SAME, "the last value in the order of the input", "last(x)", \
      .type = same_type, .accumulator = HAC_ACCUMULATOR_LAST) \
    X(TOP_K, "top_k", "top_k(a, k)", "Xk", STRING, \
      "the k (1 … 1000) most frequent values as `value:count, …`, by count, then value", "top_k(x, 3)", \
      .type = top_k_type, .accumulator = HAC_ACCUMULATOR_VALUES, .constants = HAC_CONSTANTS_COUNT) \
    X(HISTOGRAM, "histogram", "histogram(a, low, high, k)", "Innk", STRING, \
      "counts of k (1 … 1000) buckets of equal width from low to high as `count, …`; values outside are left out, a value on a border belongs to the upper bucket", \
      "histogram(x, 0, 100, 10)", \
      .type = histogram_type, .accumulator = HAC_ACCUMULATOR_HISTOGRAM, .constants = HAC_CONSTANTS_BUCKETS, \
      .never_null = true) \
    Y(HISTOGRAM, "histogram", "histogram(a, low, high, k)", "Dnnk", STRING, "", "histogram(x * 1.5, 0, 100, 10)") \
    Y(HISTOGRAM, "histogram", "histogram(a, low, high, k)", "Nnnk", STRING, "", "histogram(x / 2, 0, 100, 10)") \
    X(APPROX_QUANTILE, "approx_quantile", "approx_quantile(a, share)", "Nn", F64, \
      "quantile(a, share) in bounded memory: exact if a group has at most 1000 distinct values, else within 1/1024 of it; never outside of the values", "approx_quantile(x, 0.5)", \
      .type = f64_type, .accumulator = HAC_ACCUMULATOR_QUANTILE, .constants = HAC_CONSTANTS_SHARE) \
    X(STRING_LIST, "string_list", NULL, "S", STRING, \
      "the distinct values in the order of the input, joined by commas", "string_list(cast(x as string))", \
      .type = string_list_type, .accumulator = HAC_ACCUMULATOR_VALUES) \
    X(ARG_MIN, "arg_min", "arg_min(a, b)", "AA", SAME, \
      "the a of the row with the smallest b; of several such rows the smallest a. Rows whose a or b is null are left out", \
      "arg_min(x, abs(x))", \
      .type = same_type, .second = HAC_SECOND_ANY, .accumulator = HAC_ACCUMULATOR_ARG_MIN) \
    X(ARG_MAX, "arg_max", "arg_max(a, b)", "AA", SAME, "as arg_min, of the row with the largest b", "arg_max(x, abs(x))", \
      .type = same_type, .second = HAC_SECOND_ANY, .accumulator = HAC_ACCUMULATOR_ARG_MAX) \
    X(MEDIAN, "median", NULL, "I", F64, "quantile(a, 0.5)", "median(x)", \
      .type = avg_type, .accumulator = HAC_ACCUMULATOR_ALL_VALUES) \
    Y(MEDIAN, "median", NULL, "D", F64, "", "median(x * 1.5)") \
    Y(MEDIAN, "median", NULL, "N", F64, "", "median(x / 2)") \
    X(QUANTILE, "quantile", "quantile(a, share)", "In", F64, \
      "the value below which that share (0 … 1) of the values lies; between two of them, in proportion", "quantile(x, 0.9)", \
      .type = avg_type, .accumulator = HAC_ACCUMULATOR_ALL_VALUES, .constants = HAC_CONSTANTS_SHARE) \
    Y(QUANTILE, "quantile", "quantile(a, share)", "Dn", F64, "", "quantile(x * 1.5, 0.9)") \
    Y(QUANTILE, "quantile", "quantile(a, share)", "Nn", F64, "", "quantile(x / 2, 0.9)") \
    X(QUANTILE_DISC, "quantile_disc", "quantile_disc(a, share)", "In", SAME, \
      "the smallest value that at least that share (0 … 1) of the values do not exceed: always one of them", "quantile_disc(x, 0.9)", \
      .type = same_type, .accumulator = HAC_ACCUMULATOR_ALL_VALUES, .constants = HAC_CONSTANTS_SHARE) \
    Y(QUANTILE_DISC, "quantile_disc", "quantile_disc(a, share)", "Dn", SAME, "", "quantile_disc(x * 1.5, 0.9)") \
    Y(QUANTILE_DISC, "quantile_disc", "quantile_disc(a, share)", "Nn", SAME, "", "quantile_disc(x / 2, 0.9)") \
    X(MODE, "mode", NULL, "X", SAME, "the most frequent value; of several the smallest", "mode(x)", \
      .type = same_type, .accumulator = HAC_ACCUMULATOR_VALUES) \
    X(COVAR_POP, "covar_pop", "covar_pop(y, x)", "MM", F64, \
      "the covariance of the population over the rows that have both y and x: exact, rounded once; dates count in days, timestamps in µs", \
      "covar_pop(x * x, x)", \
      .type = regression_type, .second = HAC_SECOND_ALIKE, .accumulator = HAC_ACCUMULATOR_PAIRS) \
    X(COVAR_SAMP, "covar_samp", "covar_samp(y, x)", "MM", F64, \
      "the covariance of a sample (n - 1); null for fewer than two such rows", \
      "covar_samp(x * x, x)", \
      .type = regression_type, .second = HAC_SECOND_ALIKE, .accumulator = HAC_ACCUMULATOR_PAIRS) \
    X(CORR, "corr", "corr(y, x)", "MM", F64, \
      "the correlation of y and x; null where one of them does not vary", \
      "corr(x * x, x)", \
      .type = regression_type, .second = HAC_SECOND_ALIKE, .accumulator = HAC_ACCUMULATOR_PAIRS) \
    X(REGR_SLOPE, "regr_slope", "regr_slope(y, x)", "MM", F64, \
      "the slope of the line through the points (x, y) with the smallest squares; null where x does not vary", \
      "regr_slope(x * x, x)", \
      .type = regression_type, .second = HAC_SECOND_ALIKE, .accumulator = HAC_ACCUMULATOR_PAIRS) \
    X(REGR_INTERCEPT, "regr_intercept", "regr_intercept(y, x)", "MM", F64, \
      "the y of that line at x = 0; null where x does not vary", \
      "regr_intercept(x * x, x)", \
      .type = regression_type, .second = HAC_SECOND_ALIKE, .accumulator = HAC_ACCUMULATOR_PAIRS) \
    X(REGR_R2, "regr_r2", "regr_r2(y, x)", "MM", F64, \
      "the square of the correlation; 1 where only x varies, null where x does not vary", \
      "regr_r2(x * x, x)", \
      .type = regression_type, .second = HAC_SECOND_ALIKE, .accumulator = HAC_ACCUMULATOR_PAIRS) \
    X(STRING_AGG, "string_agg", "string_agg([distinct] a, ',' [order by b])", "Skn", STRING, \
      "the values as text, with the separator between them: in the order of the input, or of one value `b [desc] [nulls first]`; "  \
      "distinct keeps the first of equal texts. Also `listagg` and `group_concat`", \
      "string_agg(x, '; ')", \
      .type = string_list_type, .accumulator = HAC_ACCUMULATOR_TEXTS, .constants = HAC_CONSTANTS_TEXTS) \
    X(STRING_AGG_BY, "string_agg", "string_agg([distinct] a, ',' [order by b])", "SAkn", STRING, "", \
      "string_agg(x, '; ' order by x desc)", \
      .type = string_list_type, .second = HAC_SECOND_ANY, .accumulator = HAC_ACCUMULATOR_ORDERED_TEXTS, \
      .constants = HAC_CONSTANTS_TEXTS) \
    X(LIST, "list", "list([distinct] a [order by b])", "Skn", STRING, \
      "the values, nulls included, as a list in JSON: `[1,null]`. The order is as of string_agg. Also `array_agg`", \
      "list(x)", \
      .type = string_list_type, .accumulator = HAC_ACCUMULATOR_TEXTS, .constants = HAC_CONSTANTS_TEXTS) \
    X(LIST_BY, "list", "list([distinct] a [order by b])", "SAkn", STRING, "", "list(x order by -x)", \
      .type = string_list_type, .second = HAC_SECOND_ANY, .accumulator = HAC_ACCUMULATOR_ORDERED_TEXTS, \
      .constants = HAC_CONSTANTS_TEXTS)
/* clang-format on */

#endif
