/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of buffers and descriptors against a plain array, and every kind of span. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memfd.h"
#include "base/test_support.h"
#include "memory.h"

#define KEYS 300

static hac_memory *new_memory(void)
{
    hac_memory *memory = NULL;
    assert_int_equal(hac_memory_new(NULL, &memory, NULL), HAC_OK);
    return memory;
}

/* Numbers that are close together, and numbers that are far apart. */
static uint64_t key_of(unsigned i)
{
    return i % 3 == 0 ? i + 1 : (uint64_t)i * UINT64_C(0x100000001) + 7;
}

static void test_random_descriptors(void **state)
{
    (void)state;
    hac_memory *memory = new_memory();
    ino_t present[KEYS] = {0};
    srand(3);
    for (int round = 0; round < 20000; round++) {
        unsigned i = (unsigned)rand() % KEYS;
        int fd = -1;
        struct stat st;
        if (present[i] == 0 && rand() % 2 == 0) {
            int mine = memfd_create("x", MFD_CLOEXEC);
            assert_int_equal(fstat(mine, &st), 0);
            assert_int_equal(hac_memory_add_descriptor(memory, key_of(i), mine, NULL), HAC_OK);
            present[i] = st.st_ino;
        } else if (rand() % 2 == 0) {
            hac_memory_remove_descriptor(memory, key_of(i));
            present[i] = 0;
        }
        i = (unsigned)rand() % KEYS;
        hac_status status = hac_memory_descriptor(memory, key_of(i), &fd, NULL);
        assert_int_equal(status, present[i] != 0 ? HAC_OK : HAC_INVALID);
        if (status == HAC_OK) {
            assert_int_equal(fstat(fd, &st), 0);
            assert_true(st.st_ino == present[i]);
        }
    }
    hac_memory_free(memory);
}

static int sealed(uint64_t bytes)
{
    int fd = -1;
    assert_int_equal(hac_memfd_create("x", bytes, false, &fd, NULL), HAC_OK);
    return fd;
}

static void test_spans(void **state)
{
    (void)state;
    hac_memory *memory = new_memory();
    hac_error err = HAC_ERROR_NONE;
    hac_span span, whole;
    assert_int_equal(hac_memory_add_buffer(memory, 9, 8192, false, sealed(8192), &err), HAC_OK);
    assert_int_equal(hac_memory_span(memory, 9, 0, 8192, &whole, &err), HAC_OK);
    assert_int_equal((uintptr_t)whole.data % 64, 0);
    assert_int_equal(hac_memory_span(memory, 9, 8192, 0, &span, &err), HAC_OK);
    assert_int_equal(hac_memory_span(memory, 9, 8128, 64, &span, &err), HAC_OK);
    assert_ptr_equal(span.data, whole.data + 8128);
    const struct {
        uint32_t buffer;
        uint64_t offset, bytes;
    } bad[] = {{8, 0, 1},
               {9, 0, 8193},
               {9, 64, 8129},
               {9, 8192, 1},
               {9, 8256, 0},
               {9, 1, 1},
               {9, 63, 1},
               {9, 32, 64},
               {9, 0, UINT64_MAX},
               {9, 64, UINT64_MAX - 63},
               {9, UINT64_MAX - 63, 64},
               {0, 0, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(hac_memory_span(memory, bad[i].buffer, bad[i].offset, bad[i].bytes, &span, &err),
                         HAC_INVALID);
    hac_memory_free(memory);
}

/* Only memory that will be written is taken in advance. */
static void test_whole_buffers(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    for (int whole = 0; whole < 2; whole++) {
        hac_memory *memory = new_memory();
        hac_span span;
        struct stat st;
        int fd = sealed(8 << 20);
        hac_autoclose int kept = dup(fd);
        assert_int_equal(hac_memory_add_buffer(memory, 1, 8 << 20, whole, fd, &err), HAC_OK);
        assert_int_equal(hac_memory_span(memory, 1, 0, 8 << 20, &span, &err), HAC_OK);
        assert_int_equal(fstat(kept, &st), 0);
        assert_true(st.st_blocks == 0 ||
                    (whole && st.st_blocks * 512 <= 8 << 20)); /* the kernel may have none, or too few */
        memset(span.data, 7, 8 << 20);
        hac_memory_free(memory);
    }
}

/* Without address space a buffer waits, and its users get the reason. */
static void test_mapped_later(void **state)
{
    (void)state;
    hac_memory *memory = new_memory();
    hac_error err = HAC_ERROR_NONE;
    hac_span span;
    struct rlimit old, low;
    int fd = sealed(1 << 30);
    assert_int_equal(hac_memory_add_buffer(memory, 2, 4096, false, sealed(4096), &err), HAC_OK);
    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
    low = old;
    low.rlim_cur = 1 << 29;
    assert_int_equal(setrlimit(RLIMIT_AS, &low), 0);
    hac_status added = hac_memory_add_buffer(memory, 1, 1 << 30, false, fd, &err);
    hac_status used = hac_memory_span(memory, 1, 0, 64, &span, &err);
    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
    assert_int_equal(added, HAC_NO_MEMORY);
    assert_int_equal(used, HAC_NO_MEMORY);
    assert_int_equal(hac_memory_add_buffer(memory, 1, 4096, false, sealed(4096), &err), HAC_PROTOCOL);
    assert_int_equal(hac_memory_span(memory, 1, 0, 1 << 30, &span, &err), HAC_OK);
    span.data[(1 << 30) - 1] = 1;
    hac_memory_free(memory);
}

/* The descriptor is taken, and closed in every case. */
static void test_refused_buffers(void **state)
{
    (void)state;
    hac_memory *memory = new_memory();
    hac_error err = HAC_ERROR_NONE;
    hac_span span;
    assert_int_equal(hac_memory_add_buffer(memory, 1, 4096, false, sealed(4096), &err), HAC_OK);
    assert_int_equal(hac_memory_add_buffer(memory, 1, 4096, false, sealed(4096), &err), HAC_PROTOCOL);
    assert_int_not_equal(hac_memory_add_buffer(memory, 2, 4097, false, sealed(4096), &err), HAC_OK);
    assert_int_not_equal(hac_memory_add_buffer(memory, 3, 4096, false, memfd_create("x", MFD_CLOEXEC), &err),
                         HAC_OK);
    assert_int_not_equal(
        hac_memory_add_buffer(memory, 4, 4096, false, open("/dev/zero", O_RDWR | O_CLOEXEC), &err), HAC_OK);
    assert_int_not_equal(hac_memory_add_buffer(memory, 5, 4096, false, -1, &err), HAC_OK);
    for (uint32_t i = 2; i <= 5; i++)
        assert_int_equal(hac_memory_span(memory, i, 0, 1, &span, &err), HAC_INVALID);
    hac_memory_remove_buffer(memory, 77);
    hac_memory_remove_buffer(memory, 1);
    assert_int_equal(hac_memory_span(memory, 1, 0, 1, &span, &err), HAC_INVALID);
    hac_memory_free(memory);
    hac_memory_free(NULL);
}

static void test_many(void **state)
{
    (void)state;
    hac_memory *memory = new_memory();
    hac_error err = HAC_ERROR_NONE;
    uint64_t i = 1;
    hac_autoclose int fd = memfd_create("x", MFD_CLOEXEC);
    while (i <= 700 && hac_memory_add_descriptor(memory, i, dup(fd), &err) == HAC_OK)
        i++;
    assert_int_equal(i, 701);
    hac_memory_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_descriptors), cmocka_unit_test(test_spans),
        cmocka_unit_test(test_whole_buffers),      cmocka_unit_test(test_mapped_later),
        cmocka_unit_test(test_refused_buffers),    cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
