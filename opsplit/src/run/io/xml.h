/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes columns as XML 1.0. The memory that it takes does not grow with the number of rows or the length of
 * texts.
 *
 *     <?xml version="1.0" encoding="UTF-8"?>
 *     <rows>
 *       <row><value name="word">rose</value><value name="n">3</value></row>
 *     </rows>
 *
 * A reader gets every text back unchanged: <, >, &, " and blanks that a reader would change are escaped. What
 * XML 1.0 cannot express becomes U+FFFD: other control characters, U+FFFE, U+FFFF, and each byte that is not
 * UTF-8.
 */
#ifndef OPSPLIT_RUN_XML_H
#define OPSPLIT_RUN_XML_H

#include <hac/hac.h>

#define HAC_XML_BLOCK ((size_t)64 << 10)

/* Takes the next bytes: HAC_XML_BLOCK of them, fewer at the end. */
typedef hac_status hac_xml_sink(void *context, const void *data, size_t bytes, hac_error *err);

/* `array` has format +s; its columns are bools, numbers and texts without nulls. A sink that fails is not
 * called again, and its status is returned. */
HAC_MUST_USE hac_status hac_xml_write(const struct ArrowSchema *schema, const struct ArrowArray *array,
                                      hac_xml_sink *sink, void *context, hac_error *err);

#endif
