/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/failpoint.h"
#include "base/io.h"
#include "base/text.h"
#include "expr/column_names.h"
#include "footer.h"

#define MAGIC_BYTES   4
#define TAIL_BYTES    8 /* the footer's length and the magic */
#define FOOTER_BYTES  (UINT64_C(64) << 20)
#define PAGE_BYTES    (UINT64_C(128) << 20)
#define ARENA_FACTOR  16 /* times the footer's bytes: leaves and chunks need about ten times as much memory */
#define ARENA_AT_ONCE (64 * 1024)

struct hac_parquet_arena {
    hac_arena arena;
    hac_parquet_file file;
};

HAC_DEFINE_CLEANUP(hac_parquet_file *, hac_parquet_close)

static hac_status read_place(const hac_parquet_place *place, uint64_t offset, uint8_t *ret, size_t bytes,
                             hac_error *err)
{
    if (offset > place->bytes || bytes > place->bytes - offset)
        return hac_fail(err, HAC_FAILED, "bytes beyond the end of the file are asked for");
    if (place->fd < 0) {
        memcpy(ret, place->memory + offset, bytes);
        return HAC_OK;
    }
    uint64_t done = 0;
    int errnum = hac_pread_all(place->fd, ret, bytes, offset, &done, HAC_FAILPOINT_NAME("parquet.read"));
    if (errnum != 0)
        return hac_fail_errno(err, HAC_IO, errnum, "reading the file at byte %" PRIu64, offset + done);
    return done == bytes ? HAC_OK
                         : hac_fail(err, HAC_FAILED, "the file has become shorter while it was read");
}

hac_status hac_parquet_read(const hac_parquet_file *file, uint64_t offset, uint8_t *ret, size_t bytes,
                            hac_error *err)
{
    return read_place(&file->place, offset, ret, bytes, err);
}

/* Reads the file's first and last bytes. *ret_bytes: size of the footer. */
static hac_status check_ends(const hac_parquet_place *place, uint64_t footer_max, uint32_t *ret_bytes,
                             hac_error *err)
{
    uint8_t head[MAGIC_BYTES], tail[TAIL_BYTES];
    if (place->bytes < MAGIC_BYTES + TAIL_BYTES || place->bytes > INT64_MAX)
        return hac_fail(err, HAC_FAILED, "not a Parquet file: it has %" PRIu64 " bytes", place->bytes);
    hac_status status = read_place(place, 0, head, sizeof head, err);
    if (status == HAC_OK)
        status = read_place(place, place->bytes - TAIL_BYTES, tail, sizeof tail, err);
    if (status != HAC_OK)
        return status;
    if (memcmp(tail + 4, "PARE", MAGIC_BYTES) == 0)
        return hac_fail(err, HAC_FAILED,
                        "the file is encrypted, its footer too; encrypted files are not read");
    if (memcmp(head, "PAR1", MAGIC_BYTES) != 0)
        return hac_fail(err, HAC_FAILED, "not a Parquet file: it does not begin with PAR1");
    if (memcmp(tail + 4, "PAR1", MAGIC_BYTES) != 0)
        return hac_fail(err, HAC_FAILED, "not a whole Parquet file: it does not end with PAR1");
    uint32_t bytes = tail[0] | (uint32_t)tail[1] << 8 | (uint32_t)tail[2] << 16 | (uint32_t)tail[3] << 24;
    if (bytes > place->bytes - MAGIC_BYTES - TAIL_BYTES)
        return hac_fail(
            err, HAC_FAILED,
            "the file is damaged: its footer of %" PRIu32 " bytes would begin before the file does", bytes);
    if (bytes > footer_max)
        return hac_fail(err, HAC_FAILED, "the footer has %" PRIu32 " bytes; %" PRIu64 " are allowed", bytes,
                        footer_max);
    *ret_bytes = bytes;
    return HAC_OK;
}

/* ---- names ---- */

#define NAMES_MAX 65536 /* leaves of a file whose names are completed */

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Whether a leaf may have no name, or the name of another; a collision of hashes only costs time. */
static hac_status has_doubles(const hac_parquet_file *file, bool *ret, hac_error *err)
{
    char name[HAC_FIELD_NAME_MAX];
    hac_autofree uint64_t *hashes = malloc((file->n_leaves + 1) * sizeof *hashes);
    if (hashes == NULL)
        return hac_fail_no_memory(err);
    *ret = false;
    for (size_t i = 0; i < file->n_leaves; i++) {
        hac_parquet_leaf_name(&file->leaves[i], name);
        hashes[i] = XXH3_64bits(name, strlen(name));
        *ret |= name[0] == '\0';
    }
    qsort(hashes, file->n_leaves, sizeof *hashes, by_number);
    for (size_t i = 1; i < file->n_leaves; i++)
        *ret |= hashes[i] == hashes[i - 1];
    return HAC_OK;
}

static void clear_schema(hac_schema *schema)
{
    hac_schema_clear(schema);
}

/* Gives names that queries can use to leaves without one and to those whose name repeats. If there is no
 * memory in the arena for a name, queries cannot name that leaf. */
static hac_status complete_names(hac_parquet_file *file, hac_arena *arena, hac_error *err)
{
    bool doubles = false;
    if (file->n_leaves > NAMES_MAX)
        return HAC_OK;
    hac_status status = has_doubles(file, &doubles, err);
    if (status != HAC_OK || !doubles)
        return status;
    hac_cleanup(clear_schema) hac_schema schema = {calloc(file->n_leaves, sizeof(hac_field)), file->n_leaves};
    if (schema.fields == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < file->n_leaves; i++)
        hac_parquet_leaf_name(&file->leaves[i], schema.fields[i].name);
    status = hac_column_names_complete(&schema, err);
    for (size_t i = 0; i < file->n_leaves && status == HAC_OK; i++) {
        const char *name = schema.fields[i].name;
        char *copy = schema.fields[i].made ? hac_arena_alloc(arena, strlen(name) + 1) : NULL;
        if (copy == NULL)
            continue;
        file->leaves[i].name = strcpy(copy, name);
        file->leaves[i].made = true;
    }
    return status;
}

hac_status hac_parquet_open(const hac_parquet_place *place, const hac_parquet_limits *limits,
                            hac_parquet_file **ret, hac_error *err)
{
    hac_parquet_limits own = limits != NULL ? *limits : (hac_parquet_limits){.footer_bytes = 0};
    own.footer_bytes = own.footer_bytes != 0 ? own.footer_bytes : FOOTER_BYTES;
    own.page_bytes = own.page_bytes != 0 ? own.page_bytes : PAGE_BYTES;
    uint32_t bytes = 0;
    hac_status status = check_ends(place, own.footer_bytes, &bytes, err);
    if (status != HAC_OK)
        return status;
    struct hac_parquet_arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL)
        return hac_fail_no_memory(err);
    hac_cleanup(hac_parquet_close_cleanup) hac_parquet_file *file = &arena->file;
    *file = (hac_parquet_file){.place = *place, .limits = own, .created_by = "", .arena = arena};
    arena->arena.limit = ARENA_AT_ONCE + (size_t)bytes * ARENA_FACTOR;
    uint8_t *data = hac_arena_alloc(&arena->arena, bytes + (size_t)1);
    if (data == NULL)
        return hac_fail_no_memory(err);
    status = read_place(place, place->bytes - TAIL_BYTES - bytes, data, bytes, err);
    if (status == HAC_OK)
        status = hac_parquet_footer_read(file, &arena->arena, data, bytes, err);
    if (status == HAC_OK)
        status = complete_names(file, &arena->arena, err);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(file);
    return status;
}

void hac_parquet_close(hac_parquet_file *file)
{
    if (file == NULL)
        return;
    struct hac_parquet_arena *arena = file->arena;
    hac_arena_clear(&arena->arena);
    free(arena);
}

void hac_parquet_leaf_name(const hac_parquet_leaf *leaf, char ret[HAC_FIELD_NAME_MAX])
{
    (void)hac_utf8_copy(ret, HAC_FIELD_NAME_MAX, leaf->name);
}

static bool is_named(const hac_parquet_leaf *leaf, const char *name, size_t bytes)
{
    char known[HAC_FIELD_NAME_MAX];
    size_t length = strlen(leaf->name);
    bool as_it_is = length < HAC_FIELD_NAME_MAX;
    for (size_t i = 0; i < length && as_it_is; i++)
        as_it_is = (uint8_t)leaf->name[i] < 0x80;
    if (as_it_is)
        return length == bytes && memcmp(leaf->name, name, bytes) == 0;
    hac_parquet_leaf_name(leaf, known);
    return strlen(known) == bytes && memcmp(known, name, bytes) == 0;
}

int hac_parquet_find(const hac_parquet_file *file, const char *name, size_t bytes)
{
    int found = -1;
    for (size_t i = 0; i < file->n_leaves && found != HAC_PARQUET_TWICE; i++)
        if (is_named(&file->leaves[i], name, bytes))
            found = found == -1 ? (int)i : HAC_PARQUET_TWICE;
    return found;
}
