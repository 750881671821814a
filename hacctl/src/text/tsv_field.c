/* SPDX-License-Identifier: Apache-2.0 */
#include "tsv_field.h"

size_t hac_tsv_unescape(char *text, size_t bytes)
{
    size_t to = 0;
    for (size_t i = 0; i < bytes; i++) {
        char next = text[i] == '\\' && i + 1 < bytes ? text[i + 1] : '\0';
        char meant = next == 't'    ? '\t'
                     : next == 'n'  ? '\n'
                     : next == 'r'  ? '\r'
                     : next == '\\' ? '\\'
                                    : '\0';
        i += meant != '\0';
        text[to++] = meant != '\0' ? meant : text[i];
    }
    return to;
}
