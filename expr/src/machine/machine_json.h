/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on text that is JSON. A row whose text is not JSON is HAC_ROW_JSON. */
#ifndef EXPR_MACHINE_JSON_H
#define EXPR_MACHINE_JSON_H

#include "machine_parts.h"

void hac_run_json_extract(hac_machine_c *machine, const hac_step *step, size_t rows);
void hac_run_json_string(hac_machine_c *machine, const hac_step *step, size_t rows);
void hac_run_json_element(hac_machine_c *machine, const hac_step *step, size_t rows);
void hac_run_json_slice(hac_machine_c *machine, const hac_step *step, size_t rows);
void hac_run_json_type(hac_machine_c *machine, const hac_step *step, size_t rows);
void hac_run_json_keys(hac_machine_c *machine, const hac_step *step, size_t rows);
void hac_run_json_length(hac_machine_c *machine, const hac_step *step, size_t rows);
void hac_run_json_contains(hac_machine_c *machine, const hac_step *step, size_t rows);
void hac_run_json_valid(hac_machine_c *machine, const hac_step *step, size_t rows);

#endif
