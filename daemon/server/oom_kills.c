/* SPDX-License-Identifier: Apache-2.0 */
#include "oom_kills.h"

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

/* The file that counts, from lines "number:controllers:/path": version 1 has one with `memory`, version 2
 * one without controllers, and where both are mounted memory is version 1's. */
static bool find_file(char *lines, const char *root, char ret[PATH_MAX])
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
        bool old = lists(controllers, "memory");
        if (!old && (found || *controllers != '\0'))
            continue;
        int n = snprintf(ret, PATH_MAX, "%s%s%s/%s", root, old ? "/memory" : "", path,
                         old ? "memory.oom_control" : "memory.events");
        found = n > 0 && n < PATH_MAX;
        if (old)
            break;
    }
    return found;
}

int64_t hac_oom_kills(const char *cgroup, const char *root)
{
    char text[TEXT_MAX], path[PATH_MAX];
    if (!read_text(cgroup, text) || !find_file(text, root, path) || !read_text(path, text))
        return -1;
    const char *const key = "oom_kill ";
    const char *line = text;
    while (line != NULL && strncmp(line, key, strlen(key)) != 0) {
        line = strchr(line, '\n');
        if (line != NULL)
            line++;
    }
    if (line == NULL)
        return -1;
    char *end = NULL;
    errno = 0;
    long long kills = strtoll(line + strlen(key), &end, 10);
    return errno == 0 && end != line + strlen(key) && kills >= 0 ? kills : -1;
}
