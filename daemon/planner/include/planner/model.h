/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Performance models: the seconds that a codelet needs on a device for `units` of work. They are learnt from
 * every run and from `calibrate`.
 *
 * There is a bucket for each device key, codelet, type, power of four of units, and value of `together`. The
 * last separates runs during which other devices worked on the same job, because such devices share memory
 * bandwidth. A bucket keeps its last 31 samples, at most 7 of one job, and predicts their median of seconds
 * per unit. Samples that are more than 5 median absolute deviations (each taken as at least 2 % of the
 * median) from the median are listed as outliers and not used. A device never uses the models of another
 * device.
 *
 * Samples of one job are wrong together if the device was busy meanwhile. So jobs are compared: one job
 * contradicts others if it took over twice as long, or less than half. Three jobs in turn that contradict
 * all older ones replace them, two replace a single one, and of two jobs alone the faster one counts.
 *
 * A prediction is *stale* if the device should be measured again although it is not used: until three jobs
 * have tried to, in the three jobs after a contradiction, and then once 8, 16, 32 … jobs with codelets of its
 * family have passed. A job has tried if it measured the device at the codelet, alone or together, at about
 * the size, or at a smaller size while the prediction was stale. Whether the sample was any good does not
 * matter: a device whose samples are all worse than what is known would else be measured by each job.
 *
 * Pieces that took less than half of the time per unit, were measured later, and are smaller or ran
 * beside other devices, correct what fewer than three jobs have said.
 *
 * A device's first pieces of a job are *disturbed*: they fault in pages, or load the program. They are better
 * than no measurement and worse than any other one. A bucket therefore holds samples of one degree of
 * disturbance only: a less disturbed sample replaces all others, and a more disturbed one is dropped. A
 * prediction uses the least disturbed buckets of about its size.
 */
#ifndef PLANNER_MODEL_H
#define PLANNER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hac/type.h>

#include "base/error.h"

#define HAC_MODEL_CONTRADICTION 2.0 /* a measurement that differs by a larger factor contradicts another */

typedef struct hac_model_set hac_model_set;

typedef enum hac_disturbance {
    HAC_UNDISTURBED = 0,
    HAC_FRESH_PAGES, /* the executor mapped a buffer for the job: it faulted in pages */
    HAC_COLD         /* the executor's first task of that codelet: it loaded the program */
} hac_disturbance;

typedef struct hac_prediction {
    double seconds;
    double relative_error;       /* median absolute deviation divided by the median */
    unsigned samples;            /* number of samples; 0: there is no model, and `seconds` is meaningless */
    hac_disturbance disturbance; /* of the samples */
    bool stale;                  /* to be measured again, if the device is not used otherwise */
    uint64_t last;               /* number of the last of the samples, of all that were recorded */
} hac_prediction;

#define HAC_MODEL_NAME_MAX 96 /* bytes of a codelet's name with its suffixes and NUL */

/* The first characters of suffixes that make a model narrower: it is of jobs that are alike, or the same. */
#define HAC_MODEL_ALIKE '#'
#define HAC_MODEL_SAME  '='
/* Whether the codelet's name has such a suffix. What such a model knows, a wider one knows as well. */
bool hac_model_is_narrow(const char *codelet);

HAC_MUST_USE hac_status hac_model_set_new(hac_model_set **ret, hac_error *err);
void hac_model_set_free(hac_model_set *set);

/* A model may belong to one learner, a user whose figures must not change the predictions of others: the
 * codelet's name is "CODELET@LEARNER" then. Returns the learner; NULL: the model is shared. */
const char *hac_model_learner(const char *codelet);

/* What is recorded from now on was measured by that job. 0: each measurement counts as a job, as those of
 * `calibrate` do. Numbers of jobs only rise. */
void hac_model_set_job(hac_model_set *set, uint64_t number);

/* Records one measurement. Values that are not finite, negative seconds and units ≤ 0 are ignored. At most
 * 4,096 buckets are kept, of one learner at most 256. A new bucket replaces the one that got no sample for
 * the longest time: of the same learner if the learner has that many, else of any learner. A learner never
 * replaces a shared one. */
void hac_model_record(hac_model_set *set, const char *device_key, const char *codelet, hac_type type,
                      double units, double seconds, bool together);
void hac_model_record_disturbed(hac_model_set *set, const char *device_key, const char *codelet,
                                hac_type type, double units, double seconds, bool together,
                                hac_disturbance disturbance);

/* Notes that a job measured the device at the codelet, but that its time says nothing about the device. */
void hac_model_note_attempt(hac_model_set *set, const char *device_key, const char *codelet, hac_type type,
                            double units);

/* Predicts the time for `units`. Between two buckets the prediction is interpolated (log-log), outside of all
 * buckets it is proportional. There is no model for more than 64 times the units of the largest bucket if
 * that bucket took less than a millisecond. If there are no runs with this value of `together` of about that
 * size, or only more disturbed ones, runs with the other value are used. `set` may be NULL: no model. */
hac_prediction hac_model_predict(const hac_model_set *set, const char *device_key, const char *codelet,
                                 hac_type type, double units, bool together);

/* Whether the device should be measured again at the codelet, at any size (`stale`, above). */
bool hac_model_is_due(const hac_model_set *set, const char *device_key, const char *codelet, hac_type type);

/* As hac_model_predict, but only if tasks of a sixteenth of the units or more were measured, after the
 * program was loaded. */
hac_prediction hac_model_predict_narrow(const hac_model_set *set, const char *device_key, const char *codelet,
                                        hac_type type, double units, bool together);

/* Returns what was measured recently, at least a few times, for half to twice as many units; other sizes are
 * not used. `seconds` is scaled to `units`. samples 0: there are no such measurements. */
hac_prediction hac_model_recall(const hac_model_set *set, const char *device_key, const char *codelet,
                                hac_type type, double units);

/* Whether a measurement was recorded since the last hac_model_set_write. */
bool hac_model_set_dirty(const hac_model_set *set);

/* Convert a set to text and back. The text has a version and one line for each bucket, with a check sum.
 * Reading adds to the buckets of the set; a damaged line is skipped and counted. HAC_UNSUPPORTED: another
 * version. */
HAC_MUST_USE hac_status hac_model_set_write(hac_model_set *set, char **ret_text, size_t *ret_bytes,
                                            hac_error *err);
HAC_MUST_USE hac_status hac_model_set_read(hac_model_set *set, const char *text, size_t bytes,
                                           size_t *ret_skipped, hac_error *err);

/* Calls `each` for every bucket, for listings. */
typedef struct hac_model_entry {
    const char *device_key, *codelet;
    hac_type type;
    double units, seconds, relative_error;
    unsigned samples, outliers;
    bool together;
    hac_disturbance disturbance;
} hac_model_entry;
void hac_model_each(const hac_model_set *set, void (*each)(void *context, const hac_model_entry *entry),
                    void *context);

#endif
