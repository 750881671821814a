/* SPDX-License-Identifier: Apache-2.0 */
#include "row_keys.h"

#include <string.h>

#include "expr/group_layout.h"

#define KEY_BITS 128
#define SIGN     (UINT64_C(1) << 63)

/* Bytes of a string that more items follow; a key with room for fewer than TEXT_MIN ends with the string. */
#define TEXT_MAX 12
#define TEXT_MIN 4

typedef unsigned __int128 key_bits;

/* ---- the layout ---- */

/* Bits of a value that is not a string. */
static uint8_t value_bits(hac_value_type type)
{
    switch (hac_repr_of(type)) {
    case HAC_REPR_BOOL:
        return 1;
    case HAC_REPR_F32:
        return 35; /* the sign, the exponent and the mantissa of its f64 */
    case HAC_REPR_F64:
        return 64;
    case HAC_REPR_I128:
        return 128;
    default:
        return type.kind == HAC_KIND_DECIMAL ? 64 : (uint8_t)(8 * hac_value_size(type));
    }
}

static void place_text(hac_key_item *item, bool last)
{
    unsigned left = KEY_BITS - 1u - item->position;
    item->sized = !last && left >= 8 * (TEXT_MIN + 1);
    unsigned bytes = item->sized ? left / 8 - 1 : left / 8;
    item->text_bytes = (uint8_t)(item->sized && bytes > TEXT_MAX ? TEXT_MAX : bytes);
    item->bits = (uint8_t)(8 * (item->text_bytes + (item->sized ? 1u : 0u)));
}

void hac_row_keys_init(const hac_query *query, const hac_rows_reader *rows, hac_row_keys *ret)
{
    unsigned position = 0;
    bool exact = true;
    *ret = (hac_row_keys){.query = query, .rows = rows};
    for (size_t i = 0; i < query->n_order && position + 2 <= KEY_BITS && ret->n_items < HAC_KEY_ITEMS_MAX;
         i++) {
        const hac_order_item *from = &query->order[i];
        hac_value_type type = query->outputs.fields[from->column].type;
        hac_key_item *item = &ret->items[ret->n_items++];
        *item = (hac_key_item){.repr = (uint8_t)hac_repr_of(type),
                               .position = (uint8_t)position,
                               .descending = from->descending,
                               .column = (uint16_t)from->column};
        if (item->repr == HAC_REPR_STRING)
            place_text(item, i + 1 == query->n_order);
        else
            item->bits = value_bits(type);
        position += 1u + item->bits;
        exact = exact && item->repr != HAC_REPR_STRING && position <= KEY_BITS;
        ret->open += exact;
        if (item->repr == HAC_REPR_STRING && !item->sized)
            break;
    }
    ret->complete = ret->open == query->n_order;
}

/* ---- values ---- */

static uint64_t float_word(double value)
{
    return (uint64_t)hac_order_f64(value + 0.0) ^ SIGN; /* -0.0 equals 0.0 */
}

/* A value of up to 64 bits, of the item's representation, as a word of its order, in the lowest item->bits
 * bits. */
static inline __attribute__((always_inline)) uint64_t value_word(const hac_key_item *item, hac_repr repr,
                                                                 const uint8_t *at)
{
    uint64_t word;
    double f64;
    float f32;
    switch (repr) {
    case HAC_REPR_BOOL:
        return *at != 0;
    case HAC_REPR_F32:
        memcpy(&f32, at, sizeof f32);
        return float_word((double)f32) >> (64 - 35);
    case HAC_REPR_F64:
        memcpy(&f64, at, sizeof f64);
        return float_word(f64);
    case HAC_REPR_U64:
        memcpy(&word, at, sizeof word);
        return word;
    default:
        memcpy(&word, at, sizeof word);
        return word ^ UINT64_C(1) << (item->bits - 1);
    }
}

/* Puts the lowest `bits` bits of `value`, inverted if the item is descending, below the null bit of a key. */
static inline key_bits below_null(const hac_key_item *item, key_bits value)
{
    key_bits top = item->bits == 0 ? 0 : value << (KEY_BITS - item->bits);
    if (item->descending)
        top = ~top & (item->bits == 0 ? 0 : ~(key_bits)0 << (KEY_BITS - item->bits));
    return top >> 1;
}

/* The string's bytes and length as item->bits bits. *ret_long: the string is longer. */
static inline key_bits text_bits(const hac_key_item *item, const uint8_t *text, uint64_t bytes,
                                 bool *ret_long)
{
    uint8_t padded[16] = {0};
    uint64_t halves[2], n = bytes < item->text_bytes ? bytes : item->text_bytes;
    *ret_long = bytes > item->text_bytes;
    if (n > 0)
        memcpy(padded, text, n);
    if (item->sized)
        padded[item->text_bytes] = (uint8_t)(n + *ret_long);
    memcpy(halves, padded, sizeof halves);
    key_bits all = (key_bits)__builtin_bswap64(halves[0]) << 64 | __builtin_bswap64(halves[1]);
    return item->bits == 0 ? 0 : all >> (KEY_BITS - item->bits);
}

static inline void add_bits(hac_row_entry *entry, key_bits bits, unsigned position)
{
    bits >>= position;
    entry->high |= (uint64_t)(bits >> 64);
    entry->low |= (uint64_t)bits;
}

static void add_texts(const hac_row_keys *keys, const hac_key_item *item, size_t block, bool *ended,
                      hac_row_entry *ret)
{
    uint64_t words[2];
    for (uint32_t i = 0; i < keys->rows->blocks[block].rows; i++) {
        if (ended[i])
            continue;
        if (hac_rows_value(keys->rows, block, i, item->column, words) != HAC_ROW_OK)
            add_bits(&ret[i], (key_bits)1 << (KEY_BITS - 1), item->position);
        else
            add_bits(
                &ret[i],
                below_null(item, text_bits(item, (const uint8_t *)(uintptr_t)words[0], words[1], &ended[i])),
                item->position);
    }
}

static void add_wide(const hac_row_keys *keys, const hac_key_item *item, size_t block, const bool *ended,
                     hac_row_entry *ret)
{
    uint64_t words[2];
    for (uint32_t i = 0; i < keys->rows->blocks[block].rows; i++) {
        if (ended[i])
            continue;
        bool null = hac_rows_value(keys->rows, block, i, item->column, words) != HAC_ROW_OK;
        key_bits value = (key_bits)(words[1] ^ SIGN) << 64 | words[0];
        add_bits(&ret[i], null ? (key_bits)1 << (KEY_BITS - 1) : below_null(item, value), item->position);
    }
}

static inline __attribute__((always_inline)) void add_words_of(const hac_row_keys *keys,
                                                               const hac_key_item *item, hac_repr repr,
                                                               size_t block, const bool *ended,
                                                               hac_row_entry *ret)
{
    const hac_rows_place *place = &keys->rows->blocks[block];
    const hac_rows_column_place *column = &place->columns[item->column];
    const uint8_t *values = place->region + column->values;
    const uint8_t *states = column->states != 0 ? place->region + column->states : NULL;
    const unsigned shift = 64u - item->bits, position = item->position;
    const uint64_t inverted = item->descending ? UINT64_MAX << shift : 0;
    size_t size = hac_repr_size(repr);
    for (uint32_t i = 0; i < place->rows; i++) {
        if (ended != NULL && ended[i])
            continue;
        uint64_t word = value_word(item, repr, values + i * size) << shift ^ inverted;
        bool null = states != NULL && states[i] != HAC_ROW_OK;
        add_bits(&ret[i], null ? (key_bits)1 << (KEY_BITS - 1) : (key_bits)word << (KEY_BITS - 1 - 64),
                 position);
    }
}

/* `ended` is NULL if no key has ended. */
static void add_words(const hac_row_keys *keys, const hac_key_item *item, size_t block, const bool *ended,
                      hac_row_entry *ret)
{
    switch (item->repr) {
    case HAC_REPR_BOOL:
        add_words_of(keys, item, HAC_REPR_BOOL, block, ended, ret);
        break;
    case HAC_REPR_F32:
        add_words_of(keys, item, HAC_REPR_F32, block, ended, ret);
        break;
    case HAC_REPR_F64:
        add_words_of(keys, item, HAC_REPR_F64, block, ended, ret);
        break;
    case HAC_REPR_U64:
        add_words_of(keys, item, HAC_REPR_U64, block, ended, ret);
        break;
    default:
        add_words_of(keys, item, HAC_REPR_I64, block, ended, ret);
        break;
    }
}

void hac_row_keys_of_block(const hac_row_keys *keys, size_t block, hac_row_entry *ret)
{
    bool ended[HAC_BATCH_ROWS] = {false}, texts = false;
    for (uint32_t i = 0; i < keys->rows->blocks[block].rows; i++)
        ret[i] = (hac_row_entry){.at = block * HAC_BATCH_ROWS + i};
    for (size_t i = 0; i < keys->n_items; i++) {
        const hac_key_item *item = &keys->items[i];
        if (item->repr == HAC_REPR_STRING)
            add_texts(keys, item, block, ended, ret);
        else if (item->repr == HAC_REPR_I128)
            add_wide(keys, item, block, ended, ret);
        else
            add_words(keys, item, block, texts ? ended : NULL, ret);
        texts |= item->repr == HAC_REPR_STRING;
    }
}

/* The first 64 bits of a key, as far as the first item has them. */
static uint64_t first_word(const hac_key_item *item, const hac_column *column, size_t row)
{
    const uint8_t *at = (const uint8_t *)column->values + row * hac_repr_size((hac_repr)item->repr);
    uint64_t words[2];
    bool is_long;
    if (column->states != NULL && column->states[row] != HAC_ROW_OK)
        return SIGN;
    if (item->repr == HAC_REPR_STRING) {
        const hac_string_ref *ref = &((const hac_string_ref *)column->values)[row];
        const uint8_t *text = ref->length > 0 ? column->bytes + ref->offset : NULL;
        return (uint64_t)(below_null(item, text_bits(item, text, ref->length, &is_long)) >> 64);
    }
    if (item->repr == HAC_REPR_I128) {
        memcpy(words, at, sizeof words);
        return (uint64_t)(below_null(item, (key_bits)(words[1] ^ SIGN) << 64 | words[0]) >> 64);
    }
    return (uint64_t)(below_null(item, value_word(item, (hac_repr)item->repr, at)) >> 64);
}

size_t hac_row_keys_before(const hac_row_keys *keys, const hac_column *column, size_t rows,
                           const hac_row_entry *last, uint16_t *ret)
{
    const hac_key_item *item = &keys->items[0];
    unsigned bits = 1u + item->bits;
    uint64_t end = bits < 64 ? last->high >> (64 - bits) << (64 - bits) : last->high;
    bool with_equal = keys->query->n_order > 1 || item->repr == HAC_REPR_STRING || bits > 64;
    size_t n = 0;
    if (with_equal && end == UINT64_MAX) {
        for (; n < rows; n++)
            ret[n] = (uint16_t)n;
        return n;
    }
    end += with_equal;
    for (size_t i = 0; i < rows; i++) {
        ret[n] = (uint16_t)i;
        n += first_word(item, column, i) < end;
    }
    return n;
}

/* ---- comparing in full ---- */

uint64_t hac_row_order_word(hac_repr repr, const uint64_t words[2])
{
    double f64;
    float f32;
    switch (repr) {
    case HAC_REPR_BOOL:
    case HAC_REPR_U64:
        return words[0];
    case HAC_REPR_F32:
        memcpy(&f32, words, sizeof f32);
        return float_word((double)f32);
    case HAC_REPR_F64:
        memcpy(&f64, words, sizeof f64);
        return float_word(f64);
    case HAC_REPR_I128:
        return words[1] ^ SIGN;
    default:
        return words[0] ^ SIGN;
    }
}

int hac_row_compare_values(hac_repr repr, const uint64_t a[2], const uint64_t b[2])
{
    if (repr == HAC_REPR_STRING) {
        int order =
            memcmp((const void *)(uintptr_t)a[0], (const void *)(uintptr_t)b[0], a[1] < b[1] ? a[1] : b[1]);
        return order != 0 ? order : (a[1] > b[1]) - (a[1] < b[1]);
    }
    uint64_t x = hac_row_order_word(repr, a), y = hac_row_order_word(repr, b);
    if (x == y && repr == HAC_REPR_I128)
        return (a[0] > b[0]) - (a[0] < b[0]);
    return (x > y) - (x < y);
}

static int compare_item(const hac_rows_reader *rows, const hac_order_item *item, uint64_t a, uint64_t b)
{
    uint64_t x[2], y[2];
    uint8_t nx = hac_rows_value(rows, a / HAC_BATCH_ROWS, a % HAC_BATCH_ROWS, item->column, x);
    uint8_t ny = hac_rows_value(rows, b / HAC_BATCH_ROWS, b % HAC_BATCH_ROWS, item->column, y);
    if (nx != HAC_ROW_OK || ny != HAC_ROW_OK)
        return (nx != HAC_ROW_OK) - (ny != HAC_ROW_OK);
    int order = hac_row_compare_values(rows->repr[item->column], x, y);
    return item->descending ? -order : order;
}

int hac_row_compare_open(const hac_row_keys *keys, uint64_t a, uint64_t b)
{
    int order = 0;
    for (size_t i = keys->open; order == 0 && i < keys->query->n_order; i++)
        order = compare_item(keys->rows, &keys->query->order[i], a, b);
    return order != 0 ? (order < 0 ? -1 : 1) : (a > b) - (a < b);
}
