/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs of the logic file. */
#ifndef OPSPLIT_RUN_WRITE_H
#define OPSPLIT_RUN_WRITE_H

#include "run/state/run_types.h"

HAC_MUST_USE hac_status hac_run_write(hac_logic_run_state *run, hac_error *err);

#endif
