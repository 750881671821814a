/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <math.h>
#include <string.h>

#include "grid.h"
#include "human.h"
#include "report_flow_c.h"
#include "report_splice.h"

/* What the daemon says, without what a terminal would obey; further lines are indented. */
static void add_lines(hac_text *text, const char *before, const char *said)
{
    hac_autofree char *copy = said != NULL && *said != '\0' ? strdup(said) : NULL;
    if (copy == NULL)
        return;
    hac_grid_sanitise(copy, true);
    hac_text_add(text, before);
    for (char *rest = copy, *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n"))
        if (*line != '\0')
            hac_text_addf(text, "%s%s", line == copy ? "" : "\n        ", line);
}

/* A device's own number where it has one, "-" otherwise. */
static void add_whole(hac_grid *grid, double number)
{
    if (isfinite(number))
        hac_grid_addf(grid, "%.0f", number);
    else
        hac_grid_add(grid, NULL);
}

static void add_rate(hac_grid *grid, double rate)
{
    char buffer[HAC_HUMAN_MAX];
    hac_grid_add(grid, rate > 0 ? hac_human_rate(rate, buffer) : NULL);
}

/* Why it cannot be used, and what it cannot do. */
static void add_device_note(hac_grid *grid, const cJSON *device)
{
    const char *reason = hac_read_string(device, "reason");
    hac_autofree char *failures = hac_read_joined(device, "codelet_failures");
    hac_autofree char *programs = hac_read_joined(device, "program_failures");
    hac_autofree char *shares = hac_read_joined(device, "shares_cores_with");
    hac_text note = HAC_TEXT_NONE;
    hac_autofree char *all = NULL;
    if (reason != NULL && *reason != '\0')
        hac_text_add(&note, reason);
    if (failures != NULL)
        hac_text_addf(&note, "%snot used for %s", note.bytes != 0 ? "; " : "", failures);
    if (programs != NULL)
        hac_text_addf(&note, "%sprograms that cannot be built: %s", note.bytes != 0 ? "; " : "", programs);
    if (shares != NULL)
        hac_text_addf(&note, "%sshares cores with %s", note.bytes != 0 ? "; " : "", shares);
    if (hac_text_finish(&note, &all, NULL, NULL) != HAC_OK)
        grid->broken = true;
    else
        hac_grid_add(grid, all);
}

void hac_report_devices(const cJSON *answer, hac_text *text)
{
    static const hac_column columns[] = {{"NAME", false},    {"STATE", false},  {"KIND", false},
                                         {"GROUP", false},   {"THREADS", true}, {"MEMORY", true},
                                         {"SORT U32", true}, {"DEVICE", false}, {"NOTE", false}};
    hac_grid grid = HAC_GRID(columns);
    const cJSON *device;
    cJSON_ArrayForEach(device, hac_read_array(answer, "devices"))
    {
        char buffer[HAC_HUMAN_MAX];
        const cJSON *capability = cJSON_GetObjectItemCaseSensitive(device, "capability");
        hac_grid_add(&grid, hac_read_string(device, "name"));
        hac_grid_add(&grid, hac_read_string(device, "state"));
        hac_grid_add(&grid, hac_read_string(device, "kind"));
        hac_grid_add(&grid, hac_read_string(device, "group"));
        double threads = hac_read_number(device, "threads"); /* 0: all of the device's */
        add_whole(&grid, threads > 0 ? threads : hac_read_number(device, "compute_units"));
        hac_grid_add(&grid, hac_human_bytes(hac_read_number(device, "memory_bytes"), buffer));
        add_rate(&grid, hac_read_number(capability, "sort.u32"));
        hac_grid_add(&grid, hac_read_string(device, "device"));
        add_device_note(&grid, device);
    }
    const char *problem = hac_read_string(answer, "problem");
    if (hac_grid_rows(&grid) > 0)
        hac_grid_write(&grid, text);
    else if (problem == NULL || *problem == '\0')
        hac_text_add(text, "no devices; `hacctl doctor` says why");
    add_lines(text, "", problem);
    if (text->bytes > 0 && text->data[text->bytes - 1] != '\n')
        hac_text_add(text, "\n");
    hac_grid_clear(&grid);
}

static const char *age(const cJSON *job, time_t now, char buffer[HAC_HUMAN_MAX])
{
    double submitted = hac_read_number(job, "submitted");
    return hac_human_seconds(submitted > 0 ? fmax(0, floor((double)now - submitted)) : NAN, buffer);
}

void hac_report_jobs(const cJSON *answer, time_t now, hac_text *text)
{
    static const hac_column columns[] = {{"JOB", true},    {"STATE", false},   {"FLOW", false},
                                         {"ITEMS", true},  {"TYPE", false},    {"AGE", true},
                                         {"TOOK", true},   {"DONE", true},     {"USER", false},
                                         {"STAGE", false}, {"DEVICES", false}, {"NAME", false}};
    hac_grid grid = HAC_GRID(columns);
    const cJSON *job;
    cJSON_ArrayForEach(job, hac_read_array(answer, "jobs"))
    {
        char buffer[HAC_HUMAN_MAX];
        hac_autofree char *devices = hac_read_joined(job, "devices");
        const cJSON *user = cJSON_GetObjectItemCaseSensitive(job, "user");
        add_whole(&grid, hac_read_number(job, "id"));
        hac_grid_add(&grid, hac_read_string(job, "state"));
        hac_grid_add(&grid, hac_read_string(job, "flow"));
        hac_grid_add(&grid, hac_human_count(hac_read_number(job, "items"), buffer));
        hac_grid_add(&grid, hac_read_string(job, "type"));
        hac_grid_add(&grid, age(job, now, buffer));
        hac_grid_add(&grid, hac_human_seconds(hac_read_number(job, "seconds"), buffer));
        hac_grid_add(&grid, hac_human_percent(hac_read_number(job, "fraction"), buffer));
        if (cJSON_IsNumber(user))
            add_whole(&grid, user->valuedouble);
        else
            hac_grid_add(&grid, hac_read_string(job, "user"));
        hac_grid_add(&grid, hac_read_string(job, "stage"));
        hac_grid_add(&grid, devices);
        hac_grid_add(&grid, hac_read_string(job, "name"));
    }
    if (hac_grid_rows(&grid) == 0)
        hac_text_add(text, "no jobs\n");
    else
        hac_grid_write(&grid, text);
    hac_grid_clear(&grid);
}

/* One line "key  value" of a field of any type; objects and empty fields are left out. */
static void add_field(hac_text *text, const cJSON *field, time_t now, const cJSON *job)
{
    char buffer[HAC_HUMAN_MAX];
    hac_autofree char *line = NULL;
    hac_text value = HAC_TEXT_NONE;
    hac_autofree char *joined = cJSON_IsArray(field) ? hac_read_joined(job, field->string) : NULL;
    if (strcmp(field->string, "submitted") == 0)
        hac_text_addf(&value, "%s ago", age(job, now, buffer));
    else if (strstr(field->string, "seconds") != NULL && cJSON_IsNumber(field))
        hac_text_add(&value, hac_human_seconds(field->valuedouble, buffer));
    else if (strstr(field->string, "bytes") != NULL && cJSON_IsNumber(field))
        hac_text_add(&value, hac_human_bytes(field->valuedouble, buffer));
    else if (strcmp(field->string, "fraction") == 0 && cJSON_IsNumber(field))
        hac_text_add(&value, hac_human_percent(field->valuedouble, buffer));
    else if (cJSON_IsNumber(field))
        hac_text_addf(&value, "%.10g", field->valuedouble);
    else if (cJSON_IsString(field) || joined != NULL)
        hac_text_add(&value, joined != NULL ? joined : field->valuestring);
    else if (cJSON_IsBool(field))
        hac_text_add(&value, cJSON_IsTrue(field) ? "yes" : "no");
    if (hac_text_finish(&value, &line, NULL, NULL) != HAC_OK || *line == '\0')
        return;
    hac_grid_sanitise(line, false);
    hac_text_addf(text, "%-20s %s\n", field->string, line);
}

/* What each device did. */
static void add_use(const cJSON *receipt, hac_text *text)
{
    static const hac_column columns[] = {{"DEVICE", false},   {"SHARE", true}, {"BUSY", true},
                                         {"PREDICTED", true}, {"TASKS", true}, {"LOST", true}};
    hac_grid grid = HAC_GRID(columns);
    const cJSON *device;
    cJSON_ArrayForEach(device, hac_read_array(receipt, "devices"))
    {
        char buffer[HAC_HUMAN_MAX];
        hac_grid_add(&grid, hac_read_string(device, "name"));
        hac_grid_add(&grid, hac_human_percent(hac_read_number(device, "share_planned"), buffer));
        hac_grid_add(&grid, hac_human_seconds(hac_read_number(device, "busy_seconds"), buffer));
        hac_grid_add(&grid, hac_human_seconds(hac_read_number(device, "predicted_seconds"), buffer));
        add_whole(&grid, hac_read_number(device, "tasks"));
        add_whole(&grid, hac_read_number(device, "tasks_lost"));
    }
    if (hac_grid_rows(&grid) > 0) {
        hac_text_add(text, "\n");
        hac_grid_write(&grid, text);
    }
    hac_grid_clear(&grid);
}

void hac_report_job(const cJSON *job, time_t now, hac_text *text)
{
    const cJSON *field, *receipt = cJSON_GetObjectItemCaseSensitive(job, "receipt");
    cJSON_ArrayForEach(field, job)
    {
        if (field->string != NULL)
            add_field(text, field, now, job);
    }
    cJSON_ArrayForEach(field, receipt)
    {
        /* `job` is the id; the log has a command of its own */
        if (field->string == NULL || cJSON_HasObjectItem(job, field->string) ||
            strcmp(field->string, "job") == 0 || strcmp(field->string, "log") == 0)
            continue;
        add_field(text, field, now, receipt);
    }
    add_use(receipt, text);
    hac_report_splice(receipt, text);
    hac_report_flow_c(cJSON_GetObjectItemCaseSensitive(receipt, "query"), text);
}

static void add_pairs(const cJSON *report, hac_text *text)
{
    static const hac_column columns[] = {
        {"TOGETHER", false}, {"TYPE", false}, {"SPEED", true}, {"NOTE", false}};
    hac_grid grid = HAC_GRID(columns);
    const cJSON *pair;
    cJSON_ArrayForEach(pair, hac_read_array(report, "pairs"))
    {
        hac_autofree char *devices = hac_read_joined(pair, "devices");
        hac_grid_add(&grid, devices);
        hac_grid_add(&grid, hac_read_string(pair, "type"));
        add_rate(&grid, hac_read_number(pair, "items_per_second"));
        hac_grid_add(&grid, hac_read_string(pair, "text"));
    }
    if (hac_grid_rows(&grid) > 0) {
        hac_text_add(text, "\n");
        hac_grid_write(&grid, text);
    }
    hac_grid_clear(&grid);
}

static void add_break_even(const cJSON *report, hac_text *text)
{
    const cJSON *size;
    const char *head = "\nBreak-even sizes of this machine:\n";
    cJSON_ArrayForEach(size, hac_read_array(report, "break_even"))
    {
        char buffer[HAC_HUMAN_MAX];
        const char *type = hac_read_string(size, "type");
        const char *said = hac_read_string(size, "text");
        double items = hac_read_number(size, "splits_from_items");
        hac_text_addf(text, "%s  %-4s  ", head, type != NULL ? type : "-");
        if (said != NULL && *said != '\0')
            hac_text_addf(text, "%s\n", said);
        else if (isfinite(items))
            hac_text_addf(text, "several devices pay from %s items\n", hac_human_count(items, buffer));
        else
            hac_text_add(text, "one device is fastest at every size\n");
        head = "";
    }
}

/* The type that was sorted, or how many keys rows were grouped by. */
static void add_kind(hac_grid *grid, const cJSON *model)
{
    char count[HAC_HUMAN_MAX], kind[HAC_HUMAN_MAX + 8];
    double keys = hac_read_number(model, "keys");
    if (!isfinite(keys)) {
        hac_grid_add(grid, hac_read_string(model, "type"));
        return;
    }
    snprintf(kind, sizeof kind, "%s keys", hac_human_count(keys, count));
    hac_grid_add(grid, kind);
}

void hac_report_models(const cJSON *report, hac_text *text)
{
    static const hac_column columns[] = {{"DEVICE", false}, {"CODELET", false}, {"TYPE", false},
                                         {"ITEMS", true},   {"TIME", true},     {"SPEED", true},
                                         {"ERROR", true}};
    hac_grid grid = HAC_GRID(columns);
    const cJSON *device, *model;
    cJSON_ArrayForEach(device, hac_read_array(report, "devices"))
    {
        cJSON_ArrayForEach(model, hac_read_array(device, "models"))
        {
            char buffer[HAC_HUMAN_MAX];
            hac_grid_add(&grid, hac_read_string(device, "name"));
            hac_grid_add(&grid, hac_read_string(model, "codelet"));
            add_kind(&grid, model);
            hac_grid_add(&grid, hac_human_count(hac_read_number(model, "items"), buffer));
            hac_grid_add(&grid, hac_human_seconds(hac_read_number(model, "seconds"), buffer));
            add_rate(&grid, hac_read_number(model, "items_per_second"));
            hac_grid_add(&grid, hac_human_percent(hac_read_number(model, "relative_error"), buffer));
        }
    }
    if (hac_grid_rows(&grid) == 0)
        hac_text_add(text, "nothing was measured\n");
    else
        hac_grid_write(&grid, text);
    hac_grid_clear(&grid);
    add_pairs(report, text);
    add_break_even(report, text);
}

enum { SETTINGS_MAX = 16 }; /* columns */

/* The columns of the settings: the plain fields of the first device, in its order. */
static size_t find_columns(const cJSON *device, hac_column columns[SETTINGS_MAX])
{
    size_t n = 0;
    const cJSON *field;
    cJSON_ArrayForEach(field, device)
    {
        if (field->string != NULL && (cJSON_IsNumber(field) || cJSON_IsString(field)) && n < SETTINGS_MAX)
            columns[n++] = (hac_column){field->string, cJSON_IsNumber(field)};
    }
    return n;
}

static void add_setting(hac_grid *grid, const cJSON *device, const char *key)
{
    char buffer[HAC_HUMAN_MAX];
    double number = hac_read_number(device, key);
    if (strstr(key, "seconds") != NULL && isfinite(number))
        hac_grid_add(grid, hac_human_seconds(number, buffer));
    else if (number == 0)
        hac_grid_add(grid, "auto");
    else if (isfinite(number))
        hac_grid_addf(grid, "%.10g", number);
    else
        hac_grid_add(grid, hac_read_string(device, key));
}

void hac_report_settings(const cJSON *report, hac_text *text)
{
    hac_column columns[SETTINGS_MAX];
    const cJSON *tuned = hac_read_array(report, "tuned"), *device;
    hac_grid grid = HAC_GRID(columns);
    grid.n_columns = find_columns(cJSON_GetArrayItem(tuned, 0), columns);
    if (grid.n_columns == 0) {
        hac_text_add(text, "nothing was tuned\n");
        return;
    }
    cJSON_ArrayForEach(device, tuned)
    {
        for (size_t i = 0; i < grid.n_columns; i++)
            add_setting(&grid, device, columns[i].header);
    }
    hac_grid_write(&grid, text);
    hac_grid_clear(&grid);
}

size_t hac_report_checks(const cJSON *answer, hac_text *text)
{
    size_t failed = 0;
    const cJSON *check;
    cJSON_ArrayForEach(check, hac_read_array(answer, "checks"))
    {
        const char *name = hac_read_string(check, "name");
        bool ok = hac_read_bool(check, "ok", false);
        failed += !ok;
        hac_text_add(text, ok ? "ok      " : "FAILED  ");
        add_lines(text, "", name != NULL ? name : "-");
        add_lines(text, ": ", hac_read_string(check, "message"));
        if (!ok)
            add_lines(text, "\n        ", hac_read_string(check, "hint"));
        hac_text_add(text, "\n");
    }
    return failed;
}
