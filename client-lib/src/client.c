/* SPDX-License-Identifier: Apache-2.0 */
/* Connecting, the handshake, and the event-loop form. */
#include <inttypes.h>
#include <string.h>

#include "autostart.h"
#include "base/clock.h"
#include "base/text.h"
#include "connection.h"
#include "jobs.h"
#include "options.h"
#include "socket.h"

/* hacd answers a Hello at once; 30 s are a machine that swaps. */
#define HELLO_NS UINT64_C(30000000000)

enum { ATTEMPTS = 3, DISPATCH_FRAMES = 256 };

const char *hac_version(void)
{
    return HAC_VERSION;
}

/* ---- handshake ---- */

static hac_status check_hello(const char *path, const hac_reply *reply, hac_error *err)
{
    if (reply->version == HAC_CLIENT_PROTOCOL_VERSION)
        return HAC_OK;
    return hac_fail(err, HAC_NO_DAEMON,
                    "hacd at %s (%s) speaks version %" PRIu32 " of the protocol, libhac %s speaks %d: "
                    "update the older one, or restart the daemon if it was updated",
                    path, reply->software, reply->version, HAC_VERSION, HAC_CLIENT_PROTOCOL_VERSION);
}

/* Makes a client of a connected socket. *ret_gone: hacd hung up without a word, as one does that leaves. */
static hac_status shake_hands(int socket, const char *path, const char *software, hac_client **ret_client,
                              bool *ret_gone, hac_error *err)
{
    hac_cleanup(hac_client_unref_cleanup) hac_client *client = NULL;
    hac_status status = hac_client_new(socket, path, &client, err);
    if (status != HAC_OK)
        return status;
    char name[128];
    hac_utf8_copy_line(name, sizeof(name), software != NULL ? software : "libhac " HAC_VERSION);
    Hac__Client__Hello hello;
    hac__client__hello__init(&hello);
    hello.version = HAC_CLIENT_PROTOCOL_VERSION;
    hello.software = name;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_HELLO;
    request.hello = &hello;
    hac_reply reply = {0};
    status = hac_client_call(client, &request, HAC__CLIENT__RESPONSE__WHAT_HELLO, hac_now_ns() + HELLO_NS,
                             &reply, err);
    *ret_gone = status == HAC_NO_DAEMON && client->broken == HAC_NO_DAEMON;
    if (status == HAC_AGAIN)
        status = hac_fail(err, HAC_NO_DAEMON, "hacd at %s does not answer", path);
    if (status == HAC_OK)
        status = check_hello(path, &reply, err);
    if (status == HAC_OK)
        *ret_client = hac_steal_ptr(client);
    return status;
}

/* ---- connecting ---- */

static hac_status read_options(const hac_connect_options *options, hac_connect_options *ret, hac_error *err)
{
    hac_connect_options known = HAC_CONNECT_OPTIONS_INIT;
    hac_status status =
        hac_options_read(options, "connect", "HAC_CONNECT_OPTIONS_INIT", &known, sizeof(known), err);
    if (status != HAC_OK)
        return status;
    if ((known.flags & ~(unsigned)HAC_CONNECT_NO_AUTOSTART) != 0)
        return hac_fail(err, HAC_UNSUPPORTED, "connect flags 0x%x: libhac %s does not know them all",
                        known.flags, HAC_VERSION);
    *ret = known;
    return HAC_OK;
}

/* To a daemon that somebody else looks after; it may just be restarting. `socket` is connected, or -1. */
static hac_status connect_existing(const char *path, int socket, const char *software,
                                   hac_client **ret_client, hac_error *err)
{
    hac_status status;
    bool gone;
    int attempt = 0;
    do {
        gone = false;
        status = socket >= 0 ? HAC_OK : hac_socket_connect(path, true, &socket, err);
        if (status == HAC_OK)
            status = shake_hands(hac_steal_fd(&socket), path, software, ret_client, &gone, err);
    } while (gone && ++attempt < ATTEMPTS);
    return status;
}

static hac_status connect_private(const hac_connect_options *options, hac_client **ret_client, hac_error *err)
{
    hac_socket_path path;
    hac_status status = hac_private_socket(secure_getenv("XDG_RUNTIME_DIR"), "/tmp", path, err);
    if (status != HAC_OK)
        return status;
    bool may_start = (options->flags & HAC_CONNECT_NO_AUTOSTART) == 0;
    hac_autostart start = {.socket = path, .starting = options->starting, .context = options->context};
    /* A daemon that is about to leave hangs up on us; the next attempt finds its socket gone. */
    bool gone;
    int attempt = 0;
    do {
        int socket = -1;
        gone = false;
        status = hac_socket_connect(path, false, &socket, err);
        if (status == HAC_NO_DAEMON && may_start)
            status = hac_autostart_connect(&start, &socket, err);
        if (status == HAC_OK)
            status = shake_hands(socket, path, options->software, ret_client, &gone, err);
    } while (gone && ++attempt < ATTEMPTS);
    return gone && start.started ? hac_autostart_fail(&start, err) : status;
}

hac_status hac_client_connect(const hac_connect_options *options, hac_client **ret_client, hac_error *err)
{
    hac_connect_options known;
    hac_status status = read_options(options, &known, err);
    if (status != HAC_OK)
        return status;
    hac_socket_path path;
    const char *named = known.socket != NULL ? known.socket : secure_getenv("HAC_SOCKET");
    if (named != NULL && (named[0] != '\0' || known.socket != NULL)) {
        status = hac_socket_path_set(path, named, err);
        return status != HAC_OK ? status : connect_existing(path, -1, known.software, ret_client, err);
    }
    int socket = -1;
    if (hac_socket_connect(HAC_SYSTEM_SOCKET, true, &socket, NULL) != HAC_OK)
        return connect_private(&known, ret_client, err);
    return connect_existing(HAC_SYSTEM_SOCKET, socket, known.software, ret_client, err);
}

void hac_client_free(hac_client *client)
{
    if (client == NULL)
        return;
    hac_job *job;
    TAILQ_FOREACH(job, &client->flying, in_list)
    { /* nobody expects a callback from here */
        job->progress = NULL;
        job->done = NULL;
    }
    hac_client_break(client, HAC_NO_DAEMON, "the connection was closed");
    hac_client_unref(client);
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
    /* Bounded, so that a busy daemon does not keep the caller's loop waiting: the rest stays readable. */
    for (int i = 0; i < DISPATCH_FRAMES && status == HAC_OK; i++)
        status = hac_client_receive(client, 0, NULL);
    if (status != HAC_OK && status != HAC_AGAIN)
        status = hac_client_check(client, err);
    hac_client_unref(client);
    return status == HAC_AGAIN ? HAC_OK : status;
}
