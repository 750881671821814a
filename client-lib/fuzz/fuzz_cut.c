/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the cutting of inputs into data sets. Input: a byte (low 4 bits: format; bit 4: big-endian; bit 5:
 * header), a byte (size of a set), a byte (size of a fixed record), a byte (size of a read), then the text.
 * Oracles besides the sanitizers: reads and memory of other sizes give the same sets, or the same error. The
 * sets together are equal to the text, except for a partial fixed record at the end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/split_layout.h"
#include "splits/split_writer.h"

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

static void take_split(hac_split_writer *fill, const uint8_t *text, uint64_t *at, outcome *ret)
{
    hac_split_header header;
    hac_split_sizes split = hac_split_writer_close(fill);
    memcpy(&header, fill->memory, sizeof(header));
    const uint64_t *starts = (const uint64_t *)(void *)(fill->memory + sizeof(header));
    const uint8_t *from = fill->memory + header.text_offset;
    must(split.bytes <= fill->capacity && starts[0] == header.header_bytes);
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

/* Moves to new memory. The memory is malloc'ed, so that the sanitizer detects accesses beyond the end. */
static void move_on(hac_split_writer *fill, uint64_t usual, bool grow)
{
    uint64_t needs = hac_split_writer_needs(fill), bytes = grow            ? 2 * fill->capacity
                                                           : needs > usual ? needs
                                                                           : usual;
    uint8_t *old = fill->memory, *memory = malloc((size_t)bytes);
    must(memory != NULL);
    hac_split_writer_memory(fill, memory, bytes);
    free(old);
}

static void run(const hac_record_rule *rule, bool header, const uint8_t *text, size_t bytes, size_t piece,
                uint64_t usual, outcome *ret)
{
    hac_split_writer fill;
    hac_split_writer_state state = HAC_SPLIT_WRITER_MORE;
    uint64_t capacity, at = 0;
    size_t fed = 0;
    uint8_t *memory = malloc((size_t)usual);
    must(memory != NULL);
    ret->n = 0;
    hac_split_writer_init(&fill, rule, header);
    hac_split_writer_memory(&fill, memory, usual);
    hac_split_writer_begin(&fill);
    while ((ret->status = hac_split_writer_cut(&fill, &state, NULL)) == HAC_OK &&
           state != HAC_SPLIT_WRITER_ENDED) {
        if (state == HAC_SPLIT_WRITER_MORE) {
            uint8_t *to = hac_split_writer_space(&fill, &capacity);
            size_t n = bytes - fed < piece ? bytes - fed : piece;
            n = n < capacity ? n : (size_t)capacity;
            memcpy(to, text + fed, n);
            fed += n;
            hac_split_writer_read(&fill, n);
            if (n == 0)
                hac_split_writer_end(&fill);
            continue;
        }
        if (state == HAC_SPLIT_WRITER_FULL)
            take_split(&fill, text, &at, ret);
        move_on(&fill, usual, state == HAC_SPLIT_WRITER_GROW);
    }
    if (ret->status == HAC_OK && hac_split_writer_due(&fill))
        take_split(&fill, text, &at, ret);
    ret->ragged = fill.cut.ragged;
    uint64_t part = rule->format == HAC_INPUT_FIXED && ret->ragged ? (bytes - at) % rule->record_bytes : 0;
    must(ret->status != HAC_OK || ret->n == SETS_MAX || at + part == bytes);
    hac_split_writer_clear(&fill);
    free(fill.memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static outcome one, other;
    if (size < HEAD)
        return 0;
    hac_record_rule rule = {.format = (hac_input_format)(HAC_INPUT_CSV + data[0] % 16 % 10),
                            .big_endian = (data[0] & 16) != 0,
                            .set_bytes = (uint64_t)data[1] + 1,
                            .record_bytes = (uint64_t)data[2] + 1};
    if (rule.format == HAC_INPUT_PARQUET)
        return 0;
    const uint8_t *text = data + HEAD;
    size_t bytes = size - HEAD;
    /* The writer drops a byte order mark, so the expected text starts after the mark. */
    if (bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 && rule.format <= HAC_INPUT_JSONL) {
        text += 3;
        bytes -= 3;
    }
    if (bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* the writer keeps a second mark */
        return 0;
    bool header = (data[0] & 32) != 0;
    run(&rule, header, text, bytes, bytes + 1, hac_split_writer_bytes(bytes + 1), &one);
    run(&rule, header, text, bytes, (size_t)data[3] + 1, hac_split_writer_bytes((uint64_t)data[3] * 3 + 1),
        &other);
    must(one.status == other.status);
    if (one.status == HAC_OK) /* after an error, the earlier sets may be missing */
        must(one.n == other.n && memcmp(one.ends, other.ends, one.n * sizeof(one.ends[0])) == 0 &&
             one.ragged == other.ragged);
    return 0;
}
