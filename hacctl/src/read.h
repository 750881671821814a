/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the daemon's JSON, liberally: a field that is missing or of another type than asked for is as if it
 * were not there, so that a newer or older daemon can still be listed.
 */
#ifndef HACCTL_READ_H
#define HACCTL_READ_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "base/cleanup.h"
#include "base/error.h"

HAC_DEFINE_CLEANUP(cJSON *, cJSON_Delete)
#define hac_autojson hac_cleanup(cJSON_Delete_cleanup)

/* Parses an object; HAC_PROTOCOL when it is none. `what` names it in the message. */
HAC_MUST_USE hac_status hac_read_object(const char *text, const char *what, cJSON **ret, hac_error *err);

const char *hac_read_string(const cJSON *object, const char *key); /* NULL: none */
double hac_read_number(const cJSON *object, const char *key);      /* NAN: none */
bool hac_read_bool(const cJSON *object, const char *key, bool otherwise);
const cJSON *hac_read_array(const cJSON *object,
                            const char *key); /* NULL: none; cJSON_ArrayForEach takes that */

/* The array's strings (and numbers), ", " between them; malloc'ed, NULL when there are none. */
char *hac_read_joined(const cJSON *object, const char *key);

#endif
