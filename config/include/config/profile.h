/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device profiles: YAML files that say how devices of a family are used (docs/profiles.md is generated
 * from the key table in this module). A profile matches probed devices by glob; the first match wins, and
 * each entry of its `executors` list is one device of ours (cpu.0, cpu.1 …; one entry: just the name).
 *
 * Files are read here, in the daemon and in hacctl alike; every problem is reported as
 * "FILE:LINE: key `a.b`: what is wrong; what is allowed". Nothing here needs OpenCL.
 */
#ifndef CONFIG_PROFILE_H
#define CONFIG_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/device.h"
#include "base/error.h"

#define HAC_NAME_MAX              64  /* device, group and profile names, terminator included */
#define HAC_AFFINITY_MAX          256 /* cpus of one executor */
#define HAC_PROFILE_ENV_MAX       16  /* environment settings of one executor */
#define HAC_CAPABILITY_MAX        32  /* fixed capabilities of one device */
#define HAC_PROFILE_EXECUTORS_MAX 64

typedef struct hac_capability {
    char key[HAC_NAME_MAX]; /* "sort.u32" */
    double items_per_second;
} hac_capability;

/* One device as the profile wants it: the profile's values with the executor entry's overrides applied. */
typedef struct hac_device_config {
    char name[HAC_NAME_MAX]; /* "cpu", or "cpu.0" … where the profile lists several executors */
    char profile[HAC_NAME_MAX];
    char group[HAC_NAME_MAX]; /* empty: none given */
    hac_device_kind kind;
    hac_style_choice style;
    uint32_t threads; /* 0: all of the device's (or of its affinity) */
    uint16_t affinity[HAC_AFFINITY_MAX];
    size_t n_affinity;              /* 0: not pinned */
    char *env[HAC_PROFILE_ENV_MAX]; /* "NAME=value", owned */
    size_t n_env;
    uint64_t memory_limit;        /* bytes, 0: what the driver reports */
    bool host_memory;             /* memory.host: false makes kernels work on copies; unless given:
                                     true for kinds cpu and arm */
    char *program_binary;         /* absolute path, NULL: source */
    hac_byte_order byte_order;    /* native: what the driver says */
    uint32_t block_items;         /* 0: auto */
    uint32_t work_group;          /* 0: auto */
    uint32_t max_loop_iterations; /* 0: no limit */
    uint64_t max_allocation;      /* bytes, 0: the driver's */
    uint64_t local_memory;        /* bytes, 0: the driver's */
    double link_bandwidth;        /* bytes/s, 0: none */
    double link_latency;          /* seconds */
    bool jit;                     /* sandbox.jit */
    hac_capability capability[HAC_CAPABILITY_MAX];
    size_t n_capability;
    double slowdown; /* testing.slowdown, ≥ 1.0 */
} hac_device_config;

void hac_device_config_clear(hac_device_config *config);

typedef struct hac_profile hac_profile;         /* one file */
typedef struct hac_profile_set hac_profile_set; /* profiles in order of precedence */

/* Reads one file (at most 256 KiB) and checks all of it, every executor entry included. HAC_INVALID: the file
 * says something wrong; HAC_NOT_FOUND, HAC_IO: it cannot be read. */
HAC_MUST_USE hac_status hac_profile_load(const char *path, hac_profile **ret, hac_error *err);

/* The same from memory; `name` stands for the file in messages and in hac_profile_path. */
HAC_MUST_USE hac_status hac_profile_parse(const char *name, const char *text, size_t length,
                                          hac_profile **ret, hac_error *err);
void hac_profile_free(hac_profile *profile);

const char *hac_profile_name(const hac_profile *profile);
const char *hac_profile_path(const hac_profile *profile);

/* Reads every *.yaml of each directory (hidden files and subdirectories' files left out), in lexical order of
 * bytes, directories in the order given; a directory that does not exist is skipped. With `strict` the first
 * bad file is the error; without it a bad file is left out and its message is handed to `report` (the daemon
 * logs it, `doctor` shows it). */
HAC_MUST_USE hac_status hac_profile_set_load(const char *const *directories, size_t n_directories,
                                             bool strict, void (*report)(void *context, const hac_error *err),
                                             void *context, hac_profile_set **ret, hac_error *err);
void hac_profile_set_free(hac_profile_set *set);

size_t hac_profile_set_count(const hac_profile_set *set);
const hac_profile *hac_profile_set_get(const hac_profile_set *set, size_t index);

/* What a probe found of an OpenCL device, as far as matching goes. `type` is cpu, gpu or accelerator. */
typedef struct hac_profile_match {
    const char *platform, *vendor, *device, *type;
} hac_profile_match;

/* Whether the profile's patterns match. In a pattern `*` stands for any characters and `?` for any one
 * character; letter case does not matter. Brackets have no meaning, as drivers put them into names. */
bool hac_profile_fits(const hac_profile *profile, const hac_profile_match *match);

/* The first profile of the set that fits, or NULL. If it fits several devices of a machine, the caller gives
 * these different names. */
const hac_profile *hac_profile_set_match(const hac_profile_set *set, const hac_profile_match *match);

/* Number of devices (executor entries) of a profile, at least 1; and the i-th of them, named by the entry's
 * own `name`, or NAME where there is one entry, or NAME.i. The caller clears *ret with
 * hac_device_config_clear. */
size_t hac_profile_device_count(const hac_profile *profile);
HAC_MUST_USE hac_status hac_profile_device(const hac_profile *profile, size_t index, hac_device_config *ret,
                                           hac_error *err);

/* The profile that a device which matches none gets: named after its type, everything on auto; kind fpga for
 * an accelerator. A CPU device goes into HAC_CPU_GROUP, because all drivers run on the same cores. */
#define HAC_CPU_GROUP "socket0"
void hac_profile_generate(const hac_profile_match *match, hac_device_config *ret);

/* Writes the reference page of all keys (Markdown), made from the same table that checks the files. */
void hac_profile_reference(FILE *out);

/* "4GiB", "25GB/s", "10us" … → bytes, bytes/s, seconds; used for hacctl's size options too. Units: B kB MB GB
 * TB KiB MiB GiB TiB (a bare number is bytes); the same with /s; ns us ms s min h. Never negative, never
 * infinite. */
HAC_MUST_USE hac_status hac_parse_size(const char *text, uint64_t *ret, hac_error *err);
HAC_MUST_USE hac_status hac_parse_rate(const char *text, double *ret, hac_error *err);
HAC_MUST_USE hac_status hac_parse_duration(const char *text, double *ret_seconds, hac_error *err);

#endif
