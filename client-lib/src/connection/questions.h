/* SPDX-License-Identifier: Apache-2.0 */
/* Requests whose response is a text. */
#ifndef CLIENT_QUESTIONS_H
#define CLIENT_QUESTIONS_H

#include "connection.h"

/* Sends `request` and waits for the Text response. *ret_text is malloc'ed and NUL-terminated. */
HAC_MUST_USE hac_status hac_client_call_text(hac_client *client, Hac__Client__Request *request,
                                             char **ret_text, hac_error *err);

#endif
