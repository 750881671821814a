/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "finish_internal.h"
#include "parquet/writer.h"
#include "query/pool.h"

HAC_DEFINE_CLEANUP(hac_parquet_writer *, hac_parquet_writer_free)

/* Memory of a fixed size: what does not fit is counted. */
typedef struct memory_file {
    uint8_t *data;
    uint64_t room, bytes;
} memory_file;

static hac_status put(void *context, const uint8_t *data, size_t bytes, hac_error *err)
{
    memory_file *file = context;
    (void)err;
    if (file->bytes <= file->room && bytes <= file->room - file->bytes)
        memcpy(file->data + file->bytes, data, bytes);
    file->bytes += bytes;
    return HAC_OK;
}

static hac_parquet_write_options options_of(const hac_parquet_settings *settings)
{
    /* by hac_compression */
    static const uint8_t codecs[HAC_COMPRESSIONS] = {HAC_PARQUET_ZSTD, HAC_PARQUET_UNCOMPRESSED,
                                                     HAC_PARQUET_SNAPPY, HAC_PARQUET_GZIP,
                                                     HAC_PARQUET_LZ4_RAW};
    return (hac_parquet_write_options){.codec = codecs[settings->compression],
                                       .group_bytes = settings->group_bytes,
                                       .group_rows = settings->group_rows,
                                       .block_bytes = settings->block_bytes,
                                       .threads = hac_pool_threads()};
}

static hac_status write_rows(const hac_ordered_rows *rows, hac_parquet_writer *writer,
                             hac_ordered_batch *batch, hac_error *err)
{
    hac_status status = HAC_OK;
    for (uint64_t i = 0; status == HAC_OK && i < rows->n; i += HAC_BATCH_ROWS) {
        size_t n = rows->n - i < HAC_BATCH_ROWS ? (size_t)(rows->n - i) : HAC_BATCH_ROWS;
        status = hac_ordered_batch_fill(rows, i, n, batch, err);
        if (status == HAC_OK)
            status = hac_parquet_writer_add(writer, batch->columns, n, err);
    }
    return status;
}

hac_status hac_finish_parquet(const hac_ordered_rows *rows, uint8_t *result, uint64_t room,
                              uint64_t *ret_bytes, hac_error *err)
{
    const hac_query *query = rows->query;
    const hac_parquet_write_options options = options_of(&query->parquet);
    hac_cleanup(hac_parquet_writer_free_cleanup) hac_parquet_writer *writer = NULL;
    hac_autofree hac_ordered_batch *batch = calloc(1, sizeof *batch);
    memory_file file = {.data = result, .room = room};
    uint64_t bytes;
    if (batch == NULL)
        return hac_fail_no_memory(err);
    hac_status status =
        hac_parquet_writer_new(&query->outputs, query->n_visible, &options, put, &file, &writer, err);
    if (status == HAC_OK)
        status = write_rows(rows, writer, batch, err);
    if (status == HAC_OK)
        status = hac_parquet_writer_end(writer, &bytes, err);
    hac_ordered_batch_clear(batch);
    *ret_bytes = file.bytes;
    return status;
}
