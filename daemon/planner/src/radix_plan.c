/* SPDX-License-Identifier: Apache-2.0 */
/* Radix plans: a partition sort whose passes are range tasks. */
#include "base/type.h"
#include "sort_build.h"

hac_status hac_radix_build(const hac_machine *machine, const hac_sort_spec *spec, const hac_sort_team *team,
                           hac_plan **ret, hac_error *err)
{
    (void)machine;
    (void)spec;
    (void)team;
    (void)ret;
    return hac_fail(err, HAC_UNSUPPORTED, "radix: not there yet");
}
