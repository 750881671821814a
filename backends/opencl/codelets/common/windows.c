/* SPDX-License-Identifier: Apache-2.0 */
#include "windows.h"

static hac_status check_room(const hac_windows *windows, hac_error *err)
{
    return windows->n < HAC_WINDOWS_MAX
               ? HAC_OK
               : hac_fail(err, HAC_INTERNAL, "a task opens more than %d windows", HAC_WINDOWS_MAX);
}

hac_status hac_windows_open(hac_windows *windows, void *data, uint64_t bytes, hac_access access, cl_mem *ret,
                            hac_error *err)
{
    hac_status status = check_room(windows, err);
    if (status == HAC_OK)
        status = hac_device_open_window(windows->device, data, bytes, access, ret, err);
    if (status == HAC_OK)
        windows->open[windows->n++] = *ret;
    return status;
}

hac_status hac_windows_open_pieces(hac_windows *windows, const hac_piece *pieces, size_t n_pieces,
                                   uint64_t bytes, cl_mem *ret, hac_error *err)
{
    hac_status status = check_room(windows, err);
    if (status == HAC_OK)
        status = hac_device_open_pieces(windows->device, pieces, n_pieces, bytes, ret, err);
    if (status == HAC_OK)
        windows->open[windows->n++] = *ret;
    return status;
}

hac_status hac_windows_close(hac_windows *windows, size_t keep, hac_status status, hac_error *err)
{
    while (windows->n > keep) {
        hac_error closing = HAC_ERROR_NONE;
        hac_status closed = hac_device_close_window(windows->device, windows->open[--windows->n], &closing);
        if (status == HAC_OK && closed != HAC_OK) {
            status = closed;
            if (err != NULL)
                *err = closing;
        }
    }
    return status;
}

void hac_argument_mem(hac_arguments *a, cl_mem mem)
{
    if (a->status == HAC_OK)
        a->status = hac_kernel_arg_mem(a->kernel, a->next++, mem, a->err);
}

void hac_argument_u32(hac_arguments *a, uint32_t value)
{
    if (a->status == HAC_OK)
        a->status = hac_kernel_arg_u32(a->kernel, a->next++, value, a->err);
}

void hac_argument_u64(hac_arguments *a, uint64_t value)
{
    if (a->status == HAC_OK)
        a->status = hac_kernel_arg_u64(a->kernel, a->next++, value, a->err);
}

void hac_argument_local(hac_arguments *a, size_t bytes)
{
    if (a->status == HAC_OK)
        a->status = hac_kernel_arg_local(a->kernel, a->next++, bytes, a->err);
}
