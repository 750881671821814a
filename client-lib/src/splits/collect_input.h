/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLIENT_COLLECT_INPUT_H
#define CLIENT_COLLECT_INPUT_H

#include "input_list.h"
#include "query/query.h"

/* Runs hac_query_splits as one job on one buffer with all inputs. The caller uses this if the result is
 * sorted or consists of columns, because such a result needs all rows. */
HAC_MUST_USE hac_status hac_collect_input(hac_client *client, hac_input_list *inputs,
                                          const hac_query_options *options,
                                          const hac_compiled_query *compiled, hac_job **ret_job,
                                          hac_error *err);

#endif
