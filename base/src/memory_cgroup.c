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

/* From lines "number:controllers:/path": version 1 has one with the controller, version 2 one without
 * controllers, and where both are mounted the controller is version 1's. */
static bool find_directory(char *lines, const char *controller, const char *root, directory *ret)
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
        ret->old = lists(controllers, controller);
        if (!ret->old && (found || *controllers != '\0'))
            continue;
        ret->top = strlen(root) + (ret->old ? 1 + strlen(controller) : 0);
        int n = snprintf(ret->path, PATH_MAX, "%s%s%s%s", root, ret->old ? "/" : "",
                         ret->old ? controller : "", path);
        found = n > 0 && n < PATH_MAX;
        if (found && ret->path[n - 1] == '/')
            ret->path[n - 1] = '\0';
        if (ret->old)
            break;
    }
    return found;
}

static bool find_own(const char *self, const char *controller, const char *root, directory *ret)
{
    char text[TEXT_MAX];
    return read_text(self, text) && find_directory(text, controller, root, ret);
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

/* The number behind that key, which begins a line; -1: there is none. */
static int64_t read_line(const char *text, const char *key)
{
    const char *line = text;
    while (line != NULL && strncmp(line, key, strlen(key)) != 0) {
        line = strchr(line, '\n');
        if (line != NULL)
            line++;
    }
    return line != NULL ? read_number(line + strlen(key)) : -1;
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
    for (bool more = find_own(self, "memory", root, &at); more && !found; more = !found && go_up(&at))
        found = read_file(&at, at.old ? "memory.oom_control" : "memory.events", text);
    if (!found)
        return -1;
    return read_line(text, "oom_kill ");
}

/* Of this one alone. */
static uint64_t limit_of(const directory *d)
{
    static const char *const names[2][2] = {{"memory.max", "memory.high"}, {"memory.limit_in_bytes", NULL}};
    uint64_t limit = UINT64_MAX;
    char text[TEXT_MAX];
    for (size_t i = 0; i < 2 && names[d->old][i] != NULL; i++) {
        int64_t number = read_file(d, names[d->old][i], text) ? read_number(text) : -1;
        if (number >= 0 && (uint64_t)number < limit) /* else "max", or a file that is not there */
            limit = (uint64_t)number;
    }
    return limit;
}

uint64_t hac_memory_cgroup_limit(const char *self, const char *root)
{
    uint64_t limit = UINT64_MAX;
    directory at;
    for (bool more = find_own(self, "memory", root, &at); more; more = go_up(&at)) {
        uint64_t own = limit_of(&at);
        limit = own < limit ? own : limit;
    }
    return limit;
}

/* What it uses without what files' pages take, which the kernel gives up for others; -1: not known. */
static int64_t usage_of(const directory *d)
{
    static const char *const cached[2][2] = {{"inactive_file ", "active_file "},
                                             {"total_inactive_file ", "total_active_file "}};
    char text[TEXT_MAX];
    int64_t usage = -1;
    if (read_file(d, d->old ? "memory.usage_in_bytes" : "memory.current", text))
        usage = read_number(text);
    if (usage < 0 || !read_file(d, "memory.stat", text))
        return usage;
    for (size_t i = 0; i < 2; i++) {
        int64_t pages = read_line(text, cached[d->old][i]);
        usage -= pages > usage ? usage : pages > 0 ? pages : 0;
    }
    return usage;
}

uint64_t hac_memory_cgroup_available(const char *self, const char *root)
{
    uint64_t min = UINT64_MAX;
    directory at;
    for (bool more = find_own(self, "memory", root, &at); more; more = go_up(&at)) {
        uint64_t limit = limit_of(&at);
        int64_t usage = limit != UINT64_MAX ? usage_of(&at) : -1;
        if (usage < 0)
            continue;
        uint64_t left = limit > (uint64_t)usage ? limit - (uint64_t)usage : 0;
        min = left < min ? left : min;
    }
    return min;
}

uint64_t hac_pids_cgroup_available(const char *self, const char *root)
{
    uint64_t capacity = UINT64_MAX;
    char text[TEXT_MAX];
    directory at;
    for (bool more = find_own(self, "pids", root, &at); more; more = go_up(&at)) {
        int64_t max = read_file(&at, "pids.max", text) ? read_number(text) : -1;
        int64_t now = max >= 0 && read_file(&at, "pids.current", text) ? read_number(text) : -1;
        uint64_t left = now < 0 ? UINT64_MAX : max > now ? (uint64_t)(max - now) : 0;
        capacity = left < capacity ? left : capacity;
    }
    return capacity;
}

int64_t hac_pids_cgroup_refusals(const char *self, const char *root)
{
    int64_t sum = -1;
    char text[TEXT_MAX];
    directory at;
    for (bool more = find_own(self, "pids", root, &at); more; more = go_up(&at)) {
        int64_t n = read_file(&at, "pids.events", text) ? read_line(text, "max ") : -1;
        if (n >= 0)
            sum = sum < 0 ? n : sum + n;
    }
    return sum;
}

uint64_t hac_memory_available(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    uint64_t ram = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
    uint64_t limit = hac_memory_cgroup_limit(HAC_MEMORY_CGROUP_SELF, HAC_MEMORY_CGROUP_ROOT);
    return limit < ram || (ram == 0 && limit != UINT64_MAX) ? limit : ram;
}
