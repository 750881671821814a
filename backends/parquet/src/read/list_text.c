/* SPDX-License-Identifier: Apache-2.0 */
#include "list_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "base/value_text.h"
#include "pages.h"

void hac_list_text_clear(hac_list_text *text)
{
    hac_parquet_memory_leave(text->memory, text->counted);
    free(text->data);
    text->data = NULL;
    text->memory = NULL;
    text->bytes = text->capacity = 0;
}

static bool reserve(hac_list_text *t, size_t bytes)
{
    if (bytes <= t->capacity - t->bytes)
        return true;
    size_t wanted = t->bytes + bytes;
    size_t capacity = wanted < 256 ? 256 : 2 * wanted;
    capacity = capacity < t->max ? capacity : t->max;
    hac_status status = HAC_OK;
    if (wanted > t->max)
        status = hac_fail(&t->why, HAC_FAILED, "the lists of %d rows take more than %zu bytes as text",
                          HAC_BATCH_ROWS, t->max);
    else
        status = hac_parquet_memory_count(t->memory, &t->counted, capacity, &t->why);
    uint8_t *data = status == HAC_OK ? realloc(t->data, capacity) : NULL;
    if (status == HAC_OK && data == NULL)
        (void)hac_fail_no_memory(&t->why);
    t->broken = data == NULL;
    if (t->broken)
        return false;
    t->data = data;
    t->capacity = capacity;
    return true;
}

void hac_list_text_put(hac_list_text *t, const void *data, size_t bytes)
{
    if (bytes == 0 || t->broken || !reserve(t, bytes))
        return;
    memcpy(t->data + t->bytes, data, bytes);
    t->bytes += bytes;
}

static void put_escape(hac_list_text *t, uint8_t byte)
{
    static const char named[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt", digits[] = "0123456789abcdef";
    const char *found = byte != 0 ? strchr(named, byte) : NULL;
    if (found != NULL)
        hac_list_text_put(t, (const char[]){'\\', names[found - named]}, 2);
    else
        hac_list_text_put(t, (const char[]){'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]}, 6);
}

/* Bytes that are not UTF-8 become U+FFFD, one for each byte. */
static void put_string(hac_list_text *t, const uint8_t *text, size_t bytes)
{
    for (size_t i = 0, n; i < bytes; i += n) {
        n = 0;
        while (i + n < bytes && text[i + n] >= 0x20 && text[i + n] < 0x7f && text[i + n] != '"' &&
               text[i + n] != '\\')
            n++;
        hac_list_text_put(t, text + i, n);
        if (n > 0)
            continue;
        n = text[i] < 0x80 ? 1 : hac_utf8_sequence((const char *)text + i, bytes - i);
        if (text[i] < 0x80)
            put_escape(t, text[i]);
        else
            hac_list_text_put(t, n > 0 ? (const char *)text + i : "\xef\xbf\xbd", n > 0 ? n : 3);
        n = n > 0 ? n : 1;
    }
}

static void put_hex(hac_list_text *t, const uint8_t *data, size_t bytes)
{
    char digits[256];
    for (size_t i = 0, n; i < bytes; i += n) {
        n = bytes - i < sizeof digits / 2 ? bytes - i : sizeof digits / 2;
        hac_print_hex(data + i, n, digits);
        hac_list_text_put(t, digits, 2 * n);
    }
}

static bool needs_quotes(const hac_column *v, size_t row)
{
    if (v->type.kind == HAC_KIND_F32)
        return !isfinite(((const float *)v->values)[row]);
    if (v->type.kind == HAC_KIND_F64)
        return !isfinite(((const double *)v->values)[row]);
    return hac_kinds[v->type.kind].class == HAC_CLASS_TIME || hac_kind_is_text(v->type.kind);
}

void hac_list_text_value(hac_list_text *t, const hac_column *v, size_t row, bool key)
{
    char shown[HAC_PRINT_MAX];
    bool quotes = key || needs_quotes(v, row);
    if (quotes)
        hac_list_text_put(t, "\"", 1);
    if (hac_kind_is_text(v->type.kind)) {
        const hac_string_ref *ref = &((const hac_string_ref *)v->values)[row];
        const uint8_t *text = ref->length > 0 ? v->bytes + ref->offset : (const uint8_t *)"";
        if (v->type.kind == HAC_KIND_BYTES)
            put_hex(t, text, ref->length);
        else
            put_string(t, text, ref->length);
    } else {
        hac_list_text_put(t, shown, hac_print_value(v->type, v->values, row, shown));
    }
    if (quotes)
        hac_list_text_put(t, "\"", 1);
}

hac_status hac_list_text_check(const hac_list_text *t, hac_error *err)
{
    return t->broken ? hac_fail(err, t->why.code, "%s", t->why.message) : HAC_OK;
}
