/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first half of validation: a walk over the packed bytes of a message, before protobuf-c sees them.
 * Packed bytes still show what is lost in C structures (NULs inside strings, unknown and doubled fields), and
 * what is refused here never costs memory. Encoding: https://protobuf.dev/programming-guides/encoding/
 *
 * Checked for every message, without a line in a table:
 * - every field is known, has its wire type, and comes once (unless repeated); a oneof has exactly one
 * member;
 * - varints are minimal and fit their type, booleans are 0 or 1, enumerators exist, doubles are finite and ≥
 * 0;
 * - strings are valid UTF-8 without NUL, at most HAC_WIRE_STRING_MAX bytes; bytes at most HAC_INLINE_MAX;
 * - messages nest at most HAC_WIRE_MAX_DEPTH deep.
 * A table row widens or narrows that for one field. A repeated field has a row: without one it is refused.
 *
 * The second half, client_messages.c and executor_messages.c, checks what fields say about each other.
 */
#ifndef HAC_WIRE_H
#define HAC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

#include "base/error.h"

#define HAC_WIRE_MAX_DEPTH   8
#define HAC_WIRE_MAX_FIELDS  32  /* of one message type */
#define HAC_WIRE_STRING_MAX  255 /* bytes of a name */
#define HAC_WIRE_MESSAGE_MAX 511 /* bytes of a text for people: what hac_error holds */
#define HAC_WIRE_PATH_MAX    4095
#define HAC_WIRE_BYTES_MAX   ((uint64_t)INT64_MAX) /* sizes and offsets: what off_t holds */

enum {
    HAC_FIELD_NEEDED = 1,  /* numbers: not 0; strings and bytes: not empty; messages: present */
    HAC_FIELD_NEGATIVE = 2 /* doubles: may be below 0 */
};

typedef struct hac_field_limit {
    const char *field; /* its name in the .proto file */
    unsigned flags;
    uint64_t max;   /* numbers: the largest value (of an int32: the largest magnitude); 0: the type's */
    uint32_t bytes; /* strings and bytes: the largest length; 0: as above */
    uint32_t count; /* repeated fields: the most elements */
} hac_field_limit;

typedef struct hac_message_limits {
    const ProtobufCMessageDescriptor *message; /* NULL ends a table */
    bool optional_oneof;                       /* its oneof may be empty */
    const hac_field_limit *fields;
    size_t n_fields;
} hac_message_limits;

/* Row of a table: HAC_LIMITS(hac__client__hello, false, {"version", …}, …). */
#define HAC_LIMITS(type, optional_oneof_, ...)                                                               \
    {                                                                                                        \
        &type##__descriptor, optional_oneof_, (const hac_field_limit[]){__VA_ARGS__},                        \
            sizeof((const hac_field_limit[]){__VA_ARGS__}) / sizeof(hac_field_limit)                         \
    }

extern const hac_message_limits hac_client_limits[];
extern const hac_message_limits hac_executor_limits[];

/* The row of that type of message in the tables, or NULL. */
const hac_message_limits *hac_limits_of(const ProtobufCMessageDescriptor *message);
typedef const hac_message_limits *(*hac_limits_of_message)(const ProtobufCMessageDescriptor *message);

/* Looks up, once, the limits of a type of message and of the types in it. Not for several threads at once. */
void hac_wire_learn(const ProtobufCMessageDescriptor *message, hac_limits_of_message limits_of);

/* Checks a body of a type that was learnt. HAC_PROTOCOL with "field: field: what is wrong". */
HAC_MUST_USE hac_status hac_wire_check(const ProtobufCMessageDescriptor *message, const uint8_t *body,
                                       size_t bytes, hac_error *err);

#endif
