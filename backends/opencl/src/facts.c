/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a device: from the driver, the profile's limits, and automatic choices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opencl/device_open.h"

#define DEFAULT_BLOCK_LOG2 16
#define WINDOWS_AT_ONCE    8 /* of the largest size, with scratch memory, in a task */

static uint64_t min(uint64_t driver, uint64_t wanted)
{
    return wanted != 0 && wanted < driver ? wanted : driver;
}

static uint32_t floor_power_of_two(uint64_t n, uint32_t low, uint32_t high)
{
    uint32_t p = low;
    while (p < high && (uint64_t)p * 2 <= n)
        p *= 2;
    return p;
}

/* Bytes of one core's second-level cache; 0: the kernel does not tell. */
static uint64_t second_level_cache(void)
{
    for (int i = 0; i < 8; i++) {
        char path[96], text[32];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
        hac_autofclose FILE *level = fopen(path, "re");
        if (level == NULL)
            return 0;
        if (fgets(text, sizeof text, level) == NULL || text[0] != '2')
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        hac_autofclose FILE *size = fopen(path, "re");
        unsigned long kib = 0;
        if (size == NULL || fgets(text, sizeof text, size) == NULL || sscanf(text, "%luK", &kib) != 1)
            return 0;
        return (uint64_t)kib * 1024;
    }
    return 0;
}

/*
 * 32-bit items of a block. In block style a block and as much scratch fill half of a core's L2. In lock-step
 * style a block fills half of the local memory, so that two work-groups of a unit overlap.
 */
static uint32_t auto_block_items(const hac_device_facts *f)
{
    if (f->style == HAC_STYLE_SIMT)
        return floor_power_of_two(f->local_memory / 2 / sizeof(uint32_t), 256, 1u << 14);
    if (!(f->cl_type & CL_DEVICE_TYPE_CPU))
        return floor_power_of_two(f->local_memory / 2 / sizeof(uint32_t), 1024, (1u << DEFAULT_BLOCK_LOG2));
    uint64_t cache = second_level_cache();
    if (cache == 0)
        return 1u << DEFAULT_BLOCK_LOG2;
    return floor_power_of_two(cache / 4 / sizeof(uint32_t), 1u << 12, 1u << 18);
}

void hac_device_facts_of(const hac_device_listing *l, const hac_device_options *o, hac_device_facts *ret)
{
    hac_device_facts f;
    memset(&f, 0, sizeof f);
    memcpy(f.platform, l->platform, sizeof f.platform);
    memcpy(f.vendor, l->vendor, sizeof f.vendor);
    memcpy(f.name, l->name, sizeof f.name);
    memcpy(f.driver, l->driver, sizeof f.driver);
    f.cl_type = l->cl_type;
    bool gpu = (l->cl_type & CL_DEVICE_TYPE_GPU) != 0;
    bool simt = o->style == HAC_STYLE_CHOICE_SIMT || (o->style == HAC_STYLE_AUTO && gpu);
    f.style = simt ? HAC_STYLE_SIMT : HAC_STYLE_BLOCK;
    f.compute_units = (uint32_t)min(l->compute_units, o->threads);
    f.max_work_group = (uint32_t)min(l->max_work_group, o->work_group);
    f.max_loop_iterations = o->max_loop_iterations;
    f.local_memory = min(l->local_memory, o->local_memory);
    f.global_memory = min(l->global_memory, o->memory_limit);
    f.max_allocation = min(l->max_allocation, o->max_allocation) & ~UINT64_C(63);
    f.host_memory = l->unified_memory && !o->copy_memory;
    if (!f.host_memory && f.global_memory < l->global_memory) /* else the windows of a task do not fit */
        f.max_allocation = min(f.max_allocation, f.global_memory / WINDOWS_AT_ONCE) & ~UINT64_C(63);
    bool little =
        o->byte_order == HAC_BYTE_ORDER_NATIVE ? l->little_endian : o->byte_order == HAC_BYTE_ORDER_LITTLE;
    f.other_order = little != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    f.turns_order = little != l->little_endian;
    f.fp64 = l->fp64;
    f.rounds_division = l->rounds_division;
    f.int64_atomics = l->int64_atomics;
    f.block_items = auto_block_items(&f);
    if (o->block_items != 0)
        f.block_items = floor_power_of_two(o->block_items, 256, 1u << 22);
    *ret = f;
}
