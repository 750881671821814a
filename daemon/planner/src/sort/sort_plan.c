/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses how a sort runs. Every device alone and device sets of devices, radix and bitonic in every scheme,
 * are built, simulated and listed with their prices; the cheapest that is possible and allowed is the plan.
 * Because each device alone is among them, a split is never taken that the model does not price below the
 * best single device.
 */
#include "planner/sort_plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/type.h"
#include "plan/format.h"
#include "plan/simulate.h"
#include "sort_build.h"
#include "sort_memo.h"

#define SET_WAITS     4e-4 /* seconds */
#define SET_MARGIN    1.08
#define SET_BEST_CASE 0.9 /* of the time that devices would take that lose nothing: caches may help them */
#define TAKEN_MARGIN  1.03
#define LEARNT_PART   0.9 /* of a price that must come from models for k_source "model" */
#define TRIAL_SECONDS 5e-3

static const char *const scheme_names[] = {"auto", "proportional", "lower", "upper", "none"};

typedef enum algorithm { RADIX, BITONIC, SMALL } algorithm;

static const char *const algorithm_names[] = {"radix", "bitonic", "small"};

typedef struct sort_planning {
    const hac_machine *machine;
    const hac_sort_spec *spec;
    uint32_t eligible[HAC_MACHINE_MAX_DEVICES];
    size_t n_eligible;
    hac_plan *best;
    algorithm best_algorithm; /* how it was built, and for whom */
    hac_sort_scheme best_scheme;
    hac_device_set best_set;
    hac_candidates candidates;
    size_t chosen;
} sort_planning;

/* What is known of a device for one algorithm. */
typedef struct rating {
    uint32_t machine_index;
    double capability;
    hac_price_source source;
} rating;

static hac_status check_spec(const hac_sort_spec *spec, hac_error *err)
{
    if (hac_type_size(spec->type) == 0)
        return hac_fail(err, HAC_INVALID, "sort: unknown element type %d", (int)spec->type);
    if (spec->items > HAC_SORT_MAX_ITEMS / 16)
        return hac_fail(err, HAC_INVALID, "sort: %llu items are too many", (unsigned long long)spec->items);
    if (spec->payload_bytes > 4096)
        return hac_fail(err, HAC_INVALID, "sort: a payload of %u bytes is wider than 4096",
                        spec->payload_bytes);
    if ((unsigned)spec->scheme > HAC_SCHEME_NONE || (unsigned)spec->algorithm > HAC_SORT_RADIX ||
        (unsigned)spec->fold > HAC_FOLD_STEPS || spec->n_fold_steps > HAC_FOLD_STEPS_MAX)
        return hac_fail(err, HAC_INVALID, "sort: unknown algorithm, scheme or fold");
    if (spec->algorithm == HAC_SORT_RADIX && spec->scheme != HAC_SCHEME_AUTO &&
        spec->scheme != HAC_SCHEME_NONE)
        return hac_fail(err, HAC_INVALID, "sort: scheme %s belongs to the bitonic algorithm, not to radix",
                        scheme_names[spec->scheme]);
    if (spec->algorithm == HAC_SORT_RADIX && spec->fold == HAC_FOLD_STEPS)
        return hac_fail(err, HAC_INVALID,
                        "sort: steps to fold belong to the bitonic algorithm, not to radix");
    if (spec->inline_data && (spec->payload_bytes > 0 || spec->from_descriptor))
        return hac_fail(err, HAC_INVALID, "sort: inline data has neither a payload nor a descriptor");
    uint32_t steps = hac_network_steps(hac_log2_ceil(spec->items));
    for (size_t i = 0; i < spec->n_fold_steps && spec->fold == HAC_FOLD_STEPS; i++)
        if (spec->fold_steps[i] < 1 || spec->fold_steps[i] > steps)
            return hac_fail(err, HAC_INVALID, "sort: step %u to fold is not one of 1 to %u",
                            spec->fold_steps[i], steps);
    return HAC_OK;
}

static hac_status find_eligible(sort_planning *p, hac_error *err)
{
    uint32_t mask;
    hac_status status = hac_device_set_eligible(p->machine, p->spec->device_mask, "this sort", &mask, err);
    for (; status == HAC_OK && mask != 0; mask &= mask - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(mask);
        p->eligible[p->n_eligible++] = d;
        status = hac_machine_needs_capability(p->machine, d, "sort", p->spec->type, "", err);
    }
    return status;
}

/* ---- candidates ---- */

static void name_candidate(const sort_planning *p, algorithm a, hac_sort_scheme scheme,
                           const hac_device_set *set, char *name, size_t capacity)
{
    int used = snprintf(name, capacity, "%s", algorithm_names[a]);
    if (a == BITONIC)
        used += snprintf(name + used, capacity - (size_t)used, "%s",
                         scheme == HAC_SCHEME_NONE    ? ", no split,"
                         : scheme == HAC_SCHEME_AUTO  ? "" /* all of them */
                         : scheme == HAC_SCHEME_UPPER ? " upper"
                         : scheme == HAC_SCHEME_LOWER ? " lower"
                                                      : " proportional");
    hac_device_set_name(p->machine, set, a == SMALL, name, capacity, used);
}

/* Whether the bytes that each task touches fit into the memory of its device, for devices with memory of
 * their own. Range tasks always fit: they are divided, and their codelets move a window over their data. */
static bool fits(const hac_machine *machine, const hac_plan *plan, char *reason, size_t capacity)
{
    for (size_t t = 0; t < plan->n_tasks; t++) {
        const hac_plan_task *task = &plan->tasks[t];
        uint64_t bytes = 0;
        for (size_t s = 0; s < task->n_spans && !task->range && task->device >= 0; s++)
            bytes += task->spans[s].touch_end - task->spans[s].touch_first;
        for (size_t d = 0; d < plan->n_devices && bytes > 0; d++) {
            const hac_machine_device *device = &machine->devices[plan->devices[d].machine_index];
            bool here = task->device_mask >> d & 1;
            if (!here || device->host_memory || device->memory == 0 || bytes <= device->memory)
                continue;
            snprintf(reason, capacity, "%s needs %.1f MiB on %s, which has %.1f", task->codelet,
                     (double)bytes / 0x1p20, device->name, (double)device->memory / 0x1p20);
            return false;
        }
    }
    return true;
}

static hac_status build(const sort_planning *p, algorithm a, hac_sort_scheme scheme,
                        const hac_device_set *set, hac_plan **ret, hac_error *err)
{
    if (a == SMALL)
        return hac_small_build(p->machine, p->spec, set, ret, err);
    if (a == RADIX)
        return hac_radix_build(p->machine, p->spec, set, ret, err);
    return hac_bitonic_build(p->machine, p->spec, set, scheme, ret, err);
}

static bool split_forced(const hac_sort_spec *spec)
{
    return spec->scheme != HAC_SCHEME_AUTO && spec->scheme != HAC_SCHEME_NONE;
}

/* Whether the user's options allow the candidate. Other candidates are priced and listed, but not chosen. */
static bool allowed(const sort_planning *p, algorithm a, hac_sort_scheme scheme, const hac_device_set *set)
{
    const hac_sort_spec *spec = p->spec;
    if (a == SMALL)
        return true;
    if ((a == RADIX && spec->algorithm == HAC_SORT_BITONIC) ||
        (a == BITONIC && spec->algorithm == HAC_SORT_RADIX))
        return false;
    if (spec->scheme == HAC_SCHEME_NONE)
        return set->n == 1;
    return !split_forced(spec) || (a == BITONIC && scheme == spec->scheme);
}

/* Whether the guessed price of a short sort is so low that one run is worth it: the run gives a measured
 * price. */
static bool worth_a_try(const sort_planning *p, const hac_device_set *set, double seconds)
{
    double best = p->candidates.list[p->chosen].seconds;
    return set->n == 1 && best < TRIAL_SECONDS && seconds * 2 < best;
}

static bool free_choice(const hac_sort_spec *spec)
{
    return spec->algorithm == HAC_SORT_AUTO && !split_forced(spec);
}

/* If the planner chooses freely, a set of devices must not be slower than the best single device. */
static bool guarded(const sort_planning *p, const hac_device_set *set)
{
    return free_choice(p->spec) && set->n > 1 && !p->machine->simulated;
}

/* ---- measured times of device sets ---- */

/* The names of the model in which hac_sort_learn records the plan's time. They depend on the set of devices,
 * in any order, and on the kind of work. */
static void name_set(const hac_machine *machine, const hac_plan *plan, char *key, size_t key_scratch,
                     char *codelet, size_t codelet_capacity)
{
    uint64_t sum = 0;
    for (size_t d = 0; d < plan->n_devices; d++) {
        const char *one = machine->devices[plan->devices[d].machine_index].key;
        sum += XXH3_64bits(one, strlen(one));
    }
    snprintf(key, key_scratch, "%zu devices %016" PRIx64, plan->n_devices, sum);
    snprintf(codelet, codelet_capacity, "set.%s%s", plan->sort.algorithm,
             hac_plan_find_buffer(plan, "index") >= 0 ? ".index" : "");
}

void hac_sort_learn(hac_model_set *models, const hac_machine *machine, const hac_plan *plan, double seconds)
{
    char key[64], codelet[40];
    if (plan->n_devices < 2 || plan->sort.items == 0)
        return;
    name_set(machine, plan, key, sizeof(key), codelet, sizeof(codelet));
    hac_model_record(models, key, codelet, plan->sort.type, (double)plan->sort.items, seconds, true);
}

/* The price of a set of devices, as compared with a single device's. It adds the waits for the last piece of
 * each phase, which the simulation leaves out. If the set has run such sorts before, the price is at least
 * the measured time with a margin. */
static double guarded_price(const hac_machine *machine, const hac_plan *plan)
{
    char key[64], codelet[40];
    name_set(machine, plan, key, sizeof(key), codelet, sizeof(codelet));
    hac_prediction taken =
        hac_model_recall(machine->models, key, codelet, plan->sort.type, (double)plan->sort.items);
    double priced = (plan->predicted_seconds + SET_WAITS) * SET_MARGIN;
    return taken.samples > 0 ? fmax(priced, taken.seconds * TAKEN_MARGIN) : priced;
}

/* One candidate, built and priced. */
typedef struct attempt {
    hac_plan *plan; /* NULL: the plan could not be built */
    hac_simulation simulation;
    char reason[160]; /* why the candidate is not possible; empty: it is possible */
} attempt;

static void attempt_clear(attempt *a)
{
    hac_plan_free(a->plan);
}

static hac_status try_candidate(const sort_planning *p, algorithm a, hac_sort_scheme scheme,
                                const hac_device_set *set, attempt *ret, hac_error *err)
{
    hac_error why = HAC_ERROR_NONE;
    hac_status status = build(p, a, scheme, set, &ret->plan, &why);
    if (status == HAC_UNSUPPORTED) {
        snprintf(ret->reason, sizeof(ret->reason), "%.159s", why.message);
        return HAC_OK;
    }
    if (status == HAC_OK)
        status = hac_plan_simulate(ret->plan, p->machine, &ret->simulation, &why);
    if (status == HAC_OK) {
        (void)fits(p->machine, ret->plan, ret->reason, sizeof(ret->reason));
        ret->plan->predicted_seconds = ret->simulation.seconds;
    } else if (err != NULL) {
        *err = why;
    }
    return status;
}

/* Lists one candidate, and keeps its plan if it is the cheapest allowed one so far. */
static hac_status consider(sort_planning *p, algorithm a, hac_sort_scheme scheme, const hac_device_set *set,
                           attempt *tried, hac_error *err)
{
    hac_plan_candidate *c = hac_candidates_add(&p->candidates, err);
    if (c == NULL)
        return HAC_NO_MEMORY;
    name_candidate(p, a, scheme, set, c->name, sizeof(c->name));
    if (tried->reason[0] != '\0') {
        snprintf(c->reason, sizeof(c->reason), "%s", tried->reason);
        c->cause = HAC_CAUSE_CANNOT;
        return HAC_OK;
    }
    c->seconds = tried->simulation.seconds;
    /* Bitonic is the slower algorithm in general: a guessed price of bitonic does not beat a price of radix.
     */
    bool guess = !p->machine->simulated &&
                 tried->simulation.learnt_seconds < LEARNT_PART * tried->simulation.priced_seconds;
    c->chosen = allowed(p, a, scheme, set);
    if (c->chosen && guess && free_choice(p->spec) && a == BITONIC && p->best != NULL &&
        !worth_a_try(p, set, c->seconds)) {
        c->chosen = false;
        snprintf(c->reason, sizeof(c->reason), "a guess: not measured on this machine yet");
    }
    double best = p->best != NULL ? p->candidates.list[p->chosen].seconds : INFINITY;
    double price = guarded(p, set) ? guarded_price(p->machine, tried->plan) : c->seconds;
    if (guarded(p, set) && c->seconds < best && price >= best)
        snprintf(c->reason, sizeof(c->reason),
                 "%.1f %% shorter, less than devices lose by waiting for each other",
                 100 * (1 - c->seconds / best));
    if (c->chosen && price < best) {
        hac_plan_free(p->best);
        p->best = hac_steal_ptr(tried->plan);
        p->best_algorithm = a;
        p->best_scheme = scheme;
        p->best_set = *set;
        p->chosen = p->candidates.n - 1;
    }
    return HAC_OK;
}

static hac_status try_and_consider(sort_planning *p, algorithm a, hac_sort_scheme scheme,
                                   const hac_device_set *set, hac_error *err)
{
    hac_cleanup(attempt_clear) attempt tried = {.plan = NULL};
    hac_status status = try_candidate(p, a, scheme, set, &tried, err);
    return status == HAC_OK ? consider(p, a, scheme, set, &tried, err) : status;
}

/* ---- devices, by what they can do ---- */

static void set_of_one(const rating *device, hac_device_set *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->n = 1;
    ret->machine_index[0] = device->machine_index;
    ret->capability[0] = device->capability;
}

/* Considers one device alone. Its capability comes from its profile, or is the number of items divided by the
 * price of this candidate. */
static hac_status consider_alone(sort_planning *p, algorithm a, uint32_t index, rating *ret, hac_error *err)
{
    const hac_machine_device *device = &p->machine->devices[index];
    double fixed =
        a == BITONIC && !p->machine->simulated ? hac_machine_capability(device, "bitonic", p->spec->type) : 0;
    if (!(fixed > 0))
        fixed = hac_machine_capability(device, "sort", p->spec->type);
    *ret = (rating){index, fixed > 0 ? fixed : 1, fixed > 0 ? HAC_PRICE_PROFILE : HAC_PRICE_ASSUMED};
    hac_device_set set;
    set_of_one(ret, &set);
    hac_cleanup(attempt_clear) attempt tried = {.plan = NULL};
    hac_status status = try_candidate(p, a, HAC_SCHEME_NONE, &set, &tried, err);
    if (status != HAC_OK)
        return status;
    if (!(fixed > 0) && tried.plan != NULL) {
        const hac_simulation *s = &tried.simulation;
        ret->capability = fmax((double)p->spec->items, 1) / fmax(s->priced_seconds, 1e-9);
        ret->source =
            s->learnt_seconds >= LEARNT_PART * s->priced_seconds ? HAC_PRICE_MODEL : HAC_PRICE_ASSUMED;
        tried.plan->devices[0].capability = ret->capability;
    }
    return consider(p, a, HAC_SCHEME_NONE, &set, &tried, err);
}

static void make_set(const hac_machine *machine, const rating *ratings, size_t n, hac_device_set *ret)
{
    uint32_t index[HAC_MACHINE_MAX_DEVICES];
    double rate[HAC_MACHINE_MAX_DEVICES];
    for (size_t i = 0; i < n; i++) {
        index[i] = ratings[i].machine_index;
        rate[i] = ratings[i].capability;
    }
    hac_device_set_form(machine, index, rate, n, ret);
}

static hac_device_set prefix(const hac_device_set *set, size_t n)
{
    hac_device_set part = *set;
    part.n = n < set->n ? n : set->n;
    return part;
}

/* ---- sets of devices ---- */

/* Lists a candidate without building its plan, if a set of devices would lose in any case: because it takes
 * longer than the best candidate even if its devices never wait for each other, or because its price would be
 * a guess for bitonic (see consider). *ret: the candidate was left out. */
static hac_status leave_out(sort_planning *p, algorithm a, const hac_device_set *set, bool guess, bool *ret,
                            hac_error *err)
{
    double rate = 0;
    for (size_t d = 0; d < set->n; d++)
        rate += set->capability[d];
    double min = SET_BEST_CASE * (double)p->spec->items / rate;
    bool hopeless = a == BITONIC && guess;
    *ret = guarded(p, set) && p->best != NULL &&
           (hopeless || (min + SET_WAITS) * SET_MARGIN >= p->best->predicted_seconds);
    hac_plan_candidate *c = *ret ? hac_candidates_add(&p->candidates, err) : NULL;
    if (!*ret)
        return HAC_OK;
    if (c == NULL)
        return HAC_NO_MEMORY;
    char time[32];
    name_candidate(p, a, HAC_SCHEME_AUTO, set, c->name, sizeof(c->name));
    if (hopeless)
        snprintf(c->reason, sizeof(c->reason), "left out: not measured on this machine yet");
    else
        snprintf(c->reason, sizeof(c->reason), "left out: %s at best, and its devices' waits for each other",
                 hac_format_seconds(min, time, sizeof(time)));
    return HAC_OK;
}

/* Considers radix, or bitonic with every scheme, on one set of devices. */
static hac_status consider_set(sort_planning *p, algorithm a, const hac_device_set *set, bool guess,
                               hac_error *err)
{
    bool left_out = false;
    hac_status status = leave_out(p, a, set, guess, &left_out, err);
    if (status != HAC_OK || left_out)
        return status;
    if (a == RADIX)
        return try_and_consider(p, RADIX, HAC_SCHEME_NONE, set, err);
    for (hac_sort_scheme s = HAC_SCHEME_PROPORTIONAL; s <= HAC_SCHEME_UPPER && status == HAC_OK; s++)
        status = try_and_consider(p, BITONIC, s, set, err);
    return status;
}

/* Considers the 2, 3, 4, 8 … strongest devices, and all devices. If the user names a scheme, only the set of
 * all devices is considered. */
static hac_status consider_sets(sort_planning *p, algorithm a, const hac_device_set *set, bool guess,
                                hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t n = split_forced(p->spec) ? set->n : 2; n <= set->n && status == HAC_OK;) {
        hac_device_set part = prefix(set, n);
        status = consider_set(p, a, &part, guess, err);
        if (n == set->n)
            break;
        n = n < 4 ? n + 1 : 2 * n;
        n = n > set->n ? set->n : n;
    }
    return status;
}

/* The values of plan->k and plan->k_source. They compare the two strongest devices, even if the plan does not
 * use both. */
typedef struct comparison {
    double k;
    const char *source;
    bool guess; /* the capability of one of them is assumed */
} comparison;

static comparison compare(const hac_device_set *set, const rating *ratings, size_t n)
{
    static const char *const names[] = {"probe", "model", "model", "profile"};
    comparison c = {set->n > 1 ? set->capability[1] / set->capability[0] : 0, NULL, false};
    hac_price_source weakest = HAC_PRICE_PROFILE;
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < set->n && d < 2; d++)
            if (ratings[i].machine_index == set->machine_index[d] && ratings[i].source < weakest)
                weakest = ratings[i].source;
    c.source = names[weakest];
    c.guess = weakest == HAC_PRICE_ASSUMED;
    return c;
}

static hac_status consider_all(sort_planning *p, comparison compared[2], hac_error *err)
{
    hac_device_set sets[2];
    hac_status status = HAC_OK;
    for (algorithm a = RADIX; a <= BITONIC && status == HAC_OK; a++) {
        rating ratings[HAC_MACHINE_MAX_DEVICES];
        for (size_t i = 0; i < p->n_eligible && status == HAC_OK; i++)
            status = consider_alone(p, a, p->eligible[i], &ratings[i], err);
        if (status != HAC_OK)
            return status;
        make_set(p->machine, ratings, p->n_eligible, &sets[a]);
        compared[a] = compare(&sets[a], ratings, p->n_eligible);
    }
    for (algorithm a = RADIX; a <= BITONIC && status == HAC_OK; a++)
        status = consider_sets(p, a, &sets[a], compared[a].guess, err);
    return status;
}

/* Sets why a candidate was chosen or not. */
static void give_reason(hac_plan_candidate *c, bool chosen, double best)
{
    double ratio = best > 0 ? c->seconds / best : 1;
    if (c->seconds < 0 || c->reason[0] != '\0')
        return; /* has a reason already */
    if (chosen)
        snprintf(c->reason, sizeof(c->reason), "the cheapest");
    else if (ratio >= 2)
        snprintf(c->reason, sizeof(c->reason), "%.1f times as long", ratio);
    else if (ratio >= 1)
        snprintf(c->reason, sizeof(c->reason), "%.1f %% longer", 100 * (ratio - 1));
    else {
        snprintf(c->reason, sizeof(c->reason), "%.1f %% shorter%s", 100 * (1 - ratio),
                 c->chosen ? "" : ", but not asked for");
        c->cause = c->chosen ? HAC_CAUSE_PRICE : HAC_CAUSE_NOT_ASKED;
    }
}

/* Hands the list of candidates to the plan, with the reasons filled in. */
static hac_status explain(sort_planning *p, hac_error *err)
{
    double best = p->candidates.list[p->chosen].seconds;
    size_t choices = 0;
    for (size_t i = 0; i < p->candidates.n; i++)
        choices += p->candidates.list[i].chosen;
    for (size_t i = 0; i < p->candidates.n; i++) {
        hac_plan_candidate *c = &p->candidates.list[i];
        give_reason(c, i == p->chosen, best);
        c->chosen = i == p->chosen;
        if (c->chosen && choices == 1)
            snprintf(c->reason, sizeof(c->reason), "%s",
                     p->candidates.n == 1 ? "the only candidate"
                     : p->spec->algorithm == HAC_SORT_AUTO && p->spec->scheme == HAC_SCHEME_AUTO
                         ? "the best that is known"
                         : "asked for");
        hac_status status = hac_plan_add_candidate(p->best, c, err);
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}

/* Why there is no plan: the reason of the first candidate that is not possible. */
static const char *why_none(const sort_planning *p)
{
    for (size_t i = 0; i < p->candidates.n; i++)
        if (p->candidates.list[i].reason[0] != '\0')
            return p->candidates.list[i].reason;
    return p->candidates.n > 0 ? "what is possible was not asked for" : "none usable";
}

/* The devices' capability for a small sort follows from its price. */
static void rate_small(hac_plan *plan)
{
    for (size_t d = 0; d < plan->n_devices; d++)
        plan->devices[d].capability =
            fmax((double)plan->sort.items, 1) / fmax(plan->tasks[0].predicted_seconds, 1e-9);
    plan->k = 0;
}

static hac_status plan_all(sort_planning *p, hac_error *err)
{
    comparison compared[3] = {{0, "probe", true}, {0, "probe", true}, {0, "probe", true}};
    const hac_sort_spec *spec = p->spec;
    hac_status status = HAC_OK;
    if (spec->inline_data) {
        hac_device_set set = {.n = p->n_eligible};
        for (size_t i = 0; i < p->n_eligible; i++) {
            set.machine_index[i] = p->eligible[i];
            set.capability[i] = 1;
        }
        status = try_and_consider(p, SMALL, HAC_SCHEME_NONE, &set, err);
        if (status == HAC_OK && p->best != NULL)
            rate_small(p->best);
    } else {
        status = consider_all(p, compared, err);
    }
    if (status != HAC_OK)
        return status;
    if (p->best == NULL)
        return hac_fail(err, HAC_FAILED, "no device can run this sort: %s", why_none(p));
    const char *name = p->best->sort.algorithm;
    const comparison *c = &compared[strcmp(name, "radix") == 0     ? RADIX
                                    : strcmp(name, "bitonic") == 0 ? BITONIC
                                                                   : SMALL];
    p->best->k = c->k;
    p->best->k_source = c->source;
    if (c == &compared[BITONIC] && c->k > 0)
        p->best->sort.N = hac_split_exponent(c->k);
    return explain(p, err);
}

/* ---- the last winner again ---- */

/* Remembers a winner that is a single device. Whether a set of devices is worth it depends on what
 * hac_sort_learn has recorded since, so sets are chosen anew for each sort. */
static void remember(const sort_planning *p, hac_sort_memo *memo, const hac_sort_key *key)
{
    hac_sort_winner won = {.algorithm = (int)p->best_algorithm,
                           .scheme = p->best_scheme,
                           .set = p->best_set,
                           .seconds = p->best->predicted_seconds,
                           .k = p->best->k,
                           .k_source = p->best->k_source,
                           .N = p->best->sort.N,
                           .candidates = p->best->candidates,
                           .n_candidates = p->best->n_candidates,
                           .chosen = p->chosen};
    won.set.capability[0] = p->best->devices[0].capability; /* it came after the plan */
    if (won.set.n == 1 && won.seconds < HAC_SORT_MEMO_SECONDS)
        hac_sort_memo_put(memo, key, &won);
}

/* Whether the winner's price has risen so much that another candidate of that time would now be cheaper. */
static bool is_overtaken(const hac_sort_winner *won, double seconds)
{
    bool overtaken = seconds > HAC_SORT_MEMO_MAX_RISE * won->seconds;
    for (size_t i = 0; i < won->n_candidates; i++)
        overtaken |= i != won->chosen && won->candidates[i].seconds >= won->seconds &&
                     won->candidates[i].seconds < seconds;
    return overtaken;
}

/* Builds the plan of the last winner. HAC_AGAIN: it is no longer possible, or its price has risen. */
static hac_status take_again(sort_planning *p, const hac_sort_winner *won, hac_error *err)
{
    hac_cleanup(attempt_clear) attempt tried = {.plan = NULL};
    hac_status status = try_candidate(p, (algorithm)won->algorithm, won->scheme, &won->set, &tried, err);
    if (status != HAC_OK)
        return status;
    if (tried.reason[0] != '\0' || is_overtaken(won, tried.simulation.seconds))
        return HAC_AGAIN;
    hac_plan *plan = tried.plan;
    plan->k = won->k;
    plan->k_source = won->k_source;
    plan->sort.N = won->N;
    for (size_t i = 0; i < won->n_candidates && status == HAC_OK; i++)
        status = hac_plan_add_candidate(plan, &won->candidates[i], err);
    if (status != HAC_OK)
        return status;
    hac_plan_candidate *chosen = &plan->candidates[won->chosen]; /* as all of them, as it was priced then */
    snprintf(chosen->reason, sizeof(chosen->reason), "%.100s, as priced for a sort like it",
             won->candidates[won->chosen].reason);
    p->best = hac_steal_ptr(tried.plan);
    return HAC_OK;
}

static hac_status plan_again(sort_planning *p, hac_sort_memo *memo, hac_error *err)
{
    hac_sort_key key;
    bool may = memo != NULL && hac_sort_memo_key(p->machine, p->spec, &key);
    const hac_sort_winner *won = may ? hac_sort_memo_find(memo, &key) : NULL;
    hac_status status = won != NULL ? take_again(p, won, err) : HAC_AGAIN;
    if (status != HAC_AGAIN)
        return status;
    status = plan_all(p, err);
    if (status == HAC_OK && may)
        remember(p, memo, &key);
    return status;
}

hac_status hac_plan_sort(const hac_machine *machine, const hac_sort_spec *spec, hac_plan **ret,
                         hac_error *err)
{
    return hac_plan_sort_again(machine, spec, NULL, ret, err);
}

hac_status hac_plan_sort_again(const hac_machine *machine, const hac_sort_spec *spec, hac_sort_memo *memo,
                               hac_plan **ret, hac_error *err)
{
    sort_planning p = {.machine = machine, .spec = spec};
    hac_status status = check_spec(spec, err);
    if (status == HAC_OK)
        status = find_eligible(&p, err);
    if (status == HAC_OK)
        status = plan_again(&p, memo, err);
    free(p.candidates.list);
    if (status != HAC_OK) {
        hac_plan_free(p.best);
        return status;
    }
    *ret = p.best;
    return HAC_OK;
}
