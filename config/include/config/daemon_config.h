/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's configuration, hacd.yaml (docs/hacd.yaml.md and config/hacd.yaml are generated from the key
 * table in this module). Every key has a default; an empty file is a valid one. Limits per user hold for each
 * uid of its own; `users` has other ones for some. Names of users and groups are looked up while the file is
 * read, never later; of an unknown one there is a warning, and its entry is left out. Problems are reported
 * as "FILE:LINE: key `a`: what is wrong; allowed: what is".
 */
#ifndef CONFIG_DAEMON_CONFIG_H
#define CONFIG_DAEMON_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/log.h"

#define HAC_PROFILE_DIRECTORIES_MAX 8
#define HAC_USER_ENTRIES_MAX        256

/* What one user may have at the same time; a limit of 0 connections or jobs is no access at all. */
typedef struct hac_user_limits {
    uint64_t memory; /* bytes of pool memory, in use or kept for reuse */
    uint32_t connections;
    uint32_t jobs;        /* that wait, run, or have a result that was not released */
    uint32_t descriptors; /* that the daemon holds: buffers, files */
    double share;         /* of device time beside other users: 2 gets twice as much as 1 */
} hac_user_limits;

/* An entry of `users`: what it does not set (0 bytes, UINT32_MAX, a share of 0) is everybody's. */
typedef struct hac_user_entry {
    bool group;
    uint32_t id; /* uid or gid */
    hac_user_limits limits;
} hac_user_entry;

/* What tells users apart. */
typedef enum hac_identity {
    HAC_IDENTITY_UID = 0,
    HAC_IDENTITY_CGROUP, /* the uid and the pod, container or service that the client runs in */
} hac_identity;

/* A TCP port at an address that only this machine reaches. */
typedef struct hac_loopback {
    char address[48]; /* IPv4 or IPv6 */
    uint16_t port;    /* 0: none */
} hac_loopback;

typedef struct hac_daemon_config {
    hac_log_level log_level;
    char *profile_directories[HAC_PROFILE_DIRECTORIES_MAX]; /* absolute, owned; they replace the standard ones
                                                             */
    size_t n_profile_directories;                           /* 0: the standard ones */
    double idle_exit;              /* seconds a private daemon stays without work or clients; 0: for ever */
    double result_expiry;          /* seconds a finished job's result is kept for a client to come back */
    uint64_t pool_memory_per_user; /* bytes, never 0 */
    uint32_t max_jobs_per_user;    /* waiting and running */
    uint32_t max_connections_per_user;
    uint32_t max_descriptors_per_user;
    uint64_t pool_memory; /* of all users */
    uint32_t max_jobs, max_connections;
    hac_user_entry *users; /* owned */
    size_t n_users;
    hac_identity identity;
    double executor_idle_timeout; /* seconds */
    double
        task_deadline_factor; /* a task is hung that shows no progress for max(minimum, factor × its predicted time) */
    double task_deadline_minimum; /* seconds */
    double build_deadline;        /* seconds a builder may take for one program */
    double drain_deadline;        /* seconds that running jobs get when the daemon is told to leave */
    hac_loopback metrics_http;
    bool share_without_landlock;
    bool calibrate_when_idle;
    char **warnings; /* owned; in the form of problems. What is right in form, but names what is not there: an
                        account that was deleted is no reason for a daemon to stay away */
    size_t n_warnings;
} hac_daemon_config;

/* Reads one file (at most 256 KiB). HAC_NOT_FOUND: there is none; whether that is an error is the caller's to
 * say. The caller clears *ret with hac_daemon_config_clear. */
HAC_MUST_USE hac_status hac_daemon_config_load(const char *path, hac_daemon_config *ret, hac_error *err);

/* The same from memory; `name` stands for the file in messages. */
HAC_MUST_USE hac_status hac_daemon_config_parse(const char *name, const char *text, size_t length,
                                                hac_daemon_config *ret, hac_error *err);

/* What an empty file gives. */
HAC_MUST_USE hac_status hac_daemon_config_default(hac_daemon_config *ret, hac_error *err);

void hac_daemon_config_clear(hac_daemon_config *config);

/* The limits of a user: of the entry with their name, else of the first one in the file with one of their
 * groups, else everybody's. */
hac_user_limits hac_daemon_config_limits(const hac_daemon_config *config, uid_t uid, const gid_t *groups,
                                         size_t n_groups);

/* Write the reference page (Markdown), and a hacd.yaml with every key commented out at its default. */
void hac_daemon_config_reference(FILE *out);
void hac_daemon_config_example(FILE *out);

#endif
