/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries: entries are converted once, so that a row needs only a look-up. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "values.h"

void hac_parquet_dictionary_clear(hac_parquet_dictionary *d)
{
    free(d->values);
    free(d->states);
    *d = (hac_parquet_dictionary){0};
}

static hac_status make_room(void **memory, size_t *capacity, size_t bytes, hac_error *err)
{
    if (bytes <= *capacity)
        return HAC_OK;
    free(*memory);
    *capacity = 0;
    *memory = calloc(1, bytes);
    if (*memory == NULL)
        return hac_fail_no_memory(err);
    *capacity = bytes;
    return HAC_OK;
}

static hac_status mark(hac_parquet_dictionary *d, size_t first, const uint8_t *states, size_t n,
                       hac_error *err)
{
    void *memory = d->states;
    if (!d->marked) {
        hac_status status = make_room(&memory, &d->states_capacity, (size_t)d->entries + 1, err);
        d->states = memory;
        if (status != HAC_OK)
            return status;
        memset(d->states, HAC_ROW_OK, (size_t)d->entries + 1);
        d->marked = true;
    }
    memcpy(d->states + first, states, n);
    return HAC_OK;
}

hac_status hac_parquet_dictionary_make(hac_parquet_dictionary *d, const hac_parquet_context *c,
                                       uint32_t entries, const uint8_t *data, size_t in_strings, size_t bytes,
                                       hac_error *err)
{
    const hac_parquet_target *t = c->target;
    size_t min = t->physical == HAC_PARQUET_BYTE_ARRAY ? sizeof(uint32_t) : t->width;
    hac_parquet_values values;
    uint8_t states[HAC_BATCH_ROWS];
    bool marked = false;
    if (min == 0)
        return hac_fail(err, HAC_FAILED, "booleans have no dictionary");
    if (entries > bytes / min) /* checked before anything is allocated */
        return hac_fail(err, HAC_FAILED, "it holds fewer values than it should");
    hac_status status = make_room(&d->values, &d->values_capacity, ((size_t)entries + 1) * t->size, err);
    if (status == HAC_OK)
        status = hac_parquet_values_begin(&values, c, HAC_ENCODING_PLAIN, data, in_strings, bytes, err);
    d->entries = entries;
    d->marked = false;
    for (size_t at = 0, n = 0; at < entries && status == HAC_OK; at += n) {
        n = entries - at < HAC_BATCH_ROWS ? entries - at : HAC_BATCH_ROWS;
        status = hac_parquet_values_get(&values, c, n, NULL, n, (uint8_t *)d->values + at * t->size, states,
                                        &marked, err);
        if (status == HAC_OK && marked)
            status = mark(d, at, states, n, err);
    }
    d->there = status == HAC_OK;
    return status;
}
