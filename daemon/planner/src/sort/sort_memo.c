/* SPDX-License-Identifier: Apache-2.0 */
#include "sort_memo.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { ENTRIES = 8 };

typedef struct entry {
    bool there;
    hac_sort_key key;
    unsigned uses;
    hac_sort_winner won;
} entry;

struct hac_sort_memo {
    entry entries[ENTRIES];
    unsigned next; /* to be replaced */
};

hac_status hac_sort_memo_new(hac_sort_memo **ret, hac_error *err)
{
    *ret = calloc(1, sizeof(**ret));
    return *ret != NULL ? HAC_OK : hac_fail_no_memory(err);
}

void hac_sort_memo_free(hac_sort_memo *memo)
{
    for (size_t i = 0; memo != NULL && i < ENTRIES; i++)
        free(memo->entries[i].won.candidates);
    free(memo);
}

bool hac_sort_memo_key(const hac_machine *machine, const hac_sort_spec *spec, hac_sort_key *ret)
{
    *ret = (hac_sort_key){.asked = {(uint64_t)spec->type, spec->items, spec->descending, spec->argsort,
                                    spec->payload_bytes, spec->from_descriptor, (uint64_t)spec->algorithm,
                                    (uint64_t)spec->scheme, (uint64_t)spec->fold, spec->device_mask}};
    if (spec->inline_data || spec->fold == HAC_FOLD_STEPS || machine->simulated)
        return false;
    for (size_t d = 0; d < machine->n_devices && d < HAC_MACHINE_MAX_DEVICES; d++) {
        const hac_machine_device *device = &machine->devices[d];
        if (device->usable && device->backlog > 0)
            return false;
        ret->machine = XXH3_64bits_withSeed(device, sizeof(*device), ret->machine);
    }
    return true;
}

static entry *find(hac_sort_memo *memo, const hac_sort_key *key)
{
    for (size_t i = 0; i < ENTRIES; i++)
        if (memo->entries[i].there && memcmp(&memo->entries[i].key, key, sizeof(*key)) == 0)
            return &memo->entries[i];
    return NULL;
}

const hac_sort_winner *hac_sort_memo_find(hac_sort_memo *memo, const hac_sort_key *key)
{
    entry *e = find(memo, key);
    return e != NULL && e->uses++ < HAC_SORT_MEMO_USES ? &e->won : NULL;
}

void hac_sort_memo_put(hac_sort_memo *memo, const hac_sort_key *key, const hac_sort_winner *won)
{
    entry *e = find(memo, key);
    if (e == NULL) {
        e = &memo->entries[memo->next];
        memo->next = (memo->next + 1) % ENTRIES;
    }
    size_t bytes = won->n_candidates * sizeof(*won->candidates);
    free(e->won.candidates);
    *e = (entry){.there = true, .key = *key, .won = *won};
    e->won.candidates = malloc(bytes + 1);
    if (e->won.candidates != NULL)
        memcpy(e->won.candidates, won->candidates, bytes);
    else
        e->there = false;
}
