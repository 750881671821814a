/* SPDX-License-Identifier: Apache-2.0 */
/* LaunchingBuffers and WorkingBuffers: added records are found again by the index, byte for byte, in both
 * byte orders. */
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "splice/working_buffer.h"

/* cmocka.h comes last */
#include "base/test_support.h"

#define ROWS 1300

static uint64_t random_state = 362436069u;

static uint64_t dice(uint64_t sides)
{
    return hac_random_u64(&random_state) % sides;
}

/* ---- rows that were added ---- */

typedef struct rows {
    uint64_t n;
    int16_t a[ROWS];
    bool b[ROWS];
    double c[ROWS];
    char d[ROWS][24];
    bool null_a[ROWS], null_d[ROWS];
} rows;

static hac_field fields[] = {{.name = "a", .type = {.kind = HAC_KIND_I16}},
                             {.name = "b", .type = {.kind = HAC_KIND_BOOL}},
                             {.name = "c", .type = {.kind = HAC_KIND_F64}},
                             {.name = "d", .type = {.kind = HAC_KIND_STRING}}};
static const hac_schema schema = {fields, 4};

/* Batches of any size; nulls come late, so that there are also columns without nulls. */
static void fill(hac_launching_buffer *block, rows *r, uint64_t n, bool nulls)
{
    static _Alignas(64) int64_t a[HAC_BATCH_ROWS];
    static _Alignas(64) uint8_t b[HAC_BATCH_ROWS], states_a[HAC_BATCH_ROWS], states_d[HAC_BATCH_ROWS];
    static _Alignas(64) double c[HAC_BATCH_ROWS];
    static _Alignas(64) hac_string_ref d[HAC_BATCH_ROWS];
    static uint8_t text[HAC_BATCH_ROWS * 24];
    hac_error err = HAC_ERROR_NONE;
    *r = (rows){.n = n};
    for (uint64_t at = 0; at < n;) {
        size_t take = 1 + dice(n - at < 700 ? n - at : 700), used = 0;
        bool marked = nulls && (at != 0 || dice(2));
        for (size_t i = 0; i < take; i++) {
            uint64_t row = at + i;
            a[i] = r->a[row] = (int16_t)dice(65536);
            b[i] = r->b[row] = dice(2);
            c[i] = r->c[row] = (double)dice(1000) / 7;
            snprintf(r->d[row], sizeof r->d[row], "%.*s%d", (int)dice(10), "characters", (int)dice(99));
            r->null_a[row] = marked && dice(5) == 0;
            r->null_d[row] = marked && dice(5) == 0;
            states_a[i] = r->null_a[row];
            states_d[i] = r->null_d[row];
            d[i] = (hac_string_ref){(uint32_t)used, states_d[i] ? 0 : (uint32_t)strlen(r->d[row])};
            memcpy(text + used, r->d[row], d[i].length);
            used += d[i].length;
        }
        hac_column v[] = {
            {.type = fields[0].type, .values = a, .states = marked ? states_a : NULL},
            {.type = fields[1].type, .values = b},
            {.type = fields[2].type, .values = c},
            {.type = fields[3].type, .values = d, .states = marked ? states_d : NULL, .bytes = text}};
        hac_batch batch = {.rows = take, .n_columns = 4, .columns = v};
        assert_true(hac_launching_buffer_batch_bytes(block, &batch) >= take * 14);
        assert_int_equal(hac_launching_buffer_add(block, &batch, &err), HAC_OK);
        at += take;
    }
    uint64_t bytes = hac_launching_buffer_bytes(block);
    hac_launching_buffer_seal(block);
    assert_int_equal(hac_launching_buffer_bytes(block), bytes);
    assert_int_equal(bytes % 64, 0);
}

/* ---- rows that are found, as a device of either order finds them ---- */

static uint64_t load(const uint8_t *at, size_t size, bool big)
{
    uint64_t v = 0;
    for (size_t i = 0; i < size; i++)
        v = v << 8 | at[big ? i : size - 1 - i];
    return v;
}

static void check_block(const hac_working_buffer *w, size_t block, const rows *r, bool big)
{
    const uint8_t *memory = w->memory, *columns = memory + hac_working_buffer_element(w, block);
    const uint8_t *head = columns - HAC_INDEX_WORDS * 8;
    uint64_t words[4][5];
    assert_int_equal(load(head, 8, big), r->n);
    assert_int_equal(load(head + 8 * HAC_INDEX_BLOCK, 8, big), w->blocks[block].at);
    assert_int_equal(load(head + 8 * HAC_INDEX_BYTES, 8, big), w->blocks[block].size);
    for (size_t c = 0; c < 4; c++)
        for (size_t i = 0; i < 5; i++)
            words[c][i] = load(columns + (c * HAC_INDEX_COLUMN_WORDS + i) * 8, 8, big);
    for (uint64_t i = 0; i < r->n; i++) {
        const uint8_t *a = memory + words[0][HAC_INDEX_VALUES], *b = memory + words[1][HAC_INDEX_VALUES];
        const uint8_t *c = memory + words[2][HAC_INDEX_VALUES], *d = memory + words[3][HAC_INDEX_VALUES];
        uint64_t va = words[0][HAC_INDEX_VALIDITY], vd = words[3][HAC_INDEX_VALIDITY], bits;
        memcpy(&bits, &r->c[i], 8);
        assert_int_equal(va != UINT64_MAX && !(memory[va + i / 8] >> i % 8 & 1), r->null_a[i]);
        assert_int_equal((int16_t)load(a + 2 * i, 2, big), r->a[i]);
        assert_int_equal(b[i / 8] >> i % 8 & 1, r->b[i]);
        assert_true(load(c + 8 * i, 8, big) == bits);
        uint64_t from = load(d + 4 * i, 4, big), to = load(d + 4 * i + 4, 4, big);
        assert_int_equal(vd != UINT64_MAX && !(memory[vd + i / 8] >> i % 8 & 1), r->null_d[i]);
        assert_int_equal(to - from, r->null_d[i] ? 0 : strlen(r->d[i]));
        assert_memory_equal(memory + words[3][HAC_INDEX_CHARACTERS] + from, r->d[i], to - from);
        assert_true(to <= words[3][HAC_INDEX_N_CHARACTERS]);
    }
}

/* Blocks in both byte orders: the device's reads are right, and reads in the other order would be noticed. */
static void test_blocks(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    static rows r[6];
    static const uint64_t sizes[] = {0, 1, 7, 64, 1000, ROWS};
    for (int big = 0; big < 2; big++) {
        hac_splicer splicer;
        hac_working_buffer w;
        assert_int_equal(hac_working_buffer_rule(&schema, 6, 1 << 20, &splicer, &err), HAC_OK);
        assert_int_equal(hac_working_buffer_init(&w, &schema, &splicer, big, &err), HAC_OK);
        for (int turn = 0; turn < 3; turn++) { /* buffers are reused */
            hac_launching_buffer block;
            assert_int_equal(hac_launching_buffer_init(&block, &schema, &err), HAC_OK);
            for (int i = 0; i < 6; i++) {
                hac_launching_buffer_empty(&block);
                fill(&block, &r[i], sizes[i], (i + turn) % 2);
                assert_int_equal(hac_working_buffer_put(&w, &splicer, &block, 10 + (uint64_t)i, 3, &err),
                                 HAC_OK);
            }
            assert_int_equal(w.first_chunk, 10);
            assert_int_equal(w.n_blocks, 6);
            assert_true(w.bytes <= w.allocated && w.bytes <= splicer.capacity);
            for (size_t i = 0; i < 6; i++)
                check_block(&w, i, &r[i], big);
            assert_int_equal(hac_working_buffer_put(&w, &splicer, &block, 16, 0, &err), HAC_AGAIN);
            if (big) {
                const uint8_t *first = w.memory + hac_working_buffer_columns(&w, 5)[0].values;
                assert_int_equal((int16_t)(first[0] << 8 | first[1]), r[5].a[0]);
                hac_working_buffer_turn(&w);
                for (size_t i = 0; i < 6; i++)
                    check_block(&w, i, &r[i], false);
            }
            assert_true(hac_splicer_trigger(&splicer));
            hac_working_buffer_empty(&w);
            assert_int_equal(hac_working_buffer_put(&w, &splicer, &block, 16, 0, &err), HAC_OK);
            assert_true(hac_splicer_trigger(&splicer));
            hac_working_buffer_empty(&w);
            hac_launching_buffer_clear(&block);
        }
        hac_working_buffer_clear(&w);
    }
}

static void test_limits(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    static rows r;
    hac_launching_buffer block;
    hac_splicer splicer;
    hac_working_buffer w;
    assert_int_equal(hac_launching_buffer_init(&block, &schema, &err), HAC_OK);
    fill(&block, &r, 500, true);
    uint64_t bytes = hac_launching_buffer_bytes(&block);
    for (int less = 0; less < 2; less++) {
        assert_int_equal(hac_working_buffer_rule(&schema, 3, bytes - (uint64_t)less, &splicer, &err), HAC_OK);
        assert_int_equal(hac_working_buffer_init(&w, &schema, &splicer, false, &err), HAC_OK);
        assert_int_equal(hac_working_buffer_put(&w, &splicer, &block, 0, 0, &err),
                         less ? HAC_UNSUPPORTED : HAC_OK);
        assert_int_equal(splicer.pauses, 0);
        hac_working_buffer_clear(&w);
    }
    assert_true(hac_launching_buffer_memory(&block) > 0);
    hac_launching_buffer_release(&block);
    assert_int_equal(hac_launching_buffer_memory(&block), 0);
    fill(&block, &r, 20, false); /* it can still be used */
    hac_launching_buffer_clear(&block);
    assert_int_equal(hac_working_buffer_rule(&schema, UINT64_MAX / 8, 1, &splicer, &err), HAC_INVALID);
}

/* A query may read no column: count(). */
static void test_no_columns(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    const hac_schema none = {NULL, 0};
    hac_launching_buffer block;
    hac_splicer splicer;
    hac_working_buffer w;
    hac_batch batch = {.rows = 1000};
    assert_int_equal(hac_launching_buffer_init(&block, &none, &err), HAC_OK);
    assert_int_equal(hac_launching_buffer_add(&block, &batch, &err), HAC_OK);
    assert_int_equal(hac_launching_buffer_add(&block, &batch, &err), HAC_OK);
    hac_launching_buffer_seal(&block);
    assert_int_equal(hac_working_buffer_rule(&none, 2, 1000, &splicer, &err), HAC_OK);
    assert_int_equal(hac_working_buffer_init(&w, &none, &splicer, false, &err), HAC_OK);
    assert_int_equal(hac_working_buffer_put(&w, &splicer, &block, 0, 0, &err), HAC_OK);
    assert_int_equal(hac_working_buffer_put(&w, &splicer, &block, 1, 0, &err), HAC_OK);
    assert_int_equal(hac_working_buffer_put(&w, &splicer, &block, 2, 0, &err), HAC_AGAIN);
    assert_int_equal(w.records, 4000);
    assert_true(w.bytes > 0);
    hac_working_buffer_clear(&w);
    hac_launching_buffer_clear(&block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_no_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
