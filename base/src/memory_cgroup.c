/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { TEXT_MAX = 8192 }; /* of files that the kernel writes: some have a line for each controller */

/* A whole small file, zero-terminated; false: it cannot be read, or is longer. */
static bool read_text(const char *path, char ret[TEXT_MAX])
{
    hac_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t at = 0;
    ssize_t n = 1;
    while (n > 0 && at < TEXT_MAX) {
        n = read(fd, ret + at, TEXT_MAX - at);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? (size_t)n : 0;
        n = n < 0 ? 1 : n;
    }
    if (at == TEXT_MAX)
        return false;
    ret[at] = '\0';
    return true;
}

/* Whether `name` is in a list with commas. */
static bool lists(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (; list != NULL; list = strchr(list, ',')) {
        list += *list == ',';
        if (strncmp(list, name, length) == 0 && (list[length] == ',' || list[length] == '\0'))
            return true;
    }
    return false;
}

/* A cgroup's directory, and where the one at the top of its hierarchy ends in that path. */
typedef struct {
    char path[PATH_MAX];
    size_t top;
    bool old; /* version 1 */
} directory;

/* From lines "number:controllers:/path": version 1 has one with `memory`, version 2 one without controllers,
 * and where both are mounted memory is version 1's. */
static bool find_directory(char *lines, const char *root, directory *ret)
{
    bool found = false;
    char *rest = NULL;
    for (char *line = strtok_r(lines, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char *controllers = strchr(line, ':'),
             *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (path == NULL)
            continue;
        *path++ = '\0';
        controllers++;
        ret->old = lists(controllers, "memory");
        if (!ret->old && (found || *controllers != '\0'))
            continue;
        ret->top = strlen(root) + (ret->old ? strlen("/memory") : 0);
        int n = snprintf(ret->path, PATH_MAX, "%s%s%s", root, ret->old ? "/memory" : "", path);
        found = n > 0 && n < PATH_MAX;
        if (found && ret->path[n - 1] == '/')
            ret->path[n - 1] = '\0';
        if (ret->old)
            break;
    }
    return found;
}

static bool find_own(const char *self, const char *root, directory *ret)
{
    char text[TEXT_MAX];
    return read_text(self, text) && find_directory(text, root, ret);
}

static bool read_file(const directory *d, const char *name, char ret[TEXT_MAX])
{
    char path[PATH_MAX];
    int n = snprintf(path, PATH_MAX, "%s/%s", d->path, name);
    return n > 0 && n < PATH_MAX && read_text(path, ret);
}

/* A whole number and nothing else on its line; -1: it is none. */
static int64_t read_number(const char *text)
{
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    return errno == 0 && end != text && (*end == '\n' || *end == '\0') && number >= 0 ? number : -1;
}

/* To the cgroup around this one; false: it is the one at the top. */
static bool go_up(directory *at)
{
    char *last = strrchr(at->path, '/');
    bool more = strlen(at->path) > at->top && last != NULL;
    if (more)
        *last = '\0';
    return more;
}

int64_t hac_memory_cgroup_kills(const char *self, const char *root)
{
    directory at;
    char text[TEXT_MAX];
    bool found = false;
    for (bool more = find_own(self, root, &at); more && !found; more = !found && go_up(&at))
        found = read_file(&at, at.old ? "memory.oom_control" : "memory.events", text);
    if (!found)
        return -1;
    const char *const key = "oom_kill ";
    const char *line = text;
    while (line != NULL && strncmp(line, key, strlen(key)) != 0) {
        line = strchr(line, '\n');
        if (line != NULL)
            line++;
    }
    return line != NULL ? read_number(line + strlen(key)) : -1;
}

uint64_t hac_memory_cgroup_limit(const char *self, const char *root)
{
    static const char *const names[2][2] = {{"memory.max", "memory.high"}, {"memory.limit_in_bytes", NULL}};
    uint64_t limit = UINT64_MAX;
    directory at;
    char text[TEXT_MAX];
    for (bool more = find_own(self, root, &at); more; more = go_up(&at)) {
        for (size_t i = 0; i < 2 && names[at.old][i] != NULL; i++) {
            int64_t number = read_file(&at, names[at.old][i], text) ? read_number(text) : -1;
            if (number >= 0 && (uint64_t)number < limit) /* else "max", or a file that is not there */
                limit = (uint64_t)number;
        }
    }
    return limit;
}

uint64_t hac_memory_available(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    uint64_t ram = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
    uint64_t limit = hac_memory_cgroup_limit(HAC_MEMORY_CGROUP_SELF, HAC_MEMORY_CGROUP_ROOT);
    return limit < ram || (ram == 0 && limit != UINT64_MAX) ? limit : ram;
}
