/* SPDX-License-Identifier: Apache-2.0 */
/* What a Parquet file contains, as `hacctl parquet inspect` prints it. */
#ifndef HACCTL_REPORT_PARQUET_H
#define HACCTL_REPORT_PARQUET_H

#include "base/text.h"
#include "text/json_fields.h"

/* Row groups that are printed column by column, and row groups that are printed at all. The rest is only
 * counted. */
enum { HAC_REPORT_GROUPS_IN_FULL = 4, HAC_REPORT_GROUPS = 64 };

/* Prints hac_describe_parquet's answer: the file, its columns, its row groups, and the column chunks of
 * the first row groups with codecs, encodings, sizes and statistics. Says what is left out. */
void hac_report_parquet(const cJSON *file, hac_text *text);

/* The file's columns as a schema: `a:i64,"b c":string`. */
void hac_report_parquet_schema(const cJSON *file, hac_text *text);

#endif
