/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLIENT_CALIBRATION_QUERY_H
#define CLIENT_CALIBRATION_QUERY_H

#include "query/compile_query.h"

/* Compiles the query of base/calibrate_layout.h. The caller frees *ret. */
HAC_MUST_USE hac_status hac_calibration_query_compile(hac_compiled_query **ret, hac_error *err);

#endif
