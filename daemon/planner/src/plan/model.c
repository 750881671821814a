/* SPDX-License-Identifier: Apache-2.0 */
#include "model_set.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/type.h"

#define TOGETHER_SAMPLES 3    /* before figures taken together outrank those taken alone */
#define NEARBY           64.0 /* … at sizes that differ by less than this */
#define NEAR_SIZES       3    /* the same, in bucket sizes */
#define OVERHEAD         1e-3 /* seconds: what is done sooner may have been starting and ending for the most part */
#define FEW              65536.0 /* … and that of fewer units loading the program and the pages, up to … */
#define COLD             10e-3
#define LASTS            5000 /* samples of any kind, some hundred jobs: then what was measured is stale */
#define OF_A_JOB         7    /* samples of a bucket that are of one job: a disturbed job must not fill it */
#define NEW_JOBS         3    /* that can prove all jobs before them wrong */
#define SURE_JOBS        3    /* that have measured a device: then it is known */
#define DOUBLINGS        10   /* of the jobs between two explorations */
#define MAX_BUCKETS      4096
#define LEARNER_BUCKETS  256
#define SMALLER          16.0 /* a narrow model says nothing of sizes that are smaller by more than this */
#define OUTLIER_MADS     5.0
#define MAD_FLOOR        0.02 /* of the median: equal samples must not make every other one an outlier */
#define SHORTEST         1e-9 /* seconds */
#define SMALLEST_BUCKET  (-64)
#define LARGEST_BUCKET   64

hac_status hac_model_set_new(hac_model_set **ret, hac_error *err)
{
    hac_model_set *set = calloc(1, sizeof(*set));
    if (set == NULL)
        return hac_fail_no_memory(err);
    set->buckets = calloc(MAX_BUCKETS, sizeof(hac_model_bucket *));
    if (set->buckets == NULL) {
        free(set);
        return hac_fail_no_memory(err);
    }
    *ret = set;
    return HAC_OK;
}

void hac_model_set_free(hac_model_set *set)
{
    if (set == NULL)
        return;
    for (size_t i = 0; i < set->n; i++)
        free(set->buckets[i]);
    free(set->buckets);
    free(set);
}

/* What a series of buckets, one a size, is about. */
typedef struct series {
    uint64_t hash;
    const char *device_key, *codelet;
    hac_type type;
    bool together;
} series;

/* Pricing a plan takes many look-ups, and keys of devices are long and begin alike: hashes are compared
 * first. The device's is the upper half. */
static uint64_t hash_of(const char *device_key, const char *codelet)
{
    uint64_t device = XXH3_64bits(device_key, strlen(device_key)) & UINT64_C(0xffffffff00000000);
    return device | (XXH3_64bits(codelet, strlen(codelet)) & 0xffffffff);
}

static series series_of(const char *device_key, const char *codelet, hac_type type, bool together)
{
    return (series){hash_of(device_key, codelet), device_key, codelet, type, together};
}

static int order(const hac_model_bucket *b, const series *s, int size)
{
    if (b->hash != s->hash)
        return b->hash < s->hash ? -1 : 1;
    int c = (int)b->type - (int)s->type;
    if (c == 0)
        c = (int)b->together - (int)s->together;
    if (c == 0)
        c = strcmp(b->codelet, s->codelet);
    if (c == 0)
        c = strcmp(b->device_key, s->device_key);
    if (c == 0)
        c = b->size - size;
    return c;
}

/* Index of the first bucket that is not before the key. */
static size_t lower_bound(const hac_model_set *set, const series *s, int size)
{
    size_t low = 0, high = set->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order(set->buckets[middle], s, size) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* By insertion: there are few, this is done after every task, and it is several times as fast as qsort(). */
static double median(double *values, unsigned n)
{
    for (unsigned i = 1; i < n; i++) {
        double value = values[i];
        unsigned at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
    return n % 2 != 0 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* The sample that is `age` samples older than the newest one. */
hac_model_sample *hac_model_sample_of_age(hac_model_bucket *b, unsigned age)
{
    return &b->samples[(b->next + HAC_MODEL_SAMPLES - 1 - age) % HAC_MODEL_SAMPLES];
}

static double rate_of(const hac_model_sample *s)
{
    return s->seconds / s->units;
}

/* What some consecutive samples of a bucket amount to. */
typedef struct stretch {
    unsigned n;
    double rate, seconds; /* medians */
} stretch;

/* The samples from that age on: those of one job, or of all older jobs, too. */
static stretch summarise_from(hac_model_bucket *b, unsigned age, bool all)
{
    double rate[HAC_MODEL_SAMPLES], seconds[HAC_MODEL_SAMPLES];
    stretch s = {0, 0, 0};
    for (bool more = true; more && age < b->n; age++) {
        const hac_model_sample *one = hac_model_sample_of_age(b, age);
        rate[s.n] = rate_of(one);
        seconds[s.n++] = one->seconds;
        more = all || !one->begins;
    }
    if (s.n > 0) {
        s.rate = median(rate, s.n);
        s.seconds = median(seconds, s.n);
    }
    return s;
}

/* 1: `a` took more than twice as long as `b`; -1: the reverse; 0: neither. Samples of a bucket differ in
 * units, and what has fixed costs only takes about the same seconds: rates and seconds both have to
 * differ. */
static int contradicts(const stretch *a, const stretch *b)
{
    if (a->n == 0 || b->n == 0)
        return 0;
    if (a->rate > HAC_MODEL_CONTRADICTION * b->rate && a->seconds > HAC_MODEL_CONTRADICTION * b->seconds)
        return 1;
    return b->rate > HAC_MODEL_CONTRADICTION * a->rate && b->seconds > HAC_MODEL_CONTRADICTION * a->seconds
               ? -1
               : 0;
}

/* Looks whether jobs contradict each other, and returns the samples to use, [*ret_first, *ret_end) by age.
 *
 * If the last jobs all say that the jobs before them were wrong, in the same direction, the older samples
 * are dropped: two jobs against one, three against more. If there are two jobs only, the faster one counts:
 * most disturbances make a device slower, and what is too fast is soon contradicted, as the device is used
 * then. */
static void weigh_jobs(hac_model_bucket *b, unsigned *ret_first, unsigned *ret_end)
{
    stretch job[NEW_JOBS];
    unsigned n = 0, end[NEW_JOBS];
    for (unsigned at = 0; n < NEW_JOBS && at < b->n; n++) {
        job[n] = summarise_from(b, at, false);
        at = end[n] = at + job[n].n;
    }
    *ret_first = 0;
    *ret_end = b->n;
    stretch others = summarise_from(b, end[0], true);
    int which = contradicts(&job[0], &others);
    b->contradicted = which != 0;
    if (which == 0)
        return;
    if (n == 2 && end[1] == b->n) {
        *ret_first = which > 0 ? end[0] : 0;
        *ret_end = which > 0 ? b->n : end[0];
        return;
    }
    unsigned against = end[n - 1] == b->n ? n - 1 : n; /* the oldest job stands alone, or there are more */
    stretch older = summarise_from(b, end[against - 1], true);
    for (unsigned i = 0; i < against; i++)
        if (contradicts(&job[i], &older) != which)
            return;
    b->n = *ret_end = end[against - 1];
    b->jobs = against;
    b->contradicted = false;
}

/* Recomputes what the bucket stands for. Samples of a bucket differ in units by up to four times, so they are
 * compared by seconds per unit. */
static void summarise(hac_model_bucket *b)
{
    double rate[HAC_MODEL_SAMPLES], deviation[HAC_MODEL_SAMPLES], units[HAC_MODEL_SAMPLES];
    unsigned first, end, n = 0;
    bool was_contradicted = b->contradicted;
    weigh_jobs(b, &first, &end);
    if (b->contradicted && !was_contradicted)
        b->doubted = b->attempts;
    for (unsigned i = first; i < end; i++)
        rate[n++] = rate_of(hac_model_sample_of_age(b, i));
    double centre = median(rate, n);
    for (unsigned i = first; i < end; i++)
        deviation[i - first] = fabs(rate_of(hac_model_sample_of_age(b, i)) - centre);
    double limit = OUTLIER_MADS * fmax(median(deviation, n), MAD_FLOOR * centre);
    unsigned good = 0;
    for (unsigned i = first; i < end; i++) {
        double r = rate_of(hac_model_sample_of_age(b, i));
        if (fabs(r - centre) > limit)
            continue;
        rate[good] = r;
        units[good++] = hac_model_sample_of_age(b, i)->units;
    }
    centre = median(rate, good);
    for (unsigned i = 0; i < good; i++)
        deviation[i] = fabs(rate[i] - centre);
    b->good = good;
    b->units = median(units, good);
    b->seconds = centre * b->units;
    b->relative_error = median(deviation, good) / centre;
    b->stale = false;
}

/* Samples come with every task, and what they amount to is asked for more seldom. */
static const hac_model_bucket *summary(const hac_model_set *set, size_t at)
{
    hac_model_bucket *b = set->buckets[at];
    if (b->stale)
        summarise(b);
    return b;
}

const char *hac_model_learner(const char *codelet)
{
    const char *at = strchr(codelet, '@');
    return at != NULL ? at + 1 : NULL;
}

bool hac_model_is_narrow(const char *codelet)
{
    return strchr(codelet, HAC_MODEL_ALIKE) != NULL || strchr(codelet, HAC_MODEL_SAME) != NULL;
}

typedef enum bucket_owner {
    OF_LEARNER = 0, /* the one that is named */
    OF_ANY_LEARNER,
    OF_ANYBODY
} bucket_owner;

static bool is_of(const hac_model_bucket *b, bucket_owner owner, const char *learner)
{
    const char *its = hac_model_learner(b->codelet);
    return owner == OF_ANYBODY || (its != NULL && (owner == OF_ANY_LEARNER || strcmp(its, learner) == 0));
}

/* Drops the bucket of that owner that has been unused for the longest time; `narrow`: among those of narrow
 * models. Returns false if there is none. */
static bool drop_longest_unused(hac_model_set *set, bucket_owner owner, const char *learner, bool narrow)
{
    size_t oldest = set->n;
    for (size_t i = 0; i < set->n; i++)
        if (is_of(set->buckets[i], owner, learner) &&
            (!narrow || hac_model_is_narrow(set->buckets[i]->codelet)) &&
            (oldest == set->n || set->buckets[i]->used < set->buckets[oldest]->used))
            oldest = i;
    if (oldest == set->n)
        return false;
    free(set->buckets[oldest]);
    memmove(&set->buckets[oldest], &set->buckets[oldest + 1],
            (set->n - oldest - 1) * sizeof(hac_model_bucket *));
    set->n--;
    return true;
}

static size_t count_of(const hac_model_set *set, const char *learner)
{
    size_t n = 0;
    for (size_t i = 0; i < set->n; i++)
        n += is_of(set->buckets[i], OF_LEARNER, learner);
    return n;
}

/* Makes room for a new bucket of that codelet. Narrow models, of which each new query makes some, go before
 * the others, which are all that is known of codelets. */
static bool make_room(hac_model_set *set, const char *codelet)
{
    const char *learner = hac_model_learner(codelet);
    if (learner != NULL && count_of(set, learner) >= LEARNER_BUCKETS)
        return drop_longest_unused(set, OF_LEARNER, learner, true) ||
               drop_longest_unused(set, OF_LEARNER, learner, false);
    return set->n < MAX_BUCKETS ||
           drop_longest_unused(set, learner == NULL ? OF_ANYBODY : OF_ANY_LEARNER, NULL, true) ||
           drop_longest_unused(set, OF_ANY_LEARNER, NULL, false) ||
           (learner == NULL && drop_longest_unused(set, OF_ANYBODY, NULL, false));
}

/* The bucket of that key, made if there is none; NULL when there is no room (the sample is then lost). */
static hac_model_bucket *obtain(hac_model_set *set, const series *s, int size)
{
    size_t at = lower_bound(set, s, size);
    if (at < set->n && order(set->buckets[at], s, size) == 0)
        return set->buckets[at];
    hac_model_bucket *made = make_room(set, s->codelet) ? calloc(1, sizeof(*made)) : NULL;
    if (made == NULL)
        return NULL;
    at = lower_bound(set, s, size);
    made->hash = s->hash;
    strcpy(made->device_key, s->device_key);
    strcpy(made->codelet, s->codelet);
    made->type = s->type;
    made->together = s->together;
    made->size = size;
    memmove(&set->buckets[at + 1], &set->buckets[at], (set->n - at) * sizeof(hac_model_bucket *));
    set->buckets[at] = made;
    set->n++;
    return made;
}

bool hac_model_is_measurement(double units, double seconds)
{
    return isfinite(units) && isfinite(seconds) && units > 0 && seconds >= 0 && units < 1e30 && seconds < 1e9;
}

static int bucket_size(double units)
{
    int size = (int)floor(log2(units) / 2);
    return size < SMALLEST_BUCKET ? SMALLEST_BUCKET : size > LARGEST_BUCKET ? LARGEST_BUCKET : size;
}

/* Makes place for a sample: a less disturbed one replaces all that the bucket has. Returns false if the
 * bucket has less disturbed samples. */
static bool takes(hac_model_bucket *b, hac_disturbance quality)
{
    if (b->n > 0 && quality > b->quality)
        return false;
    if (quality < b->quality)
        b->n = b->next = b->jobs = b->of_job = b->attempts = 0;
    b->quality = quality;
    return true;
}

void hac_model_set_job(hac_model_set *set, uint64_t number)
{
    set->job = number;
}

static size_t family_of(const char *codelet, hac_type type)
{
    size_t length = strcspn(codelet, ".:@");
    if (length == 4 && strncmp(codelet, "hash", 4) == 0) { /* the kernels of queries */
        codelet = "query";
        length = 5;
    }
    return XXH3_64bits_withSeed(codelet, length, type) % HAC_MODEL_FAMILIES;
}

/* Returns the number of jobs of the codelet's family so far, with the present one. */
static uint64_t count_job(hac_model_set *set, const char *codelet, hac_type type)
{
    hac_model_family *f = &set->families[family_of(codelet, type)];
    if (set->job > f->last) {
        f->last = set->job;
        f->jobs++;
    }
    return f->jobs;
}

/* Whether a device should be measured again `since` jobs of the family after the last of the jobs that tried
 * to: the more there are, the longer it is left alone. */
static bool is_due_after(unsigned attempts, uint64_t since)
{
    return attempts < SURE_JOBS || since >> (attempts < DOUBLINGS ? attempts : DOUBLINGS) > 0;
}

/* Whether the device should be measured again at about the bucket's size. A contradiction that a few jobs do
 * not settle is never settled: the device's times vary. */
static bool is_due(const hac_model_set *set, const hac_model_bucket *b)
{
    uint64_t since = set->families[family_of(b->codelet, b->type)].jobs - b->family_jobs;
    return (b->contradicted && b->attempts - b->doubted < NEW_JOBS) ||
           set->clock - b->attempt_clock >= LASTS || is_due_after(b->attempts, since);
}

static void count_attempt(const hac_model_set *set, hac_model_bucket *b, uint64_t family_jobs)
{
    if (set->job == 0 || b->attempts == 0 || set->job > b->attempt_job)
        b->attempts++;
    b->attempt_job = set->job > b->attempt_job ? set->job : b->attempt_job;
    b->attempt_clock = set->clock;
    b->family_jobs = family_jobs;
}

/* Counts the attempt at all sizes that it stands for. Pieces of a device that is explored are often much
 * smaller than the task that is priced, so larger sizes that are due count the attempt, too. The samples of a
 * `calibrate` stand for their own size only. */
static void count_attempts(hac_model_set *set, const series *s, int size)
{
    uint64_t family_jobs = count_job(set, s->codelet, s->type);
    series either = *s;
    for (int together = 0; together <= 1; together++) {
        either.together = together != 0;
        for (size_t i = lower_bound(set, &either, size - NEAR_SIZES); i < set->n; i++) {
            hac_model_bucket *b = set->buckets[i];
            if (order(b, &either, b->size) != 0)
                break;
            bool same = b->size == size && b->together == s->together;
            if (set->job == 0 ? same : b->size <= size + NEAR_SIZES || is_due(set, b))
                count_attempt(set, b, family_jobs);
        }
    }
}

/* What a bucket that is new, or starts again with less disturbed samples, takes over of its neighbours: the
 * attempts that were no more disturbed. */
static void inherit_attempts(const hac_model_set *set, const series *s, hac_model_bucket *made)
{
    series either = *s;
    for (int together = 0; together <= 1 && set->job != 0; together++) {
        either.together = together != 0;
        for (size_t i = lower_bound(set, &either, made->size - NEAR_SIZES); i < set->n; i++) {
            const hac_model_bucket *b = set->buckets[i];
            if (order(b, &either, b->size) != 0 || b->size > made->size + NEAR_SIZES)
                break;
            if (b == made || b->n == 0 || b->quality > made->quality || b->attempts < made->attempts)
                continue;
            made->attempts = b->attempts;
            made->attempt_job = b->attempt_job;
        }
    }
}

/* Adds a sample, the first one of its job or not. It replaces one of the same job if there are many. */
static void add_sample(hac_model_bucket *b, double units, double seconds, bool begins)
{
    hac_model_sample *place = &b->samples[b->next];
    if (begins) {
        b->of_job = 0;
        b->jobs++;
    }
    if (b->of_job >= OF_A_JOB) {
        place = hac_model_sample_of_age(b, b->of_job % OF_A_JOB);
        begins = place->begins;
    } else {
        b->next = (b->next + 1) % HAC_MODEL_SAMPLES;
        b->n += b->n < HAC_MODEL_SAMPLES;
    }
    b->of_job++;
    *place = (hac_model_sample){units, seconds, begins};
}

void hac_model_note_attempt(hac_model_set *set, const char *device_key, const char *codelet, hac_type type,
                            double units)
{
    series s = series_of(device_key, codelet, type, false);
    if (hac_model_is_measurement(units, 0))
        count_attempts(set, &s, bucket_size(units));
}

void hac_model_record(hac_model_set *set, const char *device_key, const char *codelet, hac_type type,
                      double units, double seconds, bool together)
{
    hac_model_record_disturbed(set, device_key, codelet, type, units, seconds, together, HAC_UNDISTURBED);
}

void hac_model_record_disturbed(hac_model_set *set, const char *device_key, const char *codelet,
                                hac_type type, double units, double seconds, bool together,
                                hac_disturbance disturbance)
{
    if (!hac_model_is_measurement(units, seconds) || (unsigned)type >= HAC_TYPE_COUNT ||
        strlen(device_key) >= HAC_MODEL_KEY_MAX || strlen(codelet) >= HAC_MODEL_NAME_MAX ||
        device_key[0] == '\0' || codelet[0] == '\0')
        return;
    series s = series_of(device_key, codelet, type, together);
    hac_model_bucket *b = obtain(set, &s, bucket_size(units));
    if (b == NULL)
        return;
    bool taken = takes(b, disturbance);
    if (b->attempts == 0)
        inherit_attempts(set, &s, b);
    count_attempts(set, &s, b->size);
    if (!taken)
        return;
    bool begins = b->n == 0 || set->job == 0 || set->job > b->job;
    add_sample(b, units, fmax(seconds, SHORTEST), begins);
    b->job = set->job > b->job ? set->job : b->job;
    b->used = b->attempt_clock = ++set->clock;
    b->stale = true;
    set->dirty = true;
}

static bool is_stale(const hac_model_set *set, const hac_model_bucket *b)
{
    return set->clock - b->used >= LASTS;
}

static hac_prediction from_one(const hac_model_set *set, const hac_model_bucket *b, double units)
{
    hac_prediction p = {
        b->seconds * units / b->units, b->relative_error, b->good, b->quality, is_due(set, b), b->used};
    return p;
}

/* Between two learnt sizes: a straight line in log-log. */
static hac_prediction from_two(const hac_model_set *set, const hac_model_bucket *small,
                               const hac_model_bucket *large, double units)
{
    double position = log(units / small->units) / log(large->units / small->units);
    hac_prediction p = {
        exp(log(small->seconds) + position * log(large->seconds / small->seconds)),
        fmax(small->relative_error, large->relative_error),
        small->good < large->good ? small->good : large->good,
        small->quality > large->quality ? small->quality : large->quality,
        is_due(set, large),
        small->used < large->used ? small->used : large->used,
    };
    return p;
}

/* A sort of two keys says nothing of one of a hundred million: in proportion it would take hours. */
static bool is_far(const hac_model_bucket *largest, double units)
{
    double min = largest->units < FEW ? COLD : OVERHEAD;
    return units > largest->units * NEARBY && largest->seconds < min;
}

static bool is_near(const hac_model_bucket *b, double units)
{
    return units <= b->units * NEARBY && b->units <= units * NEARBY;
}

/* The disturbance up to which the buckets [first, end) of a series count: that of the least disturbed one of
 * about that size. */
static hac_disturbance tolerate(const hac_model_set *set, size_t first, size_t end, double units)
{
    hac_disturbance min = HAC_COLD;
    for (size_t i = first; i < end; i++)
        if (set->buckets[i]->quality < min && is_near(summary(set, i), units))
            min = set->buckets[i]->quality;
    return min;
}

/* Some buckets of a series. */
typedef struct bucket_range {
    size_t first, end;
    hac_disturbance tolerated;
} bucket_range;

/* Smaller pieces that were measured later, and show that a bucket of few jobs is wrong: large work seldom
 * has a much worse rate than small work, whose fixed costs count. NULL: there are none. */
static const hac_model_bucket *find_correction(const hac_model_set *set, const bucket_range *range,
                                               const hac_model_bucket *b)
{
    const hac_model_bucket *found = NULL;
    for (size_t i = range->first; i < range->end && b->jobs < SURE_JOBS; i++) {
        const hac_model_bucket *other = summary(set, i);
        if (other->quality <= range->tolerated && other->jobs > 1 && other->used > b->used &&
            other->units < b->units &&
            other->seconds / other->units * HAC_MODEL_CONTRADICTION < b->seconds / b->units &&
            (found == NULL || other->used > found->used))
            found = other;
    }
    return found;
}

/* A prediction by the bucket, or by the line between two. */
static hac_prediction from_buckets(const hac_model_set *set, const bucket_range *range,
                                   const hac_model_bucket *below, const hac_model_bucket *above, double units)
{
    const hac_model_bucket *b = above != NULL ? above : below;
    const hac_model_bucket *correction = find_correction(set, range, b);
    return correction != NULL               ? from_one(set, correction, units)
           : below != NULL && above != NULL ? from_two(set, below, above, units)
                                            : from_one(set, b, units);
}

static hac_prediction predict(const hac_model_set *set, const series *s, double units)
{
    size_t first = lower_bound(set, s, SMALLEST_BUCKET), end = first;
    hac_prediction none = {0};
    while (end < set->n && order(set->buckets[end], s, set->buckets[end]->size) == 0)
        end++;
    const hac_model_bucket *below = NULL, *above = NULL;
    hac_disturbance tolerated = tolerate(set, first, end, units);
    for (size_t i = first; i < end && above == NULL; i++) {
        const hac_model_bucket *b = summary(set, i);
        if (b->quality > tolerated)
            continue;
        if (b->units < units)
            below = b;
        else
            above = b;
    }
    bucket_range range = {first, end, tolerated};
    if (above == NULL && (below == NULL || is_far(below, units)))
        return none;
    return from_buckets(set, &range, below, above, units);
}

/* A few samples, and not long ago: while something is not done, nothing new is learnt of it. */
static bool is_current(const hac_model_set *set, const hac_model_bucket *b)
{
    return b->good >= TOGETHER_SAMPLES && b->quality == HAC_UNDISTURBED && !is_stale(set, b);
}

/* Whether there are samples of about that size; `current`: and they are current. One slow run of a small job
 * together must not speak against working together at every size: it would never be tried again. */
static bool known_nearby(const hac_model_set *set, const series *s, double units, bool current)
{
    for (size_t i = lower_bound(set, s, SMALLEST_BUCKET); i < set->n; i++) {
        if (order(set->buckets[i], s, set->buckets[i]->size) != 0)
            return false;
        const hac_model_bucket *b = summary(set, i);
        if ((!current || is_current(set, b)) && is_near(b, units))
            return true;
    }
    return false;
}

hac_prediction hac_model_predict(const hac_model_set *set, const char *device_key, const char *codelet,
                                 hac_type type, double units, bool together)
{
    hac_prediction none = {0};
    if (set == NULL || !isfinite(units) || units < 0)
        return none;
    units = fmax(units, 1);
    series s = series_of(device_key, codelet, type, together);
    if (together && known_nearby(set, &s, units, true)) {
        hac_prediction p = predict(set, &s, units);
        if (p.samples > 0)
            return p;
    }
    s.together = false;
    hac_prediction alone = predict(set, &s, units);
    s.together = true;
    if (!known_nearby(set, &s, units, false))
        return alone;
    hac_prediction beside = predict(set, &s, units);
    /* a piece is no faster beside others: if it was later, the device was busy when it was measured alone */
    bool corrects = beside.last > alone.last && beside.seconds * HAC_MODEL_CONTRADICTION < alone.seconds;
    bool better = beside.samples > 0 && (beside.disturbance < alone.disturbance || corrects);
    return alone.samples == 0 || better ? beside : alone;
}

bool hac_model_is_due(const hac_model_set *set, const char *device_key, const char *codelet, hac_type type)
{
    series alone = series_of(device_key, codelet, type, false);
    unsigned attempts = 0;
    uint64_t last = 0;
    for (size_t i = set != NULL ? lower_bound(set, &alone, SMALLEST_BUCKET) : 0; set != NULL && i < set->n;
         i++) {
        const hac_model_bucket *b = set->buckets[i];
        alone.together = b->together;
        if (order(b, &alone, b->size) != 0)
            break;
        attempts = b->attempts > attempts ? b->attempts : attempts;
        last = b->family_jobs > last ? b->family_jobs : last;
    }
    return set == NULL || is_due_after(attempts, set->families[family_of(codelet, type)].jobs - last);
}

/* Whether tasks that were not much larger have been measured, not only cold. */
static bool knows_size(const hac_model_set *set, const series *s, double units)
{
    for (size_t i = lower_bound(set, s, SMALLEST_BUCKET); i < set->n; i++) {
        if (order(set->buckets[i], s, set->buckets[i]->size) != 0)
            return false;
        const hac_model_bucket *b = summary(set, i);
        if (b->quality != HAC_COLD && b->units <= units * SMALLER)
            return true;
    }
    return false;
}

hac_prediction hac_model_predict_narrow(const hac_model_set *set, const char *device_key, const char *codelet,
                                        hac_type type, double units, bool together)
{
    hac_prediction none = {0};
    if (set == NULL || !isfinite(units) || units < 0)
        return none;
    series alone = series_of(device_key, codelet, type, false);
    series beside = series_of(device_key, codelet, type, true);
    units = fmax(units, 1);
    if (!knows_size(set, &alone, units) && !knows_size(set, &beside, units))
        return none;
    return hac_model_predict(set, device_key, codelet, type, units, together);
}

hac_prediction hac_model_recall(const hac_model_set *set, const char *device_key, const char *codelet,
                                hac_type type, double units)
{
    hac_prediction none = {0};
    if (set == NULL || !isfinite(units) || units < 1)
        return none;
    series s = series_of(device_key, codelet, type, true);
    for (size_t i = lower_bound(set, &s, SMALLEST_BUCKET); i < set->n; i++) {
        if (order(set->buckets[i], &s, set->buckets[i]->size) != 0)
            break;
        const hac_model_bucket *b = summary(set, i);
        if (is_current(set, b) && units <= b->units * 2 && b->units <= units * 2)
            return from_one(set, b, units);
    }
    return none;
}

bool hac_model_set_dirty(const hac_model_set *set)
{
    return set->dirty;
}

void hac_model_each(const hac_model_set *set, void (*each)(void *context, const hac_model_entry *entry),
                    void *context)
{
    for (size_t i = 0; i < set->n; i++) {
        const hac_model_bucket *b = summary(set, i);
        hac_model_entry entry = {b->device_key,     b->codelet, b->type,        b->units,    b->seconds,
                                 b->relative_error, b->good,    b->n - b->good, b->together, b->quality};
        each(context, &entry);
    }
}

void hac_model_set_restore(hac_model_set *set, const char *device_key, const char *codelet, hac_type type,
                           bool together, hac_disturbance quality, const hac_model_sample *sample)
{
    series its = series_of(device_key, codelet, type, together);
    hac_model_bucket *b = obtain(set, &its, bucket_size(sample->units));
    if (b == NULL || !takes(b, quality))
        return;
    add_sample(b, sample->units, fmax(sample->seconds, SHORTEST), b->n == 0 || sample->begins);
    b->attempts = b->jobs;
    b->used = b->attempt_clock = ++set->clock;
    b->stale = true;
}
