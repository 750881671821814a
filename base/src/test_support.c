/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test_support.h"

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_NESTED 4

static size_t counts[MAX_NESTED];
static size_t nested;

static size_t walk(bool print)
{
    DIR *directory = opendir("/proc/self/fd");
    if (directory == NULL)
        abort();
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.' || atoi(entry->d_name) == dirfd(directory))
            continue;
        count++;
        char target[256];
        ssize_t length = print ? readlinkat(dirfd(directory), entry->d_name, target, sizeof target) : -1;
        if (length > 0)
            fprintf(stderr, "  descriptor %s: %.*s\n", entry->d_name, (int)length, target);
    }
    closedir(directory);
    return count;
}

size_t hac_test_open_descriptors(void)
{
    return walk(false);
}

int hac_test_fds_setup(void **state)
{
    (void)state;
    if (nested == MAX_NESTED)
        return -1;
    counts[nested++] = hac_test_open_descriptors();
    return 0;
}

int hac_test_fds_teardown(void **state)
{
    (void)state;
    if (nested == 0)
        return -1;
    size_t before = counts[--nested], now = hac_test_open_descriptors();
    if (now == before)
        return 0;
    fprintf(stderr, "%zu descriptors were open before, %zu are now:\n", before, now);
    walk(true);
    return -1;
}

void hac_test_assert_says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", text, part);
}

int hac_test_file(const void *data, size_t bytes)
{
    char name[] = "/tmp/hac-test-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    unlink(name);
    assert_int_equal(write(fd, data, bytes), bytes);
    return fd;
}

void hac_test_fsum_add(hac_test_fsum *sum, double value)
{
    size_t n = 0;
    for (size_t i = 0; i < sum->n; i++) {
        double y = sum->parts[i];
        if (fabs(value) < fabs(y)) {
            double swap = value;
            value = y;
            y = swap;
        }
        double high = value + y, low = y - (high - value);
        if (low < 0 || low > 0)
            sum->parts[n++] = low;
        value = high;
    }
    assert_true(n < HAC_TEST_FSUM_PARTS);
    sum->parts[n++] = value;
    sum->n = n;
}

double hac_test_fsum_result(const hac_test_fsum *sum)
{
    size_t n = sum->n;
    double high = n == 0 ? 0 : sum->parts[--n], low = 0;
    while (n > 0 && !(low < 0 || low > 0)) {
        double x = high, y = sum->parts[--n];
        high = x + y;
        low = y - (high - x);
    }
    /* half of an ulp: what is below decides */
    if (n > 0 && ((low < 0 && sum->parts[n - 1] < 0) || (low > 0 && sum->parts[n - 1] > 0))) {
        double twice = low * 2, up = high + twice;
        if (!(twice < up - high || twice > up - high))
            high = up;
    }
    return high;
}
