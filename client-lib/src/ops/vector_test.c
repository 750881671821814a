/* SPDX-License-Identifier: Apache-2.0 */
/* Tests vectors of every template against a naive model, checks the layout by hand, and tests invalid
 * vectors. */
#include "fake_daemon.h"

#include <stdio.h>
#include <string.h>

#include <hac/vector.h>

enum { EMITS_MAX = 1000, COLUMNS = 3, CAPACITY = EMITS_MAX * COLUMNS };

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const hac_vector_type numbers[] = {HAC_VECTOR_OF_BOOL, HAC_VECTOR_OF_I32, HAC_VECTOR_OF_I64,
                                          HAC_VECTOR_OF_U32,  HAC_VECTOR_OF_U64, HAC_VECTOR_OF_F32,
                                          HAC_VECTOR_OF_F64};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

static hac_vector_value make_value(hac_vector_type type, uint64_t x)
{
    static const char text[] = "so many bytes of this";
    switch (type) {
    case HAC_VECTOR_OF_BOOL:
        return hac_vector_bool(x % 2);
    case HAC_VECTOR_OF_I32:
        return hac_vector_i32((int32_t)x - 5);
    case HAC_VECTOR_OF_I64:
        return hac_vector_i64((int64_t)x * -4294967297);
    case HAC_VECTOR_OF_U32:
        return hac_vector_u32((uint32_t)x);
    case HAC_VECTOR_OF_U64:
        return hac_vector_u64(~x);
    case HAC_VECTOR_OF_F32:
        return hac_vector_f32((float)x / 3);
    case HAC_VECTOR_OF_F64:
        return hac_vector_f64((double)x / 3);
    default:
        return hac_vector_text(text, x % sizeof text);
    }
}

static void assert_value(hac_vector_value a, hac_vector_value b)
{
    assert_int_equal(a.type, b.type);
    switch (a.type) {
    case HAC_VECTOR_OF_BOOL:
        assert_int_equal(a.boolean, b.boolean);
        break;
    case HAC_VECTOR_OF_I32:
    case HAC_VECTOR_OF_U32:
    case HAC_VECTOR_OF_F32:
        assert_int_equal(a.u32, b.u32); /* equal bits */
        break;
    case HAC_VECTOR_OF_STRING:
        assert_int_equal(a.bytes, b.bytes);
        assert_memory_equal(a.text, b.text, a.bytes);
        break;
    default:
        assert_true(a.u64 == b.u64);
    }
}

/* ---- the model ---- */

typedef struct model {
    hac_vector_shape shape;
    hac_vector_entry emitted[CAPACITY], expected[CAPACITY];
    size_t n_emitted, n_expected;
} model;

static bool is_dense(const model *m)
{
    return m->shape.form == HAC_VECTOR_FIX_VALUE || m->shape.form == HAC_VECTOR_VAR ||
           m->shape.form == HAC_VECTOR_PVAR;
}

static uint64_t columns_of(hac_vector_template form)
{
    bool one = form == HAC_VECTOR_SPARSE_VALUE || form == HAC_VECTOR_SPARSE_TEXT;
    return one ? 1 : COLUMNS;
}

/* Adds the expected elements of a key: the last element emitted, or all elements for VariableLenVector. */
static void expect_key(model *m, uint64_t row, uint64_t column, uint64_t *place)
{
    const hac_vector_entry *last = NULL;
    for (size_t i = 0; i < m->n_emitted; i++) {
        if (m->emitted[i].row != row || m->emitted[i].column != column)
            continue;
        last = &m->emitted[i];
        if (m->shape.form == HAC_VECTOR_VARIABLE_LEN)
            m->expected[m->n_expected++] = (hac_vector_entry){row, (*place)++, last->value};
    }
    if (m->shape.form == HAC_VECTOR_VARIABLE_LEN)
        return;
    if (last != NULL)
        m->expected[m->n_expected++] = *last;
    else if (is_dense(m) || m->shape.form == HAC_VECTOR_SPARSE_TEXT)
        m->expected[m->n_expected++] = (hac_vector_entry){row, column, {.type = m->shape.type, .text = NULL}};
}

static void expect(model *m, uint64_t rows, uint64_t columns)
{
    m->n_expected = 0;
    for (uint64_t row = 0; row < rows; row++) {
        uint64_t place = 0;
        for (uint64_t column = 0; column < columns; column++)
            expect_key(m, row, column, &place);
    }
}

static hac_vector *emit_all(const hac_vector_shape *shape, const hac_vector_entry *entries, size_t n)
{
    hac_vector *vector = NULL;
    assert_int_equal(hac_vector_new(shape, &vector, NULL), HAC_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(hac_vector_emit(vector, entries[i].row, entries[i].column, entries[i].value, NULL),
                         HAC_OK);
    return vector;
}

static void assert_walk(const hac_vector *vector, const model *m)
{
    hac_vector_iterator *walk = NULL;
    hac_vector_entry entry;
    assert_int_equal(hac_vector_iter(vector, &walk, NULL), HAC_OK);
    for (size_t i = 0; i < m->n_expected; i++) {
        assert_int_equal(hac_vector_next(walk, &entry, NULL), HAC_OK);
        assert_true(entry.row == m->expected[i].row && entry.column == m->expected[i].column);
        assert_value(entry.value, m->expected[i].value);
    }
    assert_int_equal(hac_vector_next(walk, &entry, NULL), HAC_NOT_FOUND);
    assert_int_equal(hac_vector_next(walk, &entry, NULL), HAC_NOT_FOUND); /* the iterator stays at the end */
    hac_vector_iter_free(walk);
}

/* Makes random keys, about a third of them duplicates, in descending, ascending or random order. */
static void make_emits(model *m, size_t n, uint64_t rows, unsigned order, uint64_t *seed)
{
    uint64_t columns = columns_of(m->shape.form);
    m->n_emitted = n;
    for (size_t i = 0; i < n; i++) {
        uint64_t row = order == 0   ? i * rows / n
                       : order == 1 ? rows - 1 - i * rows / n
                                    : next_random(seed) % rows;
        m->emitted[i] = (hac_vector_entry){row, next_random(seed) % columns,
                                           make_value(m->shape.type, next_random(seed))};
    }
}

static void check_one(hac_client *client, model *m, size_t n, unsigned order, uint64_t *seed)
{
    uint64_t rows = m->shape.form == HAC_VECTOR_VAR ? 1 : n > 0 ? n : 1;
    make_emits(m, n, rows, order, seed);
    m->shape.rows = rows;
    m->shape.columns = m->shape.form == HAC_VECTOR_VARIABLE_LEN ? 0 : columns_of(m->shape.form);
    expect(m, rows, columns_of(m->shape.form));
    hac_vector *vector = emit_all(&m->shape, m->emitted, n);
    assert_int_equal(hac_vector_finish(vector, client, NULL), HAC_OK);
    assert_walk(vector, m);
    /* emitting the elements that the iterator returns gives an equal vector */
    hac_vector *again = emit_all(&m->shape, m->expected, m->n_expected);
    assert_int_equal(hac_vector_finish(again, client, NULL), HAC_OK);
    assert_walk(again, m);
    hac_vector_free(again);
    hac_vector_free(vector);
}

static void test_against_model(void **state)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, EMITS_MAX};
    static model m;
    hac_client *client = *state;
    uint64_t seed = 42;
    for (hac_vector_template form = HAC_VECTOR_FIX_VALUE; form < HAC_VECTOR_END; form++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (unsigned t = 0; t < 3 * COUNT(numbers); t++) {
                bool text = form == HAC_VECTOR_SPARSE_TEXT;
                m.shape = (hac_vector_shape){form, text ? HAC_VECTOR_OF_STRING : numbers[t / 3], 0, 0, 0};
                if (sizes[s] < EMITS_MAX || t % 4 == 0) /* the model is slow */
                    check_one(client, &m, sizes[s], t % 3, &seed);
            }
}

/* Shapes without sizes: the sizes come from the maximum row and column. */
static void test_open_shape(void **state)
{
    hac_client *client = *state;
    hac_op_operand o;
    hac_vector_shape shape = {HAC_VECTOR_SPARSE_MATRIX, HAC_VECTOR_OF_I32, 0, 0, 0};
    const hac_vector_entry entries[] = {{9, 4, hac_vector_i32(1)}, {2, 70, hac_vector_i32(2)}};
    hac_vector *vector = emit_all(&shape, entries, 2);
    assert_int_equal(hac_vector_finish(vector, client, NULL), HAC_OK);
    assert_int_equal(hac_vector_operand(vector, &o, NULL), HAC_OK);
    assert_true(o.rows == 10 && o.columns == 71 && o.entries == 2);
    hac_vector_free(vector);
    shape.form = HAC_VECTOR_PVAR;
    vector = emit_all(&shape, entries, 0);
    assert_int_equal(hac_vector_finish(vector, client, NULL), HAC_OK);
    assert_int_equal(hac_vector_operand(vector, &o, NULL), HAC_OK);
    assert_true(o.rows == 0 && o.columns == 1);
    hac_vector_free(vector);
}

/* ---- the layout ---- */

static const void *lay_out(hac_client *client, hac_vector *vector, hac_op_operand *ret)
{
    assert_int_equal(hac_vector_finish(vector, client, NULL), HAC_OK);
    assert_int_equal(hac_vector_operand(vector, ret, NULL), HAC_OK);
    assert_int_equal((ret->values | ret->offsets | ret->indices) % 64, 0);
    return hac_buffer_data(hac_vector_buffer(vector));
}

/* Checks the layout of each template against <hac/op.h>, number by number. */
static void test_layout(void **state)
{
    const hac_vector_shape matrix = {HAC_VECTOR_SPARSE_MATRIX, HAC_VECTOR_OF_F64, 4, 5, 0};
    const hac_vector_shape texts = {HAC_VECTOR_SPARSE_TEXT, HAC_VECTOR_OF_STRING, 4, 1, 0};
    const hac_vector_shape lists = {HAC_VECTOR_VARIABLE_LEN, HAC_VECTOR_OF_I32, 3, 1, 0};
    const hac_vector_shape sparse = {HAC_VECTOR_SPARSE_VALUE, HAC_VECTOR_OF_F32, 100, 1, 0};
    const hac_vector_shape dense = {HAC_VECTOR_FIX_VALUE, HAC_VECTOR_OF_U32, 2, 2, 0};
    const hac_vector_entry places[] = {{2, 3, hac_vector_f64(7)},
                                       {0, 4, hac_vector_f64(2)},
                                       {2, 3, hac_vector_f64(3)},
                                       {0, 1, hac_vector_f64(1)}};
    const hac_vector_entry words[] = {{2, 0, hac_vector_text("two", 3)}, {0, 0, hac_vector_text("zero", 4)}};
    const hac_vector_entry values[] = {
        {2, 0, hac_vector_i32(5)}, {0, 1, hac_vector_i32(6)}, {0, 0, hac_vector_i32(4)}};
    const hac_vector_entry pairs[] = {{70, 0, hac_vector_f32(2)}, {7, 0, hac_vector_f32(1)}};
    const hac_vector_entry cells[] = {{1, 0, hac_vector_u32(8)}, {0, 1, hac_vector_u32(9)}};
    hac_op_operand o;

    hac_vector *vector = emit_all(&matrix, places, 4);
    const char *data = lay_out(*state, vector, &o);
    assert_int_equal(o.entries, 3);
    assert_memory_equal(data + o.offsets, ((uint64_t[]){0, 2, 2, 3, 3}), 40);
    assert_memory_equal(data + o.indices, ((uint32_t[]){1, 4, 3}), 12);
    assert_memory_equal(data + o.values, ((double[]){1, 2, 3}), 24);
    hac_vector_free(vector);

    data = lay_out(*state, vector = emit_all(&texts, words, 2), &o);
    assert_int_equal(o.entries, 7);
    assert_memory_equal(data + o.offsets, ((uint64_t[]){0, 4, 4, 7, 7}), 40);
    assert_memory_equal(data + o.values, "zerotwo", 7);
    hac_vector_free(vector);

    data = lay_out(*state, vector = emit_all(&lists, values, 3), &o);
    assert_memory_equal(data + o.offsets, ((uint64_t[]){0, 2, 2, 3}), 32);
    assert_memory_equal(data + o.values, ((int32_t[]){4, 6, 5}), 12);
    hac_vector_free(vector);

    data = lay_out(*state, vector = emit_all(&sparse, pairs, 2), &o);
    assert_true(o.rows == 100 && o.entries == 2);
    assert_memory_equal(data + o.indices, ((uint64_t[]){7, 70}), 16);
    assert_memory_equal(data + o.values, ((float[]){1, 2}), 8);
    hac_vector_free(vector);

    data = lay_out(*state, vector = emit_all(&dense, cells, 2), &o);
    assert_memory_equal(data + o.values, ((uint32_t[]){0, 9, 8, 0}), 16);
    hac_vector_free(vector);
}

/* ---- refused vectors ---- */

static void test_bad_shapes(void **state)
{
    (void)state;
    static const hac_vector_shape bad[] = {
        {HAC_VECTOR_NONE, HAC_VECTOR_OF_F64, 0, 0, 0},
        {HAC_VECTOR_END, HAC_VECTOR_OF_F64, 0, 0, 0},
        {HAC_VECTOR_FIX_VALUE, HAC_VECTOR_OF_NONE, 0, 0, 0},
        {HAC_VECTOR_FIX_VALUE, HAC_VECTOR_OF_STRING, 0, 0, 0},
        {HAC_VECTOR_FIX_VALUE, (hac_vector_type)2, 0, 0, 0},
        {HAC_VECTOR_SPARSE_TEXT, HAC_VECTOR_OF_U64, 0, 0, 0},
        {HAC_VECTOR_VAR, HAC_VECTOR_OF_F64, 2, 1, 0},
        {HAC_VECTOR_SPARSE_VALUE, HAC_VECTOR_OF_F64, 0, 2, 0},
        {HAC_VECTOR_SPARSE_MATRIX, HAC_VECTOR_OF_F64, 0, (UINT64_C(1) << 32) + 1, 0},
        {HAC_VECTOR_FIX_VALUE, HAC_VECTOR_OF_F64, UINT64_MAX, 1, 0},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        hac_error err = HAC_ERROR_NONE;
        hac_vector *vector = NULL;
        assert_int_equal(hac_vector_new(&bad[i], &vector, &err), HAC_INVALID);
        assert_null(vector);
        assert_true(err.message[0] != '\0');
    }
}

static void test_bad_emits(void **state)
{
    hac_error err = HAC_ERROR_NONE;
    const hac_vector_shape shape = {HAC_VECTOR_SPARSE_MATRIX, HAC_VECTOR_OF_F64, 3, 2, 0};
    const hac_vector_shape texts = {HAC_VECTOR_SPARSE_TEXT, HAC_VECTOR_OF_STRING, 0, 1, 0};
    hac_vector_iterator *walk = NULL;
    hac_op_operand o;
    hac_vector *vector = emit_all(&shape, NULL, 0);
    for (size_t i = 0; i + 1 < COUNT(numbers); i++)
        assert_int_equal(hac_vector_emit(vector, 0, 0, make_value(numbers[i], 1), &err), HAC_INVALID);
    assert_string_equal(err.message, "row 0: a value of type f32; the vector is of f64");
    assert_int_equal(hac_vector_emit(vector, 0, 0, hac_vector_text("1", 1), &err), HAC_INVALID);
    assert_int_equal(hac_vector_emit(vector, 3, 0, hac_vector_f64(1), &err), HAC_INVALID);
    assert_int_equal(hac_vector_emit(vector, 0, 2, hac_vector_f64(1), &err), HAC_INVALID);
    assert_string_equal(err.message, "row 0, column 2 of a vector of at most 2 columns");
    assert_int_equal(hac_vector_iter(vector, &walk, &err), HAC_INVALID); /* not laid out */
    assert_int_equal(hac_vector_operand(vector, &o, &err), HAC_INVALID);
    assert_int_equal(hac_vector_resize(vector, 0, 0, &err), HAC_INVALID);
    assert_null(hac_vector_buffer(vector));
    assert_int_equal(hac_vector_finish(vector, *state, &err), HAC_OK);
    assert_int_equal(hac_vector_finish(vector, *state, &err), HAC_INVALID);
    assert_int_equal(hac_vector_emit(vector, 0, 0, hac_vector_f64(1), &err), HAC_INVALID);
    assert_int_equal(hac_vector_operand(vector, &o, &err), HAC_OK);
    assert_int_equal(o.entries, 0); /* refused elements are not stored */
    hac_vector_free(vector);

    vector = emit_all(&texts, NULL, 0);
    assert_int_equal(hac_vector_emit(vector, 0, 0, hac_vector_text(NULL, 1), &err), HAC_INVALID);
    assert_int_equal(hac_vector_emit(vector, UINT64_MAX, 0, hac_vector_text("", 0), &err), HAC_INVALID);
    assert_int_equal(hac_vector_emit(vector, 0, 0, hac_vector_text("", UINT64_MAX - 3), &err), HAC_NO_MEMORY);
    assert_int_equal(hac_vector_emit(vector, 0, 0, hac_vector_text("", UINT64_MAX / 4), &err), HAC_NO_MEMORY);
    assert_int_equal(hac_vector_emit(vector, 0, 0, hac_vector_text(NULL, 0), &err), HAC_OK);
    hac_vector_free(vector);
    hac_vector_free(NULL);
    hac_vector_iter_free(NULL);
}

/* Vectors that are too large for any memory fail before a request to hacd. */
static void test_too_large(void **state)
{
    hac_error err = HAC_ERROR_NONE;
    const hac_vector_shape shape = {HAC_VECTOR_FIX_VALUE, HAC_VECTOR_OF_F64, 0, 0, 0};
    const hac_vector_entry far = {(UINT64_C(1) << 56) - 1, UINT32_MAX, hac_vector_f64(1)};
    hac_vector *vector = emit_all(&shape, &far, 1);
    assert_int_equal(hac_vector_finish(vector, *state, &err), HAC_REFUSED);
    hac_vector_free(vector);
}

/* ---- vectors for tasks, views ---- */

static void test_room(void **state)
{
    hac_error err = HAC_ERROR_NONE;
    static model m;
    const hac_vector_shape shape = {HAC_VECTOR_SPARSE_TEXT, HAC_VECTOR_OF_STRING, 3, 0, 8};
    hac_vector *vector = NULL;
    hac_op_operand o;
    assert_int_equal(hac_vector_alloc(&shape, *state, &vector, NULL), HAC_OK);
    assert_int_equal(hac_vector_operand(vector, &o, NULL), HAC_OK);
    char *data = hac_buffer_data(hac_vector_buffer(vector)); /* as a task does */
    memcpy(data + o.offsets, (uint64_t[]){0, 2, 5}, 24);
    memcpy(data + o.values, "abcde", 5);
    assert_int_equal(hac_vector_resize(vector, 4, 5, &err), HAC_REFUSED);
    assert_int_equal(hac_vector_resize(vector, 2, 9, &err), HAC_REFUSED);
    assert_int_equal(hac_vector_resize(vector, 2, 5, &err), HAC_OK);
    m.expected[0] = (hac_vector_entry){0, 0, hac_vector_text("ab", 2)};
    m.expected[1] = (hac_vector_entry){1, 0, hac_vector_text("cde", 3)};
    m.n_expected = 2;
    assert_walk(vector, &m);
    assert_int_equal(hac_vector_resize(vector, 3, 8, &err), HAC_OK); /* the capacity is unchanged */
    hac_vector_free(vector);
}

/* An iterator stops at the new end of a vector that shrinks, even if the iterator is beyond that end. */
static void test_shrinks_under_walk(void **state)
{
    static const hac_vector_template forms[] = {HAC_VECTOR_FIX_VALUE, HAC_VECTOR_SPARSE_VALUE,
                                                HAC_VECTOR_SPARSE_MATRIX, HAC_VECTOR_VARIABLE_LEN};
    for (size_t f = 0; f < COUNT(forms); f++) {
        const hac_vector_shape shape = {forms[f], HAC_VECTOR_OF_I64, 4, 1, 0};
        hac_vector_iterator *walk = NULL;
        hac_vector_entry entries[4];
        for (uint64_t i = 0; i < COUNT(entries); i++)
            entries[i] = (hac_vector_entry){i, 0, hac_vector_i64((int64_t)i)};
        hac_vector *vector = emit_all(&shape, entries, COUNT(entries));
        assert_int_equal(hac_vector_finish(vector, *state, NULL), HAC_OK);
        assert_int_equal(hac_vector_iter(vector, &walk, NULL), HAC_OK);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(hac_vector_next(walk, &entries[i], NULL), HAC_OK);
        assert_int_equal(hac_vector_resize(vector, 2, 2, NULL), HAC_OK);
        assert_int_equal(hac_vector_next(walk, &entries[3], NULL), HAC_NOT_FOUND);
        hac_vector_iter_free(walk);
        hac_vector_free(vector);
    }
}

static _Alignas(64) union {
    uint8_t bytes[512];
    uint64_t u64[64];
    uint32_t u32[128];
    double f64[64];
} memory;

static hac_status walk_view(const hac_op_operand *o, uint64_t bytes, size_t *ret_n, hac_error *err)
{
    hac_vector *vector = NULL;
    hac_vector_iterator *walk = NULL;
    hac_vector_entry entry;
    hac_status status = hac_vector_view(o, memory.bytes, bytes, &vector, err);
    if (status == HAC_OK)
        status = hac_vector_iter(vector, &walk, err);
    for (*ret_n = 0; status == HAC_OK; *ret_n += status == HAC_OK)
        status = hac_vector_next(walk, &entry, err);
    hac_vector_iter_free(walk);
    hac_vector_free(vector);
    return status;
}

static void assert_view(hac_status status, const hac_op_operand *o, uint64_t bytes, size_t n)
{
    hac_error err = HAC_ERROR_NONE;
    size_t walked = 0;
    assert_int_equal(walk_view(o, bytes, &walked, &err), status);
    assert_int_equal(walked, n);
    assert_true(err.message[0] != '\0');
}

/* A matrix of 3 x 4: offsets 0, 2, 2, 3 at 0, indices 1, 3, 0 at 64, values at 128. */
static void test_view(void **state)
{
    (void)state;
    hac_op_operand o = {HAC_VECTOR_SPARSE_MATRIX, HAC_VECTOR_OF_F64, 0, 0, 0, 0, 3, 4, 3, 128, 0, 64};
    memset(&memory, 0, sizeof memory);
    memcpy(memory.bytes, (uint64_t[]){0, 2, 2, 3}, 32);
    memcpy(memory.bytes + 64, (uint32_t[]){1, 3, 0}, 12);
    assert_view(HAC_NOT_FOUND, &o, 152, 3);
    assert_view(HAC_INVALID, &o, 151, 0); /* a byte is missing */
    memory.u64[1] = 4;                    /* descending offsets, and an offset of row 0 out of range */
    assert_view(HAC_FAILED, &o, 152, 0);
    memory.u64[1] = 2;
    memory.u64[2] = 1;
    assert_view(HAC_FAILED, &o, 152, 2);
    memory.u64[2] = 2;
    memory.u64[3] = UINT64_MAX;
    assert_view(HAC_FAILED, &o, 152, 2);
    memory.u64[3] = 3;
    memory.u32[17] = 1; /* a duplicate column */
    assert_view(HAC_FAILED, &o, 152, 1);
    memory.u32[17] = 4; /* a column out of range */
    assert_view(HAC_FAILED, &o, 152, 1);
    o.form = HAC_VECTOR_SPARSE_VALUE; /* its indices are u64 */
    o.columns = 1;
    memcpy(memory.bytes + 64, (uint64_t[]){0, 2, 2}, 24);
    assert_view(HAC_FAILED, &o, 152, 2);
    memory.u64[10] = 3;
    assert_view(HAC_FAILED, &o, 152, 2);
    memory.u64[9] = 1;
    memory.u64[10] = 2;
    assert_view(HAC_NOT_FOUND, &o, 152, 3);
}

static void test_view_refused(void **state)
{
    (void)state;
    const hac_op_operand good = {HAC_VECTOR_VARIABLE_LEN, HAC_VECTOR_OF_I32, 0, 0, 0, 0, 3, 1, 3, 64, 0, 0};
    hac_vector *vector = NULL;
    memset(&memory, 0, sizeof memory);
    assert_view(HAC_NOT_FOUND, &good, 76, 0);
    hac_op_operand bad[] = {good, good, good, good, good, good, good, good};
    bad[0].values = 60;
    bad[1].offsets = 448 + 64;
    bad[2].entries = UINT64_MAX / 2;
    bad[3].rows = UINT64_MAX;
    bad[4].columns = 0;
    bad[5].columns = 2;
    bad[6].form = HAC_VECTOR_END;
    bad[7].kind = HAC_VECTOR_OF_STRING;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_view(HAC_INVALID, &bad[i], sizeof memory, 0);
    assert_int_equal(hac_vector_view(&good, memory.bytes + 8, 256, &vector, NULL), HAC_INVALID);
    assert_int_equal(hac_vector_view(&good, NULL, 256, &vector, NULL), HAC_INVALID);
    hac_op_operand var = {HAC_VECTOR_VAR, HAC_VECTOR_OF_F64, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0};
    assert_view(HAC_INVALID, &var, sizeof memory, 0);
    var.rows = 1;
    assert_view(HAC_NOT_FOUND, &var, 8, 1);
}

/* ---- hacd refuses ---- */

static bool refuse_once(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    bool *refused = fake_context(session->daemon);
    (void)frame;
    if (request->what_case != HAC__CLIENT__REQUEST__WHAT_BUFFER_ALLOC || *refused)
        return false;
    *refused = true;
    fake_send_failure(session, request->serial, HAC_REFUSED, "over quota");
    return true;
}

/* The vector is unchanged after the refusal, and takes more elements. */
static void test_finish_again(void **state)
{
    (void)state;
    static model m;
    hac_error err = HAC_ERROR_NONE;
    bool refused = false;
    fake_daemon *daemon = fake_start(refuse_once, &refused);
    hac_client *client = fake_connect(daemon);
    uint64_t seed = 1;
    m.shape = (hac_vector_shape){HAC_VECTOR_SPARSE_MATRIX, HAC_VECTOR_OF_I64, 50, COLUMNS, 0};
    make_emits(&m, 100, 50, 2, &seed);
    expect(&m, 50, COLUMNS);
    hac_vector *vector = emit_all(&m.shape, m.emitted, 60);
    assert_int_equal(hac_vector_finish(vector, client, &err), HAC_REFUSED);
    assert_string_equal(err.message, "over quota");
    for (size_t i = 60; i < 100; i++)
        assert_int_equal(
            hac_vector_emit(vector, m.emitted[i].row, m.emitted[i].column, m.emitted[i].value, NULL), HAC_OK);
    assert_int_equal(hac_vector_finish(vector, client, &err), HAC_OK);
    assert_walk(vector, &m);
    hac_vector_free(vector);
    hac_client_free(client);
    fake_stop(daemon);
}

static fake_daemon *daemon_of_test;

static int setup(void **state)
{
    hac_client *client = NULL;
    int failed = fake_setup(state, NULL, &daemon_of_test, &client);
    *state = client;
    return failed;
}

/* Asserts that the client has given all pool memory back, after the daemon has handled all earlier requests.
 * */
static int teardown(void **state)
{
    hac_buffer *last = NULL;
    int lost = hac_buffer_alloc(*state, 1, &last, NULL) != HAC_OK || fake_in_use(daemon_of_test) != 1;
    hac_buffer_free(last);
    return fake_teardown(state, daemon_of_test, *state) != 0 || lost;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_against_model, setup, teardown),
        cmocka_unit_test_setup_teardown(test_open_shape, setup, teardown),
        cmocka_unit_test_setup_teardown(test_layout, setup, teardown),
        cmocka_unit_test(test_bad_shapes),
        cmocka_unit_test_setup_teardown(test_bad_emits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_too_large, setup, teardown),
        cmocka_unit_test_setup_teardown(test_room, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shrinks_under_walk, setup, teardown),
        cmocka_unit_test(test_view),
        cmocka_unit_test(test_view_refused),
        cmocka_unit_test(test_finish_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
