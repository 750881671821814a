/* SPDX-License-Identifier: Apache-2.0 */
/* How the rows of a piece are divided between components and ranks. */
#ifndef OPSPLIT_RUN_PARTITION_H
#define OPSPLIT_RUN_PARTITION_H

#include "run/state/run_types.h"

/* Sets run->cut, components and partition for `piece`. `step` may be NULL. */
HAC_MUST_USE hac_status hac_run_choose_cut(hac_logic_run_state *run, const hac_logic_step *step,
                                           const hac_logic_piece *piece, hac_error *err);
/* There is no current piece. */
void hac_run_clear_cut(hac_logic_run_state *run);
void hac_run_partitions_clear(hac_logic_run_state *run);

#endif
