/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_keys.h"

#include <ctype.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/type.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define KIND(kind, name) {name, HAC_DEVICE_KIND_##kind},
static const hac_choice kinds[] = {HAC_DEVICE_KINDS(KIND){NULL, 0}};

static const hac_choice styles[] = {
    {"auto", HAC_STYLE_AUTO}, {"block", HAC_STYLE_CHOICE_BLOCK}, {"simt", HAC_STYLE_CHOICE_SIMT}, {NULL, 0}};

static const hac_choice byte_orders[] = {{"native", HAC_BYTE_ORDER_NATIVE},
                                         {"little", HAC_BYTE_ORDER_LITTLE},
                                         {"big", HAC_BYTE_ORDER_BIG},
                                         {NULL, 0}};

static const hac_choice match_types[] = {{"any", HAC_MATCH_ANY},
                                         {"cpu", HAC_MATCH_CPU},
                                         {"gpu", HAC_MATCH_GPU},
                                         {"accelerator", HAC_MATCH_ACCELERATOR},
                                         {NULL, 0}};

const char *hac_match_type_name(hac_match_type type)
{
    return match_types[type].name;
}

/* Values that are no scalars ------------------------------------------------------------------------ */

static hac_status read_executors(const hac_scope *scope, const hac_key *key, const hac_yaml_node *value,
                                 void *at)
{
    (void)at; /* the entries are read over the finished file, by hac_profile_parse */
    hac_status status = hac_key_need(scope, key, value, HAC_YAML_LIST);
    if (status != HAC_OK)
        return status;
    if (value->count == 0)
        return hac_key_fail(scope, key, value, "is an empty list");
    if (value->count > HAC_PROFILE_EXECUTORS_MAX)
        return hac_key_fail(scope, key, value, "has %zu entries", value->count);
    for (const hac_yaml_node *entry = value->first; status == HAC_OK && entry != NULL; entry = entry->next)
        status = hac_key_need(scope, key, entry, HAC_YAML_MAP);
    return status;
}

static hac_status read_affinity(const hac_scope *scope, const hac_key *key, const hac_yaml_node *value,
                                void *at)
{
    const hac_key cpu = {.type = HAC_KEY_INTEGER, .max = "8191", .allowed = key->allowed};
    hac_device_config *device = at;
    hac_status status = hac_key_need(scope, key, value, HAC_YAML_LIST);
    if (status == HAC_OK && value->count > HAC_AFFINITY_MAX)
        return hac_key_fail(scope, key, value, "has %zu entries", value->count);
    device->n_affinity = 0;
    for (const hac_yaml_node *item = value->first; status == HAC_OK && item != NULL; item = item->next) {
        uint32_t number = 0;
        status = hac_key_read(scope, &cpu, item, &number);
        for (size_t i = 0; status == HAC_OK && i < device->n_affinity; i++)
            if (device->affinity[i] == number)
                return hac_key_fail(scope, key, item, "cpu %u is given twice", number);
        if (status == HAC_OK)
            device->affinity[device->n_affinity++] = (uint16_t)number;
    }
    return status;
}

static bool env_name_is_allowed(const char *name)
{
    static const char *const prefixes[] = {"HAC_", "OCL_ICD_", "POCL_", "RUSTICL_", "LP_", "CUDA_"};
    for (const char *p = name; *p != '\0'; p++)
        if (!isupper((unsigned char)*p) && !isdigit((unsigned char)*p) && *p != '_')
            return false;
    for (size_t i = 0; i < COUNT(prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static hac_status read_env(const hac_scope *scope, const hac_key *key, const hac_yaml_node *value, void *at)
{
    enum { VALUE_MAX = 1024 };
    hac_device_config *device = at;
    hac_status status = hac_key_need(scope, key, value, HAC_YAML_MAP);
    if (status == HAC_OK && value->count > HAC_PROFILE_ENV_MAX)
        return hac_key_fail(scope, key, value, "has %zu entries", value->count);
    for (const hac_yaml_node *item = value->first; status == HAC_OK && item != NULL; item = item->next) {
        if (!env_name_is_allowed(item->key))
            return hac_key_fail(scope, key, item, "a variable of this name may not be set");
        status = hac_key_need(scope, key, item, HAC_YAML_SCALAR);
        if (status != HAC_OK)
            return status;
        if (strlen(item->text) > VALUE_MAX)
            return hac_key_fail(scope, key, item, "its value is longer than %d bytes", VALUE_MAX);
        char *setting = NULL;
        if (asprintf(&setting, "%s=%s", item->key, item->text) < 0)
            return hac_fail_no_memory(scope->err);
        device->env[device->n_env++] = setting;
    }
    return status;
}

/* "sort.u32", "bitonic.merge.f64", "parquet.decode.none": codelet or flow, and the element type. */
static bool capability_key_is_valid(const char *text)
{
    const char *dot = strrchr(text, '.');
    if (dot == NULL || strlen(text) >= HAC_NAME_MAX || !islower((unsigned char)text[0]))
        return false;
    for (const char *p = text; p < dot; p++)
        if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p) && *p != '_' && *p != '.')
            return false;
    return dot[-1] != '.' && strstr(text, "..") == NULL &&
           (hac_type_from_name(dot + 1) != HAC_TYPE_NONE ||
            strcmp(dot + 1, hac_type_name(HAC_TYPE_NONE)) == 0);
}

/* The slot of a key: its old slot, whose value is overridden, or a new one. NULL: there are too many keys. */
static hac_capability *capability_slot(hac_device_config *device, const char *name)
{
    for (size_t i = 0; i < device->n_capability; i++)
        if (strcmp(device->capability[i].key, name) == 0)
            return &device->capability[i];
    if (device->n_capability == HAC_CAPABILITY_MAX)
        return NULL;
    hac_capability *slot = &device->capability[device->n_capability++];
    strcpy(slot->key, name);
    return slot;
}

static hac_status read_capability(const hac_scope *scope, const hac_key *key, const hac_yaml_node *value,
                                  void *at)
{
    const hac_key number = {.type = HAC_KEY_NUMBER, .min = "1e-9", .max = "1e18", .allowed = key->allowed};
    hac_device_config *device = at;
    hac_status status = hac_key_need(scope, key, value, HAC_YAML_MAP);
    for (const hac_yaml_node *item = value->first; status == HAC_OK && item != NULL; item = item->next) {
        double items_per_second = 0;
        if (!capability_key_is_valid(item->key))
            return hac_key_fail(scope, key, item, "is not CODELET.TYPE");
        status = hac_key_read(scope, &number, item, &items_per_second);
        if (status != HAC_OK)
            return status;
        hac_capability *slot = capability_slot(device, item->key);
        if (slot == NULL)
            return hac_key_fail(scope, key, item, "one too many");
        slot->items_per_second = items_per_second;
    }
    return status;
}

static hac_status read_binary_path(const hac_scope *scope, const hac_key *key, const hac_yaml_node *node,
                                   hac_device_config *device)
{
    char show[HAC_YAML_SHOW_SIZE];
    hac_status status = hac_key_need(scope, key, node, HAC_YAML_SCALAR);
    if (status != HAC_OK)
        return status;
    if (node->text[0] != '/' || strlen(node->text) >= PATH_MAX)
        return hac_key_fail(scope, key, node, "`%s` is not an absolute path",
                            hac_yaml_show(node->text, show));
    char *path = strdup(node->text);
    if (path == NULL)
        return hac_fail_no_memory(scope->err);
    free(device->program_binary);
    device->program_binary = path;
    return HAC_OK;
}

static hac_status read_program(const hac_scope *scope, const hac_key *key, const hac_yaml_node *value,
                               void *at)
{
    char show[HAC_YAML_SHOW_SIZE];
    if (value->kind == HAC_YAML_SCALAR && strcmp(value->text, "source") == 0)
        return HAC_OK;
    if (value->kind == HAC_YAML_SCALAR && !hac_yaml_is_null(value))
        return hac_key_fail(scope, key, value, "`%s` is not known", hac_yaml_show(value->text, show));
    hac_status status = hac_key_need(scope, key, value, HAC_YAML_MAP);
    if (status != HAC_OK)
        return status;
    for (const hac_yaml_node *item = value->first; item != NULL; item = item->next)
        if (strcmp(item->key, "binary") != 0)
            return hac_key_fail(scope, key, item, "unknown key");
    if (value->first == NULL)
        return hac_key_fail(scope, key, value, "is an empty map");
    return read_binary_path(scope, key, value->first, at);
}

/* memory.host has a third state, "depends on the kind", which the public struct does not have. */
static hac_status read_host(const hac_scope *scope, const hac_key *key, const hac_yaml_node *value, void *at)
{
    const hac_key truth = {.type = HAC_KEY_BOOL, .allowed = key->allowed};
    hac_profile_draft *draft = at;
    bool is_auto = value->kind == HAC_YAML_SCALAR && strcmp(value->text, "auto") == 0;
    hac_status status = is_auto ? HAC_OK : hac_key_read(scope, &truth, value, &draft->device.host_memory);
    if (status == HAC_OK)
        draft->host_is_given = !is_auto;
    return status;
}

/* The table ----------------------------------------------------------------------------------------- */

#define DEVICE(field) offsetof(hac_profile_draft, device.field)
#define WHOLE_DEVICE  offsetof(hac_profile_draft, device)
#define ANY_TEXT      "text; `*` is any run of characters, `?` any one, letter case does not matter"
#define ENTRY         "executors[]."

/* Keys of one section stand together. Bounds and defaults are written as in the file. */
static const hac_key keys[] = {
    {.path = "name",
     .type = HAC_KEY_NAME,
     .flags = HAC_KEY_REQUIRED,
     .offset = DEVICE(profile),
     .help = "Name of the profile and of its device; several executors are the devices NAME.0, NAME.1 …"},
    {.path = "match.platform",
     .type = HAC_KEY_TEXT,
     .offset = offsetof(hac_profile_draft, platform),
     .allowed = ANY_TEXT,
     .fallback = "*",
     .help = "Pattern for the OpenCL platform's name"},
    {.path = "match.vendor",
     .type = HAC_KEY_TEXT,
     .offset = offsetof(hac_profile_draft, vendor),
     .allowed = ANY_TEXT,
     .fallback = "*",
     .help = "Pattern for the device's vendor"},
    {.path = "match.device",
     .type = HAC_KEY_TEXT,
     .offset = offsetof(hac_profile_draft, pattern),
     .allowed = ANY_TEXT,
     .fallback = "*",
     .help = "Pattern for the device's name"},
    {.path = "match.type",
     .type = HAC_KEY_CHOICE,
     .offset = offsetof(hac_profile_draft, type),
     .choices = match_types,
     .fallback = "any",
     .help = "OpenCL device type"},
    {.path = "kind",
     .type = HAC_KEY_CHOICE,
     .flags = HAC_KEY_OVERRIDE,
     .offset = DEVICE(kind),
     .choices = kinds,
     .fallback = "cpu",
     .help = "Kind of device; decides which codelets and kernel style are used"},
    {.path = "style",
     .type = HAC_KEY_CHOICE,
     .flags = HAC_KEY_OVERRIDE,
     .offset = DEVICE(style),
     .choices = styles,
     .fallback = "auto",
     .help =
         "Kernel style: block (a work-item owns a block, explicit vectors), simt (lock-step), auto by kind"},
    {.path = "group",
     .type = HAC_KEY_NAME,
     .flags = HAC_KEY_OVERRIDE,
     .offset = DEVICE(group),
     .word = "none",
     .fallback = "none",
     .help = "Devices that share cores have the same group: their capabilities do not add up"},
    {.path = "executors",
     .type = HAC_KEY_OTHER,
     .read = read_executors,
     .type_name = "list of maps",
     .allowed = "a list of 1 to 64 maps with the keys marked \"only\" or \"yes\"",
     .fallback = "[{}]",
     .help = "Each entry is one device with an executor process of its own"},
    {.path = ENTRY "name",
     .type = HAC_KEY_NAME,
     .offset = DEVICE(name),
     .fallback = "NAME or NAME.i",
     .help = "Name of this entry's device"},
    {.path = ENTRY "threads",
     .type = HAC_KEY_INTEGER,
     .offset = DEVICE(threads),
     .min = "1",
     .max = "1024",
     .word = "auto",
     .fallback = "auto",
     .help = "Threads of a CPU device; auto: one for each CPU of its affinity"},
    {.path = ENTRY "affinity",
     .type = HAC_KEY_OTHER,
     .offset = WHOLE_DEVICE,
     .read = read_affinity,
     .type_name = "list of whole numbers",
     .allowed = "a list of at most 256 different cpu numbers from 0 to 8191",
     .fallback = "[]",
     .help = "CPUs that the driver's threads are pinned to; empty: not pinned"},
    {.path = ENTRY "env",
     .type = HAC_KEY_OTHER,
     .offset = WHOLE_DEVICE,
     .read = read_env,
     .type_name = "map of texts",
     .allowed = "at most 16 NAME: VALUE; names `HAC_*`, `OCL_ICD_*`, `POCL_*`, `RUSTICL_*`, `LP_*`, `CUDA_*`",
     .fallback = "{}",
     .help = "Environment variables of the executor, for its driver"},
    {.path = "memory.limit",
     .type = HAC_KEY_SIZE,
     .flags = HAC_KEY_OVERRIDE,
     .offset = DEVICE(memory_limit),
     .min = "1MiB",
     .word = "auto",
     .fallback = "auto",
     .help = "Device memory that a task may allocate, at most what the driver reports; auto: that"},
    {.path = "memory.host",
     .type = HAC_KEY_OTHER,
     .flags = HAC_KEY_OVERRIDE,
     .read = read_host,
     .type_name = "truth value",
     .allowed = "`true`, `false`, or `auto`",
     .fallback = "auto",
     .help = "Kernels work in host memory (true) or on copies (false); auto: true for kinds cpu and arm"},
    {.path = "program",
     .type = HAC_KEY_OTHER,
     .offset = WHOLE_DEVICE,
     .read = read_program,
     .type_name = "word or map",
     .allowed = "`source`, or `{binary: /absolute/path}`",
     .fallback = "source",
     .help = "Kernels are built from source, or are an image that was made elsewhere, as for FPGAs"},
    {.path = "byte_order",
     .type = HAC_KEY_CHOICE,
     .flags = HAC_KEY_OVERRIDE,
     .offset = DEVICE(byte_order),
     .choices = byte_orders,
     .fallback = "native",
     .help = "Byte order in which blocks of text are stored for the device; native: the driver's. The other "
             "order is "
             "for tests: kernels swap the bytes before they read a block"},
    {.path = "tuning.block_items",
     .type = HAC_KEY_INTEGER,
     .flags = HAC_KEY_OVERRIDE,
     .offset = DEVICE(block_items),
     .min = "1",
     .max = "1073741824",
     .word = "auto",
     .fallback = "auto",
     .help = "Elements that one work-item owns"},
    {.path = "tuning.work_group",
     .type = HAC_KEY_INTEGER,
     .flags = HAC_KEY_OVERRIDE,
     .offset = DEVICE(work_group),
     .min = "1",
     .max = "65536",
     .word = "auto",
     .fallback = "auto",
     .help = "Work-items of a work-group"},
    {.path = "limits.max_loop_iterations",
     .type = HAC_KEY_INTEGER,
     .flags = HAC_KEY_OVERRIDE,
     .offset = DEVICE(max_loop_iterations),
     .min = "1",
     .max = "4294967295",
     .word = "none",
     .fallback = "none",
     .help = "Loop iterations of a work-item that the driver executes; some drivers stop silently"},
    {.path = "limits.max_allocation",
     .type = HAC_KEY_SIZE,
     .flags = HAC_KEY_OVERRIDE,
     .offset = DEVICE(max_allocation),
     .min = "1MiB",
     .word = "auto",
     .fallback = "auto",
     .help = "Largest single buffer; auto: what the driver reports"},
    {.path = "limits.local_memory",
     .type = HAC_KEY_SIZE,
     .flags = HAC_KEY_OVERRIDE,
     .offset = DEVICE(local_memory),
     .min = "1KiB",
     .word = "auto",
     .fallback = "auto",
     .help = "Local memory of a work-group; auto: what the driver reports"},
    {.path = "link.bandwidth",
     .type = HAC_KEY_RATE,
     .flags = HAC_KEY_OVERRIDE,
     .offset = DEVICE(link_bandwidth),
     .min = "1kB/s",
     .max = "1000TB/s",
     .word = "none",
     .fallback = "none",
     .help = "Bandwidth of transfers to the device's memory; none: measured, or there are no transfers"},
    {.path = "link.latency",
     .type = HAC_KEY_DURATION,
     .flags = HAC_KEY_OVERRIDE,
     .offset = DEVICE(link_latency),
     .max = "10s",
     .word = "none",
     .fallback = "none",
     .help = "Latency of one transfer"},
    {.path = "sandbox.jit",
     .type = HAC_KEY_BOOL,
     .flags = HAC_KEY_OVERRIDE,
     .offset = DEVICE(jit),
     .fallback = "false",
     .help = "Allows memory that is writable and executable, for drivers that compile in the executor"},
    {.path = "capability",
     .type = HAC_KEY_OTHER,
     .flags = HAC_KEY_OVERRIDE,
     .offset = WHOLE_DEVICE,
     .read = read_capability,
     .type_name = "map of numbers",
     .allowed = "at most 32 CODELET.TYPE: items/s above 0; types u32, i32, f32, u64, i64, f64, none",
     .unit = "items/s",
     .fallback = "{}",
     .help = "Speeds fixed by hand, e.g. `{\"sort.u32\": 1.2e8}`; other speeds are measured"},
    {.path = "testing.slowdown",
     .type = HAC_KEY_NUMBER,
     .flags = HAC_KEY_OVERRIDE,
     .offset = DEVICE(slowdown),
     .min = "1",
     .max = "1000000",
     .fallback = "1.0",
     .help = "Makes the device slower by this factor, to try splits and failover"},
};

const hac_config_schema *hac_profile_schema(void)
{
    static const hac_config_schema schema = {.entries = ENTRY, .keys = keys, .n_keys = COUNT(keys)};
    return &schema;
}

/* The page ------------------------------------------------------------------------------------------ */

const char hac_profile_example[] =
    "name: cpu\n"
    "match: {platform: \"Portable Computing Language\", type: cpu}\n"
    "kind: cpu\n"
    "style: auto\n"
    "group: socket0                # shares its cores with the other devices of this group\n"
    "executors: [{threads: 2, affinity: [0, 1], env: {}}]\n"
    "memory: {limit: 4GiB}\n"
    "program: source               # or {binary: /path/to/image}\n"
    "tuning: {block_items: auto, work_group: auto}\n"
    "limits: {}                    # e.g. max_loop_iterations: 65535\n"
    "link: {}                      # e.g. {bandwidth: 25GB/s, latency: 10us}\n"
    "sandbox: {}\n"
    "capability: {}                # e.g. {\"sort.u32\": 1.2e8}\n"
    "testing: {slowdown: 1.0}\n";

void hac_profile_reference(FILE *out)
{
    fputs(
        "# Device profiles\n\n"
        "<!-- Generated from the key table in config/src/profile_keys.c by `cmake --build . --target "
        "hac_config_docs`; do not edit. -->\n\n"
        "A profile is a YAML file that says how the devices of a family are used. hacd reads `*.yaml` of "
        "each\n"
        "profile directory in lexical order, the administrator's directory before the shipped one. A device "
        "takes\n"
        "the first profile whose `match` fits it; one that fits none is used with everything on auto. To "
        "change a\n"
        "shipped profile, copy it into the administrator's directory and edit the copy.\n\n"
        "Each entry of `executors` is one device. Keys marked \"yes\" under *Per executor* may be given in "
        "an entry\n"
        "and then hold for that device alone; the rest of the file holds for all of them. `capability` is\n"
        "overridden name by name. A file must have a `name`; one without `match` (which has at least one "
        "pattern)\n"
        "fits no real device and is for `hacctl simulate` only.\n\n"
        "Unknown keys, wrong types and wrong units are refused with file, line and key. Aliases, anchors, "
        "tags and\n"
        "duplicate keys are not allowed; a pattern that begins with `*` needs quotes.\n\n"
        "A size is a number with a unit (4GiB; a bare number is bytes), a rate needs `/s` behind it "
        "(25GB/s), a\n"
        "duration its unit (10us). Numbers may have a fraction and an exponent (1.2e8); none is negative.\n\n"
        "## Example\n\n```yaml\n",
        out);
    fputs(hac_profile_example, out);
    fputs("```\n\n## Keys\n\n", out);
    hac_schema_table(hac_profile_schema(), out);
}
