/* SPDX-License-Identifier: Apache-2.0 */
/* The form of a query's result, as --output-format, the suffix of -o and the terminal choose it. */
#ifndef HACCTL_RESULT_FORM_H
#define HACCTL_RESULT_FORM_H

#include "cli/cli.h"

/* In the order of the choices of --output-format */
typedef enum hac_result_form {
    HAC_FORM_OF_CSV,
    HAC_FORM_OF_JSON,
    HAC_FORM_OF_PARQUET,
    HAC_FORM_OF_TABLE, /* drawn by this process (text/box_table.h) */
    HAC_FORM_OF_TSV,
    HAC_FORM_OF_JSONL, /* the same as json */
    HAC_FORM_OF_MARKDOWN,
    HAC_FORM_OF_ARROW, /* written by this process (run/arrow_file.h) */
    HAC_FORM_OF_END
} hac_result_form;

/* What libhac is asked for. */
hac_result_format hac_result_form_format(hac_result_form form);

/* Whether this process makes the form of what the daemon gives, so that the daemon cannot keep it. */
bool hac_result_form_is_made_here(hac_result_form form);

/* Whether an Arrow result is a file, whose suffix is .arrow or .feather, and not a stream. */
bool hac_result_form_is_file(const hac_args *args);

/* Takes --output-format, else the suffix of -o; else a table for standard output that is a terminal (but not
 * that of a rank), else `otherwise`. HAC_INVALID: the suffix promises a form that results cannot have, or
 * --detach asks the daemon to keep a form that this process makes. `command` is for messages. */
HAC_MUST_USE hac_status hac_result_form_choose(const hac_args *args, const char *command,
                                               hac_result_form otherwise, hac_result_form *ret,
                                               hac_error *err);

/* The form that the path's suffix promises; `otherwise` if it promises none. False: one that results cannot
 * have. */
bool hac_result_form_of_path(const char *path, hac_result_form otherwise, hac_result_form *ret);

/* Whether the suffix of a file's name does not contradict a result of this form, a choice of --output-format;
 * true for all other forms. */
bool hac_result_form_fits(const char *path, const char *form);

#endif
