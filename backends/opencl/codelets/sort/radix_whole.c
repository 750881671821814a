/* SPDX-License-Identifier: Apache-2.0 */
/*
 * radix.whole: a whole sort on one device that copies. As separate tasks, the keys would go to the device
 * three times and come back twice; here they go once and come back once. In lock-step style it is another
 * sort (radix_lsd.c). In block style it is the same phases, and only COUNTS passes through the host, which
 * scans it. If the device has too little memory for that, the keys go to it phase by phase.
 */
#include "common/try.h"
#include "radix.h"
#include "radix_job.h"

#define PARTS 16 /* of each phase, if not everything fits the device */

static const hac_radix_span whole_spans[] = {HAC_RADIX_KEYS, HAC_RADIX_TABLE, HAC_RADIX_COUNTS,
                                             HAC_RADIX_KEYS, HAC_RADIX_INDEX};

static hac_status check_whole(const hac_device_facts *facts, const hac_task *task, size_t n_spans,
                              uint32_t index_bytes, hac_error *err)
{
    hac_radix_sizes p;
    hac_status status;
    TRY(hac_radix_sizes_of_kind(task, whole_spans, n_spans, index_bytes, &p, err));
    if (p.n > HAC_RADIX_WHOLE_ITEMS || p.n * hac_radix_widest(&p) > facts->max_allocation ||
        p.chunks * hac_radix_row_items(p.buckets) * sizeof(uint64_t) > facts->max_allocation)
        return hac_fail(err, HAC_INVALID, "%llu keys do not fit a window of %llu bytes",
                        (unsigned long long)p.n, (unsigned long long)facts->max_allocation);
    if (facts->max_loop_iterations != 0)
        return hac_fail(err, HAC_INVALID, "device \"%s\" ends long loops", facts->name);
    return HAC_OK;
}

hac_status hac_radix_check_whole_keys(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    return check_whole(facts, task, 4, 0, err);
}

hac_status hac_radix_check_whole_index32(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    return check_whole(facts, task, 5, 4, err);
}

/* The task of a phase; `spans` are the numbers of its spans in the whole sort's task. */
static hac_task phase_of(const hac_task *task, const size_t *spans, size_t n_spans)
{
    hac_task phase = *task;
    phase.n_spans = n_spans;
    for (size_t i = 0; i < n_spans; i++)
        phase.spans[i] = task->spans[spans[i]];
    return phase;
}

static hac_status run_sample(hac_device *device, const hac_task *task, hac_error *err)
{
    static const size_t spans[] = {0, 1};
    hac_task phase = phase_of(task, spans, 2);
    hac_task_result result = {0};
    return hac_radix_run_sample(device, &phase, &result, err);
}

static hac_status run_scan(hac_device *device, const hac_task *task, hac_error *err)
{
    static const size_t spans[] = {1, 2};
    hac_task phase = phase_of(task, spans, 2);
    hac_task_result result = {0};
    return hac_radix_run_scan(device, &phase, &result, err);
}

static hac_task leaf_task(const hac_task *task)
{
    static const size_t spans[] = {1, 3, 4};
    hac_task phase = phase_of(task, spans, task->n_spans - 2);
    phase.first = 0;
    phase.count = HAC_PARAMS(hac_radix_params, task)->buckets;
    return phase;
}

/* Reads what the scan has added to the table. The maps were read and checked with the rest of the header, so
 * later changes by others do not matter. */
static hac_status read_counted(hac_radix_job *job, const hac_task *task, hac_error *err)
{
    hac_radix_table after = {0};
    hac_status status = hac_radix_table_read(&task->spans[1], &job->p, &after, err);
    job->table.header.counted = after.header.counted;
    hac_radix_table_free(&after);
    return status;
}

static hac_status open_counts(hac_radix_job *job, const hac_task *task, hac_access access, cl_mem *ret,
                              hac_error *err)
{
    return hac_radix_open(job, task->spans[2].data, hac_radix_counts_bytes(job->p.chunks, job->p.buckets),
                          access, ret, err);
}

static hac_status count_all(hac_radix_job *job, const hac_task *task, const hac_radix_stretch *all, cl_mem in,
                            hac_error *err)
{
    cl_mem counts;
    hac_status status;
    TRY(open_counts(job, task, HAC_WRITE, &counts, err));
    TRY(hac_radix_count_launch(job, task->type, all, in, counts, err));
    TRY(hac_radix_close_from(job, counts, err));
    TRY(run_scan(job->device, task, err));
    return read_counted(job, task, err);
}

static hac_status scatter_all(hac_radix_job *job, const hac_task *task, const hac_radix_stretch *all,
                              cl_mem in, hac_radix_target *to, hac_error *err)
{
    const hac_radix_sizes *p = &job->p;
    hac_status status;
    to->items = p->n;
    TRY(hac_radix_open(job, task->spans[3].data, p->n * p->key_bytes, HAC_WRITE, &to->keys, err));
    if (p->index_bytes != 0)
        TRY(hac_radix_open(job, task->spans[4].data, p->n * p->index_bytes, HAC_WRITE, &to->index, err));
    TRY(open_counts(job, task, HAC_READ, &to->starts, err));
    TRY(hac_radix_scatter_launch(job, task->type, all, in, to, err));
    return hac_radix_close_from(job, to->starts, err);
}

static hac_status run_phases(hac_radix_job *job, const hac_task *task, hac_task_result *result,
                             hac_error *err)
{
    cl_mem in;
    hac_radix_target to = {0};
    hac_status status;
    hac_radix_stretch all = hac_radix_stretch_of(&job->p, 0, job->p.chunks);
    hac_task leaf = leaf_task(task);
    TRY(hac_radix_open(job, task->spans[0].data, job->p.n * job->p.key_bytes, HAC_READ, &in, err));
    TRY(hac_radix_open_table(job, err));
    TRY(count_all(job, task, &all, in, err));
    if (job->table.header.counted != 0) /* the host writes each value as often as it was counted */
        return hac_radix_run_leaf(job->device, &leaf, result, err);
    TRY(scatter_all(job, task, &all, in, &to, err));
    return hac_radix_leaf_windows(job, &leaf, to.keys, to.index, result, err);
}

static hac_status run_at_once(hac_device *device, const hac_task *task, hac_task_result *result,
                              hac_error *err)
{
    hac_radix_job job;
    hac_status status;
    TRY(run_sample(device, task, err));
    status = hac_radix_job_begin(&job, device, task, &task->spans[1], whole_spans, task->n_spans, err);
    if (status == HAC_OK)
        status = run_phases(&job, task, result, err);
    return hac_radix_job_end(&job, status, err);
}

typedef hac_status (*run_phase)(hac_device *, const hac_task *, hac_task_result *, hac_error *);

/* A range phase of `all` chunks or buckets in parts, since its windows hold all that a call asks for. */
static hac_status run_parts(hac_device *device, run_phase run, hac_task phase, uint64_t all,
                            hac_task_result *result, hac_error *err)
{
    uint64_t part = (all + PARTS - 1) / PARTS, by_host = 0;
    hac_status status;
    for (phase.first = 0; phase.first < all; phase.first += part) {
        phase.count = all - phase.first < part ? all - phase.first : part;
        TRY(run(device, &phase, result, err));
        by_host += result->n_values > 0 ? result->values[0] : 0;
    }
    result->values[0] = by_host;
    return HAC_OK;
}

static hac_status run_in_parts(hac_device *device, const hac_task *task, hac_task_result *result,
                               hac_error *err)
{
    static const size_t spans[] = {0, 1, 2, 3, 4};
    const hac_radix_params *p = HAC_PARAMS(hac_radix_params, task);
    uint64_t chunks = (p->items + p->chunk_items - 1) / p->chunk_items;
    hac_task_result counting = {0};
    hac_status status;
    TRY(run_sample(device, task, err));
    TRY(run_parts(device, hac_radix_run_count, phase_of(task, spans, 3), chunks, &counting, err));
    TRY(run_scan(device, task, err));
    TRY(run_parts(device, hac_radix_run_scatter, phase_of(task, spans, task->n_spans), chunks, &counting,
                  err));
    return run_parts(device, hac_radix_run_leaf, leaf_task(task), p->buckets, result, err);
}

/* Whether radix_lsd.c sorts it. */
static bool goes_by_digits(const hac_device_facts *facts, const hac_task *task)
{
    return (HAC_PARAMS(hac_radix_params, task)->index_bytes != 0
                ? hac_radix_program_whole_index32(facts, task->type)
                : hac_radix_program_whole_keys(facts, task->type)) != NULL;
}

static hac_status run_with_all(hac_device *device, const hac_task *task, hac_task_result *result,
                               hac_error *err)
{
    hac_radix_sizes p;
    hac_status status;
    if (!goes_by_digits(hac_device_get_facts(device), task))
        return run_at_once(device, task, result, err);
    TRY(hac_radix_sizes_of(task, whole_spans, task->n_spans, &p, err));
    result->values[0] = 0;
    result->n_values = 1;
    return hac_radix_run_lsd(device, task, &p, err);
}

/* hacd knows the device's memory, but not how much other programs and users hold. */
hac_status hac_radix_run_whole(hac_device *device, const hac_task *task, hac_task_result *result,
                               hac_error *err)
{
    hac_status status = run_with_all(device, task, result, err);
    if (status == HAC_NO_MEMORY) { /* memory kept from earlier tasks may be what is missing */
        hac_device_trim(device);
        status = run_with_all(device, task, result, err);
    }
    if (status == HAC_NO_MEMORY) {
        hac_device_trim(device);
        status = run_in_parts(device, task, result, err);
    }
    return status;
}
