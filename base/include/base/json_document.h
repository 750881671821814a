/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that is not one object a line: an array of objects, or objects that span lines. */
#ifndef BASE_JSON_DOCUMENT_H
#define BASE_JSON_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HAC_JSON_DOCUMENT_BYTES 65536 /* no more bytes are looked at */

/* Whether the text that begins with `data` looks like such a document: it begins with '[', or its first line
 * opens more brackets than it closes. A damaged first line of a jsonl file may look like that, too. */
bool hac_json_is_document(const uint8_t *data, size_t bytes);

/* The same for a regular file from its current offset on. False if the file cannot be read. */
bool hac_json_is_document_file(int fd);

#endif
