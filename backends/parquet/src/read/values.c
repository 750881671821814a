/* SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "format/names.h"

static const char too_few[] = "it holds fewer values than it should";

static hac_status damaged(hac_error *err, const char *why)
{
    return why == NULL ? HAC_OK : hac_fail(err, HAC_FAILED, "%s", why);
}

/* ---- beginning ----------------------------------------------------------------------------------------- */

static hac_parquet_values_kind kind_of(const hac_parquet_target *t, int32_t encoding)
{
    bool bytes = t->physical == HAC_PARQUET_BYTE_ARRAY, boolean = t->physical == HAC_PARQUET_BOOLEAN;
    bool integer = t->physical == HAC_PARQUET_INT32 || t->physical == HAC_PARQUET_INT64;
    switch (encoding) {
    case HAC_ENCODING_PLAIN:
        return bytes ? HAC_VALUES_BYTE_ARRAYS : boolean ? HAC_VALUES_BITS : HAC_VALUES_FIXED;
    case HAC_ENCODING_PLAIN_DICTIONARY:
    case HAC_ENCODING_RLE_DICTIONARY:
        return boolean ? HAC_VALUES_NONE : HAC_VALUES_CODES;
    case HAC_ENCODING_RLE:
        return boolean ? HAC_VALUES_RUNS : HAC_VALUES_NONE;
    case HAC_ENCODING_DELTA_BINARY_PACKED:
        return integer ? HAC_VALUES_DELTA : HAC_VALUES_NONE;
    case HAC_ENCODING_DELTA_LENGTH_BYTE_ARRAY:
        return bytes ? HAC_VALUES_BYTE_ARRAYS : HAC_VALUES_NONE;
    case HAC_ENCODING_DELTA_BYTE_ARRAY:
        return bytes || t->physical == HAC_PARQUET_FIXED ? HAC_VALUES_BYTE_ARRAYS : HAC_VALUES_NONE;
    case HAC_ENCODING_BYTE_STREAM_SPLIT:
        return t->width > 0 && t->physical != HAC_PARQUET_INT96 ? HAC_VALUES_SPLIT : HAC_VALUES_NONE;
    default:
        return HAC_VALUES_NONE;
    }
}

hac_status hac_parquet_values_kind_of(const hac_parquet_target *target, int32_t encoding,
                                      hac_parquet_values_kind *ret, hac_error *err)
{
    *ret = kind_of(target, encoding);
    if (*ret != HAC_VALUES_NONE)
        return HAC_OK;
    return hac_fail(err, HAC_FAILED, "its encoding is none of this column's type: %s (number %d)",
                    hac_parquet_encoding_name(encoding), (int)encoding);
}

bool hac_parquet_values_in_strings(const hac_parquet_target *target, int32_t encoding)
{
    hac_parquet_values_kind kind = kind_of(target, encoding);
    if (kind == HAC_VALUES_BYTE_ARRAYS)
        return encoding != HAC_ENCODING_DELTA_BYTE_ARRAY;
    return kind == HAC_VALUES_FIXED && target->is_text;
}

static hac_status begin_codes(hac_parquet_values *v, const hac_parquet_context *c, const uint8_t *data,
                              size_t bytes, hac_error *err)
{
    if (!c->dictionary->there)
        return damaged(err, "it refers to a dictionary, and there is none");
    if (bytes == 0) /* a page of nulls may not even have the width */
        return damaged(err, hac_parquet_hybrid_begin(&v->hybrid, c->target->kernels, 1, data, 0));
    return damaged(err,
                   hac_parquet_hybrid_begin(&v->hybrid, c->target->kernels, data[0], data + 1, bytes - 1));
}

/* After their length. */
static hac_status begin_runs(hac_parquet_values *v, const hac_parquet_context *c, const uint8_t *data,
                             size_t bytes, hac_error *err)
{
    uint32_t length = 0;
    if (bytes >= sizeof length)
        memcpy(&length, data, sizeof length);
    size_t rest = bytes >= sizeof length ? bytes - sizeof length : 0;
    if (length > rest)
        return damaged(err, "its runs are longer than the page");
    return damaged(err,
                   hac_parquet_hybrid_begin(&v->hybrid, c->target->kernels, 1, data + bytes - rest, length));
}

static hac_status begin_texts(hac_parquet_values *v, const hac_parquet_context *c, int32_t encoding,
                              const uint8_t *data, size_t in_strings, size_t bytes, hac_error *err)
{
    const hac_parquet_kernels *kernels = c->target->kernels;
    if (encoding == HAC_ENCODING_DELTA_BYTE_ARRAY)
        return hac_byte_arrays_begin_prefixes(&v->texts, kernels, c->strings, c->at_once, data, bytes, err);
    hac_byte_arrays_kind kind =
        encoding == HAC_ENCODING_PLAIN ? HAC_BYTE_ARRAYS_PLAIN : HAC_BYTE_ARRAYS_LENGTHS;
    return hac_byte_arrays_begin(&v->texts, kind, kernels, c->strings, in_strings, bytes, err);
}

hac_status hac_parquet_values_begin(hac_parquet_values *v, const hac_parquet_context *c, int32_t encoding,
                                    const uint8_t *data, size_t in_strings, size_t bytes, hac_error *err)
{
    hac_status status = hac_parquet_values_kind_of(c->target, encoding, &v->kind, err);
    if (status != HAC_OK)
        return status;
    v->data = data;
    v->at = 0;
    if (bytes == 0 && v->kind != HAC_VALUES_CODES)
        v->kind = HAC_VALUES_NONE;
    switch (v->kind) {
    case HAC_VALUES_CODES:
        return begin_codes(v, c, data, bytes, err);
    case HAC_VALUES_RUNS:
        return begin_runs(v, c, data, bytes, err);
    case HAC_VALUES_DELTA:
        return damaged(err, hac_parquet_delta_begin(&v->delta, c->target->kernels,
                                                    c->target->physical == HAC_PARQUET_INT32,
                                                    c->target->is_unsigned, data, bytes));
    case HAC_VALUES_BYTE_ARRAYS:
        return begin_texts(v, c, encoding, data, in_strings, bytes, err);
    case HAC_VALUES_SPLIT:
        if (bytes % c->target->width != 0)
            return damaged(err, "its streams are not equally long");
        v->count = bytes / c->target->width;
        return HAC_OK;
    default:
        v->count =
            v->kind == HAC_VALUES_BITS ? 8 * bytes : bytes / (c->target->width > 0 ? c->target->width : 1);
        return HAC_OK;
    }
}

/* ---- values of a width --------------------------------------------------------------------------------- */

/* The state of a value that could not be converted. */
static uint8_t why_not(const hac_parquet_rule *rule, const uint8_t *value)
{
    int64_t nanos;
    if (rule->kind != HAC_RULE_NANOS && rule->kind != HAC_RULE_INT96)
        return HAC_ROW_RANGE;
    memcpy(&nanos, value, sizeof nanos); /* an INT96 begins with the nanoseconds of the day */
    return nanos % 1000 != 0 ? HAC_ROW_PRECISION : HAC_ROW_RANGE;
}

/* Converts values; if some value is not of the type, sets a state for each. */
static void convert(const hac_parquet_target *t, const hac_parquet_rule *rule, const uint8_t *from,
                    const uint16_t *positions, size_t n, void *ret, uint8_t *states, bool *ret_marked)
{
    hac_parquet_convert run = t->kernels->convert[rule->kind];
    uint64_t one[2];
    if (run(rule, from, positions, n, ret))
        return;
    *ret_marked = true;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *value = from + (positions != NULL ? positions[i] : i) * rule->width;
        states[i] = run(rule, value, NULL, 1, one) ? HAC_ROW_OK : why_not(rule, value);
    }
}

/* Converts consecutive values of the target's width at `from`; texts are in the string buffer. */
static void give_fixed(const hac_parquet_context *c, const uint8_t *from, const uint16_t *positions, size_t n,
                       void *ret, uint8_t *states, bool *ret_marked)
{
    const hac_parquet_target *t = c->target;
    if (!t->is_text) {
        convert(t, &t->rule, from, positions, n, ret, states, ret_marked);
        return;
    }
    hac_string_ref *refs = ret;
    size_t first = (size_t)(from - c->strings->data);
    for (size_t i = 0; i < n; i++)
        refs[i] =
            (hac_string_ref){(uint32_t)(first + (positions != NULL ? positions[i] : i) * t->width), t->width};
}

static hac_status get_split(hac_parquet_values *v, const hac_parquet_context *c, size_t n,
                            const uint16_t *positions, size_t n_positions, void *ret, uint8_t *states,
                            bool *ret_marked, hac_error *err)
{
    const hac_parquet_target *t = c->target;
    uint8_t *to = c->scratch->wide;
    size_t place = 0;
    if (t->is_text || t->width > 16) {
        hac_status status = hac_string_buffer_place(c->strings, n * t->width, &place, err);
        if (status != HAC_OK)
            return status;
        to = c->strings->data + place;
    }
    t->kernels->join(v->data + v->at, v->count, t->width, n, to);
    give_fixed(c, to, positions, n_positions, ret, states, ret_marked);
    return HAC_OK;
}

static void pick_bytes(const uint8_t *from, const uint16_t *positions, size_t n, uint8_t *ret)
{
    if (positions == NULL)
        memcpy(ret, from, n);
    else
        for (size_t i = 0; i < n; i++)
            ret[i] = from[positions[i]];
}

/* ---- codes --------------------------------------------------------------------------------------------- */

hac_status hac_parquet_values_codes(hac_parquet_values *v, const hac_parquet_context *c, size_t n,
                                    uint32_t *ret, hac_error *err)
{
    const char *why = hac_parquet_hybrid_get(&v->hybrid, n, ret);
    if (why != NULL)
        return damaged(err, why);
    if (n > 0 && c->target->kernels->max(ret, n) >= c->dictionary->entries)
        return hac_fail(err, HAC_FAILED, "it refers to entry %u of a dictionary of %u",
                        c->target->kernels->max(ret, n), c->dictionary->entries);
    return HAC_OK;
}

void hac_parquet_dictionary_get(const hac_parquet_dictionary *d, const hac_parquet_target *t,
                                const uint32_t *codes, const uint16_t *positions, size_t n, void *ret,
                                uint8_t *states, bool *ret_marked)
{
    if (t->size == 8)
        t->kernels->look_up_8(d->values, codes, positions, n, ret);
    else if (t->size == 4)
        t->kernels->look_up_4(d->values, codes, positions, n, ret);
    else
        t->kernels->look_up_16(d->values, codes, positions, n, ret);
    if (d->marked)
        t->kernels->look_up_1(d->states, codes, positions, n, states);
    *ret_marked = d->marked;
}

static hac_status get_codes(hac_parquet_values *v, const hac_parquet_context *c, size_t n,
                            const uint16_t *positions, size_t n_positions, void *ret, uint8_t *states,
                            bool *ret_marked, hac_error *err)
{
    uint32_t *codes = c->scratch->codes;
    hac_status status = hac_parquet_values_codes(v, c, n, codes, err);
    if (status != HAC_OK)
        return status;
    hac_parquet_dictionary_get(c->dictionary, c->target, codes, positions, n_positions, ret, states,
                               ret_marked);
    return HAC_OK;
}

/* ---- texts --------------------------------------------------------------------------------------------- */

/* Decimals of any length. */
static void give_decimals(const hac_parquet_context *c, const hac_string_ref *refs, size_t n, void *ret,
                          uint8_t *states, bool *ret_marked)
{
    const hac_parquet_target *t = c->target;
    hac_parquet_rule rule = t->rule;
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        rule.width = refs[i].length;
        bool fits = t->kernels->convert[rule.kind](&rule, c->strings->data + refs[i].offset, NULL, 1,
                                                   (uint8_t *)ret + i * t->size);
        states[i] = fits ? HAC_ROW_OK : HAC_ROW_RANGE;
        all = all && fits;
    }
    *ret_marked = *ret_marked || !all;
}

/* FIXED values that were assembled one by one are consecutive if all have the right length. */
static hac_status give_joined(const hac_parquet_context *c, const hac_string_ref *refs, size_t n,
                              const uint16_t *positions, size_t n_positions, void *ret, uint8_t *states,
                              bool *ret_marked, hac_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (refs[i].length != c->target->width)
            return damaged(err, "a value has not the length of its type");
    if (n > 0)
        give_fixed(c, c->strings->data + refs[0].offset, positions, n_positions, ret, states, ret_marked);
    return HAC_OK;
}

static hac_status get_texts(hac_parquet_values *v, const hac_parquet_context *c, size_t n,
                            const uint16_t *positions, size_t n_positions, void *ret, uint8_t *states,
                            bool *ret_marked, hac_error *err)
{
    bool direct = c->target->is_text && c->target->width == 0 && positions == NULL;
    hac_string_ref *refs = direct ? ret : (void *)c->scratch->numbers;
    hac_status status = hac_byte_arrays_get(&v->texts, &c->scratch->last, n, refs, err);
    if (status != HAC_OK || direct)
        return status;
    if (c->target->width > 0)
        return give_joined(c, refs, n, positions, n_positions, ret, states, ret_marked, err);
    if (positions != NULL)
        for (size_t i = 0; i < n_positions; i++)
            refs[i] = refs[positions[i]]; /* positions ascend, so no ref is needed after it is overwritten */
    if (c->target->is_text)
        memcpy(ret, refs, n_positions * sizeof *refs);
    else
        give_decimals(c, refs, n_positions, ret, states, ret_marked);
    return HAC_OK;
}

/* ---- all ----------------------------------------------------------------------------------------------- */

static hac_status get_delta(hac_parquet_values *v, const hac_parquet_context *c, size_t n,
                            const uint16_t *positions, size_t n_positions, void *ret, uint8_t *states,
                            bool *ret_marked, hac_error *err)
{
    uint64_t *numbers = c->scratch->numbers;
    const char *why = hac_parquet_delta_get(&v->delta, n, numbers);
    if (why != NULL)
        return damaged(err, why);
    convert(c->target, &c->target->long_rule, (const uint8_t *)numbers, positions, n_positions, ret, states,
            ret_marked);
    return HAC_OK;
}

static hac_status get_runs(hac_parquet_values *v, const hac_parquet_context *c, size_t n,
                           const uint16_t *positions, size_t n_positions, void *ret, hac_error *err)
{
    size_t sum = 0;
    const char *why = hac_parquet_hybrid_bits(&v->hybrid, 0, n, c->scratch->bytes, &sum);
    if (why == NULL)
        pick_bytes(c->scratch->bytes, positions, n_positions, ret);
    return damaged(err, why);
}

/* For encodings with random access. */
static hac_status get_counted(hac_parquet_values *v, const hac_parquet_context *c, size_t n,
                              const uint16_t *positions, size_t n_positions, void *ret, uint8_t *states,
                              bool *ret_marked, hac_error *err)
{
    hac_status status = HAC_OK;
    if (n > v->count - v->at)
        return damaged(err, too_few);
    if (v->kind == HAC_VALUES_FIXED) {
        give_fixed(c, v->data + v->at * c->target->width, positions, n_positions, ret, states, ret_marked);
    } else if (v->kind == HAC_VALUES_BITS) {
        c->target->kernels->bits(v->data, v->at, 0, n, c->scratch->bytes);
        pick_bytes(c->scratch->bytes, positions, n_positions, ret);
    } else {
        status = get_split(v, c, n, positions, n_positions, ret, states, ret_marked, err);
    }
    v->at += n;
    return status;
}

hac_status hac_parquet_values_get(hac_parquet_values *v, const hac_parquet_context *c, size_t n,
                                  const uint16_t *positions, size_t n_positions, void *ret, uint8_t *states,
                                  bool *ret_marked, hac_error *err)
{
    *ret_marked = false;
    switch (v->kind) {
    case HAC_VALUES_NONE:
        return n > 0 ? damaged(err, too_few) : HAC_OK;
    case HAC_VALUES_CODES:
        return get_codes(v, c, n, positions, n_positions, ret, states, ret_marked, err);
    case HAC_VALUES_DELTA:
        return get_delta(v, c, n, positions, n_positions, ret, states, ret_marked, err);
    case HAC_VALUES_BYTE_ARRAYS:
        return get_texts(v, c, n, positions, n_positions, ret, states, ret_marked, err);
    case HAC_VALUES_RUNS:
        return get_runs(v, c, n, positions, n_positions, ret, err);
    default:
        return get_counted(v, c, n, positions, n_positions, ret, states, ret_marked, err);
    }
}

/* For encodings that must be decoded to be skipped, one batch at a time. */
static hac_status skip_some(hac_parquet_values *v, const hac_parquet_context *c, size_t n, hac_error *err)
{
    if (v->kind == HAC_VALUES_DELTA)
        return damaged(err, hac_parquet_delta_get(&v->delta, n, c->scratch->numbers));
    return hac_byte_arrays_get(&v->texts, &c->scratch->last, n, NULL, err);
}

hac_status hac_parquet_values_skip(hac_parquet_values *v, const hac_parquet_context *c, uint64_t n,
                                   hac_error *err)
{
    if (v->kind == HAC_VALUES_CODES || v->kind == HAC_VALUES_RUNS)
        return damaged(err, hac_parquet_hybrid_skip(&v->hybrid, n));
    if (v->kind != HAC_VALUES_DELTA && v->kind != HAC_VALUES_BYTE_ARRAYS) {
        uint64_t there = v->kind == HAC_VALUES_NONE ? 0 : v->count - v->at;
        if (n > there)
            return damaged(err, too_few);
        v->at += (size_t)n;
        return HAC_OK;
    }
    while (n > 0) {
        size_t some = n < HAC_BATCH_ROWS ? (size_t)n : HAC_BATCH_ROWS;
        hac_status status = skip_some(v, c, some, err);
        if (status != HAC_OK)
            return status;
        n -= some;
    }
    return HAC_OK;
}
