/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses how a sort runs. Every device alone and teams of devices, radix and bitonic in every scheme, are
 * built, simulated and listed with their prices; the cheapest that is possible and allowed is the plan.
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
#include "output.h"
#include "simulate.h"
#include "sort_build.h"
#include "sort_memo.h"

#define TEAM_WAITS    4e-4 /* seconds */
#define TEAM_MARGIN   1.08
#define TEAM_LUCK     0.9 /* of the time that devices would take that lose nothing: caches may help them */
#define TAKEN_MARGIN  1.03
#define LEARNT_PART   0.9 /* of a price that must come from models for k_source "model" */
#define TRIAL_SECONDS 5e-3
#define GIB           1073741824.0

static const char *const scheme_names[] = {"auto", "proportional", "lower", "upper", "none"};

typedef enum algorithm { RADIX, BITONIC, SMALL } algorithm;

static const char *const algorithm_names[] = {"radix", "bitonic", "small"};

typedef struct planning {
    const hac_machine *machine;
    const hac_sort_spec *spec;
    uint32_t eligible[HAC_MACHINE_MAX_DEVICES];
    size_t n_eligible;
    hac_plan *best;
    algorithm best_algorithm; /* how it was built, and for whom */
    hac_sort_scheme best_scheme;
    hac_team best_team;
    hac_candidates candidates;
    size_t chosen;
} planning;

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
        (unsigned)spec->fold > HAC_FOLD_STEPS || spec->n_fold_steps > HAC_FOLD_MAX)
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

static hac_status find_eligible(planning *p, hac_error *err)
{
    const hac_machine *machine = p->machine;
    for (uint32_t d = 0; d < machine->n_devices && d < HAC_MACHINE_MAX_DEVICES; d++) {
        const hac_machine_device *device = &machine->devices[d];
        if (!device->usable || (p->spec->device_mask != 0 && !(p->spec->device_mask >> d & 1)))
            continue;
        if (machine->simulated && !(hac_machine_capability(device, "sort", p->spec->type) > 0))
            return hac_fail(err, HAC_INVALID,
                            "profile %s has no capability \"sort.%s\", which this job needs", device->name,
                            hac_type_name(p->spec->type));
        p->eligible[p->n_eligible++] = d;
    }
    if (p->n_eligible == 0)
        return hac_fail(err, HAC_FAILED, "no usable device for this sort");
    return HAC_OK;
}

/* ---- candidates ---- */

static void name_candidate(const planning *p, algorithm a, hac_sort_scheme scheme, const hac_team *team,
                           char *name, size_t room)
{
    int used = snprintf(name, room, "%s", algorithm_names[a]);
    if (a == BITONIC)
        used += snprintf(name + used, room - (size_t)used, "%s",
                         scheme == HAC_SCHEME_NONE    ? ", no split,"
                         : scheme == HAC_SCHEME_AUTO  ? "" /* all of them */
                         : scheme == HAC_SCHEME_UPPER ? " upper"
                         : scheme == HAC_SCHEME_LOWER ? " lower"
                                                      : " proportional");
    hac_team_name(p->machine, team, a == SMALL, name, room, used);
}

/* Whether what each task works on fits into the memory of the device, where it has its own. Range tasks
 * always do: they are cut, and their codelets go through windows. */
static bool fits(const hac_machine *machine, const hac_plan *plan, char *reason, size_t room)
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
            snprintf(reason, room, "%s needs %.2f GiB on %s, which has %.2f", task->codelet,
                     (double)bytes / GIB, device->name, (double)device->memory / GIB);
            return false;
        }
    }
    return true;
}

static hac_status build(const planning *p, algorithm a, hac_sort_scheme scheme, const hac_team *team,
                        hac_plan **ret, hac_error *err)
{
    if (a == SMALL)
        return hac_small_build(p->machine, p->spec, team, ret, err);
    if (a == RADIX)
        return hac_radix_build(p->machine, p->spec, team, ret, err);
    return hac_bitonic_build(p->machine, p->spec, team, scheme, ret, err);
}

static bool split_forced(const hac_sort_spec *spec)
{
    return spec->scheme != HAC_SCHEME_AUTO && spec->scheme != HAC_SCHEME_NONE;
}

/* Whether the way is one of those that were asked for. All others are priced and listed as well. */
static bool allowed(const planning *p, algorithm a, hac_sort_scheme scheme, const hac_team *team)
{
    const hac_sort_spec *spec = p->spec;
    if (a == SMALL)
        return true;
    if ((a == RADIX && spec->algorithm == HAC_SORT_BITONIC) ||
        (a == BITONIC && spec->algorithm == HAC_SORT_RADIX))
        return false;
    if (spec->scheme == HAC_SCHEME_NONE)
        return team->n == 1;
    return !split_forced(spec) || (a == BITONIC && scheme == spec->scheme);
}

/* Whether a guess of a short sort promises so much that it is worth one run, which is then known. */
static bool worth_a_try(const planning *p, const hac_team *team, double seconds)
{
    double best = p->candidates.list[p->chosen].seconds;
    return team->n == 1 && best < TRIAL_SECONDS && seconds * 2 < best;
}

static bool free_choice(const hac_sort_spec *spec)
{
    return spec->algorithm == HAC_SORT_AUTO && !split_forced(spec);
}

/* With the free choice a team is never to be slower than the best single device. */
static bool guarded(const planning *p, const hac_team *team)
{
    return free_choice(p->spec) && team->n > 1 && !p->machine->simulated;
}

/* ---- what teams have taken ---- */

/* Of the same devices in any order, and for the same kind of work: what hac_sort_learn learns under. */
static void name_team(const hac_machine *machine, const hac_plan *plan, char *key, size_t key_room,
                      char *codelet, size_t codelet_room)
{
    uint64_t sum = 0;
    for (size_t d = 0; d < plan->n_devices; d++) {
        const char *one = machine->devices[plan->devices[d].machine_index].key;
        sum += XXH3_64bits(one, strlen(one));
    }
    snprintf(key, key_room, "%zu devices %016" PRIx64, plan->n_devices, sum);
    snprintf(codelet, codelet_room, "team.%s%s", plan->sort.algorithm,
             hac_plan_find_buffer(plan, "index") >= 0 ? ".index" : "");
}

void hac_sort_learn(hac_model_set *models, const hac_machine *machine, const hac_plan *plan, double seconds)
{
    char key[64], codelet[40];
    if (plan->n_devices < 2 || plan->sort.items == 0)
        return;
    name_team(machine, plan, key, sizeof(key), codelet, sizeof(codelet));
    hac_model_record(models, key, codelet, plan->sort.type, (double)plan->sort.items, seconds, true);
}

/* Working together has to win by more than what the model leaves out, the waits for the last piece of each
 * phase; where it was done before, by what it took. */
static double guarded_price(const hac_machine *machine, const hac_plan *plan)
{
    char key[64], codelet[40];
    name_team(machine, plan, key, sizeof(key), codelet, sizeof(codelet));
    hac_prediction taken =
        hac_model_recall(machine->models, key, codelet, plan->sort.type, (double)plan->sort.items);
    double priced = (plan->predicted_seconds + TEAM_WAITS) * TEAM_MARGIN;
    return taken.samples > 0 ? fmax(priced, taken.seconds * TAKEN_MARGIN) : priced;
}

/* One way, built and priced. */
typedef struct attempt {
    hac_plan *plan; /* NULL: it could not be built */
    hac_simulation simulation;
    char reason[160]; /* why it is not possible; empty: it is */
} attempt;

static void attempt_clear(attempt *a)
{
    hac_plan_free(a->plan);
}

static hac_status try_way(const planning *p, algorithm a, hac_sort_scheme scheme, const hac_team *team,
                          attempt *ret, hac_error *err)
{
    hac_error why = HAC_ERROR_NONE;
    hac_status status = build(p, a, scheme, team, &ret->plan, &why);
    if (status == HAC_UNSUPPORTED) {
        snprintf(ret->reason, sizeof(ret->reason), "not possible: %.140s", why.message);
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

/* Lists one way, and keeps its plan if it is the cheapest so far of those asked for. */
static hac_status consider(planning *p, algorithm a, hac_sort_scheme scheme, const hac_team *team,
                           attempt *way, hac_error *err)
{
    hac_plan_candidate *c = hac_candidates_add(&p->candidates, err);
    if (c == NULL)
        return HAC_NO_MEMORY;
    name_candidate(p, a, scheme, team, c->name, sizeof(c->name));
    if (way->reason[0] != '\0') {
        snprintf(c->reason, sizeof(c->reason), "%s", way->reason);
        return HAC_OK;
    }
    c->seconds = way->simulation.seconds;
    /* A guess about the slower algorithm does not beat what is known, or guessed, of the faster one. */
    bool guess = !p->machine->simulated &&
                 way->simulation.learnt_seconds < LEARNT_PART * way->simulation.priced_seconds;
    c->chosen = allowed(p, a, scheme, team);
    if (c->chosen && guess && free_choice(p->spec) && a == BITONIC && p->best != NULL &&
        !worth_a_try(p, team, c->seconds)) {
        c->chosen = false;
        snprintf(c->reason, sizeof(c->reason), "a guess: not measured on this machine yet");
    }
    double best = p->best != NULL ? p->candidates.list[p->chosen].seconds : INFINITY;
    double price = guarded(p, team) ? guarded_price(p->machine, way->plan) : c->seconds;
    if (guarded(p, team) && c->seconds < best && price >= best)
        snprintf(c->reason, sizeof(c->reason),
                 "%.1f %% shorter, less than devices lose by waiting for each other",
                 100 * (1 - c->seconds / best));
    if (c->chosen && price < best) {
        hac_plan_free(p->best);
        p->best = hac_steal_ptr(way->plan);
        p->best_algorithm = a;
        p->best_scheme = scheme;
        p->best_team = *team;
        p->chosen = p->candidates.n - 1;
    }
    return HAC_OK;
}

static hac_status try_and_consider(planning *p, algorithm a, hac_sort_scheme scheme, const hac_team *team,
                                   hac_error *err)
{
    hac_cleanup(attempt_clear) attempt way = {.plan = NULL};
    hac_status status = try_way(p, a, scheme, team, &way, err);
    return status == HAC_OK ? consider(p, a, scheme, team, &way, err) : status;
}

/* ---- devices, by what they can do ---- */

static void team_of_one(const rating *device, hac_team *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->n = 1;
    ret->machine_index[0] = device->machine_index;
    ret->capability[0] = device->capability;
}

/* One device alone, as a way. Its capability is fixed by its profile, or items ÷ the priced time of this. */
static hac_status consider_alone(planning *p, algorithm a, uint32_t index, rating *ret, hac_error *err)
{
    const hac_machine_device *device = &p->machine->devices[index];
    double fixed =
        a == BITONIC && !p->machine->simulated ? hac_machine_capability(device, "bitonic", p->spec->type) : 0;
    if (!(fixed > 0))
        fixed = hac_machine_capability(device, "sort", p->spec->type);
    *ret = (rating){index, fixed > 0 ? fixed : 1, fixed > 0 ? HAC_PRICE_PROFILE : HAC_PRICE_ASSUMED};
    hac_team team;
    team_of_one(ret, &team);
    hac_cleanup(attempt_clear) attempt way = {.plan = NULL};
    hac_status status = try_way(p, a, HAC_SCHEME_NONE, &team, &way, err);
    if (status != HAC_OK)
        return status;
    if (!(fixed > 0) && way.plan != NULL) {
        const hac_simulation *s = &way.simulation;
        ret->capability = fmax((double)p->spec->items, 1) / fmax(s->priced_seconds, 1e-9);
        ret->source =
            s->learnt_seconds >= LEARNT_PART * s->priced_seconds ? HAC_PRICE_MODEL : HAC_PRICE_ASSUMED;
        way.plan->devices[0].capability = ret->capability;
    }
    return consider(p, a, HAC_SCHEME_NONE, &team, &way, err);
}

static void make_team(const hac_machine *machine, const rating *ratings, size_t n, hac_team *ret)
{
    uint32_t index[HAC_MACHINE_MAX_DEVICES];
    double rate[HAC_MACHINE_MAX_DEVICES];
    for (size_t i = 0; i < n; i++) {
        index[i] = ratings[i].machine_index;
        rate[i] = ratings[i].capability;
    }
    hac_team_form(machine, index, rate, n, ret);
}

static hac_team prefix(const hac_team *team, size_t n)
{
    hac_team part = *team;
    part.n = n < team->n ? n : team->n;
    return part;
}

/* ---- ways ---- */

/* Whether a team would be longer than the best way so far even if nothing were lost between its devices, or
 * is a guess of the slower algorithm (consider): it is listed, and not built. */
static hac_status leave_out(planning *p, algorithm a, const hac_team *team, bool guess, bool *ret,
                            hac_error *err)
{
    double rate = 0;
    for (size_t d = 0; d < team->n; d++)
        rate += team->capability[d];
    double least = TEAM_LUCK * (double)p->spec->items / rate;
    bool hopeless = a == BITONIC && guess;
    *ret = guarded(p, team) && p->best != NULL &&
           (hopeless || (least + TEAM_WAITS) * TEAM_MARGIN >= p->best->predicted_seconds);
    hac_plan_candidate *c = *ret ? hac_candidates_add(&p->candidates, err) : NULL;
    if (!*ret)
        return HAC_OK;
    if (c == NULL)
        return HAC_NO_MEMORY;
    char time[32];
    name_candidate(p, a, HAC_SCHEME_AUTO, team, c->name, sizeof(c->name));
    if (hopeless)
        snprintf(c->reason, sizeof(c->reason), "left out: not measured on this machine yet");
    else
        snprintf(c->reason, sizeof(c->reason), "left out: %s at best, and its devices' waits for each other",
                 hac_format_seconds(least, time, sizeof(time)));
    return HAC_OK;
}

/* Radix, or bitonic in every scheme. */
static hac_status consider_team(planning *p, algorithm a, const hac_team *team, bool guess, hac_error *err)
{
    bool left_out = false;
    hac_status status = leave_out(p, a, team, guess, &left_out, err);
    if (status != HAC_OK || left_out)
        return status;
    if (a == RADIX)
        return try_and_consider(p, RADIX, HAC_SCHEME_NONE, team, err);
    for (hac_sort_scheme s = HAC_SCHEME_PROPORTIONAL; s <= HAC_SCHEME_UPPER && status == HAC_OK; s++)
        status = try_and_consider(p, BITONIC, s, team, err);
    return status;
}

/* Teams of 2, 3, 4, 8 … and all devices; a scheme that was asked for is meant for all of them. */
static hac_status consider_teams(planning *p, algorithm a, const hac_team *team, bool guess, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t n = split_forced(p->spec) ? team->n : 2; n <= team->n && status == HAC_OK;) {
        hac_team part = prefix(team, n);
        status = consider_team(p, a, &part, guess, err);
        if (n == team->n)
            break;
        n = n < 4 ? n + 1 : 2 * n;
        n = n > team->n ? team->n : n;
    }
    return status;
}

/* What plan->k, k_source and N say: about the two strongest devices, whichever of them the plan uses. */
typedef struct comparison {
    double k;
    const char *source;
    bool guess; /* of one of them nothing is known */
} comparison;

static comparison compare(const hac_team *team, const rating *ratings, size_t n)
{
    static const char *const names[] = {"probe", "model", "profile"};
    comparison c = {team->n > 1 ? team->capability[1] / team->capability[0] : 0, NULL, false};
    hac_price_source weakest = HAC_PRICE_PROFILE;
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < team->n && d < 2; d++)
            if (ratings[i].machine_index == team->machine_index[d] && ratings[i].source < weakest)
                weakest = ratings[i].source;
    c.source = names[weakest];
    c.guess = weakest == HAC_PRICE_ASSUMED;
    return c;
}

static hac_status consider_all(planning *p, comparison compared[2], hac_error *err)
{
    hac_team teams[2];
    hac_status status = HAC_OK;
    for (algorithm a = RADIX; a <= BITONIC && status == HAC_OK; a++) {
        rating ratings[HAC_MACHINE_MAX_DEVICES];
        for (size_t i = 0; i < p->n_eligible && status == HAC_OK; i++)
            status = consider_alone(p, a, p->eligible[i], &ratings[i], err);
        if (status != HAC_OK)
            return status;
        make_team(p->machine, ratings, p->n_eligible, &teams[a]);
        compared[a] = compare(&teams[a], ratings, p->n_eligible);
    }
    for (algorithm a = RADIX; a <= BITONIC && status == HAC_OK; a++)
        status = consider_teams(p, a, &teams[a], compared[a].guess, err);
    return status;
}

/* Why a way was taken or not, in a few words. */
static void give_reason(hac_plan_candidate *c, bool chosen, double best)
{
    double ratio = best > 0 ? c->seconds / best : 1;
    const char *asked = c->chosen ? "" : ", but not asked for";
    if (c->seconds < 0 || c->reason[0] != '\0')
        return; /* said already */
    if (chosen)
        snprintf(c->reason, sizeof(c->reason), "the cheapest");
    else if (ratio >= 2)
        snprintf(c->reason, sizeof(c->reason), "%.1f times as long", ratio);
    else if (ratio >= 1)
        snprintf(c->reason, sizeof(c->reason), "%.1f %% longer", 100 * (ratio - 1));
    else
        snprintf(c->reason, sizeof(c->reason), "%.1f %% shorter%s", 100 * (1 - ratio), asked);
}

/* Hands the list of candidates to the plan, with the reasons filled in. */
static hac_status explain(planning *p, hac_error *err)
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
                     p->candidates.n == 1 ? "the only way"
                     : p->spec->algorithm == HAC_SORT_AUTO && p->spec->scheme == HAC_SCHEME_AUTO
                         ? "the best that is known"
                         : "asked for");
        hac_status status = hac_plan_add_candidate(p->best, c, err);
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}

/* Of the first way that is not possible; all are, but were not asked for: that. */
static const char *why_none(const planning *p)
{
    for (size_t i = 0; i < p->candidates.n; i++)
        if (p->candidates.list[i].reason[0] != '\0')
            return p->candidates.list[i].reason;
    return p->candidates.n > 0 ? "what is possible was not asked for" : "none usable";
}

/* Its capability, on whichever device it goes to, is known when it has been priced. */
static void rate_small(hac_plan *plan)
{
    for (size_t d = 0; d < plan->n_devices; d++)
        plan->devices[d].capability =
            fmax((double)plan->sort.items, 1) / fmax(plan->tasks[0].predicted_seconds, 1e-9);
    plan->k = 0;
}

static hac_status plan_all(planning *p, hac_error *err)
{
    comparison compared[3] = {{0, "probe", true}, {0, "probe", true}, {0, "probe", true}};
    const hac_sort_spec *spec = p->spec;
    hac_status status = HAC_OK;
    if (spec->inline_data) {
        hac_team team = {.n = p->n_eligible};
        for (size_t i = 0; i < p->n_eligible; i++) {
            team.machine_index[i] = p->eligible[i];
            team.capability[i] = 1;
        }
        status = try_and_consider(p, SMALL, HAC_SCHEME_NONE, &team, err);
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

/* ---- the same way again ---- */

/* Of a team it is learnt by its sorts whether it is one to be taken (hac_sort_learn): it is chosen each time.
 */
static void remember(const planning *p, hac_sort_memo *memo, const hac_sort_key *key)
{
    hac_sort_won won = {.algorithm = (int)p->best_algorithm,
                        .scheme = p->best_scheme,
                        .team = p->best_team,
                        .seconds = p->best->predicted_seconds,
                        .k = p->best->k,
                        .k_source = p->best->k_source,
                        .N = p->best->sort.N,
                        .candidates = p->best->candidates,
                        .n_candidates = p->best->n_candidates,
                        .chosen = p->chosen};
    won.team.capability[0] = p->best->devices[0].capability; /* it came after the plan */
    if (won.team.n == 1 && won.seconds < HAC_SORT_MEMO_SECONDS)
        hac_sort_memo_put(memo, key, &won);
}

/* Whether another way that cost more then would cost less now, as far as is known. */
static bool is_overtaken(const hac_sort_won *won, double seconds)
{
    bool overtaken = seconds > HAC_SORT_MEMO_WORSE * won->seconds;
    for (size_t i = 0; i < won->n_candidates; i++)
        overtaken |= i != won->chosen && won->candidates[i].seconds >= won->seconds &&
                     won->candidates[i].seconds < seconds;
    return overtaken;
}

/* HAC_AGAIN: it is not what it was. */
static hac_status take_again(planning *p, const hac_sort_won *won, hac_error *err)
{
    hac_cleanup(attempt_clear) attempt way = {.plan = NULL};
    hac_status status = try_way(p, (algorithm)won->algorithm, won->scheme, &won->team, &way, err);
    if (status != HAC_OK)
        return status;
    if (way.reason[0] != '\0' || is_overtaken(won, way.simulation.seconds))
        return HAC_AGAIN;
    hac_plan *plan = way.plan;
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
    p->best = hac_steal_ptr(way.plan);
    return HAC_OK;
}

static hac_status plan_again(planning *p, hac_sort_memo *memo, hac_error *err)
{
    hac_sort_key key;
    bool may = memo != NULL && hac_sort_memo_key(p->machine, p->spec, &key);
    const hac_sort_won *won = may ? hac_sort_memo_find(memo, &key) : NULL;
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
    planning p = {.machine = machine, .spec = spec};
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
