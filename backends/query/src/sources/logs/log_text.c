/* SPDX-License-Identifier: Apache-2.0 */
#include "log_text.h"

#include <string.h>

#include "base/value_text.h"

hac_log_text hac_log_line(const hac_records_view *view, size_t i)
{
    uint8_t *begin = view->data + view->marks[view->ends[i]],
            *end = view->data + view->marks[view->ends[i + 1]] - 1;
    if (end > begin && end[-1] == '\r')
        end--;
    return (hac_log_text){begin, end, NULL};
}

bool hac_log_problem(hac_log_text *text, const char *what)
{
    if (text->problem == NULL)
        text->problem = what;
    return false;
}

bool hac_log_take(hac_log_text *text, char c)
{
    bool there = text->at < text->end && *text->at == (uint8_t)c;
    text->at += there;
    return there;
}

/* What stands behind a backslash. Returns the bytes that were taken; 0: nothing that is known. */
static size_t unescape(const uint8_t *at, const uint8_t *end, uint8_t *ret)
{
    static const char letters[] = "\"\\tnrbfv", values[] = "\"\\\t\n\r\b\f\v";
    const char *letter = at < end && *at != '\0' ? strchr(letters, *at) : NULL;
    if (letter != NULL) {
        *ret = (uint8_t)values[letter - letters];
        return 1;
    }
    if (end - at < 3 || *at != 'x')
        return 0;
    int high = hac_hex_digit((char)at[1]), low = hac_hex_digit((char)at[2]);
    if (high < 0 || low < 0)
        return 0;
    *ret = (uint8_t)(high * 16 + low);
    return 3;
}

bool hac_log_quoted(hac_log_text *text, uint8_t **ret, size_t *ret_bytes)
{
    if (!hac_log_take(text, '"'))
        return hac_log_problem(text, "expected a quote");
    uint8_t *at = text->at, *to = text->at;
    for (; at < text->end && *at != '"'; at++) {
        size_t taken = *at == '\\' ? unescape(at + 1, text->end, to) : 0;
        if (taken == 0)
            *to = *at;
        at += taken;
        to++;
    }
    if (at == text->end)
        return hac_log_problem(text, "a quote is never closed");
    *ret = text->at;
    *ret_bytes = (size_t)(to - text->at);
    text->at = at + 1;
    return true;
}

bool hac_log_fits(const uint8_t *at, const char *form)
{
    for (; *form != '\0'; at++, form++)
        if (*form == '0' ? *at < '0' || *at > '9' : *form != 'x' && *at != (uint8_t)*form)
            return false;
    return true;
}

int hac_log_month(const uint8_t *name)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int i = 0; i < 12; i++)
        if (memcmp(months + 3 * i, name, 3) == 0)
            return i + 1;
    return 0;
}
