/* SPDX-License-Identifier: Apache-2.0 */
#include "base/input_options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"

#define MEMBER(member) offsetof(hac_input_options, member), sizeof(((hac_input_options *)0)->member)

#define ROW(is_text, id, member, kind, formats, name, key, argument, words, default_text, max, help)         \
    [HAC_INPUT_OPTION_##                                                                                     \
        id] = {kind, formats, name, key, argument, words, default_text, max, help, is_text, MEMBER(member)},

const hac_input_option hac_input_option_rows[HAC_INPUT_OPTIONS] = {
#define HAC_INPUT_OPTION(...) ROW(true, __VA_ARGS__)
#define HAC_INPUT_PART(...)   ROW(false, __VA_ARGS__)
#include "base/input_options.def"
};

hac_input_option_id hac_input_option_find(const char *key)
{
    unsigned id = 0;
    while (id < HAC_INPUT_OPTIONS && strcmp(hac_input_option_rows[id].key, key) != 0)
        id++;
    return (hac_input_option_id)id;
}

/* ---- values ---- */

static const char *text_of(const hac_input_option *row, const hac_input_options *options)
{
    return (const char *)options + row->offset;
}

static uint64_t number_of(const hac_input_option *row, const hac_input_options *options)
{
    uint64_t value = 0; /* hac runs on little-endian machines only */
    if (row->kind == HAC_OPTION_TEXT)
        return 0;
    memcpy(&value, text_of(row, options), row->bytes);
    return value;
}

static void set_number(const hac_input_option *row, uint64_t value, hac_input_options *options)
{
    memcpy((char *)options + row->offset, &value, row->bytes);
}

static bool is_set(const hac_input_option *row, const hac_input_options *options)
{
    return row->kind == HAC_OPTION_TEXT ? text_of(row, options)[0] != '\0' : number_of(row, options) != 0;
}

static bool separates(unsigned char byte)
{
    return byte != '\0' && byte != '"' && byte != '\r' && byte != '\n';
}

static const char *values_of(hac_option_kind kind)
{
    switch (kind) {
    case HAC_OPTION_ON:
    case HAC_OPTION_OFF:
        return "true or false";
    case HAC_OPTION_BYTE:
        return "one byte, or \\t, and no quote or end of line";
    case HAC_OPTION_MARK:
        return "one character that is no letter, digit or space, or none";
    case HAC_OPTION_COUNT:
        return "a whole number";
    default:
        return NULL;
    }
}

static hac_status refuse(const hac_input_option *row, const char *text, hac_error *err)
{
    if (row->kind == HAC_OPTION_TEXT)
        return hac_fail(err, HAC_INVALID, "must be valid UTF-8 of at most %llu bytes",
                        (unsigned long long)row->max);
    return hac_fail(err, HAC_INVALID, "'%.64s' is not possible; allowed: %s", text,
                    row->words != NULL ? row->words : values_of(row->kind));
}

/* The place of a word among `words`; UINT64_MAX: it is not there. */
static uint64_t find_word(const char *words, const char *word)
{
    size_t bytes = strlen(word);
    for (uint64_t place = 0; *words != '\0'; place++) {
        size_t n = strcspn(words, " ");
        if (n == bytes && memcmp(words, word, n) == 0)
            return place;
        words += n + (words[n] == ' ');
    }
    return UINT64_MAX;
}

static uint64_t parse_byte(const char *text)
{
    if (strcmp(text, "\\t") == 0 || strcmp(text, "tab") == 0)
        return '\t';
    return text[0] != '\0' && text[1] == '\0' && separates((unsigned char)text[0]) ? (unsigned char)text[0]
                                                                                   : UINT64_MAX;
}

static bool marks(uint64_t byte)
{
    return byte > ' ' && byte < 0x7f && isalnum((int)byte) == 0;
}

static uint64_t parse_mark(const char *text)
{
    if (strcmp(text, "none") == 0)
        return HAC_MARK_NONE;
    return text[0] != '\0' && text[1] == '\0' && marks((uint8_t)text[0]) ? (uint8_t)text[0] : UINT64_MAX;
}

static uint64_t parse_count(const char *text)
{
    char *end;
    if (text[strspn(text, "0123456789")] != '\0' || text[0] == '\0' || strlen(text) > 19)
        return UINT64_MAX;
    return strtoull(text, &end, 10);
}

/* UINT64_MAX: the text stands for no value of the option. */
static uint64_t parse_number(const hac_input_option *row, const char *text)
{
    switch (row->kind) {
    case HAC_OPTION_ON:
        return find_word("false true", text);
    case HAC_OPTION_OFF:
        return find_word("true false", text);
    case HAC_OPTION_BYTE:
        return parse_byte(text);
    case HAC_OPTION_MARK:
        return parse_mark(text);
    case HAC_OPTION_WORD:
        return find_word(row->words, text);
    default:
        return parse_count(text);
    }
}

static bool is_utf8(const char *text, size_t bytes)
{
    for (size_t at = 0, n; at < bytes; at += n)
        if ((n = hac_utf8_sequence(text + at, bytes - at)) == 0)
            return false;
    return true;
}

hac_status hac_input_option_parse(hac_input_option_id id, const char *text, hac_input_options *options,
                                  hac_error *err)
{
    const hac_input_option *row = &hac_input_option_rows[id];
    if (row->kind == HAC_OPTION_TEXT) {
        size_t bytes = strlen(text);
        if (bytes > row->max || !is_utf8(text, bytes))
            return refuse(row, text, err);
        memset((char *)options + row->offset, 0, row->bytes);
        memcpy((char *)options + row->offset, text, bytes);
        return HAC_OK;
    }
    uint64_t value = parse_number(row, text);
    if (value == UINT64_MAX)
        return refuse(row, text, err);
    set_number(row, value, options);
    return HAC_OK;
}

/* ---- checks ---- */

static bool is_sound(const hac_input_option *row, const hac_input_options *options)
{
    if (row->kind == HAC_OPTION_TEXT) {
        const char *text = text_of(row, options);
        size_t bytes = strnlen(text, row->bytes);
        return bytes <= row->max && bytes < row->bytes && is_utf8(text, bytes);
    }
    uint64_t value = number_of(row, options);
    if (value == 0 || value > row->max)
        return value == 0;
    if (row->kind == HAC_OPTION_MARK)
        return value == HAC_MARK_NONE || marks(value);
    return row->kind != HAC_OPTION_BYTE || separates((uint8_t)value);
}

/* Names the formats that take the option: "csv, tsv". */
static void list_formats(uint32_t formats, char *ret, size_t capacity)
{
    size_t at = 0;
    for (unsigned f = HAC_INPUT_CSV; f < HAC_INPUT_END; f++) {
        size_t bytes = strlen(hac_formats[f].name) + 2;
        if ((formats >> f & 1) == 0 || at + bytes + 1 > capacity)
            continue;
        at = (size_t)(stpcpy(stpcpy(ret + at, at > 0 ? ", " : ""), hac_formats[f].name) - ret);
    }
}

/* A separator of thousands that is also the decimal sign would make 1.234 two numbers. */
static hac_status check_signs(const hac_input_options *options, hac_error *err)
{
    bool comma = options->decimal == HAC_DECIMAL_COMMA;
    if (options->thousands != (comma ? HAC_THOUSANDS_COMMA : HAC_THOUSANDS_POINT))
        return HAC_OK;
    return hac_fail(err, HAC_INVALID, "--thousands: the %s is the decimal sign; say --decimal %s",
                    comma ? "comma" : "point", comma ? "point" : "comma");
}

/* The quote that is in force. */
static uint8_t quote_of(hac_input_format format, const hac_input_options *options)
{
    return options->quote != 0 ? options->quote : format == HAC_INPUT_CSV ? '"' : HAC_MARK_NONE;
}

/* Each byte has one meaning. An escape that is the quote stands for doubled quotes. */
static hac_status check_marks(hac_input_format format, const hac_input_options *options, hac_error *err)
{
    const struct {
        const char *name;
        uint8_t byte;
    } bytes[] = {{"delimiter", hac_format_delimiter(format, options->delimiter)},
                 {"quote", quote_of(format, options)},
                 {"comment", options->comment},
                 {"escape", options->escape}};
    for (size_t i = 1; i < sizeof bytes / sizeof *bytes; i++)
        for (size_t other = 0; other < i; other++)
            if (bytes[i].byte > HAC_MARK_NONE && bytes[i].byte == bytes[other].byte &&
                !(i == 3 && other == 1))
                return hac_fail(err, HAC_INVALID, "--%s: '%c' is the %s; say another, or none", bytes[i].name,
                                bytes[i].byte, bytes[other].name);
    return HAC_OK;
}

bool hac_input_is_dialect(hac_input_format format, const hac_input_options *options)
{
    bool csv = format == HAC_INPUT_CSV;
    uint8_t quote = quote_of(format, options), escape = csv ? HAC_MARK_NONE : '\\';
    if (!csv && format != HAC_INPUT_TSV)
        return false;
    return quote != (csv ? '"' : HAC_MARK_NONE) || options->comment > HAC_MARK_NONE ||
           (options->escape != 0 && options->escape != escape && options->escape != quote);
}

void hac_input_options_plain(hac_input_options *options)
{
    options->quote = options->escape = options->comment = 0;
}

hac_status hac_input_options_check(hac_input_format format, const hac_input_options *options, hac_error *err)
{
    char formats[64] = "";
    for (unsigned id = 0; id < HAC_INPUT_OPTIONS; id++) {
        const hac_input_option *row = &hac_input_option_rows[id];
        if (!is_sound(row, options)) {
            char byte[2] = {(char)number_of(row, options), '\0'};
            (void)refuse(row, byte, err);
            hac_error_prefix(err, "--%s", row->name);
            return HAC_INVALID;
        }
        if (!is_set(row, options) || (row->formats >> format & 1) != 0)
            continue;
        list_formats(row->formats, formats, sizeof formats);
        return hac_fail(err, HAC_INVALID, "--%s: this is an option of %s, and the input is %s", row->name,
                        formats, hac_formats[format].name);
    }
    hac_status status = check_signs(options, err);
    return status == HAC_OK ? check_marks(format, options, err) : status;
}

void hac_input_options_keep(hac_input_format format, hac_input_options *options)
{
    for (unsigned id = 0; id < HAC_INPUT_OPTIONS; id++) {
        const hac_input_option *row = &hac_input_option_rows[id];
        if ((row->formats >> format & 1) == 0)
            memset((char *)options + row->offset, 0, row->bytes);
    }
}

/* ---- bytes ---- */

void hac_input_options_write(const hac_input_options *options, hac_text *ret)
{
    for (unsigned id = 0; id < HAC_INPUT_OPTIONS; id++) {
        const hac_input_option *row = &hac_input_option_rows[id];
        uint64_t number = number_of(row, options);
        bool text = row->kind == HAC_OPTION_TEXT;
        const char *value = text ? text_of(row, options) : (const char *)&number;
        size_t bytes = text ? strlen(value) : sizeof number;
        const char head[2] = {(char)id, (char)bytes};
        if (!is_set(row, options))
            continue;
        hac_text_add_bytes(ret, head, sizeof head);
        hac_text_add_bytes(ret, value, bytes);
    }
}

/* Reads one value. False: it does not fit into the member. */
static bool take_value(const hac_input_option *row, const uint8_t *value, size_t bytes,
                       hac_input_options *ret)
{
    uint64_t number = 0;
    if (row->kind == HAC_OPTION_TEXT) {
        if (bytes == 0 || bytes >= row->bytes || memchr(value, '\0', bytes) != NULL)
            return false;
        memcpy((char *)ret + row->offset, value, bytes);
        return true;
    }
    if (bytes != sizeof number)
        return false;
    memcpy(&number, value, sizeof number);
    set_number(row, number, ret);
    return number != 0 && number_of(row, ret) == number;
}

hac_status hac_input_options_read(const uint8_t *data, size_t bytes, hac_input_format format,
                                  hac_input_options *ret, hac_error *err)
{
    hac_input_options options = {0};
    unsigned next = 0;
    for (size_t at = 0; at < bytes;) {
        unsigned id = data[at];
        size_t value = bytes - at >= 2 ? data[at + 1] : SIZE_MAX;
        /* in the order of the rows, so that none comes twice */
        if (value > bytes - at - 2 || id < next || id >= HAC_INPUT_OPTIONS ||
            !take_value(&hac_input_option_rows[id], data + at + 2, value, &options))
            return hac_fail(err, HAC_INVALID, "the options of the input are malformed at byte %zu", at);
        next = id + 1;
        at += 2 + value;
    }
    hac_status status = hac_input_options_check(format, &options, err);
    if (status == HAC_OK)
        *ret = options;
    return status;
}
