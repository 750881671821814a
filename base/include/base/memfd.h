/* SPDX-License-Identifier: Apache-2.0 */
/* Anonymous shared memory: creation, seals, mapping. Mappings are page aligned, hence 64-byte aligned. */
#ifndef BASE_MEMFD_H
#define BASE_MEMFD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A close-on-exec, non-executable memfd of `bytes` (> 0), sealed against shrinking, and against growing and
 * further seals unless `growable`. */
HAC_MUST_USE hac_status hac_memfd_create(const char *name, uint64_t bytes, bool growable, int *ret_fd,
                                         hac_error *err);

/* Makes it larger (growable only); HAC_REFUSED once it is sealed. */
HAC_MUST_USE hac_status hac_memfd_grow(int fd, uint64_t bytes, hac_error *err);

/* Seals against growing and further seals; the size is final. HAC_INVALID: somebody sealed it against writing
 * before. */
HAC_MUST_USE hac_status hac_memfd_seal_size(int fd, hac_error *err);

/* Whether its pages can be freed while others have it: nobody has sealed it against writing. */
bool hac_memfd_can_be_emptied(int fd);
/* Frees its pages; those who have it mapped read zeros from then on. Takes a tenth of a second per GiB.
 * Returns false if the pages stay. */
bool hac_memfd_empty(int fd);

/* Checks that fd is a memfd that cannot shrink and holds at least `bytes`: mapping it cannot fault. */
HAC_MUST_USE hac_status hac_memfd_check(int fd, uint64_t bytes, hac_error *err);

#define HAC_LARGE_PAGE (UINT64_C(2) << 20)

/* Maps [0, bytes) shared; from two large pages on it begins at a multiple of them. */
HAC_MUST_USE hac_status hac_memfd_map(int fd, uint64_t bytes, bool writable, void **ret, hac_error *err);
void hac_memfd_unmap(void *address, uint64_t bytes);

/* Takes the memory of a mapping now, in large pages, as far as whole ones lie in [0, bytes) and the kernel
 * (6.1) has them at hand; other pages come at their first touch. For memory that will be written from end to
 * end: loops over hundreds of streams run into the limits of the TLB, and page by page takes longer. What
 * lies there stays. Takes up to 8 ms for each large page. */
void hac_memfd_take_large_pages(void *address, uint64_t bytes);

#endif
