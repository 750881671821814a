/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the packed query of calibrate (base/calibrate_layout.h) as the items of a C array: hacd cannot
 * compile queries, and measures by itself. */
#include <stdio.h>
#include <stdlib.h>

#include "query/calibration_query.h"

int main(void)
{
    hac_compiled_query *query = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_calibration_query_compile(&query, &err) != HAC_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    uint8_t *packed = malloc(hac__client__compiled_query__get_packed_size(&query->message));
    if (packed == NULL)
        return 1;
    size_t bytes = hac__client__compiled_query__pack(&query->message, packed);
    for (size_t i = 0; i < bytes; i++)
        printf("0x%02x,%s", packed[i], i % 16 == 15 || i + 1 == bytes ? "\n" : " ");
    free(packed);
    free(query);
    return 0;
}
