/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLIENT_OPTIONS_H
#define CLIENT_OPTIONS_H

#include <hac/hac.h>

/*
 * A caller's options, whatever the version of its header: a structure that starts with its own size_t size.
 * ret, of `known` bytes, comes set up; what is given goes over it. NULL: nothing is. HAC_UNSUPPORTED:
 * something is set that this version does not know. `name` and the macro that sets them up, `init`, are for
 * messages.
 */
HAC_MUST_USE hac_status hac_options_read(const void *options, const char *name, const char *init, void *ret,
                                         size_t known, hac_error *err);

#endif
