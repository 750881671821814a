/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a job's result, which is columns (HAC_RESULT_TABLE), as an Arrow IPC stream or file with one record
 * batch (https://arrow.apache.org/docs/format/Columnar.html). */
#ifndef HACCTL_ARROW_FILE_H
#define HACCTL_ARROW_FILE_H

#include <hac/hac.h>

#include "cli/output.h"

HAC_MUST_USE hac_status hac_arrow_write(hac_output_file *output, hac_job *job, bool file, hac_error *err);

#endif
