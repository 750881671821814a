/* SPDX-License-Identifier: Apache-2.0 */
#include "image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "program_file.h"

#define TEXT_MAX  4096
#define VALUE_MAX 128

static const char magic[8] = {'H', 'A', 'C', 'I', 'M', 'A', 'G', '1'};

typedef struct image_header {
    char magic[8];
    uint32_t text_bytes, programs;
    uint64_t checksum;
} image_header;

_Static_assert(sizeof(image_header) == 24, "no padding: it is written as it is");

/* All that kernels may have been specialised for; *ret is malloc'ed. */
static hac_status image_text(const hac_device_facts *f, const char *kernels, char **ret, hac_error *err)
{
    int n = asprintf(ret,
                     "device: %s\nplatform: %s\ndriver: %s\nkernels: %s\nstyle: %s\nwork_group: %u\n"
                     "block_items: %u\nmax_loop_iterations: %u\nlocal_memory: %llu\n",
                     f->name, f->platform, f->driver, kernels, f->style == HAC_STYLE_SIMT ? "simt" : "block",
                     f->max_work_group, f->block_items, f->max_loop_iterations,
                     (unsigned long long)f->local_memory);
    return n < 0 ? hac_fail_no_memory(err) : HAC_OK;
}

bool hac_image_is_ours(const uint8_t *data, size_t bytes)
{
    return bytes >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

/* The value of line `name` of a text, made printable; "?" if there is no such line. */
static const char *value_of(const char *text, size_t bytes, const char *name, char ret[VALUE_MAX])
{
    size_t length = strlen(name);
    snprintf(ret, VALUE_MAX, "?");
    for (size_t at = 0; at < bytes;) {
        const char *end = memchr(text + at, '\n', bytes - at);
        size_t line = end != NULL ? (size_t)(end - text) - at : bytes - at;
        if (line > length + 2 && memcmp(text + at, name, length) == 0 &&
            memcmp(text + at + length, ": ", 2) == 0) {
            snprintf(ret, VALUE_MAX, "%.*s", (int)(line - length - 2), text + at + length + 2);
            break;
        }
        at += line + 1;
    }
    for (char *c = ret; *c != '\0'; c++)
        *c = *c < ' ' || *c > '~' ? '?' : *c;
    return ret;
}

/* The first line in which the texts differ. */
static hac_status fail_other(const char *path, const char *text, size_t bytes, const char *here,
                             hac_error *err)
{
    static const char *const names[] = {"device",      "platform",   "driver",      "kernels",
                                        "style",       "work_group", "block_items", "max_loop_iterations",
                                        "local_memory"};
    char there_value[VALUE_MAX], here_value[VALUE_MAX];
    size_t i = 0;
    while (i + 1 < sizeof names / sizeof *names &&
           strcmp(value_of(text, bytes, names[i], there_value),
                  value_of(here, strlen(here), names[i], here_value)) == 0)
        i++;
    value_of(text, bytes, names[i], there_value);
    value_of(here, strlen(here), names[i], here_value);
    return hac_fail(err, HAC_UNSUPPORTED,
                    "%s was built for %s \"%s\", here it is \"%s\"; build it again with `hacctl kernels "
                    "build`",
                    path, i == 3 ? "kernels of version" : names[i], there_value, here_value);
}

static hac_status check_entries(const uint8_t *data, size_t bytes, const char *path, size_t at,
                                uint32_t programs, hac_error *err)
{
    hac_program_entry entry;
    for (uint32_t i = 0; i < programs; i++)
        if (hac_program_entry_read(data, bytes, &at, &entry) != HAC_OK)
            return hac_fail(err, HAC_FAILED, "%s is damaged or not whole: program %u of %u cannot be read",
                            path, i + 1, programs);
    if (at != bytes)
        return hac_fail(err, HAC_FAILED, "%s is damaged: %zu bytes follow its last program", path,
                        bytes - at);
    return HAC_OK;
}

hac_status hac_image_check(const uint8_t *data, size_t bytes, const char *path, const hac_device_facts *facts,
                           const char *kernels, size_t *ret_entries, hac_error *err)
{
    image_header header;
    hac_autofree char *here = NULL;
    if (bytes < sizeof header)
        return hac_fail(err, HAC_FAILED, "%s is not whole: %zu bytes", path, bytes);
    memcpy(&header, data, sizeof header);
    const char *text = (const char *)data + sizeof header;
    if (header.text_bytes > TEXT_MAX || header.text_bytes > bytes - sizeof header ||
        XXH3_64bits(text, header.text_bytes) != header.checksum)
        return hac_fail(err, HAC_FAILED, "%s is damaged or not whole: its head cannot be read", path);
    hac_status status = image_text(facts, kernels, &here, err);
    if (status != HAC_OK)
        return status;
    if (strlen(here) != header.text_bytes || memcmp(here, text, header.text_bytes) != 0)
        return fail_other(path, text, header.text_bytes, here, err);
    *ret_entries = sizeof header + header.text_bytes;
    return check_entries(data, bytes, path, *ret_entries, header.programs, err);
}

hac_status hac_image_header(const hac_device_facts *facts, const char *kernels, uint32_t programs,
                            uint8_t **ret, size_t *ret_bytes, hac_error *err)
{
    hac_autofree char *text = NULL;
    hac_status status = image_text(facts, kernels, &text, err);
    if (status != HAC_OK)
        return status;
    size_t bytes = strlen(text);
    image_header header = {
        .text_bytes = (uint32_t)bytes, .programs = programs, .checksum = XXH3_64bits(text, bytes)};
    memcpy(header.magic, magic, sizeof magic);
    uint8_t *data = malloc(sizeof header + bytes);
    if (data == NULL)
        return hac_fail_no_memory(err);
    memcpy(data, &header, sizeof header);
    memcpy(data + sizeof header, text, bytes);
    *ret = data;
    *ret_bytes = sizeof header + bytes;
    return HAC_OK;
}
