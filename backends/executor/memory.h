/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hacd has handed to this executor, by number: pool buffers (mapped whole, and kept mapped until they
 * are removed: a new mapping costs a page fault a page) and foreign descriptors (read, never mapped).
 */
#ifndef EXECUTOR_MEMORY_H
#define EXECUTOR_MEMORY_H

#include "opencl/device.h"

#define HAC_MEMORY_MAX_BUFFERS     65536
#define HAC_MEMORY_MAX_DESCRIPTORS 65536

typedef struct hac_memory hac_memory;

/* `device` (NULL: none) hears of buffers as regions that windows may lie in; it has to outlive the memory. */
HAC_MUST_USE hac_status hac_memory_new(hac_device *device, hac_memory **ret, hac_error *err);
void hac_memory_free(hac_memory *memory);

/* Checks that fd is a memfd of at least `bytes` that cannot shrink and maps it. Takes fd in every case.
 * whole: all of it is going to be written, so that its memory is taken at once. HAC_PROTOCOL: that number is
 * taken. HAC_NO_MEMORY: it cannot be mapped now; hac_memory_span tries again. */
HAC_MUST_USE hac_status hac_memory_add_buffer(hac_memory *memory, uint32_t buffer, uint64_t bytes, bool whole,
                                              int fd, hac_error *err);
/* A number that is not there is no error: hacd may take back what an executor never used. */
void hac_memory_remove_buffer(hac_memory *memory, uint32_t buffer);

HAC_MUST_USE hac_status hac_memory_add_descriptor(hac_memory *memory, uint64_t descriptor, int fd,
                                                  hac_error *err);
void hac_memory_remove_descriptor(hac_memory *memory, uint64_t descriptor);

/* The memory of a span: [offset, offset + bytes) of a registered buffer, offset a multiple of 64.
 * HAC_INVALID: there is no such buffer, or it is not within it. HAC_NO_MEMORY: it cannot be mapped. */
HAC_MUST_USE hac_status hac_memory_span(hac_memory *memory, uint32_t buffer, uint64_t offset, uint64_t bytes,
                                        hac_span *ret, hac_error *err);

/* The descriptor of that number, borrowed. HAC_INVALID: there is none. */
HAC_MUST_USE hac_status hac_memory_descriptor(const hac_memory *memory, uint64_t descriptor, int *ret_fd,
                                              hac_error *err);

#endif
