/* SPDX-License-Identifier: Apache-2.0 */
#include "string_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "expr/column.h"
#include "kernels.h"

#define CAPACITY_MAX (UINT32_MAX - HAC_PARQUET_SLACK)

void hac_string_buffer_clear(hac_string_buffer *buffer)
{
    free(buffer->data);
    *buffer = (hac_string_buffer){0};
}

void hac_string_buffer_empty(hac_string_buffer *buffer)
{
    buffer->kept = 0;
    hac_string_buffer_begin(buffer, 0, 0);
}

void hac_string_buffer_keep(hac_string_buffer *buffer)
{
    buffer->kept = buffer->low;
}

void hac_string_buffer_begin(hac_string_buffer *buffer, size_t first, size_t end)
{
    buffer->low = buffer->kept;
    buffer->gap_end = SIZE_MAX;
    buffer->high = 0;
    if (first == end)
        return;
    if (first == buffer->kept) {
        buffer->low = end;
    } else {
        buffer->gap_end = first;
        buffer->high = end;
    }
}

static hac_status grow(hac_string_buffer *buffer, size_t size, hac_error *err)
{
    size_t max = buffer->max > 0 && buffer->max < CAPACITY_MAX ? buffer->max : CAPACITY_MAX;
    if (size <= buffer->size && buffer->data != NULL)
        return HAC_OK;
    if (size > max)
        return hac_fail(err, HAC_FAILED, "the strings of %d rows take more than %zu bytes", HAC_BATCH_ROWS,
                        max);
    size_t doubled = 2 * buffer->size < max ? 2 * buffer->size : max;
    size_t wanted = size > doubled ? size : doubled;
    uint8_t *data = realloc(buffer->data, wanted + HAC_PARQUET_SLACK);
    if (data == NULL)
        return hac_fail_no_memory(err);
    buffer->data = data;
    buffer->size = wanted;
    return HAC_OK;
}

hac_status hac_string_buffer_place(hac_string_buffer *buffer, size_t bytes, size_t *ret, hac_error *err)
{
    bool low = buffer->gap_end == SIZE_MAX || bytes <= buffer->gap_end - buffer->low;
    size_t *next = low ? &buffer->low : &buffer->high;
    if (bytes > CAPACITY_MAX)
        return hac_fail(err, HAC_FAILED, "it takes more than 4 GiB");
    hac_status status = grow(buffer, *next + bytes, err);
    if (status != HAC_OK)
        return status;
    *ret = *next;
    *next += bytes;
    return HAC_OK;
}

void hac_string_buffer_forget(hac_string_buffer *buffer, const hac_string_buffer *before)
{
    buffer->low = before->low;
    buffer->gap_end = before->gap_end;
    buffer->high = before->high;
}
