/* SPDX-License-Identifier: Apache-2.0 */
#include "job_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "base/io.h"
#include "job_record.h"
#include "resources/user.h"

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)

static void closedirp(DIR **folder)
{
    if (*folder != NULL)
        closedir(*folder);
}

static void jobs_path(const char *state_directory, char ret[PATH_MAX + 8])
{
    snprintf(ret, PATH_MAX + 8, "%s/jobs", state_directory);
}

/* `path` below `parent`; it is made if `make`. */
static int open_folder(int parent, const char *path, bool make)
{
    if (make && mkdirat(parent, path, 0700) != 0 && errno != EEXIST)
        return -1;
    return openat(parent, path, FOLDER_FLAGS);
}

static int open_jobs(const char *state_directory, bool make)
{
    char path[PATH_MAX + 8];
    jobs_path(state_directory, path);
    return open_folder(AT_FDCWD, path, make);
}

bool hac_job_account_equal(hac_job_account a, hac_job_account b)
{
    return a.uid == b.uid && hac_user_place_equal(a.place, b.place) && a.administers == b.administers;
}

void hac_job_files_account_name(hac_job_account account, char ret[HAC_JOB_ACCOUNT_NAME_SIZE])
{
    char name[HAC_USER_NAME_SIZE];
    hac_user_name(account.uid, account.place, name);
    snprintf(ret, HAC_JOB_ACCOUNT_NAME_SIZE, "%s%s", name, account.administers ? "-admin" : "");
}

/* The account whose folder has that name. */
static bool find_account(const char *name, hac_job_account *ret)
{
    char own[HAC_JOB_ACCOUNT_NAME_SIZE], *end = NULL;
    unsigned long uid = strtoul(name, &end, 10);
    hac_user_place place = HAC_PLACE_ANYWHERE;
    if (*end == '.') {
        char high[17] = "";
        memcpy(high, end + 1, strnlen(end + 1, sizeof high - 1));
        place.high = strtoull(high, NULL, 16);
        place.low = strlen(end) > sizeof high ? strtoull(end + sizeof high, &end, 16) : 0;
    }
    *ret = (hac_job_account){(uid_t)uid, place, strcmp(end, "-admin") == 0};
    hac_job_files_account_name(*ret, own);
    return uid <= UINT32_MAX && strcmp(own, name) == 0;
}

static int open_account(const char *state_directory, hac_job_account account, bool make)
{
    char name[HAC_JOB_ACCOUNT_NAME_SIZE];
    hac_autoclose int jobs = open_jobs(state_directory, make);
    if (jobs < 0)
        return -1;
    hac_job_files_account_name(account, name);
    return open_folder(jobs, name, make);
}

/* The number that a name begins with, as it is printed; 0: it does not begin so. */
static uint64_t number_of(const char *name, const char **ret_rest)
{
    uint64_t number = 0;
    size_t n = 0;
    for (; name[n] >= '0' && name[n] <= '9' && n < 13; n++)
        number = number * 10 + (uint64_t)(name[n] - '0');
    *ret_rest = name + n;
    return name[0] == '0' || number > HAC_JOB_RECORD_ID_MAX ? 0 : number;
}

/* ---- numbers ------------------------------------------------------------------------------------------ */

int hac_job_files_lock(const char *state_directory)
{
    hac_autoclose int jobs = open_jobs(state_directory, true);
    hac_autoclose int lock =
        jobs < 0 ? -1 : openat(jobs, "next", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) != 0)
        return -1;
    return hac_steal_fd(&lock);
}

bool hac_job_files_put_next(int lock, uint64_t next)
{
    char text[16];
    int n = snprintf(text, sizeof text, "%-13" PRIu64 "\n", next);
    return pwrite(lock, text, (size_t)n, 0) == n;
}

static uint64_t read_next(int jobs)
{
    char text[16] = "";
    const char *rest = NULL;
    hac_autoclose int fd = openat(jobs, "next", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t n = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;
    return n > 0 ? number_of(text, &rest) : 0;
}

uint64_t hac_job_files_last(const char *state_directory)
{
    hac_autoclose int jobs = open_jobs(state_directory, false);
    hac_autofree hac_job_account *accounts = NULL;
    size_t n_accounts = 0;
    uint64_t next = jobs >= 0 ? read_next(jobs) : 0, last = next > 0 ? next - 1 : 0;
    if (jobs < 0 || hac_job_files_accounts(state_directory, &accounts, &n_accounts, NULL) != HAC_OK)
        return last;
    for (size_t i = 0; i < n_accounts; i++) {
        hac_autofree uint64_t *ids = NULL;
        size_t n = 0;
        if (hac_job_files_list(state_directory, accounts[i], &ids, &n, NULL) == HAC_OK && n > 0 &&
            ids[n - 1] > last)
            last = ids[n - 1];
    }
    return last;
}

/* ---- writing ------------------------------------------------------------------------------------------ */

int hac_job_files_write(const char *state_directory, hac_job_account account, uint64_t id, const char *bytes,
                        size_t n)
{
    static const char temporary[] = "new"; /* one for all: one work at a time writes */
    char name[24];
    snprintf(name, sizeof name, "%" PRIu64, id);
    hac_autoclose int folder = HAC_FAILPOINT("jobs.open", -1, open_account(state_directory, account, true));
    static const hac_replace_points points = {NULL, HAC_FAILPOINT_NAME("jobs.write"),
                                              HAC_FAILPOINT_NAME("jobs.rename")};
    return folder < 0 ? errno : hac_replace_file(folder, temporary, name, bytes, n, &points);
}

/* ---- reading ------------------------------------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Appends an element to a malloc'ed array that grows at powers of two. */
static void *grow(void *items, size_t n, size_t size)
{
    return n != 0 && (n & (n - 1)) != 0 ? items : reallocarray(items, n == 0 ? 1 : 2 * n, size);
}

/* Takes ownership of the descriptor. */
static hac_status list_folder(int fd, uint64_t **ret, size_t *ret_n, hac_error *err)
{
    hac_autofree uint64_t *ids = NULL;
    size_t n = 0;
    hac_cleanup(closedirp) DIR *folder = fdopendir(fd);
    if (folder == NULL)
        hac_close(fd);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        const char *rest = NULL;
        uint64_t id = number_of(entry->d_name, &rest);
        if (id == 0 || *rest != '\0')
            continue;
        uint64_t *grown = grow(ids, n, sizeof *ids);
        if (grown == NULL)
            return hac_fail_no_memory(err);
        ids = grown;
        ids[n++] = id;
    }
    if (n > 1)
        qsort(ids, n, sizeof *ids, by_number);
    *ret = hac_steal_ptr(ids);
    *ret_n = n;
    return HAC_OK;
}

hac_status hac_job_files_list(const char *state_directory, hac_job_account account, uint64_t **ret,
                              size_t *ret_n, hac_error *err)
{
    int folder = open_account(state_directory, account, false);
    *ret = NULL;
    *ret_n = 0;
    return folder < 0 ? HAC_OK : list_folder(folder, ret, ret_n, err);
}

void hac_job_files_trim(const char *state_directory, hac_job_account account, size_t n, uint64_t bytes)
{
    hac_autofree uint64_t *ids = NULL;
    size_t n_ids = 0;
    const time_t oldest = time(NULL) - (time_t)HAC_JOB_FILES_DAYS_MAX * 24 * 60 * 60;
    hac_autoclose int folder = open_account(state_directory, account, false);
    if (folder < 0 || hac_job_files_list(state_directory, account, &ids, &n_ids, NULL) != HAC_OK)
        return;
    for (size_t i = n_ids; i-- > 0;) { /* the newest first */
        char name[24];
        struct stat info;
        snprintf(name, sizeof name, "%" PRIu64, ids[i]);
        bool record = fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode) &&
                      info.st_size <= HAC_JOB_RECORD_BYTES_MAX && info.st_mtime >= oldest;
        bytes += record ? (uint64_t)info.st_size : 0;
        n += record;
        if (!record || n > HAC_JOB_FILES_MAX || bytes > HAC_JOB_FILES_BYTES_MAX)
            (void)unlinkat(folder, name, 0);
    }
}

hac_status hac_job_files_accounts(const char *state_directory, hac_job_account **ret, size_t *ret_n,
                                  hac_error *err)
{
    hac_autofree hac_job_account *accounts = NULL;
    size_t n = 0;
    int fd = open_jobs(state_directory, false);
    hac_cleanup(closedirp) DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (folder == NULL)
        hac_close(fd);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        hac_job_account account;
        if (!find_account(entry->d_name, &account))
            continue;
        hac_job_account *grown = grow(accounts, n, sizeof *accounts);
        if (grown == NULL)
            return hac_fail_no_memory(err);
        accounts = grown;
        accounts[n++] = account;
    }
    *ret = hac_steal_ptr(accounts);
    *ret_n = n;
    return HAC_OK;
}

void hac_job_files_trim_all(const char *state_directory)
{
    hac_autofree hac_job_account *accounts = NULL;
    size_t n = 0;
    if (hac_job_files_accounts(state_directory, &accounts, &n, NULL) != HAC_OK)
        return;
    for (size_t i = 0; i < n; i++)
        hac_job_files_trim(state_directory, accounts[i], 0, 0);
}

/* Reads at most `capacity` bytes. */
static bool read_all(int fd, char *bytes, size_t capacity, size_t *ret_n)
{
    size_t done = 0;
    while (done < capacity) {
        ssize_t n = read(fd, bytes + done, capacity - done);
        if (n < 0 && errno != EINTR)
            return false;
        if (n == 0)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    *ret_n = done;
    return true;
}

hac_status hac_job_files_read(const char *state_directory, hac_job_account account, uint64_t id, char **ret,
                              size_t *ret_bytes, hac_error *err)
{
    char name[24];
    struct stat info;
    snprintf(name, sizeof name, "%" PRIu64, id);
    hac_autoclose int folder = open_account(state_directory, account, false);
    hac_autoclose int fd =
        folder < 0 ? -1 : openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &info) != 0)
        return hac_fail(err, HAC_NOT_FOUND, "there is no such file");
    if (!S_ISREG(info.st_mode) || info.st_size > HAC_JOB_RECORD_BYTES_MAX)
        return hac_fail(err, HAC_INVALID, "it is no regular file of at most %u bytes",
                        HAC_JOB_RECORD_BYTES_MAX);
    hac_autofree char *bytes = malloc((size_t)info.st_size + 1);
    if (bytes == NULL)
        return hac_fail_no_memory(err);
    if (!read_all(fd, bytes, (size_t)info.st_size, ret_bytes))
        return hac_fail_errno(err, HAC_IO, errno, "it cannot be read");
    *ret = hac_steal_ptr(bytes);
    return HAC_OK;
}
