/* SPDX-License-Identifier: Apache-2.0 */
#include "room.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "expr/vector.h"
#include "kernels.h"

#define ROOM_MAX (UINT32_MAX - HAC_PARQUET_SLACK)

void hac_parquet_room_clear(hac_parquet_room *room)
{
    free(room->data);
    *room = (hac_parquet_room){0};
}

void hac_parquet_room_empty(hac_parquet_room *room)
{
    room->kept = 0;
    hac_parquet_room_begin(room, 0, 0);
}

void hac_parquet_room_keep(hac_parquet_room *room)
{
    room->kept = room->low;
}

void hac_parquet_room_begin(hac_parquet_room *room, size_t first, size_t end)
{
    room->low = room->kept;
    room->gap_end = SIZE_MAX;
    room->high = 0;
    if (first == end)
        return;
    if (first == room->kept) {
        room->low = end;
    } else {
        room->gap_end = first;
        room->high = end;
    }
}

static hac_status grow(hac_parquet_room *room, size_t size, hac_error *err)
{
    size_t most = room->most > 0 && room->most < ROOM_MAX ? room->most : ROOM_MAX;
    if (size <= room->size && room->data != NULL)
        return HAC_OK;
    if (size > most)
        return hac_fail(err, HAC_FAILED, "the strings of %d rows take more than %zu bytes", HAC_BATCH_ROWS,
                        most);
    size_t doubled = 2 * room->size < most ? 2 * room->size : most;
    size_t wanted = size > doubled ? size : doubled;
    uint8_t *data = realloc(room->data, wanted + HAC_PARQUET_SLACK);
    if (data == NULL)
        return hac_fail_no_memory(err);
    room->data = data;
    room->size = wanted;
    return HAC_OK;
}

hac_status hac_parquet_room_place(hac_parquet_room *room, size_t bytes, size_t *ret, hac_error *err)
{
    bool low = room->gap_end == SIZE_MAX || bytes <= room->gap_end - room->low;
    size_t *next = low ? &room->low : &room->high;
    if (bytes > ROOM_MAX)
        return hac_fail(err, HAC_FAILED, "it takes more than 4 GiB");
    hac_status status = grow(room, *next + bytes, err);
    if (status != HAC_OK)
        return status;
    *ret = *next;
    *next += bytes;
    return HAC_OK;
}

void hac_parquet_room_forget(hac_parquet_room *room, const hac_parquet_room *before)
{
    room->low = before->low;
    room->gap_end = before->gap_end;
    room->high = before->high;
}
