/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the formats of results. */
#ifndef QUERY_OUTPUT_PARTS_H
#define QUERY_OUTPUT_PARTS_H

#include <string.h>

#include "query/output.h"

static inline void hac_output_put(hac_output_buffer *output, const void *data, size_t bytes)
{
    uint64_t at = output->bytes;
    output->bytes += bytes;
    if (bytes > 0 && output->bytes <= output->capacity)
        memcpy(output->data + at, data, bytes);
}

static inline void hac_output_byte(hac_output_buffer *output, char byte)
{
    if (output->bytes < output->capacity)
        output->data[output->bytes] = (uint8_t)byte;
    output->bytes++;
}

void hac_output_typed_row(hac_output_buffer *output, size_t n_visible, const hac_column *columns, size_t row);

#endif
