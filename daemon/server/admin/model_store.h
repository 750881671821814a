/* SPDX-License-Identifier: Apache-2.0 */
/* The file of the performance models in the state directory. It is replaced as a whole: an interrupted write
 * leaves the old file. */
#ifndef SERVER_MODEL_STORE_H
#define SERVER_MODEL_STORE_H

struct hac_server;

/* Adds the contents of the file to the models. Damaged lines are skipped with a warning. */
void hac_model_store_read(struct hac_server *server);

/* The models are written so often. */
#define HAC_MODEL_STORE_SECONDS 5.0
/* Writes the models on the thread pool if they have changed or the last write failed, unless a write is
 * running. */
void hac_model_store_write(struct hac_server *server);

/* The same synchronously, once the loop has stopped. */
void hac_model_store_write_now(struct hac_server *server);

#endif
