/* SPDX-License-Identifier: Apache-2.0 */
#include "base/failpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"

#define FILE_BYTES (64u << 10)
#define TEXT_BYTES 4096u
#define NAME_BYTES 64u
#define NAMES_MAX  ((FILE_BYTES - TEXT_BYTES) / NAME_BYTES)
#define POINTS_MAX 16 /* that a text names */

typedef struct shared {
    char text[TEXT_BYTES];
    char names[NAMES_MAX][NAME_BYTES];
} shared;

typedef struct point {
    char name[NAME_BYTES];
    int errnum; /* 0: short */
    unsigned long at, passed;
    bool on; /* from `at` on, else there only; at 0: always */
} point;

/* The one thing of a process that its code does not hand around: it is the tests' hand, from outside. */
static struct {
    pthread_mutex_t lock;
    shared *file;
    char text[TEXT_BYTES]; /* as it was read last */
    point points[POINTS_MAX];
    size_t n;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int errno_of(const char *word)
{
    for (int errnum = 1; errnum < 134; errnum++) {
        const char *name = strerrorname_np(errnum);
        if (name != NULL && strcmp(name, word) == 0)
            return errnum;
    }
    return 0;
}

static void parse(void)
{
    char text[TEXT_BYTES], *rest = text;
    memcpy(text, state.text, sizeof text);
    state.n = 0;
    for (char *word; (word = strsep(&rest, ",")) != NULL && state.n < POINTS_MAX;) {
        char *name = strsep(&word, "="), *what = strsep(&word, ":");
        if (what == NULL || strlen(name) >= NAME_BYTES)
            continue;
        point *p = &state.points[state.n++];
        *p = (point){.errnum = errno_of(what)};
        strcpy(p->name, name);
        if (word != NULL)
            p->at = strtoul(word, NULL, 10);
        p->on = word == NULL || word[strlen(word) - 1] == '+';
    }
}

__attribute__((constructor)) static void begin(void)
{
    const char *value = secure_getenv("HAC_FAILPOINTS");
    if (value == NULL)
        return;
    if (value[0] != '/') {
        snprintf(state.text, sizeof state.text, "%s", value);
        parse();
        return;
    }
    /* Mapped once, before there is any sandbox: no descriptor stays open. */
    hac_autoclose int fd = open(value, O_RDWR | O_CLOEXEC);
    void *file = fd < 0 ? MAP_FAILED : mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    state.file = file != MAP_FAILED ? file : NULL;
}

static void note(const char *name)
{
    for (size_t i = 0; state.file != NULL && i < NAMES_MAX; i++) {
        char *place = state.file->names[i];
        if (strcmp(place, name) == 0)
            return;
        if (place[0] == '\0') { /* of two at a time one is lost; tests have one at a time */
            strcpy(place, name);
            return;
        }
    }
}

static bool fails(const char *name, bool wants_short, int *ret_errno)
{
    bool hit = false;
    pthread_mutex_lock(&state.lock);
    if (state.file != NULL && memcmp(state.text, state.file->text, TEXT_BYTES) != 0) {
        memcpy(state.text, state.file->text, TEXT_BYTES);
        state.text[TEXT_BYTES - 1] = '\0';
        parse();
    }
    for (size_t i = 0; i < state.n; i++) {
        point *p = &state.points[i];
        if (strcmp(p->name, name) != 0 || (p->errnum == 0) != wants_short)
            continue;
        p->passed++;
        hit = p->on ? p->passed >= p->at : p->passed == p->at;
        *ret_errno = p->errnum;
    }
    if (hit)
        note(name);
    pthread_mutex_unlock(&state.lock);
    return hit;
}

bool hac_failpoint(const char *name)
{
    int errnum = 0;
    if (name == NULL || (state.file == NULL && state.n == 0) || !fails(name, false, &errnum))
        return false;
    errno = errnum;
    return true;
}

size_t hac_failpoint_short(const char *name, size_t bytes)
{
    int unused = 0;
    if (name == NULL || (state.file == NULL && state.n == 0) || !fails(name, true, &unused))
        return bytes;
    return bytes > 0 ? 1 : 0;
}
