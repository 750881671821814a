/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partition sort (--algorithm radix): the codelets of its phases, and what may follow any sort. How a sort is
 * cut and what TABLE and COUNTS hold is in base/radix_layout.h. Every phase is finished before the next one
 * begins. The codelets radix.* take hac_radix_params.
 *
 *   codelet             engine  range    spans
 *   radix.sample        host    -        IN, TABLE
 *   radix.count         OpenCL  chunks   IN, TABLE, COUNTS
 *   radix.scan          host    -        TABLE, COUNTS
 *   radix.scatter       OpenCL  chunks   IN, TABLE, COUNTS, OUT
 *   radix.scatter.index, .index64        IN, TABLE, COUNTS, OUT, INDEX
 *   radix.leaf          OpenCL  buckets  TABLE, OUT
 *   radix.leaf.index, .index64           TABLE, OUT, INDEX
 *   radix.whole         OpenCL  -        IN, TABLE, COUNTS, OUT         all of it, or its own sort
 *   radix.whole.index                    IN, TABLE, COUNTS, OUT, INDEX
 *   sort.nan_order      host    -        IN, OUT                        hac_nan_order_params; floats only
 *   sort.gather         host    items    PAYLOAD, INDEX, OUT            hac_gather_params
 *   sort.small          host    -        -, keys inline in and out      hac_small_sort_params
 *
 * Spans are whole arrays: IN, OUT and INDEX have an element for each of params.items. IN is never written,
 * and OUT may not be IN. In argsort OUT is work memory and holds nothing useful at the end. sort.small takes
 * and returns up to 32 KiB inside the message; for argsort it returns u32 indices.
 *
 * Ranges: radix.count and radix.scatter touch their own chunks only (a scatter writes exactly the places that
 * the scan gave to its chunks). Chunks may therefore be divided among devices and processes in any way, and a
 * chunk may be repeated. radix.leaf works in place: a bucket that was begun must not be run again unless
 * radix.scatter is repeated first.
 *
 * NaNs: the key codelets order them by their bits (base/type.h), and sort.nan_order restores their input
 * order. In argsort all NaNs are equal.
 *
 * Memory of a device: kernels see IN, COUNTS and OUT through windows. If OUT is larger than
 * facts.max_allocation, or host_memory is false, the kernels fill a private buffer of a few chunks, and the
 * host copies its runs to their places. The host sorts a bucket that fits no window.
 *
 * radix.whole runs alone on a device that copies: the keys go to the device once and come back once. In
 * lock-step style it has kernels of its own and leaves TABLE, COUNTS and, in argsort, OUT alone. It takes at
 * most HAC_RADIX_WHOLE_ITEMS keys, which must fit a window, and no device that ends long loops. If the device
 * has not enough memory for all keys, it goes phase by phase.
 *
 * values: sample: [0] method + 256 · levels, [1] keys sampled, [2] largest expected bucket;
 * scan: [0] largest bucket, [1] buckets up to the last that is not empty; leaf, whole: [0] buckets that the
 * host sorted; nan_order: [0] NaNs.
 */
#ifndef CODELETS_RADIX_H
#define CODELETS_RADIX_H

#include "base/radix_layout.h"
#include "codelet/codelet.h"

/* The entries for the codelet table. */
#define HAC_RADIX_CODELETS                                                                                   \
    HAC_RADIX_HOST("radix.sample", 2, hac_radix_params, sample)                                              \
    HAC_RADIX_OPENCL("radix.count", 3, count, scatter, keys)                                                 \
    HAC_RADIX_HOST("radix.scan", 2, hac_radix_params, scan)                                                  \
    HAC_RADIX_OPENCL("radix.scatter", 4, scatter, scatter, keys)                                             \
    HAC_RADIX_OPENCL("radix.scatter.index", 5, scatter, scatter, index32)                                    \
    HAC_RADIX_OPENCL("radix.scatter.index64", 5, scatter, scatter, index64)                                  \
    HAC_RADIX_OPENCL("radix.leaf", 2, leaf, leaf, keys)                                                      \
    HAC_RADIX_OPENCL("radix.leaf.index", 3, leaf, leaf, index32)                                             \
    HAC_RADIX_OPENCL("radix.leaf.index64", 3, leaf, leaf, index64)                                           \
    HAC_RADIX_WHOLE("radix.whole", 4, keys, "radix.count", "radix.scatter", "radix.leaf")                    \
    HAC_RADIX_WHOLE("radix.whole.index", 5, index32, "radix.count", "radix.scatter.index",                   \
                    "radix.leaf.index")                                                                      \
    HAC_RADIX_HOST("sort.nan_order", 2, hac_nan_order_params, nan_order)                                     \
    HAC_RADIX_HOST("sort.gather", 3, hac_gather_params, gather)                                              \
    HAC_RADIX_HOST("sort.small", 0, hac_small_sort_params, small)

#define HAC_RADIX_HOST(codelet, spans, type, what)                                                           \
    {                                                                                                        \
        .name = (codelet),                                                                                   \
        .min_spans = (spans),                                                                                \
        .max_spans = (spans),                                                                                \
        .params = HAC_PARAMS_COUNT(type),                                                                    \
        .check = hac_radix_check_##what,                                                                     \
        .run = hac_radix_run_##what,                                                                         \
    },

#define HAC_RADIX_WHOLE(codelet, spans, kind, count, scatter, leaf)                                          \
    {                                                                                                        \
        .name = (codelet),                                                                                   \
        .min_spans = (spans),                                                                                \
        .max_spans = (spans),                                                                                \
        .params = HAC_PARAMS_COUNT(hac_radix_params),                                                        \
        .check = hac_radix_check_whole_##kind,                                                               \
        .run = hac_radix_run_whole,                                                                          \
        .program = hac_radix_program_whole_##kind,                                                           \
        .known_answer = hac_radix_known_answer_whole_##kind,                                                 \
        .parts = {(count), (scatter), (leaf)},                                                               \
    },

/* `test` names the program and its known-answer test. */
#define HAC_RADIX_OPENCL(codelet, spans, what, test, kind)                                                   \
    {                                                                                                        \
        .name = (codelet),                                                                                   \
        .min_spans = (spans),                                                                                \
        .max_spans = (spans),                                                                                \
        .params = HAC_PARAMS_COUNT(hac_radix_params),                                                        \
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

/* Two programs from one source, so that they compile in parallel. */
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
