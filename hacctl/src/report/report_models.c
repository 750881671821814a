/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl calibrate. */
#include "report.h"

#include <math.h>
#include <string.h>

#include "text/number_print.h"
#include "text/text_table.h"

static void add_pairs(const cJSON *report, hac_text *text)
{
    static const hac_text_column columns[] = {
        {"TOGETHER", false}, {"TYPE", false}, {"SPEED", true}, {"NOTE", false}};
    hac_text_table table = HAC_TEXT_TABLE(columns);
    const cJSON *pair;
    cJSON_ArrayForEach(pair, hac_json_get_array(report, "pairs"))
    {
        hac_autofree char *devices = hac_json_get_joined(pair, "devices");
        hac_text_table_add(&table, devices);
        hac_text_table_add(&table, hac_json_get_string(pair, "type"));
        hac_text_table_add_rate(&table, hac_json_get_number(pair, "items_per_second"));
        hac_text_table_add(&table, hac_json_get_string(pair, "text"));
    }
    if (hac_text_table_rows(&table) > 0) {
        hac_text_add(text, "\n");
        hac_text_table_write(&table, text);
    }
    hac_text_table_clear(&table);
}

static void add_break_even(const cJSON *report, hac_text *text)
{
    const cJSON *size;
    const char *head = "\nBreak-even sizes of this machine:\n";
    cJSON_ArrayForEach(size, hac_json_get_array(report, "break_even"))
    {
        char buffer[HAC_NUMBER_PRINT_MAX];
        const char *type = hac_json_get_string(size, "type");
        const char *said = hac_json_get_string(size, "text");
        double items = hac_json_get_number(size, "splits_from_items");
        hac_text_addf(text, "%s  %-4s  ", head, type != NULL ? type : "-");
        if (said != NULL && *said != '\0')
            hac_text_addf(text, "%s\n", said);
        else if (isfinite(items))
            hac_text_addf(text, "several devices are faster from %s items on\n",
                          hac_number_print_count(items, buffer));
        else
            hac_text_add(text, "one device is fastest at every size\n");
        head = "";
    }
}

/* Adds the type that was sorted, or the number of keys that rows were grouped by. */
static void add_kind(hac_text_table *table, const cJSON *model)
{
    char count[HAC_NUMBER_PRINT_MAX], kind[HAC_NUMBER_PRINT_MAX + 8];
    double keys = hac_json_get_number(model, "keys");
    if (!isfinite(keys)) {
        hac_text_table_add(table, hac_json_get_string(model, "type"));
        return;
    }
    snprintf(kind, sizeof kind, "%s keys", hac_number_print_count(keys, count));
    hac_text_table_add(table, kind);
}

void hac_report_models(const cJSON *report, hac_text *text)
{
    static const hac_text_column columns[] = {{"DEVICE", false}, {"CODELET", false}, {"TYPE", false},
                                              {"ITEMS", true},   {"TIME", true},     {"SPEED", true},
                                              {"ERROR", true}};
    hac_text_table table = HAC_TEXT_TABLE(columns);
    const cJSON *device, *model;
    cJSON_ArrayForEach(device, hac_json_get_array(report, "devices"))
    {
        cJSON_ArrayForEach(model, hac_json_get_array(device, "models"))
        {
            char buffer[HAC_NUMBER_PRINT_MAX];
            hac_text_table_add(&table, hac_json_get_string(device, "name"));
            hac_text_table_add(&table, hac_json_get_string(model, "codelet"));
            add_kind(&table, model);
            hac_text_table_add(&table, hac_number_print_count(hac_json_get_number(model, "items"), buffer));
            hac_text_table_add(&table,
                               hac_number_print_seconds(hac_json_get_number(model, "seconds"), buffer));
            hac_text_table_add_rate(&table, hac_json_get_number(model, "items_per_second"));
            hac_text_table_add(
                &table, hac_number_print_percent(hac_json_get_number(model, "relative_error"), buffer));
        }
    }
    if (hac_text_table_rows(&table) == 0)
        hac_text_add(text, "nothing was measured\n");
    else
        hac_text_table_write(&table, text);
    hac_text_table_clear(&table);
    add_pairs(report, text);
    add_break_even(report, text);
}
