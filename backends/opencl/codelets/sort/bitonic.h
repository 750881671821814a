/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bitonic sort (--algorithm bitonic): the network of base/bitonic_layout.h on one device's part. All codelets
 * take hac_bitonic_params and the same spans:
 *
 *   spans[0]  IN     m keys of task.type; never written
 *   spans[1]  WORK   m items of hac_bitonic_item_bytes. For keys it is the result. It may not be IN
 *   spans[2]  INDEX  argsort only: m indices, the result
 *
 * task.first and task.count are the range, in items. Its ends are multiples of the largest group of the steps
 * that are run (hac_bitonic_groups_log2), or the end of the array, m. A task touches no byte of WORK and
 * INDEX outside its range, so tasks on different ranges may run at the same time on any devices. With m =
 * items, b = block_log2 and q = subset:
 *
 *   bitonic.steps   steps first_step … last_step of the network. Any range, and any steps that go together;
 *                   the codelet chooses its passes. The planner needs no other codelet: a long stretch in one
 *                   task finishes subsets within the last-level cache, a tenth faster than tasks of single
 *                   passes.
 *   bitonic.block   subsets 1 … b: the range is a number of blocks.
 *   bitonic.merge   steps step … step + steps - 1 of subset q, all of strides ≥ 2^tile. A slice is a share of
 *                   the columns of all rows, so that executors that share memory can work on one range
 *                   together. slices > 1 is refused without host_memory, and for more steps than one pass
 *                   takes on every device (4).
 *   bitonic.tail    the last `steps` steps of subset q, tile ≤ steps ≤ b.
 *
 * A pass that begins with step 1 maps keys from IN. A pass that ends with the network's last step, n(n+1)/2,
 * leaves keys in WORK or indices in INDEX. In between, WORK holds items. For m = 1 there are no steps, and
 * the task is bitonic.steps with first_step = 1, last_step = 0. Steps are run in order: a pass may rely on
 * the state that earlier steps left (a run whose upper half is virtual is sorted already and is left alone).
 *
 * Argsort codelets are named bitonic.steps.index … (index 4) and bitonic.steps.index64 … (index 8). Ties are
 * ordered by index, and all NaNs are equal. In the key codelets NaNs are ordered by their bits (base/type.h).
 *
 * Cost: hac_bitonic_passes over memory. Block and tail passes also take about 0.9 · b²/2 and b vector
 * operations for every vector. A window larger than facts.max_allocation is divided: steps whose group does
 * not fit run one at a time through two windows.
 *
 * values[0]: launches.
 */
#ifndef CODELETS_BITONIC_H
#define CODELETS_BITONIC_H

#include "base/bitonic_layout.h"
#include "codelet/codelet.h"

/* The entries for the codelet table. */
#define HAC_BITONIC_CODELETS                                                                                 \
    HAC_BITONIC_FAMILY("", keys)                                                                             \
    HAC_BITONIC_FAMILY(".index", index32)                                                                    \
    HAC_BITONIC_FAMILY(".index64", index64)

#define HAC_BITONIC_FAMILY(suffix, kind)                                                                     \
    HAC_BITONIC_ENTRY("bitonic.steps" suffix, steps, kind),                                                  \
        HAC_BITONIC_ENTRY("bitonic.block" suffix, block, kind),                                              \
        HAC_BITONIC_ENTRY("bitonic.merge" suffix, merge, kind),                                              \
        HAC_BITONIC_ENTRY("bitonic.tail" suffix, tail, kind),

#define HAC_BITONIC_ENTRY(codelet, pass, kind)                                                               \
    {                                                                                                        \
        .name = (codelet), .min_spans = 2, .max_spans = 3, .params = HAC_PARAMS_COUNT(hac_bitonic_params),   \
        .check = hac_bitonic_check_##pass##_##kind, .run = hac_bitonic_run_##pass,                           \
        .program = hac_bitonic_program_##kind, .known_answer = hac_bitonic_known_answer_##kind,              \
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
