/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts a million keys with the installed library; what docs/ and the header promise about building against
 * it. */
#include <stdio.h>
#include <stdlib.h>

#include <hac/hac.h>

static int fail(const hac_error *err)
{
    fprintf(stderr, "%s\n", err->message);
    return 1;
}

int main(void)
{
    const uint64_t n = 1000000;
    hac_error err = HAC_ERROR_NONE;
    hac_client *client = NULL;
    hac_buffer *keys = NULL;
    hac_job *job = NULL;
    if (hac_client_connect(NULL, &client, &err) != HAC_OK ||
        hac_buffer_alloc(client, n * sizeof(uint32_t), &keys, &err) != HAC_OK)
        return fail(&err);
    uint32_t *data = hac_buffer_data(keys), x = 1;
    for (uint64_t i = 0; i < n; i++)
        data[i] = x = x * 1664525u + 1013904223u;

    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    options.type = HAC_TYPE_U32;
    if (hac_sort_buffer(client, keys, 0, n, &options, &job, &err) != HAC_OK ||
        hac_job_wait(job, -1, &err) != HAC_OK)
        return fail(&err);
    const uint32_t *sorted = hac_job_data(job);
    for (uint64_t i = 1; i < n; i++)
        if (sorted[i - 1] > sorted[i]) {
            fprintf(stderr, "not in order at %llu\n", (unsigned long long)i);
            return 1;
        }
    printf("hac %s sorted %llu keys\n", hac_version(), (unsigned long long)n);
    hac_job_free(job);
    hac_buffer_free(keys);
    hac_client_free(client);
    return 0;
}
