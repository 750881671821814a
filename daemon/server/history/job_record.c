/* SPDX-License-Identifier: Apache-2.0 */
#include "job_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HEAD       "hac job record 1"
#define HEAD_BYTES 96u /* more than the first line, and more than the line before a part */

static const char *const names[HAC_RECORD_PARTS] = {"line", "receipt",   "why",  "log",
                                                    "plan", "plan-json", "trace"};

/* FNV-1a, 64 bits: finds torn writes and pages of zeros after a power failure. */
static uint64_t checksum(const char *bytes, size_t n)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ (uint8_t)bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

void hac_job_record_write(const hac_job_record *record, hac_text *text)
{
    hac_text body = HAC_TEXT_NONE;
    for (size_t i = 0; i < HAC_RECORD_PARTS; i++) {
        size_t bytes = record->parts[i].bytes;
        if (record->parts[i].text == NULL || bytes > HAC_JOB_RECORD_BYTES_MAX ||
            body.bytes + bytes + 2 * HEAD_BYTES > HAC_JOB_RECORD_BYTES_MAX)
            continue;
        hac_text_addf(&body, "%s %zu\n", names[i], bytes);
        hac_text_add_bytes(&body, record->parts[i].text, bytes);
        hac_text_add(&body, "\n");
    }
    hac_text_addf(text, HEAD " %" PRIu64 " %016" PRIx64 "\n", record->id, checksum(body.data, body.bytes));
    hac_text_add_bytes(text, body.data, body.bytes);
    text->broken |= body.broken;
    hac_text_clear(&body);
}

/* A number of at most 12 digits, and the character that ends it. */
static bool read_number(const char **at, const char *end, char ends, uint64_t *ret)
{
    uint64_t value = 0;
    const char *p = *at;
    while (p < end && *p >= '0' && *p <= '9' && p - *at < 12)
        value = value * 10 + (uint64_t)(*p++ - '0');
    if (p == *at || p == end || *p != ends)
        return false;
    *at = p + 1;
    *ret = value;
    return true;
}

static bool read_head(const char **at, const char *end, uint64_t *ret_id)
{
    char wanted[17];
    static const char head[] = HEAD " ";
    if ((size_t)(end - *at) < sizeof head || memcmp(*at, head, sizeof head - 1) != 0)
        return false;
    *at += sizeof head - 1;
    if (!read_number(at, end, ' ', ret_id) || *ret_id == 0 || end - *at < 17 || (*at)[16] != '\n')
        return false;
    const char *sum = *at;
    *at += 17;
    snprintf(wanted, sizeof wanted, "%016" PRIx64, checksum(*at, (size_t)(end - *at)));
    return memcmp(sum, wanted, 16) == 0;
}

/* Parts of later releases are skipped. */
static bool read_part(const char **at, const char *end, hac_job_record *record)
{
    const char *name = *at, *blank = memchr(name, ' ', (size_t)(end - name));
    uint64_t bytes = 0;
    if (blank == NULL || blank == name)
        return false;
    size_t length = (size_t)(blank - name);
    *at = blank + 1;
    if (!read_number(at, end, '\n', &bytes) || bytes >= (size_t)(end - *at) || (*at)[bytes] != '\n' ||
        memchr(*at, '\0', bytes) != NULL)
        return false;
    for (size_t i = 0; i < HAC_RECORD_PARTS; i++) {
        if (strlen(names[i]) != length || memcmp(names[i], name, length) != 0)
            continue;
        if (record->parts[i].text != NULL)
            return false;
        record->parts[i].text = *at;
        record->parts[i].bytes = bytes;
    }
    *at += bytes + 1;
    return true;
}

hac_status hac_job_record_read(const char *bytes, size_t n, hac_job_record *ret, hac_error *err)
{
    hac_job_record record = {.id = 0};
    const char *at = bytes, *end = bytes + n;
    bool good = n <= HAC_JOB_RECORD_BYTES_MAX && read_head(&at, end, &record.id);
    while (good && at < end)
        good = read_part(&at, end, &record);
    if (!good || record.parts[HAC_RECORD_LINE].text == NULL)
        return hac_fail(err, HAC_INVALID, "it is damaged, or no record of a job");
    *ret = record;
    return HAC_OK;
}
