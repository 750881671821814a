/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation fails once, from the first to the last: HAC_NO_MEMORY, no leak, no crash. The linker's
 * --wrap puts these functions before the C library's; libyaml's own allocations are not reached. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/daemon_config.h"
#include "config/profile.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *pointer, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t length);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *pointer, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t length);

static long left = -1; /* allocations that still succeed; -1: all */

static bool fails(void)
{
    if (left <= 0)
        return left == 0; /* once it has begun, it goes on */
    left--;
    return false;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *pointer, size_t size)
{
    return fails() ? NULL : __real_realloc(pointer, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t length)
{
    return fails() ? NULL : __real_strndup(text, length);
}

/* Runs `once` with 0, 1, 2 … allocations until it succeeds. */
static void exhaust(hac_status (*once)(hac_error *err), long at_least)
{
    for (long n = 0;; n++) {
        hac_error err = HAC_ERROR_NONE;
        left = n;
        hac_status status = once(&err);
        left = -1;
        if (status == HAC_OK) {
            assert_true(n >= at_least);
            return;
        }
        assert_int_equal(status, HAC_NO_MEMORY);
        assert_string_equal(err.message, "out of memory");
    }
}

static hac_status load_profile(hac_error *err)
{
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

static hac_status load_set(hac_error *err)
{
    const char *directories[] = {HAC_SOURCE_DIR "/config/profiles/examples"};
    hac_profile_set *set = NULL;
    /* not strict: no memory is an error all the same */
    hac_status status = hac_profile_set_load(directories, 1, false, NULL, NULL, &set, err);
    if (status == HAC_OK)
        assert_int_equal(hac_profile_set_count(set), 2);
    hac_profile_set_free(set);
    return status;
}

static hac_status load_daemon_config(hac_error *err)
{
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
    exhaust(load_profile, 50);
}

static void test_set(void **state)
{
    (void)state;
    exhaust(load_set, 50);
}

static void test_daemon_config(void **state)
{
    (void)state;
    exhaust(load_daemon_config, 10);
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
