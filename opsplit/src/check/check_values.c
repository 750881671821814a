/* SPDX-License-Identifier: Apache-2.0 */
/* Constant values of vectors: their template, type and shape, and their bytes. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/value_text.h"
#include "check.h"

#define ROWS_MAX     (UINT64_C(1) << 24)
#define REPEATED_MAX (UINT64_C(1) << 22) /* of one value; `fill` makes more */

typedef struct scalar {
    hac_kind kind; /* the narrowest of BOOL, I64, U64, F64 and STRING that holds it */
    int64_t whole;
    uint64_t large;
    double real;
} scalar;

static bool read_real(const char *text, double *ret)
{
    static const char *const special[] = {".inf", "inf", "-.inf", "-inf", ".nan", "nan"};
    static const double values[] = {INFINITY, INFINITY, -INFINITY, -INFINITY, NAN, NAN};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (strcmp(text, special[i]) == 0) {
            *ret = values[i];
            return true;
        }
    if (text[strspn(text, "0123456789+-.eE")] != '\0' || text[strcspn(text, "0123456789")] == '\0')
        return false;
    return hac_parse_f64(text, strlen(text), ret) == HAC_TEXT_OK;
}

static void read_scalar(const hac_yaml_node *node, scalar *ret)
{
    const char *text = node->text;
    char *end = NULL;
    *ret = (scalar){.kind = HAC_KIND_STRING};
    if (!node->plain)
        return;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        *ret = (scalar){.kind = HAC_KIND_BOOL, .whole = text[0] == 't', .large = text[0] == 't'};
        ret->real = (double)ret->whole;
        return;
    }
    bool digits = isdigit((unsigned char)text[text[0] == '-' || text[0] == '+']) != 0;
    errno = 0;
    ret->whole = digits ? strtoll(text, &end, 10) : 0;
    if (end != NULL && *end == '\0' && errno == 0) {
        ret->kind = HAC_KIND_I64;
        ret->large = ret->whole >= 0 ? (uint64_t)ret->whole : 0;
        ret->real = (double)ret->whole;
        return;
    }
    errno = 0;
    ret->large = digits && text[0] != '-' ? strtoull(text, &end, 10) : 0;
    if (end != NULL && *end == '\0' && errno == 0 && text[0] != '-') {
        ret->kind = HAC_KIND_U64;
        ret->real = (double)ret->large;
    } else if (read_real(text, &ret->real)) {
        ret->kind = HAC_KIND_F64;
    }
}

/* ---- what a value looks like ---- */

typedef struct value_look {
    hac_kind kind;            /* of all scalars so far; NONE: there are none */
    const hac_yaml_node *odd; /* the first scalar that does not fit the others */
} value_look;

static void look_at(const hac_yaml_node *node, value_look *ret)
{
    scalar s;
    for (const hac_yaml_node *child = node->first; child != NULL; child = child->next)
        look_at(child, ret);
    if (node->kind != HAC_YAML_SCALAR)
        return;
    read_scalar(node, &s);
    if (s.kind == HAC_KIND_U64 && ret->kind == HAC_KIND_I64)
        ret->kind = HAC_KIND_U64; /* negative values among them are reported when they are stored */
    else if (s.kind == HAC_KIND_I64 && ret->kind == HAC_KIND_U64)
        s.kind = HAC_KIND_U64;
    hac_kind both = ret->kind == HAC_KIND_NONE ? s.kind : hac_kind_join(ret->kind, s.kind);
    if (both == HAC_KIND_NONE ||
        ((s.kind == HAC_KIND_BOOL) != (ret->kind == HAC_KIND_BOOL) && ret->kind != HAC_KIND_NONE))
        ret->odd = ret->odd != NULL ? ret->odd : node;
    else
        ret->kind = both;
}

/* Whether all children of a list are lists, or all are scalars, and whether they have one length; false:
 * mixed. */
static bool list_shape(const hac_yaml_node *list, bool *ret_nested, bool *ret_even, size_t *ret_width)
{
    *ret_nested = list->first != NULL && list->first->kind == HAC_YAML_LIST;
    *ret_even = true;
    *ret_width = *ret_nested ? list->first->count : 1;
    for (const hac_yaml_node *row = list->first; row != NULL; row = row->next) {
        if (row->kind != (*ret_nested ? HAC_YAML_LIST : HAC_YAML_SCALAR))
            return false;
        *ret_even &= !*ret_nested || row->count == *ret_width;
        for (const hac_yaml_node *item = row->first; item != NULL; item = item->next)
            if (item->kind != HAC_YAML_SCALAR)
                return false;
    }
    return true;
}

static hac_vector_template suggested_form(const hac_yaml_node *map, const hac_yaml_node *value, hac_kind kind)
{
    bool nested = false, even = true;
    size_t width;
    if (kind == HAC_KIND_STRING)
        return HAC_VECTOR_SPARSE_TEXT;
    if (value->kind == HAC_YAML_MAP)
        return hac_logic_field(value, "entries") != NULL ? HAC_VECTOR_SPARSE_MATRIX : HAC_VECTOR_SPARSE_VALUE;
    if (value->kind == HAC_YAML_SCALAR)
        return hac_logic_field(map, "rows") != NULL ? HAC_VECTOR_FIX_VALUE : HAC_VECTOR_VAR;
    (void)list_shape(value, &nested, &even, &width);
    return even ? HAC_VECTOR_FIX_VALUE : HAC_VECTOR_VARIABLE_LEN;
}

static hac_status describe_type(hac_logic_checker *c, const hac_yaml_node *map, const hac_yaml_node *value,
                                hac_logic_vector *v)
{
    value_look seen = {HAC_KIND_NONE, NULL};
    if (value->kind != HAC_YAML_MAP) {
        look_at(value, &seen);
    } else { /* whole numbers in a map are positions */
        const hac_yaml_node *values = hac_logic_field(value, "values");
        if (values != NULL)
            look_at(values, &seen);
        else
            seen.kind = HAC_KIND_F64;
    }
    if (seen.odd != NULL)
        return hac_logic_problem(c, seen.odd,
                                 "values of one vector are of one type; here numbers, texts or "
                                 "truth values are mixed");
    if (v->kind == HAC_KIND_NONE)
        v->kind = seen.kind != HAC_KIND_NONE ? seen.kind : HAC_KIND_F64;
    if (v->form == HAC_VECTOR_NONE)
        v->form = suggested_form(map, value, v->kind);
    v->declared_form = v->form;
    v->declared_kind = v->kind;
    if (hac_op_layout_of(v->form)->text != (v->kind == HAC_KIND_STRING))
        return hac_logic_problem(c, value, "a %s cannot hold %s", hac_vector_template_get(v->form)->name,
                                 v->kind == HAC_KIND_STRING ? "texts; SparseTextVectors do"
                                                            : "numbers; leave `template` out");
    return HAC_OK;
}

/* One value, repeated. */
static hac_status describe_repeated(hac_logic_checker *c, const hac_yaml_node *map,
                                    const hac_yaml_node *value, hac_logic_vector *v, hac_vector_state *state)
{
    const hac_yaml_node *rows = hac_logic_field(map, "rows"), *columns = hac_logic_field(map, "columns");
    uint64_t n = 1, k = 1;
    (void)value;
    if (v->form == HAC_VECTOR_FIX_VALUE && rows == NULL)
        return hac_logic_problem(c, map,
                                 "one value does not make a FixValueVector; add `rows`, or use `fill`, "
                                 "which can make as many rows as another vector has");
    hac_status status = rows != NULL ? hac_logic_whole(c, rows, 1, ROWS_MAX, &n) : HAC_OK;
    if (status == HAC_OK && columns != NULL)
        status = hac_logic_whole(c, columns, 1, 4096, &k);
    if (status == HAC_OK && v->form == HAC_VECTOR_VAR && n * k > 1)
        return hac_logic_problem(c, rows != NULL ? rows : columns, "a Var has one value; several are a PVar");
    if (status == HAC_OK && n * k > REPEATED_MAX)
        return hac_logic_problem(c, columns != NULL ? columns : rows, "more than %u values; use `fill`",
                                 (unsigned)REPEATED_MAX);
    state->rows = hac_dimension_constant(c, n);
    state->columns = hac_dimension_constant(c, k);
    return status;
}

static hac_status describe_one_text(hac_logic_checker *c, const hac_yaml_node *map,
                                    const hac_yaml_node *value, hac_logic_vector *v, hac_vector_state *state)
{
    (void)c, (void)map, (void)value, (void)v, (void)state;
    return HAC_OK;
}

static hac_status not_a_list(hac_logic_checker *c, const hac_yaml_node *value)
{
    return hac_logic_problem(c, value, "a value is a list of values, or a list of lists of values");
}

/* A list of rows of the same length. */
static hac_status describe_rows(hac_logic_checker *c, const hac_yaml_node *map, const hac_yaml_node *value,
                                hac_logic_vector *v, hac_vector_state *state)
{
    bool nested, even;
    size_t width;
    (void)map;
    if (!list_shape(value, &nested, &even, &width))
        return not_a_list(c, value);
    if (!even)
        return hac_logic_problem(c, value,
                                 "rows of a %s are of one length; those of a VariableLenVector may "
                                 "differ",
                                 hac_vector_template_get(v->form)->name);
    if (nested && width == 0)
        return hac_logic_problem(c, value, "the rows are empty");
    state->rows = hac_dimension_constant(c, value->count);
    state->columns = hac_dimension_constant(c, width);
    return HAC_OK;
}

/* A list of texts, or of rows of any length. */
static hac_status describe_varying(hac_logic_checker *c, const hac_yaml_node *map, const hac_yaml_node *value,
                                   hac_logic_vector *v, hac_vector_state *state)
{
    bool nested, even, text = hac_op_layout_of(v->form)->text;
    size_t width;
    (void)map;
    if (!list_shape(value, &nested, &even, &width))
        return not_a_list(c, value);
    if (!text && !nested && value->count > 0)
        return hac_logic_problem(c, value, "a VariableLenVector is a list of lists, as in [[1, 2], [], [3]]");
    if (text && nested)
        return hac_logic_problem(c, value, "a SparseTextVector is a list of texts");
    state->rows = hac_dimension_constant(c, value->count);
    state->columns = hac_dimension_constant(c, 1);
    state->entries = hac_dimension_data(c, value, 0, "entries of the value");
    return HAC_OK;
}

static hac_status refuse_list(hac_logic_checker *c, const hac_yaml_node *map, const hac_yaml_node *value,
                              hac_logic_vector *v, hac_vector_state *state)
{
    bool nested, even;
    size_t width;
    (void)map, (void)v, (void)state;
    if (!list_shape(value, &nested, &even, &width))
        return not_a_list(c, value);
    return hac_logic_problem(c, value, "a Var is one value; a list makes a PVar or a FixValueVector");
}

/* Checks that a map has the keys of the template and no others. */
static hac_status check_keys(hac_logic_checker *c, const hac_yaml_node *value, const hac_logic_vector *v,
                             const char *keys)
{
    char key[HAC_LIBRARY_NAME_MAX];
    hac_status status = hac_logic_fields(c, value, keys);
    for (size_t i = 0; status == HAC_OK && hac_logic_nth_word(keys, i, key, sizeof key); i++)
        if (hac_logic_field(value, key) == NULL)
            status = hac_logic_problem(c, value, "`%s` is missing; a %s is written as %s", key,
                                       hac_vector_template_get(v->form)->name,
                                       hac_vector_template_get(v->form)->value);
    return status;
}

/* {rows: 8, indices: [1, 5], values: [0.5, 2]} */
static hac_status describe_pairs(hac_logic_checker *c, const hac_yaml_node *map, const hac_yaml_node *value,
                                 hac_logic_vector *v, hac_vector_state *state)
{
    uint64_t rows = 0;
    const hac_yaml_node *indices = hac_logic_field(value, "indices"),
                        *values = hac_logic_field(value, "values");
    (void)map;
    hac_status status = check_keys(c, value, v, "rows indices values");
    if (status == HAC_OK)
        status = hac_logic_whole(c, hac_logic_field(value, "rows"), 1, UINT64_C(1) << 40, &rows);
    if (status == HAC_OK)
        status = hac_logic_need(c, indices, HAC_YAML_LIST);
    if (status == HAC_OK)
        status = hac_logic_need(c, values, HAC_YAML_LIST);
    if (status == HAC_OK && indices->count != values->count)
        status = hac_logic_problem(c, value, "there are %zu indices and %zu values; they go in pairs",
                                   indices->count, values->count);
    if (status != HAC_OK)
        return status;
    state->rows = hac_dimension_constant(c, rows);
    state->columns = hac_dimension_constant(c, 1);
    state->entries = hac_dimension_data(c, value, 0, "entries of the value");
    return HAC_OK;
}

/* {rows: 2, columns: 3, entries: [[0, 1, 0.5]]} */
static hac_status describe_entries(hac_logic_checker *c, const hac_yaml_node *map, const hac_yaml_node *value,
                                   hac_logic_vector *v, hac_vector_state *state)
{
    uint64_t rows = 0, columns = 1;
    (void)map;
    hac_status status = check_keys(c, value, v, "rows columns entries");
    if (status == HAC_OK)
        status = hac_logic_whole(c, hac_logic_field(value, "rows"), 1, UINT64_C(1) << 40, &rows);
    if (status == HAC_OK)
        status = hac_logic_whole(c, hac_logic_field(value, "columns"), 1, UINT32_MAX, &columns);
    if (status == HAC_OK && rows > ROWS_MAX)
        status = hac_logic_problem(c, hac_logic_field(value, "rows"), "more than %u rows; use `csr`",
                                   (unsigned)ROWS_MAX);
    if (status != HAC_OK)
        return status;
    state->rows = hac_dimension_constant(c, rows);
    state->columns = hac_dimension_constant(c, columns);
    state->entries = hac_dimension_data(c, value, 0, "entries of the value");
    return HAC_OK;
}

/* ---- bytes ---- */

static bool store_whole(hac_kind kind, const scalar *s, void *at)
{
    bool negative = s->whole < 0;
    uint64_t large = negative ? 0 : s->large;
    switch (kind) {
    case HAC_KIND_I32:
        *(int32_t *)at = (int32_t)s->whole;
        return s->kind != HAC_KIND_U64 && s->whole >= INT32_MIN && s->whole <= INT32_MAX;
    case HAC_KIND_I64:
        *(int64_t *)at = s->whole;
        return s->kind != HAC_KIND_U64;
    case HAC_KIND_U32:
        *(uint32_t *)at = (uint32_t)large;
        return !negative && large <= UINT32_MAX;
    case HAC_KIND_U64:
        *(uint64_t *)at = large;
        return !negative;
    default:
        return false;
    }
}

static bool store_f32(const hac_yaml_node *node, const scalar *s, float *at)
{
    if (s->kind == HAC_KIND_F64 && isfinite(s->real)) /* rounded once, unless it is too large */
        return hac_parse_f32(node->text, strlen(node->text), at) == HAC_TEXT_OK;
    *at = (float)s->real;
    return true;
}

static hac_status store(hac_logic_checker *c, const hac_yaml_node *node, hac_kind kind, void *at)
{
    scalar s;
    char show[HAC_YAML_SHOW_SIZE];
    read_scalar(node, &s);
    bool good = s.kind != HAC_KIND_STRING;
    if (kind == HAC_KIND_F64)
        *(double *)at = s.real;
    else if (kind == HAC_KIND_F32)
        good = good && store_f32(node, &s, at);
    else if (kind == HAC_KIND_BOOL) {
        *(uint8_t *)at = s.whole != 0;
        good = s.kind == HAC_KIND_BOOL;
    } else {
        good = good && s.kind != HAC_KIND_F64 && store_whole(kind, &s, at);
    }
    if (!good)
        return hac_logic_problem(c, node, "`%s` is not a value of type %s", hac_yaml_show(node->text, show),
                                 hac_element_name(kind));
    return HAC_OK;
}

typedef struct filler {
    hac_logic_checker *c;
    hac_logic_value *value;
    hac_kind kind;
    uint64_t n; /* stored so far */
    bool dense; /* pairs become a dense vector */
} filler;

static hac_status fill_list(filler *f, const hac_yaml_node *node)
{
    if (node->kind == HAC_YAML_SCALAR)
        return store(f->c, node, f->kind, (char *)f->value->values + f->n++ * hac_element_size(f->kind));
    hac_status status = HAC_OK;
    for (const hac_yaml_node *child = node->first; child != NULL && status == HAC_OK; child = child->next)
        status = fill_list(f, child);
    return status;
}

static uint64_t count_scalars(const hac_yaml_node *node)
{
    uint64_t n = node->kind == HAC_YAML_SCALAR;
    for (const hac_yaml_node *child = node->first; child != NULL; child = child->next)
        n += count_scalars(child);
    return n;
}

static hac_status allocate(hac_logic_checker *c, hac_logic_value *value, hac_kind kind, uint64_t n)
{
    value->value_bytes = n * hac_element_size(kind);
    value->values = hac_logic_alloc(c, value->value_bytes);
    return value->values != NULL ? HAC_OK : HAC_NO_MEMORY;
}

static hac_status build_plain(filler *f, const hac_yaml_node *node)
{
    hac_logic_value *value = f->value;
    uint64_t n = value->rows * value->columns, one = hac_element_size(f->kind);
    hac_status status = allocate(f->c, value, f->kind, n);
    if (status == HAC_OK)
        status = fill_list(f, node);
    for (uint64_t i = 1; status == HAC_OK && node->kind == HAC_YAML_SCALAR && i < n; i++)
        memcpy((char *)value->values + i * one, value->values, one);
    return status;
}

static hac_status build_text(filler *f, const hac_yaml_node *node)
{
    hac_logic_value *value = f->value;
    const hac_yaml_node *first = node->kind == HAC_YAML_LIST ? node->first : node;
    value->offsets = hac_logic_alloc(f->c, (value->rows + 1) * sizeof *value->offsets);
    size_t bytes = 0, row = 0;
    for (const hac_yaml_node *item = first; item != NULL && row < value->rows; item = item->next, row++)
        bytes += strlen(item->text);
    value->values = hac_logic_alloc(f->c, bytes);
    if (value->offsets == NULL || value->values == NULL)
        return HAC_NO_MEMORY;
    row = 0;
    for (const hac_yaml_node *item = first; item != NULL && row < value->rows; item = item->next, row++) {
        size_t length = strlen(item->text);
        memcpy((char *)value->values + value->offsets[row], item->text, length);
        value->offsets[row + 1] = value->offsets[row] + length;
    }
    value->entries = value->value_bytes = bytes;
    return HAC_OK;
}

static hac_status build_lists(filler *f, const hac_yaml_node *node)
{
    hac_logic_value *value = f->value;
    value->entries = count_scalars(node);
    value->offsets = hac_logic_alloc(f->c, (value->rows + 1) * sizeof *value->offsets);
    hac_status status =
        value->offsets != NULL ? allocate(f->c, value, f->kind, value->entries) : HAC_NO_MEMORY;
    size_t i = 0;
    for (const hac_yaml_node *row = node->first; row != NULL && status == HAC_OK; row = row->next, i++) {
        value->offsets[i + 1] = value->offsets[i] + row->count;
        status = fill_list(f, row);
    }
    return status;
}

static hac_status build_pairs(filler *f, const hac_yaml_node *node)
{
    bool dense = f->dense;
    hac_logic_value *value = f->value;
    const hac_yaml_node *indices = hac_logic_field(node, "indices"),
                        *values = hac_logic_field(node, "values");
    uint64_t n = indices->count, last = 0, at = 0, size = hac_element_size(f->kind);
    if (dense && value->rows > ROWS_MAX)
        return hac_logic_problem(f->c, node, "too many rows for a vector that has to be dense");
    hac_status status = allocate(f->c, value, f->kind, dense ? value->rows : n);
    value->entries = dense ? 0 : n;
    value->indices = dense ? NULL : hac_logic_alloc(f->c, n * sizeof *value->indices);
    if (status == HAC_OK && !dense && value->indices == NULL)
        status = HAC_NO_MEMORY;
    const hac_yaml_node *item = values->first;
    for (const hac_yaml_node *index = indices->first; index != NULL && status == HAC_OK;
         index = index->next, item = item->next) {
        uint64_t place = 0;
        status = hac_logic_whole(f->c, index, 0, value->rows - 1, &place);
        if (status == HAC_OK && at > 0 && place <= last)
            return hac_logic_problem(f->c, index, "indices are in ascending order, each once");
        if (status == HAC_OK && item->kind != HAC_YAML_SCALAR)
            return hac_logic_problem(f->c, item, "values are numbers");
        if (status == HAC_OK)
            status = store(f->c, item, f->kind, (char *)value->values + (dense ? place : at) * size);
        if (status == HAC_OK && !dense)
            value->indices[at] = place;
        last = place;
        at++;
    }
    return status;
}

static hac_status build_entry(filler *f, const hac_yaml_node *entry, uint64_t at, uint64_t *ret_row)
{
    hac_logic_value *value = f->value;
    uint64_t row = 0, column = 0;
    if (entry->kind != HAC_YAML_LIST || entry->count != 3 ||
        entry->first->next->next->kind != HAC_YAML_SCALAR)
        return hac_logic_problem(f->c, entry, "an entry is [row, column, value]");
    hac_status status = hac_logic_whole(f->c, entry->first, 0, value->rows - 1, &row);
    if (status == HAC_OK)
        status = hac_logic_whole(f->c, entry->first->next, 0, value->columns - 1, &column);
    if (status == HAC_OK && at > 0 &&
        (row < *ret_row || (row == *ret_row && column <= value->indices[at - 1])))
        return hac_logic_problem(f->c, entry,
                                 "entries are in the order of rows, then columns, each place once");
    if (status == HAC_OK)
        status = store(f->c, entry->first->next->next, f->kind,
                       (char *)value->values + at * hac_element_size(f->kind));
    value->indices[at] = column;
    *ret_row = row;
    return status;
}

static hac_status build_matrix(filler *f, const hac_yaml_node *node)
{
    hac_logic_value *value = f->value;
    const hac_yaml_node *entries = hac_logic_field(node, "entries");
    hac_status status = hac_logic_need(f->c, entries, HAC_YAML_LIST);
    if (status != HAC_OK)
        return status;
    value->entries = entries->count;
    value->offsets = hac_logic_alloc(f->c, (value->rows + 1) * sizeof *value->offsets);
    value->indices = hac_logic_alloc(f->c, value->entries * sizeof *value->indices);
    if (value->offsets == NULL || value->indices == NULL)
        return HAC_NO_MEMORY;
    status = allocate(f->c, value, f->kind, value->entries);
    uint64_t at = 0, row = 0;
    for (const hac_yaml_node *entry = entries->first; entry != NULL && status == HAC_OK;
         entry = entry->next) {
        status = build_entry(f, entry, at++, &row);
        value->offsets[row + 1] = at;
    }
    for (uint64_t i = 1; status == HAC_OK && i <= value->rows; i++)
        if (value->offsets[i] < value->offsets[i - 1])
            value->offsets[i] = value->offsets[i - 1];
    return status;
}

/* ---- templates ---- */

typedef hac_status describer(hac_logic_checker *c, const hac_yaml_node *map, const hac_yaml_node *value,
                             hac_logic_vector *v, hac_vector_state *state);

/* How a logic file writes a constant of a template. The first three set the dimensions, `build` makes the
 * bytes. */
typedef struct value_syntax {
    describer *scalar, *list, *map; /* NULL: the template is not written like this */
    hac_status (*build)(filler *f, const hac_yaml_node *node);
} value_syntax;

static const value_syntax syntaxes[HAC_VECTOR_END] = {
    [HAC_VECTOR_FIX_VALUE] = {describe_repeated, describe_rows, NULL, build_plain},
    [HAC_VECTOR_SPARSE_VALUE] = {NULL, NULL, describe_pairs, build_pairs},
    [HAC_VECTOR_SPARSE_TEXT] = {describe_one_text, describe_varying, NULL, build_text},
    [HAC_VECTOR_VARIABLE_LEN] = {NULL, describe_varying, NULL, build_lists},
    [HAC_VECTOR_VAR] = {describe_repeated, refuse_list, NULL, build_plain},
    [HAC_VECTOR_PVAR] = {describe_repeated, describe_rows, NULL, build_plain},
    [HAC_VECTOR_SPARSE_MATRIX] = {NULL, NULL, describe_entries, build_matrix},
};

/* Lists, maps and texts have a size of their own. */
static hac_status not_repeated(hac_logic_checker *c, const hac_yaml_node *map)
{
    const hac_yaml_node *rows = hac_logic_field(map, "rows"), *columns = hac_logic_field(map, "columns");
    if (rows == NULL && columns == NULL)
        return HAC_OK;
    return hac_logic_problem_key(
        c, rows != NULL ? rows : columns,
        "`%s` is how often one value is repeated; a list, a map and a text are taken as "
        "they are",
        rows != NULL ? "rows" : "columns");
}

hac_status hac_value_describe(hac_logic_checker *c, const hac_yaml_node *map, const hac_yaml_node *value,
                              hac_logic_vector *v, hac_vector_state *state)
{
    *state = (hac_vector_state){.defined = true,
                                .rows = HAC_DIMENSION_ONE,
                                .columns = HAC_DIMENSION_ONE,
                                .entries = HAC_DIMENSION_NONE,
                                .below = HAC_DIMENSION_NONE};
    if (hac_yaml_is_null(value))
        return hac_logic_problem(c, value, "`value` is empty");
    hac_status status = describe_type(c, map, value, v);
    if (status == HAC_OK && (value->kind != HAC_YAML_SCALAR || hac_op_layout_of(v->form)->text))
        status = not_repeated(c, map);
    if (status != HAC_OK)
        return status;
    const value_syntax *syntax = &syntaxes[v->form];
    describer *describe = value->kind == HAC_YAML_MAP    ? syntax->map
                          : value->kind == HAC_YAML_LIST ? syntax->list
                                                         : syntax->scalar;
    if (describe != NULL)
        return describe(c, map, value, v, state);
    if (value->kind == HAC_YAML_MAP)
        return hac_logic_problem(c, value, "a %s is not written as a map of keys",
                                 hac_vector_template_get(v->form)->name);
    return hac_logic_problem(c, value, "a %s is written as %s", hac_vector_template_get(v->form)->name,
                             hac_vector_template_get(v->form)->value);
}

hac_status hac_value_build(hac_logic_checker *c, const hac_yaml_node *node, hac_logic_vector *v)
{
    hac_vector_state state;
    hac_logic_vector first = *v; /* as it is written in the file */
    const hac_yaml_node *map = node->parent;
    first.form = v->declared_form;
    first.kind = v->declared_kind;
    hac_status status = hac_value_describe(c, map, node, &first, &state);
    hac_logic_value *value = status == HAC_OK ? hac_logic_alloc(c, sizeof *value) : NULL;
    if (value == NULL)
        return status == HAC_OK ? HAC_NO_MEMORY : status;
    value->rows = c->logic->dimensions[state.rows].value;
    value->columns = c->logic->dimensions[state.columns].value;
    filler f = {.c = c, .value = value, .kind = v->kind, .dense = v->form == HAC_VECTOR_FIX_VALUE};
    status = syntaxes[first.form].build(&f, node);
    v->value = value;
    return status;
}
