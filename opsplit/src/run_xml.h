/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns as XML 1.0, written as it is made: the memory that it takes does not grow with the rows, or with a
 * text's length.
 *
 *     <?xml version="1.0" encoding="UTF-8"?>
 *     <rows>
 *       <row><value name="word">rose</value><value name="n">3</value></row>
 *     </rows>
 *
 * A reader gets back each text as it was: <, >, &, " and what it would take for another blank are escaped.
 * What XML 1.0 cannot say becomes U+FFFD: other control characters, U+FFFE, U+FFFF, each byte that is no
 * UTF-8.
 */
#ifndef OPSPLIT_RUN_XML_H
#define OPSPLIT_RUN_XML_H

#include <hac/hac.h>

#define HAC_XML_BLOCK ((size_t)64 << 10)

/* Takes the next bytes: HAC_XML_BLOCK, at the end fewer. */
typedef hac_status hac_xml_sink(void *context, const void *data, size_t bytes, hac_error *err);

/* `array` is of format +s; its columns are bools, numbers and texts, without nulls. A sink that fails is not
 * called again, and its status is given back. */
HAC_MUST_USE hac_status hac_xml_write(const struct ArrowSchema *schema, const struct ArrowArray *array,
                                      hac_xml_sink *sink, void *context, hac_error *err);

#endif
