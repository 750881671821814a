/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the client of splice reads alone: input, decompression, cutting and filling, into four buffers in
 * turn; nobody takes them.
 *
 *     bench_splits csv|lines|words|fixed|lengths|typedbytes [BYTES] < FILE
 *
 * BYTES: of a split, 32 MiB without. Prints the bytes that came out, seconds, seconds of the processor and
 * GB/s by the clock and by the processor.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memfd.h"
#include "input/input.h"
#include "splits/split_writer.h"

enum { BUFFERS = 4 };

static const struct {
    const char *name;
    hac_input_format format;
} formats[] = {{"csv", HAC_INPUT_CSV},         {"lines", HAC_INPUT_LINES},
               {"words", HAC_INPUT_WORDS},     {"fixed", HAC_INPUT_FIXED},
               {"lengths", HAC_INPUT_LENGTHS}, {"typedbytes", HAC_INPUT_TYPEDBYTES}};

static void must(hac_status status, const hac_error *err)
{
    if (status == HAC_OK)
        return;
    fprintf(stderr, "bench_splits: %s\n", err->message);
    exit(1);
}

static hac_input_format format_of(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (strcmp(name, formats[i].name) == 0)
            return formats[i].format;
    return HAC_INPUT_NONE;
}

/* Pool memory, as hacd makes it. */
static uint8_t *pool_memory(uint64_t bytes)
{
    hac_error err = HAC_ERROR_NONE;
    void *memory;
    int fd;
    must(hac_memfd_create("bench", bytes, false, &fd, &err), &err);
    must(hac_memfd_map(fd, bytes, true, &memory, &err), &err);
    close(fd);
    memset(memory, 1, (size_t)bytes); /* mapped before: the pool is recycled */
    return memory;
}

static void read_more(hac_input *input, hac_split_writer *writer)
{
    hac_error err = HAC_ERROR_NONE;
    struct pollfd p = {hac_input_wants(input), POLLIN, 0};
    uint64_t capacity, n = 0;
    uint8_t *at = hac_split_writer_space(writer, &capacity);
    (void)poll(&p, 1, p.fd < 0 ? 0 : -1);
    hac_status status = hac_input_read(input, at, capacity, &n, &err);
    if (status == HAC_AGAIN)
        return;
    must(status, &err);
    if (n == 0)
        hac_split_writer_end(writer);
    hac_split_writer_read(writer, n);
}

static uint64_t run(hac_input *input, hac_split_writer *writer, uint64_t capacity, struct rusage *ret_before)
{
    hac_error err = HAC_ERROR_NONE;
    hac_split_writer_state state = HAC_SPLIT_WRITER_MORE;
    uint8_t *memory[BUFFERS];
    size_t turn = 0;
    for (size_t i = 0; i < BUFFERS; i++)
        memory[i] = pool_memory(capacity);
    getrusage(RUSAGE_SELF, ret_before);
    uint64_t start = hac_now_ns();
    hac_split_writer_memory(writer, memory[0], capacity);
    hac_split_writer_begin(writer);
    while (state != HAC_SPLIT_WRITER_ENDED) {
        must(hac_split_writer_cut(writer, &state, &err), &err);
        if (state == HAC_SPLIT_WRITER_MORE)
            read_more(input, writer);
        if (state == HAC_SPLIT_WRITER_GROW)
            must(hac_fail(&err, HAC_FAILED, "a record is longer than a split"), &err);
        if (state == HAC_SPLIT_WRITER_FULL) {
            (void)hac_split_writer_close(writer);
            hac_split_writer_memory(writer, memory[++turn % BUFFERS], capacity);
        }
    }
    return start;
}

int main(int argc, char **argv)
{
    hac_error err = HAC_ERROR_NONE;
    hac_input *input = NULL;
    hac_split_writer writer;
    struct rusage before, after;
    hac_record_rule rule = {
        .format = argc > 1 ? format_of(argv[1]) : HAC_INPUT_NONE, .record_bytes = 16, .set_bytes = 1 << 20};
    uint64_t bytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 32 << 20;
    if (rule.format == HAC_INPUT_NONE) {
        fprintf(stderr, "usage: bench_splits csv|lines|words|fixed|lengths|typedbytes [BYTES] < FILE\n");
        return 2;
    }
    must(hac_input_open(STDIN_FILENO, "stdin", false, NULL, &input, &err), &err);
    hac_split_writer_init(&writer, &rule, false);
    uint64_t start = run(input, &writer, hac_split_writer_bytes(bytes), &before);
    double seconds = hac_seconds_since(start);
    getrusage(RUSAGE_SELF, &after);
    double user = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
                  (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) * 1e-6;
    double system = (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
                    (double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec) * 1e-6;
    printf("%-10s %12llu bytes %.3f s, processor %.3f + %.3f s, %.2f and %.2f GB/s\n", argv[1],
           (unsigned long long)writer.end, seconds, user, system, (double)writer.end / seconds * 1e-9,
           (double)writer.end / (user + system) * 1e-9);
    hac_split_writer_clear(&writer);
    hac_input_free(input);
    return 0;
}
