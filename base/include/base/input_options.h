/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of the options of input formats (input_options.def), and what all modules do with them: parse a
 * value, check the values, and convert them to bytes. hac_input_options (hac/query.h) holds the values; 0 is
 * the default of each.
 */
#ifndef BASE_INPUT_OPTIONS_H
#define BASE_INPUT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hac/query.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"

typedef enum hac_input_option_id {
#define HAC_INPUT_OPTION(id, ...) HAC_INPUT_OPTION_##id,
#define HAC_INPUT_PART(id, ...)   HAC_INPUT_OPTION_##id,
#include "base/input_options.def"
    HAC_INPUT_OPTIONS
} hac_input_option_id;

typedef enum hac_option_kind {
    HAC_OPTION_ON,    /* a flag: "true" or "false"; the member is 1 for true */
    HAC_OPTION_OFF,   /* a flag that is true by default; the member is 1 for false */
    HAC_OPTION_BYTE,  /* one byte, or "\t"; no quote and no end of line */
    HAC_OPTION_MARK,  /* one character of ASCII that is no letter, digit or space; or "none" */
    HAC_OPTION_WORD,  /* one of `words` */
    HAC_OPTION_COUNT, /* a whole number */
    HAC_OPTION_TEXT,  /* at most `max` bytes of UTF-8 */
} hac_option_kind;

typedef struct hac_input_option {
    hac_option_kind kind;
    uint32_t formats; /* HAC_FORMAT_BIT(…) of the formats that take it */
    const char *name, *key, *argument, *words, *default_text;
    uint64_t max;
    const char *help;
    bool text;            /* an option of the command line and of logic files; false: HAC_INPUT_PART */
    size_t offset, bytes; /* the member of hac_input_options */
} hac_input_option;

#define HAC_FORMAT_BIT(format) (1u << HAC_INPUT_##format)
#define HAC_FORMATS_ALL        (~0u)

/* Indexed by hac_input_option_id. */
extern const hac_input_option hac_input_option_rows[HAC_INPUT_OPTIONS];

/* The option with this key; HAC_INPUT_OPTIONS: there is none. */
hac_input_option_id hac_input_option_find(const char *key);

/* Sets the option to the value that `text` stands for. HAC_INVALID: "'x' is not possible; allowed: …", to
 * which the caller adds the option's name. */
HAC_MUST_USE hac_status hac_input_option_parse(hac_input_option_id id, const char *text,
                                               hac_input_options *options, hac_error *err);

/* Checks values and that the format takes each option that is set. HAC_INVALID: the message begins with the
 * option, "--null: …". */
HAC_MUST_USE hac_status hac_input_options_check(hac_input_format format, const hac_input_options *options,
                                                hac_error *err);

/* Resets the options that the format does not take. */
void hac_input_options_keep(hac_input_format format, hac_input_options *options);

/* Whether csv or tsv is written in another way than executors read it: with another quote, an escape, or
 * comments. libhac then reads it (hac_csv_front). */
bool hac_input_is_dialect(hac_input_format format, const hac_input_options *options);
/* Resets the options of such a dialect, for the text that libhac has made of it. */
void hac_input_options_plain(hac_input_options *options);

/* Bytes of options in messages and compiled queries: for each option that is not at its default, its number
 * (1 byte), a length (1 byte), and the value, which is a text or a little-endian number of 8 bytes. */
#define HAC_INPUT_OPTIONS_BYTES_MAX (HAC_INPUT_OPTIONS * (2 + HAC_NULL_BYTES_MAX))
void hac_input_options_write(const hac_input_options *options, hac_text *ret);
/* Reads and checks the options. HAC_INVALID: the bytes are not valid options of the format. */
HAC_MUST_USE hac_status hac_input_options_read(const uint8_t *data, size_t bytes, hac_input_format format,
                                               hac_input_options *ret, hac_error *err);

#endif
