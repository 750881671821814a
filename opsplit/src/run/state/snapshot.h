/* SPDX-License-Identifier: Apache-2.0 */
/* The run as a round of a loop has left it, to go back to. Vectors are values, so a second name for each is
 * enough. */
#ifndef OPSPLIT_RUN_SNAPSHOT_H
#define OPSPLIT_RUN_SNAPSHOT_H

#include "run_types.h"

/* The vectors that the body of a loop may write. */
typedef struct hac_run_changed {
    int vectors[HAC_LOGIC_VECTORS_MAX];
    size_t n;
} hac_run_changed;

typedef struct hac_run_snapshot {
    hac_run_vector *vectors; /* NULL: not taken */
    uint64_t *dimensions;
    uint64_t round, rounds;
} hac_run_snapshot;

void hac_run_find_changed(const hac_logic_step *step, hac_run_changed *ret);

/* hac_run_snapshot_clear has to be called even if it fails. */
HAC_MUST_USE hac_status hac_run_snapshot_take(hac_logic_run_state *run, const hac_run_changed *changed,
                                              hac_run_snapshot *ret, hac_error *err);
void hac_run_snapshot_restore(hac_logic_run_state *run, const hac_run_changed *changed,
                              const hac_run_snapshot *snapshot);
void hac_run_snapshot_clear(hac_logic_run_state *run, const hac_run_changed *changed,
                            hac_run_snapshot *snapshot);

#endif
