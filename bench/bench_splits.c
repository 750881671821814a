/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the client of flow B reads alone: input, decompression, cutting and filling, into four buffers in
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
#include "fill.h"
#include "input.h"

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

static void read_more(hac_input *input, hac_fill *fill)
{
    hac_error err = HAC_ERROR_NONE;
    struct pollfd p = {hac_input_wants(input), POLLIN, 0};
    uint64_t room, n = 0;
    uint8_t *at = hac_fill_room(fill, &room);
    (void)poll(&p, 1, p.fd < 0 ? 0 : -1);
    hac_status status = hac_input_read(input, at, room, &n, &err);
    if (status == HAC_AGAIN)
        return;
    must(status, &err);
    if (n == 0)
        hac_fill_end(fill);
    hac_fill_read(fill, n);
}

static uint64_t run(hac_input *input, hac_fill *fill, uint64_t room, struct rusage *ret_before)
{
    hac_error err = HAC_ERROR_NONE;
    hac_fill_state state = HAC_FILL_MORE;
    uint8_t *memory[BUFFERS];
    size_t turn = 0;
    for (size_t i = 0; i < BUFFERS; i++)
        memory[i] = pool_memory(room);
    getrusage(RUSAGE_SELF, ret_before);
    uint64_t start = hac_now_ns();
    hac_fill_memory(fill, memory[0], room);
    hac_fill_begin(fill);
    while (state != HAC_FILL_ENDED) {
        must(hac_fill_cut(fill, &state, &err), &err);
        if (state == HAC_FILL_MORE)
            read_more(input, fill);
        if (state == HAC_FILL_GROW)
            must(hac_fail(&err, HAC_FAILED, "a record is longer than a split"), &err);
        if (state == HAC_FILL_FULL) {
            (void)hac_fill_close(fill);
            hac_fill_memory(fill, memory[++turn % BUFFERS], room);
        }
    }
    return start;
}

int main(int argc, char **argv)
{
    hac_error err = HAC_ERROR_NONE;
    hac_input *input = NULL;
    hac_fill fill;
    struct rusage before, after;
    hac_cut_rule rule = {
        .format = argc > 1 ? format_of(argv[1]) : HAC_INPUT_NONE, .record_bytes = 16, .set_bytes = 1 << 20};
    uint64_t bytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 32 << 20;
    if (rule.format == HAC_INPUT_NONE) {
        fprintf(stderr, "usage: bench_splits csv|lines|words|fixed|lengths|typedbytes [BYTES] < FILE\n");
        return 2;
    }
    must(hac_input_open(STDIN_FILENO, "stdin", false, &input, &err), &err);
    hac_fill_init(&fill, &rule, false);
    uint64_t start = run(input, &fill, hac_fill_bytes(bytes), &before);
    double seconds = hac_seconds_since(start);
    getrusage(RUSAGE_SELF, &after);
    double user = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
                  (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) * 1e-6;
    double system = (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
                    (double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec) * 1e-6;
    printf("%-10s %12llu bytes %.3f s, processor %.3f + %.3f s, %.2f and %.2f GB/s\n", argv[1],
           (unsigned long long)fill.end, seconds, user, system, (double)fill.end / seconds * 1e-9,
           (double)fill.end / (user + system) * 1e-9);
    hac_fill_clear(&fill);
    hac_input_free(input);
    return 0;
}
