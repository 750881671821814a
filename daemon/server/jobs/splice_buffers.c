/* SPDX-License-Identifier: Apache-2.0 */
#include "splice_buffers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_MAX (UINT64_C(1) << 48) /* an executor may report nonsense */

static const char *const stage_names[HAC_SPLICE_N_STAGES] = {
    [HAC_STAGE_READ] = "read",
    [HAC_STAGE_PREPROCESS] = "preprocess",
    [HAC_STAGE_SPLICE] = "splice",
    [HAC_STAGE_MAP] = "map",
};

void hac_splice_buffers_clear(hac_splice_buffers *buffers)
{
    free(buffers->devices);
    *buffers = (hac_splice_buffers){0};
}

void hac_splice_buffers_copy(hac_splice_buffers *to, const hac_splice_buffers *from)
{
    hac_splice_buffers_clear(to);
    if (from->n_devices == 0)
        return;
    to->devices = malloc(from->n_devices * sizeof *to->devices);
    if (to->devices == NULL)
        return;
    memcpy(to->devices, from->devices, from->n_devices * sizeof *to->devices);
    to->n_devices = from->n_devices;
}

/* ---- what tasks report ---- */

const uint64_t *hac_splice_values(const char *codelet, const Hac__Executor__Done *done)
{
    bool has = strcmp(codelet, "query.aggregate") == 0 || strcmp(codelet, "hash.aggregate") == 0 ||
               strcmp(codelet, "query.rows") == 0;
    if (!has || done->n_values < HAC_AGGREGATE_VALUE_SPLICE + HAC_SPLICE_N_VALUES)
        return NULL;
    return done->values + HAC_AGGREGATE_VALUE_SPLICE;
}

static uint64_t bounded(uint64_t value)
{
    return value < VALUE_MAX ? value : VALUE_MAX;
}

static hac_splice_device *device_of(hac_splice_buffers *buffers, const char *name)
{
    for (size_t i = 0; i < buffers->n_devices; i++)
        if (strcmp(buffers->devices[i].name, name) == 0)
            return &buffers->devices[i];
    hac_splice_device *devices =
        reallocarray(buffers->devices, buffers->n_devices + 1, sizeof *buffers->devices);
    if (devices == NULL)
        return NULL;
    buffers->devices = devices;
    hac_splice_device *device = &devices[buffers->n_devices++];
    memset(device, 0, sizeof *device);
    snprintf(device->name, sizeof device->name, "%s", name);
    return device;
}

static void add_values(uint64_t *to, const uint64_t *values)
{
    for (unsigned i = 0; i < HAC_SPLICE_N_VALUES; i++) {
        uint64_t value = bounded(values[i]);
        if (i < HAC_SPLICE_STAGES && hac_splice_value_is_max(i))
            to[i] = value > to[i] ? value : to[i];
        else
            to[i] += value;
    }
}

void hac_splice_buffers_add(hac_splice_buffers *buffers, const char *device, const char *codelet,
                            const Hac__Executor__Done *done)
{
    const uint64_t *values = hac_splice_values(codelet, done);
    hac_splice_device *to = values != NULL ? device_of(buffers, device) : NULL;
    if (to == NULL)
        return;
    add_values(to->values, values);
    to->tasks++;
    to->seconds += done->seconds;
}

void hac_splice_buffers_stages(const hac_plan *plan, const Hac__Executor__Done *done, hac_run_record *record)
{
    const uint64_t *values = done != NULL ? hac_splice_values(plan->tasks[record->task].codelet, done) : NULL;
    for (unsigned i = 0; values != NULL && i < HAC_SPLICE_N_STAGES; i++) {
        const uint64_t *from = values + HAC_SPLICE_STAGES + i * HAC_SPLICE_STAGE_VALUES;
        record->stages[i] = (hac_run_stage){.name = stage_names[i],
                                            .busy = (double)bounded(from[0]) * 1e-9,
                                            .start = (double)bounded(from[1]) * 1e-9,
                                            .end = (double)bounded(from[2]) * 1e-9};
    }
}

/* ---- the receipt ---- */

static double busy_seconds(const uint64_t *values, unsigned stage)
{
    return (double)values[HAC_SPLICE_STAGES + stage * HAC_SPLICE_STAGE_VALUES] * 1e-9;
}

/* No block was copied: batches were mapped in place. */
static bool in_place(const uint64_t *values)
{
    return busy_seconds(values, HAC_STAGE_SPLICE) <= 0;
}

/* Seconds that the stage was at work, averaged over its threads. */
static double at_work(const uint64_t *values, unsigned stage)
{
    bool threads = stage == HAC_STAGE_READ || stage == HAC_STAGE_PREPROCESS || in_place(values);
    uint64_t n = threads && values[HAC_SPLICE_THREADS] > 1 ? values[HAC_SPLICE_THREADS] : 1;
    return busy_seconds(values, stage) / (double)n;
}

typedef struct receipt_member {
    const char *name;
    unsigned value;
} receipt_member;

static void add_buffer(hac_text *text, const char *name, const uint64_t *values,
                       const receipt_member *members, size_t n)
{
    hac_json_open(text, name, '{');
    for (size_t i = 0; i < n; i++)
        hac_json_unsigned(text, members[i].name, values[members[i].value]);
    hac_json_close(text, '}');
}

#define ADD_BUFFER(name, members) add_buffer(text, name, values, members, sizeof members / sizeof *members)

static void add_buffers(hac_text *text, const uint64_t *values)
{
    static const receipt_member direct[] = {{"data_sets", HAC_SPLICE_SETS},
                                            {"records", HAC_SPLICE_SET_RECORDS},
                                            {"bytes", HAC_SPLICE_SET_BYTES},
                                            {"largest_bytes", HAC_SPLICE_SET_LARGEST}};
    static const receipt_member launching[] = {{"blocks", HAC_SPLICE_BLOCKS},
                                               {"bytes", HAC_SPLICE_BLOCK_BYTES},
                                               {"largest_bytes", HAC_SPLICE_BLOCK_LARGEST},
                                               {"most_at_once", HAC_SPLICE_BLOCKS_MAX}};
    static const receipt_member working[] = {
        {"capacity_bytes", HAC_SPLICE_CAPACITY}, {"index_blocks", HAC_SPLICE_ELEMENTS},
        {"highest_fill_bytes", HAC_SPLICE_FILL}, {"blocks", HAC_SPLICE_SPLICED},
        {"records", HAC_SPLICE_SPLICED_RECORDS}, {"pauses", HAC_SPLICE_PAUSES},
        {"triggers", HAC_SPLICE_TRIGGERS}};
    static const receipt_member result[] = {{"bytes", HAC_SPLICE_RESULT_BYTES},
                                            {"largest_bytes", HAC_SPLICE_RESULT_LARGEST}};
    ADD_BUFFER("direct_buffer", direct);
    ADD_BUFFER("launching_buffer", launching);
    ADD_BUFFER("working_buffer", working);
    ADD_BUFFER("result_buffer", result);
}

/* `share` is relative to the duration of the tasks. */
static void add_stages(hac_text *text, const hac_splice_device *device)
{
    hac_json_open(text, "stages", '{');
    for (unsigned i = 0; i < HAC_SPLICE_N_STAGES; i++) {
        hac_json_open(text, stage_names[i], '{');
        hac_json_number(text, "busy_seconds", busy_seconds(device->values, i));
        if (device->seconds > 0)
            hac_json_number(text, "share", at_work(device->values, i) / device->seconds);
        else
            hac_json_null(text, "share");
        hac_json_close(text, '}');
    }
    hac_json_close(text, '}');
}

/* The slowest stage. `ret` was at work for `before` seconds before. */
static const char *slowest(const hac_splice_device *devices, size_t n, const char *ret, double before)
{
    for (unsigned i = 0; i < HAC_SPLICE_N_STAGES; i++) {
        double seconds = 0;
        for (size_t d = 0; d < n; d++)
            seconds += at_work(devices[d].values, i);
        if (seconds > before) {
            before = seconds;
            ret = stage_names[i];
        }
    }
    return ret;
}

static void add_device(hac_text *text, const hac_splice_device *device)
{
    hac_json_open(text, NULL, '{');
    hac_json_string(text, "name", device->name);
    hac_json_unsigned(text, "tasks", device->tasks);
    hac_json_unsigned(text, "threads", device->values[HAC_SPLICE_THREADS]);
    hac_json_bool(text, "in_place", in_place(device->values));
    add_buffers(text, device->values);
    add_stages(text, device);
    hac_json_string(text, "slowest_stage", slowest(device, 1, stage_names[HAC_STAGE_READ], 0));
    hac_json_close(text, '}');
}

static void add_client(hac_text *text, const hac_splice_client *client)
{
    hac_json_open(text, "client", '{');
    hac_json_number(text, "reading_seconds", (double)client->reading * 1e-9);
    hac_json_number(text, "input_wait_seconds", (double)client->input_wait * 1e-9);
    hac_json_number(text, "device_wait_seconds", (double)client->device_wait * 1e-9);
    hac_json_number(text, "writing_seconds", (double)client->writing * 1e-9);
    hac_json_close(text, '}');
}

/* Reading and splitting the input, or waiting for it, is a stage like those of the devices. */
static const char *slowest_of_all(const hac_splice_buffers *buffers, const hac_splice_client *client)
{
    double input = client != NULL ? (double)client->reading * 1e-9 + (double)client->input_wait * 1e-9 : 0;
    return slowest(buffers->devices, buffers->n_devices, input > 0 ? "input" : stage_names[HAC_STAGE_READ],
                   input);
}

void hac_splice_buffers_json(const hac_splice_buffers *buffers, const hac_splice_client *client,
                             hac_text *text)
{
    uint64_t all[HAC_SPLICE_N_VALUES] = {0};
    if (buffers->n_devices == 0)
        return;
    for (size_t d = 0; d < buffers->n_devices; d++)
        for (unsigned i = 0; i < HAC_SPLICE_STAGES; i++) {
            uint64_t value = buffers->devices[d].values[i];
            all[i] = !hac_splice_value_is_max(i) ? all[i] + value : value > all[i] ? value : all[i];
        }
    hac_json_open(text, "splice", '{');
    add_buffers(text, all);
    hac_json_string(text, "slowest_stage", slowest_of_all(buffers, client));
    if (client != NULL)
        add_client(text, client);
    hac_json_open(text, "devices", '[');
    for (size_t d = 0; d < buffers->n_devices; d++)
        add_device(text, &buffers->devices[d]);
    hac_json_close(text, ']');
    hac_json_close(text, '}');
}
