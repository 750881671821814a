/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/test_support.h"

#define MiB (1024u * 1024)

static void test_create_and_map(void **state)
{
    (void)state;
    hac_autoclose int fd = -1;
    assert_int_equal(hac_memfd_create("test", 3 * MiB + 1, false, &fd, NULL), HAC_OK);
    assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    assert_int_equal(hac_memfd_check(fd, 3 * MiB + 1, NULL), HAC_OK);
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_memfd_check(fd, 3 * MiB + 2, &err), HAC_INVALID);
    assert_string_equal(err.message, "the shared memory has 3145729 bytes, 3145730 are needed");

    void *writer = NULL, *reader = NULL;
    assert_int_equal(hac_memfd_map(fd, 3 * MiB + 1, true, &writer, NULL), HAC_OK);
    assert_int_equal(hac_memfd_map(fd, 3 * MiB + 1, false, &reader, NULL), HAC_OK);
    assert_int_equal((uintptr_t)writer % 64, 0);
    memcpy((char *)writer + 3 * MiB - 5, "seen", 5);
    assert_string_equal((char *)reader + 3 * MiB - 5, "seen");
    hac_memfd_unmap(writer, 3 * MiB + 1);
    hac_memfd_unmap(reader, 3 * MiB + 1);
    hac_memfd_unmap(NULL, 1);
}

static uint64_t memory_of(int fd)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return (uint64_t)st.st_blocks * 512;
}

/* What is there stays, and nothing is taken behind the last whole large page. */
static void test_large_pages(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    static const uint64_t sizes[] = {4096, 2 * HAC_LARGE_PAGE - 1, 2 * HAC_LARGE_PAGE, 3 * HAC_LARGE_PAGE + 1,
                                     4 * HAC_LARGE_PAGE - 4096};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t bytes = sizes[i], whole = bytes / HAC_LARGE_PAGE * HAC_LARGE_PAGE;
        bool large = bytes >= 2 * HAC_LARGE_PAGE;
        hac_autoclose int fd = -1;
        void *address = NULL;
        assert_int_equal(hac_memfd_create("x", bytes, false, &fd, &err), HAC_OK);
        assert_int_equal(hac_memfd_map(fd, bytes, true, &address, &err), HAC_OK);
        if (large)
            assert_int_equal((uintptr_t)address % HAC_LARGE_PAGE, 0);
        uint8_t *data = address;
        data[0] = 17;
        data[bytes - 1] = 23;
        uint64_t before = memory_of(fd);
        hac_memfd_take_large_pages(address, bytes);
        uint64_t after = memory_of(fd), behind = whole < bytes ? 4096 : 0;
        if (large) /* the kernel may have none, or not so many */
            assert_in_range(after, before, whole + behind);
        else
            assert_int_equal(after, before);
        assert_int_equal(data[0], 17);
        assert_int_equal(data[bytes - 1], 23);
        assert_int_equal(data[bytes / 2], 0);
        hac_memfd_unmap(address, bytes);
    }
}

/* Address space that a mapping of large pages cannot have leaves nothing mapped. */
static void test_no_room_for_large_pages(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_autoclose int fd = -1;
    void *address = NULL;
    struct rlimit old, low;
    assert_int_equal(hac_memfd_create("x", 1 << 30, false, &fd, &err), HAC_OK);
    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
    low = old;
    low.rlim_cur = 1 << 29;
    if (setrlimit(RLIMIT_AS, &low) != 0)
        skip();
    hac_status status = hac_memfd_map(fd, 1 << 30, true, &address, &err);
    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
    assert_int_equal(status, HAC_NO_MEMORY);
    assert_int_equal(hac_memfd_map(fd, 1 << 30, true, &address, &err), HAC_OK);
    hac_memfd_unmap(address, 1 << 30);
}

static void test_seals_hold(void **state)
{
    (void)state;
    hac_autoclose int fd = -1;
    assert_int_equal(hac_memfd_create("test", 4096, false, &fd, NULL), HAC_OK);
    assert_int_equal(ftruncate(fd, 0), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(ftruncate(fd, 8192), -1);
    assert_int_equal(pwrite(fd, "x", 1, 4096), -1);
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_memfd_grow(fd, 8192, &err), HAC_REFUSED);
    assert_non_null(strstr(err.message, "final"));
}

static void test_growing(void **state)
{
    (void)state;
    hac_autoclose int fd = -1;
    assert_int_equal(hac_memfd_create("test", 100, true, &fd, NULL), HAC_OK);
    assert_int_equal(ftruncate(fd, 99), -1); /* shrinking never works */
    assert_int_equal(hac_memfd_grow(fd, 5000, NULL), HAC_OK);
    assert_int_equal(hac_memfd_grow(fd, 5000, NULL), HAC_OK);
    assert_int_equal(hac_memfd_grow(fd, 4999, NULL), HAC_INVALID);
    assert_int_equal(hac_memfd_grow(fd, UINT64_MAX, NULL), HAC_INVALID);
    assert_int_equal(hac_memfd_check(fd, 5000, NULL), HAC_OK);
    assert_int_equal(hac_memfd_seal_size(fd, NULL), HAC_OK);
    assert_int_equal(hac_memfd_seal_size(fd, NULL), HAC_OK);
    assert_int_equal(hac_memfd_grow(fd, 6000, NULL), HAC_REFUSED);
    assert_int_equal(hac_memfd_check(fd, 5001, NULL), HAC_INVALID);
}

/* A memfd whose size is final takes no seal that keeps its pages from being freed. */
static void test_seals_of_others(void **state)
{
    (void)state;
    hac_autoclose int fixed = -1, growable = -1, sealed = -1;
    hac_error err = HAC_ERROR_NONE;
    struct stat info;
    assert_int_equal(hac_memfd_create("test", MiB, false, &fixed, NULL), HAC_OK);
    assert_int_equal(fcntl(fixed, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(pwrite(fixed, "x", 1, MiB / 2), 1);
    assert_true(hac_memfd_can_be_emptied(fixed) && hac_memfd_empty(fixed));
    assert_int_equal(fstat(fixed, &info), 0);
    assert_int_equal(info.st_blocks, 0);
    assert_int_equal(info.st_size, MiB);

    assert_int_equal(hac_memfd_create("test", MiB, true, &growable, NULL), HAC_OK);
    assert_int_equal(pwrite(growable, "x", 1, 0), 1);
    assert_int_equal(fcntl(growable, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
    assert_false(hac_memfd_can_be_emptied(growable) || hac_memfd_empty(growable));
    assert_int_equal(hac_memfd_seal_size(growable, &err), HAC_INVALID);
    assert_non_null(strstr(err.message, "sealed against writing"));

    assert_int_equal(hac_memfd_create("test", MiB, true, &sealed, NULL), HAC_OK);
    assert_int_equal(fcntl(sealed, F_ADD_SEALS, F_SEAL_SEAL), 0);
    assert_int_equal(hac_memfd_seal_size(sealed, NULL), HAC_INVALID);
}

static void test_impossible_sizes(void **state)
{
    (void)state;
    int fd = -7;
    assert_int_equal(hac_memfd_create("test", 0, false, &fd, NULL), HAC_INVALID);
    assert_int_equal(hac_memfd_create("test", UINT64_MAX, false, &fd, NULL), HAC_INVALID);
    assert_int_equal(hac_memfd_create("test", (uint64_t)INT64_MAX + 1, false, &fd, NULL), HAC_INVALID);
    assert_int_equal(fd, -7); /* outputs are left alone */
    void *address = NULL;
    assert_int_equal(hac_memfd_map(0, 0, false, &address, NULL), HAC_INVALID);
    assert_null(address);
    hac_error err = HAC_ERROR_NONE;
    assert_int_not_equal(hac_memfd_map(-1, 4096, false, &address, &err), HAC_OK);
    assert_int_equal(err.code, HAC_IO);
}

/* What a client might hand in instead: each of these could fault, or block, after it was accepted. */
static void test_check_refuses(void **state)
{
    (void)state;
    char disk[] = "/tmp/hac-memfd-test-XXXXXX", shm[] = "/dev/shm/hac-memfd-test-XXXXXX";
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    int bad[] = {
        memfd_create("never sealed", MFD_CLOEXEC),
        memfd_create("not sealed yet", MFD_CLOEXEC | MFD_ALLOW_SEALING),
        memfd_create("only growing sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING),
        mkostemp(disk, O_CLOEXEC),
        mkostemp(shm, O_CLOEXEC),
        ends[0],
        ends[1],
        open("/dev/zero", O_RDWR | O_CLOEXEC),
        open("/", O_PATH | O_CLOEXEC),
        -1,
    };
    unlink(disk);
    unlink(shm);
    assert_int_equal(fcntl(bad[2], F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SEAL), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        hac_error err = HAC_ERROR_NONE;
        if (i < 5)
            (void)!ftruncate(bad[i], 4096);
        if (hac_memfd_check(bad[i], 1, &err) != HAC_INVALID)
            fail_msg("descriptor %zu of the list was taken", i);
        assert_true(err.message[0] != '\0');
        hac_close(bad[i]);
    }
}

/* Huge pages can run out under a mapping, whatever the seals say. */
static void test_check_refuses_huge_pages(void **state)
{
    (void)state;
    hac_autoclose int fd = memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
    if (fd < 0)
        skip();
    assert_int_equal(ftruncate(fd, 64 * MiB), 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    assert_int_equal(hac_memfd_check(fd, 4096, NULL), HAC_INVALID);
}

static void test_out_of_descriptors(void **state)
{
    (void)state;
    struct rlimit old, low;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    low = (struct rlimit){0, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    int fd = -7;
    hac_error first = HAC_ERROR_NONE;
    hac_status created = hac_memfd_create("test", 4096, false, &fd, &first);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(created, HAC_IO);
    assert_string_equal(first.message,
                        "cannot create shared memory: Too many open files; raise the limit (ulimit -n)");
    assert_int_equal(fd, -7);
    assert_int_equal(hac_memfd_grow(-1, 1, NULL), HAC_IO);
    assert_int_equal(hac_memfd_seal_size(STDERR_FILENO, NULL), HAC_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create_and_map),
        cmocka_unit_test(test_large_pages),
        cmocka_unit_test(test_no_room_for_large_pages),
        cmocka_unit_test(test_seals_hold),
        cmocka_unit_test(test_growing),
        cmocka_unit_test(test_seals_of_others),
        cmocka_unit_test(test_impossible_sizes),
        cmocka_unit_test(test_check_refuses),
        cmocka_unit_test(test_check_refuses_huge_pages),
        cmocka_unit_test(test_out_of_descriptors),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
