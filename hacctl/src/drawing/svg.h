/* SPDX-License-Identifier: Apache-2.0 */
/* What all drawings share: SVG's head, texts, colours, and times. */
#ifndef HACCTL_SVG_H
#define HACCTL_SVG_H

#include <stddef.h>

#include "base/text.h"

/* Begins a drawing of this size; `style` are its rules of CSS. */
void hac_svg_open(hac_text *out, double width, double height, const char *style);
void hac_svg_close(hac_text *out);

/* Text inside an element or attribute. Bytes that XML 1.0 does not allow become "?". */
void hac_svg_text(hac_text *out, const char *text);

/* A colour for the i-th device or stage, "#rrggbb". */
const char *hac_svg_colour(size_t i);

#endif
