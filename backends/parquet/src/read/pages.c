/* SPDX-License-Identifier: Apache-2.0 */
#include "pages.h"

#include <fcntl.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "kernels.h"

#define WINDOW_BYTES (256 * 1024)
#define SPARSE_BYTES (8 * 1024) /* while pages are skipped */
#define HEADER_BYTES 256        /* enough for most headers; those with long statistics have more, … */
#define HEADER_MAX   (16 * 1024 * 1024) /* … up to this size */
#define HEADER_SHORT 100                /* bytes that old writers do not count */

void hac_parquet_pages_clear(hac_parquet_pages *pages)
{
    free(pages->window);
    pages->window = NULL;
    pages->bytes = pages->capacity = 0;
}

/* Once for each chunk, if chunks are read in order: the call takes time even for a cached file. */
static void announce(hac_parquet_pages *pages, const hac_parquet_chunk *chunk)
{
    const hac_parquet_place *place = &pages->file->place;
    if (place->fd < 0 || chunk == NULL || chunk == pages->announced)
        return;
    (void)posix_fadvise(place->fd, (off_t)chunk->first_byte, (off_t)chunk->bytes, POSIX_FADV_WILLNEED);
    pages->announced = chunk;
}

void hac_parquet_pages_begin(hac_parquet_pages *pages, const hac_parquet_chunk *chunk,
                             const hac_parquet_chunk *next)
{
    uint64_t more = pages->file->place.bytes - (chunk->first_byte + chunk->bytes);
    pages->chunk = chunk;
    pages->at = chunk->first_byte;
    pages->end = chunk->first_byte + chunk->bytes;
    if (chunk->short_by_header)
        pages->end += more < HEADER_SHORT ? more : HEADER_SHORT;
    pages->looked_at = true;
    pages->bytes = 0; /* the file may have changed */
    announce(pages, chunk);
    announce(pages, next);
}

static hac_status make_room(hac_parquet_pages *pages, size_t bytes, hac_error *err)
{
    if (bytes <= pages->capacity)
        return HAC_OK;
    uint8_t *window = realloc(pages->window, bytes + HAC_PARQUET_SLACK);
    if (window == NULL)
        return hac_fail_no_memory(err);
    memset(window + bytes, 0, HAC_PARQUET_SLACK);
    pages->window = window;
    pages->capacity = bytes;
    return HAC_OK;
}

/* Reads bytes [at, at + bytes) of the chunk into the window, and following bytes as far as they fit. */
static hac_status slide(hac_parquet_pages *pages, uint64_t at, size_t bytes, hac_error *err)
{
    uint64_t have_end = pages->first + pages->bytes, start = hac_now_ns();
    size_t kept = at >= pages->first && at < have_end ? (size_t)(have_end - at) : 0;
    size_t wanted = pages->looked_at ? WINDOW_BYTES : SPARSE_BYTES;
    wanted = wanted > bytes ? wanted : bytes;
    wanted = pages->end - at < wanted ? (size_t)(pages->end - at) : wanted;
    hac_status status = make_room(pages, wanted, err);
    if (status != HAC_OK)
        return status;
    if (kept > 0)
        memmove(pages->window, pages->window + (at - pages->first), kept);
    pages->bytes = 0;
    status = hac_parquet_read(pages->file, at + kept, pages->window + kept, wanted - kept, err);
    if (status != HAC_OK)
        return status;
    pages->first = at;
    pages->bytes = wanted;
    pages->counters->bytes_read += wanted - kept;
    pages->counters->read_seconds += hac_seconds_since(start);
    return HAC_OK;
}

static hac_status look(hac_parquet_pages *pages, uint64_t at, size_t bytes, const uint8_t **ret,
                       hac_error *err)
{
    bool there = at >= pages->first && at + bytes <= pages->first + pages->bytes;
    hac_status status = there ? HAC_OK : slide(pages, at, bytes, err);
    if (status == HAC_OK)
        *ret = pages->window + (at - pages->first);
    return status;
}

/* A header's length is only known after parsing: tries with more bytes as long as there are some. */
static hac_status read_header(hac_parquet_pages *pages, size_t *ret_bytes, hac_error *err)
{
    const char *why = NULL;
    for (size_t bytes = HEADER_BYTES;; bytes *= 8) {
        uint64_t left = pages->end - pages->at;
        size_t some = left < bytes ? (size_t)left : bytes;
        const uint8_t *data = NULL;
        hac_status status = look(pages, pages->at, some, &data, err);
        if (status != HAC_OK)
            return status;
        why = hac_parquet_page_header_read(data, some, &pages->header, ret_bytes);
        if (why == NULL)
            return HAC_OK;
        if (some == left || bytes >= HEADER_MAX)
            return hac_fail(err, HAC_FAILED, "%s", why);
    }
}

static hac_status check_sizes(const hac_parquet_pages *pages, hac_error *err)
{
    const hac_parquet_page_header *header = &pages->header;
    uint64_t max = pages->file->limits.page_bytes;
    if (header->compressed > pages->end - pages->payload)
        return hac_fail(err, HAC_FAILED, "it goes on behind its column chunk");
    if (header->uncompressed > max || header->compressed > max)
        return hac_fail(err, HAC_FAILED, "it has %u bytes; %llu are the limit",
                        header->uncompressed > max ? header->uncompressed : header->compressed,
                        (unsigned long long)max);
    return HAC_OK;
}

hac_status hac_parquet_pages_next(hac_parquet_pages *pages, hac_error *err)
{
    bool wanted = false;
    while (!wanted) {
        size_t bytes = 0;
        if (pages->at >= pages->end)
            return HAC_NOT_FOUND;
        hac_status status = read_header(pages, &bytes, err);
        if (status != HAC_OK)
            return status;
        pages->payload = pages->at + bytes;
        const hac_parquet_page_header *header = &pages->header;
        wanted = header->type == HAC_PAGE_DATA || header->type == HAC_PAGE_DATA_V2 ||
                 header->type == HAC_PAGE_DICTIONARY;
        if ((status = check_sizes(pages, err)) != HAC_OK)
            return status;
        pages->at = pages->payload + header->compressed;
    }
    pages->looked_at = false;
    pages->counters->pages++;
    return HAC_OK;
}

hac_status hac_parquet_pages_stored(hac_parquet_pages *pages, const uint8_t **ret, hac_error *err)
{
    const hac_parquet_page_header *header = &pages->header;
    pages->looked_at = true;
    hac_status status = look(pages, pages->payload, header->compressed, ret, err);
    if (status != HAC_OK || !header->has_checksum || pages->file->limits.ignore_checksums)
        return status;
    uint64_t start = hac_now_ns();
    bool same = libdeflate_crc32(0, *ret, header->compressed) == header->checksum;
    pages->counters->decompress_seconds += hac_seconds_since(start);
    return same ? HAC_OK : hac_fail(err, HAC_FAILED, "its checksum is wrong");
}

hac_status hac_parquet_pages_part(hac_parquet_pages *pages, size_t first, size_t bytes, const uint8_t **ret,
                                  hac_error *err)
{
    pages->looked_at = true;
    return look(pages, pages->payload + first, bytes, ret, err);
}

hac_status hac_parquet_memory_count(hac_parquet_memory *memory, uint64_t *counted, uint64_t held,
                                    hac_error *err)
{
    if (memory == NULL)
        return HAC_OK;
    uint64_t more = held > HAC_PARQUET_COLUMN_BYTES ? held - HAC_PARQUET_COLUMN_BYTES : 0;
    uint64_t others = memory->used - *counted;
    if (more > 0 && others > 0 && more + others > memory->max)
        return hac_fail(err, HAC_FAILED,
                        "its pages and those of the other columns take more than %llu MiB at a time; "
                        "take fewer columns, or write the file with smaller pages",
                        (unsigned long long)(memory->max >> 20));
    memory->used = others + more;
    *counted = more;
    return HAC_OK;
}

void hac_parquet_memory_leave(hac_parquet_memory *memory, uint64_t counted)
{
    if (memory != NULL)
        memory->used -= counted;
}
