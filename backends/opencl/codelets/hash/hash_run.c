/* SPDX-License-Identifier: Apache-2.0 */
#include "hash_job.h"
#include "kernels/expr_device_ops.cl"

static hac_status run_style(hac_hash_job *job, uint64_t first, uint64_t n, hac_error *err)
{
    return job->facts->style == HAC_STYLE_SIMT ? hac_hash_run_simt(job, first, n, err)
                                               : hac_hash_run_block(job, first, n, err);
}

hac_status hac_hash_job_run(hac_hash_job *job, uint64_t chunk_rows, uint64_t first, uint64_t n,
                            hac_hash_sink sink, void *context, hac_error *err)
{
    uint64_t end;
    if (chunk_rows == 0 || chunk_rows > UINT32_MAX / 2 || __builtin_add_overflow(first, n, &end) ||
        __builtin_mul_overflow(end, chunk_rows, &end))
        return hac_fail(err, HAC_INVALID, "chunks %llu + %llu of %llu rows", (unsigned long long)first,
                        (unsigned long long)n, (unsigned long long)chunk_rows);
    job->chunk_rows = job->max_rows = chunk_rows;
    job->sink = sink;
    job->context = context;
    uint64_t chunks = job->rows / chunk_rows + (job->rows % chunk_rows != 0);
    uint64_t filled = first >= chunks ? 0 : n < chunks - first ? n : chunks - first;
    job->all_chunks = chunks;
    hac_status status = filled != 0 ? run_style(job, first, filled, err) : HAC_OK;
    for (uint64_t c = filled; status == HAC_OK && c < n; c++) {
        hac_hash_pieces none = {0};
        status = hac_hash_deliver(job, first + c, 0, 0, false, &none, err);
    }
    return hac_windows_close(&job->windows, 0, status, err);
}

/* Kernels read an index's words of a column as if they were the plan's. */
_Static_assert((int)HAC_INDEX_COLUMN_WORDS == EXPR_COLUMN_WORDS && (int)HAC_INDEX_KIND == EXPR_COLUMN_KIND &&
                   (int)HAC_INDEX_VALIDITY == EXPR_COLUMN_VALIDITY &&
                   (int)HAC_INDEX_VALUES == EXPR_COLUMN_VALUES &&
                   (int)HAC_INDEX_CHARACTERS == EXPR_COLUMN_BYTES &&
                   (int)HAC_INDEX_N_CHARACTERS == EXPR_COLUMN_N_BYTES,
               "the look-up index has other words than the plan");

hac_status hac_hash_job_run_rows(hac_hash_job *job, hac_working_buffer *rows, hac_hash_sink sink,
                                 void *context, hac_error *err)
{
    if (job->facts->turns_order)
        hac_working_buffer_turn(rows);
    job->loaded = rows;
    job->memory = (hac_span){rows->memory, rows->bytes};
    job->rows = rows->records;
    job->max_rows = 0;
    job->sink = sink;
    job->context = context;
    for (size_t i = 0; i < rows->n_blocks; i++)
        job->max_rows = rows->blocks[i].records > job->max_rows ? rows->blocks[i].records : job->max_rows;
    hac_status status =
        hac_windows_open(&job->windows, rows->memory, rows->bytes, HAC_READ, &job->rows_window, err);
    if (status == HAC_OK)
        status = run_style(job, rows->first_chunk, rows->n_blocks, err);
    return hac_windows_close(&job->windows, 0, status, err);
}
