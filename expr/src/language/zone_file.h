/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time zones by name, from the system's tz database: files of RFC 8536 in the folder TZDIR, or in
 * /usr/share/zoneinfo. This is the only code of expr that reads files. It runs where a query is compiled,
 * with the rights of the user who wrote the query, and no name leaves the folder. Programs carry the rules
 * that it read.
 */
#ifndef EXPR_ZONE_FILE_H
#define EXPR_ZONE_FILE_H

#include "base/arena.h"
#include "program/time_zone.h"

#define HAC_ZONE_NAME_MAX 64

/* Reads the rules of a zone, named as in the database; upper and lower case are the same. HAC_INVALID:
 * there is no such zone, or its file is damaged; the message has the names that are near. `arena` is for
 * names. */
HAC_MUST_USE hac_status hac_zone_load(hac_arena *arena, const char *name, size_t bytes, hac_zone_rules *ret,
                                      hac_error *err);

/* The rules in the bytes of a file. HAC_INVALID: they are none. */
HAC_MUST_USE hac_status hac_zone_parse(const uint8_t *file, size_t bytes, hac_zone_rules *ret,
                                       hac_error *err);

#endif
