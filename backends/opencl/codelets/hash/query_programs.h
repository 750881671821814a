/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of expr.eval and hash.aggregate, for the table of programs. */
#ifndef CODELETS_QUERY_PROGRAMS_H
#define CODELETS_QUERY_PROGRAMS_H

/* clang-format off */
#define HAC_QUERY_PROGRAMS(expr_block, expr_simt, hash_block, hash_simt)                                     \
    {"expr.block", "expr_machine_block.cl", expr_block, ""},                                                 \
    {"expr.simt", "expr_machine_simt.cl", expr_simt, ""},                                                    \
    {"hash.block", "hash_aggregate_block.cl", hash_block, ""},                                               \
    {"hash.simt", "hash_aggregate_simt.cl", hash_simt, ""},
/* clang-format on */

#endif
