/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that edit strings: case, padding, order, parts between separators. */
#ifndef EXPR_STRING_EDITS_H
#define EXPR_STRING_EDITS_H

#include "machine_parts.h"

void hac_run_lower(hac_machine_c *machine, const hac_step *step, size_t rows);
void hac_run_upper(hac_machine_c *machine, const hac_step *step, size_t rows);
void hac_run_reverse(hac_machine_c *machine, const hac_step *step, size_t rows);
void hac_run_lpad(hac_machine_c *machine, const hac_step *step, size_t rows);
void hac_run_rpad(hac_machine_c *machine, const hac_step *step, size_t rows);
void hac_run_split_part(hac_machine_c *machine, const hac_step *step, size_t rows);

#endif
