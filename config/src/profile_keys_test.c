/* SPDX-License-Identifier: Apache-2.0 */
/* Every key of a profile, good and bad, with the line and the key in the message. */
#include "profile_keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"

/* Three good lines; what a test adds begins in line 4. */
#define HEAD "name: cpu\nmatch: {type: cpu}\nkind: cpu\n"

static hac_device_config load(const char *text)
{
    hac_error err = HAC_ERROR_NONE;
    hac_profile *profile = NULL;
    hac_device_config device;
    if (hac_profile_parse("t.yaml", text, strlen(text), &profile, &err) != HAC_OK)
        fail_msg("%s\n%s", text, err.message);
    assert_int_equal(hac_profile_device(profile, 0, &device, &err), HAC_OK);
    hac_profile_free(profile);
    return device;
}

static void assert_refused(const char *text, const char *message)
{
    hac_error err = HAC_ERROR_NONE;
    hac_profile *profile = NULL;
    if (hac_profile_parse("t.yaml", text, strlen(text), &profile, &err) != HAC_INVALID)
        fail_msg("%s\nis not refused: %s", text, err.message);
    assert_null(profile);
    if (strncmp(err.message, message, strlen(message)) != 0)
        fail_msg("%s\ngives    \"%s\"\nnot      \"%s\"", text, err.message, message);
    if (strstr(message, "key `") != NULL)
        assert_non_null(strstr(err.message, "; allowed: "));
}

/* Puts `line` behind HEAD and expects "t.yaml:4: key `<message>". */
static void assert_bad_line(const char *line, const char *message)
{
    hac_autofree char *text = NULL, *expected = NULL;
    assert_true(asprintf(&text, HEAD "%s\n", line) > 0);
    assert_true(asprintf(&expected, "t.yaml:4: key `%s", message) > 0);
    assert_refused(text, expected);
}

static void assert_bad_lines(const char *const (*cases)[2], size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_bad_line(cases[i][0], cases[i][1]);
}

#define BAD_LINES(...)                                                                                       \
    do {                                                                                                     \
        static const char *const cases[][2] = {__VA_ARGS__};                                                 \
        assert_bad_lines(cases, sizeof cases / sizeof *cases);                                               \
    } while (0)

static void test_everything(void **state)
{
    (void)state;
    hac_device_config d =
        load("name: gpu0\n"
             "match: {platform: 'NVIDIA*', vendor: 'N?IDIA*', device: 'Tesla*', type: gpu}\n"
             "kind: gpu\n"
             "style: simt\n"
             "group: socket1\n"
             "executors:\n"
             "  - threads: 3\n"
             "    affinity: [5, 0, 8191]\n"
             "    env: {CUDA_VISIBLE_DEVICES: 0, HAC_X: 'a b=c', POCL_DEBUG: ''}\n"
             "memory: {limit: 4GiB, host: true}\n"
             "program: {binary: /opt/kernels.bin}\n"
             "byte_order: big\n"
             "tuning: {block_items: 16384, work_group: 256}\n"
             "limits: {max_loop_iterations: 65535, max_allocation: 2GiB, local_memory: 48KiB}\n"
             "link: {bandwidth: 25GB/s, latency: 10us}\n"
             "sandbox: {jit: true}\n"
             "capability: {sort.u32: 1.2e8, bitonic.merge.f64: 5, parquet.decode.none: 1e9}\n"
             "testing: {slowdown: 2.5}\n");
    assert_string_equal(d.name, "gpu0");
    assert_string_equal(d.profile, "gpu0");
    assert_string_equal(d.group, "socket1");
    assert_int_equal(d.kind, HAC_DEVICE_KIND_GPU);
    assert_int_equal(d.style, HAC_STYLE_CHOICE_SIMT);
    assert_int_equal(d.threads, 3);
    assert_int_equal(d.n_affinity, 3);
    assert_int_equal(d.affinity[0], 5);
    assert_int_equal(d.affinity[1], 0);
    assert_int_equal(d.affinity[2], 8191);
    assert_int_equal(d.n_env, 3);
    assert_string_equal(d.env[0], "CUDA_VISIBLE_DEVICES=0");
    assert_string_equal(d.env[1], "HAC_X=a b=c");
    assert_string_equal(d.env[2], "POCL_DEBUG=");
    assert_int_equal(d.memory_limit, UINT64_C(4) << 30);
    assert_true(d.host_memory);
    assert_string_equal(d.program_binary, "/opt/kernels.bin");
    assert_int_equal(d.byte_order, HAC_BYTE_ORDER_BIG);
    assert_int_equal(d.block_items, 16384);
    assert_int_equal(d.work_group, 256);
    assert_int_equal(d.max_loop_iterations, 65535);
    assert_int_equal(d.max_allocation, UINT64_C(2) << 30);
    assert_int_equal(d.local_memory, 48 * 1024);
    assert_true(d.link_bandwidth == 25e9);
    assert_true(d.link_latency == 10e-6);
    assert_true(d.jit);
    assert_int_equal(d.n_capability, 3);
    assert_string_equal(d.capability[0].key, "sort.u32");
    assert_true(d.capability[0].items_per_second == 1.2e8);
    assert_string_equal(d.capability[2].key, "parquet.decode.none");
    assert_true(d.slowdown == 2.5);
    hac_device_config_clear(&d);
}

static void assert_defaults(hac_device_config d)
{
    hac_device_config expected = {.name = "cpu",
                                  .profile = "cpu",
                                  .kind = HAC_DEVICE_KIND_CPU,
                                  .style = HAC_STYLE_AUTO,
                                  .host_memory = true,
                                  .slowdown = 1.0};
    assert_string_equal(d.name, expected.name);
    assert_string_equal(d.profile, expected.profile);
    assert_string_equal(d.group, "");
    assert_null(d.program_binary);
    assert_int_equal(d.n_env, 0);
    assert_int_equal(d.n_affinity, 0);
    assert_int_equal(d.n_capability, 0);
    assert_int_equal(d.kind, expected.kind);
    assert_int_equal(d.style, expected.style);
    assert_int_equal(d.byte_order, HAC_BYTE_ORDER_NATIVE);
    assert_int_equal(d.threads, 0);
    assert_int_equal(d.memory_limit, 0);
    assert_true(d.host_memory);
    assert_int_equal(d.block_items | d.work_group | d.max_loop_iterations, 0);
    assert_int_equal(d.max_allocation | d.local_memory, 0);
    assert_true(d.link_bandwidth == 0 && d.link_latency == 0);
    assert_false(d.jit);
    assert_true(d.slowdown == 1.0);
    hac_device_config_clear(&d);
}

static void test_defaults(void **state)
{
    (void)state;
    assert_defaults(load(HEAD));
    assert_defaults(load(HEAD
                         "style: auto\ngroup: none\nexecutors: [{}]\nmemory: {}\nprogram: source\n"
                         "byte_order: native\n"
                         "tuning: {}\nlimits: {}\nlink: {}\nsandbox: {}\ncapability: {}\ntesting: {}\n"));
    /* the words that stand for a default, and the default itself */
    assert_defaults(load(HEAD
                         "executors: [{threads: auto, affinity: [], env: {}}]\n"
                         "memory: {limit: auto, host: auto}\n"
                         "tuning: {block_items: auto, work_group: auto}\n"
                         "limits: {max_loop_iterations: none, max_allocation: auto, local_memory: auto}\n"
                         "link: {bandwidth: none, latency: none}\n"
                         "sandbox: {jit: false}\ntesting: {slowdown: 1.0}\n"));
}

static void test_page_example(void **state)
{
    (void)state;
    hac_device_config d = load(hac_profile_example);
    assert_string_equal(d.group, "socket0");
    assert_int_equal(d.threads, 2);
    assert_int_equal(d.memory_limit, UINT64_C(4) << 30);
    hac_device_config_clear(&d);
}

static void test_name(void **state)
{
    (void)state;
#define REST "match: {type: cpu}\nkind: cpu\n"
    char text[256], name[HAC_NAME_MAX + 1];
    memset(name, 'n', sizeof name);
    name[HAC_NAME_MAX - 1] = '\0';
    snprintf(text, sizeof text, "name: %s\n" REST, name);
    hac_device_config d = load(text);
    assert_string_equal(d.name, name);
    hac_device_config_clear(&d);
    name[HAC_NAME_MAX - 1] = 'n';
    name[HAC_NAME_MAX] = '\0';
    snprintf(text, sizeof text, "name: %s\n" REST, name);
    assert_refused(text, "t.yaml:1: key `name`: `nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn...` is not a name");
    assert_refused(REST, "t.yaml:1: key `name`: is missing; allowed: letters");
    assert_refused("name:\n" REST, "t.yaml:1: key `name`: has no value; allowed: letters");
    assert_refused("name: ''\n" REST, "t.yaml:1: key `name`: `` is not a name");
    assert_refused("name: a b\n" REST, "t.yaml:1: key `name`: `a b` is not a name");
    assert_refused("name: a,b\n" REST, "t.yaml:1: key `name`: `a,b` is not a name");
    assert_refused("name: ../x\n" REST, "t.yaml:1: key `name`: `../x` is not a name");
    assert_refused("name: -x\n" REST, "t.yaml:1: key `name`: `-x` is not a name");
    assert_refused("name: gr\u00fcn\n" REST, "t.yaml:1: key `name`: `gr\u00fcn` is not a name");
    assert_refused("name: [a]\n" REST, "t.yaml:1: key `name`: is a list, not a single value");
    assert_refused("name: {a: b}\n" REST, "t.yaml:1: key `name`: is a map, not a single value");
    assert_refused(REST "name: x\nname: y\n", "t.yaml:4: key `name`: given twice, first in line 3");
#undef REST
}

static void test_match(void **state)
{
    (void)state;
#define ENDS "name: cpu\nkind: cpu\n"
    hac_device_config unmatched = load(ENDS); /* for simulate: it fits no real device */
    hac_device_config_clear(&unmatched);
    assert_refused(ENDS "match: {}\n", "t.yaml:3: key `match`: is empty; allowed: at least one of");
    assert_refused(ENDS "match:\n",
                   "t.yaml:3: key `match`: has no value; write {} for nothing; allowed: platform");
    assert_refused(ENDS "match: cpu\n",
                   "t.yaml:3: key `match`: is not a map of keys; allowed: platform, vendor, device, type");
    assert_refused(ENDS "match: [cpu]\n", "t.yaml:3: key `match`: is not a map of keys");
    assert_refused(
        ENDS "match: {type: tpu}\n",
        "t.yaml:3: key `match.type`: `tpu` is not known; allowed: `any`, `cpu`, `gpu`, `accelerator`");
    assert_refused(
        ENDS "match:\n  type: cpu\n  plattform: x\n",
        "t.yaml:5: key `match.plattform`: unknown key, did you mean `platform`?; allowed: platform, vendor");
    assert_refused(ENDS "match: {platform: ''}\n", "t.yaml:3: key `match.platform`: is empty; allowed: text");
    assert_refused(ENDS "match: {vendor: [a]}\n", "t.yaml:3: key `match.vendor`: is a list");
    assert_refused(ENDS "match: {device: }\n", "t.yaml:3: key `match.device`: has no value");
    assert_refused(ENDS "match: {platform: {a: b}}\n", "t.yaml:3: key `match.platform`: is a map");
#undef ENDS
}

static void test_choices(void **state)
{
    (void)state;
    static const char *const names[HAC_DEVICE_KIND_END] = {"cpu", "gpu", "fpga", "dsp", "arm"};
    for (int kind = 0; kind < HAC_DEVICE_KIND_END; kind++) {
        char text[128];
        snprintf(text, sizeof text, "name: x\nmatch: {type: any}\nkind: %s\n", names[kind]);
        hac_device_config d = load(text);
        assert_int_equal(d.kind, kind);
        assert_string_equal(hac_device_kind_name(d.kind), names[kind]);
        assert_true(d.host_memory == (kind == HAC_DEVICE_KIND_CPU || kind == HAC_DEVICE_KIND_ARM));
        hac_device_config_clear(&d);
    }
    assert_string_equal(hac_device_kind_name(HAC_DEVICE_KIND_END), "unknown");
    hac_device_config unsaid = load("name: x\nmatch: {type: cpu}\n");
    assert_int_equal(unsaid.kind, HAC_DEVICE_KIND_CPU);
    hac_device_config_clear(&unsaid);
    assert_refused("name: x\nmatch: {type: cpu}\nkind: CPU\n",
                   "t.yaml:3: key `kind`: `CPU` is not known; allowed: `cpu`, `gpu`, `fpga`, `dsp`, `arm`");
    BAD_LINES(
        {"byte_order: middle", "byte_order`: `middle` is not known; allowed: `native`, `little`, `big`"});
    BAD_LINES({"style: vector", "style`: `vector` is not known; allowed: `auto`, `block`, `simt`"},
              {"style: [simt]", "style`: is a list, not a single value"}, {"style:", "style`: has no value"},
              {"group: a b", "group`: `a b` is not a name"}, {"group: {}", "group`: is a map"});
}

static void test_executors(void **state)
{
    (void)state;
    BAD_LINES(
        {"executors: []", "executors`: is an empty list; allowed: a list of 1 to 64 maps"},
        {"executors:", "executors`: has no value"},
        {"executors: 2", "executors`: is a single value, not a list"},
        {"executors: {threads: 2}", "executors`: is a map, not a list"},
        {"executors: [2]", "executors[0]`: is a single value, not a map"},
        {"executors: [{}, ~]", "executors[1]`: has no value"},
        {"executors: [{}, []]", "executors[1]`: is a list, not a map"},
        {"threads: 2", "threads`: unknown key, did you mean `executors[].threads`?; allowed: name, match"},
        {"executors: [{match: {type: cpu}}]",
         "executors[0].match`: cannot be given in an entry of a list, only for the whole file"},
        {"executors: [{program: source}]", "executors[0].program`: cannot be given in an entry"},
        {"executors: [{executors: [{}]}]", "executors[0].executors`: cannot be given in an entry"},
        {"executors: [{}, {thread: 1}]", "executors[1].thread`: unknown key, did you mean `threads`?"},
        {"executors: [{name: a}, {name: a}]", "executors[1].name`: a second device `a`"},
        {"executors: [{name: cpu.1}, {}]", "executors[1]`: a second device `cpu.1`"},
        {"executors: [{name: 'x y'}]", "executors[0].name`: `x y` is not a name"});
    assert_refused(
        HEAD "executors:\n  - threads: 1\n  - threads: 0\n",
        "t.yaml:6: key `executors[1].threads`: `0` is too small; allowed: whole number from 1 to 1024");
    char many[1024] = HEAD "executors: [";
    for (int i = 0; i < HAC_PROFILE_EXECUTORS_MAX; i++)
        strcat(many, "{}, ");
    strcat(many, "]\n");
    hac_device_config d = load(many);
    assert_string_equal(d.name, "cpu.0");
    hac_device_config_clear(&d);
    strcpy(strchr(many, ']'), "{}]\n");
    assert_refused(many, "t.yaml:4: key `executors`: has 65 entries; allowed: a list of 1 to 64");
}

static void test_threads_and_affinity(void **state)
{
    (void)state;
    BAD_LINES(
        {"executors: [{threads: 1025}]", "executors[0].threads`: `1025` is too large"},
        {"executors: [{threads: -1}]", "executors[0].threads`: `-1` is not a whole number"},
        {"executors: [{threads: 1.5}]", "executors[0].threads`: `1.5` is not a whole number"},
        {"executors: [{threads: '2'}]", "executors[0].threads`: \"2\" is a text, as it stands in quotes"},
        {"executors: [{threads: two}]", "executors[0].threads`: `two` is not a whole number"},
        {"executors: [{threads: 18446744073709551617}]",
         "executors[0].threads`: `18446744073709551617` is too large"},
        {"executors: [{affinity: 0}]", "executors[0].affinity`: is a single value, not a list"},
        {"executors: [{affinity: [8192]}]", "executors[0].affinity[0]`: `8192` is too large"},
        {"executors: [{affinity: [0, 65536]}]", "executors[0].affinity[1]`: `65536` is too large"},
        {"executors: [{affinity: [-1]}]", "executors[0].affinity[0]`: `-1` is not a whole number"},
        {"executors: [{affinity: [0-3]}]", "executors[0].affinity[0]`: `0-3` is not a whole number"},
        {"executors: [{affinity: [1, 2, 1]}]", "executors[0].affinity[2]`: cpu 1 is given twice"},
        {"executors: [{affinity: [[1]]}]", "executors[0].affinity[0]`: is a list"},
        {"executors: [{affinity: [~]}]", "executors[0].affinity[0]`: has no value"},
        {"executors: [{threads: 3, affinity: [0, 1]}]",
         "executors[0].threads`: more threads than cpus in `affinity`; allowed: at most 2"});
    char many[2048] = HEAD "executors: [{affinity: [";
    for (int i = 0; i < HAC_AFFINITY_MAX; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "%d,", i);
    strcat(many, "]}]\n");
    hac_device_config d = load(many);
    assert_int_equal(d.n_affinity, HAC_AFFINITY_MAX);
    assert_int_equal(d.affinity[HAC_AFFINITY_MAX - 1], HAC_AFFINITY_MAX - 1);
    hac_device_config_clear(&d);
    strcpy(strchr(many, ']'), "999]}]\n");
    assert_refused(many, "t.yaml:4: key `executors[0].affinity`: has 257 entries");
}

static void test_env(void **state)
{
    (void)state;
    BAD_LINES({"executors: [{env: {LD_PRELOAD: x}}]",
               "executors[0].env.LD_PRELOAD`: a variable of this name may not be set; allowed: at most 16 "
               "NAME: VALUE; "
               "names `HAC_*`, `OCL_ICD_*`, `POCL_*`, `RUSTICL_*`, `LP_*`, `CUDA_*`"},
              {"executors: [{env: {PATH: x}}]", "executors[0].env.PATH`: a variable of this name"},
              {"executors: [{env: {XHAC_A: x}}]", "executors[0].env.XHAC_A`: a variable of this name"},
              {"executors: [{env: {HAC: x}}]", "executors[0].env.HAC`: a variable of this name"},
              {"executors: [{env: {'HAC_A=B': x}}]", "executors[0].env.HAC_A=B`: a variable of this name"},
              {"executors: [{env: {hac_a: x}}]", "executors[0].env.hac_a`: a variable of this name"},
              {"executors: [{env: {'HAC_ ': x}}]", "executors[0].env.HAC_ `: a variable of this name"},
              {"executors: [{env: {HAC_A: }}]", "executors[0].env.HAC_A`: has no value"},
              {"executors: [{env: {HAC_A: [x]}}]", "executors[0].env.HAC_A`: is a list"},
              {"executors: [{env: [HAC_A]}]", "executors[0].env`: is a list, not a map"},
              {"executors: [{env: HAC_A}]", "executors[0].env`: is a single value, not a map"},
              {"env: {HAC_A: 1}", "env`: unknown key, did you mean `executors[].env`?"});
    char many[2048] = HEAD "executors: [{env: {";
    for (int i = 0; i <= HAC_PROFILE_ENV_MAX; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "LP_%d: x, ", i);
    strcat(many, "}}]\n");
    assert_refused(many, "t.yaml:4: key `executors[0].env`: has 17 entries");
    char huge[4096] = HEAD "executors: [{env: {HAC_A: ok, HAC_B: ";
    memset(huge + strlen(huge), 'x', 1025);
    strcat(huge, "}}]\n");
    assert_refused(huge, "t.yaml:4: key `executors[0].env.HAC_B`: its value is longer than 1024 bytes");
    memmove(strstr(huge, "xx"), strstr(huge, "xx") + 1, strlen(strstr(huge, "xx")));
    hac_device_config d = load(huge);
    assert_int_equal(strlen(d.env[1]), 6 + 1024);
    hac_device_config_clear(&d);
}

static void test_memory(void **state)
{
    (void)state;
    BAD_LINES(
        {"memory: {limit: 4 parsecs}", "memory.limit`: `4 parsecs` has an unknown unit; allowed: size of at "
                                       "least 1MiB (B, kB, MB, GB, TB, KiB,"
                                       " MiB, GiB, TiB), or `auto`"},
        {"memory: {limit: 4}", "memory.limit`: `4` is too small"},
        {"memory: {limit: 1048575}", "memory.limit`: `1048575` is too small"},
        {"memory: {limit: 0}", "memory.limit`: `0` is too small"},
        {"memory: {limit: -4GiB}", "memory.limit`: `-4GiB` is not a size"},
        {"memory: {limit: 16777216TiB}", "memory.limit`: `16777216TiB` is too large"},
        {"memory: {limit: .inf}", "memory.limit`: `.inf` is not a size"},
        {"memory: {limit: .nan}", "memory.limit`: `.nan` is not a size"},
        {"memory: {limit: 4GB/s}", "memory.limit`: `4GB/s` has an unknown unit"},
        {"memory: {limit: [4GiB]}", "memory.limit`: is a list"},
        {"memory: {limit: none}", "memory.limit`: `none` is not a size"},
        {"memory: {host: yes}",
         "memory.host`: `yes` is not a truth value; allowed: `true`, `false`, or `auto`"},
        {"memory: {host: 'true'}", "memory.host`: \"true\" is a text, as it stands in quotes"},
        {"memory: {host: True}", "memory.host`: `True` is not a truth value"},
        {"memory: {host: {}}", "memory.host`: is a map"},
        {"memory: 4GiB", "memory`: is not a map of keys; allowed: limit, host"},
        {"memory:", "memory`: has no value; write {} for nothing; allowed: limit, host"},
        {"memory: {limits: 4GiB}",
         "memory.limits`: unknown key, did you mean `limit`?; allowed: limit, host"},
        {"memory: {max_allocation: 1GiB}",
         "memory.max_allocation`: unknown key, did you mean `limits.max_allocation`?; allowed: limit, host"});
    assert_refused(HEAD "memory:\n  host: true\n  limit:\n    4GX\n", "t.yaml:7: key `memory.limit`: `4GX`");
    hac_device_config d = load(HEAD "memory: {limit: \"1MiB\", host: false}\n");
    assert_int_equal(d.memory_limit, 1 << 20);
    assert_false(d.host_memory);
    hac_device_config_clear(&d);
}

static void test_program(void **state)
{
    (void)state;
    BAD_LINES({"program: spirv",
               "program`: `spirv` is not known; allowed: `source`, or `{binary: /absolute/path}`"},
              {"program: {}", "program`: is an empty map"},
              {"program: [source]", "program`: is a list, not a map"}, {"program:", "program`: has no value"},
              {"program: {source: x}", "program.source`: unknown key"},
              {"program: {binary: /x, binary2: /y}", "program.binary2`: unknown key"},
              {"program: {binary: kernels.bin}", "program.binary`: `kernels.bin` is not an absolute path"},
              {"program: {binary: }", "program.binary`: has no value"},
              {"program: {binary: [/x]}", "program.binary`: is a list"});
}

static void test_tuning(void **state)
{
    (void)state;
    BAD_LINES({"tuning: {block_items: 0}", "tuning.block_items`: `0` is too small"},
              {"tuning: {block_items: 1073741825}", "tuning.block_items`: `1073741825` is too large"},
              {"tuning: {block_items: 4KiB}", "tuning.block_items`: `4KiB` is not a whole number"},
              {"tuning: {work_group: 65537}", "tuning.work_group`: `65537` is too large"},
              {"tuning: {work_group: 0}", "tuning.work_group`: `0` is too small"},
              {"tuning: {work_group: none}", "tuning.work_group`: `none` is not a whole number"},
              {"tuning: {workgroup: 64}", "tuning.workgroup`: unknown key, did you mean `work_group`?"},
              {"tuning: auto", "tuning`: is not a map of keys"},
              {"work_group: 4", "work_group`: unknown key, did you mean `tuning.work_group`?"});
    hac_device_config d = load(HEAD "tuning: {block_items: 1e6}\n");
    assert_int_equal(d.block_items, 1000000);
    hac_device_config_clear(&d);
}

static void test_limits(void **state)
{
    (void)state;
    BAD_LINES(
        {"limits: {max_loop_iterations: 0}", "limits.max_loop_iterations`: `0` is too small"},
        {"limits: {max_loop_iterations: 4294967296}",
         "limits.max_loop_iterations`: `4294967296` is too large"},
        {"limits: {max_loop_iterations: 1e99}", "limits.max_loop_iterations`: `1e99` is too large"},
        {"limits: {max_loop_iterations: 64Ki}", "limits.max_loop_iterations`: `64Ki` is not a whole number"},
        {"limits: {max-loop-iterations: 5}",
         "limits.max-loop-iterations`: unknown key, did you mean `max_loop_iterations`?"},
        {"limits: {max_allocation: 1kB}", "limits.max_allocation`: `1kB` is too small"},
        {"limits: {max_allocation: {}}", "limits.max_allocation`: is a map"},
        {"limits: {local_memory: 32}", "limits.local_memory`: `32` is too small"},
        {"limits: {local_memory: 32K}", "limits.local_memory`: `32K` has an unknown unit"},
        {"limits: none", "limits`: is not a map of keys"});
    hac_device_config d = load(HEAD "limits: {max_loop_iterations: 4294967295, local_memory: 1KiB}\n");
    assert_int_equal(d.max_loop_iterations, UINT32_MAX);
    assert_int_equal(d.local_memory, 1024);
    hac_device_config_clear(&d);
}

static void test_link_sandbox_testing(void **state)
{
    (void)state;
    BAD_LINES(
        {"link: {bandwidth: 25}", "link.bandwidth`: `25` has no unit; allowed: rate from 1kB/s to 1000TB/s"},
        {"link: {bandwidth: 25GB}", "link.bandwidth`: `25GB` has an unknown unit"},
        {"link: {bandwidth: 0GB/s}", "link.bandwidth`: `0GB/s` is too small"},
        {"link: {bandwidth: 1001TB/s}", "link.bandwidth`: `1001TB/s` is too large"},
        {"link: {bandwidth: -1GB/s}", "link.bandwidth`: `-1GB/s` is not a rate"},
        {"link: {latency: 10}",
         "link.latency`: `10` has no unit; allowed: duration of at most 10s (ns, us, ms"},
        {"link: {latency: 11s}", "link.latency`: `11s` is too large"},
        {"link: {latency: -1us}", "link.latency`: `-1us` is not a duration"},
        {"link: {latency: 10GB/s}", "link.latency`: `10GB/s` has an unknown unit"},
        {"link: {speed: 1}", "link.speed`: unknown key; allowed: bandwidth, latency"},
        {"sandbox: {jit: 1}", "sandbox.jit`: `1` is not a truth value; allowed: `true`, `false`"},
        {"sandbox: {jit: on}", "sandbox.jit`: `on` is not a truth value"},
        {"sandbox: {jit: auto}", "sandbox.jit`: `auto` is not a truth value"},
        {"sandbox: {seccomp: false}", "sandbox.seccomp`: unknown key; allowed: jit"},
        {"testing: {slowdown: 0.5}",
         "testing.slowdown`: `0.5` is too small; allowed: number from 1 to 1000000"},
        {"testing: {slowdown: 0}", "testing.slowdown`: `0` is too small"},
        {"testing: {slowdown: 1e7}", "testing.slowdown`: `1e7` is too large"},
        {"testing: {slowdown: .nan}", "testing.slowdown`: `.nan` is not a number"},
        {"testing: {slowdown: nan}", "testing.slowdown`: `nan` is not a number"},
        {"testing: {slowdown: .inf}", "testing.slowdown`: `.inf` is not a number"},
        {"testing: {slowdown: 2x}", "testing.slowdown`: `2x` is not a number"},
        {"testing: {slowdown: '2'}", "testing.slowdown`: \"2\" is a text"});
    hac_device_config d = load(HEAD "link: {latency: 0s}\ntesting: {slowdown: 1e6}\n");
    assert_true(d.link_latency == 0 && d.slowdown == 1e6);
    hac_device_config_clear(&d);
}

static void test_capability(void **state)
{
    (void)state;
    BAD_LINES({"capability: {sort: 1e8}",
               "capability.sort`: is not CODELET.TYPE; allowed: at most 32 CODELET.TYPE"},
              {"capability: {sort.u31: 1e8}", "capability.sort.u31`: is not CODELET.TYPE"},
              {"capability: {.u32: 1e8}", "capability..u32`: is not CODELET.TYPE"},
              {"capability: {a..u32: 1e8}", "capability.a..u32`: is not CODELET.TYPE"},
              {"capability: {a.b..c.u32: 1e8}", "capability.a.b..c.u32`: is not CODELET.TYPE"},
              {"capability: {Sort.u32: 1e8}", "capability.Sort.u32`: is not CODELET.TYPE"},
              {"capability: {'': 1e8}", "capability.`: is not CODELET.TYPE"},
              {"capability: {sort.u32: 0}", "capability.sort.u32`: `0` is too small"},
              {"capability: {sort.u32: -5}", "capability.sort.u32`: `-5` is not a number"},
              {"capability: {sort.u32: 1e19}", "capability.sort.u32`: `1e19` is too large"},
              {"capability: {sort.u32: .inf}", "capability.sort.u32`: `.inf` is not a number"},
              {"capability: {sort.u32: fast}", "capability.sort.u32`: `fast` is not a number"},
              {"capability: {sort.u32: '1e8'}", "capability.sort.u32`: \"1e8\" is a text"},
              {"capability: {sort.u32: }", "capability.sort.u32`: has no value"},
              {"capability: {sort: {u32: 1e8}}", "capability.sort`: is not CODELET.TYPE"},
              {"capability: {sort.u32: {a: 1}}", "capability.sort.u32`: is a map"},
              {"capability: [sort.u32]", "capability`: is a list, not a map"},
              {"capability: 1e8", "capability`: is a single value, not a map"});
    char many[4096] = HEAD "capability: {";
    for (int i = 0; i < HAC_CAPABILITY_MAX; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "c%d.u32: 1, ", i);
    strcat(many, "}\n");
    hac_device_config d = load(many);
    assert_int_equal(d.n_capability, HAC_CAPABILITY_MAX);
    hac_device_config_clear(&d);
    strcpy(strrchr(many, '}'), "c99.u32: 1}\n");
    assert_refused(many, "t.yaml:4: key `capability.c99.u32`: one too many; allowed: at most 32");
    char longest[256] = HEAD "capability: {";
    memset(longest + strlen(longest), 'c', HAC_NAME_MAX - 4);
    strcat(longest, ".u32: 1}\n");
    assert_refused(longest, "t.yaml:4: key `capability.ccc");
}

static void test_unknown(void **state)
{
    (void)state;
    BAD_LINES(
        {"kin: gpu",
         "kin`: unknown key, did you mean `kind`?; allowed: name, match, kind, style, group, executors, "
         "memory, program, byte_order, tuning, limits, link, sandbox, capability, testing"},
        {"memry: {limit: 1GiB}", "memry`: unknown key, did you mean `memory`?"},
        {"slowdown: 2", "slowdown`: unknown key, did you mean `testing.slowdown`?"},
        {"xyzzy: 2", "xyzzy`: unknown key; allowed: name, match"}, {"'': 2", "`: unknown key; allowed: name"},
        {"memory.limit: 4GiB", "memory.limit`: unknown key"},
        {"executors: [{memory.limit: 4GiB}]", "executors[0].memory.limit`: unknown key"},
        {"<<: {kind: gpu}", "<<`: unknown key"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: 1",
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...`: unknown key; allowed: name"},
        {"\"a\\e[31m\": 1", "a?[31m`: unknown key"});
    assert_refused("", "t.yaml:1: key `name`: is missing");
    assert_refused("- a\n", "t.yaml:1: the file holds a list");
}

/* The table's own text: what it calls a bound or a default must be one. */
static void test_table(void **state)
{
    (void)state;
    const hac_config_schema *schema = hac_profile_schema();
    char allowed[512];
    for (size_t i = 0; i < schema->n_keys; i++) {
        const hac_key *key = &schema->keys[i];
        assert_true(strlen(key->path) < HAC_NAME_MAX);
        assert_non_null(key->help);
        assert_true((key->fallback == NULL) == ((key->flags & HAC_KEY_REQUIRED) != 0));
        assert_true((key->read != NULL) == (key->type == HAC_KEY_OTHER));
        assert_true(key->type != HAC_KEY_OTHER || (key->allowed != NULL && key->type_name != NULL));
        assert_true(strlen(hac_key_allowed(key, allowed, sizeof allowed)) > 0);
        assert_true(strlen(allowed) < 200); /* leaves room in a message */
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(key->path, schema->keys[j].path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything),   cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_page_example), cmocka_unit_test(test_name),
        cmocka_unit_test(test_match),        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_executors),    cmocka_unit_test(test_threads_and_affinity),
        cmocka_unit_test(test_env),          cmocka_unit_test(test_memory),
        cmocka_unit_test(test_program),      cmocka_unit_test(test_tuning),
        cmocka_unit_test(test_limits),       cmocka_unit_test(test_link_sandbox_testing),
        cmocka_unit_test(test_capability),   cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
