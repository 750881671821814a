/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Performance models: seconds for `units` of work of a codelet on a device, learnt from every run and from
 * `calibrate`. Kept per (device key, codelet, type, size bucket of units (powers of four), together):
 * `together` separates runs while other devices worked on the same job, so that shared memory bandwidth is
 * in the figures. Robust: the last 31 samples of a bucket, median of seconds per unit; samples further than
 * 5 median absolute deviations (at least 2 % of the median each) are kept apart and listed, not used. Never
 * borrowed from another device.
 */
#ifndef PLANNER_MODEL_H
#define PLANNER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hac/type.h>

#include "base/error.h"

typedef struct hac_model_set hac_model_set;

typedef struct hac_prediction {
    double seconds;
    double relative_error; /* median absolute deviation ÷ median; confidence */
    unsigned samples;      /* behind it; 0: no model, `seconds` is meaningless */
} hac_prediction;

HAC_MUST_USE hac_status hac_model_set_new(hac_model_set **ret, hac_error *err);
void hac_model_set_free(hac_model_set *set);

/* Takes one measurement in. Values that are not finite, negative seconds and units ≤ 0 are ignored. At most
 * 4,096 buckets are kept; the one longest without a new sample goes first. */
void hac_model_record(hac_model_set *set, const char *device_key, const char *codelet, hac_type type,
                      double units, double seconds, bool together);

/* Interpolates between the nearest buckets (log-log), in proportion outside them, but not to over 64 times
 * the largest where that took less than a millisecond: then there is no model. Falls back from `together` to
 * alone, and back where only runs together were of about that size. `set` may be NULL: no model. */
hac_prediction hac_model_predict(const hac_model_set *set, const char *device_key, const char *codelet,
                                 hac_type type, double units, bool together);

/* What was measured, a few times and not long ago, of nearly so many units (half to twice as many): nothing
 * is concluded from other sizes. seconds: of these units, in proportion. samples 0: nothing. */
hac_prediction hac_model_recall(const hac_model_set *set, const char *device_key, const char *codelet,
                                hac_type type, double units);

/* Whether anything was learnt since the last hac_model_set_write. */
bool hac_model_set_dirty(const hac_model_set *set);

/* Text form, one line a bucket, versioned; a damaged line (each has a check sum) is skipped and counted,
 * never trusted; HAC_UNSUPPORTED for another version. Reading adds to what is there. */
HAC_MUST_USE hac_status hac_model_set_write(hac_model_set *set, char **ret_text, size_t *ret_bytes,
                                            hac_error *err);
HAC_MUST_USE hac_status hac_model_set_read(hac_model_set *set, const char *text, size_t bytes,
                                           size_t *ret_skipped, hac_error *err);

/* For listings: calls `each` for every bucket. */
typedef struct hac_model_entry {
    const char *device_key, *codelet;
    hac_type type;
    double units, seconds, relative_error;
    unsigned samples, outliers;
    bool together;
} hac_model_entry;
void hac_model_each(const hac_model_set *set, void (*each)(void *context, const hac_model_entry *entry),
                    void *context);

#endif
