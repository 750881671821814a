/* SPDX-License-Identifier: Apache-2.0 */
/* Programs op.<number>.simt: the sub-operators for one type of number, OP_NUMBER, with work-items in
 * lock-step. */
/* clang-format off */
#include "op_lanes.cl"
#include "op_number.cl"
#include "op_scan.cl"
#include "op_matrix.cl"
#include "op_distance.cl"
#include "op_keys.cl"
