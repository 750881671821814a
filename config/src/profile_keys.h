/* SPDX-License-Identifier: Apache-2.0 */
/* The key table of device profiles, and the struct it fills. */
#ifndef CONFIG_PROFILE_KEYS_H
#define CONFIG_PROFILE_KEYS_H

#include "config/profile.h"
#include "schema.h"

typedef enum hac_match_type {
    HAC_MATCH_ANY = 0,
    HAC_MATCH_CPU,
    HAC_MATCH_GPU,
    HAC_MATCH_ACCELERATOR
} hac_match_type;

/* "cpu", as an OpenCL device's type is reported and match.type names it. `type` is valid. */
const char *hac_match_type_name(hac_match_type type);

/* What a file says before it becomes a profile: the whole file's values, or an entry's over those. */
typedef struct hac_profile_draft {
    hac_device_config device;
    char *platform, *vendor, *pattern; /* globs; `pattern` is match.device */
    hac_match_type type;
    bool host_is_given; /* memory.host, else it follows from the kind */
} hac_profile_draft;

void hac_profile_draft_clear(hac_profile_draft *draft);

const hac_config_schema *hac_profile_schema(void);

/* The example on the reference page. */
extern const char hac_profile_example[];

#endif
