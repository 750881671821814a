/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enumerations of queries, and the options of input formats. The numbers are part of the protocol and of
 * libhac's ABI: values are only ever added. The …_END values count the others; they are not part of the ABI.
 */
#ifndef HAC_QUERY_H
#define HAC_QUERY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the bytes of a source become rows. */
typedef enum hac_input_format {
    HAC_INPUT_NONE = 0,
    HAC_INPUT_TABLE = 1, /* columns in memory: only libhac asks for it (hac_query_arrow …) */
    HAC_INPUT_CSV = 2,
    HAC_INPUT_TSV = 3,         /* TAB between fields, \t \n \\ \N escaped, no quotes */
    HAC_INPUT_JSONL = 4,       /* one object a line */
    HAC_INPUT_LINES = 5,       /* one column `line` */
    HAC_INPUT_WORDS = 6,       /* one column `word`: maximal runs of bytes other than space, \t \n \v \f \r */
    HAC_INPUT_KV = 7,          /* columns `key` and `value`, separated by the first TAB */
    HAC_INPUT_FIXED = 8,       /* records of fixed-width binary values, described by the schema */
    HAC_INPUT_PARQUET = 9,     /* columns by name, with the types in the file; options->schema names the
                                * columns that are wanted and the types that they must have */
    HAC_INPUT_LENGTHS = 10,    /* binary records, each preceded by its length in 4 bytes
                                * (docs/flows/splice.md) */
    HAC_INPUT_TYPEDBYTES = 11, /* Hadoop's typed bytes: a key and a value a record */
    HAC_INPUT_CLF = 12,        /* access logs of Apache and nginx, common or combined */
    HAC_INPUT_LOGFMT = 13,     /* key=value pairs; columns by key */
    HAC_INPUT_SYSLOG = 14,     /* lines of RFC 3164 and 5424 */
    HAC_INPUT_END
} hac_input_format;

/* What stands before the fraction of a number. In the three enumerations, AUTO is what the first records show
 * where that is looked for (HAC_FIND_FORMS), else what follows it. */
typedef enum hac_decimal_sign {
    HAC_DECIMAL_AUTO = 0,
    HAC_DECIMAL_POINT = 1, /* 12.5 */
    HAC_DECIMAL_COMMA = 2, /* 12,5 */
    HAC_DECIMAL_END
} hac_decimal_sign;

/* What stands between groups of three digits. */
typedef enum hac_thousands {
    HAC_THOUSANDS_AUTO = 0,
    HAC_THOUSANDS_NONE = 1,
    HAC_THOUSANDS_COMMA = 2,      /* 1,234.5 */
    HAC_THOUSANDS_POINT = 3,      /* 1.234,5 */
    HAC_THOUSANDS_SPACE = 4,      /* 1 234,5; also a space that does not break lines */
    HAC_THOUSANDS_APOSTROPHE = 5, /* 1'234.5 */
    HAC_THOUSANDS_END
} hac_thousands;

/* The order of the parts of dates. A year of four digits in front is always possible. */
typedef enum hac_date_order {
    HAC_DATES_AUTO = 0,
    HAC_DATES_YMD = 1, /* 2024-12-31 */
    HAC_DATES_DMY = 2, /* 31.12.2024 */
    HAC_DATES_MDY = 3, /* 12/31/2024 */
    HAC_DATES_END
} hac_date_order;

#define HAC_NULL_BYTES_MAX 127 /* of all texts that stand for null, and the commas between them */

/* How a format reads its bytes. 0 is the default of each option. docs/formats.md describes them, and
 * hac_query_set_option sets one by its name. New options are added at the end. */
typedef struct hac_input_options {
    uint64_t first_row_group; /* parquet, one file: the first row group to read, from 0 */
    uint64_t row_groups;      /* parquet: number of row groups to read; 0: all that follow */
    /* csv, tsv: these texts, unquoted and separated by commas, are null as well: "NA,NULL" */
    char null_text[HAC_NULL_BYTES_MAX + 1];
    uint8_t delimiter;   /* csv: 0 is the comma */
    uint8_t no_header;   /* csv, tsv: the first line is data; the schema names the columns by position */
    uint8_t skip_errors; /* skip records that cannot be read; hac_job_text says how many */
    uint8_t big_endian;  /* fixed, lengths: byte order of numbers and lengths */
    uint8_t trim;        /* csv, tsv: spaces around fields without quotes are no part of them */
    uint8_t decimal;     /* csv, tsv, logfmt: hac_decimal_sign */
    uint8_t thousands;   /* csv, tsv, logfmt: hac_thousands; not the decimal sign */
    uint8_t dates;       /* csv, tsv, jsonl, logfmt: hac_date_order */
    /* syslog: the day, in days since 1970-01-01, after which times without a year do not lie by more than a
     * day; 0: that of the query's submission. Parts of one query must have the same. */
    uint64_t today;
    /* csv, tsv: one byte each; 0 is the format's own, HAC_MARK_NONE is none. libhac turns such text into the
     * usual form while it reads it, so only hac_query_stream and hac_query_splits take it. */
    uint8_t quote;   /* around fields; in csv a double quote otherwise, in tsv none */
    uint8_t escape;  /* the byte behind it is data; in csv none otherwise, in tsv the backslash of \\t \\n */
    uint8_t comment; /* a line that begins with it is left out */
} hac_input_options;

#define HAC_MARK_NONE 1

#define HAC_INPUT_OPTIONS_INIT                                                                               \
    {                                                                                                        \
        0, 0, "", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                                         \
    }

/* What the rows of a result are written as. */
typedef enum hac_result_format {
    HAC_RESULT_CSV = 0,        /* a header line, RFC 4180; null is an empty field, an empty string is "" */
    HAC_RESULT_JSON = 1,       /* one object a line */
    HAC_RESULT_TABLE = 2,      /* columns: hac_job_export_arrow */
    HAC_RESULT_PARQUET = 3,    /* a Parquet file */
    HAC_RESULT_TSV = 4,        /* columns separated by TAB, no header, null is \N */
    HAC_RESULT_TYPEDBYTES = 5, /* Hadoop's typed bytes: the first column, then the second, or a vector of all
                                * columns from the second on */
    HAC_RESULT_TEXT = 6,       /* columns separated by TAB; only line feeds are escaped. Compiled queries have
                                * it; a request may not ask for it */
    HAC_RESULT_TSV_NAMED = 7,  /* HAC_RESULT_TSV with a first line that names the columns */
    HAC_RESULT_MARKDOWN = 8,   /* a table of GitHub's Markdown; null is an empty cell */
    HAC_RESULT_END
} hac_result_format;

/* Compression of a Parquet file's pages. */
typedef enum hac_compression {
    HAC_COMPRESSION_ZSTD = 0,
    HAC_COMPRESSION_NONE = 1,
    HAC_COMPRESSION_SNAPPY = 2,
    HAC_COMPRESSION_GZIP = 3,
    HAC_COMPRESSION_LZ4 = 4, /* LZ4_RAW in the file */
    HAC_COMPRESSION_END
} hac_compression;

/* Whether device hash aggregation (docs/flows/mapreduce.md) keeps frequent keys in local memory. ON also
 * makes the device aggregate where the host would be faster. */
typedef enum hac_hot_keys {
    HAC_HOT_KEYS_AUTO = 0,
    HAC_HOT_KEYS_ON = 1,
    HAC_HOT_KEYS_OFF = 2,
    HAC_HOT_KEYS_END
} hac_hot_keys;

/* What aggregates: AUTO takes the faster one. If the device cannot run a query, the host does, and
 * hac_job_text and `hacctl why` say so. */
typedef enum hac_engine {
    HAC_ENGINE_AUTO = 0,
    HAC_ENGINE_HOST = 1,   /* C code on the host's CPUs */
    HAC_ENGINE_DEVICE = 2, /* OpenCL kernels: device hash aggregation */
    HAC_ENGINE_END
} hac_engine;

/* Files of one query: as many descriptors as the kernel sends with one message. */
#define HAC_QUERY_FILES_MAX 253

#ifdef __cplusplus
}
#endif
#endif
