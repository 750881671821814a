/* SPDX-License-Identifier: Apache-2.0 */
/* The method of hac._hac.Connection that runs logic files. */
#ifndef HACPY_OPSPLIT_H
#define HACPY_OPSPLIT_H

#include "support.h"

PyObject *hacpy_opsplit(PyObject *object, PyObject *args);

#endif
