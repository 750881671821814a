/* SPDX-License-Identifier: Apache-2.0 */
/* Work that may block (files written, trees removed, memory freed), for libuv's pool of threads. */
#ifndef SERVER_WORK_H
#define SERVER_WORK_H

#include <uv.h>

/* As uv_queue_work(), but the pool's threads, which the first call starts, take no signals: those are the
 * loop's thread's alone. */
int hac_queue_work(uv_loop_t *loop, uv_work_t *work, uv_work_cb run, uv_after_work_cb done);

#endif
