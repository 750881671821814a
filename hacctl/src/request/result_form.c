/* SPDX-License-Identifier: Apache-2.0 */
#include "result_form.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/packing.h"
#include "query_input.h"

static const struct {
    hac_result_format format;
    bool made_here;
} forms[HAC_FORM_OF_END] = {
    [HAC_FORM_OF_CSV] = {HAC_RESULT_CSV, false},           [HAC_FORM_OF_JSON] = {HAC_RESULT_JSON, false},
    [HAC_FORM_OF_PARQUET] = {HAC_RESULT_PARQUET, false},   [HAC_FORM_OF_TABLE] = {HAC_RESULT_TSV_NAMED, true},
    [HAC_FORM_OF_TSV] = {HAC_RESULT_TSV_NAMED, false},     [HAC_FORM_OF_JSONL] = {HAC_RESULT_JSON, false},
    [HAC_FORM_OF_MARKDOWN] = {HAC_RESULT_MARKDOWN, false}, [HAC_FORM_OF_ARROW] = {HAC_RESULT_TABLE, true},
};

hac_result_format hac_result_form_format(hac_result_form form)
{
    return forms[form].format;
}

bool hac_result_form_is_made_here(hac_result_form form)
{
    return forms[form].made_here;
}

/* Suffixes by which other programs would take the file for something that it is not. */
static bool is_foreign(const char *suffix)
{
    static const char *const foreign[] = {".xlsx", ".xls",    ".ods", ".orc", ".avro", ".sqlite", ".sqlite3",
                                          ".db",   ".duckdb", ".zip", ".xz",  ".bz2",  ".7z",     ".lz4",
                                          ".tar",  ".h5",     ".npy", ".npz", ".pkl",  ".xml",    ".html"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strcasecmp(foreign[i], suffix) == 0)
            return true;
    return false;
}

static hac_status fail_suffix(const char *command, const char *path, hac_error *err)
{
    const char *suffix = hac_query_suffix_of(path);
    if (hac_is_packed_name(path))
        return hac_fail(err, HAC_INVALID,
                        "%s: results are not compressed, but the suffix of %.200s says otherwise; choose "
                        "another name, or say --output-format csv, json or parquet",
                        command, path);
    return hac_fail(err, HAC_INVALID,
                    "%s: %.200s: no %s file can be written; choose a name with .csv, .tsv, .json, .parquet, "
                    ".arrow or .md, or say --output-format csv",
                    command, path, suffix + 1);
}

bool hac_result_form_of_path(const char *path, hac_result_form otherwise, hac_result_form *ret)
{
    static const struct {
        const char *suffix;
        hac_result_form form;
    } known[] = {{".csv", HAC_FORM_OF_CSV},         {".json", HAC_FORM_OF_JSON},
                 {".jsonl", HAC_FORM_OF_JSONL},     {".ndjson", HAC_FORM_OF_JSONL},
                 {".parquet", HAC_FORM_OF_PARQUET}, {".tsv", HAC_FORM_OF_TSV},
                 {".md", HAC_FORM_OF_MARKDOWN},     {".arrow", HAC_FORM_OF_ARROW},
                 {".arrows", HAC_FORM_OF_ARROW},    {".feather", HAC_FORM_OF_ARROW}};
    const char *suffix = hac_query_suffix_of(path);
    if (hac_is_packed_name(path) || is_foreign(suffix))
        return false;
    *ret = otherwise;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(known[i].suffix, suffix) == 0)
            *ret = known[i].form;
    return true;
}

bool hac_result_form_is_file(const hac_args *args)
{
    const char *path = args->values[HAC_OPT_OUTPUT];
    const char *suffix = path != NULL ? hac_query_suffix_of(path) : "";
    return strcasecmp(suffix, ".arrow") == 0 || strcasecmp(suffix, ".feather") == 0;
}

bool hac_result_form_fits(const char *path, const char *form)
{
    int choice = hac_option_choice(HAC_OPT_OUTPUT_FORMAT, form);
    hac_result_form said = HAC_FORM_OF_CSV;
    return choice < 0 || (hac_result_form_of_path(path, (hac_result_form)choice, &said) &&
                          forms[said].format == forms[choice].format);
}

static bool is_for_terminal(const hac_args *args)
{
    const char *path = args->values[HAC_OPT_OUTPUT];
    return !args->of_rank && (path == NULL || strcmp(path, "-") == 0) &&
           !hac_args_has(args, HAC_OPT_DETACH) && isatty(STDOUT_FILENO) == 1;
}

hac_status hac_result_form_choose(const hac_args *args, const char *command, hac_result_form otherwise,
                                  hac_result_form *ret, hac_error *err)
{
    const char *path = args->values[HAC_OPT_OUTPUT];
    hac_result_form form = is_for_terminal(args) ? HAC_FORM_OF_TABLE : otherwise;
    if (hac_args_has(args, HAC_OPT_OUTPUT_FORMAT))
        form = (hac_result_form)hac_args_choice(args, HAC_OPT_OUTPUT_FORMAT);
    else if (path != NULL && !hac_result_form_of_path(path, form, &form))
        return fail_suffix(command, path, err);
    if (hac_args_has(args, HAC_OPT_DETACH) && forms[form].made_here && path == NULL)
        return hac_fail(
            err, HAC_INVALID,
            "%s: --detach is not possible with %s, which hacctl makes when the job has ended; say "
            "--output-format csv, json, tsv, markdown or parquet",
            command, form == HAC_FORM_OF_TABLE ? "a table" : "Arrow");
    *ret = form;
    return HAC_OK;
}
