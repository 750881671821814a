/* SPDX-License-Identifier: Apache-2.0 */
#include "list_argument.h"

#include <math.h>
#include <string.h>

#include "base/value_text.h"

static bool read_time(const char *text, size_t bytes, hac_kind kind, int64_t *ret)
{
    int32_t days = 0;
    if (kind == HAC_KIND_TIMESTAMP)
        return hac_parse_timestamp(text, bytes, ret) == HAC_TEXT_OK;
    bool good = hac_parse_date(text, bytes, &days) == HAC_TEXT_OK;
    *ret = days;
    return good;
}

static bool read_decimal(const char *text, size_t bytes, hac_value_type type, hac_list_argument *ret)
{
    __int128 value = 0;
    if (!hac_decimal_is_exact(text, bytes, type.scale) ||
        hac_parse_decimal(text, bytes, type.precision, type.scale, &value) != HAC_TEXT_OK)
        return false;
    if (hac_repr_of(type) == HAC_REPR_I128)
        ret->wide = value;
    else
        ret->integer = (int64_t)value;
    return true;
}

static bool read_value(const char *text, size_t bytes, hac_value_type type, hac_list_argument *ret)
{
    bool truth = false, good;
    if (type.kind == HAC_KIND_DECIMAL)
        return read_decimal(text, bytes, type, ret);
    switch (hac_repr_of(type)) {
    case HAC_REPR_BOOL:
        good = hac_parse_bool(text, bytes, &truth) == HAC_TEXT_OK;
        ret->boolean = truth;
        return good;
    case HAC_REPR_I64:
        if (hac_kinds[type.kind].class == HAC_CLASS_TIME)
            return read_time(text, bytes, type.kind, &ret->integer);
        return hac_parse_i64(text, bytes, &ret->integer) == HAC_TEXT_OK;
    case HAC_REPR_U64:
        return hac_parse_u64(text, bytes, &ret->natural) == HAC_TEXT_OK;
    case HAC_REPR_F32:
        return hac_parse_f32(text, bytes, &ret->single) == HAC_TEXT_OK;
    case HAC_REPR_F64:
        return hac_parse_f64(text, bytes, &ret->real) == HAC_TEXT_OK;
    default:
        memcpy(ret->text, text, bytes);
        ret->bytes = bytes;
        return true;
    }
}

void hac_list_argument_read(const char *text, hac_value_type type, hac_list_argument *ret)
{
    size_t bytes = strlen(text);
    *ret = (hac_list_argument){.possible = false};
    ret->possible = bytes <= sizeof ret->text && read_value(text, bytes, type, ret);
}

bool hac_list_argument_equals(const hac_list_argument *a, const hac_column *v, size_t row)
{
    if (!a->possible)
        return false;
    switch (hac_repr_of(v->type)) {
    case HAC_REPR_BOOL:
        return ((const uint8_t *)v->values)[row] == a->boolean;
    case HAC_REPR_I64:
        return ((const int64_t *)v->values)[row] == a->integer;
    case HAC_REPR_U64:
        return ((const uint64_t *)v->values)[row] == a->natural;
    case HAC_REPR_F32: {
        float value = ((const float *)v->values)[row];
        return value == a->single || (isnan(value) && isnan(a->single));
    }
    case HAC_REPR_F64: {
        double value = ((const double *)v->values)[row];
        return value == a->real || (isnan(value) && isnan(a->real));
    }
    case HAC_REPR_I128:
        return ((const __int128 *)v->values)[row] == a->wide;
    default: {
        const hac_string_ref *ref = &((const hac_string_ref *)v->values)[row];
        return ref->length == a->bytes &&
               (a->bytes == 0 || memcmp(v->bytes + ref->offset, a->text, a->bytes) == 0);
    }
    }
}
