/* SPDX-License-Identifier: Apache-2.0 */
/* Converts text and checks binary records: values of columns. Numbers and dates of other forms
 * (base/text_forms.h) are rewritten first. */
#include <stdio.h>
#include <string.h>

#include "base/input_options.h"
#include "base/short_number.h"
#include "base/text.h"
#include "base/text_forms.h"
#include "base/value_text.h"
#include "source_parts.h"

#define SHOWN_MAX 60 /* bytes of a field in a message */
#define FORM_MAX  64 /* bytes of options in a message */

static void integer_limits(hac_kind kind, int64_t *ret_low, int64_t *ret_high)
{
    unsigned bits = kind == HAC_KIND_I8 ? 8 : kind == HAC_KIND_I16 ? 16 : kind == HAC_KIND_I32 ? 32 : 64;
    *ret_high = (int64_t)(UINT64_MAX >> (65 - bits));
    *ret_low = -*ret_high - 1;
}

static uint64_t unsigned_limit(hac_kind kind)
{
    unsigned bits = kind == HAC_KIND_U8 ? 8 : kind == HAC_KIND_U16 ? 16 : kind == HAC_KIND_U32 ? 32 : 64;
    return UINT64_MAX >> (64 - bits);
}

static hac_text_status parse_integer(hac_kind kind, const char *text, size_t bytes, int64_t *ret)
{
    int64_t low, high, value;
    hac_text_status status = hac_parse_i64(text, bytes, &value);
    integer_limits(kind, &low, &high);
    if (status == HAC_TEXT_OK && (value < low || value > high))
        return HAC_TEXT_RANGE;
    if (status == HAC_TEXT_OK)
        *ret = value;
    return status;
}

static hac_text_status parse_unsigned(hac_kind kind, const char *text, size_t bytes, uint64_t *ret)
{
    uint64_t value;
    hac_text_status status = hac_parse_u64(text, bytes, &value);
    if (status == HAC_TEXT_OK && value > unsigned_limit(kind))
        return HAC_TEXT_RANGE;
    if (status == HAC_TEXT_OK)
        *ret = value;
    return status;
}

static hac_text_status parse_bool(const char *text, size_t bytes, uint8_t *ret)
{
    bool value = false;
    hac_text_status status = hac_parse_bool(text, bytes, &value);
    *ret = value;
    return status;
}

static hac_text_status parse_date(const hac_source_column *column, const char *text, size_t bytes,
                                  int64_t *ret)
{
    char plain[HAC_FORM_TEXT_MAX];
    int32_t days = 0;
    hac_text_status status = hac_parse_date(text, bytes, &days);
    if (status == HAC_TEXT_MALFORMED &&
        (bytes = hac_plain_date(text, bytes, (hac_date_order)column->forms->dates, plain)) > 0)
        status = hac_parse_date(plain, bytes, &days);
    *ret = days;
    return status;
}

static hac_text_status parse_decimal(const hac_source_column *column, const char *text, size_t bytes,
                                     size_t row)
{
    hac_value_type type = column->type;
    __int128 value = 0;
    hac_text_status status = hac_parse_decimal(text, bytes, type.precision, type.scale, &value);
    if (type.precision <= HAC_DECIMAL_DIGITS_64)
        ((int64_t *)column->values)[row] = (int64_t)value;
    else
        ((__int128 *)column->values)[row] = value;
    if (status == HAC_TEXT_OK && column->inferred && !hac_decimal_is_exact(text, bytes, type.scale))
        return HAC_TEXT_DIGITS;
    return status;
}

static hac_text_status parse_timestamp(const hac_source_column *column, const char *text, size_t bytes,
                                       size_t row)
{
    char plain[HAC_FORM_TEXT_MAX];
    size_t n;
    hac_text_status status = hac_parse_timestamp(text, bytes, (int64_t *)column->values + row);
    if (status == HAC_TEXT_MALFORMED &&
        (n = hac_plain_date(text, bytes, (hac_date_order)column->forms->dates, plain)) > 0) {
        text = plain;
        bytes = n;
        status = hac_parse_timestamp(text, bytes, (int64_t *)column->values + row);
    }
    bool zone = hac_value_type_has_zone(column->type);
    if (status == HAC_TEXT_OK && column->inferred && !zone && hac_timestamp_says_zone(text, bytes))
        return HAC_TEXT_ZONE;
    return status;
}

/* Converts two hexadecimal digits a byte, in place. */
static hac_text_status parse_hex(const hac_source_column *column, const char *text, size_t bytes, size_t row)
{
    uint8_t *to = (uint8_t *)(uintptr_t)text; /* the text is in the source's own window */
    hac_text_status status = hac_parse_hex(text, bytes, to);
    if (status == HAC_TEXT_OK)
        column->refs[row] = (hac_string_ref){(uint32_t)(to - column->bytes), (uint32_t)(bytes / 2)};
    return status;
}

/* Whether numbers are written as the parsers take them. */
static bool has_plain_numbers(const hac_source_column *column)
{
    return column->forms->decimal != HAC_DECIMAL_COMMA && column->forms->thousands <= HAC_THOUSANDS_NONE;
}

/* Parses one value of any type. */
static hac_text_status parse_one(const hac_source_column *column, const char *text, size_t bytes, size_t row)
{
    hac_kind kind = (hac_kind)column->type.kind;
    void *values = column->values;
    char plain[HAC_FORM_TEXT_MAX];
    if (!has_plain_numbers(column) && hac_kind_is_number(kind)) {
        bytes = hac_plain_number(text, bytes, (hac_decimal_sign)column->forms->decimal,
                                 (hac_thousands)column->forms->thousands, plain);
        text = plain;
    }
    switch (kind) {
    case HAC_KIND_BOOL:
        return parse_bool(text, bytes, (uint8_t *)values + row);
    case HAC_KIND_U8:
    case HAC_KIND_U16:
    case HAC_KIND_U32:
    case HAC_KIND_U64:
        return parse_unsigned(kind, text, bytes, (uint64_t *)values + row);
    case HAC_KIND_F32:
        return hac_parse_f32(text, bytes, (float *)values + row);
    case HAC_KIND_F64:
        return hac_parse_f64(text, bytes, (double *)values + row);
    case HAC_KIND_DATE:
        return parse_date(column, text, bytes, (int64_t *)values + row);
    case HAC_KIND_TIMESTAMP:
        return parse_timestamp(column, text, bytes, row);
    case HAC_KIND_DECIMAL:
        return parse_decimal(column, text, bytes, row);
    case HAC_KIND_BYTES:
        return parse_hex(column, text, bytes, row);
    default:
        return parse_integer(kind, text, bytes, (int64_t *)values + row);
    }
}

/* Blanks around values that are not strings are ignored. */
static hac_text_status parse_trimmed(const hac_source_column *column, const char *text, size_t bytes,
                                     size_t row)
{
    size_t whole = bytes;
    while (bytes > 0 && (text[bytes - 1] == ' ' || text[bytes - 1] == '\t'))
        bytes--;
    for (; bytes > 0 && (*text == ' ' || *text == '\t'); bytes--)
        text++;
    return bytes < whole ? parse_one(column, text, bytes, row) : HAC_TEXT_MALFORMED;
}

/* Reads behind a text stay in the source's window or its padding. */
_Static_assert(HAC_SHORT_NUMBER <= HAC_SCAN_PAD, "short numbers are read beyond the window");

/* Parses rows [first, rows), up to the first one that fails; returns its number, or `rows`. The frequent
 * types have loops with a fast path for short numbers (`quick`): a switch and a call would cost as much as
 * parsing. */
#define CONVERT(quick)                                                                                       \
    for (; r < rows; r++) {                                                                                  \
        const char *text = bytes + column->refs[r].offset;                                                   \
        size_t n = column->refs[r].length;                                                                   \
        if (column->states[r] != HAC_ROW_OK || (quick))                                                      \
            continue;                                                                                        \
        if ((status = parse_one(column, text, n, r)) != HAC_TEXT_OK)                                         \
            break;                                                                                           \
    }

static size_t convert_integers(const hac_source_column *column, const char *bytes, size_t r, size_t rows,
                               hac_text_status *ret)
{
    hac_kind kind = (hac_kind)column->type.kind;
    hac_text_status status = HAC_TEXT_OK;
    int64_t *values = column->values, low = 0, high = INT64_MAX;
    if (kind >= HAC_KIND_U8 && kind < HAC_KIND_U64)
        high = (int64_t)unsigned_limit(kind);
    else if (kind != HAC_KIND_U64)
        integer_limits(kind, &low, &high);
    CONVERT(hac_short_i64(text, n, &values[r]) && values[r] >= low && values[r] <= high)
    *ret = status;
    return r;
}

static size_t convert_rows(const hac_source_column *column, const char *bytes, size_t r, size_t rows,
                           hac_text_status *ret)
{
    hac_text_status status = HAC_TEXT_OK;
    const bool plain = has_plain_numbers(column); /* else the fast paths could take a wrong sign */
    void *values = column->values;
    switch (column->type.kind) {
    case HAC_KIND_I8:
    case HAC_KIND_I16:
    case HAC_KIND_I32:
    case HAC_KIND_I64:
    case HAC_KIND_U8:
    case HAC_KIND_U16:
    case HAC_KIND_U32:
    case HAC_KIND_U64:
        r = convert_integers(column, bytes, r, rows, &status);
        break;
    case HAC_KIND_F32:
        CONVERT(plain && hac_short_f32(text, n, (float *)values + r))
        break;
    case HAC_KIND_F64:
        CONVERT(plain && hac_short_f64(text, n, (double *)values + r))
        break;
    case HAC_KIND_DECIMAL:
        CONVERT(plain &&
                hac_short_decimal(text, n, column->type.precision, column->type.scale, (int64_t *)values + r))
        break;
    default:
        CONVERT(false)
        break;
    }
    if (status == HAC_TEXT_MALFORMED)
        status = parse_trimmed(column, bytes + column->refs[r].offset, column->refs[r].length, r);
    *ret = status;
    return r;
}

bool hac_source_is_code(const hac_source_column *column, const char *text, size_t bytes)
{
    if (!column->inferred || bytes < 2 || text[0] > '0' ||
        !hac_kind_is_number((hac_kind)column->type.kind)) /* most values begin with 1 … 9 */
        return false;
    while (bytes > 2 && *text == ' ') {
        text++;
        bytes--;
    }
    size_t sign = *text == '-';
    return *text == '+' ||
           (bytes > sign + 1 && text[sign] == '0' && text[sign + 1] >= '0' && text[sign + 1] <= '9');
}

/* Describes a valid value of the type. */
static const char *kind_text(hac_kind kind)
{
    switch (kind) {
    case HAC_KIND_BOOL:
        return "true or false";
    case HAC_KIND_DATE:
        return "a date like 2020-01-31";
    case HAC_KIND_TIMESTAMP:
        return "a time like 2020-01-31 12:34:56";
    case HAC_KIND_F32:
    case HAC_KIND_F64:
    case HAC_KIND_DECIMAL:
        return "a number";
    case HAC_KIND_BYTES:
        return "hexadecimal digits, two a byte";
    default:
        return kind >= HAC_KIND_U8 && kind <= HAC_KIND_U64 ? "a whole number from 0 up" : "a whole number";
    }
}

/* Copies the field as printable text for a message. */
static void shown_field(const uint8_t *text, size_t bytes, char ret[SHOWN_MAX + 4])
{
    size_t n = bytes < SHOWN_MAX ? bytes : SHOWN_MAX;
    for (size_t i = 0; i < n; i++)
        ret[i] = text[i] != 0 ? (char)text[i] : '?';
    ret[n] = 0;
    n = hac_utf8_copy_line(ret, SHOWN_MAX + 1, ret);
    if (bytes > SHOWN_MAX)
        snprintf(ret + n, 4, "%s", "...");
}

const char *hac_source_text_problem(const hac_source_column *column, const char *text, size_t bytes,
                                    hac_text_status status, char ret[HAC_TEXT_PROBLEM_MAX])
{
    char field[SHOWN_MAX + 4], type[HAC_VALUE_TYPE_NAME_MAX];
    shown_field((const uint8_t *)text, bytes, field);
    hac_value_type_name(column->type, type);
    if (status == HAC_TEXT_RANGE)
        snprintf(ret, HAC_TEXT_PROBLEM_MAX, "'%s' is out of the range of %s", field, type);
    else if (status == HAC_TEXT_PRECISION)
        snprintf(ret, HAC_TEXT_PROBLEM_MAX,
                 "'%s' has digits below a microsecond, which timestamps do not have; read it as a string: "
                 "cast(substr(t, 1, 26) as timestamp) cuts them",
                 field);
    else if (status == HAC_TEXT_DIGITS)
        snprintf(ret, HAC_TEXT_PROBLEM_MAX, "'%s' has more digits behind the point than %s", field, type);
    else if (status == HAC_TEXT_ZONE)
        snprintf(ret, HAC_TEXT_PROBLEM_MAX, "'%s' has a zone, and %s has none", field, type);
    else if (hac_source_is_code(column, text, bytes))
        snprintf(ret, HAC_TEXT_PROBLEM_MAX, "'%s' is written as a code, and not as %s (%s)", field,
                 kind_text((hac_kind)column->type.kind), type);
    else
        snprintf(ret, HAC_TEXT_PROBLEM_MAX, "'%s' is not %s (%s)", field,
                 kind_text((hac_kind)column->type.kind), type);
    return ret;
}

hac_text_status hac_source_parse(const hac_source_column *column, const char *text, size_t bytes, size_t row)
{
    hac_text_status status = parse_one(column, text, bytes, row);
    return status == HAC_TEXT_MALFORMED ? parse_trimmed(column, text, bytes, row) : status;
}

/* The type to propose for a column whose inferred type does not hold the value. */
static const char *wider_type(const hac_source_column *column, const char *text, size_t bytes)
{
    double value;
    int64_t microseconds;
    if (column->type.kind == HAC_KIND_TIMESTAMP &&
        hac_parse_timestamp(text, bytes, &microseconds) == HAC_TEXT_OK)
        return "timestamptz";
    bool number = (column->type.kind == HAC_KIND_I64 || column->type.kind == HAC_KIND_DECIMAL) &&
                  !hac_source_is_code(column, text, bytes);
    return number && hac_parse_f64(text, bytes, &value) == HAC_TEXT_OK ? "f64" : "string";
}

/* Whether the text is a value of the column if numbers and dates have that form. */
static bool fits_form(const hac_source_column *column, const hac_input_options *forms, const char *text,
                      size_t bytes)
{
    __int128 value[2];
    hac_source_column trial = *column;
    trial.forms = forms;
    trial.values = value;
    return hac_source_parse(&trial, text, bytes, 0) == HAC_TEXT_OK;
}

static bool takes_option(const hac_source *source, hac_input_option_id id)
{
    return (hac_input_option_rows[id].formats >> source->query->source.format & 1) != 0;
}

/* Names the options with which the text would be a value of the column: "--decimal comma". False: there are
 * none. */
static bool find_form(const hac_source *source, const hac_source_column *column, const char *text,
                      size_t bytes, char ret[FORM_MAX])
{
    static const char *const orders[] = {"dmy", "mdy"}, *const separators[] = {"comma", "point", "space",
                                                                               "apostrophe"};
    hac_input_options forms = *column->forms;
    bool time = column->type.kind == HAC_KIND_DATE || column->type.kind == HAC_KIND_TIMESTAMP;
    for (unsigned i = 0; i < 2 && time && takes_option(source, HAC_INPUT_OPTION_DATES); i++) {
        forms.dates = (uint8_t)(HAC_DATES_DMY + i);
        snprintf(ret, FORM_MAX, "--dates %s", orders[i]);
        if (fits_form(column, &forms, text, bytes))
            return true;
    }
    if (!hac_kind_is_number((hac_kind)column->type.kind) || !takes_option(source, HAC_INPUT_OPTION_DECIMAL))
        return false;
    for (unsigned i = 0; i < 10; i++) {
        bool comma = i % 2 == 1;
        unsigned separator = i / 2; /* 0: none */
        forms.decimal = comma ? HAC_DECIMAL_COMMA : HAC_DECIMAL_POINT;
        forms.thousands = (uint8_t)(HAC_THOUSANDS_NONE + separator);
        const char *thousands = separator > 0 ? separators[separator - 1] : "";
        bool sign = comma || column->forms->decimal == HAC_DECIMAL_COMMA;
        snprintf(ret, FORM_MAX, "%s%s%s%s%s", sign ? "--decimal " : "",
                 !sign   ? ""
                 : comma ? "comma"
                         : "point",
                 sign && separator > 0 ? " " : "", separator > 0 ? "--thousands " : "", thousands);
        if (forms.thousands != (comma ? HAC_THOUSANDS_COMMA : HAC_THOUSANDS_POINT) &&
            fits_form(column, &forms, text, bytes))
            return true;
    }
    return false;
}

static hac_status fail_value(hac_source *source, const hac_source_column *column, size_t row,
                             hac_text_status status, hac_error *err)
{
    char problem[HAC_TEXT_PROBLEM_MAX], where[32], form[FORM_MAX];
    hac_string_ref ref = column->refs[row];
    if (err == NULL)
        return HAC_FAILED;
    hac_source_where(source, row, where);
    const char *text = (const char *)column->bytes + ref.offset;
    hac_source_text_problem(column, text, ref.length, status, problem);
    bool found =
        !hac_source_is_code(column, text, ref.length) && find_form(source, column, text, ref.length, form);
    if (!column->inferred)
        return hac_fail(err, HAC_FAILED, "%s, column %s: %s%s%s%s", where, column->name, problem,
                        found ? "; " : "", found ? form : "", found ? " reads it" : "");
    return hac_fail(err, HAC_FAILED,
                    "%s, column %s: %s, the type that its first values have; say --schema '%s:%s'%s%s%s",
                    where, column->name, problem, column->name, wider_type(column, text, ref.length),
                    found ? ", or " : "", found ? form : "", found ? ", which reads this value" : "");
}

/* Returns the first row from `r` on whose value is a code, or `rows`. */
static size_t find_code(const hac_source_column *column, size_t r, size_t rows)
{
    const char *bytes = (const char *)column->bytes;
    if (!column->inferred || !hac_kind_is_number((hac_kind)column->type.kind))
        return rows;
    while (r < rows && (column->states[r] != HAC_ROW_OK ||
                        !hac_source_is_code(column, bytes + column->refs[r].offset, column->refs[r].length)))
        r++;
    return r;
}

hac_status hac_source_convert(hac_source *source, hac_error *err)
{
    const hac_source_column *bad = NULL;
    size_t rows = source->rows, bad_row = 0;
    hac_text_status why = HAC_TEXT_OK;
    for (size_t i = 0; i < source->n_columns; i++) {
        const hac_source_column *column = &source->columns[i];
        if (column->type.kind == HAC_KIND_STRING)
            continue;
        size_t code = find_code(column, 0, rows);
        for (size_t r = 0; r < rows; r++) {
            hac_text_status status;
            r = convert_rows(column, (const char *)column->bytes, r, code, &status);
            if (status == HAC_TEXT_OK && (r != code || r == rows))
                continue;
            if (status == HAC_TEXT_OK) {
                status = HAC_TEXT_MALFORMED;
                code = find_code(column, r + 1, rows);
            }
            if (source->query->source.options.skip_errors) {
                source->n_dropped += !source->dropped[r];
                source->dropped[r] = true;
            } else { /* later rows do not matter: only the first error is reported */
                bad = column;
                why = status;
                rows = bad_row = r;
            }
        }
    }
    return bad == NULL ? HAC_OK : fail_value(source, bad, bad_row, why, err);
}

static void drop_from(void *values, size_t size, const hac_source *source)
{
    uint8_t *bytes = values;
    size_t kept = 0;
    for (size_t r = 0; r < source->rows; r++) {
        if (source->dropped[r])
            continue;
        if (kept < r)
            memcpy(bytes + kept * size, bytes + r * size, size);
        kept++;
    }
}

void hac_source_drop(hac_source *source)
{
    if (source->n_dropped == 0)
        return;
    for (size_t i = 0; i < source->n_columns; i++) {
        drop_from(source->columns[i].values, hac_repr_size(source->columns[i].repr), source);
        drop_from(source->columns[i].states, 1, source);
    }
    drop_from(source->starts, sizeof *source->starts, source);
    source->rows -= source->n_dropped;
    source->skipped += source->n_dropped;
    source->n_dropped = 0;
    memset(source->dropped, 0, sizeof source->dropped);
}

/* ---- decimals ---- */

static __int128 power_of_ten(unsigned n)
{
    __int128 power = 1;
    while (n-- > 0)
        power *= 10;
    return power;
}

void hac_source_check_decimals(hac_source *source, const hac_source_column *column)
{
    if (column->type.kind != HAC_KIND_DECIMAL)
        return;
    const __int128 limit = power_of_ten(column->type.precision);
    for (size_t r = 0; r < source->rows; r++) {
        __int128 value = column->repr == HAC_REPR_I128 ? ((const __int128 *)column->values)[r]
                                                       : ((const int64_t *)column->values)[r];
        if ((value >= limit || value <= -limit) && column->states[r] == HAC_ROW_OK)
            hac_source_bad_value(source, r, column, "the value has more than %d digits",
                                 column->type.precision);
    }
}
