/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's configuration, hacd.yaml (docs/hacd.yaml.md and config/hacd.yaml are generated from the key
 * table in this module). Every key has a default; an empty file is a valid one. Limits per user hold for each
 * uid of its own. Problems are reported as "FILE:LINE: key `a`: what is wrong; allowed: what is".
 */
#ifndef CONFIG_DAEMON_CONFIG_H
#define CONFIG_DAEMON_CONFIG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/log.h"

#define HAC_PROFILE_DIRECTORIES_MAX 8

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
    double executor_idle_timeout; /* seconds */
    double task_deadline_factor;  /* a task is hung after max(minimum, factor × predicted time) */
    double task_deadline_minimum; /* seconds */
    double build_deadline;        /* seconds a builder may take for one program */
    hac_loopback metrics_http;
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

/* Write the reference page (Markdown), and a hacd.yaml with every key commented out at its default. */
void hac_daemon_config_reference(FILE *out);
void hac_daemon_config_example(FILE *out);

#endif
