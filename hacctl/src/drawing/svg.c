/* SPDX-License-Identifier: Apache-2.0 */
#include "svg.h"

#include <stdio.h>

void hac_svg_open(hac_text *out, double width, double height, const char *style)
{
    hac_text_addf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n"
        "<style>%s</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        width, height, width, height, style);
}

void hac_svg_close(hac_text *out)
{
    hac_text_add(out, "</svg>\n");
}

void hac_svg_text(hac_text *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte == '&')
            hac_text_add(out, "&amp;");
        else if (byte == '<')
            hac_text_add(out, "&lt;");
        else if (byte == '>')
            hac_text_add(out, "&gt;");
        else if (byte == '"')
            hac_text_add(out, "&quot;");
        else if (byte < 0x20 && byte != '\n' && byte != '\t')
            hac_text_add(out, "?");
        else
            hac_text_add_bytes(out, c, 1);
    }
}

const char *hac_svg_colour(size_t i)
{
    /* Okabe and Ito's palette, which colour-blind readers can tell apart, and darker shades of it */
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
                                          "#7a6f00", "#555555", "#004a75", "#8a3d00", "#00664a", "#854e6c",
                                          "#946600", "#367396", "#b3a300", "#999999"};
    return colours[i % (sizeof colours / sizeof *colours)];
}
