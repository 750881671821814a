/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over the files of a directory, without libFuzzer: the corpora as a test of every build.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"

#define INPUT_BYTES (1024u * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    hac_autofclose FILE *file = fopen(path, "rbe");
    hac_autofree uint8_t *data = malloc(INPUT_BYTES);
    if (file == NULL || data == NULL) {
        perror(path);
        return 1;
    }
    size_t bytes = fread(data, 1, INPUT_BYTES, file);
    /* an allocation of this size, so that the sanitizer sees a read beyond its end */
    uint8_t *exact = realloc(data, bytes > 0 ? bytes : 1);
    if (exact != NULL)
        data = exact;
    return LLVMFuzzerTestOneInput(data, bytes);
}

int main(int argc, char **argv)
{
    DIR *directory = argc == 2 ? opendir(argv[1]) : NULL;
    if (directory == NULL) {
        fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    int files = 0, failed = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        files++;
        failed += replay_file(argv[1], entry->d_name) != 0;
    }
    closedir(directory);
    printf("%d inputs replayed, %d failed\n", files, failed);
    return files == 0 || failed > 0;
}
