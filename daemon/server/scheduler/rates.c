/* SPDX-License-Identifier: Apache-2.0 */
#include "rates.h"

#include <stdio.h>
#include <string.h>

#include "base/type.h"

double hac_rate_sort(const hac_model_set *models, const hac_server_device *device, hac_type type)
{
    static const char *const codelets[] = {"radix.count", "radix.scatter", "radix.leaf"};
    char key[HAC_NAME_MAX];
    snprintf(key, sizeof key, "sort.%s", hac_type_name(type));
    for (size_t i = 0; i < device->config.n_capability; i++)
        if (strcmp(device->config.capability[i].key, key) == 0)
            return device->config.capability[i].items_per_second;
    const double items = 4194304;
    double seconds = 0;
    hac_prediction whole = hac_model_predict(models, device->key, "radix.whole", type, items, false);
    if (whole.samples > 0)
        return items / whole.seconds;
    for (size_t i = 0; i < sizeof codelets / sizeof *codelets; i++) {
        hac_prediction p = hac_model_predict(models, device->key, codelets[i], type, items, false);
        if (p.samples == 0)
            return 0;
        seconds += p.seconds;
    }
    return seconds > 0 ? items / seconds : 0;
}

double hac_rate_table(const hac_model_set *models, const hac_server_device *device, const char *codelet)
{
    char name[HAC_NAME_MAX];
    const double bytes = 16777216;
    snprintf(name, sizeof name, "%s.none", codelet);
    for (size_t i = 0; i < device->config.n_capability; i++)
        if (strcmp(device->config.capability[i].key, name) == 0)
            return device->config.capability[i].items_per_second;
    snprintf(name, sizeof name, "%s.table", codelet);
    hac_prediction p = hac_model_predict(models, device->key, name, HAC_TYPE_NONE, bytes, false);
    return p.samples > 0 && p.seconds > 0 ? bytes / p.seconds : 0;
}
