/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "modes.h"
#include "opencl/codelets.h"
#include "opencl/device_open.h"
#include "setup.h"

/* SIGALRM ends a driver that hangs while it starts. */
#define PROBE_SECONDS 20

typedef struct found_device {
    Hac__Executor__DeviceFacts message;
    hac_device_facts facts;
    hac_device_listing listing;
} found_device;

static void fill(found_device *d, const hac_device_listing *listing, const hac_device_options *options,
                 char kernel_hash[17])
{
    d->listing = *listing;
    hac_device_facts_of(listing, options, &d->facts);
    hac_facts_to_message(&d->facts, kernel_hash, &d->message);
    d->message.index = listing->index;
    d->message.available = listing->available;
    d->message.compiler = listing->compiler;
    d->message.unified_memory = listing->unified_memory;
    d->message.clock_mhz = listing->clock_mhz;
    d->message.problem = d->listing.problem;
}

static hac_status send_devices(hac_parent *parent, const hac_device_listing *list, size_t count,
                               hac_error *err)
{
    hac_autofree found_device *found = calloc(count + 1, sizeof *found);
    hac_autofree Hac__Executor__DeviceFacts **pointers = calloc(count + 1, sizeof *pointers);
    if (found == NULL || pointers == NULL)
        return hac_fail_no_memory(err);
    const hac_device_options options = {0};
    char kernel_hash[17];
    hac_programs_hash(hac_programs(), kernel_hash);
    for (size_t i = 0; i < count; i++) {
        fill(&found[i], &list[i], &options, kernel_hash);
        pointers[i] = &found[i].message;
    }
    Hac__Executor__ProbeReport probe;
    hac__executor__probe_report__init(&probe);
    probe.devices = pointers;
    probe.n_devices = count;
    char problem[] = "OpenCL platforms are installed, but none of them has a device";
    if (count == 0)
        probe.problem = problem;
    Hac__Executor__Report report;
    hac__executor__report__init(&report);
    report.what_case = HAC__EXECUTOR__REPORT__WHAT_PROBE;
    report.probe = &probe;
    return hac_parent_send(parent, &report, err);
}

static hac_status send_problem(hac_parent *parent, hac_error *problem, hac_error *err)
{
    Hac__Executor__ProbeReport probe;
    hac__executor__probe_report__init(&probe);
    probe.problem = problem->message;
    Hac__Executor__Report report;
    hac__executor__report__init(&report);
    report.what_case = HAC__EXECUTOR__REPORT__WHAT_PROBE;
    report.probe = &probe;
    return hac_parent_send(parent, &report, err);
}

hac_status hac_mode_probe(hac_parent *parent, const Hac__Executor__Setup *setup, hac_error *err)
{
    hac_autofree hac_device_listing *list = NULL;
    size_t count = 0;
    hac_error problem = HAC_ERROR_NONE;
    alarm(PROBE_SECONDS);
    hac_status status = hac_setup_environment(setup, err);
    if (status != HAC_OK)
        return status;
    status = hac_device_list(&list, &count, &problem);
    return status == HAC_OK ? send_devices(parent, list, count, err) : send_problem(parent, &problem, err);
}
