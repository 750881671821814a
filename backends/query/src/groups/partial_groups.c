/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the groups of a table as bytes, and checks headers of partials. */
#include <stdlib.h>

#include "accumulators/accumulator.h"
#include "base/cleanup.h"
#include "fixed_slots.h"
#include "sources/string_words.h"

/* A value of a set in the partial. */
typedef struct set_entry {
    uint64_t words[2], count;
} set_entry;

/* Where strings and sets of the records are written. If `data` is NULL, their bytes are only counted. */
typedef struct sink {
    uint8_t *data;
    uint64_t bytes;
} sink;

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + 7) & ~UINT64_C(7);
}

static void put_string(sink *s, uint64_t words[2])
{
    uint32_t n = (uint32_t)words[0];
    if (n <= HAC_STRING_SHORT)
        return;
    if (s->data != NULL)
        memcpy(s->data + s->bytes, (const void *)(uintptr_t)words[1], n);
    words[1] = s->bytes;
    s->bytes += n;
}

static void put_set(sink *s, const hac_group_table *t, const hac_accumulator *a, uint8_t *accumulator)
{
    hac_value_list list;
    memcpy(&list, accumulator, sizeof list);
    s->bytes = aligned(s->bytes);
    uint64_t place[2] = {s->bytes, list.n};
    s->bytes += list.n * sizeof(set_entry);
    const hac_value_set *set = &t->sets[a->set];
    uint64_t at = place[0];
    for (uint32_t e = list.first; e != 0; e = set->entries[e - 1].next, at += sizeof(set_entry)) {
        const hac_value_entry *from = &set->entries[e - 1];
        set_entry entry = {.words = {from->words[0], from->words[1]}, .count = from->count};
        if (a->repr == HAC_REPR_STRING)
            put_string(s, entry.words);
        if (s->data != NULL)
            memcpy(s->data + at, &entry, sizeof entry);
    }
    memcpy(accumulator, place, sizeof place);
}

/* Writes values with strings from offset `at` on, and the strings behind all of them. */
static void put_values(sink *s, const hac_accumulator *a, const uint8_t *values, uint64_t n, size_t size,
                       uint64_t at)
{
    uint64_t value[HAC_VALUE_BYTES_MAX / 8], *words[HAC_ACCUMULATOR_STRINGS_MAX];
    for (uint64_t i = 0; i < n; i++) {
        memcpy(value, values + i * size, size);
        size_t strings = hac_accumulator_ops_of(a)->value_strings(a, (uint8_t *)value, words);
        for (size_t k = 0; k < strings; k++)
            put_string(s, words[k]);
        if (s->data != NULL)
            memcpy(s->data + at + i * size, value, size);
    }
}

/* Writes all values of a group; the column is sorted. */
static void put_all(sink *s, const hac_group_table *t, const hac_accumulator *a, uint64_t group,
                    uint8_t *accumulator)
{
    uint64_t n;
    const uint8_t *values = hac_value_column_of(&t->value_columns[a->set], group, &n);
    uint64_t bytes = n * t->value_columns[a->set].size;
    s->bytes = aligned(s->bytes);
    uint64_t place[2] = {s->bytes, n};
    s->bytes += bytes;
    if (hac_accumulator_ops_of(a)->value_strings != NULL)
        put_values(s, a, values, n, t->value_columns[a->set].size, place[0]);
    else if (s->data != NULL && bytes != 0)
        memcpy(s->data + place[0], values, bytes);
    memcpy(accumulator, place, sizeof place);
}

/* Writes the strings and sets of a group's record, and replaces the pointers in a copy of the record by
 * offsets. */
static void put_pointed(sink *s, const hac_group_table *t, uint64_t group, uint8_t *record)
{
    const hac_group_layout *l = &t->layout;
    for (size_t k = 0; l->strings && k < l->n_keys; k++)
        if (l->keys[k].repr == HAC_REPR_STRING)
            put_string(s, (uint64_t *)(void *)(record + l->keys[k].offset));
    for (size_t i = 0; i < l->n_accumulators; i++) {
        const hac_accumulator *a = &l->accumulators[i];
        const hac_accumulator_ops *ops = hac_accumulator_ops_of(a);
        uint64_t *words[HAC_ACCUMULATOR_STRINGS_MAX];
        if (hac_accumulator_info_of(a)->set)
            put_set(s, t, a, record + a->offset);
        if (hac_accumulator_info_of(a)->all)
            put_all(s, t, a, group, record + a->offset);
        size_t n = ops->strings != NULL ? ops->strings(a, record + a->offset, words) : 0;
        for (size_t k = 0; k < n; k++)
            put_string(s, words[k]);
    }
}

/* Whether records have pointers. If the arena is empty, all keys are inside the records. */
static bool points(const hac_group_table *t)
{
    const hac_group_layout *l = &t->layout;
    bool some = (l->strings && t->arena.blocks != NULL) || l->n_sets != 0 || l->n_value_columns != 0;
    for (size_t i = 0; i < l->n_accumulators; i++)
        some |= l->accumulators[i].repr == HAC_REPR_STRING ||
                (l->accumulators[i].second_type.kind != HAC_KIND_NONE &&
                 l->accumulators[i].second_repr == HAC_REPR_STRING);
    return some;
}

/* Counts the bytes of strings and sets, in the order in which they will be written. */
static uint64_t count_pointed(const hac_group_table *t, const uint32_t *order, uint8_t *record)
{
    sink s = {0};
    for (uint64_t i = 0; i < t->groups; i++) {
        hac_group_copy_record(record, hac_group_record(t, order[i]), t->layout.stride);
        put_pointed(&s, t, order[i], record);
    }
    return aligned(s.bytes);
}

/* Computes the hashes of groups [first, first + n) in t->hash. */
static void hash_groups(hac_group_table *t, uint64_t first, size_t n)
{
    uint64_t null_row = t->null_group - first;
    hac_group_keys_load_records(t, hac_group_record(t, first), n, null_row < n ? (size_t)null_row : SIZE_MAX);
    hac_group_keys_hash(t, n);
}

/* Finds the partition of each group. */
static void find_partitions(hac_group_table *t, uint16_t *ret)
{
    uint32_t partitions = t->options.partitions;
    for (uint64_t g = 0; t->slots.on && g < t->groups; g++)
        ret[g] = (uint16_t)hac_hash_partition((uint64_t)t->slots.places[g].hash << 32, partitions);
    for (uint64_t first = 0, n; !t->slots.on && first < t->groups; first += n) {
        n = t->groups - first < HAC_BATCH_ROWS ? t->groups - first : HAC_BATCH_ROWS;
        hash_groups(t, first, (size_t)n);
        for (uint64_t i = 0; i < n; i++)
            ret[first + i] = (uint16_t)hac_hash_partition(t->hash[i], partitions);
    }
}

/* Sorts the groups' numbers, or their slots' numbers, stably by partition (counting sort). */
static void order_by_partition(hac_group_table *t, uint16_t *partition, uint32_t *starts, uint32_t *order)
{
    uint32_t partitions = t->options.partitions;
    find_partitions(t, partition);
    for (uint64_t g = 0; g < t->groups; g++)
        starts[partition[g] + 1]++;
    for (uint32_t p = 0; p < partitions; p++)
        starts[p + 1] += starts[p];
    for (uint64_t g = 0; g < t->groups; g++)
        order[starts[partition[g]]++] = t->slots.on ? t->slots.places[g].slot : (uint32_t)g;
    /* each start is now the end of its partition, which is the start of the next one */
    memmove(starts + 1, starts, partitions * sizeof *starts);
    starts[0] = 0;
}

/* The region is never read back, because other processes can write to it. A record with pointers is changed
 * in `record` first. */
static void write_records(const hac_group_table *t, const uint32_t *order, uint8_t *records, uint8_t *strings,
                          uint8_t *record)
{
    sink s = {.data = strings};
    for (uint64_t i = 0; i < t->groups; i++) {
        const uint8_t *from = hac_group_record(t, order[i]);
        if (record != NULL) {
            hac_group_copy_record(record, from, t->layout.stride);
            put_pointed(&s, t, order[i], record);
            from = record;
        }
        hac_group_copy_record(records + i * t->layout.stride, from, t->layout.stride);
    }
}

static uint64_t place_of_null_group(const hac_group_table *t, const uint32_t *order)
{
    for (uint64_t i = 0; t->null_group != HAC_NO_GROUP && i < t->groups; i++)
        if (order[i] == t->null_group)
            return i;
    return HAC_NO_GROUP;
}

/* The number of each record's group among the table's, turned round: its place in the partial. */
static uint32_t *places_of(const hac_group_table *t, const uint32_t *order)
{
    uint32_t *places = malloc(t->groups * sizeof *places);
    for (uint64_t i = 0; places != NULL && i < t->groups; i++)
        places[order[i]] = (uint32_t)i;
    return places;
}

static int by_key(const void *p, const void *q)
{
    const hac_exact_digit *x = p, *y = q;
    return (x->key > y->key) - (x->key < y->key);
}

/* Writes units and digits; a table with digits has its groups in records. */
static hac_status write_sums(const hac_group_table *t, const uint32_t *order, uint8_t *to, hac_error *err)
{
    size_t units = t->layout.n_accumulators * sizeof *t->exact.units;
    uint64_t n = t->exact.n;
    memcpy(to, t->exact.units, units);
    if (n == 0)
        return HAC_OK;
    hac_autofree uint32_t *places = places_of(t, order);
    hac_autofree hac_exact_digit *digits = malloc(n * sizeof *digits);
    if (places == NULL || digits == NULL)
        return hac_fail_no_memory(err);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t key = t->exact.digits[i].key;
        digits[i] =
            (hac_exact_digit){(key & UINT32_MAX) | (uint64_t)places[key >> 32] << 32, t->exact.digits[i].sum};
    }
    qsort(digits, n, sizeof *digits, by_key);
    memcpy(to + units, digits, n * sizeof *digits);
    return HAC_OK;
}

hac_status hac_group_write(hac_group_table *t, uint8_t *region, uint64_t at, uint64_t capacity,
                           hac_partial_header *header, hac_error *err)
{
    uint64_t n = t->groups == 0 ? 1 : t->groups, partitions = t->options.partitions;
    hac_autofree uint16_t *partition = malloc(n * sizeof *partition);
    hac_autofree uint32_t *order = malloc(n * sizeof *order);
    hac_autofree uint32_t *starts = calloc(partitions + 2, sizeof *starts);
    hac_autofree uint8_t *record = malloc(t->layout.stride + 8);
    if (partition == NULL || order == NULL || starts == NULL || record == NULL)
        return hac_fail_no_memory(err);
    for (uint32_t i = 0; i < t->layout.n_value_columns; i++) {
        hac_status status = hac_value_column_sort(&t->value_columns[i], t->groups, err);
        if (status != HAC_OK)
            return status;
    }
    hac_lanes_settle(t);
    hac_exact_sort(&t->exact);
    if (t->exact.n != 0 && hac_group_settle(t, err) != HAC_OK)
        return HAC_NO_MEMORY;
    order_by_partition(t, partition, starts, order);
    bool pointing = points(t);
    header->groups = t->groups;
    header->null_group = place_of_null_group(t, order);
    header->groups_offset = at;
    header->starts_offset = aligned(at + t->groups * t->layout.stride);
    header->strings_offset = aligned(header->starts_offset + (partitions + 1) * sizeof *starts);
    header->strings_bytes = pointing ? count_pointed(t, order, record) : 0;
    header->sums_offset = aligned(header->strings_offset + header->strings_bytes);
    header->n_digits = t->exact.n;
    header->bytes = header->sums_offset + t->layout.n_accumulators * sizeof *t->exact.units +
                    t->exact.n * sizeof *t->exact.digits;
    if (header->bytes > capacity)
        return HAC_OK;
    memcpy(region + header->starts_offset, starts, (partitions + 1) * sizeof *starts);
    if (t->slots.on)
        hac_fixed_slots_write(t, order, region + at);
    else
        write_records(t, order, region + at, region + header->strings_offset, pointing ? record : NULL);
    return write_sums(t, order, region + header->sums_offset, err);
}

static void fill_header(const hac_group_table *t, hac_partial_header *header)
{
    *header = (hac_partial_header){.magic = HAC_PARTIAL_MAGIC,
                                   .seed = t->options.seed,
                                   .chunks = 1,
                                   .partitions = t->options.partitions,
                                   .pass = t->options.pass,
                                   .passes = t->options.passes,
                                   .stride = t->layout.stride};
}

hac_status hac_group_table_write(hac_group_table *table, uint64_t chunk, uint8_t *ret, uint64_t capacity,
                                 uint64_t *ret_bytes, hac_error *err)
{
    hac_partial_header header;
    fill_header(table, &header);
    header.chunk = chunk;
    hac_status status = hac_group_write(table, ret, sizeof header, capacity, &header, err);
    if (status != HAC_OK)
        return status;
    if (header.bytes <= capacity)
        memcpy(ret, &header, sizeof header);
    *ret_bytes = header.bytes;
    return HAC_OK;
}

/* ---- reading ---- */

/* Whether each of `coarse` partitions consists of whole partitions of `fine`: both are powers of two. */
static bool nests(uint32_t fine, uint32_t coarse)
{
    return fine >= coarse && fine <= HAC_PARTITIONS_MAX && (fine & (fine - 1)) == 0;
}

uint64_t hac_partial_chunks(const uint8_t *partial, uint64_t capacity, uint64_t max)
{
    hac_partial_header h;
    if (capacity < sizeof h)
        return 1;
    memcpy(&h, partial, sizeof h);
    if (h.magic != HAC_PARTIAL_MAGIC || h.chunks == 0)
        return 1;
    return h.chunks < max ? h.chunks : max;
}

hac_status hac_partial_check(const hac_group_layout *layout, const hac_group_options *options, uint64_t chunk,
                             const uint8_t *partial, uint64_t capacity, hac_partial_header *ret,
                             hac_error *err)
{
    hac_partial_header h;
    if (capacity < sizeof h)
        return hac_fail(err, HAC_INVALID, "a partial of %llu bytes", (unsigned long long)capacity);
    memcpy(&h, partial, sizeof h);
    uint64_t starts = (h.partitions + UINT64_C(1)) * sizeof(uint32_t);
    bool sound = h.magic == HAC_PARTIAL_MAGIC && h.seed == options->seed && h.chunk == chunk &&
                 nests(h.partitions, options->partitions) && h.pass == options->pass &&
                 h.passes == options->passes && h.stride == layout->stride && h.chunks > 0;
    sound = sound && h.bytes <= capacity && h.groups <= UINT32_MAX && h.groups_offset >= sizeof h &&
            h.groups_offset % 8 == 0 && h.groups_offset <= h.bytes &&
            h.groups * h.stride <= h.bytes - h.groups_offset && h.starts_offset % 8 == 0 &&
            h.starts_offset <= h.bytes && starts <= h.bytes - h.starts_offset && h.strings_offset % 8 == 0 &&
            h.strings_offset <= h.bytes && h.strings_bytes <= h.bytes - h.strings_offset;
    uint64_t units = layout->n_accumulators * sizeof(hac_exact_units);
    sound = sound && h.sums_offset % 8 == 0 && h.sums_offset <= h.bytes && units <= h.bytes - h.sums_offset &&
            h.n_digits <= (h.bytes - h.sums_offset - units) / sizeof(hac_exact_digit);
    if (!sound)
        return hac_fail(err, HAC_INVALID, "the partial of chunk %llu is damaged, or not there",
                        (unsigned long long)chunk);
    *ret = h;
    return HAC_OK;
}
