/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memfd.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failpoint.h"

/* Linux 6.3; the headers of Debian 12 do not have it. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

/* A large page takes 0.2 to 0.4 ms, and 6 in a virtual machine that has to ask its host for each. Where they
 * take longer still (memory in pieces) the rest comes page by page. */
#define LARGE_PAGE_NS UINT64_C(8000000)
#define SLOW_PAGES    4 /* that may be late */

/* Of memory whose size is final. Without F_SEAL_SEAL a client could seal it against writing, and keep hacd
 * from freeing its pages. */
#define FINAL_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* Linux 6.1; before, it fails. */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

static hac_status fail_system(hac_error *err, const char *what)
{
    hac_status code = errno == ENOMEM ? HAC_NO_MEMORY : HAC_IO;
    return hac_fail_errno(err, code, errno, "%s", what);
}

static int create_sealable(const char *name)
{
    int fd = HAC_FAILPOINT("memfd.create", -1,
                           memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL));
    if (fd < 0 && errno == EINVAL) /* a kernel before 6.3 */
        fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return fd;
}

hac_status hac_memfd_create(const char *name, uint64_t bytes, bool growable, int *ret_fd, hac_error *err)
{
    if (bytes == 0 || bytes > INT64_MAX)
        return hac_fail(err, HAC_INVALID, "a buffer cannot have %llu bytes", (unsigned long long)bytes);
    hac_autoclose int fd = create_sealable(name);
    if (fd < 0)
        return fail_system(err, "cannot create shared memory");
    if (HAC_FAILPOINT("memfd.size", -1, ftruncate(fd, (off_t)bytes)) < 0)
        return hac_fail_errno(err, errno == ENOMEM ? HAC_NO_MEMORY : HAC_IO, errno,
                              "cannot make shared memory of %llu bytes", (unsigned long long)bytes);
    if (HAC_FAILPOINT("memfd.seal", -1, fcntl(fd, F_ADD_SEALS, growable ? F_SEAL_SHRINK : FINAL_SEALS)) < 0)
        return fail_system(err, "cannot seal shared memory");
    *ret_fd = hac_steal_fd(&fd);
    return HAC_OK;
}

static hac_status size_of(int fd, uint64_t *ret, hac_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return fail_system(err, "cannot read the size of shared memory");
    *ret = st.st_size < 0 ? 0 : (uint64_t)st.st_size;
    return HAC_OK;
}

hac_status hac_memfd_grow(int fd, uint64_t bytes, hac_error *err)
{
    uint64_t now = 0;
    hac_status status = size_of(fd, &now, err);
    if (status != HAC_OK)
        return status;
    if (bytes < now || bytes > INT64_MAX)
        return hac_fail(err, HAC_INVALID, "a buffer of %llu bytes cannot become one of %llu",
                        (unsigned long long)now, (unsigned long long)bytes);
    if (HAC_FAILPOINT("memfd.grow", -1, ftruncate(fd, (off_t)bytes)) == 0)
        return HAC_OK;
    if (errno == EPERM)
        return hac_fail(err, HAC_REFUSED,
                        "the buffer's size is final: it has been used, or was not made growable");
    return fail_system(err, "cannot grow shared memory");
}

hac_status hac_memfd_seal_size(int fd, hac_error *err)
{
    int seals = fcntl(fd, F_GET_SEALS);
    /* Whoever has the memfd could add seals until now. */
    if (seals >= 0 && (seals & FINAL_SEALS) != FINAL_SEALS && fcntl(fd, F_ADD_SEALS, FINAL_SEALS) == 0)
        seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0)
        return fail_system(err, "cannot seal shared memory");
    if ((seals & FINAL_SEALS) != FINAL_SEALS || !hac_memfd_can_be_emptied(fd))
        return hac_fail(err, HAC_INVALID, "the shared memory is sealed against writing, or against seals");
    return HAC_OK;
}

bool hac_memfd_can_be_emptied(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) == 0;
}

bool hac_memfd_empty(int fd)
{
    uint64_t bytes = 0;
    return size_of(fd, &bytes, NULL) == HAC_OK &&
           (bytes == 0 || fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes) == 0);
}

hac_status hac_memfd_check(int fd, uint64_t bytes, hac_error *err)
{
    /* Disk files and pipes have no seals (EINVAL). Files on a tmpfs and memfds made without
     * MFD_ALLOW_SEALING report F_SEAL_SEAL: only the SHRINK bit says that it is safe. */
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0)
        return hac_fail(err, HAC_INVALID, "the descriptor is not shared memory");
    if ((seals & F_SEAL_SHRINK) == 0)
        return hac_fail(err, HAC_INVALID, "the shared memory is not sealed against shrinking");
    /* Memory of huge pages can run out after it was mapped: a fault then. */
    struct statfs fs;
    if (fstatfs(fd, &fs) < 0 || fs.f_type != TMPFS_MAGIC)
        return hac_fail(err, HAC_INVALID, "the descriptor is not plain shared memory");
    uint64_t size = 0; /* read after the seals: it can only grow now */
    hac_status status = size_of(fd, &size, err);
    if (status != HAC_OK)
        return status;
    if (size < bytes)
        return hac_fail(err, HAC_INVALID, "the shared memory has %llu bytes, %llu are needed",
                        (unsigned long long)size, (unsigned long long)bytes);
    return HAC_OK;
}

/* An address for `bytes` that begins at a large page: a mapping that is larger by one is cut. */
static void *place_at_large_page(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), large = (size_t)HAC_LARGE_PAGE;
    size_t used = (bytes + page - 1) / page * page;
    char *reserved = mmap(NULL, used + large, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED)
        return MAP_FAILED;
    size_t before = (large - (uintptr_t)reserved % large) % large;
    if (before > 0)
        munmap(reserved, before);
    munmap(reserved + before + used, large - before);
    return reserved + before;
}

hac_status hac_memfd_map(int fd, uint64_t bytes, bool writable, void **ret, hac_error *err)
{
    if (bytes == 0 || bytes > SIZE_MAX - 2 * HAC_LARGE_PAGE)
        return hac_fail(err, HAC_INVALID, "cannot map %llu bytes", (unsigned long long)bytes);
    void *place = bytes >= 2 * HAC_LARGE_PAGE ? place_at_large_page((size_t)bytes) : NULL;
    if (place == MAP_FAILED)
        return fail_system(err, "cannot map shared memory");
    void *address = HAC_FAILPOINT("memfd.map", MAP_FAILED,
                                  mmap(place, (size_t)bytes, PROT_READ | (writable ? PROT_WRITE : 0),
                                       MAP_SHARED | (place != NULL ? MAP_FIXED : 0), fd, 0));
    if (address == MAP_FAILED) {
        hac_status status = fail_system(err, "cannot map shared memory");
        hac_memfd_unmap(place, bytes);
        return status;
    }
    *ret = address;
    return HAC_OK;
}

void hac_memfd_take_large_pages(void *address, uint64_t bytes)
{
    uint64_t pages = bytes / HAC_LARGE_PAGE, start = hac_now_ns();
    for (uint64_t i = 0; pages >= 2 && i < pages && hac_now_ns() - start <= LARGE_PAGE_NS * (i + SLOW_PAGES);
         i++) {
        uint8_t *page = (uint8_t *)address + i * HAC_LARGE_PAGE;
        (void)*(const volatile uint8_t *)page; /* zeros: the kernel makes no large page where nothing is */
        if (madvise(page, (size_t)HAC_LARGE_PAGE, MADV_COLLAPSE) != 0)
            return;
    }
}

void hac_memfd_unmap(void *address, uint64_t bytes)
{
    if (address != NULL && bytes > 0)
        munmap(address, (size_t)bytes);
}
