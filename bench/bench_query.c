/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries of columns in pool memory, on request, so that a peer can take turns: commands come on stdin, one a
 * line, each is answered with one line of JSON.
 *
 * table u32|string ROWS KEYS SKEW DIRECTORY: makes columns `key` and `value` (f64) and writes their buffers
 * to files of DIRECTORY: keys, values, offsets (of strings).
 *
 * group HOT: sum(value) and count() by key. HOT: auto; on or off: by device kernels, sum(key).
 * Timed from the call to having read the result's columns.
 *
 * receipt JOB: the receipt.
 *
 * small N: N queries of 1,000 rows of csv, no two alike: p50, p99.
 *
 * parquet csv|table FILE [TAB WHERE [TAB GROUP-BY [TAB SELECT [TAB ORDER-BY]]]]: a query of a file. Timed
 * from the call to the result's being there, as columns; of csv the answer has the text, too.
 *
 * KEYS is how many keys there can be: ranks 0 … KEYS - 1, scattered over all of u32 when SKEW is not below 0
 * (-1: uniform and dense; 0: uniform; s > 0: Zipf with exponent s). A string is "k" and the scattered number.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hac/hac.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define ALIGNMENT  64
#define SMALL_ROWS 1000
#define SMALL_MAX  100000

typedef struct table {
    hac_client *client;
    hac_buffer *buffer; /* offsets of strings, keys, values */
    uint64_t rows;
    bool strings;
    uint8_t *keys;
    double *values;
    int32_t *offsets;
} table;

static void die(const char *what)
{
    fprintf(stderr, "bench_query: %s\n", what);
    exit(1);
}

static void check(hac_status status, const hac_error *err)
{
    if (status != HAC_OK)
        die(err->message);
}

/* ---- columns ---- */

static uint64_t next_random(uint64_t *seed) /* splitmix64 */
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Zipf by inversion of the continuous law. */
static uint32_t draw(uint64_t r, double keys, double skew)
{
    double u = (double)(r >> 11) / 9007199254740992.0, rank = u * keys;
    if (skew > 0)
        rank = pow(u * (pow(keys, 1 - skew) - 1) + 1, 1 / (1 - skew)) - 1;
    return skew < 0 ? (uint32_t)rank : (uint32_t)rank * 2654435761u;
}

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t put_string(uint8_t *to, uint32_t key)
{
    uint8_t digits[10];
    size_t n = 0, at = 0;
    to[at++] = 'k';
    do
        digits[n++] = (uint8_t)('0' + key % 10);
    while ((key /= 10) != 0);
    while (n > 0)
        to[at++] = digits[--n];
    return at;
}

static void make_table(table *t, uint64_t rows, double keys, double skew)
{
    hac_error err = HAC_ERROR_NONE;
    uint64_t offsets = t->strings ? aligned((rows + 1) * sizeof(int32_t)) : 0, seed = 1;
    uint64_t key_bytes = aligned(rows * (t->strings ? 11 : sizeof(uint32_t))), at = 0;
    hac_buffer_free(t->buffer);
    check(hac_buffer_alloc(t->client, offsets + key_bytes + rows * sizeof(double), &t->buffer, &err), &err);
    uint8_t *memory = hac_buffer_data(t->buffer);
    t->rows = rows;
    t->offsets = (int32_t *)(void *)memory;
    t->keys = memory + offsets;
    t->values = (double *)(void *)(t->keys + key_bytes);
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t r = next_random(&seed);
        uint32_t key = draw(r, keys, skew);
        if (t->strings) {
            t->offsets[i] = (int32_t)at;
            at += put_string(t->keys + at, key);
        } else {
            memcpy(t->keys + i * sizeof key, &key, sizeof key);
        }
        t->values[i] = (double)(r & 0xffff);
    }
    if (t->strings)
        t->offsets[rows] = (int32_t)at;
}

static void write_file(const char *directory, const char *name, const void *data, uint64_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0)
        die(strerror(errno));
}

static void write_table(const table *t, const char *directory)
{
    uint64_t bytes = t->strings ? (uint64_t)t->offsets[t->rows] : t->rows * sizeof(uint32_t);
    write_file(directory, "keys", t->keys, bytes);
    write_file(directory, "values", t->values, t->rows * sizeof(double));
    if (t->strings)
        write_file(directory, "offsets", t->offsets, (t->rows + 1) * sizeof(int32_t));
}

/* ---- groups ---- */

static void keep_schema(struct ArrowSchema *schema)
{
    (void)schema;
}

static void keep_array(struct ArrowArray *array)
{
    (void)array;
}

static hac_job *submit(const table *t, const hac_query_options *options)
{
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    const void *key_buffers[] = {NULL, t->strings ? (void *)t->offsets : (void *)t->keys, t->keys};
    const void *value_buffers[] = {NULL, t->values}, *no_buffers[] = {NULL};
    int64_t rows = (int64_t)t->rows;
    struct ArrowSchema key = {.format = t->strings ? "u" : "I", .name = "key", .release = keep_schema};
    struct ArrowSchema value = {.format = "g", .name = "value", .release = keep_schema};
    struct ArrowSchema *schemas[] = {&key, &value};
    struct ArrowSchema schema = {
        .format = "+s", .n_children = 2, .children = schemas, .release = keep_schema};
    struct ArrowArray keys = {
        .length = rows, .n_buffers = t->strings ? 3 : 2, .buffers = key_buffers, .release = keep_array};
    struct ArrowArray values = {
        .length = rows, .n_buffers = 2, .buffers = value_buffers, .release = keep_array};
    struct ArrowArray *arrays[] = {&keys, &values};
    struct ArrowArray array = {.length = rows,
                               .n_buffers = 1,
                               .buffers = no_buffers,
                               .n_children = 2,
                               .children = arrays,
                               .release = keep_array};
    check(hac_query_arrow(t->client, &schema, &array, options, &job, &err), &err);
    check(hac_job_wait(job, -1, &err), &err);
    return job;
}

typedef struct totals {
    uint64_t groups, count, key_bytes;
    double sum;
} totals;

static uint64_t read_bytes(const uint8_t *data, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += data[i];
    return sum;
}

/* Reads every value of the result, as its user would. */
static totals read_result(const struct ArrowArray *array, bool strings, bool integers)
{
    totals r = {.groups = (uint64_t)array->length};
    const struct ArrowArray *keys = array->children[0];
    const double *sums = array->children[1]->buffers[1];
    const int64_t *whole = array->children[1]->buffers[1];
    const uint64_t *counts = array->children[2]->buffers[1];
    for (uint64_t i = 0; i < r.groups; i++) {
        r.sum += integers ? (double)whole[i] : sums[i];
        r.count += counts[i];
    }
    const int32_t *offsets = keys->buffers[1];
    r.key_bytes = strings ? read_bytes(keys->buffers[2], (uint64_t)offsets[r.groups])
                          : read_bytes(keys->buffers[1], r.groups * sizeof(uint32_t));
    return r;
}

static void group(const table *t, const char *hot)
{
    hac_error err = HAC_ERROR_NONE;
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    bool asked = strcmp(hot, "auto") != 0;
    struct ArrowSchema schema;
    struct ArrowArray array;
    options.group_by = "key";
    options.select = asked ? "sum(key) as sum, count() as count" : "sum(value) as sum, count() as count";
    options.result_format = HAC_RESULT_TABLE;
    options.engine = asked ? HAC_ENGINE_DEVICE : HAC_ENGINE_AUTO;
    options.hot_keys = strcmp(hot, "on") == 0    ? HAC_HOT_KEYS_ON
                       : strcmp(hot, "off") == 0 ? HAC_HOT_KEYS_OFF
                                                 : HAC_HOT_KEYS_AUTO;
    uint64_t start = hac_now_ns();
    hac_job *job = submit(t, &options);
    uint64_t id = hac_job_id(job);
    check(hac_job_export_arrow(job, &schema, &array, &err), &err);
    totals r = read_result(&array, t->strings, asked);
    double seconds = hac_seconds_since(start);
    array.release(&array);
    schema.release(&schema);
    hac_job_free(job);
    printf("{\"seconds\":%.9f,\"job\":%" PRIu64 ",\"groups\":%" PRIu64 ",\"count\":%" PRIu64
           ",\"sum\":%.17g}\n",
           seconds, id, r.groups, r.count, r.sum);
}

static void receipt(hac_client *client, uint64_t job)
{
    hac_error err = HAC_ERROR_NONE;
    hac_autofree char *text = NULL;
    check(hac_client_query(client, HAC_TOPIC_RECEIPT, job, HAC_PLAN_JSON, &text, &err), &err);
    text[strcspn(text, "\n")] = 0;
    puts(text);
}

/* ---- small ones ---- */

static double small_query(hac_client *client, const char *csv, unsigned number)
{
    char where[64], select[96];
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    snprintf(where, sizeof where, "amount > %u and quantity < %u", number % 500, 40 + number / 500);
    snprintf(select, sizeof select, "count() as n, sum(amount * quantity + %u) as s%u", number, number);
    options.input_format = HAC_INPUT_CSV;
    options.schema = "name:string,amount:u32,quantity:u32,price:f64";
    options.where = where;
    options.group_by = "name";
    options.select = select;
    uint64_t start = hac_now_ns();
    check(hac_query_memory(client, csv, strlen(csv), &options, &job, &err), &err);
    check(hac_job_wait(job, -1, &err), &err);
    double seconds = hac_seconds_since(start);
    hac_job_free(job);
    return seconds;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void small(hac_client *client, unsigned n)
{
    static char csv[SMALL_ROWS * 48 + 64];
    static double seconds[SMALL_MAX];
    size_t at = (size_t)sprintf(csv, "name,amount,quantity,price\n");
    uint64_t seed = 3;
    if (n == 0 || n > SMALL_MAX)
        die("small: 1 to 100000 queries are possible");
    for (unsigned i = 0; i < SMALL_ROWS; i++) {
        uint64_t r = next_random(&seed);
        at += (size_t)sprintf(csv + at, "name%u,%u,%u,%u.%02u\n", (unsigned)(r % 30),
                              (unsigned)(r >> 10 & 1023), (unsigned)(r >> 20 & 63), (unsigned)(r >> 30 & 255),
                              (unsigned)(r >> 40 & 63));
    }
    for (unsigned i = 0; i < n; i++)
        seconds[i] = small_query(client, csv, i);
    double first = seconds[0];
    qsort(seconds, n, sizeof *seconds, by_value);
    printf("{\"rows\":%d,\"bytes\":%zu,\"queries\":%u,\"first_ms\":%.4f,\"p50_ms\":%.4f,\"p99_ms\":%.4f,"
           "\"max_ms\":%.4f}\n",
           SMALL_ROWS, at, n, first * 1e3, seconds[n / 2] * 1e3, seconds[n * 99 / 100] * 1e3,
           seconds[n - 1] * 1e3);
}

/* ---- Parquet ---- */

static void print_escaped(const char *text, uint64_t bytes)
{
    putchar('"');
    for (uint64_t i = 0; i < bytes; i++) {
        if (text[i] == '\n')
            fputs("\\n", stdout);
        else if (text[i] == '"' || text[i] == '\\')
            printf("\\%c", text[i]);
        else
            putchar(text[i]);
    }
    putchar('"');
}

/* A query of a file; `line` is path, where, group by, select, order by, with TABs between them. */
static void parquet(hac_client *client, char *line)
{
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    const char *parts[5] = {"", "", "", "", ""};
    bool csv = strncmp(line, "csv ", 4) == 0;
    line += csv ? 4 : strncmp(line, "table ", 6) == 0 ? 6 : 0;
    line[strcspn(line, "\n")] = '\0';
    for (size_t i = 0; i < 5 && line != NULL; i++)
        parts[i] = strsep(&line, "\t");
    options.input_format = HAC_INPUT_PARQUET;
    options.result_format = csv ? HAC_RESULT_CSV : HAC_RESULT_TABLE;
    options.where = parts[1];
    options.group_by = parts[2];
    options.select = parts[3];
    options.order_by = parts[4];
    hac_autoclose int fd = open(parts[0], O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        die("parquet: the file cannot be opened");
    uint64_t start = hac_now_ns();
    check(hac_query_files(client, &fd, parts, 1, &options, &job, &err), &err);
    check(hac_job_wait(job, -1, &err), &err);
    double seconds = hac_seconds_since(start);
    printf("{\"seconds\":%.9f,\"job\":%" PRIu64 ",\"result\":", seconds, hac_job_id(job));
    print_escaped(hac_job_data(job), csv ? hac_job_bytes(job) : 0);
    puts("}");
    hac_job_free(job);
}

/* ---- commands ---- */

static void answer(table *t, char *line)
{
    char type[16], directory[3072], hot[8];
    uint64_t rows, job;
    double keys, skew;
    unsigned n;
    if (sscanf(line, "table %15s %" SCNu64 " %lf %lf %3071s", type, &rows, &keys, &skew, directory) == 5) {
        t->strings = strcmp(type, "string") == 0;
        make_table(t, rows, keys, skew);
        write_table(t, directory);
        printf("{\"rows\":%" PRIu64 "}\n", rows);
    } else if (sscanf(line, "group %7s", hot) == 1 && t->buffer != NULL) {
        group(t, hot);
    } else if (sscanf(line, "receipt %" SCNu64, &job) == 1) {
        receipt(t->client, job);
    } else if (sscanf(line, "small %u", &n) == 1) {
        small(t->client, n);
    } else if (strncmp(line, "parquet ", 8) == 0) {
        parquet(t->client, line + 8);
    } else {
        die("commands: table TYPE ROWS KEYS SKEW DIRECTORY, then group HOT; receipt JOB; small N; parquet "
            "FILE …");
    }
    fflush(stdout);
}

int main(void)
{
    static char line[4096];
    table t = {0};
    hac_error err = HAC_ERROR_NONE;
    check(hac_client_connect(NULL, &t.client, &err), &err);
    while (fgets(line, sizeof line, stdin) != NULL)
        answer(&t, line);
    hac_buffer_free(t.buffer);
    hac_client_free(t.client);
    return 0;
}
