/* SPDX-License-Identifier: Apache-2.0 */
/* logfmt: pairs of a key and a value in each line, `level=info msg="it \"works\"" took=1.5`. Columns are
 * found by their key. A key without a value is empty; of a key that comes twice, the last one counts. */
#include <string.h>

#include "log_text.h"
#include "sources/source_parts.h"

typedef struct logfmt_pair {
    const uint8_t *key;
    uint8_t *value;
    size_t key_bytes, value_bytes;
} logfmt_pair;

/* Whether a key or a bare value goes on. */
static bool in_word(const hac_log_text *l)
{
    return l->at != l->end && *l->at > ' ';
}

/* The next pair. False: the line has no more, or a problem. */
static bool next_pair(hac_log_text *l, logfmt_pair *ret)
{
    while (l->at < l->end && (*l->at == ' ' || *l->at == '\t'))
        l->at++;
    if (l->at == l->end)
        return false;
    *ret = (logfmt_pair){.key = l->at};
    while (in_word(l) && *l->at != '=' && *l->at != '"')
        l->at++;
    ret->key_bytes = (size_t)(l->at - ret->key);
    ret->value = l->at;
    if (ret->key_bytes == 0)
        return hac_log_problem(l, "expected a key");
    if (l->at < l->end && *l->at == '"')
        return hac_log_problem(l, "expected = behind the key");
    if (!hac_log_take(l, '='))
        return true;
    ret->value = l->at;
    if (l->at < l->end && *l->at == '"') {
        if (!hac_log_quoted(l, &ret->value, &ret->value_bytes))
            return false;
        return !in_word(l) || hac_log_problem(l, "expected a blank behind the quote");
    }
    while (in_word(l))
        l->at++;
    ret->value_bytes = (size_t)(l->at - ret->value);
    return true;
}

static hac_source_column *find(const hac_source *source, const logfmt_pair *p)
{
    for (size_t i = 0; i < source->n_columns; i++)
        if (source->columns[i].name_bytes == p->key_bytes &&
            memcmp(source->columns[i].name, p->key, p->key_bytes) == 0)
            return &source->columns[i];
    return NULL;
}

static void clear_row(hac_source *source, size_t row)
{
    for (size_t i = 0; i < source->n_columns; i++)
        hac_source_null(&source->columns[i], row);
}

static void set(hac_source_column *column, const logfmt_pair *p, const uint8_t *data, size_t row)
{
    if (p->value_bytes == 0 && column->repr != HAC_REPR_STRING) {
        hac_source_null(column, row);
        return;
    }
    column->refs[row] = (hac_string_ref){(uint32_t)(p->value - data), (uint32_t)p->value_bytes};
    column->states[row] = HAC_ROW_OK;
}

/* Fails for a value that no column takes, where the query has to take all of them. */
static void check_unknown(const hac_source *source, hac_log_text *l, const logfmt_pair *p,
                          char ret[HAC_UNKNOWN_NAME_MAX])
{
    char name[HAC_FIELD_NAME_MAX];
    if (p->value_bytes == 0 || p->key_bytes >= sizeof name || !hac_source_takes_all(source))
        return;
    memcpy(name, p->key, p->key_bytes);
    name[p->key_bytes] = '\0';
    if (hac_schema_find(&source->query->columns, name, p->key_bytes) >= 0) /* of a column in paths */
        return;
    hac_source_unknown_name(name, "string", ret);
    (void)hac_log_problem(l, ret);
}

static hac_status next_logfmt(hac_source *source, hac_error *err)
{
    hac_records_view view;
    size_t used = 0;
    hac_status status = hac_records_next(&source->records, &view, err);
    if (status != HAC_OK)
        return status;
    for (size_t i = 0; i < source->n_columns; i++)
        source->columns[i].bytes = view.data;
    for (; used < view.n; used++) {
        hac_log_text l = hac_log_line(&view, used);
        uint8_t *begin = l.at;
        logfmt_pair p;
        size_t pairs = 0;
        char unknown[HAC_UNKNOWN_NAME_MAX];
        clear_row(source, source->rows);
        for (; l.problem == NULL && next_pair(&l, &p); pairs++) {
            hac_source_column *column = find(source, &p);
            if (column != NULL)
                set(column, &p, view.data, source->rows);
            else
                check_unknown(source, &l, &p, unknown);
        }
        uint64_t position = view.base + (uint64_t)(begin - view.data);
        if (l.problem != NULL && !hac_source_bad_record(source, position, NULL, "byte %zu of the line: %s",
                                                        (size_t)(l.at - begin) + 1, l.problem))
            break;
        if (l.problem == NULL && pairs > 0)
            source->starts[source->rows++] = position;
    }
    if (source->rows < HAC_BATCH_ROWS) /* of a line that is no row */
        for (size_t i = 0; i < source->n_columns; i++)
            source->columns[i].states[source->rows] = HAC_ROW_OK;
    hac_records_take(&source->records, used);
    return HAC_OK;
}

const hac_source_format hac_format_logfmt = {
    .open = hac_source_open_lines, .begin = hac_source_begin_lines, .next = next_logfmt};

/* ---- names ---- */

static bool note_key(hac_log_text *l, const logfmt_pair *p, hac_schema *schema)
{
    if (p->key_bytes >= HAC_FIELD_NAME_MAX)
        return hac_log_problem(l, "a key is too long");
    if (hac_schema_find(schema, (const char *)p->key, p->key_bytes) >= 0)
        return true;
    if (schema->n_fields == HAC_COLUMNS_MAX)
        return hac_log_problem(l, "more than 256 keys: choose columns with --schema");
    hac_field *field = &schema->fields[schema->n_fields++];
    memcpy(field->name, p->key, p->key_bytes);
    field->type = (hac_value_type){.kind = HAC_KIND_STRING};
    return true;
}

static hac_status note_lines(const hac_source_options *options, hac_records *records, uint64_t sample,
                             hac_schema *schema, hac_error *err)
{
    hac_records_view view;
    hac_status status = HAC_OK;
    while (sample > 0 && (status = hac_records_next(records, &view, err)) == HAC_OK) {
        size_t n = view.n < sample ? view.n : (size_t)sample;
        for (size_t i = 0; i < n; i++) {
            hac_log_text l = hac_log_line(&view, i);
            const uint8_t *begin = l.at;
            logfmt_pair p;
            while (next_pair(&l, &p) && note_key(&l, &p, schema))
                ;
            if (l.problem == NULL || options->options.skip_errors)
                continue;
            hac_fail(err, HAC_FAILED, "byte %zu of the line: %s", (size_t)(l.at - begin) + 1, l.problem);
            return hac_line_error(records->window.place, view.base + (uint64_t)(begin - view.data), err);
        }
        hac_records_take(records, n);
        sample -= n;
    }
    return status == HAC_NOT_FOUND ? HAC_OK : status;
}

hac_status hac_logfmt_names(const hac_source_options *options, const hac_source_place *place, uint64_t sample,
                            hac_schema *ret, hac_error *err)
{
    return hac_source_line_names(options, place, sample, note_lines, ret, err);
}
