/* SPDX-License-Identifier: Apache-2.0 */
#include "query_request.h"

#include "base/format.h"
#include "base/input_options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- jobs by name ---- */

static const hac_named_job named[] = {
    {"wordcount", "how often each word occurs", HAC_INPUT_WORDS, NULL, NULL, "word", "count() as count", NULL,
     NULL},
    {"histogram", "how often each byte value occurs", HAC_INPUT_FIXED, "value:u8", NULL, "value",
     "count() as count", "value", NULL},
    {"groupby", "rows and sum of `value` for each `key`", HAC_INPUT_NONE, "key:string,value:i64", NULL, "key",
     "count() as count, sum(value) as sum", NULL, NULL},
    {"inverted-index", "the documents of each term, of lines `document TAB term`", HAC_INPUT_KV, NULL, NULL,
     "value", "string_list(key) as documents", NULL, NULL},
    {"string-match", "the lines for which --where is true", HAC_INPUT_LINES, NULL, NULL, NULL, "line", NULL,
     "where"},
    {"linear-regression", "slope and intercept of `y` over `x`", HAC_INPUT_NONE, "x:f64,y:f64", NULL, NULL,
     "regr_slope(y, x) as slope, regr_intercept(y, x) as intercept, count(if(y is null, null, x)) as n", NULL,
     NULL},
    {"page-view-count", "views and different `visitor`s of each `url`", HAC_INPUT_NONE,
     "url:string,visitor:string", NULL, "url", "count() as views, count(distinct visitor) as visitors", NULL,
     NULL},
    {"k-means", "a step: means and sizes of the clusters around --centroids", HAC_INPUT_NONE, NULL, NULL,
     NULL, NULL, "cluster", "centroids"},
    {"matrix-multiply", "the rows of a matrix, multiplied by the matrix --with", HAC_INPUT_NONE, NULL, NULL,
     NULL, NULL, NULL, "with"},
};

const hac_named_job *hac_named_job_get(size_t index)
{
    return index < sizeof named / sizeof *named ? &named[index] : NULL;
}

const hac_named_job *hac_named_job_find(const char *name)
{
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(named[i].name, name) == 0)
            return &named[i];
    return NULL;
}

/* ---- the command line ---- */

/* The command line of a query. */
typedef struct hac_line {
    const char *command; /* for messages */
    const hac_args *args;
} hac_line;

/* ---- the result's form ---- */

static hac_status choose_output(hac_query_request *request, const hac_line *line, hac_result_form otherwise,
                                hac_error *err)
{
    hac_status status = hac_result_form_choose(line->args, line->command, otherwise, &request->form, err);
    request->arrow_file = hac_result_form_is_file(line->args);
    request->options.result_format = hac_result_form_format(request->form);
    return status;
}

#define BLOCK_BYTES   (UINT64_C(128) << 20)
#define GROUP_MIN     (UINT64_C(4) << 10) /* smallest row group of the Parquet writer */
#define ROW_GROUP_MAX (UINT64_C(1) << 40)

static hac_status check_size(const hac_args *args, hac_option_id id, uint64_t bytes, uint64_t max,
                             hac_error *err)
{
    if (bytes == 0 || (bytes >= GROUP_MIN && bytes <= max))
        return HAC_OK;
    return hac_fail(err, HAC_INVALID, "--%s %s: a row group must be 4KiB to 1TiB, and a block at least 4KiB",
                    hac_option_get(id)->name, args->values[id]);
}

/* A row group is not larger than a block, and a block not smaller than a row group: if only one size is
 * given, the other follows it. */
static hac_status take_sizes(hac_parquet_output *output, const hac_args *args, hac_error *err)
{
    hac_status status = hac_parse_bytes(args, HAC_OPT_ROW_GROUP_SIZE, &output->group_bytes, err);
    if (status == HAC_OK)
        status = hac_parse_bytes(args, HAC_OPT_BLOCK_SIZE, &output->block_bytes, err);
    if (status == HAC_OK)
        status = check_size(args, HAC_OPT_ROW_GROUP_SIZE, output->group_bytes, ROW_GROUP_MAX, err);
    if (status == HAC_OK)
        status = check_size(args, HAC_OPT_BLOCK_SIZE, output->block_bytes, UINT64_MAX, err);
    if (status != HAC_OK)
        return status;
    if (output->block_bytes != 0 && output->group_bytes > output->block_bytes)
        return hac_fail(err, HAC_INVALID,
                        "--row-group-size %s is more than --block-size %s: a row group lies in one block",
                        args->values[HAC_OPT_ROW_GROUP_SIZE], args->values[HAC_OPT_BLOCK_SIZE]);
    if (output->block_bytes == 0)
        output->block_bytes = output->group_bytes > BLOCK_BYTES ? output->group_bytes : BLOCK_BYTES;
    if (output->group_bytes == 0)
        output->group_bytes = output->block_bytes < BLOCK_BYTES ? output->block_bytes : BLOCK_BYTES;
    return HAC_OK;
}

/* Takes the options of Parquet results, and refuses them for other results. */
static hac_status take_parquet(hac_query_request *request, const hac_line *line, hac_error *err)
{
    const hac_args *args = line->args;
    hac_parquet_output *output = &request->options.parquet;
    if (request->options.result_format != HAC_RESULT_PARQUET)
        return hac_args_refuse(line->args, line->command, hac_options_in(HAC_SECTION_PARQUET),
                               "for results that are Parquet files", err);
    hac_status status = take_sizes(output, args, err);
    if (status == HAC_OK && hac_args_has(args, HAC_OPT_ROW_GROUP_ROWS)) {
        status = hac_parse_count(args->values[HAC_OPT_ROW_GROUP_ROWS], &output->group_rows, err);
        if (status == HAC_OK && output->group_rows == 0)
            status = hac_fail(err, HAC_INVALID, "there must be at least 1 row");
        if (status != HAC_OK)
            hac_error_prefix(err, "--row-group-rows");
    }
    output->compression = (hac_compression)hac_args_choice(args, HAC_OPT_CODEC);
    return status;
}

/* ---- values ---- */

/* Parses a share in percent into per mille. */
static hac_status parse_percent(const hac_args *args, hac_option_id id, uint32_t *ret, hac_error *err)
{
    const char *text = args->values[id];
    if (text == NULL)
        return HAC_OK;
    char *end;
    double percent = strtod(text, &end);
    if (*end == '%')
        end++;
    if (end == text || *end != '\0' || !(percent >= 0.1 && percent <= 100))
        return hac_fail(err, HAC_INVALID, "--%s cannot be '%.64s'; allowed: 0.1 to 100 (percent)",
                        hac_option_get(id)->name, text);
    *ret = (uint32_t)lround(percent * 10);
    return HAC_OK;
}

static hac_status parse_work(const hac_args *args, hac_option_id id, uint32_t *ret, hac_error *err)
{
    uint64_t count = 0;
    if (!hac_args_has(args, id))
        return HAC_OK;
    hac_status status = hac_parse_count(args->values[id], &count, err);
    if (status == HAC_OK && (count == 0 || count > 65536))
        status = hac_fail(err, HAC_INVALID, "--%s cannot be '%.64s'; allowed: 1 to 65536",
                          hac_option_get(id)->name, args->values[id]);
    *ret = (uint32_t)count;
    return status;
}

/* Joins the values of --null, which may be given several times. */
static hac_status join_nulls(const hac_args *args, char ret[HAC_NULL_BYTES_MAX + 1], hac_error *err)
{
    size_t used = 0, capacity = HAC_NULL_BYTES_MAX + 1;
    for (size_t i = 0; i < args->n_nulls; i++) {
        int n = snprintf(ret + used, capacity - used, "%s%s", i > 0 ? "," : "", args->nulls[i]);
        if ((size_t)n >= capacity - used)
            return hac_fail(err, HAC_INVALID,
                            "--null: the texts that stand for null have more than %zu bytes in all",
                            capacity - 1);
        used += (size_t)n;
    }
    return HAC_OK;
}

/* Takes the options of the input's format. */
static hac_status take_input_options(hac_query_request *request, const hac_args *args, hac_error *err)
{
    static const struct {
        hac_option_id in_args;
        hac_input_option_id id;
    } rows[] = {
#define HAC_INPUT_OPTION(id, ...) {HAC_OPT_##id, HAC_INPUT_OPTION_##id},
#include "base/input_options.def"
    };
    char nulls[HAC_NULL_BYTES_MAX + 1];
    hac_status status = join_nulls(args, nulls, err);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && status == HAC_OK; i++) {
        hac_input_option_id id = rows[i].id;
        const char *value = args->values[rows[i].in_args];
        if (!hac_args_has(args, rows[i].in_args))
            continue;
        if (id == HAC_INPUT_OPTION_NULL_TEXT)
            value = nulls;
        else if (hac_option_get(rows[i].in_args)->argument == NULL)
            value = hac_input_option_rows[id].kind == HAC_OPTION_OFF ? "false" : "true";
        status = hac_input_option_parse(id, value, &request->options.input_options, err);
        if (status != HAC_OK)
            hac_error_prefix(err, "--%s", hac_option_get(rows[i].in_args)->name);
    }
    return status;
}

static hac_status parse_rows(const hac_args *args, hac_option_id id, uint64_t *ret, hac_error *err)
{
    if (!hac_args_has(args, id))
        return HAC_OK;
    hac_status status = hac_parse_count(args->values[id], ret, err);
    if (status != HAC_OK)
        hac_error_prefix(err, "--%s", hac_option_get(id)->name);
    return status;
}

/* With --limit-by, --limit is the limit of each group. */
static hac_status parse_limits(hac_query_options *options, const hac_args *args, hac_error *err)
{
    uint64_t *limit = &options->limit;
    if (hac_args_has(args, HAC_OPT_LIMIT_BY)) {
        options->limit_by = args->values[HAC_OPT_LIMIT_BY];
        limit = &options->limit_each;
        if (!hac_args_has(args, HAC_OPT_LIMIT))
            return hac_fail(err, HAC_INVALID, "--limit-by: say with --limit how many rows of each");
    }
    hac_status status = parse_rows(args, HAC_OPT_LIMIT, limit, err);
    return status == HAC_OK ? parse_rows(args, HAC_OPT_OFFSET, &options->offset, err) : status;
}

static const char *either(const hac_args *args, hac_option_id id, const char *otherwise)
{
    return hac_args_has(args, id) ? args->values[id] : otherwise;
}

static void take_texts(hac_query_options *options, const hac_args *args, const hac_named_job *job)
{
    static const hac_named_job none = {.name = ""};
    const hac_named_job *from = job != NULL ? job : &none;
    options->schema = either(args, HAC_OPT_SCHEMA, from->schema);
    options->where = either(args, HAC_OPT_WHERE, from->where);
    options->group_by = either(args, HAC_OPT_GROUP_BY, from->group_by);
    options->select = either(args, HAC_OPT_SELECT, from->select);
    options->order_by = either(args, HAC_OPT_ORDER_BY, from->order_by);
    options->having = args->values[HAC_OPT_HAVING];
    options->distinct = hac_args_has(args, HAC_OPT_DISTINCT);
    options->engine = (hac_engine)hac_args_choice(args, HAC_OPT_ENGINE);
    const char *hot = args->values[HAC_OPT_HOT_KEYS];
    options->hot_keys = hot == NULL              ? HAC_HOT_KEYS_AUTO
                        : strcmp(hot, "on") == 0 ? HAC_HOT_KEYS_ON
                                                 : HAC_HOT_KEYS_OFF;
}

/* What the command line does not say is found in the first records. */
static hac_status take_finds(hac_query_options *options, const hac_args *args, hac_error *err)
{
    bool header = hac_args_has(args, HAC_OPT_HEADER), none = hac_args_has(args, HAC_OPT_NO_HEADER);
    if (header && none)
        return hac_fail(err, HAC_INVALID, "either --header or --no-header, not both");
    if (header && !hac_formats[options->input_format].header)
        return hac_fail(err, HAC_INVALID, "--header is for csv and tsv; the input has another format");
    options->find = (hac_args_has(args, HAC_OPT_DELIMITER) ? 0 : HAC_FIND_DELIMITER) |
                    (header || none ? 0 : HAC_FIND_HEADER) | HAC_FIND_FORMS;
    return HAC_OK;
}

static hac_status take_options(hac_query_request *request, const hac_args *args, hac_error *err)
{
    hac_query_options *options = &request->options;
    const char *infer = args->values[HAC_OPT_INFER];
    options->infer_schema = infer == NULL || strcmp(infer, "on") == 0;
    hac_status status = take_input_options(request, args, err);
    if (status == HAC_OK)
        status = take_finds(options, args, err);
    if (status == HAC_OK)
        status = parse_limits(options, args, err);
    if (status == HAC_OK)
        status = parse_percent(args, HAC_OPT_SAMPLE, &options->sample, err);
    if (status == HAC_OK)
        status = parse_percent(args, HAC_OPT_HOT_SHARE, &options->hot_share, err);
    if (status == HAC_OK)
        status = parse_work(args, HAC_OPT_WORK_GROUPS, &options->work_groups, err);
    if (status == HAC_OK)
        status = parse_work(args, HAC_OPT_WORK_ITEMS, &options->work_items, err);
    return status == HAC_OK ? hac_job_request_parse(&request->job, args, &options->job, err) : status;
}

/* ---- jobs with a table ---- */

/* The file that option `id` names; refuses the option unless the job wants it. */
static hac_status table_file(const hac_line *line, const hac_named_job *job, hac_option_id id,
                             const char **ret, hac_error *err)
{
    const char *path = line->args->values[id], *option = hac_option_get(id)->name;
    bool wanted = job != NULL && job->wants != NULL && strcmp(job->wants, option) == 0;
    if (path != NULL && !wanted)
        return hac_fail(err, HAC_INVALID,
                        "%s: --%s belongs to another job; `hacctl help mapreduce` says which", line->command,
                        option);
    *ret = wanted ? path : NULL;
    return HAC_OK;
}

/* Makes the query from the matrix in the file `path`. */
static hac_status take_matrix(hac_query_request *request, const char *path, const char *command,
                              hac_error *err)
{
    const hac_query_options *options = &request->options;
    char delimiter = (char)hac_format_delimiter(options->input_format, options->input_options.delimiter);
    if (delimiter == '\0' && options->input_format != HAC_INPUT_FIXED)
        return hac_fail(err, HAC_INVALID, "%s: matrix-multiply takes csv, tsv and fixed", command);
    if (options->schema != NULL)
        return hac_fail(err, HAC_INVALID, "%s: matrix-multiply takes no --schema: all columns are f64",
                        command);
    if (request->input.stream || request->input.compressed)
        return hac_fail(
            err, HAC_INVALID,
            "%s: matrix-multiply reads the first line of %.200s before the other lines, but it is %s first",
            command, request->input.names[0],
            request->input.stream ? "not a file; save it" : "compressed; unpack it");
    return hac_constant_query_multiply(path, request->input.names[0], delimiter, &request->table, err);
}

/* Takes the texts made from the table, unless the command line has its own. */
static hac_status take_table(hac_query_request *request, const hac_line *line, const hac_named_job *job,
                             hac_error *err)
{
    hac_query_options *options = &request->options;
    hac_constant_query *table = &request->table;
    const char *centroids = NULL, *matrix = NULL;
    hac_status status = table_file(line, job, HAC_OPT_CENTROIDS, &centroids, err);
    if (status == HAC_OK)
        status = table_file(line, job, HAC_OPT_WITH, &matrix, err);
    if (status == HAC_OK && centroids != NULL)
        status = hac_constant_query_k_means(centroids, options->where, table, err);
    if (status == HAC_OK && matrix != NULL)
        status = take_matrix(request, matrix, line->command, err);
    if (status != HAC_OK)
        return status;
    options->schema = options->schema != NULL ? options->schema : table->schema;
    options->where = table->where != NULL ? table->where : options->where;
    options->group_by = options->group_by != NULL ? options->group_by : table->group_by;
    options->select = options->select != NULL ? options->select : table->select;
    if (hac_formats[options->input_format].header)
        options->input_options.no_header |= table->no_header;
    if (job != NULL && job->wants != NULL)
        options->find = 0; /* the table was made for a comma and a header */
    return HAC_OK;
}

/* ---- the dialect of csv ---- */

/* Whether looking at the descriptor may wait. */
static bool is_stream(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && !S_ISREG(st.st_mode);
}

static hac_status look_at(hac_query_request *request, const char *name, int fd, bool stream, hac_error *err)
{
    if (stream != (fd >= 0 && is_stream(fd)))
        return HAC_OK;
    return hac_files_find_dialect(name, fd, &request->options, request->dialect, sizeof request->dialect,
                                  err);
}

hac_status hac_query_request_find_dialect(hac_query_request *request, bool stream, hac_error *err)
{
    hac_query_input *input = &request->input;
    if (request->in_splits) {
        const char *word = request->splits.words[0];
        return look_at(request, word, strcmp(word, "-") == 0 ? STDIN_FILENO : -1, stream, err);
    }
    size_t first = 0;
    while (first + 1 < input->n_files && input->bytes[first] == 0)
        first++;
    if (input->of_job.job != NULL || input->n_files == 0)
        return HAC_OK;
    hac_status status = look_at(request, input->names[first], input->fds[first], stream, err);
    input->dialect = hac_files_is_dialect(&request->options) != 0;
    return status;
}

/* ---- commands ---- */

static bool names_job(char *const *words, size_t n_words)
{
    bool found = false;
    for (size_t i = 0; i < n_words; i++)
        found |= hac_job_source_is(words[i]);
    return found;
}

static hac_status begin(hac_query_request *request, const hac_line *line, size_t first, size_t n_words,
                        hac_input_format format, hac_error *err)
{
    char **words = line->args->words + first;
    hac_status status = names_job(words, n_words)
                            ? hac_query_input_of_job(&request->input, line->command,
                                                     line->args->of_rank ? NULL : line->args->cli, words,
                                                     n_words, format, err)
                            : hac_query_input_name(&request->input, line->command, words, n_words, format,
                                                   &request->options, err);
    request->options.input_format = request->input.format;
    if (status == HAC_OK && request->input.format == HAC_INPUT_PARQUET)
        status = hac_args_refuse(
            line->args, line->command,
            hac_option_set_minus(hac_options_in(HAC_SECTION_TEXT), HAC_OPTION_SET(HAC_OPT_SCHEMA)),
            "for text, and Parquet files are not text", err);
    return status;
}

/* Takes all that follows the names; `otherwise` is the form of the result if no option or suffix tells. */
static hac_status finish(hac_query_request *request, const hac_line *line, const hac_named_job *job,
                         hac_result_form otherwise, hac_error *err)
{
    hac_status status = choose_output(request, line, otherwise, err);
    if (status == HAC_OK)
        status = take_parquet(request, line, err);
    if (status == HAC_OK)
        status = take_options(request, line->args, err);
    if (status == HAC_OK)
        status = hac_query_input_open(&request->input, line->command, err);
    if (status == HAC_OK)
        status = hac_query_request_find_dialect(request, false, err);
    return status == HAC_OK ? take_table(request, line, job, err) : status;
}

/* Groups without a --select: their keys are the result. */
static hac_status need_select(const hac_line *line, hac_error *err)
{
    if (hac_args_has(line->args, HAC_OPT_SELECT) || hac_args_has(line->args, HAC_OPT_GROUP_BY))
        return HAC_OK;
    return hac_fail(err, HAC_INVALID,
                    "%s: --select is missing: say what to compute for each group or row, for example "
                    "'count() as n'; --group-by alone gives the distinct keys",
                    line->command);
}

static hac_status check_job(const hac_line *line, size_t first, const hac_named_job *job, hac_error *err)
{
    const hac_args *args = line->args;
    if (job != NULL && job->wants != NULL && args->values[hac_option_find(job->wants)] == NULL)
        return hac_fail(err, HAC_INVALID, "%s: %s needs --%s", line->command, job->name, job->wants);
    if (job == NULL && !hac_args_has(args, HAC_OPT_SELECT) && args->n_words > first + 1 &&
        access(args->words[first], F_OK) != 0)
        return hac_fail(
            err, HAC_INVALID,
            "%s: '%.200s' is neither a named job nor a file; `hacctl help mapreduce` lists the jobs",
            line->command, args->words[first]);
    return job == NULL ? need_select(line, err) : HAC_OK;
}

static size_t words_from(const hac_args *args, size_t first)
{
    return args->n_words > first ? args->n_words - first : 0;
}

/* The format that --parse names; HAC_INPUT_NONE if it was not given. */
static hac_input_format asked_format(const hac_args *args)
{
    return hac_args_has(args, HAC_OPT_PARSE)
               ? hac_format_named(args->values[HAC_OPT_PARSE], strlen(args->values[HAC_OPT_PARSE]))
               : HAC_INPUT_NONE;
}

/* The format that the options say for the input `word`: a delimiter is one of csv, unless a suffix says that
 * the file has other fields. */
static hac_input_format format_for(const hac_args *args, const char *word)
{
    hac_input_format format = asked_format(args);
    if (format != HAC_INPUT_NONE || !hac_args_has(args, HAC_OPT_DELIMITER) || word == NULL ||
        hac_job_source_is(word))
        return format;
    hac_input_format by_suffix = hac_format_of_path(word);
    return by_suffix == HAC_INPUT_NONE || by_suffix == HAC_INPUT_LINES ? HAC_INPUT_CSV : format;
}

static const char *word_at(const hac_args *args, size_t first)
{
    return args->n_words > first ? args->words[first] : NULL;
}

/* Refuses formats that have columns of their own if the named job needs the columns of its schema. */
static hac_status check_columns(const hac_query_request *request, const hac_line *line,
                                const hac_named_job *job, hac_error *err)
{
    hac_input_format format = request->input.format;
    if (job == NULL || job->schema == NULL || hac_args_has(line->args, HAC_OPT_SCHEMA) ||
        (format != HAC_INPUT_LINES && format != HAC_INPUT_WORDS && format != HAC_INPUT_KV))
        return HAC_OK;
    return hac_fail(
        err, HAC_INVALID,
        "%s: %s reads the columns %s, and %.200s would be read as %s; say --parse csv (tsv, jsonl, "
        "fixed)",
        line->command, job->name, job->schema, request->input.names[0], hac_formats[format].name);
}

hac_status hac_query_request_parse(hac_query_request *request, const char *command, const hac_args *args,
                                   size_t first, hac_error *err)
{
    *request = (hac_query_request){.options = HAC_QUERY_OPTIONS_INIT};
    hac_line line = {command, args};
    const hac_named_job *job = args->n_words > first ? hac_named_job_find(args->words[first]) : NULL;
    hac_input_format format = format_for(args, word_at(args, first + (job != NULL)));
    if (format == HAC_INPUT_NONE && job != NULL)
        format = job->format;
    take_texts(&request->options, args, job);
    hac_status status = check_job(&line, first, job, err);
    first += job != NULL;
    request->named = job;
    if (status == HAC_OK)
        status = begin(request, &line, first, words_from(args, first), format, err);
    if (status == HAC_OK)
        status = check_columns(request, &line, job, err);
    return status == HAC_OK ? finish(request, &line, job, HAC_FORM_OF_CSV, err) : status;
}

hac_status hac_query_request_parquet(hac_query_request *request, const char *command, const hac_args *args,
                                     size_t first, hac_error *err)
{
    *request = (hac_query_request){.options = HAC_QUERY_OPTIONS_INIT};
    hac_line line = {command, args};
    take_texts(&request->options, args, NULL);
    hac_status status = need_select(&line, err);
    if (status == HAC_OK)
        status = begin(request, &line, first, words_from(args, first), format_for(args, word_at(args, first)),
                       err);
    request->convert = request->input.format != HAC_INPUT_PARQUET;
    return status == HAC_OK ? finish(request, &line, NULL, HAC_FORM_OF_CSV, err) : status;
}

static hac_status check_raw(const hac_line *line, hac_error *err)
{
    const hac_args *args = line->args;
    hac_input_format asked = asked_format(args);
    if (asked != HAC_INPUT_NONE && asked != HAC_INPUT_FIXED)
        return hac_fail(err, HAC_INVALID, "%s: --type is for raw arrays, but --parse says %s", line->command,
                        args->values[HAC_OPT_PARSE]);
    return hac_args_refuse(line->args, line->command, hac_options_in(HAC_SECTION_TEXT),
                           "not for raw arrays, and --type says that the input is one", err);
}

/* Refuses an OUT whose suffix promises another form: it is more likely the input. */
static hac_status check_out(const hac_line *line, const char *out, hac_error *err)
{
    hac_result_form form = HAC_FORM_OF_PARQUET;
    if (hac_result_form_of_path(out, HAC_FORM_OF_PARQUET, &form) && form == HAC_FORM_OF_PARQUET)
        return HAC_OK;
    return hac_fail(
        err, HAC_INVALID,
        "%s: the result is a Parquet file, but the suffix of %.200s says otherwise; IN comes before OUT",
        line->command, out);
}

hac_status hac_query_request_convert(hac_query_request *request, const char *command, const hac_args *args,
                                     size_t first, hac_error *err)
{
    *request = (hac_query_request){.options = HAC_QUERY_OPTIONS_INIT};
    hac_args own = *args;
    hac_line line = {command, &own};
    const char *type = args->values[HAC_OPT_TYPE];
    if (words_from(args, first) != 2)
        return hac_fail(err, HAC_INVALID, "%s: name the input and the output, IN OUT", command);
    own.values[HAC_OPT_OUTPUT] = args->words[first + 1];
    take_texts(&request->options, args, NULL);
    request->options.select = "*";
    request->all_columns = true;
    hac_status status = check_out(&line, args->words[first + 1], err);
    if (status == HAC_OK && type != NULL)
        status = check_raw(&line, err);
    if (status == HAC_OK)
        status = begin(request, &line, first, 1,
                       type != NULL ? HAC_INPUT_FIXED : format_for(args, word_at(args, first)), err);
    if (type != NULL) {
        snprintf(request->schema, sizeof request->schema, "value:%s", type);
        request->options.schema = request->schema;
    }
    return status == HAC_OK ? finish(request, &line, NULL, HAC_FORM_OF_PARQUET, err) : status;
}

bool hac_query_request_is_sort(const hac_args *args)
{
    return hac_args_has(args, HAC_OPT_INPUT_FORMAT) || hac_args_has(args, HAC_OPT_KEY);
}

hac_status hac_query_request_sort(hac_query_request *request, const char *command, const hac_args *args,
                                  size_t first, hac_error *err)
{
    *request = (hac_query_request){.options = HAC_QUERY_OPTIONS_INIT};
    hac_line line = {command, args};
    const char *format = args->values[HAC_OPT_INPUT_FORMAT];
    if (!hac_args_has(args, HAC_OPT_KEY))
        return hac_fail(err, HAC_INVALID, "%s: rows are sorted by columns; say --key 'a desc, b'", command);
    if (words_from(args, first) != 1)
        return hac_fail(err, HAC_INVALID, "%s: name one input", command);
    take_texts(&request->options, args, NULL);
    request->options.select = "*";
    request->options.sort_rows = 1;
    request->all_columns = true;
    request->options.order_by = args->values[HAC_OPT_KEY];
    hac_status status = hac_args_refuse(args, command, HAC_OPTION_SET(HAC_OPT_DESCENDING),
                                        "not for whole rows; say --key 'a desc' for each key", err);
    if (status == HAC_OK)
        status = hac_args_refuse(args, command, hac_options_in(HAC_SECTION_ARRAY),
                                 "for raw arrays, not for whole rows", err);
    if (status == HAC_OK)
        status = begin(request, &line, first, 1,
                       format != NULL ? hac_format_named(format, strlen(format)) : HAC_INPUT_NONE, err);
    bool parquet = request->input.format == HAC_INPUT_PARQUET;
    if (status == HAC_OK && !parquet && request->input.format != HAC_INPUT_CSV)
        status = hac_fail(err, HAC_INVALID,
                          "%s: rows of csv and parquet can be sorted; say which with "
                          "--input-format",
                          command);
    return status == HAC_OK
               ? finish(request, &line, NULL, parquet ? HAC_FORM_OF_PARQUET : HAC_FORM_OF_CSV, err)
               : status;
}

/* ---- splits ---- */

/* Finishes a request of splice or pipe, once the input is named. */
static hac_status finish_splits(hac_query_request *request, const hac_line *line, hac_error *err)
{
    request->in_splits = true;
    request->options.plan_splits = 1;
    request->options.input_format = request->splits.format;
    hac_status status = hac_parse_bytes(line->args, HAC_OPT_SPLIT_SIZE, &request->split_bytes, err);
    if (status == HAC_OK)
        status = take_options(request, line->args, err);
    if (request->finds_nothing)
        request->options.find = 0;
    return status == HAC_OK ? hac_query_request_find_dialect(request, false, err) : status;
}

hac_status hac_query_request_splice(hac_query_request *request, const char *command, const hac_args *args,
                                    size_t first, hac_error *err)
{
    *request = (hac_query_request){.options = HAC_QUERY_OPTIONS_INIT};
    hac_line line = {command, args};
    take_texts(&request->options, args, NULL);
    size_t n_words = words_from(args, first);
    hac_status status = need_select(&line, err);
    if (status == HAC_OK && names_job(args->words + first, n_words)) {
        status = begin(request, &line, first, n_words, asked_format(args), err);
        return status == HAC_OK ? finish(request, &line, NULL, HAC_FORM_OF_CSV, err) : status;
    }
    if (status == HAC_OK)
        status = hac_split_input_name(&request->splits, command, args->words + first, n_words,
                                      format_for(args, word_at(args, first)), err);
    if (status == HAC_OK)
        status = choose_output(request, &line, HAC_FORM_OF_CSV, err);
    if (status == HAC_OK)
        status = take_parquet(request, &line, err);
    return status == HAC_OK ? finish_splits(request, &line, err) : status;
}

/* ---- query ---- */

static unsigned files_wanted(const hac_args *args)
{
    return HAC_FILES_PATTERNS | hac_query_files_of(asked_format(args));
}

/* Takes the texts of a SQL statement, in place of the options of a query. */
static hac_status take_sql(hac_query_request *request, const hac_line *line, const char *text, hac_error *err)
{
    const hac_option_set same =
        HAC_OPTION_SET(HAC_OPT_WHERE, HAC_OPT_GROUP_BY, HAC_OPT_HAVING, HAC_OPT_SELECT, HAC_OPT_ORDER_BY,
                       HAC_OPT_LIMIT, HAC_OPT_LIMIT_BY, HAC_OPT_OFFSET, HAC_OPT_DISTINCT);
    hac_status status = hac_args_refuse(line->args, line->command, same,
                                        "not possible beside SQL, which has a clause for it", err);
    if (status == HAC_OK)
        status = hac_sql_read(text, &request->sql, err);
    if (status != HAC_OK)
        return status;
    hac_sql_apply(request->sql, &request->options);
    const char *source;
    for (size_t i = 0; status == HAC_OK && (source = hac_sql_source(request->sql, i)) != NULL; i++)
        status = hac_query_source_add(&request->source, line->command, source, files_wanted(line->args), err);
    return status;
}

static hac_status take_sources(hac_query_request *request, const hac_line *line, size_t first, hac_error *err)
{
    const hac_args *args = line->args;
    if (words_from(args, first) == 1 && hac_query_source_is_sql(args->words[first]))
        return take_sql(request, line, args->words[first], err);
    hac_status status = HAC_OK;
    for (size_t i = first; i < args->n_words && status == HAC_OK; i++)
        status =
            hac_query_source_add(&request->source, line->command, args->words[i], files_wanted(args), err);
    if (request->options.select == NULL && request->options.group_by == NULL)
        request->options.select = "*";
    return status;
}

/* Names the input, and takes the other options. */
static hac_status finish_query(hac_query_request *request, const hac_line *line, hac_error *err)
{
    const hac_query_source *source = &request->source;
    if (!source->splits) {
        hac_status status = begin(request, line, 0, source->n_paths, source->format, err);
        if (source->note[0] != '\0')
            snprintf(request->input.note, sizeof request->input.note, "%s", source->note);
        return status == HAC_OK ? finish(request, line, NULL, HAC_FORM_OF_CSV, err) : status;
    }
    hac_status status = hac_split_input_name(&request->splits, line->command, source->paths, source->n_paths,
                                             source->format, err);
    if (status == HAC_OK)
        status = choose_output(request, line, HAC_FORM_OF_CSV, err);
    if (status == HAC_OK)
        status = take_parquet(request, line, err);
    return status == HAC_OK ? finish_splits(request, line, err) : status;
}

hac_status hac_query_request_query(hac_query_request *request, const char *command, const hac_args *args,
                                   size_t first, hac_error *err)
{
    *request = (hac_query_request){.options = HAC_QUERY_OPTIONS_INIT};
    hac_line line = {command, args};
    take_texts(&request->options, args, NULL);
    hac_status status = take_sources(request, &line, first, err);
    hac_input_format format = asked_format(args);
    if (format == HAC_INPUT_NONE && request->sql != NULL)
        format = hac_sql_format(request->sql);
    if (format == HAC_INPUT_NONE && request->source.n_paths > 0)
        format = format_for(args, request->source.paths[0]);
    if (status == HAC_OK)
        status = hac_query_source_choose(&request->source, command, format, err);
    request->options.input_format = request->source.format;
    if (status == HAC_OK)
        status = hac_query_source_apply(&request->source, &request->options, err);
    if (status == HAC_OK)
        status = hac_query_source_choose(&request->source, command, request->source.format, err);
    if (status != HAC_OK)
        return status;
    hac_args own = *args;
    own.words = request->source.paths;
    own.n_words = request->source.n_paths;
    bool formed = hac_args_has(args, HAC_OPT_OUTPUT_FORMAT) || hac_args_has(args, HAC_OPT_OUTPUT);
    if (hac_args_has(args, HAC_OPT_JSON) && !formed)
        own.values[HAC_OPT_OUTPUT_FORMAT] = "json";
    line.args = &own;
    return finish_query(request, &line, err);
}

/* Without --header there is no header line: the parts of a file that Hadoop and Spark hand to tasks have
 * none. */
static hac_status take_header(hac_query_request *request, const hac_line *line, hac_error *err)
{
    bool header = hac_args_has(line->args, HAC_OPT_HEADER);
    bool fields = hac_formats[request->splits.format].header;
    if (header && hac_args_has(line->args, HAC_OPT_NO_HEADER))
        return hac_fail(err, HAC_INVALID, "%s: either --header or --no-header, not both", line->command);
    if (header && !fields)
        return hac_fail(err, HAC_INVALID, "%s: --header is for csv and tsv; --parse says another format",
                        line->command);
    if (fields && !header && !hac_args_has(line->args, HAC_OPT_SCHEMA))
        return hac_fail(err, HAC_INVALID,
                        "%s: the columns need names; say --schema 'a:i64,b:string', or --header if the first "
                        "line has them",
                        line->command);
    request->options.input_options.no_header = fields && !header;
    request->finds_nothing = true;
    return HAC_OK;
}

hac_status hac_query_request_pipe(hac_query_request *request, const char *command, const hac_args *args,
                                  hac_error *err)
{
    static char standard[] = "-", *const words[] = {standard};
    *request = (hac_query_request){.options = HAC_QUERY_OPTIONS_INIT};
    hac_line line = {command, args};
    bool typed = strcmp(either(args, HAC_OPT_IO, "text"), "typedbytes") == 0;
    hac_input_format format = asked_format(args);
    if (format == HAC_INPUT_NONE)
        format = typed ? HAC_INPUT_TYPEDBYTES : HAC_INPUT_LINES;
    take_texts(&request->options, args, NULL);
    request->options.result_format = typed ? HAC_RESULT_TYPEDBYTES : HAC_RESULT_TSV;
    hac_status status = need_select(&line, err);
    if (status == HAC_OK)
        status = hac_split_input_name(&request->splits, command, words, 1, format, err);
    if (status == HAC_OK)
        status = take_header(request, &line, err);
    return status == HAC_OK ? finish_splits(request, &line, err) : status;
}

const char *hac_query_request_assumed(const hac_query_request *request)
{
    const char *const texts[] = {request->source.assumed, request->input.source.assumed,
                                 request->splits.assumed};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i][0] != '\0')
            return texts[i];
    return "";
}

/* Skips "character 30: " at the front of the text; *ret_at is the number, 0 if there is none. */
static const char *skip_place(const char *text, unsigned long *ret_at)
{
    static const char word[] = "character ";
    char *end = NULL;
    *ret_at = 0;
    if (strncmp(text, word, sizeof word - 1) != 0)
        return text;
    unsigned long at = strtoul(text + sizeof word - 1, &end, 10);
    if (strncmp(end, ": ", 2) != 0)
        return text;
    *ret_at = at;
    return end + 2;
}

/* Writes the job's name, and the file that its query was made from. */
static void say_job(const hac_query_request *request, const hac_args *args, char *ret, size_t bytes)
{
    const char *wants = request->named->wants;
    bool of_file = wants != NULL && hac_option_get(hac_option_find(wants))->choices != NULL;
    if (of_file)
        snprintf(ret, bytes, "%s --%s %.200s", request->named->name, wants,
                 args->values[hac_option_find(wants)]);
    else
        snprintf(ret, bytes, "%s", request->named->name);
}

/* A field that is no key: the fields of a sort stay as they are, and the key is a cast of the field. */
static void reword_key_value(char *said, hac_error *err)
{
    static const char order[] = ", --order-by: ", hint[] = "; try_cast gives null instead";
    char *at = strstr(said, order), *end = at != NULL ? strstr(at, hint) : NULL;
    if (end == NULL)
        return;
    *at = *end = '\0';
    (void)hac_fail(err, err->code, "%s, --key: %s; say --schema 'COLUMN:string' to sort by its text", said,
                   at + sizeof order - 1);
}

static void reword_all_columns(hac_error *err)
{
    static const char select[] = "--select: ", order[] = "--order-by: ";
    char said[HAC_ERROR_MESSAGE_SIZE];
    unsigned long at;
    snprintf(said, sizeof said, "%s", err->message);
    if (strncmp(said, select, sizeof select - 1) == 0)
        (void)hac_fail(err, err->code, "%s", skip_place(said + sizeof select - 1, &at));
    else if (strncmp(said, order, sizeof order - 1) == 0)
        (void)hac_fail(err, err->code, "--key: %s", said + sizeof order - 1);
    else
        reword_key_value(said, err);
}

void hac_query_request_reword(const hac_query_request *request, const hac_args *args, hac_error *err)
{
    static const hac_option_id texts[] = {HAC_OPT_SCHEMA, HAC_OPT_WHERE, HAC_OPT_GROUP_BY, HAC_OPT_SELECT,
                                          HAC_OPT_ORDER_BY};
    char said[HAC_ERROR_MESSAGE_SIZE], job[256];
    unsigned long at = 0;
    if (err != NULL && request->sql != NULL)
        hac_sql_reword(request->sql, err);
    if (err != NULL && request->all_columns)
        reword_all_columns(err);
    if (err == NULL || request->named == NULL)
        return;
    snprintf(said, sizeof said, "%s", err->message);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *name = hac_option_get(texts[i])->name;
        size_t length = strlen(name);
        if (strncmp(said, "--", 2) != 0 || strncmp(said + 2, name, length) != 0 || said[2 + length] != ':')
            continue;
        const char *rest = skip_place(said + 2 + length + strspn(said + 2 + length, ": "), &at);
        bool own = hac_args_has(args, texts[i]);
        say_job(request, args, job, sizeof job);
        if (!own)
            (void)hac_fail(err, err->code, "%s: %s", job, rest);
        else if (texts[i] == HAC_OPT_WHERE && request->table.where != NULL &&
                 at > 1) /* after hacctl's parenthesis */
            (void)hac_fail(err, err->code, "--%s: character %lu: %s", name, at - 1, rest);
        return;
    }
}

void hac_query_reads_parquet(hac_query_options *options)
{
    options->input_format = HAC_INPUT_PARQUET;
    options->schema = NULL;
    options->input_options = (hac_input_options){0};
    options->find = 0;
}

void hac_query_request_clear(hac_query_request *request)
{
    hac_query_input_clear(&request->input);
    hac_query_source_clear(&request->source);
    hac_sql_free(request->sql);
    request->sql = NULL;
    hac_job_request_clear(&request->job);
    hac_constant_query_clear(&request->table);
}
