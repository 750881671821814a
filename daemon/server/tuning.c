/* SPDX-License-Identifier: Apache-2.0 */
#include "tuning.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "server.h"

/* One line a device; later lines replace earlier ones:
 *     NAME KERNEL_HASH DRIVER threads placement style block_items work_group
 * with blanks in names replaced. A line that does not read is skipped. */
#define LINE_FORMAT "%63s %63s %63s %u %u %u %u %u"

static void tuning_path(const hac_server *server, char *ret, size_t room)
{
    snprintf(ret, room, "%s/tuning", server->options.state_directory);
}

static void without_blanks(const char *from, char *ret, size_t room)
{
    snprintf(ret, room, "%.63s", from[0] != '\0' ? from : "-");
    for (char *p = ret; *p != '\0'; p++)
        if (*p == ' ' || *p == '\t' || *p == '\n')
            *p = '_';
}

static void describe(const hac_server_device *device, char name[64], char hash[64], char driver[64])
{
    without_blanks(device->config.name, name, 64);
    without_blanks(device->kernel_hash, hash, 64);
    without_blanks(device->driver, driver, 64);
}

static void apply_line(hac_devices *devices, const char *line)
{
    char name[64], hash[64], driver[64], own_name[64], own_hash[64], own_driver[64];
    hac_device_tuning t = {0, 0, 0, 0, 0};
    if (sscanf(line, LINE_FORMAT, name, hash, driver, &t.threads, &t.placement, &t.style, &t.block_items,
               &t.work_group) != 8)
        return;
    if (t.threads > 4096 || t.placement > HAC_PLACEMENT_SPREAD || t.style > HAC_STYLE_CHOICE_SIMT ||
        t.block_items > 1u << 24 || t.work_group > 1u << 16)
        return;
    for (uint32_t i = 0; i < devices->count; i++) {
        hac_server_device *device = devices->items[i];
        describe(device, own_name, own_hash, own_driver);
        if (strcmp(name, own_name) == 0 && strcmp(hash, own_hash) == 0 && strcmp(driver, own_driver) == 0)
            hac_device_retune(device, &t);
    }
}

void hac_tuning_load(const hac_server *server, hac_devices *devices)
{
    char path[PATH_MAX + 16], line[512];
    tuning_path(server, path, sizeof path);
    hac_autofclose FILE *file = fopen(path, "re");
    for (int i = 0; file != NULL && i < 10000 && fgets(line, sizeof line, file) != NULL; i++)
        apply_line(devices, line);
}

void hac_tuning_apply(hac_server *server, uint32_t index, const hac_device_tuning *tuning)
{
    hac_device_retune(server->devices.items[index], tuning);
    hac_executors_leave_device(&server->executors, index);
    server->machine_stale = true;
}

void hac_tuning_keep(hac_server *server, uint32_t index)
{
    char path[PATH_MAX + 16], name[64], hash[64], driver[64];
    const hac_server_device *device = server->devices.items[index];
    tuning_path(server, path, sizeof path);
    describe(device, name, hash, driver);
    hac_autofclose FILE *file = fopen(path, "ae");
    if (file == NULL || fprintf(file, "%s %s %s %u %u %u %u %u\n", name, hash, driver, device->tuning.threads,
                                device->tuning.placement, device->tuning.style, device->tuning.block_items,
                                device->tuning.work_group) < 0)
        hac_log_record(HAC_LOG_WARNING, HAC_EVENT_STATE, NULL, "cannot keep what tune found in %s", path);
}
