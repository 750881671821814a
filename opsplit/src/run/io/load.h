/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of the logic file. */
#ifndef OPSPLIT_RUN_LOAD_H
#define OPSPLIT_RUN_LOAD_H

#include "run/state/run_types.h"

/* Loads all inputs. Inputs that are not given have no value afterwards. */
HAC_MUST_USE hac_status hac_run_load(hac_logic_run_state *run, hac_error *err);

#endif
