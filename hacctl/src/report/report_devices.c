/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl devices and doctor. */
#include "report.h"

#include <math.h>
#include <string.h>

#include "text/number_print.h"
#include "text/text_table.h"

/* Adds why a device cannot be used, or what it cannot do. */
static void add_device_note(hac_text_table *table, const cJSON *device)
{
    const char *reason = hac_json_get_string(device, "reason");
    const char *calibration = hac_json_get_string(device, "calibration");
    hac_autofree char *failures = hac_json_get_joined(device, "codelet_failures");
    hac_autofree char *programs = hac_json_get_joined(device, "program_failures");
    hac_autofree char *shares = hac_json_get_joined(device, "shares_cores_with");
    hac_text note = HAC_TEXT_NONE;
    hac_autofree char *all = NULL;
    if (reason != NULL && *reason != '\0')
        hac_text_add(&note, reason);
    if (failures != NULL)
        hac_text_addf(&note, "%snot used for %s", note.bytes != 0 ? "; " : "", failures);
    if (programs != NULL)
        hac_text_addf(&note, "%sprograms that cannot be built: %s", note.bytes != 0 ? "; " : "", programs);
    if (calibration != NULL && (strcmp(calibration, "waiting") == 0 || strcmp(calibration, "measuring") == 0))
        hac_text_addf(&note, "%s%s", note.bytes != 0 ? "; " : "",
                      strcmp(calibration, "waiting") == 0 ? "not measured yet: hacd does that when it is idle"
                                                          : "hacd is measuring it");
    if (shares != NULL)
        hac_text_addf(&note, "%sshares cores with %s", note.bytes != 0 ? "; " : "", shares);
    if (hac_text_finish(&note, &all, NULL, NULL) != HAC_OK)
        table->broken = true;
    else
        hac_text_table_add(table, all);
}

void hac_report_devices(const cJSON *answer, hac_text *text)
{
    static const hac_text_column columns[] = {{"NAME", false},    {"STATE", false},  {"KIND", false},
                                              {"GROUP", false},   {"THREADS", true}, {"MEMORY", true},
                                              {"SORT U32", true}, {"DEVICE", false}, {"NOTE", false}};
    hac_text_table table = HAC_TEXT_TABLE(columns);
    const cJSON *device;
    cJSON_ArrayForEach(device, hac_json_get_array(answer, "devices"))
    {
        char buffer[HAC_NUMBER_PRINT_MAX];
        const cJSON *capability = cJSON_GetObjectItemCaseSensitive(device, "capability");
        hac_text_table_add(&table, hac_json_get_string(device, "name"));
        hac_text_table_add(&table, hac_json_get_string(device, "state"));
        hac_text_table_add(&table, hac_json_get_string(device, "kind"));
        hac_text_table_add(&table, hac_json_get_string(device, "group"));
        double threads = hac_json_get_number(device, "threads"); /* 0: all threads of the device */
        hac_text_table_add_whole(&table,
                                 threads > 0 ? threads : hac_json_get_number(device, "compute_units"));
        hac_text_table_add(&table,
                           hac_number_print_bytes(hac_json_get_number(device, "memory_bytes"), buffer));
        hac_text_table_add_rate(&table, hac_json_get_number(capability, "sort.u32"));
        hac_text_table_add(&table, hac_json_get_string(device, "device"));
        add_device_note(&table, device);
    }
    const char *problem = hac_json_get_string(answer, "problem");
    if (hac_text_table_rows(&table) > 0)
        hac_text_table_write(&table, text);
    else if (problem == NULL || *problem == '\0')
        hac_text_add(text, "no devices; `hacctl doctor` says why");
    hac_text_add_lines(text, "", problem);
    if (text->bytes > 0 && text->data[text->bytes - 1] != '\n')
        hac_text_add(text, "\n");
    hac_text_table_clear(&table);
}

size_t hac_report_checks(const cJSON *answer, hac_text *text)
{
    size_t failed = 0;
    const cJSON *check;
    cJSON_ArrayForEach(check, hac_json_get_array(answer, "checks"))
    {
        const char *name = hac_json_get_string(check, "name");
        bool ok = hac_json_get_bool(check, "ok", false);
        failed += !ok;
        hac_text_add(text, ok ? "ok      " : "FAILED  ");
        hac_text_add_lines(text, "", name != NULL ? name : "-");
        hac_text_add_lines(text, ": ", hac_json_get_string(check, "message"));
        if (!ok)
            hac_text_add_lines(text, "\n        ", hac_json_get_string(check, "hint"));
        hac_text_add(text, "\n");
    }
    return failed;
}
