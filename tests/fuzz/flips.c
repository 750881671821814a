/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flips [STEP] FOLDER…: runs a fuzz target over every file there, with each of its last 1024 bytes changed in
 * several ways, one at a time, and cut off at every 1/64th. STEP, a number: instead every so manieth byte of
 * the whole file. A folder that is not there is said to be skipped.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define FILE_BYTES (64u * 1024) /* larger ones are left out: a copy is made for every change */
#define FLIPPED    1024

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static unsigned long runs;
static size_t step; /* 0: the last bytes, each of them */

static void run(const uint8_t *data, size_t bytes)
{
    (void)LLVMFuzzerTestOneInput(data, bytes);
    runs++;
}

static void change(uint8_t *data, size_t bytes)
{
    static const uint8_t masks[] = {0x01, 0x10, 0x80, 0xff};
    for (size_t i = bytes > FLIPPED && step == 0 ? bytes - FLIPPED : 0; i<bytes; i += step> 0 ? step : 1) {
        uint8_t whole = data[i];
        for (size_t m = 0; m < sizeof masks; m++) {
            data[i] = whole ^ masks[m];
            run(data, bytes);
        }
        data[i] = whole;
    }
    for (size_t i = 0; i <= 64; i++)
        run(data, bytes * i / 64);
}

static void change_file(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    hac_autofclose FILE *file = fopen(path, "rbe");
    hac_autofree uint8_t *data = malloc(FILE_BYTES + 1);
    size_t bytes = file != NULL && data != NULL ? fread(data, 1, FILE_BYTES + 1, file) : 0;
    if (bytes > 0 && bytes <= FILE_BYTES)
        change(data, bytes);
}

static void change_files(const char *name)
{
    const char *data = getenv("HAC_TEST_DATA");
    char path[2048];
    if (*name == '@')
        snprintf(path, sizeof path, "%s/%s", data != NULL ? data : "/nonexistent", name + 1);
    else
        snprintf(path, sizeof path, "%s", name);
    DIR *folder = opendir(path);
    if (folder == NULL)
        printf("SKIPPED: %s is not there\n", path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.')
            change_file(path, entry->d_name);
    if (folder != NULL)
        closedir(folder);
}

int main(int argc, char **argv)
{
    step = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    for (int i = step > 0 ? 2 : 1; i < argc; i++)
        change_files(argv[i]);
    printf("%lu runs\n", runs);
    return runs == 0;
}
