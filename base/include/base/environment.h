/* SPDX-License-Identifier: Apache-2.0 */
/* Which environment variables a private daemon keeps and hands to its executors: one list for both. */
#ifndef BASE_ENVIRONMENT_H
#define BASE_ENVIRONMENT_H

#include <stdbool.h>

/* True for the names that are kept; `variable` is "NAME=value". */
bool hac_environment_keeps(const char *variable);

#endif
