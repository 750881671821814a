/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl jobs and show. */
#include "report.h"

#include <math.h>
#include <string.h>

#include "report_hash.h"
#include "report_splice.h"
#include "text/number_print.h"
#include "text/text_table.h"

static const char *age(const cJSON *job, time_t now, char buffer[HAC_NUMBER_PRINT_MAX])
{
    double submitted = hac_json_get_number(job, "submitted");
    return hac_number_print_seconds(submitted > 0 ? fmax(0, floor((double)now - submitted)) : NAN, buffer);
}

static const cJSON *find_job(const cJSON *jobs, double id)
{
    const cJSON *job;
    cJSON_ArrayForEach(job, jobs)
    {
        if (hac_json_get_number(job, "id") == id)
            return job;
    }
    return NULL;
}

/* "└ edges.txt" below its run; "edges.txt (part of job 2)" if that run is not listed. */
static void add_name(hac_text_table *table, const cJSON *job, bool under)
{
    const char *name = hac_json_get_string(job, "name");
    double run = hac_json_get_number(job, "part_of");
    if (under)
        hac_text_table_addf(table, "└ %s", name != NULL ? name : "");
    else if (!isfinite(run))
        hac_text_table_add(table, name);
    else if (name == NULL || *name == '\0')
        hac_text_table_addf(table, "(part of job %.10g)", run);
    else
        hac_text_table_addf(table, "%s (part of job %.10g)", name, run);
}

/* `under`: a part of a run of a logic file, below the run's line. */
static void add_job(hac_text_table *table, const cJSON *job, time_t now, bool under)
{
    char buffer[HAC_NUMBER_PRINT_MAX];
    hac_autofree char *devices = hac_json_get_joined(job, "devices");
    const cJSON *user = cJSON_GetObjectItemCaseSensitive(job, "user");
    hac_text_table_add_whole(table, hac_json_get_number(job, "id"));
    hac_text_table_add(table, hac_json_get_string(job, "state"));
    hac_text_table_add(table, hac_json_get_string(job, "flow"));
    hac_text_table_add(table, hac_number_print_count(hac_json_get_number(job, "items"), buffer));
    hac_text_table_add(table, hac_json_get_string(job, "type"));
    hac_text_table_add(table, age(job, now, buffer));
    hac_text_table_add(table, hac_number_print_seconds(hac_json_get_number(job, "seconds"), buffer));
    hac_text_table_add(table, hac_number_print_percent(hac_json_get_number(job, "fraction"), buffer));
    if (cJSON_IsNumber(user))
        hac_text_table_add_whole(table, user->valuedouble);
    else
        hac_text_table_add(table, hac_json_get_string(job, "user"));
    hac_text_table_add(table, hac_json_get_string(job, "stage"));
    hac_text_table_add(table, devices);
    add_name(table, job, under);
}

static void add_parts(hac_text_table *table, const cJSON *jobs, const cJSON *run, time_t now)
{
    const cJSON *job;
    double id = hac_json_get_number(run, "id");
    cJSON_ArrayForEach(job, jobs)
    {
        if (hac_json_get_number(job, "part_of") == id)
            add_job(table, job, now, true);
    }
}

void hac_report_jobs(const cJSON *answer, time_t now, hac_text *text)
{
    static const hac_text_column columns[] = {{"JOB", true},    {"STATE", false},   {"FLOW", false},
                                              {"ITEMS", true},  {"TYPE", false},    {"AGE", true},
                                              {"TOOK", true},   {"DONE", true},     {"USER", false},
                                              {"STAGE", false}, {"DEVICES", false}, {"NAME", false}};
    hac_text_table table = HAC_TEXT_TABLE(columns);
    const cJSON *job, *jobs = hac_json_get_array(answer, "jobs");
    cJSON_ArrayForEach(job, jobs)
    {
        double run = hac_json_get_number(job, "part_of");
        if (isfinite(run) && find_job(jobs, run) != NULL)
            continue;
        add_job(&table, job, now, false);
        const char *flow = hac_json_get_string(job, "flow");
        if (flow != NULL && strcmp(flow, "opsplit") == 0)
            add_parts(&table, jobs, job, now);
    }
    if (hac_text_table_rows(&table) == 0)
        hac_text_add(text, "no jobs\n");
    else
        hac_text_table_write(&table, text);
    hac_text_table_clear(&table);
}

/* Adds a line "key  value" for a field of any type; leaves out objects and empty fields. */
static void add_field(hac_text *text, const cJSON *field, time_t now, const cJSON *job)
{
    char buffer[HAC_NUMBER_PRINT_MAX];
    hac_autofree char *line = NULL;
    hac_text value = HAC_TEXT_NONE;
    hac_autofree char *joined = cJSON_IsArray(field) ? hac_json_get_joined(job, field->string) : NULL;
    if (strcmp(field->string, "submitted") == 0)
        hac_text_addf(&value, "%s ago", age(job, now, buffer));
    else if (strstr(field->string, "seconds") != NULL && cJSON_IsNumber(field))
        hac_text_add(&value, hac_number_print_seconds(field->valuedouble, buffer));
    else if (strstr(field->string, "bytes") != NULL && cJSON_IsNumber(field))
        hac_text_add(&value, hac_number_print_bytes(field->valuedouble, buffer));
    else if (strcmp(field->string, "fraction") == 0 && cJSON_IsNumber(field))
        hac_text_add(&value, hac_number_print_percent(field->valuedouble, buffer));
    else if (cJSON_IsNumber(field))
        hac_text_addf(&value, "%.10g", field->valuedouble);
    else if (cJSON_IsString(field) || joined != NULL)
        hac_text_add(&value, joined != NULL ? joined : field->valuestring);
    else if (cJSON_IsBool(field))
        hac_text_add(&value, cJSON_IsTrue(field) ? "yes" : "no");
    if (hac_text_finish(&value, &line, NULL, NULL) != HAC_OK || *line == '\0')
        return;
    hac_text_table_sanitise(line, false);
    hac_text_addf(text, "%-20s %s\n", field->string, line);
}

/* "3 in block kernels, 1 in host C on any core of the host" */
static void add_engines(hac_text_table *table, const cJSON *device)
{
    const cJSON *engine;
    hac_text text = HAC_TEXT_NONE;
    hac_autofree char *all = NULL;
    cJSON_ArrayForEach(engine, hac_json_get_array(device, "engines"))
    {
        const char *name = hac_json_get_string(engine, "engine"),
                   *cores = hac_json_get_string(engine, "runs_on");
        hac_text_addf(&text, "%s%.10g in %s on %s", text.bytes > 0 ? ", " : "",
                      hac_json_get_number(engine, "tasks"), name != NULL ? name : "-",
                      cores != NULL ? cores : "-");
    }
    if (hac_text_finish(&text, &all, NULL, NULL) != HAC_OK)
        table->broken = true;
    else
        hac_text_table_add(table, *all != '\0' ? all : NULL);
}

/* Adds what each device did. */
static void add_use(const cJSON *receipt, hac_text *text)
{
    static const hac_text_column columns[] = {{"DEVICE", false},   {"SHARE", true}, {"BUSY", true},
                                              {"PREDICTED", true}, {"TASKS", true}, {"LOST", true},
                                              {"ENGINES", false}};
    hac_text_table table = HAC_TEXT_TABLE(columns);
    const cJSON *device;
    cJSON_ArrayForEach(device, hac_json_get_array(receipt, "devices"))
    {
        char buffer[HAC_NUMBER_PRINT_MAX];
        hac_text_table_add(&table, hac_json_get_string(device, "name"));
        hac_text_table_add(&table,
                           hac_number_print_percent(hac_json_get_number(device, "share_planned"), buffer));
        hac_text_table_add(&table,
                           hac_number_print_seconds(hac_json_get_number(device, "busy_seconds"), buffer));
        hac_text_table_add(
            &table, hac_number_print_seconds(hac_json_get_number(device, "predicted_seconds"), buffer));
        hac_text_table_add_whole(&table, hac_json_get_number(device, "tasks"));
        hac_text_table_add_whole(&table, hac_json_get_number(device, "tasks_lost"));
        add_engines(&table, device);
    }
    if (hac_text_table_rows(&table) > 0) {
        hac_text_add(text, "\n");
        hac_text_table_write(&table, text);
    }
    hac_text_table_clear(&table);
}

/* Adds what the sub-operators of a logic file have done so far, in all graphs. */
static void add_totals(const cJSON *receipt, hac_text *text)
{
    static const hac_text_column columns[] = {{"SUB-OPERATOR", false}, {"CODELET", false}, {"TASKS", true},
                                              {"BY KERNELS", true},    {"ROWS", true},     {"BYTES", true},
                                              {"BUSY", true},          {"DEVICES", false}};
    const cJSON *total, *opsplit = cJSON_GetObjectItemCaseSensitive(receipt, "opsplit");
    hac_text_table table = HAC_TEXT_TABLE(columns);
    cJSON_ArrayForEach(total, hac_json_get_array(opsplit, "totals"))
    {
        char buffer[HAC_NUMBER_PRINT_MAX];
        hac_autofree char *devices = hac_json_get_joined(total, "devices");
        hac_text_table_add(&table, hac_json_get_string(total, "name"));
        hac_text_table_add(&table, hac_json_get_string(total, "codelet"));
        hac_text_table_add_whole(&table, hac_json_get_number(total, "tasks"));
        hac_text_table_add_whole(&table, hac_json_get_number(total, "kernel_tasks"));
        hac_text_table_add_whole(&table, hac_json_get_number(total, "rows"));
        hac_text_table_add(&table, hac_number_print_bytes(hac_json_get_number(total, "bytes"), buffer));
        hac_text_table_add(&table, hac_number_print_seconds(hac_json_get_number(total, "seconds"), buffer));
        hac_text_table_add(&table, devices);
    }
    if (hac_text_table_rows(&table) > 0) {
        hac_text_add(text, "\n");
        hac_text_table_write(&table, text);
    }
    hac_text_table_clear(&table);
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
        /* `job` repeats the id; the log has a command of its own */
        if (field->string == NULL || cJSON_HasObjectItem(job, field->string) ||
            strcmp(field->string, "job") == 0 || strcmp(field->string, "log") == 0)
            continue;
        add_field(text, field, now, receipt);
    }
    add_use(receipt, text);
    add_totals(receipt, text);
    hac_report_splice(receipt, text);
    hac_report_hash(cJSON_GetObjectItemCaseSensitive(receipt, "query"), text);
}
