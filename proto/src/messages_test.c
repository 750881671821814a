/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder: round trips, what no message may look like on the wire, bombs, and rules for the .proto files.
 */
#include <malloc.h>
#include <sys/resource.h>
#include <time.h>

#include "base/cleanup.h"
#include "test_messages.h"
#include "validate.h"
#include "wire.h"

static hac_decoder *decoder;

static int set_up(void **state)
{
    return hac_test_fds_setup(state) != 0 || hac_decoder_new(&decoder, NULL) != HAC_OK;
}

static int tear_down(void **state)
{
    hac_decoder_free(decoder);
    hac_decoder_free(NULL);
    return hac_test_fds_teardown(state);
}

/* ---- bytes by hand --------------------------------------------------------------------------------- */

typedef struct bytes {
    size_t n;
    uint8_t at[2 * HAC_FRAME_MAX];
} bytes;

static void put_varint(bytes *b, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        b->at[b->n++] = (uint8_t)(value | 0x80);
    b->at[b->n++] = (uint8_t)value;
}

static void put_tag(bytes *b, uint32_t field, unsigned wire_type)
{
    put_varint(b, (uint64_t)field << 3 | wire_type);
}

static void put_number(bytes *b, uint32_t field, uint64_t value)
{
    put_tag(b, field, 0);
    put_varint(b, value);
}

static void put_part(bytes *b, uint32_t field, const void *part, size_t n)
{
    put_tag(b, field, 2);
    put_varint(b, n);
    memcpy(b->at + b->n, part, n);
    b->n += n;
}

static void refuse_bytes(hac_sample_kind kind, const bytes *b, const char *wanted)
{
    /* its own allocation: a read beyond its end is seen by the sanitizer */
    hac_autofree uint8_t *exact = malloc(b->n > 0 ? b->n : 1);
    assert_non_null(exact);
    memcpy(exact, b->at, b->n);
    refuse_body(decoder, kind, exact, b->n, 0, wanted);
}

/* A request of serial 1 and a member with these bytes in it. */
static void refuse_member(uint32_t member, const void *part, size_t n, const char *wanted)
{
    static bytes b;
    b.n = 0;
    put_number(&b, 1, 1);
    put_part(&b, member, part, n);
    refuse_bytes(HAC_SAMPLE_REQUEST, &b, wanted);
}
#define REFUSE_HELLO(literal, wanted) refuse_member(2, literal, sizeof(literal) - 1, wanted)

/* ---- round trips ----------------------------------------------------------------------------------- */

static void test_samples_come_back(void **state)
{
    (void)state;
    static hac_sample sample;
    static uint8_t again[HAC_FRAME_BODY_MAX];
    for (int kind = 0; kind < HAC_SAMPLE_KINDS; kind++) {
        for (size_t i = 0; i < hac_sample_count((hac_sample_kind)kind); i++) {
            hac_sample_get((hac_sample_kind)kind, i, &sample);
            const ProtobufCMessage *message = NULL;
            hac_error err = HAC_ERROR_NONE;
            if (decode_kind((hac_sample_kind)kind, decoder, sample.body, sample.bytes, sample.n_fds, &message,
                            &err))
                fail_msg("%s %s: %s", hac_sample_kind_names[kind], sample.name, err.message);
            size_t n = 0;
            assert_int_equal(hac_encode(message, again, &n, NULL), HAC_OK);
            assert_int_equal(n, sample.bytes);
            assert_memory_equal(again, sample.body, n);
        }
    }
}

static void test_every_member_has_a_sample(void **state)
{
    (void)state;
    const ProtobufCMessageDescriptor *tops[] = {
        &hac__client__request__descriptor, &hac__client__response__descriptor,
        &hac__executor__command__descriptor, &hac__executor__report__descriptor};
    static hac_sample sample;
    for (int kind = 0; kind < HAC_SAMPLE_KINDS; kind++) {
        for (unsigned f = 0; f < tops[kind]->n_fields; f++) {
            const ProtobufCFieldDescriptor *field = &tops[kind]->fields[f];
            bool found = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) == 0;
            for (size_t i = 0; i < hac_sample_count((hac_sample_kind)kind) && !found; i++) {
                hac_sample_get((hac_sample_kind)kind, i, &sample);
                const ProtobufCMessage *message = NULL;
                assert_int_equal(decode_kind((hac_sample_kind)kind, decoder, sample.body, sample.bytes,
                                             sample.n_fds, &message, NULL),
                                 HAC_OK);
                int chosen;
                memcpy(&chosen, (const char *)message + field->quantifier_offset, sizeof chosen);
                found = chosen == (int)field->id;
            }
            if (!found)
                fail_msg("no sample of %s.%s", tops[kind]->short_name, field->name);
        }
    }
}

static void test_fields_arrive(void **state)
{
    (void)state;
    static hac_sample_client c;
    static uint8_t body[HAC_FRAME_BODY_MAX];
    hac_sample_client_init(&c);
    hac_sample_choose(c.request, submit_sort, HAC__CLIENT__REQUEST__WHAT_SUBMIT_SORT, &c.sort);
    size_t n = 0;
    Hac__Client__Request *request = NULL;
    assert_int_equal(hac_encode(&c.request.base, body, &n, NULL), HAC_OK);
    assert_int_equal(hac_decode_request(decoder, body, n, 0, &request, NULL), HAC_OK);
    memset(body, 0xee, sizeof body); /* nothing points into the body */
    assert_int_equal(request->serial, 1);
    assert_int_equal(request->submit_sort->spec->type, 6);
    assert_int_equal(request->submit_sort->spec->n_fold_steps, 3);
    assert_int_equal(request->submit_sort->spec->fold_steps[2], 3);
    assert_int_equal(request->submit_sort->input->offset, 128);
    assert_string_equal(request->submit_sort->input->name, "na\xc3\xafve.bin");
    assert_string_equal(request->submit_sort->options->devices[1], "cpu.0");
    assert_int_equal(request->submit_sort->options->priority, -100);
    assert_true(request->submit_sort->options->deadline_seconds == 1.5);
    assert_null(request->submit_sort->payload);
}

/* ---- on the wire ----------------------------------------------------------------------------------- */

static void test_garbage(void **state)
{
    (void)state;
    static bytes b;
    for (int kind = 0; kind < HAC_SAMPLE_KINDS; kind++) {
        b.n = 0;
        refuse_bytes((hac_sample_kind)kind, &b, ""); /* nothing at all */
        memset(b.at, 0xff, sizeof b.at);
        b.n = 100;
        refuse_bytes((hac_sample_kind)kind, &b, "is no protocol message");
        memset(b.at, 0, 100);
        refuse_bytes((hac_sample_kind)kind, &b, "unknown field 0");
        unsigned seed = 3;
        const ProtobufCMessage *message;
        for (int round = 0; round < 20000; round++) {
            b.n = (size_t)rand_r(&seed) % 60;
            for (size_t i = 0; i < b.n; i++)
                b.at[i] = (uint8_t)(rand_r(&seed) >> 4);
            (void)decode_kind((hac_sample_kind)kind, decoder, b.at, b.n, 0, &message, NULL);
        }
    }
    b.n = HAC_FRAME_BODY_MAX + 1;
    refuse_bytes(HAC_SAMPLE_REQUEST, &b, "at most 65528 are allowed");
}

/* Every beginning of every sample: taken only if it says something whole, as that of a list may; in all
 * others the oneof is the last, and cut off. Never read beyond its end. */
static void test_truncation(void **state)
{
    (void)state;
    static hac_sample sample;
    for (int kind = 0; kind < HAC_SAMPLE_KINDS; kind++) {
        for (size_t i = 0; i < hac_sample_count((hac_sample_kind)kind); i++) {
            hac_sample_get((hac_sample_kind)kind, i, &sample);
            size_t step = sample.bytes > 1000 ? 97 : 1;
            for (size_t n = 0; n < sample.bytes; n += step) {
                hac_autofree uint8_t *exact = malloc(n > 0 ? n : 1);
                memcpy(exact, sample.body, n);
                const ProtobufCMessage *message;
                hac_status status =
                    decode_kind((hac_sample_kind)kind, decoder, exact, n, sample.n_fds, &message, NULL);
                bool is_list = strcmp(sample.name, "runs") == 0 || strcmp(sample.name, "dones") == 0;
                assert_true(status == HAC_PROTOCOL || (status == HAC_OK && is_list && n > 0));
            }
        }
    }
}

static void test_single_bit_flips(void **state)
{
    (void)state;
    static hac_sample sample;
    for (int kind = 0; kind < HAC_SAMPLE_KINDS; kind++) {
        for (size_t i = 0; i < hac_sample_count((hac_sample_kind)kind); i++) {
            hac_sample_get((hac_sample_kind)kind, i, &sample);
            size_t n = sample.bytes < 600 ? sample.bytes : 600;
            for (size_t bit = 0; bit < n * 8; bit++) {
                const ProtobufCMessage *message;
                sample.body[bit / 8] ^= (uint8_t)(1u << bit % 8);
                (void)decode_kind((hac_sample_kind)kind, decoder, sample.body, sample.bytes, sample.n_fds,
                                  &message, NULL);
                sample.body[bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
        }
    }
}

static void test_strings_on_the_wire(void **state)
{
    (void)state;
    REFUSE_HELLO("\x12\x08mm\0evil!", "hello: software: has a NUL in it");
    REFUSE_HELLO("\x12\x01\0", "has a NUL in it");
    REFUSE_HELLO("\x12\x02\xc0\x80", "is not valid UTF-8");
    REFUSE_HELLO("\x12\x03\xed\xa0\x80", "is not valid UTF-8");
    REFUSE_HELLO("\x12\x02"
                 "a\xe2",
                 "is not valid UTF-8");
    REFUSE_HELLO("\x12\x05"
                 "abcd",
                 "ends early");
    REFUSE_HELLO("\x12\xff\xff\xff\xff\x0f", "ends early");
    REFUSE_HELLO("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "ends early"); /* a length of 2^64 - 1 */
    REFUSE_HELLO("\x12", "ends early");
}

static void test_numbers_on_the_wire(void **state)
{
    (void)state;
    REFUSE_HELLO("\x08", "hello: version: is no number");
    REFUSE_HELLO("\x08\x80", "is no number");
    REFUSE_HELLO("\x08\x81\x00", "is no number");                                     /* not minimal */
    REFUSE_HELLO("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", "is no number");     /* 2^64 */
    REFUSE_HELLO("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "is no number"); /* 11 bytes */
    REFUSE_HELLO("\x08\x80\x80\x80\x80\x10", "is 4294967296, at most 4294967295 is allowed"); /* 2^32 */
    REFUSE_HELLO("\x08\x01\x08\x02", "version: is there twice");
    REFUSE_HELLO("\x12\x01"
                 "a\x12\x01"
                 "b",
                 "software: is there twice");
    REFUSE_HELLO("\x0a\x01"
                 "a",
                 "version: has another type");
    REFUSE_HELLO("\x0d\x01\x02\x03\x04", "version: has another type"); /* fixed32 */
    REFUSE_HELLO("\x09\x01\x02\x03\x04\x05\x06\x07\x08", "version: has another type");
    REFUSE_HELLO("\x0b", "version: has another type"); /* a group */
    REFUSE_HELLO("\x0c", "version: has another type");
    REFUSE_HELLO("\x10\x01", "software: has another type");
    REFUSE_HELLO("\x18\x01", "unknown field 3");
    REFUSE_HELLO("\xf8\xff\xff\xff\x0f\x01", "unknown field 536870911");
    REFUSE_HELLO("\xf8\xff\xff\xff\x1f\x01", "is no protocol message"); /* a tag of more than 32 bits */
    refuse_member(3, "\x08\x01\x10\x02", 4, "buffer_alloc: growable: is 2, at most 1 is allowed");
    refuse_member(8, "\x08\x80\x80\x80\x80\x08", 6, "query: topic: is 2147483648");
    refuse_member(13, "\x1a\x02\x29\x01", 4, "submit_calibrate: options: deadline_seconds: ends early");
    refuse_member(13, "\x1a\x06\x20\x80\x80\x80\x80\x08", 8, "options: priority: is 2147483648");
}

static void test_choices_on_the_wire(void **state)
{
    (void)state;
    static bytes b;
    b.n = 0;
    put_number(&b, 1, 1);
    put_part(&b, 14, "", 0); /* drain */
    put_part(&b, 15, "", 0); /* reload */
    refuse_bytes(HAC_SAMPLE_REQUEST, &b, "Request: reload: is there beside another choice");
    b.n = 0;
    put_number(&b, 1, 1);
    put_part(&b, 14, "", 0);
    put_part(&b, 14, "", 0);
    refuse_bytes(HAC_SAMPLE_REQUEST, &b, "Request: drain: is there twice");
    b.n = 0;
    put_number(&b, 1, 1);
    put_part(&b, 14, "\x08\x01", 2);
    refuse_bytes(HAC_SAMPLE_REQUEST, &b, "Request: drain: has an unknown field 1");
}

/* A SortSpec's fold_steps, packed and not: what proto3 allows, and no more. */
static void check_fold_steps(const void *part, size_t n, const char *wanted)
{
    static bytes spec, sort, request;
    spec.n = sort.n = request.n = 0;
    put_number(&spec, 1, 1);
    memcpy(spec.at + spec.n, part, n);
    spec.n += n;
    put_part(&sort, 1, spec.at, spec.n);
    put_part(&sort, 2, "\x10\x01", 2);
    put_part(&sort, 4, "", 0);
    put_number(&request, 1, 1);
    put_part(&request, 6, sort.at, sort.n);
    if (wanted != NULL) {
        refuse_bytes(HAC_SAMPLE_REQUEST, &request, wanted);
        return;
    }
    Hac__Client__Request *back = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_decode_request(decoder, request.at, request.n, 0, &back, &err) != HAC_OK)
        fail_msg("%s", err.message);
    assert_int_equal(back->submit_sort->spec->n_fold_steps, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(back->submit_sort->spec->fold_steps[i], i + 1);
}
#define FOLD_STEPS(literal, wanted) check_fold_steps(literal, sizeof(literal) - 1, wanted)

static void test_lists_on_the_wire(void **state)
{
    (void)state;
    FOLD_STEPS("\x3a\x03\x01\x02\x03", NULL);
    FOLD_STEPS("\x38\x01\x38\x02\x38\x03", NULL);
    FOLD_STEPS("\x38\x01\x3a\x02\x02\x03", NULL);
    FOLD_STEPS("\x3a\x00", "fold_steps: is no list of numbers");
    FOLD_STEPS("\x3a\x02\x01\x80", "fold_steps: is no number");
    FOLD_STEPS("\x3a\x05\x80\x80\x80\x80\x10", "fold_steps: is 4294967296");
    FOLD_STEPS("\x3a\x05\x01", "fold_steps: is no list");
    FOLD_STEPS("\x3d\x01\x00\x00\x00", "fold_steps: has another type");
    char many[2 * 65];
    for (size_t i = 0; i < sizeof many; i += 2)
        memcpy(many + i, "\x38\x01", 2);
    check_fold_steps(many, sizeof many, "fold_steps: has more than 64 elements");
}

/* ---- bombs ----------------------------------------------------------------------------------------- */

static long heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return (long)(info.uordblks + info.hblkhd);
}

static void detonate(hac_sample_kind kind, const bytes *b)
{
    long heap = heap_bytes();
    clock_t start = clock();                        /* of this process: others may want the processor, too */
    refuse_body(decoder, kind, b->at, b->n, 0, ""); /* decodes twice */
    assert_true((double)(clock() - start) < 0.1 * CLOCKS_PER_SEC);
    assert_true(heap_bytes() - heap < HAC_DECODE_MAX); /* 0: nothing is allocated beside the arena */
}

static void test_nested_16000_deep(void **state)
{
    (void)state;
    static bytes b, inner;
    for (int kind = 0; kind < HAC_SAMPLE_KINDS; kind++) {
        for (uint32_t field = 1; field <= 15; field++) {
            b.n = 0; /* from the inside out: each level is a length and what is in it */
            size_t at = sizeof b.at;
            for (int depth = 0; depth < 16000 && sizeof b.at - at < HAC_FRAME_BODY_MAX - 4; depth++) {
                inner.n = 0;
                put_tag(&inner, field, 2);
                put_varint(&inner, sizeof b.at - at);
                at -= inner.n;
                memcpy(b.at + at, inner.at, inner.n);
            }
            b.n = sizeof b.at - at;
            memmove(b.at, b.at + at, b.n);
            detonate((hac_sample_kind)kind, &b);
        }
    }
}

/* Fill the frame with `unit`: what protobuf-c makes 13 to 60 times as large (empty messages and strings,
 * unknown varints, unpacked booleans, packed numbers). */
static void fill(bytes *b, const void *unit, size_t n)
{
    while (b->n + n <= HAC_FRAME_BODY_MAX) {
        memcpy(b->at + b->n, unit, n);
        b->n += n;
    }
}

static void test_amplification(void **state)
{
    (void)state;
    static bytes b, packed;
    for (int kind = 0; kind < HAC_SAMPLE_KINDS; kind++) {
        for (uint32_t field = 1; field <= 31; field++) {
            for (unsigned wire_type = 0; wire_type < 8; wire_type++) {
                uint8_t unit[12] = {0};
                bytes *u = &packed;
                u->n = 0;
                put_tag(u, field, wire_type);
                memcpy(unit, u->at, u->n);
                b.n = 0;
                fill(&b, unit, u->n + (wire_type == 1 ? 8 : wire_type == 5 ? 4 : 1));
                detonate((hac_sample_kind)kind, &b);
            }
        }
    }
    /* the same one level down, in a list of messages, of strings and of numbers */
    static const struct {
        hac_sample_kind kind;
        uint32_t member, list;
    } lists[] = {{HAC_SAMPLE_REQUEST, 7, 6}, {HAC_SAMPLE_REQUEST, 13, 1}, {HAC_SAMPLE_COMMAND, 6, 7},
                 {HAC_SAMPLE_COMMAND, 6, 8}, {HAC_SAMPLE_COMMAND, 7, 1},  {HAC_SAMPLE_REPORT, 1, 1},
                 {HAC_SAMPLE_REPORT, 3, 5},  {HAC_SAMPLE_REPORT, 4, 7}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        static bytes list;
        uint8_t unit[2] = {(uint8_t)(lists[i].list << 3 | 2), 0};
        list.n = b.n = 0;
        fill(&list, unit, sizeof unit);
        list.n -= 16;
        put_part(&b, lists[i].member, list.at, list.n);
        detonate(lists[i].kind, &b);
        static uint8_t numbers[60000]; /* one packed list */
        list.n = b.n = 0;
        put_part(&list, lists[i].list, numbers, sizeof numbers);
        put_part(&b, lists[i].member, list.at, list.n);
        detonate(lists[i].kind, &b);
    }
}

/* The second line of defence: a bomb that the wire check would not know ends at the arena's edge. */
static void test_arena_ends(void **state)
{
    (void)state;
    static bytes b;
    static const struct {
        const ProtobufCMessageDescriptor *type;
        uint8_t unit[2];
    } bombs[] = {
        {&hac__client__plan_sort__descriptor, {6 << 3 | 2, 0}}, /* empty messages */
        {&hac__executor__probe_report__descriptor, {1 << 3 | 2, 0}},
        {&hac__executor__build__descriptor, {1 << 3 | 2, 0}}, /* empty strings */
        {&hac__client__empty__descriptor, {1 << 3, 1}},       /* unknown numbers */
    };
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
        b.n = 0;
        fill(&b, bombs[i].unit, sizeof bombs[i].unit);
        long heap = heap_bytes();
        assert_null(protobuf_c_message_unpack(bombs[i].type, hac_decoder_allocator(decoder), b.n, b.at));
        assert_int_equal(heap_bytes(), heap);
    }
    ProtobufCAllocator *a = hac_decoder_allocator(decoder);
    assert_null(a->alloc(a->allocator_data, SIZE_MAX));
    assert_null(a->alloc(a->allocator_data, HAC_DECODE_MAX + 1));
    size_t total = 0;
    for (uint8_t *memory; (memory = a->alloc(a->allocator_data, 1000)) != NULL; total += 1000) {
        assert_int_equal((uintptr_t)memory % 16, 0);
        memset(memory, 0xaa, 1000);
    }
    assert_true(total > HAC_DECODE_MAX - HAC_DECODE_MAX / 20 && total <= HAC_DECODE_MAX);
}

/* The largest messages that are valid fit the arena, with room to spare. */
static void test_largest_messages_fit(void **state)
{
    (void)state;
    static hac_sample_client c;
    static hac_sample_executor e;
    hac_sample_client_init(&c);
    static char key[200];
    memset(key, 'k', sizeof key - 1);
    c.plan.n_devices = 16;
    c.device.n_capability = 32;
    c.capability.key = key;
    c.capability.items_per_second = 0;
    for (size_t length = 1; length < sizeof key; length += 7) {
        key[length] = '\0';
        hac_sample_choose(c.request, plan_sort, HAC__CLIENT__REQUEST__WHAT_PLAN_SORT, &c.plan);
        if (protobuf_c_message_get_packed_size(&c.request.base) > HAC_FRAME_BODY_MAX)
            break;
        accept(decoder, HAC_SAMPLE_REQUEST, &c.request.base, 0);
        key[length] = 'k';
    }
    hac_sample_executor_init(&e);
    e.probe.n_devices = 64;
    hac_sample_choose(e.report, probe, HAC__EXECUTOR__REPORT__WHAT_PROBE, &e.probe);
    accept(decoder, HAC_SAMPLE_REPORT, &e.report.base, 0);
}

static void test_steady_state_does_not_allocate(void **state)
{
    (void)state;
    static hac_sample sample;
    long heap = heap_bytes();
    for (int round = 0; round < 100; round++) {
        for (size_t i = 0; i < hac_sample_count(HAC_SAMPLE_COMMAND); i++) {
            hac_sample_get(HAC_SAMPLE_COMMAND, i, &sample);
            const ProtobufCMessage *message = NULL;
            assert_int_equal(decode_kind(HAC_SAMPLE_COMMAND, decoder, sample.body, sample.bytes, sample.n_fds,
                                         &message, NULL),
                             HAC_OK);
        }
    }
    assert_int_equal(heap_bytes(), heap);
}

/* ---- rules for the .proto files -------------------------------------------------------------------- */

/* Walks the types below `type`; `path` holds those above it. */
static void check_not_recursive(const ProtobufCMessageDescriptor *type,
                                const ProtobufCMessageDescriptor **path, size_t depth)
{
    for (size_t i = 0; i < depth; i++)
        if (path[i] == type)
            fail_msg("message %s contains itself", type->name);
    assert_true(depth < HAC_WIRE_MAX_DEPTH);
    path[depth] = type;
    for (unsigned i = 0; i < type->n_fields; i++)
        if (type->fields[i].type == PROTOBUF_C_TYPE_MESSAGE)
            check_not_recursive(type->fields[i].descriptor, path, depth + 1);
}

static const ProtobufCFieldDescriptor *field_named(const ProtobufCMessageDescriptor *type, const char *name)
{
    for (unsigned i = 0; i < type->n_fields; i++)
        if (strcmp(type->fields[i].name, name) == 0)
            return &type->fields[i];
    return NULL;
}

static bool has_count(const ProtobufCMessageDescriptor *type, const char *field)
{
    const hac_message_limits *limits = hac_limits_of(type);
    for (size_t i = 0; limits != NULL && i < limits->n_fields; i++)
        if (strcmp(limits->fields[i].field, field) == 0)
            return limits->fields[i].count > 0;
    return false;
}

/* What wire.c takes for granted of a message type. */
static void check_type(const ProtobufCMessageDescriptor *type)
{
    assert_true(type->n_fields <= HAC_WIRE_MAX_FIELDS);
    unsigned oneof = 0;
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        switch (field->type) {
        case PROTOBUF_C_TYPE_UINT32:
        case PROTOBUF_C_TYPE_UINT64:
        case PROTOBUF_C_TYPE_INT32:
        case PROTOBUF_C_TYPE_BOOL:
        case PROTOBUF_C_TYPE_ENUM:
        case PROTOBUF_C_TYPE_STRING:
        case PROTOBUF_C_TYPE_BYTES:
        case PROTOBUF_C_TYPE_MESSAGE:
            break;
        case PROTOBUF_C_TYPE_DOUBLE:
            assert_true(field->label != PROTOBUF_C_LABEL_REPEATED); /* packed doubles are not checked */
            break;
        default:
            fail_msg("%s.%s: wire.c does not check this type", type->name, field->name);
        }
        assert_true(field->label == PROTOBUF_C_LABEL_NONE || field->label == PROTOBUF_C_LABEL_REPEATED ||
                    field->type == PROTOBUF_C_TYPE_MESSAGE);
        if (field->label == PROTOBUF_C_LABEL_REPEATED && !has_count(type, field->name))
            fail_msg("%s.%s: repeated, but without a limit", type->name, field->name);
        if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
            assert_true(oneof == 0 || oneof == field->quantifier_offset); /* one oneof a message */
            oneof = field->quantifier_offset;
        }
        if (field->type == PROTOBUF_C_TYPE_MESSAGE)
            check_type(field->descriptor);
    }
}

static void test_message_types(void **state)
{
    (void)state;
    const ProtobufCMessageDescriptor *tops[] = {
        &hac__client__request__descriptor, &hac__client__response__descriptor,
        &hac__executor__command__descriptor, &hac__executor__report__descriptor};
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
        const ProtobufCMessageDescriptor *path[HAC_WIRE_MAX_DEPTH];
        check_not_recursive(tops[i], path, 0);
        check_type(tops[i]);
    }
}

static void check_table(const hac_message_limits *table)
{
    for (; table->message != NULL; table++) {
        assert_ptr_equal(hac_limits_of(table->message), table); /* once only */
        for (size_t i = 0; i < table->n_fields; i++) {
            const ProtobufCFieldDescriptor *field = field_named(table->message, table->fields[i].field);
            if (field == NULL)
                fail_msg("%s has no field %s", table->message->name, table->fields[i].field);
            assert_int_equal(table->fields[i].count > 0, field->label == PROTOBUF_C_LABEL_REPEATED);
        }
    }
}

static void test_tables(void **state)
{
    (void)state;
    check_table(hac_client_limits);
    check_table(hac_executor_limits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_come_back),
        cmocka_unit_test(test_every_member_has_a_sample),
        cmocka_unit_test(test_fields_arrive),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_single_bit_flips),
        cmocka_unit_test(test_strings_on_the_wire),
        cmocka_unit_test(test_numbers_on_the_wire),
        cmocka_unit_test(test_choices_on_the_wire),
        cmocka_unit_test(test_lists_on_the_wire),
        cmocka_unit_test(test_nested_16000_deep),
        cmocka_unit_test(test_amplification),
        cmocka_unit_test(test_arena_ends),
        cmocka_unit_test(test_largest_messages_fit),
        cmocka_unit_test(test_steady_state_does_not_allocate),
        cmocka_unit_test(test_message_types),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
