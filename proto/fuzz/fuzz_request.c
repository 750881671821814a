/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_message.h"

HAC_FUZZ_MESSAGE(Hac__Client__Request, hac_decode_request)
