/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_message.h"

HAC_FUZZ_MESSAGE(Hac__Executor__Command, hac_decode_command)
