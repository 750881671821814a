/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_meta [--quiet] FILE…: one line of JSON for each file: the result of hac_parquet_describe, or
 * {"error": "…"}. Quiet: only the numbers of leaves and row groups, so that the memory is that of the
 * footer. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "parquet/file.h"

static uint64_t peak_bytes(void)
{
    unsigned long kilobytes = 0;
    hac_autofclose FILE *status = fopen("/proc/self/status", "re");
    char line[256];
    while (status != NULL && kilobytes == 0 && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            kilobytes = strtoul(line + 6, NULL, 10);
    return kilobytes * UINT64_C(1024);
}

static void count(const hac_parquet_file *file, hac_text *text)
{
    hac_json_open(text, NULL, '{');
    hac_json_unsigned(text, "leaves", file->n_leaves);
    hac_json_unsigned(text, "groups", file->n_groups);
    hac_json_unsigned(text, "peak_bytes", peak_bytes());
    hac_json_close(text, '}');
}

static void describe(const char *path, bool quiet, hac_text *text)
{
    hac_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        perror(path);
        exit(2);
    }
    const hac_parquet_place place = {.fd = fd, .bytes = (uint64_t)st.st_size};
    hac_parquet_file *file = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_parquet_open(&place, NULL, &file, &err) == HAC_OK) {
        (quiet ? count : hac_parquet_describe)(file, text);
    } else {
        hac_json_open(text, NULL, '{');
        hac_json_string(text, "error", err.message);
        hac_json_unsigned(text, "peak_bytes", peak_bytes());
        hac_json_close(text, '}');
    }
    hac_parquet_close(file);
}

int main(int argc, char **argv)
{
    bool quiet = argc > 1 && strcmp(argv[1], "--quiet") == 0;
    for (int i = 1 + quiet; i < argc; i++) {
        hac_text text = HAC_TEXT_NONE;
        describe(argv[i], quiet, &text);
        hac_autofree char *json = NULL;
        hac_error err = HAC_ERROR_NONE;
        if (hac_text_finish(&text, &json, NULL, &err) != HAC_OK) {
            fprintf(stderr, "%s: %s\n", argv[i], err.message);
            return 2;
        }
        puts(json);
    }
    return 0;
}
