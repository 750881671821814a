/* SPDX-License-Identifier: Apache-2.0 */
#include "blocking_work.h"

void hac_block_signals(sigset_t *ret_before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, ret_before);
}

int hac_blocking_work_queue(uv_loop_t *loop, uv_work_t *work, uv_work_cb run, uv_after_work_cb done)
{
    sigset_t before; /* a new thread inherits the signal mask of the thread that starts it */
    hac_block_signals(&before);
    int r = uv_queue_work(loop, work, run, done);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r;
}

void hac_close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}
