/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/ops_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/type.h"
#include "plan/device_set.h"
#include "plan/price.h"
#include "plan/simulate.h"

/* A task is divided among devices only if their predicted time is below this fraction of the best single
 * device's time, because models are not exact. */
#define SET_GAIN 0.97
/* A task that takes longer than this on one device is divided even if other tasks keep the other devices
 * busy. A prediction may be wrong by some per cent, which for a task of this length is more than the half
 * millisecond that dividing it costs. */
#define WHOLE_SECONDS 0.03
/* A shorter task is not worth a piece that measures an unmeasured device. */
#define EXPLORE_SECONDS 1e-3
/* A task may run on its predecessors' device even if it ends there later by this fraction of its time. */
#define FOLLOWS 0.05

/* The other tasks on the level of a task (struct level): they are independent of the task. */
typedef struct others {
    /* predicted time of the tasks of the level that are placed after this one, each divided among a set */
    double seconds;
    /* the level ends as early with each task whole on one device as with each task divided */
    bool even;
} others;

typedef struct planning {
    const hac_machine *machine;
    const hac_ops_spec *spec;
    hac_plan *plan;
    uint32_t eligible;                       /* mask of machine devices that the graph may use */
    uint32_t place[HAC_MACHINE_MAX_DEVICES]; /* machine device → index into plan->devices */
    double free_at[HAC_MACHINE_MAX_DEVICES]; /* when the tasks placed on the device so far end */
    double *end;                             /* for each task: when it ends */
    others *others;                          /* for each task; all zero if there is one device */
    uint32_t *where;                         /* for each task: mask of the machine devices it is placed on */
    uint32_t behind;                         /* mask of the predecessors' devices, for the current task */
} planning;

#define WHY_MAX 160

/* The decision where a task runs. */
typedef struct placement {
    uint32_t mask;     /* machine devices */
    double seconds;    /* predicted */
    uint32_t explored; /* more machine devices: each gets a piece that measures it */
    bool host_only;    /* is_host_only */
    char why[WHY_MAX]; /* the reason, for people */
} placement;

/* ---- devices ---- */

static bool is_cpu(const planning *p, uint32_t device)
{
    return p->machine->devices[device].kind == HAC_DEVICE_KIND_CPU;
}

/* Whether the task runs as a host codelet on every device, CPU or not: it has no kernels, or no device of
 * this machine can run them. */
static bool is_host_only(const planning *p, const hac_op_spec *op)
{
    static const char *const names[] = {"op.tokenize", "op.index", "op.csr", "op.transpose", "op.while"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], op->codelet) == 0)
            return true;
    bool lacking = op->type == HAC_TYPE_F64 && !p->spec->kernels;
    for (uint32_t d = 0; d < p->machine->n_devices && d < HAC_MACHINE_MAX_DEVICES && lacking; d++)
        if (p->eligible >> d & 1)
            lacking = !is_cpu(p, d) && p->machine->devices[d].lacks_f64;
    return op->host || lacking;
}

/* The devices that can run the task. */
static uint32_t able_devices(const planning *p, const hac_op_spec *op)
{
    uint32_t able = 0, cpus = 0;
    bool host_only = is_host_only(p, op);
    for (uint32_t d = 0; d < p->machine->n_devices && d < HAC_MACHINE_MAX_DEVICES; d++) {
        const hac_machine_device *device = &p->machine->devices[d];
        if (!(p->eligible >> d & 1))
            continue;
        bool kernels = !host_only && (p->spec->kernels || !is_cpu(p, d));
        if (kernels && device->lacks_f64 && op->type == HAC_TYPE_F64)
            continue;
        able |= UINT32_C(1) << d;
        cpus |= is_cpu(p, d) ? UINT32_C(1) << d : 0;
    }
    return host_only && cpus != 0 ? cpus : able;
}

static uint32_t devices_of_kind(const planning *p, uint32_t able, hac_device_kind kind)
{
    uint32_t mask = 0;
    for (uint32_t d = 0; d < p->machine->n_devices && d < HAC_MACHINE_MAX_DEVICES; d++)
        if ((able >> d & 1) && p->machine->devices[d].kind == kind)
            mask |= UINT32_C(1) << d;
    return mask;
}

/* Those of the `able` devices that have this name, or are of this kind. */
static uint32_t named_devices(const planning *p, uint32_t able, const char *name)
{
    hac_device_kind kind = hac_device_kind_find(name);
    uint32_t mask = kind < HAC_DEVICE_KIND_END ? devices_of_kind(p, able, kind) : 0;
    for (uint32_t d = 0; d < p->machine->n_devices && d < HAC_MACHINE_MAX_DEVICES; d++)
        if ((able >> d & 1) && strcmp(p->machine->devices[d].name, name) == 0)
            mask |= UINT32_C(1) << d;
    return mask;
}

/* ---- prices ---- */

static hac_plan_task task_of(const hac_op_spec *op)
{
    hac_plan_task task = {.codelet = op->codelet, .type = op->type, .units = fmax(op->units, 1)};
    memcpy(task.spans, op->spans, sizeof(task.spans));
    task.n_spans = op->n_spans;
    return task;
}

#define MODEL_NAME_MAX 96

/* Whether a host codelet runs in executors of the devices beside their kernels: none of them is a CPU. */
static bool runs_beside(const planning *p, const hac_op_spec *op, uint32_t mask)
{
    return op->host && devices_of_kind(p, mask, HAC_DEVICE_KIND_CPU) == 0;
}

/* The name of the task's performance model. NULL: the model has the codelet's name. Host codelets that run in
 * the executor of a GPU or another accelerator (`beside`) get a model of their own (".host"), because their
 * times would spoil the model of the kernels. */
static const char *name_model(const planning *p, const char *codelet, bool beside, char ret[MODEL_NAME_MAX])
{
    const char *learner = p->spec->learner;
    if (learner == NULL && !beside)
        return NULL;
    snprintf(ret, MODEL_NAME_MAX, "%.43s%s%s%.45s", codelet, beside ? ".host" : "",
             learner != NULL ? "@" : "", learner != NULL ? learner : "");
    return ret;
}

static double price(const planning *p, const hac_op_spec *op, uint32_t device, bool together,
                    hac_price_source *source)
{
    char model[MODEL_NAME_MAX];
    hac_plan_task task = task_of(op);
    task.model = name_model(p, op->codelet, runs_beside(p, op, able_devices(p, op)), model);
    return hac_price_task(p->machine, device, 0, &task, 1, together, source);
}

/* The predicted time of a task on each device alone. */
typedef struct price_list {
    double seconds[HAC_MACHINE_MAX_DEVICES];
    hac_price_source source[HAC_MACHINE_MAX_DEVICES];
} price_list;

static void find_prices(const planning *p, const hac_op_spec *op, uint32_t mask, price_list *ret)
{
    for (uint32_t d = 0; d < HAC_MACHINE_MAX_DEVICES; d++)
        if (mask >> d & 1)
            ret->seconds[d] = price(p, op, d, false, &ret->source[d]);
}

/* Prints the first four prices: "cpu.0 1.20 ms, gpu.0 0.40 ms". */
static void list_prices(const planning *p, const price_list *prices, uint32_t mask, char *ret,
                        size_t capacity)
{
    int used = 0;
    unsigned n = 0;
    ret[0] = '\0';
    for (uint32_t d = 0; d < HAC_MACHINE_MAX_DEVICES && n < 4; d++) {
        if (!(mask >> d & 1) || (size_t)used >= capacity)
            continue;
        used += snprintf(ret + used, capacity - (size_t)used, "%s%s %.3g ms%s", n++ == 0 ? "" : ", ",
                         p->machine->devices[d].name, prices->seconds[d] * 1e3,
                         prices->source[d] == HAC_PRICE_ASSUMED ? " (a guess)" : "");
    }
}

/* ---- measured ---- */

static double end_on(const planning *p, const price_list *prices, uint32_t device, double ready)
{
    return fmax(ready, p->free_at[device]) + prices->seconds[device];
}

/* The device of `mask` on which the task would end first, given the tasks placed there already. If all
 * predecessors run on one device, and the task would end there nearly as early, that device is returned: hacd
 * can then queue the task before its predecessors have ended. */
static uint32_t first_to_end(const planning *p, const price_list *prices, uint32_t mask, double ready)
{
    uint32_t best = 0;
    double best_end = INFINITY;
    for (uint32_t d = 0; d < HAC_MACHINE_MAX_DEVICES; d++)
        if ((mask >> d & 1) && end_on(p, prices, d, ready) < best_end) {
            best_end = end_on(p, prices, d, ready);
            best = d;
        }
    if (p->behind == 0 || (p->behind & (p->behind - 1)) != 0 || (mask & p->behind) == 0)
        return best;
    uint32_t before = (uint32_t)__builtin_ctz(p->behind);
    return end_on(p, prices, before, ready) <= best_end + FOLLOWS * prices->seconds[before] ? before : best;
}

/* The device set for a divided task. Of devices that share cores, only the best joins. */
static void form_set(const planning *p, const hac_op_spec *op, uint32_t mask, hac_device_set *ret)
{
    uint32_t index[HAC_MACHINE_MAX_DEVICES];
    double rate[HAC_MACHINE_MAX_DEVICES];
    size_t n = 0;
    for (uint32_t d = 0; d < HAC_MACHINE_MAX_DEVICES; d++) {
        if (!(mask >> d & 1))
            continue;
        index[n] = d;
        rate[n++] = op->units / fmax(price(p, op, d, true, NULL), 1e-9);
    }
    hac_device_set_form(p->machine, index, rate, n, ret);
}

static double set_seconds(const hac_op_spec *op, const hac_device_set *set)
{
    double rate = 0;
    for (size_t i = 0; i < set->n; i++)
        rate += set->capability[i];
    return op->units / rate + HAC_DISPATCH_SECONDS;
}

static uint32_t set_mask(const hac_device_set *set)
{
    uint32_t mask = 0;
    for (size_t i = 0; i < set->n; i++)
        mask |= UINT32_C(1) << set->machine_index[i];
    return mask;
}

/* Whether a task that could be divided should run whole on one device, *ret. This is better if the other
 * tasks of the level keep the other devices busy meanwhile: dividing the task then gains nothing, and each
 * piece costs hacd a request and a reply. If the devices do not end at the same time, later tasks of the
 * level are divided and fill the gap. */
static bool stays_whole(const planning *p, const hac_op_spec *op, const hac_device_set *set,
                        const price_list *prices, double ready, uint32_t *ret)
{
    const others *o = &p->others[op - p->spec->tasks];
    for (size_t i = 0; i < set->n; i++)
        if (prices->source[set->machine_index[i]] == HAC_PRICE_ASSUMED)
            return false;
    *ret = first_to_end(p, prices, set_mask(set), ready);
    return prices->seconds[*ret] < WHOLE_SECONDS && (o->even || o->seconds >= prices->seconds[*ret]);
}

static bool share_cores(const planning *p, uint32_t device, uint32_t mask)
{
    const char *group = p->machine->devices[device].group;
    for (uint32_t d = 0; d < HAC_MACHINE_MAX_DEVICES; d++)
        if ((mask >> d & 1) && group[0] != '\0' && strcmp(p->machine->devices[d].group, group) == 0)
            return true;
    return false;
}

/* The devices to explore: they were not measured at this task, and do not take part in it otherwise. */
static uint32_t unknown_devices(const planning *p, const hac_op_spec *op, uint32_t mask,
                                const price_list *prices, const placement *where)
{
    uint32_t unknown = 0;
    if (op->grain == 0 || op->count <= op->grain || where->seconds < EXPLORE_SECONDS || p->machine->simulated)
        return 0;
    for (uint32_t d = 0; d < HAC_MACHINE_MAX_DEVICES; d++)
        if ((mask & ~where->mask) >> d & 1 && hac_price_is_unsure(prices->source[d]) &&
            !share_cores(p, d, where->mask | unknown))
            unknown |= UINT32_C(1) << d;
    return unknown;
}

static void choose_devices(const planning *p, const hac_op_spec *op, uint32_t mask, double ready,
                           const price_list *list, placement *ret)
{
    char prices[120];
    bool alone = (mask & (mask - 1)) == 0;
    hac_device_set set = {.n = 0};
    uint32_t best = first_to_end(p, list, mask, ready);
    ret->seconds = list->seconds[best];
    ret->mask = UINT32_C(1) << best;
    list_prices(p, list, mask, prices, sizeof(prices));
    if (op->grain > 0 && !alone)
        form_set(p, op, mask, &set);
    if (set.n > 1 && set_seconds(op, &set) < SET_GAIN * ret->seconds) {
        if (stays_whole(p, op, &set, list, ready, &best)) {
            ret->mask = UINT32_C(1) << best;
            ret->seconds = list->seconds[best];
            snprintf(ret->why, sizeof(ret->why), "measured, with others beside it: %s", prices);
            return;
        }
        ret->mask = set_mask(&set);
        ret->seconds = set_seconds(op, &set);
        snprintf(ret->why, sizeof(ret->why), "measured: %.3g ms on %zu together; %.100s", ret->seconds * 1e3,
                 set.n, prices);
        return;
    }
    snprintf(ret->why, sizeof(ret->why), "%s%s", alone ? "the only device that can: " : "measured: ", prices);
}

static void measure(const planning *p, const hac_op_spec *op, uint32_t mask, double ready, placement *ret)
{
    price_list list;
    find_prices(p, op, mask, &list);
    choose_devices(p, op, mask, ready, &list, ret);
    ret->explored = unknown_devices(p, op, mask, &list, ret);
    size_t n = strlen(ret->why);
    if (ret->explored != 0)
        snprintf(ret->why + n, sizeof(ret->why) - n, "; a piece measures %s",
                 p->machine->devices[__builtin_ctz(ret->explored)].name);
}

/* ---- host codelets elsewhere ---- */

/* Whether all devices of the mask are CPUs that host codelets may leave (price.h) and that were measured at
 * this task. */
static bool are_slow_hosts(const planning *p, const hac_op_spec *op, uint32_t mask)
{
    bool slow = true;
    for (uint32_t d = 0; d < HAC_MACHINE_MAX_DEVICES; d++) {
        hac_price_source source = HAC_PRICE_MODEL;
        if (!(mask >> d & 1))
            continue;
        (void)price(p, op, d, false, &source);
        slow &= is_cpu(p, d) && source != HAC_PRICE_UNSURE && hac_price_is_slow_host(&p->machine->devices[d]);
    }
    return slow;
}

/* Seconds of the task's host codelet in the executor of a device that is no CPU; 0: that is not known. */
static double measured_elsewhere(const planning *p, const hac_op_spec *op, uint32_t device)
{
    const char *key = p->machine->devices[device].key;
    char model[MODEL_NAME_MAX];
    const double units = fmax(op->units, 1);
    hac_prediction own = hac_model_predict(p->machine->models, key, name_model(p, op->codelet, true, model),
                                           op->type, units, false);
    return own.samples > 0 ? own.seconds : 0;
}

/* Moves a task of a host codelet from slow CPUs to another device's executor, if the task takes less time
 * there. As long as this is not known, the cores there are assumed to be as fast as cores usually are. */
static void go_elsewhere(const planning *p, const hac_op_spec *op, placement *ret)
{
    const hac_machine_device *cpu = &p->machine->devices[__builtin_ctz(ret->mask)];
    double here = ret->seconds, assumed = here / cpu->experience[HAC_WORK_HOST].factor;
    double best = here / HAC_ELSEWHERE_GAIN;
    for (uint32_t d = 0; d < p->machine->n_devices && d < HAC_MACHINE_MAX_DEVICES; d++) {
        if (!(p->eligible >> d & 1) || is_cpu(p, d))
            continue;
        double measured = measured_elsewhere(p, op, d), there = measured > 0 ? measured : assumed;
        if (there >= best)
            continue;
        best = there;
        *ret = (placement){.mask = UINT32_C(1) << d, .seconds = there};
        snprintf(ret->why, sizeof(ret->why), "%s: %.3g ms%s, %s %.3g ms", p->machine->devices[d].name,
                 there * 1e3, measured > 0 ? "" : " (a guess)", cpu->name, here * 1e3);
    }
}

/* ---- rule and pin ---- */

/* The kind of device that the rule names. *ret_why is the reason, for people. */
static hac_device_kind rule_kind(const hac_ops_spec *spec, const hac_op_spec *op, char *ret_why,
                                 size_t capacity)
{
    uint64_t threshold = spec->threshold > 0 ? spec->threshold : HAC_OPS_THRESHOLD;
    bool is_float = op->type == HAC_TYPE_F32 || op->type == HAC_TYPE_F64;
    bool is_large = op->memory >= threshold;
    hac_device_kind kind = is_float == is_large ? HAC_DEVICE_KIND_CPU : HAC_DEVICE_KIND_GPU;
    snprintf(ret_why, capacity, "rule: %s, %.3g MiB %s %.3g MiB: %s", is_float ? "float" : "integer",
             (double)op->memory / 0x1p20, is_large ? "≥" : "<", (double)threshold / 0x1p20,
             hac_device_kind_name(kind));
    return kind;
}

/* Adds to the reason that a device other than a CPU runs the host codelet, which explains the price. */
static void say_host(const planning *p, placement *ret)
{
    size_t n = strlen(ret->why);
    if (ret->host_only && !is_cpu(p, (uint32_t)__builtin_ctz(ret->mask)))
        snprintf(ret->why + n, sizeof(ret->why) - n, "; by its host codelet");
}

static hac_status fail_pin(const planning *p, const hac_op_spec *op, hac_error *err)
{
    if (named_devices(p, p->eligible, op->pin) != 0)
        return hac_fail(err, HAC_INVALID, "%s: '%s' has no kernels that can run it, other devices can",
                        op->name, op->pin);
    return hac_fail(err, HAC_INVALID, "%s: no device that can run it is called '%s' or of that kind",
                    op->name, op->pin);
}

/* The `able` devices that the pin or the rule allows; 0: the pin names none of them. `why` is the reason, or
 * "" if only the prices decide. */
static uint32_t allowed_devices(const planning *p, const hac_op_spec *op, uint32_t able, char why[WHY_MAX])
{
    static const char NONE[] = ", of which there is none; measured", CANNOT[] = ", which cannot; measured";
    why[0] = '\0';
    if (op->pin[0] != '\0') {
        snprintf(why, WHY_MAX, "pinned to %.64s", op->pin);
        return named_devices(p, able, op->pin);
    }
    if (p->spec->policy != HAC_OPS_RULE)
        return able;
    hac_device_kind kind = rule_kind(p->spec, op, why, WHY_MAX - sizeof(NONE));
    uint32_t mask = devices_of_kind(p, able, kind);
    if (mask == 0 && devices_of_kind(p, p->eligible, kind) != 0)
        memcpy(why + strlen(why), CANNOT, sizeof(CANNOT));
    else if (mask == 0)
        memcpy(why + strlen(why), NONE, sizeof(NONE));
    return mask != 0 ? mask : able;
}

static hac_status place(const planning *p, const hac_op_spec *op, double ready, placement *ret,
                        hac_error *err)
{
    uint32_t able = able_devices(p, op);
    char why[WHY_MAX];
    memset(ret, 0, sizeof(*ret));
    if (able == 0)
        return hac_fail(err, HAC_FAILED, "%s: no device can run it (f64 is missing)", op->name);
    for (uint32_t d = 0; d < HAC_MACHINE_MAX_DEVICES; d++) {
        hac_status status = able >> d & 1
                                ? hac_machine_needs_capability(p->machine, d, op->codelet, op->type, "", err)
                                : HAC_OK;
        if (status != HAC_OK)
            return status;
    }
    uint32_t mask = allowed_devices(p, op, able, why);
    if (mask == 0)
        return fail_pin(p, op, err);
    measure(p, op, mask, ready, ret);
    bool free_choice = why[0] == '\0' && !p->machine->simulated;
    if (free_choice && op->host && are_slow_hosts(p, op, mask))
        go_elsewhere(p, op, ret);
    if (why[0] != '\0')
        memcpy(ret->why, why, sizeof(why));
    ret->host_only = is_host_only(p, op);
    say_host(p, ret);
    return HAC_OK;
}

/* ---- the plan ---- */

/* A level has the tasks whose longest chain of predecessors has the same length. They are independent of each
 * other. */
typedef struct level {
    double together; /* predicted time of the tasks so far that can be divided, if all are divided */
    double free_at[HAC_MACHINE_MAX_DEVICES]; /* if each task runs whole on the device that ends it first */
} level;

/* Sets ret[i] to the level of task i. Returns the number of levels. */
static uint32_t find_levels(const hac_ops_spec *spec, uint32_t *ret)
{
    uint32_t n = 0;
    for (size_t i = 0; i < spec->n_tasks; i++) {
        ret[i] = 0;
        for (size_t a = 0; a < spec->tasks[i].n_after; a++)
            if (ret[spec->tasks[i].after[a]] >= ret[i])
                ret[i] = ret[spec->tasks[i].after[a]] + 1;
        n = ret[i] >= n ? ret[i] + 1 : n;
    }
    return n;
}

static void add_to_level(const planning *p, const hac_op_spec *op, level *l)
{
    char why[WHY_MAX];
    hac_device_set set = {.n = 0};
    uint32_t best = 0, mask = allowed_devices(p, op, able_devices(p, op), why);
    double best_end = INFINITY;
    if (op->grain > 0 && op->units > 0 && mask != 0)
        form_set(p, op, mask, &set);
    mask = set.n > 1 ? set_mask(&set) : mask;
    for (uint32_t d = 0; d < HAC_MACHINE_MAX_DEVICES; d++) {
        double end = mask >> d & 1 ? l->free_at[d] + price(p, op, d, false, NULL) : INFINITY;
        best = end < best_end ? d : best;
        best_end = fmin(end, best_end);
    }
    if (mask != 0) /* else the pin names no device: place() reports the error */
        l->free_at[best] = best_end;
    if (set.n > 1)
        l->together += set_seconds(op, &set);
}

static bool is_even(const level *l)
{
    double end = 0;
    for (size_t d = 0; d < HAC_MACHINE_MAX_DEVICES; d++)
        end = fmax(end, l->free_at[d]);
    return end * SET_GAIN <= l->together;
}

static hac_status find_others(planning *p, hac_error *err)
{
    size_t n = p->spec->n_tasks;
    hac_autofree uint32_t *numbers = calloc(n + 1, sizeof *numbers);
    if (numbers == NULL)
        return hac_fail_no_memory(err);
    hac_autofree level *levels = calloc(find_levels(p->spec, numbers) + 1, sizeof *levels);
    if (levels == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        add_to_level(p, &p->spec->tasks[i], &levels[numbers[i]]);
        /* the tasks up to this one; the second loop adds the whole level */
        p->others[i].seconds = -levels[numbers[i]].together;
    }
    for (size_t i = 0; i < n; i++) {
        p->others[i].seconds += levels[numbers[i]].together;
        p->others[i].even = is_even(&levels[numbers[i]]);
    }
    return HAC_OK;
}

static uint32_t plan_mask(const planning *p, uint32_t machine_mask)
{
    uint32_t mask = 0;
    for (uint32_t d = 0; d < HAC_MACHINE_MAX_DEVICES; d++)
        if (machine_mask >> d & 1)
            mask |= UINT32_C(1) << p->place[d];
    return mask;
}

static int lone_device(uint32_t mask)
{
    return (mask & (mask - 1)) == 0 ? __builtin_ctz(mask) : -1;
}

/* Sets the names of the host codelet and of the kernels; no kernels if the task is host only. */
static hac_status name_codelets(planning *p, const hac_op_spec *op, bool host_only, hac_plan_task *task,
                                hac_error *err)
{
    char kernels[64];
    const char *name = op->codelet;
    snprintf(kernels, sizeof(kernels), "%.40s.cl", op->codelet);
    hac_status status = HAC_OK;
    if (!host_only)
        status = hac_plan_add_string(p->plan, kernels, &task->kernels, err);
    if (status == HAC_OK && p->spec->kernels && task->kernels != NULL)
        name = task->kernels;
    return status == HAC_OK ? hac_plan_add_string(p->plan, name, &task->codelet, err) : status;
}

static hac_status add_task(planning *p, const hac_op_spec *op, const placement *where, hac_error *err)
{
    hac_plan_task task = task_of(op);
    hac_plan_candidate decision = {.seconds = where->seconds, .chosen = true};
    char model[MODEL_NAME_MAX];
    hac_status status = name_codelets(p, op, where->host_only, &task, err);
    const bool beside = runs_beside(p, op, where->mask);
    if (status == HAC_OK && name_model(p, task.codelet, beside, model) != NULL)
        status = hac_plan_add_string(p->plan, model, &task.model, err);
    if (status == HAC_OK)
        status = hac_plan_add_string(p->plan, op->name, &task.stage, err);
    if (status != HAC_OK)
        return status;
    task.range = op->grain > 0;
    task.first = op->first;
    task.count = op->count;
    task.grain = op->grain;
    task.explored = plan_mask(p, where->explored);
    task.device_mask = plan_mask(p, where->mask) | task.explored;
    task.device = task.range ? -1 : lone_device(task.device_mask);
    task.repeatable = true;
    task.data = op->call;
    task.data_bytes = op->call_bytes;
    snprintf(decision.name, sizeof(decision.name), "%.90s", op->name);
    memcpy(decision.reason, where->why, sizeof(decision.reason));
    status = hac_plan_add_candidate(p->plan, &decision, err);
    return status == HAC_OK ? hac_plan_add_task(p->plan, &task, op->after, op->n_after, NULL, err) : status;
}

static hac_status place_all(planning *p, hac_error *err)
{
    for (size_t i = 0; i < p->spec->n_tasks; i++) {
        const hac_op_spec *op = &p->spec->tasks[i];
        placement where;
        double ready = 0;
        p->behind = 0;
        for (size_t a = 0; a < op->n_after; a++) {
            ready = fmax(ready, p->end[op->after[a]]);
            p->behind |= p->where[op->after[a]];
        }
        hac_status status = place(p, op, ready, &where, err);
        if (status == HAC_OK)
            status = add_task(p, op, &where, err);
        if (status != HAC_OK)
            return status;
        p->where[i] = where.mask;
        for (uint32_t d = 0; d < HAC_MACHINE_MAX_DEVICES; d++)
            if (where.mask >> d & 1) {
                p->free_at[d] = fmax(ready, p->free_at[d]) + where.seconds;
                p->end[i] = fmax(p->end[i], p->free_at[d]);
            }
    }
    return HAC_OK;
}

/* Adds all eligible devices with equal shares. compare_devices sets the shares; ranges are divided by
 * measured rates. */
static void add_devices(planning *p)
{
    unsigned n = (unsigned)__builtin_popcount(p->eligible);
    for (uint32_t d = 0; d < HAC_MACHINE_MAX_DEVICES; d++) {
        if (!(p->eligible >> d & 1))
            continue;
        hac_plan_device *device = &p->plan->devices[p->plan->n_devices];
        p->place[d] = (uint32_t)p->plan->n_devices++;
        snprintf(device->name, sizeof(device->name), "%s", p->machine->devices[d].name);
        device->machine_index = d;
        device->share = 1.0 / n;
        p->free_at[d] = p->spec->waits ? 0 : p->machine->devices[d].backlog;
    }
}

static hac_status add_buffers(planning *p, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < p->spec->n_buffers && status == HAC_OK; i++) {
        char name[16];
        uint8_t index;
        snprintf(name, sizeof(name), "vector %u", (unsigned)(i & 0xff));
        status = hac_plan_add_buffer(p->plan, name, HAC_BUFFER_SHARED, p->spec->sizes[i], &index, err);
    }
    return status;
}

/* The predicted time of a task on one of its devices alone. If the task is placed on this device alone, the
 * time is already known. */
static double price_alone(const planning *p, size_t task, size_t plan_device)
{
    const hac_plan_task *t = &p->plan->tasks[task];
    if ((t->device_mask & ~t->explored) == UINT32_C(1) << plan_device)
        return p->plan->candidates[task].seconds;
    return price(p, &p->spec->tasks[task], p->plan->devices[plan_device].machine_index, false, NULL);
}

/* Sets each device's share of the graph's work, and k, from the prices of the tasks. */
static void compare_devices(planning *p)
{
    double rate[HAC_MACHINE_MAX_DEVICES] = {0}, sum = 0;
    for (size_t i = 0; i < p->spec->n_tasks; i++)
        for (size_t d = 0; d < p->plan->n_devices; d++)
            if ((p->plan->tasks[i].device_mask & ~p->plan->tasks[i].explored) >> d & 1)
                rate[d] += p->spec->tasks[i].units / fmax(price_alone(p, i, d), 1e-9);
    for (size_t d = 0; d < p->plan->n_devices; d++)
        sum += rate[d];
    double first = 0, second = 0;
    for (size_t d = 0; d < p->plan->n_devices; d++) {
        p->plan->devices[d].capability = rate[d];
        if (sum > 0) /* 0: the client gave no amounts of work */
            p->plan->devices[d].share = rate[d] / sum;
        second = rate[d] > first ? first : fmax(second, rate[d]);
        first = fmax(first, rate[d]);
    }
    p->plan->k = first > 0 ? second / first : 0;
    p->plan->k_source = p->machine->simulated ? "profile" : "model";
}

/* Fails if a task writes what the same or an earlier task reads: a job that is restarted must find its
 * vectors unchanged. */
static hac_status check_order(const hac_ops_spec *spec, hac_error *err)
{
    for (size_t w = 0; w < spec->n_tasks; w++)
        for (size_t s = 0; s < spec->tasks[w].n_spans; s++) {
            const hac_plan_span *written = &spec->tasks[w].spans[s];
            for (size_t r = 0; (written->access & HAC_WRITE) && r <= w; r++)
                for (size_t t = 0; t < spec->tasks[r].n_spans; t++) {
                    const hac_plan_span *read = &spec->tasks[r].spans[t];
                    if ((r != w || s != t) && read->buffer == written->buffer && (read->access & HAC_READ) &&
                        read->touch_first < written->touch_end && written->touch_first < read->touch_end)
                        return hac_fail(err, HAC_INVALID, "%s writes over what %s reads", spec->tasks[w].name,
                                        r == w ? "it" : spec->tasks[r].name);
                }
        }
    return HAC_OK;
}

static hac_status check_spans(const hac_ops_spec *spec, hac_error *err)
{
    for (size_t i = 0; i < spec->n_tasks; i++)
        for (size_t s = 0; s < spec->tasks[i].n_spans; s++) {
            const hac_plan_span *span = &spec->tasks[i].spans[s];
            if (span->buffer >= spec->n_buffers || span->bytes > spec->sizes[span->buffer] ||
                span->offset > spec->sizes[span->buffer] - span->bytes)
                return hac_fail(err, HAC_INVALID, "%s: span %zu lies outside its buffer", spec->tasks[i].name,
                                s);
        }
    return check_order(spec, err);
}

static hac_status make(planning *p, hac_error *err)
{
    hac_simulation simulation;
    hac_status status = hac_plan_new(HAC_FLOW_OPSPLIT, &p->plan, err);
    if (status != HAC_OK)
        return status;
    p->plan->result_buffer = -1;
    p->plan->ahead = true;
    add_devices(p);
    status = add_buffers(p, err);
    if (status == HAC_OK && (p->eligible & (p->eligible - 1)) != 0)
        status = find_others(p, err);
    if (status == HAC_OK)
        status = place_all(p, err);
    if (status != HAC_OK)
        return status;
    compare_devices(p);
    status = hac_plan_simulate(p->plan, p->machine, &simulation, err);
    if (status == HAC_OK)
        p->plan->predicted_seconds = simulation.seconds;
    if (status != HAC_OK || (status = hac_plan_check(p->plan, err)) == HAC_OK)
        return status;
    if (err != NULL && status == HAC_INTERNAL)
        err->code = status = HAC_INVALID; /* the graph is the client's */
    return status;
}

hac_status hac_plan_ops(const hac_machine *machine, const hac_ops_spec *spec, hac_plan **ret, hac_error *err)
{
    planning p = {.machine = machine, .spec = spec};
    hac_status status = check_spans(spec, err);
    if (status == HAC_OK)
        status = hac_device_set_eligible(machine, spec->device_mask, "these sub-operators", &p.eligible, err);
    if (status != HAC_OK)
        return status;
    p.end = calloc(spec->n_tasks + 1, sizeof(*p.end));
    p.others = calloc(spec->n_tasks + 1, sizeof(*p.others));
    p.where = calloc(spec->n_tasks + 1, sizeof(*p.where));
    status = p.end == NULL || p.others == NULL || p.where == NULL ? hac_fail_no_memory(err) : make(&p, err);
    free(p.end);
    free(p.others);
    free(p.where);
    if (status != HAC_OK) {
        hac_plan_free(p.plan);
        return status;
    }
    *ret = p.plan;
    return HAC_OK;
}
