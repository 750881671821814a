/* SPDX-License-Identifier: Apache-2.0 */
/* The wire form of graphs of sub-operators. */
#ifndef CLIENT_OPS_H
#define CLIENT_OPS_H

#include "connection/connection.h"

typedef struct hac_ops_wire hac_ops_wire;

/* Checks a graph and creates its message. The message points into the graph. */
HAC_MUST_USE hac_status hac_ops_encode(hac_client *client, const hac_ops *ops, bool plan, hac_ops_wire **ret,
                                       hac_error *err);
void hac_ops_wire_free(hac_ops_wire *wire);
HAC_DEFINE_CLEANUP(hac_ops_wire *, hac_ops_wire_free)
Hac__Client__SubmitOps *hac_ops_wire_message(hac_ops_wire *wire);

#endif
