/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results by entry of a dictionary. An operation whose only operand that is not constant is a string runs
 * once for each entry of the dictionary that the string's column is from (hac_column.dictionary), not once a
 * row. The results are remembered as long as the batches have this dictionary. Strings that are results are
 * entries of a dictionary again: the next operation, and a group key, gain likewise.
 *
 * Only dictionaries with few bytes are remembered, and all steps of a machine together keep at most 4 MiB. A
 * step stops if most rows have an entry of their own. The operation then runs a row at a time. Comparisons
 * with a constant always do: looking up their result would not be faster.
 */
#ifndef EXPR_MACHINE_ENTRIES_H
#define EXPR_MACHINE_ENTRIES_H

#include "machine_parts.h"

/* Makes the steps of the machine whose results can be remembered remember them. */
void hac_machine_entries(hac_machine_c *machine);
void hac_machine_entries_free(hac_machine_c *machine);

#endif
