/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_meta FILE…: a line of JSON each, what hac_parquet_describe says or {"error": "…"}. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "parquet/file.h"

static void describe(const char *path, hac_text *text)
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
        hac_parquet_describe(file, text);
    } else {
        hac_json_open(text, NULL, '{');
        hac_json_string(text, "error", err.message);
        hac_json_close(text, '}');
    }
    hac_parquet_close(file);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        hac_text text = HAC_TEXT_NONE;
        describe(argv[i], &text);
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
