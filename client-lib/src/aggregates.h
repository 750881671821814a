/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that make one value of many rows: X(name). A test compares them with expr/src/functions.c. */
#define HAC_AGGREGATE_NAMES(X)                                                                               \
    X(approx_quantile)                                                                                       \
    X(avg)                                                                                                   \
    X(count)                                                                                                 \
    X(count_distinct)                                                                                        \
    X(first)                                                                                                 \
    X(histogram)                                                                                             \
    X(last)                                                                                                  \
    X(max)                                                                                                   \
    X(min)                                                                                                   \
    X(stddev)                                                                                                \
    X(stddev_pop)                                                                                            \
    X(string_list)                                                                                           \
    X(sum)                                                                                                   \
    X(top_k)                                                                                                 \
    X(var_pop)                                                                                               \
    X(variance)
