/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast sources read: bench_source FORMAT FILE [SCHEMA [ROUNDS]]. One thread; the file lies in memory and
 * is read through a descriptor in one chunk. SCHEMA is "name:type name:type …"; with csv the columns are
 * found by the header, otherwise by position. Prints the best and the median round: rows, ns a row, MB/s; of
 * processor time, which other programs disturb less.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "query/output.h"
#include "query/source.h"

#define ROUNDS_MAX 100

typedef struct bench {
    hac_query query;
    hac_field fields[64];
    uint16_t positions[64];
    uint8_t widths[64]; /* lengths: bytes of each column */
    hac_source_place place;
    bool quotes;    /* count double quotes only */
    uint8_t *text;  /* write the rows here as CSV */
    uint64_t bytes; /* that were written */
} bench;

static void die(const char *what)
{
    fprintf(stderr, "bench_source: %s\n", what);
    exit(1);
}

static void check(hac_status status, const hac_error *err)
{
    if (status != HAC_OK)
        die(err->message);
}

static hac_input_format format_of(const char *name)
{
    hac_input_format format = hac_format_named(name, strlen(name));
    if (format == HAC_INPUT_NONE)
        die("FORMAT is " HAC_FORMAT_WORDS " quotes or csv-out");
    return format;
}

static void set_schema(bench *b, const char *schema)
{
    hac_error err = HAC_ERROR_NONE;
    size_t n = 0, at = 0;
    for (const char *part = schema; *part != 0 && n < 64; n++) {
        const char *colon = strchr(part, ':');
        if (colon == NULL)
            die("SCHEMA is \"name:type name:type ...\"");
        size_t bytes = strcspn(colon + 1, " ");
        snprintf(b->fields[n].name, HAC_FIELD_NAME_MAX, "%.*s", (int)(colon - part), part);
        check(hac_value_type_parse(colon + 1, bytes, &b->fields[n].type, &err), &err);
        b->positions[n] = (uint16_t)(b->query.source.format == HAC_INPUT_FIXED ? at : n);
        b->widths[n] = (uint8_t)hac_value_size(b->fields[n].type);
        at += b->widths[n];
        part = colon + 1 + bytes;
        part += *part == ' ';
    }
    b->query.columns = (hac_schema){b->fields, n};
    b->query.positions = b->positions;
    b->query.widths = b->query.source.format == HAC_INPUT_LENGTHS ? b->widths : NULL;
    b->query.schema_columns = b->query.source.format == HAC_INPUT_FIXED ? at : n;
}

/* One pass over the source; returns its rows. */
static uint64_t pass(bench *b)
{
    hac_error err = HAC_ERROR_NONE;
    hac_source *source = NULL;
    hac_batch batch;
    hac_status status;
    uint64_t rows = 0;
    if (b->quotes) {
        check(hac_source_quotes(&b->place, 0, b->place.bytes, &rows, &err), &err);
        return rows;
    }
    hac_output_buffer output = {.data = b->text, .capacity = b->place.bytes * 2};
    check(hac_source_open(&b->query, &b->place, NULL, &source, &err), &err);
    check(hac_source_begin(source, 0, b->place.bytes, false, &err), &err);
    while ((status = hac_source_next(source, &batch, &err)) == HAC_OK) {
        rows += batch.rows;
        if (b->text != NULL)
            hac_output_rows(&output, HAC_RESULT_CSV, &b->query.columns, batch.n_columns, batch.columns,
                            batch.rows);
    }
    check(status == HAC_NOT_FOUND ? HAC_OK : status, &err);
    b->bytes = output.bytes;
    hac_source_free(source);
    return rows;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    static bench b;
    struct stat about;
    double seconds[ROUNDS_MAX];
    if (argc < 3)
        die("usage: bench_source FORMAT FILE [SCHEMA [ROUNDS]]");
    int rounds = argc > 4 ? atoi(argv[4]) : 7;
    hac_autoclose int fd = open(argv[2], O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0 || rounds < 1 || rounds > ROUNDS_MAX)
        die("FILE cannot be opened, or ROUNDS is not 1 to 100");
    bool out = strcmp(argv[1], "csv-out") == 0;
    b.quotes = strcmp(argv[1], "quotes") == 0;
    b.place = (hac_source_place){.fd = fd, .bytes = (uint64_t)about.st_size};
    b.query.source.format = b.quotes || out ? HAC_INPUT_CSV : format_of(argv[1]);
    b.query.source.options.no_header = !hac_formats[b.query.source.format].header;
    set_schema(&b, argc > 3 ? argv[3] : "");
    if (out && (b.text = calloc(b.place.bytes, 2)) == NULL)
        die("no memory for the output");
    uint64_t rows = pass(&b); /* warm-up; the file is in memory then */
    for (int i = 0; i < rounds; i++) {
        double start = processor_seconds();
        rows = pass(&b);
        seconds[i] = processor_seconds() - start;
    }
    qsort(seconds, (size_t)rounds, sizeof *seconds, compare_doubles);
    double best = seconds[0], median = seconds[rounds / 2];
    printf("%-8s %12llu rows  best %8.2f ns/row %8.1f MB/s   median %8.2f ns/row %8.1f MB/s\n", argv[1],
           (unsigned long long)rows, best * 1e9 / (double)rows, (double)b.place.bytes / best / 1e6,
           median * 1e9 / (double)rows, (double)b.place.bytes / median / 1e6);
    free(b.text);
    return 0;
}
