/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at the first bytes of an input, and refuses what would be misread without an error: other formats; of
 * text, also what is not UTF-8, and lines that end in CR alone. */
#ifndef CLIENT_TEXT_BEGIN_H
#define CLIENT_TEXT_BEGIN_H

#include <stdbool.h>

#include <hac/hac.h>

#define HAC_TEXT_BEGIN_BYTES 65536 /* no more bytes are looked at */

/*
 * `data` is the first bytes of the input `name`; `ended`: the input has no more. *ret_settled: more bytes
 * would not change the answer. HAC_FAILED: the input is not of options->input_format. A table and Parquet are
 * not looked at. `options` comes from hac_query_options_read.
 */
HAC_MUST_USE hac_status hac_text_begin_check(const hac_query_options *options, const char *name,
                                             const uint8_t *data, size_t bytes, bool ended, bool *ret_settled,
                                             hac_error *err);

/* The same for a regular file, which is read from its beginning. A file that cannot be read passes: whoever
 * reads it next reports that. */
HAC_MUST_USE hac_status hac_text_begin_check_file(const hac_query_options *options, const char *name, int fd,
                                                  hac_error *err);

#endif
