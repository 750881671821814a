/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cutting inputs into data sets. Input: a byte (low 4 bits: the format; bit 4: big-endian; bit 5: a header),
 * a byte (bytes of a set), a byte (bytes of a fixed record), a byte (bytes that are read at once), then the
 * text. Oracle besides the sanitizers: in pieces and in memory of other sizes the same sets come out, or the
 * same error, and together they are the text, but for the part of a fixed record at its end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/split_layout.h"
#include "fill.h"

enum { HEAD = 4, SETS_MAX = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct outcome {
    hac_status status;
    uint64_t ends[SETS_MAX], n;
    bool ragged;
} outcome;

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void take_split(hac_fill *fill, const uint8_t *text, uint64_t *at, outcome *ret)
{
    hac_split_header header;
    hac_fill_split split = hac_fill_close(fill);
    memcpy(&header, fill->memory, sizeof(header));
    const uint64_t *starts = (const uint64_t *)(void *)(fill->memory + sizeof(header));
    const uint8_t *from = fill->memory + header.text_offset;
    must(split.bytes <= fill->room && starts[0] == header.header_bytes);
    if (*at == 0 && header.header_bytes > 0) {
        must(memcmp(from, text, header.header_bytes) == 0);
        *at = header.header_bytes;
    }
    for (uint32_t i = 0; i < header.n_sets && ret->n < SETS_MAX; i++) {
        uint64_t bytes = starts[i + 1] - starts[i];
        must(memcmp(from + starts[i], text + *at, (size_t)bytes) == 0);
        *at += bytes;
        ret->ends[ret->n++] = *at;
    }
}

/* The next memory: malloc'ed, so that the sanitizer sees what is beyond. */
static void move_on(hac_fill *fill, uint64_t usual, bool grow)
{
    uint64_t needs = hac_fill_needs(fill), bytes = grow ? 2 * fill->room : needs > usual ? needs : usual;
    uint8_t *old = fill->memory, *memory = malloc((size_t)bytes);
    must(memory != NULL);
    hac_fill_memory(fill, memory, bytes);
    free(old);
}

static void run(const hac_cut_rule *rule, bool header, const uint8_t *text, size_t bytes, size_t piece,
                uint64_t usual, outcome *ret)
{
    hac_fill fill;
    hac_fill_state state = HAC_FILL_MORE;
    uint64_t room, at = 0;
    size_t fed = 0;
    uint8_t *memory = malloc((size_t)usual);
    must(memory != NULL);
    ret->n = 0;
    hac_fill_init(&fill, rule, header);
    hac_fill_memory(&fill, memory, usual);
    hac_fill_begin(&fill);
    while ((ret->status = hac_fill_cut(&fill, &state, NULL)) == HAC_OK && state != HAC_FILL_ENDED) {
        if (state == HAC_FILL_MORE) {
            uint8_t *to = hac_fill_room(&fill, &room);
            size_t n = bytes - fed < piece ? bytes - fed : piece;
            n = n < room ? n : (size_t)room;
            memcpy(to, text + fed, n);
            fed += n;
            hac_fill_read(&fill, n);
            if (n == 0)
                hac_fill_end(&fill);
            continue;
        }
        if (state == HAC_FILL_FULL)
            take_split(&fill, text, &at, ret);
        move_on(&fill, usual, state == HAC_FILL_GROW);
    }
    if (ret->status == HAC_OK && hac_fill_due(&fill))
        take_split(&fill, text, &at, ret);
    ret->ragged = fill.cut.ragged;
    uint64_t part = rule->format == HAC_INPUT_FIXED && ret->ragged ? (bytes - at) % rule->record_bytes : 0;
    must(ret->status != HAC_OK || ret->n == SETS_MAX || at + part == bytes);
    hac_fill_clear(&fill);
    free(fill.memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static outcome one, other;
    if (size < HEAD)
        return 0;
    hac_cut_rule rule = {.format = (hac_input_format)(HAC_INPUT_CSV + data[0] % 16 % 10),
                         .big_endian = (data[0] & 16) != 0,
                         .set_bytes = (uint64_t)data[1] + 1,
                         .record_bytes = (uint64_t)data[2] + 1};
    if (rule.format == HAC_INPUT_PARQUET)
        return 0;
    const uint8_t *text = data + HEAD;
    size_t bytes = size - HEAD;
    /* a byte order mark goes: the text of both is what lies behind it */
    if (bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 && rule.format <= HAC_INPUT_JSONL) {
        text += 3;
        bytes -= 3;
    }
    if (bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* a second one stays */
        return 0;
    bool header = (data[0] & 32) != 0;
    run(&rule, header, text, bytes, bytes + 1, hac_fill_bytes(bytes + 1), &one);
    run(&rule, header, text, bytes, (size_t)data[3] + 1, hac_fill_bytes((uint64_t)data[3] * 3 + 1), &other);
    must(one.status == other.status);
    if (one.status == HAC_OK) /* else what came before the error may have been handed over or not */
        must(one.n == other.n && memcmp(one.ends, other.ends, one.n * sizeof(one.ends[0])) == 0 &&
             one.ragged == other.ragged);
    return 0;
}
