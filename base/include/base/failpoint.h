/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failpoints: named places where the outside can fail in a way that a test cannot bring about by itself.
 * Builds without HAC_FAILPOINTS (cmake -DHAC_FAILPOINTS=ON; the presets of development have it) contain
 * nothing of them:
 *
 *     int fd = HAC_FAILPOINT("memfd.create", -1, memfd_create(name, flags));   -1 and errno, or the call
 *     ssize_t n = read(fd, at, HAC_FAILPOINT_SHORT("input.read", bytes));      at most one byte, or `bytes`
 *
 * Functions that take the name of a point get it from HAC_FAILPOINT_NAME("input.read"); NULL never fails.
 * A name is used once, but that the two may share one. $HAC_FAILPOINTS says which fail, separated by commas:
 *
 *     name=ENOSPC      each time           name=ENOSPC:3     the third time only
 *     name=ENOSPC:3+   from then on        name=short        HAC_FAILPOINT_SHORT: a byte at a time
 *
 * or is the path of a file of 64 KiB that is mapped by every process that has the variable: zero-terminated
 * text of that form in the first 4 KiB, which may be changed at any time; behind it each process adds the
 * names of the points at which it failed, 64 bytes each. Counts are each process' own, and begin again when
 * the text changes.
 */
#ifndef BASE_FAILPOINT_H
#define BASE_FAILPOINT_H

#ifdef HAC_FAILPOINTS
#include <stdbool.h>
#include <stddef.h>

#define HAC_FAILPOINT(name, failed, call) (hac_failpoint(name) ? (failed) : (call))
#define HAC_FAILPOINT_SHORT(name, bytes)  (hac_failpoint_short(name, bytes))
#define HAC_FAILPOINT_NAME(name)          (name)

/* Whether the point fails now; errno is set then. */
bool hac_failpoint(const char *name);
size_t hac_failpoint_short(const char *name, size_t bytes);
#else
#define HAC_FAILPOINT(name, failed, call) (call)
#define HAC_FAILPOINT_SHORT(name, bytes)  (bytes)
#define HAC_FAILPOINT_NAME(name)          NULL
#endif

#endif
