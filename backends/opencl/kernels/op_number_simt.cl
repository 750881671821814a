/* SPDX-License-Identifier: Apache-2.0 */
/* Programs op.<number>.simt: the sub-operators of one number, OP_NUMBER, for lock-step work-items. */
/* clang-format off */
#include "op_lanes.cl"
#include "op_number.cl"
#include "op_scan.cl"
#include "op_matrix.cl"
#include "op_distance.cl"
#include "op_keys.cl"
