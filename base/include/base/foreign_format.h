/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs that are something else than they are read as: archives, other compressions, binary tables and text
 * that is not UTF-8. They are recognised by their first bytes and refused by name, because read as text or as
 * numbers they would give a result without an error. */
#ifndef BASE_FOREIGN_FORMAT_H
#define BASE_FOREIGN_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define HAC_FOREIGN_BYTES 264 /* first bytes that decide */

/* What the input is read as. */
typedef enum hac_foreign_use {
    HAC_FOREIGN_TEXT, /* text in UTF-8 */
    /* Raw numbers, which begin with any bytes: magics of fewer than 4 bytes decide nothing. Lines of ASCII
     * are refused, too. */
    HAC_FOREIGN_NUMBERS,
    /* Binary records, which may begin with any bytes, too, and no option reads them all the same: magics of
     * fewer than 6 bytes decide nothing. */
    HAC_FOREIGN_RECORDS,
} hac_foreign_use;

/* HAC_FAILED: `data`, the first bytes of the input `name` (HAC_FOREIGN_BYTES unless the input is shorter),
 * are those of another format. The message names it and a command that converts it. `wanted` is what the
 * input is read as: "csv". */
HAC_MUST_USE hac_status hac_foreign_refuse(const uint8_t *data, size_t bytes, hac_foreign_use use,
                                           const char *wanted, const char *name, hac_error *err);

/* The same for the bytes from `offset` on of a regular file. A file that cannot be read passes. */
HAC_MUST_USE hac_status hac_foreign_refuse_file(int fd, uint64_t offset, hac_foreign_use use,
                                                const char *wanted, const char *name, hac_error *err);

#endif
