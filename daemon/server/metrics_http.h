/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics over HTTP, for Prometheus and the like: GET /metrics at an address of this machine alone, off
 * unless hacd.yaml says where (`metrics_http`). Who asks is unknown, so nothing is told by user.
 *
 * libmicrohttpd runs in hacd's loop through its epoll descriptor. What clients can do is bounded: a few
 * connections, of a few seconds each in all; one request a connection; a turn of work at most every
 * twentieth of a second; a text that is made four times a second at most. A client that is slow, or many of
 * them, keep others from the metrics for these seconds, and hacd from nothing.
 */
#ifndef SERVER_METRICS_HTTP_H
#define SERVER_METRICS_HTTP_H

#include <stddef.h>

struct hac_server;

/* Listens where server->config says, or no more; leaves it as it is if that is the same. What goes wrong is
 * logged, and kept for `doctor`: jobs do not need it. */
void hac_metrics_http_configure(struct hac_server *server);

/* Ends it. The loop has to run once more. */
void hac_metrics_http_stop(struct hac_server *server);

/* Why there is none although one is wanted; NULL: all is well. */
const char *hac_metrics_http_problem(const struct hac_server *server);

#endif
