/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For LD_PRELOAD into hac-executor: an OpenCL whose calls fail when a file says so, and are the driver's
 * otherwise. $STUB_OPENCL_FILE is mapped shared: 256 bytes of text, "clFinish=-5" (each time) or
 * "clFinish=-5@3" (the third time in a process only) or "clFinish=exit", "=abort", "=fault" (the first
 * process that makes the call ends by exit(), abort() or SIGSEGV, no other one does), which may change at any
 * time; then a 64-bit number, how often it has failed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct control {
    char text[256];
    _Atomic int64_t failed;
} control;

static control *file;
static _Atomic long passed;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("STUB_OPENCL_FILE");
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *memory =
        fd >= 0 ? mmap(NULL, sizeof(control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (memory != MAP_FAILED)
        file = memory;
    unsetenv("LD_PRELOAD");
}

/* As a driver might. A SIGSEGV from outside is no fault: LLVM's handler returns from the first one. */
static void end_process(const char *how)
{
    if (strcmp(how, "exit") == 0)
        exit(3); /* NOLINT(concurrency-mt-unsafe) */
    if (strcmp(how, "abort") == 0)
        abort();
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

/* The code with which this call fails; CL_SUCCESS: it does not. */
static cl_int code_of(const char *call)
{
    size_t bytes = strlen(call);
    if (file == NULL || strncmp(file->text, call, bytes) != 0 || file->text[bytes] != '=')
        return CL_SUCCESS;
    const char *value = file->text + bytes + 1;
    int64_t none = 0;
    if (*value >= 'a') {
        if (atomic_compare_exchange_strong(&file->failed, &none, 1))
            end_process(value);
        return CL_SUCCESS;
    }
    char *end;
    long code = strtol(value, &end, 10), nth = *end == '@' ? strtol(end + 1, NULL, 10) : 0;
    if (nth != 0 && atomic_fetch_add(&passed, 1) + 1 != nth)
        return CL_SUCCESS;
    atomic_fetch_add(&file->failed, 1);
    return (cl_int)code;
}

#define REAL(name)                                                                                           \
    static __typeof__(&name) real;                                                                           \
    if (real == NULL)                                                                                        \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                                                           \
    cl_int code = code_of(#name)

/* Calls that return a code, and those that return an object and have the code's place as their last argument.
 */
#define CALL(name, parameters, arguments)                                                                    \
    cl_int name parameters                                                                                   \
    {                                                                                                        \
        REAL(name);                                                                                          \
        return code != CL_SUCCESS ? code : real arguments;                                                   \
    }
#define MAKE(type, name, parameters, arguments)                                                              \
    type name parameters                                                                                     \
    {                                                                                                        \
        REAL(name);                                                                                          \
        if (code == CL_SUCCESS)                                                                              \
            return real arguments;                                                                           \
        if (ret != NULL)                                                                                     \
            *ret = code;                                                                                     \
        return NULL;                                                                                         \
    }

CALL(clGetPlatformIDs, (cl_uint n, cl_platform_id *ids, cl_uint *ret), (n, ids, ret))
CALL(clGetPlatformInfo,
     (cl_platform_id p, cl_platform_info what, size_t capacity, void *value, size_t *bytes),
     (p, what, capacity, value, bytes))
CALL(clGetDeviceIDs, (cl_platform_id p, cl_device_type type, cl_uint n, cl_device_id *ids, cl_uint *ret),
     (p, type, n, ids, ret))
CALL(clGetDeviceInfo, (cl_device_id d, cl_device_info what, size_t capacity, void *value, size_t *bytes),
     (d, what, capacity, value, bytes))
MAKE(cl_context, clCreateContext,
     (const cl_context_properties *properties, cl_uint n, const cl_device_id *devices,
      void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *ret),
     (properties, n, devices, notify, user, ret))
CALL(clReleaseContext, (cl_context context), (context))
MAKE(cl_command_queue, clCreateCommandQueue,
     (cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *ret),
     (context, device, properties, ret))
CALL(clReleaseCommandQueue, (cl_command_queue queue), (queue))
MAKE(cl_mem, clCreateBuffer, (cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *ret),
     (context, flags, bytes, host, ret))
CALL(clReleaseMemObject, (cl_mem memory), (memory))
CALL(clGetMemObjectInfo, (cl_mem m, cl_mem_info what, size_t capacity, void *value, size_t *bytes),
     (m, what, capacity, value, bytes))
MAKE(cl_program, clCreateProgramWithSource,
     (cl_context context, cl_uint n, const char **texts, const size_t *lengths, cl_int *ret),
     (context, n, texts, lengths, ret))
MAKE(cl_program, clCreateProgramWithBinary,
     (cl_context context, cl_uint n, const cl_device_id *devices, const size_t *lengths,
      const unsigned char **binaries, cl_int *codes, cl_int *ret),
     (context, n, devices, lengths, binaries, codes, ret))
CALL(clBuildProgram,
     (cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
      void(CL_CALLBACK *notify)(cl_program, void *), void *user),
     (program, n, devices, options, notify, user))
CALL(clReleaseProgram, (cl_program program), (program))
CALL(clGetProgramInfo, (cl_program p, cl_program_info what, size_t capacity, void *value, size_t *bytes),
     (p, what, capacity, value, bytes))
CALL(clGetProgramBuildInfo,
     (cl_program p, cl_device_id d, cl_program_build_info what, size_t capacity, void *value, size_t *bytes),
     (p, d, what, capacity, value, bytes))
MAKE(cl_kernel, clCreateKernel, (cl_program program, const char *kernel_name, cl_int *ret),
     (program, kernel_name, ret))
CALL(clReleaseKernel, (cl_kernel kernel), (kernel))
CALL(clGetKernelInfo, (cl_kernel k, cl_kernel_info what, size_t capacity, void *value, size_t *bytes),
     (k, what, capacity, value, bytes))
CALL(clGetKernelWorkGroupInfo,
     (cl_kernel k, cl_device_id d, cl_kernel_work_group_info what, size_t capacity, void *value,
      size_t *bytes),
     (k, d, what, capacity, value, bytes))
CALL(clSetKernelArg, (cl_kernel kernel, cl_uint i, size_t bytes, const void *value),
     (kernel, i, bytes, value))
CALL(clEnqueueNDRangeKernel,
     (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
      const size_t *global, const size_t *local, cl_uint n, const cl_event *list, cl_event *event),
     (queue, kernel, dimensions, offset, global, local, n, list, event))
CALL(clEnqueueReadBuffer,
     (cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset, size_t bytes, void *to,
      cl_uint n, const cl_event *list, cl_event *event),
     (queue, memory, blocking, offset, bytes, to, n, list, event))
CALL(clEnqueueWriteBuffer,
     (cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset, size_t bytes, const void *from,
      cl_uint n, const cl_event *list, cl_event *event),
     (queue, memory, blocking, offset, bytes, from, n, list, event))
CALL(clEnqueueFillBuffer,
     (cl_command_queue queue, cl_mem memory, const void *pattern, size_t capacity, size_t offset,
      size_t bytes, cl_uint n, const cl_event *list, cl_event *event),
     (queue, memory, pattern, capacity, offset, bytes, n, list, event))
/* NOLINTNEXTLINE(readability-function-size): so many parameters it has */
MAKE(void *, clEnqueueMapBuffer,
     (cl_command_queue queue, cl_mem memory, cl_bool blocking, cl_map_flags flags, size_t offset,
      size_t bytes, cl_uint n, const cl_event *list, cl_event *event, cl_int *ret),
     (queue, memory, blocking, flags, offset, bytes, n, list, event, ret))
CALL(clEnqueueUnmapMemObject,
     (cl_command_queue queue, cl_mem memory, void *mapped, cl_uint n, const cl_event *list, cl_event *event),
     (queue, memory, mapped, n, list, event))
CALL(clFinish, (cl_command_queue queue), (queue))
