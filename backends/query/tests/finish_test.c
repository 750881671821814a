/* SPDX-License-Identifier: Apache-2.0 */
/* Rows in regions: their order and the result, compared with qsort over the same rows. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/query_layout.h"
#include "base/random.h"
#include "base/table.h"
#include "base/test_support.h"
#include "codelet/threads.h"
#include "query/finish.h"

#define COLUMNS 4 /* i64, f64, string, hidden bool */

static uint64_t random_state = 9;
static bool no_nulls; /* in the rows that are made */

typedef struct row {
    uint8_t null[COLUMNS];
    int64_t i;
    double d;
    char s[24];
    bool b;
    size_t number;
} row;

typedef struct made {
    row *rows;
    size_t n;
    hac_field fields[COLUMNS];
    hac_query query;
    hac_order_item order[COLUMNS];
    uint8_t *region;
    uint64_t bytes;
    hac_rows_reader reader;
} made;

static const hac_order_item *sorting_by;
static size_t sorting_items;

static int compare_column(const row *a, const row *b, unsigned c)
{
    if (c == 0)
        return (a->i > b->i) - (a->i < b->i);
    if (c == 1 && (isnan(a->d) || isnan(b->d)))
        return isnan(a->d) - isnan(b->d);
    if (c == 1)
        return (a->d > b->d) - (a->d < b->d);
    return c == 2 ? strcmp(a->s, b->s) : a->b - b->b;
}

static int compare(const void *p, const void *q)
{
    const row *a = p, *b = q;
    for (size_t k = 0; k < sorting_items; k++) {
        unsigned c = sorting_by[k].column;
        int order;
        if (a->null[c] || b->null[c])
            order = a->null[c] - b->null[c];
        else
            order = (sorting_by[k].descending ? -1 : 1) * compare_column(a, b, c);
        if (order != 0)
            return order;
    }
    return (a->number > b->number) - (a->number < b->number);
}

static void write_region(made *m, uint64_t capacity)
{
    static _Alignas(64) uint64_t values[COLUMNS][HAC_BATCH_ROWS];
    static uint8_t states[COLUMNS][HAC_BATCH_ROWS], bytes[24 * HAC_BATCH_ROWS];
    hac_rows_writer w;
    hac_column v[COLUMNS];
    m->region = aligned_alloc(64, capacity);
    hac_rows_begin(&w, m->region, capacity, 77, 5);
    for (size_t first = 0, n; first < m->n; first += n) {
        n = 1 + hac_random_u64(&random_state) % HAC_BATCH_ROWS;
        n = n < m->n - first ? n : m->n - first;
        for (size_t c = 0; c < COLUMNS; c++)
            v[c] = (hac_column){
                .type = m->fields[c].type, .values = values[c], .states = states[c], .bytes = bytes};
        for (size_t i = 0; i < n; i++) {
            const row *r = &m->rows[first + i];
            for (size_t c = 0; c < COLUMNS; c++)
                states[c][i] = r->null[c];
            values[0][i] = (uint64_t)r->i;
            ((double *)values[1])[i] = r->d;
            strcpy((char *)bytes + 24 * i, r->s);
            ((hac_string_ref *)values[2])[i] = (hac_string_ref){(uint32_t)(24 * i), (uint32_t)strlen(r->s)};
            ((uint8_t *)values[3])[i] = r->b;
        }
        hac_rows_add(&w, v, COLUMNS, n);
    }
    m->bytes = w.bytes;
    assert_int_equal(hac_rows_end(&w), w.bytes <= capacity);
}

static void make(made *m, size_t n, unsigned spread)
{
    static const hac_value_type types[COLUMNS] = {
        {HAC_KIND_I64, 0, 0}, {HAC_KIND_F64, 0, 0}, {HAC_KIND_STRING, 0, 0}, {HAC_KIND_BOOL, 0, 0}};
    memset(m, 0, sizeof *m);
    m->n = n;
    m->rows = calloc(n + 1, sizeof *m->rows);
    for (size_t i = 0; i < n; i++) {
        row *r = &m->rows[i];
        uint64_t k = hac_random_u64(&random_state) % spread;
        for (size_t c = 0; c < COLUMNS; c++)
            r->null[c] = !no_nulls && hac_random_u64(&random_state) % 9 == 0;
        r->i = k == 0   ? INT64_MIN
               : k == 1 ? INT64_MAX
                        : (int64_t)hac_random_u64(&random_state) % (int64_t)spread;
        k = hac_random_u64(&random_state) % spread;
        r->d = k == 0 ? NAN : k == 1 ? INFINITY : (double)(hac_random_u64(&random_state) % spread) / 4 - 10;
        snprintf(r->s, sizeof r->s, "%.*s%" PRIu64, (int)(hac_random_u64(&random_state) % 9), "prefixes",
                 hac_random_u64(&random_state) % spread);
        r->b = hac_random_u64(&random_state) % 2;
        r->number = i;
    }
    for (size_t c = 0; c < COLUMNS; c++) {
        m->fields[c].type = types[c];
        if (c != 3)
            snprintf(m->fields[c].name, sizeof m->fields[c].name, "c%zu", c);
    }
    m->query =
        (hac_query){.outputs = {m->fields, COLUMNS}, .n_visible = 3, .order = m->order, .limit = UINT64_MAX};
    write_region(m, 64);
    if (n > 0) /* it does not fit: the region is empty */
        assert_int_equal(*(uint64_t *)(void *)m->region, 0);
    free(m->region);
    write_region(m, (m->bytes * 2 + 65536) / 64 * 64);
    hac_rows_reader_init(&m->reader, &m->query);
    assert_int_equal(hac_rows_reader_add(&m->reader, m->region, m->bytes, 77, 5, NULL), HAC_OK);
    assert_int_equal(m->reader.rows, n);
}

static void clear(made *m)
{
    hac_rows_reader_clear(&m->reader);
    free(m->region);
    free(m->rows);
}

/* The number of a row in the reader's order of blocks. */
static size_t number_of(const made *m, uint64_t at)
{
    size_t n = at % HAC_BATCH_ROWS;
    for (size_t b = 0; b < at / HAC_BATCH_ROWS; b++)
        n += m->reader.blocks[b].rows;
    return n;
}

static bool alike(const made *m, const row *a, const row *b)
{
    for (size_t i = 0; i < m->query.n_limit_by; i++) {
        unsigned c = m->query.limit_by[i];
        if (a->null[c] != b->null[c] || (!a->null[c] && compare_column(a, b, c) != 0))
            return false;
    }
    return true;
}

/* Drops rows before which there are limit_each rows that are alike. */
static size_t limit_each(const made *m, row *rows, size_t n)
{
    bool *drop = calloc(n + 1, sizeof *drop);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t before = 0;
        for (size_t j = 0; j < i && !drop[i]; j++)
            drop[i] = alike(m, &rows[j], &rows[i]) && ++before == m->query.limit_each;
        drop[i] |= m->query.limit_each == 0;
    }
    for (size_t i = 0; i < n; i++)
        if (!drop[i])
            rows[kept++] = rows[i];
    free(drop);
    return kept;
}

/* All rows in their order, and what the limits leave. */
static void check_order(const made *m)
{
    uint64_t *order, n, passed, last = m->query.n_limit_by > 0 ? m->query.limit_after : m->query.limit;
    assert_int_equal(hac_finish_order(&m->query, &m->reader, &order, &n, &passed, NULL), HAC_OK);
    row *wanted = malloc((m->n + 1) * sizeof *wanted);
    memcpy(wanted, m->rows, m->n * sizeof *wanted);
    sorting_by = m->order;
    sorting_items = m->query.n_order;
    qsort(wanted, m->n, sizeof *wanted, compare);
    size_t rows = m->query.n_limit_by > 0 ? limit_each(m, wanted, m->n) : m->n;
    rows = rows < last ? rows : last;
    size_t first = rows < m->query.offset ? rows : m->query.offset;
    assert_int_equal(passed, rows);
    assert_int_equal(n, rows - first);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(number_of(m, order[i]), wanted[first + i].number);
    free(wanted);
    free(order);
}

static void choose_order(made *m)
{
    m->query.n_order = 1 + hac_random_u64(&random_state) % COLUMNS;
    for (size_t k = 0; k < m->query.n_order; k++)
        m->order[k] = (hac_order_item){(uint16_t)(hac_random_u64(&random_state) % COLUMNS),
                                       hac_random_u64(&random_state) % 2};
}

static void test_order(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 1023, 1025, 16383, 16385, HAC_TEST_CASES(50000, 20000)};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (unsigned spread = 2; spread < 1u << 20; spread *= 300) {
            made m;
            make(&m, sizes[s], spread);
            for (int round = 0; round < HAC_TEST_CASES(6, 2); round++) {
                choose_order(&m);
                m.query.limit =
                    round % 2 ? UINT64_MAX : hac_random_u64(&random_state) % (round == 2 ? 20 : sizes[s] + 2);
                m.query.offset = round % 3 == 0 ? hac_random_u64(&random_state) % (sizes[s] + 2) : 0;
                check_order(&m);
            }
            clear(&m);
        }
}

/* Values that differ in all their bits, and values that differ only in the highest or in the lowest ones. */
static void test_order_wide(void **state)
{
    (void)state;
    for (unsigned shift = 0; shift < 64; shift += 21)
        for (size_t c = 0; c < 2; c++)
            for (unsigned descending = 0; descending < 2; descending++) {
                made m = {.n = HAC_TEST_CASES(40000, 20000)};
                make(&m, m.n, 2);
                hac_rows_reader_clear(&m.reader);
                for (size_t i = 0; i < m.n; i++) {
                    m.rows[i].i = (int64_t)(hac_random_u64(&random_state) >> shift << (shift == 42 ? 21 : 0));
                    m.rows[i].d = (double)m.rows[i].i / 1024;
                }
                free(m.region);
                write_region(&m, (m.bytes * 2 + 65536) / 64 * 64);
                hac_rows_reader_init(&m.reader, &m.query);
                assert_int_equal(hac_rows_reader_add(&m.reader, m.region, m.bytes, 77, 5, NULL), HAC_OK);
                m.order[0] = (hac_order_item){(uint16_t)c, descending};
                m.order[1] = (hac_order_item){2, !descending};
                m.query.n_order = 1 + (shift == 21);
                check_order(&m);
                clear(&m);
            }
}

/* Keys that agree in more than the bits of a word before they differ: few values before another column, and
 * one value far from all others. */
static void test_order_again(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 6; kind++)
        for (unsigned descending = 0; descending < 2; descending++) {
            made m = {.n = HAC_TEST_CASES(40000, 20000)};
            make(&m, m.n, 2);
            hac_rows_reader_clear(&m.reader);
            for (size_t i = 0; i < m.n; i++) {
                m.rows[i].null[0] = kind == 4 && i % 7 == 0;
                m.rows[i].i =
                    (int64_t)(hac_random_u64(&random_state) % (kind < 3 ? 50 : 2000)) - (kind == 5) * 9;
                m.rows[i].d =
                    (double)(int64_t)(hac_random_u64(&random_state) % 60000) * (kind == 2 ? 1e-9 : 1);
            }
            for (size_t i = 0; kind == 3 && i < 3; i++)
                m.rows[i * 5000].i = i == 1 ? INT64_MIN : INT64_MAX - (int64_t)i;
            free(m.region);
            write_region(&m, (m.bytes * 2 + 65536) / 64 * 64);
            hac_rows_reader_init(&m.reader, &m.query);
            assert_int_equal(hac_rows_reader_add(&m.reader, m.region, m.bytes, 77, 5, NULL), HAC_OK);
            m.order[0] = (hac_order_item){0, descending};
            m.order[1] = (hac_order_item){1, !descending};
            m.order[2] = (hac_order_item){2, descending};
            m.query.n_order = kind == 3 ? 1 : kind == 1 ? 3 : 2;
            check_order(&m);
            clear(&m);
        }
}

static void test_limit_by(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 500, 1023, 1025, 2100};
    uint16_t columns[COLUMNS];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (unsigned spread = 2; spread < 1u << 10; spread *= 6) {
            made m;
            make(&m, sizes[s], spread);
            m.query.limit_by = columns;
            for (int round = 0; round < HAC_TEST_CASES(8, 3); round++) {
                choose_order(&m);
                if (round == 1)
                    m.query.n_order = 0; /* rows keep their order */
                m.query.n_limit_by = 1 + hac_random_u64(&random_state) % (COLUMNS - 1);
                for (size_t k = 0; k < m.query.n_limit_by; k++)
                    columns[k] = (uint16_t)(hac_random_u64(&random_state) % COLUMNS);
                m.query.limit_each = hac_random_u64(&random_state) % 4;
                m.query.limit_after = round % 2 ? UINT64_MAX : hac_random_u64(&random_state) % 40;
                m.query.offset = round % 3 == 0 ? hac_random_u64(&random_state) % 30 : 0;
                check_order(&m);
            }
            clear(&m);
        }
}

/* Several ranges of rows, some of which later ones displace; groups of one row each, whose order is that of a
 * query without limit_by. */
static void test_limit_by_many(void **state)
{
    (void)state;
    uint16_t columns[] = {0, 1, 2};
    for (unsigned kind = 0; kind < 3; kind++) {
        made m;
        bool few_groups = kind < 2;
        no_nulls = kind == 0;
        make(&m, 300000, few_groups ? 7 : 700000);
        m.query.limit_by = columns;
        m.query.limit_after = UINT64_MAX;
        m.query.limit_each = 2;
        for (int round = 0; round < 3; round++) {
            uint64_t *order, *all, n, n_all, passed;
            choose_order(&m);
            m.query.n_limit_by = few_groups ? 1 + (size_t)round % 2 : 3;
            if (few_groups) { /* an order without the groups' columns: the oracle is slow otherwise */
                m.query.n_order = 1;
                m.order[0] = (hac_order_item){round == 2 ? 1 : 2, round > 0};
            }
            if (few_groups) {
                check_order(&m);
                continue;
            }
            assert_int_equal(hac_finish_order(&m.query, &m.reader, &order, &n, &passed, NULL), HAC_OK);
            m.query.n_limit_by = 0;
            assert_int_equal(hac_finish_order(&m.query, &m.reader, &all, &n_all, &passed, NULL), HAC_OK);
            assert_in_range(n, m.n - m.n / 100, m.n); /* some rows have three nulls */
            for (uint64_t i = 0, k = 0; k < n; i++) {
                assert_true(i < n_all);
                k += all[i] == order[k];
            }
            free(order);
            free(all);
        }
        clear(&m);
    }
}

#ifndef HAC_SANITIZED
/* The first few of very many rows need no memory for the others. */
static void test_memory_of_few(void **state)
{
    (void)state;
    struct rlimit before, low;
    unsigned long pages = 0;
    uint64_t *order, n, passed;
    made m;
    make(&m, 1 << 20, 1u << 30);
    m.query.n_order = 1;
    m.order[0] = (hac_order_item){0, true};
    m.query.limit = 10;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_true(file != NULL && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    low = (struct rlimit){pages * (rlim_t)sysconf(_SC_PAGESIZE) + (12 << 20), before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &low), 0);
    hac_status status = hac_finish_order(&m.query, &m.reader, &order, &n, &passed, NULL);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(status, HAC_OK);
    assert_int_equal(n, 10);
    free(order);
    clear(&m);
}
#endif

static void test_text(void **state)
{
    (void)state;
    made m;
    hac_finished f;
    make(&m, 30000, 1000);
    uint8_t *text = calloc(1, 1 << 22);
    assert_int_equal(hac_finish_rows(&m.query, &m.reader, text, 1 << 22, &f, NULL), HAC_OK);
    assert_int_equal(f.rows, 30000);
    char *line = strtok((char *)text, "\n");
    assert_string_equal(line, "c0,c1,c2");
    for (size_t i = 0; i < m.n; i++) {
        char wanted[32] = "";
        line = strtok(NULL, "\n");
        if (!m.rows[i].null[0])
            sprintf(wanted, "%" PRId64, m.rows[i].i);
        assert_int_equal(strncmp(line, wanted, strlen(wanted)), 0);
        assert_int_equal(line[strlen(wanted)], ',');
        if (!m.rows[i].null[2])
            assert_string_equal(strrchr(line, ',') + 1, m.rows[i].s);
    }
    uint64_t bytes = f.bytes;
    uint8_t *exact = malloc(bytes - 1);
    assert_int_equal(hac_finish_rows(&m.query, &m.reader, exact, bytes - 1, &f, NULL), HAC_OK);
    assert_int_equal(f.bytes, bytes);
    free(exact);
    free(text);
    clear(&m);
}

static void test_table(void **state)
{
    (void)state;
    made m;
    hac_finished f;
    make(&m, 3000, 1000);
    m.query.output = HAC_RESULT_TABLE;
    assert_int_equal(hac_finish_rows(&m.query, &m.reader, NULL, 0, &f, NULL), HAC_OK);
    uint8_t *data = aligned_alloc(64, f.bytes);
    assert_int_equal(hac_finish_rows(&m.query, &m.reader, data, f.bytes, &f, NULL), HAC_OK);
    const hac_result_table *h = (const void *)data;
    const hac_result_column *from = (const void *)(h + 1);
    hac_table_column columns[3];
    hac_table t = {.rows = h->rows, .n_columns = h->n_columns, .columns = columns};
    assert_int_equal(h->n_columns, 3);
    for (size_t c = 0; c < 3; c++)
        columns[c] = (hac_table_column){.type = {from[c].kind, from[c].precision, from[c].scale},
                                        .large = from[c].large != 0,
                                        .validity = from[c].validity,
                                        .values = from[c].values,
                                        .bytes = from[c].bytes,
                                        .n_bytes = from[c].n_bytes};
    assert_int_equal(hac_table_check(&t, f.bytes, NULL), HAC_OK);
    for (size_t i = 0; i < m.n; i++) {
        const uint8_t *s;
        uint64_t n;
        for (size_t c = 0; c < 3; c++)
            assert_int_equal(data[columns[c].validity + i / 8] >> (i % 8) & 1, !m.rows[i].null[c]);
        if (!m.rows[i].null[0])
            assert_int_equal(((int64_t *)(void *)(data + columns[0].values))[i], m.rows[i].i);
        assert_true(hac_table_string(&columns[2], data, i, &s, &n));
        assert_int_equal(n, m.rows[i].null[2] ? 0 : strlen(m.rows[i].s));
        assert_memory_equal(s, m.rows[i].s, n);
    }
    free(data);
    clear(&m);
}

/* Columns without nulls, of every width, near the row numbers where they are split; in order and reversed. */
static void check_plain(size_t n, bool descending)
{
    static const hac_value_type types[COLUMNS] = {
        {HAC_KIND_U32, 0, 0}, {HAC_KIND_F64, 0, 0}, {HAC_KIND_DECIMAL, 38, 2}, {HAC_KIND_I16, 0, 0}};
    static _Alignas(64) uint64_t values[COLUMNS][2 * HAC_BATCH_ROWS];
    hac_field fields[COLUMNS] = {0};
    hac_column v[COLUMNS];
    hac_rows_reader reader;
    hac_rows_writer w;
    hac_finished f;
    hac_order_item by = {.column = 0, .descending = descending};
    hac_query query = {.outputs = {fields, COLUMNS},
                       .n_visible = COLUMNS,
                       .order = &by,
                       .n_order = descending ? 1 : 0,
                       .limit = UINT64_MAX,
                       .output = HAC_RESULT_TABLE};
    uint8_t *region = aligned_alloc(64, (n * 48 + 65536) / 64 * 64);
    hac_rows_begin(&w, region, n * 48 + 65472, 77, 5);
    for (size_t c = 0; c < COLUMNS; c++) {
        fields[c].type = types[c];
        snprintf(fields[c].name, sizeof fields[c].name, "c%zu", c);
        v[c] = (hac_column){.type = types[c], .values = values[c]};
    }
    for (size_t first = 0, rows; first < n; first += rows) {
        rows = n - first < HAC_BATCH_ROWS ? n - first : HAC_BATCH_ROWS;
        for (size_t i = 0; i < rows; i++) {
            values[0][i] = first + i;
            ((double *)values[1])[i] = (double)(first + i) / 8;
            values[2][2 * i] = first + i;
            values[2][2 * i + 1] = ~(first + i);
            values[3][i] = (first + i) % 30000;
        }
        hac_rows_add(&w, v, COLUMNS, rows);
    }
    assert_true(hac_rows_end(&w));
    hac_rows_reader_init(&reader, &query);
    assert_int_equal(hac_rows_reader_add(&reader, region, w.bytes, 77, 5, NULL), HAC_OK);
    assert_int_equal(hac_finish_rows(&query, &reader, NULL, 0, &f, NULL), HAC_OK);
    uint8_t *data = aligned_alloc(64, f.bytes);
    memset(data, 0xaa, f.bytes);
    assert_int_equal(hac_finish_rows(&query, &reader, data, f.bytes, &f, NULL), HAC_OK);
    const hac_result_column *c = (const void *)(data + sizeof(hac_result_table));
    for (size_t i = 0; i < n; i++) {
        size_t k = descending ? n - 1 - i : i;
        assert_int_equal(((uint32_t *)(void *)(data + c[0].values))[i], k);
        assert_true(((double *)(void *)(data + c[1].values))[i] == (double)k / 8);
        assert_int_equal(((uint64_t *)(void *)(data + c[2].values))[2 * i], k);
        assert_int_equal(((uint64_t *)(void *)(data + c[2].values))[2 * i + 1], ~k);
        assert_int_equal(((int16_t *)(void *)(data + c[3].values))[i], k % 30000);
    }
    for (size_t i = 0; i < COLUMNS; i++)
        assert_true(c[i].validity == HAC_TABLE_NONE);
    for (uint64_t at = c[0].values + n * 4; at < c[1].values; at++)
        assert_int_equal(data[at], 0); /* no bytes from before */
    free(data);
    free(region);
    hac_rows_reader_clear(&reader);
}

static void test_plain_columns(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 1024, 65535, 65536, 65537, 131072, 140001};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int descending = 0; descending < 2; descending++)
            check_plain(sizes[i], descending);
}

/* Damaged regions are refused, or read within their bounds. */
static void test_hostile(void **state)
{
    (void)state;
    made m;
    make(&m, 2500, 1000);
    uint8_t *text = malloc(1 << 20);
    unsigned refused = 0;
    m.query.n_order = 1;
    m.order[0].column = 2;
    for (int round = 0; round < HAC_TEST_CASES(400, 120); round++) {
        uint64_t bytes = round % 4 == 0 ? hac_random_u64(&random_state) % m.bytes : m.bytes;
        uint8_t *copy = malloc(bytes + 1);
        hac_rows_reader reader;
        hac_finished f;
        memcpy(copy, m.region, bytes);
        for (int flips = round % 4; flips > 0; flips--)
            copy[hac_random_u64(&random_state) % (round % 2 ? 256 : bytes)] ^=
                (uint8_t)(1u << hac_random_u64(&random_state) % 8);
        hac_rows_reader_init(&reader, &m.query);
        if (hac_rows_reader_add(&reader, copy, bytes, 77, 5, NULL) != HAC_OK)
            refused++;
        else
            assert_int_equal(hac_finish_rows(&m.query, &reader, text, 1 << 20, &f, NULL), HAC_OK);
        hac_rows_reader_clear(&reader);
        free(copy);
    }
    assert_true(refused >= HAC_TEST_CASES(100, 30));
    hac_rows_reader reader;
    hac_rows_reader_init(&reader, &m.query);
    assert_int_equal(hac_rows_reader_add(&reader, m.region, m.bytes, 77, 6, NULL), HAC_INVALID);
    assert_int_equal(hac_rows_reader_add(&reader, m.region, m.bytes, 78, 5, NULL), HAC_INVALID);
    hac_rows_reader_clear(&reader);
    free(text);
    clear(&m);
}

/* Strings whose total exceeds 32 bits go into several blocks; a single row that exceeds them goes into
 * none. */
static void test_long_strings(void **state)
{
    (void)state;
    static _Alignas(64) uint8_t region[4096];
    hac_string_ref refs[HAC_BATCH_ROWS];
    hac_column columns[2] = {{.type = {.kind = HAC_KIND_STRING}, .values = refs, .bytes = region},
                             {.type = {.kind = HAC_KIND_STRING}, .values = refs, .bytes = region}};
    hac_rows_writer w;
    for (size_t i = 0; i < 5; i++) /* 3 GiB a row; never read, because there is no room */
        refs[i] = (hac_string_ref){0, UINT32_C(3) << 29};
    hac_rows_begin(&w, region, sizeof region, 77, 5);
    hac_rows_add(&w, columns, 2, 5);
    assert_int_equal(w.rows, 5);
    assert_int_equal(w.blocks, 5);
    assert_in_range(w.bytes, UINT64_C(15) << 30, (UINT64_C(15) << 30) + 4096);
    assert_false(hac_rows_end(&w));
    refs[0].length = UINT32_C(5) << 29;
    hac_rows_begin(&w, region, UINT64_C(1) << 40, 77, 5);
    for (size_t i = 0; i < 5; i++)
        hac_rows_add(&w, columns, 2, 1);
    assert_int_equal(w.bytes, INT64_MAX);
    assert_false(hac_rows_end(&w));
}

static hac_status fail_from(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    uint64_t *seen = context;
    assert_true(worker < hac_pool_threads());
    seen[item]++;
    return item >= 37 ? hac_fail(err, HAC_FAILED, "item %" PRIu64, item) : HAC_OK;
}

static void test_pool(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        uint64_t seen[100] = {0};
        hac_error err = HAC_ERROR_NONE;
        assert_int_equal(hac_pool_run(37, fail_from, seen, &err), HAC_OK);
        for (int i = 0; i < 37; i++)
            assert_int_equal(seen[i], 1);
        assert_int_equal(hac_pool_run(100, fail_from, seen, &err), HAC_FAILED);
        assert_string_equal(err.message, "item 37");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifndef HAC_SANITIZED
        cmocka_unit_test(test_memory_of_few), /* first, before other tests leave memory behind */
#endif
        cmocka_unit_test(test_order),         cmocka_unit_test(test_order_wide),
        cmocka_unit_test(test_order_again),   cmocka_unit_test(test_limit_by),
        cmocka_unit_test(test_limit_by_many), cmocka_unit_test(test_text),
        cmocka_unit_test(test_table),         cmocka_unit_test(test_plain_columns),
        cmocka_unit_test(test_hostile),       cmocka_unit_test(test_pool),
        cmocka_unit_test(test_long_strings),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
