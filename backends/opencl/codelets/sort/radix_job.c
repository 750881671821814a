/* SPDX-License-Identifier: Apache-2.0 */
#include "radix_job.h"

#include <stdlib.h>
#include <string.h>

#define NEXT_BYTES 64
#define SIMT_GROUP 64 /* GROUP of sort_radix_simt.cl */

hac_status hac_radix_job_begin(hac_radix_job *job, hac_device *device, const hac_task *task,
                               const hac_span *table, const hac_radix_span *spans, size_t n_spans,
                               hac_error *err)
{
    *job = (hac_radix_job){.device = device, .facts = hac_device_get_facts(device)};
    hac_status status = hac_radix_sizes_of(task, spans, n_spans, &job->p, err);
    if (status != HAC_OK)
        return status;
    job->order = hac_radix_order_of(task->type, task->descending, job->p.index_bytes != 0);
    job->next = hac_radix_alloc(NEXT_BYTES);
    if (job->next == NULL)
        return hac_fail_no_memory(err);
    return hac_radix_table_read(table, &job->p, &job->table, err);
}

hac_status hac_radix_job_end(hac_radix_job *job, hac_status status, hac_error *err)
{
    while (job->n_open > 0) {
        hac_error closing = HAC_ERROR_NONE;
        hac_status closed = hac_device_close_window(job->device, job->open[--job->n_open], &closing);
        if (status == HAC_OK && closed != HAC_OK) {
            status = closed;
            if (err != NULL)
                *err = closing;
        }
    }
    free(job->next);
    job->next = NULL;
    hac_radix_table_free(&job->table);
    return status;
}

hac_status hac_radix_open(hac_radix_job *job, void *data, uint64_t bytes, hac_access access, cl_mem *ret,
                          hac_error *err)
{
    if (job->n_open == HAC_RADIX_MAX_OPEN)
        return hac_fail(err, HAC_INTERNAL, "a radix task opens more than %d windows", HAC_RADIX_MAX_OPEN);
    hac_status status = data == NULL ? hac_device_open_pieces(job->device, NULL, 0, bytes, ret, err)
                                     : hac_device_open_window(job->device, data, bytes, access, ret, err);
    if (status == HAC_OK)
        job->open[job->n_open++] = *ret;
    return status;
}

hac_status hac_radix_close_from(hac_radix_job *job, cl_mem window, hac_error *err)
{
    bool last = false;
    while (job->n_open > 0 && !last) {
        cl_mem mem = job->open[--job->n_open];
        last = mem == window;
        hac_status status = hac_device_close_window(job->device, mem, err);
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}

hac_status hac_radix_open_table(hac_radix_job *job, hac_error *err)
{
    const hac_radix_table *t = &job->table;
    hac_status status = hac_radix_open(job, t->maps, t->splitters_at, HAC_READ, &job->cells, err);
    if (status == HAC_OK)
        status = hac_radix_open(job, t->maps + t->splitters_at, t->maps_bytes - t->splitters_at, HAC_READ,
                                &job->splitters, err);
    return status;
}

hac_status hac_radix_key_arg(const hac_radix_job *job, cl_kernel kernel, unsigned index, uint64_t value,
                             hac_error *err)
{
    return job->p.key_bytes == 4 ? hac_kernel_arg_u32(kernel, index, (uint32_t)value, err)
                                 : hac_kernel_arg_u64(kernel, index, value, err);
}

uint64_t hac_radix_groups(const hac_radix_job *job, uint64_t jobs)
{
    uint64_t at_once = job->facts->style == HAC_STYLE_SIMT ? UINT64_C(8) * job->facts->compute_units
                                                           : job->facts->compute_units;
    return job->facts->max_loop_iterations != 0 || jobs < at_once ? jobs : at_once;
}

hac_status hac_radix_launch(hac_radix_job *job, cl_kernel kernel, unsigned next_arg, uint64_t jobs,
                            hac_error *err)
{
    cl_mem next;
    uint64_t groups = hac_radix_groups(job, jobs);
    memset(job->next, 0, NEXT_BYTES);
    *job->next = (uint32_t)groups;
    hac_status status = hac_radix_open(job, job->next, NEXT_BYTES, HAC_READ_WRITE, &next, err);
    if (status == HAC_OK)
        status = hac_kernel_arg_mem(kernel, next_arg, next, err);
    if (status == HAC_OK)
        status = hac_device_launch(job->device, kernel, groups,
                                   job->facts->style == HAC_STYLE_SIMT ? SIMT_GROUP : 1, err);
    return status == HAC_OK ? hac_radix_close_from(job, next, err) : status;
}
