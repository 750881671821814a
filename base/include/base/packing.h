/* SPDX-License-Identifier: Apache-2.0 */
/* Whether data are compressed, by the name of the file or by its first bytes. */
#ifndef BASE_PACKING_H
#define BASE_PACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum hac_packing { HAC_PACKING_NONE = 0, HAC_PACKING_GZIP, HAC_PACKING_ZSTD } hac_packing;

#define HAC_PACKING_MAGIC 4 /* bytes at the start that identify the format */

/* Detects the compression of data from their first bytes. *ret_unsure: more bytes may change the result. */
hac_packing hac_packing_of(const uint8_t *data, size_t bytes, bool *ret_unsure);

/* Whether a path's last name ends in .gz or .zst, in upper or lower case. */
bool hac_is_packed_name(const char *path);

#endif
