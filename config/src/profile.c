/* SPDX-License-Identifier: Apache-2.0 */
#include "config/profile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile_keys.h"

struct hac_profile {
    char *path;
    char name[HAC_NAME_MAX];
    bool matches;                      /* false: the profile has no `match` and matches no real device */
    char *platform, *vendor, *pattern; /* globs */
    hac_match_type type;
    hac_device_config *devices;
    size_t n_devices;
};

HAC_DEFINE_CLEANUP(hac_profile *, hac_profile_free)
HAC_DEFINE_CLEANUP(hac_yaml_node *, hac_yaml_free)

/* Device configs ------------------------------------------------------------------------------------ */

void hac_device_config_clear(hac_device_config *config)
{
    for (size_t i = 0; i < config->n_env; i++)
        free(config->env[i]);
    free(config->program_binary);
    memset(config, 0, sizeof *config);
}

/* Makes a deep copy of `from`. *ret is written on success only. */
static hac_status copy_device(const hac_device_config *from, hac_device_config *ret, hac_error *err)
{
    hac_cleanup(hac_device_config_clear) hac_device_config copy = *from;
    memset(copy.env, 0, sizeof copy.env);
    copy.n_env = 0;
    copy.program_binary = NULL;
    for (; copy.n_env < from->n_env; copy.n_env++) {
        copy.env[copy.n_env] = strdup(from->env[copy.n_env]);
        if (copy.env[copy.n_env] == NULL)
            return hac_fail_no_memory(err);
    }
    if (from->program_binary != NULL) {
        copy.program_binary = strdup(from->program_binary);
        if (copy.program_binary == NULL)
            return hac_fail_no_memory(err);
    }
    *ret = copy;
    memset(&copy, 0, sizeof copy); /* *ret owns it all now */
    return HAC_OK;
}

static bool kind_uses_host_memory(hac_device_kind kind)
{
    return kind == HAC_DEVICE_KIND_CPU || kind == HAC_DEVICE_KIND_ARM;
}

void hac_profile_draft_clear(hac_profile_draft *draft)
{
    hac_device_config_clear(&draft->device);
    free(draft->platform);
    free(draft->vendor);
    free(draft->pattern);
    memset(draft, 0, sizeof *draft);
}

/* Profiles ------------------------------------------------------------------------------------------ */

void hac_profile_free(hac_profile *profile)
{
    if (profile == NULL)
        return;
    for (size_t i = 0; i < profile->n_devices; i++)
        hac_device_config_clear(&profile->devices[i]);
    free(profile->devices);
    free(profile->path);
    free(profile->platform);
    free(profile->vendor);
    free(profile->pattern);
    free(profile);
}

/* A pattern that matches every device hides all profiles after it, so it must be written in full. A profile
 * without `match` describes a device for `simulate` only. */
static hac_status check_match(const hac_scope *scope, const hac_yaml_node *root, bool *ret_matches)
{
    static const char allowed[] =
        "at least one of platform, vendor, device, type; {type: any} is every device";
    const hac_yaml_node *match = hac_yaml_get(root, "match");
    *ret_matches = match != NULL;
    if (match != NULL && match->count == 0)
        return hac_yaml_fail(scope->file, match->line, scope->err, "key `match`: is empty; allowed: %s",
                             allowed);
    return HAC_OK;
}

/* Sets the name of the device. `entry` is NULL if the file lists no executors. */
static hac_status name_device(const hac_scope *scope, const hac_yaml_node *root, const hac_yaml_node *entry,
                              size_t n_devices, hac_device_config *device)
{
    int length = 0;
    if (device->name[0] != '\0')
        return HAC_OK;
    if (n_devices == 1)
        strcpy(device->name, device->profile);
    else
        length = snprintf(device->name, sizeof device->name, "%s.%zu", device->profile, entry->index);
    if (length >= (int)sizeof device->name)
        return hac_yaml_fail(scope->file, hac_yaml_get(root, "name")->line, scope->err,
                             "key `name`: is too long for names NAME.i; allowed: at most 60 bytes");
    return HAC_OK;
}

static hac_status check_device(const hac_scope *scope, const hac_yaml_node *entry, const hac_profile *profile,
                               const hac_device_config *device)
{
    char path[HAC_YAML_PATH_SIZE];
    if (entry == NULL)
        return HAC_OK;
    const hac_yaml_node *threads = hac_yaml_get(entry, "threads"), *name = hac_yaml_get(entry, "name");
    if (device->n_affinity > 0 && device->threads > device->n_affinity)
        return hac_yaml_fail(scope->file, threads->line, scope->err,
                             "key `%s`: more threads than cpus in `affinity`; allowed: at most %zu",
                             hac_yaml_path(threads, path), device->n_affinity);
    for (size_t i = 0; i < profile->n_devices; i++)
        if (strcmp(profile->devices[i].name, device->name) == 0)
            return hac_yaml_fail(
                scope->file, name != NULL ? name->line : entry->line, scope->err,
                "key `%s`: a second device `%s`; allowed: a name of its own for each executor",
                hac_yaml_path(name != NULL ? name : entry, path), device->name);
    return HAC_OK;
}

/* Makes the next device of the profile: the values of the file, overridden by those of the entry. */
static hac_status add_device(hac_scope *scope, const hac_yaml_node *root, const hac_yaml_node *entry,
                             size_t n_devices, const hac_profile_draft *file, hac_profile *profile)
{
    hac_cleanup(hac_profile_draft_clear) hac_profile_draft draft = {.host_is_given = file->host_is_given};
    hac_device_config *device = &draft.device;
    hac_status status = copy_device(&file->device, device, scope->err);
    if (status == HAC_OK && entry != NULL) {
        scope->entry = true;
        status = hac_schema_read(scope, entry, &draft);
        scope->entry = false;
    }
    if (status == HAC_OK)
        status = name_device(scope, root, entry, n_devices, device);
    if (status == HAC_OK)
        status = check_device(scope, entry, profile, device);
    if (status != HAC_OK)
        return status;
    if (!draft.host_is_given)
        device->host_memory = kind_uses_host_memory(device->kind);
    profile->devices[profile->n_devices++] = *device;
    memset(device, 0, sizeof *device); /* the profile owns it now */
    return HAC_OK;
}

static hac_status add_devices(hac_scope *scope, const hac_yaml_node *root, const hac_profile_draft *file,
                              hac_profile *profile)
{
    const hac_yaml_node *executors = hac_yaml_get(root, "executors");
    size_t n = executors != NULL ? executors->count : 1; /* 1 to HAC_PROFILE_EXECUTORS_MAX, by the table */
    profile->devices = calloc(n, sizeof *profile->devices);
    if (profile->devices == NULL)
        return hac_fail_no_memory(scope->err);
    if (executors == NULL)
        return add_device(scope, root, NULL, n, file, profile);
    hac_status status = HAC_OK;
    for (const hac_yaml_node *entry = executors->first; status == HAC_OK && entry != NULL;
         entry = entry->next)
        status = add_device(scope, root, entry, n, file, profile);
    return status;
}

static hac_status build(hac_scope *scope, const hac_yaml_node *root, hac_profile *profile)
{
    hac_cleanup(hac_profile_draft_clear) hac_profile_draft draft = {.host_is_given = false};
    hac_status status = hac_schema_defaults(scope->schema, &draft, scope->err);
    if (status == HAC_OK)
        status = hac_schema_read(scope, root, &draft);
    if (status == HAC_OK)
        status = check_match(scope, root, &profile->matches);
    if (status == HAC_OK)
        status = add_devices(scope, root, &draft, profile);
    if (status != HAC_OK)
        return status;
    strcpy(profile->name, draft.device.profile);
    profile->type = draft.type;
    profile->platform = hac_steal_ptr(draft.platform);
    profile->vendor = hac_steal_ptr(draft.vendor);
    profile->pattern = hac_steal_ptr(draft.pattern);
    return HAC_OK;
}

hac_status hac_profile_parse(const char *name, const char *text, size_t length, hac_profile **ret,
                             hac_error *err)
{
    hac_cleanup(hac_yaml_free_cleanup) hac_yaml_node *root = NULL;
    hac_status status = hac_yaml_parse(name, text, length, &root, err);
    if (status != HAC_OK)
        return status;
    hac_cleanup(hac_profile_free_cleanup) hac_profile *profile = calloc(1, sizeof *profile);
    if (profile == NULL || (profile->path = strdup(name)) == NULL)
        return hac_fail_no_memory(err);
    hac_scope scope = {.schema = hac_profile_schema(), .file = name, .err = err};
    status = build(&scope, root, profile);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(profile);
    return status;
}

hac_status hac_profile_load(const char *path, hac_profile **ret, hac_error *err)
{
    hac_autofree char *text = NULL;
    size_t length = 0;
    hac_status status = hac_yaml_read_file(path, &text, &length, err);
    return status != HAC_OK ? status : hac_profile_parse(path, text, length, ret, err);
}

const char *hac_profile_name(const hac_profile *profile)
{
    return profile->name;
}

const char *hac_profile_path(const hac_profile *profile)
{
    return profile->path;
}

size_t hac_profile_device_count(const hac_profile *profile)
{
    return profile->n_devices;
}

hac_status hac_profile_device(const hac_profile *profile, size_t index, hac_device_config *ret,
                              hac_error *err)
{
    if (index >= profile->n_devices)
        return hac_fail(err, HAC_NOT_FOUND, "profile %s has %zu devices, there is no number %zu",
                        profile->name, profile->n_devices, index);
    return copy_device(&profile->devices[index], ret, err);
}

/* Matching ------------------------------------------------------------------------------------------ */

/* Matches `*` and `?`. Backtracks only to the last star, so the time is bounded by the product of the
 * lengths. The time of fnmatch grows exponentially with the number of stars. */
static bool glob(const char *pattern, const char *text)
{
    const char *star = NULL, *retry = NULL;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            retry = text;
        } else if (*pattern == '?' || tolower((unsigned char)*pattern) == tolower((unsigned char)*text)) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

static bool type_fits(hac_match_type wanted, const char *type)
{
    return wanted == HAC_MATCH_ANY || strcmp(hac_match_type_name(wanted), type) == 0;
}

static const char *text_or_empty(const char *text)
{
    return text != NULL ? text : "";
}

bool hac_profile_fits(const hac_profile *profile, const hac_profile_match *match)
{
    return profile->matches && type_fits(profile->type, text_or_empty(match->type)) &&
           glob(profile->platform, text_or_empty(match->platform)) &&
           glob(profile->vendor, text_or_empty(match->vendor)) &&
           glob(profile->pattern, text_or_empty(match->device));
}

void hac_profile_generate(const hac_profile_match *match, hac_device_config *ret)
{
    const char *type = text_or_empty(match->type);
    memset(ret, 0, sizeof *ret);
    bool cpu = strcmp(type, "cpu") == 0, gpu = strcmp(type, "gpu") == 0;
    ret->kind = cpu ? HAC_DEVICE_KIND_CPU : gpu ? HAC_DEVICE_KIND_GPU : HAC_DEVICE_KIND_FPGA;
    strcpy(ret->name, cpu ? "cpu" : gpu ? "gpu" : "accelerator");
    strcpy(ret->profile, "generated");
    if (cpu)
        strcpy(ret->group, HAC_CPU_GROUP);
    ret->host_memory = kind_uses_host_memory(ret->kind);
    ret->slowdown = 1.0;
}
