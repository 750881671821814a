/* SPDX-License-Identifier: Apache-2.0 */
#include "price.h"

#include <math.h>
#include <string.h>

#include "base/type.h"

/* Models of tasks that find the answer in statistics and read next to nothing of their units. What is known
 * of the codelet itself says nothing about them. */
#define STATISTICS_AGGREGATE "query.aggregate.statistics"
#define STATISTICS_WHOLE     "query.whole.statistics"

/* `cpu` and `other` are the units/s assumed of one CPU thread and of another device, 32-bit keys, with a
 * third taken off what was measured; 64-bit keys count half. `sort_part`: the part of a
 * radix sort's time; negative: a step of the bitonic network; 0: outside whole-sort capabilities. */
static const struct assumption {
    const char *codelet;
    double cpu, other;
} assumptions[] = {
    {"radix.count", 1.5e9, 6e9},        {"radix.scatter", 0.55e9, 3e9},
    {"radix.leaf", 0.4e9, 2e9},         {"radix.sample", 2e7, 2e7},
    {"radix.scan", 3e8, 3e8},           {"radix.whole", 0.2e9, 1e9},
    {"sort.nan_order", 4e9, 1e10},      {"sort.gather", 5e7, 5e8},
    {"sort.small", 3e8, 3e8},           {"io.read", 4e9, 4e9},
    {"bitonic.block", 1.8e10, 9e10},    {"bitonic.tail", 1.8e10, 9e10},
    {"bitonic.merge", 2e9, 1e10},       {"bitonic.steps", 2e9, 1e10},
    {"query.describe", 5e3, 5e3},       {"query.quotes", 5e9, 5e9},
    {STATISTICS_AGGREGATE, 2e10, 2e10}, {STATISTICS_WHOLE, 2e10, 2e10},
    {"query.aggregate", 1.2e8, 6e7},    {"query.rows", 1e8, 5e7},
    {"query.whole", 8e7, 5e7},          {"query.merge", 2e8, 1e8},
    {"query.finish", 2e8, 1e8},         {"query.order", 3e8, 3e8},
    {"query.join", 4e9, 4e9},           {"query.gather", 1e9, 1e9},
    {"hash.aggregate", 4e8, 4e9},       {"op", 5e8, 5e9},
};

static const struct assumption unknown = {"", 1e8, 1e8};

static const struct assumption *find(const char *codelet)
{
    for (size_t i = 0; i < sizeof(assumptions) / sizeof(assumptions[0]); i++) {
        size_t length =
            strlen(assumptions[i].codelet); /* "bitonic.steps" is for "bitonic.steps.index", too */
        if (strncmp(assumptions[i].codelet, codelet, length) == 0 &&
            (codelet[length] == '\0' || codelet[length] == '.'))
            return &assumptions[i];
    }
    return &unknown;
}

double hac_machine_capability(const hac_machine_device *device, const char *prefix, hac_type type)
{
    size_t length = strlen(prefix);
    for (size_t i = 0;
         i < device->n_capability && i < sizeof(device->capability) / sizeof(device->capability[0]); i++) {
        const char *key = device->capability[i].key;
        if (strncmp(key, prefix, length) == 0 && key[length] == '.' &&
            strcmp(key + length + 1, hac_type_name(type)) == 0 && device->capability[i].items_per_second > 0)
            return device->capability[i].items_per_second;
    }
    return 0;
}

hac_status hac_machine_needs_capability(const hac_machine *machine, uint32_t device, const char *prefix,
                                        hac_type type, const char *unit, hac_error *err)
{
    const hac_machine_device *d = &machine->devices[device];
    if (!machine->simulated || hac_machine_capability(d, prefix, type) > 0)
        return HAC_OK;
    return hac_fail(err, HAC_INVALID, "profile %s has no capability \"%s.%s\"%s, which this job needs",
                    d->name, prefix, hac_type_name(type), unit);
}

/* Seconds by the profile's figures; < 0 if it has none that apply. */
static double profile_price(const hac_machine_device *device, uint64_t items, const hac_plan_task *task,
                            const char *codelet, double fraction)
{
    double own = hac_machine_capability(device, codelet, task->type);
    if (own > 0)
        return task->units * fraction / own;
    if (strncmp(codelet, "query.", 6) == 0 || strncmp(codelet, "hash.", 5) == 0) {
        double flow = hac_machine_capability(device, "mapreduce", task->type);
        return flow > 0 ? task->part * task->units * fraction / flow : -1;
    }
    double sort = hac_machine_capability(device, "sort", task->type);
    if (strncmp(codelet, "bitonic.", 8) == 0) {
        double bitonic = hac_machine_capability(device, "bitonic", task->type);
        sort = bitonic > 0 ? bitonic : sort * HAC_BITONIC_OF_RADIX;
    }
    return task->part > 0 && sort > 0 ? task->part * (double)items * fraction / sort : -1;
}

static double transfer_seconds(const hac_machine *machine, const hac_machine_device *device,
                               const hac_plan_task *task, double fraction)
{
    if (!(device->link_bandwidth > 0) || (device->host_memory && !machine->simulated))
        return 0;
    double bytes = 0, ways = 0;
    for (size_t s = 0; s < task->n_spans; s++) {
        const hac_plan_span *span = &task->spans[s];
        double both = (span->access & HAC_READ ? 1 : 0) + (span->access & HAC_WRITE ? 1 : 0);
        bytes += both * (double)(span->touch_end - span->touch_first) * fraction;
        ways += span->touch_end > span->touch_first ? both : 0;
    }
    return bytes / device->link_bandwidth + ways * device->link_latency;
}

static bool reads_statistics(const char *model)
{
    return strcmp(model, STATISTICS_AGGREGATE) == 0 || strcmp(model, STATISTICS_WHOLE) == 0;
}

double hac_price_assumed(const hac_machine_device *device, const char *codelet, hac_type type, double units)
{
    const struct assumption *a = find(codelet);
    bool cpu = device->kind == HAC_DEVICE_KIND_CPU;
    double rate = cpu ? a->cpu * (device->threads > 0 ? device->threads : 1) : a->other;
    if (hac_type_size(type) == 8 && strcmp(codelet, "io.read") != 0)
        rate /= 2;
    return a == &unknown ? 0 : units / rate;
}

bool hac_price_is_slow_host(const hac_machine_device *cpu)
{
    static const double SLOW_HOST = 4;
    const hac_experience *host = &cpu->experience[HAC_WORK_HOST];
    return host->codelets >= 2 && host->factor >= SLOW_HOST;
}

hac_work_class hac_price_work_class(const char *codelet)
{
    bool host = strncmp(codelet, "query.", 6) == 0 || strncmp(codelet, "io.", 3) == 0;
    return host ? HAC_WORK_HOST : HAC_WORK_KERNELS;
}

static double assumed_seconds(const hac_machine_device *device, const hac_plan_task *task,
                              const char *codelet, double fraction)
{
    double units = task->units * fraction, factor = device->experience[hac_price_work_class(codelet)].factor;
    double seconds = hac_price_assumed(device, codelet, task->type, units);
    if (!(seconds > 0))
        seconds = units / unknown.cpu;
    return HAC_LAUNCH_SECONDS + seconds * (factor > 0 ? factor : 1);
}

/* Of radix.whole what its phases took together, of a phase its part of that: a device does the one when it is
 * alone, the other beside others. */
static hac_prediction predict_by_kin(const hac_machine *machine, const hac_machine_device *device,
                                     const hac_plan_task *task, double units, bool together)
{
    static const char *const phases[][2] = {{"radix.count", "radix.count"},
                                            {"radix.scatter", "radix.scatter.index"},
                                            {"radix.leaf", "radix.leaf.index"}};
    bool whole = strncmp(task->codelet, "radix.whole", 11) == 0;
    size_t indices = strstr(task->codelet, ".index") != NULL;
    hac_prediction sum = {0};
    if (strncmp(task->codelet, "radix.", 6) != 0 || !(task->part > 0))
        return sum;
    for (size_t i = 0; i < 2 && !whole && sum.samples == 0; i++) { /* counting is the same for both */
        const char *codelet = indices != i ? "radix.whole.index" : "radix.whole";
        sum = hac_model_predict(machine->models, device->key, codelet, task->type, units, together);
        sum.seconds *= task->part;
    }
    if (!whole)
        return sum;
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
        hac_prediction p =
            hac_model_predict(machine->models, device->key, phases[i][indices], task->type, units, together);
        if (p.samples == 0)
            return p;
        sum.seconds += p.seconds;
        sum.samples = p.samples;
        sum.stale |= p.stale;
        sum.last = p.last > sum.last ? p.last : sum.last;
        sum.disturbance = p.disturbance > sum.disturbance ? p.disturbance : sum.disturbance;
    }
    return sum;
}

/* Replaces a prediction that is missing, or unsure and proved wrong by what its kin took since. */
static void ask_kin(const hac_machine *machine, const hac_machine_device *device, const hac_plan_task *task,
                    const char *model, double units, bool together, hac_prediction *p)
{
    hac_prediction kin = predict_by_kin(machine, device, task, units, together);
    if (kin.samples == 0)
        return;
    bool due = hac_model_is_due(machine->models, device->key, model, task->type);
    if (p->samples == 0 || (kin.last > p->last && kin.seconds * HAC_MODEL_CONTRADICTION < p->seconds)) {
        *p = kin;
        p->stale = p->stale && due;
    }
}

/* By the narrowest model that knows tasks of about that size. */
static hac_prediction predict_narrow(const hac_machine *machine, const hac_machine_device *device,
                                     const hac_plan_task *task, bool kernels, double units, bool together)
{
    char name[HAC_MODEL_NAME_MAX];
    hac_prediction p = {0};
    for (size_t i = 0; i < HAC_NARROWER_MODELS && p.samples == 0; i++)
        if (hac_task_narrower_model(task, kernels, i, name))
            p = hac_model_predict_narrow(machine->models, device->key, name, task->type, units, together);
    return p;
}

double hac_price_task(const hac_machine *machine, size_t device, uint64_t items, const hac_plan_task *task,
                      double fraction, bool together, hac_price_source *ret_source)
{
    const hac_machine_device *d = &machine->devices[device];
    hac_price_source source = HAC_PRICE_PROFILE;
    bool kernels = task->kernels_model != NULL && d->kind != HAC_DEVICE_KIND_CPU;
    const char *codelet = kernels ? task->kernels : task->codelet;
    const char *model = hac_task_model(task, kernels);
    bool statistics = reads_statistics(model);
    double seconds = statistics ? -1 : profile_price(d, items, task, codelet, fraction);
    if (seconds >= 0) {
        seconds += HAC_LAUNCH_SECONDS + transfer_seconds(machine, d, task, fraction);
    } else {
        double units = task->units * fraction;
        hac_prediction p = predict_narrow(machine, d, task, kernels, units, together);
        if (p.samples == 0)
            p = hac_model_predict(machine->models, d->key, model, task->type, units, together);
        if (p.samples == 0 && !statistics)
            p = hac_model_predict(machine->models, d->key, codelet, task->type, units, together);
        if (p.samples == 0 || p.stale)
            ask_kin(machine, d, task, model, units, together, &p);
        source = p.samples == 0 ? HAC_PRICE_ASSUMED : p.stale ? HAC_PRICE_UNSURE : HAC_PRICE_MODEL;
        seconds = p.samples > 0 ? p.seconds
                                : assumed_seconds(d, task, statistics ? model : codelet, fraction) +
                                      transfer_seconds(machine, d, task, fraction);
    }
    if (ret_source != NULL)
        *ret_source = source;
    return seconds;
}
