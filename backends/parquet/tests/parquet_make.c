/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet_make SCHEMA OUT [OPTION=NUMBER...] < ROWS: a Parquet file of given values, for writer_test.py.
 *
 * ROWS is a sequence of batches: the number of rows (u32), then each column: a state a row (u8), the values
 * in the machine's representation (expr/column.h); text: a length a row (u32), then all characters. Options:
 * codec group_bytes group_rows block_bytes page_bytes dictionary_bytes no_dictionary threads.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parquet/writer.h"

static hac_status to_file(void *context, const uint8_t *data, size_t bytes, hac_error *err)
{
    if (fwrite(data, 1, bytes, context) == bytes)
        return HAC_OK;
    return hac_fail(err, HAC_FAILED, "cannot write");
}

static void die(const char *what)
{
    fprintf(stderr, "parquet_make: %s\n", what);
    exit(1);
}

static void take(void *ret, size_t bytes)
{
    if (bytes > 0 && fread(ret, bytes, 1, stdin) != 1)
        die("the input ends too early");
}

static void *capacity(size_t bytes)
{
    void *ret = calloc(1, bytes == 0 ? 1 : bytes);
    if (ret == NULL)
        die("out of memory");
    return ret;
}

static void take_texts(hac_column *v, size_t rows)
{
    uint32_t lengths[HAC_BATCH_ROWS], end = 0;
    hac_string_ref *refs = v->values;
    take(lengths, rows * sizeof *lengths);
    for (size_t i = 0; i < rows; i++) {
        refs[i] = (hac_string_ref){.offset = end, .length = lengths[i]};
        end += lengths[i];
    }
    uint8_t *bytes = capacity(end);
    take(bytes, end);
    v->bytes = bytes;
}

static void take_column(hac_column *v, size_t rows)
{
    take(v->states, rows);
    if (hac_repr_of(v->type) == HAC_REPR_STRING)
        take_texts(v, rows);
    else
        take(v->values, rows * hac_repr_size(hac_repr_of(v->type)));
}

static void take_options(char **arguments, hac_parquet_write_options *ret)
{
    for (; *arguments != NULL; arguments++) {
        char *value = strchr(*arguments, '=');
        if (value == NULL)
            die("OPTION=NUMBER");
        *value++ = '\0';
        uint64_t number = strtoull(value, NULL, 10);
        if (strcmp(*arguments, "codec") == 0)
            ret->codec = (uint8_t)number;
        else if (strcmp(*arguments, "group_bytes") == 0)
            ret->group_bytes = number;
        else if (strcmp(*arguments, "group_rows") == 0)
            ret->group_rows = number;
        else if (strcmp(*arguments, "block_bytes") == 0)
            ret->block_bytes = number;
        else if (strcmp(*arguments, "page_bytes") == 0)
            ret->page_bytes = number;
        else if (strcmp(*arguments, "dictionary_bytes") == 0)
            ret->dictionary_bytes = number;
        else if (strcmp(*arguments, "no_dictionary") == 0)
            ret->no_dictionary = number != 0;
        else if (strcmp(*arguments, "threads") == 0)
            ret->threads = (unsigned)number;
        else
            die("no such option");
    }
}

static hac_status copy(hac_parquet_writer *writer, const hac_schema *schema, hac_column *columns,
                       hac_error *err)
{
    uint32_t rows;
    while (fread(&rows, sizeof rows, 1, stdin) == 1) {
        if (rows > HAC_BATCH_ROWS)
            die("too many rows in a batch");
        for (size_t c = 0; c < schema->n_fields; c++)
            take_column(&columns[c], rows);
        hac_status status = hac_parquet_writer_add(writer, columns, rows, err);
        for (size_t c = 0; c < schema->n_fields; c++) {
            free((void *)(uintptr_t)columns[c].bytes);
            columns[c].bytes = NULL;
        }
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}

int main(int argc, char **argv)
{
    hac_error err = HAC_ERROR_NONE;
    hac_schema schema;
    hac_parquet_write_options options = {0};
    hac_parquet_writer *writer = NULL;
    uint64_t bytes = 0;
    if (argc < 3)
        die("parquet_make SCHEMA OUT [OPTION=NUMBER...]");
    if (hac_schema_parse(argv[1], &schema, &err) != HAC_OK)
        die(err.message);
    take_options(argv + 3, &options);
    FILE *out = fopen(argv[2], "wb");
    if (out == NULL)
        die("cannot create the file");
    hac_column *columns = capacity(schema.n_fields * sizeof *columns);
    for (size_t c = 0; c < schema.n_fields; c++)
        columns[c] = (hac_column){.type = schema.fields[c].type,
                                  .values = capacity(HAC_BATCH_ROWS * sizeof(__int128)),
                                  .states = capacity(HAC_BATCH_ROWS)};
    hac_status status =
        hac_parquet_writer_new(&schema, schema.n_fields, &options, to_file, out, &writer, &err);
    if (status == HAC_OK)
        status = copy(writer, &schema, columns, &err);
    if (status == HAC_OK)
        status = hac_parquet_writer_end(writer, &bytes, &err);
    hac_parquet_writer_free(writer);
    for (size_t c = 0; c < schema.n_fields; c++) {
        free(columns[c].values);
        free(columns[c].states);
    }
    free(columns);
    hac_schema_clear(&schema);
    if (fclose(out) != 0 || status != HAC_OK)
        die(err.message);
    printf("%" PRIu64 "\n", bytes);
    return 0;
}
