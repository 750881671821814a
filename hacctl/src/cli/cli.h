/* SPDX-License-Identifier: Apache-2.0 */
/* What all commands share: the global options, the connection to the daemon, and messages to the user. */
#ifndef HACCTL_CLI_H
#define HACCTL_CLI_H

#include <stdbool.h>

#include <hac/hac.h>

#include "args.h"
#include "base/cleanup.h"
#include "base/error.h"

HAC_DEFINE_CLEANUP(hac_job *, hac_job_free)

typedef struct hac_cli {
    const struct hac_command
        *commands;      /* the program's commands, for help and completion; ends with a row without a name */
    const char *socket; /* NULL: libhac's default */
    bool json, quiet, no_autostart;
    /* Notes and progress are shown: standard error is a terminal, and there is no --quiet. */
    bool terminal;
    hac_client *client; /* NULL before hac_cli_connect */
    /* Pipe to the process that prints the job's id (hac_detach_enter); 0 if the caller waits for the job. */
    int detach_fd;
    /* A step of a pipeline: where its job's id goes, instead of standard output. NULL: no step. */
    uint64_t *started;
    /* A step whose result stays for other steps: takes the job when it is done, in place of an output. The
     * job is not detached: the daemon frees the result with the connection, however this process ends. NULL:
     * no such step. */
    hac_job **kept;
    /* The job whose output this process writes after it detached; 0: none. */
    uint64_t output_of;
    /* hac-mpi: the ranks that share this work, and the function that takes lines of their process log
     * (`context` is the ranks'). NULL without MPI. */
    const struct hac_ranks *ranks;
    void (*log)(void *context, const char *line);
} hac_cli;

/* Sets the name that messages begin with; "hacctl" without this call. */
void hac_cli_set_program(const char *name);

/* Takes the global options from `args`. */
void hac_cli_set(hac_cli *cli, const hac_args *args);
void hac_cli_clear(hac_cli *cli);

/* Connects unless there is a connection; starts a private daemon if none runs and that is allowed. With
 * ranks, "{rank}" in the socket's path stands for the number of this rank. */
HAC_MUST_USE hac_status hac_cli_connect(hac_cli *cli, hac_error *err);

/* Tells why a private daemon is used although the system daemon's socket exists. Returns false if there is
 * nothing to tell. */
bool hac_cli_system_refuses(const hac_cli *cli, char *why, size_t size);

/* Connects and asks a question; *ret is malloc'ed. `job` is 0 if the topic is not about a job. */
HAC_MUST_USE hac_status hac_cli_ask(hac_cli *cli, hac_topic topic, uint64_t job, hac_plan_format format,
                                    char **ret, hac_error *err);

/* Prints a result to standard output, or to `path` unless that is NULL; adds a line feed if the text ends
 * without one. */
HAC_MUST_USE hac_status hac_cli_print(const char *text, hac_error *err);
HAC_MUST_USE hac_status hac_cli_print_to(const char *path, const char *text, hac_error *err);

/* For people: prints one line to standard error if that is a terminal and there is no --quiet. */
void hac_cli_note(const hac_cli *cli, const char *fmt, ...) HAC_PRINTF(2, 3);
/* Prints one line to standard error unless there is --quiet: the command does something else than it was
 * asked for, which scripts need to hear as well. */
void hac_cli_say(const hac_cli *cli, const char *fmt, ...) HAC_PRINTF(2, 3);

/* Prints "hacctl: message" to standard error, as one line whatever the message contains. */
void hac_cli_report(const hac_error *err);

/* Parses a job's id as `hacctl jobs` prints it. */
HAC_MUST_USE hac_status hac_cli_job_id(const char *word, uint64_t *ret, hac_error *err);

/* Asks how the job ended. *ret is "done", "failed" or "cancelled"; NULL if the job has not ended; "" if
 * the daemon does not say, so that no caller asks forever. */
HAC_MUST_USE hac_status hac_cli_ask_end(hac_cli *cli, uint64_t job, const char **ret, hac_error *err);

typedef enum hac_form { HAC_FORM_TEXT, HAC_FORM_JSON, HAC_FORM_SVG } hac_form;

/* The form of an answer: --format, else JSON with --json, else text. */
hac_form hac_cli_form(const hac_cli *cli, const hac_args *args);

#endif
