/* SPDX-License-Identifier: Apache-2.0 */
/* A query as a C program asks it, for doors_test.py: door FILE SCHEMA WHERE GROUP SELECT ORDER prints csv. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <hac/hac.h>

int main(int argc, char **argv)
{
    hac_error err = HAC_ERROR_NONE;
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    hac_client *client = NULL;
    hac_job *job = NULL;
    if (argc != 7)
        return 2;
    const char *name = argv[1];
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    options.input_format = HAC_INPUT_CSV;
    options.schema = argv[2];
    options.where = argv[3];
    options.group_by = argv[4];
    options.select = argv[5];
    options.order_by = argv[6];
    if (hac_client_connect(NULL, &client, &err) != HAC_OK ||
        hac_query_files(client, &fd, &name, 1, &options, &job, &err) != HAC_OK ||
        hac_job_wait(job, -1, &err) != HAC_OK) {
        fprintf(stderr, "door: %s\n", err.message);
        return 1;
    }
    fwrite(hac_job_data(job), 1, hac_job_bytes(job), stdout);
    hac_job_free(job);
    hac_client_free(client);
    close(fd);
    return 0;
}
