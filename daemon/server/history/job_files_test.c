/* SPDX-License-Identifier: Apache-2.0 */
#include "job_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/test_support.h"

static const hac_job_account someone = {60001, {0, 0}, false};

/* A state directory of its own, with `jobs` and the account's folder in it. */
static int set_up(void **state)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/hac-job-files-XXXXXX");
    assert_non_null(mkdtemp(path));
    *state = path;
    hac_close(hac_job_files_lock(path));
    return hac_job_files_write(path, someone, 1, "x", 1);
}

static int tear_down(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", (const char *)*state);
    return system(command);
}

static void path_of(const char *folder, const char *name, char ret[128])
{
    snprintf(ret, 128, "%s/jobs/60001/%s", folder, name);
}

static void assert_kept(const char *folder, uint64_t first, uint64_t last)
{
    hac_autofree uint64_t *ids = NULL;
    size_t n = 0;
    assert_int_equal(hac_job_files_list(folder, someone, &ids, &n, NULL), HAC_OK);
    assert_int_equal(n, last - first + 1);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(ids[i], first + i);
}

static void trim_makes_room(void **state)
{
    for (uint64_t id = 1; id <= 1010; id++)
        assert_int_equal(hac_job_files_write(*state, someone, id, "x", 1), 0);
    hac_job_files_trim(*state, someone, 0, 0);
    assert_kept(*state, 11, 1010);
    hac_job_files_trim(*state, someone, 3, 3);
    assert_kept(*state, 14, 1010);
    hac_job_files_trim(*state, someone, 0, HAC_JOB_FILES_BYTES_MAX - 5);
    assert_kept(*state, 1006, 1010);
    hac_job_files_trim(*state, someone, HAC_JOB_FILES_MAX, 0);
    assert_kept(*state, 1, 0);
}

static void set_age(const char *folder, const char *name, time_t days)
{
    char path[128];
    time_t then = time(NULL) - days * 24 * 60 * 60;
    const struct timespec times[2] = {{.tv_sec = then}, {.tv_sec = then}};
    path_of(folder, name, path);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void old_records(void **state)
{
    for (uint64_t id = 1; id <= 4; id++)
        assert_int_equal(hac_job_files_write(*state, someone, id, "x", 1), 0);
    set_age(*state, "1", HAC_JOB_FILES_DAYS_MAX + 1);
    set_age(*state, "2", HAC_JOB_FILES_DAYS_MAX * 10);
    set_age(*state, "3", HAC_JOB_FILES_DAYS_MAX - 1);
    hac_job_files_trim_all(*state);
    assert_kept(*state, 3, 4);
}

/* Whatever has the name of the temporary file, nobody waits for it and nothing is written to it. */
static void temporary_is_made_anew(void **state)
{
    char path[128], other[128];
    struct stat info;
    path_of(*state, "new", path);
    path_of(*state, "other", other);
    alarm(60); /* instead of for ever */
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(hac_job_files_write(*state, someone, 2, "x", 1), 0);
    hac_close(open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    assert_int_equal(link(other, path), 0);
    assert_int_equal(hac_job_files_write(*state, someone, 3, "x", 1), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(hac_job_files_write(*state, someone, 4, "x", 1), 0);
    alarm(0);
    assert_kept(*state, 1, 4);
    assert_int_equal(stat(other, &info), 0);
    assert_int_equal(info.st_size, 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(hac_job_files_write(*state, someone, 5, "x", 1), EEXIST);
}

/* The folders name places, of which either half may be small, and administrators. */
static void accounts_by_their_folders(void **state)
{
    static const hac_job_account wanted[] = {{60001, {0, 0}, false},
                                             {60001, {0, 7}, false},
                                             {60001, {UINT64_MAX, 1}, false},
                                             {7, {1, 0}, false},
                                             {7, {0, 0}, true}};
    const size_t n = sizeof wanted / sizeof *wanted;
    hac_autofree hac_job_account *got = NULL;
    size_t n_got = 0;
    char folder[128];
    for (size_t i = 0; i < n; i++)
        assert_int_equal(hac_job_files_write(*state, wanted[i], 1, "x", 1), 0);
    snprintf(folder, sizeof folder, "%s/jobs/60001.0123456789abcdef", (const char *)*state); /* no place */
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(hac_job_files_accounts(*state, &got, &n_got, NULL), HAC_OK);
    assert_int_equal(n_got, n);
    for (size_t i = 0; i < n; i++) {
        size_t found = 0;
        for (size_t j = 0; j < n; j++)
            found += hac_job_account_equal(wanted[i], got[j]);
        assert_int_equal(found, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(trim_makes_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(old_records, set_up, tear_down),
        cmocka_unit_test_setup_teardown(temporary_is_made_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(accounts_by_their_folders, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
