/* SPDX-License-Identifier: Apache-2.0 */
#include "process_limits.h"

#include <signal.h>
#include <sys/resource.h>

typedef struct process_limit {
    __rlimit_resource_t resource;
    const char *option; /* of the shell's ulimit */
    rlim_t min, wanted; /* less than `min` is too little */
    const char *unit;
} process_limit;

static const process_limit limits[] = {
    /* the first resource that hacd runs out of: every client, buffer and child needs some */
    {RLIMIT_NOFILE, "-n", 0, RLIM_INFINITY, "descriptors"},
    /* of the whole process, and SIGXCPU ends it */
    {RLIMIT_CPU, "-t", 60, RLIM_INFINITY, "seconds of processor time"},
    /* also of shared memory */
    {RLIMIT_FSIZE, "-f", 64 << 20, RLIM_INFINITY, "bytes of a file"},
    /* Drivers compile kernels on the main thread's stack. More than the normal size would change where
     * memory is mapped. */
    {RLIMIT_STACK, "-s", 128 << 10, 8 << 20, "bytes of stack"},
    {RLIMIT_DATA, "-d", 0, RLIM_INFINITY, "bytes of data"},
    {RLIMIT_AS, "-v", 0, RLIM_INFINITY, "bytes of address space"},
    {RLIMIT_NPROC, "-u", 0, RLIM_INFINITY, "processes"},
};

static hac_status raise_one(const process_limit *limit, hac_error *err)
{
    struct rlimit now;
    if (getrlimit(limit->resource, &now) != 0)
        return HAC_OK;
    if (now.rlim_max < limit->min)
        return hac_fail(
            err, HAC_REFUSED,
            "hacd is started with `ulimit %s` at %llu %s, and needs at least %llu: start it without "
            "that limit",
            limit->option, (unsigned long long)now.rlim_max, limit->unit, (unsigned long long)limit->min);
    rlim_t wanted = limit->wanted < now.rlim_max ? limit->wanted : now.rlim_max;
    if (now.rlim_cur < wanted) {
        now.rlim_cur = wanted;
        setrlimit(limit->resource, &now);
    }
    return HAC_OK;
}

hac_status hac_process_limits_raise(hac_error *err)
{
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        hac_status status = raise_one(&limits[i], err);
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}
