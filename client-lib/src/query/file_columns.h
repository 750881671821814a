/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of files that are queried together. */
#ifndef CLIENT_FILE_COLUMNS_H
#define CLIENT_FILE_COLUMNS_H

#include "base/query_layout.h"
#include "expr/schema.h"

typedef enum hac_shown_form {
    HAC_SHOWN_NONE = 0,
    HAC_SHOWN_POINT,
    HAC_SHOWN_COMMA,
    HAC_SHOWN_DMY,
    HAC_SHOWN_MDY
} hac_shown_form;

/* How the numbers or dates of a column are written in texts. */
typedef struct hac_file_form {
    uint8_t shown;    /* hac_shown_form: the only form that some file's values have */
    const char *file; /* that file, for messages; not owned */
    char *refused;    /* owned: why a query may not use the column, as files contradict each other. Or NULL */
} hac_file_form;

/* The columns of one file, as hacd describes them. */
typedef struct hac_file_columns {
    hac_described_column *columns; /* owned */
    size_t n;
    /* Parquet: of the footer, from its beginning; 0: not known. csv and tsv: what was found (query_layout.h).
     * */
    uint64_t schema_bytes;
    bool by_position;     /* other files must have the columns in the same order */
    bool text;            /* the types are those of the first records of a text */
    const char *name;     /* of the file, for messages; not owned */
    bool differ;          /* not all files show the same forms of numbers and dates */
    hac_file_form *forms; /* owned; of each column of texts, or NULL before the first one is widened */
    bool by_name;         /* the records name their values: files may have columns of their own */
} hac_file_columns;

void hac_file_forms_free(hac_file_form *forms, size_t n);
void hac_file_columns_clear(hac_file_columns *columns);

/* Whether the footer of the file `other` begins with the first `schema_bytes` bytes of that of `first`: then
 * its columns are the same. False also if the files cannot be compared. */
bool hac_file_columns_same(int first, int other, uint64_t schema_bytes);

/* If files are read by name, adds the columns of `other` that `first` lacks, up to one more than a query may
 * have. Gives each column of `first` the smallest type that also holds the values of the column of that name
 * in `other`: i32 and i64 become i64, and a column of nulls takes any type. Columns without such a type keep
 * theirs, and the job fails with their names; those of texts become f64 or string. A column of texts whose
 * numbers or dates are written in contradicting forms is refused. HAC_INVALID: the columns of `first` are by
 * position, and those of `other` are in another order. */
HAC_MUST_USE hac_status hac_file_columns_widen(hac_file_columns *first, const hac_file_columns *other,
                                               hac_error *err);

/* Refuses columns with decimal points if other columns have decimal commas, and no option said so. */
void hac_file_columns_settle_forms(hac_file_columns *columns);

/* Settles the columns of JSON as if all files were one: what is an object in one file, and something else in
 * another one, is one column of text. */
void hac_file_columns_settle(hac_file_columns *columns);

#endif
