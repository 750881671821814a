/* SPDX-License-Identifier: Apache-2.0 */
#include "query/infer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "base/input_options.h"
#include "base/json_value.h"
#include "base/query_layout.h"
#include "base/text_forms.h"
#include "base/utf8.h"
#include "base/value_text.h"
#include "source_parts.h"

#define HINT "; name the columns and their types with --schema"

/* Integers up to here can also be f64. */
#define F64_WHOLE (INT64_C(1) << 53)

/* A column of decimals: digits before the point, so that a few more fit than were seen, and behind it. */
enum { DECIMAL_DIGITS = 18, SEEN_DIGITS_MAX = 12, SCALE_MIN = 2, SCALE_MAX = 4 };

enum { I64 = 1, F64 = 2, BOOL = 4, DATE = 8, TIMESTAMP = 16, DECIMAL = 32, ALL = 63 };

enum { NUMBERS = I64 | F64 | DECIMAL, TIMES = DATE | TIMESTAMP };
enum { POINT = 0, COMMA = 1, DMY = 1, MDY = 2 };

typedef struct number_guess {
    unsigned types;
    bool finite;
    uint8_t scale; /* digits behind the point of the values that have one; 0: none has */
} number_guess;

/* What the values of a column are if numbers have one decimal sign. */
typedef struct sign_guess {
    number_guess number;
    hac_thousands thousands; /* the separator that values have */
    bool sure;               /* a value has the sign, or so many separators that they can be nothing else */
    bool seen;               /* a value has a comma or an apostrophe */
    bool grouped;            /* a value has two separators of thousands or more, or spaces */
} sign_guess;

/* What the values of a column are if they are written in another form (base/text_forms.h). */
typedef struct form_guess {
    bool begun, over;   /* over: no other form is possible, or the values tell no more */
    sign_guess with[2]; /* a decimal point, a decimal comma */
    unsigned times;     /* DATE | TIMESTAMP */
    uint8_t orders;     /* DMY | MDY */
    char separator;     /* of dates with the year at the end; 0: there are none so far */
} form_guess;

enum { ODD_KINDS = 4, ODD_LOOKS = 1000 /* values that are looked at once the column is text */ };

typedef struct odd_one {
    hac_odd_kind is; /* what the value alone would be */
    hac_odd_value value;
} odd_one;

/* What each value of a column alone would be, to find those for which the column is text. */
typedef struct odd_count {
    uint32_t values, of[ODD_KINDS];
    uint32_t as_text; /* values since the column is text, with the one that made it so */
    bool codes;       /* some are digits with zeros in front: the column is meant as text */
    odd_one first;    /* the first value of the column */
    odd_one misfit;   /* the value that made the column text; while it is i64, the first one beyond 2^53 */
} odd_count;

/* The types that all values of a column so far can have; 0: only strings. */
typedef struct guess {
    unsigned types;
    bool any, zone; /* zone: a value says its own */
    bool no_list;   /* of a column of arrays, whose elements the values are: some value is none */
    bool wide;      /* an integer is no f64 */
    number_guess number;
    form_guess form;
    odd_count odd;
} guess;

/* ---- one value ----------------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits with an optional minus, such that the integer is printed the same way. */
static bool is_whole(const char *text, size_t bytes)
{
    size_t at = bytes > 0 && text[0] == '-';
    if (at == bytes || (text[at] == '0' && bytes > 1))
        return false;
    while (at < bytes && is_digit(text[at]))
        at++;
    return at == bytes;
}

static unsigned whole_number(const char *text, size_t bytes)
{
    int64_t value;
    if (hac_parse_i64(text, bytes, &value) != HAC_TEXT_OK)
        return 0;
    return value >= -F64_WHOLE && value <= F64_WHOLE ? I64 | F64 : I64;
}

/* The digits behind the point of a number like -12.50; 0: it is written otherwise, or has many digits. */
static uint8_t scale_of(const char *text, size_t bytes)
{
    size_t at = text[0] == '-', digits = at, end;
    while (at < bytes && is_digit(text[at]))
        at++;
    if (at == digits || at - digits > SEEN_DIGITS_MAX || at == bytes || text[at] != '.')
        return 0;
    for (end = ++at; end < bytes && is_digit(text[end]);)
        end++;
    return end == bytes && end - at >= SCALE_MIN && end - at <= SCALE_MAX ? (uint8_t)(end - at) : 0;
}

/* A number with a point or an exponent, or inf or nan; not 007.5 or +1.5. */
static unsigned real_number(const char *text, size_t bytes, number_guess *g)
{
    double value;
    size_t sign = bytes > 0 && text[0] == '-';
    bool zeros = bytes > sign + 1 && text[sign] == '0' && is_digit(text[sign + 1]);
    if (bytes == 0 || text[0] == '+' || zeros || hac_parse_f64(text, bytes, &value) != HAC_TEXT_OK)
        return 0;
    g->finite = g->finite || isfinite(value);
    uint8_t scale = value == 0 && signbit(value) ? 0 : scale_of(text, bytes);
    bool same = scale > 0 && (g->scale == 0 || g->scale == scale);
    g->scale = scale;
    return same ? F64 | DECIMAL : F64;
}

static unsigned number_of(const char *text, size_t bytes, unsigned wanted, number_guess *g)
{
    if (is_whole(text, bytes)) {
        g->finite = true;
        return whole_number(text, bytes);
    }
    return (wanted & F64) != 0 ? real_number(text, bytes, g) : 0;
}

static bool is_bool(const char *text, size_t bytes)
{
    return (bytes == 4 && strncasecmp(text, "true", 4) == 0) ||
           (bytes == 5 && strncasecmp(text, "false", 5) == 0);
}

static unsigned time_of(const char *text, size_t bytes, guess *g)
{
    int32_t days;
    int64_t microseconds;
    if (bytes < 8 || !is_digit(text[0]))
        return 0;
    if (hac_parse_date(text, bytes, &days) == HAC_TEXT_OK)
        return DATE | TIMESTAMP;
    if (hac_parse_timestamp(text, bytes, &microseconds) != HAC_TEXT_OK)
        return 0;
    g->zone = g->zone || hac_timestamp_says_zone(text, bytes);
    return TIMESTAMP;
}

/* The types that a value can have. */
static unsigned types_of(const char *text, size_t bytes, unsigned wanted, guess *g)
{
    if (bytes == 0)
        return 0;
    unsigned types = (wanted & (I64 | F64)) != 0 ? number_of(text, bytes, wanted, &g->number) : 0;
    if (types == 0 && (wanted & BOOL) != 0 && is_bool(text, bytes))
        types = BOOL;
    if (types == 0 && (wanted & (DATE | TIMESTAMP)) != 0)
        types = time_of(text, bytes, g);
    return types;
}

/* ---- other forms of numbers and dates ---- */

/* 192.168.100.200 */
static bool is_address(const char *text, size_t bytes)
{
    unsigned points = 0, part = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] != '.' && !is_digit(text[i]))
            return false;
        points += text[i] == '.';
        part = text[i] == '.' ? 0 : part * 10 + (unsigned)(text[i] - '0');
        if (part > UINT8_MAX)
            return false;
    }
    return points == 3;
}

/* `alone`: a number with the sign and without separators cannot be anything else. Among commas, "1,2" in
 * quotes may be a list. */
static void look_at_sign(const char *text, size_t bytes, hac_decimal_sign sign, bool alone, sign_guess *g)
{
    char plain[HAC_FORM_TEXT_MAX];
    hac_number_form form;
    if (g->number.types == 0)
        return;
    size_t n = hac_number_form_of(text, bytes, sign, &form, plain);
    bool one = g->thousands == HAC_THOUSANDS_NONE || form.thousands == HAC_THOUSANDS_NONE ||
               g->thousands == form.thousands;
    g->number.types &= n > 0 && one && !is_address(text, bytes) ? number_of(plain, n, ALL, &g->number) : 0;
    if (form.thousands != HAC_THOUSANDS_NONE)
        g->thousands = form.thousands;
    /* 12.345.678 and 555 123 456 may be no numbers */
    bool only_numbers = form.thousands == HAC_THOUSANDS_COMMA || form.thousands == HAC_THOUSANDS_APOSTROPHE;
    bool has_sign = form.fraction && memchr(text, sign == HAC_DECIMAL_COMMA ? ',' : '.', bytes) != NULL;
    g->sure |=
        (has_sign && (alone || form.thousands != HAC_THOUSANDS_NONE)) || (form.several && only_numbers);
    g->seen |= only_numbers || (has_sign && sign == HAC_DECIMAL_COMMA);
    g->grouped |= form.several || form.thousands == HAC_THOUSANDS_SPACE;
}

static unsigned time_of_order(const char *text, size_t bytes, hac_date_order order, guess *g)
{
    char plain[HAC_FORM_TEXT_MAX];
    size_t n = hac_plain_date(text, bytes, order, plain);
    return n > 0 ? time_of(plain, n, g) : 0;
}

static void look_at_order(const char *text, size_t bytes, guess *g)
{
    form_guess *f = &g->form;
    char separator = hac_date_separator(text, bytes);
    if (separator == '\0') {
        unsigned times = time_of(text, bytes, g);
        f->times &= times != 0 ? times : time_of_order(text, bytes, HAC_DATES_YMD, g);
        return;
    }
    unsigned dmy = (f->orders & DMY) != 0 ? time_of_order(text, bytes, HAC_DATES_DMY, g) : 0;
    unsigned mdy = (f->orders & MDY) != 0 ? time_of_order(text, bytes, HAC_DATES_MDY, g) : 0;
    f->orders = (uint8_t)((dmy != 0 ? DMY : 0) | (mdy != 0 ? MDY : 0));
    f->times &= f->separator == '\0' || f->separator == separator ? dmy | mdy : 0;
    f->separator = separator;
}

/* `before`: the types that the values before this one can have, which are written in the usual form. */
static void look_at_forms(const hac_source_options *options, const char *text, size_t bytes, unsigned before,
                          guess *g)
{
    form_guess *f = &g->form;
    if ((g->types & (I64 | TIMES)) != 0)
        return; /* whole numbers, and dates with the year in front, are written in one way */
    if (!f->begun) {
        bool numbers = (hac_input_option_rows[HAC_INPUT_OPTION_DECIMAL].formats >> options->format & 1) != 0;
        for (size_t i = 0; i < 2; i++)
            f->with[i] = (sign_guess){.number = {numbers ? before & NUMBERS : 0, g->number.finite, 0},
                                      .thousands = HAC_THOUSANDS_NONE};
        f->times = before & TIMES;
        f->orders = DMY | MDY;
        f->begun = true;
    }
    bool commas = options->format == HAC_INPUT_CSV &&
                  hac_format_delimiter(options->format, options->options.delimiter) == ',';
    look_at_sign(text, bytes, HAC_DECIMAL_POINT, true, &f->with[POINT]);
    look_at_sign(text, bytes, HAC_DECIMAL_COMMA, !commas, &f->with[COMMA]);
    if (f->times != 0)
        look_at_order(text, bytes, g);
    bool numbers = f->with[COMMA].number.types != 0 || f->with[POINT].number.types != 0;
    f->over = !numbers && (f->times == 0 || g->types != 0);
}

/* ---- why a column is text ------------------------------------------------------------------------------ */

/* A value as the format has it, without blanks around it. */
typedef struct found_value {
    const char *text;
    size_t bytes;
    bool bare; /* the field has no quotes and no blanks around the value */
} found_value;

static void set_odd_one(const found_value *v, hac_odd_kind is, odd_one *ret)
{
    char copy[sizeof ret->value.text];
    size_t n = v->bytes < sizeof copy - 1 ? v->bytes : sizeof copy - 1;
    memcpy(copy, v->text, n);
    copy[n] = '\0';
    ret->is = is;
    hac_utf8_copy_line(ret->value.text, sizeof ret->value.text, copy);
    ret->value.word = v->bare && n > 0 && n == v->bytes && strpbrk(copy, ",'\"\\") == NULL &&
                      strlen(copy) == n && strcmp(copy, ret->value.text) == 0;
}

/* 007 is a code, not a number. */
static bool is_code(const char *text, size_t bytes)
{
    size_t digits = 0;
    while (digits < bytes && is_digit(text[digits]))
        digits++;
    return bytes > 1 && digits == bytes && text[0] == '0';
}

/* Finds the value for which the column is text. That is the one that made it text, unless most values are of
 * its kind: then it is the first one (NA, 1, 2). If both are of that kind, as 9007199254740993 and 1.5 are,
 * it is the longer one. */
static hac_odd_value find_odd_value(const odd_count *c)
{
    unsigned most = HAC_ODD_NUMBERS;
    for (unsigned kind = HAC_ODD_NUMBERS; kind < ODD_KINDS; kind++)
        most = c->of[kind] > c->of[most] ? kind : most;
    bool first = c->first.is != most ||
                 (c->misfit.is == most && strlen(c->first.value.text) > strlen(c->misfit.value.text));
    hac_odd_value ret = first ? c->first.value : c->misfit.value;
    ret.among = (uint8_t)(2 * (uint64_t)c->of[most] >= c->values ? most : HAC_ODD_NONE);
    return c->codes || c->as_text == 0 ? (hac_odd_value){0} : ret;
}

static hac_odd_kind kind_of_types(unsigned types)
{
    return (types & NUMBERS) != 0 ? HAC_ODD_NUMBERS
           : (types & BOOL) != 0  ? HAC_ODD_BOOLS
           : (types & TIMES) != 0 ? HAC_ODD_TIMES
                                  : HAC_ODD_NONE;
}

/* What the value alone would be. `possible`: the types that it can have in its format. */
static hac_odd_kind kind_of_value(const found_value *v, unsigned possible)
{
    guess alone = {.types = ALL};
    hac_odd_kind kind = kind_of_types(types_of(v->text, v->bytes, possible, &alone));
    bool date = (possible & TIMES) != 0 && hac_date_separator(v->text, v->bytes) != '\0';
    return kind == HAC_ODD_NONE && date ? HAC_ODD_TIMES : kind;
}

/* Counts a value of a column that is text. `before`: the types of the values before it. */
static void count_text(const found_value *v, hac_odd_kind is, unsigned before, odd_count *c)
{
    if (c->as_text++ == 0) { /* all values before it are of one kind */
        c->of[kind_of_types(before)] += c->values;
        set_odd_one(v, is, &c->misfit);
    }
    if (c->values++ == 0)
        set_odd_one(v, is, &c->first);
    c->of[is]++;
    c->codes |= is_code(v->text, v->bytes);
}

static void count_odd(const found_value *v, unsigned before, unsigned possible, guess *g)
{
    odd_count *c = &g->odd;
    if (g->types == 0 && c->as_text < ODD_LOOKS)
        count_text(v, kind_of_value(v, possible), before, c);
    if (g->types != 0 && c->values++ == 0)
        set_odd_one(v, kind_of_types(g->types), &c->first);
    if (g->types == I64 && !g->wide)
        set_odd_one(v, HAC_ODD_NUMBERS, &c->misfit);
    g->wide |= g->types == I64;
}

/* ---- columns ------------------------------------------------------------------------------------------- */

/* `quoted`: the text is in quotes. */
static void look_at(const hac_source_options *options, const char *text, size_t bytes, bool quoted, guess *g)
{
    const size_t whole = bytes;
    unsigned before = g->types, possible = ALL;
    if (options->format == HAC_INPUT_JSONL)
        possible = quoted ? TIMES : NUMBERS | BOOL;
    unsigned wanted = before & possible;
    /* blanks around values that are not strings are ignored */
    while (bytes > 0 && (text[bytes - 1] == ' ' || text[bytes - 1] == '\t'))
        bytes--;
    for (; bytes > 0 && (*text == ' ' || *text == '\t'); bytes--)
        text++;
    g->any = true;
    g->types &= wanted == 0 ? 0 : types_of(text, bytes, wanted, g);
    const found_value value = {text, bytes, !quoted && bytes == whole};
    count_odd(&value, before, possible, g);
    if (!g->form.over)
        look_at_forms(options, text, bytes, before, g);
}

static void look(const hac_source_options *options, const hac_column *v, size_t row, guess *g)
{
    const hac_input_format format = options->format;
    hac_string_ref ref = ((const hac_string_ref *)v->values)[row];
    const char *text = (const char *)v->bytes + ref.offset;
    if (v->states != NULL && v->states[row] != HAC_ROW_OK)
        return;
    if ((format == HAC_INPUT_TSV || format == HAC_INPUT_LOGFMT) && ref.length == 0)
        return;
    /* the byte before a quoted value is its quote; before others it is a delimiter, ':' or a blank */
    look_at(options, text, ref.length, ref.offset > 0 && text[-1] == '"', g);
}

/* Looks at the elements of an array, as if each was a value of the column. */
static void look_at_elements(const hac_source_options *options, const hac_column *v, size_t row, guess *g)
{
    enum { ENOUGH = 1024 };
    hac_string_ref ref = ((const hac_string_ref *)v->values)[row];
    hac_json_value array, name, element;
    if (v->states != NULL && v->states[row] != HAC_ROW_OK)
        return;
    if (!hac_json_read(v->bytes + ref.offset, ref.length, &array) || array.kind != HAC_JSON_ARRAY) {
        g->no_list = true;
        return;
    }
    hac_json_items items = hac_json_items_of(&array);
    for (size_t i = 0; i < ENOUGH && hac_json_next(&items, &name, &element); i++) {
        const char *text = (const char *)element.at;
        if (element.kind == HAC_JSON_STRING)
            look_at(options, text + 1, element.bytes - 2, true, g);
        else if (element.kind != HAC_JSON_NULL)
            look_at(options, text, element.bytes, false, g);
    }
}

/* Whether nothing more can be learnt about a column. */
static bool is_settled(const guess *g)
{
    return g->any && g->types == 0 && g->form.over && g->odd.as_text >= ODD_LOOKS;
}

#define TYPE(k) ((hac_value_type){HAC_KIND_##k, 0, 0})

static hac_value_type type_of(const guess *g)
{
    if (!g->any)
        return TYPE(STRING);
    if ((g->types & I64) != 0)
        return TYPE(I64);
    if ((g->types & DECIMAL) != 0)
        return (hac_value_type){HAC_KIND_DECIMAL, DECIMAL_DIGITS, g->number.scale};
    if ((g->types & F64) != 0)
        return g->number.finite ? TYPE(F64) : TYPE(STRING);
    if ((g->types & BOOL) != 0)
        return TYPE(BOOL);
    if ((g->types & DATE) != 0)
        return TYPE(DATE);
    if ((g->types & TIMESTAMP) != 0)
        return g->zone ? HAC_TIMESTAMPTZ : TYPE(TIMESTAMP);
    return TYPE(STRING);
}

static bool all_strings(const guess *guesses, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_settled(&guesses[i]))
            return false;
    return true;
}

HAC_DEFINE_CLEANUP(hac_source *, hac_source_free)

/* Reads records with all columns as strings. */
static hac_status look_at_records(const hac_query *query, const hac_source_place *place, uint64_t records,
                                  guess *guesses, hac_error *err)
{
    hac_cleanup(hac_source_free_cleanup) hac_source *source = NULL;
    hac_batch batch;
    size_t n = query->columns.n_fields;
    hac_status status = hac_source_open(query, place, NULL, &source, err);
    if (status == HAC_OK)
        status = hac_source_begin(source, 0, place->bytes, false, err);
    for (size_t rows = 0; status == HAC_OK && rows < records && !all_strings(guesses, n);) {
        status = hac_source_next(source, &batch, err);
        if (status != HAC_OK)
            break;
        for (size_t c = 0; c < n; c++) {
            guess *g = &guesses[c];
            for (size_t r = 0; r < batch.rows && !is_settled(g); r++)
                (query->columns.fields[c].arrays ? look_at_elements : look)(&query->source, &batch.columns[c],
                                                                            r, g);
        }
        rows += batch.rows;
    }
    return status == HAC_NOT_FOUND ? HAC_OK : status;
}

/* Looks at the values of n columns, at most HAC_COLUMNS_MAX; positions are indices into the schema. */
static hac_status look_at_some(const hac_source_options *options, const hac_source_place *place,
                               uint64_t records, uint16_t *positions, size_t n, const hac_schema *schema,
                               guess *guesses, hac_error *err)
{
    hac_autofree hac_field *fields = malloc(n * sizeof *fields);
    if (fields == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++)
        fields[i] = schema->fields[positions[i]];
    const hac_query query = {.source = *options,
                             .columns = {fields, n},
                             .positions = positions,
                             .schema_columns = schema->n_fields};
    return look_at_records(&query, place, records, guesses, err);
}

/* ---- what form the input has ----
 * Numbers and dates of one input are written in one form. It is found where a column can be read in one way
 * only, and no other column contradicts it. Then it is that of the columns that alone would leave it open. */

/* A value that has no form came after all other values were written in the usual one. */
static bool has_form(const guess *g)
{
    return g->form.begun && !(g->form.over && g->types == 0);
}

static bool is_sure(const guess *g, unsigned sign)
{
    const form_guess *f = &g->form;
    return has_form(g) && f->with[sign].number.types != 0 && f->with[sign].sure &&
           f->with[1 - sign].number.types == 0;
}

static void find_decimal(const guess *guesses, size_t n, hac_input_options *ret)
{
    bool sure[2] = {false, false};
    for (size_t i = 0; i < n; i++)
        for (unsigned sign = 0; sign < 2; sign++)
            sure[sign] |= is_sure(&guesses[i], sign);
    if (sure[COMMA] && !sure[POINT])
        ret->decimal = HAC_DECIMAL_COMMA;
}

/* `told`: the decimal sign is an option, so that a comma that it is not is a separator. */
static void find_thousands(const guess *guesses, size_t n, bool told, hac_input_options *ret)
{
    unsigned sign = ret->decimal == HAC_DECIMAL_COMMA ? COMMA : POINT;
    hac_thousands found = HAC_THOUSANDS_NONE;
    for (size_t i = 0; i < n; i++) {
        const sign_guess *with = &guesses[i].form.with[sign];
        if (!has_form(&guesses[i]) || with->number.types == 0 || with->thousands == HAC_THOUSANDS_NONE ||
            !(told ? sign == COMMA || with->sure || with->seen || with->grouped : is_sure(&guesses[i], sign)))
            continue;
        if (found != HAC_THOUSANDS_NONE && found != with->thousands)
            return; /* columns contradict each other */
        found = with->thousands;
    }
    if (found != HAC_THOUSANDS_NONE)
        ret->thousands = (uint8_t)found;
}

static unsigned date_bit(char separator)
{
    return separator == '.'   ? HAC_SEPARATOR_DATE_POINT
           : separator == '/' ? HAC_SEPARATOR_DATE_SLASH
           : separator == '-' ? HAC_SEPARATOR_DATE_DASH
                              : 0;
}

/* Finds the order of dates. Returns the separators with which it was found. */
static unsigned find_dates(const guess *guesses, size_t n, hac_input_options *options)
{
    unsigned orders = 0, separators = 0;
    for (size_t i = 0; i < n; i++) {
        const form_guess *f = &guesses[i].form;
        if (!has_form(&guesses[i]) || f->times == 0 || f->separator == '\0' || f->orders == (DMY | MDY))
            continue;
        orders |= f->orders;
        separators |= date_bit(f->separator);
    }
    if (orders == DMY || orders == MDY)
        options->dates = orders == DMY ? HAC_DATES_DMY : HAC_DATES_MDY;
    return separators;
}

/* HAC_SEPARATOR_…: what stands between the parts of the column's numbers or dates, whichever form they
 * have. */
static unsigned separators_of(const guess *g)
{
    static const uint8_t bits[] = {[HAC_THOUSANDS_COMMA] = HAC_SEPARATOR_COMMA,
                                   [HAC_THOUSANDS_POINT] = HAC_SEPARATOR_POINT,
                                   [HAC_THOUSANDS_SPACE] = HAC_SEPARATOR_SPACE,
                                   [HAC_THOUSANDS_APOSTROPHE] = HAC_SEPARATOR_APOSTROPHE};
    const form_guess *f = &g->form;
    if (!has_form(g))
        return 0;
    unsigned ret = f->times != 0 ? date_bit(f->separator) : 0;
    for (unsigned sign = 0; sign < 2; sign++)
        ret |= f->with[sign].number.types != 0 ? bits[f->with[sign].thousands] : 0;
    return ret;
}

/* Takes the types of numbers with the input's decimal sign and separator. */
static void settle_numbers(const hac_input_options *options, guess *g, uint8_t *ret_forms)
{
    const form_guess *f = &g->form;
    bool comma = options->decimal == HAC_DECIMAL_COMMA;
    const sign_guess *with = &f->with[comma ? COMMA : POINT];
    bool plain = g->types != 0,
         fits = with->thousands == HAC_THOUSANDS_NONE || with->thousands == options->thousands;
    if (!has_form(g) || (plain && !(comma && (g->types & NUMBERS) != 0)))
        return;
    g->types = fits ? with->number.types : 0;
    g->number = with->number;
    if (g->types != 0)
        *ret_forms = HAC_FORM_FOUND;
    else if (plain || f->with[POINT].seen || f->with[COMMA].seen || f->with[POINT].grouped ||
             f->with[COMMA].grouped)
        *ret_forms = (uint8_t)((!comma && f->with[COMMA].number.types != 0 ? HAC_FORM_DECIMAL_COMMA : 0) |
                               (with->number.types != 0 ? HAC_FORM_THOUSANDS : 0));
}

/* `separators`: of the dates that have the input's order. */
static void settle_dates(const hac_input_options *options, unsigned separators, guess *g, uint8_t *ret_forms)
{
    const form_guess *f = &g->form;
    unsigned order = options->dates == HAC_DATES_DMY ? DMY : options->dates == HAC_DATES_MDY ? MDY : 0;
    if (g->types != 0 || !has_form(g) || f->times == 0)
        return;
    if (f->separator == '\0' || ((f->orders & order) != 0 && (separators & date_bit(f->separator)) != 0)) {
        g->types = f->times;
        *ret_forms = f->separator != '\0' ? HAC_FORM_FOUND : 0;
    } else {
        *ret_forms = HAC_FORM_DATES;
    }
}

/* Sets what is known about a column beside its type. `told`: the decimal sign is an option. */
static void set_facts(const guess *found, const guess *settled, bool told, hac_field *field)
{
    field->only_nulls = !found->any;
    field->wide = field->type.kind == HAC_KIND_I64 && found->wide;
    if (field->wide) {
        field->odd = found->odd.misfit.value;
        field->odd.among = HAC_ODD_NUMBERS;
    }
    bool shows = settled->types != 0 || !told;
    field->point = shows && is_sure(found, POINT);
    field->comma = shows && is_sure(found, COMMA);
    field->infinite = found->any && field->type.kind == HAC_KIND_STRING && (settled->types & F64) != 0;
    field->separators = (uint8_t)separators_of(found);
    if (field->type.kind == HAC_KIND_STRING && found->any && (field->forms & ~(unsigned)HAC_FORM_FOUND) == 0)
        field->odd = find_odd_value(&found->odd);
}

/* The type of a column of arrays is that of their elements, until here. */
static void set_elements(const guess *g, hac_field *field)
{
    if (!g->no_list)
        field->nested = (hac_nested){.kind = HAC_NESTED_LIST, .element = field->type};
    field->type = TYPE(STRING);
    field->forms = 0;
}

/* Sets the types of the columns at `positions`. `detect`: HAC_DETECT_FORMS also for the options that say how
 * numbers and dates are written, where they are not told. */
static void settle(const guess *guesses, const uint16_t *positions, size_t n, unsigned detect,
                   hac_input_options *options, hac_schema *schema)
{
    bool find = (detect & HAC_DETECT_FORMS) != 0, told = options->decimal != HAC_DECIMAL_AUTO;
    if (find && !told)
        find_decimal(guesses, n, options);
    if (find && options->thousands == HAC_THOUSANDS_AUTO)
        find_thousands(guesses, n, told, options);
    unsigned separators = detect >> HAC_DETECT_SEPARATORS & HAC_SEPARATORS_OF_DATES;
    if (find && options->dates == HAC_DATES_AUTO)
        separators = find_dates(guesses, n, options);
    else if (separators == 0)
        separators = HAC_SEPARATORS_OF_DATES;
    for (size_t i = 0; i < n; i++) {
        guess g = guesses[i];
        hac_field *field = &schema->fields[positions[i]];
        settle_numbers(options, &g, &field->forms);
        settle_dates(options, separators, &g, &field->forms);
        field->type = type_of(&g);
        if (field->arrays)
            set_elements(&g, field);
        else
            set_facts(&guesses[i], &g, told, field);
    }
}

/* Reads the sample once for each HAC_COLUMNS_MAX columns that can be read; the more columns, the fewer
 * records. */
static hac_status infer_types(hac_source_options *options, unsigned detect, const hac_source_place *place,
                              hac_schema *schema, hac_error *err)
{
    hac_autofree uint16_t *positions = malloc(schema->n_fields * sizeof *positions);
    hac_autofree guess *guesses = calloc(schema->n_fields, sizeof *guesses);
    size_t n = 0;
    hac_status status = HAC_OK;
    if (positions == NULL || guesses == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < schema->n_fields; i++) {
        guesses[i].types = ALL;
        if (schema->fields[i].type.kind != HAC_KIND_NONE)
            positions[n++] = (uint16_t)i;
    }
    uint64_t records = HAC_INFER_RECORDS / (n / HAC_COLUMNS_MAX + 1);
    for (size_t i = 0; i < n && status == HAC_OK; i += HAC_COLUMNS_MAX)
        status = look_at_some(options, place, records, positions + i,
                              n - i < HAC_COLUMNS_MAX ? n - i : HAC_COLUMNS_MAX, schema, guesses + i, err);
    if (status == HAC_OK)
        settle(guesses, positions, n, detect, &options->options, schema);
    return status;
}

/* ---- names --------------------------------------------------------------------------------------------- */

hac_status hac_infer_names(const hac_source_options *options, const hac_source_place *place, hac_schema *ret,
                           hac_error *err)
{
    if (options->format == HAC_INPUT_JSONL)
        return hac_jsonl_names(options, place, HAC_INFER_RECORDS, ret, err);
    if (options->format == HAC_INPUT_LOGFMT)
        return hac_logfmt_names(options, place, HAC_INFER_RECORDS, ret, err);
    if (!hac_formats[options->format].header)
        return hac_fail(err, HAC_INVALID, "only csv, tsv, jsonl and logfmt say what their columns are" HINT);
    hac_status status = hac_source_header(options, place, ret, err);
    if (status != HAC_OK)
        return !options->options.no_header || place->bytes > 0
                   ? status
                   : hac_fail(err, HAC_FAILED, "the input has no first record to infer columns from" HINT);
    for (size_t i = 0; options->options.no_header && i < ret->n_fields; i++) {
        snprintf(ret->fields[i].name, sizeof ret->fields[i].name, "c%zu", i + 1);
        ret->fields[i].made = false;
    }
    return HAC_OK;
}

static void clear_schema(hac_schema *schema)
{
    hac_schema_clear(schema);
}

hac_status hac_infer_forms(hac_source_options *options, unsigned detect, const hac_source_place *place,
                           hac_schema *ret, hac_error *err)
{
    hac_cleanup(clear_schema) hac_schema schema = {0};
    hac_status status = hac_infer_names(options, place, &schema, err);
    if (status == HAC_OK && schema.n_fields > 0)
        status = infer_types(options, detect, place, &schema, err);
    if (status != HAC_OK)
        return status;
    *ret = schema;
    schema = (hac_schema){0};
    return HAC_OK;
}

hac_status hac_infer_schema(const hac_source_options *options, const hac_source_place *place, hac_schema *ret,
                            hac_error *err)
{
    hac_source_options own = *options;
    return hac_infer_forms(&own, 0, place, ret, err);
}
