/* SPDX-License-Identifier: Apache-2.0 */
/* A result that goes through three flows, for doors_test.py: keys are sorted, the sorted keys become a
 * Parquet file, and the Parquet file is queried. Prints the answer, the bytes that came as inputs from
 * earlier results, and how many of these lie elsewhere than the results: copies. Then the numbers of the
 * jobs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <hac/hac.h>

enum { KEYS = 1 << 20 };

static uint64_t passed_on, copied;

static void must(hac_status status, const hac_error *err, const char *what)
{
    if (status == HAC_OK)
        return;
    fprintf(stderr, "chain: %s: %s\n", what, err->message);
    exit(1);
}

static hac_buffer *pass_on(hac_job *job)
{
    hac_error err = HAC_ERROR_NONE;
    hac_buffer *buffer = NULL;
    must(hac_job_wait(job, -1, &err), &err, "wait");
    must(hac_job_as_input(job, &buffer, &err), &err, "hac_job_as_input");
    passed_on += hac_job_bytes(job);
    copied += hac_buffer_data(buffer) == hac_job_data(job) ? 0 : hac_job_bytes(job);
    return buffer;
}

static hac_job *query(hac_client *client, hac_buffer *input, uint64_t bytes, hac_query_options *options,
                      hac_input_format format, hac_result_format result)
{
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    options->input_format = format;
    options->result_format = result;
    must(hac_query_buffer(client, input, 0, bytes, options, &job, &err), &err, "hac_query_buffer");
    return job;
}

int main(void)
{
    hac_error err = HAC_ERROR_NONE;
    hac_client *client = NULL;
    hac_buffer *keys = NULL;
    hac_job *jobs[3] = {NULL, NULL, NULL};
    hac_sort_options sort = HAC_SORT_OPTIONS_INIT;
    hac_query_options rows = HAC_QUERY_OPTIONS_INIT, total = HAC_QUERY_OPTIONS_INIT;
    must(hac_client_connect(NULL, &client, &err), &err, "connect");
    must(hac_buffer_alloc(client, KEYS * sizeof(uint32_t), &keys, &err), &err, "alloc");
    for (uint32_t i = 0; i < KEYS; i++)
        ((uint32_t *)hac_buffer_data(keys))[i] = i * 2654435761u >> 4;
    sort.type = HAC_TYPE_U32;
    must(hac_sort_buffer(client, keys, 0, KEYS, &sort, &jobs[0], &err), &err, "sort");
    hac_buffer *sorted = pass_on(jobs[0]);
    rows.schema = "value:u32";
    rows.select = "value, value % 7 as m";
    jobs[1] = query(client, sorted, hac_job_bytes(jobs[0]), &rows, HAC_INPUT_FIXED, HAC_RESULT_PARQUET);
    hac_buffer *file = pass_on(jobs[1]);
    total.select = "count() as n, sum(value) as s, sum(m) as m, min(value) as a, max(value) as b";
    jobs[2] = query(client, file, hac_job_bytes(jobs[1]), &total, HAC_INPUT_PARQUET, HAC_RESULT_CSV);
    must(hac_job_wait(jobs[2], -1, &err), &err, "wait");
    fwrite(hac_job_data(jobs[2]), 1, hac_job_bytes(jobs[2]), stdout);
    printf("%" PRIu64 " %" PRIu64 "\n", passed_on, copied);
    for (int i = 0; i < 3; i++)
        printf("%" PRIu64 "%c", hac_job_id(jobs[i]), i < 2 ? ' ' : '\n');
    for (int i = 0; i < 3; i++)
        hac_job_free(jobs[i]);
    hac_buffer_free(sorted);
    hac_buffer_free(file);
    hac_buffer_free(keys);
    hac_client_free(client);
    return 0;
}
