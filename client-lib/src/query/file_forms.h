/* SPDX-License-Identifier: Apache-2.0 */
/* How the numbers and dates of texts that are queried together are written: in one form, as if they were one
 * text. */
#ifndef CLIENT_FILE_FORMS_H
#define CLIENT_FILE_FORMS_H

#include <hac/query.h>

#include "file_columns.h"

/* Adds what the column of one file shows. */
void hac_file_form_add(hac_file_form *form, const hac_file_columns *file, const hac_described_column *column);

/*
 * Finds the forms of all files. `told` are the options of the user; where they are AUTO, *ret gets what the
 * columns show that have one kind of values in all files, or stays AUTO. Refuses columns that have one form
 * in one file and another form in another file. *ret_separators gets the HAC_SEPARATOR_DATE_… of dates that
 * have the order, or 0 if all have. `columns->forms` must exist.
 *
 * Returns whether the files must be described again with *ret: some of them show other forms alone, or have
 * columns that these forms may settle.
 */
bool hac_file_forms_settle(hac_file_columns *columns, const hac_input_options *told, hac_input_options *ret,
                           unsigned *ret_separators);

/* The options with which a file is described again: nothing is left to be found. */
void hac_file_forms_tell(hac_input_format format, hac_input_options *options);

/* The options in the answer of a description, and back. */
void hac_file_forms_read(uint64_t found, hac_input_options *ret);
uint64_t hac_file_forms_write(uint64_t found, const hac_input_options *options);
/* Whether two answers have different forms. */
bool hac_file_forms_differ(uint64_t found, uint64_t other);

#endif
