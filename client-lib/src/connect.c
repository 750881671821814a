/* SPDX-License-Identifier: Apache-2.0 */
/* hac_client_connect: finds the socket, starts a private daemon if there is none, performs the handshake, and
 * tries again if the daemon is in its shutdown. */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "connection/autostart.h"
#include "connection/connection.h"
#include "connection/options.h"
#include "connection/socket.h"
#include "jobs/jobs.h"

/* hacd answers a Hello at once. The limit of 30 s allows for a machine that swaps. */
#define HELLO_NS UINT64_C(30000000000)

/* A daemon in its shutdown closes new connections without an answer. libhac connects again up to this many
 * times, to meet the next daemon. */
enum { ATTEMPTS = 3 };

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

/* Creates a client on a connected socket. *ret_gone: hacd closed the connection without a response, as hacd
 * does during its shutdown. */
static hac_status shake_hands(int socket, const char *path, const char *software, hac_client **ret_client,
                              bool *ret_gone, hac_error *err)
{
    hac_cleanup(hac_client_unref_cleanup) hac_client *client = NULL;
    hac_status status = hac_client_new(socket, path, &hac_jobs_handler, &client, err);
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

/* Connects to a daemon that this library does not start. The daemon may be restarting, so the function
 * retries. `socket` is connected, or -1. */
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
    /* A daemon in its shutdown closes the connection. The next attempt finds that the socket is gone. */
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
    if (geteuid() == 0 && hac_socket_connect(HAC_ADMIN_SOCKET, true, &socket, NULL) == HAC_OK)
        return connect_existing(HAC_ADMIN_SOCKET, socket, known.software, ret_client, err);
    if (hac_socket_connect(HAC_SYSTEM_SOCKET, true, &socket, NULL) != HAC_OK)
        return connect_private(&known, ret_client, err);
    return connect_existing(HAC_SYSTEM_SOCKET, socket, known.software, ret_client, err);
}
