/* SPDX-License-Identifier: Apache-2.0 */
#include "simulated_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/hacctl-simulated-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"a.yaml", "b.yaml", "c.yaml"};
    char path[128];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static void put(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void a_machine(void **state)
{
    hac_simulated_machine *machine = NULL;
    hac_error err = HAC_ERROR_NONE;
    (void)state;
    put("a.yaml", "name: cpu\nmatch: {type: cpu}\nkind: cpu\n"
                  "executors: [{threads: 2, affinity: [0, 1]}, {affinity: [2, 3, 4]}]\n"
                  "memory: {limit: 4GiB}\ncapability: {\"sort.u32\": 1.2e8, \"sort.f64\": 5e7}\n"
                  "testing: {slowdown: 2.0}\n");
    put("b.yaml",
        "name: gpu\nmatch: {type: gpu}\nkind: gpu\ngroup: card\nlink: {bandwidth: 25GB/s, latency: 10us}\n"
        "limits: {max_loop_iterations: 65535}\ncapability: {\"sort.u32\": 1e9}\n");
    if (hac_simulated_machine_load(folder, &machine, &err) != HAC_OK)
        fail_msg("%s", err.message);
    const hac_simulated_device *d = hac_simulated_machine_devices(machine);
    assert_int_equal(hac_simulated_machine_count(machine), 3);
    assert_string_equal(d[0].name, "cpu.0");
    assert_string_equal(d[1].name, "cpu.1");
    assert_string_equal(d[2].name, "gpu");
    assert_string_equal(d[0].kind, "cpu");
    assert_int_equal(d[0].size, sizeof *d);
    assert_true(!d[0].simt && !d[1].simt && d[2].simt);
    assert_int_equal(d[0].threads, 2);
    assert_int_equal(d[1].threads, 3);
    assert_true(d[0].memory == UINT64_C(4) << 30);
    assert_string_equal(d[0].group, "");
    assert_string_equal(d[2].group, "card");
    assert_int_equal(d[2].max_loop_iterations, 65535);
    assert_true(d[2].link_bandwidth == 25e9 && d[2].link_latency == 10e-6);
    assert_int_equal(d[0].n_capability, 2);
    for (size_t i = 0; i < 2; i++) {
        bool u32 = strcmp(d[0].capability[i].key, "sort.u32") == 0;
        assert_true(d[0].capability[i].items_per_second == (u32 ? 6e7 : 2.5e7)); /* half, for the slowdown */
    }
    hac_simulated_machine_free(machine);
}

static void shared_cores_make_a_group(void **state)
{
    hac_simulated_machine *machine = NULL;
    (void)state;
    put("a.yaml", "name: a\nmatch: {type: any}\nkind: cpu\nexecutors: [{affinity: [0, 1]}]\n");
    put("b.yaml", "name: b\nmatch: {type: any}\nkind: cpu\nexecutors: [{affinity: [2, 3]}]\n");
    put("c.yaml", "name: c\nmatch: {type: any}\nkind: cpu\nexecutors: [{affinity: [1, 2]}]\n");
    assert_int_equal(hac_simulated_machine_load(folder, &machine, NULL), HAC_OK);
    const hac_simulated_device *d = hac_simulated_machine_devices(machine);
    assert_int_equal(hac_simulated_machine_count(machine), 3);
    assert_true(d[0].group[0] != '\0');
    assert_string_equal(d[0].group, d[1].group);
    assert_string_equal(d[0].group, d[2].group);
    hac_simulated_machine_free(machine);
}

static void refuses(void **state)
{
    hac_simulated_machine *machine = NULL;
    hac_error err = HAC_ERROR_NONE;
    (void)state;
    assert_int_equal(hac_simulated_machine_load("/nonexistent", &machine, &err), HAC_INVALID);
    assert_string_equal(err.message, "--profiles /nonexistent: No such file or directory");
    assert_int_equal(hac_simulated_machine_load("/dev/null", &machine, &err), HAC_INVALID);
    assert_string_equal(err.message, "--profiles /dev/null: is not a folder");
    assert_int_equal(hac_simulated_machine_load(folder, &machine, &err), HAC_INVALID);
    assert_non_null(strstr(err.message, "no profile *.yaml in it"));
    put("a.yaml", "name: a\nmatch: {type: any}\nkind: cpu\n");
    put("b.yaml", "name: a\nmatch: {type: any}\nkind: gpu\n");
    assert_int_equal(hac_simulated_machine_load(folder, &machine, &err), HAC_INVALID);
    assert_non_null(strstr(err.message, "b.yaml"));
    put("b.yaml", "name: b\nmatch: {type: any}\nkind: abacus\n");
    assert_int_equal(hac_simulated_machine_load(folder, &machine, &err), HAC_INVALID);
    assert_non_null(strstr(err.message, "b.yaml:3"));
    assert_null(machine);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {TEST(a_machine), TEST(shared_cores_make_a_group), TEST(refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
