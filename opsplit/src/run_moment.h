/* SPDX-License-Identifier: Apache-2.0 */
/* The run as a round of a loop has left it, to come back to. Vectors are values: a second name is enough. */
#ifndef OPSPLIT_RUN_MOMENT_H
#define OPSPLIT_RUN_MOMENT_H

#include "run_internal.h"

/* The vectors that a loop changes. */
typedef struct hac_run_changed {
    int vectors[HAC_LOGIC_VECTORS_MAX];
    size_t n;
} hac_run_changed;

typedef struct hac_run_moment {
    hac_run_vector *vectors; /* NULL: none was taken */
    uint64_t *dimensions;
    uint64_t round, rounds;
} hac_run_moment;

void hac_run_find_changed(const hac_logic_step *step, hac_run_changed *ret);

/* To be cleared also when it fails. */
HAC_MUST_USE hac_status hac_run_take_moment(hac_logic_run *run, const hac_run_changed *changed,
                                            hac_run_moment *ret, hac_error *err);
/* The run is at that moment again. */
void hac_run_go_back(hac_logic_run *run, const hac_run_changed *changed, const hac_run_moment *moment);
void hac_run_clear_moment(hac_logic_run *run, const hac_run_changed *changed, hac_run_moment *moment);

#endif
