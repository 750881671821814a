/* SPDX-License-Identifier: Apache-2.0 */
#include "base/format.h"

#include <string.h>
#include <strings.h>

#include "base/packing.h"

const hac_format_info hac_formats[HAC_INPUT_END] = {
    [HAC_INPUT_TABLE] = {.name = "table"},
    [HAC_INPUT_CSV] = {.name = "csv",
                       .text = true,
                       .header = true,
                       .inferred = true,
                       .path_columns = true,
                       .records = HAC_RECORDS_QUOTED_LINE,
                       .suffixes = ".csv",
                       .delimiter = ',',
                       .any_delimiter = true,
                       .short_record = 16},
    [HAC_INPUT_TSV] = {.name = "tsv",
                       .text = true,
                       .header = true,
                       .inferred = true,
                       .path_columns = true,
                       .records = HAC_RECORDS_LINE,
                       .suffixes = ".tsv",
                       .delimiter = '\t',
                       .short_record = 16},
    [HAC_INPUT_JSONL] = {.name = "jsonl",
                         .text = true,
                         .inferred = true,
                         .path_columns = true,
                         .by_name = true,
                         .records = HAC_RECORDS_LINE,
                         .suffixes = ".jsonl .ndjson .json",
                         .short_record = 32},
    [HAC_INPUT_LINES] = {.name = "lines",
                         .text = true,
                         .records = HAC_RECORDS_LINE,
                         .columns = "line:string",
                         .suffixes = ".txt",
                         .short_record = 16},
    [HAC_INPUT_WORDS] = {.name = "words",
                         .text = true,
                         .records = HAC_RECORDS_BLANK,
                         .columns = "word:string",
                         .short_record = 5},
    [HAC_INPUT_KV] = {.name = "kv",
                      .text = true,
                      .records = HAC_RECORDS_LINE,
                      .columns = "key:string,value:string",
                      .short_record = 12},
    [HAC_INPUT_FIXED] = {.name = "fixed",
                         .needs_schema = true,
                         .any_bytes = true,
                         .records = HAC_RECORDS_FIXED,
                         .short_record = 16},
    [HAC_INPUT_PARQUET] = {.name = "parquet",
                           .path_columns = true,
                           .suffixes = ".parquet",
                           .short_record = 16},
    [HAC_INPUT_LENGTHS] = {.name = "lengths",
                           .any_bytes = true,
                           .records = HAC_RECORDS_LENGTH,
                           .short_record = 16},
    [HAC_INPUT_TYPEDBYTES] = {.name = "typedbytes", .records = HAC_RECORDS_TYPED, .short_record = 16},
    [HAC_INPUT_CLF] = {.name = "clf",
                       .text = true,
                       .records = HAC_RECORDS_LINE,
                       .columns = "host:string,ident:string,user:string,time:timestamptz,request:string,"
                                  "method:string,path:string,protocol:string,status:i32,bytes:i64,"
                                  "referer:string,agent:string,rest:string,vhost:string",
                       .short_record = 64},
    [HAC_INPUT_LOGFMT] = {.name = "logfmt",
                          .text = true,
                          .inferred = true,
                          .path_columns = true,
                          .by_name = true,
                          .records = HAC_RECORDS_LINE,
                          .suffixes = ".logfmt",
                          .short_record = 32},
    [HAC_INPUT_SYSLOG] = {.name = "syslog",
                          .text = true,
                          .records = HAC_RECORDS_LINE,
                          .columns = "time:timestamp,host:string,app:string,pid:string,msgid:string,"
                                     "data:string,message:string,facility:i32,severity:i32",
                          .suffixes = ".syslog",
                          .short_record = 32},
};

hac_input_format hac_format_named(const char *name, size_t bytes)
{
    for (unsigned f = HAC_INPUT_CSV; f < HAC_INPUT_END; f++)
        if (strlen(hac_formats[f].name) == bytes && memcmp(hac_formats[f].name, name, bytes) == 0)
            return (hac_input_format)f;
    return HAC_INPUT_NONE;
}

static const char *last_dot(const char *name, size_t bytes)
{
    return memrchr(name, '.', bytes);
}

static bool has_word(const char *words, const char *word, size_t bytes)
{
    for (const char *at = words; at != NULL && *at != '\0'; at += *at == ' ') {
        size_t n = strcspn(at, " ");
        if (n == bytes && strncasecmp(at, word, n) == 0)
            return true;
        at += n;
    }
    return false;
}

hac_input_format hac_format_of_path(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t bytes = strlen(name);
    if (hac_is_packed_name(path))
        bytes = (size_t)(last_dot(name, bytes) - name);
    const char *suffix = last_dot(name, bytes);
    if (suffix == NULL || suffix == name)
        return HAC_INPUT_NONE;
    for (unsigned f = HAC_INPUT_CSV; f < HAC_INPUT_END; f++)
        if (has_word(hac_formats[f].suffixes, suffix, bytes - (size_t)(suffix - name)))
            return (hac_input_format)f;
    return HAC_INPUT_NONE;
}
