/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl describe, summarize: the columns of a source, and what is in them. Both ask libhac for a summary;
 * hacctl makes a row of each column. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd.h"
#include "run/job_output.h"
#include "run/query_run.h"
#include "text/cell_table.h"
#include "text/tsv_field.h"

static const hac_cell_column described[] = {{"column", "string"}, {"type", "string"}, {"example", "string"}};
static const hac_cell_column summarized[] = {
    {"column", "string"}, {"type", "string"}, {"count", "i64"},       {"nulls", "i64"},  {"distinct", "i64"},
    {"min", "string"},    {"max", "string"},  {"mean", "f64"},        {"stddev", "f64"}, {"q25", "f64"},
    {"median", "f64"},    {"q75", "f64"},     {"histogram", "string"} /* on a terminal only */
};
enum { N_SUMMARIZED = sizeof summarized / sizeof *summarized, BARS = 8 };
/* EXAMPLE_COLUMNS: of a query; EXAMPLE_QUESTIONS: queries for all examples, if values cannot be read */
enum { EXAMPLE_ROWS = 20, EXAMPLE_COLUMNS = 250, EXAMPLE_QUESTIONS = 100 };

typedef struct summary_question {
    int what; /* HAC_SUMMARY_… */
    unsigned first;
    const char *select; /* with HAC_SUMMARY_NONE: a query of at most `limit` rows */
    uint64_t limit;
} summary_question;

typedef struct answer {
    hac_job *job;
    hac_text rows; /* of a source that is read in splits: they come before the job is done */
} answer;

static void answer_clear(answer *a)
{
    hac_job_free(a->job);
    hac_text_clear(&a->rows);
}

/* A result as tsv with names: for each column, its first value that is not null. */
typedef struct row_result {
    char *text;                   /* owned; cut into fields */
    const char **names, **values; /* owned; NULL is null */
    size_t n;
} row_result;

static void row_clear(row_result *row)
{
    free(row->text);
    free(row->names);
    free(row->values);
    *row = (row_result){.n = 0};
}

/* Undoes the escapes of the field, in place; NULL if it is null. */
static const char *read_field(char *field)
{
    if (strcmp(field, "\\N") == 0)
        return NULL;
    field[hac_tsv_unescape(field, strlen(field))] = '\0';
    return field;
}

/* Cuts the line into fields; a value that is there already stays. */
static void cut_fields(char *line, const char **values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *field = strsep(&line, "\t");
        if (field != NULL && values[i] == NULL)
            values[i] = read_field(field);
    }
}

/* Copies bytes of tsv as a string. A NUL byte becomes the two characters \0, so that it does not end it. */
static char *copy_text(const char *data, size_t bytes)
{
    size_t nuls = 0, n = 0;
    for (size_t i = 0; i < bytes; i++)
        nuls += data[i] == '\0';
    char *text = malloc(bytes + 2 * nuls + 1);
    for (size_t i = 0; text != NULL && i < bytes; i++) {
        if (data[i] != '\0') {
            text[n++] = data[i];
            continue;
        }
        memcpy(text + n, "\\\\0", 3);
        n += 3;
    }
    if (text != NULL)
        text[n] = '\0';
    return text;
}

static hac_status read_row(const answer *from, row_result *ret, hac_error *err)
{
    size_t n = 1;
    bool early = from->rows.bytes > 0;
    row_result row = {.text = early ? copy_text(from->rows.data, from->rows.bytes)
                                    : copy_text(hac_job_data(from->job), (size_t)hac_job_bytes(from->job))};
    if (row.text == NULL)
        return hac_fail_no_memory(err);
    char *rest = row.text, *names = strsep(&rest, "\n");
    for (const char *at = names; *at != '\0'; at++)
        n += *at == '\t';
    row.names = calloc(n, sizeof *row.names);
    row.values = calloc(n, sizeof *row.values);
    if (row.names == NULL || row.values == NULL) {
        row_clear(&row);
        return hac_fail_no_memory(err);
    }
    row.n = n;
    cut_fields(names, row.names, n);
    for (char *line; rest != NULL && *rest != '\0';) {
        line = strsep(&rest, "\n");
        cut_fields(line, row.values, n);
    }
    *ret = row;
    return HAC_OK;
}

/* The value `name` of column `index`. Whether the column has it; *ret is NULL if it is null. */
static bool find_value(const row_result *row, size_t index, const char *name, const char **ret)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%zu:%s", index, name);
    *ret = NULL;
    for (size_t i = 0; i < row->n; i++)
        if (row->names[i] != NULL && strcmp(row->names[i], wanted) == 0) {
            *ret = row->values[i];
            return true;
        }
    return false;
}

/* ---- bars ---- */

/* Draws the counts of `histogram` as bars. */
static void draw_bars(const char *counts, char ret[BARS * sizeof "█"])
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    unsigned long long numbers[BARS] = {0}, max = 1;
    size_t n = 0;
    ret[0] = '\0';
    for (const char *at = counts; at != NULL && n < BARS; n++) {
        numbers[n] = strtoull(at, NULL, 10);
        max = numbers[n] > max ? numbers[n] : max;
        at = strchr(at, ',');
        at = at != NULL ? at + 1 : NULL;
    }
    for (size_t i = 0; i < n; i++)
        strcat(ret, numbers[i] == 0 ? " " : bars[(numbers[i] * (BARS - 1) + max - 1) / max]);
}

/* ---- a request ---- */

/* What the rows are made of. */
typedef struct summary {
    hac_cli *cli;
    const hac_args *args;
    const char *command;
    hac_cell_table table;
} summary;

static hac_status ask(const summary *s, const summary_question *q, answer *ret, hac_error *err)
{
    hac_cleanup(hac_query_request_clear) hac_query_request request = {.convert = false};
    hac_status status = hac_query_request_query(&request, s->command, s->args, 0, err);
    if (status == HAC_OK && request.sql != NULL)
        status = hac_fail(err, HAC_INVALID,
                          "%s: name files, a folder, or - for standard input; SQL is for query", s->command);
    if (status == HAC_OK)
        status = hac_cli_connect(s->cli, err);
    if (status != HAC_OK)
        return status;
    request.options.summary = q->what;
    request.options.summary_first = q->first;
    if (q->select != NULL) {
        request.options.select = q->select;
        request.options.limit = q->limit;
    }
    request.options.result_format = HAC_RESULT_TSV_NAMED;
    bool notes = q->first == 0 && q->select == NULL;
    status = hac_query_run_job(s->cli, &request, notes, &ret->rows, &ret->job, err);
    if (status == HAC_INVALID)
        hac_query_request_reword(&request, s->args, err);
    return status;
}

/* ---- examples ---- */

/* The values of the first records, one for each column that can be read. */
typedef struct example_list {
    const char **names; /* borrowed from the job that knows the columns */
    char **values;      /* owned; NULL: there is none */
    size_t n;
    unsigned questions;               /* that may still be asked */
    char why[HAC_ERROR_MESSAGE_SIZE]; /* the first column of which no value can be read; "": there is none */
} example_list;

static void examples_clear(example_list *e)
{
    for (size_t i = 0; i < e->n; i++)
        free(e->values[i]);
    free(e->names);
    free(e->values);
    *e = (example_list){.n = 0};
}

static hac_status list_columns(const hac_job *job, example_list *ret, hac_error *err)
{
    const char *name, *type;
    size_t n = 0;
    while (hac_job_column(job, n, &name, &type))
        n++;
    ret->names = calloc(n + 1, sizeof *ret->names);
    ret->values = calloc(n + 1, sizeof *ret->values);
    if (ret->names == NULL || ret->values == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; hac_job_column(job, i, &name, &type); i++)
        if (strcmp(type, "none") != 0) /* others cannot be selected */
            ret->names[ret->n++] = name;
    ret->questions = EXAMPLE_QUESTIONS;
    return HAC_OK;
}

/* Asks for the columns [first, first + n). HAC_FAILED: their values cannot be read. */
static hac_status ask_examples(const summary *s, example_list *e, size_t first, size_t n, hac_error *err)
{
    hac_cleanup(answer_clear) answer rows = {.job = NULL};
    hac_cleanup(row_clear) row_result row = {.n = 0};
    hac_text text = HAC_TEXT_NONE;
    hac_autofree char *select = NULL;
    for (size_t i = first; i < first + n; i++) {
        hac_text_add(&text, i > first ? ", " : "");
        hac_text_add_name(&text, e->names[i]);
    }
    hac_status status = hac_text_finish(&text, &select, NULL, err);
    if (status == HAC_OK)
        status = ask(s, &(summary_question){HAC_SUMMARY_NONE, .select = select, .limit = EXAMPLE_ROWS}, &rows,
                     err);
    if (status == HAC_OK)
        status = read_row(&rows, &row, err);
    for (size_t i = 0; i < n && i < row.n && status == HAC_OK; i++) {
        e->values[first + i] = row.values[i] != NULL ? strdup(row.values[i]) : NULL;
        if (row.values[i] != NULL && e->values[first + i] == NULL)
            status = hac_fail_no_memory(err);
    }
    return status;
}

/* Finds values of the columns [first, first + n). If a value cannot be read, the halves are tried. */
static hac_status find_some(const summary *s, example_list *e, size_t first, size_t n, hac_error *err)
{
    hac_error why = HAC_ERROR_NONE;
    if (n == 0 || e->questions == 0)
        return HAC_OK;
    e->questions--;
    hac_status status = n <= EXAMPLE_COLUMNS ? ask_examples(s, e, first, n, &why) : HAC_FAILED;
    if (status == HAC_OK)
        return HAC_OK;
    if (status == HAC_CANCELLED || status == HAC_NO_MEMORY)
        return hac_fail(err, status, "%s", why.message);
    if (n == 1) {
        if (e->why[0] == '\0')
            snprintf(e->why, sizeof e->why, "no example of '%.100s': %.300s", e->names[first], why.message);
        return HAC_OK;
    }
    status = find_some(s, e, first, n / 2, err);
    return status == HAC_OK ? find_some(s, e, first + n / 2, n - n / 2, err) : status;
}

static const char *example_of(const example_list *e, const char *name)
{
    for (size_t i = 0; i < e->n; i++)
        if (strcmp(e->names[i], name) == 0)
            return e->values[i];
    return NULL;
}

static void add_described(summary *s, const hac_job *job, const example_list *examples)
{
    const char *name, *type;
    for (size_t i = 0; hac_job_column(job, i, &name, &type); i++) {
        hac_cell_table_add(&s->table, name);
        hac_cell_table_add(&s->table, strcmp(type, "none") != 0 ? type : NULL);
        hac_cell_table_add(&s->table, example_of(examples, name));
    }
}

/* ---- summaries ---- */

static void add_summarized(summary *s, const row_result *row, const row_result *bars, size_t index,
                           const char *name, const char *type)
{
    const char *rows = row->n > 0 ? row->values[0] : NULL, *count, *value;
    char nulls[32], drawn[BARS * sizeof "█"];
    bool readable = find_value(row, index, "count", &count);
    hac_cell_table_add(&s->table, name);
    hac_cell_table_add(&s->table, readable ? type : NULL);
    hac_cell_table_add(&s->table, count);
    if (readable && rows != NULL && count != NULL)
        snprintf(nulls, sizeof nulls, "%lld", strtoll(rows, NULL, 10) - strtoll(count, NULL, 10));
    hac_cell_table_add(&s->table, readable && rows != NULL && count != NULL ? nulls : NULL);
    for (size_t i = 4; i < N_SUMMARIZED - 1; i++) {
        (void)find_value(row, index, summarized[i].name, &value);
        hac_cell_table_add(&s->table, value);
    }
    if (s->table.n_columns < N_SUMMARIZED)
        return;
    (void)find_value(bars, index, "bars", &value);
    if (value != NULL)
        draw_bars(value, drawn);
    hac_cell_table_add(&s->table, value != NULL ? drawn : NULL);
}

/* Adds the counts of a column's values between its smallest and its largest one, if it has numbers. */
static void select_bars(hac_text *text, const row_result *row, size_t index, const char *name)
{
    const char *smallest, *largest, *mean;
    if (!find_value(row, index, "mean", &mean) || !find_value(row, index, "min", &smallest) ||
        !find_value(row, index, "max", &largest) || smallest == NULL || largest == NULL)
        return;
    double low = strtod(smallest, NULL), high = strtod(largest, NULL), capacity = (high - low) / 1e6;
    if (!isfinite(low) || !isfinite(capacity) || !(high > low) || !(high + capacity > high))
        return;
    hac_text_add(text, text->bytes > 0 ? ", histogram(" : "histogram(");
    hac_text_add_name(text, name);
    /* the upper end is not in the last bucket */
    hac_text_addf(text, ", %.17g, %.17g, %d) as \"%zu:bars\"", low, high + capacity, BARS, index);
}

/* Counts for the bars of the columns of a result. */
static hac_status ask_bars(const summary *s, const hac_job *job, const row_result *row, unsigned first,
                           row_result *ret, hac_error *err)
{
    hac_cleanup(answer_clear) answer counts = {.job = NULL};
    hac_text text = HAC_TEXT_NONE;
    hac_autofree char *select = NULL;
    const char *name, *type;
    for (size_t i = first; hac_job_column(job, i, &name, &type); i++)
        select_bars(&text, row, i, name);
    bool none = text.bytes == 0;
    hac_status status = hac_text_finish(&text, &select, NULL, err);
    if (status != HAC_OK || none)
        return status;
    status = ask(s, &(summary_question){HAC_SUMMARY_NONE, first, select, 1}, &counts, err);
    return status == HAC_OK ? read_row(&counts, ret, err) : status;
}

/* Adds the columns of a result; *ret_next is the first one that it does not have, 0 if there is none. */
static hac_status add_values(summary *s, const answer *values, unsigned first, unsigned *ret_next,
                             hac_error *err)
{
    hac_cleanup(row_clear) row_result row = {.n = 0}, bars = {.n = 0};
    const char *name, *type, *value;
    size_t i = first;
    hac_status status = read_row(values, &row, err);
    if (status == HAC_OK && s->table.n_columns == N_SUMMARIZED)
        status = ask_bars(s, values->job, &row, first, &bars, err);
    if (status != HAC_OK)
        return status;
    for (; hac_job_column(values->job, i, &name, &type); i++) {
        if (!find_value(&row, i, "count", &value) && !find_value(&row, i, "none", &value))
            break;
        add_summarized(s, &row, &bars, i, name, type);
    }
    *ret_next = hac_job_column(values->job, i, &name, &type) ? (unsigned)i : 0;
    return HAC_OK;
}

/* Whether an input is gone when it was read: standard input, a named pipe, what a shell writes as <(…). */
static bool reads_once(const hac_args *args)
{
    bool once = false;
    struct stat st;
    for (size_t i = 0; i < args->n_words && !once; i++)
        once = strcmp(args->words[i], "-") == 0 ||
               (stat(args->words[i], &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
    return once;
}

static hac_status summarize(summary *s, hac_error *err)
{
    hac_status status = HAC_OK;
    unsigned next = 0;
    do {
        hac_cleanup(answer_clear) answer values = {.job = NULL};
        unsigned first = next;
        if (first > 0 && reads_once(s->args))
            return hac_fail(
                err, HAC_FAILED,
                "summarize: the input has more than %u columns, and a pipe is read only once; save it "
                "first",
                first);
        status = ask(s, &(summary_question){HAC_SUMMARY_VALUES, first, NULL, 0}, &values, err);
        if (status == HAC_OK)
            status = add_values(s, &values, first, &next, err);
    } while (status == HAC_OK && next > 0);
    return status;
}

/* ---- output ---- */

static hac_status add_box(hac_job_output *outputs, const hac_cell_table *table, hac_error *err)
{
    hac_text tsv = HAC_TEXT_NONE;
    hac_autofree char *bytes = NULL;
    size_t n = 0;
    hac_cell_table_tsv(table, &tsv);
    hac_status status = hac_text_finish(&tsv, &bytes, &n, err);
    return status == HAC_OK ? hac_job_output_rows(outputs, bytes, n, err) : status;
}

static hac_status write_box(hac_job_output *outputs, const hac_cell_table *table, hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    hac_autofree char *drawn = NULL;
    const hac_box_look look = hac_output_look(outputs->result);
    const char *types[N_SUMMARIZED];
    for (size_t i = 0; i < table->n_columns; i++)
        types[i] = table->columns[i].type;
    hac_status status = add_box(outputs, table, err);
    if (status != HAC_OK)
        return status;
    hac_box_table_write(outputs->box, types, table->n_columns, &look, &text);
    status = hac_text_finish(&text, &drawn, NULL, err);
    return status == HAC_OK ? hac_output_write_text(outputs->result, drawn, err) : status;
}

static hac_status write_text(hac_job_output *outputs, const hac_cell_table *table, hac_result_form form,
                             hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    hac_autofree char *bytes = NULL;
    size_t n = 0;
    if (form == HAC_FORM_OF_JSON || form == HAC_FORM_OF_JSONL)
        hac_cell_table_json(table, &text);
    else if (form == HAC_FORM_OF_TSV)
        hac_cell_table_tsv(table, &text);
    else if (form == HAC_FORM_OF_MARKDOWN)
        hac_cell_table_markdown(table, &text);
    else
        hac_cell_table_csv(table, &text);
    hac_status status = hac_text_finish(&text, &bytes, &n, err);
    return status == HAC_OK ? hac_output_write(outputs->result, bytes, n, err) : status;
}

static hac_status write_rows(hac_job_output *outputs, const hac_cell_table *table, hac_result_form form,
                             hac_error *err)
{
    hac_status status =
        outputs->box != NULL ? write_box(outputs, table, err) : write_text(outputs, table, form, err);
    return status == HAC_OK ? hac_output_commit(outputs->result, err) : status;
}

/* Opens the output before the job starts. */
static hac_status open_output(const summary *s, hac_job_output *outputs, hac_result_form *ret_form,
                              hac_error *err)
{
    hac_status status = hac_result_form_choose(s->args, s->command, HAC_FORM_OF_CSV, ret_form, err);
    if (status == HAC_OK && (*ret_form == HAC_FORM_OF_PARQUET || *ret_form == HAC_FORM_OF_ARROW))
        status = hac_fail(err, HAC_INVALID,
                          "%s: the result is text; say --output-format csv, json, tsv, markdown or table",
                          s->command);
    if (status == HAC_OK)
        status = hac_job_output_check(s->args, true, err);
    if (status == HAC_OK)
        status = hac_job_output_open(outputs, s->args, true, err);
    return status == HAC_OK ? hac_job_output_take(outputs, *ret_form, false, err) : status;
}

hac_status hac_cmd_describe(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_job_output_close) hac_job_output outputs = {.result = NULL};
    hac_cleanup(answer_clear) answer columns = {.job = NULL};
    hac_cleanup(examples_clear) example_list examples = {.n = 0};
    summary s = {.cli = cli, .args = args, .command = "describe", .table = HAC_CELL_TABLE(described)};
    hac_result_form form;
    hac_status status = open_output(&s, &outputs, &form, err);
    if (status == HAC_OK)
        status = ask(&s, &(summary_question){HAC_SUMMARY_COLUMNS, 0, NULL, 0}, &columns, err);
    if (status == HAC_OK && !reads_once(args))
        status = list_columns(columns.job, &examples, err);
    if (status == HAC_OK)
        status = find_some(&s, &examples, 0, examples.n, err);
    if (status == HAC_OK && examples.why[0] != '\0')
        hac_cli_say(cli, "%s", examples.why);
    if (status == HAC_OK) {
        add_described(&s, columns.job, &examples);
        status = write_rows(&outputs, &s.table, form, err);
    }
    hac_cell_table_clear(&s.table);
    return status;
}

hac_status hac_cmd_summarize(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_job_output_close) hac_job_output outputs = {.result = NULL};
    summary s = {.cli = cli, .args = args, .command = "summarize", .table = HAC_CELL_TABLE(summarized)};
    hac_result_form form;
    hac_status status = open_output(&s, &outputs, &form, err);
    s.table.n_columns = outputs.box != NULL && !reads_once(args) ? N_SUMMARIZED : N_SUMMARIZED - 1;
    if (status == HAC_OK)
        status = summarize(&s, err);
    if (status == HAC_OK)
        status = write_rows(&outputs, &s.table, form, err);
    hac_cell_table_clear(&s.table);
    return status;
}
