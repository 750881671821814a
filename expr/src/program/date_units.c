/* SPDX-License-Identifier: Apache-2.0 */
#include "date_units.h"

#include <string.h>
#include <strings.h>

bool hac_unit_find(const char *name, size_t bytes, hac_date_unit *ret)
{
    static const struct {
        const char *name;
        hac_date_unit unit;
    } units[] = {{"year", HAC_UNIT_YEAR},     {"quarter", HAC_UNIT_QUARTER}, {"month", HAC_UNIT_MONTH},
                 {"week", HAC_UNIT_WEEK},     {"day", HAC_UNIT_DAY},         {"hour", HAC_UNIT_HOUR},
                 {"minute", HAC_UNIT_MINUTE}, {"second", HAC_UNIT_SECOND}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n = strlen(units[i].name);
        bool plural = bytes == n + 1 && (name[n] == 's' || name[n] == 'S');
        if ((bytes == n || plural) && strncasecmp(units[i].name, name, n) == 0) {
            *ret = units[i].unit;
            return true;
        }
    }
    return false;
}
