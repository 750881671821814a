/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a leaf's values as another type that has all of them. */
#include "parquet/file.h"

/* Timestamps of which the file has more digits than the type: as whole nanoseconds. */
static bool take_nanoseconds(hac_parquet_leaf *leaf, hac_value_type type)
{
    if (type.kind != HAC_KIND_I64 || leaf->type.kind != HAC_KIND_TIMESTAMP)
        return false;
    if (leaf->conversion == HAC_PARQUET_NANOS)
        leaf->conversion = HAC_PARQUET_PLAIN;
    else if (leaf->conversion == HAC_PARQUET_INT96_TIME)
        leaf->conversion = HAC_PARQUET_INT96_NANOS;
    else
        return false;
    return true;
}

/* A part of a column of lists, with the type that it has. */
static bool take_part(hac_parquet_leaf *leaf, hac_value_type type, hac_list_part part)
{
    static const uint8_t kinds[] = {[HAC_LIST_LENGTH] = HAC_KIND_I64, [HAC_LIST_CONTAINS] = HAC_KIND_BOOL};
    bool list = leaf->nested.kind == HAC_NESTED_LIST;
    if (part == HAC_LIST_LENGTH || part == HAC_LIST_CONTAINS)
        return type.kind == kinds[part];
    return (list || part == HAC_LIST_ELEMENT) && hac_value_type_holds(type, leaf->nested.element);
}

bool hac_parquet_leaf_as(const hac_parquet_leaf *leaf, hac_value_type type, hac_list_part part,
                         const char *argument, hac_parquet_leaf *ret)
{
    hac_parquet_leaf as = *leaf;
    if (leaf->type.kind == HAC_KIND_NONE || part >= HAC_LIST_VALUE)
        return false;
    if (part != HAC_LIST_WHOLE && !leaf->only_nulls) {
        if (leaf->nested.kind == HAC_NESTED_NONE || !take_part(&as, type, part))
            return false;
    } else if (!leaf->only_nulls && !hac_value_type_holds(type, leaf->type) && !take_nanoseconds(&as, type)) {
        return false;
    }
    as.type = type;
    as.part = (uint8_t)part;
    as.argument = argument;
    *ret = as;
    return true;
}
