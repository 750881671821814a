/* SPDX-License-Identifier: Apache-2.0 */
#include "tune_settings.h"

#include <stdio.h>
#include <string.h>

#include "executors/device_tuning.h"

#define ALL_THREADS_BELOW 8 /* beyond, numbers of threads are doubled */
#define BLOCK_ITEMS_MIN   (1u << 14)
#define BLOCK_ITEMS_MAX   (1u << 17)
#define WORK_GROUP_MIN    64u

typedef struct candidates {
    hac_device_tuning *list;
    size_t n, capacity;
} candidates;

static void add(candidates *c, const hac_device_tuning *settings)
{
    for (size_t i = 0; i < c->n; i++)
        if (memcmp(&c->list[i], settings, sizeof *settings) == 0)
            return;
    if (c->n < c->capacity)
        c->list[c->n++] = *settings;
}

/* All placements of so many threads; 0: as many as the device has units, or as the profile says. */
static void add_placements(candidates *c, const hac_server_device *device, uint32_t threads)
{
    hac_device_tuning settings = c->list[0];
    uint32_t n = threads != 0 ? threads : device->config.threads;
    if (threads == 0 && device->free_threads)
        n = device->compute_units;
    settings.threads = threads;
    for (uint32_t placement = HAC_PLACEMENT_ANY; placement <= HAC_PLACEMENT_SPREAD; placement++) {
        bool same_as_compact = n == 1 || n >= device->compute_units;
        if (placement == HAC_PLACEMENT_SPREAD && same_as_compact)
            continue;
        if (placement != c->list[0].placement && !device->free_placement)
            continue;
        settings.placement = placement;
        add(c, &settings);
    }
}

static void list_threads(candidates *c, const hac_server_device *device)
{
    uint32_t max = device->compute_units;
    if (!device->on_host_cores)
        return;
    add_placements(c, device, 0);
    for (uint32_t n = 1; device->free_threads && n < max; n = n < ALL_THREADS_BELOW ? n + 1 : 2 * n)
        add_placements(c, device, n);
}

static void list_styles(candidates *c, const hac_server_device *device)
{
    hac_device_tuning settings = c->list[0];
    if (!device->free_style || device->config.program_binary != NULL)
        return;
    settings.style = device->simt ? HAC_STYLE_CHOICE_BLOCK : HAC_STYLE_CHOICE_SIMT;
    if (settings.style == (device->probed_simt ? HAC_STYLE_CHOICE_SIMT : HAC_STYLE_CHOICE_BLOCK))
        settings.style = HAC_STYLE_AUTO;
    settings.block_items = settings.work_group = 0; /* of the other style */
    add(c, &settings);
}

static void list_sizes(candidates *c, const hac_server_device *device)
{
    hac_device_tuning settings = c->list[0];
    if (device->config.program_binary != NULL)
        return;
    if (!device->simt && device->free_block_items) {
        settings.block_items = 0;
        add(c, &settings);
        for (uint32_t block = BLOCK_ITEMS_MIN; block <= BLOCK_ITEMS_MAX; block *= 2) {
            settings.block_items = block;
            add(c, &settings);
        }
    }
    if (device->simt && device->free_work_group) {
        settings.work_group = 0;
        add(c, &settings);
        for (uint32_t group = WORK_GROUP_MIN; group < device->max_work_group; group *= 2) {
            settings.work_group = group;
            add(c, &settings);
        }
    }
}

size_t hac_tune_list(const hac_server_device *device, hac_tune_subject subject, hac_device_tuning *ret,
                     size_t capacity)
{
    static void (*const lists[HAC_TUNE_SUBJECTS])(candidates *, const hac_server_device *) = {
        list_threads, list_styles, list_sizes};
    candidates c = {ret, 0, capacity};
    add(&c, &device->tuning);
    lists[subject](&c, device);
    return c.n;
}

const char *hac_tune_subject_name(const hac_server_device *device, hac_tune_subject subject)
{
    if (subject == HAC_TUNE_THREADS)
        return "threads and placement";
    if (subject == HAC_TUNE_STYLE)
        return "kernel style";
    return device->simt ? "work group" : "block items";
}

static void describe_number(uint32_t number, const char *unit, char *ret, size_t capacity)
{
    if (number == 0)
        snprintf(ret, capacity, "auto%s", unit);
    else
        snprintf(ret, capacity, "%u%s", number, unit);
}

void hac_tune_describe(const hac_device_tuning *settings, hac_tune_subject subject, char *ret,
                       size_t capacity)
{
    char threads[32];
    if (subject == HAC_TUNE_STYLE) {
        snprintf(ret, capacity, "%s", hac_tuning_style_name(settings->style));
    } else if (subject == HAC_TUNE_SIZES) {
        describe_number(settings->block_items != 0 ? settings->block_items : settings->work_group, "", ret,
                        capacity);
    } else {
        describe_number(settings->threads, settings->threads == 1 ? " thread" : " threads", threads,
                        sizeof threads);
        snprintf(ret, capacity, "%s, %s", threads, hac_tuning_placement_name(settings->placement));
    }
}
