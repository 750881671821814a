/* SPDX-License-Identifier: Apache-2.0 */
/* The splice buffers in a job's receipt (docs/flows/splice.md): what codelets report (base/query_layout.h,
 * hac_splice_value), added up by device. Executors' figures are only added up, never acted on. Work that was
 * done twice, such as after an executor's death, counts twice; a round that is planned again counts once. */
#ifndef SERVER_SPLICE_BUFFERS_H
#define SERVER_SPLICE_BUFFERS_H

#include "base/query_layout.h"
#include "base/text.h"
#include "planner/plan_output.h"
#include "proto/messages.h"

/* The sums of one device's tasks. */
typedef struct hac_splice_device {
    char name[HAC_PLAN_NAME_MAX];
    uint64_t values[HAC_SPLICE_N_VALUES];
    uint64_t tasks;
    double seconds; /* duration of the tasks */
} hac_splice_device;

typedef struct hac_splice_buffers {
    hac_splice_device *devices; /* owned */
    size_t n_devices;
} hac_splice_buffers;

/* What the client of a job with splits reports about itself, in nanoseconds (client.proto, AppendSplit). */
typedef struct hac_splice_client {
    uint64_t reading, input_wait, device_wait, writing;
} hac_splice_client;

void hac_splice_buffers_clear(hac_splice_buffers *buffers);
/* Replaces the contents of `to`; empties it if memory is lacking. */
void hac_splice_buffers_copy(hac_splice_buffers *to, const hac_splice_buffers *from);

/* Adds the report of a task of `codelet` on `device`. Ignores other codelets; does nothing if memory is
 * lacking. */
void hac_splice_buffers_add(hac_splice_buffers *buffers, const char *device, const char *codelet,
                            const Hac__Executor__Done *done);

/* The task's hac_splice_value values as the executor reported them; NULL: it has none. */
const uint64_t *hac_splice_values(const char *codelet, const Hac__Executor__Done *done);

/* When each stage of such a task was at work, for its record. `done` NULL: the executor died. */
void hac_splice_buffers_stages(const hac_plan *plan, const Hac__Executor__Done *done, hac_run_record *record);

/* Adds member "splice" to the receipt, unless nothing was reported. `client` NULL: executors read the input.
 */
void hac_splice_buffers_json(const hac_splice_buffers *buffers, const hac_splice_client *client,
                             hac_text *text);

#endif
