/* SPDX-License-Identifier: Apache-2.0 */
/* The user's own operators, for the commands of flow D. */
#ifndef HACCTL_OPSPLIT_LIBRARY_H
#define HACCTL_OPSPLIT_LIBRARY_H

#include "base/cleanup.h"
#include "opsplit/library.h"

HAC_DEFINE_CLEANUP(hac_library *, hac_library_free)

/* What is kept for this user; without a home there is only what is built in. */
HAC_MUST_USE hac_status hac_opsplit_library_open(hac_library **ret, hac_error *err);

#endif
