/* SPDX-License-Identifier: Apache-2.0 */
/* The body of one scanner. scan.c includes it once for each instruction set, with SCAN(name), SCAN_TARGET and
 * the functions SCAN(equal) (which of 64 bytes equal one byte) and SCAN(blank) (which are blanks). */

SCAN_TARGET static inline uint64_t SCAN(valid)(size_t at, size_t to)
{
    return to - at >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << (to - at)) - 1;
}

/* Writes the offsets of the bits that are set, plus `add`, in groups of 8: a loop that ends with the last bit
 * would be mispredicted once a word. */
SCAN_TARGET static inline uint32_t *SCAN(write)(uint32_t *marks, size_t add, uint64_t bits)
{
    uint32_t *end = marks + __builtin_popcountll(bits);
    for (; marks < end; marks += 8) {
        for (int i = 0; i < 8; i++) {
            marks[i] = (uint32_t)(add + (size_t)__builtin_ctzll(bits | UINT64_C(1) << 63));
            bits &= bits - 1;
        }
    }
    return end;
}

SCAN_TARGET static inline void SCAN(add)(hac_scan_index *index, size_t at, uint64_t marks, uint64_t newlines)
{
    size_t n = index->n_marks, e = index->n_ends;
    for (; newlines != 0; newlines &= newlines - 1)
        index->ends[e++] =
            (uint32_t)(n + (size_t)__builtin_popcountll(marks & (newlines ^ (newlines - 1))) - 1);
    index->n_marks = (size_t)(SCAN(write)(index->marks + n, at + 1, marks) - index->marks);
    index->n_ends = e;
}

SCAN_TARGET static void SCAN(fields)(hac_scan *scan, const uint8_t *data, size_t from, size_t to,
                                     hac_scan_index *index)
{
    hac_scan s = *scan;
    hac_scan_index found = *index;
    for (size_t at = from; at < to; at += 64) {
        uint64_t valid = SCAN(valid)(at, to);
        uint64_t newlines = SCAN(equal)(data + at, '\n') & valid;
        uint64_t marks = newlines;
        if (s.what != HAC_SCAN_LINES)
            marks |= SCAN(equal)(data + at, s.delimiter) & valid;
        if (s.what == HAC_SCAN_FIELDS) {
            s.special_seen |= (SCAN(equal)(data + at, s.special) & valid) != 0;
        } else if (s.what == HAC_SCAN_QUOTED) {
            uint64_t quotes = SCAN(equal)(data + at, '"') & valid;
            if ((quotes | s.inside | s.closed) != 0)
                marks = scan_quotes(&s, data, at, to, quotes, marks, newlines);
            else
                s.opens = marks >> 63;
            newlines &= marks;
        }
        SCAN(add)(&found, at, marks, newlines);
    }
    *scan = s;
    *index = found;
}

SCAN_TARGET static void SCAN(words)(const uint8_t *data, size_t from, size_t to, uint64_t *in_word,
                                    hac_scan_index *index)
{
    uint64_t carry = *in_word;
    uint32_t *marks = index->marks + index->n_marks;
    for (size_t at = from; at < to; at += 64) {
        uint64_t valid = SCAN(valid)(at, to);
        uint64_t word = ~SCAN(blank)(data + at);
        uint64_t turns = (word ^ (word << 1 | carry)) & valid;
        marks = SCAN(write)(marks, at, turns);
        carry = to - at >= 64 ? word >> 63 : word >> (to - at - 1) & 1;
    }
    index->n_marks = (size_t)(marks - index->marks);
    *in_word = carry;
}

SCAN_TARGET static uint64_t SCAN(count)(const uint8_t *data, size_t bytes, uint8_t byte)
{
    uint64_t count = 0;
    size_t at = 0;
    for (; bytes - at >= 64; at += 64)
        count += (uint64_t)__builtin_popcountll(SCAN(equal)(data + at, byte));
    for (; at < bytes; at++)
        count += data[at] == byte;
    return count;
}
