/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a description of a source (hac_described_column) says that a column has lists or maps, or what the
 * values of a column of text are. Clients that do not know of them see a column of strings: what is added
 * stands behind the end of the name.
 */
#ifndef EXPR_DESCRIBED_NESTED_H
#define EXPR_DESCRIBED_NESTED_H

#include <string.h>

#include "base/query_layout.h"
#include "expr/nested.h"
#include "expr/schema.h"

enum {
    HAC_DESCRIBED_NESTED_BYTES = 7,
    /* The longest name that leaves room. A column with lists and a longer one has no type, as what is read of
     * it would not be what the words mean: of a column of strings, len is the length of the text. */
    HAC_DESCRIBED_NESTED_NAME_MAX = HAC_FIELD_NAME_MAX - HAC_DESCRIBED_NESTED_BYTES - 1
};

static inline char *hac_described_nested_at(hac_described_column *c)
{
    return c->name + sizeof c->name - HAC_DESCRIBED_NESTED_BYTES;
}

static inline void hac_described_nested_put(hac_nested nested, hac_described_column *ret)
{
    const char bytes[] = {(char)nested.kind,          (char)nested.key.kind,
                          (char)nested.key.precision, (char)nested.key.scale,
                          (char)nested.element.kind,  (char)nested.element.precision,
                          (char)nested.element.scale};
    ret->flags &= (uint8_t)~HAC_DESCRIBED_NESTED;
    if (nested.kind == HAC_NESTED_NONE)
        return;
    if (strlen(ret->name) > HAC_DESCRIBED_NESTED_NAME_MAX) {
        ret->kind = HAC_KIND_NONE;
        return;
    }
    memcpy(hac_described_nested_at(ret), bytes, sizeof bytes);
    ret->flags |= HAC_DESCRIBED_NESTED;
}

/* HAC_NESTED_NONE also for types that do not exist: the description need not be trusted. */
static inline hac_nested hac_described_nested(const hac_described_column *c)
{
    const uint8_t *at = (const uint8_t *)c->name + sizeof c->name - HAC_DESCRIBED_NESTED_BYTES;
    hac_nested ret = {at[0], {at[1], at[2], at[3]}, {at[4], at[5], at[6]}};
    bool valid =
        (c->flags & HAC_DESCRIBED_NESTED) != 0 && c->kind == HAC_KIND_STRING &&
        strnlen(c->name, sizeof c->name) <= HAC_DESCRIBED_NESTED_NAME_MAX &&
        hac_value_type_valid(ret.element) &&
        (ret.kind == HAC_NESTED_LIST || (ret.kind == HAC_NESTED_MAP && hac_value_type_valid(ret.key)));
    return valid ? ret : (hac_nested){0};
}

/* ---- columns of texts ---- */

/* What is in the last byte: `member`, `arrays`, `empty`, `wide`, `point`, `infinite` and `comma` of
 * hac_field. A column whose name leaves no space for it has none of them; its integers count as wide. */
enum {
    HAC_DESCRIBED_MEMBER = 1,
    HAC_DESCRIBED_ARRAYS = 2,
    HAC_DESCRIBED_EMPTY = 4,
    HAC_DESCRIBED_WIDE = 8,
    HAC_DESCRIBED_POINT = 16,
    HAC_DESCRIBED_INFINITE = 32,
    HAC_DESCRIBED_COMMA = 64,
    HAC_DESCRIBED_ELEMENTS = 128 /* the type of the arrays' elements is in the bytes before */
};

enum { HAC_DESCRIBED_ELEMENTS_BYTES = 5 /* that of the facts and that of the separators among them */ };

/* Whether the name leaves the last `bytes` bytes free. */
static inline bool hac_described_fits(const hac_described_column *c, size_t bytes)
{
    return strnlen(c->name, sizeof c->name) + bytes < sizeof c->name;
}

static inline unsigned hac_described_text(const hac_described_column *c)
{
    if ((c->flags & HAC_DESCRIBED_NESTED) != 0)
        return 0;
    if (!hac_described_fits(c, 1))
        return c->kind == HAC_KIND_I64 ? HAC_DESCRIBED_WIDE : 0;
    return (uint8_t)c->name[sizeof c->name - 1];
}

static inline void hac_described_text_put(unsigned what, hac_described_column *ret)
{
    if (hac_described_fits(ret, 1))
        ret->name[sizeof ret->name - 1] = (char)what;
}

/* hac_field.separators is the byte before the last one. */
static inline unsigned hac_described_separators(const hac_described_column *c)
{
    bool there = hac_described_fits(c, 2) && (c->flags & HAC_DESCRIBED_NESTED) == 0;
    return there ? (uint8_t)c->name[sizeof c->name - 2] : 0;
}

static inline void hac_described_separators_put(unsigned separators, hac_described_column *ret)
{
    if (hac_described_fits(ret, 2))
        ret->name[sizeof ret->name - 2] = (char)separators;
}

/* The lists of a column of arrays; `put` comes after the facts. */
static inline hac_nested hac_described_elements(const hac_described_column *c)
{
    const uint8_t *at = (const uint8_t *)c->name + sizeof c->name - HAC_DESCRIBED_ELEMENTS_BYTES;
    const hac_nested ret = {.kind = HAC_NESTED_LIST, .element = {at[0], at[1], at[2]}};
    bool there = hac_described_fits(c, HAC_DESCRIBED_ELEMENTS_BYTES) &&
                 (hac_described_text(c) & HAC_DESCRIBED_ELEMENTS) != 0 && c->kind == HAC_KIND_STRING;
    return there && hac_value_type_valid(ret.element) ? ret : (hac_nested){0};
}

static inline void hac_described_elements_put(hac_nested nested, hac_described_column *ret)
{
    char *at = ret->name + sizeof ret->name - HAC_DESCRIBED_ELEMENTS_BYTES;
    unsigned facts = hac_described_text(ret) & ~(unsigned)HAC_DESCRIBED_ELEMENTS;
    if (!hac_described_fits(ret, HAC_DESCRIBED_ELEMENTS_BYTES))
        return;
    bool list = nested.kind == HAC_NESTED_LIST;
    hac_described_text_put(facts | (list ? HAC_DESCRIBED_ELEMENTS : 0), ret);
    if (list)
        memcpy(at,
               (const char[]){(char)nested.element.kind, (char)nested.element.precision,
                              (char)nested.element.scale},
               3);
}

/* hac_field.odd stands behind the name, where that leaves space for it in front of the last two bytes. */
static inline void hac_described_odd_put(const hac_odd_value *odd, hac_described_column *ret)
{
    size_t at = strlen(ret->name) + 1;
    if (at + sizeof *odd + 2 <= sizeof ret->name)
        memcpy(ret->name + at, odd, sizeof *odd);
}

static inline hac_odd_value hac_described_odd(const hac_described_column *c)
{
    hac_odd_value ret = {0};
    size_t at = strnlen(c->name, sizeof c->name) + 1;
    if (at + sizeof ret + 2 <= sizeof c->name && (c->flags & HAC_DESCRIBED_NESTED) == 0)
        memcpy(&ret, c->name + at, sizeof ret);
    ret.text[sizeof ret.text - 1] = '\0';
    return ret;
}

#endif
