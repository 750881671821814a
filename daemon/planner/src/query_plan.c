/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses how a query runs: each way to aggregate is built, simulated and listed with its price; the cheapest
 * that is possible and allowed is the plan.
 */
#include "planner/query_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/query_layout.h"
#include "base/split_layout.h"
#include "query_build.h"
#include "simulate.h"

#define LEARNT_PART  0.9  /* of a price that must come from models for it to be no guess */
#define MORE_DEVICES 1.05 /* another device has to win by more than the waits between them */

typedef struct planning {
    const hac_machine *machine;
    const hac_query_spec *spec;
    hac_query_sizes sizes;
    uint32_t eligible[HAC_MACHINE_MAX_DEVICES];
    size_t n_eligible;
    hac_plan *best;
    hac_candidates candidates;
    size_t chosen;
    double best_price;
} planning;

static hac_status check_spec(const hac_query_spec *spec, hac_error *err)
{
    if (spec->n_sources == 0 || spec->n_sources > HAC_QUERY_SOURCES_MAX)
        return hac_fail(err, HAC_INVALID, "query: %zu sources; 1 to %d are possible", spec->n_sources,
                        HAC_QUERY_SOURCES_MAX);
    bool several = spec->place == HAC_QUERY_IN_FILES || spec->place == HAC_QUERY_IN_SPLITS;
    if (!several && spec->n_sources > 1)
        return hac_fail(err, HAC_INVALID, "query: only files can be more than one source");
    uint64_t sum = 0;
    for (size_t i = 0; i < spec->n_sources; i++)
        if (__builtin_add_overflow(sum, spec->sources[i], &sum) || sum > INT64_MAX / 64)
            return hac_fail(err, HAC_INVALID, "query: its sources are larger than can be");
    return HAC_OK;
}

static hac_status find_eligible(planning *p, hac_error *err)
{
    const hac_machine *machine = p->machine;
    for (uint32_t d = 0; d < machine->n_devices && d < HAC_MACHINE_MAX_DEVICES; d++) {
        const hac_machine_device *device = &machine->devices[d];
        if (!device->usable || (p->spec->device_mask != 0 && !(p->spec->device_mask >> d & 1)))
            continue;
        if (machine->simulated && !(hac_machine_capability(device, "mapreduce", HAC_TYPE_NONE) > 0))
            return hac_fail(
                err, HAC_INVALID,
                "profile %s has no capability \"mapreduce.none\" (bytes a second), which this job "
                "needs",
                device->name);
        p->eligible[p->n_eligible++] = d;
    }
    if (p->n_eligible == 0)
        return hac_fail(err, HAC_FAILED, "no usable device for this query");
    return HAC_OK;
}

static bool is_cpu(const hac_machine *machine, uint32_t index)
{
    return strcmp(machine->devices[index].kind, "cpu") == 0;
}

/* ---- what kernels can do ---- */

static const char *why_host(uint64_t flags)
{
    if (flags & HAC_COMPILED_HOST_AGGREGATE)
        return "an aggregate is none of count, sum, avg, min and max of numbers of up to 64 bits";
    return flags & HAC_COMPILED_HOST_FUNCTION
               ? "it has a function whose last bits differ from device to device, as exp, sin or pow"
               : "it works on texts, or has decimals of more than 18 digits";
}

/* Why flow C's kernels cannot run it anywhere; NULL: some can. */
static const char *why_not_device(const hac_query_spec *spec)
{
    if (spec->wish == HAC_QUERY_BY_HOST)
        return "host codelets were asked for";
    if (spec->refusal[0] != '\0')
        return spec->refusal;
    if (!(spec->flags & HAC_COMPILED_FITS_DEVICE))
        return why_host(spec->flags);
    return NULL;
}

/* Why they cannot on this device, or may not. Tables of the block style take the rows in their order. */
static const char *why_not_on(const hac_query_spec *spec, const hac_machine_device *device)
{
    if ((spec->flags & HAC_COMPILED_NEEDS_F64) && device->lacks_f64)
        return "it has no f64";
    if (!device->simt)
        return device->max_loop_iterations != 0 ? "it ends long loops early" : NULL;
    if ((spec->flags & HAC_COMPILED_ORDER_MATTERS) && !spec->fast)
        return "sums depend on the order of the rows, which it does not keep; determinism is exact";
    if ((spec->flags & HAC_COMPILED_NEEDS_ATOMICS) && device->lacks_int64_atomics)
        return "it has no 64-bit atomics";
    return NULL;
}

/* ---- teams ---- */

/* Bytes a second of one device at this query's aggregation. */
static double capability(const planning *p, hac_query_way way, uint32_t index, hac_price_source *ret)
{
    hac_plan_task task = {
        .codelet = hac_query_codelet(p->spec, way), .units = (double)p->spec->bytes, .part = 1};
    if (task.units < 1)
        task.units = 1;
    char model[64];
    hac_query_model(p->spec, task.codelet, model, sizeof(model));
    task.model = model;
    double seconds = hac_price_task(p->machine, index, p->spec->bytes, &task, 1, false, ret);
    return task.units / fmax(seconds, 1e-9);
}

/* The devices that may work together on it, strongest first: of a group that shares cores only the best. Host
 * codelets run beside kernels on CPUs; where there is none, on all. */
static void make_team(const planning *p, hac_query_way way, hac_team *ret)
{
    bool any_cpu = false;
    for (size_t i = 0; i < p->n_eligible; i++)
        any_cpu |= is_cpu(p->machine, p->eligible[i]);
    uint32_t index[HAC_MACHINE_MAX_DEVICES];
    double rate[HAC_MACHINE_MAX_DEVICES];
    size_t n = 0;
    for (size_t i = 0; i < p->n_eligible; i++) {
        bool left_out = way == HAC_QUERY_DEVICE
                            ? why_not_on(p->spec, &p->machine->devices[p->eligible[i]]) != NULL
                            : any_cpu && !is_cpu(p->machine, p->eligible[i]);
        if (left_out)
            continue;
        index[n] = p->eligible[i];
        rate[n] = capability(p, way, index[n], NULL);
        n++;
    }
    hac_team_form(p->machine, index, rate, n, ret);
}

/* ---- candidates ---- */

static void name_candidate(const planning *p, hac_query_way way, const hac_team *team, char *name,
                           size_t room)
{
    static const char *const names[] = {"one task", "rows", "host", "flow C"};
    hac_team_name(p->machine, team, way == HAC_QUERY_WHOLE, name, room,
                  snprintf(name, room, "%s", names[way]));
}

/* Whether its kernels are to run it, whatever they cost. */
static bool wants_flow_c(const hac_query_spec *spec)
{
    return spec->wish == HAC_QUERY_BY_FLOW_C ||
           (spec->wish == HAC_QUERY_ANY_WAY && spec->hot_keys == HAC_HOT_KEYS_ON);
}

/* Builds and prices one way, lists it, and keeps its plan if it is the cheapest so far of those allowed. */
static hac_status consider(planning *p, hac_query_way way, const hac_team *team, hac_error *err)
{
    hac_plan_candidate *c = hac_candidates_add(&p->candidates, err);
    if (c == NULL)
        return HAC_NO_MEMORY;
    hac_cleanup(hac_plan_free_cleanup) hac_plan *plan = NULL;
    hac_simulation simulation;
    name_candidate(p, way, team, c->name, sizeof(c->name));
    hac_team host;
    make_team(p, HAC_QUERY_HOST, &host);
    hac_status status = hac_query_build(p->machine, p->spec, &p->sizes, way, team, &host, &plan, err);
    if (status == HAC_OK)
        status = hac_plan_simulate(plan, p->machine, &simulation, err);
    if (status != HAC_OK)
        return status;
    c->seconds = plan->predicted_seconds = simulation.seconds;
    bool guess =
        !p->machine->simulated && simulation.learnt_seconds < LEARNT_PART * simulation.priced_seconds;
    bool device = way == HAC_QUERY_DEVICE;
    if (wants_flow_c(p->spec) && !device && p->best != NULL && strcmp(p->best->query.way, "device") == 0) {
        snprintf(c->reason, sizeof(c->reason), "%s",
                 p->spec->wish == HAC_QUERY_BY_FLOW_C ? "flow C was asked for" : "hot keys were asked for");
        return HAC_OK;
    }
    if (device && guess && !wants_flow_c(p->spec) && p->best != NULL) {
        snprintf(c->reason, sizeof(c->reason), "a guess: not measured on this machine yet");
        return HAC_OK;
    }
    double price = team->n > 1 && !p->machine->simulated ? c->seconds * MORE_DEVICES : c->seconds;
    c->chosen = true; /* it may be */
    if (p->best == NULL || price < p->best_price) {
        hac_plan_free(p->best);
        p->best = hac_steal_ptr(plan);
        p->best_price = c->seconds;
        p->chosen = p->candidates.n - 1;
    }
    return HAC_OK;
}

static hac_status consider_team(planning *p, hac_query_way way, hac_error *err)
{
    hac_team team;
    make_team(p, way, &team);
    hac_status status = HAC_OK;
    for (size_t d = 0; d < team.n && status == HAC_OK; d++) {
        hac_team one = {.n = 1};
        one.machine_index[0] = team.machine_index[d];
        one.capability[0] = team.capability[d];
        status = consider(p, way, &one, err);
    }
    if (status == HAC_OK && team.n > 1)
        status = consider(p, way, &team, err);
    return status;
}

/* ---- the choice ---- */

static void give_reason(hac_plan_candidate *c, bool chosen, size_t choices, bool alone, double best)
{
    if (chosen)
        snprintf(c->reason, sizeof(c->reason), "%s",
                 choices > 1 ? "the fastest that is known"
                 : alone     ? "the only way"
                             : "the only one of these that may be taken");
    else if (c->chosen && best > 0)
        snprintf(c->reason, sizeof(c->reason), "%.2f times as long", c->seconds / best);
    c->chosen = chosen;
}

static hac_status explain(planning *p, hac_error *err)
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
static void compare(planning *p, hac_query_way way)
{
    hac_team team;
    make_team(p, way, &team);
    hac_price_source weakest = HAC_PRICE_PROFILE;
    static const char *const names[] = {"probe", "model", "profile"};
    for (size_t d = 0; d < team.n && d < 2; d++) {
        hac_price_source source;
        (void)capability(p, way, team.machine_index[d], &source);
        weakest = source < weakest ? source : weakest;
    }
    p->best->k = team.n > 1 ? team.capability[1] / team.capability[0] : 0;
    /* what nothing is known of is assumed: the first runs are the probe */
    p->best->k_source = names[weakest];
}

/* `device`: of the machine; NULL: on none. */
static hac_status leave_out(planning *p, const hac_machine_device *device, const char *why, hac_error *err)
{
    hac_plan_candidate *c = hac_candidates_add(&p->candidates, err);
    if (c == NULL)
        return HAC_NO_MEMORY;
    snprintf(c->name, sizeof(c->name), "flow C%s%s", device != NULL ? " on " : "",
             device != NULL ? device->name : "");
    snprintf(c->reason, sizeof(c->reason), "not possible: %s", why);
    return HAC_OK;
}

static hac_status consider_device(planning *p, hac_error *err)
{
    const char *why = why_not_device(p->spec);
    if (why != NULL)
        return leave_out(p, NULL, why, err);
    hac_status status = consider_team(p, HAC_QUERY_DEVICE, err);
    for (size_t i = 0; i < p->n_eligible && status == HAC_OK; i++) {
        const hac_machine_device *device = &p->machine->devices[p->eligible[i]];
        if ((why = why_not_on(p->spec, device)) != NULL)
            status = leave_out(p, device, why, err);
    }
    return status;
}

/* Why no device's kernels run it; NULL: some can. */
static const char *why_nowhere(const planning *p)
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
static const char *accelerator(const planning *p)
{
    for (size_t i = 0; i < p->n_eligible; i++)
        if (is_cpu(p->machine, p->eligible[i]))
            return NULL;
    return p->machine->devices[p->eligible[0]].name;
}

/* What was asked for and is not done. */
static void remark(planning *p, hac_query_way way)
{
    const hac_query_spec *spec = p->spec;
    hac_query_info *query = &p->best->query;
    const char *device = accelerator(p);
    const char *what = spec->wish == HAC_QUERY_BY_FLOW_C   ? "flow C was asked for and does not run it"
                       : spec->hot_keys == HAC_HOT_KEYS_ON ? "hot keys have no effect, flow C does not run it"
                                                           : NULL;
    const char *why = way == HAC_QUERY_WHOLE  ? "the input is small, one task does it all"
                      : way == HAC_QUERY_ROWS ? "nothing is aggregated"
                                              : why_nowhere(p);
    if (what != NULL && why != NULL)
        snprintf(query->remark, sizeof(query->remark), "%s: %s", what, why);
    else if (device != NULL && why != NULL && way == HAC_QUERY_HOST && spec->wish != HAC_QUERY_BY_HOST)
        snprintf(query->remark, sizeof(query->remark), "%s's kernels do not run it, host codelets do: %s",
                 device, why);
}

static hac_status plan_all(planning *p, hac_error *err)
{
    bool aggregates = (p->spec->flags & HAC_COMPILED_AGGREGATES) != 0;
    hac_query_way way = hac_query_is_whole(p->spec) ? HAC_QUERY_WHOLE
                        : aggregates                ? HAC_QUERY_HOST
                                                    : HAC_QUERY_ROWS;
    hac_status status = HAC_OK;
    bool device = way == HAC_QUERY_HOST;
    /* what was asked for comes first: the others are listed, but not taken */
    if (device && wants_flow_c(p->spec))
        status = consider_device(p, err);
    if (status == HAC_OK)
        status = way == HAC_QUERY_WHOLE ? HAC_OK : consider_team(p, way, err);
    if (status == HAC_OK && way == HAC_QUERY_WHOLE) {
        hac_team team;
        make_team(p, way, &team);
        status = consider(p, way, &team, err);
    }
    if (status == HAC_OK && device && !wants_flow_c(p->spec))
        status = consider_device(p, err);
    if (status != HAC_OK)
        return status;
    bool by_device = strcmp(p->best->query.way, "device") == 0;
    if (!by_device)
        remark(p, way);
    compare(p, by_device ? HAC_QUERY_DEVICE : way);
    return explain(p, err);
}

static hac_status prepare(planning *p, hac_error *err)
{
    hac_status status = check_spec(p->spec, err);
    return status == HAC_OK ? find_eligible(p, err) : status;
}

hac_status hac_plan_query(const hac_machine *machine, const hac_query_spec *spec, hac_plan **ret,
                          hac_error *err)
{
    planning p = {.machine = machine, .spec = spec};
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

/* A round of host codelets alone: there is nothing to choose. */
static hac_status plan_round(planning *p, hac_plan **ret, hac_error *err)
{
    hac_cleanup(hac_plan_free_cleanup) hac_plan *plan = NULL;
    hac_team team;
    hac_simulation simulation;
    make_team(p, HAC_QUERY_HOST, &team);
    hac_status status =
        hac_query_build(p->machine, p->spec, &p->sizes, HAC_QUERY_HOST, &team, &team, &plan, err);
    if (status == HAC_OK)
        status = hac_plan_simulate(plan, p->machine, &simulation, err);
    if (status != HAC_OK)
        return status;
    plan->predicted_seconds = simulation.seconds;
    *ret = hac_steal_ptr(plan);
    return HAC_OK;
}

hac_status hac_plan_query_round(const hac_machine *machine, const hac_query_spec *spec, hac_plan **ret,
                                hac_error *err)
{
    planning p = {.machine = machine, .spec = spec};
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
    p.best->flow = "splice";
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
    const uint64_t most = hac_plan_split_bytes(machine, spec->device_mask);
    uint64_t split = spec->bytes == 0 ? 1 : spec->bytes < most ? spec->bytes : most;
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

/* The plan of a stage before the query itself, for the devices that run host codelets. */
static hac_status plan_before(const hac_machine *machine, const hac_query_spec *spec,
                              const uint64_t *spec_bytes, hac_plan **ret, hac_error *err)
{
    planning p = {.machine = machine, .spec = spec};
    hac_cleanup(hac_plan_free_cleanup) hac_plan *plan = NULL;
    hac_team team;
    hac_simulation simulation;
    hac_status status = prepare(&p, err);
    if (status != HAC_OK)
        return status;
    make_team(&p, HAC_QUERY_WHOLE, &team);
    status = spec_bytes != NULL ? hac_query_build_compile(machine, spec, *spec_bytes, &team, &plan, err)
                                : hac_query_build_footers(machine, spec, &team, &plan, err);
    if (status == HAC_OK)
        status = hac_plan_simulate(plan, machine, &simulation, err);
    if (status != HAC_OK)
        return status;
    plan->predicted_seconds = simulation.seconds;
    *ret = hac_steal_ptr(plan);
    return HAC_OK;
}

hac_status hac_plan_query_compile(const hac_machine *machine, const hac_query_spec *spec, uint64_t spec_bytes,
                                  hac_plan **ret, hac_error *err)
{
    return plan_before(machine, spec, &spec_bytes, ret, err);
}

hac_status hac_plan_query_footers(const hac_machine *machine, const hac_query_spec *spec, hac_plan **ret,
                                  hac_error *err)
{
    return plan_before(machine, spec, NULL, ret, err);
}
