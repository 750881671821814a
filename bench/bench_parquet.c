/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast one thread reads columns of a Parquet file: bench_parquet FILE [ROUNDS [COLUMN…]]; without names
 * all that can be read. The file lies in the page cache. A line for each column, of the best round: name,
 * rows, milliseconds, ns a row, and how the time went by the column's own counters (read, decompress,
 * decode).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "parquet/column.h"

/* Of this thread: others may use the machine. */
static uint64_t processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void check(hac_status status, const hac_error *err)
{
    if (status != HAC_OK) {
        fprintf(stderr, "bench_parquet: %s\n", err->message);
        exit(1);
    }
}

/* All row groups; what was read is summed up so that it is there. */
static uint64_t pass(const hac_parquet_file *file, hac_parquet_column *column)
{
    static _Alignas(64) uint8_t values[16 * HAC_BATCH_ROWS];
    static uint8_t states[HAC_BATCH_ROWS];
    hac_error err = HAC_ERROR_NONE;
    uint64_t sum = 0;
    for (size_t g = 0; g < file->n_groups; g++) {
        check(hac_parquet_column_begin(column, g, &err), &err);
        for (uint64_t left = file->groups[g].rows, n; left > 0; left -= n) {
            hac_column v = {.values = values, .states = states};
            bool marked = false;
            n = left < HAC_BATCH_ROWS ? left : HAC_BATCH_ROWS;
            check(hac_parquet_column_read(column, n, NULL, 0, &v, &marked, &err), &err);
            sum += values[0] + marked;
        }
    }
    return sum;
}

static void measure(const hac_parquet_file *file, size_t leaf, unsigned rounds)
{
    hac_error err = HAC_ERROR_NONE;
    double best = 1e9;
    hac_parquet_counters best_counters = {0};
    for (unsigned r = 0; r < rounds; r++) {
        hac_parquet_column *column = NULL;
        hac_parquet_counters counters;
        check(hac_parquet_column_new(file, leaf, &file->leaves[leaf], &column, &err), &err);
        uint64_t start = processor_ns();
        pass(file, column);
        double seconds = (double)(processor_ns() - start) * 1e-9;
        hac_parquet_column_counters(column, &counters);
        if (seconds < best) {
            best = seconds;
            best_counters = counters;
        }
        hac_parquet_column_free(column);
    }
    printf("%s %llu %.3f %.3f %.3f %.3f %.3f\n", file->leaves[leaf].name, (unsigned long long)file->rows,
           best * 1e3, best * 1e9 / (double)file->rows, best_counters.read_seconds * 1e3,
           best_counters.decompress_seconds * 1e3, best_counters.decode_seconds * 1e3);
}

int main(int argc, char **argv)
{
    hac_error err = HAC_ERROR_NONE;
    hac_parquet_file *file = NULL;
    struct stat st;
    unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 5;
    hac_autoclose int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0 || fstat(fd, &st) != 0) {
        fprintf(stderr, "usage: bench_parquet FILE [ROUNDS [COLUMN...]]\n");
        return 2;
    }
    hac_parquet_place place = {.fd = fd, .bytes = (uint64_t)st.st_size};
    check(hac_parquet_open(&place, NULL, &file, &err), &err);
    for (size_t leaf = 0; leaf < file->n_leaves; leaf++) {
        bool wanted = argc <= 3;
        for (int i = 3; i < argc; i++)
            wanted |= strcmp(argv[i], file->leaves[leaf].name) == 0;
        if (wanted && file->leaves[leaf].type.kind != HAC_KIND_NONE)
            measure(file, leaf, rounds);
    }
    hac_parquet_close(file);
    return 0;
}
