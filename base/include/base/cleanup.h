/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clean-up of owning locals. A local that owns something is declared with one of these, and is handed
 * on with hac_steal_ptr / hac_steal_fd after the last step that can fail:
 *
 *     hac_autofree char *path = NULL;
 *     ...
 *     *ret_path = hac_steal_ptr(path);
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define hac_cleanup(f) __attribute__((cleanup(f)))

static inline void hac_freep(void *pointer)
{
    void **p = pointer;
    free(*p);
    *p = NULL;
}

/* Closes a descriptor and keeps errno; -1 is allowed. */
static inline void hac_close(int fd)
{
    if (fd >= 0) {
        int saved = errno;
        close(fd);
        errno = saved;
    }
}

static inline void hac_closep(int *fd)
{
    hac_close(*fd);
    *fd = -1;
}

static inline void hac_fclosep(FILE **file)
{
    if (*file != NULL) {
        fclose(*file);
        *file = NULL;
    }
}

#define hac_autofree   hac_cleanup(hac_freep)
#define hac_autoclose  hac_cleanup(hac_closep)
#define hac_autofclose hac_cleanup(hac_fclosep)

/* Defines hac_plan_free_cleanup for use with hac_cleanup: HAC_DEFINE_CLEANUP(hac_plan *, hac_plan_free). */
#define HAC_DEFINE_CLEANUP(type, free_function)                                                              \
    static inline void free_function##_cleanup(type *object)                                                 \
    {                                                                                                        \
        free_function(*object);                                                                              \
        *object = NULL;                                                                                      \
    }

#define hac_steal_ptr(pointer)                                                                               \
    ({                                                                                                       \
        __typeof__(pointer) *hac_steal_at = &(pointer);                                                      \
        __typeof__(pointer) hac_stolen = *hac_steal_at;                                                      \
        *hac_steal_at = NULL;                                                                                \
        hac_stolen;                                                                                          \
    })

static inline int hac_steal_fd(int *fd)
{
    int stolen = *fd;
    *fd = -1;
    return stolen;
}

#endif
