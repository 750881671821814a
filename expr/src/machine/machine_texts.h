/* SPDX-License-Identifier: Apache-2.0 */
/* Operations with a text that says what they do: formats of times, time zones, regular expressions. */
#ifndef EXPR_MACHINE_TEXTS_H
#define EXPR_MACHINE_TEXTS_H

#include "machine_parts.h"

/* Compiles the regular expressions of a machine's steps, and lists the changes of their zones. */
HAC_MUST_USE hac_status hac_machine_texts(hac_machine_c *machine, hac_error *err);
void hac_machine_texts_free(hac_machine_c *machine);

void hac_run_regexp_matches(hac_machine_c *machine, const hac_step *step, size_t rows);
void hac_run_regexp_extract(hac_machine_c *machine, const hac_step *step, size_t rows);
void hac_run_regexp_replace(hac_machine_c *machine, const hac_step *step, size_t rows);
void hac_run_strftime(hac_machine_c *machine, const hac_step *step, size_t rows);
void hac_run_strptime(hac_machine_c *machine, const hac_step *step, size_t rows);
void hac_run_zone(hac_machine_c *machine, const hac_step *step, size_t rows); /* ZONE_LOCAL, ZONE_UTC */

#endif
