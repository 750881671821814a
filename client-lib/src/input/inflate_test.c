/* SPDX-License-Identifier: Apache-2.0 */
/* Tests inputs in all compressions, truncated at every byte, and with flipped bits; and files that change
 * during the read. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/test_support.h"
#include "inflate.h"
#include "input.h"

enum { CAPACITY = 1 << 20 };

static uint8_t plain[300000], packed[CAPACITY], back[CAPACITY];

static void make_plain(void)
{
    for (size_t i = 0; i < sizeof(plain); i++)
        plain[i] = (uint8_t)((size_t) "abcdefgh\n"[i % 9] + (i / 1000) % 3);
}

static size_t gzip(const void *from, size_t bytes, uint8_t *to, size_t capacity)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)from;
    z.avail_in = (uInt)bytes;
    z.next_out = to;
    z.avail_out = (uInt)capacity;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return capacity - z.avail_out;
}

static size_t zstd(const void *from, size_t bytes, uint8_t *to, size_t capacity)
{
    size_t n = ZSTD_compress(to, capacity, from, bytes, 3);
    assert_false(ZSTD_isError(n));
    return n;
}

typedef size_t packer(const void *from, size_t bytes, uint8_t *to, size_t capacity);

/* Decompresses an input in pieces of `step` bytes, with `capacity` bytes of output space. */
static hac_status unpack(const uint8_t *in, size_t bytes, size_t step, size_t capacity, size_t *ret_made,
                         hac_error *err)
{
    bool unsure;
    hac_cleanup(hac_inflate_free_cleanup) hac_inflate *state = NULL;
    hac_status status = hac_inflate_new(hac_packing_of(in, bytes, &unsure), 0, &state, err);
    size_t made = 0;
    for (size_t at = 0; status == HAC_OK && at < bytes;) {
        size_t used = 0, n = bytes - at < step ? bytes - at : step, out = 0;
        size_t left = CAPACITY - made < capacity ? CAPACITY - made : capacity;
        status = hac_inflate_run(state, in + at, n, &used, back + made, left, &out, err);
        assert_true(status != HAC_OK || used + out > 0);
        at += used;
        made += out;
        while (status == HAC_OK && out == capacity && at == bytes) { /* drain the decompressor */
            status = hac_inflate_run(state, in + at, 0, &used, back + made, capacity, &out, err);
            made += out;
        }
    }
    *ret_made = made;
    return status == HAC_OK ? hac_inflate_end(state, err) : status;
}

static void test_round_trip(void **state)
{
    (void)state;
    static packer *const packers[] = {gzip, zstd};
    for (size_t p = 0; p < 2; p++) {
        size_t n = packers[p](plain, sizeof(plain), packed, CAPACITY), made;
        for (size_t step = 1; step <= n; step = step * 5 + 1) {
            assert_int_equal(unpack(packed, n, step, 4096, &made, NULL), HAC_OK);
            assert_int_equal(made, sizeof(plain));
            assert_memory_equal(back, plain, made);
        }
        /* several members or frames, one of them empty */
        size_t all = packers[p](plain, 100000, packed, CAPACITY);
        all += packers[p](plain, 0, packed + all, CAPACITY - all);
        all += packers[p](plain + 100000, 200000, packed + all, CAPACITY - all);
        assert_int_equal(unpack(packed, all, 777, 5000, &made, NULL), HAC_OK);
        assert_int_equal(made, sizeof(plain));
        assert_memory_equal(back, plain, made);
    }
}

static void test_skippable_and_zeros(void **state)
{
    (void)state;
    size_t made, n;
    hac_error err = HAC_ERROR_NONE;
    memcpy(packed, "\x50\x2a\x4d\x18\x03\0\0\0xyz", 11);
    n = 11 + zstd(plain, 1000, packed + 11, CAPACITY - 11);
    memcpy(packed + n, "\x5f\x2a\x4d\x18\x01\0\0\0x", 9);
    assert_int_equal(unpack(packed, n + 9, 3, 4096, &made, NULL), HAC_OK);
    assert_int_equal(made, 1000);
    n = gzip(plain, 1000, packed, CAPACITY);
    memset(packed + n, 0, 1000);
    for (size_t step = 1; step < 1500; step += 499)
        assert_int_equal(unpack(packed, n + 1000, step, 4096, &made, NULL), HAC_OK);
    packed[n + 999] = 1;
    assert_int_equal(unpack(packed, n + 1000, 100, 4096, &made, &err), HAC_FAILED);
    hac_test_assert_says(err.message, "neither gzip nor zeros");
    memcpy(packed + n + 10, packed, n); /* a member after zeros is invalid, too */
    assert_int_equal(unpack(packed, n + 10 + n, 100, 4096, &made, NULL), HAC_FAILED);
    char where[32];
    snprintf(where, sizeof(where), "byte %zu of the gzip data", n + 999);
    hac_test_assert_says(err.message, where);
}

/* libzstd accepts a frame that ends with an empty block, whatever length its header says. */
static void test_short_frame(void **state)
{
    (void)state;
    static const uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0x60, 0x30, 0xfe, /* size: 65,328 bytes */
                                    0x1a, 0x10, 0,    2,                      /* 515 times 2 */
                                    5,    0,    0};                           /* last block: empty */
    for (size_t step = 1; step <= sizeof frame; step++) {
        hac_error err = HAC_ERROR_NONE;
        size_t made;
        memcpy(packed, frame, sizeof frame);
        assert_int_equal(unpack(packed, sizeof frame, step, 129, &made, &err), HAC_FAILED);
        hac_test_assert_says(err.message, "byte 14 of the zstd data: a frame is not as long as it says");
        packed[5] = 3; /* 256 + 259 */
        packed[6] = 1;
        assert_int_equal(unpack(packed, sizeof frame, step, 129, &made, NULL), HAC_OK);
        assert_int_equal(made, 515);
    }
}

static void test_cut_off(void **state)
{
    (void)state;
    static packer *const packers[] = {gzip, zstd};
    for (size_t p = 0; p < 2; p++) {
        size_t n = packers[p](plain, 5000, packed, CAPACITY), made;
        for (size_t bytes = HAC_PACKING_MAGIC; bytes < n; bytes++) {
            hac_error err = HAC_ERROR_NONE;
            assert_int_equal(unpack(packed, bytes, 100, 4096, &made, &err), HAC_FAILED);
            hac_test_assert_says(err.message, "cut off");
        }
    }
}

/* Flipped bits cause only errors, no crashes. A damaged input with a checksum is always detected. */
static void test_flipped(void **state)
{
    (void)state;
    static packer *const packers[] = {gzip, zstd};
    for (size_t p = 0; p < 2; p++) {
        size_t n = packers[p](plain, 3000, packed, CAPACITY), made;
        for (size_t bit = HAC_PACKING_MAGIC * 8; bit < n * 8; bit++) {
            hac_error err = HAC_ERROR_NONE;
            packed[bit / 8] ^= (uint8_t)(1 << bit % 8);
            hac_status status = unpack(packed, n, 64, 4096, &made, &err);
            if (p == 0 && bit / 8 >= 10 && status == HAC_OK)
                assert_memory_equal(back, plain, 3000);
            if (status != HAC_OK)
                assert_int_equal(err.code, HAC_FAILED);
            packed[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

static void test_packing(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        hac_packing packing;
        bool unsure;
    } cases[] = {
        {"", 0, HAC_PACKING_NONE, true},
        {"a", 1, HAC_PACKING_NONE, false},
        {"\x1f", 1, HAC_PACKING_NONE, true},
        {"\x1f\x8b\x08", 3, HAC_PACKING_NONE, true},
        {"\x1f\x8b\x08\x1f", 4, HAC_PACKING_GZIP, false},
        {"\x1f\x8b\x08\x20", 4, HAC_PACKING_NONE, false},
        {"(\xb5/\xfd", 4, HAC_PACKING_ZSTD, false},
        {"(\xb5", 2, HAC_PACKING_NONE, true},
        {"P", 1, HAC_PACKING_NONE, true},
        {"Pa", 2, HAC_PACKING_NONE, false},
        {"\x5a\x2a\x4d\x18", 4, HAC_PACKING_ZSTD, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool unsure;
        assert_int_equal(hac_packing_of((const uint8_t *)cases[i].bytes, cases[i].n, &unsure),
                         cases[i].packing);
        assert_int_equal(unsure, cases[i].unsure);
    }
}

/* ---- inputs ---- */

/* Reads an input to its end. Waits on HAC_AGAIN. */
static hac_status read_input(hac_input *input, size_t capacity, size_t *ret, hac_error *err)
{
    size_t filled = 0;
    for (;;) {
        uint64_t n;
        struct pollfd p = {hac_input_wants(input), POLLIN, 0};
        if (p.fd >= 0)
            assert_int_equal(poll(&p, 1, 5000), 1);
        hac_status status = hac_input_read(input, back + filled, capacity, &n, err);
        if (status == HAC_AGAIN)
            continue;
        if (status != HAC_OK || n == 0) {
            *ret = filled;
            return status;
        }
        filled += n;
    }
}

static void test_files(void **state)
{
    (void)state;
    static packer *const packers[] = {NULL, gzip, zstd};
    for (size_t p = 0; p < 3; p++) {
        size_t n = sizeof(plain), made;
        if (p == 0)
            memcpy(packed, plain, n);
        else
            n = packers[p](plain, sizeof(plain), packed, CAPACITY);
        int fd = hac_test_file(packed, n);
        for (size_t raw = 0; raw < 2; raw++) {
            hac_cleanup(hac_input_free_cleanup) hac_input *input = NULL;
            assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
            assert_int_equal(hac_input_open(fd, "x", raw == 1, NULL, &input, NULL), HAC_OK);
            assert_int_equal(hac_input_wants(input), -1);
            assert_int_equal(read_input(input, 7777, &made, NULL), HAC_OK);
            assert_int_equal(made, raw == 1 ? n : sizeof(plain));
            assert_memory_equal(back, raw == 1 ? packed : plain, made);
        }
        close(fd);
    }
}

static void test_file_that_changes(void **state)
{
    (void)state;
    hac_input *input = NULL;
    hac_error err = HAC_ERROR_NONE;
    uint64_t n;
    size_t made;
    int fd = hac_test_file(plain, 1000);
    assert_int_equal(lseek(fd, 100, SEEK_SET), 100);
    assert_int_equal(hac_input_open(fd, "log.csv", true, NULL, &input, NULL), HAC_OK);
    assert_int_equal(hac_input_read(input, back, 300, &n, NULL), HAC_OK);
    assert_int_equal(pwrite(fd, "more", 4, 1000), 4); /* appended bytes are ignored */
    assert_int_equal(read_input(input, 4096, &made, NULL), HAC_OK);
    assert_int_equal(made, 600);
    hac_input_free(input);
    assert_int_equal(lseek(fd, 4, SEEK_SET), 4);
    assert_int_equal(hac_input_open(fd, "log.csv", true, NULL, &input, NULL), HAC_OK);
    assert_int_equal(hac_input_read(input, back, 300, &n, NULL), HAC_OK);
    assert_int_equal(ftruncate(fd, 500), 0);
    assert_int_equal(read_input(input, 4096, &made, &err), HAC_FAILED);
    assert_string_equal(err.message,
                        "log.csv: ended after 496 of 1000 bytes: it was truncated while it was read");
    hac_input_free(input);
    close(fd);
}

static void test_pipe(void **state)
{
    (void)state;
    int ends[2];
    uint64_t n;
    size_t bytes = gzip("hello\n", 6, packed, CAPACITY);
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    hac_input *input = NULL;
    assert_int_equal(hac_input_open(ends[0], "pipe", false, NULL, &input, NULL), HAC_OK);
    assert_int_equal(hac_input_wants(input), ends[0]);
    assert_int_equal(hac_input_read(input, back, 100, &n, NULL), HAC_AGAIN);
    size_t made = 0;
    for (size_t i = 0; i < bytes; i++) { /* byte by byte */
        assert_int_equal(write(ends[1], packed + i, 1), 1);
        hac_status status = hac_input_read(input, back + made, 100, &n, NULL);
        assert_true(status == HAC_OK || status == HAC_AGAIN);
        made += status == HAC_OK ? n : 0;
    }
    assert_true(made == 6 && memcmp(back, "hello\n", 6) == 0);
    close(ends[1]);
    assert_int_equal(read_input(input, 100, &made, NULL), HAC_OK);
    assert_int_equal(made, 0);
    hac_input_free(input);
    close(ends[0]);
}

static void test_damaged_input(void **state)
{
    (void)state;
    size_t n = gzip(plain, 1000, packed, CAPACITY), made;
    hac_input *input = NULL;
    hac_error err = HAC_ERROR_NONE;
    int fd = hac_test_file(packed, n - 3);
    lseek(fd, 0, SEEK_SET);
    assert_int_equal(hac_input_open(fd, "a.gz", false, NULL, &input, NULL), HAC_OK);
    assert_int_equal(read_input(input, 4096, &made, &err), HAC_FAILED);
    hac_test_assert_says(err.message, "a.gz: the gzip data are cut off");
    hac_input_free(input);
    close(fd);
}

/* An input with the name of a compressed file must be compressed; otherwise it is damaged. */
static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *name, *bytes;
        size_t n;
        const char *says; /* NULL: the read succeeds */
    } cases[] = {{"a.gz", "", 0, "a.gz: the compressed data are cut off, after 0 bytes"},
                 {"a.gz", "\x1f\x8b\x08", 3, "a.gz: the compressed data are cut off, after 3 bytes"},
                 {"a.gz", "\0\0\0", 3, "a.gz: is neither gzip nor zstd, as its name says"},
                 {"b/a.ZST", "text\n", 5, "b/a.ZST: is neither gzip nor zstd"},
                 {"P", "P", 1, NULL},
                 {"(", "", 0, NULL}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hac_cleanup(hac_input_free_cleanup) hac_input *input = NULL;
        hac_error err = HAC_ERROR_NONE;
        size_t made = 0;
        int fd = hac_test_file(cases[i].bytes, cases[i].n);
        lseek(fd, 0, SEEK_SET);
        assert_int_equal(hac_input_open(fd, cases[i].name, false, NULL, &input, &err), HAC_OK);
        assert_int_equal(read_input(input, 64, &made, &err), cases[i].says == NULL ? HAC_OK : HAC_FAILED);
        if (cases[i].says != NULL)
            hac_test_assert_says(err.message, cases[i].says);
        else
            assert_int_equal(made, cases[i].n);
        close(fd);
    }
}

/* Files that the kernel generates at each read. Their size is 0, or one page. */
static void test_proc(void **state)
{
    (void)state;
    static const char *const names[] = {"/proc/self/status", "/sys/kernel/mm/transparent_hugepage/enabled"};
    for (size_t i = 0; i < 2; i++) {
        size_t made = 0;
        int fd = open(names[i], O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        hac_input *input = NULL;
        assert_int_equal(hac_input_open(fd, names[i], false, NULL, &input, NULL), HAC_OK);
        assert_int_equal(read_input(input, 4096, &made, NULL), HAC_OK);
        assert_true(made > 0);
        hac_input_free(input);
        close(fd);
    }
}

static void test_bad_inputs(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_input *input = NULL;
    int fd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(hac_input_open(fd, "/tmp", false, NULL, &input, &err), HAC_FAILED);
    hac_test_assert_says(err.message, "/tmp is a directory");
    close(fd);
    fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_int_equal(hac_input_open(fd, "null", false, NULL, &input, &err), HAC_FAILED);
    hac_test_assert_says(err.message, "null is not open for reading");
    close(fd);
}

/* A frame of "a\n1\n2\n" whose header asks for a window of 2^log bytes (RFC 8878, 3.1.1.1.2). */
static size_t window_frame(unsigned log, uint8_t *to)
{
    memcpy(to, "\x28\xb5\x2f\xfd\0\0\x31\0\0\x61\x0a\x31\x0a\x32\x0a", 15);
    to[5] = (uint8_t)((log - 10) << 3);
    return 15;
}

/* Windows beyond libzstd's default of 2^27 are read if they fit in the query's memory. */
static void test_windows(void **state)
{
    (void)state;
    static const struct {
        unsigned log;
        uint64_t memory;
        hac_status status;
    } cases[] = {{20, 1, HAC_OK},
                 {27, 1, HAC_OK},
                 {28, 0, HAC_OK},
                 {31, 0, HAC_OK},
                 {32, 0, HAC_FAILED},
                 {28, UINT64_C(1) << 28, HAC_OK},
                 {28, (UINT64_C(1) << 28) - 1, HAC_FAILED},
                 {41, UINT64_MAX, HAC_FAILED}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t frame[16], out[16];
        hac_error err = HAC_ERROR_NONE;
        hac_inflate *inflate = NULL;
        size_t used = 0, made = 0, bytes = window_frame(cases[i].log, frame);
        assert_int_equal(hac_inflate_new(HAC_PACKING_ZSTD, cases[i].memory, &inflate, NULL), HAC_OK);
        hac_status status = hac_inflate_run(inflate, frame, bytes, &used, out, sizeof(out), &made, &err);
        assert_int_equal(status, cases[i].status);
        if (status == HAC_OK) {
            assert_int_equal(made, 6);
            assert_memory_equal(out, "a\n1\n2\n", 6);
        } else {
            char window[64];
            snprintf(window, sizeof(window), "a window of %llu bytes", 1ULL << cases[i].log);
            hac_test_assert_says(err.message, window);
            hac_test_assert_says(err.message, "--memory");
        }
        hac_inflate_free(inflate);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_skippable_and_zeros),
        cmocka_unit_test(test_short_frame), cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_flipped),     cmocka_unit_test(test_packing),
        cmocka_unit_test(test_files),       cmocka_unit_test(test_file_that_changes),
        cmocka_unit_test(test_pipe),        cmocka_unit_test(test_damaged_input),
        cmocka_unit_test(test_names),       cmocka_unit_test(test_proc),
        cmocka_unit_test(test_bad_inputs),  cmocka_unit_test(test_windows),
    };
    make_plain();
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
