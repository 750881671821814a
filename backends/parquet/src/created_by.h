/* SPDX-License-Identifier: Apache-2.0 */
/* Which program wrote a file: known defects of old ones decide what of it is believed. */
#ifndef PARQUET_CREATED_BY_H
#define PARQUET_CREATED_BY_H

#include <stdbool.h>

/* "parquet-mr version 1.8.1 (build …)" is parquet-mr before 1.10.0. One that gives no version is older than
 * all; another application is not meant, whatever its version. */
bool hac_parquet_written_before(const char *created_by, const char *application, unsigned major,
                                unsigned minor, unsigned patch);

#endif
