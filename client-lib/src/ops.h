/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of sub-operators in their wire form. */
#ifndef CLIENT_OPS_H
#define CLIENT_OPS_H

#include "connection.h"

typedef struct hac_ops_wire hac_ops_wire;

/* Checks a graph and makes its message, which borrows from it. */
HAC_MUST_USE hac_status hac_ops_encode(hac_client *client, const hac_ops *ops, bool plan, hac_ops_wire **ret,
                                       hac_error *err);
void hac_ops_wire_free(hac_ops_wire *wire);
HAC_DEFINE_CLEANUP(hac_ops_wire *, hac_ops_wire_free)
Hac__Client__SubmitOps *hac_ops_wire_message(hac_ops_wire *wire);

/* Nobody waits any more for graphs of the job that are on their way. */
void hac_ops_drop(hac_job *job);

#endif
