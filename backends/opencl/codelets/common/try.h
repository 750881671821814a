/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CODELETS_TRY_H
#define CODELETS_TRY_H

/* Returns the status of the call from the enclosing function, unless it is HAC_OK. Needs a variable
 * `hac_status status`. For functions that have nothing to clean up. */
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        status = (call);                                                                                     \
        if (status != HAC_OK)                                                                                \
            return status;                                                                                   \
    } while (0)

#endif
