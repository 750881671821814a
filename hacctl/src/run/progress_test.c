/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void whole_line(void **state)
{
    hac_progress progress = {
        HAC_JOB_RUNNING, 0.5, "merge 17", "cpu", 1.18e8, 2, "building kernels for cpu (2 of 5)"};
    char line[512];
    (void)state;
    hac_progress_format(&progress, 200, line, sizeof line);
    assert_string_equal(line, "[############------------]  50 %  merge 17  118 M items/s  2 s left  "
                              "(building kernels for cpu (2 of 5))");
    hac_progress_format(&progress, 30, line, sizeof line);
    assert_string_equal(line, "[############------------]  50");
}

static void odd_values(void **state)
{
    static const double fractions[] = {-1, 1.5, (double)NAN, (double)INFINITY};
    char line[512];
    (void)state;
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++) {
        hac_progress progress = {HAC_JOB_RUNNING, fractions[i], NULL, NULL, -1, -1, NULL};
        hac_progress_format(&progress, 200, line, sizeof line);
        assert_string_equal(line, "[------------------------]   0 %");
    }
    hac_progress whole = {HAC_JOB_RUNNING, 1, "a\033[2J\nb", "", 0, (double)NAN, ""};
    hac_progress_format(&whole, 200, line, sizeof line);
    assert_string_equal(line, "[########################] 100 %  a?[2J?b");
}

static void waiting_says_so(void **state)
{
    hac_progress progress = {HAC_JOB_QUEUED, 0, "", "", 0, 5, "2 jobs before"};
    char line[512], longer[2000];
    (void)state;
    hac_progress_format(&progress, 200, line, sizeof line);
    assert_string_equal(line, "[------------------------]   0 %  queued  (2 jobs before)");
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    progress.note = longer;
    hac_progress_format(&progress, 10000, line, sizeof line);
    assert_int_equal(strlen(line), sizeof line - 1);
}

static void shows_rarely_and_hides(void **state)
{
    int fds[2];
    char seen[4096];
    hac_progress progress = {HAC_JOB_RUNNING, 0.5, "merge", "", 0, -1, ""};
    (void)state;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    hac_progress_line line = {.fd = fds[1], .shown_ns = 0};
    hac_progress_hide(&line); /* nothing is shown, so nothing is hidden */
    for (int i = 0; i < 1000; i++)
        hac_progress_show(&line, &progress);
    hac_progress_hide(&line);
    close(fds[1]);
    ssize_t n = read(fds[0], seen, sizeof seen - 1);
    assert_true(n > 0);
    seen[n] = '\0';
    close(fds[0]);
    assert_true(strncmp(seen, "\r[####", 6) == 0);
    assert_true(n < 200); /* once or twice, not a thousand times */
    assert_string_equal(seen + n - 4, "\r\033[K");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_line),
        cmocka_unit_test(odd_values),
        cmocka_unit_test(waiting_says_so),
        cmocka_unit_test(shows_rarely_and_hides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
