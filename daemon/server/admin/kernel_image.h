/* SPDX-License-Identifier: Apache-2.0 */
/* Images of device programs for clients (hacctl kernels build). A builder of their own, `hac-executor
 * --build`, makes the missing programs and writes all of them to the client's descriptor, which hacd only
 * passes on. One image is built at a time: the next client is told to retry. If that client is another
 * user's, it is that user's turn next. The time is charged to the user like a device's. */
#ifndef SERVER_KERNEL_IMAGE_H
#define SERVER_KERNEL_IMAGE_H

#include "executors/builder.h"
#include "sessions/session.h"

struct hac_server;
typedef struct hac_kernel_image_build hac_kernel_image_build;

/* The user who was refused while another user's image was built. */
typedef struct hac_kernel_image_turn {
    bool waits;
    uint64_t user;       /* its number */
    double virtual_time; /* of that user, when the user came */
    uint64_t since_ns; /* from then on, or from the end of the image that is built, the turn lasts a while */
} hac_kernel_image_turn;

/* Starts building an image. Request `serial` is answered when the image is complete. `fd` is borrowed. */
HAC_MUST_USE hac_status hac_kernel_image_begin(struct hac_server *server, hac_session *session,
                                               uint64_t serial, const char *device, int fd, hac_error *err);

/* The session ends: the image that it waits for is given up. */
void hac_kernel_image_forget_session(struct hac_server *server, const hac_session *session);

/* Kills a builder that has been silent for too long. Called a few times a second. */
void hac_kernel_image_check(struct hac_server *server);

/* Gives the image up; the client is told. */
void hac_kernel_image_kill(struct hac_server *server);

#endif
