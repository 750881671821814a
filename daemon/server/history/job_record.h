/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of an ended job: the answers to questions about the job, as they were when it ended.
 *
 *     hac job record 1 ID CHECKSUM\n
 *     PART BYTES\n … \n          for each part that there is
 *
 * The checksum covers all that follows the first line. A file that does not fit is refused as a whole.
 */
#ifndef SERVER_JOB_RECORD_H
#define SERVER_JOB_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

#define HAC_JOB_RECORD_BYTES_MAX (1u << 20)
#define HAC_JOB_RECORD_ID_MAX    UINT64_C(1000000000000) /* JSON readers keep such a number exactly */

typedef enum hac_record_part {
    HAC_RECORD_LINE = 0, /* JSON object, as in the list of jobs; always there */
    HAC_RECORD_RECEIPT,  /* JSON object */
    HAC_RECORD_WHY,
    HAC_RECORD_LOG,
    HAC_RECORD_PLAN, /* text */
    HAC_RECORD_PLAN_JSON,
    HAC_RECORD_TRACE, /* JSON */
    HAC_RECORD_PARTS
} hac_record_part;

typedef struct hac_job_record {
    uint64_t id;
    struct {
        const char *text; /* NULL: the record has no such part */
        size_t bytes;
    } parts[HAC_RECORD_PARTS];
} hac_job_record;

/* Adds the file's bytes to `text`. Leaves out the last parts if they do not fit into
 * HAC_JOB_RECORD_BYTES_MAX. */
void hac_job_record_write(const hac_job_record *record, hac_text *text);

/* Finds the parts in the bytes of a file, which must outlive *ret. HAC_INVALID: they are no such file, or
 * damaged. */
HAC_MUST_USE hac_status hac_job_record_read(const char *bytes, size_t n, hac_job_record *ret, hac_error *err);

#endif
