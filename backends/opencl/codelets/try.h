/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CODELETS_TRY_H
#define CODELETS_TRY_H

/* Returns what the call has returned, unless that is HAC_OK; needs `hac_status status`. For functions with
 * nothing to clean up, or owners that do it. */
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        status = (call);                                                                                     \
        if (status != HAC_OK)                                                                                \
            return status;                                                                                   \
    } while (0)

#endif
