/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/messages.h"

#include <pthread.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "proto/frame.h"
#include "validate.h"
#include "wire.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ASAN 1
#endif
#endif
#ifdef HAVE_ASAN
#include <sanitizer/asan_interface.h>
#define poison(at, bytes)   ASAN_POISON_MEMORY_REGION(at, bytes)
#define unpoison(at, bytes) ASAN_UNPOISON_MEMORY_REGION(at, bytes)
#define GAP                 16u /* bytes between allocations, so that an overrun is detected */
#else
#define poison(at, bytes)   ((void)0)
#define unpoison(at, bytes) ((void)0)
#define GAP                 0u
#endif

#define ALIGNMENT 16u
#define KEEP      (128u * 1024) /* bytes that the decoder keeps between messages */

/* The arena reserves HAC_DECODE_MAX bytes of address space. The kernel adds memory on first use. */
struct hac_decoder {
    ProtobufCAllocator allocator;
    uint8_t *arena;
    size_t used;
};

static void *arena_alloc(void *context, size_t size)
{
    hac_decoder *decoder = context;
    size_t capacity = HAC_DECODE_MAX - decoder->used;
    if (size > HAC_DECODE_MAX || size + GAP > capacity)
        return NULL;
    uint8_t *memory = decoder->arena + decoder->used;
    size_t step = (size + GAP + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    decoder->used += step < capacity ? step : capacity;
    unpoison(memory, size);
    return memory;
}

static void arena_free(void *context, void *pointer)
{
    (void)context;
    (void)pointer;
}

static void arena_reset(hac_decoder *decoder)
{
    if (decoder->used > KEEP)
        madvise(decoder->arena + KEEP, HAC_DECODE_MAX - KEEP, MADV_DONTNEED);
    poison(decoder->arena, HAC_DECODE_MAX);
    decoder->used = 0;
}

hac_status hac_decoder_new(hac_decoder **ret, hac_error *err)
{
    hac_autofree hac_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL)
        return hac_fail_no_memory(err);
    void *arena = mmap(NULL, HAC_DECODE_MAX, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED)
        return hac_fail_no_memory(err);
    decoder->arena = arena;
    decoder->allocator = (ProtobufCAllocator){arena_alloc, arena_free, decoder};
    arena_reset(decoder);
    *ret = hac_steal_ptr(decoder);
    return HAC_OK;
}

void hac_decoder_free(hac_decoder *decoder)
{
    if (decoder == NULL)
        return;
    unpoison(decoder->arena, HAC_DECODE_MAX);
    munmap(decoder->arena, HAC_DECODE_MAX);
    free(decoder);
}

ProtobufCAllocator *hac_decoder_allocator(hac_decoder *decoder)
{
    arena_reset(decoder);
    return &decoder->allocator;
}

static const hac_message_limits *find_limits(const hac_message_limits *table,
                                             const ProtobufCMessageDescriptor *message)
{
    for (; table->message != NULL; table++)
        if (table->message == message)
            return table;
    return NULL;
}

const hac_message_limits *hac_limits_of(const ProtobufCMessageDescriptor *message)
{
    const hac_message_limits *found = find_limits(hac_client_limits, message);
    return found != NULL ? found : find_limits(hac_executor_limits, message);
}

static void learn_all(void)
{
    hac_wire_learn(&hac__client__request__descriptor, hac_limits_of);
    hac_wire_learn(&hac__client__response__descriptor, hac_limits_of);
    hac_wire_learn(&hac__executor__command__descriptor, hac_limits_of);
    hac_wire_learn(&hac__executor__report__descriptor, hac_limits_of);
}

static hac_status check(const ProtobufCMessageDescriptor *type, const uint8_t *body, size_t bytes,
                        hac_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, learn_all);
    return hac_wire_check(type, body, bytes, err);
}

static hac_status decode(hac_decoder *decoder, const ProtobufCMessageDescriptor *type, const uint8_t *body,
                         size_t bytes, ProtobufCMessage **ret, hac_error *err)
{
    hac_status status = check(type, body, bytes, err);
    if (status != HAC_OK)
        return status;
    ProtobufCMessage *message = protobuf_c_message_unpack(type, hac_decoder_allocator(decoder), bytes, body);
    if (message == NULL)
        return hac_fail(err, HAC_PROTOCOL, "%s: cannot be decoded in %d bytes", type->short_name,
                        HAC_DECODE_MAX);
    *ret = message;
    return HAC_OK;
}

/* The four functions differ only in their types. */
#define DEFINE_DECODE(name, type, descriptor)                                                                \
    hac_status hac_decode_##name(hac_decoder *decoder, const uint8_t *body, size_t bytes, size_t n_fds,      \
                                 type **ret, hac_error *err)                                                 \
    {                                                                                                        \
        ProtobufCMessage *message = NULL;                                                                    \
        hac_status status = decode(decoder, &descriptor, body, bytes, &message, err);                        \
        if (status == HAC_OK)                                                                                \
            status = hac_##name##_validate((const type *)message, n_fds, err);                               \
        if (status == HAC_OK)                                                                                \
            *ret = (type *)message;                                                                          \
        return status;                                                                                       \
    }

DEFINE_DECODE(request, Hac__Client__Request, hac__client__request__descriptor)
DEFINE_DECODE(response, Hac__Client__Response, hac__client__response__descriptor)
DEFINE_DECODE(command, Hac__Executor__Command, hac__executor__command__descriptor)
DEFINE_DECODE(report, Hac__Executor__Report, hac__executor__report__descriptor)

hac_status hac_encode(const ProtobufCMessage *message, uint8_t *body, size_t *ret_bytes, hac_error *err)
{
    size_t bytes = protobuf_c_message_get_packed_size(message);
    if (bytes > HAC_FRAME_BODY_MAX)
        return hac_fail(err, HAC_INTERNAL, "a %s of %zu bytes does not fit a frame",
                        message->descriptor->short_name, bytes);
    bytes = protobuf_c_message_pack(message, body);
    /* The peer would close the connection because of such a message. Here it is an error that the caller can
         * handle. */
    if (check(message->descriptor, body, bytes, err) != HAC_OK) {
        (void)hac_error_prefix(err, "a message would break the protocol");
        if (err != NULL)
            err->code = HAC_INTERNAL;
        return HAC_INTERNAL;
    }
    *ret_bytes = bytes;
    return HAC_OK;
}
