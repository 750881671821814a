/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the cutting of records and the writing of splits: random records of each format, in reads and splits
 * of random size. The output must equal the input, each set must start at a record, and the sets must not
 * depend on the sizes of the reads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/split_layout.h"
#include "base/test_support.h"
#include "byte_count.h"
#include "split_writer.h"

enum { TEXT_MAX = 1 << 16, SETS_MAX = 1 << 14 };

static uint64_t seed = 1;

static uint64_t random_below(uint64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % n;
}

/* ---- records and their starts ---- */

typedef struct text {
    uint8_t bytes[TEXT_MAX];
    size_t n;
    bool starts[TEXT_MAX + 1]; /* a set may start at this byte */
} text;

static void put(text *t, const void *bytes, size_t n)
{
    if (t->n + n <= TEXT_MAX) {
        memcpy(t->bytes + t->n, bytes, n);
        t->n += n;
    }
}

static void put_byte(text *t, uint8_t byte)
{
    put(t, &byte, 1);
}

static void put_from(text *t, const char *alphabet, size_t max)
{
    for (size_t n = random_below(max + 1); n > 0; n--)
        put_byte(t, (uint8_t)alphabet[random_below(strlen(alphabet))]);
}

static void put_number(text *t, uint32_t number, bool big_endian)
{
    for (int i = 0; i < 4; i++)
        put_byte(t, (uint8_t)(number >> 8 * (big_endian ? 3 - i : i)));
}

static void put_csv(text *t)
{
    for (uint64_t fields = random_below(4) + 1; fields > 0; fields--) {
        bool quoted = random_below(2) == 0;
        if (quoted)
            put_byte(t, '"');
        for (uint64_t n = random_below(8); n > 0; n--) {
            put_from(t, quoted ? "ab\n,\r" : "abc ", 6);
            if (quoted && random_below(3) == 0)
                put(t, "\"\"", 2);
        }
        if (quoted)
            put_byte(t, '"');
        put_byte(t, fields > 1 ? ',' : '\n');
    }
}

static void put_typed(text *t, int depth)
{
    static const uint8_t sizes[] = {[1] = 1, [2] = 1, [3] = 4, [4] = 8, [5] = 4, [6] = 8};
    uint64_t kind = random_below(depth < 5 ? 12 : 8);
    uint8_t code = kind == 11 ? 77 : (uint8_t)kind;
    uint64_t n = random_below(6);
    put_byte(t, code);
    if (code >= 1 && code <= 6) {
        put(t, "\x0a\x0a\x0a\xff\xff\xff\x07\x08", sizes[code]);
    } else if (code == 9) {
        while (n-- > 0)
            put_typed(t, depth + 1);
        put_byte(t, 255);
    } else if (code == 8 || code == 10) {
        put_number(t, (uint32_t)n, true);
        for (uint64_t i = code == 10 ? 2 * n : n; i > 0; i--)
            put_typed(t, depth + 1);
    } else {
        put_number(t, (uint32_t)n, true);
        put(t, "\xff\n\"  x", (size_t)n);
    }
}

static void put_record(text *t, const hac_record_rule *rule)
{
    size_t long_one = random_below(20) == 0 ? 4000 : 40;
    uint32_t length;
    switch (rule->format) {
    case HAC_INPUT_CSV:
        put_csv(t);
        break;
    case HAC_INPUT_WORDS:
        put_from(t, "abc\"", random_below(30) == 0 ? 3000 : 12);
        put_byte(t, (uint8_t) " \n\t\r\v\f"[random_below(6)]);
        break;
    case HAC_INPUT_FIXED:
        for (uint64_t i = 0; i < rule->record_bytes; i++)
            put_byte(t, (uint8_t)random_below(256));
        break;
    case HAC_INPUT_LENGTHS:
        length = (uint32_t)random_below(long_one);
        put_number(t, length, rule->big_endian);
        while (length-- > 0)
            put_byte(t, (uint8_t)random_below(256));
        break;
    case HAC_INPUT_TYPEDBYTES:
        put_typed(t, 0);
        put_typed(t, 0);
        break;
    default:
        put_from(t, "abc\"\r\t, ", long_one);
        put_byte(t, '\n');
    }
}

/* Makes a random text. A text of words may be cut after any blank, other texts at the end of a record. */
static void make_text(text *t, const hac_record_rule *rule, size_t bytes)
{
    memset(t, 0, sizeof(*t));
    t->starts[0] = true;
    while (t->n < bytes) {
        size_t before = t->n;
        put_record(t, rule);
        if (t->n >= TEXT_MAX - 8192) {
            t->n = before;
            break;
        }
        t->starts[t->n] = true;
    }
    for (size_t i = 0; rule->format == HAC_INPUT_WORDS && i < t->n; i++)
        t->starts[i + 1] |= strchr(" \n\t\r\v\f", t->bytes[i]) != NULL;
}

/* ---- writing splits ---- */

typedef struct sets {
    uint64_t end[SETS_MAX], lines[SETS_MAX]; /* lines: before the first set of the split */
    bool first[SETS_MAX];                    /* first set of a split */
    size_t n;
} sets;

static void take_split(sets *s, hac_split_writer *writer, const text *t, uint64_t *base)
{
    hac_split_sizes split = hac_split_writer_close(writer);
    hac_split_header h;
    memcpy(&h, writer->memory, sizeof(h));
    const uint64_t *starts = (const uint64_t *)(void *)(writer->memory + sizeof(h));
    assert_true(h.magic == HAC_SPLIT_MAGIC && h.text_offset + h.text_bytes == split.bytes);
    assert_true(split.bytes <= writer->capacity);
    assert_int_equal(h.n_sets, split.sets);
    assert_int_equal(starts[0], h.header_bytes);
    const uint8_t *at = writer->memory + h.text_offset;
    if (h.header_bytes > 0)
        assert_memory_equal(at, t->bytes, h.header_bytes);
    if (*base == 0)
        *base = h.header_bytes;
    for (uint32_t i = 0; i < h.n_sets; i++) {
        size_t bytes = (size_t)(starts[i + 1] - starts[i]);
        assert_memory_equal(at + starts[i], t->bytes + *base, bytes);
        *base += bytes;
        assert_true(s->n < SETS_MAX && bytes <= split.largest);
        s->end[s->n] = *base;
        s->first[s->n] = i == 0;
        s->lines[s->n++] = i == 0 ? h.lines_before : 0;
    }
}

static uint8_t *memory_for(uint8_t **memory, size_t bytes)
{
    uint8_t *old = *memory;
    *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(*memory);
    return old;
}

/* Writes a whole text into splits of about `split` bytes. A read has at most `piece` bytes; 0 means as
 * much as fits. */
static void fill_all(const text *t, const hac_record_rule *rule, bool header, size_t piece, size_t split,
                     sets *ret)
{
    hac_split_writer writer;
    hac_split_writer_state state;
    hac_error err = HAC_ERROR_NONE;
    uint8_t *memory = NULL;
    size_t fed = 0, capacity = (size_t)hac_split_writer_bytes(split);
    uint64_t base = 0, free_bytes;
    ret->n = 0;
    hac_split_writer_init(&writer, rule, header);
    (void)memory_for(&memory, capacity);
    hac_split_writer_memory(&writer, memory, capacity);
    hac_split_writer_begin(&writer);
    for (;;) {
        if (hac_split_writer_cut(&writer, &state, &err) != HAC_OK)
            fail_msg("%s", err.message);
        if (state == HAC_SPLIT_WRITER_ENDED)
            break;
        if (state == HAC_SPLIT_WRITER_MORE) {
            uint8_t *at = hac_split_writer_space(&writer, &free_bytes);
            size_t n = t->n - fed < free_bytes ? t->n - fed : (size_t)free_bytes;
            if (piece > 0 && n > piece)
                n = random_below(piece) + 1;
            memcpy(at, t->bytes + fed, n);
            fed += n;
            hac_split_writer_read(&writer, n);
            if (n == 0)
                hac_split_writer_end(&writer);
            continue;
        }
        if (state == HAC_SPLIT_WRITER_FULL)
            take_split(ret, &writer, t, &base);
        size_t needs = (size_t)hac_split_writer_needs(&writer);
        capacity = state == HAC_SPLIT_WRITER_GROW ? 2 * writer.capacity
                   : needs > capacity             ? needs + 64
                                                  : capacity;
        if (random_below(2) == 0 && capacity <= writer.capacity) {
            hac_split_writer_memory(&writer, memory, writer.capacity); /* reuse the memory */
        } else {
            uint8_t *old = memory_for(&memory, capacity);
            hac_split_writer_memory(&writer, memory, capacity);
            free(old);
        }
        capacity = (size_t)hac_split_writer_bytes(split);
    }
    if (hac_split_writer_due(&writer))
        take_split(ret, &writer, t, &base);
    assert_int_equal(fed, t->n);
    assert_int_equal(base, t->n);
    hac_split_writer_clear(&writer);
    free(memory);
}

static uint64_t lines_of(const text *t, const hac_record_rule *rule, uint64_t end)
{
    uint64_t count = 0;
    bool records = rule->format == HAC_INPUT_FIXED || rule->format == HAC_INPUT_LENGTHS ||
                   rule->format == HAC_INPUT_TYPEDBYTES;
    for (uint64_t i = 0; i < end; i++)
        count += records ? t->starts[i] : t->bytes[i] == '\n';
    return count;
}

static void check_sets(const text *t, const hac_record_rule *rule, const sets *s, uint64_t header)
{
    uint64_t start = header;
    for (size_t i = 0; i < s->n; i++) {
        bool one = true;
        assert_true(t->starts[start]);
        for (uint64_t k = start + 1; k < s->end[i]; k++)
            one &= !t->starts[k];
        if (s->end[i] - start > rule->set_bytes && !one)
            fail_msg("a set of %llu bytes at %llu", (unsigned long long)(s->end[i] - start),
                     (unsigned long long)start);
        if (s->first[i])
            assert_int_equal(s->lines[i], lines_of(t, rule, start));
        start = s->end[i];
    }
}

static void test_random(void **state)
{
    (void)state;
    static const hac_input_format formats[] = {HAC_INPUT_CSV,   HAC_INPUT_TSV,     HAC_INPUT_JSONL,
                                               HAC_INPUT_LINES, HAC_INPUT_WORDS,   HAC_INPUT_KV,
                                               HAC_INPUT_FIXED, HAC_INPUT_LENGTHS, HAC_INPUT_TYPEDBYTES};
    static text t;
    static sets one, other;
    for (size_t round = 0; round < 450; round++) {
        hac_record_rule rule = {.format = formats[round % 9],
                                .record_bytes = random_below(40) + 1,
                                .big_endian = random_below(2) == 0,
                                .set_bytes =
                                    random_below(3) == 0 ? random_below(60) + 1 : random_below(5000) + 1};
        bool delimited = rule.format == HAC_INPUT_CSV || rule.format == HAC_INPUT_TSV;
        bool header = random_below(2) == 0;
        make_text(&t, &rule, random_below(20000));
        uint64_t first = 0;
        while (delimited && header && first < t.n && !(first > 0 && t.starts[first]))
            first++;
        /* the last newline may be missing */
        if (t.n > 1 && rule.format < HAC_INPUT_FIXED && random_below(2) == 0 && !t.starts[t.n - 1] &&
            t.bytes[t.n - 1] == '\n')
            t.n--;
        fill_all(&t, &rule, header, 0, (size_t)TEXT_MAX, &one);
        if (t.n > first)
            check_sets(&t, &rule, &one, first);
        for (int again = 0; again < 3; again++) {
            fill_all(&t, &rule, header, random_below(again == 0 ? 3 : 3000) + 1, random_below(9000) + 1,
                     &other);
            assert_int_equal(one.n, other.n);
            assert_memory_equal(one.end, other.end, one.n * sizeof(one.end[0]));
            if (t.n > first)
                check_sets(&t, &rule, &other, first);
        }
    }
}

/* ---- single cases ---- */

static hac_status cut_all(const hac_record_rule *rule, const void *bytes, size_t n, hac_record_cut *cut,
                          uint64_t *ends, size_t *ret_n, hac_error *err)
{
    hac_record_view view = {bytes, 0, n, true};
    hac_status status;
    *ret_n = 0;
    hac_record_cut_begin(cut, rule);
    while ((status = hac_record_cut_next(cut, &view, &ends[*ret_n], err)) == HAC_OK)
        ++*ret_n;
    return status;
}

static void test_ragged(void **state)
{
    (void)state;
    static const struct {
        hac_record_rule rule;
        const char *bytes;
        size_t n, n_sets, end;
        bool ragged;
    } cases[] = {
        {{HAC_INPUT_FIXED, 4, false, 100}, "abcdabcda", 9, 1, 8, true},
        {{HAC_INPUT_FIXED, 4, false, 100}, "abcdabcd", 8, 1, 8, false},
        {{HAC_INPUT_FIXED, 4, false, 8}, "abcdabcda", 9, 1, 8, true},
        {{HAC_INPUT_LENGTHS, 0, true, 100}, "\0\0\0\1a\0\0\0\2b", 10, 1, 10, true},
        {{HAC_INPUT_LENGTHS, 0, true, 100}, "\0\0\0\1a\0\0", 7, 1, 7, true},
        {{HAC_INPUT_LENGTHS, 0, false, 5}, "\1\0\0\0a\0\0\0\0", 9, 2, 9, false},
        {{HAC_INPUT_TYPEDBYTES, 0, false, 100}, "\1a\1b\1a", 6, 1, 6, true},
        {{HAC_INPUT_TYPEDBYTES, 0, false, 100}, "\1a\1b", 4, 1, 4, false},
        {{HAC_INPUT_CSV, 0, false, 100}, "a\n\"b\n", 5, 1, 5, true},
        {{HAC_INPUT_LINES, 0, false, 100}, "a\nb", 3, 1, 3, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hac_record_cut cut;
        uint64_t ends[8];
        size_t n;
        assert_int_equal(cut_all(&cases[i].rule, cases[i].bytes, cases[i].n, &cut, ends, &n, NULL),
                         HAC_NOT_FOUND);
        assert_int_equal(n, cases[i].n_sets);
        assert_int_equal(ends[n - 1], cases[i].end);
        assert_int_equal(cut.ragged, cases[i].ragged);
    }
}

static void fails(const hac_record_rule *rule, const void *bytes, size_t n, const char *says)
{
    hac_record_cut cut;
    uint64_t ends[64];
    size_t n_sets;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(cut_all(rule, bytes, n, &cut, ends, &n_sets, &err), HAC_FAILED);
    hac_test_assert_says(err.message, says);
}

static void test_errors(void **state)
{
    (void)state;
    const hac_record_rule typed = {HAC_INPUT_TYPEDBYTES, 0, false, 100};
    const hac_record_rule lengths = {HAC_INPUT_LENGTHS, 0, true, 100};
    uint8_t deep[200];
    memset(deep, 9, sizeof(deep));
    fails(&typed, "\1a\1b\1a\x0b", 7, "record 2, at byte 4: 11 at byte 6 is no type");
    fails(&typed, "\xff", 1, "record 1, at byte 0: 255 at byte 0 is no type");
    fails(&typed, "\7\xff\xff\xff\xff", 5, "negative");
    fails(&typed, deep, sizeof(deep), "64 deep");
    fails(&typed, "\7\x7f\xff\xff\xff", 5, "longer than 64 MiB");
    fails(&lengths, "\0\0\0\0\4\0\0\1", 8, "record 2, at byte 4: a record is longer than 64 MiB");
    size_t n = (size_t)HAC_RECORD_MAX + 100;
    char *large = malloc(n);
    assert_non_null(large);
    memset(large, 'x', n);
    memcpy(large, "a\nb\n\"", 5);
    large[n - 1] = '\n';
    fails(&(hac_record_rule){HAC_INPUT_CSV, 0, false, 1 << 20}, large, n,
          "line 3: a record is longer than 64 MiB: perhaps a quoted field is not closed");
    fails(&(hac_record_rule){HAC_INPUT_JSONL, 0, false, 1 << 20}, large, n,
          "line 3: a record is longer than 64 MiB");
    fails(&(hac_record_rule){HAC_INPUT_WORDS, 0, false, 1 << 20}, large, n, "line 3: a word is longer");
    large[HAC_RECORD_MAX + 3] = '\n'; /* a record of max size */
    hac_record_cut cut;
    uint64_t ends[8];
    size_t n_sets;
    const hac_record_rule lines = {HAC_INPUT_LINES, 0, false, 1 << 20};
    assert_int_equal(cut_all(&lines, large, n, &cut, ends, &n_sets, NULL), HAC_NOT_FOUND);
    assert_int_equal(n_sets, 3);
    memcpy(large, "\4\0\0\0", 4);
    assert_int_equal(cut_all(&lengths, large, HAC_RECORD_MAX + 4, &cut, ends, &n_sets, NULL), HAC_NOT_FOUND);
    assert_true(n_sets == 1 && !cut.ragged);
    free(large);
}

/* The maximum nesting of a value of backends/query, and one level more. */
static void test_depth(void **state)
{
    (void)state;
    const hac_record_rule rule = {HAC_INPUT_TYPEDBYTES, 0, false, 1 << 20};
    uint8_t bytes[2 * HAC_TYPED_DEPTH_MAX + 4];
    for (size_t depth = HAC_TYPED_DEPTH_MAX; depth <= HAC_TYPED_DEPTH_MAX + 1; depth++) {
        hac_record_cut cut;
        uint64_t ends[2];
        size_t n;
        memset(bytes, 9, depth);
        memset(bytes + depth, 255, depth);
        memcpy(bytes + 2 * depth, "\1a", 2);
        hac_status status = cut_all(&rule, bytes, 2 * depth + 2, &cut, ends, &n, NULL);
        assert_int_equal(status, depth == HAC_TYPED_DEPTH_MAX ? HAC_NOT_FOUND : HAC_FAILED);
        assert_true(status == HAC_FAILED || (n == 1 && !cut.ragged));
    }
}

static void test_early(void **state)
{
    (void)state;
    hac_record_cut cut;
    uint64_t end = 0;
    hac_record_cut_begin(&cut, &(hac_record_rule){HAC_INPUT_CSV, 0, false, 1 << 20});
    hac_record_view view = {(const uint8_t *)"a,b\n\"c\nd", 0, 8, false};
    assert_int_equal(hac_record_cut_next(&cut, &view, &end, NULL), HAC_AGAIN);
    assert_int_equal(hac_record_cut_early(&cut, &view, &end), HAC_OK);
    assert_true(end == 4 && cut.start == 4 && cut.lines == 1);
    assert_int_equal(hac_record_cut_next(&cut, &view, &end, NULL), HAC_AGAIN);
    assert_int_equal(hac_record_cut_early(&cut, &view, &end), HAC_NOT_FOUND);
    hac_record_cut_begin(&cut, &(hac_record_rule){HAC_INPUT_FIXED, 3, false, 1 << 20});
    assert_int_equal(hac_record_cut_next(&cut, &view, &end, NULL), HAC_AGAIN);
    assert_int_equal(hac_record_cut_early(&cut, &view, &end), HAC_OK);
    assert_true(end == 6 && cut.lines == 2);
    assert_int_equal(hac_record_cut_early(&cut, &view, &end), HAC_NOT_FOUND);
    hac_record_cut_begin(&cut, &(hac_record_rule){HAC_INPUT_LENGTHS, 0, true, 1 << 20});
    view.data = (const uint8_t *)"\0\0\0\1x\0\0\0";
    assert_int_equal(hac_record_cut_next(&cut, &view, &end, NULL), HAC_AGAIN);
    assert_int_equal(hac_record_cut_early(&cut, &view, &end), HAC_OK);
    assert_true(end == 5 && cut.lines == 1);
}

/* The writer drops a byte order mark at the start, wherever the first read ends. The format words keeps the
 * mark. */
static void test_marks(void **state)
{
    (void)state;
    static text with, without;
    static sets s;
    const hac_record_rule rule = {HAC_INPUT_CSV, 0, false, 100};
    for (size_t piece = 1; piece < 6; piece++) {
        memset(&without, 0, sizeof(without));
        put(&without, "a,b\n1,2\n", 8);
        hac_split_writer writer;
        hac_split_writer_state at;
        uint8_t memory[16384] __attribute__((aligned(64)));
        put(&with,
            "\xef\xbb\xbf"
            "a,b\n1,2\n",
            with.n == 0 ? 11 : 0);
        hac_split_writer_init(&writer, &rule, true);
        hac_split_writer_memory(&writer, memory, sizeof(memory));
        hac_split_writer_begin(&writer);
        uint64_t capacity, base = 0;
        for (size_t fed = 0;
             hac_split_writer_cut(&writer, &at, NULL) == HAC_OK && at == HAC_SPLIT_WRITER_MORE;) {
            size_t n = with.n - fed < piece ? with.n - fed : piece;
            memcpy(hac_split_writer_space(&writer, &capacity), with.bytes + fed, n);
            fed += n;
            hac_split_writer_read(&writer, n);
            if (n == 0)
                hac_split_writer_end(&writer);
        }
        assert_int_equal(at, HAC_SPLIT_WRITER_ENDED);
        s.n = 0;
        take_split(&s, &writer, &without, &base);
        assert_int_equal(base, 8);
        hac_split_writer_clear(&writer);
    }
}

static void test_record_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *schema;
        uint64_t bytes;
        const char *says;
    } cases[] = {
        {"a:i64", 8, NULL},
        {"a:i64,b:u8, c : f32", 13, NULL},
        {"\"a,b:c\":i16,\"x\"\"y\":DECIMAL( 15 , 2 ),z:decimal(38,3)", 26, NULL},
        {"d:date,t:timestamp,b:bool", 13, NULL},
        {"a:string", 0, "column 1: records of fixed width have no strings"},
        {"a:i64,b", 0, "column 2 has no type"},
        {"a:i64,b:int128x", 0, "column 2"},
        {"", 0, "need a schema"},
        {NULL, 0, "need a schema"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t bytes = 0;
        hac_error err = HAC_ERROR_NONE;
        hac_status status = hac_record_bytes(cases[i].schema, &bytes, &err);
        assert_int_equal(status, cases[i].says == NULL ? HAC_OK : HAC_INVALID);
        if (cases[i].says == NULL)
            assert_int_equal(bytes, cases[i].bytes);
        else
            hac_test_assert_says(err.message, cases[i].says);
    }
}

static void test_counts(void **state)
{
    (void)state;
    static uint8_t bytes[20000];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t) "\n\"xy"[random_below(4)];
    for (size_t round = 0; round < 300; round++) {
        size_t from = random_below(70), n = round < 200 ? round : random_below(sizeof(bytes) - from);
        hac_byte_counts wanted = {0, 0};
        for (size_t i = from; i < from + n; i++) {
            wanted.newlines += bytes[i] == '\n';
            wanted.quotes += bytes[i] == '"';
        }
        hac_byte_counts counts = hac_byte_count_text(bytes + from, n);
        assert_true(counts.newlines == wanted.newlines && counts.quotes == wanted.quotes);
        assert_int_equal(hac_byte_count_lines(bytes + from, n), wanted.newlines);
    }
    memset(bytes, '\n', sizeof(bytes)); /* counters must not overflow */
    assert_int_equal(hac_byte_count_lines(bytes, sizeof(bytes)), sizeof(bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),       cmocka_unit_test(test_ragged), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_depth),        cmocka_unit_test(test_early),  cmocka_unit_test(test_marks),
        cmocka_unit_test(test_record_bytes), cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
