/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the message targets' seeds, one a sample, into DIRECTORY/{request,response,command,report,frame}:
 * run it after a change of a protocol, and commit what it writes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "samples.h"

static void write_seed(const char *directory, const char *kind, const char *name, const uint8_t *data,
                       size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/%s", directory, kind, name);
    hac_autofclose FILE *file = fopen(path, "wbe");
    if (file == NULL || fwrite(data, 1, bytes, file) != bytes) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    static hac_sample sample;
    static uint8_t seed[HAC_FRAME_MAX + 16];
    for (int kind = 0; kind < HAC_SAMPLE_KINDS; kind++) {
        for (size_t i = 0; i < hac_sample_count((hac_sample_kind)kind); i++) {
            hac_sample_get((hac_sample_kind)kind, i, &sample);
            seed[0] = (uint8_t)sample.n_fds;
            memcpy(seed + 1, sample.body, sample.bytes);
            write_seed(argv[1], hac_sample_kind_names[kind], sample.name, seed, sample.bytes + 1);
        }
    }
    /* frames: a good one, one with descriptors, one that claims others, an empty one, garbage */
    static const uint8_t frames[] = "\0\x0a\0hac\0\2\0\0\0xy"
                                    "\2\x09\0hac\2\1\0\0\0x"
                                    "\1\x09\0hac\0\1\0\0\0x"
                                    "\3\0\0"
                                    "\xfd\x04\0junk";
    write_seed(argv[1], "frame", "several", frames, sizeof frames - 1);
    write_seed(argv[1], "frame", "good", frames, 13);
    write_seed(argv[1], "frame", "descriptors", frames + 13, 12);
    return 0;
}
