/* SPDX-License-Identifier: Apache-2.0 */
/* From a leaf to the conversion of its values. */
#include "sizes.h"
#include "values.h"

static int64_t power_of_ten(unsigned digits)
{
    int64_t ret = 1;
    for (unsigned i = 0; i < digits; i++)
        ret *= 10;
    return ret;
}

static void set_range(hac_parquet_rule *rule, hac_parquet_rule_kind kind, int64_t low, int64_t high)
{
    rule->kind = kind;
    rule->low = low;
    rule->high = high;
}

/* Values of 32 bits of which the type has fewer. */
static void limit_32(hac_parquet_target *t, hac_kind kind)
{
    static const struct {
        int64_t low, high;
    } ranges[HAC_KIND_END] = {[HAC_KIND_I8] = {INT8_MIN, INT8_MAX},
                              [HAC_KIND_I16] = {INT16_MIN, INT16_MAX},
                              [HAC_KIND_U8] = {0, UINT8_MAX},
                              [HAC_KIND_U16] = {0, UINT16_MAX}};
    bool is_unsigned = t->rule.kind == HAC_RULE_U32;
    int64_t low = ranges[kind].low, high = ranges[kind].high;
    if (high == 0)
        return;
    set_range(&t->rule, is_unsigned ? HAC_RULE_RANGE_U32 : HAC_RULE_RANGE_I32, low, high);
    set_range(&t->long_rule, HAC_RULE_RANGE_I64, low, high);
}

static bool decimal_rule(hac_parquet_target *t)
{
    bool wide = t->type.precision > HAC_DECIMAL_DIGITS_64;
    int64_t most = wide ? 0 : power_of_ten(t->type.precision) - 1;
    hac_parquet_rule_kind kind = HAC_RULE_BIG_64;
    if (t->physical == HAC_PARQUET_INT32)
        kind = HAC_RULE_RANGE_I32;
    else if (t->physical == HAC_PARQUET_INT64)
        kind = HAC_RULE_RANGE_I64;
    else if (wide)
        kind = HAC_RULE_BIG_128;
    set_range(&t->rule, kind, -most, most);
    set_range(&t->long_rule, HAC_RULE_RANGE_I64, -most, most);
    t->rule.digits = t->type.precision;
    return !wide || kind == HAC_RULE_BIG_128;
}

static bool integer_rule(hac_parquet_target *t, uint8_t conversion)
{
    static const hac_parquet_rule_kind of_64[] = {[HAC_PARQUET_PLAIN] = HAC_RULE_COPY_8,
                                                  [HAC_PARQUET_UNSIGNED] = HAC_RULE_COPY_8,
                                                  [HAC_PARQUET_MILLIS] = HAC_RULE_MILLIS,
                                                  [HAC_PARQUET_NANOS] = HAC_RULE_NANOS};
    if (t->physical == HAC_PARQUET_INT64 && conversion <= HAC_PARQUET_NANOS) {
        set_range(&t->rule, of_64[conversion], -(INT64_MAX / 1000), INT64_MAX / 1000);
        t->long_rule = t->rule;
        return true;
    }
    if (t->physical != HAC_PARQUET_INT32 || conversion > HAC_PARQUET_UNSIGNED)
        return false;
    t->rule.kind = conversion == HAC_PARQUET_UNSIGNED ? HAC_RULE_U32 : HAC_RULE_I32;
    t->long_rule.kind = HAC_RULE_COPY_8;
    limit_32(t, t->type.kind);
    return true;
}

static bool find_rule(hac_parquet_target *t, const hac_parquet_leaf *leaf)
{
    switch (t->physical) {
    case HAC_PARQUET_FLOAT:
        t->rule.kind = HAC_RULE_COPY_4;
        return t->type.kind == HAC_KIND_F32;
    case HAC_PARQUET_DOUBLE:
        t->rule.kind = HAC_RULE_COPY_8;
        return t->type.kind == HAC_KIND_F64;
    case HAC_PARQUET_INT96:
        t->rule.kind = HAC_RULE_INT96;
        return leaf->conversion == HAC_PARQUET_INT96_TIME;
    case HAC_PARQUET_BOOLEAN:
        return t->type.kind == HAC_KIND_BOOL;
    case HAC_PARQUET_FIXED:
        if (leaf->conversion == HAC_PARQUET_HALF) {
            t->rule.kind = HAC_RULE_HALF;
            return t->width == 2 && t->type.kind == HAC_KIND_F32;
        }
        return false; /* decimals were looked at before */
    default:
        return integer_rule(t, leaf->conversion);
    }
}

bool hac_parquet_target_of(const hac_parquet_leaf *leaf, hac_parquet_target *ret)
{
    hac_repr repr = hac_repr_of(leaf->type);
    hac_parquet_target t = {.kernels = hac_parquet_kernels_get(),
                            .physical = leaf->physical,
                            .width = (uint32_t)hac_parquet_width(leaf->physical, leaf->type_length),
                            .type = leaf->type,
                            .size = hac_repr_size(repr),
                            .is_text = repr == HAC_REPR_STRING};
    bool bytes = leaf->physical == HAC_PARQUET_BYTE_ARRAY || leaf->physical == HAC_PARQUET_FIXED;
    bool found;
    t.rule.width = t.width;
    t.long_rule.width = sizeof(uint64_t);
    if (leaf->physical == HAC_PARQUET_FIXED && leaf->type_length == 0)
        found = false;
    else if (t.is_text)
        found = bytes && leaf->conversion == HAC_PARQUET_PLAIN;
    else if (leaf->type.kind == HAC_KIND_DECIMAL)
        found = bytes == (leaf->conversion == HAC_PARQUET_BIG_ENDIAN) && decimal_rule(&t);
    else
        found = repr != HAC_REPR_NONE && leaf->conversion != HAC_PARQUET_BIG_ENDIAN && find_rule(&t, leaf);
    if (found)
        *ret = t;
    return found;
}
