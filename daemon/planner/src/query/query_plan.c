/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses how a query runs: each engine is built, simulated and listed with its price; the cheapest
 * that is possible and allowed is the plan.
 */
#include "planner/query_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/query_layout.h"
#include "base/split_layout.h"
#include "plan/simulate.h"
#include "query_build.h"

#define MORE_DEVICES 1.05 /* another device has to win by more than the waits between them */

typedef struct query_planning {
    const hac_machine *machine;
    const hac_query_spec *spec;
    hac_query_sizes sizes;
    uint32_t eligible[HAC_MACHINE_MAX_DEVICES];
    size_t n_eligible;
    hac_plan *best;
    hac_query_strategy strategy; /* of `best` */
    hac_device_set set;          /* that `best` runs on */
    hac_device_set host;         /* that run its host codelets */
    hac_candidates candidates;
    size_t chosen;
    double best_price;
} query_planning;

static hac_status check_spec(const hac_query_spec *spec, hac_error *err)
{
    if (spec->n_sources == 0 || spec->n_sources > HAC_DESCRIPTORS_MAX)
        return hac_fail(err, HAC_INVALID, "query: %zu sources; 1 to %d are possible", spec->n_sources,
                        HAC_DESCRIPTORS_MAX);
    bool several = spec->place == HAC_QUERY_IN_FILES || spec->place == HAC_QUERY_IN_SPLITS;
    if (!several && spec->n_sources > 1)
        return hac_fail(err, HAC_INVALID, "query: only files can be more than one source");
    uint64_t sum = 0;
    for (size_t i = 0; i < spec->n_sources; i++)
        if (__builtin_add_overflow(sum, spec->sources[i], &sum) || sum > INT64_MAX / 64)
            return hac_fail(err, HAC_INVALID, "query: its sources are larger than can be");
    return HAC_OK;
}

static hac_status find_eligible(query_planning *p, hac_error *err)
{
    uint32_t mask;
    hac_status status = hac_device_set_eligible(p->machine, p->spec->device_mask, "this query", &mask, err);
    for (; status == HAC_OK && mask != 0; mask &= mask - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(mask);
        p->eligible[p->n_eligible++] = d;
        status =
            hac_machine_needs_capability(p->machine, d, "mapreduce", HAC_TYPE_NONE, " (bytes a second)", err);
    }
    return status;
}

static bool is_cpu(const hac_machine *machine, uint32_t index)
{
    return machine->devices[index].kind == HAC_DEVICE_KIND_CPU;
}

/* ---- what kernels can do ---- */

static const char *why_host(uint64_t flags)
{
    if (flags & HAC_COMPILED_STATISTICS)
        return "the statistics of Parquet files may hold the answer, and host codelets look there first";
    if (flags & HAC_COMPILED_HOST_AGGREGATE)
        return "an aggregate is none of count, sum, avg, min and max of numbers of up to 64 bits";
    return flags & HAC_COMPILED_HOST_FUNCTION
               ? "it has a function whose last bits differ from device to device, as exp, sin or pow"
               : "it works on texts, or has decimals of more than 18 digits";
}

/* Why no device can aggregate; NULL: some can. */
static const char *why_not_device(const hac_query_spec *spec)
{
    if (spec->engine == HAC_ENGINE_HOST)
        return "the host engine was asked for";
    if (spec->refusal[0] != '\0')
        return spec->refusal;
    if (!(spec->flags & HAC_COMPILED_FITS_DEVICE))
        return why_host(spec->flags);
    return NULL;
}

/* Why they cannot on this device. */
static const char *why_not_on(const hac_query_spec *spec, const hac_machine_device *device)
{
    if ((spec->flags & HAC_COMPILED_NEEDS_F64) && device->lacks_f64)
        return "it has no f64";
    if (!device->simt)
        return device->max_loop_iterations != 0 ? "it ends long loops early" : NULL;
    if ((spec->flags & HAC_COMPILED_NEEDS_ATOMICS) && device->lacks_int64_atomics)
        return "it has no 64-bit atomics";
    return NULL;
}

/* ---- device sets ---- */

/* Bytes a second of one device at this query's aggregation. */
static double capability(const query_planning *p, hac_query_strategy strategy, uint32_t index,
                         hac_price_source *ret)
{
    static const char KERNELS[] = "hash.aggregate";
    hac_plan_task task = {
        .codelet = hac_query_codelet(p->spec, strategy), .units = (double)hac_query_work(p->spec), .part = 1};
    if (task.units < 1)
        task.units = 1;
    char model[64], kernels[64], narrower[HAC_NARROWER_MODELS][HAC_QUERY_NARROWER_MAX];
    hac_query_model(p->spec, task.codelet, model, sizeof(model));
    hac_query_model(p->spec, KERNELS, kernels, sizeof(kernels));
    task.model = model;
    for (size_t i = 0; i < HAC_NARROWER_MODELS; i++)
        if (hac_query_narrower(p->spec, task.codelet, i, narrower[i]))
            task.narrower[i] = narrower[i];
    if (strategy == HAC_QUERY_MIXED) {
        task.kernels = KERNELS;
        task.kernels_model = kernels;
    }
    double seconds = hac_price_task(p->machine, index, p->spec->bytes, &task, 1, false, ret);
    return task.units / fmax(seconds, 1e-9);
}

static bool can_work(const query_planning *p, hac_query_strategy strategy, uint32_t index, bool any_cpu)
{
    bool cpu = is_cpu(p->machine, index);
    if (strategy == HAC_QUERY_DEVICE || (strategy == HAC_QUERY_MIXED && !cpu))
        return why_not_on(p->spec, &p->machine->devices[index]) == NULL;
    return cpu || !any_cpu;
}

/* The devices that may work together on it, strongest first: of a group that shares cores only the best. Host
 * codelets run beside kernels on CPUs; where there is none, on all. */
static void make_set(const query_planning *p, hac_query_strategy strategy, hac_device_set *ret)
{
    bool any_cpu = false;
    for (size_t i = 0; i < p->n_eligible; i++)
        any_cpu |= is_cpu(p->machine, p->eligible[i]);
    uint32_t index[HAC_MACHINE_MAX_DEVICES];
    double rate[HAC_MACHINE_MAX_DEVICES];
    size_t n = 0;
    for (size_t i = 0; i < p->n_eligible; i++) {
        if (!can_work(p, strategy, p->eligible[i], any_cpu))
            continue;
        index[n] = p->eligible[i];
        rate[n] = capability(p, strategy, index[n], NULL);
        n++;
    }
    hac_device_set_form(p->machine, index, rate, n, ret);
}

/* ---- candidates ---- */

static void name_candidate(const query_planning *p, hac_query_strategy strategy, const hac_device_set *set,
                           char *name, size_t capacity)
{
    static const char *const names[] = {"one task", "rows", "host", "device", "host and device"};
    hac_device_set_name(p->machine, set, strategy == HAC_QUERY_WHOLE, name, capacity,
                        snprintf(name, capacity, "%s", names[strategy]));
}

/* Whether the device is to aggregate even if the host is faster. */
static bool wants_device(const hac_query_spec *spec)
{
    return spec->engine == HAC_ENGINE_DEVICE ||
           (spec->engine == HAC_ENGINE_AUTO && spec->hot_keys == HAC_HOT_KEYS_ON);
}

static hac_status build(const query_planning *p, hac_query_strategy strategy, const hac_device_set *set,
                        const hac_device_set *host, hac_plan **ret, hac_error *err)
{
    bool round = p->spec->round.stage != HAC_ROUND_NONE;
    return (round ? hac_query_build_round : hac_query_build)(p->machine, p->spec, &p->sizes, strategy, set,
                                                             host, ret, err);
}

/* Whether the price of one of the devices is only an assumption. What comes after the aggregation does not
 * count: it is the same for every engine. */
static bool is_guess(const query_planning *p, hac_query_strategy strategy, const hac_device_set *set)
{
    bool guess = false;
    for (size_t d = 0; d < set->n && !p->machine->simulated; d++) {
        hac_price_source source;
        (void)capability(p, strategy, set->machine_index[d], &source);
        guess |= source == HAC_PRICE_ASSUMED;
    }
    return guess;
}

/* Builds and simulates a plan with `host` for the host codelets. */
static hac_status price(const query_planning *p, hac_query_strategy strategy, const hac_device_set *set,
                        const hac_device_set *host, hac_plan **ret, hac_error *err)
{
    hac_cleanup(hac_plan_free_cleanup) hac_plan *plan = NULL;
    hac_simulation simulation;
    hac_status status = build(p, strategy, set, host, &plan, err);
    if (status == HAC_OK)
        status = hac_plan_simulate(plan, p->machine, &simulation, err);
    if (status != HAC_OK)
        return status;
    plan->predicted_seconds = simulation.seconds;
    *ret = hac_steal_ptr(plan);
    return HAC_OK;
}

static bool has_cpus(const query_planning *p, const hac_device_set *set)
{
    bool any = false;
    for (size_t d = 0; d < set->n; d++)
        any |= is_cpu(p->machine, set->machine_index[d]);
    return any;
}

/* Whether the devices are CPUs that host codelets may leave for executors of other devices (price.h). */
static bool are_slow_hosts(const query_planning *p, const hac_device_set *set)
{
    bool slow = !p->machine->simulated;
    for (size_t d = 0; d < set->n; d++)
        slow &= is_cpu(p->machine, set->machine_index[d]) &&
                hac_price_is_slow_host(&p->machine->devices[set->machine_index[d]]);
    return slow;
}

/* Whether a plan with host codelets elsewhere is taken instead of one on the CPUs that takes `seconds`. */
static bool wins_elsewhere(const hac_plan *plan, double seconds)
{
    return plan->predicted_seconds * HAC_ELSEWHERE_GAIN < seconds;
}

/* Builds a plan, with host codelets on the CPUs, or in the executors of `set` if that is faster. */
static hac_status price_best(const query_planning *p, hac_query_strategy strategy, const hac_device_set *set,
                             hac_plan **ret, hac_device_set *ret_host, hac_error *err)
{
    hac_cleanup(hac_plan_free_cleanup) hac_plan *plan = NULL, *other = NULL;
    make_set(p, HAC_QUERY_HOST, ret_host);
    hac_status status = price(p, strategy, set, ret_host, &plan, err);
    bool is_choice = strategy == HAC_QUERY_DEVICE && are_slow_hosts(p, ret_host) && !has_cpus(p, set);
    if (status == HAC_OK && is_choice)
        status = price(p, strategy, set, set, &other, err);
    if (status != HAC_OK)
        return status;
    bool elsewhere = other != NULL && wins_elsewhere(other, plan->predicted_seconds);
    if (elsewhere)
        *ret_host = *set;
    *ret = elsewhere ? hac_steal_ptr(other) : hac_steal_ptr(plan);
    return HAC_OK;
}

/* Builds and prices one strategy, lists it, and keeps its plan if it is the cheapest so far of those allowed.
 */
static hac_status consider(query_planning *p, hac_query_strategy strategy, const hac_device_set *set,
                           hac_error *err)
{
    hac_plan_candidate *c = hac_candidates_add(&p->candidates, err);
    if (c == NULL)
        return HAC_NO_MEMORY;
    hac_cleanup(hac_plan_free_cleanup) hac_plan *plan = NULL;
    name_candidate(p, strategy, set, c->name, sizeof(c->name));
    hac_device_set host;
    hac_status status = price_best(p, strategy, set, &plan, &host, err);
    if (status != HAC_OK)
        return status;
    c->seconds = plan->predicted_seconds;
    bool device = strategy == HAC_QUERY_DEVICE || strategy == HAC_QUERY_MIXED;
    c->by_kernels = strategy == HAC_QUERY_DEVICE;
    if (wants_device(p->spec) && !device && p->best != NULL &&
        p->best->query.engine == HAC_PLAN_ENGINE_DEVICE) {
        snprintf(c->reason, sizeof(c->reason), "%s",
                 p->spec->engine == HAC_ENGINE_DEVICE ? "the device engine was asked for"
                                                      : "hot keys were asked for");
        c->cause = HAC_CAUSE_NOT_ASKED;
        return HAC_OK;
    }
    if (device && !wants_device(p->spec) && p->best != NULL && is_guess(p, strategy, set)) {
        snprintf(c->reason, sizeof(c->reason), "a guess: not measured on this machine yet");
        return HAC_OK;
    }
    double price = set->n > 1 && !p->machine->simulated ? c->seconds * MORE_DEVICES : c->seconds;
    c->chosen = true; /* it may be */
    if (p->best == NULL || price < p->best_price) {
        hac_plan_free(p->best);
        p->best = hac_steal_ptr(plan);
        p->best_price = c->seconds;
        p->strategy = strategy;
        p->set = *set;
        p->host = host;
        p->chosen = p->candidates.n - 1;
    }
    return HAC_OK;
}

static hac_status consider_set(query_planning *p, hac_query_strategy strategy, hac_error *err)
{
    hac_device_set set;
    make_set(p, strategy, &set);
    hac_status status = HAC_OK;
    for (size_t d = 0; d < set.n && status == HAC_OK; d++) {
        hac_device_set one = {.n = 1};
        one.machine_index[0] = set.machine_index[d];
        one.capability[0] = set.capability[d];
        status = consider(p, strategy, &one, err);
    }
    if (status == HAC_OK && set.n > 1)
        status = consider(p, strategy, &set, err);
    return status;
}

/* Other devices' executors, for host codelets: those that win against the CPUs. */
static hac_status consider_elsewhere(query_planning *p, hac_query_strategy strategy, hac_error *err)
{
    hac_status status = HAC_OK;
    bool slow = are_slow_hosts(p, &p->set);
    for (size_t i = 0; i < p->n_eligible && slow && status == HAC_OK; i++) {
        hac_cleanup(hac_plan_free_cleanup) hac_plan *plan = NULL;
        hac_device_set set = {.n = 1, .machine_index = {p->eligible[i]}};
        if (is_cpu(p->machine, p->eligible[i]))
            continue;
        set.capability[0] = capability(p, strategy, p->eligible[i], NULL);
        status = price(p, strategy, &set, &set, &plan, err);
        if (status == HAC_OK && wins_elsewhere(plan, p->best_price))
            status = consider(p, strategy, &set, err);
    }
    return status;
}

/* ---- the choice ---- */

static void give_reason(hac_plan_candidate *c, bool chosen, size_t choices, bool alone, double best)
{
    if (chosen)
        snprintf(c->reason, sizeof(c->reason), "%s",
                 choices > 1 ? "the fastest that is known"
                 : alone     ? "the only candidate"
                             : "the only one of these that may be taken");
    else if (c->chosen && best > 0)
        snprintf(c->reason, sizeof(c->reason), "%.2f times as long", c->seconds / best);
    c->chosen = chosen;
}

static hac_status explain(query_planning *p, hac_error *err)
{
    size_t choices = 0;
    double best = p->candidates.list[p->chosen].seconds;
    for (size_t i = 0; i < p->candidates.n; i++)
        choices += p->candidates.list[i].chosen;
    for (size_t i = 0; i < p->candidates.n; i++) {
        give_reason(&p->candidates.list[i], i == p->chosen, choices, p->candidates.n == 1, best);
        hac_status status = hac_plan_add_candidate(p->best, &p->candidates.list[i], err);
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}

/* How the two strongest devices compare at what was chosen, and where that comes from. */
static void compare(query_planning *p, hac_query_strategy strategy)
{
    hac_device_set set;
    make_set(p, strategy, &set);
    hac_price_source weakest = HAC_PRICE_PROFILE;
    static const char *const names[] = {"probe", "model", "model", "profile"};
    for (size_t d = 0; d < set.n && d < 2; d++) {
        hac_price_source source;
        (void)capability(p, strategy, set.machine_index[d], &source);
        weakest = source < weakest ? source : weakest;
    }
    p->best->k = set.n > 1 ? set.capability[1] / set.capability[0] : 0;
    /* what nothing is known of is assumed: the first runs are the probe */
    p->best->k_source = names[weakest];
}

/* `device`: of the machine; NULL: on none. */
static hac_status leave_out(query_planning *p, const hac_machine_device *device, const char *why,
                            hac_error *err)
{
    hac_plan_candidate *c = hac_candidates_add(&p->candidates, err);
    if (c == NULL)
        return HAC_NO_MEMORY;
    snprintf(c->name, sizeof(c->name), "device%s%s", device != NULL ? " on " : "",
             device != NULL ? device->name : "");
    snprintf(c->reason, sizeof(c->reason), "%s", why);
    c->by_kernels = true;
    c->cause = p->spec->engine == HAC_ENGINE_HOST ? HAC_CAUSE_NOT_ASKED : HAC_CAUSE_CANNOT;
    return HAC_OK;
}

static hac_status consider_device(query_planning *p, hac_error *err)
{
    const char *why = why_not_device(p->spec);
    if (why != NULL)
        return leave_out(p, NULL, why, err);
    hac_status status = consider_set(p, HAC_QUERY_DEVICE, err);
    for (size_t i = 0; i < p->n_eligible && status == HAC_OK; i++) {
        const hac_machine_device *device = &p->machine->devices[p->eligible[i]];
        if ((why = why_not_on(p->spec, device)) != NULL)
            status = leave_out(p, device, why, err);
    }
    return status;
}

/* Why no device's kernels run it; NULL: some can. */
static const char *why_nowhere(const query_planning *p)
{
    const char *why = why_not_device(p->spec);
    if (why != NULL)
        return why;
    for (size_t i = 0; i < p->n_eligible; i++)
        if ((why = why_not_on(p->spec, &p->machine->devices[p->eligible[i]])) == NULL)
            break;
    return why;
}

/* The first of the devices where none of them is a CPU: whoever chose these means their kernels. */
static const char *accelerator(const query_planning *p)
{
    for (size_t i = 0; i < p->n_eligible; i++)
        if (is_cpu(p->machine, p->eligible[i]))
            return NULL;
    return p->machine->devices[p->eligible[0]].name;
}

/* What was asked for and is not done. */
static void remark(query_planning *p, hac_query_strategy strategy)
{
    const hac_query_spec *spec = p->spec;
    hac_query_info *query = &p->best->query;
    const char *device = accelerator(p);
    const char *what = spec->engine == HAC_ENGINE_DEVICE ? "the device engine was asked for and cannot run it"
                       : spec->hot_keys == HAC_HOT_KEYS_ON
                           ? "hot keys have no effect, the device does not aggregate"
                           : NULL;
    const char *why = strategy == HAC_QUERY_WHOLE  ? "the input is small, one task does it all"
                      : strategy == HAC_QUERY_ROWS ? "nothing is aggregated"
                                                   : why_nowhere(p);
    if (what != NULL && why != NULL)
        snprintf(query->remark, sizeof(query->remark), "%s: %s", what, why);
    else if (device != NULL && why != NULL && strategy == HAC_QUERY_HOST && spec->engine != HAC_ENGINE_HOST)
        snprintf(query->remark, sizeof(query->remark), "%s's kernels do not run it, host codelets do: %s",
                 device, why);
}

/* CPUs beside other devices, each with its own codelet. */
static hac_status consider_mixed(query_planning *p, hac_error *err)
{
    hac_device_set set;
    size_t cpus = 0;
    make_set(p, HAC_QUERY_MIXED, &set);
    for (size_t d = 0; d < set.n; d++)
        cpus += is_cpu(p->machine, set.machine_index[d]);
    if (why_not_device(p->spec) != NULL || cpus == 0 || cpus == set.n)
        return HAC_OK;
    return consider(p, HAC_QUERY_MIXED, &set, err);
}

/* ---- devices that are not known yet ---- */

static bool shares_cores(const query_planning *p, uint32_t index)
{
    const char *group = p->machine->devices[index].group;
    for (size_t d = 0; d < p->set.n + p->set.n_explored; d++) {
        uint32_t other = p->set.machine_index[d];
        if (other == index || (group[0] != '\0' && strcmp(p->machine->devices[other].group, group) == 0))
            return true;
    }
    return false;
}

/* Adds to the plan's devices those that could aggregate, but whose speed at it is not known, to measure each
 * with a piece. */
static void find_unknown(query_planning *p, hac_query_strategy strategy)
{
    hac_device_set *set = &p->set;
    for (size_t i = 0; i < p->n_eligible && set->n + set->n_explored < HAC_DEVICES_MAX; i++) {
        uint32_t index = p->eligible[i];
        hac_price_source source = HAC_PRICE_PROFILE;
        if (shares_cores(p, index) || !can_work(p, strategy, index, true) ||
            (!is_cpu(p->machine, index) && why_not_device(p->spec) != NULL))
            continue;
        double rate = capability(p, strategy, index, &source);
        if (!hac_price_is_unsure(source))
            continue;
        set->machine_index[set->n + set->n_explored] = index;
        set->capability[set->n + set->n_explored++] = rate;
    }
}

/* Whether the chosen plan runs kernels where a mixed plan would run host codelets. */
static bool has_kernels_on_cpus(const query_planning *p)
{
    for (size_t d = 0; d < p->set.n && p->strategy == HAC_QUERY_DEVICE; d++)
        if (is_cpu(p->machine, p->set.machine_index[d]))
            return true;
    return false;
}

/* Whether the chosen plan runs without kernels in another device's executor, although there are CPUs. */
static bool is_elsewhere(const query_planning *p)
{
    return p->strategy < HAC_QUERY_DEVICE && !has_cpus(p, &p->set) && accelerator(p) == NULL;
}

/* Builds the chosen plan again, with the devices that it measures. */
static hac_status explore(query_planning *p, hac_error *err)
{
    hac_cleanup(hac_plan_free_cleanup) hac_plan *plan = NULL;
    bool as_chosen = p->strategy == HAC_QUERY_ROWS || is_elsewhere(p);
    hac_query_strategy strategy = as_chosen ? p->strategy : HAC_QUERY_MIXED;
    bool asked = p->spec->engine != HAC_ENGINE_AUTO || wants_device(p->spec);
    if (asked || p->machine->simulated || p->strategy == HAC_QUERY_WHOLE || has_kernels_on_cpus(p))
        return HAC_OK;
    find_unknown(p, strategy);
    if (p->set.n_explored == 0)
        return HAC_OK;
    hac_status status = price(p, strategy, &p->set, &p->host, &plan, err);
    if (status != HAC_OK)
        return status;
    hac_plan_free(p->best);
    p->best = hac_steal_ptr(plan);
    return HAC_OK;
}

static hac_status plan_all(query_planning *p, hac_error *err)
{
    bool aggregates = (p->spec->flags & HAC_COMPILED_AGGREGATES) != 0;
    hac_query_strategy strategy = hac_query_is_whole(p->spec) ? HAC_QUERY_WHOLE
                                  : aggregates                ? HAC_QUERY_HOST
                                                              : HAC_QUERY_ROWS;
    hac_status status = HAC_OK;
    bool device = strategy == HAC_QUERY_HOST;
    /* what was asked for comes first: the others are listed, but not taken */
    if (device && wants_device(p->spec))
        status = consider_device(p, err);
    if (status == HAC_OK)
        status = strategy == HAC_QUERY_WHOLE ? HAC_OK : consider_set(p, strategy, err);
    if (status == HAC_OK && strategy == HAC_QUERY_WHOLE) {
        hac_device_set set;
        make_set(p, strategy, &set);
        status = consider(p, strategy, &set, err);
    }
    if (status == HAC_OK)
        status = consider_elsewhere(p, strategy, err);
    if (status == HAC_OK && device && !wants_device(p->spec))
        status = consider_device(p, err);
    if (status == HAC_OK && device)
        status = consider_mixed(p, err);
    if (status == HAC_OK)
        status = explore(p, err);
    if (status != HAC_OK)
        return status;
    if (p->strategy < HAC_QUERY_DEVICE)
        remark(p, strategy);
    compare(p, p->strategy);
    return explain(p, err);
}

static hac_status prepare(query_planning *p, hac_error *err)
{
    hac_status status = check_spec(p->spec, err);
    return status == HAC_OK ? find_eligible(p, err) : status;
}

hac_status hac_plan_query(const hac_machine *machine, const hac_query_spec *spec, hac_plan **ret,
                          hac_error *err)
{
    query_planning p = {.machine = machine, .spec = spec};
    hac_status status = prepare(&p, err);
    if (status == HAC_OK && !hac_query_is_whole(spec))
        status = hac_query_size(spec, machine, p.eligible, p.n_eligible, &p.sizes, err);
    if (status == HAC_OK)
        status = plan_all(&p, err);
    free(p.candidates.list);
    if (status != HAC_OK) {
        hac_plan_free(p.best);
        return status;
    }
    *ret = p.best;
    return HAC_OK;
}

/* A round of host codelets alone: on the CPUs, or in another device's executor. */
static hac_status plan_round(query_planning *p, hac_plan **ret, hac_error *err)
{
    hac_cleanup(hac_plan_free_cleanup) hac_plan *plan = NULL;
    hac_device_set set;
    make_set(p, HAC_QUERY_HOST, &set);
    hac_status status = price(p, HAC_QUERY_HOST, &set, &set, &plan, err);
    bool slow = are_slow_hosts(p, &set);
    for (size_t i = 0; i < p->n_eligible && slow && status == HAC_OK; i++) {
        hac_cleanup(hac_plan_free_cleanup) hac_plan *other = NULL;
        if (is_cpu(p->machine, p->eligible[i]))
            continue;
        const hac_device_set one = {.n = 1, .machine_index = {p->eligible[i]}, .capability = {1}};
        status = price(p, HAC_QUERY_HOST, &one, &one, &other, err);
        if (status == HAC_OK && wins_elsewhere(other, plan->predicted_seconds)) {
            hac_plan_free(plan);
            plan = hac_steal_ptr(other);
        }
    }
    if (status == HAC_OK)
        *ret = hac_steal_ptr(plan);
    return status;
}

hac_status hac_plan_query_round(const hac_machine *machine, const hac_query_spec *spec, hac_plan **ret,
                                hac_error *err)
{
    query_planning p = {.machine = machine, .spec = spec};
    hac_round_stage stage = spec->round.stage;
    hac_status status = prepare(&p, err);
    if (status != HAC_OK)
        return status;
    hac_query_round_sizes(spec, hac_query_threads(machine, p.eligible, p.n_eligible), &p.sizes);
    if (stage != HAC_ROUND_AGGREGATE && stage != HAC_ROUND_ROWS)
        status = plan_round(&p, &p.best, err);
    else
        status = plan_all(&p, err);
    free(p.candidates.list);
    if (status != HAC_OK) {
        hac_plan_free(p.best);
        return status;
    }
    p.best->flow = HAC_FLOW_SPLICE;
    *ret = p.best;
    return HAC_OK;
}

/* A split in the middle of the stream. */
static hac_status guess_round(const hac_query_spec *spec, uint64_t split, hac_query_spec *ret, hac_error *err)
{
    uint64_t sets = (split + HAC_SPLIT_SET_BYTES - 1) / HAC_SPLIT_SET_BYTES;
    *ret = *spec;
    ret->place = HAC_QUERY_IN_SPLITS;
    ret->n_sources = 1;
    ret->bytes = ret->sources[0] = split;
    ret->round = (hac_query_round){.sets = {(uint32_t)sets}, .generation = 1};
    ret->round.set_bytes = split < HAC_SPLIT_SET_BYTES ? split : HAC_SPLIT_SET_BYTES;
    ret->round.stage = (spec->flags & HAC_COMPILED_AGGREGATES) != 0 ? HAC_ROUND_AGGREGATE : HAC_ROUND_ROWS;
    const hac_round_memory memory = {.sets = sets, .set_bytes = ret->round.set_bytes};
    return hac_round_fit(ret, &memory, err);
}

hac_status hac_plan_query_splits(const hac_machine *machine, const hac_query_spec *spec, hac_plan **ret,
                                 hac_error *err)
{
    const uint64_t max = hac_plan_split_bytes(machine, spec->device_mask);
    uint64_t split = spec->bytes == 0 ? 1 : spec->bytes < max ? spec->bytes : max;
    hac_query_spec round;
    hac_plan *plan = NULL;
    hac_status status = guess_round(spec, split, &round, err);
    if (status == HAC_OK)
        status = hac_plan_query_round(machine, &round, &plan, err);
    if (status != HAC_OK)
        return status;
    double rounds = fmax(1, (double)spec->bytes / (double)split);
    plan->predicted_seconds *= rounds;
    for (size_t i = 0; i < plan->n_candidates; i++)
        plan->candidates[i].seconds *= plan->candidates[i].seconds > 0 ? rounds : 1;
    plan->query.bytes = spec->bytes;
    plan->query.splits = (uint64_t)ceil(rounds);
    *ret = plan;
    return HAC_OK;
}

hac_status hac_plan_query_footers(const hac_machine *machine, const hac_query_spec *spec, hac_plan **ret,
                                  hac_error *err)
{
    query_planning p = {.machine = machine, .spec = spec};
    hac_cleanup(hac_plan_free_cleanup) hac_plan *plan = NULL;
    hac_device_set set;
    hac_simulation simulation;
    hac_status status = prepare(&p, err);
    if (status != HAC_OK)
        return status;
    make_set(&p, HAC_QUERY_WHOLE, &set);
    status = hac_query_build_footers(machine, spec, &set, &plan, err);
    if (status == HAC_OK)
        status = hac_plan_simulate(plan, machine, &simulation, err);
    if (status != HAC_OK)
        return status;
    plan->predicted_seconds = simulation.seconds;
    *ret = hac_steal_ptr(plan);
    return HAC_OK;
}
