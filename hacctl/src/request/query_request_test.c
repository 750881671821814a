/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines of queries, and what hacctl then asks libhac for. */
#include "query_request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/hac-test-XXXXXX";
static hac_query_request request;
static hac_args args;
static char *words[260];

static int set_up(void **state)
{
    static const char *const names[] = {"a.csv", "b.csv",    "c.tsv",     "d.jsonl", "e.ndjson", "f.txt",
                                        "g.dat", "h.csv.gz", "wordcount", "I.CSV",   "j.Ndjson"};
    (void)state;
    if (mkdtemp(folder) == NULL || chdir(folder) != 0)
        return -1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        FILE *file = fopen(names[i], "w");
        if (file == NULL || fputs("x\n1\n", file) < 0 || fclose(file) != 0)
            return -1;
    }
    return mkdir("folder", 0700) | mkfifo("pipe", 0600);
}

static int tear_down(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* Words, then options: "--select", "x" … */
static hac_status parse(const char *const *line, hac_error *err)
{
    size_t n = 0;
    memset(&args, 0, sizeof args);
    for (; *line != NULL && strncmp(*line, "--", 2) != 0; line++)
        words[n++] = (char *)(uintptr_t)*line;
    for (; *line != NULL; line++) {
        hac_option_id id = hac_option_find(*line + 2);
        assert_int_not_equal(id, HAC_OPT_COUNT);
        args.values[id] = hac_option_get(id)->argument != NULL ? *++line : "";
        if (id == HAC_OPT_NULL_TEXT)
            args.nulls[args.n_nulls++] = *line;
    }
    args.words = words;
    args.n_words = n;
    hac_query_request_clear(&request);
    return hac_query_request_parse(&request, "mapreduce", &args, 0, err);
}

#define GOOD(...)              good((const char *const[]){__VA_ARGS__, NULL})
#define BAD(status, says, ...) bad(status, says, (const char *const[]){__VA_ARGS__, NULL})

static const hac_query_options *good(const char *const *line)
{
    hac_error err = HAC_ERROR_NONE;
    if (parse(line, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return &request.options;
}

static void bad(hac_status status, const char *says, const char *const *line)
{
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(parse(line, &err), status);
    if (strstr(err.message, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.message, says);
}

static void formats_by_suffix(void **state)
{
    (void)state;
    assert_int_equal(GOOD("a.csv", "--select", "x")->input_format, HAC_INPUT_CSV);
    assert_int_equal(GOOD("c.tsv", "--select", "x")->input_format, HAC_INPUT_TSV);
    assert_int_equal(GOOD("d.jsonl", "--select", "x")->input_format, HAC_INPUT_JSONL);
    assert_int_equal(GOOD("e.ndjson", "d.jsonl", "--select", "x")->input_format, HAC_INPUT_JSONL);
    assert_int_equal(GOOD("f.txt", "--select", "x")->input_format, HAC_INPUT_LINES);
    assert_int_equal(GOOD("./a.csv", "b.csv", "--select", "x")->input_format, HAC_INPUT_CSV);
    assert_int_equal(request.input.n_files, 2);
    assert_int_equal(request.input.bytes[1], 4);
    assert_string_equal(request.input.names[0], "./a.csv");
    assert_int_equal(GOOD("I.CSV", "a.csv", "--select", "x")->input_format, HAC_INPUT_CSV);
    assert_int_equal(GOOD("j.Ndjson", "--select", "x")->input_format, HAC_INPUT_JSONL);
    assert_int_equal(GOOD("a.csv", "--select", "x", "--output", "o.JSON")->result_format, HAC_RESULT_JSON);
    assert_string_equal(hac_query_request_assumed(&request), "");
    assert_int_equal(GOOD("g.dat", "--select", "x")->input_format, HAC_INPUT_CSV); /* by its first bytes */
    assert_string_equal(hac_query_request_assumed(&request),
                        "g.dat: read as csv, which its first bytes look like; --parse says another format");
    assert_int_equal(GOOD("g.dat", "--select", "x", "--delimiter", ";")->input_format, HAC_INPUT_CSV);
    assert_string_equal(hac_query_request_assumed(&request), "");
    assert_int_equal(GOOD("f.txt", "--select", "x", "--delimiter", "|")->input_format, HAC_INPUT_CSV);
    BAD(HAC_INVALID, "a.csv is csv, and c.tsv is tsv", "a.csv", "c.tsv", "--select", "x");
    assert_int_equal(GOOD("h.csv.gz", "--select", "x")->input_format, HAC_INPUT_CSV);
    assert_int_equal(GOOD("a.csv", "h.csv.gz", "--select", "x")->input_format, HAC_INPUT_CSV);
    BAD(HAC_INVALID, "h.csv.gz is csv, and c.tsv is tsv", "h.csv.gz", "c.tsv", "--select", "x");
}

static void formats_that_are_said(void **state)
{
    static const struct {
        const char *name;
        hac_input_format format;
    } all[] = {
        {"csv", HAC_INPUT_CSV},        {"tsv", HAC_INPUT_TSV},         {"jsonl", HAC_INPUT_JSONL},
        {"lines", HAC_INPUT_LINES},    {"words", HAC_INPUT_WORDS},     {"kv", HAC_INPUT_KV},
        {"fixed", HAC_INPUT_FIXED},    {"lengths", HAC_INPUT_LENGTHS}, {"typedbytes", HAC_INPUT_TYPEDBYTES},
        {"parquet", HAC_INPUT_PARQUET}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_non_null(strstr(hac_option_get(HAC_OPT_PARSE)->choices, all[i].name));
        assert_int_equal(GOOD("a.csv", "g.dat", "--select", "x", "--parse", all[i].name)->input_format,
                         all[i].format);
    }
}

static void output_formats(void **state)
{
    (void)state;
    static const struct {
        const char *name, *word;
        hac_result_format format;
    } forms[] = {{"o.csv", "csv", HAC_RESULT_CSV},          {"o.parquet", "parquet", HAC_RESULT_PARQUET},
                 {"o.tsv", "tsv", HAC_RESULT_TSV_NAMED},    {"o.jsonl", "jsonl", HAC_RESULT_JSON},
                 {"o.md", "markdown", HAC_RESULT_MARKDOWN}, {"o.arrow", "arrow", HAC_RESULT_TABLE},
                 {"o.FEATHER", "arrow", HAC_RESULT_TABLE},  {"o.arrows", "arrow", HAC_RESULT_TABLE},
                 {"o.csv", "table", HAC_RESULT_TSV_NAMED}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        assert_int_equal(GOOD("a.csv", "--select", "x", "--output", "o.txt", "--output-format", forms[i].word)
                             ->result_format,
                         forms[i].format);
        if (strcmp(forms[i].word, "table") != 0)
            assert_int_equal(GOOD("a.csv", "--select", "x", "--output", forms[i].name)->result_format,
                             forms[i].format);
    }
    BAD(HAC_INVALID, "--detach is not possible with a table", "a.csv", "--select", "x", "--detach",
        "--output-format", "table");
    assert_int_equal(GOOD("a.csv", "--select", "x", "--output", "o.json")->result_format, HAC_RESULT_JSON);
    assert_int_equal(GOOD("a.csv", "--select", "x", "--output", "o.jsonl")->result_format, HAC_RESULT_JSON);
    assert_int_equal(GOOD("a.csv", "--select", "x", "--output", "o.txt")->result_format, HAC_RESULT_CSV);
    assert_int_equal(
        GOOD("a.csv", "--select", "x", "--output", "o.json", "--output-format", "csv")->result_format,
        HAC_RESULT_CSV);
    assert_int_equal(GOOD("a.csv", "--select", "x", "--output-format", "json")->result_format,
                     HAC_RESULT_JSON);
    assert_int_equal(GOOD("a.csv", "--select", "x", "--output", "o.ndjson")->result_format, HAC_RESULT_JSON);
    assert_int_equal(GOOD("a.csv", "--select", "x", "--output", "tsv")->result_format, HAC_RESULT_CSV);
    assert_int_equal(GOOD("a.csv", "--select", "x", "--output", "o.Parquet")->result_format,
                     HAC_RESULT_PARQUET);
    static const char *const others[] = {"o.tsv.gz", "o.csv.gz", "./o.json.zst"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        BAD(HAC_INVALID, "results are not compressed", "a.csv", "--select", "x", "--output", others[i]);
        BAD(HAC_INVALID, others[i], "a.csv", "--select", "x", "--output", others[i]);
        (void)GOOD("a.csv", "--select", "x", "--output", others[i], "--output-format", "csv");
    }
}

static void named_jobs(void **state)
{
    (void)state;
    const hac_query_options *o = GOOD("wordcount", "f.txt");
    assert_int_equal(o->input_format, HAC_INPUT_WORDS);
    assert_string_equal(o->group_by, "word");
    assert_string_equal(o->select, "count() as count");
    assert_int_equal(request.input.n_files, 1);
    o = GOOD("wordcount", "f.txt", "--parse", "lines", "--group-by", "line", "--where", "line > 'a'");
    assert_int_equal(o->input_format, HAC_INPUT_LINES);
    assert_string_equal(o->group_by, "line");
    assert_string_equal(o->where, "line > 'a'");
    (void)GOOD("wordcount", "wordcount"); /* the second word is a file */
    assert_string_equal(request.input.names[0], "wordcount");
    o = GOOD("./wordcount", "--parse", "words", "--select", "word");
    assert_null(o->group_by);
    BAD(HAC_INVALID, "of which files", "wordcount");
    BAD(HAC_INVALID, "string-match needs --where", "string-match", "f.txt");
    /* the schema is the job's, not the user's */
    BAD(HAC_INVALID,
        "groupby reads the columns key:string,value:i64, and f.txt would be read as lines; say --parse csv",
        "groupby", "f.txt");
    BAD(HAC_INVALID, "linear-regression reads the columns x:f64,y:f64", "linear-regression", "f.txt");
    BAD(HAC_INVALID, "a.csv would be read as kv", "page-view-count", "a.csv", "--parse", "kv");
    BAD(HAC_INVALID, "histogram reads the columns value:u8", "histogram", "f.txt", "--parse", "words");
    (void)GOOD("groupby", "f.txt", "--parse", "tsv");
    (void)GOOD("groupby", "f.txt", "--schema", "a:i64"); /* libhac reports the error */
    (void)GOOD("string-match", "f.txt", "--where", "contains(line, 'a')");
    for (size_t i = 0; hac_named_job_get(i) != NULL; i++) {
        const hac_named_job *job = hac_named_job_get(i);
        assert_ptr_equal(hac_named_job_find(job->name), job);
        assert_true(job->select != NULL || job->wants != NULL);
        assert_true(strlen(job->summary) > 0);
        if (job->wants == NULL)
            (void)GOOD(job->name, "a.csv");
    }
    assert_null(hac_named_job_find("kmeans"));
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void jobs_with_a_table(void **state)
{
    (void)state;
    put("table.csv", "x\n2\n");
    put("points.csv", "x\n1\n2\n");
    put("empty.csv", "");
    const hac_query_options *o = GOOD("k-means", "points.csv", "--centroids", "table.csv");
    assert_string_equal(o->schema, "x:f64");
    assert_string_equal(o->where, "x is not null");
    assert_string_equal(o->select, "avg(x) as x,count() as count");
    assert_string_equal(o->order_by, "cluster");
    assert_non_null(o->group_by);
    o = GOOD("k-means", "points.csv", "--centroids", "table.csv", "--schema", "x:i32", "--where", "x > 0",
             "--select", "max(x) as x", "--order-by", "x desc");
    assert_string_equal(o->schema, "x:i32");
    assert_string_equal(o->where, "(x > 0) and x is not null");
    assert_string_equal(o->select, "max(x) as x");
    assert_string_equal(o->order_by, "x desc");
    o = GOOD("matrix-multiply", "points.csv", "--with", "table.csv", "--where", "x > 1");
    assert_string_equal(o->select, "x*2e0 as x");
    assert_string_equal(o->where, "x > 1");
    assert_int_equal(o->input_options.no_header, 0);
    o = GOOD("matrix-multiply", "points.csv", "--with", "table.csv", "--parse", "fixed");
    assert_string_equal(o->schema, "a1:f64");
    BAD(HAC_INVALID, "k-means needs --centroids", "k-means", "points.csv");
    BAD(HAC_INVALID, "matrix-multiply needs --with", "matrix-multiply", "points.csv");
    BAD(HAC_INVALID, "--with belongs to another job", "k-means", "points.csv", "--centroids", "table.csv",
        "--with", "table.csv");
    BAD(HAC_INVALID, "--centroids belongs to another job", "a.csv", "--select", "x", "--centroids",
        "table.csv");
    BAD(HAC_INVALID, "takes csv, tsv and fixed", "matrix-multiply", "d.jsonl", "--with", "table.csv");
    BAD(HAC_INVALID, "takes no --schema", "matrix-multiply", "a.csv", "--with", "table.csv", "--schema",
        "x:i8");
    BAD(HAC_INVALID, "empty.csv:1: there is no row", "k-means", "points.csv", "--centroids", "empty.csv");
    BAD(HAC_FAILED, "nowhere.csv: No such file", "k-means", "points.csv", "--centroids", "nowhere.csv");
    BAD(HAC_FAILED, "nowhere.csv: No such file", "matrix-multiply", "nowhere.csv", "--with", "table.csv");
}

/* A message of the compiler, and what it becomes. */
static void assert_reworded(const char *said, const char *expected)
{
    hac_error err = {HAC_INVALID, ""};
    snprintf(err.message, sizeof err.message, "%s", said);
    hac_query_request_reword(&request, &args, &err);
    assert_string_equal(err.message, expected);
    assert_int_equal(err.code, HAC_INVALID);
}

static void messages_of_named_jobs(void **state)
{
    (void)state;
    put("table.csv", "x\n2\n");
    put("points.csv", "x\n1\n2\n");
    (void)GOOD("k-means", "points.csv", "--centroids", "table.csv", "--where", "y > 0");
    assert_reworded("--schema: the input has no column 'z'",
                    "k-means --centroids table.csv: the input has no column 'z'");
    assert_reworded("--group-by: character 30: '-' takes no string",
                    "k-means --centroids table.csv: '-' takes no string");
    assert_reworded("--where: character 2: unknown column 'y'", "--where: character 1: unknown column 'y'");
    assert_reworded("a.csv: line 2", "a.csv: line 2");
    assert_reworded("--wherever: x", "--wherever: x");
    assert_reworded("--schema", "--schema");
    (void)GOOD("groupby", "a.csv", "--select", "x");
    assert_reworded("--schema: the input has no column 'key'", "groupby: the input has no column 'key'");
    assert_reworded("--select: character 1: no x", "--select: character 1: no x");
    (void)GOOD("string-match", "f.txt", "--where", "x");
    assert_reworded("--where: character 1: no x", "--where: character 1: no x");
    assert_reworded("--select: character 1: no x", "string-match: no x");
    (void)GOOD("a.csv", "--select", "x");
    assert_reworded("--schema: none", "--schema: none");
    hac_query_request_reword(&request, &args, NULL);
    request.all_columns = true; /* sorts of rows and conversions */
    assert_reworded("--select: character 1: column 'l' cannot be read", "column 'l' cannot be read");
    assert_reworded("--order-by: character 3: unknown column 'x'", "--key: character 3: unknown column 'x'");
    assert_reworded(
        "a.csv: line 6, --order-by: 'x': the text is not a value of the type; try_cast gives null instead",
        "a.csv: line 6, --key: 'x': the text is not a value of the type; say --schema "
        "'COLUMN:string' to sort by its text");
    assert_reworded("--schema: none", "--schema: none");
}

static void values(void **state)
{
    (void)state;
    const hac_query_options *o = GOOD(
        "a.csv", "--schema", "a:i64", "--where", "a > 1", "--group-by", "a", "--having", "n > 1", "--select",
        "count() as n", "--order-by", "n desc", "--limit", "10", "--delimiter", ";", "--no-header", "--null",
        "NA", "--on-error", "skip", "--engine", "device", "--hot-keys", "on", "--sample", "2.5",
        "--hot-share", "7%", "--work-groups", "30", "--work-items", "256", "--determinism", "fast");
    assert_string_equal(o->schema, "a:i64");
    assert_string_equal(o->where, "a > 1");
    assert_string_equal(o->group_by, "a");
    assert_string_equal(o->having, "n > 1");
    assert_string_equal(o->select, "count() as n");
    assert_string_equal(o->order_by, "n desc");
    assert_int_equal(o->limit, 10);
    assert_int_equal(o->input_options.delimiter, ';');
    assert_int_equal(o->input_options.no_header, 1);
    assert_string_equal(o->input_options.null_text, "NA");
    assert_int_equal(o->input_options.skip_errors, 1);
    assert_int_equal(o->hot_keys, HAC_HOT_KEYS_ON);
    assert_int_equal(o->engine, HAC_ENGINE_DEVICE);
    assert_int_equal(o->sample, 25);
    assert_int_equal(o->hot_share, 70);
    assert_int_equal(o->work_groups, 30);
    assert_int_equal(o->work_items, 256);
    assert_int_equal(o->job.fast, 1);
    o = GOOD("a.csv", "--select", "x");
    assert_true(o->limit == UINT64_MAX);
    assert_int_equal(o->input_options.delimiter, 0);
    assert_int_equal(o->hot_keys, HAC_HOT_KEYS_AUTO);
    assert_int_equal(o->engine, HAC_ENGINE_AUTO);
    assert_int_equal(o->input_options.skip_errors, 0);
    assert_int_equal(GOOD("a.csv", "--select", "x", "--limit", "0")->limit, 0);
    assert_int_equal(GOOD("a.csv", "--select", "x", "--delimiter", "\\t")->input_options.delimiter, '\t');
    assert_int_equal(GOOD("a.csv", "--select", "x", "--hot-keys", "off")->hot_keys, HAC_HOT_KEYS_OFF);
    assert_int_equal(GOOD("a.csv", "--select", "x", "--sample", "0.1")->sample, 1);
    assert_int_equal(GOOD("a.csv", "--select", "x", "--sample", "100")->sample, 1000);
}

static void bad_values(void **state)
{
    (void)state;
    BAD(HAC_INVALID, "--select", "a.csv");
    assert_null(GOOD("a.csv", "--group-by", "x")->select); /* the keys */
    BAD(HAC_INVALID, "--limit: 'ten'", "a.csv", "--select", "x", "--limit", "ten");
    BAD(HAC_INVALID, "--delimiter: '::' is not possible", "a.csv", "--select", "x", "--delimiter", "::");
    BAD(HAC_INVALID, "--delimiter: '\"' is not possible", "a.csv", "--select", "x", "--delimiter", "\"");
    char wide[130];
    memset(wide, 'x', 128);
    wide[128] = '\0';
    BAD(HAC_INVALID, "more than 127 bytes", "a.csv", "--select", "x", "--null", wide);
    wide[125] = '\0';
    BAD(HAC_INVALID, "more than 127 bytes", "a.csv", "--select", "x", "--null", wide, "--null", "NA");
    wide[124] = '\0';
    const hac_query_options *wide_options = GOOD("a.csv", "--select", "x", "--null", wide, "--null", "NA");
    assert_int_equal(strlen(wide_options->input_options.null_text), 127);
    BAD(HAC_INVALID, "--sample cannot be '0'", "a.csv", "--select", "x", "--sample", "0");
    BAD(HAC_INVALID, "--sample cannot be '101'", "a.csv", "--select", "x", "--sample", "101");
    BAD(HAC_INVALID, "--hot-share cannot be 'x'", "a.csv", "--select", "x", "--hot-share", "x");
    BAD(HAC_INVALID, "--work-items cannot be '0'", "a.csv", "--select", "x", "--work-items", "0");
    BAD(HAC_INVALID, "--work-groups cannot be '65537'", "a.csv", "--select", "x", "--work-groups", "65537");
    BAD(HAC_INVALID, "--priority", "a.csv", "--select", "x", "--priority", "1000");
}

static void files(void **state)
{
    const char *line[260] = {NULL};
    (void)state;
    BAD(HAC_FAILED, "nowhere.csv: No such file", "nowhere.csv", "--select", "x");
    BAD(HAC_FAILED, "folder: there is no text file in this folder", "folder", "--select", "x", "--parse",
        "csv");
    for (size_t i = 0; i < 254; i++)
        line[i] = "a.csv";
    line[254] = "--select";
    line[255] = "x";
    bad(HAC_INVALID, "254 files are too many", line);
    (void)good(line + 1);
    assert_int_equal(request.input.n_files, 253);
    hac_query_request_clear(&request);
    assert_int_equal(request.input.n_files, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_by_suffix),
        cmocka_unit_test(formats_that_are_said),
        cmocka_unit_test(output_formats),
        cmocka_unit_test(named_jobs),
        cmocka_unit_test(jobs_with_a_table),
        cmocka_unit_test(messages_of_named_jobs),
        cmocka_unit_test(values),
        cmocka_unit_test(bad_values),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
