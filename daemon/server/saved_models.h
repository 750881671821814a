/* SPDX-License-Identifier: Apache-2.0 */
/* The performance models' file in the state directory. It is replaced as a whole: a write that is broken off
 * leaves the old one. */
#ifndef SERVER_SAVED_MODELS_H
#define SERVER_SAVED_MODELS_H

struct hac_server;

/* Adds what the file holds to the models; damaged lines are left out, with a warning. */
void hac_saved_models_read(struct hac_server *server);

/* Has the models written on the thread pool, if anything was learnt, or could not be written before, and no
 * write is under way. */
void hac_saved_models_write(struct hac_server *server);

/* The same at once: at the end, when the loop has stopped. */
void hac_saved_models_write_now(struct hac_server *server);

#endif
