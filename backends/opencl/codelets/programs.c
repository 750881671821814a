/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl/codelets.h"

#include "hash/query_programs.h"
#include "kernel_sources.h"
#include "op/op_programs.h"
#include "sort/bitonic.h"
#include "sort/radix.h"

/* Names, files and options are the codelets' own: see their headers. */
/* clang-format off */
static const hac_program_source table[] = {
    HAC_RADIX_PROGRAMS(hac_source_sort_radix_block, hac_source_sort_radix_simt, hac_source_sort_radix_lsd)
    HAC_BITONIC_PROGRAMS(hac_source_sort_bitonic_block, hac_source_sort_bitonic_simt)
    HAC_QUERY_PROGRAMS(hac_source_expr_machine_block, hac_source_expr_machine_simt,
                       hac_source_hash_aggregate_block, hac_source_hash_aggregate_simt)
    HAC_OP_PROGRAMS(hac_source_op_expr_block, hac_source_op_expr_simt, hac_source_op_number_block,
                    hac_source_op_number_simt, hac_source_op_move)
    {"selftest", "selftest.cl", hac_source_selftest, ""},
    {NULL, NULL, NULL, NULL},
};
/* clang-format on */

const hac_program_source *hac_programs(void)
{
    return table;
}
