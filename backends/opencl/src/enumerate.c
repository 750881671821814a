/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cl_error.h"
#include "opencl/device_open.h"

#include <CL/cl_ext.h> /* device.h must choose the OpenCL version first */

#define MAX_PLATFORMS 32
#define MAX_DEVICES   64

/* Printable ASCII without leading, trailing and double blanks: names go into messages, globs and paths. */
static void tidy(char *text)
{
    char *out = text;
    for (const char *in = text; *in != '\0'; in++) {
        char c = *in;
        if (c == '\t' || c == '\n' || c == '\r')
            c = ' ';
        if (c < ' ' || c > '~')
            c = '?';
        if (c == ' ' && (out == text || out[-1] == ' '))
            continue;
        *out++ = c;
    }
    if (out > text && out[-1] == ' ')
        out--;
    *out = '\0';
}

static cl_int get_text(cl_device_id device, cl_device_info what, char *out, size_t capacity)
{
    char text[1024] = "";
    cl_int code = clGetDeviceInfo(device, what, sizeof text - 1, text, NULL);
    if (code != CL_SUCCESS)
        text[0] = '\0';
    tidy(text);
    snprintf(out, capacity, "%.*s", (int)capacity - 1, text);
    return code;
}

/* Any integer property: the driver answers with 1, 4 or 8 bytes. 0: no answer. */
static uint64_t get_number(cl_device_id device, cl_device_info what)
{
    uint64_t value = 0;
    size_t bytes = 0;
    if (clGetDeviceInfo(device, what, sizeof value, &value, &bytes) != CL_SUCCESS)
        return 0;
    return bytes == sizeof(cl_uint) ? (cl_uint)value : value;
}

static uint32_t get_number32(cl_device_id device, cl_device_info what)
{
    uint64_t value = get_number(device, what);
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* `names` is CL_SUCCESS if all names are known. Without them, what was learnt about the device or built for
 * it could not be found again, and new files would get another device's name. */
static void find_problem(hac_device_listing *l, cl_int names)
{
    if (names != CL_SUCCESS)
        snprintf(l->problem, sizeof l->problem, "the driver does not say what device it is: %s (%d)",
                 hac_cl_error_name(names), names);
    else if (!l->available)
        snprintf(l->problem, sizeof l->problem, "the driver says that the device is not available");
    else if (!get_number(l->device_id, CL_DEVICE_ENDIAN_LITTLE))
        snprintf(l->problem, sizeof l->problem, "the device is big-endian");
    else if (l->max_allocation == 0 || l->max_work_group == 0)
        snprintf(l->problem, sizeof l->problem, "the driver reports no memory or no work-group size");
}

static bool has_extension(cl_device_id device, const char *name)
{
    char text[8192] = "";
    if (clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof text - 1, text, NULL) != CL_SUCCESS)
        return false;
    return strstr(text, name) != NULL;
}

/* The first error. All available names are read. */
static cl_int get_names(hac_device_listing *l)
{
    char text[1024] = "";
    cl_int platform = clGetPlatformInfo(l->platform_id, CL_PLATFORM_NAME, sizeof text - 1, text, NULL);
    if (platform != CL_SUCCESS)
        text[0] = '\0';
    tidy(text);
    snprintf(l->platform, sizeof l->platform, "%.*s", (int)sizeof l->platform - 1, text);
    (void)get_text(l->device_id, CL_DEVICE_VENDOR, l->vendor, sizeof l->vendor);
    cl_int name = get_text(l->device_id, CL_DEVICE_NAME, l->name, sizeof l->name);
    cl_int driver = get_text(l->device_id, CL_DRIVER_VERSION, l->driver, sizeof l->driver);
    return platform != CL_SUCCESS ? platform : name != CL_SUCCESS ? name : driver;
}

static void describe(cl_platform_id platform, cl_device_id device, hac_device_listing *l)
{
    memset(l, 0, sizeof *l);
    l->platform_id = platform;
    l->device_id = device;
    cl_int names = get_names(l);
    l->cl_type = get_number(device, CL_DEVICE_TYPE);
    l->compute_units = get_number32(device, CL_DEVICE_MAX_COMPUTE_UNITS);
    l->max_work_group = get_number32(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    l->clock_mhz = get_number32(device, CL_DEVICE_MAX_CLOCK_FREQUENCY);
    l->global_memory = get_number(device, CL_DEVICE_GLOBAL_MEM_SIZE);
    l->max_allocation = get_number(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    l->local_memory = get_number(device, CL_DEVICE_LOCAL_MEM_SIZE);
    l->fp64 = get_number(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    l->rounds_division =
        (get_number(device, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    l->int64_atomics = has_extension(device, "cl_khr_int64_base_atomics");
    l->available = get_number(device, CL_DEVICE_AVAILABLE) != 0;
    l->compiler = get_number(device, CL_DEVICE_COMPILER_AVAILABLE) != 0;
    l->unified_memory = get_number(device, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
    l->little_endian = get_number(device, CL_DEVICE_ENDIAN_LITTLE) != 0;
    find_problem(l, names);
}

/* The number of devices. 0 and *ret_code: an error other than having no devices (Mesa's Clover is a platform
 * without any). */
static size_t list_platform(cl_platform_id platform, hac_device_listing *list, size_t capacity,
                            cl_int *ret_code)
{
    cl_device_id ids[MAX_DEVICES];
    cl_uint n = 0;
    cl_device_type types = CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR;
    cl_int code = clGetDeviceIDs(platform, types, MAX_DEVICES, ids, &n);
    if (code != CL_SUCCESS) {
        *ret_code = code != CL_DEVICE_NOT_FOUND ? code : *ret_code;
        return 0;
    }
    if (n > MAX_DEVICES)
        n = MAX_DEVICES;
    size_t used = 0;
    for (cl_uint i = 0; i < n && used < capacity; i++)
        describe(platform, ids[i], &list[used++]);
    return used;
}

static void number_equal_ones(hac_device_listing *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(list[i].platform, list[j].platform) == 0 && strcmp(list[i].name, list[j].name) == 0)
                list[i].index++;
}

/*
 * By default PoCL compiles a kernel again at the first launch of each local size and grid class (fewer than
 * 65,535 work-items). It runs a linker as a process of its own and aborts where that is not allowed. Its
 * binaries also hold a variant for any size, which takes as long to build and is then left unused. Without
 * specialisation this variant is all there is: building takes half the time, no launch ever compiles, and the
 * kernels are as fast (measured for the sorts).
 */
static void set_driver_options(void)
{
    setenv("POCL_WORK_GROUP_SPECIALIZATION", "0", 1);
}

hac_status hac_device_list(hac_device_listing **ret, size_t *ret_count, hac_error *err)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint n = 0;
    set_driver_options();
    cl_int code = clGetPlatformIDs(MAX_PLATFORMS, platforms, &n);
    if (code == CL_PLATFORM_NOT_FOUND_KHR || (code == CL_SUCCESS && n == 0))
        return hac_fail(err, HAC_NOT_FOUND,
                        "no OpenCL platform found: install a driver, e.g. pocl-opencl-icd, or set "
                        "OCL_ICD_VENDORS");
    if (code != CL_SUCCESS)
        return hac_fail_cl(err, code, "clGetPlatformIDs");
    if (n > MAX_PLATFORMS)
        n = MAX_PLATFORMS;
    hac_autofree hac_device_listing *list = calloc(MAX_DEVICES, sizeof *list);
    if (list == NULL)
        return hac_fail_no_memory(err);
    size_t count = 0;
    for (cl_uint i = 0; i < n; i++)
        count += list_platform(platforms[i], list + count, MAX_DEVICES - count, &code);
    if (count == 0 && code != CL_SUCCESS)
        return hac_fail_cl(err, code, "clGetDeviceIDs");
    number_equal_ones(list, count);
    *ret = hac_steal_ptr(list);
    *ret_count = count;
    return HAC_OK;
}

const char *hac_device_type_name(cl_device_type type)
{
    if (type & CL_DEVICE_TYPE_CPU)
        return "cpu";
    return type & CL_DEVICE_TYPE_GPU ? "gpu" : "accelerator";
}
