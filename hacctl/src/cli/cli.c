/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "opsplit/run.h"
#include "output.h"
#include "text/json_fields.h"
#include "text/text_table.h"

void hac_cli_set(hac_cli *cli, const hac_args *args)
{
    cli->socket = args->values[HAC_OPT_SOCKET];
    cli->json = hac_args_has(args, HAC_OPT_JSON);
    cli->quiet = hac_args_has(args, HAC_OPT_QUIET);
    cli->no_autostart = hac_args_has(args, HAC_OPT_NO_AUTOSTART);
    const char *term = getenv("TERM");
    cli->terminal = !cli->quiet && isatty(STDERR_FILENO) == 1 && (term == NULL || strcmp(term, "dumb") != 0);
}

void hac_cli_clear(hac_cli *cli)
{
    hac_client_free(cli->client);
    cli->client = NULL;
}

static void starting(void *context, const char *socket)
{
    hac_cli_note(context, "starting a private daemon at %s", socket);
}

/* The socket of this rank's daemon if the path contains {rank}; else *ret is NULL. */
static hac_status rank_socket(const hac_cli *cli, char **ret, hac_error *err)
{
    static const char place[] = "{rank}";
    const char *path = cli->socket != NULL ? cli->socket : getenv("HAC_SOCKET");
    const char *at = path != NULL && cli->ranks != NULL ? strstr(path, place) : NULL;
    if (at == NULL)
        return HAC_OK;
    return asprintf(ret, "%.*s%u%s", (int)(at - path), path, cli->ranks->rank, at + strlen(place)) >= 0
               ? HAC_OK
               : hac_fail_no_memory(err);
}

bool hac_cli_system_refuses(const hac_cli *cli, char *why, size_t size)
{
    static const char system[] = HAC_SYSTEM_SOCKET;
    const char *named = getenv("HAC_SOCKET");
    if (cli->client == NULL || cli->socket != NULL || (named != NULL && named[0] != '\0') ||
        strcmp(hac_client_socket(cli->client), system) == 0 ||
        strcmp(hac_client_socket(cli->client), HAC_ADMIN_SOCKET) == 0)
        return false;
    bool there = access(system, F_OK) == 0 || errno == EACCES, may = access(system, W_OK) == 0;
    if (!there)
        return false;
    snprintf(why, size, "%s is there, but %s; a private daemon is used, at %s", system,
             may ? "no system daemon answers" : "its mode or its owner keeps you out",
             hac_client_socket(cli->client));
    return true;
}

hac_status hac_cli_connect(hac_cli *cli, hac_error *err)
{
    if (cli->client != NULL)
        return HAC_OK;
    hac_autofree char *socket = NULL;
    hac_connect_options options = HAC_CONNECT_OPTIONS_INIT;
    hac_status status = rank_socket(cli, &socket, err);
    if (status != HAC_OK)
        return status;
    options.socket = socket != NULL ? socket : cli->socket;
    options.flags = cli->no_autostart ? HAC_CONNECT_NO_AUTOSTART : 0;
    options.software = "hacctl " HACCTL_VERSION;
    options.starting = starting;
    options.context = cli;
    status = hac_client_connect(&options, &cli->client, err);
    char why[HAC_ERROR_MESSAGE_SIZE];
    if (status == HAC_OK && hac_cli_system_refuses(cli, why, sizeof why))
        hac_cli_say(cli, "warning: %s", why);
    return status;
}

hac_status hac_cli_ask(hac_cli *cli, hac_topic topic, uint64_t job, hac_plan_format format, char **ret,
                       hac_error *err)
{
    hac_status status = hac_cli_connect(cli, err);
    return status != HAC_OK ? status : hac_client_query(cli->client, topic, job, format, ret, err);
}

hac_status hac_cli_print_to(const char *path, const char *text, hac_error *err)
{
    hac_cleanup(hac_output_free_cleanup) hac_output_file *output = NULL;
    hac_status status = hac_output_open(path, &output, err);
    if (status == HAC_OK)
        status = hac_output_write_text(output, text, err);
    return status == HAC_OK ? hac_output_commit(output, err) : status;
}

hac_status hac_cli_print(const char *text, hac_error *err)
{
    return hac_cli_print_to(NULL, text, err);
}

static const char *program = "hacctl";

void hac_cli_set_program(const char *name)
{
    program = name;
}

/* One write, so that lines of several processes do not mix. */
static void say(const char *message)
{
    char line[HAC_ERROR_MESSAGE_SIZE + 32];
    int n = snprintf(line, sizeof line - 1, "%s: %s", program, message);
    hac_text_table_sanitise(line, false);
    size_t bytes = n < 0 ? 0 : (size_t)n < sizeof line - 1 ? (size_t)n : sizeof line - 2;
    line[bytes++] = '\n';
    if (write(STDERR_FILENO, line, bytes) < 0) {
        /* there is no one to report this to */
    }
}

HAC_PRINTF(1, 0) static void say_formatted(const char *fmt, va_list args)
{
    char message[HAC_ERROR_MESSAGE_SIZE];
    vsnprintf(message, sizeof message, fmt, args);
    say(message);
}

void hac_cli_note(const hac_cli *cli, const char *fmt, ...)
{
    if (!cli->terminal)
        return;
    va_list args;
    va_start(args, fmt);
    say_formatted(fmt, args);
    va_end(args);
}

void hac_cli_say(const hac_cli *cli, const char *fmt, ...)
{
    if (cli->quiet)
        return;
    va_list args;
    va_start(args, fmt);
    say_formatted(fmt, args);
    va_end(args);
}

void hac_cli_report(const hac_error *err)
{
    say(err->message[0] != '\0' ? err->message : hac_status_name(err->code));
}

hac_status hac_cli_job_id(const char *word, uint64_t *ret, hac_error *err)
{
    char *end;
    errno = 0;
    unsigned long long id = strtoull(word, &end, 10);
    if (*word < '0' || *word > '9' || *end != '\0' || errno != 0 || id == 0)
        return hac_fail(err, HAC_INVALID, "'%.64s' is not a job id; `hacctl jobs --all` lists them", word);
    *ret = id;
    return HAC_OK;
}

hac_status hac_cli_ask_end(hac_cli *cli, uint64_t job, const char **ret, hac_error *err)
{
    static const char *const ends[] = {"done", "failed", "cancelled"};
    hac_autofree char *answer = NULL;
    hac_autojson cJSON *json = NULL;
    hac_status status = hac_cli_ask(cli, HAC_TOPIC_SHOW, job, HAC_PLAN_JSON, &answer, err);
    if (status == HAC_OK)
        status = hac_json_parse_object(answer, "the job", &json, err);
    if (status != HAC_OK)
        return status;
    const char *state = hac_json_get_string(json, "state");
    *ret = state == NULL ? "" : NULL;
    for (size_t i = 0; i < sizeof ends / sizeof *ends && state != NULL; i++)
        if (strcmp(state, ends[i]) == 0)
            *ret = ends[i];
    return HAC_OK;
}

hac_form hac_cli_form(const hac_cli *cli, const hac_args *args)
{
    return hac_args_has(args, HAC_OPT_FORMAT) ? (hac_form)hac_args_choice(args, HAC_OPT_FORMAT)
           : cli->json                        ? HAC_FORM_JSON
                                              : HAC_FORM_TEXT;
}
