/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake hacd program for the tests of autostart. It records how it was started in
 * $HAC_TEST_DIRECTORY/start.<pid>. $HAC_TEST_MODE selects what it does then:
 *   serve       greets clients until a client requests a drain, then shuts down as hacd does
 *   die         writes an error to standard error, and exits
 *   leave-once  shuts down as an idle daemon does, just after the first client connects; later starts: serve
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/frame.h"
#include "proto/messages.h"

enum { LISTENER = 3, MAX_CLIENTS = 64, IDLE_MS = 20000 };

static uint8_t frame_buffer[HAC_FRAME_MAX];

static void write_signals(FILE *file)
{
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    int blocked = 0, ignored = 0;
    for (int s = 1; s < NSIG; s++) {
        struct sigaction action;
        blocked += sigismember(&mask, s) == 1;
        ignored += sigaction(s, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
    }
    fprintf(file, "blocked %d\nignored %d\n", blocked, ignored);
}

static void write_record(const char *path, int argc, char **argv, int n_fds)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        abort();
    char cwd[256];
    cpu_set_t cpus;
    mode_t mask = umask(077);
    sched_getaffinity(0, sizeof(cpus), &cpus);
    fprintf(file, "arguments");
    for (int i = 0; i < argc; i++)
        fprintf(file, " %s", argv[i]);
    fprintf(file, "\ncwd %s\numask %03o\nleader %d\nsession %d\ncpus %d\nfds %d\n", getcwd(cwd, sizeof(cwd)),
            (unsigned)mask, getsid(0) == getpid(), (int)getsid(0), CPU_COUNT(&cpus), n_fds);
    write_signals(file);
    for (char **e = environ; *e != NULL; e++)
        fprintf(file, "environment %s\n", *e);
    fclose(file);
}

static int count_fds(void)
{
    int n = 0;
    for (int fd = 0; fd < 4096; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* Shuts down as hacd does: removes the socket while it holds the lock. */
static void leave(const char *socket_path)
{
    char lock_path[256];
    snprintf(lock_path, sizeof(lock_path), "%s.lock", socket_path);
    int lock = open(lock_path, O_RDWR | O_CLOEXEC);
    if (lock < 0 || flock(lock, LOCK_EX) < 0)
        abort();
    unlink(socket_path);
    exit(0);
}

static void send_response(int socket, Hac__Client__Response *response)
{
    size_t bytes = 0;
    if (hac_encode(&response->base, hac_frame_body(frame_buffer), &bytes, NULL) != HAC_OK ||
        hac_frame_send(socket, frame_buffer, bytes, NULL, 0, NULL) != HAC_OK)
        fprintf(stderr, "cannot answer\n");
}

/* Answers one request. False: the client has disconnected. */
static bool answer(int socket, hac_decoder *decoder, bool *ret_drain)
{
    hac_frame frame = {0};
    Hac__Client__Request *request = NULL;
    if (hac_frame_receive(socket, frame_buffer, &frame, NULL) != HAC_OK ||
        hac_decode_request(decoder, frame.body, frame.body_bytes, frame.n_fds, &request, NULL) != HAC_OK)
        return false;
    Hac__Client__Hello hello;
    hac__client__hello__init(&hello);
    Hac__Client__Empty empty = HAC__CLIENT__EMPTY__INIT;
    Hac__Client__Response response = HAC__CLIENT__RESPONSE__INIT;
    response.serial = request->serial;
    if (request->what_case == HAC__CLIENT__REQUEST__WHAT_HELLO) {
        hello.version = HAC_CLIENT_PROTOCOL_VERSION;
        hello.software = (char *)(uintptr_t) "fake";
        response.what_case = HAC__CLIENT__RESPONSE__WHAT_HELLO;
        response.hello = &hello;
    } else {
        *ret_drain = request->what_case == HAC__CLIENT__REQUEST__WHAT_DRAIN;
        response.what_case = HAC__CLIENT__RESPONSE__WHAT_OK;
        response.ok = &empty;
    }
    send_response(socket, &response);
    hac_frame_clear(&frame);
    return true;
}

static void serve(const char *socket_path)
{
    hac_decoder *decoder = NULL;
    struct pollfd polled[MAX_CLIENTS + 1] = {{LISTENER, POLLIN, 0}};
    nfds_t n = 1;
    bool drain = false;
    if (hac_decoder_new(&decoder, NULL) != HAC_OK)
        abort();
    while (!drain && poll(polled, n, IDLE_MS) > 0) {
        for (nfds_t i = n; i-- > 1;) {
            if (polled[i].revents == 0 || answer(polled[i].fd, decoder, &drain))
                continue;
            close(polled[i].fd);
            polled[i] = polled[--n];
        }
        if (polled[0].revents != 0 && n <= MAX_CLIENTS) {
            int client = accept4(LISTENER, NULL, NULL, SOCK_CLOEXEC);
            if (client >= 0)
                polled[n++] = (struct pollfd){client, POLLIN, 0};
        }
    }
    leave(socket_path);
}

int main(int argc, char **argv)
{
    int n_fds = count_fds();
    const char *directory = getenv("HAC_TEST_DIRECTORY"), *mode = getenv("HAC_TEST_MODE");
    const char *socket_path = argv[argc - 1];
    char path[256];
    if (directory == NULL || mode == NULL)
        abort();
    snprintf(path, sizeof(path), "%s/start.%d", directory, (int)getpid());
    write_record(path, argc, argv, n_fds);
    if (strcmp(mode, "die") == 0) {
        fprintf(stderr, "first line\nerror: no room for a daemon\n");
        return 1;
    }
    snprintf(path, sizeof(path), "%s/left", directory);
    if (strcmp(mode, "leave-once") == 0 && access(path, F_OK) != 0) {
        close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        struct pollfd p = {LISTENER, POLLIN, 0};
        poll(&p, 1, IDLE_MS);
        leave(socket_path);
    }
    serve(socket_path);
}
