/* SPDX-License-Identifier: Apache-2.0 */
#include "wire.h"

#include <endian.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "proto/frame.h"
#include "proto/messages.h"

#define RULES_MAX 128 /* message types */

/* The part of a body that has not been read yet. */
typedef struct span {
    const uint8_t *at;
    const uint8_t *end;
} span;

/* A message type with its limits. */
typedef struct rules {
    const ProtobufCMessageDescriptor *message;
    const hac_message_limits *limits; /* NULL: none */
    const hac_field_limit *fields[HAC_WIRE_MAX_FIELDS];
    const struct rules *parts[HAC_WIRE_MAX_FIELDS]; /* the rules of the fields that are messages */
} rules;

/* One message of the tree during the check. */
typedef struct walk {
    const ProtobufCMessageDescriptor *message;
    const rules *rules;
    unsigned depth;
    bool oneof_seen;
    uint32_t filled; /* bit of a field: the field is there, and neither zero nor empty */
    uint16_t
        count[HAC_WIRE_MAX_FIELDS]; /* number of elements of each field; a body has less than 2^16 bytes */
} walk;

static hac_status check_message(const rules *r, span body, unsigned depth, hac_error *err);

static const hac_field_limit *limit_of(const hac_message_limits *limits,
                                       const ProtobufCFieldDescriptor *field)
{
    static const hac_field_limit none = {0};
    for (size_t i = 0; limits != NULL && i < limits->n_fields; i++)
        if (strcmp(limits->fields[i].field, field->name) == 0)
            return &limits->fields[i];
    return &none;
}

/* ---- the rules of all types, looked up once: names are slow to look up ---- */

static rules all_rules[RULES_MAX];
static size_t n_rules;

/* NULL: there are too many types, or a type has too many fields. */
static const rules *rules_of(const ProtobufCMessageDescriptor *message, hac_limits_of_message limits_of)
{
    for (size_t i = 0; i < n_rules; i++)
        if (all_rules[i].message == message)
            return &all_rules[i];
    if (n_rules == RULES_MAX || message->n_fields > HAC_WIRE_MAX_FIELDS)
        return NULL;
    rules *r = &all_rules[n_rules++];
    *r = (rules){.message = message, .limits = limits_of(message)};
    for (unsigned i = 0; i < message->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->fields[i];
        r->fields[i] = limit_of(r->limits, field);
        if (field->type == PROTOBUF_C_TYPE_MESSAGE)
            r->parts[i] = rules_of(field->descriptor, limits_of);
    }
    return r;
}

void hac_wire_learn(const ProtobufCMessageDescriptor *message, hac_limits_of_message limits_of)
{
    (void)rules_of(message, limits_of);
}

static hac_status fail(hac_error *err, const char *what)
{
    return hac_fail(err, HAC_PROTOCOL, "%s", what);
}

/* Reads a varint of at most 64 bits, which must have the minimal length. */
static bool read_varint(span *s, uint64_t *ret)
{
    uint64_t value = 0;
    for (unsigned shift = 0; s->at < s->end; shift += 7) {
        uint8_t byte = *s->at++;
        if (shift == 63 && byte > 1)
            return false;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret = value;
            return byte != 0 || shift == 0;
        }
    }
    return false;
}

static bool read_part(span *s, span *ret)
{
    uint64_t bytes;
    if (!read_varint(s, &bytes) || bytes > (uint64_t)(s->end - s->at))
        return false;
    *ret = (span){s->at, s->at + bytes};
    s->at += bytes;
    return true;
}

static bool is_enumerator(const ProtobufCEnumDescriptor *type, uint64_t value)
{
    for (unsigned i = 0; i < type->n_values; i++)
        if ((uint64_t)(int64_t)type->values[i].value == value)
            return true;
    return false;
}

/* The largest value of an integer type; 0: the type is not an integer. */
static uint64_t type_max(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_BOOL:
        return 1;
    case PROTOBUF_C_TYPE_UINT32:
        return UINT32_MAX;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_ENUM:
        return INT32_MAX;
    case PROTOBUF_C_TYPE_UINT64:
        return UINT64_MAX;
    default:
        return 0;
    }
}

static hac_status check_number(const ProtobufCFieldDescriptor *field, const hac_field_limit *limit, span *in,
                               bool *filled, hac_error *err)
{
    uint64_t value, max = type_max(field->type);
    if (!read_varint(in, &value))
        return fail(err, "is no number");
    *filled = value != 0;
    if (limit->max != 0 && limit->max < max)
        max = limit->max;
    bool negative = field->type == PROTOBUF_C_TYPE_INT32 && value > INT64_MAX;
    uint64_t magnitude = negative ? -value : value;
    if (magnitude > max)
        return hac_fail(err, HAC_PROTOCOL, "is %s%llu, at most %llu is allowed", negative ? "-" : "",
                        (unsigned long long)magnitude, (unsigned long long)max);
    if (field->type == PROTOBUF_C_TYPE_ENUM && !is_enumerator(field->descriptor, value))
        return hac_fail(err, HAC_PROTOCOL, "%llu is not one of its values", (unsigned long long)value);
    return HAC_OK;
}

static hac_status check_double(const hac_field_limit *limit, span *in, bool *filled, hac_error *err)
{
    uint64_t bits;
    double value;
    if ((size_t)(in->end - in->at) < sizeof bits)
        return fail(err, "ends early");
    memcpy(&bits, in->at, sizeof bits);
    in->at += sizeof bits;
    bits = le64toh(bits);
    memcpy(&value, &bits, sizeof value);
    *filled = value != 0;
    if (!isfinite(value))
        return fail(err, "is not a finite number");
    if (value < 0 && (limit->flags & HAC_FIELD_NEGATIVE) == 0)
        return fail(err, "is negative");
    return HAC_OK;
}

static hac_status check_string(span s, hac_error *err)
{
    while (s.at < s.end) {
        size_t length = hac_utf8_sequence((const char *)s.at, (size_t)(s.end - s.at));
        if (length == 0)
            return fail(err, "is not valid UTF-8");
        if (*s.at == 0)
            return fail(err, "has a NUL in it");
        s.at += length;
    }
    return HAC_OK;
}

/* Checks a length and that many bytes: a string, bytes, or a message with these rules. */
static hac_status check_part(const ProtobufCFieldDescriptor *field, const hac_field_limit *limit,
                             const rules *r, unsigned depth, span *in, bool *filled, hac_error *err)
{
    span part;
    if (!read_part(in, &part))
        return fail(err, "ends early");
    *filled = true;
    if (field->type == PROTOBUF_C_TYPE_MESSAGE)
        return check_message(r, part, depth + 1, err);
    size_t bytes = (size_t)(part.end - part.at), max = limit->bytes;
    if (max == 0)
        max = field->type == PROTOBUF_C_TYPE_STRING ? HAC_WIRE_STRING_MAX : HAC_INLINE_MAX;
    if (bytes > max)
        return hac_fail(err, HAC_PROTOCOL, "has %zu bytes, at most %zu are allowed", bytes, max);
    *filled = bytes > 0;
    return field->type == PROTOBUF_C_TYPE_STRING ? check_string(part, err) : HAC_OK;
}

static hac_status count_one(walk *w, const ProtobufCFieldDescriptor *field, const hac_field_limit *limit,
                            hac_error *err)
{
    uint32_t max = field->label == PROTOBUF_C_LABEL_REPEATED ? limit->count : 1;
    if (w->count[field - w->message->fields]++ < max)
        return HAC_OK;
    if (max == 1)
        return fail(err, "is there twice");
    return hac_fail(err, HAC_PROTOCOL, "has more than %u elements", (unsigned)max);
}

/* Checks repeated numbers in packed form, which all proto3 encoders write. */
static hac_status check_packed(walk *w, const ProtobufCFieldDescriptor *field, const hac_field_limit *limit,
                               span *in, hac_error *err)
{
    span part;
    if (!read_part(in, &part) || part.at == part.end)
        return fail(err, "is no list of numbers");
    hac_status status = HAC_OK;
    while (part.at < part.end && status == HAC_OK) {
        bool filled;
        status = count_one(w, field, limit, err);
        if (status == HAC_OK)
            status = check_number(field, limit, &part, &filled, err);
    }
    return status;
}

static hac_status check_value(walk *w, const ProtobufCFieldDescriptor *field, unsigned wire_type, span *in,
                              hac_error *err)
{
    size_t index = (size_t)(field - w->message->fields);
    const hac_field_limit *limit = w->rules->fields[index];
    bool is_number = type_max(field->type) != 0, filled = false;
    if (is_number && field->label == PROTOBUF_C_LABEL_REPEATED &&
        wire_type == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
        return check_packed(w, field, limit, in, err);
    ProtobufCWireType right = is_number                               ? PROTOBUF_C_WIRE_TYPE_VARINT
                              : field->type == PROTOBUF_C_TYPE_DOUBLE ? PROTOBUF_C_WIRE_TYPE_64BIT
                                                                      : PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED;
    if (wire_type != right)
        return fail(err, "has another type");
    hac_status status = count_one(w, field, limit, err);
    if (status != HAC_OK)
        return status;
    if (is_number)
        status = check_number(field, limit, in, &filled, err);
    else if (right == PROTOBUF_C_WIRE_TYPE_64BIT)
        status = check_double(limit, in, &filled, err);
    else
        status = check_part(field, limit, w->rules->parts[index], w->depth, in, &filled, err);
    if (filled)
        w->filled |= UINT32_C(1) << index;
    else if (status == HAC_OK && field->label == PROTOBUF_C_LABEL_REPEATED &&
             (limit->flags & HAC_FIELD_NEEDED) != 0)
        return fail(err, "has an empty element");
    return status;
}

static const ProtobufCFieldDescriptor *find_field(const ProtobufCMessageDescriptor *message, uint64_t id)
{
    /* The fields are numbered from 1 without gaps, but nothing depends on that. */
    if (id >= 1 && id <= message->n_fields && message->fields[id - 1].id == id)
        return &message->fields[id - 1];
    for (unsigned i = 0; i < message->n_fields; i++)
        if (message->fields[i].id == id)
            return &message->fields[i];
    return NULL;
}

static hac_status check_field(walk *w, span *in, hac_error *err)
{
    uint64_t tag;
    if (!read_varint(in, &tag) || tag > UINT32_MAX)
        return fail(err, "is no protocol message");
    const ProtobufCFieldDescriptor *field = find_field(w->message, tag >> 3);
    if (field == NULL)
        return hac_fail(err, HAC_PROTOCOL, "has an unknown field %llu", (unsigned long long)(tag >> 3));
    hac_status status = check_value(w, field, tag & 7, in, err);
    if (status == HAC_OK && (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
        if (w->oneof_seen)
            status = fail(err, "is there beside another choice");
        w->oneof_seen = true;
    }
    if (status != HAC_OK)
        (void)hac_error_prefix(err, "%s", field->name);
    return status;
}

/* Checks for missing fields, after all fields have been read. */
static hac_status check_missing(const walk *w, hac_error *err)
{
    bool has_oneof = false;
    for (unsigned i = 0; i < w->message->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &w->message->fields[i];
        has_oneof = has_oneof || (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
        if (field->label != PROTOBUF_C_LABEL_REPEATED && (w->filled & (UINT32_C(1) << i)) == 0 &&
            (w->rules->fields[i]->flags & HAC_FIELD_NEEDED) != 0)
            return hac_fail(err, HAC_PROTOCOL, "%s: is missing", field->name);
    }
    if (has_oneof && !w->oneof_seen && (w->rules->limits == NULL || !w->rules->limits->optional_oneof))
        return fail(err, "is empty");
    return HAC_OK;
}

static hac_status check_message(const rules *r, span body, unsigned depth, hac_error *err)
{
    if (depth > HAC_WIRE_MAX_DEPTH)
        return fail(err, "is nested too deeply");
    if (r == NULL)
        return hac_fail(err, HAC_INTERNAL, "a message has no rules");
    walk w = {.message = r->message, .rules = r, .depth = depth};
    while (body.at < body.end) {
        hac_status status = check_field(&w, &body, err);
        if (status != HAC_OK)
            return status;
    }
    return check_missing(&w, err);
}

hac_status hac_wire_check(const ProtobufCMessageDescriptor *message, const uint8_t *body, size_t bytes,
                          hac_error *err)
{
    if (bytes > HAC_FRAME_BODY_MAX)
        return hac_fail(err, HAC_PROTOCOL, "%s: has %zu bytes, at most %d are allowed", message->short_name,
                        bytes, HAC_FRAME_BODY_MAX);
    const rules *r = NULL;
    for (size_t i = 0; i < n_rules && r == NULL; i++)
        if (all_rules[i].message == message)
            r = &all_rules[i];
    hac_status status = check_message(r, (span){body, body + bytes}, 1, err);
    if (status != HAC_OK)
        (void)hac_error_prefix(err, "%s", message->short_name);
    return status;
}
