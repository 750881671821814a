/* SPDX-License-Identifier: Apache-2.0 */
/* Each rule of the executor protocol with what just passes and what just does not. */
#include <math.h>

#include "base/query_layout.h"
#include "test_messages.h"

static hac_decoder *decoder;
static hac_sample_executor e;

static char long_255[256], long_256[257], long_511[512], long_512[513], long_4095[4096], long_4096[4097];

static int set_up(void **state)
{
    memset(long_255, 'x', 255);
    memset(long_256, 'x', 256);
    memset(long_511, 'x', 511);
    memset(long_512, 'x', 512);
    memset(long_4095, 'x', 4095);
    memset(long_4096, 'x', 4096);
    return hac_test_fds_setup(state) != 0 || hac_decoder_new(&decoder, NULL) != HAC_OK;
}

static int tear_down(void **state)
{
    hac_decoder_free(decoder);
    return hac_test_fds_teardown(state);
}

#define MAKE(owner, OWNER, member, CASE, part, change)                                                       \
    (hac_sample_executor_init(&e),                                                                           \
     hac_sample_choose(e.owner, member, HAC__EXECUTOR__##OWNER##__WHAT_##CASE, part), (change))
#define GOOD(member, CASE, part, n_fds, change)                                                              \
    ((void)MAKE(command, COMMAND, member, CASE, part, change),                                               \
     accept(decoder, HAC_SAMPLE_COMMAND, &e.command.base, n_fds))
#define BAD(member, CASE, part, n_fds, change, wanted)                                                       \
    ((void)MAKE(command, COMMAND, member, CASE, part, change),                                               \
     refuse(decoder, HAC_SAMPLE_COMMAND, &e.command.base, n_fds, wanted))
#define GOOD_REPORT(member, CASE, part, change)                                                              \
    ((void)MAKE(report, REPORT, member, CASE, part, change),                                                 \
     accept(decoder, HAC_SAMPLE_REPORT, &e.report.base, 0))
#define BAD_REPORT(member, CASE, part, n_fds, change, wanted)                                                \
    ((void)MAKE(report, REPORT, member, CASE, part, change),                                                 \
     refuse(decoder, HAC_SAMPLE_REPORT, &e.report.base, n_fds, wanted))

#define OFF_MAX ((uint64_t)INT64_MAX)

static void test_setup(void **state)
{
    (void)state;
    GOOD(setup, SETUP, &e.setup, 0, e.setup.n_affinity = 256);
    BAD(setup, SETUP, &e.setup, 0, e.setup.n_affinity = 257, "setup: affinity: has more than 256");
    BAD(setup, SETUP, &e.setup, 0, e.affinity[1] = 65536, "setup: affinity: is 65536");
    BAD(setup, SETUP, &e.setup, 0, e.setup.device_name = long_256, "device_name: has 256");
    GOOD(setup, SETUP, &e.setup, 0, e.setup.program_binary = long_4095);
    BAD(setup, SETUP, &e.setup, 0, e.setup.program_binary = long_4096, "program_binary: has 4096");
    BAD(setup, SETUP, &e.setup, 0, e.setup.program_directory = long_4096, "program_directory: has 4096");
    BAD(setup, SETUP, &e.setup, 0, e.setup.scratch_directory = long_4096, "scratch_directory: has 4096");
    BAD(setup, SETUP, &e.setup, 0, e.setup.slowdown = (double)NAN, "slowdown: is not");
    BAD(setup, SETUP, &e.setup, 1, 0, "1 descriptors");
}

static void test_memory(void **state)
{
    (void)state;
    GOOD(buffer_add, BUFFER_ADD, &e.buffer_add, 1, e.buffer_add.bytes = OFF_MAX);
    BAD(buffer_add, BUFFER_ADD, &e.buffer_add, 0, 0, "0 descriptors came with it, it takes 1");
    BAD(buffer_add, BUFFER_ADD, &e.buffer_add, 2, 0, "2 descriptors came with it, it takes 1");
    BAD(buffer_add, BUFFER_ADD, &e.buffer_add, 1, e.buffer_add.bytes = 0, "bytes: is missing");
    BAD(buffer_add, BUFFER_ADD, &e.buffer_add, 1, e.buffer_add.bytes = OFF_MAX + 1, "bytes: is 922");
    BAD(buffer_remove, BUFFER_REMOVE, &e.buffer_remove, 1, 0, "1 descriptors");
    BAD(descriptor_add, DESCRIPTOR_ADD, &e.descriptor_add, 0, 0, "0 descriptors came with it, it takes 1");
    BAD(descriptor_add, DESCRIPTOR_ADD, &e.descriptor_add, 1, e.descriptor_add.descriptor = 0,
        "descriptor: is missing");
    BAD(descriptor_remove, DESCRIPTOR_REMOVE, &e.descriptor_remove, 1, 0, "1 descriptors");
    BAD(shutdown, SHUTDOWN, &e.nothing, 1, 0, "1 descriptors");
    BAD(ping, PING, &e.ping, 16, 0, "16 descriptors");
}

static void test_run(void **state)
{
    (void)state;
    GOOD(run, RUN, &e.run, 0, e.run.n_spans = 16);
    BAD(run, RUN, &e.run, 0, e.run.n_spans = 17, "run: spans: has more than 16");
    BAD(run, RUN, &e.run, 0, e.run.n_then = HAC_RUN_THEN_MAX + 1, "then: has more than 7");
    GOOD(run, RUN, &e.run, 0, e.run.n_params = 24);
    BAD(run, RUN, &e.run, 0, e.run.n_params = 25, "run: params: has more than 24");
    BAD(run, RUN, &e.run, 0, e.run.codelet = NULL, "run: codelet: is missing");
    BAD(run, RUN, &e.run, 0, e.run.codelet = long_256, "run: codelet: has 256");
    GOOD(run, RUN, &e.run, 0, e.run.type = 0);
    BAD(run, RUN, &e.run, 0, e.run.type = 7, "run: type: is 7");
    GOOD(run, RUN, &e.run, 0, (e.run.first = UINT64_MAX - 5, e.run.count = 5));
    BAD(run, RUN, &e.run, 0, (e.run.first = UINT64_MAX - 5, e.run.count = 6), "run: count: 6 from");
    GOOD(run, RUN, &e.run, 0, e.run.data.len = HAC_QUERY_INLINE_MAX);
    BAD(run, RUN, &e.run, 0, e.run.data.len = HAC_QUERY_INLINE_MAX + 1, "run: data: has 52225");
    BAD(run, RUN, &e.run, 0, e.span.offset = 63, "run: spans[0]: offset: is 63, must be a multiple of 64");
    BAD(run, RUN, &e.run, 0, (e.span.offset = OFF_MAX - 63, e.span.bytes = 64), "run: spans[0]: 64 bytes");
    BAD(run, RUN, &e.run, 0, (e.span.offset = 64, e.span.bytes = UINT64_MAX - 63), "run: spans[0]: 18446");
    GOOD(run, RUN, &e.run, 0, (e.span.offset = OFF_MAX - 63, e.span.bytes = 63));
    BAD(run, RUN, &e.run, 1, 0, "1 descriptors");
}

static void test_build(void **state)
{
    (void)state;
    GOOD(build, BUILD, &e.build, 0, e.build.n_programs = 64);
    GOOD(build, BUILD, &e.build, 0, e.build.n_programs = 0);
    BAD(build, BUILD, &e.build, 0, e.build.n_programs = 65, "programs: has more than 64");
    BAD(build, BUILD, &e.build, 0, e.names[1] = (char[]){""}, "programs: has an empty element");
    hac_sample_executor_init(&e);
    refuse(decoder, HAC_SAMPLE_COMMAND, &e.command.base, 0, "Command: is empty");
}

static void test_facts(void **state)
{
    (void)state;
    GOOD_REPORT(probe, PROBE, &e.probe, e.probe.n_devices = 64);
    GOOD_REPORT(probe, PROBE, &e.probe, (e.probe.n_devices = 0, e.probe.problem = long_511));
    BAD_REPORT(probe, PROBE, &e.probe, 0, e.probe.n_devices = 65, "probe: devices: has more than 64");
    BAD_REPORT(probe, PROBE, &e.probe, 0, e.probe.problem = long_512, "problem: has 512");
    BAD_REPORT(probe, PROBE, &e.probe, 1, 0, "1 descriptors");
    GOOD_REPORT(ready, READY, &e.ready, e.facts.problem = long_511);
    BAD_REPORT(ready, READY, &e.ready, 0, e.facts.problem = long_512, "facts: problem: has 512");
    BAD_REPORT(ready, READY, &e.ready, 0, e.facts.vendor = long_256, "facts: vendor: has 256");
    BAD_REPORT(ready, READY, &e.ready, 0, e.facts.device = (char[]){"caf\xe9"},
               "facts: device: is not valid UTF-8");
    BAD_REPORT(ready, READY, &e.ready, 0, e.ready.facts = NULL, "ready: facts: is missing");
}

static void test_done(void **state)
{
    (void)state;
    GOOD_REPORT(done, DONE, &e.done, (e.done.n_values = 96, e.done.code = 13));
    BAD_REPORT(done, DONE, &e.done, 0, e.done.n_values = 97, "values: has more than 96");
    BAD_REPORT(done, DONE, &e.done, 0, e.done.code = 14, "code: is 14");
    BAD_REPORT(done, DONE, &e.done, 0, e.done.seconds = -1, "seconds: is negative");
    GOOD_REPORT(done, DONE, &e.done, e.done.n_needs_programs = HAC_RUN_THEN_MAX + 1);
    BAD_REPORT(done, DONE, &e.done, 0, e.done.n_needs_programs = HAC_RUN_THEN_MAX + 2,
               "needs_programs: has more than 8");
    BAD_REPORT(done, DONE, &e.done, 0, e.names[1] = (char[]){""}, "needs_programs: has an empty element");
    BAD_REPORT(done, DONE, &e.done, 0, e.done.message = long_512, "message: has 512");
    BAD_REPORT(done, DONE, &e.done, 0, e.done.data.len = HAC_INLINE_MAX + 1, "data: has 32769");
    BAD_REPORT(done, DONE, &e.done, 1, 0, "1 descriptors");
}

/* Several tasks, several answers: nothing else is in such a message, and each is looked at. */
static void test_lists(void **state)
{
    (void)state;
    Hac__Executor__Run *runs[HAC_RUNS_MAX + 1];
    Hac__Executor__Done *dones[HAC_RUNS_MAX + 1];
    hac_sample_executor_init(&e);
    e.run.data.len = e.done.data.len = 100;
    for (size_t i = 0; i <= HAC_RUNS_MAX; i++) {
        runs[i] = &e.run;
        dones[i] = &e.done;
    }
    e.command.runs = runs;
    e.report.dones = dones;
    for (size_t n = 1; n <= HAC_RUNS_MAX; n += HAC_RUNS_MAX - 1) {
        e.command.n_runs = e.report.n_dones = n;
        accept(decoder, HAC_SAMPLE_COMMAND, &e.command.base, 0);
        accept(decoder, HAC_SAMPLE_REPORT, &e.report.base, 0);
        refuse(decoder, HAC_SAMPLE_COMMAND, &e.command.base, 1, "1 descriptors");
    }
    e.command.n_runs = e.report.n_dones = HAC_RUNS_MAX + 1;
    refuse(decoder, HAC_SAMPLE_COMMAND, &e.command.base, 0, "runs: has more than 32");
    refuse(decoder, HAC_SAMPLE_REPORT, &e.report.base, 0, "dones: has more than 32");
    e.command.n_runs = e.report.n_dones = 2;
    e.done.code = 14;
    refuse(decoder, HAC_SAMPLE_REPORT, &e.report.base, 0, "dones: code: is 14");
    e.done.code = 0;
    e.run.first = UINT64_MAX;
    refuse(decoder, HAC_SAMPLE_COMMAND, &e.command.base, 0, "run: count");
    e.run.first = 0;
    hac_sample_choose(e.command, run, HAC__EXECUTOR__COMMAND__WHAT_RUN, &e.run);
    refuse(decoder, HAC_SAMPLE_COMMAND, &e.command.base, 0, "a list is there beside another choice");
    hac_sample_choose(e.report, done, HAC__EXECUTOR__REPORT__WHAT_DONE, &e.done);
    refuse(decoder, HAC_SAMPLE_REPORT, &e.report.base, 0, "a list is there beside another choice");
    hac_sample_executor_init(&e);
    refuse(decoder, HAC_SAMPLE_COMMAND, &e.command.base, 0, "Command: is empty");
}

static void test_built(void **state)
{
    (void)state;
    GOOD_REPORT(built, BUILT, &e.built, (e.built.n_failures = 64, e.built.done = 5));
    BAD_REPORT(built, BUILT, &e.built, 0, e.built.n_failures = 65, "failures: has more than 64");
    BAD_REPORT(built, BUILT, &e.built, 0, e.names[0] = long_512, "failures: has 512");
    BAD_REPORT(built, BUILT, &e.built, 0, e.built.done = 6, "built: done: is 6 of 5");
    BAD_REPORT(built, BUILT, &e.built, 0, e.built.program = NULL, "program: is missing");
    BAD_REPORT(built, BUILT, &e.built, 0, e.built.code = 14, "code: is 14");
    BAD_REPORT(built, BUILT, &e.built, 0, e.built.message = long_512, "message: has 512");
    BAD_REPORT(image, IMAGE, &e.image, 0, e.image.message = long_512, "message: has 512");
    BAD_REPORT(image, IMAGE, &e.image, 0, e.image.code = 99, "code: is 99");
    BAD(build, BUILD, &e.build, 0, e.build.image = 1, "descriptor");
    BAD(build, BUILD, &e.build, 1, e.build.image = 0, "descriptor");
    BAD_REPORT(build_end, BUILD_END, &e.build_end, 0, e.build_end.self_test = long_512, "self_test: has 512");
    GOOD_REPORT(fatal, FATAL, long_511, 0);
    GOOD_REPORT(fatal, FATAL, (char[]){""}, 0);
    BAD_REPORT(fatal, FATAL, long_512, 0, 0, "fatal: has 512");
    hac_sample_executor_init(&e);
    refuse(decoder, HAC_SAMPLE_REPORT, &e.report.base, 0, "Report: is empty");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_setup), cmocka_unit_test(test_memory), cmocka_unit_test(test_run),
        cmocka_unit_test(test_build), cmocka_unit_test(test_facts),  cmocka_unit_test(test_done),
        cmocka_unit_test(test_built), cmocka_unit_test(test_lists),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
