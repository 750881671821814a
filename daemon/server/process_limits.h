/* SPDX-License-Identifier: Apache-2.0 */
/* Limits that hacd inherits from the process that starts it (setrlimit(2)). A shell's soft limits are meant
 * for the shell's programs, not for a service that others use, and hacd's children inherit hacd's limits. */
#ifndef SERVER_PROCESS_LIMITS_H
#define SERVER_PROCESS_LIMITS_H

#include "base/error.h"

/* Raises the soft limits as far as the hard ones allow. Writing beyond a limit of file size becomes an
 * error instead of a signal that ends the process. HAC_REFUSED: a hard limit leaves too little to work
 * with, and the error names the limit. */
HAC_MUST_USE hac_status hac_process_limits_raise(hac_error *err);

#endif
