/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images of device programs for clients (hacctl kernels build). A builder of its own, `hac-executor --build`,
 * makes what is missing and writes all of it to the client's descriptor, which hacd only passes on. One at a
 * time: the next client is told to try again.
 */
#ifndef SERVER_IMAGE_H
#define SERVER_IMAGE_H

#include "builder.h"
#include "session.h"

typedef struct hac_image_build hac_image_build;

/* Starts it; the answer to request `serial` comes when the image is whole. `fd` is borrowed. */
HAC_MUST_USE hac_status hac_image_begin(struct hac_server *server, hac_session *session, uint64_t serial,
                                        const char *device, int fd, hac_error *err);

/* The session is going away: what it waits for is broken off. */
void hac_image_forget_session(struct hac_server *server, const hac_session *session);

/* Kills a builder that says nothing for too long. Called a few times a second. */
void hac_image_check(struct hac_server *server);

/* Breaks it off; the client is told. */
void hac_image_kill(struct hac_server *server);

#endif
