/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled queries from hostile bytes: a query that is accepted can be written again, and its programs run.
 * */
#include <stdint.h>
#include <stdlib.h>

#include "run_on_zeros.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hac_query *query = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_query_read(data, size, &query, &err) != HAC_OK) {
        check(query == NULL && err.message[0] != '\0');
        return 0;
    }
    hac_text again = HAC_TEXT_NONE;
    check(hac_query_write(query, &again, &err) == HAC_OK && again.bytes == size);
    hac_text_clear(&again);
    run_query_on_zeros(query);
    hac_query_free(query);
    return 0;
}
