/* SPDX-License-Identifier: Apache-2.0 */
/* Drives a front in tests. */
#ifndef TESTS_FRONT_RUN_H
#define TESTS_FRONT_RUN_H

#include <stdlib.h>
#include <string.h>

#include "input/front.h"

/* Passes the text through the front, which it frees, `piece` bytes at a time into `capacity` bytes. After the
 * result stands "!" and the error, or "#" if lines are not those of the text. The caller frees the result. */
static inline char *hac_test_front_run(hac_front *front, const char *text, size_t piece, size_t capacity)
{
    size_t bytes = strlen(text), made = 0, at = 0;
    char *ret = calloc(1, 4 * bytes + 1024);
    hac_error err = HAC_ERROR_NONE;
    hac_status status = HAC_OK;
    while (status == HAC_OK && (at < bytes || hac_front_holds(front))) {
        size_t used, n, left = bytes - at < piece ? bytes - at : piece;
        status = hac_front_run(front, (const uint8_t *)text + at, left, &used, (uint8_t *)ret + made,
                               capacity, &n, &err);
        assert_true(used <= left && n <= capacity && (used > 0 || n > 0 || status != HAC_OK));
        at += used;
        made += n;
    }
    if (status == HAC_OK)
        status = hac_front_end(front, &err);
    while (status == HAC_OK && hac_front_holds(front)) {
        size_t used, n;
        status = hac_front_run(front, NULL, 0, &used, (uint8_t *)ret + made, capacity, &n, &err);
        made += n;
    }
    if (status != HAC_OK)
        strcat(strcat(ret, "!"), err.message);
    else if (hac_front_remark(front) != NULL)
        strcat(ret, "#");
    hac_front_free(front);
    return ret;
}

#endif
