/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation fails once, from the first to the last. libyaml's own are not reached. */
#include "base/test_oom.h"
#include "config/daemon_config.h"
#include "config/profile.h"

static hac_status load_profile(void *context, hac_error *err)
{
    (void)context;
    static const char path[] = HAC_SOURCE_DIR "/tests/fuzz/corpus/profile/overrides.yaml";
    hac_profile *profile = NULL;
    hac_device_config device;
    hac_status status = hac_profile_load(path, &profile, err);
    if (status == HAC_OK)
        status = hac_profile_device(profile, 0, &device, err);
    if (status == HAC_OK)
        hac_device_config_clear(&device);
    hac_profile_free(profile);
    return status;
}

static hac_status load_set(void *context, hac_error *err)
{
    (void)context;
    const char *directories[] = {HAC_SOURCE_DIR "/config/profiles/examples"};
    hac_profile_set *set = NULL;
    /* not strict: no memory is an error all the same */
    hac_status status = hac_profile_set_load(directories, 1, false, NULL, NULL, &set, err);
    if (status == HAC_OK)
        assert_int_equal(hac_profile_set_count(set), 2); /* none is left out for want of memory */
    hac_profile_set_free(set);
    return status;
}

static hac_status load_daemon_config(void *context, hac_error *err)
{
    (void)context;
    hac_daemon_config config;
    hac_status status =
        hac_daemon_config_load(HAC_SOURCE_DIR "/tests/fuzz/corpus/profile/hacd.yaml", &config, err);
    if (status == HAC_OK)
        hac_daemon_config_clear(&config);
    return status;
}

static void test_profile(void **state)
{
    (void)state;
    hac_test_exhaust(load_profile, NULL, 50);
}

static void test_set(void **state)
{
    (void)state;
    hac_test_exhaust(load_set, NULL, 50);
}

static void test_daemon_config(void **state)
{
    (void)state;
    hac_test_exhaust(load_daemon_config, NULL, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_daemon_config),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
