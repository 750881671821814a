/* SPDX-License-Identifier: Apache-2.0 */
#include "op_text.h"

#include "regexp_text.h"
#include "time_format.h"
#include "time_zone.h"

bool hac_op_is_regexp(unsigned op)
{
    return op == HAC_OP_REGEXP_MATCHES || op == HAC_OP_REGEXP_EXTRACT || op == HAC_OP_REGEXP_REPLACE;
}

bool hac_op_is_zone(unsigned op)
{
    return op == HAC_OP_ZONE_LOCAL || op == HAC_OP_ZONE_UTC;
}

static hac_status check_regexp(const char *text, size_t bytes, hac_error *err)
{
    char problem[HAC_REGEXP_PROBLEM_MAX];
    hac_regexp_text parts;
    if (!hac_regexp_text_read(text, bytes, &parts))
        return hac_fail(err, HAC_INVALID, "not the text of a regular expression");
    hac_regexp *regexp = hac_regexp_new(parts.pattern, parts.bytes, parts.flags, problem);
    hac_regexp_free(regexp);
    return regexp != NULL ? HAC_OK : hac_fail(err, HAC_INVALID, "the regular expression: %s", problem);
}

hac_status hac_op_text_check(unsigned op, const char *text, size_t bytes, hac_error *err)
{
    char capacity[HAC_TIME_FORMAT_PROBLEM_MAX];
    if (hac_op_is_regexp(op))
        return check_regexp(text, bytes, err);
    if (hac_op_is_zone(op))
        return hac_zone_valid((const uint8_t *)text, bytes)
                   ? HAC_OK
                   : hac_fail(err, HAC_INVALID, "not the rules of a zone");
    const char *problem = hac_time_format_problem(text, bytes, op == HAC_OP_STRPTIME, capacity);
    return problem == NULL ? HAC_OK : hac_fail(err, HAC_INVALID, "the format of times: %s", problem);
}
