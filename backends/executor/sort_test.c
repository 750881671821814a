/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole sorts in a sandboxed executor that has binaries only, in both styles. A launch for which the driver
 * would have to compile ends the executor, so this test finds every variant that the builder has left out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bitonic_layout.h"
#include "base/memfd.h"
#include "base/radix_layout.h"
#include "base/task_params.h"
#include "tests/test_child.h"

#define ITEMS_MAX (UINT64_C(1) << 21)
#define MAX_SPANS 4

enum { IN = 1, OUT, TABLE, COUNTS };

typedef struct sorter {
    test_child *child;
    uint32_t block_items;
    uint32_t *in, *out;
    uint64_t table_bytes, counts_bytes;
} sorter;

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static void start(sorter *s, const test_setup *setup)
{
    s->child = test_start(NULL);
    test_send_setup(s->child, setup);
    s->block_items = test_expect(s->child, HAC__EXECUTOR__REPORT__WHAT_READY)->ready->facts->block_items;
    s->in = test_add_buffer(s->child, IN, ITEMS_MAX * 4);
    s->out = test_add_buffer(s->child, OUT, ITEMS_MAX * 4);
}

static void end(sorter *s)
{
    hac_memfd_unmap(s->in, ITEMS_MAX * 4);
    hac_memfd_unmap(s->out, ITEMS_MAX * 4);
    assert_int_equal(test_end(s->child), 0);
}

typedef struct step {
    const char *codelet;
    uint64_t count;
    uint32_t buffers[MAX_SPANS];
    uint64_t bytes[MAX_SPANS];
    size_t n_spans;
    uint64_t params[HAC_TASK_PARAMS_MAX];
    size_t n_params;
} step;

static void run(sorter *s, const step *what)
{
    Hac__Executor__Span spans[MAX_SPANS], *pointers[MAX_SPANS];
    Hac__Executor__Run message;
    Hac__Executor__Command command;
    hac__executor__run__init(&message);
    hac__executor__command__init(&command);
    for (size_t i = 0; i < what->n_spans; i++) {
        hac__executor__span__init(&spans[i]);
        spans[i].buffer = what->buffers[i];
        spans[i].bytes = what->bytes[i];
        pointers[i] = &spans[i];
    }
    message.task = 1;
    message.codelet = (char *)(uintptr_t)what->codelet;
    message.type = HAC_TYPE_U32;
    message.count = what->count;
    message.spans = pointers;
    message.n_spans = what->n_spans;
    message.params = (uint64_t *)(uintptr_t)what->params;
    message.n_params = what->n_params;
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_RUN;
    command.run = &message;
    test_send(s->child, &command, NULL, 0);
    Hac__Executor__Done *done = test_expect(s->child, HAC__EXECUTOR__REPORT__WHAT_DONE)->done;
    if (done->code != HAC_OK)
        fail_msg("%s of %s: %s", hac_status_name((hac_status)done->code), what->codelet, done->message);
}

static void sort_bitonic(sorter *s, uint64_t n)
{
    uint32_t subsets = hac_bitonic_subsets(n), b = 0;
    while ((2u << b) <= s->block_items)
        b++;
    step what = {
        .codelet = "bitonic.steps", .count = n, .buffers = {IN, OUT}, .bytes = {n * 4, n * 4}, .n_spans = 2};
    HAC_SET_PARAMS(&what, &(hac_bitonic_params){.items = n,
                                                .block_log2 = b,
                                                .first_step = 1,
                                                .last_step = hac_bitonic_last_step(subsets)});
    run(s, &what);
}

static void sort_radix(sorter *s, uint64_t n)
{
    hac_radix_cut cut = hac_radix_cut_of(n, 2, 0);
    uint64_t table = rounded(hac_radix_table_bytes(cut.buckets));
    uint64_t counts = rounded(hac_radix_counts_bytes(cut.chunks, cut.buckets));
    hac_memfd_unmap(test_add_buffer(s->child, TABLE, table), table);
    hac_memfd_unmap(test_add_buffer(s->child, COUNTS, counts), counts);
    step what = {.codelet = "radix.sample"};
    HAC_SET_PARAMS(&what, &(hac_radix_params){
                              .items = n, .chunk_items = cut.chunk_items, .buckets = cut.buckets, .seed = 7});
    what.n_spans = 2;
    memcpy(what.buffers, (uint32_t[]){IN, TABLE}, 2 * sizeof(uint32_t));
    memcpy(what.bytes, (uint64_t[]){n * 4, table}, 2 * sizeof(uint64_t));
    run(s, &what);

    what.codelet = "radix.count";
    what.count = cut.chunks;
    what.n_spans = 3;
    what.buffers[2] = COUNTS;
    what.bytes[2] = counts;
    run(s, &what);

    what.codelet = "radix.scatter"; /* its spans are those of count, and OUT; the scan comes before */
    step scan = what;
    scan.codelet = "radix.scan";
    scan.count = 0;
    scan.n_spans = 2;
    memcpy(scan.buffers, (uint32_t[]){TABLE, COUNTS}, 2 * sizeof(uint32_t));
    memcpy(scan.bytes, (uint64_t[]){table, counts}, 2 * sizeof(uint64_t));
    run(s, &scan);
    what.n_spans = 4;
    what.buffers[3] = OUT;
    what.bytes[3] = n * 4;
    run(s, &what);

    what.codelet = "radix.leaf";
    what.count = cut.buckets;
    what.n_spans = 2;
    memcpy(what.buffers, (uint32_t[]){TABLE, OUT}, 2 * sizeof(uint32_t));
    memcpy(what.bytes, (uint64_t[]){table, n * 4}, 2 * sizeof(uint64_t));
    run(s, &what);

    for (uint32_t buffer = TABLE; buffer <= COUNTS; buffer++) {
        Hac__Executor__BufferRemove remove;
        Hac__Executor__Command command;
        hac__executor__buffer_remove__init(&remove);
        hac__executor__command__init(&command);
        remove.buffer = buffer;
        command.what_case = HAC__EXECUTOR__COMMAND__WHAT_BUFFER_REMOVE;
        command.buffer_remove = &remove;
        test_send(s->child, &command, NULL, 0);
    }
}

/* Keys are multiples of an odd constant: a sorted permutation has their sum and ascends strictly. */
static void check(sorter *s, uint64_t n, void (*sort)(sorter *s, uint64_t n))
{
    uint64_t before = 0, after = 0;
    for (uint64_t i = 0; i < n; i++)
        before += s->in[i] = (uint32_t)i * 2654435761u;
    memset(s->out, 0xee, n * 4);
    sort(s, n);
    for (uint64_t i = 0; i < n; i++) {
        after += s->out[i];
        if (i > 0 && s->out[i - 1] >= s->out[i])
            fail_msg("item %llu of %llu is not above the one before", (unsigned long long)i,
                     (unsigned long long)n);
    }
    assert_true(before == after);
}

static void check_style(bool simt)
{
    static const uint64_t sizes[] = {2, 1000, 65534, 65536, 100001, (1 << 20) + 123, ITEMS_MAX};
    const char *names[2][3] = {{"bitonic.block.32", "radix.block.32", "radix_leaf.block.32"},
                               {"bitonic.simt.32", "radix.simt.32", "radix_leaf.simt.32"}};
    char *programs = test_make_directory(), *scratch = test_make_directory();
    test_setup setup = {.program_directory = programs, .scratch_directory = scratch, .simt = simt};
    sorter s;
    print_message("built in %.1f s\n", test_build(&setup, names[simt], 3));
    start(&s, &setup);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check(&s, sizes[i], sort_bitonic);
        check(&s, sizes[i], sort_radix);
    }
    end(&s);
    test_remove_directory(programs);
    test_remove_directory(scratch);
}

static void test_block(void **state)
{
    (void)state;
    check_style(false);
}

static void test_simt(void **state)
{
    (void)state;
    check_style(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block),
        cmocka_unit_test(test_simt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
