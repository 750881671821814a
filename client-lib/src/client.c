/* SPDX-License-Identifier: Apache-2.0 */
/* Serves the caller's event loop, and closes the connection. connect.c opens it. */
#include "connection/connection.h"
#include "jobs/jobs.h"

/* the most frames that one call of hac_client_dispatch reads */
enum { DISPATCH_FRAMES = 256 };

void hac_client_free(hac_client *client)
{
    if (client == NULL)
        return;
    hac_job *job;
    TAILQ_FOREACH(job, &client->flying, in_list)
    { /* the caller does not expect a callback from this function */
        job->progress = NULL;
        job->done = NULL;
    }
    hac_client_end(client);
}

const char *hac_client_socket(const hac_client *client)
{
    return client->path;
}

/* ---- event loops ---- */

int hac_client_fd(const hac_client *client)
{
    return client->socket;
}

hac_status hac_client_dispatch(hac_client *client, hac_error *err)
{
    hac_status status = HAC_OK;
    hac_client_ref(client);
    hac_client_end_released(client);
    /* Limits the number of frames, so that a busy daemon does not block the caller's loop. The socket stays
     * readable for the other frames. */
    for (int i = 0; i < DISPATCH_FRAMES && status == HAC_OK; i++)
        status = hac_client_receive(client, 0, NULL);
    if (status != HAC_OK && status != HAC_AGAIN)
        status = hac_client_check(client, err);
    hac_client_unref(client);
    return status == HAC_AGAIN ? HAC_OK : status;
}
