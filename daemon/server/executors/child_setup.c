/* SPDX-License-Identifier: Apache-2.0 */
#include "child_setup.h"

#include <stdlib.h>
#include <string.h>

#include "base/environment.h"

/* The strings are borrowed from the device and the directories. */
static void fill_setup(const hac_server_device *device, const char *program_directory,
                       const char *scratch_directory, Hac__Executor__Setup *ret)
{
    const hac_device_config *c = &device->config;
    hac__executor__setup__init(ret);
    ret->version = HAC_EXECUTOR_PROTOCOL_VERSION;
    ret->device_name = (char *)(uintptr_t)c->name;
    ret->platform = (char *)(uintptr_t)device->platform;
    ret->device = (char *)(uintptr_t)device->device;
    ret->device_index = device->platform_index;
    ret->simt = device->simt;
    ret->threads = c->threads;
    ret->memory_limit = c->memory_limit;
    ret->copy_memory = !c->host_memory;
    ret->program_binary = c->program_binary != NULL ? c->program_binary : (char *)(uintptr_t) "";
    ret->block_items = c->block_items;
    ret->work_group = c->work_group;
    ret->max_loop_iterations = c->max_loop_iterations;
    ret->max_allocation = c->max_allocation;
    ret->local_memory = c->local_memory;
    ret->jit = c->jit;
    ret->slowdown = c->slowdown;
    ret->byte_order = c->byte_order;
    ret->program_directory = (char *)(uintptr_t)program_directory;
    ret->scratch_directory = (char *)(uintptr_t)scratch_directory;
}

void hac_child_setup_send(hac_child *child, const hac_server_device *device, const char *program_directory,
                          const char *scratch_directory, int steps_fd)
{
    uint32_t affinity[HAC_AFFINITY_MAX];
    Hac__Executor__Setup setup;
    fill_setup(device, program_directory, scratch_directory, &setup);
    for (size_t i = 0; i < device->config.n_affinity; i++)
        affinity[i] = device->config.affinity[i];
    setup.affinity = affinity;
    setup.n_affinity = device->config.n_affinity;
    setup.counts_steps = steps_fd >= 0;
    Hac__Executor__Command command = HAC__EXECUTOR__COMMAND__INIT;
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_SETUP;
    command.setup = &setup;
    hac_child_send(child, &command, &steps_fd, steps_fd >= 0 ? 1 : 0);
}

/* Whether the device's own environment replaces this variable. */
static bool overridden(const hac_device_config *config, const char *setting)
{
    const char *equals = strchr(setting, '=');
    if (config == NULL || equals == NULL)
        return false;
    size_t length = (size_t)(equals - setting) + 1;
    for (size_t i = 0; i < config->n_env; i++)
        if (strncmp(setting, config->env[i], length) == 0)
            return true;
    return false;
}

hac_status hac_child_setup_environment(const hac_device_config *config, char ***ret, hac_error *err)
{
    extern char **environ;
    size_t n = 0, capacity = 1 + (config != NULL ? config->n_env : 0);
    for (char **e = environ; *e != NULL; e++)
        capacity++;
    char **list = calloc(capacity, sizeof *list);
    if (list == NULL)
        return hac_fail_no_memory(err);
    for (char **e = environ; *e != NULL; e++)
        if (hac_environment_keeps(*e) && !overridden(config, *e))
            list[n++] = *e;
    for (size_t i = 0; config != NULL && i < config->n_env; i++)
        list[n++] = config->env[i];
    *ret = list;
    return HAC_OK;
}
