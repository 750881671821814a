/* SPDX-License-Identifier: Apache-2.0 */
/* What all commands share: the global options, the connection, and how they speak to the user. */
#ifndef HACCTL_CLI_H
#define HACCTL_CLI_H

#include <stdbool.h>

#include <hac/hac.h>

#include "args.h"
#include "base/cleanup.h"
#include "base/error.h"

HAC_DEFINE_CLEANUP(hac_job *, hac_job_free)

typedef struct hac_cli {
    const char *socket; /* NULL: the usual one */
    bool json, quiet, no_autostart;
    bool terminal;      /* standard error is one, and not --quiet: notes and progress are shown */
    hac_client *client; /* NULL before hac_cli_connect */
    int background;     /* of hac_background_enter; 0: the caller waits for the end */
    uint64_t output_of; /* the job that others wait for until its output is written; 0: none */
    /* hac-mpi: those who do this together, and where lines of their process log go (with the ranks' own
     * context). NULL: alone. */
    const struct hac_ranks *ranks;
    void (*log)(void *context, const char *line);
} hac_cli;

/* What messages begin with; "hacctl" otherwise. */
void hac_cli_set_program(const char *name);

/* Takes over the global options among `args`. */
void hac_cli_set(hac_cli *cli, const hac_args *args);
void hac_cli_clear(hac_cli *cli);

/* Connects unless connected already; starts a private daemon if need be and allowed. With ranks, "{rank}" in
 * the socket's path stands for the number of this one. */
HAC_MUST_USE hac_status hac_cli_connect(hac_cli *cli, hac_error *err);

/* What is wrong with the system daemon's socket, which is there, when a private daemon is used all the same;
 * false: nothing. */
bool hac_cli_system_refuses(const hac_cli *cli, char *why, size_t size);

/* Connects and asks; *ret is malloc'ed. `job` is 0 where the topic is not about one. */
HAC_MUST_USE hac_status hac_cli_ask(hac_cli *cli, hac_topic topic, uint64_t job, hac_plan_format format,
                                    char **ret, hac_error *err);

/* A result, on standard output; a line feed is added where the end lacks one. `path` NULL: standard output.
 */
HAC_MUST_USE hac_status hac_cli_print(const char *text, hac_error *err);
HAC_MUST_USE hac_status hac_cli_print_to(const char *path, const char *text, hac_error *err);

/* For people: one line on standard error, if that is a terminal and not --quiet. */
void hac_cli_note(const hac_cli *cli, const char *fmt, ...) HAC_PRINTF(2, 3);
/* The same for scripts, too: what a command did is not what it was asked for. */
void hac_cli_say(const hac_cli *cli, const char *fmt, ...) HAC_PRINTF(2, 3);

/* "hacctl: message", one line whatever the message holds, on standard error. */
void hac_cli_report(const hac_error *err);

/* A job's id as `hacctl jobs` prints it. */
HAC_MUST_USE hac_status hac_cli_job_id(const char *word, uint64_t *ret, hac_error *err);

/* How the job has ended: "done", "failed" or "cancelled"; NULL if it has not; "" when the daemon does not
 * say, so that nobody asks for ever. */
HAC_MUST_USE hac_status hac_cli_ask_end(hac_cli *cli, uint64_t job, const char **ret, hac_error *err);

/* The form of an answer: --format, else JSON with --json, else text. */
hac_plan_format hac_cli_format(const hac_cli *cli, const hac_args *args);

#endif
