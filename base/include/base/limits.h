/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits that several modules must agree on. Each is checked where data crosses a trust boundary: by libhac
 * before it sends, by proto when a message arrives, and by the codelet that uses the value. The comments name
 * the checks beside proto's.
 */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#include <hac/query.h>

/* Messages. */
#define HAC_DESCRIPTORS_MAX HAC_QUERY_FILES_MAX /* of one message; frame.c */
#define HAC_INLINE_MAX      32768               /* bytes of input, result or text; libhac, codelets */
#define HAC_QUERY_BYTES_MAX                                                                                  \
    35840 /* of a compiled query; with names of files it fits a frame; libhac, codelets */
#define HAC_QUERY_DATA_MAX 16384 /* bytes of a query's input; libhac, hacd */
#define HAC_QUERY_INLINE_MAX                                                                                 \
    (HAC_QUERY_BYTES_MAX + HAC_QUERY_DATA_MAX) /* a query and its input; the executor */
#define HAC_PRIORITY_MAX 100                   /* libhac */

/* Devices that jobs are planned for, bits of 32-bit masks; hacd, the planner. Counts of devices that go with
 * it: HAC_MACHINE_MAX_DEVICES, HAC_USER_DEVICES_MAX, and MAX_DEVICES in enumerate.c. */
#define HAC_DEVICES_MAX 16

/* Tasks; the executor. */
#define HAC_SPANS_MAX       16
#define HAC_TASK_PARAMS_MAX 24
#define HAC_TASK_VALUES_MAX 96

/* Positions of task spans, and of columns and parts of vectors in buffers, are multiples of this: the largest
 * vector that a device reads at once. libhac, the planner, the executor, codelets. */
#define HAC_ALIGNMENT 64

/* Sorts; libhac. */
#define HAC_FOLD_STEPS_MAX 64
#define HAC_PAYLOAD_MAX    256 /* bytes of an item */

/* Queries; libhac and expr. */
#define HAC_EXPRESSION_MAX 30720 /* bytes of each text of a query */
#define HAC_COLUMNS_MAX    256
#define HAC_FIELD_NAME_MAX 128   /* bytes of a column's name and the zero behind it */
#define HAC_PER_MILLE      1000  /* of the sample and of the share of hot keys */
#define HAC_WORK_ITEMS_MAX 65536 /* work-groups, and work-items of a work-group */

/* Bytes of one record; libhac when it divides input, backends/query when it reads it. */
#define HAC_RECORD_MAX (UINT64_C(64) << 20)

#endif
