/* SPDX-License-Identifier: Apache-2.0 */
/*
 * radix.whole in lock-step style: an LSD radix sort of all keys between the device's copy of the input and
 * another buffer. There is no sample and no table. The time depends only on the number of digits that differ,
 * not on the distribution of keys.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "common/try.h"
#include "radix.h"
#include "radix_job.h"

/* sort_radix_lsd.cl */
#define GROUP      256
#define DIGIT_BITS 4
#define DIGITS     (1u << DIGIT_BITS)
#define MAX_PASSES (64 / DIGIT_BITS + 1)
/* As many run at once on the measured devices; each of them reads the counts of all. */
#define GROUPS_OF_UNIT 8
#define COUNTS_BYTES   (DIGITS * sizeof(uint32_t)) /* of a group; its bits fit, too */

typedef struct lsd {
    hac_radix_job job; /* without a table */
    const char *program;
    /* keys[0] is the copy of the input; pass i goes from [i % 2] to the other one */
    cl_mem keys[2], index[2];
    cl_mem counts;
    uint64_t groups, group_items;
    uint32_t shifts[MAX_PASSES], passes;
} lsd;

static const char *program_of(const hac_device_facts *facts, hac_type type, bool index)
{
    static const char *const names[2][2] = {{"radix_lsd.simt.32", "radix_lsd.simt.32i"},
                                            {"radix_lsd.simt.64", "radix_lsd.simt.64i"}};
    bool runs = facts->style == HAC_STYLE_SIMT && facts->max_work_group >= GROUP && !facts->host_memory &&
                facts->max_loop_iterations == 0;
    return runs ? names[hac_type_size(type) == 8][index] : NULL;
}

const char *hac_radix_program_whole_keys(const hac_device_facts *facts, hac_type type)
{
    return program_of(facts, type, false);
}

const char *hac_radix_program_whole_index32(const hac_device_facts *facts, hac_type type)
{
    return program_of(facts, type, true);
}

/* ---- kernels ---- */

static hac_status key_args(const lsd *l, cl_kernel kernel, unsigned *next, const uint64_t *values, size_t n,
                           hac_error *err)
{
    hac_status status;
    for (size_t i = 0; i < n; i++)
        TRY(hac_radix_key_arg(&l->job, kernel, (*next)++, values[i], err));
    return HAC_OK;
}

/* The first arguments of all three kernels. The order is that of input keys or of mapped keys. */
static hac_status first_args(const lsd *l, cl_kernel kernel, unsigned *next, uint32_t pass, hac_error *err)
{
    const hac_key_order *o = &l->job.order.order;
    const uint64_t raw[] = {o->flip, o->sign, o->rotate, o->reverse, l->job.order.top},
                   mapped[] = {0, 0, 0, 0, UINT64_MAX};
    hac_status status;
    TRY(hac_kernel_arg_mem(kernel, (*next)++, l->keys[pass % 2], err));
    TRY(hac_kernel_arg_u32(kernel, (*next)++, (uint32_t)l->job.p.n, err));
    TRY(hac_kernel_arg_u32(kernel, (*next)++, (uint32_t)l->group_items, err));
    return key_args(l, kernel, next, pass == 0 ? raw : mapped, 5, err);
}

static hac_status count(const lsd *l, uint32_t pass, hac_error *err)
{
    cl_kernel kernel;
    unsigned next = 0;
    hac_status status;
    TRY(hac_device_kernel(l->job.device, l->program, "lsd_count", &kernel, err));
    TRY(first_args(l, kernel, &next, pass, err));
    TRY(hac_kernel_arg_u32(kernel, next++, l->shifts[pass], err));
    TRY(hac_kernel_arg_mem(kernel, next, l->counts, err));
    return hac_device_launch(l->job.device, kernel, l->groups, GROUP, err);
}

static hac_status scatter(const lsd *l, uint32_t pass, hac_error *err)
{
    const hac_key_order *o = &l->job.order.order;
    const uint64_t raw[] = {o->flip, o->sign, o->rotate, o->reverse}, mapped[4] = {0};
    bool ends = pass + 1 == l->passes && l->job.p.index_bytes == 0;
    cl_kernel kernel;
    unsigned next = 0;
    hac_status status;
    TRY(hac_device_kernel(l->job.device, l->program, "lsd_scatter", &kernel, err));
    TRY(first_args(l, kernel, &next, pass, err));
    TRY(hac_kernel_arg_u32(kernel, next++, l->shifts[pass], err));
    TRY(hac_kernel_arg_mem(kernel, next++, l->counts, err));
    TRY(key_args(l, kernel, &next, ends ? raw : mapped, 4, err));
    TRY(hac_kernel_arg_mem(kernel, next++, l->keys[(pass + 1) % 2], err));
    if (l->job.p.index_bytes != 0) {
        TRY(hac_kernel_arg_u32(kernel, next++, pass == 0, err));
        TRY(hac_kernel_arg_mem(kernel, next++, l->index[pass % 2], err));
        TRY(hac_kernel_arg_mem(kernel, next, l->index[(pass + 1) % 2], err));
    }
    return hac_device_launch(l->job.device, kernel, l->groups, GROUP, err);
}

/* ---- passes ---- */

/* Adds the bits in which mapped keys differ. */
static hac_status find_bits(const lsd *l, uint64_t *ret, hac_error *err)
{
    cl_kernel kernel;
    unsigned next = 0;
    hac_status status;
    uint64_t bytes = l->groups * l->job.p.key_bytes;
    TRY(hac_device_kernel(l->job.device, l->program, "lsd_bits", &kernel, err));
    TRY(first_args(l, kernel, &next, 0, err));
    TRY(hac_kernel_arg_mem(kernel, next, l->counts, err));
    TRY(hac_device_launch(l->job.device, kernel, l->groups, GROUP, err));
    hac_autofree void *found = malloc(bytes);
    if (found == NULL)
        return hac_fail_no_memory(err);
    TRY(hac_device_read(l->job.device, l->counts, 0, bytes, found, err));
    for (uint64_t g = 0; g < l->groups; g++)
        *ret |= hac_radix_load(found, g, l->job.p.key_bytes);
    return HAC_OK;
}

/* One pass for each digit that matters. The result must end in the other buffer, so the number of passes is
 * odd; if necessary the first pass is done twice, which changes nothing. */
static void choose_passes(lsd *l, uint64_t bits)
{
    l->passes = 0;
    for (uint32_t shift = 0; shift < l->job.p.key_bytes * 8; shift += DIGIT_BITS)
        if ((bits >> shift & (DIGITS - 1)) != 0)
            l->shifts[1 + l->passes++] = shift;
    l->shifts[0] = l->passes == 0 ? 0 : l->shifts[1];
    if (l->passes % 2 == 0)
        l->passes++;
    else
        for (uint32_t i = 0; i < l->passes; i++)
            l->shifts[i] = l->shifts[i + 1];
}

static hac_status run_passes(lsd *l, hac_error *err)
{
    uint64_t bits = 0;
    hac_status status;
    TRY(find_bits(l, &bits, err));
    choose_passes(l, bits);
    for (uint32_t pass = 0; pass < l->passes; pass++) {
        TRY(count(l, pass, err));
        TRY(scatter(l, pass, err));
    }
    return HAC_OK;
}

/* ---- buffers ---- */

static void cut(lsd *l)
{
    uint64_t tile = (uint64_t)GROUP * (l->job.p.key_bytes == 4 && l->job.p.index_bytes != 0 ? 16 : 8),
             tiles = (l->job.p.n + tile - 1) / tile,
             max = (uint64_t)GROUPS_OF_UNIT * l->job.facts->compute_units;
    uint64_t each = (tiles + max - 1) / max;
    l->group_items = each * tile;
    l->groups = (tiles + each - 1) / each;
}

/* With an index, the sorted keys and the input index go to memory that nobody else sees. It is as large as a
 * window and makes room for others like a window; scratch would stay. */
static hac_status open_buffers(lsd *l, const hac_task *task, hac_error *err)
{
    hac_radix_job *job = &l->job;
    uint64_t key_bytes = job->p.n * job->p.key_bytes, index_bytes = job->p.n * job->p.index_bytes;
    hac_status status;
    TRY(hac_device_scratch(job->device, 0, l->groups * COUNTS_BYTES, &l->counts, err));
    TRY(hac_radix_open(job, task->spans[0].data, key_bytes, HAC_READ, &l->keys[0], err));
    if (index_bytes == 0)
        return hac_radix_open(job, task->spans[3].data, key_bytes, HAC_WRITE, &l->keys[1], err);
    TRY(hac_radix_open(job, NULL, key_bytes, HAC_READ_WRITE, &l->keys[1], err));
    TRY(hac_radix_open(job, NULL, index_bytes, HAC_READ_WRITE, &l->index[0], err));
    return hac_radix_open(job, task->spans[4].data, index_bytes, HAC_WRITE, &l->index[1], err);
}

hac_status hac_radix_run_lsd(hac_device *device, const hac_task *task, const hac_radix_sizes *params,
                             hac_error *err)
{
    const hac_device_facts *facts = hac_device_get_facts(device);
    lsd l = {.job = {.device = device, .facts = facts, .p = *params}};
    l.job.order = hac_radix_order_of(task->type, task->descending, params->index_bytes != 0);
    l.program = program_of(facts, task->type, params->index_bytes != 0);
    cut(&l);
    hac_status status = open_buffers(&l, task, err);
    if (status == HAC_OK)
        status = run_passes(&l, err);
    return hac_radix_job_end(&l.job, status, err);
}
