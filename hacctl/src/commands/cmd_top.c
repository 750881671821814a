/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl top: reports what the daemon does, until the user stops it. */
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cmd.h"
#include "config/profile.h"
#include "report/report_top.h"

enum { SPLITS_SHOWN = 4 }; /* jobs over splits whose buffers are reported */

typedef struct top_view {
    hac_cli *cli;
    hac_output_file *output;
    double interval;
    bool redraw; /* on a terminal: each report replaces the one before */
    bool drawn;
} top_view;

/* ---- one report ------------------------------------------------------------------------------------- */

/* Asks about a topic and moves the members of the answer into `look`. */
static hac_status take(hac_cli *cli, hac_topic topic, const char *what, cJSON *look, hac_error *err)
{
    hac_autofree char *answer = NULL;
    hac_autojson cJSON *json = NULL;
    hac_status status = hac_cli_ask(cli, topic, 0, HAC_PLAN_JSON, &answer, err);
    if (status == HAC_OK)
        status = hac_json_parse_object(answer, what, &json, err);
    while (status == HAC_OK && json->child != NULL) {
        cJSON *member = cJSON_DetachItemViaPointer(json, json->child);
        cJSON_AddItemToObject(look, member->string, member);
    }
    return status;
}

/* Adds the buffers of a job over splits; a job that has ended meanwhile has none. */
static void take_buffers(hac_cli *cli, cJSON *job)
{
    hac_autofree char *answer = NULL;
    hac_autojson cJSON *json = NULL;
    uint64_t id = (uint64_t)hac_json_get_number(job, "id");
    if (hac_cli_ask(cli, HAC_TOPIC_RECEIPT, id, HAC_PLAN_JSON, &answer, NULL) != HAC_OK ||
        hac_json_parse_object(answer, "the job", &json, NULL) != HAC_OK)
        return;
    cJSON *splice = cJSON_DetachItemFromObjectCaseSensitive(json, "splice");
    if (splice != NULL)
        cJSON_AddItemToObject(job, "splice", splice);
}

static bool is_running(const cJSON *job)
{
    const char *state = hac_json_get_string(job, "state"), *flow = hac_json_get_string(job, "flow");
    return state != NULL && strcmp(state, "running") == 0 && flow != NULL && strcmp(flow, "splice") == 0 &&
           hac_json_get_number(job, "id") >= 1;
}

static hac_status look_at(hac_cli *cli, cJSON **ret, hac_error *err)
{
    size_t shown = 0;
    hac_autojson cJSON *look = cJSON_CreateObject();
    if (look == NULL || cJSON_AddNumberToObject(look, "at", (double)hac_now_ns() * 1e-9) == NULL)
        return hac_fail_no_memory(err);
    hac_status status = take(cli, HAC_TOPIC_STATUS, "the daemon", look, err);
    if (status == HAC_OK)
        status = take(cli, HAC_TOPIC_DEVICES, "the devices", look, err);
    if (status == HAC_OK)
        status = take(cli, HAC_TOPIC_JOBS, "the jobs", look, err);
    if (status != HAC_OK)
        return status;
    cJSON *job;
    cJSON_ArrayForEach(job, cJSON_GetObjectItemCaseSensitive(look, "jobs"))
    {
        if (is_running(job) && shown++ < SPLITS_SHOWN)
            take_buffers(cli, job);
    }
    *ret = hac_steal_ptr(look);
    return HAC_OK;
}

/* ---- printing it ------------------------------------------------------------------------------------ */

/* The bytes of the first `columns` characters. */
static size_t width(const char *line, size_t bytes, size_t columns)
{
    size_t at = 0, seen = 0;
    for (; at < bytes; at++)
        if (((unsigned char)line[at] & 0xc0) != 0x80 && seen++ == columns)
            break;
    return at;
}

/* Draws a report on the terminal: cuts off what does not fit, and clears the rest of the screen. */
static hac_status draw(top_view *v, const char *frame, hac_error *err)
{
    struct winsize size;
    hac_text text = HAC_TEXT_NONE;
    hac_autofree char *all = NULL;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 1;
    size_t columns = known ? size.ws_col : 80, rows = known ? size.ws_row - 1u : 23;
    hac_text_add(&text, v->drawn ? "\033[H" : "\033[2J\033[H");
    for (size_t row = 0; *frame != '\0' && row < rows; row++) {
        size_t bytes = strcspn(frame, "\n");
        hac_text_add_bytes(&text, frame, width(frame, bytes, columns));
        hac_text_add(&text, "\033[K\n");
        frame += bytes + (frame[bytes] == '\n');
    }
    hac_text_add(&text, "\033[J");
    hac_status status = hac_text_finish(&text, &all, NULL, err);
    return status == HAC_OK ? hac_output_write(v->output, all, strlen(all), err) : status;
}

static hac_status show_json(top_view *v, const cJSON *look, hac_error *err)
{
    char *line = cJSON_PrintUnformatted(look);
    hac_status status = line != NULL ? hac_output_write_text(v->output, line, err) : hac_fail_no_memory(err);
    cJSON_free(line);
    return status;
}

static hac_status show(top_view *v, const cJSON *look, hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    hac_autofree char *frame = NULL;
    if (v->cli->json)
        return show_json(v, look, err);
    if (v->drawn && !v->redraw)
        hac_text_add(&text, "\n");
    hac_report_top(look, &text);
    hac_status status = hac_text_finish(&text, &frame, NULL, err);
    if (status == HAC_OK)
        status = v->redraw ? draw(v, frame, err) : hac_output_write_text(v->output, frame, err);
    v->drawn = true;
    return status;
}

/* Waits until the next report is due; false if the user wants no more. */
static bool pause_for(double seconds)
{
    struct pollfd stop = {.fd = hac_interrupt_fd(), .events = POLLIN};
    return poll(&stop, 1, (int)(seconds * 1e3)) == 0 && hac_interrupt_count() == 0;
}

/* Prints reports. Shares and rates need two reports: --once prints the second one. */
static hac_status watch(top_view *v, bool once, hac_error *err)
{
    hac_autojson cJSON *before = NULL;
    hac_status status = HAC_OK;
    for (unsigned looks = 1; status == HAC_OK; looks++) {
        hac_autojson cJSON *now = NULL;
        status = look_at(v->cli, &now, err);
        if (status == HAC_OK)
            status = hac_top_derive(before, now, err);
        if (status == HAC_OK && (!once || looks == 2))
            status = show(v, now, err);
        if (once && looks == 2)
            break;
        cJSON_Delete(before);
        before = hac_steal_ptr(now);
        if (status == HAC_OK && !pause_for(v->interval))
            break;
    }
    return status;
}

static hac_status parse_interval(const hac_args *args, double *ret, hac_error *err)
{
    const char *text = args->values[HAC_OPT_INTERVAL];
    char *end;
    *ret = 1;
    if (text == NULL)
        return HAC_OK;
    *ret = strtod(text, &end);
    hac_status status = HAC_OK;
    if (end == text || *end != '\0')
        status = hac_parse_duration(text, ret, err);
    if (status == HAC_OK && !(*ret >= 0.1 && *ret <= 3600))
        status = hac_fail(err, HAC_INVALID, "allowed: 100ms to 1h");
    if (status != HAC_OK)
        hac_error_prefix(err, "--interval");
    return status == HAC_OK ? HAC_OK : HAC_INVALID;
}

hac_status hac_cmd_top(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_output_free_cleanup) hac_output_file *output = NULL;
    top_view v = {.cli = cli};
    bool once = hac_args_has(args, HAC_OPT_ONCE);
    hac_status status = parse_interval(args, &v.interval, err);
    if (status == HAC_OK)
        status = hac_output_open(NULL, &output, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (status != HAC_OK)
        return status;
    v.output = output;
    const char *term = getenv("TERM");
    v.redraw =
        !once && !cli->json && hac_output_is_terminal(output) && term != NULL && strcmp(term, "dumb") != 0;
    hac_interrupt_defer(1); /* Ctrl-C ends the command normally */
    status = watch(&v, once, err);
    hac_interrupt_defer(0);
    return status == HAC_OK ? hac_output_commit(output, err) : status;
}
