/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For LD_PRELOAD: an allocation fails when a file says so. $OUT_OF_MEMORY_FILE is a file of two 64-bit
 * numbers that is mapped shared: `left`, how many allocations succeed yet before one fails (negative: none
 * fails), and `made`, all that there have been. Only calls from the program itself count (and those of
 * libprotobuf-c for it): what libuv, the C library and drivers do without memory is theirs.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *pointer, size_t size);

typedef struct control {
    _Atomic int64_t left, made;
} control;

static control *file;
static struct {
    uintptr_t first, end;
} code[4]; /* the program's and libhac's */
static size_t parts;

static int find_code(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    bool *seen = context, ours = !*seen || strstr(info->dlpi_name, "libhac") != NULL;
    *seen = true; /* the program comes first */
    for (int i = 0; ours && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0 || parts == sizeof code / sizeof *code)
            continue;
        code[parts].first = info->dlpi_addr + part->p_vaddr;
        code[parts].end = code[parts].first + part->p_memsz;
        parts++;
    }
    return 0;
}

static bool is_ours(const void *caller)
{
    for (size_t i = 0; i < parts; i++)
        if ((uintptr_t)caller >= code[i].first && (uintptr_t)caller < code[i].end)
            return true;
    return false;
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("OUT_OF_MEMORY_FILE");
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *memory =
        fd >= 0 ? mmap(NULL, sizeof(control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    bool seen = false;
    dl_iterate_phdr(find_code, &seen);
    if (memory != MAP_FAILED)
        file = memory;
    unsetenv("LD_PRELOAD");
}

static bool fails(const void *caller)
{
    if (file == NULL || !is_ours(caller))
        return false;
    atomic_fetch_add(&file->made, 1);
    if (atomic_load(&file->left) < 0 || atomic_fetch_sub(&file->left, 1) != 0)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *pointer, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(pointer, size);
}

char *strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
    return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}

char *strndup(const char *text, size_t length)
{
    size_t bytes = strnlen(text, length);
    char *copy = fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes + 1);
    if (copy != NULL) {
        memcpy(copy, text, bytes);
        copy[bytes] = '\0';
    }
    return copy;
}

int asprintf(char **ret, const char *format, ...)
{
    va_list arguments;
    if (fails(__builtin_return_address(0)))
        return -1;
    va_start(arguments, format);
    int n = vasprintf(ret, format, arguments);
    va_end(arguments);
    return n;
}
