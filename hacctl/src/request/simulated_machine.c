/* SPDX-License-Identifier: Apache-2.0 */
#include "simulated_machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/profile.h"

struct hac_simulated_machine {
    hac_profile_set *profiles;
    size_t n;
    hac_device_config *configs; /* n configurations, which own the strings of the devices */
    hac_simulated_capability (*capabilities)[HAC_CAPABILITY_MAX];
    hac_simulated_device *devices;
};

const hac_simulated_device *hac_simulated_machine_devices(const hac_simulated_machine *machine)
{
    return machine->devices;
}

size_t hac_simulated_machine_count(const hac_simulated_machine *machine)
{
    return machine->n;
}

void hac_simulated_machine_free(hac_simulated_machine *machine)
{
    if (machine == NULL)
        return;
    for (size_t i = 0; i < machine->n && machine->configs != NULL; i++)
        hac_device_config_clear(&machine->configs[i]);
    free(machine->configs);
    free(machine->capabilities);
    free(machine->devices);
    hac_profile_set_free(machine->profiles);
    free(machine);
}

static hac_status check_folder(const char *folder, hac_error *err)
{
    struct stat st;
    if (stat(folder, &st) < 0)
        return hac_fail_errno(err, HAC_INVALID, errno, "--profiles %.200s", folder);
    if (!S_ISDIR(st.st_mode))
        return hac_fail(err, HAC_INVALID, "--profiles %.200s: is not a folder", folder);
    return HAC_OK;
}

static hac_status allocate(hac_simulated_machine *machine, const char *folder, hac_error *err)
{
    for (size_t i = 0; i < hac_profile_set_count(machine->profiles); i++)
        machine->n += hac_profile_device_count(hac_profile_set_get(machine->profiles, i));
    if (machine->n == 0)
        return hac_fail(err, HAC_INVALID, "--profiles %.200s: no profile *.yaml in it", folder);
    machine->configs = calloc(machine->n, sizeof *machine->configs);
    machine->capabilities = calloc(machine->n, sizeof *machine->capabilities);
    machine->devices = calloc(machine->n, sizeof *machine->devices);
    if (machine->configs == NULL || machine->capabilities == NULL || machine->devices == NULL)
        return hac_fail_no_memory(err);
    return HAC_OK;
}

static hac_status read_configs(hac_simulated_machine *machine, hac_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < hac_profile_set_count(machine->profiles); i++) {
        const hac_profile *profile = hac_profile_set_get(machine->profiles, i);
        for (size_t entry = 0; entry < hac_profile_device_count(profile); entry++) {
            hac_device_config *config = &machine->configs[n];
            hac_status status = hac_profile_device(profile, entry, config, err);
            if (status != HAC_OK)
                return status;
            for (size_t other = 0; other < n; other++)
                if (strcmp(machine->configs[other].name, config->name) == 0)
                    return hac_fail(err, HAC_INVALID,
                                    "%.200s: key `name`: another profile has a device %s already",
                                    hac_profile_path(profile), config->name);
            n++;
        }
    }
    return HAC_OK;
}

static bool overlap(const hac_device_config *a, const hac_device_config *b)
{
    for (size_t i = 0; i < a->n_affinity; i++)
        for (size_t j = 0; j < b->n_affinity; j++)
            if (a->affinity[i] == b->affinity[j])
                return true;
    return false;
}

/* Makes one pass over all pairs of devices; true if it changed a group. */
static bool join_groups(hac_simulated_machine *machine)
{
    bool changed = false;
    for (size_t i = 0; i < machine->n; i++) {
        for (size_t j = 0; j < machine->n; j++) {
            hac_device_config *a = &machine->configs[i], *b = &machine->configs[j];
            if (i == j || b->group[0] != '\0' || !overlap(a, b))
                continue;
            memcpy(b->group, a->group[0] != '\0' ? a->group : a->name, sizeof b->group);
            changed = true;
        }
    }
    return changed;
}

static void describe(hac_simulated_machine *machine, size_t index)
{
    const hac_device_config *config = &machine->configs[index];
    hac_simulated_capability *capability = machine->capabilities[index];
    double slowdown = config->slowdown >= 1 ? config->slowdown : 1;
    for (size_t i = 0; i < config->n_capability; i++) {
        capability[i].key = config->capability[i].key;
        capability[i].items_per_second = config->capability[i].items_per_second / slowdown;
    }
    bool gpu = config->kind == HAC_DEVICE_KIND_GPU;
    machine->devices[index] = (hac_simulated_device){
        .size = sizeof(hac_simulated_device),
        .name = config->name,
        .group = config->group,
        .kind = hac_device_kind_name(config->kind),
        .simt = config->style == HAC_STYLE_CHOICE_SIMT || (config->style == HAC_STYLE_AUTO && gpu),
        .threads = config->threads != 0 ? config->threads : (uint32_t)config->n_affinity,
        .max_loop_iterations = config->max_loop_iterations,
        .block_items = config->block_items,
        .memory = config->memory_limit,
        .max_allocation = config->max_allocation,
        .local_memory = config->local_memory,
        .link_bandwidth = config->link_bandwidth,
        .link_latency = config->link_latency,
        .capability = capability,
        .n_capability = config->n_capability,
    };
}

hac_status hac_simulated_machine_load(const char *folder, hac_simulated_machine **ret, hac_error *err)
{
    hac_cleanup(hac_simulated_machine_free_cleanup) hac_simulated_machine *machine =
        calloc(1, sizeof *machine);
    if (machine == NULL)
        return hac_fail_no_memory(err);
    hac_status status = check_folder(folder, err);
    if (status == HAC_OK)
        status = hac_profile_set_load(&folder, 1, true, NULL, NULL, &machine->profiles, err);
    if (status != HAC_OK) /* an unreadable profile counts as a wrong one */
        return status == HAC_NO_MEMORY ? status : HAC_INVALID;
    status = allocate(machine, folder, err);
    if (status == HAC_OK)
        status = read_configs(machine, err);
    if (status != HAC_OK)
        return status;
    while (join_groups(machine)) {
        /* groups spread from device to device */
    }
    for (size_t i = 0; i < machine->n; i++)
        describe(machine, i);
    *ret = hac_steal_ptr(machine);
    return HAC_OK;
}
