/* SPDX-License-Identifier: Apache-2.0 */
/* What bench_ops.c measures against: the loops that one writes first, with OpenMP. */
#ifndef BENCH_OPS_PLAIN_H
#define BENCH_OPS_PLAIN_H

#include "base/op_layout.h"
#include "opencl/device.h"

#define OPS_PLAIN(X)                                                                                         \
    X(map)                                                                                                   \
    X(sum) X(max) X(dot) X(scan) X(count) X(gather) X(gemm) X(gemv) X(spmv) X(row_sums) X(nearest) X(keys)
#define OPS_PLAIN_DECLARE(name) void plain_##name(const hac_span *spans, const hac_op_operand *operands);
OPS_PLAIN(OPS_PLAIN_DECLARE)

#endif
