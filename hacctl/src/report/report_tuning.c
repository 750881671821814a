/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl tune. */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text/number_print.h"
#include "text/text_table.h"

/* "threads and placement: the present setting stays: ...", and what each candidate took */
static void add_contest(const cJSON *contest, hac_text *text)
{
    const cJSON *tried, *list = hac_json_get_array(contest, "tried");
    hac_text_add_lines(text, "  ", hac_json_get_string(contest, "subject"));
    hac_text_add_lines(text, " (present: ", hac_json_get_string(contest, "present"));
    hac_text_add_lines(text, "): ", hac_json_get_string(contest, "verdict"));
    hac_text_add(text, "\n");
    cJSON_ArrayForEach(tried, list)
    {
        double time = hac_json_get_number(tried, "time");
        hac_text_add_lines(text, "    ", hac_json_get_string(tried, "setting"));
        if (isfinite(time))
            hac_text_addf(text, ": time × %.2f in two visits\n", time);
        else
            hac_text_add(text, ": cannot run all workloads\n");
    }
}

void hac_report_search(const cJSON *report, hac_text *text)
{
    const cJSON *device, *contest;
    cJSON_ArrayForEach(device, hac_json_get_array(report, "devices"))
    {
        double gain = hac_json_get_number(device, "gain");
        hac_text_add_lines(text, "", hac_json_get_string(device, "name"));
        if (hac_json_get_bool(device, "kept", false) && isfinite(gain))
            hac_text_addf(text, ": other settings are kept, %.2f times as fast\n", gain);
        else
            hac_text_add(text, ": the settings stay as they are\n");
        cJSON_ArrayForEach(contest, hac_json_get_array(device, "contests")) add_contest(contest, text);
    }
    if (text->bytes == 0)
        hac_text_add(text, "no device was tuned\n");
}

static bool is_named(const cJSON *device, const char *const *names, size_t n_names)
{
    const char *name = hac_json_get_string(device, "name");
    for (size_t i = 0; i < n_names; i++)
        if (name != NULL && strcmp(name, names[i]) == 0)
            return true;
    return n_names == 0;
}

/* "2 (tune)" */
static void add_setting(hac_text_table *table, const cJSON *device, const char *key)
{
    const cJSON *from = cJSON_GetObjectItemCaseSensitive(device, "from");
    const char *word = hac_json_get_string(device, key), *source = hac_json_get_string(from, key);
    double number = hac_json_get_number(device, key);
    char value[64];
    if (word != NULL)
        snprintf(value, sizeof value, "%.40s", word);
    else if (number > 0)
        snprintf(value, sizeof value, "%.10g", number);
    else
        snprintf(value, sizeof value, "auto");
    hac_text_table_addf(table, "%s (%s)", value, source != NULL ? source : "-");
}

void hac_report_settings(const cJSON *answer, const char *const *names, size_t n_names, hac_text *text)
{
    static const hac_text_column columns[] = {{"NAME", false},  {"THREADS", false},     {"PLACEMENT", false},
                                              {"STYLE", false}, {"BLOCK ITEMS", false}, {"WORK GROUP", false},
                                              {"STEPS", true},  {"LAST GAIN", true}};
    static const char *const keys[] = {"threads", "placement", "style", "block_items", "work_group"};
    hac_text_table table = HAC_TEXT_TABLE(columns);
    const cJSON *device;
    cJSON_ArrayForEach(device, hac_json_get_array(answer, "devices"))
    {
        double gain = hac_json_get_number(device, "gain");
        if (!is_named(device, names, n_names))
            continue;
        hac_text_table_add(&table, hac_json_get_string(device, "name"));
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            add_setting(&table, device, keys[i]);
        hac_text_table_add_whole(&table, hac_json_get_number(device, "steps"));
        if (isfinite(gain))
            hac_text_table_addf(&table, "%.2f", gain);
        else
            hac_text_table_add(&table, "-");
    }
    if (hac_text_table_rows(&table) > 0)
        hac_text_table_write(&table, text);
    else
        hac_text_add(text, "no such device; `hacctl devices` lists them\n");
    hac_text_table_clear(&table);
}
