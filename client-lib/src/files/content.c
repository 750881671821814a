/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the format of an input in its first bytes. */
#include <string.h>

#include <hac/files.h>

#include "base/error.h"
#include "base/foreign_format.h"
#include "base/format.h"
#include "base/packing.h"
#include "first_bytes.h"

#define LOOK_BYTES 4096

typedef hac_first_bytes content;

static size_t skip_blanks(const content *c, size_t at)
{
    while (at < c->bytes && strchr(" \t\r\n", c->data[at]) != NULL && c->data[at] != '\0')
        at++;
    return at;
}

/* Whether the first bytes tell the format. */
static bool is_decided(const content *c)
{
    static const char parquet[] = {'P', 'A', 'R', '1'};
    uint8_t data[LOOK_BYTES];
    content unpacked = {.name = c->name, .data = data, .bytes = c->bytes, .capacity = sizeof data};
    hac_error none = HAC_ERROR_NONE;
    bool unsure;
    (void)hac_packing_of(c->data, c->bytes, &unsure);
    memcpy(data, c->data, c->bytes);
    if (hac_first_bytes_unpack(&unpacked, &none) != HAC_OK)
        return true;
    bool begun = c->bytes < sizeof parquet && memcmp(c->data, parquet, c->bytes) == 0;
    return !unsure && !begun && skip_blanks(&unpacked, 0) < unpacked.bytes;
}

/* ---- formats of text ---- */

/* An object, or an array of objects. */
static bool is_json(const content *c, size_t at)
{
    if (at < c->bytes && c->data[at] == '[')
        at = skip_blanks(c, at + 1);
    if (at == c->bytes || c->data[at] != '{')
        return false;
    at = skip_blanks(c, at + 1);
    return at == c->bytes || c->data[at] == '"' || c->data[at] == '}';
}

/* Whether the bytes from `at` on are like the pattern: 0 is a digit, A a letter, other characters
 * themselves. */
static bool is_like(const content *c, size_t at, const char *pattern)
{
    for (; *pattern != '\0'; pattern++, at++) {
        if (at >= c->bytes)
            return false;
        uint8_t byte = c->data[at], letter = byte | 0x20;
        if (*pattern == '0' ? (byte < '0' || byte > '9')
                            : (*pattern == 'A' ? (letter < 'a' || letter > 'z') : byte != (uint8_t)*pattern))
            return false;
    }
    return true;
}

/* host ident user [10/Oct/2000:13:55:36 … */
static bool is_access_log(const content *c, size_t at)
{
    unsigned blanks = 0;
    for (; at < c->bytes && c->data[at] != '\n'; at++) {
        if (c->data[at] == '[' && blanks >= 3)
            return is_like(c, at, "[00/AAA/0000:00:");
        blanks += c->data[at] == ' ';
    }
    return false;
}

/* Oct 11 22:14:15 …, <34>… */
static bool is_syslog(const content *c, size_t at)
{
    return is_like(c, at, "AAA 00 00:00:00 ") || is_like(c, at, "AAA  0 00:00:00 ") ||
           is_like(c, at, "<0>") || is_like(c, at, "<00>") || is_like(c, at, "<000>");
}

static hac_input_format format_of_text(const content *c)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    bool marked = c->bytes >= sizeof mark && memcmp(c->data, mark, sizeof mark) == 0;
    size_t at = skip_blanks(c, marked ? sizeof mark : 0);
    if (is_json(c, at))
        return HAC_INPUT_JSONL;
    if (is_access_log(c, at))
        return HAC_INPUT_CLF;
    return is_syslog(c, at) ? HAC_INPUT_SYSLOG : HAC_INPUT_CSV;
}

/* Text has no control bytes but white space, and the escapes of terminals. */
static bool is_text(const content *c)
{
    for (size_t i = 0; i < c->bytes; i++)
        if (c->data[i] < ' ' && (c->data[i] < '\b' || c->data[i] > '\r') && c->data[i] != 0x1b)
            return false;
    return true;
}

/* ---- all formats ---- */

static bool is_parquet(const content *c)
{
    static const char magic[] = {'P', 'A', 'R', '1'};
    return c->bytes >= sizeof magic && memcmp(c->data, magic, sizeof magic) == 0;
}

static hac_status find_format(content *c, hac_input_format *ret, hac_error *err)
{
    bool unsure;
    hac_packing packing = hac_packing_of(c->data, c->bytes, &unsure);
    hac_status status = hac_first_bytes_unpack(c, err);
    if (status == HAC_OK && packing == HAC_PACKING_NONE && is_parquet(c)) {
        *ret = HAC_INPUT_PARQUET;
        return HAC_OK;
    }
    if (status == HAC_OK)
        status = hac_foreign_refuse(c->data, c->bytes < HAC_FOREIGN_BYTES ? c->bytes : HAC_FOREIGN_BYTES,
                                    HAC_FOREIGN_TEXT, "text", c->name, err);
    if (status == HAC_OK && !is_text(c))
        return hac_fail(err, HAC_INVALID, "its first bytes are not text");
    if (status == HAC_OK)
        *ret = format_of_text(c);
    return status;
}

hac_status hac_files_find_format(const char *name, int fd, int stop_fd, hac_input_format *ret, hac_error *err)
{
    uint8_t data[LOOK_BYTES];
    content c = {.name = name, .data = data, .capacity = sizeof data, .stop_fd = stop_fd};
    hac_status status = hac_first_bytes_look(&c, fd, is_decided, err);
    return status == HAC_OK ? find_format(&c, ret, err) : status;
}
