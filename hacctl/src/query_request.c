/* SPDX-License-Identifier: Apache-2.0 */
#include "query_request.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- jobs by name ---- */

/* Of the rows that have both x and y. */
#define N_XY   "count(x * y)"
#define SUM_X  "sum(if(y is null, null, x))"
#define SUM_Y  "sum(if(x is null, null, y))"
#define SUM_XX "sum(if(y is null, null, x * x))"

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
     "(" N_XY " * sum(x * y) - " SUM_X " * " SUM_Y ") / (" N_XY " * " SUM_XX " - " SUM_X " * " SUM_X
     ") as slope, (" SUM_Y " * " SUM_XX " - " SUM_X " * sum(x * y)) / (" N_XY " * " SUM_XX " - " SUM_X
     " * " SUM_X ") as intercept, " N_XY " as n",
     NULL, NULL},
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

/* ---- formats ---- */

static const struct {
    const char *name;
    hac_input_format format;
} formats[] = {{"csv", HAC_INPUT_CSV},     {"tsv", HAC_INPUT_TSV},     {"jsonl", HAC_INPUT_JSONL},
               {"lines", HAC_INPUT_LINES}, {"words", HAC_INPUT_WORDS}, {"kv", HAC_INPUT_KV},
               {"fixed", HAC_INPUT_FIXED}};

static hac_input_format format_of(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return formats[i].format;
    return HAC_INPUT_NONE;
}

static const char *suffix_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name ? dot : "";
}

static hac_input_format format_by_suffix(const char *path)
{
    static const struct {
        const char *suffix;
        hac_input_format format;
    } known[] = {{".csv", HAC_INPUT_CSV},
                 {".tsv", HAC_INPUT_TSV},
                 {".jsonl", HAC_INPUT_JSONL},
                 {".ndjson", HAC_INPUT_JSONL},
                 {".txt", HAC_INPUT_LINES}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(known[i].suffix, suffix_of(path)) == 0)
            return known[i].format;
    return HAC_INPUT_NONE;
}

static hac_status refuse_compressed(const char *path, hac_error *err)
{
    const char *suffix = suffix_of(path);
    if (strcasecmp(suffix, ".gz") != 0 && strcasecmp(suffix, ".zst") != 0)
        return HAC_OK;
    return hac_fail(err, HAC_INVALID,
                    "%.200s is compressed, which this version does not read; unpack it first", path);
}

static hac_status choose_format(hac_query_request *request, const char *command, const hac_args *args,
                                const hac_named_job *job, hac_error *err)
{
    hac_query_options *options = &request->options;
    const char *asked = args->values[HAC_OPT_PARSE];
    for (size_t i = 0; i < request->n_files; i++) {
        hac_status status = refuse_compressed(request->names[i], err);
        if (status != HAC_OK)
            return status;
    }
    if (asked != NULL || (job != NULL && job->format != HAC_INPUT_NONE)) {
        options->input_format = asked != NULL ? format_of(asked) : job->format;
        return HAC_OK;
    }
    options->input_format = format_by_suffix(request->names[0]);
    if (options->input_format == HAC_INPUT_NONE)
        return hac_fail(err, HAC_INVALID,
                        "%s: how is %.200s to be read? Its suffix does not say; say --parse "
                        "csv|tsv|jsonl|lines|words|kv|fixed",
                        command, request->names[0]);
    for (size_t i = 1; i < request->n_files; i++)
        if (format_by_suffix(request->names[i]) != options->input_format)
            return hac_fail(
                err, HAC_INVALID,
                "%s: %.200s and %.200s have different suffixes; say how to read them with --parse", command,
                request->names[0], request->names[i]);
    return HAC_OK;
}

/* A suffix that promises another form than the result can have. */
static bool is_other_form(const char *suffix)
{
    static const char *const others[] = {".tsv", ".parquet", ".gz", ".zst"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcasecmp(others[i], suffix) == 0)
            return true;
    return false;
}

/* --output-format, or the suffix of -o. */
static hac_status choose_output(hac_query_request *request, const char *command, const hac_args *args,
                                hac_error *err)
{
    const char *asked = args->values[HAC_OPT_OUTPUT_FORMAT], *path = args->values[HAC_OPT_OUTPUT];
    bool json = asked != NULL && strcmp(asked, "json") == 0;
    if (asked == NULL && path != NULL) {
        const char *suffix = suffix_of(path);
        if (is_other_form(suffix))
            return hac_fail(err, HAC_INVALID,
                            "%s: results are csv or json, which %.200s is not by its suffix; choose another "
                            "name, or say --output-format csv or json",
                            command, path);
        json = strcasecmp(suffix, ".json") == 0 || strcasecmp(suffix, ".jsonl") == 0 ||
               strcasecmp(suffix, ".ndjson") == 0;
    }
    request->options.result_format = json ? HAC_RESULT_JSON : HAC_RESULT_CSV;
    return HAC_OK;
}

/* ---- values ---- */

/* A share in percent, to per mille. */
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

static hac_status parse_delimiter(hac_query_request *request, const hac_args *args, hac_error *err)
{
    const char *text = args->values[HAC_OPT_DELIMITER];
    if (text == NULL)
        return HAC_OK;
    if (strcmp(text, "\\t") == 0 || strcmp(text, "tab") == 0)
        text = "\t";
    if (strlen(text) != 1 || strchr("\"\r\n", text[0]) != NULL)
        return hac_fail(err, HAC_INVALID, "--delimiter cannot be '%.64s'; allowed: one byte, or \\t", text);
    request->options.delimiter = (unsigned char)text[0];
    return HAC_OK;
}

static hac_status parse_null(hac_query_request *request, const hac_args *args, hac_error *err)
{
    const char *text = args->values[HAC_OPT_NULL];
    if (text == NULL)
        return HAC_OK;
    if (strlen(text) >= sizeof request->null_text)
        return hac_fail(err, HAC_INVALID, "--null cannot have more than %zu bytes",
                        sizeof request->null_text - 1);
    strcpy(request->null_text, text);
    request->options.null_text = request->null_text;
    return HAC_OK;
}

static hac_status parse_limit(hac_query_request *request, const hac_args *args, hac_error *err)
{
    if (!hac_args_has(args, HAC_OPT_LIMIT))
        return HAC_OK;
    hac_status status = hac_parse_count(args->values[HAC_OPT_LIMIT], &request->options.limit, err);
    if (status != HAC_OK)
        hac_error_prefix(err, "--limit");
    return status;
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
    options->no_header = hac_args_has(args, HAC_OPT_NO_HEADER);
    options->skip_errors = strcmp(either(args, HAC_OPT_ON_ERROR, "fail"), "skip") == 0;
    const char *way = either(args, HAC_OPT_WAY, "auto");
    options->way = strcmp(way, "host") == 0     ? HAC_QUERY_WAY_HOST
                   : strcmp(way, "flow-c") == 0 ? HAC_QUERY_WAY_FLOW_C
                                                : HAC_QUERY_WAY_AUTO;
    const char *hot = args->values[HAC_OPT_HOT_KEYS];
    options->hot_keys = hot == NULL              ? HAC_HOT_KEYS_AUTO
                        : strcmp(hot, "on") == 0 ? HAC_HOT_KEYS_ON
                                                 : HAC_HOT_KEYS_OFF;
}

static hac_status take_options(hac_query_request *request, const hac_args *args, hac_error *err)
{
    hac_query_options *options = &request->options;
    hac_status status = parse_delimiter(request, args, err);
    if (status == HAC_OK)
        status = parse_null(request, args, err);
    if (status == HAC_OK)
        status = parse_limit(request, args, err);
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

/* The file that `id` names, of a job that wants it; of others it is refused. */
static hac_status table_file(const char *command, const hac_args *args, const hac_named_job *job,
                             hac_option_id id, const char **ret, hac_error *err)
{
    const char *path = args->values[id], *option = hac_option_get(id)->name;
    bool wanted = job != NULL && job->wants != NULL && strcmp(job->wants, option) == 0;
    if (path != NULL && !wanted)
        return hac_fail(err, HAC_INVALID, "%s: --%s is of another job; `hacctl help mapreduce` says of which",
                        command, option);
    *ret = wanted ? path : NULL;
    return HAC_OK;
}

/* `path` is the matrix. */
static hac_status take_matrix(hac_query_request *request, const char *path, const char *command,
                              hac_error *err)
{
    const hac_query_options *options = &request->options;
    char delimiter = options->delimiter != 0 ? (char)options->delimiter : ',';
    if (options->input_format == HAC_INPUT_TSV)
        delimiter = '\t';
    else if (options->input_format == HAC_INPUT_FIXED)
        delimiter = '\0';
    else if (options->input_format != HAC_INPUT_CSV)
        return hac_fail(err, HAC_INVALID, "%s: matrix-multiply takes csv, tsv and fixed", command);
    if (options->schema != NULL)
        return hac_fail(err, HAC_INVALID, "%s: matrix-multiply takes no --schema: all columns are f64",
                        command);
    return hac_table_query_multiply(path, request->names[0], delimiter, &request->table, err);
}

/* The texts that the table makes, where the command line has none. */
static hac_status take_table(hac_query_request *request, const char *command, const hac_args *args,
                             const hac_named_job *job, hac_error *err)
{
    hac_query_options *options = &request->options;
    hac_table_query *table = &request->table;
    const char *centroids = NULL, *matrix = NULL;
    hac_status status = table_file(command, args, job, HAC_OPT_CENTROIDS, &centroids, err);
    if (status == HAC_OK)
        status = table_file(command, args, job, HAC_OPT_WITH, &matrix, err);
    if (status == HAC_OK && centroids != NULL)
        status = hac_table_query_k_means(centroids, options->where, table, err);
    if (status == HAC_OK && matrix != NULL)
        status = take_matrix(request, matrix, command, err);
    if (status != HAC_OK)
        return status;
    options->schema = options->schema != NULL ? options->schema : table->schema;
    options->where = table->where != NULL ? table->where : options->where;
    options->group_by = options->group_by != NULL ? options->group_by : table->group_by;
    options->select = options->select != NULL ? options->select : table->select;
    options->no_header |= table->no_header;
    return HAC_OK;
}

/* ---- files ---- */

static hac_status open_file(hac_query_request *request, size_t index, hac_error *err)
{
    const char *path = request->names[index];
    struct stat st;
    /* a pipe without a writer must not keep us */
    int fd = request->fds[index] = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%s", path);
    if (S_ISDIR(st.st_mode))
        return hac_fail(err, HAC_FAILED, "%.200s: is a directory", path);
    if (!S_ISREG(st.st_mode))
        return hac_fail(err, HAC_FAILED, "%.200s: is no regular file; save it first", path);
    request->bytes[index] = (uint64_t)st.st_size;
    return HAC_OK;
}

static hac_status name_files(hac_query_request *request, const char *command, const hac_args *args,
                             size_t first, hac_error *err)
{
    size_t n = args->n_words > first ? args->n_words - first : 0;
    if (n == 0)
        return hac_fail(err, HAC_INVALID, "%s: of which files? Name at least one", command);
    if (n > HAC_QUERY_FILES_MAX)
        return hac_fail(err, HAC_INVALID, "%s: %zu files are too many; %d are possible", command, n,
                        HAC_QUERY_FILES_MAX);
    for (size_t i = 0; i < n; i++) {
        request->names[i] = args->words[first + i];
        if (strcmp(request->names[i], "-") == 0)
            return hac_fail(err, HAC_INVALID, "%s: standard input is not read; name a file", command);
    }
    request->n_files = n;
    return HAC_OK;
}

hac_status hac_query_request_parse(hac_query_request *request, const char *command, const hac_args *args,
                                   size_t first, hac_error *err)
{
    *request = (hac_query_request){.options = HAC_QUERY_OPTIONS_INIT};
    for (size_t i = 0; i < HAC_QUERY_FILES_MAX; i++)
        request->fds[i] = -1;
    const hac_named_job *job = args->n_words > first ? hac_named_job_find(args->words[first]) : NULL;
    if (job != NULL && job->wants != NULL && args->values[hac_option_find(job->wants)] == NULL)
        return hac_fail(err, HAC_INVALID, "%s: %s needs --%s", command, job->name, job->wants);
    if (job == NULL && !hac_args_has(args, HAC_OPT_SELECT) && args->n_words > first + 1 &&
        access(args->words[first], F_OK) != 0)
        return hac_fail(err, HAC_INVALID,
                        "%s: '%.200s' is neither a job that has a name nor a file; `hacctl help "
                        "mapreduce` lists the jobs",
                        command, args->words[first]);
    if (job == NULL && !hac_args_has(args, HAC_OPT_SELECT))
        return hac_fail(err, HAC_INVALID,
                        "%s: what is wanted of each group or row? Say --select, for example 'count() as n'",
                        command);
    take_texts(&request->options, args, job);
    hac_status status = name_files(request, command, args, first + (job != NULL), err);
    if (status == HAC_OK)
        status = choose_format(request, command, args, job, err);
    if (status == HAC_OK)
        status = choose_output(request, command, args, err);
    if (status == HAC_OK)
        status = take_options(request, args, err);
    if (status == HAC_OK)
        status = take_table(request, command, args, job, err);
    for (size_t i = 0; i < request->n_files && status == HAC_OK; i++)
        status = open_file(request, i, err);
    return status;
}

void hac_query_request_clear(hac_query_request *request)
{
    for (size_t i = 0; i < request->n_files; i++)
        hac_close(request->fds[i]);
    request->n_files = 0;
    hac_job_request_clear(&request->job);
    hac_table_query_clear(&request->table);
}
