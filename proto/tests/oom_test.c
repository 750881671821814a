/* SPDX-License-Identifier: Apache-2.0 */
/* Memory runs out while messages are decoded: at each piece that protobuf-c takes of the arena, alone and
 * with all behind it, and at those of a decoder's own. */
#include <errno.h>
#include <sys/mman.h>

#include "base/test_oom.h"
#include "test_messages.h"

/* The linker puts these before the functions of the same name. */
ProtobufCMessage *__real_protobuf_c_message_unpack(const ProtobufCMessageDescriptor *type,
                                                   ProtobufCAllocator *allocator, size_t bytes,
                                                   const uint8_t *data);
ProtobufCMessage *__wrap_protobuf_c_message_unpack(const ProtobufCMessageDescriptor *type,
                                                   ProtobufCAllocator *allocator, size_t bytes,
                                                   const uint8_t *data);
void *__real_mmap(void *address, size_t bytes, int rights, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t bytes, int rights, int flags, int fd, off_t offset);

/* ---- the arena ---- */

typedef struct failing {
    ProtobufCAllocator *arena;
    long left; /* pieces before the one that fails; negative: it has */
    bool all;  /* those behind it, too */
} failing;

static long first_to_fail;
static bool all_fail, has_failed;

static void *take_piece(void *context, size_t size)
{
    failing *f = context;
    bool fails = f->left == 0 || (f->left < 0 && f->all);
    f->left--;
    has_failed |= fails;
    return fails ? NULL : f->arena->alloc(f->arena->allocator_data, size);
}

static void give_piece(void *context, void *piece)
{
    failing *f = context;
    f->arena->free(f->arena->allocator_data, piece);
}

ProtobufCMessage *__wrap_protobuf_c_message_unpack(const ProtobufCMessageDescriptor *type,
                                                   ProtobufCAllocator *allocator, size_t bytes,
                                                   const uint8_t *data)
{
    failing f = {allocator, first_to_fail, all_fail};
    ProtobufCAllocator instead = {take_piece, give_piece, &f};
    return __real_protobuf_c_message_unpack(type, first_to_fail < 0 ? allocator : &instead, bytes, data);
}

static void check_whole(hac_decoder *decoder, hac_sample_kind kind, const hac_sample *sample)
{
    static uint8_t again[HAC_FRAME_BODY_MAX];
    const ProtobufCMessage *message = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (decode_kind(kind, decoder, sample->body, sample->bytes, sample->n_fds, &message, &err) != HAC_OK)
        fail_msg("%s: %s", sample->name, err.message);
    assert_int_equal(protobuf_c_message_get_packed_size(message), sample->bytes);
    protobuf_c_message_pack(message, again);
    assert_memory_equal(again, sample->body, sample->bytes);
}

/* Decodes a message whose n-th piece cannot be had; whether there was such a one. */
static bool starve(hac_decoder *decoder, hac_sample_kind kind, const hac_sample *sample, long n, bool all)
{
    const ProtobufCMessage *message = NULL;
    hac_error err = HAC_ERROR_NONE;
    first_to_fail = n;
    all_fail = all;
    has_failed = false;
    hac_status status =
        decode_kind(kind, decoder, sample->body, sample->bytes, sample->n_fds, &message, &err);
    first_to_fail = -1;
    assert_int_equal(status, has_failed ? HAC_PROTOCOL : HAC_OK);
    if (has_failed) {
        assert_null(message);
        assert_non_null(strstr(err.message, "cannot be decoded in"));
    }
    check_whole(decoder, kind, sample); /* the next message finds a decoder as new */
    return has_failed;
}

static void test_each_piece(void **state)
{
    (void)state;
    static hac_sample sample;
    hac_decoder *decoder = NULL;
    long count = 0;
    assert_int_equal(hac_decoder_new(&decoder, NULL), HAC_OK);
    for (int kind = 0; kind < HAC_SAMPLE_KINDS; kind++)
        for (size_t i = 0; i < hac_sample_count((hac_sample_kind)kind); i++) {
            hac_sample_get((hac_sample_kind)kind, i, &sample);
            long n[2] = {0, 0};
            for (int all = 0; all < 2; all++)
                while (starve(decoder, (hac_sample_kind)kind, &sample, n[all], all == 1))
                    n[all]++;
            assert_int_equal(n[0], n[1]);
            assert_true(n[0] > 1); /* the message, and the part in it */
            count += n[0];
        }
    print_message("%ld pieces\n", count);
    hac_decoder_free(decoder);
}

/* ---- the decoder ---- */

static bool no_address_space;

void *__wrap_mmap(void *address, size_t bytes, int rights, int flags, int fd, off_t offset)
{
    if (!no_address_space)
        return __real_mmap(address, bytes, rights, flags, fd, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

static hac_status make_decoder(void *context, hac_error *err)
{
    (void)context;
    hac_decoder *decoder = NULL;
    hac_status status = hac_decoder_new(&decoder, err);
    hac_decoder_free(decoder);
    return status;
}

static void test_decoder(void **state)
{
    (void)state;
    hac_test_exhaust(make_decoder, NULL, 1);
    long before = hac_test_oom_blocks();
    hac_error err = HAC_ERROR_NONE;
    no_address_space = true;
    hac_status status = make_decoder(NULL, &err);
    no_address_space = false;
    assert_int_equal(status, HAC_NO_MEMORY);
    assert_int_equal(hac_test_oom_blocks(), before);
}

int main(void)
{
    first_to_fail = -1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_piece), cmocka_unit_test(test_decoder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
