/* SPDX-License-Identifier: Apache-2.0 */
#include "setup.h"
#include "opencl/codelets.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)8 << 20)

hac_status hac_setup_check(const Hac__Executor__Setup *setup, hac_error *err)
{
    if (setup->version != HAC_EXECUTOR_PROTOCOL_VERSION)
        return hac_fail(err, HAC_PROTOCOL,
                        "hacd speaks version %u, hac-executor %d: they must be installed %s", setup->version,
                        HAC_EXECUTOR_PROTOCOL_VERSION, "together");
    for (size_t i = 0; i < setup->n_affinity; i++)
        if (setup->affinity[i] >= CPU_SETSIZE)
            return hac_fail(err, HAC_INVALID, "affinity: CPU %u; at most %d", setup->affinity[i],
                            CPU_SETSIZE - 1);
    if (setup->slowdown != 0 && !(setup->slowdown >= 1.0 && setup->slowdown <= 1e6))
        return hac_fail(err, HAC_INVALID, "slowdown: %g is not from 1 to 1e6", setup->slowdown);
    if (setup->byte_order > HAC_BYTE_ORDER_BIG)
        return hac_fail(err, HAC_INVALID, "byte_order: %u is not known", setup->byte_order);
    return HAC_OK;
}

static hac_status set(const char *name, const char *value, hac_error *err)
{
    return setenv(name, value, 1) == 0 ? HAC_OK : hac_fail_no_memory(err);
}

static uint32_t wanted_threads(const Hac__Executor__Setup *setup)
{
    return setup->threads != 0 ? setup->threads : (uint32_t)setup->n_affinity;
}

static hac_status use_scratch(const char *directory, hac_error *err)
{
    static const char *const names[] = {"POCL_CACHE_DIR", "TMPDIR", "MESA_SHADER_CACHE_DIR",
                                        "CUDA_CACHE_PATH", "XDG_CACHE_HOME"};
    if (directory[0] == '\0')
        return HAC_OK;
    if (mkdir(directory, 0700) != 0 && errno != EEXIST)
        return hac_fail_errno(err, HAC_IO, errno, "scratch directory %s", directory);
    if (access(directory, R_OK | W_OK | X_OK) != 0)
        return hac_fail_errno(err, HAC_IO, errno, "scratch directory %s", directory);
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < sizeof names / sizeof *names; i++)
        status = set(names[i], directory, err);
    return status;
}

/* Kernels' private arrays, nearly 1 MiB, lie on the stacks of the driver's threads. The stacks therefore get
 * the normal size even if hacd was started with a small `ulimit -s`. */
static hac_status use_stacks(hac_error *err)
{
    pthread_attr_t attributes;
    size_t bytes;
    int code = pthread_getattr_default_np(&attributes);
    if (code == 0) {
        code = pthread_attr_getstacksize(&attributes, &bytes);
        if (code == 0 && bytes < STACK_BYTES)
            code = pthread_attr_setstacksize(&attributes, STACK_BYTES);
        if (code == 0)
            code = pthread_setattr_default_np(&attributes);
        pthread_attr_destroy(&attributes);
    }
    return code == 0 ? HAC_OK : hac_fail_errno(err, HAC_INTERNAL, code, "stacks of threads");
}

hac_status hac_setup_environment(const Hac__Executor__Setup *setup, hac_error *err)
{
    hac_status status = use_scratch(setup->scratch_directory, err);
    if (status == HAC_OK)
        status = use_stacks(err);
    uint32_t threads = wanted_threads(setup);
    unsetenv("POCL_AFFINITY");
    if (status != HAC_OK || threads == 0)
        return status;
    char text[16];
    snprintf(text, sizeof text, "%u", threads);
    status = set("POCL_MAX_PTHREAD_COUNT", text, err);
    if (status == HAC_OK)
        status = set("LP_NUM_THREADS", text, err); /* Mesa's llvmpipe */
    return status;
}

hac_status hac_setup_open(const Hac__Executor__Setup *setup, bool never_build, hac_device **ret,
                          hac_error *err)
{
    hac_device_options options = {
        .platform = setup->platform,
        .device = setup->device,
        .index = setup->device_index,
        .style = setup->simt ? HAC_STYLE_CHOICE_SIMT : HAC_STYLE_CHOICE_BLOCK,
        .copy_memory = setup->copy_memory,
        .byte_order = (hac_byte_order)setup->byte_order,
        .threads = wanted_threads(setup),
        .block_items = setup->block_items,
        .work_group = setup->work_group,
        .max_loop_iterations = setup->max_loop_iterations,
        .max_allocation = setup->max_allocation,
        .local_memory = setup->local_memory,
        .memory_limit = setup->memory_limit,
        .program_directory = setup->program_directory,
        .program_binary = setup->program_binary,
        .never_build = never_build,
    };
    hac_status status = hac_device_open(hac_programs(), &options, ret, err);
    if (status == HAC_NOT_FOUND)
        status = err->code = HAC_DEVICE;
    return status;
}

static hac_status pin_thread(pid_t tid, const cpu_set_t *cpus, hac_error *err)
{
    if (sched_setaffinity(tid, sizeof *cpus, cpus) == 0 || errno == ESRCH)
        return HAC_OK;
    if (errno == EINVAL)
        return hac_fail(err, HAC_INVALID, "affinity: this process may use none of these CPUs");
    return hac_fail_errno(err, HAC_IO, errno, "affinity: sched_setaffinity");
}

static int compare_tids(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    return (x > y) - (x < y);
}

/* All thread ids except the main thread's, in the order of creation. */
static size_t list_threads(pid_t *tids, size_t capacity)
{
    DIR *directory = opendir("/proc/self/task");
    size_t n = 0;
    if (directory == NULL)
        return 0;
    for (struct dirent *e; n < capacity && (e = readdir(directory)) != NULL;) {
        long tid = strtol(e->d_name, NULL, 10);
        if (tid > 0 && (pid_t)tid != getpid())
            tids[n++] = (pid_t)tid;
    }
    closedir(directory);
    qsort(tids, n, sizeof *tids, compare_tids);
    return n;
}

hac_status hac_setup_pin(const Hac__Executor__Setup *setup, const hac_device_facts *facts, hac_error *err)
{
    pid_t tids[CPU_SETSIZE];
    cpu_set_t all, one;
    if (setup->n_affinity == 0)
        return HAC_OK;
    CPU_ZERO(&all);
    for (size_t i = 0; i < setup->n_affinity; i++)
        CPU_SET(setup->affinity[i], &all);
    hac_status status = pin_thread(getpid(), &all, err);
    bool each_to_one = strcmp(facts->platform, "Portable Computing Language") == 0;
    size_t n = list_threads(tids, CPU_SETSIZE);
    for (size_t i = 0; status == HAC_OK && i < n; i++) {
        CPU_ZERO(&one);
        CPU_SET(setup->affinity[i % setup->n_affinity], &one);
        status = pin_thread(tids[i], each_to_one ? &one : &all, err);
    }
    return status;
}

/* Applies to all existing threads; new threads inherit it. */
static bool set_policy(int policy)
{
    const struct sched_param none = {0};
    pid_t tids[CPU_SETSIZE];
    bool all = sched_setscheduler(0, policy, &none) == 0;
    for (size_t i = list_threads(tids, CPU_SETSIZE); i-- > 0;)
        all = (sched_setscheduler(tids[i], policy, &none) == 0 || errno == ESRCH) && all;
    return all;
}

bool hac_setup_compute(const hac_device_facts *facts)
{
    bool computes = facts->cl_type == CL_DEVICE_TYPE_CPU;
    /* somebody chose less than SCHED_OTHER on purpose */
    return !computes || sched_getscheduler(0) != SCHED_OTHER || set_policy(SCHED_BATCH);
}

bool hac_setup_yield_to_others(void)
{
    return set_policy(SCHED_IDLE);
}

void hac_facts_to_message(const hac_device_facts *f, char kernel_hash[17], Hac__Executor__DeviceFacts *ret)
{
    hac__executor__device_facts__init(ret);
    /* protobuf-c has no const strings; they are only read */
    ret->platform = (char *)(uintptr_t)f->platform;
    ret->vendor = (char *)(uintptr_t)f->vendor;
    ret->device = (char *)(uintptr_t)f->name;
    ret->driver = (char *)(uintptr_t)f->driver;
    ret->type = (char *)(uintptr_t)hac_device_type_name(f->cl_type);
    ret->compute_units = f->compute_units;
    ret->global_memory = f->global_memory;
    ret->max_allocation = f->max_allocation;
    ret->local_memory = f->local_memory;
    ret->max_work_group = f->max_work_group;
    ret->fp64 = f->fp64;
    ret->int64_atomics = f->int64_atomics;
    ret->available = true;
    ret->unified_memory = f->host_memory;
    ret->kernel_hash = kernel_hash;
    ret->simt = f->style == HAC_STYLE_SIMT;
    ret->block_items = f->block_items;
}
