/* SPDX-License-Identifier: Apache-2.0 */
/* What a Parquet file holds, as `hacctl parquet inspect` shows it. */
#ifndef HACCTL_REPORT_PARQUET_H
#define HACCTL_REPORT_PARQUET_H

#include "base/text.h"
#include "read.h"

/* Row groups that are shown column by column; of the others there is a line each, of very many a count. */
enum { HAC_REPORT_GROUPS_IN_FULL = 4, HAC_REPORT_GROUPS = 64 };

/* Of hac_describe_parquet's answer: the file, its columns, its row groups, and the columns' chunks in the
 * first of these, with codecs, encodings, sizes and statistics. What is left out is said. */
void hac_report_parquet(const cJSON *file, hac_text *text);

/* Its columns as a schema: `a:i64,"b c":string`. */
void hac_report_parquet_schema(const cJSON *file, hac_text *text);

#endif
