/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "codelet/threads.h"
#include "finish_internal.h"
#include "parquet/writer.h"
#include "query/output.h"

HAC_DEFINE_CLEANUP(hac_parquet_writer *, hac_parquet_writer_free)

hac_status hac_finish_put(void *context, const uint8_t *data, size_t bytes, hac_error *err)
{
    hac_output_buffer *output = context;
    (void)err;
    if (output->bytes <= output->capacity && bytes <= output->capacity - output->bytes)
        memcpy(output->data + output->bytes, data, bytes);
    output->bytes += bytes;
    return HAC_OK;
}

hac_status hac_finish_add(void *context, const hac_column *columns, size_t rows, hac_error *err)
{
    return hac_parquet_writer_add(context, columns, rows, err);
}

hac_parquet_codec hac_finish_codec(const hac_parquet_settings *settings)
{
    /* by hac_compression */
    static const uint8_t codecs[HAC_COMPRESSION_END] = {HAC_PARQUET_ZSTD, HAC_PARQUET_UNCOMPRESSED,
                                                        HAC_PARQUET_SNAPPY, HAC_PARQUET_GZIP,
                                                        HAC_PARQUET_LZ4_RAW};
    return (hac_parquet_codec)codecs[settings->compression];
}

static hac_parquet_write_options options_of(const hac_parquet_settings *settings)
{
    return (hac_parquet_write_options){.codec = (uint8_t)hac_finish_codec(settings),
                                       .group_bytes = settings->group_bytes,
                                       .group_rows = settings->group_rows,
                                       .block_bytes = settings->block_bytes,
                                       .threads = hac_pool_threads()};
}

hac_status hac_finish_parquet(const hac_ordered_rows *rows, uint8_t *result, uint64_t capacity,
                              uint64_t *ret_bytes, hac_error *err)
{
    const hac_query *query = rows->query;
    const hac_parquet_write_options options = options_of(&query->parquet);
    hac_cleanup(hac_parquet_writer_free_cleanup) hac_parquet_writer *writer = NULL;
    hac_output_buffer file = {.data = result, .capacity = capacity};
    uint64_t bytes;
    hac_status status = hac_parquet_writer_new(&query->outputs, query->n_visible, &options, hac_finish_put,
                                               &file, &writer, err);
    if (status == HAC_OK)
        status = hac_ordered_for_batches(rows, hac_finish_add, writer, err);
    if (status == HAC_OK)
        status = hac_parquet_writer_end(writer, &bytes, err);
    *ret_bytes = file.bytes;
    return status;
}
