/* SPDX-License-Identifier: Apache-2.0 */
#include "buffers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/memfd.h"
#include "jobs.h"

static hac_status alloc(hac_client *client, uint64_t bytes, bool growable, uint64_t job,
                        hac_buffer **ret_buffer, hac_error *err)
{
    if (bytes == 0)
        return hac_fail(err, HAC_INVALID, "a buffer needs at least one byte");
    hac_client_end_released(client); /* what is given back may be what is asked for */
    hac_autofree hac_buffer *buffer = calloc(1, sizeof(*buffer));
    if (buffer == NULL)
        return hac_fail_no_memory(err);
    Hac__Client__BufferAlloc ask = HAC__CLIENT__BUFFER_ALLOC__INIT;
    ask.bytes = bytes;
    ask.growable = growable;
    ask.job = job;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_BUFFER_ALLOC;
    request.buffer_alloc = &ask;
    hac_reply reply = {0};
    hac_status status =
        hac_client_call(client, &request, HAC__CLIENT__RESPONSE__WHAT_BUFFER, UINT64_MAX, &reply, err);
    if (status != HAC_OK)
        return status;
    buffer->client = hac_client_ref(client);
    buffer->mapping = reply.mapping;
    if (reply.mapping->bytes < bytes) {
        hac_status wrong =
            hac_fail(err, HAC_PROTOCOL, "hacd lent %" PRIu64 " bytes where %" PRIu64 " were asked for",
                     reply.mapping->bytes, bytes);
        hac_buffer_free(hac_steal_ptr(buffer));
        return wrong;
    }
    if (reply.mapping->fresh && !growable)
        hac_memfd_take_large_pages(reply.mapping->address, reply.mapping->mapped);
    *ret_buffer = hac_steal_ptr(buffer);
    return HAC_OK;
}

hac_status hac_buffer_alloc(hac_client *client, uint64_t bytes, hac_buffer **ret_buffer, hac_error *err)
{
    return alloc(client, bytes, false, 0, ret_buffer, err);
}

hac_status hac_buffer_alloc_split(hac_client *client, uint64_t job, uint64_t bytes, hac_buffer **ret_buffer,
                                  double *ret_retry, hac_error *err)
{
    client->retry_after = 0;
    hac_status status = alloc(client, bytes, false, job, ret_buffer, err);
    *ret_retry = status == HAC_REFUSED ? client->retry_after : 0;
    return status;
}

hac_status hac_buffer_alloc_growable(hac_client *client, uint64_t bytes, hac_buffer **ret_buffer,
                                     hac_error *err)
{
    return alloc(client, bytes, true, 0, ret_buffer, err);
}

hac_status hac_buffer_grow(hac_buffer *buffer, uint64_t bytes, hac_error *err)
{
    hac_mapping *mapping = buffer->mapping;
    if (bytes <= mapping->bytes)
        return HAC_OK;
    Hac__Client__BufferGrow ask = HAC__CLIENT__BUFFER_GROW__INIT;
    ask.buffer = hac_mapping_id(mapping);
    ask.bytes = bytes;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_BUFFER_GROW;
    request.buffer_grow = &ask;
    hac_status status = hac_client_call_grow(buffer->client, &request, mapping, err);
    if (status != HAC_OK)
        return status;
    if (mapping->bytes < bytes)
        return hac_fail(err, HAC_PROTOCOL,
                        "hacd grew a buffer to %" PRIu64 " bytes where %" PRIu64 " were asked for",
                        mapping->bytes, bytes);
    return HAC_OK;
}

void *hac_buffer_data(hac_buffer *buffer)
{
    return buffer->mapping->address;
}

uint64_t hac_buffer_bytes(const hac_buffer *buffer)
{
    return buffer->mapping->bytes;
}

static void end_handle(hac_release *release)
{
    hac_buffer *buffer = HAC_OWNER(release, hac_buffer, release);
    hac_client_give_back(buffer->client, buffer->mapping);
    hac_client_unref(buffer->client);
    free(buffer);
}

void hac_buffer_free(hac_buffer *buffer)
{
    if (buffer == NULL)
        return;
    buffer->release.run = end_handle;
    hac_client_end_handle(buffer->client, &buffer->release);
}

hac_mapping *hac_buffer_take(hac_buffer *buffer)
{
    hac_mapping *mapping = buffer->mapping;
    hac_client_unref(buffer->client);
    free(buffer);
    return mapping;
}
