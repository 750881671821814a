/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder `jobs` of the state directory: a folder for each account, in it a file for each ended job
 * (job_record.h), which is replaced as a whole. All of it is hacd's own, mode 0700 and 0600. The file `next`
 * holds a number that is larger than those of all jobs, and a lock: of several hacds with one state
 * directory, the one with the lock writes.
 *
 * These functions block: all but hac_job_files_last and those of the end run on the thread pool.
 */
#ifndef SERVER_JOB_FILES_H
#define SERVER_JOB_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "resources/user_place.h"

/* What is kept of an account: the newest jobs, as many as fit, and for this time. */
#define HAC_JOB_FILES_MAX       1000u
#define HAC_JOB_FILES_BYTES_MAX (64u << 20)
#define HAC_JOB_FILES_DAYS_MAX  90

/* Whose jobs: a user's account, or the one for administration of that uid (hac_user_key). */
typedef struct hac_job_account {
    uid_t uid;
    hac_user_place place;
    bool administers;
} hac_job_account;

#define HAC_JOB_ACCOUNT_NAME_SIZE 64

bool hac_job_account_equal(hac_job_account a, hac_job_account b);
/* The name of the account's folder. */
void hac_job_files_account_name(hac_job_account account, char ret[HAC_JOB_ACCOUNT_NAME_SIZE]);

/* Opens and locks `next`. Returns -1, with errno, if another hacd has the lock (EWOULDBLOCK) or the folder
 * cannot be written. */
int hac_job_files_lock(const char *state_directory);
/* Writes to the descriptor that hac_job_files_lock returned: numbers below `next` are given out by this hacd,
 * or were. */
bool hac_job_files_put_next(int lock, uint64_t next);

/* The largest job number that may have been given out, as far as the folder tells. */
uint64_t hac_job_files_last(const char *state_directory);

/* Writes the file of a job. Returns 0, or why it failed (errno). */
int hac_job_files_write(const char *state_directory, hac_job_account account, uint64_t id, const char *bytes,
                        size_t n);
/* Removes what is no record, what is too old, and the oldest ones, so that `n` more with `bytes` stay within
 * the limits. */
void hac_job_files_trim(const char *state_directory, hac_job_account account, size_t n, uint64_t bytes);
/* hac_job_files_trim of all accounts, for none more. */
void hac_job_files_trim_all(const char *state_directory);

/* *ret: malloc'ed bytes of the file. HAC_NOT_FOUND: there is none. HAC_INVALID: it is too large. */
HAC_MUST_USE hac_status hac_job_files_read(const char *state_directory, hac_job_account account, uint64_t id,
                                           char **ret, size_t *ret_bytes, hac_error *err);
/* *ret: malloc'ed numbers of the account's jobs, in order. No folder: none. */
HAC_MUST_USE hac_status hac_job_files_list(const char *state_directory, hac_job_account account,
                                           uint64_t **ret, size_t *ret_n, hac_error *err);
/* *ret: malloc'ed accounts that have a folder. */
HAC_MUST_USE hac_status hac_job_files_accounts(const char *state_directory, hac_job_account **ret,
                                               size_t *ret_n, hac_error *err);

#endif
