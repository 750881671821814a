/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the conversion of a leaf's values. */
#include "format/sizes.h"
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

/* Limits values that are stored with 32 bits to the range of an integer type that is smaller. */
static void limit_32(hac_parquet_target *t, hac_kind kind)
{
    if (!hac_kind_is_integer(kind) || hac_kinds[kind].bits >= 31)
        return;
    int64_t high = (INT64_C(1) << hac_kinds[kind].bits) - 1;
    int64_t low = hac_kinds[kind].is_signed ? -high - 1 : 0;
    set_range(&t->rule, HAC_RULE_RANGE_I32, low, high);
    set_range(&t->long_rule, HAC_RULE_RANGE_I64, low, high);
}

static void decimal_rule(hac_parquet_target *t)
{
    bool wide = t->type.precision > HAC_DECIMAL_DIGITS_64;
    int64_t max = wide ? 0 : power_of_ten(t->type.precision) - 1;
    hac_parquet_rule_kind kind = HAC_RULE_BIG_64;
    if (t->physical == HAC_PARQUET_INT32)
        kind = HAC_RULE_RANGE_I32;
    else if (t->physical == HAC_PARQUET_INT64)
        kind = HAC_RULE_RANGE_I64;
    else if (wide)
        kind = HAC_RULE_BIG_128;
    set_range(&t->rule, kind, -max, max);
    set_range(&t->long_rule, HAC_RULE_RANGE_I64, -max, max);
    t->rule.digits = t->type.precision;
    if (wide && kind != HAC_RULE_BIG_128) {
        t->rule.kind = t->physical == HAC_PARQUET_INT32 ? HAC_RULE_WIDE_32 : HAC_RULE_WIDE_64;
        t->long_rule.kind = HAC_RULE_WIDE_64;
    }
}

/* Unsigned integers of 8 and 16 bits: some writers repeat the highest bit in the 32 bits that are stored. */
static void small_unsigned_rule(hac_parquet_target *t, unsigned bits)
{
    set_range(&t->rule, HAC_RULE_SMALL_U32, -(INT64_C(1) << (bits - 1)), (INT64_C(1) << bits) - 1);
    set_range(&t->long_rule, HAC_RULE_SMALL_U64, t->rule.low, t->rule.high);
}

static bool integer_rule(hac_parquet_target *t, const hac_parquet_leaf *leaf)
{
    uint8_t conversion = leaf->conversion;
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
    if (leaf->small_bits != 0)
        small_unsigned_rule(t, leaf->small_bits);
    else
        limit_32(t, t->type.kind);
    return true;
}

static bool find_rule(hac_parquet_target *t, const hac_parquet_leaf *leaf)
{
    switch (t->physical) {
    case HAC_PARQUET_FLOAT:
        t->rule.kind = t->type.kind == HAC_KIND_F64 ? HAC_RULE_FLOAT_64 : HAC_RULE_COPY_4;
        return hac_kind_is_float(t->type.kind);
    case HAC_PARQUET_DOUBLE:
        t->rule.kind = HAC_RULE_COPY_8;
        return t->type.kind == HAC_KIND_F64;
    case HAC_PARQUET_INT96:
        t->rule.kind = leaf->conversion == HAC_PARQUET_INT96_NANOS ? HAC_RULE_INT96_NANOS : HAC_RULE_INT96;
        return leaf->conversion == HAC_PARQUET_INT96_TIME || leaf->conversion == HAC_PARQUET_INT96_NANOS;
    case HAC_PARQUET_BOOLEAN:
        return t->type.kind == HAC_KIND_BOOL;
    case HAC_PARQUET_FIXED:
        if (leaf->conversion == HAC_PARQUET_HALF) {
            t->rule.kind = t->type.kind == HAC_KIND_F64 ? HAC_RULE_HALF_64 : HAC_RULE_HALF;
            return t->width == 2 && hac_kind_is_float(t->type.kind);
        }
        return false; /* decimals were handled before */
    default:
        return integer_rule(t, leaf);
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
                            .is_text = repr == HAC_REPR_STRING,
                            .is_unsigned = leaf->conversion == HAC_PARQUET_UNSIGNED};
    bool bytes = leaf->physical == HAC_PARQUET_BYTE_ARRAY || leaf->physical == HAC_PARQUET_FIXED;
    bool found;
    t.rule.width = t.width;
    t.long_rule.width = sizeof(uint64_t);
    if (leaf->physical == HAC_PARQUET_FIXED && leaf->type_length == 0)
        found = false;
    else if (t.is_text)
        found = bytes && leaf->conversion == HAC_PARQUET_PLAIN;
    else if (leaf->type.kind == HAC_KIND_DECIMAL)
        found = bytes == (leaf->conversion == HAC_PARQUET_BIG_ENDIAN);
    else
        found = repr != HAC_REPR_NONE && leaf->conversion != HAC_PARQUET_BIG_ENDIAN && find_rule(&t, leaf);
    if (found && leaf->type.kind == HAC_KIND_DECIMAL)
        decimal_rule(&t);
    if (found)
        *ret = t;
    return found;
}
