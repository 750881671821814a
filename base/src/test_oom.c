/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test_oom.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL_UP_TO 64                     /* with a step, all of the first ones fail in turn anyway */
#define SLOTS     ((size_t)1 << 20)      /* of blocks at a time; a power of two */
#define GONE      ((void *)(uintptr_t)1) /* a block was there: a search goes on behind it */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *pointer, size_t size);
void *__real_reallocarray(void *pointer, size_t n, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t length);
int __real_vasprintf(char **ret, const char *format, va_list arguments) HAC_PRINTF(2, 0);
FILE *__real_open_memstream(char **ret, size_t *ret_bytes);
void __real_free(void *pointer);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *pointer, size_t size);
void *__wrap_reallocarray(void *pointer, size_t n, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t length);
int __wrap_vasprintf(char **ret, const char *format, va_list arguments) HAC_PRINTF(2, 0);
int __wrap_asprintf(char **ret, const char *format, ...) HAC_PRINTF(2, 3);
FILE *__wrap_open_memstream(char **ret, size_t *ret_bytes);
void __wrap_free(void *pointer);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool armed, all_fail;
static long left, failed;
static void *blocks[SLOTS];
static size_t used_slots;
static long n_blocks;

/* ---- which blocks there are ---- */

static size_t slot_of(const void *pointer)
{
    return (size_t)((uintptr_t)pointer / 16 * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (SLOTS - 1);
}

static void add(void *pointer)
{
    if (pointer == NULL)
        return;
    pthread_mutex_lock(&lock);
    if (n_blocks == 0 && used_slots > SLOTS / 2) { /* only traces are left */
        memset(blocks, 0, sizeof blocks);
        used_slots = 0;
    }
    size_t slot = slot_of(pointer);
    while (blocks[slot] != NULL && blocks[slot] != GONE)
        slot = (slot + 1) & (SLOTS - 1);
    if (blocks[slot] == NULL && ++used_slots == SLOTS)
        abort(); /* larger work than this is made for */
    blocks[slot] = pointer;
    n_blocks++;
    pthread_mutex_unlock(&lock);
}

/* A block of somebody else's is none of ours. */
static void take_away(const void *pointer)
{
    if (pointer == NULL)
        return;
    pthread_mutex_lock(&lock);
    size_t slot = slot_of(pointer);
    while (blocks[slot] != NULL && blocks[slot] != pointer)
        slot = (slot + 1) & (SLOTS - 1);
    if (blocks[slot] != NULL) {
        blocks[slot] = GONE;
        n_blocks--;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- what fails ---- */

static bool fails(void)
{
    pthread_mutex_lock(&lock);
    bool now = armed && (left == 0 || (left < 0 && all_fail));
    if (armed)
        left--;
    failed += now;
    pthread_mutex_unlock(&lock);
    if (now)
        errno = ENOMEM;
    return now;
}

void hac_test_oom_arm(long n, bool all)
{
    pthread_mutex_lock(&lock);
    armed = true;
    all_fail = all;
    left = n;
    failed = 0;
    pthread_mutex_unlock(&lock);
}

long hac_test_oom_disarm(void)
{
    pthread_mutex_lock(&lock);
    armed = false;
    long count = failed;
    pthread_mutex_unlock(&lock);
    return count;
}

long hac_test_oom_blocks(void)
{
    pthread_mutex_lock(&lock);
    long count = n_blocks;
    pthread_mutex_unlock(&lock);
    return count;
}

/* ---- in the C library's place ---- */

static void *added(void *pointer)
{
    add(pointer);
    return pointer;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : added(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : added(__real_calloc(n, size));
}

void *__wrap_realloc(void *pointer, size_t size)
{
    if (fails())
        return NULL;
    take_away(pointer); /* before another thread can get the same address */
    void *moved = __real_realloc(pointer, size);
    add(moved != NULL ? moved : pointer);
    return moved;
}

void *__wrap_reallocarray(void *pointer, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return __wrap_realloc(pointer, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : added(__real_aligned_alloc(alignment, size));
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : added(__real_strdup(text));
}

char *__wrap_strndup(const char *text, size_t length)
{
    return fails() ? NULL : added(__real_strndup(text, length));
}

int __wrap_vasprintf(char **ret, const char *format, va_list arguments)
{
    if (fails())
        return -1; /* *ret is not said to be anything */
    int n = __real_vasprintf(ret, format, arguments);
    if (n >= 0)
        add(*ret);
    return n;
}

int __wrap_asprintf(char **ret, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = __wrap_vasprintf(ret, format, arguments);
    va_end(arguments);
    return n;
}

FILE *__wrap_open_memstream(char **ret, size_t *ret_bytes)
{
    return fails() ? NULL : __real_open_memstream(ret, ret_bytes);
}

void __wrap_free(void *pointer)
{
    take_away(pointer);
    __real_free(pointer);
}

/* ---- the walk over all of them ---- */

static void assert_out_of_memory(hac_status status, const hac_error *err, long n, bool all)
{
    if (status != HAC_NO_MEMORY || err->code != HAC_NO_MEMORY || strstr(err->message, "memory") == NULL)
        fail_msg("allocation %ld%s: status %d, \"%s\"", n, all ? " and all behind it" : "", (int)status,
                 err->message);
}

/* Whether an allocation has failed. */
static bool once(hac_test_work work, void *context, long n, bool all)
{
    hac_error err = HAC_ERROR_NONE;
    long blocks_before = hac_test_oom_blocks();
    size_t descriptors = hac_test_open_descriptors();
    hac_test_oom_arm(n, all);
    hac_status status = work(context, &err);
    bool hit = hac_test_oom_disarm() > 0;
    if (!hit && status != HAC_OK)
        fail_msg("fails when no allocation does: \"%s\"", err.message);
    if (status != HAC_OK || (n == 0 && all))
        assert_out_of_memory(status, &err, n, all);
    if (hac_test_oom_blocks() != blocks_before)
        fail_msg("allocation %ld%s: %ld blocks are leaked", n, all ? " and all behind it" : "",
                 hac_test_oom_blocks() - blocks_before);
    hac_test_assert_descriptors(descriptors);
    return hit;
}

long hac_test_exhaust(hac_test_work work, void *context, long min_allocations)
{
    const char *word = getenv("HAC_TEST_OOM_STEP");
    long step = word != NULL ? atol(word) : 1, count = 0;
    for (int all = 1; all >= 0; all--) {
        long n = 0;
        while (once(work, context, n, all))
            n += n < ALL_UP_TO || step < 1 ? 1 : step;
        count = n;
    }
    if (count < min_allocations)
        fail_msg("makes %ld allocations, at least %ld were expected", count, min_allocations);
    print_message("%ld allocations\n", count);
    return count;
}
