/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of the input formats, one row each: what modules ask about a format, said once. */
#ifndef BASE_FORMAT_H
#define BASE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hac/query.h>

/* What ends a record: how a stream is divided into whole records. */
typedef enum hac_record_end {
    HAC_RECORDS_NONE = 0,    /* not a sequence of records: tables, Parquet */
    HAC_RECORDS_LINE,        /* a line feed */
    HAC_RECORDS_QUOTED_LINE, /* a line feed outside of quotes */
    HAC_RECORDS_BLANK,       /* any white space */
    HAC_RECORDS_FIXED,       /* the number of bytes that the schema gives */
    HAC_RECORDS_LENGTH,      /* a length in front of each record */
    HAC_RECORDS_TYPED,       /* the type codes of typed bytes */
} hac_record_end;

typedef struct hac_format_info {
    const char *name; /* "csv": --parse, plans, messages, metrics; NULL: HAC_INPUT_NONE */
    bool text;        /* text in UTF-8; a byte order mark at its beginning is left out */
    bool header;      /* the first line may name the columns; records consist of delimited fields */
    bool by_name;  /* each record has its own columns: a schema may name others than the first records have */
    bool inferred; /* types of columns can be inferred from the first records */
    bool path_columns; /* names of folders may hold columns (folder_keys.h) */
    bool needs_schema; /* a query cannot read the format without a schema */
    /* Records may begin with any bytes, also with those of gzip: only a file's name says that it is
     * compressed. */
    bool any_bytes;
    hac_record_end records;
    const char *columns;  /* schema of the columns that it always has, "line:string"; NULL: others */
    const char *suffixes; /* of file names, separated by blanks: ".jsonl .ndjson"; NULL: none */
    uint8_t delimiter;    /* ends a field; 0: records have no delimited fields */
    bool any_delimiter;   /* users may choose another delimiter */
    uint8_t short_record; /* bytes of a record that is short for this format; plans reserve memory by it */
} hac_format_info;

/* Indexed by hac_input_format. Check a number that comes from outside before it becomes an index. */
extern const hac_format_info hac_formats[HAC_INPUT_END];

/* Names of the formats that users can name, in the order of their numbers from HAC_INPUT_CSV on. */
#define HAC_FORMAT_WORDS "csv tsv jsonl lines words kv fixed parquet lengths typedbytes clf logfmt syslog"

/* Whether a field may be quoted, so that a line feed inside quotes does not end the record. */
static inline bool hac_format_has_quotes(hac_input_format format)
{
    return hac_formats[format].records == HAC_RECORDS_QUOTED_LINE;
}

/* Whether the beginning of a record can be found only by reading all records before it. */
static inline bool hac_format_is_sequential(hac_input_format format)
{
    return hac_formats[format].records == HAC_RECORDS_LENGTH ||
           hac_formats[format].records == HAC_RECORDS_TYPED;
}

/* The byte that ends a field. `chosen` is the user's choice, 0 for none; formats whose delimiter is fixed
 * ignore it. */
static inline uint8_t hac_format_delimiter(hac_input_format format, int chosen)
{
    return hac_formats[format].any_delimiter && chosen != 0 ? (uint8_t)chosen : hac_formats[format].delimiter;
}

/* The format of that name; HAC_INPUT_NONE: there is none. HAC_INPUT_TABLE, which users cannot name, is not
 * found. */
hac_input_format hac_format_named(const char *name, size_t bytes);

/* The format that the suffix of the path's last name stands for, in upper or lower case. The suffix of a
 * compressed file (hac_is_packed_name) has the format's before it: "a.csv.gz". HAC_INPUT_NONE: no format has
 * that suffix. */
hac_input_format hac_format_of_path(const char *path);

#endif
