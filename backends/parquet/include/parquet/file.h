/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Parquet file's footer: its columns, its row groups, and where their pages are. The file is not trusted:
 * sizes are checked before anything is allocated or read; names and statistics are slices of the footer's
 * bytes; all data lives in one arena, whose size the footer's length limits. An opened file is read-only, so
 * threads may share it.
 *
 * Columns are the *leaves* of the schema, in its order. A leaf's name is its path joined by dots. A leaf in
 * one list is a column with a list in each row. The groups that the format needs to write a list are left out
 * of its name: `tags` stands for tags.list.element. The keys and values of a map of such leaves are one
 * column, with the map's name. Leaves in lists of lists are named with the reason why they cannot be read.
 */
#ifndef PARQUET_FILE_H
#define PARQUET_FILE_H

#include "base/text.h"
#include "base/value.h"
#include "expr/nested.h"
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
    HAC_PARQUET_LZO, /* never supported */
    HAC_PARQUET_BROTLI,
    HAC_PARQUET_LZ4, /* Hadoop's frames, or a bare block in files of old writers */
    HAC_PARQUET_ZSTD,
    HAC_PARQUET_LZ4_RAW,
} hac_parquet_codec;

/* How stored values are converted to the leaf's type. */
typedef enum hac_parquet_conversion {
    HAC_PARQUET_PLAIN = 0,   /* unchanged, widened */
    HAC_PARQUET_UNSIGNED,    /* INT32 and INT64 that hold unsigned numbers */
    HAC_PARQUET_MILLIS,      /* timestamps in ms: × 1000, out of range is an error */
    HAC_PARQUET_NANOS,       /* timestamps in ns: ÷ 1000, a remainder is an error */
    HAC_PARQUET_INT96_TIME,  /* to µs, as NANOS */
    HAC_PARQUET_INT96_NANOS, /* to whole ns, as i64 */
    HAC_PARQUET_HALF,        /* FLOAT16 → f32 */
    HAC_PARQUET_BIG_ENDIAN,  /* decimals in BYTE_ARRAY and FIXED: two's complement */
} hac_parquet_conversion;

/* How bounds of a leaf's values compare. */
typedef enum hac_parquet_order {
    HAC_PARQUET_UNORDERED = 0, /* unknown: bounds in statistics and column indexes are ignored */
    HAC_PARQUET_ORDERED,       /* as values of the leaf's type; bounds say nothing about NaNs */
    HAC_PARQUET_DOUBTFUL,      /* the writer has a bug: all bounds are ignored, deprecated ones too */
} hac_parquet_order;

/* What is not trusted of a file because its writer has a known bug (format/created_by.c). */
typedef enum hac_parquet_doubts {
    HAC_PARQUET_DOUBT_UNSIGNED_BOUNDS = 1,  /* bounds of values that do not compare like signed numbers */
    HAC_PARQUET_DOUBT_BYTES_BOUNDS = 2,     /* bounds of BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY */
    HAC_PARQUET_DOUBT_TIME_BOUNDS = 4,      /* bounds of timestamps */
    HAC_PARQUET_DOUBT_DICTIONARY_NULLS = 8, /* numbers of nulls of chunks with a dictionary */
    HAC_PARQUET_DOUBT_CHUNK_BYTES = 16,     /* the size of a chunk's pages */
} hac_parquet_doubts;

typedef struct hac_parquet_slice {
    const uint8_t *data; /* NULL: absent */
    uint32_t bytes;
} hac_parquet_slice;

/* Ordered by size: footers may have millions of leaves. */
typedef struct hac_parquet_leaf {
    const char *name;     /* zero-terminated; zero bytes of the name in the file are shown as '?' */
    const char *argument; /* of `part`, borrowed; NULL: it has none */
    const char *logical;  /* its annotation, for people: "TIMESTAMP(MILLIS)"; NULL: none */
    const char *why;      /* why the values cannot be read: "it is in a list of lists"; NULL: they can */
    uint32_t type_length; /* FIXED */
    hac_value_type type;  /* type of its values; HAC_KIND_NONE: they cannot be read */
    /* A list or a map in each row; its type is string. A map is read with the leaf behind it, its values. */
    hac_nested nested;
    uint8_t list_definition; /* nested: the definition level from which on there is an element */
    uint8_t part;            /* hac_list_part, of what hac_parquet_leaf_as returns */
    uint8_t physical;        /* hac_parquet_physical */
    uint8_t max_definition, max_repetition;
    uint8_t conversion;  /* hac_parquet_conversion */
    uint8_t order;       /* hac_parquet_order */
    uint8_t small_bits;  /* 8, 16: stored as unsigned integers of so many bits; 0: as something else */
    bool only_nulls : 1; /* annotated UNKNOWN: whatever type it is read as, its values are null */
    bool map_values : 1; /* the values of the map before it, with which they are read */
    bool made : 1;       /* the file has no name, or one that repeats (expr/column_names.h) */
} hac_parquet_leaf;

/* Statistics of a column chunk or a page. Bounds that cannot be trusted are absent: writer, order of the
 * column, NaNs and deprecated fields have been checked. Bounds are stored as PLAIN values without a
 * length. */
typedef struct hac_parquet_statistics {
    hac_parquet_slice min, max; /* may be inexact: usable for skipping rows, not as results … */
    bool min_exact, max_exact;  /* … unless these are true: some value is equal to the bound */
    uint64_t nulls, nans;       /* UINT64_MAX: not known */
} hac_parquet_statistics;

typedef struct hac_parquet_chunk {
    uint8_t codec;              /* hac_parquet_codec; any other number: not known here */
    uint32_t encodings;         /* encodings that its pages should have: bits 1 << number */
    uint64_t first_byte, bytes; /* bytes of its pages, dictionary first; checked to lie within the file */
    uint64_t uncompressed;      /* as the file says; some writers say 0 or `bytes`: for people only */
    uint64_t values;            /* number of values: rows if nothing is repeated */
    hac_parquet_statistics statistics;
    uint64_t column_index, offset_index, bloom; /* offsets; 0: there is none */
    uint32_t column_index_bytes, offset_index_bytes, bloom_bytes;
    /* old parquet-mr: `bytes` may be too small by a dictionary's header, at most 100 bytes */
    bool short_by_header;
    const char *why; /* why it cannot be read: "its data is in another file"; NULL: it can */
} hac_parquet_chunk;

typedef struct hac_parquet_group {
    uint64_t first_row, rows;  /* in the file */
    hac_parquet_chunk *chunks; /* one for each leaf */
} hac_parquet_group;

/* Where the file's bytes are. */
typedef struct hac_parquet_place {
    int fd; /* -1: in memory */
    const uint8_t *memory;
    uint64_t bytes; /* bytes of the file; more bytes are ignored */
} hac_parquet_place;

/* Limits for untrusted files; 0: the default. */
typedef struct hac_parquet_limits {
    uint64_t footer_bytes; /* 64 MiB */
    uint64_t page_bytes;   /* of a page, uncompressed: 128 MiB */
    bool ignore_checksums; /* do not check the CRCs of pages */
} hac_parquet_limits;

typedef struct hac_parquet_file {
    hac_parquet_place place;
    hac_parquet_limits limits; /* defaults filled in */
    hac_parquet_leaf *leaves;
    size_t n_leaves;
    hac_parquet_group *groups;
    size_t n_groups;
    uint64_t rows;
    uint32_t schema_bytes; /* the footer's first bytes that hold the schema; 0: other fields come before it */
    const char *created_by; /* "" if the file does not say */
    uint8_t doubts;         /* hac_parquet_doubts about its writer */
    struct hac_parquet_arena *arena;
} hac_parquet_file;

/* HAC_FAILED: not a Parquet file, damaged or encrypted ("the footer's column 3 …"); HAC_IO; HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_parquet_open(const hac_parquet_place *place, const hac_parquet_limits *limits,
                                         hac_parquet_file **ret, hac_error *err);
void hac_parquet_close(hac_parquet_file *file);

/* The leaf with values of another type, or a part of its lists (`argument` is borrowed): the part's own
 * type, or for HAC_LIST_ELEMENT and HAC_LIST_UNNEST one that holds all elements. A whole column may be read
 * as one that holds all values of its own (hac_value_type_holds), of any type if it has only nulls, of i64
 * if it has timestamps in nanoseconds (nanoseconds since 1970). False: its values cannot be read so. */
bool hac_parquet_leaf_as(const hac_parquet_leaf *leaf, hac_value_type type, hac_list_part part,
                         const char *argument, hac_parquet_leaf *ret);

/* The leaf's name as queries use it: cut between characters if it is too long; bytes that are not UTF-8
 * become '?'. */
void hac_parquet_leaf_name(const hac_parquet_leaf *leaf, char ret[HAC_FIELD_NAME_MAX]);

/* The leaf with that name in queries. -1: there is none; HAC_PARQUET_TWICE: there are several. */
enum { HAC_PARQUET_TWICE = -2 };
int hac_parquet_find(const hac_parquet_file *file, const char *name, size_t bytes);

/* Reads exactly these bytes of the file. HAC_FAILED: the file has become shorter. */
HAC_MUST_USE hac_status hac_parquet_read(const hac_parquet_file *file, uint64_t offset, uint8_t *ret,
                                         size_t bytes, hac_error *err);

/* Describes the file for `hacctl parquet inspect`, as one JSON object: rows, columns with types, row groups
 * with sizes, codecs, encodings and statistics. */
void hac_parquet_describe(const hac_parquet_file *file, hac_text *ret);

#endif
