/* SPDX-License-Identifier: Apache-2.0 */
/* What counts as JSON, for libhac, which divides a JSON document into records, and for the executors, which
 * read the records. */
#ifndef BASE_JSON_GRAMMAR_H
#define BASE_JSON_GRAMMAR_H

#define HAC_JSON_DEPTH_MAX 512 /* brackets within brackets */
#define HAC_JSON_PATH_MAX  32  /* names of a path, as in a.b.c, that a column can have */

/* Values that are words; the last two are those that Python writes for floats that are not finite. */
#define HAC_JSON_WORDS "true", "false", "null", "NaN", "Infinity"

#endif
