/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors that a program passes in as inputs, and vectors that it gets back. */
#ifndef OPSPLIT_RUN_GIVEN_VECTORS_H
#define OPSPLIT_RUN_GIVEN_VECTORS_H

#include "run/state/run_types.h"

/* Checks that `n` rows or columns (`what`) of an input are as many as `dimension` says, if that is known by
 * now. */
HAC_MUST_USE hac_status hac_run_check_extent(hac_logic_run_state *run, size_t input, int dimension,
                                             uint64_t n, const char *what, hac_error *err);
HAC_MUST_USE hac_status hac_run_load_given(hac_logic_run_state *run, size_t input, const hac_run_input *given,
                                           hac_error *err);
/* Checks that the file has the vectors that the program wants back. */
HAC_MUST_USE hac_status hac_run_check_results(const hac_logic *logic, const hac_run_options *options,
                                              hac_error *err);
HAC_MUST_USE hac_status hac_run_give_back(hac_logic_run_state *run, hac_error *err);

#endif
