/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_message.h"

HAC_FUZZ_MESSAGE(Hac__Client__Response, hac_decode_response)
