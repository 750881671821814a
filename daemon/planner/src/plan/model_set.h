/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of performance models: model.c records and predicts, model_text.c writes and reads them. */
#ifndef PLANNER_MODEL_SET_H
#define PLANNER_MODEL_SET_H

#include "planner/model.h"

#define HAC_MODEL_KEY_MAX  160
#define HAC_MODEL_SAMPLES  31
#define HAC_MODEL_FAMILIES 64 /* of codelets, by hash; a collision costs an exploration */

typedef struct hac_model_sample {
    double units, seconds;
    bool begins; /* the first one of its job */
} hac_model_sample;

typedef struct hac_model_bucket {
    uint64_t hash; /* of device key and codelet */
    char device_key[HAC_MODEL_KEY_MAX];
    char codelet[HAC_MODEL_NAME_MAX];
    hac_type type;
    bool together;
    int size; /* ⌊log4 units⌋ */
    hac_model_sample samples[HAC_MODEL_SAMPLES];
    unsigned n, next;        /* samples held; place of the next one */
    hac_disturbance quality; /* of all samples held */
    uint64_t job;            /* of the last sample; 0: none of a job that is numbered */
    unsigned of_job;         /* samples of that job */
    unsigned jobs;           /* that have measured this since it was last contradicted */
    uint64_t used;           /* set->clock at the last sample */
    /* Attempts to measure about this size, alone or together. They include samples that this bucket did not
     * take: other sizes, the other series, and samples that were more disturbed. */
    unsigned attempts;      /* jobs */
    uint64_t attempt_job;   /* the last of these jobs */
    uint64_t attempt_clock; /* set->clock at the last attempt */
    uint64_t family_jobs;   /* what the family had counted at the last attempt */
    unsigned doubted;       /* attempts when `contradicted` became true */
    bool stale;             /* what follows is of before the last sample */
    /* of the samples that are no outliers */
    double units, seconds, relative_error;
    unsigned good;
    bool contradicted; /* the last job's samples differ from the others */
} hac_model_bucket;

/* The codelets that stand for each other on different devices: those of a sort, or of a query. */
typedef struct hac_model_family {
    uint64_t last; /* the job that was counted last */
    uint64_t jobs;
} hac_model_family;

struct hac_model_set {
    hac_model_bucket **buckets; /* sorted by order(): those of a device together */
    size_t n;
    uint64_t clock;
    uint64_t job; /* whose measurements are recorded; 0: each one counts as a job */
    hac_model_family families[HAC_MODEL_FAMILIES];
    bool dirty;
};

/* Whether these figures may be kept; others are not finite, or nothing that a machine does. */
bool hac_model_is_measurement(double units, double seconds);

/* The sample before `age` others of the bucket; 0: the newest. */
hac_model_sample *hac_model_sample_of_age(hac_model_bucket *bucket, unsigned age);

/* Adds a sample of an earlier hacd, which counts as stale. It is lost if there is no place for it. */
void hac_model_set_restore(hac_model_set *set, const char *device_key, const char *codelet, hac_type type,
                           bool together, hac_disturbance quality, const hac_model_sample *sample);

#endif
