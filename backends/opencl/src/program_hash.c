/* SPDX-License-Identifier: Apache-2.0 */
#include "program_hash.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "opencl/device_open.h"

uint64_t hac_hash_text(uint64_t hash, const char *text)
{
    return XXH3_64bits_withSeed(text, strlen(text), hash);
}

uint64_t hac_program_hash(const hac_program_source *source)
{
    uint64_t hash = hac_hash_text(0, source->source);
    hash = hac_hash_text(hash, HAC_PROGRAM_OPTIONS);
    return hac_hash_text(hash, source->options);
}

void hac_programs_hash(const hac_program_source *programs, char ret[17])
{
    uint64_t hash = 0;
    for (const hac_program_source *s = programs; s->name != NULL; s++) {
        hash = hac_hash_text(hash, s->name);
        uint64_t one = hac_program_hash(s);
        hash = XXH3_64bits_withSeed(&one, sizeof one, hash);
    }
    snprintf(ret, 17, "%016llx", (unsigned long long)hash);
}
