/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about value types that the whole module uses. */
#ifndef EXPR_TYPE_FACTS_H
#define EXPR_TYPE_FACTS_H

#include "expr/program.h"

#define HAC_TYPE(k) ((hac_value_type){HAC_KIND_##k, 0, 0})

typedef struct hac_type_facts {
    uint8_t repr;       /* hac_repr; decimals: hac_repr_of */
    hac_op to_string;   /* HAC_OP_COLUMN: no single operation converts to a string */
    hac_op from_string; /* HAC_OP_COLUMN: no single operation converts from a string */
} hac_type_facts;

extern const hac_type_facts hac_facts_of_kind[HAC_KIND_END];

bool hac_is_number(hac_value_type type); /* integer, float, decimal */
bool hac_is_unsigned(hac_value_type type);

hac_value_type hac_decimal(unsigned precision, unsigned scale);
/* 10^digits - 1, digits ≤ 38. */
__int128 hac_nines(unsigned digits);
/* The range of an integer type, of dates and of timestamps. */
void hac_integer_range(hac_kind kind, __int128 *ret_min, __int128 *ret_max);

#endif
