/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of files that are queried together. */
#ifndef CLIENT_FILE_COLUMNS_H
#define CLIENT_FILE_COLUMNS_H

#include "base/query_layout.h"
#include "expr/schema.h"

/* The only form that fits a column's numbers or dates. */
typedef enum hac_only_form {
    HAC_ONLY_NONE = 0,
    HAC_ONLY_POINT,
    HAC_ONLY_COMMA,
    HAC_ONLY_DMY,
    HAC_ONLY_MDY
} hac_only_form;

/* What the values of a column are. */
enum { HAC_VALUES_NUMBERS = 1, HAC_VALUES_TIMES = 2, HAC_VALUES_OTHER = 4 };

/* How the numbers or dates of a column are written in texts (file_forms.h). */
typedef struct hac_file_form {
    uint8_t values;         /* HAC_VALUES_… of all files */
    uint8_t only, other;    /* hac_only_form: of the first file that has one, and the first other form */
    bool open_dates;        /* a file has dates that may have several orders */
    const char *file;       /* that has `only`, for messages; not owned */
    const char *other_file; /* that has `other` */
    char *refused; /* owned: why a query may not use the column, as files contradict each other. Or NULL */
} hac_file_form;

/* The columns of one file, as hacd describes them. */
typedef struct hac_file_columns {
    hac_described_column *columns; /* owned */
    size_t n;
    /* Parquet: of the footer, from its beginning; 0: not known. csv and tsv: what was found (query_layout.h).
     * */
    uint64_t schema_bytes;
    bool by_position;     /* other files must have the columns in the same order */
    bool json;            /* the records name their values */
    bool text;            /* the types are those of the first records of a text */
    const char *name;     /* of the file, for messages; not owned */
    bool differ;          /* not all files show the same forms of numbers and dates */
    hac_file_form *forms; /* owned; of each column of texts, or NULL before the first one is widened */
    bool by_name;         /* files may have columns of their own, which are null in others */
    bool *lacks;          /* owned; of each column, whether some file lacks it. NULL: none does */
} hac_file_columns;

void hac_file_forms_free(hac_file_form *forms, size_t n);
void hac_file_columns_clear(hac_file_columns *columns);

/* Whether the footer of the file `other` begins with the first `schema_bytes` bytes of that of `first`: then
 * its columns are the same. False also if the files cannot be compared. */
bool hac_file_columns_same(int first, int other, uint64_t schema_bytes);

/* If files are read by name, adds the columns of `other` that `first` lacks, up to one more than a query
 * may have. Gives each column of `first` the smallest type that also holds the values of the column of
 * that name in `other`: i32 and i64 become i64, and a column of nulls takes any type. Columns without such
 * a type keep theirs, and the job fails with their names; those of texts become f64 or string.
 * HAC_INVALID: the columns of `first` are by position, and those of `other` are in another order. */
HAC_MUST_USE hac_status hac_file_columns_widen(hac_file_columns *first, const hac_file_columns *other,
                                               hac_error *err);

/* Settles the columns of JSON as if all files were one: what is an object in one file, and something else in
 * another one, is one column of text. */
void hac_file_columns_settle(hac_file_columns *columns);

#endif
