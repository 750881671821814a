/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics over HTTP, for Prometheus and similar programs: GET /metrics at a loopback address, off unless
 * hacd.yaml sets one (`metrics_http`). The client is unknown, so the metrics name no users.
 *
 * libmicrohttpd runs in hacd's loop through its epoll descriptor. What clients can do is bounded: a few
 * connections of a few seconds each, one request per connection, a turn of work every twentieth of a second,
 * a new text four times a second. Slow clients, or many of them, can keep others from the metrics for a few
 * seconds, but cannot hold up hacd.
 */
#ifndef SERVER_METRICS_HTTP_H
#define SERVER_METRICS_HTTP_H

#include <stddef.h>

struct hac_server;

/* Listens at the address in server->config, or stops listening; does nothing if the address is the same. A
 * failure is logged, and kept for `doctor`: jobs do not depend on metrics. */
void hac_metrics_http_configure(struct hac_server *server);

/* Stops it. The loop must run once more. */
void hac_metrics_http_stop(struct hac_server *server);

/* Why metrics are configured but not served; NULL: no problem. */
const char *hac_metrics_http_problem(const struct hac_server *server);

#endif
