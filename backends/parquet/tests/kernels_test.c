/* SPDX-License-Identifier: Apache-2.0 */
/* Look-ups of codes, in every set of kernels that this processor runs, compared with a plain loop. */
#include <string.h>

#include "base/random.h"
#include "base/test_support.h"
#include "expr/column.h"
#include "read/kernels.h"

#define ENTRIES 300

static uint64_t seed = 3;
static uint8_t table[16 * ENTRIES], got[16 * HAC_BATCH_ROWS], wanted[16 * HAC_BATCH_ROWS];
static uint32_t codes[HAC_BATCH_ROWS];
static uint16_t positions[HAC_BATCH_ROWS];

static size_t draw(size_t below)
{
    return (size_t)(hac_random_u64(&seed) % below);
}

/* Random codes below `entries`, and positions of the wanted ones; returns their number. */
static size_t make(size_t n, size_t entries)
{
    size_t n_positions = 0;
    for (size_t i = 0; i < sizeof table; i++)
        table[i] = (uint8_t)draw(256);
    for (size_t i = 0; i < n; i++) {
        codes[i] = (uint32_t)draw(entries);
        positions[n_positions] = (uint16_t)i;
        n_positions += draw(3) > 0;
    }
    return n_positions;
}

static void expect(size_t size, const uint16_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(wanted + i * size, table + codes[at == NULL ? i : at[i]] * size, size);
    assert_memory_equal(got, wanted, n * size);
    assert_int_equal(got[n * size], 0xee); /* nothing is written behind the end */
}

static void look_ups(const hac_parquet_kernels *k, size_t n)
{
    const struct {
        hac_parquet_look_up look_up;
        size_t size;
    } all[] = {{k->look_up_1, 1}, {k->look_up_4, 4}, {k->look_up_8, 8}, {k->look_up_16, 16}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        size_t n_positions = make(n, 1 + draw(ENTRIES));
        memset(got, 0xee, sizeof got);
        all[i].look_up(table, codes, NULL, n, got);
        expect(all[i].size, NULL, n);
        memset(got, 0xee, sizeof got);
        all[i].look_up(table, codes, positions, n_positions, got);
        expect(all[i].size, positions, n_positions);
    }
}

static void few(const hac_parquet_kernels *k, size_t n)
{
    for (size_t entries = 1; entries <= 16; entries++) {
        make(n, entries);
        memset(got, 0xee, sizeof got);
        k->look_up_few(table, codes, n, got);
        expect(1, NULL, n);
    }
}

static void test_look_ups(void **state)
{
    const hac_parquet_kernels *all[3];
    (void)state;
    for (size_t kernels = hac_parquet_kernels_all(all), k = 0; k < kernels; k++)
        for (size_t n = 0; n < HAC_BATCH_ROWS; n += n < 70 ? 1 : draw(60)) {
            look_ups(all[k], n);
            few(all[k], n);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_look_ups)};
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
