/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A logic file with vectors of every template as inputs, through libhac-opsplit and a running hacd: what
 * comes back, and the inputs themselves, against plain loops; then what is refused.
 *
 *     opsplit_program FILE.yaml ROWS [FOLDER]   (FOLDER: the file's outputs)
 *     opsplit_program FILE.yaml wrong
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hac/opsplit.h>

enum { A, X, K, P, S, V, T, INPUTS };
static const char *const names[INPUTS] = {"a", "x", "k", "p", "s", "v", "t"};

static void must(int ok, const char *what, const hac_error *err)
{
    if (ok)
        return;
    fprintf(stderr, "%s: %s\n", what, err != NULL ? err->message : "");
    exit(1);
}

static uint64_t next_random(void)
{
    static uint64_t x = 88172645463325252u;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x >> 20;
}

/* What the plain loops know: sums of whole numbers, which are exact in any order. */
typedef struct oracle {
    uint64_t rows, words;
    double *x, *y, *ps;
    int64_t *d, *vs;
} oracle;

static void emit(hac_vector *v, uint64_t row, uint64_t column, hac_vector_value value)
{
    hac_error err = HAC_ERROR_NONE;
    must(hac_vector_emit(v, row, column, value, &err) == HAC_OK, "emit", &err);
}

static void *numbers(uint64_t n)
{
    void *memory = calloc(n, sizeof(double));
    must(memory != NULL, "no memory", NULL);
    return memory;
}

static void new_vectors(hac_vector *v[INPUTS], uint64_t n)
{
    const hac_vector_shape shapes[INPUTS] = {[A] = {HAC_VECTOR_SPARSE_MATRIX, HAC_VECTOR_OF_F64, n, n, 0},
                                             [X] = {HAC_VECTOR_FIX_VALUE, HAC_VECTOR_OF_F64, n, 1, 0},
                                             [K] = {HAC_VECTOR_VAR, HAC_VECTOR_OF_F64, 1, 1, 0},
                                             [P] = {HAC_VECTOR_PVAR, HAC_VECTOR_OF_F64, n, 3, 0},
                                             [S] = {HAC_VECTOR_SPARSE_VALUE, HAC_VECTOR_OF_I64, n, 1, 0},
                                             [V] = {HAC_VECTOR_VARIABLE_LEN, HAC_VECTOR_OF_I64, n, 1, 0},
                                             [T] = {HAC_VECTOR_SPARSE_TEXT, HAC_VECTOR_OF_STRING, n, 1, 0}};
    hac_error err = HAC_ERROR_NONE;
    for (int i = 0; i < INPUTS; i++)
        must(hac_vector_new(&shapes[i], &v[i], &err) == HAC_OK, names[i], &err);
}

static void emit_row(hac_vector *v[INPUTS], oracle *o, uint64_t row)
{
    static const char text[] = "one two  three";
    static const unsigned words[] = {0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3}; /* of its first n bytes */
    uint64_t bytes = next_random() % sizeof text;
    emit(v[T], row, 0, hac_vector_text(text, bytes));
    o->words += words[bytes];
    for (uint64_t column = row % 3; column < o->rows; column += o->rows / 4 + 1) {
        double value = (double)(next_random() % 100);
        emit(v[A], row, column, hac_vector_f64(value));
        o->y[row] += 2 * value * o->x[column];
    }
    for (uint64_t column = 0; column < 3; column++) {
        double value = (double)(next_random() % 1000);
        emit(v[P], row, column, hac_vector_f64(value));
        o->ps[row] += value;
    }
    for (uint64_t i = next_random() % 4; i > 0; i--) {
        int64_t value = (int64_t)(next_random() % 1000) - 500;
        emit(v[V], row, 0, hac_vector_i64(value));
        o->vs[row] += value;
    }
    if (row % 5 == 0)
        emit(v[S], row, 0, hac_vector_i64(o->d[row] = (int64_t)row - 7));
}

/* Rows in an order of their own. */
static void fill(hac_vector *v[INPUTS], oracle *o)
{
    o->x = numbers(o->rows);
    o->y = numbers(o->rows);
    o->ps = numbers(o->rows);
    o->d = numbers(o->rows);
    o->vs = numbers(o->rows);
    for (uint64_t i = 0; i < o->rows; i++)
        emit(v[X], i, 0, hac_vector_f64(o->x[i] = (double)(next_random() % 50)));
    for (uint64_t i = 0; i < o->rows; i++)
        emit_row(v, o, o->rows % 7 == 0 ? i : i * 7 % o->rows);
    emit(v[K], 0, 0, hac_vector_f64(2));
}

static void finish(hac_client *client, hac_vector *v[INPUTS])
{
    hac_error err = HAC_ERROR_NONE;
    for (int i = 0; i < INPUTS; i++)
        must(hac_vector_finish(v[i], client, &err) == HAC_OK, names[i], &err);
}

static void use_all(hac_vector *v[INPUTS], hac_opsplit_input inputs[INPUTS], hac_opsplit_options *ret)
{
    *ret = (hac_opsplit_options)HAC_OPSPLIT_OPTIONS_INIT;
    for (int i = 0; i < INPUTS; i++)
        inputs[i] = (hac_opsplit_input){names[i], NULL, v[i]};
    ret->inputs = inputs;
    ret->n_inputs = INPUTS;
}

/* ---- what comes back ---- */

static uint64_t walk_numbers(const hac_vector *v, const char *name, const double *f64, const int64_t *i64)
{
    hac_vector_iterator *walk = NULL;
    hac_vector_entry entry;
    hac_error err = HAC_ERROR_NONE;
    hac_status status;
    uint64_t n = 0;
    must(hac_vector_iter(v, &walk, &err) == HAC_OK, name, &err);
    for (; (status = hac_vector_next(walk, &entry, &err)) == HAC_OK; n++) {
        must(entry.row == n && entry.column == 0, name, NULL);
        must(f64 != NULL ? entry.value.f64 == f64[n] : entry.value.i64 == i64[n], name, NULL);
    }
    must(status == HAC_NOT_FOUND, name, &err);
    hac_vector_iter_free(walk);
    return n;
}

static int same_value(const hac_vector_value *a, const hac_vector_value *b)
{
    if (a->type != b->type)
        return 0;
    return a->type == HAC_VECTOR_OF_STRING ? a->bytes == b->bytes && memcmp(a->text, b->text, a->bytes) == 0
                                           : a->u64 == b->u64;
}

static void check_same(const hac_vector *a, const hac_vector *b, const char *name)
{
    hac_vector_iterator *walk_a = NULL, *walk_b = NULL;
    hac_vector_entry x, y;
    hac_error err = HAC_ERROR_NONE;
    hac_status status;
    must(hac_vector_iter(a, &walk_a, &err) == HAC_OK && hac_vector_iter(b, &walk_b, &err) == HAC_OK, name,
         &err);
    while ((status = hac_vector_next(walk_a, &x, &err)) == HAC_OK) {
        must(hac_vector_next(walk_b, &y, &err) == HAC_OK, name, &err);
        must(x.row == y.row && x.column == y.column && same_value(&x.value, &y.value), name, NULL);
    }
    must(status == HAC_NOT_FOUND && hac_vector_next(walk_b, &y, &err) == HAC_NOT_FOUND, name, &err);
    hac_vector_iter_free(walk_a);
    hac_vector_iter_free(walk_b);
}

static uint64_t count(const hac_vector *v)
{
    hac_op_operand operand;
    must(hac_vector_operand(v, &operand, NULL) == HAC_OK, "operand", NULL);
    return operand.rows;
}

static void check_results(hac_vector *const results[], hac_vector *const v[INPUTS], const oracle *o)
{
    must(walk_numbers(results[0], "y", o->y, NULL) == o->rows, "y's rows", NULL);
    must(walk_numbers(results[1], "ps", o->ps, NULL) == o->rows, "ps's rows", NULL);
    must(walk_numbers(results[2], "d", NULL, o->d) == o->rows, "d's rows", NULL);
    must(walk_numbers(results[3], "vs", NULL, o->vs) == o->rows, "vs's rows", NULL);
    must(count(results[4]) == o->words, "words", NULL);
    for (int i = 0; i < INPUTS; i++)
        check_same(v[i], results[5 + i], names[i]);
}

static void run(hac_client *client, const char *file, hac_vector *v[INPUTS], uint64_t rows,
                const char *folder)
{
    hac_opsplit_input inputs[INPUTS];
    hac_opsplit_options options;
    hac_vector *back[5 + INPUTS] = {NULL};
    hac_opsplit_result results[5 + INPUTS] = {
        {"y", &back[0]}, {"ps", &back[1]}, {"d", &back[2]}, {"vs", &back[3]}, {"words", &back[4]}};
    hac_error err = HAC_ERROR_NONE;
    oracle o = {.rows = rows};
    for (int i = 0; i < INPUTS; i++)
        results[5 + i] = (hac_opsplit_result){names[i], &back[5 + i]};
    fill(v, &o);
    finish(client, v);
    use_all(v, inputs, &options);
    options.results = results;
    options.n_results = 5 + INPUTS;
    options.output = folder;
    must(hac_opsplit_run(client, file, &options, &err) == HAC_OK, "run", &err);
    check_results(back, v, &o);
    for (int i = 0; i < 5 + INPUTS; i++)
        hac_vector_free(back[i]);
    free(o.x);
    free(o.y);
    free(o.ps);
    free(o.d);
    free(o.vs);
}

/* ---- what is refused ---- */

static const char *file_of_logic;

/* Input `i` is another one. */
static void refused(hac_client *client, hac_vector *v[INPUTS], int i, hac_opsplit_input other,
                    hac_status wanted, const char *message)
{
    hac_opsplit_input inputs[INPUTS];
    hac_opsplit_options options;
    hac_error err = HAC_ERROR_NONE;
    use_all(v, inputs, &options);
    inputs[i] = other;
    must(hac_opsplit_run(client, file_of_logic, &options, &err) == wanted &&
             strstr(err.message, message) != NULL,
         message, &err);
}

static hac_vector *small(hac_client *client, hac_vector_template form, hac_vector_type type, uint64_t rows,
                         uint64_t columns)
{
    const hac_vector_shape shape = {form, type, rows, columns, 0};
    hac_vector *v = NULL;
    hac_error err = HAC_ERROR_NONE;
    must(hac_vector_new(&shape, &v, &err) == HAC_OK &&
             (client == NULL || hac_vector_finish(v, client, &err) == HAC_OK),
         "small", &err);
    return v;
}

static void refuse_vector(hac_client *client, hac_vector *v[INPUTS], int i, hac_vector *other,
                          const char *message)
{
    refused(client, v, i, (hac_opsplit_input){names[i], NULL, other}, HAC_INVALID, message);
    hac_vector_free(other);
}

static void refuse_damaged(hac_client *client, hac_vector *v[INPUTS])
{
    static _Alignas(64) uint64_t memory[16] = {0, 2, 1, 2}; /* offsets, then values at 64 */
    const hac_op_operand operand = {
        HAC_VECTOR_VARIABLE_LEN, HAC_VECTOR_OF_I64, 0, 0, 0, 0, 3, 1, 2, 64, 0, 0};
    hac_vector *view = NULL;
    must(hac_vector_view(&operand, memory, sizeof memory, &view, NULL) == HAC_OK, "view", NULL);
    refused(client, v, V, (hac_opsplit_input){"v", NULL, view}, HAC_FAILED,
            "input v: row 1 of the vector: its offsets do not ascend");
    memory[1] = memory[2] = 2; /* and now they do */
    memory[3] = 2;
    hac_vector *back = NULL;
    const hac_opsplit_result result = {"vs", &back};
    hac_opsplit_input inputs[INPUTS];
    hac_opsplit_options options;
    hac_error err = HAC_ERROR_NONE;
    use_all(v, inputs, &options);
    inputs[V].vector = view;
    options.results = &result;
    options.n_results = 1;
    must(hac_opsplit_run(client, file_of_logic, &options, &err) == HAC_OK, "a view", &err);
    must(walk_numbers(back, "vs of a view", NULL, (int64_t[]){0, 0, 0}) == 3, "vs of a view", NULL);
    hac_vector_free(back);
    hac_vector_free(view);
}

static void refuse_others(hac_client *client, hac_vector *v[INPUTS])
{
    hac_opsplit_input inputs[INPUTS];
    hac_opsplit_options options;
    hac_vector *none = NULL;
    const hac_opsplit_result result = {"nobody", &none};
    hac_error err = HAC_ERROR_NONE;
    use_all(v, inputs, &options);
    options.n_inputs--;
    must(hac_opsplit_run(client, file_of_logic, &options, &err) == HAC_INVALID &&
             strstr(err.message, "input t is not given") != NULL,
         "one less", &err);
    options.n_inputs++;
    options.results = &result;
    options.n_results = 1;
    must(hac_opsplit_run(client, file_of_logic, &options, &err) == HAC_INVALID &&
             strstr(err.message, "no vector called nobody") != NULL && none == NULL,
         "nobody", &err);
    must(hac_opsplit_run(client, "/nowhere.yaml", NULL, &err) == HAC_NOT_FOUND, "nowhere", &err);
}

static void wrong(hac_client *client, hac_vector *v[INPUTS])
{
    finish(client, v);
    refuse_vector(client, v, X, small(client, HAC_VECTOR_FIX_VALUE, HAC_VECTOR_OF_F32, 4, 1),
                  "input x is a FixValueVector of f64 in the logic file, and the program passes in a "
                  "FixValueVector of f32");
    refuse_vector(client, v, X, small(client, HAC_VECTOR_PVAR, HAC_VECTOR_OF_F64, 4, 1),
                  "passes in a PVar of f64");
    refuse_vector(client, v, X, small(client, HAC_VECTOR_FIX_VALUE, HAC_VECTOR_OF_F64, 5, 1),
                  "input x has 5 rows; it has to have 4 (rows of a)");
    refuse_vector(client, v, X, small(client, HAC_VECTOR_FIX_VALUE, HAC_VECTOR_OF_F64, 4, 2),
                  "input x has 2 columns; it has to have 1");
    refuse_vector(client, v, A, small(client, HAC_VECTOR_SPARSE_MATRIX, HAC_VECTOR_OF_F64, 4, 5),
                  "input a has 5 columns; it has to have 4 (rows of a)");
    refuse_vector(client, v, X, small(NULL, HAC_VECTOR_FIX_VALUE, HAC_VECTOR_OF_F64, 4, 1),
                  "input x: the vector is not laid out");
    refused(client, v, X, (hac_opsplit_input){"x", "x.csv", NULL}, HAC_INVALID, "cannot be read from x.csv");
    refused(client, v, X, (hac_opsplit_input){"x", NULL, NULL}, HAC_INVALID, "either a path or a vector");
    refused(client, v, X, (hac_opsplit_input){"a", NULL, v[A]}, HAC_INVALID, "input a is given twice");
    refused(client, v, X, (hac_opsplit_input){"z", NULL, v[X]}, HAC_INVALID, "has no input called z");
    refuse_damaged(client, v);
    refuse_others(client, v);
}

int main(int argc, char **argv)
{
    hac_error err = HAC_ERROR_NONE;
    hac_client *client = NULL;
    hac_vector *v[INPUTS] = {NULL};
    must(argc >= 3, "FILE.yaml ROWS [FOLDER]", NULL);
    file_of_logic = argv[1];
    uint64_t rows = strcmp(argv[2], "wrong") == 0 ? 4 : strtoull(argv[2], NULL, 10);
    must(hac_client_connect(NULL, &client, &err) == HAC_OK, "connect", &err);
    new_vectors(v, rows);
    if (strcmp(argv[2], "wrong") == 0)
        wrong(client, v);
    else
        run(client, argv[1], v, rows, argc > 3 ? argv[3] : NULL);
    for (int i = 0; i < INPUTS; i++)
        hac_vector_free(v[i]);
    hac_client_free(client);
    return 0;
}
