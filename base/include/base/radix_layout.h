/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partition sort (--algorithm radix): how a sort is cut, and what lies where in the two tables that
 * its tasks share. Pure functions of n, so that a planner can size buffers without a device; the codelets
 * (opencl/codelets/sort/radix.h) work with the same figures and check them.
 *
 *   radix.sample   IN → TABLE          a map from key to bucket, from a sample of the keys
 *   radix.count    IN, TABLE → COUNTS  range over chunks: keys of each bucket in each chunk
 *   radix.scan     COUNTS → COUNTS, TABLE   counts become the places in OUT where the keys begin
 *   radix.scatter  IN → OUT            range over chunks: stable, keys mapped to unsigned (base/type.h)
 *   radix.leaf     OUT → OUT           range over buckets: sorts each in cache, un-maps
 *
 * A chunk is `chunk_items` consecutive keys (the last may be shorter); a bucket is a range of key values.
 *
 * TABLE, hac_radix_table_bytes: hac_radix_header, then cells (uint16_t each), splitters (keys of the job's
 * width, room for 8 bytes each), and bucket starts (uint64_t, buckets + 1 of them).
 * COUNTS, hac_radix_counts_bytes: `chunks` rows of hac_radix_row_items uint64_t, one for each bucket: keys in
 * the chunk, after the scan the place in OUT of the first of them.
 *
 * From key to bucket, in integers only, so that all devices agree. m is the mapped key, W its bits:
 *   linear  cell = (min((max(m, base) - base) >> shift, last) · scale) >> 16; last < 2^16, scale ≤ 2^16
 *   log     d = max(m, base) - base + 1 (saturated), e = ⌊log2 d⌋; cell = e · 2^shift + the `shift` bits
 *           below d's highest: even skew over many magnitudes spreads
 * bucket = cells[cell]. Where keys are spread evenly, cells are as many as buckets are needed, and each is
 * its own bucket (levels = 0, cells[c] = c): nothing is looked up. Where cells are too coarse for the
 * data, a search goes on from there: for step = 2^(levels - 1) … 2, 1: bucket += step if splitters[bucket +
 * step - 1] < m. Splitter j is the last key of bucket j; from the last bucket on they are the largest key.
 * Each step costs a tenth of a scatter.
 *
 * Refined (levels = HAC_RADIX_REFINED): where a few cells hold most of the keys, as the exponents of floats
 * do, each cell is cut into places of equal width, as many as it needs. Entries, uint32_t that lie where
 * splitters would, are its first place · 64 + low - log2 of its places, where low = W - 13.
 *   d = min(max(m, base) - base, (2^W - 1) >> shift) << shift, e = entries[d >> low]
 *   place = (e >> 6) + ((d mod 2^low) >> (e mod 64)), bucket = cells[place]
 *
 * Few different keys (levels = HAC_RADIX_VALUES): no two that were sampled share a cell or a bucket, and
 * instead of splitters there is a value for each cell. radix.count looks whether every key is its cell's
 * value, and adds HAC_RADIX_STRANGE to a chunk's first count where one is not. If there is none, and keys
 * alone are the result, nothing is scattered: leaves write each value as often as it was counted.
 */
#ifndef BASE_RADIX_LAYOUT_H
#define BASE_RADIX_LAYOUT_H

#include <stdint.h>

#define HAC_RADIX_FEW_CELLS   8192  /* fit the first-level cache */
#define HAC_RADIX_CELLS       65536 /* room in TABLE: where few are too coarse */
#define HAC_RADIX_MAX_BUCKETS 6144
#define HAC_RADIX_MAX_LEVELS  11 /* steps of a search */
#define HAC_RADIX_SPLITTERS   8192
#define HAC_RADIX_VALUES      32 /* levels: there are values, and no search */
#define HAC_RADIX_REFINED     33 /* levels: cells have entries, and places; no search */
#define HAC_RADIX_ENTRY_BITS  13
#define HAC_RADIX_ENTRIES     (1 << HAC_RADIX_ENTRY_BITS)
#define HAC_RADIX_STRANGE     (UINT64_C(1) << 63)
#define HAC_RADIX_MAX_ITEMS   (UINT64_C(1) << 40)
#define HAC_RADIX_WHOLE_ITEMS (UINT64_C(1) << 31) /* of radix.whole: places in 32 bits */
#define HAC_RADIX_MAX_CHUNK   (UINT64_C(1) << 30)
/* Keys of a chunk for each bucket: a sixteenth of the narrowest keys is what their counters take. */
#define HAC_RADIX_CHUNK_MIN 32
/* Most keys of a bucket that a leaf sorts in cache; larger ones are slower. */
#define HAC_RADIX_LEAF_ITEMS 98304

typedef enum hac_radix_method { HAC_RADIX_LINEAR = 0, HAC_RADIX_LOG = 1 } hac_radix_method;

#define HAC_RADIX_MAGIC UINT64_C(0x3178696461726861)

/* The beginning of TABLE. */
typedef struct hac_radix_header {
    uint64_t magic, items;
    uint64_t base;
    uint32_t buckets; /* as the job was cut; some may be empty */
    uint32_t method, cells, shift, last, scale, levels;
    uint32_t key_bytes;
    uint32_t counted; /* 1, by radix.scan: every key is its cell's value, so their counts are the result */
} hac_radix_header;

/* Parameters of the codelets radix.*. */
typedef struct hac_radix_params {
    uint64_t items;       /* keys of the whole sort, at least 1 */
    uint64_t chunk_items; /* of hac_radix_cut_of: a power of two, at least 1024 */
    uint64_t buckets;     /* of hac_radix_cut_of */
    uint64_t index_bytes; /* 0: keys are the result; 4 or 8: an index is (argsort) */
    uint64_t seed;        /* of the sample: radix.sample, radix.whole */
} hac_radix_params;

/* Parameters of sort.nan_order. */
typedef struct hac_nan_order_params {
    uint64_t items;
} hac_nan_order_params;

/* Parameters of sort.gather. */
typedef struct hac_gather_params {
    uint64_t items;
    uint64_t width;       /* bytes of an element */
    uint64_t index_bytes; /* 4 or 8 */
} hac_gather_params;

/* Parameters of sort.small. */
typedef struct hac_small_sort_params {
    uint64_t index_bytes; /* 0: keys are the result; 4: an index is */
} hac_small_sort_params;

/* How a sort is cut. */
typedef struct hac_radix_cut {
    uint64_t chunk_items; /* a power of two ≥ 1024 */
    uint64_t chunks;
    uint32_t buckets; /* 1 … HAC_RADIX_MAX_BUCKETS */
} hac_radix_cut;

static inline uint64_t hac_radix_ceil(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* Keys that a bucket is meant to have: a leaf and its bins lie in a core's second-level cache. Beyond 2^26
 * keys the pages that a scatter has open at once cost more than larger leaves do. */
static inline uint64_t hac_radix_bucket_items(uint64_t items)
{
    return items <= UINT64_C(1) << 26 ? 24000 : 48000;
}

/*
 * Chunks: enough for all `workers` (of all devices, ≥ 1) to be busy to the end and for a bad estimate to be
 * evened out, few enough for COUNTS to stay within a sixteenth of the keys, so that a sort's memory is at
 * most 2.1 times its input (devices with short loops may need more). Buckets: twice what
 * hac_radix_bucket_items asks for, the rest is for frequent keys. They are never a power of two of equal
 * ones: those alias in cache and TLB. `max_loop_iterations` is the smallest that is not 0 of the devices that
 * take part: a chunk of c keys takes up to 4 c + 20 · buckets iterations, and buckets are counted in loops,
 * too.
 */
static inline hac_radix_cut hac_radix_cut_of(uint64_t items, uint32_t workers, uint32_t max_loop_iterations)
{
    hac_radix_cut cut = {.chunk_items = 1 << 14};
    uint64_t wanted = items / 32 / (workers == 0 ? 1 : workers), max = UINT64_C(1) << 20;
    while (cut.chunk_items < wanted && cut.chunk_items < max)
        cut.chunk_items *= 2;
    while (items / cut.chunk_items > 1024)
        cut.chunk_items *= 2;
    uint64_t buckets = 2 * items / hac_radix_bucket_items(items), busy = UINT64_C(8) * workers;
    if (items >= 32768 && buckets < busy)
        buckets = busy < items / 2048 ? busy : items / 2048;
    if (buckets > HAC_RADIX_MAX_BUCKETS)
        buckets = HAC_RADIX_MAX_BUCKETS;
    while (cut.chunk_items < items && cut.chunk_items < buckets * HAC_RADIX_CHUNK_MIN)
        cut.chunk_items *= 2;
    if (max_loop_iterations != 0) {
        while (cut.chunk_items > 1024 && cut.chunk_items * 10 > max_loop_iterations)
            cut.chunk_items /= 2;
        if (buckets > max_loop_iterations / 64)
            buckets = max_loop_iterations / 64;
    }
    cut.buckets = buckets == 0 ? 1 : (uint32_t)buckets;
    cut.chunks = (items + cut.chunk_items - 1) / cut.chunk_items;
    return cut;
}

/* uint64_t of a row of COUNTS: rows begin at 64-byte boundaries. */
static inline uint64_t hac_radix_row_items(uint32_t buckets)
{
    return hac_radix_ceil(buckets, 8);
}

static inline uint64_t hac_radix_counts_bytes(uint64_t chunks, uint32_t buckets)
{
    return chunks * hac_radix_row_items(buckets) * sizeof(uint64_t);
}

/* Offsets in TABLE, all multiples of 64. */
static inline uint64_t hac_radix_cells_offset(void)
{
    return 128;
}

static inline uint64_t hac_radix_splitters_offset(void)
{
    return hac_radix_cells_offset() + HAC_RADIX_CELLS * sizeof(uint16_t);
}

static inline uint64_t hac_radix_starts_offset(void)
{
    return hac_radix_splitters_offset() + HAC_RADIX_SPLITTERS * sizeof(uint64_t);
}

static inline uint64_t hac_radix_table_bytes(uint32_t buckets)
{
    return hac_radix_starts_offset() + hac_radix_ceil((buckets + UINT64_C(1)) * sizeof(uint64_t), 64);
}

/* Bits of a key behind those that choose its entry. */
static inline uint32_t hac_radix_low_bits(uint32_t key_bytes)
{
    return key_bytes * 8 - HAC_RADIX_ENTRY_BITS;
}

/* Keys that radix.sample reads, for pricing. */
static inline uint64_t hac_radix_sample_items(uint64_t items, uint32_t buckets)
{
    uint64_t wanted = UINT64_C(6) * buckets, more = items / 2048;
    if (wanted < more)
        wanted = more < UINT64_C(12) * buckets ? more : UINT64_C(12) * buckets;
    if (wanted < 1024)
        wanted = 1024;
    return wanted < items ? wanted : items;
}

#endif
