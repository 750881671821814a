/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bitonic sort (flow A, --algorithm bitonic): the network of base/bitonic_layout.h on one device's part.
 * Codelets, all with the same spans and the first three params:
 *
 *   spans[0]  IN     m keys of task.type; never written
 *   spans[1]  WORK   m items: hac_bitonic_item_bytes each. For keys this is the result; it may not be IN
 *   spans[2]  INDEX  argsort only: m indices, the result
 *   params[0] m      items of the whole sort, 1 … 2^48
 *   params[1] index  0, 4 or 8: hac_bitonic_index, as the codelet's name says
 *   params[2] b      log2 of a block's items, hac_bitonic_tile_log2 … 20; one that suits the device
 *
 * task.first and task.count are the range, in items. Its ends are multiples of the largest group of the
 * steps that are run (hac_bitonic_groups_log2) or the end of the array, m. A task touches no byte of WORK
 * and INDEX outside its range, so that tasks on different ranges may run at the same time, on any devices.
 *
 *   bitonic.steps   + params[3] s0, params[4] s1: steps s0 … s1 of the network. Any range and steps that go
 *                     together; chooses its passes. The planner needs no other codelet: a long stretch as
 *                     one task finishes subsets within the last-level cache, which saves a tenth over tasks
 *                     of single passes.
 *   bitonic.block     subsets 1 … b: the range is a number of blocks.
 *   bitonic.merge   + params[3] q, [4] j, [5] count, [6] slice, [7] slices: steps j … j + count - 1
 *                     (1 ≤ j) of subset q, all of strides ≥ 2^tile. `slice` of `slices` (0 of 1 for all):
 *                     a slice is a share of the columns of all rows, so that executors that share memory
 *                     work on one range together. slices > 1 are refused where host_memory is false, and
 *                     for more steps than one pass takes everywhere (4).
 *   bitonic.tail    + params[3] q, [4] t: the last t steps of subset q, tile ≤ t ≤ b.
 *
 * A pass that begins with step 1 maps keys from IN; one that ends with the network's last step, n(n+1)/2,
 * leaves keys (WORK) or indices (INDEX). In between WORK holds items. For m = 1 (no steps) the task is
 * bitonic.steps with s0 = 1, s1 = 0. The network is run in order: a pass may rely on the state that the
 * steps before it left (a run whose upper half is virtual is sorted already, and is left alone).
 *
 * Argsort codelets are named bitonic.steps.index … (index 4) and bitonic.steps.index64 … (index 8). Ties go
 * by index; all NaNs are equal there. In the key codelets NaNs go by their bits (base/type.h).
 *
 * Cost: hac_bitonic_passes over memory; block and tail passes also do about 0.9 · b²/2 and b vector
 * operations on every vector. Larger windows than facts.max_allocation are cut: steps whose group does not
 * fit run one at a time through two windows.
 *
 * values[0]: launches.
 */
#ifndef CODELETS_BITONIC_H
#define CODELETS_BITONIC_H

#include "opencl/codelet.h"

/* The entries for the codelet table. */
#define HAC_BITONIC_CODELETS                                                                                 \
    HAC_BITONIC_FAMILY("", keys)                                                                             \
    HAC_BITONIC_FAMILY(".index", index32)                                                                    \
    HAC_BITONIC_FAMILY(".index64", index64)

#define HAC_BITONIC_FAMILY(suffix, kind)                                                                     \
    HAC_BITONIC_ENTRY("bitonic.steps" suffix, steps, kind, 5),                                               \
        HAC_BITONIC_ENTRY("bitonic.block" suffix, block, kind, 3),                                           \
        HAC_BITONIC_ENTRY("bitonic.merge" suffix, merge, kind, 8),                                           \
        HAC_BITONIC_ENTRY("bitonic.tail" suffix, tail, kind, 5),

#define HAC_BITONIC_ENTRY(codelet, pass, kind, params)                                                       \
    {                                                                                                        \
        .name = (codelet), .engine = HAC_ENGINE_OPENCL, .min_spans = 2, .max_spans = 3,                      \
        .min_params = (params), .max_params = (params), .check = hac_bitonic_check_##pass##_##kind,          \
        .run = hac_bitonic_run_##pass, .program = hac_bitonic_program_##kind,                                \
        .known_answer = hac_bitonic_known_answer_##kind,                                                     \
    }

/* The entries for the program table: name, file, source, options. `block` and `simt` are the texts of
 * sort_bitonic_block.cl and sort_bitonic_simt.cl. */
#define HAC_BITONIC_PROGRAMS(block, simt)                                                                    \
    {"bitonic.block.32", "sort_bitonic_block.cl", (block), "-D HAC_KEY_BITS=32 -D HAC_ARGSORT=0"},           \
        {"bitonic.block.64", "sort_bitonic_block.cl", (block), "-D HAC_KEY_BITS=64 -D HAC_ARGSORT=0"},       \
        {"bitonic.block.32i", "sort_bitonic_block.cl", (block), "-D HAC_KEY_BITS=32 -D HAC_ARGSORT=1"},      \
        {"bitonic.block.64i", "sort_bitonic_block.cl", (block), "-D HAC_KEY_BITS=64 -D HAC_ARGSORT=1"},      \
        {"bitonic.block.32w", "sort_bitonic_block.cl", (block), "-D HAC_KEY_BITS=32 -D HAC_ARGSORT=2"},      \
        {"bitonic.simt.32", "sort_bitonic_simt.cl", (simt), "-D HAC_KEY_BITS=32 -D HAC_ARGSORT=0"},          \
        {"bitonic.simt.64", "sort_bitonic_simt.cl", (simt), "-D HAC_KEY_BITS=64 -D HAC_ARGSORT=0"},          \
        {"bitonic.simt.32i", "sort_bitonic_simt.cl", (simt), "-D HAC_KEY_BITS=32 -D HAC_ARGSORT=1"},         \
        {"bitonic.simt.64i", "sort_bitonic_simt.cl", (simt), "-D HAC_KEY_BITS=64 -D HAC_ARGSORT=1"},         \
        {"bitonic.simt.32w", "sort_bitonic_simt.cl", (simt), "-D HAC_KEY_BITS=32 -D HAC_ARGSORT=2"},

#define HAC_BITONIC_DECLARE(kind)                                                                            \
    hac_status hac_bitonic_check_steps_##kind(const hac_device_facts *facts, const hac_task *task,           \
                                              hac_error *err);                                               \
    hac_status hac_bitonic_check_block_##kind(const hac_device_facts *facts, const hac_task *task,           \
                                              hac_error *err);                                               \
    hac_status hac_bitonic_check_merge_##kind(const hac_device_facts *facts, const hac_task *task,           \
                                              hac_error *err);                                               \
    hac_status hac_bitonic_check_tail_##kind(const hac_device_facts *facts, const hac_task *task,            \
                                             hac_error *err);                                                \
    const char *hac_bitonic_program_##kind(const hac_device_facts *facts, hac_type type);                    \
    hac_status hac_bitonic_known_answer_##kind(hac_device *device, hac_type type, hac_error *err);

HAC_BITONIC_DECLARE(keys)
HAC_BITONIC_DECLARE(index32)
HAC_BITONIC_DECLARE(index64)

hac_status hac_bitonic_run_steps(hac_device *device, const hac_task *task, hac_task_result *result,
                                 hac_error *err);
hac_status hac_bitonic_run_block(hac_device *device, const hac_task *task, hac_task_result *result,
                                 hac_error *err);
hac_status hac_bitonic_run_merge(hac_device *device, const hac_task *task, hac_task_result *result,
                                 hac_error *err);
hac_status hac_bitonic_run_tail(hac_device *device, const hac_task *task, hac_task_result *result,
                                hac_error *err);

#endif
