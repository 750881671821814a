/* SPDX-License-Identifier: Apache-2.0 */
#include "query/infer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "base/value_text.h"
#include "source_parts.h"

#define HINT "; name the columns and their types with --schema"

/* Integers up to here can also be f64. */
#define F64_WHOLE (INT64_C(1) << 53)

/* A column of decimals: digits before the point, so that a few more fit than were seen, and behind it. */
enum { DECIMAL_DIGITS = 18, SEEN_DIGITS_MAX = 12, SCALE_MIN = 2, SCALE_MAX = 4 };

enum { I64 = 1, F64 = 2, BOOL = 4, DATE = 8, TIMESTAMP = 16, DECIMAL = 32, ALL = 63 };

/* The types that all values of a column so far can have; 0: only strings. */
typedef struct guess {
    unsigned types;
    bool any, finite, zone; /* zone: a value says its own */
    uint8_t scale;          /* digits behind the point of the values that have one; 0: none has */
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
static unsigned real_number(const char *text, size_t bytes, guess *g)
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

/* The types that a value can have. Blanks around values that are not strings are ignored. */
static unsigned types_of(const char *text, size_t bytes, unsigned wanted, guess *g)
{
    while (bytes > 0 && (text[bytes - 1] == ' ' || text[bytes - 1] == '\t'))
        bytes--;
    for (; bytes > 0 && (*text == ' ' || *text == '\t'); bytes--)
        text++;
    if (bytes == 0)
        return 0;
    if ((wanted & (I64 | F64)) != 0 && is_whole(text, bytes)) {
        g->finite = true;
        return whole_number(text, bytes);
    }
    unsigned types = (wanted & F64) != 0 ? real_number(text, bytes, g) : 0;
    if (types == 0 && (wanted & BOOL) != 0 && is_bool(text, bytes))
        types = BOOL;
    if (types == 0 && (wanted & (DATE | TIMESTAMP)) != 0)
        types = time_of(text, bytes, g);
    return types;
}

/* ---- columns ------------------------------------------------------------------------------------------- */

static void look(hac_input_format format, const hac_column *v, size_t row, guess *g)
{
    hac_string_ref ref = ((const hac_string_ref *)v->values)[row];
    const char *text = (const char *)v->bytes + ref.offset;
    unsigned wanted = g->types;
    if (v->states != NULL && v->states[row] != HAC_ROW_OK)
        return;
    if ((format == HAC_INPUT_TSV || format == HAC_INPUT_LOGFMT) && ref.length == 0)
        return;
    /* the byte before a quoted value is its quote; before others it is ':' or a blank */
    if (format == HAC_INPUT_JSONL)
        wanted &= ref.offset > 0 && text[-1] == '"' ? DATE | TIMESTAMP : I64 | F64 | DECIMAL | BOOL;
    g->any = true;
    g->types &= wanted == 0 ? 0 : types_of(text, ref.length, wanted, g);
}

#define TYPE(k) ((hac_value_type){HAC_KIND_##k, 0, 0})

static hac_value_type type_of(const guess *g)
{
    if (!g->any)
        return TYPE(STRING);
    if ((g->types & I64) != 0)
        return TYPE(I64);
    if ((g->types & DECIMAL) != 0)
        return (hac_value_type){HAC_KIND_DECIMAL, DECIMAL_DIGITS, g->scale};
    if ((g->types & F64) != 0)
        return g->finite ? TYPE(F64) : TYPE(STRING);
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
        if (!guesses[i].any || guesses[i].types != 0)
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
            for (size_t r = 0; r < batch.rows && (guesses[c].types != 0 || !guesses[c].any); r++)
                look(query->source.format, &batch.columns[c], r, &guesses[c]);
        }
        rows += batch.rows;
    }
    return status == HAC_NOT_FOUND ? HAC_OK : status;
}

/* Infers the types of n columns, at most HAC_COLUMNS_MAX; positions are indices into the schema. */
static hac_status infer_some(const hac_source_options *options, const hac_source_place *place,
                             uint64_t records, uint16_t *positions, size_t n, hac_schema *schema,
                             hac_error *err)
{
    hac_autofree guess *guesses = malloc(n * sizeof *guesses);
    hac_autofree hac_field *fields = malloc(n * sizeof *fields);
    if (guesses == NULL || fields == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        fields[i] = schema->fields[positions[i]];
        guesses[i] = (guess){.types = ALL};
    }
    const hac_query query = {.source = *options,
                             .columns = {fields, n},
                             .positions = positions,
                             .schema_columns = schema->n_fields};
    hac_status status = look_at_records(&query, place, records, guesses, err);
    for (size_t i = 0; status == HAC_OK && i < n; i++) {
        schema->fields[positions[i]].type = type_of(&guesses[i]);
        schema->fields[positions[i]].only_nulls = !guesses[i].any;
    }
    return status;
}

/* Reads the sample once for each HAC_COLUMNS_MAX columns that can be read; the more columns, the fewer
 * records. */
static hac_status infer_types(const hac_source_options *options, const hac_source_place *place,
                              hac_schema *schema, hac_error *err)
{
    hac_autofree uint16_t *positions = malloc(schema->n_fields * sizeof *positions);
    size_t n = 0;
    hac_status status = HAC_OK;
    if (positions == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < schema->n_fields; i++)
        if (schema->fields[i].type.kind != HAC_KIND_NONE)
            positions[n++] = (uint16_t)i;
    uint64_t records = HAC_INFER_RECORDS / (n / HAC_COLUMNS_MAX + 1);
    for (size_t i = 0; i < n && status == HAC_OK; i += HAC_COLUMNS_MAX)
        status = infer_some(options, place, records, positions + i,
                            n - i < HAC_COLUMNS_MAX ? n - i : HAC_COLUMNS_MAX, schema, err);
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

hac_status hac_infer_schema(const hac_source_options *options, const hac_source_place *place, hac_schema *ret,
                            hac_error *err)
{
    hac_cleanup(clear_schema) hac_schema schema = {0};
    hac_status status = hac_infer_names(options, place, &schema, err);
    if (status == HAC_OK && schema.n_fields > 0)
        status = infer_types(options, place, &schema, err);
    if (status != HAC_OK)
        return status;
    *ret = schema;
    schema = (hac_schema){0};
    return HAC_OK;
}
