/* SPDX-License-Identifier: Apache-2.0 */
/* Text of unknown origin as a terminal shows it: its width, and what must not reach a terminal. */
#ifndef HACCTL_SCREEN_TEXT_H
#define HACCTL_SCREEN_TEXT_H

#include <stddef.h>

/* Columns that a string of valid UTF-8 takes on a screen: wide characters take two, combining ones none. */
size_t hac_screen_width(const char *text);

/*
 * Copies `bytes` of text to `ret` (room for HAC_SCREEN_TEXT_MAX(bytes)), with escapes for control characters,
 * for characters that change the direction of text or are not visible, and for bytes that are not UTF-8.
 */
#define HAC_SCREEN_TEXT_MAX(bytes) (4 * (bytes) + 1)
void hac_screen_text(const char *text, size_t bytes, char *ret);

/* Cuts the text to `width` columns, the last of which is …, in place; nothing is done if it has no more. The
 * text has room for three more bytes. */
void hac_screen_cut(char *text, size_t width);

#endif
