/* SPDX-License-Identifier: Apache-2.0 */
/* The texts that say what an operation does: formats of times, time zones, regular expressions. */
#ifndef EXPR_OP_TEXT_H
#define EXPR_OP_TEXT_H

#include "expr/program.h"

#define HAC_PROGRAM_REGEXPS_MAX 32 /* each may take HAC_REGEXP_MEMORY */
#define HAC_PROGRAM_ZONES_MAX   32 /* a zone takes 15 KiB in a machine, a hostile one 50 */

bool hac_op_is_regexp(unsigned op);
bool hac_op_is_zone(unsigned op);
/* HAC_INVALID: the text is none for the operation; the message says why. */
HAC_MUST_USE hac_status hac_op_text_check(unsigned op, const char *text, size_t bytes, hac_error *err);

#endif
