/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the words of a file on whatever the machine has, and prints the ten most frequent ones:
 *
 *     cc wordcount.c $(pkg-config --cflags --libs hac) -o wordcount && ./wordcount book.txt
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <hac/hac.h>

static int fail(const hac_error *err)
{
    fprintf(stderr, "wordcount: %s\n", err->message);
    return 1;
}

int main(int argc, char **argv)
{
    hac_error err = HAC_ERROR_NONE;
    hac_client *client = NULL;
    hac_job *job = NULL;
    const char *name = argc > 1 ? argv[1] : "book.txt";
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        perror(name);
        return 1;
    }

    /* the system's daemon, or one of our own, which is started if need be */
    if (hac_client_connect(NULL, &client, &err) != HAC_OK)
        return fail(&err);

    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    options.input_format = HAC_INPUT_WORDS; /* one row a word, in the column `word` */
    options.group_by = "word";
    options.select = "count() as count";
    options.order_by = "count desc, word";
    options.limit = 10;
    if (hac_query_files(client, &fd, &name, 1, &options, &job, &err) != HAC_OK || /* submits */
        hac_job_wait(job, -1, &err) != HAC_OK)                                    /* waits for the end */
        return fail(&err);
    close(fd);

    /* csv, in memory that the devices wrote it to */
    fwrite(hac_job_data(job), 1, hac_job_bytes(job), stdout);

    hac_job_free(job);
    hac_client_free(client);
    return 0;
}
