/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet_dump FILE [--rows FIRST END] [--batch ROWS] [--leave-out ROWS] [--no-checksums] [--page-bytes N]:
 * every leaf's values, one JSON object a line and leaf, for comparison with other readers:
 *
 *     {"rows":3,"groups":1,"leaves":2}
 *     {"column":"a","type":"i64","values":[1,null,3]}
 *     {"column":"b","type":"string","nested":"list(i64)","values":["x5b315d",null]}
 *     {"column":"d","type":"none","why":"it is in a list of lists"}
 *     {"column":"c","type":"string","error":"row group 0, column c, page 0: …"}
 *
 * Integers, dates, timestamps and unscaled decimals are numbers, floats "f" and their bits in hex, strings
 * and bytes "x" and their bytes in hex; a value that its type does not have is "range". A file that cannot be
 * opened: {"error":"…"}. Ends with 0 unless something could not be read.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "parquet/column.h"

typedef struct options {
    const char *path;
    uint64_t first, end;
    size_t batch;
    uint64_t left_out;   /* rows that are skipped after each batch */
    uint64_t page_bytes; /* 0: the default */
    bool no_checksums;
} options;

static void print_json(const char *key, const char *text, const char *behind)
{
    hac_text json = HAC_TEXT_NONE;
    hac_error err = HAC_ERROR_NONE;
    hac_autofree char *line = NULL;
    size_t bytes = 0;
    hac_json_string(&json, key, text);
    if (hac_text_finish(&json, &line, &bytes, &err) == HAC_OK)
        printf("%s%s", line, behind);
}

static void print_i128(__int128 v)
{
    char digits[48];
    size_t at = sizeof digits;
    unsigned __int128 rest = v < 0 ? 0 - (unsigned __int128)v : (unsigned __int128)v;
    digits[--at] = 0;
    do
        digits[--at] = (char)('0' + (int)(rest % 10));
    while ((rest /= 10) != 0);
    printf("%s%s", v < 0 ? "-" : "", digits + at);
}

static void print_text(const hac_column *v, size_t i)
{
    const hac_string_ref *ref = &((const hac_string_ref *)v->values)[i];
    printf("\"x");
    for (uint32_t b = 0; b < ref->length; b++)
        printf("%02x", v->bytes[ref->offset + b]);
    printf("\"");
}

static void print_value(const hac_column *v, size_t i)
{
    switch (hac_repr_of(v->type)) {
    case HAC_REPR_BOOL:
        printf("%s", ((const uint8_t *)v->values)[i] ? "true" : "false");
        break;
    case HAC_REPR_I64:
        printf("%" PRId64, ((const int64_t *)v->values)[i]);
        break;
    case HAC_REPR_U64:
        printf("%" PRIu64, ((const uint64_t *)v->values)[i]);
        break;
    case HAC_REPR_F32:
        printf("\"f%08" PRIx32 "\"", ((const uint32_t *)v->values)[i]);
        break;
    case HAC_REPR_F64:
        printf("\"f%016" PRIx64 "\"", ((const uint64_t *)v->values)[i]);
        break;
    case HAC_REPR_I128:
        print_i128(((const __int128 *)v->values)[i]);
        break;
    default:
        print_text(v, i);
    }
}

static void print_batch(const hac_column *v, size_t n, bool *first)
{
    for (size_t i = 0; i < n; i++) {
        printf("%s", *first ? "" : ",");
        *first = false;
        if (v->states[i] == HAC_ROW_OK)
            print_value(v, i);
        else
            printf("%s", v->states[i] == HAC_ROW_NULL ? "null" : "\"range\"");
    }
}

/* Rows of one row group, [first, end) of the file. */
static hac_status dump_group(const hac_parquet_file *file, hac_parquet_column *column, size_t group,
                             const options *o, bool *first, hac_error *err)
{
    static _Alignas(64) uint8_t values[16 * HAC_BATCH_ROWS];
    static uint8_t states[HAC_BATCH_ROWS];
    const hac_parquet_group *g = &file->groups[group];
    uint64_t at = g->first_row > o->first ? g->first_row : o->first;
    uint64_t end = g->first_row + g->rows < o->end ? g->first_row + g->rows : o->end;
    if (at >= end)
        return HAC_OK;
    hac_status status = hac_parquet_column_begin(column, group, err);
    if (status == HAC_OK)
        status = hac_parquet_column_skip(column, at - g->first_row, err);
    while (at < end && status == HAC_OK) {
        size_t n = end - at < o->batch ? (size_t)(end - at) : o->batch;
        hac_column v = {.values = values, .states = states};
        bool marked = false;
        status = hac_parquet_column_read(column, n, NULL, 0, &v, &marked, err);
        if (status == HAC_OK)
            print_batch(&v, n, first);
        at += n;
        uint64_t skipped = end - at < o->left_out ? end - at : o->left_out;
        if (status == HAC_OK && skipped > 0)
            status = hac_parquet_column_skip(column, skipped, err);
        at += skipped;
    }
    return status;
}

static hac_status dump_leaf(const hac_parquet_file *file, size_t leaf, const options *o)
{
    char type[HAC_VALUE_TYPE_NAME_MAX], nested[HAC_NESTED_NAME_MAX];
    hac_error err = HAC_ERROR_NONE;
    hac_parquet_column *column = NULL;
    const hac_parquet_leaf *l = &file->leaves[leaf];
    bool first = true;
    printf("{");
    print_json("column", l->name, ",");
    print_json("type", hac_value_type_name(l->type, type), ",");
    if (l->nested.kind != HAC_NESTED_NONE)
        print_json("nested", hac_nested_name(l->nested, nested), ",");
    if (l->type.kind == HAC_KIND_NONE) {
        print_json("why", l->why, "}\n");
        return HAC_OK;
    }
    hac_status status = hac_parquet_column_new(file, leaf, &file->leaves[leaf], &column, &err);
    printf("\"values\":[");
    for (size_t g = 0; g < file->n_groups && status == HAC_OK; g++)
        status = dump_group(file, column, g, o, &first, &err);
    printf("]");
    if (status != HAC_OK) {
        printf(",");
        print_json("error", err.message, "");
    }
    printf("}\n");
    hac_parquet_column_free(column);
    return status;
}

static void read_options(int argc, char **argv, options *ret)
{
    *ret = (options){.end = UINT64_MAX, .batch = HAC_BATCH_ROWS};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--rows") == 0 && i + 2 < argc) {
            ret->first = strtoull(argv[++i], NULL, 10);
            ret->end = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--batch") == 0 && i + 1 < argc) {
            ret->batch = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--leave-out") == 0 && i + 1 < argc) {
            ret->left_out = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--page-bytes") == 0 && i + 1 < argc) {
            ret->page_bytes = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--no-checksums") == 0) {
            ret->no_checksums = true;
        } else {
            ret->path = argv[i];
        }
    }
    if (ret->path == NULL || ret->batch < 1 || ret->batch > HAC_BATCH_ROWS) {
        fprintf(stderr, "usage: parquet_dump FILE [--rows FIRST END] [--batch ROWS] [--leave-out ROWS] "
                        "[--no-checksums] [--page-bytes N]\n");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    options o;
    struct stat st;
    hac_error err = HAC_ERROR_NONE;
    hac_parquet_file *file = NULL;
    read_options(argc, argv, &o);
    hac_autoclose int fd = open(o.path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        perror(o.path);
        return 2;
    }
    hac_parquet_place place = {.fd = fd, .bytes = (uint64_t)st.st_size};
    hac_parquet_limits limits = {.page_bytes = o.page_bytes, .ignore_checksums = o.no_checksums};
    hac_status status = hac_parquet_open(&place, &limits, &file, &err);
    if (status != HAC_OK) {
        printf("{");
        print_json("error", err.message, "}\n");
        return 1;
    }
    printf("{\"rows\":%" PRIu64 ",\"groups\":%zu,\"leaves\":%zu}\n", file->rows, file->n_groups,
           file->n_leaves);
    for (size_t leaf = 0; leaf < file->n_leaves; leaf++)
        if (dump_leaf(file, leaf, &o) != HAC_OK)
            status = HAC_FAILED;
    hac_parquet_close(file);
    return status == HAC_OK ? 0 : 1;
}
