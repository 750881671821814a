/* SPDX-License-Identifier: Apache-2.0 */
/* How long the chunks of a query are, by who works on them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "query_build.h"
#include "test_machines.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

static const uint32_t all[] = {0, 1, 2}, gpu[] = {2}, cpu[] = {0, 1};

static uint64_t chunk_of(const hac_query_spec *spec, bool simt, const uint32_t *devices, size_t n)
{
    hac_machine machine = test_pair_beside_gpu();
    hac_query_sizes sizes;
    hac_error err = HAC_ERROR_NONE;
    machine.devices[2].simt = simt;
    assert_int_equal(hac_query_size(spec, &machine, devices, n, &sizes, &err), HAC_OK);
    assert_int_equal(sizes.chunks, (spec->sources[0] + sizes.chunk - 1) / sizes.chunk);
    return sizes.chunk;
}

static hac_query_spec table_of(uint64_t rows)
{
    hac_query_spec spec;
    memset(&spec, 0, sizeof(spec));
    spec.sources[0] = rows;
    spec.n_sources = 1;
    spec.table = spec.in_rows = true;
    spec.place = HAC_QUERY_IN_BUFFER;
    spec.format = "table";
    spec.bytes = spec.input_bytes = rows * 12;
    spec.flags = HAC_COMPILED_AGGREGATES;
    spec.keys = 1;
    spec.group_bytes = 32;
    spec.output_bytes = 20;
    return spec;
}

/* A device that copies and works in lock-step, alone, gets a sixteenth of the rows at a time, all others a
 * sixty-fourth. */
static void test_tables(void **state)
{
    (void)state;
    hac_query_spec spec = table_of(16 * MIB);
    assert_int_equal(chunk_of(&spec, true, gpu, 1), MIB);
    assert_int_equal(chunk_of(&spec, false, gpu, 1), 256 * KIB);
    assert_int_equal(chunk_of(&spec, true, all, 3), 256 * KIB);
    assert_int_equal(chunk_of(&spec, true, cpu, 2), 256 * KIB);
    spec = table_of(1024 * MIB);
    assert_int_equal(chunk_of(&spec, true, gpu, 1), 16 * MIB); /* the longest there are */
    spec = table_of(100 * KIB);
    assert_int_equal(chunk_of(&spec, true, gpu, 1), chunk_of(&spec, true, cpu, 2));
}

static void test_texts(void **state)
{
    (void)state;
    hac_query_spec spec = table_of(640 * MIB);
    spec.table = spec.in_rows = false;
    spec.format = "csv";
    assert_int_equal(chunk_of(&spec, true, gpu, 1), 10 * MIB);
    assert_int_equal(chunk_of(&spec, true, cpu, 2), 10 * MIB);
}

/* Sums of three columns by 100,000 keys: a chunk's partial took 8727 KiB, though the chunk has 3 MiB. */
static void test_wide_groups(void **state)
{
    (void)state;
    hac_machine machine = test_pair_beside_gpu();
    hac_query_sizes sizes;
    hac_query_spec spec = table_of(10000000);
    hac_error err = HAC_ERROR_NONE;
    spec.table = false;
    spec.format = "parquet";
    spec.group_rows = 122880;
    spec.bytes = spec.input_bytes = spec.sources[0] * 13;
    spec.group_bytes = 88;
    assert_int_equal(hac_query_size(&spec, &machine, cpu, 2, &sizes, &err), HAC_OK);
    assert_true(sizes.region >= 8727 * KIB && sizes.region <= 16 * MIB);
    spec.keys = 0; /* one group */
    assert_int_equal(hac_query_size(&spec, &machine, cpu, 2, &sizes, &err), HAC_OK);
    assert_true(sizes.region <= 64 * KIB);
}

/* With a limit and no order, regions have space for as many rows as are wanted. */
static void test_first_rows(void **state)
{
    (void)state;
    hac_machine machine = test_pair_beside_gpu();
    hac_query_sizes whole, first;
    hac_query_spec spec = table_of(10000000);
    hac_error err = HAC_ERROR_NONE;
    spec.flags = 0;
    assert_int_equal(hac_query_size(&spec, &machine, cpu, 2, &whole, &err), HAC_OK);
    spec.ends_early = true;
    spec.last_row = 100;
    assert_int_equal(hac_query_size(&spec, &machine, cpu, 2, &first, &err), HAC_OK);
    assert_true(first.region >= 100 * spec.output_bytes && first.region < 100 * KIB);
    assert_true(first.chunk == whole.chunk && whole.region > 1000 * KIB);
    spec.last_row = UINT64_MAX - 1;
    assert_int_equal(hac_query_size(&spec, &machine, cpu, 2, &first, &err), HAC_OK);
    assert_true(first.region >= whole.region);
}

static hac_plan *plan_for(const hac_query_spec *spec)
{
    hac_machine machine = test_pair_beside_gpu();
    hac_plan *plan = NULL;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_plan_query(&machine, spec, &plan, &err), HAC_OK);
    assert_int_equal(hac_plan_check(plan, &err), HAC_OK);
    return plan;
}

/* With a limit and no order a chunk has all rows, as a rule: so much is predicted. A device's pace is that of
 * any query. */
static void test_first_rows_plan(void **state)
{
    (void)state;
    hac_query_spec spec = {.sources[0] = 1000 * MIB,
                           .bytes = 1000 * MIB,
                           .n_sources = 1,
                           .format = "csv",
                           .flags = HAC_COMPILED_NEEDS_QUOTES,
                           .output_bytes = 20,
                           .compiled_bytes = 500,
                           .seed = 7};
    hac_plan *whole = plan_for(&spec);
    spec.ends_early = true;
    spec.last_row = 1;
    hac_plan *first = plan_for(&spec);
    const hac_plan_task *gather = &first->tasks[first->n_tasks - 1], *rows = gather - 1;
    const hac_plan_task *all_rows = &whole->tasks[whole->n_tasks - 2];
    assert_true(first->predicted_seconds < whole->predicted_seconds / 8);
    assert_true(gather->units < 8 * (double)KIB);
    assert_int_equal(first->tasks[0].count, 1);
    double work = first->tasks[0].units * (double)first->query.chunks;
    assert_true(work > 900.0 * (double)MIB && work < 1100.0 * (double)MIB);
    double pace = rows->whole_seconds[0] / (double)rows->count;
    double usual = all_rows->whole_seconds[0] / (double)all_rows->count;
    assert_true(pace > usual / 2 && pace < usual * 2);
    hac_plan_free(first);
    hac_plan_free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),          cmocka_unit_test(test_texts),
        cmocka_unit_test(test_wide_groups),     cmocka_unit_test(test_first_rows),
        cmocka_unit_test(test_first_rows_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
