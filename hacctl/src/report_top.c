/* SPDX-License-Identifier: Apache-2.0 */
#include "report_top.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grid.h"
#include "human.h"

static const cJSON *member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* ---- what follows from two looks ---------------------------------------------------------------------- */

/* The element of a list whose `key` is as that of `like`, NULL: there is none. */
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

/* Tasks of several users may be at work at the same time, on one device: then it is busy, and no more. */
static hac_status derive_device(const cJSON *before, cJSON *device, double seconds, hac_error *err)
{
    double busy = hac_read_number(device, "busy_seconds") - hac_read_number(before, "busy_seconds");
    return add_number(device, "busy_share", fmax(0, fmin(1, busy / seconds)), err);
}

/* What data sets of a job that reads splits had in all so far; NAN: it is another one. */
static double bytes_read(const cJSON *job)
{
    return hac_read_number(member(member(job, "splice"), "direct_buffer"), "bytes");
}

static hac_status derive_job(const cJSON *before, cJSON *job, double seconds, hac_error *err)
{
    double bytes = (bytes_read(job) - bytes_read(before)) / seconds;
    if (bytes >= 0)
        return add_number(job, "bytes_per_second", bytes, err);
    double done = hac_read_number(job, "fraction") - hac_read_number(before, "fraction");
    double rate = done * hac_read_number(job, "items") / seconds;
    return rate > 0 ? add_number(job, "items_per_second", rate, err) : HAC_OK;
}

hac_status hac_top_derive(const cJSON *before, cJSON *now, hac_error *err)
{
    double seconds = hac_read_number(now, "at") - hac_read_number(before, "at");
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

/* [#######---]  68 % */
static void add_bar(hac_grid *grid, double share)
{
    enum { BAR = 10 };
    char bar[BAR + 1], percent[HAC_HUMAN_MAX];
    if (!isfinite(share)) {
        hac_grid_add(grid, NULL);
        return;
    }
    share = fmax(0, fmin(1, share));
    memset(bar, '-', BAR);
    memset(bar, '#', (size_t)lround(share * BAR));
    bar[BAR] = '\0';
    snprintf(percent, sizeof percent, "%3.0f %%", share * 100);
    hac_grid_addf(grid, "[%s] %s", bar, percent);
}

static void add_head(const cJSON *look, hac_text *text)
{
    char uptime[HAC_HUMAN_MAX], used[HAC_HUMAN_MAX], kept[HAC_HUMAN_MAX], limit[HAC_HUMAN_MAX], version[64];
    const cJSON *daemon = member(look, "daemon"), *memory = member(look, "memory");
    const char *said = hac_read_string(daemon, "version");
    snprintf(version, sizeof version, "%s", said != NULL ? said : "-");
    hac_grid_sanitise(version, false);
    hac_text_addf(text, "hacd %s, up %s%s\n", version,
                  hac_human_seconds(floor(hac_read_number(daemon, "uptime_seconds")), uptime),
                  hac_read_bool(daemon, "draining", false) ? ", draining: it takes nothing new" : "");
    double jobs = hac_read_number(daemon, "jobs"), running = hac_read_number(daemon, "jobs_running");
    double connections = hac_read_number(daemon, "connections");
    if (isfinite(jobs) && isfinite(running))
        hac_text_addf(text, "jobs    %.0f running, %.0f waiting; %.0f connection%s\n", running,
                      fmax(0, jobs - running), connections, connections == 1 ? "" : "s");
    if (memory != NULL)
        hac_text_addf(text, "memory  %s in use, %s kept for reuse, of %s that you may have\n",
                      hac_human_bytes(hac_read_number(memory, "used_bytes"), used),
                      hac_human_bytes(hac_read_number(memory, "kept_bytes"), kept),
                      hac_human_bytes(hac_read_number(memory, "limit_bytes"), limit));
}

/* "job 12: merge, 4.2 s; job 13: …" */
static void add_running(hac_grid *grid, const cJSON *device)
{
    hac_text text = HAC_TEXT_NONE;
    hac_autofree char *all = NULL;
    const cJSON *task;
    cJSON_ArrayForEach(task, hac_read_array(device, "running"))
    {
        char seconds[HAC_HUMAN_MAX];
        const char *stage = hac_read_string(task, "stage");
        hac_text_addf(&text, "%sjob %.0f: %s, %s", text.bytes > 0 ? "; " : "", hac_read_number(task, "job"),
                      stage != NULL ? stage : "-",
                      hac_human_seconds(hac_read_number(task, "seconds"), seconds));
    }
    if (hac_text_finish(&text, &all, NULL, NULL) != HAC_OK)
        grid->broken = true;
    else
        hac_grid_add(grid, all);
}

static void add_devices(const cJSON *look, hac_text *text)
{
    static const hac_column columns[] = {
        {"DEVICE", false}, {"STATE", false}, {"BUSY", false}, {"RUNNING", false}};
    hac_grid grid = HAC_GRID(columns);
    const cJSON *device;
    cJSON_ArrayForEach(device, hac_read_array(look, "devices"))
    {
        hac_grid_add(&grid, hac_read_string(device, "name"));
        hac_grid_add(&grid, hac_read_string(device, "state"));
        add_bar(&grid, hac_read_number(device, "busy_share"));
        add_running(&grid, device);
    }
    hac_text_add(text, "\n");
    if (hac_grid_rows(&grid) > 0)
        hac_grid_write(&grid, text);
    else
        hac_text_add(text, "no devices; `hacctl doctor` says why\n");
    hac_grid_clear(&grid);
}

static bool has_ended(const cJSON *job)
{
    const char *state = hac_read_string(job, "state");
    return state == NULL || strcmp(state, "done") == 0 || strcmp(state, "failed") == 0 ||
           strcmp(state, "cancelled") == 0;
}

/* How much of a job is done, in bytes where nobody knows how many there will be; how fast it goes. */
static void add_progress(hac_grid *grid, const cJSON *job)
{
    char buffer[HAC_HUMAN_MAX];
    double bytes = bytes_read(job), rate = hac_read_number(job, "bytes_per_second");
    if (isfinite(bytes))
        hac_grid_add(grid, hac_human_bytes(bytes, buffer));
    else
        add_bar(grid, hac_read_number(job, "fraction"));
    if (isfinite(rate))
        hac_grid_addf(grid, "%s/s", hac_human_bytes(rate, buffer));
    else
        hac_grid_add(grid, hac_human_rate(hac_read_number(job, "items_per_second"), buffer));
}

static void add_job(hac_grid *grid, const cJSON *job)
{
    char buffer[HAC_HUMAN_MAX];
    hac_autofree char *devices = hac_read_joined(job, "devices");
    double id = hac_read_number(job, "id");
    if (isfinite(id))
        hac_grid_addf(grid, "%.0f", id);
    else
        hac_grid_add(grid, NULL);
    hac_grid_add(grid,
                 hac_read_bool(job, "cancelling", false) ? "cancelling" : hac_read_string(job, "state"));
    hac_grid_add(grid, hac_read_string(job, "flow"));
    add_progress(grid, job);
    hac_grid_add(grid, hac_human_seconds(hac_read_number(job, "seconds"), buffer));
    hac_grid_add(grid, hac_human_seconds(hac_read_number(job, "seconds_left"), buffer));
    hac_grid_add(grid, hac_human_bytes(hac_read_number(job, "memory_bytes"), buffer));
    hac_grid_add(grid, hac_read_string(job, "stage"));
    hac_grid_add(grid, devices);
    hac_grid_add(grid, hac_read_string(job, "name"));
}

static void add_jobs(const cJSON *look, hac_text *text)
{
    static const hac_column columns[] = {{"JOB", true},      {"STATE", false}, {"FLOW", false},
                                         {"DONE", false},    {"RATE", true},   {"TIME", true},
                                         {"LEFT", true},     {"MEMORY", true}, {"STAGE", false},
                                         {"DEVICES", false}, {"NAME", false}};
    hac_grid grid = HAC_GRID(columns);
    const cJSON *job;
    cJSON_ArrayForEach(job, hac_read_array(look, "jobs"))
    {
        if (!has_ended(job))
            add_job(&grid, job);
    }
    hac_text_add(text, "\n");
    if (hac_grid_rows(&grid) > 0)
        hac_grid_write(&grid, text);
    else
        hac_text_add(text, "no jobs\n");
    hac_grid_clear(&grid);
}

/* "640, 20 GiB": how many, and how much they were in all. */
static void add_amount(hac_grid *grid, const cJSON *buffer, const char *count)
{
    char many[HAC_HUMAN_MAX], bytes[HAC_HUMAN_MAX];
    hac_grid_addf(grid, "%s, %s", hac_human_count(hac_read_number(buffer, count), many),
                  hac_human_bytes(hac_read_number(buffer, "bytes"), bytes));
}

static void add_count(hac_grid *grid, const cJSON *buffer, const char *key)
{
    char many[HAC_HUMAN_MAX];
    hac_grid_add(grid, hac_human_count(hac_read_number(buffer, key), many));
}

/* How full the WorkingBuffer was at most. */
static void add_fill(hac_grid *grid, const cJSON *working)
{
    char fill[HAC_HUMAN_MAX], capacity[HAC_HUMAN_MAX];
    hac_grid_addf(grid, "%s of %s", hac_human_bytes(hac_read_number(working, "highest_fill_bytes"), fill),
                  hac_human_bytes(hac_read_number(working, "capacity_bytes"), capacity));
}

/* Shares of the time that the device was at work; the slowest stage is marked. */
static void add_stages(hac_grid *grid, const cJSON *device)
{
    static const char *const stages[] = {"read", "preprocess", "splice", "map"};
    const char *slowest = hac_read_string(device, "slowest_stage");
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        char percent[HAC_HUMAN_MAX];
        const cJSON *stage = member(member(device, "stages"), stages[i]);
        bool slow = slowest != NULL && strcmp(slowest, stages[i]) == 0;
        hac_grid_addf(grid, "%s%s", slow ? "*" : "",
                      hac_human_percent(hac_read_number(stage, "share"), percent));
    }
}

/* The four buffers and the stages between them, of a job on a device. */
static void add_buffers(hac_grid *grid, const cJSON *job, const cJSON *device)
{
    const cJSON *working = member(device, "working_buffer");
    char bytes[HAC_HUMAN_MAX];
    hac_grid_addf(grid, "%.0f", hac_read_number(job, "id"));
    hac_grid_add(grid, hac_read_string(device, "name"));
    add_amount(grid, member(device, "direct_buffer"), "data_sets");
    add_amount(grid, member(device, "launching_buffer"), "blocks");
    add_fill(grid, working);
    add_count(grid, working, "pauses");
    add_count(grid, working, "triggers");
    hac_grid_add(grid, hac_human_bytes(hac_read_number(member(device, "result_buffer"), "bytes"), bytes));
    add_stages(grid, device);
}

static void add_splits(const cJSON *look, hac_text *text)
{
    static const hac_column columns[] = {{"JOB", true},      {"DEVICE", false}, {"DATA SETS", true},
                                         {"BLOCKS", true},   {"WORKING", true}, {"PAUSES", true},
                                         {"TRIGGERS", true}, {"RESULTS", true}, {"READ", true},
                                         {"PARSE", true},    {"SPLICE", true},  {"MAP", true}};
    hac_grid grid = HAC_GRID(columns);
    const cJSON *job, *device;
    cJSON_ArrayForEach(job, hac_read_array(look, "jobs"))
    {
        cJSON_ArrayForEach(device, hac_read_array(member(job, "splice"), "devices"))
        {
            add_buffers(&grid, job, device);
        }
    }
    if (hac_grid_rows(&grid) > 0) {
        hac_text_add(text, "\n");
        hac_grid_write(&grid, text);
    }
    hac_grid_clear(&grid);
}

void hac_report_top(const cJSON *look, hac_text *text)
{
    add_head(look, text);
    add_devices(look, text);
    add_jobs(look, text);
    add_splits(look, text);
}
