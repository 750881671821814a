/* SPDX-License-Identifier: Apache-2.0 */
#include "op_launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

#define CHUNK_ROWS (UINT64_C(1) << 24) /* maximum of a launch */

const char *hac_op_expr_program(const hac_device_facts *facts, hac_type type)
{
    (void)type;
    return facts->style == HAC_STYLE_SIMT ? "op.expr.simt" : "op.expr.block";
}

const char *hac_op_move_program(const hac_device_facts *facts, hac_type type)
{
    (void)facts;
    (void)type;
    return "op.move";
}

const char *hac_op_number_program(const hac_device_facts *facts, hac_type type)
{
    bool simt = facts->style == HAC_STYLE_SIMT;
    switch (type) {
    case HAC_TYPE_F32:
        return simt ? "op.f32.simt" : "op.f32.block";
    case HAC_TYPE_F64:
        return !facts->fp64 ? NULL : simt ? "op.f64.simt" : "op.f64.block";
    case HAC_TYPE_I32:
    case HAC_TYPE_I64:
        return simt ? "op.i64.simt" : "op.i64.block";
    default:
        return simt ? "op.u64.simt" : "op.u64.block";
    }
}

void hac_op_begin(hac_op_launch *l, hac_device *device, const char *program, const char *kernel,
                  hac_error *err)
{
    memset(l, 0, sizeof *l);
    memset(l->fail, 0xff, sizeof l->fail);
    l->device = device;
    l->windows.device = device;
    l->a.err = err;
    l->a.status = hac_device_kernel(device, program, kernel, &l->a.kernel, err);
}

static void add_window(hac_op_launch *l, void *data, uint64_t bytes, hac_access access)
{
    cl_mem mem = NULL;
    if (l->a.status == HAC_OK)
        l->a.status = hac_windows_open(&l->windows, data, bytes, access, &mem, l->a.err);
    hac_argument_mem(&l->a, mem);
}

void hac_op_failures(hac_op_launch *l)
{
    add_window(l, l->fail, sizeof l->fail, HAC_READ_WRITE);
}

/* A placeholder for memory that does not exist and is not read. */
static void add_nothing(hac_op_launch *l)
{
    add_window(l, l->fail, sizeof l->fail, HAC_READ);
}

static uint8_t *begin_of(const void *data, uint64_t from, uint64_t size)
{
    return (uint8_t *)(uintptr_t)data + from * size;
}

void hac_op_in(hac_op_launch *l, const void *data, uint64_t from, uint64_t n, uint64_t size)
{
    if (n == 0) {
        add_nothing(l);
        hac_op_u64(l, 0);
        return;
    }
    uint8_t *begin = begin_of(data, from, size);
    uint64_t before = (uintptr_t)begin % HAC_ALIGNMENT;
    add_window(l, begin - before, before + n * size, HAC_READ);
    hac_op_u64(l, before / size);
}

void hac_op_in_all(hac_op_launch *l, const void *data, uint64_t n, uint64_t size)
{
    if (n == 0)
        add_nothing(l);
    else
        add_window(l, begin_of(data, 0, 1), n * size, HAC_READ);
}

void hac_op_out(hac_op_launch *l, void *data, uint64_t from, uint64_t n, uint64_t size, bool again)
{
    uint64_t bytes = n * size;
    if (n == 0) {
        add_nothing(l);
        return;
    }
    uint8_t *begin = begin_of(data, from, size);
    if ((uintptr_t)begin % HAC_ALIGNMENT != 0) { /* the memory before it belongs to others */
        uint8_t *copy =
            aligned_alloc(HAC_ALIGNMENT, (bytes + HAC_ALIGNMENT - 1) / HAC_ALIGNMENT * HAC_ALIGNMENT);
        if (copy == NULL && l->a.status == HAC_OK)
            l->a.status = hac_fail_no_memory(l->a.err);
        if (copy == NULL)
            return;
        if (again)
            memcpy(copy, begin, bytes);
        l->out[l->n_out].copy = copy;
        l->out[l->n_out].to = begin;
        l->out[l->n_out++].bytes = bytes;
        begin = copy;
    }
    add_window(l, begin, bytes, again ? HAC_READ_WRITE : HAC_WRITE);
}

void hac_op_scratch(hac_op_launch *l, unsigned slot, uint64_t bytes)
{
    cl_mem mem = NULL;
    if (l->a.status == HAC_OK)
        l->a.status = hac_device_scratch(l->device, slot, bytes == 0 ? 64 : bytes, &mem, l->a.err);
    hac_argument_mem(&l->a, mem);
}

void hac_op_u32(hac_op_launch *l, uint32_t value)
{
    hac_argument_u32(&l->a, value);
}

void hac_op_u64(hac_op_launch *l, uint64_t value)
{
    hac_argument_u64(&l->a, value);
}

void hac_op_f64(hac_op_launch *l, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    hac_argument_u64(&l->a, bits);
}

hac_status hac_op_end(hac_op_launch *l, uint64_t groups, uint32_t lanes)
{
    hac_status status = l->a.status;
    if (status == HAC_OK)
        status = hac_device_launch(l->device, l->a.kernel, groups, lanes, l->a.err);
    if (status == HAC_OK)
        status = hac_device_finish(l->device, l->a.err);
    status = hac_windows_close(&l->windows, 0, status, l->a.err);
    for (size_t i = 0; i < l->n_out; i++) {
        if (status == HAC_OK)
            memcpy(l->out[i].to, l->out[i].copy, l->out[i].bytes);
        free(l->out[i].copy);
    }
    l->n_out = 0;
    return status;
}

uint64_t hac_op_chunk(const hac_device_facts *facts, uint64_t row_bytes, uint64_t grain)
{
    uint64_t max = (facts->max_allocation - HAC_ALIGNMENT) / (row_bytes == 0 ? 1 : row_bytes);
    max = (max < CHUNK_ROWS ? max : CHUNK_ROWS) / grain * grain;
    return max == 0 ? grain : max;
}
