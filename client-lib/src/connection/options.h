/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLIENT_OPTIONS_H
#define CLIENT_OPTIONS_H

#include <hac/hac.h>

/*
 * Reads the caller's options, whatever the version of the caller's header. Every options structure starts
 * with its own size, a size_t. `ret` has `known` bytes and contains the defaults. The function copies the
 * caller's options over them; NULL options change nothing. HAC_UNSUPPORTED: the caller sets a member that
 * this version does not know. `name` and `init`, the structure's INIT macro, are for error messages.
 */
HAC_MUST_USE hac_status hac_options_read(const void *options, const char *name, const char *init, void *ret,
                                         size_t known, hac_error *err);

#endif
