/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mean of each city's temperatures, of csv files of any length and number (columns city and temperature),
 * compressed or not, or of standard input, on whatever the machine has:
 *
 *     cc splice.c $(pkg-config --cflags --libs hac) -o splice
 *     ./splice day1.csv.gz day2.csv, or: zcat day*.gz | ./splice
 *
 * With an argument -w TEMPERATURE in front it prints the rows above it instead, as they come.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <hac/hac.h>

static int fail(const hac_error *err)
{
    fprintf(stderr, "splice: %s\n", err->message);
    return 1;
}

/* Inputs are opened one after the other, and closed by the library. */
static hac_status open_input(void *context, size_t index, int *ret_fd, const char **ret_name, hac_error *err)
{
    char **names = context;
    *ret_name = names[index] == NULL ? "standard input" : names[index];
    *ret_fd = names[index] == NULL ? dup(STDIN_FILENO) : open(names[index], O_RDONLY | O_CLOEXEC);
    if (*ret_fd >= 0)
        return HAC_OK;
    snprintf(err->message, sizeof(err->message), "cannot open %s", *ret_name);
    return err->code = HAC_IO;
}

/* Rows come split by split. */
static hac_status write_rows(void *context, const void *bytes, size_t n, hac_error *err)
{
    (void)context;
    if (fwrite(bytes, 1, n, stdout) == n && fflush(stdout) == 0)
        return HAC_OK;
    snprintf(err->message, sizeof(err->message), "cannot write");
    return err->code = HAC_IO;
}

int main(int argc, char **argv)
{
    hac_error err = HAC_ERROR_NONE;
    hac_client *client = NULL;
    hac_job *job = NULL;
    char where[64] = "";
    int first = 1;

    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    options.input_format = HAC_INPUT_CSV;
    options.schema = "city:string,temperature:f64";
    if (argc > 2 && strcmp(argv[1], "-w") == 0) {
        snprintf(where, sizeof(where), "temperature > %s", argv[2]);
        options.where = where;
        options.select = "city, temperature";
        first = 3;
    } else {
        options.group_by = "city";
        options.select = "count() as readings, round(avg(temperature), 2) as mean";
        options.order_by = "city";
    }

    hac_splits splits = HAC_SPLITS_INIT;
    splits.n_inputs = argc > first ? (size_t)(argc - first) : 1; /* argv ends with NULL: standard input */
    splits.open = open_input;
    splits.write = write_rows;
    splits.context = argv + first;

    /* the system's daemon, or one of our own, which is started if need be; then reads to the end */
    if (hac_client_connect(NULL, &client, &err) != HAC_OK ||
        hac_query_splits(client, &splits, &options, &job, &err) != HAC_OK)
        return fail(&err);

    /* of a query that aggregates, csv; of one that gives rows nothing, they are written already */
    fwrite(hac_job_data(job), 1, hac_job_bytes(job), stdout);

    hac_job_free(job);
    hac_client_free(client);
    return 0;
}
