/* SPDX-License-Identifier: Apache-2.0 */
#include "file_forms.h"

#include <stdio.h>
#include <string.h>

#include "base/input_options.h"
#include "expr/described_nested.h"

/* The options that read the forms. */
static const char *const form_options[] = {[HAC_ONLY_POINT] = "--decimal point",
                                           [HAC_ONLY_COMMA] = "--decimal comma",
                                           [HAC_ONLY_DMY] = "--dates dmy",
                                           [HAC_ONLY_MDY] = "--dates mdy"};

/* ---- options ---- */

/* Their bytes in the answer of a description. */
#define FORMS                                                                                                \
    (UINT64_C(0xff) << HAC_DETECTED_DECIMAL | UINT64_C(0xff) << HAC_DETECTED_THOUSANDS |                     \
     UINT64_C(0xff) << HAC_DETECTED_DATES)

void hac_file_forms_read(uint64_t found, hac_input_options *ret)
{
    ret->decimal = (uint8_t)(found >> HAC_DETECTED_DECIMAL);
    ret->thousands = (uint8_t)(found >> HAC_DETECTED_THOUSANDS);
    ret->dates = (uint8_t)(found >> HAC_DETECTED_DATES);
}

uint64_t hac_file_forms_write(uint64_t found, const hac_input_options *options)
{
    return (found & ~FORMS) | (uint64_t)options->decimal << HAC_DETECTED_DECIMAL |
           (uint64_t)options->thousands << HAC_DETECTED_THOUSANDS |
           (uint64_t)options->dates << HAC_DETECTED_DATES;
}

bool hac_file_forms_differ(uint64_t found, uint64_t other)
{
    return ((found ^ other) & FORMS) != 0;
}

void hac_file_forms_tell(hac_input_format format, hac_input_options *options)
{
    if (options->decimal == HAC_DECIMAL_AUTO)
        options->decimal = HAC_DECIMAL_POINT;
    if (options->thousands == HAC_THOUSANDS_AUTO)
        options->thousands = HAC_THOUSANDS_NONE;
    if (options->dates == HAC_DATES_AUTO)
        options->dates = HAC_DATES_YMD;
    hac_input_options_keep(format, options);
}

/* ---- one column ---- */

static bool is_time(const hac_described_column *c)
{
    return c->kind == HAC_KIND_DATE || c->kind == HAC_KIND_TIMESTAMP;
}

static bool is_number(const hac_described_column *c)
{
    return c->kind == HAC_KIND_I64 || c->kind == HAC_KIND_DECIMAL || c->kind == HAC_KIND_F64;
}

/* What the values of a column are, whether or not it is known in which form. */
static unsigned kinds_of(const hac_described_column *c)
{
    const unsigned forms = c->flags / HAC_DESCRIBED_FORMS;
    if ((c->flags & HAC_DESCRIBED_ONLY_NULLS) != 0 || c->kind == HAC_KIND_NONE)
        return 0;
    if (is_number(c) || (forms & (HAC_FORM_DECIMAL_COMMA | HAC_FORM_THOUSANDS)) != 0 ||
        (hac_described_text(c) & HAC_DESCRIBED_INFINITE) != 0)
        return HAC_VALUES_NUMBERS;
    return is_time(c) || (forms & HAC_FORM_DATES) != 0 ? HAC_VALUES_TIMES : HAC_VALUES_OTHER;
}

static bool is_one(unsigned bits)
{
    return bits != 0 && (bits & (bits - 1)) == 0;
}

/* The form in which the numbers or dates of the column can only be written. Dates whose separator is not
 * known, as a long name leaves no space for it, show no order. */
static hac_only_form only_form(const hac_file_columns *file, const hac_described_column *c)
{
    hac_input_options found = HAC_INPUT_OPTIONS_INIT;
    hac_file_forms_read(file->schema_bytes, &found);
    if ((hac_described_text(c) & HAC_DESCRIBED_POINT) != 0)
        return HAC_ONLY_POINT;
    if ((hac_described_text(c) & HAC_DESCRIBED_COMMA) != 0)
        return HAC_ONLY_COMMA;
    if ((c->flags & HAC_FORM_FOUND * HAC_DESCRIBED_FORMS) == 0)
        return HAC_ONLY_NONE;
    if (is_number(c) && found.decimal == HAC_DECIMAL_COMMA)
        return HAC_ONLY_COMMA;
    if (!is_time(c) || (hac_described_separators(c) & HAC_SEPARATORS_OF_DATES) == 0)
        return HAC_ONLY_NONE;
    return found.dates == HAC_DATES_DMY   ? HAC_ONLY_DMY
           : found.dates == HAC_DATES_MDY ? HAC_ONLY_MDY
                                          : HAC_ONLY_NONE;
}

void hac_file_form_add(hac_file_form *form, const hac_file_columns *file, const hac_described_column *column)
{
    const hac_only_form only = only_form(file, column);
    form->values |= (uint8_t)kinds_of(column);
    form->open_dates |= (column->flags & HAC_FORM_DATES * HAC_DESCRIBED_FORMS) != 0;
    if (only != HAC_ONLY_NONE && form->only == HAC_ONLY_NONE) {
        form->only = (uint8_t)only;
        form->file = file->name;
    } else if (only != HAC_ONLY_NONE && only != form->only && form->other == HAC_ONLY_NONE) {
        form->other = (uint8_t)only;
        form->other_file = file->name;
    }
}

/* ---- all columns ---- */

/* Whether the column has one kind of values. Text, and columns that have numbers in one file and dates in
 * another, have no form. */
static bool has_form(const hac_file_form *form, hac_only_form only)
{
    const unsigned values = only <= HAC_ONLY_COMMA ? HAC_VALUES_NUMBERS : HAC_VALUES_TIMES;
    return form->only == only && form->other == HAC_ONLY_NONE && form->values == values;
}

static void refuse_contradictions(hac_file_columns *columns)
{
    for (size_t i = 0; i < columns->n; i++) {
        hac_file_form *form = &columns->forms[i];
        if (form->other == HAC_ONLY_NONE || !is_one(form->values) || form->values == HAC_VALUES_OTHER)
            continue;
        if (asprintf(&form->refused,
                     "column '%s': %s reads it in %s, and %s in %s; query such files one after the other, or "
                     "say --schema with a string column",
                     columns->columns[i].name, form_options[form->only], form->file,
                     form_options[form->other], form->other_file) < 0)
            form->refused = NULL; /* reading the files says it with other words */
    }
}

/* Whether columns have decimal commas only, and no other column has decimal points only. */
static bool find_comma(const hac_file_columns *columns)
{
    bool comma = false, point = false;
    for (size_t i = 0; i < columns->n; i++) {
        comma |= has_form(&columns->forms[i], HAC_ONLY_COMMA);
        point |= has_form(&columns->forms[i], HAC_ONLY_POINT);
    }
    return comma && !point;
}

/* Finds the separator that the columns with the decimal sign have. `told`: the sign is an option, so that it
 * is that of all columns. */
static hac_thousands find_thousands(const hac_file_columns *columns, bool comma, bool told)
{
    const unsigned possible =
        HAC_SEPARATOR_SPACE | HAC_SEPARATOR_APOSTROPHE | (comma ? HAC_SEPARATOR_POINT : HAC_SEPARATOR_COMMA);
    const hac_only_form sign = comma ? HAC_ONLY_COMMA : HAC_ONLY_POINT;
    unsigned found = 0;
    for (size_t i = 0; i < columns->n; i++) {
        const hac_file_form *form = &columns->forms[i];
        unsigned own = hac_described_separators(&columns->columns[i]) & possible;
        if (is_one(own) && (told ? form->values == HAC_VALUES_NUMBERS : has_form(form, sign)))
            found |= own;
    }
    for (unsigned i = 0; i < HAC_THOUSANDS_END - HAC_THOUSANDS_COMMA; i++)
        if (found == 1u << i) /* the bits come in the order of hac_thousands */
            return (hac_thousands)(HAC_THOUSANDS_COMMA + i);
    return HAC_THOUSANDS_AUTO;
}

static hac_date_order find_dates(const hac_file_columns *columns, unsigned *ret_separators)
{
    bool dmy = false, mdy = false;
    for (size_t i = 0; i < columns->n; i++) {
        const hac_file_form *form = &columns->forms[i];
        unsigned own = hac_described_separators(&columns->columns[i]) & HAC_SEPARATORS_OF_DATES;
        if (!is_one(own) || (!has_form(form, HAC_ONLY_DMY) && !has_form(form, HAC_ONLY_MDY)))
            continue;
        dmy |= form->only == HAC_ONLY_DMY;
        mdy |= form->only == HAC_ONLY_MDY;
        *ret_separators |= own;
    }
    return dmy == mdy ? HAC_DATES_AUTO : dmy ? HAC_DATES_DMY : HAC_DATES_MDY;
}

bool hac_file_forms_settle(hac_file_columns *columns, const hac_input_options *told, hac_input_options *ret,
                           unsigned *ret_separators)
{
    bool open = false, sign_told = told->decimal != HAC_DECIMAL_AUTO;
    *ret = *told;
    *ret_separators = 0;
    refuse_contradictions(columns);
    if (!sign_told && find_comma(columns))
        ret->decimal = HAC_DECIMAL_COMMA;
    if (told->thousands == HAC_THOUSANDS_AUTO)
        ret->thousands = (uint8_t)find_thousands(columns, ret->decimal == HAC_DECIMAL_COMMA, sign_told);
    if (told->dates == HAC_DATES_AUTO)
        ret->dates = (uint8_t)find_dates(columns, ret_separators);
    for (size_t i = 0; i < columns->n; i++)
        open |= columns->forms[i].open_dates;
    return columns->differ || hac_file_forms_write(columns->schema_bytes, ret) != columns->schema_bytes ||
           (open && *ret_separators != 0);
}
