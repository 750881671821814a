/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hacd has given this executor, by number: pool buffers and clients' descriptors. A buffer is mapped as
 * a whole and stays mapped until it is removed, since a new mapping costs a page fault a page. A client's
 * descriptor is read, never mapped.
 */
#ifndef EXECUTOR_MEMORY_H
#define EXECUTOR_MEMORY_H

#include "opencl/device.h"

#define HAC_MEMORY_MAX_BUFFERS     65536
#define HAC_MEMORY_MAX_DESCRIPTORS 65536

typedef struct hac_memory hac_memory;

/* `device` (NULL: none) is told about buffers as regions in which windows lie. It must outlive the memory. */
HAC_MUST_USE hac_status hac_memory_new(hac_device *device, hac_memory **ret, hac_error *err);
void hac_memory_free(hac_memory *memory);

/* Checks that fd is a memfd of at least `bytes` that cannot shrink, and maps it. Takes fd in every case.
 * `whole`: all of it will be written, so its memory is taken at once. HAC_PROTOCOL: the number is in use.
 * HAC_NO_MEMORY: it cannot be mapped now; hac_memory_span tries again. */
HAC_MUST_USE hac_status hac_memory_add_buffer(hac_memory *memory, uint32_t buffer, uint64_t bytes, bool whole,
                                              int fd, hac_error *err);
/* An unknown number is no error: hacd may take back what an executor never used. */
void hac_memory_remove_buffer(hac_memory *memory, uint32_t buffer);

HAC_MUST_USE hac_status hac_memory_add_descriptor(hac_memory *memory, uint64_t descriptor, int fd,
                                                  hac_error *err);
void hac_memory_remove_descriptor(hac_memory *memory, uint64_t descriptor);

/* The memory [offset, offset + bytes) of a registered buffer; offset is a multiple of 64. HAC_INVALID: there
 * is no such buffer, or the range is not within it. HAC_NO_MEMORY: the buffer cannot be mapped. */
HAC_MUST_USE hac_status hac_memory_span(hac_memory *memory, uint32_t buffer, uint64_t offset, uint64_t bytes,
                                        hac_span *ret, hac_error *err);

/* The descriptor with this number, borrowed. HAC_INVALID: there is none. */
HAC_MUST_USE hac_status hac_memory_descriptor(const hac_memory *memory, uint64_t descriptor, int *ret_fd,
                                              hac_error *err);

#endif
