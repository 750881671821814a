/* SPDX-License-Identifier: Apache-2.0 */
#include "report_top.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text/number_print.h"
#include "text/text_table.h"

static const cJSON *member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* ---- rates between two reports ----------------------------------------------------------------------- */

/* The element of a list that has the same `key` as `like`; NULL if there is none. */
static const cJSON *find_same(const cJSON *list, const cJSON *like, const char *key)
{
    const cJSON *element, *wanted = member(like, key);
    cJSON_ArrayForEach(element, list)
    {
        if (wanted != NULL && cJSON_Compare(member(element, key), wanted, true))
            return element;
    }
    return NULL;
}

static hac_status add_number(cJSON *object, const char *key, double value, hac_error *err)
{
    if (!isfinite(value))
        return HAC_OK;
    return cJSON_AddNumberToObject(object, key, value) != NULL ? HAC_OK : hac_fail_no_memory(err);
}

/* Adds the device's busy share. Tasks of several users may run on a device at the same time, so the share
 * is at most 1. */
static hac_status derive_device(const cJSON *before, cJSON *device, double seconds, hac_error *err)
{
    double busy = hac_json_get_number(device, "busy_seconds") - hac_json_get_number(before, "busy_seconds");
    return add_number(device, "busy_share", fmax(0, fmin(1, busy / seconds)), err);
}

/* The bytes that a job over splits has read so far; NAN for other jobs. */
static double bytes_read(const cJSON *job)
{
    return hac_json_get_number(member(member(job, "splice"), "direct_buffer"), "bytes");
}

static hac_status derive_job(const cJSON *before, cJSON *job, double seconds, hac_error *err)
{
    double bytes = (bytes_read(job) - bytes_read(before)) / seconds;
    if (bytes >= 0)
        return add_number(job, "bytes_per_second", bytes, err);
    double done = hac_json_get_number(job, "fraction") - hac_json_get_number(before, "fraction");
    double rate = done * hac_json_get_number(job, "items") / seconds;
    return rate > 0 ? add_number(job, "items_per_second", rate, err) : HAC_OK;
}

hac_status hac_top_derive(const cJSON *before, cJSON *now, hac_error *err)
{
    double seconds = hac_json_get_number(now, "at") - hac_json_get_number(before, "at");
    hac_status status = HAC_OK;
    cJSON *element;
    if (before == NULL || !(seconds > 0))
        return HAC_OK;
    cJSON_ArrayForEach(element, cJSON_GetObjectItemCaseSensitive(now, "devices"))
    {
        const cJSON *same = find_same(member(before, "devices"), element, "name");
        if (status == HAC_OK && same != NULL)
            status = derive_device(same, element, seconds, err);
    }
    cJSON_ArrayForEach(element, cJSON_GetObjectItemCaseSensitive(now, "jobs"))
    {
        const cJSON *same = find_same(member(before, "jobs"), element, "id");
        if (status == HAC_OK && same != NULL)
            status = derive_job(same, element, seconds, err);
    }
    return status;
}

/* ---- as text ------------------------------------------------------------------------------------------ */

/* Adds [#######---]  68 % */
static void add_bar(hac_text_table *table, double share)
{
    enum { BAR = 10 };
    char bar[BAR + 1], percent[HAC_NUMBER_PRINT_MAX];
    if (!isfinite(share)) {
        hac_text_table_add(table, NULL);
        return;
    }
    share = fmax(0, fmin(1, share));
    memset(bar, '-', BAR);
    memset(bar, '#', (size_t)lround(share * BAR));
    bar[BAR] = '\0';
    snprintf(percent, sizeof percent, "%3.0f %%", share * 100);
    hac_text_table_addf(table, "[%s] %s", bar, percent);
}

static void add_head(const cJSON *look, hac_text *text)
{
    char uptime[HAC_NUMBER_PRINT_MAX], used[HAC_NUMBER_PRINT_MAX], kept[HAC_NUMBER_PRINT_MAX],
        limit[HAC_NUMBER_PRINT_MAX], version[64];
    const cJSON *daemon = member(look, "daemon"), *memory = member(look, "memory");
    const char *said = hac_json_get_string(daemon, "version");
    snprintf(version, sizeof version, "%s", said != NULL ? said : "-");
    hac_text_table_sanitise(version, false);
    hac_text_addf(text, "hacd %s, up %s%s\n", version,
                  hac_number_print_seconds(floor(hac_json_get_number(daemon, "uptime_seconds")), uptime),
                  hac_json_get_bool(daemon, "draining", false) ? ", draining: no new jobs" : "");
    double jobs = hac_json_get_number(daemon, "jobs"), running = hac_json_get_number(daemon, "jobs_running");
    double connections = hac_json_get_number(daemon, "connections");
    if (isfinite(jobs) && isfinite(running))
        hac_text_addf(text, "jobs    %.0f running, %.0f waiting; %.0f connection%s\n", running,
                      fmax(0, jobs - running), connections, connections == 1 ? "" : "s");
    if (memory != NULL)
        hac_text_addf(text, "memory  %s in use, %s kept for reuse, limit %s\n",
                      hac_number_print_bytes(hac_json_get_number(memory, "used_bytes"), used),
                      hac_number_print_bytes(hac_json_get_number(memory, "kept_bytes"), kept),
                      hac_number_print_bytes(hac_json_get_number(memory, "limit_bytes"), limit));
}

/* Adds "job 12: merge, 4.2 s; job 13: …" */
static void add_running(hac_text_table *table, const cJSON *device)
{
    hac_text text = HAC_TEXT_NONE;
    hac_autofree char *all = NULL;
    const cJSON *task;
    cJSON_ArrayForEach(task, hac_json_get_array(device, "running"))
    {
        char seconds[HAC_NUMBER_PRINT_MAX];
        const char *stage = hac_json_get_string(task, "stage");
        hac_text_addf(&text, "%sjob %.0f: %s, %s", text.bytes > 0 ? "; " : "",
                      hac_json_get_number(task, "job"), stage != NULL ? stage : "-",
                      hac_number_print_seconds(hac_json_get_number(task, "seconds"), seconds));
    }
    if (hac_text_finish(&text, &all, NULL, NULL) != HAC_OK)
        table->broken = true;
    else
        hac_text_table_add(table, all);
}

static void add_devices(const cJSON *look, hac_text *text)
{
    static const hac_text_column columns[] = {
        {"DEVICE", false}, {"STATE", false}, {"BUSY", false}, {"RUNNING", false}};
    hac_text_table table = HAC_TEXT_TABLE(columns);
    const cJSON *device;
    cJSON_ArrayForEach(device, hac_json_get_array(look, "devices"))
    {
        hac_text_table_add(&table, hac_json_get_string(device, "name"));
        hac_text_table_add(&table, hac_json_get_string(device, "state"));
        add_bar(&table, hac_json_get_number(device, "busy_share"));
        add_running(&table, device);
    }
    hac_text_add(text, "\n");
    if (hac_text_table_rows(&table) > 0)
        hac_text_table_write(&table, text);
    else
        hac_text_add(text, "no devices; `hacctl doctor` says why\n");
    hac_text_table_clear(&table);
}

static bool has_ended(const cJSON *job)
{
    const char *state = hac_json_get_string(job, "state");
    return state == NULL || strcmp(state, "done") == 0 || strcmp(state, "failed") == 0 ||
           strcmp(state, "cancelled") == 0;
}

/* Adds how much of a job is done (in bytes if the total is unknown), and how fast it goes. */
static void add_progress(hac_text_table *table, const cJSON *job)
{
    char buffer[HAC_NUMBER_PRINT_MAX];
    double bytes = bytes_read(job), rate = hac_json_get_number(job, "bytes_per_second");
    if (isfinite(bytes))
        hac_text_table_add(table, hac_number_print_bytes(bytes, buffer));
    else
        add_bar(table, hac_json_get_number(job, "fraction"));
    if (isfinite(rate))
        hac_text_table_addf(table, "%s/s", hac_number_print_bytes(rate, buffer));
    else
        hac_text_table_add(table,
                           hac_number_print_rate(hac_json_get_number(job, "items_per_second"), buffer));
}

static void add_job(hac_text_table *table, const cJSON *job)
{
    char buffer[HAC_NUMBER_PRINT_MAX];
    hac_autofree char *devices = hac_json_get_joined(job, "devices");
    double id = hac_json_get_number(job, "id");
    if (isfinite(id))
        hac_text_table_addf(table, "%.0f", id);
    else
        hac_text_table_add(table, NULL);
    hac_text_table_add(table, hac_json_get_bool(job, "cancelling", false)
                                  ? "cancelling"
                                  : hac_json_get_string(job, "state"));
    hac_text_table_add(table, hac_json_get_string(job, "flow"));
    add_progress(table, job);
    hac_text_table_add(table, hac_number_print_seconds(hac_json_get_number(job, "seconds"), buffer));
    hac_text_table_add(table, hac_number_print_seconds(hac_json_get_number(job, "seconds_left"), buffer));
    hac_text_table_add(table, hac_number_print_bytes(hac_json_get_number(job, "memory_bytes"), buffer));
    hac_text_table_add(table, hac_json_get_string(job, "stage"));
    hac_text_table_add(table, devices);
    hac_text_table_add(table, hac_json_get_string(job, "name"));
}

static void add_jobs(const cJSON *look, hac_text *text)
{
    static const hac_text_column columns[] = {{"JOB", true},      {"STATE", false}, {"FLOW", false},
                                              {"DONE", false},    {"RATE", true},   {"TIME", true},
                                              {"LEFT", true},     {"MEMORY", true}, {"STAGE", false},
                                              {"DEVICES", false}, {"NAME", false}};
    hac_text_table table = HAC_TEXT_TABLE(columns);
    const cJSON *job;
    cJSON_ArrayForEach(job, hac_json_get_array(look, "jobs"))
    {
        if (!has_ended(job))
            add_job(&table, job);
    }
    hac_text_add(text, "\n");
    if (hac_text_table_rows(&table) > 0)
        hac_text_table_write(&table, text);
    else
        hac_text_add(text, "no jobs\n");
    hac_text_table_clear(&table);
}

/* Adds "640, 20 GiB": how many blocks, and their bytes. */
static void add_amount(hac_text_table *table, const cJSON *buffer, const char *count)
{
    char many[HAC_NUMBER_PRINT_MAX], bytes[HAC_NUMBER_PRINT_MAX];
    hac_text_table_addf(table, "%s, %s", hac_number_print_count(hac_json_get_number(buffer, count), many),
                        hac_number_print_bytes(hac_json_get_number(buffer, "bytes"), bytes));
}

static void add_count(hac_text_table *table, const cJSON *buffer, const char *key)
{
    char many[HAC_NUMBER_PRINT_MAX];
    hac_text_table_add(table, hac_number_print_count(hac_json_get_number(buffer, key), many));
}

/* Adds the highest fill of the WorkingBuffer. */
static void add_fill(hac_text_table *table, const cJSON *working)
{
    char fill[HAC_NUMBER_PRINT_MAX], capacity[HAC_NUMBER_PRINT_MAX];
    hac_text_table_addf(table, "%s of %s",
                        hac_number_print_bytes(hac_json_get_number(working, "highest_fill_bytes"), fill),
                        hac_number_print_bytes(hac_json_get_number(working, "capacity_bytes"), capacity));
}

/* Adds each stage's share of the time that the device worked; marks the slowest stage. */
static void add_stages(hac_text_table *table, const cJSON *device)
{
    static const char *const stages[] = {"read", "preprocess", "splice", "map"};
    const char *slowest = hac_json_get_string(device, "slowest_stage");
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        char percent[HAC_NUMBER_PRINT_MAX];
        const cJSON *stage = member(member(device, "stages"), stages[i]);
        bool slow = slowest != NULL && strcmp(slowest, stages[i]) == 0;
        hac_text_table_addf(table, "%s%s", slow ? "*" : "",
                            hac_number_print_percent(hac_json_get_number(stage, "share"), percent));
    }
}

/* Adds the four buffers and the stages between them, of a job on a device. */
static void add_buffers(hac_text_table *table, const cJSON *job, const cJSON *device)
{
    const cJSON *working = member(device, "working_buffer");
    char bytes[HAC_NUMBER_PRINT_MAX];
    hac_text_table_addf(table, "%.0f", hac_json_get_number(job, "id"));
    hac_text_table_add(table, hac_json_get_string(device, "name"));
    add_amount(table, member(device, "direct_buffer"), "data_sets");
    add_amount(table, member(device, "launching_buffer"), "blocks");
    add_fill(table, working);
    add_count(table, working, "pauses");
    add_count(table, working, "triggers");
    hac_text_table_add(
        table, hac_number_print_bytes(hac_json_get_number(member(device, "result_buffer"), "bytes"), bytes));
    add_stages(table, device);
}

static void add_splits(const cJSON *look, hac_text *text)
{
    static const hac_text_column columns[] = {{"JOB", true},      {"DEVICE", false}, {"DATA SETS", true},
                                              {"BLOCKS", true},   {"WORKING", true}, {"PAUSES", true},
                                              {"TRIGGERS", true}, {"RESULTS", true}, {"READ", true},
                                              {"PARSE", true},    {"SPLICE", true},  {"MAP", true}};
    hac_text_table table = HAC_TEXT_TABLE(columns);
    const cJSON *job, *device;
    cJSON_ArrayForEach(job, hac_json_get_array(look, "jobs"))
    {
        cJSON_ArrayForEach(device, hac_json_get_array(member(job, "splice"), "devices"))
        {
            add_buffers(&table, job, device);
        }
    }
    if (hac_text_table_rows(&table) > 0) {
        hac_text_add(text, "\n");
        hac_text_table_write(&table, text);
    }
    hac_text_table_clear(&table);
}

void hac_report_top(const cJSON *look, hac_text *text)
{
    add_head(look, text);
    add_devices(look, text);
    add_jobs(look, text);
    add_splits(look, text);
}
