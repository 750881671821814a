/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of sub-operators, for the table of programs. */
#ifndef CODELETS_OP_PROGRAMS_H
#define CODELETS_OP_PROGRAMS_H

/* clang-format off */
#define HAC_OP_PROGRAMS(expr_block, expr_simt, block, simt, move)                                            \
    {"op.expr.block", "op_expr_block.cl", expr_block, ""},                                                   \
    {"op.expr.simt", "op_expr_simt.cl", expr_simt, ""},                                                      \
    {"op.f32.block", "op_number_block.cl", block, "-DOP_NUMBER=0"},                                          \
    {"op.f64.block", "op_number_block.cl", block, "-DOP_NUMBER=1"},                                          \
    {"op.i64.block", "op_number_block.cl", block, "-DOP_NUMBER=2"},                                          \
    {"op.u64.block", "op_number_block.cl", block, "-DOP_NUMBER=3"},                                          \
    {"op.f32.simt", "op_number_simt.cl", simt, "-DOP_NUMBER=0"},                                             \
    {"op.f64.simt", "op_number_simt.cl", simt, "-DOP_NUMBER=1"},                                             \
    {"op.i64.simt", "op_number_simt.cl", simt, "-DOP_NUMBER=2"},                                             \
    {"op.u64.simt", "op_number_simt.cl", simt, "-DOP_NUMBER=3"},                                             \
    {"op.move", "op_move.cl", move, ""},
/* clang-format on */

#endif
