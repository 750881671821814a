/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles and hacd.yaml from hostile bytes: any outcome is fine, as long as it is an outcome. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/daemon_config.h"
#include "config/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok)
        abort();
}

static void fuzz_profile(const char *text, size_t size)
{
    hac_error err = HAC_ERROR_NONE;
    hac_profile *profile = NULL;
    if (hac_profile_parse("fuzz.yaml", text, size, &profile, &err) != HAC_OK) {
        check(profile == NULL && strncmp(err.message, "fuzz.yaml:", 10) == 0);
        return;
    }
    check(hac_profile_device_count(profile) >= 1);
    for (size_t i = 0; i < hac_profile_device_count(profile); i++) {
        hac_device_config device;
        check(hac_profile_device(profile, i, &device, &err) == HAC_OK);
        check(device.name[0] != '\0' && device.slowdown >= 1.0);
        hac_device_config_clear(&device);
    }
    hac_profile_free(profile);
}

static void fuzz_daemon_config(const char *text, size_t size)
{
    hac_error err = HAC_ERROR_NONE;
    hac_daemon_config config;
    if (hac_daemon_config_parse("fuzz.yaml", text, size, &config, &err) != HAC_OK) {
        check(strncmp(err.message, "fuzz.yaml:", 10) == 0);
        return;
    }
    check(config.pool_memory_per_user > 0 && config.result_expiry > 0);
    hac_daemon_config_clear(&config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_profile((const char *)data, size);
    fuzz_daemon_config((const char *)data, size);
    return 0;
}
