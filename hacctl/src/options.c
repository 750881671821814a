/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <string.h>

#include "base/suggest.h"

static const hac_option options[HAC_OPT_COUNT] = {
    [HAC_OPT_SOCKET] = {"socket", 0, "PATH", HAC_CHOICES_FILE, "talk to the daemon that listens there"},
    [HAC_OPT_JSON] = {"json", 0, NULL, NULL, "answer in JSON where that makes sense"},
    [HAC_OPT_QUIET] = {"quiet", 'q', NULL, NULL, "only errors on standard error"},
    [HAC_OPT_NO_AUTOSTART] = {"no-autostart", 0, NULL, NULL,
                              "do not start a private daemon when there is none"},
    [HAC_OPT_HELP] = {"help", 'h', NULL, NULL, "show this help"},
    [HAC_OPT_VERSION] = {"version", 'V', NULL, NULL, "show hacctl's version"},
    [HAC_OPT_TYPE] = {"type", 0, "TYPE", "u32 i32 f32 u64 i64 f64",
                      "type of the items of a raw array, little-endian"},
    [HAC_OPT_OUTPUT] = {"output", 'o', "OUT", HAC_CHOICES_FILE,
                        "write there; the file appears when it is whole, and may be IN"},
    [HAC_OPT_DESCENDING] = {"descending", 0, NULL, NULL, "largest first, NaN before all numbers"},
    [HAC_OPT_ARGSORT] = {"argsort", 0, NULL, NULL,
                         "write the sorted order as u32 indices (u64 from 2^32 items)"},
    [HAC_OPT_ALGORITHM] = {"algorithm", 0, "NAME", "auto bitonic radix", "how to sort"},
    [HAC_OPT_SCHEME] = {"scheme", 0, "NAME", "auto proportional lower upper none",
                        "how much the weaker devices get"},
    [HAC_OPT_FOLD] = {"fold", 0, "STEPS", "auto none",
                      "network steps that the strongest device does alone: 3,6,… or one of"},
    [HAC_OPT_ITEMS] = {"items", 0, "COUNT", NULL,
                       "plan for that many items instead of IN (16777216, 16Mi, 2^24)"},
    [HAC_OPT_DEVICES] = {"devices", 0, "A,B,…", HAC_CHOICES_DEVICES, "use only these devices"},
    [HAC_OPT_DETACH] = {"detach", 0, NULL, NULL,
                        "print the job's id and leave; `hacctl wait` waits for its end, `hacctl result` "
                        "fetches a result without OUT"},
    [HAC_OPT_PRIORITY] = {"priority", 0, "N", NULL, "-100 to 100, higher first"},
    [HAC_OPT_DEADLINE] = {"deadline", 0, "TIME", NULL, "fail unless done in that time (30s, 500ms)"},
    [HAC_OPT_MEMORY] = {"memory", 0, "SIZE", NULL, "use at most that much memory (512MiB)"},
    [HAC_OPT_DETERMINISM] = {"determinism", 0, "LEVEL", "exact fast",
                             "exact: the same answer on every device (default)"},
    [HAC_OPT_TRACE] = {"trace", 0, "FILE", HAC_CHOICES_FILE,
                       "write a Chrome/Perfetto trace of the job there"},
    [HAC_OPT_RECEIPT] = {"receipt", 0, "FILE", HAC_CHOICES_FILE,
                         "write what was done, where and why there (JSON)"},
    [HAC_OPT_PARSE] = {"parse", 0, "FORMAT", "csv tsv jsonl lines words kv fixed lengths typedbytes parquet",
                       "how the input becomes rows (default: by its suffix)"},
    [HAC_OPT_SCHEMA] =
        {"schema", 0, "SCHEMA", NULL,
         "columns and their types: name:type,… (default: string; parquet convert and query infer them)"},
    [HAC_OPT_WHERE] = {"where", 0, "EXPR", NULL, "only rows for which this is true"},
    [HAC_OPT_GROUP_BY] = {"group-by", 0, "EXPR,…", NULL, "one row of result for each of these"},
    [HAC_OPT_SELECT] = {"select", 0, "EXPR,…", NULL,
                        "columns of the result: 'sum(x * y) as s, count() as n'"},
    [HAC_OPT_ORDER_BY] = {"order-by", 0, "EXPR,…", NULL, "order of the result: 's desc, name'"},
    [HAC_OPT_LIMIT] = {"limit", 0, "N", NULL, "at most that many rows of result"},
    [HAC_OPT_OUTPUT_FORMAT] =
        {"output-format", 0, "FORMAT", "csv json parquet",
         "form of the result (default: by the suffix of OUT, else csv; of sort: what IN is)"},
    [HAC_OPT_DELIMITER] = {"delimiter", 0, "BYTE", NULL, "between the fields of csv (default: comma)"},
    [HAC_OPT_NO_HEADER] = {"no-header", 0, NULL, NULL, "the first line is data; columns are the schema's"},
    [HAC_OPT_HEADER] = {"header", 0, NULL, NULL, "the first line of csv or tsv names the columns"},
    [HAC_OPT_NULL] = {"null", 0, "TEXT", NULL, "an unquoted field of csv with this text is null"},
    [HAC_OPT_ON_ERROR] = {"on-error", 0, "WHAT", "fail skip", "what to do about records that cannot be read"},
    [HAC_OPT_BYTE_ORDER] = {"byte-order", 0, "ORDER", "little big",
                            "of numbers and lengths in fixed and lengths (default: little)"},
    [HAC_OPT_WAY] = {"way", 0, "WAY", "auto host flow-c",
                     "codelets that aggregate: as it pays (auto), the host's, or flow C's kernels"},
    [HAC_OPT_HOT_KEYS] = {"hot-keys", 0, "SWITCH", "on off",
                          "keep frequent keys in local memory; on: also where it does not pay"},
    [HAC_OPT_SAMPLE] = {"sample", 0, "PERCENT", NULL, "part of the rows that hot keys are looked for in"},
    [HAC_OPT_HOT_SHARE] = {"hot-share", 0, "PERCENT", NULL, "part of the sample's keys that count as hot"},
    [HAC_OPT_WORK_GROUPS] = {"work-groups", 0, "N", NULL, "work-groups of flow C's kernels"},
    [HAC_OPT_WORK_ITEMS] = {"work-items", 0, "N", NULL, "work-items of a work-group"},
    [HAC_OPT_SPLIT_SIZE] = {"split-size", 0, "SIZE", NULL,
                            "bytes of a split, which one buffer holds (default: as suits the devices)"},
    [HAC_OPT_IO] = {"io", 0, "FORM", "text typedbytes",
                    "form of the result, and of the input without --parse (default: text)"},
    [HAC_OPT_CENTROIDS] = {"centroids", 0, "FILE", HAC_CHOICES_FILE,
                           "k-means: the centroids, csv with the points' names of columns"},
    [HAC_OPT_WITH] = {"with", 0, "FILE", HAC_CHOICES_FILE, "matrix-multiply: the matrix on the right, csv"},
    [HAC_OPT_INPUT_FORMAT] = {"input-format", 0, "FORMAT", "csv parquet",
                              "sort whole rows of such a file, by --key"},
    [HAC_OPT_KEY] = {"key", 0, "COLUMN,…", NULL, "columns to sort rows by: 'a desc, b'"},
    [HAC_OPT_CODEC] = {"codec", 0, "CODEC", "zstd none snappy gzip lz4",
                       "compression of a parquet result (default: zstd)"},
    [HAC_OPT_ROW_GROUP_SIZE] = {"row-group-size", 0, "SIZE", NULL,
                                "bytes of a row group in a parquet result, at most (default: 128MiB)"},
    [HAC_OPT_ROW_GROUP_ROWS] = {"row-group-rows", 0, "N", NULL, "rows of a row group, at most"},
    [HAC_OPT_BLOCK_SIZE] = {"block-size", 0, "SIZE", NULL,
                            "no row group crosses a multiple of it (default: 128MiB)"},
    [HAC_OPT_FORMAT] = {"format", 0, "FORMAT", "text json svg", "form of the answer"},
    [HAC_OPT_PROFILES] = {"profiles", 0, "DIR", HAC_CHOICES_FOLDER,
                          "the machine: every profile *.yaml in DIR is a device (required)"},
    [HAC_OPT_INPUT_SIZE] = {"input-size", 0, "SIZE", NULL,
                            "splice: plan for that many bytes instead of IN's (20GB)"},
    [HAC_OPT_FOLLOW] = {"follow", 'f', NULL, NULL, "go on until the job ends"},
    [HAC_OPT_INPUT] = {"input", 0, "NAME=FILE", HAC_CHOICES_FILE,
                       "the file (or folder) that an input of the logic file is; once for each"},
    [HAC_OPT_PLACEMENT] = {"placement", 0, "POLICY", "measured rule",
                           "where sub-operators run: by the models (default), or by type and size"},
    [HAC_OPT_THRESHOLD] = {"threshold", 0, "SIZE", NULL, "of --placement rule (default: 3GiB)"},
    [HAC_OPT_COMPONENTS] = {"components", 0, "N", NULL, "components of vectors whose split is not stated"},
    [HAC_OPT_KERNELS] = {"kernels", 0, NULL, NULL, "OpenCL kernels also where host codelets could run"},
    [HAC_OPT_DEVICE] = {"device", 0, "D", HAC_CHOICES_DEVICES, "the device whose kernels are built"},
    [HAC_OPT_ONCE] = {"once", 0, NULL, NULL, "show it once and leave"},
    [HAC_OPT_INTERVAL] = {"interval", 0, "TIME", NULL, "time between two looks (default: 1s)"},
};

const hac_option *hac_option_get(hac_option_id id)
{
    return &options[id];
}

hac_option_id hac_option_find(const char *name)
{
    for (size_t i = 0; i < HAC_OPT_COUNT; i++)
        if (strcmp(options[i].name, name) == 0)
            return (hac_option_id)i;
    return HAC_OPT_COUNT;
}

int hac_option_choice(hac_option_id id, const char *value)
{
    size_t length = strlen(value);
    const char *p = options[id].choices;
    for (int i = 0; *p != '\0'; i++) {
        size_t word = strcspn(p, " ");
        if (word == length && memcmp(p, value, word) == 0)
            return i;
        p += word + (p[word] == ' ');
    }
    return -1;
}

/* Options that are not in the set have no name here. */
static const char *name_in_set(const void *set, size_t i)
{
    return (*(const uint64_t *)set & HAC_OPT_BIT(i)) != 0 ? options[i].name : "";
}

const char *hac_option_nearest(uint64_t set, const char *name)
{
    return *name != '\0' ? hac_suggest(name, &set, HAC_OPT_COUNT, name_in_set) : NULL;
}
