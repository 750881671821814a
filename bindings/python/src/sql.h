/* SPDX-License-Identifier: Apache-2.0 */
/* hac._hac.Sql: a statement that was read. */
#ifndef HACPY_SQL_H
#define HACPY_SQL_H

#include "support.h"

/* The statement of an object, which keeps it; None: NULL. False: an exception is pending. */
bool hacpy_sql_of(const hacpy_state *state, PyObject *object, hac_sql **ret);

#endif
