/* SPDX-License-Identifier: Apache-2.0 */
/* Blocking work (writing files, removing trees, freeing memory) for libuv's thread pool. Signals are blocked
 * in all threads but the loop's. */
#ifndef SERVER_BLOCKING_WORK_H
#define SERVER_BLOCKING_WORK_H

#include <signal.h>

#include <uv.h>

/* Blocks all signals in this thread, and in threads that it starts, until the caller restores *ret_before
 * with pthread_sigmask(). */
void hac_block_signals(sigset_t *ret_before);

/* uv_queue_work(), with signals blocked in the pool's threads, which the first call starts. */
int hac_blocking_work_queue(uv_loop_t *loop, uv_work_t *work, uv_work_cb run, uv_after_work_cb done);

/* Closes a handle unless it is closing already. Usable as uv_walk_cb. */
void hac_close_handle(uv_handle_t *handle, void *context);

#endif
