/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that may block (files written, trees removed, memory freed), for libuv's pool of threads; and signals,
 * which are the loop's thread's alone.
 */
#ifndef SERVER_WORK_H
#define SERVER_WORK_H

#include <signal.h>

#include <uv.h>

/* Of this thread, and of those that it starts, until pthread_sigmask() has set *ret_before again. */
void hac_block_signals(sigset_t *ret_before);

/* As uv_queue_work(), but the pool's threads, which the first call starts, take no signals. */
int hac_queue_work(uv_loop_t *loop, uv_work_t *work, uv_work_cb run, uv_after_work_cb done);

#endif
