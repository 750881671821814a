/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of an MPI program sort a file of f64 and count the rows of a csv file, each rank with the daemon
 * of its machine:
 *
 *     mpicc ranks.c $(pkg-config --cflags --libs hac-mpi) -o ranks
 *     mpirun -n 4 ./ranks keys.f64 sorted.f64 sales.csv city
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <hac/mpi.h>

/* Every rank has the same message, so one of them prints it. */
static int fail(int rank, const hac_error *err)
{
    if (rank == 0)
        fprintf(stderr, "ranks: %s\n", err->message);
    return 1;
}

/* Each rank reads its part of the file, and writes its part of the result where that begins. */
static int sort_file(hac_client *client, int rank, int ranks, const char *in, const char *out)
{
    hac_error err = HAC_ERROR_NONE;
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    hac_mpi_sorted sorted;
    MPI_File file;
    MPI_Offset bytes;
    options.type = HAC_TYPE_F64;

    if (MPI_File_open(MPI_COMM_WORLD, in, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS)
        return 1;
    MPI_File_get_size(file, &bytes);
    MPI_Offset items = bytes / (MPI_Offset)sizeof(double);
    MPI_Offset first = items * rank / ranks, n = items * (rank + 1) / ranks - first;
    double *keys = malloc((size_t)n * sizeof *keys + 1);
    if (keys == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_read_at_all(file, first * (MPI_Offset)sizeof *keys, keys, (int)n, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);

    hac_status status =
        hac_mpi_sort(MPI_COMM_WORLD, client, keys, (uint64_t)n, &options, &sorted, &err); /* all ranks */
    free(keys);
    if (status != HAC_OK)
        return fail(rank, &err);
    if (MPI_File_open(MPI_COMM_WORLD, out, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file) !=
        MPI_SUCCESS)
        return 1;
    MPI_File_write_at_all(file, (MPI_Offset)(sorted.first * sizeof(double)), sorted.items, (int)sorted.n,
                          MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    hac_mpi_sorted_clear(&sorted);
    return 0;
}

/* All ranks open the file; rank 0 gets the result. */
static int count_rows(hac_client *client, int rank, const char *path, const char *column)
{
    hac_error err = HAC_ERROR_NONE;
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    hac_job *job = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    options.input_format = HAC_INPUT_CSV;
    options.group_by = column;
    options.select = "count() as n";
    options.order_by = "n desc";
    options.limit = 3;

    hac_status status = hac_mpi_query(MPI_COMM_WORLD, client, &fd, &path, 1, &options, &job, &err);
    if (fd >= 0)
        close(fd);
    if (status != HAC_OK)
        return fail(rank, &err);
    if (job != NULL)
        fwrite(hac_job_data(job), 1, hac_job_bytes(job), stdout);
    hac_job_free(job);
    return 0;
}

int main(int argc, char **argv)
{
    int rank, ranks, code = 2;
    hac_client *client = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc == 5) {
        if (hac_client_connect(NULL, &client, NULL) != HAC_OK)
            client = NULL; /* the collective call fails on all ranks */
        code = sort_file(client, rank, ranks, argv[1], argv[2]);
        if (code == 0)
            code = count_rows(client, rank, argv[3], argv[4]);
        hac_client_free(client);
    }
    MPI_Finalize();
    return code;
}
