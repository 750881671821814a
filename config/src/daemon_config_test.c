/* SPDX-License-Identifier: Apache-2.0 */
#include "config/daemon_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/memory_cgroup.h"

static hac_daemon_config load(const char *text)
{
    hac_error err = HAC_ERROR_NONE;
    hac_daemon_config config;
    if (hac_daemon_config_parse("hacd.yaml", text, strlen(text), &config, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return config;
}

static void assert_refused(const char *text, const char *message)
{
    hac_error err = HAC_ERROR_NONE;
    hac_daemon_config config;
    if (hac_daemon_config_parse("hacd.yaml", text, strlen(text), &config, &err) != HAC_INVALID)
        fail_msg("%s is not refused", text);
    if (strncmp(err.message, message, strlen(message)) != 0)
        fail_msg("%s\ngives \"%s\"\nnot   \"%s\"", text, err.message, message);
}

static void assert_defaults(hac_daemon_config c)
{
    assert_int_equal(c.log_level, HAC_LOG_INFO);
    assert_int_equal(c.n_profile_directories, 0);
    assert_true(c.idle_exit == 30);
    assert_true(c.result_expiry == 600);
    assert_int_equal(c.pool_memory_per_user, hac_memory_available() / 2);
    assert_int_equal(c.max_jobs_per_user, 1000);
    assert_int_equal(c.max_connections_per_user, 256);
    assert_int_equal(c.max_descriptors_per_user, 4096);
    assert_true(c.executor_idle_timeout == 60);
    assert_true(c.task_deadline_factor == 20);
    assert_true(c.task_deadline_minimum == 10);
    assert_true(c.build_deadline == 600);
    assert_true(c.drain_deadline == 25);
    assert_int_equal(c.identity, HAC_IDENTITY_UID);
    assert_false(c.share_without_landlock);
    assert_true(c.calibrate_when_idle);
    hac_daemon_config_clear(&c);
}

static void test_defaults(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_daemon_config config;
    assert_int_equal(hac_daemon_config_default(&config, &err), HAC_OK);
    assert_defaults(config);
    assert_defaults(load(""));
    assert_defaults(load("# nothing\n"));
    assert_defaults(load("{}"));
}

static void test_every_key(void **state)
{
    (void)state;
    hac_daemon_config c = load("log_level: debug\n"
                               "profile_directories: [/a, /b/c]\n"
                               "idle_exit: none\n"
                               "result_expiry: 2h\n"
                               "pool_memory_per_user: 3GiB\n"
                               "max_jobs_per_user: 7\n"
                               "max_connections_per_user: 8\n"
                               "max_descriptors_per_user: 64\n"
                               "executor_idle_timeout: 100ms\n"
                               "task_deadline_factor: 2.5\n"
                               "task_deadline_minimum: 1s\n"
                               "build_deadline: 2min\ndrain_deadline: 90s\n");
    assert_int_equal(c.log_level, HAC_LOG_DEBUG);
    assert_int_equal(c.n_profile_directories, 2);
    assert_string_equal(c.profile_directories[0], "/a");
    assert_string_equal(c.profile_directories[1], "/b/c");
    assert_true(c.idle_exit == 0);
    assert_true(c.result_expiry == 7200);
    assert_int_equal(c.pool_memory_per_user, UINT64_C(3) << 30);
    assert_int_equal(c.max_jobs_per_user, 7);
    assert_int_equal(c.max_connections_per_user, 8);
    assert_int_equal(c.max_descriptors_per_user, 64);
    assert_true(c.executor_idle_timeout == 0.1);
    assert_true(c.task_deadline_factor == 2.5);
    assert_true(c.task_deadline_minimum == 1);
    assert_true(c.build_deadline == 120);
    assert_true(c.drain_deadline == 90);
    hac_daemon_config_clear(&c);
    hac_daemon_config_clear(&c);
}

static void test_log_levels(void **state)
{
    (void)state;
    static const char *const texts[] = {[HAC_LOG_ERROR] = "log_level: error",
                                        [HAC_LOG_WARNING] = "log_level: warning",
                                        [HAC_LOG_INFO] = "log_level: info",
                                        [HAC_LOG_DEBUG] = "log_level: debug"};
    for (int level = HAC_LOG_ERROR; level <= HAC_LOG_DEBUG; level++)
        assert_int_equal(load(texts[level]).log_level, level);
}

static void test_pool_memory(void **state)
{
    (void)state;
    assert_int_equal(load("pool_memory_per_user: 100%").pool_memory_per_user, hac_memory_available());
    assert_int_equal(load("pool_memory_per_user: 25%").pool_memory_per_user, hac_memory_available() / 4);
    assert_int_equal(load("pool_memory_per_user: 1MiB").pool_memory_per_user, 1 << 20);
    static const char *const bad[] = {"0%",   "0.5%", "101%", "-5%",  "%",
                                      "nan%", "5 %x", "50%%", "1e9%", "1111111111111111111%"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[64];
        snprintf(text, sizeof text, "pool_memory_per_user: '%s'", bad[i]);
        assert_refused(text, "hacd.yaml:1: key `pool_memory_per_user`: `");
    }
    assert_refused("pool_memory_per_user: 101%",
                   "hacd.yaml:1: key `pool_memory_per_user`: `101%` is not a share of the "
                   "memory; allowed: size of at least 1MiB, or 1% to 100% of the memory there is");
    assert_refused("pool_memory_per_user: 5", "hacd.yaml:1: key `pool_memory_per_user`: `5` is too small");
    assert_refused("pool_memory_per_user: half",
                   "hacd.yaml:1: key `pool_memory_per_user`: `half` is not a size");
    assert_refused("pool_memory_per_user: ''", "hacd.yaml:1: key `pool_memory_per_user`: `` is not a size");
    assert_refused("pool_memory_per_user: []", "hacd.yaml:1: key `pool_memory_per_user`: is a list");
}

/* Only what no other machine reaches. */
static void test_metrics_http(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "0.0.0.0:9464", "192.168.0.1:9464", "[::]:9464",    "localhost:9464",
        "127.0.0.1",    "127.0.0.1:0",      "128.0.0.1:80", ":9464",
        "[::1]",        "::1:9464",         "[]:1",         "127.0.0.1:9464x",
        "127.0.0.1:",   "127.1:9464",       "[fe80::1]:1",  "127.0.0.1:65536",
        "127.0.0.1:-1", "127.0.0.1:999999", "yes",          "9464",
        "[::1:9464",    "[127.0.0.1]:80"};
    hac_daemon_config c = load("metrics_http: none\n");
    assert_int_equal(c.metrics_http.port, 0);
    hac_daemon_config_clear(&c);
    c = load("metrics_http: 127.3.2.1:65535\n");
    assert_string_equal(c.metrics_http.address, "127.3.2.1");
    assert_int_equal(c.metrics_http.port, 65535);
    hac_daemon_config_clear(&c);
    c = load("metrics_http: '[::1]:9464'\n");
    assert_string_equal(c.metrics_http.address, "::1");
    assert_int_equal(c.metrics_http.port, 9464);
    hac_daemon_config_clear(&c);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char text[128], message[256];
        snprintf(text, sizeof text, "metrics_http: '%s'\n", refused[i]);
        snprintf(message, sizeof message,
                 "hacd.yaml:1: key `metrics_http`: `%s` is not a port at an address that only this machine "
                 "reaches",
                 refused[i]);
        assert_refused(text, message);
    }
}

static void test_profile_directories(void **state)
{
    (void)state;
    assert_int_equal(load("profile_directories: auto").n_profile_directories, 0);
#define KEY "profile_directories: "
#define AT  "hacd.yaml:1: key `profile_directories"
    assert_refused(KEY "[]", AT "`: has 0 entries; allowed: a list of 1 to 8 absolute paths, or `auto`");
    assert_refused(KEY "[/1, /2, /3, /4, /5, /6, /7, /8, /9]", AT "`: has 9 entries");
    assert_refused(KEY "/a", AT "`: is a single value, not a list");
    assert_refused(KEY "[a]", AT "[0]`: `a` is not an absolute path");
    assert_refused(KEY "[/a, ~/b]", AT "[1]`: `~/b` is not an absolute path");
    assert_refused(KEY "[/a, ~]", AT "[1]`: has no value");
    assert_refused(KEY "[/a, [/b]]", AT "[1]`: is a list");
#undef KEY
#undef AT
}

static void test_bad(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"log_level: loud", "log_level`: `loud` is not known; allowed: `error`, `warning`, `info`, `debug`"},
        {"idle_exit: 30", "idle_exit`: `30` has no unit; allowed: duration from 1s to 8760h (ns, us, ms, s, "
                          "min, h), or `none`"},
        {"idle_exit: 0s", "idle_exit`: `0s` is too small"},
        {"idle_exit: 9000h", "idle_exit`: `9000h` is too large"},
        {"idle_exit:", "idle_exit`: has no value"},
        {"result_expiry: none", "result_expiry`: `none` is not a duration"},
        {"result_expiry: 10m", "result_expiry`: `10m` has an unknown unit"},
        {"max_jobs: 0", "max_jobs`: `0` is too small"},
        {"users: alice", "users`: is a single value, not a map"},
        {"users: {root: 5}", "users.root`: is a single value, not a map"},
        {"users: {no-such-user: 5}", "users.no-such-user`: is a single value, not a map"},
        {"users: {no-such-user: {max_job: 5}}", "users.no-such-user.max_job`: unknown key, did you mean"},
        {"users: {root: {}, '0': {}}", "users.0`: `0` is there twice"},
        {"users: {root: {max_job: 5}}",
         "users.root.max_job`: unknown key, did you mean `max_jobs`?; allowed: pool_memory, max_jobs, "},
        {"users: {root: {share: 0}}", "users.root.share`: `0` is too small"},
        {"max_jobs_per_user: 1000001", "max_jobs_per_user`: `1000001` is too large"},
        {"max_connections_per_user: many", "max_connections_per_user`: `many` is not a whole number"},
        {"max_connections_per_user: 65537", "max_connections_per_user`: `65537` is too large"},
        {"max_descriptors_per_user: 63", "max_descriptors_per_user`: `63` is too small"},
        {"executor_idle_timeout: 99ms", "executor_idle_timeout`: `99ms` is too small"},
        {"executor_idle_timeout: none", "executor_idle_timeout`: `none` is not a duration"},
        {"task_deadline_factor: 1.9", "task_deadline_factor`: `1.9` is too small"},
        {"task_deadline_factor: .inf", "task_deadline_factor`: `.inf` is not a number"},
        {"task_deadline_minimum: 0s", "task_deadline_minimum`: `0s` is too small"},
        {"build_deadline: 500ms", "build_deadline`: `500ms` is too small"},
        {"max_job_per_user: 5",
         "max_job_per_user`: unknown key, did you mean `max_jobs_per_user`?; allowed: log_level, "},
        {"limits: {jobs: 5}", "limits`: unknown key; allowed: log_level"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_autofree char *text = NULL, *message = NULL;
        assert_true(asprintf(&text, "# one\n# two\n%s\n", cases[i][0]) > 0);
        assert_true(asprintf(&message, "hacd.yaml:3: key `%s", cases[i][1]) > 0);
        assert_refused(text, message);
    }
    assert_refused("- a", "hacd.yaml:1: the file holds a list");
    assert_refused("idle_exit: 5s\nidle_exit: 6s\n",
                   "hacd.yaml:2: key `idle_exit`: given twice, first in line 1");
}

/* Of what is not there, or not any more: a daemon for all others does not stay away for that. */
static void test_warnings(void **state)
{
    (void)state;
    hac_daemon_config c = load("users:\n"
                               "  no-such-user: {max_jobs: 0}\n"
                               "  root: {max_jobs: 7}\n"
                               "  '@no-such': {max_jobs: 0}\n"
                               "profile_directories:\n"
                               "  - /nonexistent/one\n"
                               "  - /\n");
    assert_int_equal(c.n_warnings, 3);
    assert_string_equal(c.warnings[0],
                        "hacd.yaml:2: key `users.no-such-user`: there is no user `no-such-user` "
                        "on this machine; this entry is left out");
    assert_string_equal(c.warnings[1],
                        "hacd.yaml:4: key `users.@no-such`: there is no group `no-such` on this "
                        "machine; this entry is left out");
    assert_string_equal(c.warnings[2], "hacd.yaml:6: key `profile_directories`: there is no directory "
                                       "`/nonexistent/one`; no profile is read from it");
    assert_int_equal(c.n_users, 1);
    assert_int_equal(hac_daemon_config_limits(&c, 0, NULL, 0).jobs, 7);
    assert_int_equal(c.n_profile_directories, 2);
    hac_daemon_config_clear(&c);
}

/* Of many keys as many whole names as there is room for. */
static void test_unknown_key_lists_whole_names(void **state)
{
    (void)state;
    hac_daemon_config config;
    hac_error err = HAC_ERROR_NONE;
    const char text[] = "xyzzy: 5\n";
    assert_int_equal(hac_daemon_config_parse("x", text, strlen(text), &config, &err), HAC_INVALID);
    const char *last = strrchr(err.message, ' ');
    assert_non_null(last);
    assert_string_equal(last, " …");
    assert_non_null(strstr(err.message, "allowed: log_level, "));
}

static void test_output_is_untouched_on_failure(void **state)
{
    (void)state;
    hac_daemon_config config, before;
    memset(&config, 0x5A, sizeof config);
    memcpy(&before, &config, sizeof config);
    const char text[] = "profile_directories: [/a]\nidle_exit: never\n";
    assert_int_equal(hac_daemon_config_parse("x", text, strlen(text), &config, NULL), HAC_INVALID);
    assert_memory_equal(&config, &before, sizeof config);
}

static void test_load(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_daemon_config config;
    assert_int_equal(hac_daemon_config_load("/nonexistent/hacd.yaml", &config, &err), HAC_NOT_FOUND);
    assert_int_equal(hac_daemon_config_load("/dev/null", &config, &err), HAC_INVALID);
    assert_string_equal(err.message, "/dev/null: not a regular file");
    if (hac_daemon_config_load(HAC_SOURCE_DIR "/config/hacd.yaml", &config, &err) != HAC_OK)
        fail_msg("%s", err.message);
    assert_defaults(config);
}

/* The shipped file's commented lines, taken in, are the defaults. */
static void test_shipped_lines(void **state)
{
    (void)state;
    FILE *in = fopen(HAC_SOURCE_DIR "/config/hacd.yaml", "re");
    assert_non_null(in);
    char line[256], text[4096] = "";
    size_t keys = 0;
    while (fgets(line, sizeof line, in) != NULL) {
        if (line[0] != '#' || line[1] == ' ')
            continue;
        strcat(text, line + 1);
        keys++;
    }
    fclose(in);
    assert_int_equal(keys, 21);
    assert_defaults(load(text));
}

/* By name before by group, the first group of the file before the others, everybody's for the rest. */
static void test_limits_of_users(void **state)
{
    (void)state;
    hac_daemon_config c = load("users:\n"
                               "  '@50': {max_jobs: 5, share: 0.5}\n"
                               "  '@60': {max_jobs: 6, max_connections: 60}\n"
                               "  root: {max_connections: 0, pool_memory: 1MiB}\n"
                               "  '1234': {}\n"
                               "max_jobs_per_user: 77\n"); /* also when it comes later */
    const gid_t groups[] = {70, 60, 50};
    hac_user_limits limits = hac_daemon_config_limits(&c, 99, groups, 3);
    assert_int_equal(limits.jobs, 5);
    assert_int_equal(limits.connections, 256);
    assert_true(limits.share == 0.5);
    limits = hac_daemon_config_limits(&c, 99, groups, 2);
    assert_int_equal(limits.jobs, 6);
    assert_int_equal(limits.connections, 60);
    assert_true(limits.share == 1);
    limits = hac_daemon_config_limits(&c, 99, NULL, 0);
    assert_int_equal(limits.jobs, 77);
    limits = hac_daemon_config_limits(&c, 0, groups, 3);
    assert_int_equal(limits.connections, 0);
    assert_int_equal(limits.memory, 1 << 20);
    assert_int_equal(limits.jobs, 77);
    assert_int_equal(limits.descriptors, 4096);
    limits =
        hac_daemon_config_limits(&c, 1234, groups, 3); /* an entry without keys still speaks for its user */
    assert_int_equal(limits.jobs, 77);
    hac_daemon_config_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_of_users),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_every_key),
        cmocka_unit_test(test_log_levels),
        cmocka_unit_test(test_pool_memory),
        cmocka_unit_test(test_profile_directories),
        cmocka_unit_test(test_metrics_http),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_unknown_key_lists_whole_names),
        cmocka_unit_test(test_output_is_untouched_on_failure),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_shipped_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
