/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Parquet file's footer: its columns, its row groups, and where their pages are. Everything in a file is
 * untrusted: sizes are checked before anything is allocated or read, names and statistics are slices of the
 * footer's bytes, and all of it lives in one arena that the footer's length bounds. A file that was opened is
 * never written to: threads may share it.
 *
 * Columns are the *leaves* of the schema, in its order. A leaf's name is its path joined by dots. Leaves
 * without repetition are read, nested in groups or not; repeated ones are listed with the reason why not.
 */
#ifndef PARQUET_FILE_H
#define PARQUET_FILE_H

#include "base/text.h"
#include "base/value.h"
#include "expr/schema.h"

/* The numbers are those of parquet.thrift. */
typedef enum hac_parquet_physical {
    HAC_PARQUET_BOOLEAN = 0,
    HAC_PARQUET_INT32,
    HAC_PARQUET_INT64,
    HAC_PARQUET_INT96,
    HAC_PARQUET_FLOAT,
    HAC_PARQUET_DOUBLE,
    HAC_PARQUET_BYTE_ARRAY,
    HAC_PARQUET_FIXED, /* FIXED_LEN_BYTE_ARRAY */
} hac_parquet_physical;

typedef enum hac_parquet_codec {
    HAC_PARQUET_UNCOMPRESSED = 0,
    HAC_PARQUET_SNAPPY,
    HAC_PARQUET_GZIP,
    HAC_PARQUET_LZO, /* never read */
    HAC_PARQUET_BROTLI,
    HAC_PARQUET_LZ4, /* Hadoop's frames, or a bare block of old writers */
    HAC_PARQUET_ZSTD,
    HAC_PARQUET_LZ4_RAW,
} hac_parquet_codec;

/* How stored values become those of the leaf's type. */
typedef enum hac_parquet_conversion {
    HAC_PARQUET_PLAIN = 0, /* as they are, widened */
    HAC_PARQUET_UNSIGNED,  /* INT32 and INT64 that hold unsigned numbers */
    HAC_PARQUET_MILLIS,    /* timestamps in ms: × 1000, out of range is an error */
    HAC_PARQUET_NANOS,     /* timestamps in ns: ÷ 1000, rounded down */
    HAC_PARQUET_INT96_TIME,
    HAC_PARQUET_HALF,       /* FLOAT16 → f32 */
    HAC_PARQUET_BIG_ENDIAN, /* decimals in BYTE_ARRAY and FIXED: two's complement */
} hac_parquet_conversion;

/* How bounds of a leaf's values compare. */
typedef enum hac_parquet_order {
    HAC_PARQUET_UNORDERED = 0, /* not known: statistics and column indexes have no bounds */
    HAC_PARQUET_ORDERED,       /* as values of the leaf's type; NaNs lie outside of the bounds */
} hac_parquet_order;

typedef struct hac_parquet_slice {
    const uint8_t *data; /* NULL: absent */
    uint32_t bytes;
} hac_parquet_slice;

typedef struct hac_parquet_leaf {
    const char *name;     /* ends with a zero; bytes that are zero in the file are shown as '?' */
    uint8_t physical;     /* hac_parquet_physical */
    uint32_t type_length; /* FIXED */
    uint8_t max_definition, max_repetition;
    hac_value_type type; /* of its values; HAC_KIND_NONE: they are not read … */
    uint8_t conversion;  /* hac_parquet_conversion */
    uint8_t order;       /* hac_parquet_order */
    const char *logical; /* its annotation, for people: "TIMESTAMP(MILLIS)"; NULL: none */
    const char *why;     /* … because: "it is repeated (a list or a map)"; NULL: they are read */
} hac_parquet_leaf;

/* Of a column chunk or a page. Bounds that cannot be trusted are absent: hac_parquet_file has judged the
 * writer, the order of the column, NaNs and deprecated fields. Stored as PLAIN values without a length. */
typedef struct hac_parquet_statistics {
    hac_parquet_slice least, greatest; /* may be inexact: good for leaving out, not for answers */
    uint64_t nulls, nans;              /* UINT64_MAX: not known */
} hac_parquet_statistics;

typedef struct hac_parquet_chunk {
    uint8_t codec;
    uint32_t encodings;         /* that its pages are said to have: a bit each, 1 << number */
    uint64_t first_byte, bytes; /* of its pages, dictionary first; lies within the file */
    uint64_t uncompressed;
    uint64_t values; /* rows, where nothing is repeated */
    hac_parquet_statistics statistics;
    uint64_t column_index, offset_index, bloom; /* where they are; 0: there is none */
    uint32_t column_index_bytes, offset_index_bytes, bloom_bytes;
    bool short_by_header; /* old parquet-mr: `bytes` may lack a dictionary's header, at most 100 */
    const char *why;      /* it cannot be read: "its data is in another file"; NULL: it can */
} hac_parquet_chunk;

typedef struct hac_parquet_group {
    uint64_t first_row, rows;  /* in the file */
    hac_parquet_chunk *chunks; /* one a leaf */
} hac_parquet_group;

/* Where the bytes are. */
typedef struct hac_parquet_place {
    int fd; /* -1: in memory */
    const uint8_t *memory;
    uint64_t bytes; /* of the file; what it has beyond is ignored */
} hac_parquet_place;

/* What a file may ask for; 0: the default. */
typedef struct hac_parquet_limits {
    uint64_t footer_bytes; /* 64 MiB */
    uint64_t page_bytes;   /* of a page, uncompressed: 128 MiB */
    bool ignore_checksums; /* pages' CRCs are checked otherwise */
} hac_parquet_limits;

typedef struct hac_parquet_file {
    hac_parquet_place place;
    hac_parquet_limits limits; /* defaults filled in */
    hac_parquet_leaf *leaves;
    size_t n_leaves;
    hac_parquet_group *groups;
    size_t n_groups;
    uint64_t rows;
    const char *created_by; /* "" where it does not say */
    struct hac_parquet_arena *arena;
} hac_parquet_file;

/* HAC_FAILED: no Parquet file, damaged or encrypted ("the footer's column 3 …"); HAC_IO; HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_parquet_open(const hac_parquet_place *place, const hac_parquet_limits *limits,
                                         hac_parquet_file **ret, hac_error *err);
void hac_parquet_close(hac_parquet_file *file);

/* The leaf's name as queries know it: cut between characters where it is longer, and '?' for what is no
 * UTF-8. */
void hac_parquet_leaf_name(const hac_parquet_leaf *leaf, char ret[HAC_FIELD_NAME_MAX]);

/* The leaf that queries know by that name. -1: there is none; HAC_PARQUET_TWICE: there are several. */
enum { HAC_PARQUET_TWICE = -2 };
int hac_parquet_find(const hac_parquet_file *file, const char *name, size_t bytes);

/* Reads bytes of the file, all of them. HAC_FAILED: the file is shorter than it was. */
HAC_MUST_USE hac_status hac_parquet_read(const hac_parquet_file *file, uint64_t offset, uint8_t *ret,
                                         size_t bytes, hac_error *err);

/* What `hacctl parquet inspect` prints: rows, columns with types, row groups with sizes, codecs, encodings,
 * statistics. JSON, one object. */
void hac_parquet_describe(const hac_parquet_file *file, hac_text *ret);

#endif
