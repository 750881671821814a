/* SPDX-License-Identifier: Apache-2.0 */
/* Detection finds one of the delimiters that it tries, whatever the text, and the same again if the delimiter
 * that it found is given. */
#ifndef FUZZ_DETECT_H
#define FUZZ_DETECT_H

#include <stdlib.h>
#include <string.h>

#include "base/query_layout.h"
#include "query/detect.h"

static inline void fuzz_detect(const hac_source_options *options, const hac_source_place *place)
{
    hac_source_options found = *options, again;
    if (hac_detect_options(HAC_DETECT_DELIMITER | HAC_DETECT_HEADER, place, &found, NULL) != HAC_OK)
        abort();
    again = found;
    if (found.options.delimiter != options->options.delimiter && found.options.delimiter != 0 &&
        strchr(";\t| ", found.options.delimiter) == NULL)
        abort();
    if (hac_detect_options(HAC_DETECT_HEADER, place, &again, NULL) != HAC_OK ||
        again.options.no_header != found.options.no_header)
        abort();
}

#endif
