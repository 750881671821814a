/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For LD_PRELOAD into hac-executor: an OpenCL without a compiler, as FPGAs have it. Programs come from
 * binaries or not at all. A line on standard error, which is hacd's log, tells of every attempt to build one
 * from source, and of every binary that is loaded.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>

static void note(const char *what)
{
    fprintf(stderr, "no compiler: %s\n", what);
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                     const size_t *lengths, cl_int *ret)
{
    (void)context;
    (void)count;
    (void)strings;
    (void)lengths;
    note("a source was to be built");
    if (ret != NULL)
        *ret = CL_COMPILER_NOT_AVAILABLE;
    return NULL;
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint n, const cl_device_id *devices,
                                     const size_t *lengths, const unsigned char **binaries, cl_int *codes,
                                     cl_int *ret)
{
    static cl_program (*real)(cl_context, cl_uint, const cl_device_id *, const size_t *,
                              const unsigned char **, cl_int *, cl_int *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "clCreateProgramWithBinary");
    note("a binary is loaded");
    return real(context, n, devices, lengths, binaries, codes, ret);
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t bytes, void *value, size_t *ret)
{
    static cl_int (*real)(cl_device_id, cl_device_info, size_t, void *, size_t *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    cl_int code = real(device, what, bytes, value, ret);
    if (what == CL_DEVICE_COMPILER_AVAILABLE && code == CL_SUCCESS && value != NULL)
        *(cl_bool *)value = CL_FALSE;
    return code;
}
