/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the daemon's JSON leniently: a field that is missing or has another type than expected counts as
 * absent, so that answers of an older or newer daemon can still be shown.
 */
#ifndef HACCTL_JSON_FIELDS_H
#define HACCTL_JSON_FIELDS_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "base/cleanup.h"
#include "base/error.h"

HAC_DEFINE_CLEANUP(cJSON *, cJSON_Delete)
#define hac_autojson hac_cleanup(cJSON_Delete_cleanup)

/* Parses an object; HAC_PROTOCOL if the text is not a JSON object. `what` names the object in the message. */
HAC_MUST_USE hac_status hac_json_parse_object(const char *text, const char *what, cJSON **ret,
                                              hac_error *err);

const char *hac_json_get_string(const cJSON *object, const char *key); /* NULL: none */
double hac_json_get_number(const cJSON *object, const char *key);      /* NAN: none */
bool hac_json_get_bool(const cJSON *object, const char *key, bool otherwise);
const cJSON *hac_json_get_array(const cJSON *object,
                                const char *key); /* NULL: none; cJSON_ArrayForEach accepts that */

/* Joins the array's strings and numbers with ", "; malloc'ed, NULL if there are none. */
char *hac_json_get_joined(const cJSON *object, const char *key);

#endif
