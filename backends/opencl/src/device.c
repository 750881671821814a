/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl/device.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "cl_error.h"
#include "codelet/progress.h"
#include "device_internal.h"

HAC_DEFINE_CLEANUP(hac_device *, hac_device_close)

static bool matches(const hac_device_listing *l, const hac_device_options *o)
{
    if (o->platform != NULL && o->platform[0] != '\0' && strcmp(o->platform, l->platform) != 0)
        return false;
    if (o->device == NULL || o->device[0] == '\0')
        return l->problem[0] == '\0';
    return strcmp(o->device, l->name) == 0 && o->index == l->index;
}

static hac_status find_device(const hac_device_options *o, hac_device_listing *ret, hac_error *err)
{
    hac_autofree hac_device_listing *list = NULL;
    size_t count = 0;
    hac_status status = hac_device_list(&list, &count, err);
    if (status != HAC_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (!matches(&list[i], o))
            continue;
        if (list[i].problem[0] != '\0')
            return hac_fail(err, HAC_DEVICE, "device \"%s\": %s", list[i].name, list[i].problem);
        *ret = list[i];
        return HAC_OK;
    }
    return hac_fail(err, HAC_NOT_FOUND, "no device \"%s\" (index %u) on platform \"%s\" among the %zu found",
                    o->device != NULL ? o->device : "", o->index, o->platform != NULL ? o->platform : "",
                    count);
}

static hac_status open_queue(hac_device *device, const hac_device_listing *l, hac_error *err)
{
    cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)l->platform_id, 0};
    cl_int code;
    device->id = l->device_id;
    device->context = clCreateContext(properties, 1, &device->id, NULL, NULL, &code);
    if (code != CL_SUCCESS)
        return hac_fail_cl(err, code, "clCreateContext");
    device->queue = clCreateCommandQueue(device->context, device->id, 0, &code);
    if (code != CL_SUCCESS)
        return hac_fail_cl(err, code, "clCreateCommandQueue");
    return HAC_OK;
}

hac_status hac_device_open(const hac_program_source *programs, const hac_device_options *options,
                           hac_device **ret, hac_error *err)
{
    hac_device_listing listing;
    hac_status status = find_device(options, &listing, err);
    if (status != HAC_OK)
        return status;
    hac_cleanup(hac_device_close_cleanup) hac_device *device = calloc(1, sizeof *device);
    if (device == NULL)
        return hac_fail_no_memory(err);
    device->sources = programs;
    hac_device_facts_of(&listing, options, &device->facts);
    status = open_queue(device, &listing, err);
    if (status == HAC_OK)
        status = hac_device_programs_open(device, options, err);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(device);
    else
        hac_error_prefix(err, "device \"%s\"", listing.name);
    return status;
}

static void release_mem(hac_device_window *window)
{
    if (window->mem != NULL)
        clReleaseMemObject(window->mem);
    window->mem = NULL;
    window->capacity = 0;
}

static void drop_spares(hac_device *device)
{
    for (size_t i = 0; i < HAC_SPARE_BUFFERS; i++)
        release_mem(&device->spare[i]);
}

void hac_device_trim(hac_device *device)
{
    drop_spares(device);
    for (size_t i = 0; i < HAC_SCRATCH_SLOTS; i++)
        release_mem(&device->scratch[i]);
}

void hac_device_close(hac_device *device)
{
    if (device == NULL)
        return;
    for (size_t i = 0; i < HAC_MAX_WINDOWS; i++)
        release_mem(&device->windows[i]);
    hac_device_trim(device);
    hac_regions_clear(device);
    hac_device_programs_close(device);
    if (device->queue != NULL)
        clReleaseCommandQueue(device->queue);
    if (device->context != NULL)
        clReleaseContext(device->context);
    free(device);
}

const hac_device_facts *hac_device_get_facts(const hac_device *device)
{
    return &device->facts;
}

static uint64_t sum_of(const hac_device_window *buffers, size_t n)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += buffers[i].mem != NULL ? buffers[i].capacity : 0;
    return bytes;
}

uint64_t hac_device_allocated(const hac_device *device)
{
    return sum_of(device->windows, HAC_MAX_WINDOWS) + sum_of(device->scratch, HAC_SCRATCH_SLOTS) +
           sum_of(device->spare, HAC_SPARE_BUFFERS);
}

/* Frees what earlier tasks have left, as far as the limit asks for it. */
static hac_status keep_limit(hac_device *device, uint64_t bytes, hac_error *err)
{
    uint64_t limit = device->facts.global_memory;
    if (hac_device_allocated(device) + bytes > limit)
        drop_spares(device);
    for (size_t i = 0; i < HAC_SCRATCH_SLOTS && hac_device_allocated(device) + bytes > limit; i++)
        if (!device->in_use[i])
            release_mem(&device->scratch[i]);
    uint64_t held = hac_device_allocated(device);
    if (held + bytes <= limit)
        return HAC_OK;
    return hac_fail(err, HAC_NO_MEMORY,
                    "the device has %.1f MiB of memory, of which the task uses %.1f, and it needs %.1f more "
                    "(profile key memory.limit)",
                    (double)limit / 0x1p20, (double)held / 0x1p20, (double)bytes / 0x1p20);
}

/* A new device buffer. If memory is short, the spare buffers are freed first. */
static hac_status new_buffer(hac_device *device, uint64_t bytes, cl_mem *ret, hac_error *err)
{
    cl_int code;
    *ret = NULL;
    hac_status status = keep_limit(device, bytes, err);
    if (status != HAC_OK)
        return status;
    *ret = clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY) {
        drop_spares(device);
        *ret = clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    }
    if (code == CL_SUCCESS)
        return HAC_OK;
    *ret = NULL;
    return hac_fail_cl(err, code, "clCreateBuffer");
}

/* A driver may leave another user's data in a new buffer, and the whole window is copied to the host, whether
 * kernels wrote it or not. The same holds for later windows that get this buffer. */
static hac_status clear_buffer(hac_device *device, hac_device_window *window, hac_error *err)
{
    static const uint64_t zero;
    uint64_t words = window->capacity / sizeof zero * sizeof zero;
    cl_int code = CL_SUCCESS;
    if (words != 0)
        code = clEnqueueFillBuffer(device->queue, window->mem, &zero, sizeof zero, 0, words, 0, NULL, NULL);
    if (code == CL_SUCCESS && words < window->capacity)
        code = clEnqueueFillBuffer(device->queue, window->mem, &zero, 1, words, window->capacity - words, 0,
                                   NULL, NULL);
    if (code == CL_SUCCESS)
        return HAC_OK;
    release_mem(window);
    return hac_fail_cl(err, code, "clEnqueueFillBuffer");
}

/* A device buffer for the window: a spare buffer of about its size, or a new one. `filled`: the whole window
 * is written next. */
static hac_status take_buffer(hac_device *device, hac_device_window *window, bool filled, hac_error *err)
{
    uint64_t bytes = window->bytes;
    for (size_t i = 0; i < HAC_SPARE_BUFFERS; i++) {
        hac_device_window *spare = &device->spare[i];
        if (spare->mem != NULL && spare->capacity >= bytes && spare->capacity / 2 <= bytes) {
            window->mem = spare->mem;
            window->capacity = spare->capacity;
            spare->mem = NULL;
            spare->capacity = 0;
            return HAC_OK;
        }
    }
    hac_status status = new_buffer(device, bytes, &window->mem, err);
    window->capacity = status == HAC_OK ? bytes : 0;
    if (status == HAC_OK && !filled)
        status = clear_buffer(device, window, err);
    return status;
}

/* Keeps the buffer for a later window in place of the smallest spare one. */
static void keep_buffer(hac_device *device, hac_device_window *window)
{
    hac_device_window *place = &device->spare[0];
    for (size_t i = 1; i < HAC_SPARE_BUFFERS; i++)
        if (device->spare[i].capacity < place->capacity)
            place = &device->spare[i];
    release_mem(place);
    *place = *window;
    window->mem = NULL;
    window->capacity = 0;
}

/* Only enqueued: the memory must not change until the window is closed, which waits. */
static hac_status copy_there(hac_device *device, const hac_device_window *window, const hac_piece *piece,
                             hac_error *err)
{
    hac_regions_note_copy(device, piece->data, piece->bytes);
    cl_int code = clEnqueueWriteBuffer(device->queue, window->mem, CL_FALSE, piece->at, piece->bytes,
                                       piece->data, 0, NULL, NULL);
    return code == CL_SUCCESS ? HAC_OK : hac_fail_cl(err, code, "clEnqueueWriteBuffer");
}

static hac_status open_copy(hac_device *device, hac_device_window *window, const hac_piece *pieces,
                            size_t n_pieces, hac_error *err)
{
    bool filled = n_pieces == 1 && pieces[0].bytes == window->bytes;
    hac_status status = take_buffer(device, window, filled, err);
    size_t n = 0;
    while (status == HAC_OK && n < n_pieces) {
        status = copy_there(device, window, &pieces[n], err);
        n += status == HAC_OK;
    }
    if (status != HAC_OK && n > 0) /* earlier pieces are still being copied */
        clFinish(device->queue);
    if (status != HAC_OK)
        release_mem(window);
    return status;
}

static hac_status open_in_place(hac_device *device, hac_device_window *window, hac_error *err)
{
    cl_mem_flags flags = window->access == HAC_READ    ? CL_MEM_READ_ONLY
                         : window->access == HAC_WRITE ? CL_MEM_WRITE_ONLY
                                                       : CL_MEM_READ_WRITE;
    cl_int code;
    window->mem =
        clCreateBuffer(device->context, flags | CL_MEM_USE_HOST_PTR, window->bytes, window->data, &code);
    if (code == CL_SUCCESS)
        return HAC_OK;
    window->mem = NULL;
    return hac_fail_cl(err, code, "clCreateBuffer");
}

/* A free slot for a window of this many bytes. */
static hac_status new_window(hac_device *device, uint64_t bytes, hac_device_window **ret, hac_error *err)
{
    if (bytes == 0 || bytes > device->facts.max_allocation)
        return hac_fail(err, HAC_INVALID, "a window of %llu bytes; 1 to %llu are possible on this device",
                        (unsigned long long)bytes, (unsigned long long)device->facts.max_allocation);
    for (size_t i = 0; i < HAC_MAX_WINDOWS; i++)
        if (device->windows[i].mem == NULL) {
            *ret = &device->windows[i];
            return HAC_OK;
        }
    return hac_fail(err, HAC_INTERNAL, "more than %d windows are open at once", HAC_MAX_WINDOWS);
}

hac_status hac_device_open_window(hac_device *device, void *data, uint64_t bytes, hac_access access,
                                  cl_mem *ret_window, hac_error *err)
{
    hac_device_window *window = NULL;
    hac_status status = new_window(device, bytes, &window, err);
    if (status != HAC_OK)
        return status;
    if ((uintptr_t)data % HAC_ALIGNMENT != 0) /* with less, PoCL's kernels crash without an error */
        return hac_fail(err, HAC_INVALID, "a window's memory is not %d-byte aligned", HAC_ALIGNMENT);
    *window = (hac_device_window){.data = data, .bytes = bytes, .access = access};
    const hac_piece all = {data, bytes, 0};
    status = device->facts.host_memory ? open_in_place(device, window, err)
                                       : open_copy(device, window, &all, access & HAC_READ ? 1 : 0, err);
    if (status == HAC_OK)
        *ret_window = window->mem;
    return status;
}

hac_status hac_device_open_pieces(hac_device *device, const hac_piece *pieces, size_t n_pieces,
                                  uint64_t bytes, cl_mem *ret_window, hac_error *err)
{
    hac_device_window *window = NULL;
    hac_status status = new_window(device, bytes, &window, err);
    if (status != HAC_OK)
        return status;
    if (device->facts.host_memory)
        return hac_fail(err, HAC_INTERNAL, "pieces are for devices that copy");
    for (size_t i = 0; i < n_pieces; i++)
        if (pieces[i].at > bytes || pieces[i].bytes > bytes - pieces[i].at)
            return hac_fail(err, HAC_INTERNAL, "piece %zu does not lie in the window", i);
    *window = (hac_device_window){.bytes = bytes, .access = HAC_READ};
    status = open_copy(device, window, pieces, n_pieces, err);
    if (status == HAC_OK)
        *ret_window = window->mem;
    return status;
}

/*
 * In-place memory of a CPU device is coherent once the queue is idle: host and kernels see the same cache
 * lines. Any other device may hold its stores back until the memory is mapped.
 */
static hac_status fetch_in_place(hac_device *device, const hac_device_window *window, hac_error *err)
{
    if ((device->facts.cl_type & CL_DEVICE_TYPE_CPU) || !(window->access & HAC_WRITE))
        return HAC_OK;
    cl_int code;
    void *at = clEnqueueMapBuffer(device->queue, window->mem, CL_TRUE, CL_MAP_READ, 0, window->bytes, 0, NULL,
                                  NULL, &code);
    if (code != CL_SUCCESS)
        return hac_fail_cl(err, code, "clEnqueueMapBuffer");
    code = clEnqueueUnmapMemObject(device->queue, window->mem, at, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = clFinish(device->queue);
    return code == CL_SUCCESS ? HAC_OK : hac_fail_cl(err, code, "clEnqueueUnmapMemObject");
}

static hac_status fetch_copy(hac_device *device, const hac_device_window *window, hac_error *err)
{
    if (!(window->access & HAC_WRITE))
        return HAC_OK;
    hac_regions_note_copy(device, window->data, window->bytes);
    return hac_device_read(device, window->mem, 0, window->bytes, window->data, err);
}

hac_status hac_device_close_window(hac_device *device, cl_mem mem, hac_error *err)
{
    hac_device_window *window = NULL;
    for (size_t i = 0; i < HAC_MAX_WINDOWS && window == NULL; i++)
        if (device->windows[i].mem == mem && mem != NULL)
            window = &device->windows[i];
    if (window == NULL)
        return hac_fail(err, HAC_INTERNAL, "a window that is not open was closed");
    hac_status status = hac_device_finish(device, err);
    if (status == HAC_OK)
        status =
            device->facts.host_memory ? fetch_in_place(device, window, err) : fetch_copy(device, window, err);
    if (device->facts.host_memory || status != HAC_OK)
        release_mem(window);
    else
        keep_buffer(device, window);
    return status;
}

hac_status hac_device_scratch(hac_device *device, unsigned slot, uint64_t bytes, cl_mem *ret, hac_error *err)
{
    if (slot >= HAC_SCRATCH_SLOTS || bytes == 0 || bytes > device->facts.max_allocation)
        return hac_fail(err, HAC_INVALID, "scratch slot %u of %llu bytes; %d slots of at most %llu are there",
                        slot, (unsigned long long)bytes, HAC_SCRATCH_SLOTS,
                        (unsigned long long)device->facts.max_allocation);
    hac_device_window *scratch = &device->scratch[slot];
    if (scratch->capacity < bytes) {
        release_mem(scratch);
        hac_status status = new_buffer(device, bytes, &scratch->mem, err);
        if (status != HAC_OK)
            return status;
        scratch->capacity = bytes;
    }
    device->in_use[slot] = true;
    *ret = scratch->mem;
    return HAC_OK;
}

hac_status hac_device_read(hac_device *device, cl_mem mem, uint64_t offset, uint64_t bytes, void *to,
                           hac_error *err)
{
    if (bytes == 0)
        return hac_device_finish(device, err);
    cl_int code = clEnqueueReadBuffer(device->queue, mem, CL_TRUE, offset, bytes, to, 0, NULL, NULL);
    return code == CL_SUCCESS ? HAC_OK : hac_fail_cl(err, code, "clEnqueueReadBuffer");
}

uint32_t hac_device_kernel_items(const hac_device *device, cl_kernel kernel)
{
    size_t max = 0;
    cl_int code =
        clGetKernelWorkGroupInfo(kernel, device->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof max, &max, NULL);
    bool fewer = code == CL_SUCCESS && max != 0 && max < device->facts.max_work_group;
    return fewer ? (uint32_t)max : device->facts.max_work_group;
}

hac_status hac_kernel_arg(cl_kernel kernel, unsigned index, size_t size, const void *value, hac_error *err)
{
    cl_int code = clSetKernelArg(kernel, index, size, value);
    if (code == CL_SUCCESS)
        return HAC_OK;
    hac_status status = hac_fail_cl(err, code, "clSetKernelArg");
    char name[64] = "?";
    clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name, NULL);
    hac_error_prefix(err, "kernel %s, argument %u", name, index);
    return status;
}

hac_status hac_kernel_arg_mem(cl_kernel kernel, unsigned index, cl_mem mem, hac_error *err)
{
    return hac_kernel_arg(kernel, index, sizeof(cl_mem), &mem, err);
}

hac_status hac_kernel_arg_u32(cl_kernel kernel, unsigned index, uint32_t value, hac_error *err)
{
    return hac_kernel_arg(kernel, index, sizeof value, &value, err);
}

hac_status hac_kernel_arg_u64(cl_kernel kernel, unsigned index, uint64_t value, hac_error *err)
{
    return hac_kernel_arg(kernel, index, sizeof value, &value, err);
}

hac_status hac_kernel_arg_local(cl_kernel kernel, unsigned index, size_t bytes, hac_error *err)
{
    return hac_kernel_arg(kernel, index, bytes, NULL, err);
}

hac_status hac_device_launch(hac_device *device, cl_kernel kernel, uint64_t groups, uint32_t local,
                             hac_error *err)
{
    size_t global_size, local_size = local;
    if (groups == 0 || local == 0 || local > device->facts.max_work_group ||
        __builtin_mul_overflow(groups, local, &global_size))
        return hac_fail(err, HAC_INVALID, "a launch of %llu groups of %u work-items; groups have at most %u",
                        (unsigned long long)groups, local, device->facts.max_work_group);
    cl_int code =
        clEnqueueNDRangeKernel(device->queue, kernel, 1, NULL, &global_size, &local_size, 0, NULL, NULL);
    device->launches += code == CL_SUCCESS;
    hac_progress_step();
    return code == CL_SUCCESS ? HAC_OK : hac_fail_cl(err, code, "clEnqueueNDRangeKernel");
}

void hac_device_begin_task(hac_device *device)
{
    memset(device->in_use, 0, sizeof device->in_use);
}

uint64_t hac_device_launches(const hac_device *device)
{
    return device->launches;
}

hac_status hac_device_finish(hac_device *device, hac_error *err)
{
    cl_int code = clFinish(device->queue);
    return code == CL_SUCCESS ? HAC_OK : hac_fail_cl(err, code, "clFinish");
}
