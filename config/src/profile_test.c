/* SPDX-License-Identifier: Apache-2.0 */
/* Executor entries and their overrides, generated profiles, the shipped files. */
#include "config/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/test_support.h"

static hac_profile *parse(const char *text)
{
    hac_error err = HAC_ERROR_NONE;
    hac_profile *profile = NULL;
    if (hac_profile_parse("t.yaml", text, strlen(text), &profile, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return profile;
}

static hac_device_config device(const hac_profile *profile, size_t index)
{
    hac_error err = HAC_ERROR_NONE;
    hac_device_config config;
    if (hac_profile_device(profile, index, &config, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return config;
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *executors, *names[3];
    } cases[] = {
        {"", {"cpu"}},
        {"executors: [{}]", {"cpu"}},
        {"executors: [{name: big}]", {"big"}},
        {"executors: [{}, {}]", {"cpu.0", "cpu.1"}},
        {"executors: [{name: big}, {}, {name: small}]", {"big", "cpu.1", "small"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, "name: cpu\nmatch: {type: cpu}\nkind: cpu\n%s\n", cases[i].executors);
        hac_profile *profile = parse(text);
        assert_string_equal(hac_profile_name(profile), "cpu");
        assert_string_equal(hac_profile_path(profile), "t.yaml");
        size_t n = hac_profile_device_count(profile);
        assert_true(n == 3 || cases[i].names[n] == NULL);
        for (size_t k = 0; k < n; k++) {
            hac_device_config d = device(profile, k);
            assert_string_equal(d.name, cases[i].names[k]);
            assert_string_equal(d.profile, "cpu");
            hac_device_config_clear(&d);
        }
        hac_profile_free(profile);
    }
}

static void test_name_too_long_for_several(void **state)
{
    (void)state;
    char name[HAC_NAME_MAX], text[256];
    hac_error err = HAC_ERROR_NONE;
    hac_profile *profile = NULL;
    memset(name, 'n', sizeof name);
    name[61] = '\0'; /* + ".0" fills the 63 */
    snprintf(text, sizeof text, "kind: cpu\nname: %s\nmatch: {type: cpu}\nexecutors: [{}, {}]\n", name);
    hac_profile_free(parse(text));
    name[61] = 'n';
    name[62] = '\0';
    snprintf(text, sizeof text, "kind: cpu\nname: %s\nmatch: {type: cpu}\nexecutors: [{}, {}]\n", name);
    assert_int_equal(hac_profile_parse("t.yaml", text, strlen(text), &profile, &err), HAC_INVALID);
    assert_string_equal(err.message,
                        "t.yaml:2: key `name`: is too long for names NAME.i; allowed: at most 60 bytes");
}

static const char overrides[] =
    "name: dev\n"
    "match: {platform: '*'}\n"
    "kind: cpu\n"
    "style: block\n"
    "group: socket0\n"
    "memory: {limit: 4GiB, host: true}\n"
    "program: {binary: /k.bin}\n"
    "tuning: {block_items: 1024, work_group: 64}\n"
    "limits: {max_loop_iterations: 1000, max_allocation: 1GiB, local_memory: 32KiB}\n"
    "link: {bandwidth: 1GB/s, latency: 5us}\n"
    "sandbox: {jit: true}\n"
    "capability: {sort.u32: 1e8, sort.f32: 2e8}\n"
    "testing: {slowdown: 2}\n"
    "executors:\n"
    "  - {threads: 1, affinity: [0], env: {HAC_A: 1}}\n"
    "  - kind: gpu\n"
    "    style: simt\n"
    "    group: none\n"
    "    memory: {limit: auto, host: false}\n"
    "    tuning: {block_items: auto}\n"
    "    limits: {max_loop_iterations: none, local_memory: 48KiB}\n"
    "    link: {latency: none}\n"
    "    sandbox: {jit: false}\n"
    "    capability: {sort.f32: 3e8, sort.u64: 4e8}\n"
    "    testing: {slowdown: 1}\n"
    "  - {}\n";

static void assert_file_values(const hac_device_config *d)
{
    assert_int_equal(d->kind, HAC_DEVICE_KIND_CPU);
    assert_int_equal(d->style, HAC_STYLE_CHOICE_BLOCK);
    assert_string_equal(d->group, "socket0");
    assert_int_equal(d->memory_limit, UINT64_C(4) << 30);
    assert_true(d->host_memory && d->jit);
    assert_string_equal(d->program_binary, "/k.bin");
    assert_int_equal(d->block_items, 1024);
    assert_int_equal(d->work_group, 64);
    assert_int_equal(d->max_loop_iterations, 1000);
    assert_int_equal(d->max_allocation, UINT64_C(1) << 30);
    assert_int_equal(d->local_memory, 32 * 1024);
    assert_true(d->link_bandwidth == 1e9 && d->link_latency == 5e-6);
    assert_int_equal(d->n_capability, 2);
    assert_true(d->capability[0].items_per_second == 1e8 && d->capability[1].items_per_second == 2e8);
    assert_true(d->slowdown == 2);
}

static void test_overrides(void **state)
{
    (void)state;
    hac_profile *profile = parse(overrides);
    assert_int_equal(hac_profile_device_count(profile), 3);
    hac_device_config d = device(profile, 0);
    assert_file_values(&d);
    assert_int_equal(d.threads, 1);
    assert_int_equal(d.n_affinity, 1);
    assert_string_equal(d.env[0], "HAC_A=1");
    hac_device_config_clear(&d);
    d = device(profile, 2); /* nothing of its neighbours */
    assert_file_values(&d);
    assert_int_equal(d.threads, 0);
    assert_int_equal(d.n_affinity, 0);
    assert_int_equal(d.n_env, 0);
    hac_device_config_clear(&d);
    hac_profile_free(profile);
}

static void test_overridden_values(void **state)
{
    (void)state;
    hac_profile *profile = parse(overrides);
    hac_device_config d = device(profile, 1);
    assert_int_equal(d.kind, HAC_DEVICE_KIND_GPU);
    assert_int_equal(d.style, HAC_STYLE_CHOICE_SIMT);
    assert_string_equal(d.group, "");
    assert_int_equal(d.memory_limit, 0);
    assert_false(d.host_memory);
    assert_string_equal(d.program_binary, "/k.bin");
    assert_int_equal(d.work_group, 64); /* of a section only what is given changes */
    assert_int_equal(d.block_items, 0);
    assert_int_equal(d.work_group, 64);
    assert_int_equal(d.max_loop_iterations, 0);
    assert_int_equal(d.max_allocation, UINT64_C(1) << 30);
    assert_int_equal(d.local_memory, 48 * 1024);
    assert_true(d.link_bandwidth == 1e9 && d.link_latency == 0);
    assert_false(d.jit);
    assert_int_equal(d.n_capability, 3);
    assert_string_equal(d.capability[1].key, "sort.f32");
    assert_true(d.capability[1].items_per_second == 3e8);
    assert_string_equal(d.capability[2].key, "sort.u64");
    assert_true(d.slowdown == 1);
    hac_device_config_clear(&d);
    hac_profile_free(profile);
}

/* memory.host follows the device's own kind, unless someone said. */
static void test_host_memory(void **state)
{
    (void)state;
    hac_profile *profile =
        parse("name: x\nmatch: {type: any}\nkind: cpu\n"
              "executors: [{}, {kind: gpu}, {kind: gpu, memory: {host: true}}, {kind: arm}]\n");
    static const bool expected[] = {true, false, true, true};
    for (size_t i = 0; i < 4; i++) {
        hac_device_config d = device(profile, i);
        assert_true(d.host_memory == expected[i]);
        hac_device_config_clear(&d);
    }
    hac_profile_free(profile);
    profile = parse("name: x\nmatch: {type: any}\nkind: gpu\nmemory: {host: true}\n"
                    "executors: [{}, {memory: {host: auto}}, {kind: cpu, memory: {host: false}}]\n");
    static const bool given[] = {true, false, false};
    for (size_t i = 0; i < 3; i++) {
        hac_device_config d = device(profile, i);
        assert_true(d.host_memory == given[i]);
        hac_device_config_clear(&d);
    }
    hac_profile_free(profile);
}

static void test_device_is_a_copy(void **state)
{
    (void)state;
    hac_profile *profile = parse(overrides);
    hac_device_config a = device(profile, 0), b = device(profile, 0);
    hac_profile_free(profile);
    assert_ptr_not_equal(a.program_binary, b.program_binary);
    a.env[0][0] = 'X';
    assert_string_equal(b.env[0], "HAC_A=1");
    hac_device_config_clear(&a);
    assert_null(a.program_binary);
    hac_device_config_clear(&a); /* once more is fine */
    hac_device_config_clear(&b);
    hac_profile_free(NULL);
}

static void test_index_out_of_range(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_profile *profile = parse(overrides);
    hac_device_config d;
    memset(&d, 0x5A, sizeof d);
    assert_int_equal(hac_profile_device(profile, 3, &d, &err), HAC_NOT_FOUND);
    assert_string_equal(err.message, "profile dev has 3 devices, there is no number 3");
    assert_int_equal(d.n_env, (size_t)0x5A5A5A5A5A5A5A5A);
    hac_profile_free(profile);
}

static void test_generate(void **state)
{
    (void)state;
    static const struct {
        const char *type, *name, *group;
        hac_device_kind kind;
        bool host;
    } cases[] = {{"cpu", "cpu", HAC_CPU_GROUP, HAC_DEVICE_KIND_CPU, true},
                 {"gpu", "gpu", "", HAC_DEVICE_KIND_GPU, false},
                 {"accelerator", "accelerator", "", HAC_DEVICE_KIND_FPGA, false},
                 {NULL, "accelerator", "", HAC_DEVICE_KIND_FPGA, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hac_profile_match match = {
            .platform = "P", .vendor = "V", .device = "D", .type = cases[i].type};
        hac_device_config d;
        memset(&d, 0x5A, sizeof d);
        hac_profile_generate(&match, &d);
        assert_string_equal(d.name, cases[i].name);
        assert_string_equal(d.profile, "generated");
        assert_string_equal(d.group, cases[i].group);
        assert_int_equal(d.kind, cases[i].kind);
        assert_true(d.host_memory == cases[i].host);
        assert_int_equal(d.style, HAC_STYLE_AUTO);
        assert_true(d.slowdown == 1.0);
        hac_device_config_clear(&d);
    }
}

/* Everything on auto means the same whether a file says so or none does. */
static void test_generated_is_default(void **state)
{
    (void)state;
    hac_profile *profile = parse("name: generated\nmatch: {type: cpu}\nkind: cpu\ngroup: " HAC_CPU_GROUP
                                 "\nexecutors: [{name: cpu}]\n");
    hac_device_config from_file = device(profile, 0), generated;
    hac_profile_generate(&(hac_profile_match){"", "", "", "cpu"}, &generated);
    assert_string_equal(from_file.name, generated.name);
    assert_string_equal(from_file.profile, generated.profile);
    assert_string_equal(from_file.group, generated.group);
    size_t rest = offsetof(hac_device_config, kind);
    assert_memory_equal((char *)&from_file + rest, (char *)&generated + rest, sizeof from_file - rest);
    hac_device_config_clear(&from_file);
    hac_profile_free(profile);
}

static void test_shipped_llvmpipe(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_profile *profile = NULL;
    if (hac_profile_load(HAC_SOURCE_DIR "/config/profiles/30-rusticl.yaml", &profile, &err) != HAC_OK)
        fail_msg("%s", err.message);
    hac_device_config d = device(profile, 0);
    assert_int_equal(d.max_loop_iterations, 65535);
    assert_int_equal(d.local_memory, 32 * 1024);
    assert_true(d.jit);
    assert_string_equal(d.group, HAC_CPU_GROUP);
    hac_device_config_clear(&d);
    hac_profile_free(profile);
}

static void test_shipped_examples(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_profile *split = NULL, *fpga = NULL;
    if (hac_profile_load(HAC_SOURCE_DIR "/config/profiles/examples/split-cpu.yaml", &split, &err) != HAC_OK ||
        hac_profile_load(HAC_SOURCE_DIR "/config/profiles/examples/fpga-template.yaml", &fpga, &err) !=
            HAC_OK)
        fail_msg("%s", err.message);
    assert_int_equal(hac_profile_device_count(split), 2);
    hac_device_config a = device(split, 0), b = device(split, 1), f = device(fpga, 0);
    assert_string_equal(a.name, "cpu.0");
    assert_string_equal(b.name, "cpu.1");
    assert_string_not_equal(a.group, b.group);
    assert_int_equal(a.threads, 1);
    assert_int_equal(a.n_affinity + b.n_affinity, 2);
    assert_int_not_equal(a.affinity[0], b.affinity[0]);
    assert_int_equal(f.kind, HAC_DEVICE_KIND_FPGA);
    assert_non_null(f.program_binary);
    hac_device_config_clear(&a);
    hac_device_config_clear(&b);
    hac_device_config_clear(&f);
    hac_profile_free(split);
    hac_profile_free(fpga);
}

static void test_load_errors(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_profile *profile = NULL;
    assert_int_equal(hac_profile_load("/nonexistent/x.yaml", &profile, &err), HAC_NOT_FOUND);
    assert_string_equal(err.message, "/nonexistent/x.yaml: cannot open: No such file or directory");
    assert_int_equal(hac_profile_load("/", &profile, &err), HAC_INVALID);
    assert_null(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_name_too_long_for_several),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_overridden_values),
        cmocka_unit_test(test_host_memory),
        cmocka_unit_test(test_device_is_a_copy),
        cmocka_unit_test(test_index_out_of_range),
        cmocka_unit_test(test_generate),
        cmocka_unit_test(test_generated_is_default),
        cmocka_unit_test(test_shipped_llvmpipe),
        cmocka_unit_test(test_shipped_examples),
        cmocka_unit_test_setup_teardown(test_load_errors, hac_test_fds_setup, hac_test_fds_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
