/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <hac/mpi.h> as a program uses it, for tests/integration/mpi_test.py. Rank 0 writes the whole result:
 *
 *     mpi_program sort TYPE ORDER FILE OUT           ORDER: any of the letters a (argsort) and d (descending)
 *     mpi_program query FORMAT SCHEMA GROUP SELECT ORDER FILE…   "-" stands for no text
 *     mpi_program CASE                               of `failures`: all ranks print status and message
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hac/mpi.h>

static int rank, ranks;

static void must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int report(hac_status status, const hac_error *err)
{
    if (status != HAC_OK)
        printf("%d: %d %s\n", rank, (int)status, err->message);
    return status == HAC_OK ? 0 : 1;
}

/* ---- sort ---- */

static hac_type type_of(const char *name)
{
    static const struct {
        const char *name;
        hac_type type;
    } types[] = {{"u32", HAC_TYPE_U32}, {"u64", HAC_TYPE_U64}, {"i32", HAC_TYPE_I32},
                 {"i64", HAC_TYPE_I64}, {"f32", HAC_TYPE_F32}, {"f64", HAC_TYPE_F64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return types[i].type;
    must(0, "no such type");
    return HAC_TYPE_NONE;
}

/* Ranks have unequal parts: rank r has r + 1 shares, and the last one none if there are three. */
static size_t first_of(size_t items, int r)
{
    size_t shares = (size_t)ranks * (size_t)(ranks + 1) / 2;
    size_t mine = (size_t)r * (size_t)(r + 1) / 2;
    if (ranks == 3)
        return r == 0 ? 0 : r == 1 ? items / 3 : items;
    return items * mine / shares;
}

static int sort(hac_client *client, char **words)
{
    hac_error err = HAC_ERROR_NONE;
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    hac_mpi_sorted part = {.items = NULL};
    options.type = type_of(words[0]);
    options.argsort = strchr(words[1], 'a') != NULL;
    options.descending = strchr(words[1], 'd') != NULL;
    size_t width = words[0][1] == '3' ? 4 : 8;
    FILE *in = fopen(words[2], "rb");
    must(in != NULL && fseek(in, 0, SEEK_END) == 0, "no input");
    size_t items = (size_t)ftell(in) / width, first = first_of(items, rank),
           n = first_of(items, rank + 1) - first;
    char *keys = malloc(n * width + 1);
    must(keys != NULL && fseek(in, (long)(first * width), SEEK_SET) == 0 && fread(keys, width, n, in) == n,
         "input");
    fclose(in);
    hac_status status = hac_mpi_sort(MPI_COMM_WORLD, client, keys, n, &options, &part, &err);
    free(keys);
    if (status != HAC_OK)
        return report(status, &err);
    size_t size = options.argsort ? 4 : width;
    for (int r = 0; r < ranks; r++) { /* one after another */
        if (r == rank) {
            int fd = open(words[3], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
            ssize_t bytes = (ssize_t)(part.n * size);
            must(fd >= 0 && pwrite(fd, part.items, (size_t)bytes, (off_t)(part.first * size)) == bytes,
                 "output");
            close(fd);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    hac_mpi_sorted_clear(&part);
    return 0;
}

/* ---- query ---- */

static const char *text(const char *word)
{
    return strcmp(word, "-") == 0 ? NULL : word;
}

static int query(hac_client *client, char **words, int n)
{
    enum { FILES = 8 };
    hac_error err = HAC_ERROR_NONE;
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    hac_job *job = NULL;
    int fds[FILES];
    const int files = n - 5;
    must(files > 0 && files <= FILES, "how many files?");
    options.input_format = strcmp(words[0], "parquet") == 0 ? HAC_INPUT_PARQUET : HAC_INPUT_CSV;
    options.schema = text(words[1]);
    options.group_by = text(words[2]);
    options.select = text(words[3]);
    options.order_by = text(words[4]);
    for (int i = 0; i < files; i++)
        fds[i] = open(words[5 + i], O_RDONLY | O_CLOEXEC);
    hac_status status = hac_mpi_query(MPI_COMM_WORLD, client, fds, (const char *const *)words + 5,
                                      (size_t)files, &options, &job, &err);
    for (int i = 0; i < files; i++)
        close(fds[i]);
    if (status != HAC_OK)
        return report(status, &err);
    must((job != NULL) == (rank == 0), "the job is not on rank 0 alone");
    if (job != NULL)
        fwrite(hac_job_data(job), 1, hac_job_bytes(job), stdout);
    hac_job_free(job);
    return 0;
}

/* ---- failures ---- */

static int failures(hac_client *client, const char *name)
{
    hac_error err = HAC_ERROR_NONE;
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    hac_query_options query_options = HAC_QUERY_OPTIONS_INIT;
    hac_mpi_sorted part = {.items = NULL};
    hac_job *job = NULL;
    uint64_t keys[4] = {3, 1, 2, 0};
    int fd = -1;
    options.type = HAC_TYPE_U64;
    query_options.input_format = HAC_INPUT_CSV;
    query_options.select = "count()";
    if (strcmp(name, "no-client") == 0 && rank == 1)
        client = NULL;
    if (strcmp(name, "types") == 0 && rank == 1)
        options.type = HAC_TYPE_I64;
    if (strcmp(name, "no-type") == 0)
        options.type = HAC_TYPE_NONE;
    if (strcmp(name, "no-keys") == 0)
        return report(hac_mpi_sort(MPI_COMM_WORLD, client, rank == 1 ? NULL : keys, 4, &options, &part, &err),
                      &err);
    if (strcmp(name, "detach") == 0)
        options.job.detach = 1;
    if (strcmp(name, "closed") == 0)
        return report(hac_mpi_query(MPI_COMM_WORLD, client, &fd, NULL, 1, &query_options, &job, &err), &err);
    if (strcmp(name, "files") == 0 || strcmp(name, "formats") == 0 || strcmp(name, "queries") == 0) {
        const char *const names[] = {"q.csv", "q.csv"};
        const int fds[] = {open(names[0], O_RDONLY | O_CLOEXEC), open(names[1], O_RDONLY | O_CLOEXEC)};
        if (strcmp(name, "formats") == 0 && rank == 1)
            query_options.input_format = HAC_INPUT_SYSLOG;
        if (strcmp(name, "queries") == 0 && rank == 1)
            query_options.where = "false";
        hac_status status =
            hac_mpi_query(MPI_COMM_WORLD, client, fds, names, strcmp(name, "files") == 0 && rank == 1 ? 2 : 1,
                          &query_options, &job, &err);
        close(fds[0]);
        close(fds[1]);
        return report(status, &err);
    }
    if (strcmp(name, "no-options") == 0)
        return report(hac_mpi_query(MPI_COMM_WORLD, client, &fd, NULL, 1, NULL, &job, &err), &err);
    int code = report(hac_mpi_sort(MPI_COMM_WORLD, client, keys, 4, &options, &part, &err), &err);
    hac_mpi_sorted_clear(&part);
    return code;
}

int main(int argc, char **argv)
{
    hac_error err = HAC_ERROR_NONE;
    hac_client *client = NULL;
    int code = 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    must(hac_client_connect(NULL, &client, &err) == HAC_OK, err.message);
    if (argc == 6 && strcmp(argv[1], "sort") == 0)
        code = sort(client, argv + 2);
    else if (argc > 7 && strcmp(argv[1], "query") == 0)
        code = query(client, argv + 2, argc - 2);
    else if (argc == 2)
        code = failures(client, argv[1]);
    hac_client_free(client);
    MPI_Finalize();
    return code;
}
