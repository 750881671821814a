/* SPDX-License-Identifier: Apache-2.0 */
/* What the formats of results share. */
#ifndef QUERY_OUTPUT_PARTS_H
#define QUERY_OUTPUT_PARTS_H

#include <string.h>

#include "query/output.h"

static inline void hac_output_put(hac_output *output, const void *data, size_t bytes)
{
    uint64_t at = output->bytes;
    output->bytes += bytes;
    if (bytes > 0 && output->bytes <= output->room)
        memcpy(output->data + at, data, bytes);
}

static inline void hac_output_byte(hac_output *output, char byte)
{
    if (output->bytes < output->room)
        output->data[output->bytes] = (uint8_t)byte;
    output->bytes++;
}

/* The text of a value that is neither text nor null; `ret` has room for HAC_PRINT_MAX. Returns its length. */
size_t hac_output_print(const hac_vector *column, size_t row, char *ret);

void hac_output_typed_row(hac_output *output, size_t n_visible, const hac_vector *columns, size_t row);

#endif
