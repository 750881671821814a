/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"

#define START_WEIGHT 0.3 /* of the newest start, in start_seconds */

static void forget_failures(hac_server_device *device)
{
    for (size_t i = 0; i < device->n_failures; i++)
        free(device->failures[i]);
    free(device->failed_programs);
    device->failed_programs = NULL;
    device->n_failures = device->n_failed_programs = 0;
}

void hac_device_free(hac_server_device *device)
{
    if (device == NULL)
        return;
    hac_device_config_clear(&device->config);
    forget_failures(device);
    free(device);
}

void hac_devices_clear(hac_devices *devices)
{
    for (size_t i = 0; i < devices->count; i++)
        hac_device_free(devices->items[i]);
    memset(devices, 0, sizeof *devices);
}

static void copy_text(char *to, size_t capacity, const char *from)
{
    snprintf(to, capacity, "%s", from != NULL ? from : "");
}

static void take_facts(hac_server_device *device, const Hac__Executor__DeviceFacts *facts)
{
    copy_text(device->platform, sizeof device->platform, facts->platform);
    copy_text(device->vendor, sizeof device->vendor, facts->vendor);
    copy_text(device->device, sizeof device->device, facts->device);
    copy_text(device->driver, sizeof device->driver, facts->driver);
    copy_text(device->type, sizeof device->type, facts->type);
    copy_text(device->kernel_hash, sizeof device->kernel_hash, facts->kernel_hash);
    device->platform_index = facts->index;
    device->compute_units = facts->compute_units;
    device->max_work_group = facts->max_work_group;
    device->global_memory = facts->global_memory;
    device->max_allocation = facts->max_allocation;
    device->local_memory = facts->local_memory;
    device->on_host_cores = strcmp(device->type, "cpu") == 0;
    device->fp64 = facts->fp64;
    device->int64_atomics = facts->int64_atomics;
    device->unified_memory = facts->unified_memory;
    device->simt = device->probed_simt = facts->simt;
    device->block_items = device->probed_block_items = facts->block_items;
}

/* A replaced image counts as another image: its programs are tested again. "": the device has no image. */
static void describe_image(const hac_device_config *config, char *ret, size_t capacity)
{
    struct stat info;
    ret[0] = '\0';
    if (config->program_binary == NULL)
        return;
    if (stat(config->program_binary, &info) != 0)
        memset(&info, 0, sizeof info);
    snprintf(ret, capacity, "|i%llu.%lld.%lld.%ld", (unsigned long long)info.st_ino, (long long)info.st_size,
             (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

static void make_key(hac_server_device *device)
{
    char image[96];
    const hac_device_config *c = &device->config;
    /* The key names everything that a measurement depends on, so another driver or setting starts with an
     * empty model. Simulated slowness is included, because it changes what is measured. */
    snprintf(device->key, sizeof device->key, "%.40s|%.32s|%.16s|t%u|p%u|%s|b%u|w%u|s%.3g", device->device,
             device->driver, device->kernel_hash, c->threads, device->tuning.placement,
             device->simt ? "simt" : "block", c->block_items, c->work_group, c->slowdown);
    if (c->byte_order != HAC_BYTE_ORDER_NATIVE) {
        size_t n = strlen(device->key);
        snprintf(device->key + n, sizeof device->key - n, "|e%d", (int)c->byte_order);
    }
    describe_image(c, image, sizeof image);
    snprintf(device->program_key, sizeof device->program_key,
             "%.60s|%.60s|%u|%.32s|%.16s|%d|b%u|w%u|l%u|m%llu|c%d%s", device->platform, device->device,
             device->platform_index, device->driver, device->kernel_hash, device->simt, device->block_items,
             c->work_group, c->max_loop_iterations, (unsigned long long)c->local_memory, c->host_memory,
             image);
    for (char *p = device->key; *p != '\0'; p++)
        if (*p == ' ' || *p == '\t' || *p == '\n')
            *p = '_';
}

/* ---- which device it is ------------------------------------------------------------------------------- */

/* FNV-1a over what tells devices apart. A terminator follows each piece, so different sequences of pieces do
 * not hash alike by construction. */
static void add_text(uint64_t *hash, const char *text)
{
    for (const char *c = text != NULL ? text : "";; c++) {
        *hash = (*hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
        if (*c == '\0')
            return;
    }
}

static void add_number(uint64_t *hash, double number)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", number);
    add_text(hash, text);
}

/* Everything that a profile can set. A reload does not notice a change of a setting that is missing here. */
static void add_config(uint64_t *hash, const hac_device_config *c)
{
    const double numbers[] = {(double)c->kind,         (double)c->style,
                              (double)c->threads,      (double)c->memory_limit,
                              (double)c->host_memory,  (double)c->byte_order,
                              (double)c->block_items,  (double)c->work_group,
                              c->max_loop_iterations,  (double)c->max_allocation,
                              (double)c->local_memory, c->link_bandwidth,
                              c->link_latency,         (double)c->jit,
                              (double)c->n_capability, c->slowdown,
                              (double)c->n_affinity,   (double)c->n_env};
    add_text(hash, c->name);
    add_text(hash, c->profile);
    add_text(hash, c->group);
    add_text(hash, c->program_binary);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        add_number(hash, numbers[i]);
    for (size_t i = 0; i < c->n_affinity; i++)
        add_number(hash, c->affinity[i]);
    for (size_t i = 0; i < c->n_env; i++)
        add_text(hash, c->env[i]);
    for (size_t i = 0; i < c->n_capability; i++) {
        add_text(hash, c->capability[i].key);
        add_number(hash, c->capability[i].items_per_second);
    }
}

/* Called before apply_config: tuning a setting that the profile leaves open does not make it another device.
 */
static uint64_t origin_of(const hac_server_device *device)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    char image[96];
    const char *const texts[] = {device->platform, device->vendor, device->device,
                                 device->driver,   device->type,   device->kernel_hash};
    const double numbers[] = {device->platform_index,         device->compute_units,
                              device->max_work_group,         (double)device->global_memory,
                              (double)device->max_allocation, (double)device->local_memory,
                              (double)device->fp64,           (double)device->int64_atomics,
                              (double)device->unified_memory, (double)device->probed_simt};
    add_config(&hash, &device->config);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        add_text(&hash, texts[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        add_number(&hash, numbers[i]);
    describe_image(&device->config, image, sizeof image);
    add_text(&hash, image);
    return hash;
}

void hac_device_renew(hac_server_device *device, const hac_server_device *fresh)
{
    forget_failures(device);
    copy_text(device->group, sizeof device->group, fresh->group);
    device->deaths = device->start_cost = 0;
    device->failed_for_all = false;
    device->calibrations = 0;
    device->retry_at_ns = 0;
    device->one_builder = false;
    if (hac_device_usable(device) && fresh->state == HAC_DEVICE_UNTESTED)
        return;
    device->state = fresh->state;
    copy_text(device->reason, sizeof device->reason, fresh->reason);
}

/* ---- making them -------------------------------------------------------------------------------------- */

static void apply_config(hac_server_device *device)
{
    hac_device_config *c = &device->config;
    device->free_threads = c->threads == 0;
    device->free_placement = c->n_affinity == 0 && device->on_host_cores;
    device->free_style = c->style == HAC_STYLE_AUTO;
    device->free_block_items = c->block_items == 0;
    device->free_work_group = c->work_group == 0;
    if (c->threads == 0)
        c->threads = c->n_affinity > 0 ? (uint32_t)c->n_affinity : device->compute_units;
    if (c->memory_limit != 0 && c->memory_limit < device->global_memory)
        device->global_memory = c->memory_limit;
    if (c->max_allocation != 0 && c->max_allocation < device->max_allocation)
        device->max_allocation = c->max_allocation;
    if (c->local_memory != 0 && c->local_memory < device->local_memory)
        device->local_memory = c->local_memory;
    if (c->style != HAC_STYLE_AUTO)
        device->simt = c->style == HAC_STYLE_CHOICE_SIMT;
    if (c->block_items != 0)
        device->block_items = c->block_items;
    make_key(device);
}

static hac_status add_device(hac_devices *devices, const Hac__Executor__DeviceFacts *facts,
                             const hac_device_config *config, hac_error *err)
{
    hac_server_device *device = calloc(1, sizeof *device);
    if (device == NULL)
        return hac_fail_no_memory(err);
    device->config = *config;
    take_facts(device, facts);
    device->origin = origin_of(device);
    apply_config(device);
    if (facts->problem != NULL && facts->problem[0] != '\0') {
        device->state = HAC_DEVICE_UNUSABLE;
        copy_text(device->reason, sizeof device->reason, facts->problem);
    }
    devices->items[devices->count++] = device;
    return HAC_OK;
}

/* A second device of the same name gets a numeric suffix. */
static void make_name_unique(const hac_devices *devices, hac_device_config *config)
{
    char base[HAC_NAME_MAX];
    memcpy(base, config->name, sizeof base);
    for (unsigned i = 1; hac_devices_find(devices, config->name) >= 0; i++)
        snprintf(config->name, sizeof config->name, "%.56s-%u", base, i);
}

static hac_status add_matching(hac_devices *devices, const Hac__Executor__DeviceFacts *facts,
                               const hac_profile_set *profiles, hac_error *err)
{
    hac_profile_match match = {facts->platform, facts->vendor, facts->device, facts->type};
    const hac_profile *profile = hac_profile_set_match(profiles, &match);
    size_t n = profile != NULL ? hac_profile_device_count(profile) : 1;
    for (size_t i = 0; i < n; i++) {
        if (devices->count == HAC_DEVICES_MAX) {
            hac_log_record(HAC_LOG_WARNING, HAC_EVENT_NO_DEVICE, NULL,
                           "only %d devices are used; %s and later ones are left out", HAC_DEVICES_MAX,
                           facts->device);
            return HAC_OK;
        }
        hac_device_config config;
        memset(&config, 0, sizeof config);
        if (profile != NULL) {
            hac_status status = hac_profile_device(profile, i, &config, err);
            if (status != HAC_OK)
                return status;
        } else {
            hac_profile_generate(&match, &config);
        }
        make_name_unique(devices, &config);
        hac_status status = add_device(devices, facts, &config, err);
        if (status != HAC_OK) {
            hac_device_config_clear(&config);
            return status;
        }
    }
    return HAC_OK;
}

/* Whether two CPU devices run on a common core. An unpinned device runs on all cores. */
static bool share_cores(const hac_server_device *a, const hac_server_device *b)
{
    if (!a->on_host_cores || !b->on_host_cores)
        return false;
    if (a->config.n_affinity == 0 || b->config.n_affinity == 0)
        return true;
    for (size_t i = 0; i < a->config.n_affinity; i++)
        for (size_t j = 0; j < b->config.n_affinity; j++)
            if (a->config.affinity[i] == b->config.affinity[j])
                return true;
    return false;
}

/* Devices that share cores form one group, by their affinity or because the profile says so. The profile's
 * word does not override the facts: devices of one named group that are pinned to disjoint cores add up only
 * if the profile puts them into different groups. */
static void find_groups(hac_devices *devices)
{
    for (size_t i = 0; i < devices->count; i++) {
        hac_server_device *device = devices->items[i];
        copy_text(device->group, sizeof device->group, device->config.group);
        for (size_t j = 0; j < i; j++) {
            hac_server_device *other = devices->items[j];
            if (!share_cores(device, other))
                continue;
            if (other->group[0] == '\0')
                snprintf(other->group, sizeof other->group, "cores-of-%.48s", other->config.name);
            copy_text(device->group, sizeof device->group, other->group);
            break;
        }
    }
}

hac_status hac_devices_make(hac_devices *devices, const Hac__Executor__ProbeReport *report,
                            const hac_profile_set *profiles, hac_error *err)
{
    hac_devices_clear(devices);
    copy_text(devices->problem, sizeof devices->problem, report->problem);
    for (size_t i = 0; i < report->n_devices; i++) {
        hac_status status = add_matching(devices, report->devices[i], profiles, err);
        if (status != HAC_OK)
            return status;
    }
    find_groups(devices);
    if (devices->count == 0 && devices->problem[0] == '\0')
        snprintf(devices->problem, sizeof devices->problem,
                 "no OpenCL device found; install a driver, for example pocl-opencl-icd");
    return HAC_OK;
}

/* Pins the threads to the first cores, or to cores that are as far apart as possible. */
static void place(hac_device_config *config, uint32_t placement, uint32_t cores)
{
    config->n_affinity = 0;
    if (placement == HAC_PLACEMENT_ANY || cores == 0)
        return;
    uint32_t n = config->threads < HAC_AFFINITY_MAX ? config->threads : HAC_AFFINITY_MAX;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t core = placement == HAC_PLACEMENT_SPREAD ? (uint64_t)i * cores / n : i;
        config->affinity[config->n_affinity++] = (uint16_t)(core % cores);
    }
}

void hac_device_retune(hac_server_device *device, const hac_device_tuning *tuning)
{
    hac_device_config *c = &device->config;
    device->tuning = *tuning;
    if (device->free_threads)
        c->threads = tuning->threads != 0 ? tuning->threads : device->compute_units;
    if (device->free_placement)
        place(c, tuning->placement, device->compute_units);
    if (device->free_style)
        device->simt =
            tuning->style != HAC_STYLE_AUTO ? tuning->style == HAC_STYLE_CHOICE_SIMT : device->probed_simt;
    if (device->free_block_items)
        c->block_items = tuning->block_items;
    device->block_items = c->block_items != 0 ? c->block_items : device->probed_block_items;
    if (device->free_work_group)
        c->work_group = tuning->work_group;
    make_key(device);
}

void hac_device_set_block_items(hac_server_device *device, uint32_t block_items)
{
    if (block_items == 0 || block_items == device->block_items)
        return;
    device->block_items = block_items;
    make_key(device);
}

void hac_device_note_start(hac_server_device *device, double seconds)
{
    double before = device->start_seconds;
    device->start_seconds = before > 0 ? before + START_WEIGHT * (seconds - before) : seconds;
}

void hac_devices_to_machine(const hac_devices *devices, const hac_model_set *models, hac_machine *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->models = models;
    ret->n_devices = devices->count;
    for (size_t i = 0; i < devices->count; i++) {
        const hac_server_device *from = devices->items[i];
        hac_machine_device *to = &ret->devices[i];
        copy_text(to->name, sizeof to->name, from->config.name);
        copy_text(to->group, sizeof to->group, from->group);
        to->kind = from->config.kind;
        copy_text(to->key, sizeof to->key, from->key);
        to->usable = hac_device_usable(from);
        to->simt = from->simt;
        to->lacks_f64 = !from->fp64;
        to->lacks_int64_atomics = !from->int64_atomics;
        to->host_memory = from->config.host_memory && from->unified_memory;
        to->threads = from->config.threads;
        to->block_items = from->block_items;
        to->max_loop_iterations = from->config.max_loop_iterations;
        to->memory = from->global_memory;
        to->max_allocation = from->max_allocation;
        to->local_memory = from->local_memory;
        to->link_bandwidth = from->config.link_bandwidth;
        to->link_latency = from->config.link_latency;
        for (size_t c = 0; c < from->config.n_capability; c++) {
            copy_text(to->capability[c].key, sizeof to->capability[c].key, from->config.capability[c].key);
            to->capability[c].items_per_second = from->config.capability[c].items_per_second;
        }
        to->n_capability = from->config.n_capability;
    }
}

int hac_devices_find(const hac_devices *devices, const char *name)
{
    for (size_t i = 0; i < devices->count; i++)
        if (!devices->items[i]->retired && strcmp(devices->items[i]->config.name, name) == 0)
            return (int)i;
    return -1;
}

hac_status hac_devices_mask(const hac_devices *devices, char *const *names, size_t n_names, uint32_t *ret,
                            hac_error *err)
{
    uint32_t mask = 0;
    for (size_t i = 0; i < n_names; i++) {
        int index = hac_devices_find(devices, names[i]);
        if (index < 0)
            return hac_fail(err, HAC_INVALID, "unknown device `%.64s`; `hacctl devices` lists them",
                            names[i]);
        if (!hac_device_usable(devices->items[index]))
            return hac_fail(err, HAC_FAILED, "device %.64s cannot be used: %.300s", names[i],
                            devices->items[index]->reason);
        mask |= 1u << index;
    }
    *ret = mask;
    return HAC_OK;
}

bool hac_device_usable(const hac_server_device *device)
{
    return !device->retired && (device->state == HAC_DEVICE_READY || device->state == HAC_DEVICE_UNTESTED);
}

bool hac_device_has_time_slices(const hac_server_device *device)
{
    hac_device_kind kind = device->config.kind;
    return kind == HAC_DEVICE_KIND_CPU || kind == HAC_DEVICE_KIND_ARM || kind == HAC_DEVICE_KIND_GPU;
}

bool hac_devices_may_use(const hac_devices *devices, size_t index, const hac_user *user)
{
    return hac_device_usable(devices->items[index]) && (user->resting >> index & 1) == 0;
}

unsigned hac_devices_usable_by(const hac_devices *devices, const hac_user *user)
{
    unsigned n = 0;
    for (size_t i = 0; i < devices->count; i++)
        n += hac_devices_may_use(devices, i, user);
    return n;
}

hac_status hac_devices_check_any(const hac_devices *devices, const hac_user *user, hac_error *err)
{
    const char *why = devices->problem;
    if (hac_devices_usable_by(devices, user) > 0)
        return HAC_OK;
    for (size_t i = 0; i < devices->count && why[0] == '\0'; i++)
        if (!devices->items[i]->retired)
            why = hac_device_reason(devices, i, user);
    return hac_fail(err, HAC_FAILED, "no usable OpenCL device: %.400s",
                    why[0] != '\0' ? why : "`hacctl doctor` says more");
}

unsigned hac_devices_usable(const hac_devices *devices)
{
    unsigned n = 0;
    for (size_t i = 0; i < devices->count; i++)
        n += hac_device_usable(devices->items[i]);
    return n;
}

unsigned hac_devices_in_use(const hac_devices *devices)
{
    unsigned n = 0;
    for (size_t i = 0; i < devices->count; i++)
        n += !devices->items[i]->retired;
    return n;
}

void hac_device_add_failure(hac_server_device *device, const char *failure)
{
    for (size_t i = 0; i < device->n_failures; i++)
        if (strcmp(device->failures[i], failure) == 0)
            return;
    if (device->n_failures == HAC_DEVICE_FAILURES_MAX)
        return;
    char *copy = strdup(failure);
    if (copy != NULL)
        device->failures[device->n_failures++] = copy;
}

static size_t find_wanted(const hac_server_device *device, const char *program)
{
    size_t at = 0;
    while (at < device->n_wanted && strcmp(device->wanted[at], program) != 0)
        at++;
    return at;
}

void hac_device_unwant(hac_server_device *device, const char *program)
{
    size_t at = find_wanted(device, program);
    if (at == device->n_wanted)
        return;
    device->n_wanted--;
    memmove(device->wanted + at, device->wanted + at + 1, (device->n_wanted - at) * sizeof *device->wanted);
}

void hac_device_want(hac_server_device *device, const char *program, bool now)
{
    if (now)
        hac_device_unwant(device, program);
    else if (find_wanted(device, program) < device->n_wanted || device->n_wanted == HAC_DEVICE_WANTED_MAX)
        return;
    if (device->n_wanted == HAC_DEVICE_WANTED_MAX)
        device->n_wanted--;
    size_t at = now ? 0 : device->n_wanted;
    memmove(device->wanted + at + 1, device->wanted + at, (device->n_wanted - at) * sizeof *device->wanted);
    snprintf(device->wanted[at], sizeof *device->wanted, "%s", program);
    device->n_wanted++;
}

static hac_failed_program *find_failed(const hac_server_device *device, const char *program)
{
    for (size_t i = 0; i < device->n_failed_programs; i++)
        if (strcmp(device->failed_programs[i].name, program) == 0)
            return &device->failed_programs[i];
    return NULL;
}

void hac_device_set_program(hac_server_device *device, const char *program, const char *failure)
{
    hac_failed_program *known = find_failed(device, program);
    if (failure == NULL) {
        if (known != NULL)
            *known = device->failed_programs[--device->n_failed_programs];
        return;
    }
    if (known == NULL && device->n_failed_programs < HAC_DEVICE_PROGRAMS_MAX) {
        hac_failed_program *more = reallocarray(device->failed_programs, device->n_failed_programs + 1,
                                                sizeof *device->failed_programs);
        if (more == NULL)
            return;
        device->failed_programs = more;
        known = &more[device->n_failed_programs++];
    }
    if (known == NULL)
        return;
    hac_utf8_copy_line(known->name, sizeof known->name, program);
    hac_utf8_copy_line(known->reason, sizeof known->reason, failure);
    hac_log_subject about = hac_log_device(device->config.name);
    hac_log_record(HAC_LOG_WARNING, HAC_EVENT_PROGRAM, &about, "device %s does without program %s: %s",
                   device->config.name, known->name, known->reason);
}

const char *hac_device_program_failure(const hac_server_device *device, const char *program)
{
    const hac_failed_program *failed = find_failed(device, program);
    return failed != NULL ? failed->reason : NULL;
}

/* Whether the device rests for that user and works for others. */
static bool rests_for(const hac_devices *devices, size_t index, const hac_user *user)
{
    return user != NULL && hac_device_usable(devices->items[index]) && (user->resting >> index & 1) != 0;
}

const char *hac_device_reason(const hac_devices *devices, size_t index, const hac_user *user)
{
    return rests_for(devices, index, user) ? user->failures[index].reason : devices->items[index]->reason;
}

const char *hac_device_state_name(const hac_devices *devices, size_t index, const hac_user *user)
{
    const hac_server_device *device = devices->items[index];
    if (device->retired)
        return "removed";
    switch (rests_for(devices, index, user) ? HAC_DEVICE_QUARANTINED : device->state) {
    case HAC_DEVICE_READY:
        return "ready";
    case HAC_DEVICE_UNUSABLE:
        return "unusable";
    case HAC_DEVICE_QUARANTINED:
        return "quarantined";
    case HAC_DEVICE_UNTESTED:
        break;
    }
    return device->building ? "building" : "untested";
}
