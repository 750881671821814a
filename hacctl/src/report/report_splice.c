/* SPDX-License-Identifier: Apache-2.0 */
#include "report_splice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text/number_print.h"
#include "text/text_table.h"

enum { BAR = 40 };

static const cJSON *object_of(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static const char *bytes_of(const cJSON *object, const char *key, char buffer[HAC_NUMBER_PRINT_MAX])
{
    return hac_number_print_bytes(hac_json_get_number(object, key), buffer);
}

/* Adds "1 block", "4 blocks", or "- blocks". */
static void add_count(hac_text *text, const cJSON *object, const char *key, const char *what)
{
    double n = hac_json_get_number(object, key);
    if (isfinite(n))
        hac_text_addf(text, "%.0f %s%s", n, what, n >= 1 && n <= 1 ? "" : "s");
    else
        hac_text_addf(text, "- %ss", what);
}

static void add_bar(hac_text *text, double part)
{
    char drawn[BAR + 1];
    size_t full = isfinite(part) ? (size_t)(fmin(fmax(part, 0), 1) * BAR + 0.5) : 0;
    memset(drawn, '#', full);
    memset(drawn + full, '.', BAR - full);
    drawn[BAR] = '\0';
    hac_text_addf(text, "[%s]", drawn);
}

static void add_direct(const cJSON *device, hac_text *text)
{
    const cJSON *direct = object_of(device, "direct_buffer");
    char one[HAC_NUMBER_PRINT_MAX], two[HAC_NUMBER_PRINT_MAX];
    hac_text_add(text, "  DirectBuffer     ");
    add_count(text, direct, "data_sets", "data set");
    hac_text_add(text, " of ");
    add_count(text, direct, "records", "record");
    hac_text_addf(text, ", %s; the largest %s\n", bytes_of(direct, "bytes", one),
                  bytes_of(direct, "largest_bytes", two));
}

static void add_launching(const cJSON *device, hac_text *text)
{
    const cJSON *launching = object_of(device, "launching_buffer");
    char one[HAC_NUMBER_PRINT_MAX], two[HAC_NUMBER_PRINT_MAX];
    hac_text_add(text, "  LaunchingBuffer  ");
    add_count(text, launching, "blocks", "block");
    hac_text_addf(text, ", %s; the largest %s; up to %.0f at a time\n", bytes_of(launching, "bytes", one),
                  bytes_of(launching, "largest_bytes", two),
                  fmax(0, hac_json_get_number(launching, "most_at_once")));
}

static void add_working(const cJSON *device, hac_text *text)
{
    const cJSON *working = object_of(device, "working_buffer");
    char one[HAC_NUMBER_PRINT_MAX], two[HAC_NUMBER_PRINT_MAX];
    if (hac_json_get_bool(device, "in_place", false)) {
        hac_text_addf(text, "  WorkingBuffer    a batch for each thread, mapped in place: %s at most\n",
                      bytes_of(working, "highest_fill_bytes", one));
        return;
    }
    double fill =
        hac_json_get_number(working, "highest_fill_bytes") / hac_json_get_number(working, "capacity_bytes");
    hac_text_add(text, "  WorkingBuffer    ");
    add_bar(text, fill);
    hac_text_addf(text, " %s of %s, index of ", bytes_of(working, "highest_fill_bytes", one),
                  bytes_of(working, "capacity_bytes", two));
    add_count(text, working, "index_blocks", "block");
    hac_text_add(text, "\n                   ");
    add_count(text, working, "blocks", "block");
    hac_text_add(text, " spliced, ");
    add_count(text, working, "pauses", "pause");
    hac_text_add(text, ", ");
    add_count(text, working, "triggers", "trigger");
    hac_text_add(text, "\n");
}

static void add_stages(const cJSON *device, hac_text *text)
{
    static const char *const names[] = {"read", "preprocess", "splice", "map"};
    const cJSON *stages = object_of(device, "stages");
    const char *slowest = hac_json_get_string(device, "slowest_stage");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const cJSON *stage = object_of(stages, names[i]);
        char share[HAC_NUMBER_PRINT_MAX], busy[HAC_NUMBER_PRINT_MAX];
        hac_text_addf(text, "  %-16s ", names[i]);
        add_bar(text, hac_json_get_number(stage, "share"));
        hac_text_addf(text, " %5s  %s%s\n",
                      hac_number_print_percent(hac_json_get_number(stage, "share"), share),
                      hac_number_print_seconds(hac_json_get_number(stage, "busy_seconds"), busy),
                      slowest != NULL && strcmp(slowest, names[i]) == 0 ? "  the slowest" : "");
    }
}

static void add_device(const cJSON *device, hac_text *text)
{
    char one[HAC_NUMBER_PRINT_MAX], two[HAC_NUMBER_PRINT_MAX], name[64];
    const cJSON *result = object_of(device, "result_buffer");
    const char *said = hac_json_get_string(device, "name");
    snprintf(name, sizeof name, "%s", said != NULL ? said : "-");
    hac_text_table_sanitise(name, false);
    hac_text_addf(text, "\nbuffers of %s, in ", name);
    add_count(text, device, "tasks", "task");
    hac_text_add(text, " of ");
    add_count(text, device, "threads", "reading thread");
    hac_text_add(text, "\n");
    add_direct(device, text);
    add_launching(device, text);
    add_working(device, text);
    hac_text_addf(text, "  ResultBuffer     %s; the largest %s\n", bytes_of(result, "bytes", one),
                  bytes_of(result, "largest_bytes", two));
    hac_text_add(text, "  stages, busy share of the tasks' time; seconds of all threads\n");
    add_stages(device, text);
}

/* Adds what the client did before the splits were sent, and afterwards. */
static void add_client(const cJSON *splice, hac_text *text)
{
    static const struct {
        const char *key, *label;
    } members[] = {{"reading_seconds", "read and cut"},
                   {"input_wait_seconds", "waited for it"},
                   {"device_wait_seconds", "held back"},
                   {"writing_seconds", "rows written"}};
    const cJSON *client = object_of(splice, "client");
    const char *slowest = hac_json_get_string(splice, "slowest_stage");
    if (client == NULL)
        return;
    hac_text_addf(text, "\ninput%s\n",
                  slowest != NULL && strcmp(slowest, "input") == 0 ? ", slower than the devices" : "");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        char seconds[HAC_NUMBER_PRINT_MAX];
        hac_text_addf(text, "  %-16s %s\n", members[i].label,
                      hac_number_print_seconds(hac_json_get_number(client, members[i].key), seconds));
    }
}

void hac_report_splice(const cJSON *receipt, hac_text *text)
{
    const cJSON *device, *splice = object_of(receipt, "splice");
    add_client(splice, text);
    cJSON_ArrayForEach(device, hac_json_get_array(splice, "devices"))
    {
        add_device(device, text);
    }
}
