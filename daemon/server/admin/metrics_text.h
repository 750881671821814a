/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_METRICS_TEXT_H
#define SERVER_METRICS_TEXT_H

#include "resources/user.h"

struct hac_server;

/* All metrics as OpenMetrics text, malloc'ed. `viewer` is who asks: a user sees only their own per-user
 * metrics, root and hacd's own user see those of all users. NULL: an unknown client (HTTP), who sees no
 * per-user metrics. */
HAC_MUST_USE hac_status hac_metrics_text(const struct hac_server *server, const hac_user *viewer, char **ret,
                                         size_t *ret_bytes, hac_error *err);

#endif
