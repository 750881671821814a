/* SPDX-License-Identifier: Apache-2.0 */
/* Machines for the planner's tests. */
#ifndef PLANNER_TEST_MACHINES_H
#define PLANNER_TEST_MACHINES_H

#include <stdio.h>
#include <string.h>

#include "planner/machine.h"

/* A machine of `n` simulated devices dev0 … with these sort capabilities (u32), no transfer cost. */
static inline hac_machine test_machine(const double *capability, size_t n)
{
    hac_machine machine;
    memset(&machine, 0, sizeof(machine));
    machine.simulated = true;
    machine.n_devices = n;
    for (size_t d = 0; d < n; d++) {
        hac_machine_device *device = &machine.devices[d];
        snprintf(device->name, sizeof(device->name), "dev%zu", d);
        device->kind = d == 0 ? HAC_DEVICE_KIND_GPU : HAC_DEVICE_KIND_CPU;
        snprintf(device->key, sizeof(device->key), "dev%zu/driver", d);
        device->usable = true;
        device->host_memory = true;
        device->threads = 1;
        device->block_items = 1u << 15;
        device->local_memory = 32768;
        device->n_capability = 1;
        snprintf(device->capability[0].key, sizeof(device->capability[0].key), "sort.u32");
        device->capability[0].items_per_second = capability[d];
    }
    return machine;
}

/* cpu.0, cpu.1 and a GPU, of which nothing is known but what they are. */
static inline hac_machine test_pair_beside_gpu(void)
{
    hac_machine machine;
    memset(&machine, 0, sizeof(machine));
    for (size_t d = 0; d < 3; d++) {
        hac_machine_device *device = &machine.devices[machine.n_devices++];
        snprintf(device->name, sizeof(device->name), d < 2 ? "cpu.%zu" : "gpu%zu", d);
        device->kind = d < 2 ? HAC_DEVICE_KIND_CPU : HAC_DEVICE_KIND_GPU;
        snprintf(device->key, sizeof(device->key), "key%zu", d);
        device->usable = true;
        device->host_memory = d < 2;
        device->threads = d < 2 ? 2 : 1;
        device->memory = UINT64_C(1) << 34;
    }
    return machine;
}

#endif
