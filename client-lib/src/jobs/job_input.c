/* SPDX-License-Identifier: Apache-2.0 */
#include "job_input.h"

#include <inttypes.h>

enum { BUFFER_ALIGNMENT = 64 };

void hac_job_input_buffer(const hac_mapping *mapping, uint64_t offset, uint64_t bytes,
                          Hac__Client__Input *ret)
{
    hac__client__input__init(ret);
    ret->where_case = HAC__CLIENT__INPUT__WHERE_BUFFER;
    ret->buffer = hac_mapping_id(mapping);
    ret->offset = offset;
    ret->bytes = bytes;
}

void hac_job_input_inline(const void *data, uint64_t bytes, Hac__Client__Input *ret)
{
    hac__client__input__init(ret);
    ret->where_case = HAC__CLIENT__INPUT__WHERE_DATA;
    ret->data.data = (uint8_t *)(uintptr_t)data;
    ret->data.len = (size_t)bytes;
    ret->bytes = bytes;
}

hac_status hac_job_input_check(const hac_client *client, const hac_buffer *buffer, uint64_t offset,
                               uint64_t bytes, const char *what, hac_error *err)
{
    if (buffer->client != client)
        return hac_fail(err, HAC_INVALID, "the %s lie in another client's buffer", what);
    if (offset % BUFFER_ALIGNMENT != 0)
        return hac_fail(err, HAC_INVALID, "the %s start at byte %" PRIu64 ", which is not a multiple of %d",
                        what, offset, BUFFER_ALIGNMENT);
    uint64_t capacity = hac_buffer_bytes(buffer);
    if (offset > capacity || bytes > capacity - offset)
        return hac_fail(err, HAC_INVALID,
                        "the %s are %" PRIu64 " bytes from byte %" PRIu64
                        " on, but their buffer has %" PRIu64,
                        what, bytes, offset, capacity);
    return HAC_OK;
}
