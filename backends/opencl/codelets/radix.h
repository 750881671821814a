/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partition sort (flow A, --algorithm radix): the codelets of its phases. How a sort is cut and what TABLE
 * and COUNTS hold is base/radix_layout.h. All of them, with every phase finished before the next one begins:
 *
 *   params[0] n            keys of the whole sort, ≥ 1
 *   params[1] chunk_items  of hac_radix_cut_of; a power of two ≥ 1024
 *   params[2] buckets      of hac_radix_cut_of
 *   params[3] index        0: keys are the result; 4 or 8: bytes of an index, which is the result (argsort);
 *                          for scatter and leaf as the codelet's name says
 *
 *   codelet             engine  range    spans                          more
 *   radix.sample        host    -        IN, TABLE                      params[4] seed
 *   radix.count         OpenCL  chunks   IN, TABLE, COUNTS
 *   radix.scan          host    -        TABLE, COUNTS
 *   radix.scatter       OpenCL  chunks   IN, TABLE, COUNTS, OUT
 *   radix.scatter.index, .index64        IN, TABLE, COUNTS, OUT, INDEX
 *   radix.leaf          OpenCL  buckets  TABLE, OUT
 *   radix.leaf.index, .index64           TABLE, OUT, INDEX
 *   radix.whole         OpenCL  -        IN, TABLE, COUNTS, OUT         params[4] seed; all of the above,
 *   radix.whole.index                    IN, TABLE, COUNTS, OUT, INDEX  or a sort of its own
 *   sort.nan_order      host    -        IN, OUT                        params: n only; floats, not argsort
 *   sort.gather         host    items    PAYLOAD, INDEX, OUT            params: n, bytes of element and index
 *   sort.small          host    -        -, keys inline in and out      params: index (0 or 4) only
 *
 * Spans are whole arrays: IN, OUT and INDEX of n elements. IN is never written; OUT may not be IN. In argsort
 * OUT is work memory and holds nothing of use at the end. sort.small takes and gives up to 32 KiB inline; for
 * argsort its result are u32 indices.
 *
 * Ranges: radix.count and radix.scatter read and write nothing of other chunks than their own (a scatter
 * writes exactly the places that the scan gave to its chunks), so any split among devices and processes is
 * right, and a chunk may be done again. radix.leaf works in place: a bucket that was begun must not be run
 * again, and radix.scatter has to be repeated first.
 *
 * NaNs: in the key codelets they go by their bits (base/type.h) and sort.nan_order puts them back into input
 * order; in argsort all NaNs are equal.
 *
 * Memory of a device: kernels see IN, COUNTS and OUT through windows. An OUT that is larger than
 * facts.max_allocation, or any OUT where host_memory is false, is filled through a private buffer of a few
 * chunks whose runs the host copies into their places; a bucket that fits no window is sorted by the host.
 *
 * radix.whole is for a device that copies, alone: the keys go there once and come back once. In lock-step
 * style it has kernels of its own, and TABLE, COUNTS and, in argsort, OUT are left as they are. It takes up
 * to HAC_RADIX_WHOLE_ITEMS keys that fit a window, and no short loops; without memory for all of them on the
 * device it goes phase by phase.
 *
 * values: sample: [0] method + 256 · levels, [1] keys sampled, [2] largest expected bucket;
 * scan: [0] largest bucket, [1] buckets up to the last that is not empty; leaf, whole: [0] buckets that the
 * host sorted; nan_order: [0] NaNs.
 */
#ifndef CODELETS_RADIX_H
#define CODELETS_RADIX_H

#include "base/radix_layout.h"
#include "opencl/codelet.h"

/* The entries for the codelet table. */
#define HAC_RADIX_CODELETS                                                                                   \
    HAC_RADIX_HOST("radix.sample", 2, 5, sample)                                                             \
    HAC_RADIX_OPENCL("radix.count", 3, count, scatter, keys)                                                 \
    HAC_RADIX_HOST("radix.scan", 2, 4, scan)                                                                 \
    HAC_RADIX_OPENCL("radix.scatter", 4, scatter, scatter, keys)                                             \
    HAC_RADIX_OPENCL("radix.scatter.index", 5, scatter, scatter, index32)                                    \
    HAC_RADIX_OPENCL("radix.scatter.index64", 5, scatter, scatter, index64)                                  \
    HAC_RADIX_OPENCL("radix.leaf", 2, leaf, leaf, keys)                                                      \
    HAC_RADIX_OPENCL("radix.leaf.index", 3, leaf, leaf, index32)                                             \
    HAC_RADIX_OPENCL("radix.leaf.index64", 3, leaf, leaf, index64)                                           \
    HAC_RADIX_WHOLE("radix.whole", 4, keys, "radix.count", "radix.scatter", "radix.leaf")                    \
    HAC_RADIX_WHOLE("radix.whole.index", 5, index32, "radix.count", "radix.scatter.index",                   \
                    "radix.leaf.index")                                                                      \
    HAC_RADIX_HOST("sort.nan_order", 2, 1, nan_order)                                                        \
    HAC_RADIX_HOST("sort.gather", 3, 3, gather)                                                              \
    HAC_RADIX_HOST("sort.small", 0, 1, small)

#define HAC_RADIX_HOST(codelet, spans, params, what)                                                         \
    {                                                                                                        \
        .name = (codelet),                                                                                   \
        .engine = HAC_ENGINE_HOST,                                                                           \
        .min_spans = (spans),                                                                                \
        .max_spans = (spans),                                                                                \
        .min_params = (params),                                                                              \
        .max_params = (params),                                                                              \
        .check = hac_radix_check_##what,                                                                     \
        .run = hac_radix_run_##what,                                                                         \
    },

#define HAC_RADIX_WHOLE(codelet, spans, kind, count, scatter, leaf)                                          \
    {                                                                                                        \
        .name = (codelet),                                                                                   \
        .engine = HAC_ENGINE_OPENCL,                                                                         \
        .min_spans = (spans),                                                                                \
        .max_spans = (spans),                                                                                \
        .min_params = 5,                                                                                     \
        .max_params = 5,                                                                                     \
        .check = hac_radix_check_whole_##kind,                                                               \
        .run = hac_radix_run_whole,                                                                          \
        .program = hac_radix_program_whole_##kind,                                                           \
        .known_answer = hac_radix_known_answer_whole_##kind,                                                 \
        .parts = {(count), (scatter), (leaf)},                                                               \
    },

/* `test`: the program, and its known-answer test. */
#define HAC_RADIX_OPENCL(codelet, spans, what, test, kind)                                                   \
    {                                                                                                        \
        .name = (codelet),                                                                                   \
        .engine = HAC_ENGINE_OPENCL,                                                                         \
        .min_spans = (spans),                                                                                \
        .max_spans = (spans),                                                                                \
        .min_params = 4,                                                                                     \
        .max_params = 4,                                                                                     \
        .check = hac_radix_check_##what##_##kind,                                                            \
        .run = hac_radix_run_##what,                                                                         \
        .program = hac_radix_program_##test##_##kind,                                                        \
        .known_answer = hac_radix_known_answer_##test##_##kind,                                              \
    },

/* The entries for the program table: name, file, source, options. `block`, `simt` and `lsd` are the texts of
 * sort_radix_block.cl, sort_radix_simt.cl and sort_radix_lsd.cl. */
#define HAC_RADIX_PROGRAMS(block, simt, lsd)                                                                 \
    HAC_RADIX_STYLE("block", "sort_radix_block.cl", block)                                                   \
    HAC_RADIX_STYLE("simt", "sort_radix_simt.cl", simt)                                                      \
    HAC_RADIX_LSD("32", lsd, "32", "0")                                                                      \
    HAC_RADIX_LSD("32i", lsd, "32", "4")                                                                     \
    HAC_RADIX_LSD("64", lsd, "64", "0")                                                                      \
    HAC_RADIX_LSD("64i", lsd, "64", "4")

#define HAC_RADIX_STYLE(style, file, source)                                                                 \
    HAC_RADIX_PAIR(style, "32", file, source, "32", "0")                                                     \
    HAC_RADIX_PAIR(style, "32i", file, source, "32", "4")                                                    \
    HAC_RADIX_PAIR(style, "32w", file, source, "32", "8")                                                    \
    HAC_RADIX_PAIR(style, "64", file, source, "64", "0")                                                     \
    HAC_RADIX_PAIR(style, "64i", file, source, "64", "4")                                                    \
    HAC_RADIX_PAIR(style, "64w", file, source, "64", "8")

/* Two programs of one source, so that they are compiled side by side. */
#define HAC_RADIX_PAIR(style, kind, file, source, bits, index)                                               \
    HAC_RADIX_PROGRAM("radix." style "." kind, file, source, bits, index, "0")                               \
    HAC_RADIX_PROGRAM("radix_leaf." style "." kind, file, source, bits, index, "1")

#define HAC_RADIX_PROGRAM(name, file, source, bits, index, leaf)                                             \
    {name, file, source, "-D HAC_KEY_BITS=" bits " -D HAC_INDEX_BYTES=" index " -D HAC_RADIX_LEAF=" leaf},

#define HAC_RADIX_LSD(kind, source, bits, index)                                                             \
    {"radix_lsd.simt." kind, "sort_radix_lsd.cl", source,                                                    \
     "-D HAC_KEY_BITS=" bits " -D HAC_INDEX_BYTES=" index},

#define HAC_RADIX_DECLARE_CHECK(what)                                                                        \
    hac_status hac_radix_check_##what(const hac_device_facts *facts, const hac_task *task, hac_error *err);

#define HAC_RADIX_DECLARE_RUN(what)                                                                          \
    hac_status hac_radix_run_##what(hac_device *device, const hac_task *task, hac_task_result *result,       \
                                    hac_error *err);

#define HAC_RADIX_DECLARE_PROGRAM(what)                                                                      \
    const char *hac_radix_program_##what(const hac_device_facts *facts, hac_type type);                      \
    hac_status hac_radix_known_answer_##what(hac_device *device, hac_type type, hac_error *err);

#define HAC_RADIX_DECLARE_KIND(kind)                                                                         \
    HAC_RADIX_DECLARE_CHECK(scatter_##kind)                                                                  \
    HAC_RADIX_DECLARE_CHECK(leaf_##kind)                                                                     \
    HAC_RADIX_DECLARE_PROGRAM(scatter_##kind)                                                                \
    HAC_RADIX_DECLARE_PROGRAM(leaf_##kind)

HAC_RADIX_DECLARE_KIND(keys)
HAC_RADIX_DECLARE_KIND(index32)
HAC_RADIX_DECLARE_KIND(index64)
HAC_RADIX_DECLARE_CHECK(count_keys)
HAC_RADIX_DECLARE_RUN(count)
HAC_RADIX_DECLARE_RUN(scatter)
HAC_RADIX_DECLARE_RUN(leaf)
HAC_RADIX_DECLARE_CHECK(whole_keys)
HAC_RADIX_DECLARE_CHECK(whole_index32)
HAC_RADIX_DECLARE_PROGRAM(whole_keys)
HAC_RADIX_DECLARE_PROGRAM(whole_index32)
HAC_RADIX_DECLARE_RUN(whole)
HAC_RADIX_DECLARE_CHECK(sample)
HAC_RADIX_DECLARE_RUN(sample)
HAC_RADIX_DECLARE_CHECK(scan)
HAC_RADIX_DECLARE_RUN(scan)
HAC_RADIX_DECLARE_CHECK(nan_order)
HAC_RADIX_DECLARE_RUN(nan_order)
HAC_RADIX_DECLARE_CHECK(gather)
HAC_RADIX_DECLARE_RUN(gather)
HAC_RADIX_DECLARE_CHECK(small)
HAC_RADIX_DECLARE_RUN(small)

#endif
