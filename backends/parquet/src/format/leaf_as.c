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

bool hac_parquet_leaf_as(const hac_parquet_leaf *leaf, hac_value_type type, hac_parquet_leaf *ret)
{
    hac_parquet_leaf as = *leaf;
    if (leaf->type.kind == HAC_KIND_NONE)
        return false;
    if (!leaf->only_nulls && !hac_value_type_holds(type, leaf->type) && !take_nanoseconds(&as, type))
        return false;
    as.type = type;
    *ret = as;
    return true;
}
