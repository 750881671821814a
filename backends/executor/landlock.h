/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of Landlock, up to ABI 6, from linux/landlock.h. The C library has no calls for it, and the headers
 * of a build machine may be older than the kernel that runs the program. */
#ifndef EXECUTOR_LANDLOCK_H
#define EXECUTOR_LANDLOCK_H

#include <stdint.h>

#define LL_RULE_PATH_BENEATH 1

#define LL_EXECUTE    (1u << 0)
#define LL_WRITE_FILE (1u << 1)
#define LL_READ_FILE  (1u << 2)
#define LL_READ_DIR   (1u << 3)
#define LL_REFER      (1u << 13) /* ABI 2 */
#define LL_TRUNCATE   (1u << 14) /* ABI 3 */
#define LL_ALL_1      ((1u << 13) - 1)

#define LL_READ (LL_READ_FILE | LL_READ_DIR)
/* writing, removing and making files and directories: ABI 1 without execution, reading and device nodes */
#define LL_WRITE (LL_ALL_1 & ~(LL_EXECUTE | LL_READ | (1u << 6) | (1u << 11)))
/* the rights that apply to a file */
#define LL_FILE (LL_WRITE_FILE | LL_READ_FILE | LL_TRUNCATE)

#define LL_NET_BIND_TCP               (1u << 0) /* ABI 4 */
#define LL_NET_CONNECT_TCP            (1u << 1)
#define LL_SCOPE_ABSTRACT_UNIX_SOCKET (1u << 0) /* ABI 6 */
#define LL_SCOPE_SIGNAL               (1u << 1)

struct ll_ruleset_attr {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};

struct ll_path_beneath {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));

#endif
