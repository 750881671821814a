/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_view.h"

#include "base/clock.h"
#include "planner/experience.h"

#define LEARN_SECONDS 1.0 /* between looks at all models */

const hac_machine *hac_machine_view_now(hac_machine_view *view)
{
    if (view->stale) {
        hac_devices_to_machine(view->devices, view->models, &view->machine);
        view->stale = false;
        view->learnt_ns = 0;
    }
    if (view->learnt_ns == 0 || hac_seconds_since(view->learnt_ns) > LEARN_SECONDS) {
        hac_experience_learn(&view->machine);
        view->learnt_ns = hac_now_ns();
    }
    for (size_t i = 0; i < view->devices->count; i++) {
        view->machine.devices[i].usable = hac_device_usable(view->devices->items[i]);
        view->machine.devices[i].block_items = view->devices->items[i]->block_items;
        view->machine.devices[i].backlog = hac_executors_backlog(view->executors, (uint32_t)i);
    }
    return &view->machine;
}
