/* SPDX-License-Identifier: Apache-2.0 */
/* All codelets that an executor has, in a fixed order. */
#ifndef EXECUTOR_CODELETS_H
#define EXECUTOR_CODELETS_H

#include "codelet/codelet.h"

/* Codelet number `index`; NULL: there are fewer. */
const hac_codelet *hac_codelet_at(size_t index);

/* The number of a codelet that hac_codelet_at or hac_codelet_find returned. */
size_t hac_codelet_index(const hac_codelet *codelet);

/* The codelet with that name; NULL if there is none. */
const hac_codelet *hac_codelet_find(const char *name);

#endif
