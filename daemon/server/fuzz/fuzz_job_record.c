/* SPDX-License-Identifier: Apache-2.0 */
/* Files of ended jobs from hostile bytes. The checksum would keep most of them from being read, so the input
 * is also read as what follows a first line that fits. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/job_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok)
        abort();
}

/* Parts lie within the bytes, hold no zero, and are read back the same when they are written again. */
static void read_it(const char *bytes, size_t n)
{
    hac_job_record record, again;
    hac_error err = HAC_ERROR_NONE;
    hac_text text = HAC_TEXT_NONE;
    if (hac_job_record_read(bytes, n, &record, &err) != HAC_OK) {
        check(err.message[0] != '\0');
        return;
    }
    for (size_t i = 0; i < HAC_RECORD_PARTS; i++) {
        const char *part = record.parts[i].text;
        check(part == NULL || (part > bytes && part + record.parts[i].bytes < bytes + n));
        check(part == NULL || memchr(part, '\0', record.parts[i].bytes) == NULL);
    }
    hac_job_record_write(&record, &text);
    check(hac_job_record_read(text.data, text.bytes, &again, NULL) == HAC_OK && again.id == record.id);
    for (size_t i = 0; i < HAC_RECORD_PARTS; i++)
        check(again.parts[i].text == NULL ||
              (again.parts[i].bytes == record.parts[i].bytes &&
               memcmp(again.parts[i].text, record.parts[i].text, again.parts[i].bytes) == 0));
    hac_text_clear(&text);
}

static uint64_t checksum(const uint8_t *bytes, size_t n)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_it((const char *)data, size);
    char *file = malloc(size + 64);
    check(file != NULL);
    int head = snprintf(file, 64, "hac job record 1 5 %016" PRIx64 "\n", checksum(data, size));
    if (size > 0)
        memcpy(file + head, data, size);
    read_it(file, (size_t)head + size);
    free(file);
    return 0;
}
