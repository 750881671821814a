/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The query that `calibrate` measures, which libhac compiles: select count() as c, sum(v) as s group by k,
 * over a table of k:u32 and v:i32 without nulls. hacd fills the table with random numbers and runs the query
 * over its first rows; the columns have their places for HAC_CALIBRATE_ITEMS rows, whatever the number of
 * rows.
 */
#ifndef BASE_CALIBRATE_LAYOUT_H
#define BASE_CALIBRATE_LAYOUT_H

#include <stdint.h>

#define HAC_CALIBRATE_ITEMS  (UINT64_C(1) << 22)
#define HAC_CALIBRATE_GROUP  "k"
#define HAC_CALIBRATE_SELECT "count() as c, sum(v) as s"

#endif
