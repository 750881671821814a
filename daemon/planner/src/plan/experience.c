/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/experience.h"

#include <math.h>
#include <string.h>

#include "price.h"

/* All in logarithms of time. How far a device of a kind is from what is assumed of the kind: within a factor
 * of 5. How far a codelet is from the others of its device: within 2.5. */
#define KIND_DEVIATION    1.6
#define CODELET_DEVIATION 0.9
#define RATIO_MAX         64.0 /* of one codelet */
#define CODELETS_MAX      32   /* of a device that are looked at */
#define LAUNCHES_MIN      10   /* shorter measurements are mostly overhead */

/* What is known of one codelet: its longest measurement. */
typedef struct codelet_ratio {
    const char *codelet;
    hac_type type;
    double seconds, ratio;
} codelet_ratio;

typedef struct survey {
    const hac_machine_device *device;
    codelet_ratio ratios[HAC_WORK_CLASSES][CODELETS_MAX];
    size_t n[HAC_WORK_CLASSES];
} survey;

static codelet_ratio *find(survey *s, hac_work_class class, const hac_model_entry *entry)
{
    for (size_t i = 0; i < s->n[class]; i++)
        if (strcmp(s->ratios[class][i].codelet, entry->codelet) == 0 &&
            s->ratios[class][i].type == entry->type)
            return &s->ratios[class][i];
    if (s->n[class] == CODELETS_MAX)
        return NULL;
    codelet_ratio *ratio = &s->ratios[class][s->n[class]++];
    *ratio = (codelet_ratio){.codelet = entry->codelet, .type = entry->type};
    return ratio;
}

static void look_at(void *context, const hac_model_entry *entry)
{
    survey *s = context;
    if (entry->disturbance == HAC_COLD || strcmp(entry->device_key, s->device->key) != 0 ||
        hac_model_learner(entry->codelet) != NULL || hac_model_is_narrow(entry->codelet) ||
        entry->seconds < LAUNCHES_MIN * HAC_LAUNCH_SECONDS)
        return;
    double assumed = hac_price_assumed(s->device, entry->codelet, entry->type, entry->units);
    if (!(assumed > 0))
        return;
    codelet_ratio *ratio = find(s, hac_price_work_class(entry->codelet), entry);
    if (ratio == NULL || entry->seconds < ratio->seconds)
        return;
    ratio->seconds = entry->seconds;
    ratio->ratio = entry->seconds / assumed;
}

/* The mean of a normal distribution whose prior mean is 0: the more codelets, the less the prior counts. */
static hac_experience learn(const codelet_ratio *ratios, size_t n)
{
    const double prior = KIND_DEVIATION * KIND_DEVIATION, each = CODELET_DEVIATION * CODELET_DEVIATION;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += log(fmin(fmax(ratios[i].ratio, 1 / RATIO_MAX), RATIO_MAX));
    double variance = 1 / (1 / prior + (double)n / each);
    return (hac_experience){.factor = exp(sum / each * variance),
                            .uncertainty = exp(sqrt(variance + each)),
                            .codelets = (unsigned)n};
}

void hac_experience_learn(hac_machine *machine)
{
    for (size_t d = 0; d < machine->n_devices && d < HAC_MACHINE_MAX_DEVICES; d++) {
        survey s = {.device = &machine->devices[d]};
        if (machine->models != NULL)
            hac_model_each(machine->models, look_at, &s);
        for (int class = 0; class < HAC_WORK_CLASSES; class ++)
            machine->devices[d].experience[class] = learn(s.ratios[class], s.n[class]);
    }
}
