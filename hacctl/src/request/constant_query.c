/* SPDX-License-Identifier: Apache-2.0 */
#include "constant_query.h"

#include <math.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "base/value_text.h"
#include "number_table.h"

void hac_constant_query_clear(hac_constant_query *query)
{
    free(query->schema);
    free(query->where);
    free(query->group_by);
    free(query->select);
    *query = (hac_constant_query){.schema = NULL};
}

/* ---- parts of expressions ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether a name needs no quotes because it is surely not a word of the language: x, x7. */
static bool may_stand_bare(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < n; i++)
        if (!is_letter(name[i]) && !(i > 0 && is_digit(name[i])))
            return false;
    return n == 1 || (n > 1 && is_digit(name[n - 1]));
}

static void add_name(hac_text *text, const char *name)
{
    if (may_stand_bare(name))
        hac_text_add(text, name);
    else
        hac_text_add_name(text, name);
}

/* Writes an exponent, which makes the number an f64 also beside integers and decimals. */
static void add_number(hac_text *text, double value)
{
    char digits[HAC_PRINT_MAX];
    size_t n = hac_print_f64(value, digits);
    bool exponent = memchr(digits, 'e', n) != NULL;
    if (!exponent && digits[n - 1] == '0' && digits[n - 2] == '.')
        n -= 2;
    hac_text_add_bytes(text, digits, n);
    hac_text_add(text, exponent ? "" : "e0");
}

/* ---- limits ---- */

#define TEXTS_MAX    32512 /* of all texts: a message has 32 KiB */
#define PARTS_MAX    8192  /* of all expressions of a query */
#define VALUES_MAX   250   /* at the same time; the limit is 256 */
#define PRODUCTS_MAX 900   /* 39 bytes each of HAC_QUERY_BYTES_MAX */

static hac_status check_texts(const hac_constant_query *query, const char *path,
                              const hac_number_table *table, hac_error *err)
{
    const char *const texts[] = {query->schema, query->where, query->group_by, query->select};
    size_t total = 0;
    bool fit = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t bytes = texts[i] != NULL ? strlen(texts[i]) : 0;
        fit = fit && bytes <= HAC_EXPRESSION_MAX;
        total += bytes;
    }
    if (fit && total <= TEXTS_MAX)
        return HAC_OK;
    return hac_fail(err, HAC_INVALID,
                    "%.200s: %zu rows of %zu columns become expressions of %zu bytes; at most %d are "
                    "possible: use fewer rows or fewer digits",
                    path, table->rows, table->columns, total, HAC_EXPRESSION_MAX);
}

/* ---- k-means ---- */

/* The columns of the table that are coordinates. */
typedef struct dimensions {
    size_t of[HAC_COLUMNS_MAX];
    size_t n;
} dimensions;

static hac_status find_dimensions(const hac_number_table *table, const char *path, dimensions *ret,
                                  hac_error *err)
{
    ret->n = 0;
    if (table->names == NULL)
        return hac_fail(err, HAC_INVALID,
                        "%.200s:1: the first line must name the columns as the points' header does", path);
    for (size_t i = 0; i < table->columns; i++)
        if (strcmp(table->names[i], "cluster") != 0 && strcmp(table->names[i], "count") != 0)
            ret->of[ret->n++] = i;
    return ret->n > 0
               ? HAC_OK
               : hac_fail(err, HAC_INVALID, "%.200s:1: there is no column besides cluster and count", path);
}

/* A power of two that keeps the squares of distances within f64; 1 for centroids of ordinary size. It
 * follows from the largest coordinate, or if that is tiny, from the smallest one. */
static double factor_of(const hac_number_table *table, const dimensions *d)
{
    double max = 0;
    for (size_t i = 0; i < table->rows * d->n; i++) {
        double c = fabs(table->values[i / d->n * table->columns + d->of[i % d->n]]);
        max = c > max ? c : max;
    }
    if (max == 0 || !isfinite(max) || (max > 0x1p-300 && max < 0x1p400))
        return 1;
    return ldexp(1, max < 1 && ilogb(max) < -1000 ? 1000 : -ilogb(max));
}

/* Adds Σ(x-c)*(x-c); the compiler evaluates it once although the text contains it twice. |c|²-2xc is
 * shorter, but loses all digits for points that are far from zero and close to each other. */
static void add_distance(hac_text *text, const hac_number_table *table, const dimensions *d, size_t row)
{
    double factor = factor_of(table, d);
    for (size_t i = 0; i < d->n; i++) {
        double c = table->values[row * table->columns + d->of[i]] * factor;
        for (size_t side = 0; side < 2; side++) {
            hac_text_add(text, side == 1 ? "*(" : i > 0 ? "+(" : "(");
            add_name(text, table->names[d->of[i]]);
            if (factor < 1 || factor > 1) {
                hac_text_add(text, "*");
                add_number(text, factor);
            }
            hac_text_add(text, c < 0 ? "+" : "-");
            add_number(text, fabs(c));
            hac_text_add(text, ")");
        }
    }
}

/* Adds: case least(d0,d1) when d0 then 0 else 1 end as cluster */
static void add_nearest(hac_text *text, const hac_number_table *table, const dimensions *d)
{
    hac_text_add(text, "case least(");
    add_distance(text, table, d, 0);
    for (size_t i = 1; i < table->rows || i == 1; i++) { /* least() needs two arguments */
        hac_text_add(text, ",");
        add_distance(text, table, d, i % table->rows);
    }
    hac_text_add(text, ")");
    for (size_t i = 0; i + 1 < table->rows || i == 0; i++) {
        hac_text_add(text, " when ");
        add_distance(text, table, d, i);
        hac_text_addf(text, " then %zu", i);
    }
    hac_text_addf(text, " else %zu end as cluster", table->rows - 1);
}

/* Adds `pattern` for each column; a $ in it becomes the column's name. */
static void add_each(hac_text *text, const hac_number_table *table, const dimensions *d, const char *pattern,
                     const char *between)
{
    for (size_t i = 0; i < d->n; i++) {
        hac_text_add(text, i > 0 ? between : "");
        for (const char *c = pattern; *c != '\0'; c++) {
            if (*c == '$')
                add_name(text, table->names[d->of[i]]);
            else
                hac_text_add_bytes(text, c, 1);
        }
    }
}

static hac_status k_means_texts(const hac_number_table *table, const dimensions *d, const char *where,
                                hac_constant_query *ret, hac_error *err)
{
    hac_text schema = HAC_TEXT_NONE, filter = HAC_TEXT_NONE, key = HAC_TEXT_NONE, select = HAC_TEXT_NONE;
    add_each(&schema, table, d, "$:f64", ",");
    if (where != NULL && *where != '\0')
        hac_text_addf(&filter, "(%s) and ", where);
    add_each(&filter, table, d, "$ is not null", " and ");
    add_nearest(&key, table, d);
    add_each(&select, table, d, "avg($) as $", ",");
    hac_text_add(&select, ",count() as count");
    hac_status status[] = {
        hac_text_finish(&schema, &ret->schema, NULL, err), hac_text_finish(&filter, &ret->where, NULL, err),
        hac_text_finish(&key, &ret->group_by, NULL, err), hac_text_finish(&select, &ret->select, NULL, err)};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i] != HAC_OK)
            return status[i];
    return HAC_OK;
}

/* A distance has 8 parts for each column, minus one. Each centroid has one distance in least(), and each
 * but the last another in the case. All distances, and whether each is the smallest, exist at the same
 * time. */
static hac_status check_k_means(const hac_number_table *table, const dimensions *d, const char *path,
                                hac_error *err)
{
    size_t by_parts = (PARTS_MAX + 2 * d->n) / (16 * d->n + 1);
    size_t by_values = d->n < VALUES_MAX ? (VALUES_MAX - d->n) / 2 : 0;
    size_t max = by_parts < by_values ? by_parts : by_values;
    if (table->rows > max)
        return hac_fail(err, HAC_INVALID,
                        "%.200s: %zu centroids of %zu columns; k-means takes at most %zu of them", path,
                        table->rows, d->n, max);
    return HAC_OK;
}

hac_status hac_constant_query_k_means(const char *centroids, const char *where, hac_constant_query *ret,
                                      hac_error *err)
{
    hac_cleanup(hac_number_table_clear) hac_number_table table = {.names = NULL};
    dimensions d;
    hac_status status = hac_number_table_read(centroids, &table, err);
    if (status == HAC_OK)
        status = find_dimensions(&table, centroids, &d, err);
    if (status == HAC_OK)
        status = check_k_means(&table, &d, centroids, err);
    if (status == HAC_OK)
        status = k_means_texts(&table, &d, where, ret, err);
    return status == HAC_OK ? check_texts(ret, centroids, &table, err) : status;
}

/* ---- product of matrices ---- */

/* Finds how the files of rows name their columns, and checks that there are as many columns as the matrix
 * has rows. */
static hac_status name_columns(const hac_number_table *matrix, const char *matrix_path, const char *rows,
                               char delimiter, hac_number_table *ret, hac_error *err)
{
    if (delimiter == '\0')
        return HAC_OK;
    hac_status status = hac_number_table_read_header(rows, delimiter, ret, err);
    if (status == HAC_OK && ret->columns > 0 && ret->columns != matrix->rows)
        return hac_fail(err, HAC_INVALID,
                        "%.200s has %zu columns and %.200s %zu rows; the numbers must be equal", rows,
                        ret->columns, matrix_path, matrix->rows);
    return status;
}

/* Adds the i-th column of the rows: its name in their header, or a1, a2 … */
static void add_column(hac_text *text, const hac_number_table *header, size_t i)
{
    if (header->names != NULL)
        add_name(text, header->names[i]);
    else
        hac_text_addf(text, "a%zu", i + 1);
}

/* Adds: a1*2e0+a2*-5e-1 as c1 */
static void add_products(hac_text *text, const hac_number_table *matrix, const hac_number_table *header,
                         size_t column)
{
    for (size_t i = 0; i < matrix->rows; i++) {
        hac_text_add(text, i > 0 ? "+" : "");
        add_column(text, header, i);
        hac_text_add(text, "*");
        add_number(text, matrix->values[i * matrix->columns + column]);
    }
    hac_text_add(text, " as ");
    if (matrix->names != NULL)
        add_name(text, matrix->names[column]);
    else
        hac_text_addf(text, "c%zu", column + 1);
}

static hac_status multiply_texts(const hac_number_table *matrix, const hac_number_table *header,
                                 hac_constant_query *ret, hac_error *err)
{
    hac_text schema = HAC_TEXT_NONE, select = HAC_TEXT_NONE;
    for (size_t i = 0; i < matrix->rows; i++) {
        hac_text_add(&schema, i > 0 ? "," : "");
        add_column(&schema, header, i);
        hac_text_add(&schema, ":f64");
    }
    for (size_t i = 0; i < matrix->columns; i++) {
        hac_text_add(&select, i > 0 ? "," : "");
        add_products(&select, matrix, header, i);
    }
    ret->no_header = header->names == NULL;
    hac_status status[] = {hac_text_finish(&schema, &ret->schema, NULL, err),
                           hac_text_finish(&select, &ret->select, NULL, err)};
    return status[0] != HAC_OK ? status[0] : status[1];
}

static hac_status check_matrix(const hac_number_table *matrix, const char *path, hac_error *err)
{
    size_t numbers = matrix->rows * matrix->columns;
    if (numbers > PRODUCTS_MAX)
        return hac_fail(err, HAC_INVALID,
                        "%.200s: %zu rows of %zu columns are %zu numbers; matrix-multiply takes at most %d",
                        path, matrix->rows, matrix->columns, numbers, PRODUCTS_MAX);
    if (matrix->rows + matrix->columns > VALUES_MAX)
        return hac_fail(err, HAC_INVALID,
                        "%.200s: %zu rows and %zu columns; matrix-multiply takes at most %d of both together",
                        path, matrix->rows, matrix->columns, VALUES_MAX);
    return HAC_OK;
}

hac_status hac_constant_query_multiply(const char *matrix_path, const char *rows, char delimiter,
                                       hac_constant_query *ret, hac_error *err)
{
    hac_cleanup(hac_number_table_clear) hac_number_table matrix = {.names = NULL}, header = {.names = NULL};
    hac_status status = hac_number_table_read(matrix_path, &matrix, err);
    if (status == HAC_OK)
        status = check_matrix(&matrix, matrix_path, err);
    if (status == HAC_OK)
        status = name_columns(&matrix, matrix_path, rows, delimiter, &header, err);
    if (status == HAC_OK)
        status = multiply_texts(&matrix, &header, ret, err);
    return status == HAC_OK ? check_texts(ret, matrix_path, &matrix, err) : status;
}
