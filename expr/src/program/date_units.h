/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the units that dates and timestamps are truncated to. */
#ifndef EXPR_DATE_UNITS_H
#define EXPR_DATE_UNITS_H

#include <stdbool.h>
#include <stddef.h>

#include "expr/program.h"

/* False: no unit has that name. */
bool hac_unit_find(const char *name, size_t bytes, hac_date_unit *ret);

#endif
