/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_MAX_DEPTH 64

void hac_text_clear(hac_text *text)
{
    free(text->data);
    *text = (hac_text)HAC_TEXT_NONE;
}

/* Makes room for `more` bytes and a NUL. */
static bool reserve(hac_text *text, size_t more)
{
    if (text->broken || more > HAC_TEXT_MAX - text->bytes) {
        text->broken = true;
        return false;
    }
    size_t need = text->bytes + more + 1;
    if (need <= text->capacity)
        return true;
    size_t capacity = text->capacity < 256 ? 256 : text->capacity * 2;
    if (capacity < need)
        capacity = need;
    char *data = realloc(text->data, capacity);
    if (data == NULL) {
        text->broken = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void hac_text_add_bytes(hac_text *text, const char *s, size_t bytes)
{
    if (!reserve(text, bytes))
        return;
    if (bytes > 0)
        memcpy(text->data + text->bytes, s, bytes);
    text->bytes += bytes;
    text->data[text->bytes] = '\0';
}

void hac_text_add(hac_text *text, const char *s)
{
    hac_text_add_bytes(text, s, strlen(s));
}

void hac_text_add_name(hac_text *text, const char *name)
{
    hac_text_add(text, "\"");
    for (; *name != '\0'; name++)
        hac_text_add_bytes(text, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
    hac_text_add(text, "\"");
}

void hac_text_addf(hac_text *text, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int bytes = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (bytes < 0)
        text->broken = true;
    else if (reserve(text, (size_t)bytes)) {
        vsnprintf(text->data + text->bytes, (size_t)bytes + 1, fmt, again);
        text->bytes += (size_t)bytes;
    }
    va_end(again);
}

hac_status hac_text_finish(hac_text *text, char **ret, size_t *ret_bytes, hac_error *err)
{
    if (text->depth != 0 && !text->broken) {
        hac_text_clear(text);
        return hac_fail(err, HAC_INTERNAL, "a JSON text ends before its brackets are closed");
    }
    if (!reserve(text, 0)) {
        hac_text_clear(text);
        return hac_fail(err, HAC_NO_MEMORY, "a text is over %u MiB, nested too deeply, or memory is out",
                        HAC_TEXT_MAX >> 20);
    }
    text->data[text->bytes] = '\0';
    *ret = text->data;
    if (ret_bytes != NULL)
        *ret_bytes = text->bytes;
    *text = (hac_text)HAC_TEXT_NONE;
    return HAC_OK;
}

static void json_quote(hac_text *text, const char *s)
{
    static const char short_form[] = "\b\f\n\r\t\"\\", letter[] = "bfnrt\"\\";
    hac_text_add_bytes(text, "\"", 1);
    size_t left = strlen(s);
    while (left > 0) {
        size_t plain = 0, length;
        while (plain < left && (unsigned char)s[plain] >= 0x20 && s[plain] != '"' && s[plain] != '\\' &&
               (length = hac_utf8_sequence(s + plain, left - plain)) > 0)
            plain += length;
        hac_text_add_bytes(text, s, plain);
        s += plain;
        left -= plain;
        if (left == 0)
            break;
        const char *at = strchr(short_form, *s);
        if (at != NULL)
            hac_text_addf(text, "\\%c", letter[at - short_form]);
        else if ((unsigned char)*s < 0x20)
            hac_text_addf(text, "\\u%04x", (unsigned)(unsigned char)*s);
        else
            hac_text_add(text, "\xef\xbf\xbd"); /* U+FFFD for each byte that is not UTF-8 */
        s++;
        left--;
    }
    hac_text_add_bytes(text, "\"", 1);
}

/* What comes before every value: a comma if one is due, and the key. */
static void json_start(hac_text *text, const char *key)
{
    if (text->depth > 0) {
        uint64_t bit = UINT64_C(1) << (text->depth - 1);
        if ((text->comma & bit) != 0)
            hac_text_add_bytes(text, ",", 1);
        text->comma |= bit;
    }
    if (key != NULL) {
        json_quote(text, key);
        hac_text_add_bytes(text, ":", 1);
    }
}

void hac_json_open(hac_text *text, const char *key, char bracket)
{
    json_start(text, key);
    if (text->depth == JSON_MAX_DEPTH) {
        text->broken = true;
        return;
    }
    text->comma &= ~(UINT64_C(1) << text->depth);
    text->depth++;
    hac_text_add_bytes(text, &bracket, 1);
}

void hac_json_close(hac_text *text, char bracket)
{
    if (text->depth == 0) {
        text->broken = true;
        return;
    }
    text->depth--;
    hac_text_add_bytes(text, &bracket, 1);
}

void hac_json_raw(hac_text *text, const char *key, const char *json)
{
    json_start(text, key);
    hac_text_add(text, json);
}

void hac_json_null(hac_text *text, const char *key)
{
    hac_json_raw(text, key, "null");
}

void hac_json_bool(hac_text *text, const char *key, bool value)
{
    hac_json_raw(text, key, value ? "true" : "false");
}

void hac_json_string(hac_text *text, const char *key, const char *value)
{
    if (value == NULL) {
        hac_json_null(text, key);
        return;
    }
    json_start(text, key);
    json_quote(text, value);
}

/* The program's locale may write the decimal point as anything: what is no digit, sign or e is the point. */
static void use_point(char *number)
{
    char *to = number;
    for (const char *from = number; *from != '\0'; from++) {
        if (strchr("0123456789+-e", *from) != NULL)
            *to++ = *from;
        else if (to == number || to[-1] != '.')
            *to++ = '.';
    }
    *to = '\0';
}

void hac_json_number(hac_text *text, const char *key, double value)
{
    if (!isfinite(value)) {
        hac_json_null(text, key);
        return;
    }
    char number[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(number, sizeof number, "%.*g", digits, value);
        if (strtod(number, NULL) == value)
            break;
    }
    use_point(number);
    hac_json_raw(text, key, number);
}

void hac_json_integer(hac_text *text, const char *key, int64_t value)
{
    json_start(text, key);
    hac_text_addf(text, "%lld", (long long)value);
}

void hac_json_unsigned(hac_text *text, const char *key, uint64_t value)
{
    json_start(text, key);
    hac_text_addf(text, "%llu", (unsigned long long)value);
}

const char *hac_format_seconds(double seconds, char *text, size_t capacity)
{
    if (seconds < 1e-3)
        snprintf(text, capacity, "%.3g µs", seconds * 1e6);
    else if (seconds < 1)
        snprintf(text, capacity, "%.3g ms", seconds * 1e3);
    else
        snprintf(text, capacity, "%.4g s", seconds);
    return text;
}
