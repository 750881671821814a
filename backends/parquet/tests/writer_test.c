/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the writer that writer_test.py cannot reach: failures, runs of every width compared with the
 * reader's decoder, colliding values. */
#include "base/test_support.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "parquet/writer.h"
#include "read/rle_hybrid.h"
#include "write/dictionary_writer.h"
#include "write/hybrid_writer.h"
#include "write/min_max.h"

static hac_field fields[] = {{.name = "a", .type = {.kind = HAC_KIND_I64}},
                             {.name = "b", .type = {.kind = HAC_KIND_STRING}}};
static const hac_schema schema = {.fields = fields, .n_fields = 2};

/* A sink that fails at its n-th call. */
typedef struct sink {
    unsigned calls, fails_at;
    uint64_t bytes;
} sink;

static hac_status take(void *context, const uint8_t *data, size_t bytes, hac_error *err)
{
    sink *s = context;
    assert_non_null(data);
    if (++s->calls == s->fails_at)
        return hac_fail(err, HAC_FAILED, "the disk is full");
    s->bytes += bytes;
    return HAC_OK;
}

typedef struct batch {
    int64_t numbers[HAC_BATCH_ROWS];
    hac_string_ref refs[HAC_BATCH_ROWS];
    uint8_t states[HAC_BATCH_ROWS];
    hac_column columns[2];
} batch;

static void fill(batch *b, uint64_t seed)
{
    static const uint8_t text[] = "some text of a column";
    memset(b, 0, sizeof *b);
    for (size_t i = 0; i < HAC_BATCH_ROWS; i++) {
        b->numbers[i] = (int64_t)(seed * HAC_BATCH_ROWS + i);
        b->refs[i] = (hac_string_ref){.offset = (uint32_t)i % 8, .length = (uint32_t)(i + seed) % 12};
    }
    b->columns[0] = (hac_column){.type = fields[0].type, .values = b->numbers};
    b->columns[1] =
        (hac_column){.type = fields[1].type, .values = b->refs, .states = b->states, .bytes = text};
}

static hac_parquet_writer *begin(sink *s, const hac_parquet_write_options *options)
{
    hac_parquet_writer *writer = NULL;
    assert_int_equal(hac_parquet_writer_new(&schema, 2, options, take, s, &writer, NULL), HAC_OK);
    return writer;
}

/* Whichever call of the sink fails: the writer fails, and keeps failing. */
static void test_sink(void **state)
{
    (void)state;
    const hac_parquet_write_options options = {.group_bytes = 16384, .threads = 2};
    batch b;
    for (unsigned fails_at = 1;; fails_at++) {
        sink s = {.fails_at = fails_at};
        hac_parquet_writer *writer = begin(&s, &options);
        hac_error err = HAC_ERROR_NONE;
        hac_status status = HAC_OK;
        uint64_t bytes = 0;
        for (uint64_t i = 0; i < 40 && status == HAC_OK; i++) {
            fill(&b, i);
            status = hac_parquet_writer_add(writer, b.columns, HAC_BATCH_ROWS, &err);
        }
        if (status == HAC_OK)
            status = hac_parquet_writer_end(writer, &bytes, &err);
        if (status == HAC_OK) {
            assert_int_equal(bytes, s.bytes);
            assert_true(fails_at > 20);
        } else {
            assert_string_equal(err.message, "the disk is full");
            assert_int_equal(hac_parquet_writer_end(writer, &bytes, &err), HAC_FAILED);
        }
        assert_int_equal(hac_parquet_writer_add(writer, b.columns, 1, &err), HAC_FAILED);
        hac_parquet_writer_free(writer);
        if (status == HAC_OK)
            return;
    }
}

static void test_rows_refused(void **state)
{
    (void)state;
    const hac_parquet_write_options options = {0};
    batch b;
    sink s = {0};
    hac_error err = HAC_ERROR_NONE;
    fill(&b, 0);
    hac_parquet_writer *writer = begin(&s, &options);
    assert_int_equal(hac_parquet_writer_add(writer, b.columns, 100, &err), HAC_OK);
    b.states[7] = HAC_ROW_OVERFLOW;
    assert_int_equal(hac_parquet_writer_add(writer, b.columns, 100, &err), HAC_FAILED);
    hac_test_assert_says(err.message, "row 108, column b: ");
    hac_parquet_writer_free(writer);

    writer = begin(&s, &options);
    b.states[7] = HAC_ROW_OK;
    b.refs[3].length = (1u << 30) + 1;
    assert_int_equal(hac_parquet_writer_add(writer, b.columns, 3, &err), HAC_OK);
    assert_int_equal(hac_parquet_writer_add(writer, b.columns, 4, &err), HAC_FAILED);
    hac_test_assert_says(err.message, "row 7, column b: a text of 1073741825 bytes");
    hac_parquet_writer_free(writer);
    b.states[3] = HAC_ROW_NULL; /* a null has no length */
    writer = begin(&s, &options);
    assert_int_equal(hac_parquet_writer_add(writer, b.columns, 4, &err), HAC_OK);
    hac_parquet_writer_free(writer);
}

static void refused(hac_schema s, size_t n, const char *says)
{
    const hac_parquet_write_options options = {0};
    hac_parquet_writer *writer = NULL;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_parquet_writer_new(&s, n, &options, take, NULL, &writer, &err), HAC_INVALID);
    assert_null(writer);
    hac_test_assert_says(err.message, says);
}

static void test_columns_refused(void **state)
{
    (void)state;
    hac_field twice[] = {fields[0], fields[1], fields[0]};
    hac_field bad[] = {{.name = "a\xff", .type = {.kind = HAC_KIND_I64}}};
    hac_field none[] = {{.name = "a", .type = {.kind = HAC_KIND_NONE}}};
    refused(schema, 0, "needs a column");
    refused(schema, 3, "needs a column");
    refused((hac_schema){.fields = twice, .n_fields = 3}, 3, "two columns have the name a");
    refused((hac_schema){.fields = bad, .n_fields = 1}, 1, "is not UTF-8");
    refused((hac_schema){.fields = none, .n_fields = 1}, 1, "has no type");
}

/* ---- runs, against the reader -------------------------------------------------------------------------- */

/* Numbers of that many bits: runs and single numbers, alternating. */
static void draw(uint64_t seed, unsigned width, size_t n, uint32_t *ret)
{
    uint64_t random = seed, max = (UINT64_C(1) << width) - 1;
    for (size_t i = 0; i < n;) {
        uint64_t word = hac_random_u64(&random);
        size_t run = word % 3 == 0 ? 1 + (word >> 8) % 40 : 1;
        for (; run > 0 && i < n; run--)
            ret[i++] = (uint32_t)((word >> 20) & max);
    }
}

static void check_codes(unsigned width, size_t n, uint64_t seed)
{
    static uint32_t codes[3000 + 8], got[3000 + 32];
    static const uint8_t slack[64];
    hac_bytes out = {0};
    hac_parquet_hybrid reader;
    uint32_t copy[3000];
    draw(seed, width, n, codes);
    memcpy(copy, codes, n * sizeof *codes);
    assert_true(hac_hybrid_codes(&out, codes, n, width));
    size_t bytes = out.n;
    assert_true(hac_bytes_add(&out, slack, sizeof slack));
    assert_null(hac_parquet_hybrid_begin(&reader, hac_parquet_kernels_get(), width, out.data, bytes));
    assert_null(hac_parquet_hybrid_get(&reader, n, got));
    assert_memory_equal(got, copy, n * sizeof *got);
    hac_bytes_clear(&out);
}

static void test_codes(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 1000, 3000};
    for (unsigned width = 1; width <= 32; width++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            check_codes(width, sizes[i], width * 100 + i);
    }
}

static void test_levels(void **state)
{
    (void)state;
    static const uint8_t slack[64];
    for (size_t n = 1; n < 300; n++) {
        uint32_t drawn[300], got[300 + 32];
        uint8_t levels[300];
        hac_bytes out = {0};
        hac_parquet_hybrid reader;
        draw(n, 1, n, drawn);
        for (size_t i = 0; i < n; i++)
            levels[i] = (uint8_t)drawn[i];
        memset(levels + n, 0xff, sizeof levels - n); /* must not matter */
        assert_true(hac_hybrid_levels(&out, levels, n));
        size_t bytes = out.n;
        assert_true(hac_bytes_add(&out, slack, sizeof slack));
        assert_null(hac_parquet_hybrid_begin(&reader, hac_parquet_kernels_get(), 1, out.data, bytes));
        assert_null(hac_parquet_hybrid_get(&reader, n, got));
        assert_memory_equal(got, drawn, n * sizeof *got);
        hac_bytes_clear(&out);
    }
}

/* ---- dictionaries -------------------------------------------------------------------------------------- */

/* Values that all collide: the dictionary gives up instead of searching. */
static void test_collisions(void **state)
{
    (void)state;
    uint64_t multiplier = 0x9e3779b97f4a7c15ull, inverse = multiplier;
    for (int i = 0; i < 6; i++)
        inverse *= 2 - multiplier * inverse;
    static uint64_t values[20000];
    static uint32_t codes[20000];
    for (size_t i = 0; i < 20000; i++) {
        uint64_t mixed = (i + 1) * inverse; /* × multiplier: i + 1, without bits in its upper half */
        values[i] = mixed ^ mixed >> 32;
    }
    hac_dictionary_writer d = {.width = 8, .limit = 1 << 20};
    size_t coded = hac_dictionary_codes(&d, values, 20000, codes);
    assert_in_range(coded, 100, 200);
    for (size_t i = 0; i < coded; i++)
        assert_int_equal(codes[i], i);
    hac_dictionary_clear(&d);
}

/* A dictionary that is cut back to any size is as it was then. */
static void test_cut(void **state)
{
    (void)state;
    static uint64_t values[3000];
    static uint32_t codes[3000], again[3000];
    hac_dictionary_writer d = {.width = 8, .limit = 1 << 20};
    uint64_t random = 5;
    for (size_t i = 0; i < 3000; i++)
        values[i] = hac_random_u64(&random) % 2000;
    assert_int_equal(hac_dictionary_codes(&d, values, 3000, codes), 3000);
    uint32_t all = d.n;
    for (uint32_t keep = 0; keep <= all; keep += 37) {
        hac_dictionary_cut(&d, keep);
        assert_int_equal(d.n, keep);
        assert_int_equal(hac_dictionary_codes(&d, values, 3000, again), 3000);
        assert_int_equal(d.n, all);
        assert_memory_equal(codes, again, sizeof codes);
    }
    hac_dictionary_clear(&d);
}

/* ---- bounds of text ------------------------------------------------------------------------------------ */

static void check_bound(const char *text, size_t bytes, const char *max, size_t max_bytes)
{
    hac_text_min_max texts = {0};
    hac_min_max e;
    hac_text_min_max_add(&texts, (const uint8_t *)text, (uint32_t)bytes);
    hac_text_min_max_end(&texts, &e);
    assert_true(e.any);
    assert_int_equal(e.max.none, max == NULL);
    if (max == NULL)
        return;
    assert_int_equal(e.max.bytes, max_bytes);
    assert_memory_equal(e.max.data, max, max_bytes);
    assert_int_equal(e.max.exact, bytes <= HAC_BOUND_BYTES);
}

static void test_bounds(void **state)
{
    (void)state;
    char text[80], want[80];
    memset(text, 'x', sizeof text);
    memset(want, 'x', sizeof want);
    check_bound(text, 64, text, 64);
    want[63] = 'y';
    check_bound(text, 65, want, 64);
    text[63] = 0x7f; /* the last ASCII character: the character before it is incremented */
    want[62] = 'y';
    check_bound(text, 65, want, 63);
    memcpy(text + 63, "\xc3\xa4", 2); /* characters are not split */
    check_bound(text, 65, want, 63);
    memcpy(text + 62, "\xc3\xa4", 2);
    memcpy(want + 62, "\xc3\xa5", 2);
    check_bound(text, 65, want, 64);
    memset(text, 0xff, sizeof text);
    check_bound(text, 65, NULL, 0);
    for (size_t i = 0; i < 80; i += 4)
        memcpy(text + i, "\xf4\x8f\xbf\xbf", 4);
    check_bound(text, 80, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sink),
        cmocka_unit_test(test_rows_refused),
        cmocka_unit_test(test_columns_refused),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_collisions),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
