/* SPDX-License-Identifier: Apache-2.0 */
/* Files that clients pass in. hacd never reads them: their file system may not answer. */
#ifndef SERVER_FOREIGN_FILE_H
#define SERVER_FOREIGN_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Type and size of a client's file, without asking a file server. Returns false if the kernel does not know
 * them. */
bool hac_foreign_stat(int fd, uint32_t *ret_mode, uint64_t *ret_size);

#endif
