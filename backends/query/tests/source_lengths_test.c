/* SPDX-License-Identifier: Apache-2.0 */
/* Records that begin with their length, and records of fixed width, in both byte orders. */
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "source_support.h"

#define ALL_KINDS                                                                                            \
    "a:i8 b:u16 c:i32 d:f64 e:bool f:date g:decimal(4,1) h:decimal(20,0) i:f32 j:u64 k:timestamp l:i16 "     \
    "m:u32 n:u8 o:i64"
#define ALL_BYTES (1 + 2 + 4 + 8 + 1 + 4 + 8 + 16 + 4 + 8 + 8 + 2 + 4 + 1 + 8)

/* Row `i` of ALL_KINDS, and the text of its values. */
static void put_all_kinds(hac_text *data, bool big, uint64_t i, hac_text *wanted)
{
    double real = 0.5 * (double)i;
    float narrow = (float)i + 0.25f;
    uint64_t bits;
    uint32_t narrow_bits;
    memcpy(&bits, &real, 8);
    memcpy(&narrow_bits, &narrow, 4);
    test_put(data, big, 1, -1 - (int)(i % 100));
    test_put(data, big, 2, (uint16_t)(513 + i));
    test_put(data, big, 4, -5 - (int32_t)i);
    test_put(data, big, 8, bits);
    test_put(data, big, 1, i % 3);
    test_put(data, big, 4, 18000 + (int32_t)i);
    test_put(data, big, 8, (int64_t)(i % 9999) - 5000);
    test_put(data, big, 16, -1 - (__int128)i * 1000000007);
    test_put(data, big, 4, narrow_bits);
    test_put(data, big, 8, UINT64_MAX - i);
    test_put(data, big, 8, INT64_MIN + (int64_t)i);
    test_put(data, big, 2, (int16_t)-300);
    test_put(data, big, 4, UINT32_MAX);
    test_put(data, big, 1, 200);
    test_put(data, big, 8, -((int64_t)i << 33));
    __int128 wide = -1 - (__int128)i * 1000000007;
    hac_text_addf(wanted, "%d|%u|%d|%.17g|%s|%d|%lld|%lld:%llu|%.9g|%llu|%lld|-300|4294967295|200|%lld|\n",
                  -1 - (int)(i % 100), (unsigned)(uint16_t)(513 + i), -5 - (int)i, real,
                  i % 3 != 0 ? "true" : "false", 18000 + (int)i, (long long)(i % 9999) - 5000,
                  (long long)(wide >> 64), (unsigned long long)wide, (double)narrow,
                  (unsigned long long)(UINT64_MAX - i), (long long)(INT64_MIN + (int64_t)i),
                  -((long long)i << 33));
}

static void end_text(hac_text *text)
{
    hac_text_add_bytes(text, "", 1);
    text->bytes--;
}

static void test_all_kinds(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 1023, 1024, 1025, HAC_TEST_CASES(5000, 2100)};
    for (size_t n = 0; n < 2 * sizeof counts / sizeof *counts; n++) {
        bool big = n % 2 == 1;
        size_t rows = counts[n / 2];
        hac_text fixed = HAC_TEXT_NONE, lengths = HAC_TEXT_NONE, wanted = HAC_TEXT_NONE;
        hac_autofree uint64_t *ends = calloc(rows, sizeof *ends), *fixed_ends = calloc(rows, sizeof *ends);
        for (size_t i = 0; i < rows; i++) {
            size_t at = fixed.bytes;
            put_all_kinds(&fixed, big, i, &wanted);
            test_put_text(&lengths, big, fixed.data + at, fixed.bytes - at);
            ends[i] = lengths.bytes;
            fixed_ends[i] = fixed.bytes;
        }
        end_text(&wanted);
        test_query q;
        test_query_make(&q, HAC_INPUT_FIXED, false, ALL_KINDS);
        assert_int_equal(q.query.schema_columns, ALL_BYTES);
        q.query.source.options.big_endian = big;
        test_check_records(&q.query, &fixed, fixed_ends, rows, wanted.data);
        test_query_make(&q, HAC_INPUT_LENGTHS, false, ALL_KINDS);
        q.query.source.options.big_endian = big;
        test_check_records(&q.query, &lengths, ends, rows, wanted.data);
        hac_text_clear(&fixed);
        hac_text_clear(&lengths);
        hac_text_clear(&wanted);
    }
}

/* The schema's default. */
static void test_whole_records(void **state)
{
    (void)state;
    hac_text data = HAC_TEXT_NONE;
    test_put_text(&data, false, "", 0);
    test_put_text(&data, false, "abc", 3);
    test_put_text(&data, false, "\0\n\"", 3);
    test_query q;
    test_query_make(&q, HAC_INPUT_LENGTHS, false, "record:string");
    uint64_t ends[] = {4, 11, 18};
    test_reading reading = {.data = data.data, .bytes = 11};
    hac_autofree char *got = test_read(&q.query, &reading);
    assert_string_equal(got, "<0:>|\n<3:abc>|\n");
    q.fields[0].type.kind = HAC_KIND_BYTES;
    data.bytes = 11;
    test_check_records(&q.query, &data, ends, 2, "<0:>|\n<3:abc>|\n");
    data.bytes = 0;
    test_check_records(&q.query, &data, ends, 0, "");
    hac_text_clear(&data);
}

static void test_not_cut(void **state)
{
    (void)state;
    static const hac_input_format formats[] = {HAC_INPUT_LENGTHS, HAC_INPUT_TYPEDBYTES};
    test_query q;
    for (size_t i = 0; i < 2; i++) {
        test_query_make(&q, formats[i], false, "a:string");
        test_reading reading = {.data = "\0\0\0\0\0\0\0\0\0\0", .bytes = 10, .chunk = 5};
        hac_autofree char *got = test_read(&q.query, &reading);
        if (strstr(got, "cannot be cut into chunks, as records are found from its start only: read it with "
                        "`hacctl splice`") == NULL)
            fail_msg("%s", got);
    }
}

/* a:i32 b:string c:u8 d:i16 e:string f:i64 g:string, of random lengths; some long enough to lie across
 * windows. */
typedef struct made {
    hac_text data, wanted, some; /* `some`: columns b, d and g */
    uint64_t *ends;
    size_t n;
} made;

static void add_text(hac_text *data, hac_text *shown, bool big, bool own_length, size_t bytes, uint64_t v)
{
    hac_autofree char *text = malloc(bytes + 1);
    assert_non_null(text);
    memset(text, 'a' + (int)(v % 26), bytes);
    text[bytes] = 0;
    if (own_length)
        test_put_text(data, big, text, bytes);
    else
        hac_text_add_bytes(data, text, bytes);
    hac_text_addf(shown, "<%zu:%s>|", bytes, text);
}

static void make_record(made *m, bool big, uint64_t v, size_t longest)
{
    hac_text record = HAC_TEXT_NONE, b = HAC_TEXT_NONE, e = HAC_TEXT_NONE, g = HAC_TEXT_NONE;
    test_put(&record, big, 4, (int32_t)v);
    add_text(&record, &b, big, true, v % longest, v);
    test_put(&record, big, 1, (uint8_t)v);
    test_put(&record, big, 2, (int16_t)(v >> 8));
    add_text(&record, &e, big, true, v % 7, v + 1);
    test_put(&record, big, 8, (int64_t)v);
    add_text(&record, &g, big, false, v % 5, v + 2);
    test_put_text(&m->data, big, record.data, record.bytes);
    hac_text_addf(&m->wanted, "%d|%s%u|%d|%s%lld|%s\n", (int32_t)v, b.data, (uint8_t)v, (int16_t)(v >> 8),
                  e.data, (long long)v, g.data);
    hac_text_addf(&m->some, "%s%d|%s\n", b.data, (int16_t)(v >> 8), g.data);
    m->ends[m->n++] = m->data.bytes;
    hac_text_clear(&record);
    hac_text_clear(&b);
    hac_text_clear(&e);
    hac_text_clear(&g);
}

static void make_records(made *m, bool big, size_t n, size_t longest, uint64_t seed)
{
    *m = (made){.data = HAC_TEXT_NONE, .wanted = HAC_TEXT_NONE, .some = HAC_TEXT_NONE};
    m->ends = calloc(n, sizeof *m->ends);
    assert_non_null(m->ends);
    while (m->n < n)
        make_record(m, big, hac_random_u64(&seed), longest);
    end_text(&m->wanted);
    end_text(&m->some);
}

static void free_records(made *m)
{
    hac_text_clear(&m->data);
    hac_text_clear(&m->wanted);
    hac_text_clear(&m->some);
    free(m->ends);
}

static void test_texts(void **state)
{
    (void)state;
    static const struct {
        size_t n, longest;
    } sizes[] = {{1, 10},
                 {1023, 3},
                 {1024, 3},
                 {1025, 3},
                 {HAC_TEST_CASES(10000, 3000), 40},
                 {HAC_TEST_CASES(3000, 800), 1000},
                 {8, 600000}};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        bool big = i % 2 == 1;
        made m;
        make_records(&m, big, sizes[i / 2].n, sizes[i / 2].longest, 77 + i);
        test_query q;
        test_query_make(&q, HAC_INPUT_LENGTHS, false, "a:i32 b:string c:u8 d:i16 e:string f:i64 g:string");
        q.query.source.options.big_endian = big;
        test_check_records(&q.query, &m.data, m.ends, m.n, m.wanted.data);
        static const size_t read[] = {1, 3, 6};
        for (size_t c = 0; c < 3; c++) {
            q.fields[c] = q.fields[read[c]];
            q.positions[c] = (uint16_t)read[c];
        }
        q.query.columns.n_fields = 3;
        test_check_records(&q.query, &m.data, m.ends, m.n, m.some.data);
        free_records(&m);
    }
}

/* Records end at all places of a window's last bytes. */
static void test_window_ends(void **state)
{
    (void)state;
    const size_t block = (1u << 18) + 4096;
    test_query q;
    test_query_make(&q, HAC_INPUT_LENGTHS, false, "a:string b:u8 c:string");
    hac_autofree char *filler = calloc(block, 1);
    assert_non_null(filler);
    memset(filler, 'x', block - 1);
    for (size_t less = 0; less < 20; less++) {
        hac_text data = HAC_TEXT_NONE, wanted = HAC_TEXT_NONE;
        uint64_t ends[6];
        size_t bytes = block - less - 9;
        test_put(&data, false, 4, (__int128)bytes + 5);
        test_put_text(&data, false, filler, bytes);
        test_put(&data, false, 1, 7);
        hac_text_addf(&wanted, "<%zu:%.*s>|7|<0:>|\n", bytes, (int)bytes, filler);
        ends[0] = data.bytes;
        for (int i = 1; i < 6; i++) {
            test_put(&data, false, 4, 9);
            test_put_text(&data, false, "ab", 2);
            test_put(&data, false, 1, i);
            hac_text_add_bytes(&data, "cd", 2);
            hac_text_addf(&wanted, "<2:ab>|%d|<2:cd>|\n", i);
            ends[i] = data.bytes;
        }
        test_check_records(&q.query, &data, ends, 6, wanted.data);
        hac_text_clear(&data);
        hac_text_clear(&wanted);
    }
}

/* A record may have 64 MiB, but not a byte more. */
static void test_largest(void **state)
{
    (void)state;
    const size_t max = (size_t)64 << 20;
    test_query q;
    test_query_make(&q, HAC_INPUT_LENGTHS, false, "a:string");
    for (size_t over = 0; over < 2; over++) {
        hac_autofree char *data = calloc(1, max + over + 20);
        uint32_t length = 3, large = (uint32_t)(max + over);
        assert_non_null(data);
        memcpy(data, &length, 4);
        memcpy(data + 7, &large, 4);
        memcpy(data + 11 + large, &length, 4);
        hac_source_place place = {.fd = -1, .memory = (uint8_t *)data, .bytes = max + over + 18};
        hac_source *source = NULL;
        hac_batch batch;
        hac_error err = HAC_ERROR_NONE;
        assert_int_equal(hac_source_open(&q.query, &place, NULL, &source, &err), HAC_OK);
        assert_int_equal(hac_source_begin(source, 0, place.bytes, false, &err), HAC_OK);
        assert_int_equal(hac_source_next(source, &batch, &err), HAC_OK);
        assert_int_equal(batch.rows, 1);
        if (over == 0) {
            assert_int_equal(hac_source_next(source, &batch, &err), HAC_OK);
            assert_int_equal(batch.rows, 1);
            assert_int_equal(((hac_string_ref *)batch.columns->values)->length, max);
            assert_int_equal(hac_source_next(source, &batch, &err), HAC_OK);
            assert_int_equal(batch.rows, 1);
            assert_int_equal(hac_source_next(source, &batch, &err), HAC_NOT_FOUND);
        } else {
            assert_int_equal(hac_source_next(source, &batch, &err), HAC_FAILED);
            assert_string_equal(err.message,
                                "record 2: its length is 67108865 bytes, and a record has at most "
                                "64 MiB (are lengths big-endian?)");
        }
        hac_source_free(source);
    }
}

/* Bad records between good ones, at every place of batches. */
static void test_skipping(void **state)
{
    (void)state;
    hac_text data = HAC_TEXT_NONE, wanted = HAC_TEXT_NONE;
    const size_t n = 6000;
    hac_autofree uint64_t *ends = calloc(n, sizeof *ends);
    size_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        /* a byte too few or too many, or a decimal with too many digits */
        if (i % 1000 < 500 && i % 3 == 0) {
            size_t bytes = i % 2 == 0 ? 11 : 13;
            test_put(&data, true, 4, bytes == 11 && i % 4 == 0 ? 12 : (__int128)bytes);
            if (bytes == 11 && i % 4 == 0) {
                test_put(&data, true, 8, 1000 + (int)i);
                test_put(&data, true, 4, 1);
            } else {
                hac_text_add_bytes(&data, "0123456789abcdef", bytes);
            }
            bad++;
        } else {
            test_put(&data, true, 4, 12);
            test_put(&data, true, 8, (int)(i % 1000));
            test_put(&data, true, 4, (int)i);
            hac_text_addf(&wanted, "%zu|%zu|\n", i % 1000, i);
        }
        ends[i] = data.bytes;
    }
    hac_text_addf(&wanted, "skipped: %zu", bad);
    test_query q;
    test_query_make(&q, HAC_INPUT_LENGTHS, false, "a:decimal(3,0) b:i32");
    q.query.source.options.big_endian = q.query.source.options.skip_errors = true;
    test_check_records(&q.query, &data, ends, n, wanted.data);
    q.query.source.options.skip_errors = false;
    test_reading reading = {.data = data.data, .bytes = data.bytes};
    hac_autofree char *got = test_read(&q.query, &reading);
    assert_string_equal(got, "error: record 1, column a: the value has more than 3 digits");
    hac_text_clear(&data);
    hac_text_clear(&wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kinds), cmocka_unit_test(test_whole_records),
        cmocka_unit_test(test_texts),     cmocka_unit_test(test_window_ends),
        cmocka_unit_test(test_largest),   cmocka_unit_test(test_not_cut),
        cmocka_unit_test(test_skipping),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
