/* SPDX-License-Identifier: Apache-2.0 */
#include "compile_query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/format.h"
#include "base/input_options.h"
#include "base/query_layout.h"
#include "base/value_text.h"
#include "expr/column_names.h"
#include "expr/query_blob.h"
#include "expr/query_facts.h"
#include "summary_query.h"

#define SECONDS_A_DAY 86400

HAC_DEFINE_CLEANUP(hac_query *, hac_query_free)

void hac_source_columns_clear(hac_source_columns *columns)
{
    hac_file_forms_free(columns->forms, columns->n_forms);
    hac_schema_clear(&columns->schema);
    free(columns->table.columns);
    *columns = (hac_source_columns){0};
}

bool hac_query_has_schema(const hac_query_options *options)
{
    return options->schema != NULL && options->schema[0] != '\0';
}

bool hac_query_needs_all_rows(const hac_query_options *options)
{
    return (options->order_by != NULL && options->order_by[0] != '\0') ||
           (options->limit_by != NULL && options->limit_by[0] != '\0');
}

bool hac_query_names_json(const hac_query_options *options)
{
    return options->input_format == HAC_INPUT_JSONL && hac_query_has_schema(options);
}

bool hac_query_has_header(const hac_query_options *options)
{
    return hac_formats[options->input_format].header && options->input_options.no_header == 0;
}

unsigned hac_query_finds(const hac_query_options *options)
{
    const hac_format_info *format = &hac_formats[options->input_format];
    unsigned finds = format->header ? (unsigned)options->find & ~(unsigned)HAC_FIND_FORMS : 0;
    if (!format->any_delimiter || options->input_options.delimiter != 0)
        finds &= ~(unsigned)HAC_FIND_DELIMITER;
    return options->input_options.no_header != 0 ? finds & ~(unsigned)HAC_FIND_HEADER : finds;
}

unsigned hac_query_finds_forms(const hac_query_options *options)
{
    bool infers = options->infer_schema != 0 && hac_formats[options->input_format].inferred;
    return infers ? (unsigned)options->find & HAC_FIND_FORMS : 0;
}

bool hac_query_names_settle(const hac_query_options *options, const hac_schema *names)
{
    hac_schema schema = {0};
    if (!hac_query_has_schema(options) || hac_schema_parse(options->schema, &schema, NULL) != HAC_OK)
        return false;
    bool settle = true;
    for (size_t i = 0; i < schema.n_fields && settle; i++)
        settle = hac_schema_find(names, schema.fields[i].name, strlen(schema.fields[i].name)) >= 0;
    hac_schema_clear(&schema);
    return settle;
}

static hac_query_text text_of(const hac_query_options *options, const hac_source_columns *columns)
{
    bool table = columns->table.columns != NULL;
    hac_query_text text = {.schema = table ? NULL : options->schema,
                           .where = options->where,
                           .group_by = options->group_by,
                           .having = options->having,
                           .select = options->select,
                           .order_by = options->order_by,
                           .distinct = options->distinct != 0,
                           .select_only = options->select_only != 0,
                           .limit = options->limit,
                           .offset = options->offset,
                           .limit_by = options->limit_by,
                           .limit_each = options->limit_each,
                           .with_select = options->with_select,
                           .with_where = options->with_where,
                           .path_columns = table ? NULL : options->path_columns,
                           .keeps_fields = options->sort_rows != 0,
                           .output = (hac_result_format)options->result_format};
    text.source =
        (hac_source_options){.format = table ? HAC_INPUT_TABLE : (hac_input_format)options->input_format,
                             .inferred = columns->inferred,
                             .all_names = columns->inferred && columns->unseen == 0 &&
                                          (hac_formats[options->input_format].by_name ||
                                           hac_formats[options->input_format].header)};
    if (!table)
        text.source.options = columns->detected ? columns->input_options : options->input_options;
    hac_input_options_plain(&text.source.options);
    if (text.source.format == HAC_INPUT_SYSLOG && text.source.options.today == 0) /* one day for all tasks */
        text.source.options.today = (uint64_t)time(NULL) / SECONDS_A_DAY;
    if (options->result_format == HAC_RESULT_PARQUET)
        text.parquet = (hac_parquet_settings){.compression = (uint8_t)options->parquet.compression,
                                              .group_bytes = options->parquet.group_bytes,
                                              .group_rows = options->parquet.group_rows,
                                              .block_bytes = options->parquet.block_bytes};
    return text;
}

bool hac_query_names_other(const hac_query_options *options)
{
    const hac_source_columns none = {0};
    const hac_query_text text = text_of(options, &none);
    return !hac_query_has_schema(options) || hac_query_text_names_other(&text);
}

bool hac_query_infers(const hac_query_options *options)
{
    const hac_format_info *format = &hac_formats[options->input_format];
    bool by_position = format->header && options->input_options.no_header != 0;
    if (options->infer_schema == 0 || !format->inferred)
        return false;
    if (by_position && hac_query_has_schema(options))
        return false; /* it lists all columns */
    return hac_query_names_other(options);
}

bool hac_query_needs_columns(const hac_query_options *options, bool infers)
{
    return options->input_format == HAC_INPUT_PARQUET || infers || hac_query_has_header(options) ||
           (hac_query_finds(options) & HAC_FIND_DELIMITER) != 0;
}

bool hac_query_asks_aggregates(const hac_query_options *options)
{
    const hac_source_columns none = {0};
    hac_query_text text = text_of(options, &none);
    return options->summary == HAC_SUMMARY_VALUES || hac_query_text_aggregates(&text);
}

bool hac_query_excludes_columns(const hac_query_options *options)
{
    const hac_source_columns none = {0};
    hac_query_text text = text_of(options, &none);
    return hac_query_text_excludes(&text);
}

/* True if the query filters lines. Such a query returns lines as they were read, with their TABs and
 * backslashes. */
static bool filters_lines(const hac_query *query)
{
    return query->source.format == HAC_INPUT_LINES && query->output == HAC_RESULT_TSV && !query->aggregates &&
           query->n_visible == 1;
}

static bool looks_like_data(const char *name)
{
    double number;
    int32_t days;
    int64_t microseconds;
    size_t bytes = strlen(name);
    return hac_parse_f64(name, bytes, &number) == HAC_TEXT_OK ||
           hac_parse_date(name, bytes, &days) == HAC_TEXT_OK ||
           hac_parse_timestamp(name, bytes, &microseconds) == HAC_TEXT_OK;
}

/* Says what the user should know about the names in the header: which were made, and that all look like the
 * values of a row. */
static void note_names(const hac_query_options *options, const hac_schema *schema, char *ret, size_t capacity)
{
    size_t data = 0;
    hac_column_names_note(schema, ret, capacity);
    if (ret[0] != '\0' || schema->n_fields == 0 || !hac_query_has_header(options) ||
        (hac_query_finds(options) & HAC_FIND_HEADER) != 0)
        return;
    while (data < schema->n_fields && looks_like_data(schema->fields[data].name))
        data++;
    if (data == schema->n_fields)
        snprintf(ret, capacity,
                 "line 1 was taken for the names of the columns, but they look like data (%.40s%s); if it is "
                 "data, say "
                 "--no-header",
                 schema->fields[0].name, data > 1 ? ", …" : "");
}

/* Adds an option to the note. */
static void note_option(const char *name, const char *value, char *ret, size_t capacity)
{
    size_t used = strlen(ret);
    snprintf(ret + used, capacity - used, " --%s%s%s", name, value != NULL ? " " : "",
             value != NULL ? value : "");
}

/* The word of the option at that place. */
static const char *note_word(hac_input_option_id id, unsigned place, char ret[16])
{
    const char *word = hac_input_option_rows[id].words;
    for (; place > 0; place--)
        word += strcspn(word, " ") + 1;
    snprintf(ret, 16, "%.*s", (int)strcspn(word, " "), word);
    return ret;
}

/* Whether the query reads a column whose values have a form that was found. */
static bool reads_forms(const hac_query *query, const hac_schema *schema)
{
    for (size_t i = 0; i < query->columns.n_fields; i++) {
        const hac_field *read = &query->columns.fields[i];
        int at = hac_schema_find(schema, read->name, strlen(read->name));
        if (at >= 0 && !hac_kind_is_text(read->type.kind) && (schema->fields[at].forms & HAC_FORM_FOUND) != 0)
            return true;
    }
    return false;
}

/* Adds the options of numbers and dates that were found. */
static bool note_forms(const hac_query *query, const hac_query_options *options,
                       const hac_source_columns *columns, char *ret, size_t capacity)
{
    const hac_input_options *found = &columns->input_options, *told = &options->input_options;
    const struct {
        hac_input_option_id id;
        unsigned found, told;
    } forms[] = {{HAC_INPUT_OPTION_DECIMAL, found->decimal, told->decimal},
                 {HAC_INPUT_OPTION_THOUSANDS, found->thousands, told->thousands},
                 {HAC_INPUT_OPTION_DATES, found->dates, told->dates}};
    bool any = false;
    char word[16];
    for (size_t i = 0; i < 3 && reads_forms(query, &columns->schema); i++) {
        if (forms[i].found == forms[i].told)
            continue;
        any = true;
        note_option(hac_input_option_rows[forms[i].id].name, note_word(forms[i].id, forms[i].found, word),
                    ret, capacity);
    }
    return any;
}

/* Says what was found in the first records, if it is not what holds without looking: a comma and a header,
 * numbers with a point, dates with the year in front. */
static void note_found(const hac_query *query, const hac_query_options *options,
                       const hac_source_columns *columns, char *ret, size_t capacity)
{
    const hac_input_options *found = &columns->input_options;
    char options_found[128] = "", name[8];
    size_t used = strlen(ret);
    bool delimiter = found->delimiter != options->input_options.delimiter;
    bool no_header = found->no_header != options->input_options.no_header;
    if (!columns->detected)
        return;
    snprintf(name, sizeof(name), found->delimiter == '\t' ? "'\\t'" : "'%c'", found->delimiter);
    if (delimiter)
        note_option("delimiter", name, options_found, sizeof(options_found));
    if (no_header)
        note_option("no-header", NULL, options_found, sizeof(options_found));
    bool forms = note_forms(query, options, columns, options_found, sizeof(options_found));
    if (options_found[0] != '\0')
        snprintf(ret + used, capacity - used, "%sthe first records look like%s; say %s%s%s if that is wrong",
                 used > 0 ? "; " : "", options_found,
                 delimiter || no_header ? "--delimiter, --header or --no-header" : "",
                 (delimiter || no_header) && forms ? ", " : "",
                 forms ? "--decimal, --thousands or --dates" : "");
}

/* Names columns of text that are numbers or dates if an option says how they are written. */
static void note_unclear(const hac_query *query, const hac_schema *schema, char *ret, size_t capacity)
{
    size_t shown = 0;
    for (size_t i = 0; i < query->columns.n_fields && shown < 3; i++) {
        const hac_field *read = &query->columns.fields[i];
        int at = hac_schema_find(schema, read->name, strlen(read->name));
        unsigned forms = at >= 0 && hac_kind_is_text(read->type.kind) ? schema->fields[at].forms : 0;
        bool comma = (forms & HAC_FORM_DECIMAL_COMMA) != 0, thousands = (forms & HAC_FORM_THOUSANDS) != 0;
        size_t used = strlen(ret);
        if ((forms & ~(unsigned)HAC_FORM_FOUND) == 0 || used + strlen(read->name) + 96 > capacity)
            continue;
        snprintf(ret + used, capacity - used, "%s%s: text that may be %s; say %s%s%s%s if it is",
                 used > 0 ? "; " : "", read->name, (forms & HAC_FORM_DATES) != 0 ? "dates" : "numbers",
                 comma ? "--decimal comma" : "", comma && thousands ? " or " : "",
                 thousands ? "--thousands" : "",
                 (forms & HAC_FORM_DATES) != 0 ? "--dates dmy or --dates mdy" : "");
        shown++;
    }
}

/* Marks the columns whose types matter to the query: all of them, but of a sort, which returns fields as they
 * are written, only those of its keys and of its filter. */
static void mark_typed(const hac_query *query, bool sort, bool *ret)
{
    uint16_t keys[HAC_ORDER_MAX];
    hac_program *program = NULL;
    for (size_t i = 0; i < query->columns.n_fields; i++)
        ret[i] = !sort || query->aggregates;
    if (query->filter != NULL)
        hac_program_reads(query->filter, ret);
    for (size_t i = 0; i < query->n_order; i++)
        keys[i] = query->order[i].column;
    if (query->aggregates || query->n_order == 0 ||
        hac_program_part(query->rows, keys, query->n_order, &program, NULL) != HAC_OK)
        return;
    hac_program_reads(program, ret);
    hac_program_free(program);
}

enum { NULL_WORDS_BYTES = HAC_NULL_BYTES_MAX + sizeof((hac_odd_value){0}.text) + 1 };

/* The words of --null with which the odd value is null, too; "": there are none. */
static void null_words(const hac_query_options *options, const hac_odd_value *odd, char ret[NULL_WORDS_BYTES])
{
    const char *told = options->input_options.null_text;
    bool number = strchr("+-.0123456789", odd->text[0]) != NULL;
    snprintf(ret, NULL_WORDS_BYTES, "%s%s%s", told, told[0] != '\0' ? "," : "", odd->text);
    if (!odd->word || number || !hac_formats[options->input_format].header ||
        strlen(ret) > HAC_NULL_BYTES_MAX || strpbrk(told, "'\n\r") != NULL)
        ret[0] = '\0';
}

/* Says of columns of text, which mostly have numbers, dates or bools, what keeps them from those types. */
static void note_odd(const hac_query *query, const hac_query_options *options, const hac_schema *schema,
                     char *ret, size_t capacity)
{
    static const char *const kinds[] = {
        [HAC_ODD_NUMBERS] = "numbers", [HAC_ODD_BOOLS] = "true or false", [HAC_ODD_TIMES] = "dates or times"};
    bool typed[HAC_COLUMNS_MAX] = {false};
    size_t shown = 0;
    mark_typed(query, options->sort_rows != 0, typed);
    for (size_t i = 0; i < query->columns.n_fields && shown < 3; i++) {
        char words[NULL_WORDS_BYTES];
        const hac_field *read = &query->columns.fields[i];
        int at = hac_schema_find(schema, read->name, strlen(read->name));
        const hac_field *found = at >= 0 ? &schema->fields[at] : read;
        null_words(options, &found->odd, words);
        size_t used = strlen(ret);
        size_t bytes = strlen(read->name) + strlen(found->odd.text) + strlen(words) + 160;
        if (found->type.kind != HAC_KIND_STRING || !read->inferred || found->mixed || found->arrays ||
            !typed[i] || found->odd.among == HAC_ODD_NONE || found->odd.among > HAC_ODD_TIMES ||
            used + bytes > capacity)
            continue;
        snprintf(ret + used, capacity - used,
                 "%s%s is text because of values such as '%s', but others are %s; %s%s%slist it in "
                 "--schema as a string",
                 used > 0 ? "; " : "", read->name, found->odd.text, kinds[found->odd.among],
                 words[0] != '\0' ? "say --null '" : "", words,
                 words[0] != '\0' ? "' if that is null, or " : "");
        shown++;
    }
}

/* Adds the names of the columns that `*` leaves out. */
static void note_left_out(const hac_query *query, const hac_schema *schema, char *ret, size_t capacity)
{
    static const char why[] = "of lists in lists or of an unknown type, and not in the result: ";
    size_t shown = 0, used = strlen(ret);
    for (size_t i = 0; query->left_out > 0 && i < schema->n_fields && shown < 4; i++) {
        const char *name = schema->fields[i].name;
        if (schema->fields[i].type.kind != HAC_KIND_NONE || used + strlen(name) + sizeof(why) + 48 > capacity)
            continue;
        if (shown == 0)
            used += (size_t)snprintf(ret + used, capacity - used, "%s%zu column%s %s", used > 0 ? "; " : "",
                                     query->left_out, query->left_out > 1 ? "s are" : " is", why);
        used += (size_t)snprintf(ret + used, capacity - used, "%s%s", shown == 0 ? "" : ", ", name);
        shown++;
    }
    if (shown > 0 && shown < query->left_out)
        snprintf(ret + used, capacity - used, ", …");
}

/* Notes that a query for all columns may lack some. */
static void note_unseen(const hac_query *query, const hac_source_columns *columns, char *ret, size_t capacity)
{
    size_t used = strlen(ret);
    bool found = false; /* a column that --schema does not list */
    for (size_t i = 0; i < query->columns.n_fields; i++)
        found |= query->columns.fields[i].inferred;
    if (found && columns->unseen > 0 && query->columns.n_fields >= columns->schema.n_fields)
        snprintf(ret + used, capacity - used,
                 "%s%zu of the files %s not looked at for columns, which may be more: name them with "
                 "--schema",
                 used > 0 ? "; " : "", columns->unseen, columns->unseen > 1 ? "were" : "was");
}

/* Names the columns that some of the files lack. */
static void note_lacking(const hac_query *query, char *ret, size_t capacity)
{
    size_t used = strlen(ret), shown = 0, lacking = 0;
    for (size_t i = 0; i < query->columns.n_fields; i++)
        lacking += query->columns.fields[i].lacking && query->columns.fields[i].part == HAC_LIST_WHOLE;
    for (size_t i = 0; i < query->columns.n_fields && lacking > 0 && shown < 4; i++) {
        const hac_field *field = &query->columns.fields[i];
        if (!field->lacking || field->part != HAC_LIST_WHOLE || used + strlen(field->name) + 80 > capacity)
            continue;
        used += (size_t)snprintf(ret + used, capacity - used, "%s%s",
                                 shown > 0  ? ", "
                                 : used > 0 ? "; not in all files, and null in the others: "
                                            : "not in all files, and null in the others: ",
                                 field->name);
        shown++;
    }
    if (shown > 0 && shown < lacking)
        snprintf(ret + used, capacity - used, ", …");
}

/* Notes columns that are read as text because they have values of several kinds. */
static void note_mixed(const hac_query *query, const hac_schema *schema, char *ret, size_t capacity)
{
    size_t shown = 0, used = strlen(ret);
    for (size_t i = 0; i < query->columns.n_fields && shown < 4; i++) {
        const hac_field *read = &query->columns.fields[i];
        int at = hac_schema_find(schema, read->name, strlen(read->name));
        if (at < 0 || !schema->fields[at].mixed || !read->inferred ||
            used + strlen(read->name) + 160 > capacity)
            continue;
        const char *before = used > 0 ? "; " : "";
        used +=
            (size_t)snprintf(ret + used, capacity - used, "%s%s", shown++ > 0 ? ", " : before, read->name);
    }
    if (shown > 0)
        snprintf(
            ret + used, capacity - used,
            ": objects or arrays in some records, other values in others: all are read as text, the former "
            "as JSON");
}

/* Notes members that no object has; inferred columns are members of some. */
static void note_json_fields(const hac_query *query, const hac_source_columns *columns, char *ret,
                             size_t capacity)
{
    hac_schema named = {.fields = calloc(query->columns.n_fields + 1, sizeof(hac_field))};
    for (size_t i = 0; named.fields != NULL && i < query->columns.n_fields; i++)
        if (!query->columns.fields[i].inferred && !query->columns.fields[i].in_path)
            named.fields[named.n_fields++] = query->columns.fields[i];
    hac_json_fields_note(&columns->json, &named, ret, capacity);
    free(named.fields);
}

/* The columns that the query reads, with the types that were found: a sort reads its fields as strings. */
static hac_schema found_columns(const hac_query *query, const hac_source_columns *columns)
{
    const hac_schema *read = &query->columns;
    hac_schema found = {.fields = calloc(read->n_fields + 1, sizeof(hac_field))};
    for (size_t i = 0; found.fields != NULL && i < read->n_fields; i++) {
        if (read->fields[i].part == HAC_LIST_VALUE)
            continue; /* of a field that is there as text */
        hac_field *field = &found.fields[found.n_fields++];
        *field = read->fields[i];
        int at = hac_schema_find(&columns->schema, field->name, strlen(field->name));
        if (at >= 0)
            field->type = columns->schema.fields[at].type;
    }
    return found;
}

/* Writes the inferred columns that the query reads as a schema; the end of a long one is left out. */
static void note_assumed(const hac_query *query, const hac_source_columns *columns, bool sort, char *ret,
                         size_t capacity)
{
    hac_text text = HAC_TEXT_NONE;
    char *all = NULL;
    ret[0] = '\0';
    if (!columns->inferred || query->columns.n_fields == 0)
        return;
    hac_schema found = sort ? found_columns(query, columns) : (hac_schema){0};
    hac_schema_print(sort ? &found : &query->columns, &text);
    hac_schema_clear(&found);
    if (hac_text_finish(&text, &all, NULL, NULL) != HAC_OK)
        return;
    size_t bytes = strlen(all), max = capacity - sizeof("…");
    bool cut = bytes > max;
    bytes = cut ? max : bytes;
    while (cut && bytes > 0 && all[bytes - 1] != ',')
        bytes--;
    snprintf(ret, capacity, "%.*s%s", (int)bytes, all, cut ? "…" : "");
    free(all);
}

/* Names of columns may be any bytes. */
static void make_utf8(char *text, size_t capacity)
{
    char valid[1024];
    (void)hac_utf8_replace(valid, capacity < sizeof(valid) ? capacity : sizeof(valid), text);
    strcpy(text, valid);
}

static void fill_columns(const hac_schema *schema, size_t n, hac_compiled_query *ret)
{
    ret->n_columns = n;
    for (size_t i = 0; i < n; i++) {
        (void)hac_utf8_replace(ret->columns[i].name, sizeof(ret->columns[i].name), schema->fields[i].name);
        if (schema->fields[i].nested.kind != HAC_NESTED_NONE)
            (void)hac_nested_name(schema->fields[i].nested, ret->columns[i].type);
        else
            (void)hac_value_type_name(schema->fields[i].type, ret->columns[i].type);
    }
}

static hac_status fill_message(const hac_query *query, const hac_table *table, hac_compiled_query *ret,
                               hac_error *err)
{
    hac_query_facts facts;
    hac__client__compiled_query__init(&ret->message);
    hac_status status = hac_query_blob_write(query, table->columns != NULL ? table : NULL, ret->bytes,
                                             sizeof(ret->bytes), &ret->message.query.len, err);
    if (status == HAC_OK)
        status = hac_query_facts_read(query, &facts, err);
    if (status != HAC_OK)
        return status;
    ret->message.query.data = ret->bytes;
    ret->message.flags = (uint32_t)facts.flags;
    ret->message.keys = (uint32_t)facts.keys;
    ret->message.group_bytes = facts.group_bytes;
    ret->message.output_bytes = facts.output_bytes;
    ret->message.output_max = facts.output_max;
    ret->message.shape = facts.shape;
    ret->message.same = facts.same;
    ret->aggregates = query->aggregates;
    return HAC_OK;
}

/* Puts a summary in the place of the query. `all` gets the columns of the source, *ret_select the text. */
static hac_status take_summary(const hac_query_options *options, const hac_source_columns *columns,
                               hac_query_text *text, hac_schema *all, char **ret_select, hac_error *err)
{
    hac_status status = hac_summary_columns(options, columns, all, err);
    if (status == HAC_OK)
        status = hac_summary_select(options, all, ret_select, err);
    text->select = *ret_select;
    text->group_by = text->having = text->order_by = NULL;
    text->distinct = false;
    text->limit = options->summary == HAC_SUMMARY_COLUMNS ? 0 : UINT64_MAX;
    return status;
}

static void clear_schema(hac_schema *schema)
{
    hac_schema_clear(schema);
}

/* Fails if the query uses a column that it may not use. */
static hac_status check_refused(const hac_query *query, const hac_source_columns *columns, hac_error *err)
{
    for (size_t i = 0; i < query->columns.n_fields; i++) {
        const hac_field *read = &query->columns.fields[i];
        int at = hac_schema_find(&columns->schema, read->name, strlen(read->name));
        if (at >= 0 && columns->refused != NULL && columns->refused[at] != NULL)
            return hac_fail(err, HAC_UNSUPPORTED, "%s", columns->refused[at]);
        if (at >= 0 && read->inferred && (size_t)at < columns->n_forms && columns->forms[at].refused != NULL)
            return hac_fail(err, HAC_FAILED, "%s", columns->forms[at].refused);
    }
    return HAC_OK;
}

hac_status hac_query_compile_options(const hac_query_options *options, const hac_source_columns *columns,
                                     hac_compiled_query **ret, hac_error *err)
{
    hac_cleanup(hac_query_free_cleanup) hac_query *query = NULL;
    hac_query_text text = text_of(options, columns);
    if (columns->table.columns != NULL && columns->table.n_columns == 0)
        return hac_fail(err, HAC_INVALID, "a table source has 1 to %d columns", HAC_COLUMNS_MAX);
    hac_cleanup(clear_schema) hac_schema all = {0};
    hac_autofree char *select = NULL;
    hac_status status = HAC_OK;
    if (options->summary != HAC_SUMMARY_NONE)
        status = take_summary(options, columns, &text, &all, &select, err);
    if (status == HAC_OK)
        status =
            hac_query_compile(&text, columns->schema.fields != NULL ? &columns->schema : NULL, &query, err);
    if (status == HAC_OK)
        status = check_refused(query, columns, err);
    if (status != HAC_OK)
        return status;
    if (options->summary == HAC_SUMMARY_VALUES) /* its text names all columns, and means `*` */
        query->source.all_names =
            text.source.all_names && hac_query_columns_in_file(query) == query->schema_columns;
    const hac_schema *told = options->summary != HAC_SUMMARY_NONE ? &all : &query->outputs;
    size_t n_told = options->summary != HAC_SUMMARY_NONE ? all.n_fields : query->n_visible;
    if (filters_lines(query))
        query->output = HAC_RESULT_TEXT;
    hac_autofree hac_compiled_query *compiled =
        malloc(sizeof(*compiled) + n_told * sizeof(hac_job_column_row));
    if (compiled == NULL)
        return hac_fail_no_memory(err);
    fill_columns(told, n_told, compiled);
    compiled->input_options = text.source.options;
    note_names(options, &columns->schema, compiled->note, sizeof(compiled->note));
    note_found(query, options, columns, compiled->note, sizeof(compiled->note));
    note_unclear(query, &columns->schema, compiled->note, sizeof(compiled->note));
    note_odd(query, options, &columns->schema, compiled->note, sizeof(compiled->note));
    note_left_out(query, &columns->schema, compiled->note, sizeof(compiled->note));
    note_assumed(query, columns, options->sort_rows != 0, compiled->assumed, sizeof(compiled->assumed));
    note_json_fields(query, columns, compiled->note, sizeof(compiled->note));
    note_mixed(query, &columns->schema, compiled->note, sizeof(compiled->note));
    note_unseen(query, columns, compiled->note, sizeof(compiled->note));
    note_lacking(query, compiled->note, sizeof(compiled->note));
    make_utf8(compiled->note, sizeof(compiled->note));
    make_utf8(compiled->assumed, sizeof(compiled->assumed));
    status = fill_message(query, &columns->table, compiled, err);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(compiled);
    return status;
}
