/* SPDX-License-Identifier: Apache-2.0 */
/* Machines for a query's programs. */
#ifndef QUERY_QUERY_MACHINE_H
#define QUERY_QUERY_MACHINE_H

#include "expr/machine.h"

/* Makes a machine with enough memory for the strings of any program. */
HAC_MUST_USE hac_status hac_query_machine(const hac_program *program, hac_machine_c **ret, hac_error *err);
/* Returns the first row with an error state; SIZE_MAX: none. */
size_t hac_query_bad_row(const hac_column *v, size_t rows);

#endif
