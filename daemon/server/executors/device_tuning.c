/* SPDX-License-Identifier: Apache-2.0 */
#include "device_tuning.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/text.h"

/* One line per step:
 *     NAME KERNEL_HASH DRIVER threads placement style block_items work_group time gain
 * Blanks in names are replaced. The last two fields are missing in files of earlier versions. Invalid lines
 * are skipped. */
#define LINE_FORMAT "%63s %63s %63s %u %u %u %u %u %lld %lf"
#define LINES_MAX   10000

typedef struct tuning_step {
    char name[64], hash[64], driver[64];
    hac_device_tuning settings;
    long long time; /* seconds since 1970; 0: not known */
    double gain;    /* 0: not known */
} tuning_step;

typedef struct tuning_steps {
    tuning_step *items;
    size_t n;
} tuning_steps;

static void clear_steps(tuning_steps *steps)
{
    free(steps->items);
}

const char *hac_tuning_placement_name(uint32_t placement)
{
    static const char *const names[] = {"any", "compact", "spread"};
    return names[placement];
}

const char *hac_tuning_style_name(uint32_t style)
{
    static const char *const names[] = {"auto", "block", "simt"};
    return names[style];
}

/* ---- the file ------------------------------------------------------------------------------------------ */

static void tuning_path(const hac_tuning *tuning, char *ret, size_t capacity)
{
    snprintf(ret, capacity, "%s/tuning", tuning->state_directory);
}

static void without_blanks(const char *from, char *ret, size_t capacity)
{
    snprintf(ret, capacity, "%.63s", from[0] != '\0' ? from : "-");
    for (char *p = ret; *p != '\0'; p++)
        if (*p == ' ' || *p == '\t' || *p == '\n')
            *p = '_';
}

static void name_device(const hac_server_device *device, tuning_step *step)
{
    without_blanks(device->config.name, step->name, sizeof step->name);
    without_blanks(device->kernel_hash, step->hash, sizeof step->hash);
    without_blanks(device->driver, step->driver, sizeof step->driver);
}

static bool is_of(const tuning_step *step, const hac_server_device *device)
{
    tuning_step own;
    name_device(device, &own);
    return strcmp(step->name, own.name) == 0 && strcmp(step->hash, own.hash) == 0 &&
           strcmp(step->driver, own.driver) == 0;
}

static bool read_step(const char *line, tuning_step *ret)
{
    hac_device_tuning *t = &ret->settings;
    ret->time = 0;
    ret->gain = 0;
    int n = sscanf(line, LINE_FORMAT, ret->name, ret->hash, ret->driver, &t->threads, &t->placement,
                   &t->style, &t->block_items, &t->work_group, &ret->time, &ret->gain);
    return n >= 8 && t->threads <= 4096 && t->placement <= HAC_PLACEMENT_SPREAD &&
           t->style <= HAC_STYLE_CHOICE_SIMT && t->block_items <= 1u << 24 && t->work_group <= 1u << 16;
}

/* No file: no steps. */
static hac_status read_steps(const hac_tuning *tuning, tuning_steps *ret, hac_error *err)
{
    char path[PATH_MAX + 16], line[512];
    *ret = (tuning_steps){NULL, 0};
    tuning_path(tuning, path, sizeof path);
    hac_autofclose FILE *file = fopen(path, "re");
    for (int i = 0; file != NULL && i < LINES_MAX && fgets(line, sizeof line, file) != NULL; i++) {
        tuning_step step;
        if (!read_step(line, &step))
            continue;
        if ((ret->n & (ret->n - 1)) == 0) { /* full at every power of two */
            tuning_step *more = reallocarray(ret->items, ret->n == 0 ? 1 : 2 * ret->n, sizeof *more);
            if (more == NULL)
                return hac_fail_no_memory(err);
            ret->items = more;
        }
        ret->items[ret->n++] = step;
    }
    return HAC_OK;
}

/* The old file stays if the new one cannot be written. */
static hac_status write_steps(const hac_tuning *tuning, const tuning_steps *steps, hac_error *err)
{
    char path[PATH_MAX + 16], temporary[PATH_MAX + 24];
    tuning_path(tuning, path, sizeof path);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    hac_text text = HAC_TEXT_NONE;
    hac_autofree char *lines = NULL;
    size_t bytes = 0;
    for (size_t i = 0; i < steps->n; i++) {
        const tuning_step *s = &steps->items[i];
        const hac_device_tuning *t = &s->settings;
        hac_text_addf(&text, "%s %s %s %u %u %u %u %u %lld %.4f\n", s->name, s->hash, s->driver, t->threads,
                      t->placement, t->style, t->block_items, t->work_group, s->time, s->gain);
    }
    hac_status status = hac_text_finish(&text, &lines, &bytes, err);
    if (status != HAC_OK)
        return status;
    static const hac_replace_points points = {NULL, NULL, NULL};
    int errnum = hac_replace_file(AT_FDCWD, temporary, path, lines, bytes, &points);
    return errnum == 0 ? HAC_OK : hac_fail_errno(err, HAC_FAILED, errnum, "cannot write %s", path);
}

/* ---- settings in force --------------------------------------------------------------------------------- */

static const tuning_step *last_step(const tuning_steps *steps, const hac_server_device *device)
{
    for (size_t i = steps->n; i-- > 0;)
        if (is_of(&steps->items[i], device))
            return &steps->items[i];
    return NULL;
}

void hac_tuning_load(const hac_tuning *tuning, hac_devices *devices)
{
    hac_cleanup(clear_steps) tuning_steps steps;
    if (read_steps(tuning, &steps, NULL) != HAC_OK)
        return;
    for (uint32_t i = 0; i < devices->count; i++) {
        const tuning_step *last = last_step(&steps, devices->items[i]);
        if (last != NULL)
            hac_device_retune(devices->items[i], &last->settings);
    }
}

void hac_tuning_apply(const hac_tuning *tuning, uint32_t index, const hac_device_tuning *settings)
{
    hac_device_retune(tuning->executors->devices->items[index], settings);
    hac_executors_leave_device(tuning->executors, index);
    tuning->machine->stale = true;
}

hac_status hac_tuning_keep(const hac_tuning *tuning, uint32_t index, double gain, hac_error *err)
{
    const hac_server_device *device = tuning->executors->devices->items[index];
    tuning_step step = {.settings = device->tuning, .time = (long long)time(NULL), .gain = gain};
    hac_cleanup(clear_steps) tuning_steps steps;
    name_device(device, &step);
    hac_status status = read_steps(tuning, &steps, err);
    if (status != HAC_OK)
        return status;
    tuning_step *more = reallocarray(steps.items, steps.n + 1, sizeof *more);
    if (more == NULL)
        return hac_fail_no_memory(err);
    steps.items = more;
    steps.items[steps.n++] = step;
    return write_steps(tuning, &steps, err);
}

/* Removes the last step of a device, or all of them. Returns whether it had one. */
static bool drop_steps(tuning_steps *steps, const hac_server_device *device, bool all)
{
    bool dropped = false;
    for (size_t i = steps->n; i-- > 0 && (all || !dropped);) {
        if (!is_of(&steps->items[i], device))
            continue;
        dropped = true;
        steps->n--;
        memmove(&steps->items[i], &steps->items[i + 1], (steps->n - i) * sizeof *steps->items);
    }
    return dropped;
}

hac_status hac_tuning_revert(const hac_tuning *tuning, uint32_t mask, bool all, hac_error *err)
{
    static const hac_device_tuning none;
    const hac_devices *devices = tuning->executors->devices;
    hac_cleanup(clear_steps) tuning_steps steps;
    uint32_t dropped = 0;
    hac_status status = read_steps(tuning, &steps, err);
    if (status != HAC_OK)
        return status;
    for (uint32_t i = 0; i < devices->count; i++)
        if ((mask & (1u << i)) && drop_steps(&steps, devices->items[i], all))
            dropped |= 1u << i;
    if (dropped != 0)
        status = write_steps(tuning, &steps, err);
    for (uint32_t i = 0; i < devices->count && status == HAC_OK; i++) {
        const tuning_step *last = last_step(&steps, devices->items[i]);
        if (dropped & (1u << i))
            hac_tuning_apply(tuning, i, last != NULL ? &last->settings : &none);
    }
    return status;
}

/* ---- descriptions -------------------------------------------------------------------------------------- */

static const char *source_of(bool is_free, uint32_t tuned)
{
    return !is_free ? "profile" : tuned != 0 ? "tune" : "driver";
}

/* Number of steps, and the last one. */
static void describe_steps(const tuning_steps *steps, const hac_server_device *device, hac_text *text)
{
    const tuning_step *last = last_step(steps, device);
    uint64_t n = 0;
    for (size_t i = 0; i < steps->n; i++)
        n += is_of(&steps->items[i], device);
    hac_json_unsigned(text, "steps", n);
    if (last != NULL && last->time > 0)
        hac_json_integer(text, "tuned_at", last->time);
    else
        hac_json_null(text, "tuned_at");
    if (last != NULL && last->gain > 0)
        hac_json_number(text, "gain", last->gain);
    else
        hac_json_null(text, "gain");
}

void hac_tuning_describe(const hac_tuning *tuning, uint32_t index, hac_text *text)
{
    const hac_server_device *device = tuning->executors->devices->items[index];
    const hac_device_tuning *t = &device->tuning;
    hac_cleanup(clear_steps) tuning_steps steps;
    hac_json_string(text, "name", device->config.name);
    hac_json_unsigned(text, "threads", device->config.threads);
    hac_json_string(text, "placement",
                    device->free_placement          ? hac_tuning_placement_name(t->placement)
                    : device->config.n_affinity > 0 ? "affinity"
                                                    : "any");
    hac_json_string(text, "style", device->simt ? "simt" : "block");
    hac_json_unsigned(text, "block_items", device->block_items);
    hac_json_unsigned(text, "work_group", device->config.work_group);
    hac_json_open(text, "from", '{');
    hac_json_string(text, "threads", source_of(device->free_threads, t->threads));
    hac_json_string(text, "placement",
                    source_of(device->free_placement || device->config.n_affinity == 0, t->placement));
    hac_json_string(text, "style", source_of(device->free_style, t->style));
    hac_json_string(text, "block_items", source_of(device->free_block_items, t->block_items));
    hac_json_string(text, "work_group", source_of(device->free_work_group, t->work_group));
    hac_json_close(text, '}');
    if (read_steps(tuning, &steps, NULL) == HAC_OK)
        describe_steps(&steps, device, text);
}
