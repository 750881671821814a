/* SPDX-License-Identifier: Apache-2.0 */
#include "file_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "expr/described_nested.h"
#include "file_forms.h"

void hac_file_forms_free(hac_file_form *forms, size_t n)
{
    for (size_t i = 0; forms != NULL && i < n; i++)
        free(forms[i].refused);
    free(forms);
}

void hac_file_columns_clear(hac_file_columns *columns)
{
    free(columns->columns);
    free(columns->lacks);
    hac_file_forms_free(columns->forms, columns->n);
    *columns = (hac_file_columns){0};
}

/* ---- the same schema ---- */

enum { FIELDS_MAX = 65535 /* of a record, and so of all files together */ };
enum { TAIL_BYTES = 8, COMPARED_BYTES = 4096, COMPARED_MAX = 1 << 20 };

static bool read_at(int fd, uint8_t *ret, size_t bytes, uint64_t offset)
{
    return pread(fd, ret, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* Finds where the footer begins: its length stands before the magic at the end. */
static bool find_footer(int fd, uint64_t *ret, uint64_t *ret_bytes)
{
    struct stat st;
    uint8_t tail[TAIL_BYTES];
    if (fstat(fd, &st) < 0 || st.st_size < TAIL_BYTES ||
        !read_at(fd, tail, sizeof(tail), (uint64_t)st.st_size - TAIL_BYTES))
        return false;
    *ret_bytes = tail[0] | (uint64_t)tail[1] << 8 | (uint64_t)tail[2] << 16 | (uint64_t)tail[3] << 24;
    if (*ret_bytes > (uint64_t)st.st_size - TAIL_BYTES)
        return false;
    *ret = (uint64_t)st.st_size - TAIL_BYTES - *ret_bytes;
    return true;
}

bool hac_file_columns_same(int first, int other, uint64_t schema_bytes)
{
    uint64_t from, from_bytes, to, to_bytes;
    if (schema_bytes == 0 || schema_bytes > COMPARED_MAX || !find_footer(first, &from, &from_bytes) ||
        !find_footer(other, &to, &to_bytes) || schema_bytes > from_bytes || schema_bytes > to_bytes)
        return false;
    uint8_t a[COMPARED_BYTES], b[COMPARED_BYTES];
    for (uint64_t at = 0; at < schema_bytes; at += COMPARED_BYTES) {
        size_t n = schema_bytes - at < COMPARED_BYTES ? (size_t)(schema_bytes - at) : COMPARED_BYTES;
        if (!read_at(first, a, n, from + at) || !read_at(other, b, n, to + at) || memcmp(a, b, n) != 0)
            return false;
    }
    return true;
}

/* ---- common types ---- */

static hac_value_type type_of(const hac_described_column *c)
{
    return (hac_value_type){c->kind, c->precision, c->scale};
}

static void set_type(hac_described_column *c, hac_value_type type)
{
    c->kind = type.kind;
    c->precision = type.precision;
    c->scale = type.scale;
}

/* Lists of elements with a common type are lists of that type; other columns are only text. */
static void widen_nested(hac_described_column *c, const hac_described_column *other)
{
    hac_nested a = hac_described_nested(c), b = hac_described_nested(other);
    bool same = a.kind == b.kind && a.kind != HAC_NESTED_NONE && hac_value_type_equal(a.key, b.key) &&
                hac_value_type_common(a.element, b.element, &a.element);
    hac_described_nested_put(same ? a : (hac_nested){0}, c);
}

static bool is_number(hac_value_type type)
{
    return type.kind == HAC_KIND_I64 || type.kind == HAC_KIND_DECIMAL || type.kind == HAC_KIND_F64;
}

/* The elements of arrays that are numbers in both files, or of one type, are of a common type; others are
 * text. */
static hac_nested widen_elements(hac_nested a, hac_nested b)
{
    if (a.kind == HAC_NESTED_NONE || b.kind == HAC_NESTED_NONE)
        return (hac_nested){0};
    if (!hac_value_type_equal(a.element, b.element))
        a.element = (hac_value_type){.kind = is_number(a.element) && is_number(b.element) ? HAC_KIND_F64
                                                                                          : HAC_KIND_STRING};
    return a;
}

static bool is_time(hac_value_type type)
{
    return type.kind == HAC_KIND_DATE || type.kind == HAC_KIND_TIMESTAMP;
}

/* The type of a column beside finite numbers. */
static hac_value_type type_beside_numbers(const hac_described_column *c)
{
    bool infinite = (hac_described_text(c) & HAC_DESCRIBED_INFINITE) != 0;
    return infinite ? (hac_value_type){.kind = HAC_KIND_F64} : type_of(c);
}

/* The type that the values of both texts would have been found to have. */
static hac_value_type type_of_texts(const hac_described_column *c, const hac_described_column *other)
{
    hac_value_type a = type_beside_numbers(c), b = type_beside_numbers(other);
    unsigned facts = hac_described_text(c), other_facts = hac_described_text(other);
    unsigned dates =
        (hac_described_separators(c) | hac_described_separators(other)) & HAC_SEPARATORS_OF_DATES;
    if ((facts & other_facts & HAC_DESCRIBED_INFINITE) != 0)
        return (hac_value_type){.kind = HAC_KIND_STRING};
    if (is_time(a) && is_time(b) && (dates & (dates - 1)) != 0) /* 31.12.2024 beside 31/12/2024 */
        return (hac_value_type){.kind = HAC_KIND_STRING};
    if (hac_value_type_equal(a, b))
        return a;
    if (is_number(a) && is_number(b)) /* integers beyond 2^53 are no f64 */
        return (hac_value_type){.kind = ((facts | other_facts) & HAC_DESCRIBED_WIDE) != 0 ? HAC_KIND_STRING
                                                                                          : HAC_KIND_F64};
    if (is_time(a) && is_time(b))
        return hac_value_type_has_zone(a) || hac_value_type_has_zone(b)
                   ? HAC_TIMESTAMPTZ
                   : (hac_value_type){.kind = HAC_KIND_TIMESTAMP};
    return (hac_value_type){.kind = HAC_KIND_STRING};
}

/* What the values of a column of both texts are: arrays in one file, and other values in another one. */
static void widen_facts(hac_described_column *c, const hac_described_column *other)
{
    bool nulls = (c->flags & HAC_DESCRIBED_ONLY_NULLS) != 0,
         other_nulls = (other->flags & HAC_DESCRIBED_ONLY_NULLS) != 0;
    const unsigned all = HAC_DESCRIBED_ARRAYS | HAC_DESCRIBED_EMPTY | HAC_DESCRIBED_INFINITE;
    unsigned a = hac_described_text(c), b = hac_described_text(other);
    unsigned both = nulls ? b & all : other_nulls ? a & all : a & b & all;
    if (!other_nulls && !nulls && ((a ^ b) & HAC_DESCRIBED_ARRAYS) != 0)
        c->flags |= HAC_DESCRIBED_MIXED;
    if (a != 0 || b != 0)
        hac_described_text_put(
            both | ((a | b) & (HAC_DESCRIBED_MEMBER | HAC_DESCRIBED_WIDE | HAC_DESCRIBED_POINT)), c);
    hac_described_separators_put(hac_described_separators(c) | hac_described_separators(other), c);
}

static hac_odd_kind odd_kind_of(hac_value_type type)
{
    return is_number(type)                ? HAC_ODD_NUMBERS
           : type.kind == HAC_KIND_BOOL   ? HAC_ODD_BOOLS
           : type.kind != HAC_KIND_STRING ? HAC_ODD_TIMES
                                          : HAC_ODD_NONE;
}

/* A column that is text in one file alone has its odd value from there. */
static void widen_odd(hac_described_column *c, const hac_described_column *other)
{
    hac_odd_value a = hac_described_odd(c), b = hac_described_odd(other);
    bool c_text = c->kind == HAC_KIND_STRING, other_text = other->kind == HAC_KIND_STRING;
    hac_odd_kind typed = odd_kind_of(type_of(c_text ? other : c));
    bool own = c_text && other_text ? a.among != HAC_ODD_NONE || b.among == HAC_ODD_NONE
                                    : c_text || (!other_text && a.text[0] != '\0');
    hac_odd_value *odd = own ? &a : &b;
    if (typed != HAC_ODD_NONE && odd->text[0] != '\0')
        odd->among = (uint8_t)typed;
    hac_described_odd_put(odd, c);
}

/* Of a column whose values in the other files are all null. */
static void copy_forms(const hac_described_column *from, hac_described_column *ret)
{
    hac_odd_value odd = hac_described_odd(from);
    hac_described_odd_put(&odd, ret);
    ret->flags |= from->flags & HAC_FORM_ALL * HAC_DESCRIBED_FORMS;
}

static void widen_type(hac_described_column *c, const hac_described_column *other, bool text)
{
    hac_value_type common;
    bool nulls = (c->flags & HAC_DESCRIBED_ONLY_NULLS) != 0;
    c->flags |= other->flags & HAC_DESCRIBED_MIXED;
    const hac_value_type type = type_of_texts(c, other);
    if (text)
        widen_facts(c, other);
    if (c->kind == HAC_KIND_NONE || other->kind == HAC_KIND_NONE ||
        (other->flags & HAC_DESCRIBED_ONLY_NULLS) != 0)
        return;
    if (nulls) {
        set_type(c, type_of(other));
        hac_described_nested_put(hac_described_nested(other), c);
        if (text)
            copy_forms(other, c);
    } else if (text) {
        if (type.kind == HAC_KIND_STRING)
            widen_odd(c, other);
        set_type(c, type);
        c->flags |= other->flags & HAC_FORM_FOUND * HAC_DESCRIBED_FORMS;
    } else if (hac_value_type_common(type_of(c), type_of(other), &common)) {
        set_type(c, common);
        widen_nested(c, other);
    }
    c->flags &= (uint8_t)~HAC_DESCRIBED_ONLY_NULLS;
}

static void widen(hac_described_column *c, const hac_described_column *other, bool text)
{
    const bool nulls = (c->flags & HAC_DESCRIBED_ONLY_NULLS) != 0,
               other_nulls = (other->flags & HAC_DESCRIBED_ONLY_NULLS) != 0;
    const hac_nested own = hac_described_elements(c), others = hac_described_elements(other);
    widen_type(c, other, text);
    if (text)
        hac_described_elements_put(nulls ? others : other_nulls ? own : widen_elements(own, others), c);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const hac_described_column *const *)a)->name,
                  (*(const hac_described_column *const *)b)->name);
}

static void widen_column(hac_file_columns *first, size_t i, const hac_file_columns *other,
                         const hac_described_column *found)
{
    hac_described_column *c = &first->columns[i];
    bool typed = c->kind != HAC_KIND_STRING && found->kind != HAC_KIND_STRING;
    widen(c, found, first->text);
    if (first->forms == NULL)
        return;
    hac_file_form_add(&first->forms[i], other, found);
    if (typed && c->kind == HAC_KIND_STRING)
        first->forms[i].values |= HAC_VALUES_OTHER;
}

/* Files written by the same program have the same columns in the same order. */
static bool widen_in_order(hac_file_columns *first, const hac_file_columns *other)
{
    if (first->n != other->n)
        return false;
    for (size_t i = 0; i < first->n; i++)
        if (strcmp(first->columns[i].name, other->columns[i].name) != 0)
            return false;
    for (size_t i = 0; i < first->n; i++)
        widen_column(first, i, other, &other->columns[i]);
    return true;
}

static hac_status fail_place(const char *name, const char *what, hac_error *err)
{
    return hac_fail(err, HAC_INVALID,
                    "SQL: UNION ALL goes by the places of the columns, and '%s' %s; write UNION ALL BY NAME, "
                    "or name the columns",
                    name, what);
}

static bool has_column(const hac_file_columns *columns, const char *name)
{
    for (size_t i = 0; i < columns->n; i++)
        if (strcmp(columns->columns[i].name, name) == 0)
            return true;
    return false;
}

/* Fails unless both files have the same columns in the same order; `found` are those of the other file. */
static hac_status check_order(const hac_file_columns *first, const hac_file_columns *other,
                              const hac_described_column *const *found, hac_error *err)
{
    const hac_described_column *last = NULL;
    for (size_t i = 0; i < other->n; i++)
        if (!has_column(first, other->columns[i].name))
            return fail_place(other->columns[i].name, "is in one file only", err);
    for (size_t i = 0; i < first->n; i++) {
        if (found[i] == NULL)
            return fail_place(first->columns[i].name, "is in one file only", err);
        if (last != NULL && found[i] < last)
            return fail_place(found[i]->name, "has another place in another file", err);
        last = found[i];
    }
    return HAC_OK;
}

/* Notes the columns of `first` that another file lacks: those without an entry in `found`. */
static hac_status note_lacking(hac_file_columns *first, const hac_described_column *const *found,
                               hac_error *err)
{
    for (size_t i = 0; i < first->n; i++) {
        if (found[i] != NULL)
            continue;
        if (first->lacks == NULL && (first->lacks = calloc(first->n + 1, sizeof(*first->lacks))) == NULL)
            return hac_fail_no_memory(err);
        first->lacks[i] = true;
    }
    return HAC_OK;
}

/* Appends the columns that only `other` has. */
static hac_status add_others(hac_file_columns *first, const hac_file_columns *other, hac_error *err)
{
    size_t max = first->n + other->n + 1, most = first->json ? HAC_COLUMNS_MAX : FIELDS_MAX;
    bool *lacks = realloc(first->lacks, max * sizeof(*lacks));
    if (lacks == NULL)
        return hac_fail_no_memory(err);
    if (first->lacks == NULL)
        memset(lacks, 0, max * sizeof(*lacks));
    first->lacks = lacks;
    hac_described_column *columns = realloc(first->columns, max * sizeof(*columns));
    if (columns == NULL)
        return hac_fail_no_memory(err);
    first->columns = columns;
    hac_file_form *forms = first->text ? realloc(first->forms, max * sizeof(*forms)) : NULL;
    if (first->text && forms == NULL)
        return hac_fail_no_memory(err);
    first->forms = forms;
    for (size_t i = 0; i < other->n && first->n <= most; i++) {
        if (has_column(first, other->columns[i].name))
            continue;
        if (forms != NULL) {
            forms[first->n] = (hac_file_form){0};
            hac_file_form_add(&forms[first->n], other, &other->columns[i]);
        }
        lacks[first->n] = true;
        columns[first->n++] = other->columns[i];
    }
    return HAC_OK;
}

static bool begin_forms(hac_file_columns *first)
{
    first->forms = calloc(first->n + 1, sizeof(*first->forms));
    for (size_t i = 0; first->forms != NULL && i < first->n; i++)
        hac_file_form_add(&first->forms[i], first, &first->columns[i]);
    return first->forms != NULL;
}

hac_status hac_file_columns_widen(hac_file_columns *first, const hac_file_columns *other, hac_error *err)
{
    if (first->text && first->forms == NULL && !begin_forms(first))
        return hac_fail_no_memory(err);
    if (widen_in_order(first, other))
        return HAC_OK;
    hac_autofree const hac_described_column **sorted = calloc(other->n + 1, sizeof(*sorted));
    hac_autofree const hac_described_column **in_order = calloc(first->n + 1, sizeof(*in_order));
    if (sorted == NULL || in_order == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < other->n; i++)
        sorted[i] = &other->columns[i];
    qsort(sorted, other->n, sizeof(*sorted), by_name);
    for (size_t i = 0; i < first->n; i++) {
        const hac_described_column *key = &first->columns[i];
        const hac_described_column **found = bsearch(&key, sorted, other->n, sizeof(*sorted), by_name);
        if (found == NULL)
            continue;
        in_order[i] = *found;
        widen_column(first, i, other, *found);
    }
    hac_status status = first->by_position ? check_order(first, other, in_order, err) : HAC_OK;
    if (status == HAC_OK && first->by_name)
        status = note_lacking(first, in_order, err);
    return status == HAC_OK && first->by_name ? add_others(first, other, err) : status;
}

/* ---- JSON ---- */

/* Whether a column is a member of the objects that the other one has in some files. */
static bool is_member(const hac_described_column *c, const hac_described_column *object)
{
    size_t bytes = strlen(object->name);
    return (hac_described_text(c) & HAC_DESCRIBED_MEMBER) != 0 &&
           strncmp(c->name, object->name, bytes) == 0 && c->name[bytes] == '.';
}

/* Null and {} say nothing about the members of the object. */
static bool has_no_value(const hac_described_column *c)
{
    return (c->flags & HAC_DESCRIBED_ONLY_NULLS) != 0 || (hac_described_text(c) & HAC_DESCRIBED_EMPTY) != 0;
}

static bool has_members(const hac_file_columns *columns, const hac_described_column *object)
{
    for (size_t i = 0; i < columns->n; i++)
        if (is_member(&columns->columns[i], object))
            return true;
    return false;
}

static bool is_in_mixed(const hac_file_columns *columns, const hac_described_column *c)
{
    for (size_t i = 0; i < columns->n; i++)
        if ((columns->columns[i].flags & HAC_DESCRIBED_MIXED) != 0 && is_member(c, &columns->columns[i]))
            return true;
    return false;
}

void hac_file_columns_settle(hac_file_columns *columns)
{
    size_t n = 0;
    for (size_t i = 0; i < columns->n; i++) {
        hac_described_column *c = &columns->columns[i];
        if (has_no_value(c) || !has_members(columns, c))
            continue;
        c->flags |= HAC_DESCRIBED_MIXED;
        set_type(c, (hac_value_type){.kind = HAC_KIND_STRING});
    }
    for (size_t i = 0; i < columns->n; i++) { /* those without a kind are left out below */
        hac_described_column *c = &columns->columns[i];
        bool object = has_no_value(c) && has_members(columns, c);
        c->kind = object || is_in_mixed(columns, c) ? HAC_KIND_NONE : c->kind;
    }
    for (size_t i = 0; i < columns->n; i++) {
        if (columns->columns[i].kind == HAC_KIND_NONE) {
            if (columns->forms != NULL)
                free(columns->forms[i].refused);
            continue;
        }
        if (columns->forms != NULL)
            columns->forms[n] = columns->forms[i];
        columns->columns[n++] = columns->columns[i];
    }
    columns->n = n;
}
