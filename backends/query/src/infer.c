/* SPDX-License-Identifier: Apache-2.0 */
#include "query/infer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/value_text.h"
#include "source_parts.h"

#define HINT "; name the columns and their types with --schema"

/* Whole numbers up to here are f64s, too. */
#define F64_WHOLE (INT64_C(1) << 53)

enum { I64 = 1, F64 = 2, BOOL = 4, DATE = 8, TIMESTAMP = 16, ALL = 31 };

/* What the values of a column so far may be; 0: strings only. */
typedef struct guess {
    unsigned types;
    bool any, finite;
} guess;

/* ---- one value ----------------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits, perhaps with a minus, that are printed the same again. */
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

/* With a point or an exponent, or inf and nan; not 007.5 nor +1.5. */
static unsigned real_number(const char *text, size_t bytes, bool *finite)
{
    double value;
    size_t sign = bytes > 0 && text[0] == '-';
    bool zeros = bytes > sign + 1 && text[sign] == '0' && is_digit(text[sign + 1]);
    if (bytes == 0 || text[0] == '+' || zeros || hac_parse_f64(text, bytes, &value) != HAC_TEXT_OK)
        return 0;
    *finite = *finite || isfinite(value);
    return F64;
}

static bool is_bool(const char *text, size_t bytes)
{
    return (bytes == 4 && strncasecmp(text, "true", 4) == 0) ||
           (bytes == 5 && strncasecmp(text, "false", 5) == 0);
}

static unsigned time_of(const char *text, size_t bytes)
{
    int32_t days;
    int64_t microseconds;
    if (bytes < 8 || !is_digit(text[0]))
        return 0;
    if (hac_parse_date(text, bytes, &days) == HAC_TEXT_OK)
        return DATE | TIMESTAMP;
    return hac_parse_timestamp(text, bytes, &microseconds) == HAC_TEXT_OK ? TIMESTAMP : 0;
}

/* The types that a value may have. Blanks around those that are no strings do not count. */
static unsigned types_of(const char *text, size_t bytes, unsigned wanted, bool *finite)
{
    while (bytes > 0 && (text[bytes - 1] == ' ' || text[bytes - 1] == '\t'))
        bytes--;
    for (; bytes > 0 && (*text == ' ' || *text == '\t'); bytes--)
        text++;
    if (bytes == 0)
        return 0;
    if ((wanted & (I64 | F64)) != 0 && is_whole(text, bytes)) {
        *finite = true;
        return whole_number(text, bytes);
    }
    unsigned types = (wanted & F64) != 0 ? real_number(text, bytes, finite) : 0;
    if (types == 0 && (wanted & BOOL) != 0 && is_bool(text, bytes))
        types = BOOL;
    if (types == 0 && (wanted & (DATE | TIMESTAMP)) != 0)
        types = time_of(text, bytes);
    return types;
}

/* ---- columns ------------------------------------------------------------------------------------------- */

static void look(hac_format format, const hac_vector *v, size_t row, guess *g)
{
    hac_string_ref ref = ((const hac_string_ref *)v->values)[row];
    const char *text = (const char *)v->bytes + ref.offset;
    unsigned wanted = g->types;
    if (v->states != NULL && v->states[row] != HAC_ROW_OK)
        return;
    if (format == HAC_FORMAT_TSV && ref.length == 0)
        return;
    if (format == HAC_FORMAT_JSONL) /* a value stands behind its quote, or behind a ':' or a blank */
        wanted &= ref.offset > 0 && text[-1] == '"' ? DATE | TIMESTAMP : I64 | F64 | BOOL;
    g->any = true;
    g->types &= wanted == 0 ? 0 : types_of(text, ref.length, wanted, &g->finite);
}

static hac_kind kind_of(const guess *g)
{
    if (!g->any)
        return HAC_KIND_STRING;
    if ((g->types & I64) != 0)
        return HAC_KIND_I64;
    if ((g->types & F64) != 0)
        return g->finite ? HAC_KIND_F64 : HAC_KIND_STRING;
    if ((g->types & BOOL) != 0)
        return HAC_KIND_BOOL;
    if ((g->types & DATE) != 0)
        return HAC_KIND_DATE;
    return (g->types & TIMESTAMP) != 0 ? HAC_KIND_TIMESTAMP : HAC_KIND_STRING;
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
static hac_status look_at_records(const hac_query *query, const hac_source_place *place, guess *guesses,
                                  hac_error *err)
{
    hac_cleanup(hac_source_free_cleanup) hac_source *source = NULL;
    hac_batch batch;
    size_t n = query->columns.n_fields;
    hac_status status = hac_source_open(query, place, NULL, &source, err);
    if (status == HAC_OK)
        status = hac_source_begin(source, 0, place->bytes, false, err);
    for (size_t rows = 0; status == HAC_OK && rows < HAC_INFER_RECORDS && !all_strings(guesses, n);) {
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

static hac_status infer_types(const hac_source_options *options, const hac_source_place *place,
                              hac_schema *schema, hac_error *err)
{
    hac_autofree uint16_t *positions = malloc(schema->n_fields * sizeof *positions);
    hac_autofree guess *guesses = malloc(schema->n_fields * sizeof *guesses);
    if (positions == NULL || guesses == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < schema->n_fields; i++) {
        positions[i] = (uint16_t)i;
        guesses[i] = (guess){.types = ALL};
    }
    const hac_query query = {
        .source = *options, .columns = *schema, .positions = positions, .schema_columns = schema->n_fields};
    hac_status status = look_at_records(&query, place, guesses, err);
    for (size_t i = 0; status == HAC_OK && i < schema->n_fields; i++)
        schema->fields[i].type.kind = (uint8_t)kind_of(&guesses[i]);
    return status;
}

/* ---- names --------------------------------------------------------------------------------------------- */

static hac_status check_names(const hac_schema *schema, hac_error *err)
{
    if (schema->n_fields > HAC_FIELDS_MAX)
        return hac_fail(err, HAC_INVALID, "there are %zu columns; up to %d can be read" HINT,
                        schema->n_fields, HAC_FIELDS_MAX);
    for (size_t i = 0; i < schema->n_fields; i++) {
        const char *name = schema->fields[i].name;
        if (name[0] == '\0')
            return hac_fail(err, HAC_INVALID, "column %zu has no name in the header" HINT, i + 1);
        if (hac_schema_find(schema, name, strlen(name)) != (int)i)
            return hac_fail(err, HAC_INVALID,
                            "the header names two columns '%s'; rename one, or leave them out of --schema",
                            name);
    }
    return HAC_OK;
}

static hac_status find_names(const hac_source_options *options, const hac_source_place *place,
                             hac_schema *ret, hac_error *err)
{
    if (options->format == HAC_FORMAT_JSONL)
        return hac_jsonl_names(options, place, HAC_INFER_RECORDS, ret, err);
    if (options->format != HAC_FORMAT_CSV && options->format != HAC_FORMAT_TSV)
        return hac_fail(err, HAC_INVALID, "only csv, tsv and jsonl say what their columns are" HINT);
    hac_status status = hac_source_header(options, place, ret, err);
    if (status != HAC_OK)
        return options->header || place->bytes > 0
                   ? status
                   : hac_fail(err, HAC_FAILED, "the input has no first record to infer columns from" HINT);
    for (size_t i = 0; !options->header && i < ret->n_fields; i++)
        snprintf(ret->fields[i].name, sizeof ret->fields[i].name, "c%zu", i + 1);
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
    hac_status status = find_names(options, place, &schema, err);
    if (status == HAC_OK)
        status = check_names(&schema, err);
    if (status == HAC_OK)
        status = infer_types(options, place, &schema, err);
    if (status != HAC_OK)
        return status;
    *ret = schema;
    schema = (hac_schema){0};
    return HAC_OK;
}
