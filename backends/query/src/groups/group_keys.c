/* SPDX-License-Identifier: Apache-2.0 */
#include "group_internal.h"
#include "sources/string_words.h"

#define WORDS_OF(t, word) ((t)->words + (size_t)(word)*HAC_BATCH_ROWS)

void hac_value_words(const hac_column *v, hac_repr repr, size_t row, uint64_t ret[2])
{
    ret[1] = 0;
    switch (repr) {
    case HAC_REPR_BOOL:
        ret[0] = ((const uint8_t *)v->values)[row] != 0;
        break;
    case HAC_REPR_F32:
        ret[0] = hac_hash_f32(((const float *)v->values)[row]);
        break;
    case HAC_REPR_F64:
        ret[0] = hac_hash_f64(((const double *)v->values)[row]);
        break;
    case HAC_REPR_I128:
        memcpy(ret, (const uint8_t *)v->values + row * 16, 16);
        break;
    case HAC_REPR_STRING: {
        hac_string_ref ref = ((const hac_string_ref *)v->values)[row];
        hac_string_to_words(v->bytes + ref.offset, ref.length, &ret[0], &ret[1]);
        break;
    }
    default:
        ret[0] = ((const uint64_t *)v->values)[row];
    }
}

/* ---- words of a column ---- */

static void load_strings(const hac_column *v, size_t rows, uint64_t *low, uint64_t *high)
{
    const hac_string_ref *refs = v->values;
    for (size_t i = 0; i < rows; i++)
        hac_string_to_words(v->bytes + refs[i].offset, refs[i].length, &low[i], &high[i]);
}

static void load_wide(const uint64_t *values, size_t rows, uint64_t *low, uint64_t *high)
{
    for (size_t i = 0; i < rows; i++) {
        low[i] = values[2 * i];
        high[i] = values[2 * i + 1];
    }
}

static void load_narrow(const hac_column *v, hac_repr repr, size_t rows, uint64_t *w)
{
    if (repr == HAC_REPR_BOOL) {
        for (size_t i = 0; i < rows; i++)
            w[i] = ((const uint8_t *)v->values)[i] != 0;
    } else if (repr == HAC_REPR_F32) {
        for (size_t i = 0; i < rows; i++)
            w[i] = hac_hash_f32(((const float *)v->values)[i]);
    } else if (repr == HAC_REPR_F64) {
        for (size_t i = 0; i < rows; i++)
            w[i] = hac_hash_f64(((const double *)v->values)[i]);
    } else {
        memcpy(w, v->values, rows * 8);
    }
}

static bool any(const uint8_t *states, size_t rows)
{
    uint8_t seen = 0;
    for (size_t i = 0; states != NULL && i < rows; i++)
        seen |= states[i];
    return seen != 0;
}

static void clear_nulls(const uint8_t *states, size_t rows, uint64_t *w)
{
    for (size_t i = 0; i < rows; i++)
        w[i] = states[i] != 0 ? 0 : w[i];
}

static void load_column(hac_group_table *t, const hac_column *v, size_t key, size_t rows, size_t *word)
{
    hac_repr repr = t->layout.keys[key].repr;
    bool two = repr == HAC_REPR_STRING || repr == HAC_REPR_I128;
    bool nulls = any(v->states, rows);
    uint64_t *low = WORDS_OF(t, *word), *high = two ? WORDS_OF(t, *word + 1) : NULL;
    t->nulls[key] = nulls ? v->states : NULL;
    t->columns[*word] = low;
    if (two)
        t->columns[*word + 1] = high;
    if (repr == HAC_REPR_STRING)
        load_strings(v, rows, low, high);
    else if (two)
        load_wide(v->values, rows, low, high);
    else if (!nulls && (repr == HAC_REPR_I64 || repr == HAC_REPR_U64))
        t->columns[*word] = v->values;
    else
        load_narrow(v, repr, rows, low);
    if (nulls) {
        clear_nulls(v->states, rows, low);
        if (two)
            clear_nulls(v->states, rows, high);
    }
    *word += two ? 2 : 1;
}

/* Packs all keys into one word. */
static void pack(hac_group_table *t, size_t rows, uint64_t *packed)
{
    memset(packed, 0, rows * sizeof *packed);
    for (size_t k = 0; k < t->layout.n_keys; k++) {
        unsigned bits = t->layout.keys[k].bits, at = t->layout.keys[k].offset;
        uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
        const uint64_t *w = t->columns[k];
        for (size_t i = 0; i < rows; i++)
            packed[i] |= (w[i] & mask) << at;
        for (size_t i = 0; t->nulls[k] != NULL && i < rows; i++)
            packed[i] |= (uint64_t)(t->nulls[k][i] != 0) << (at + bits);
    }
}

static void collect_null_bits(hac_group_table *t, size_t rows, uint64_t *bits)
{
    memset(bits, 0, rows * sizeof *bits);
    for (size_t k = 0; k < t->layout.n_keys; k++)
        for (size_t i = 0; t->nulls[k] != NULL && i < rows; i++)
            bits[i] |= (uint64_t)(t->nulls[k][i] != 0) << k;
}

/* The last column of words: the packed word that is compared, or the null bits. */
static void finish_words(hac_group_table *t, size_t rows, size_t words)
{
    const hac_group_layout *l = &t->layout;
    t->null_states = l->n_keys == 1 ? t->nulls[0] : NULL;
    t->columns[words] = t->columns[0];
    if (l->n_keys <= 1)
        return;
    if (l->packed)
        pack(t, rows, WORDS_OF(t, words));
    else
        collect_null_bits(t, rows, WORDS_OF(t, words));
    t->columns[words] = WORDS_OF(t, words);
}

void hac_group_keys_load(hac_group_table *t, const hac_column *columns, size_t rows)
{
    size_t word = 0;
    for (size_t k = 0; k < t->layout.n_keys; k++)
        load_column(t, &columns[k], k, rows, &word);
    finish_words(t, rows, word);
}

/* ---- words from records ---- */

static uint64_t sign_extended(uint64_t word, unsigned bits, hac_repr repr)
{
    if (bits == 64 || repr != HAC_REPR_I64)
        return word;
    return (uint64_t)((int64_t)(word << (64 - bits)) >> (64 - bits));
}

/* Reads one key's words from a record and returns whether the key is null. `null`: the record is the null
 * group (single key). */
bool hac_group_record_key(const hac_group_layout *l, const uint8_t *record, size_t k, bool null,
                          uint64_t ret[2])
{
    const hac_group_key *key = &l->keys[k];
    uint64_t first;
    ret[1] = 0;
    memcpy(&first, record, sizeof first);
    if (l->packed) {
        uint64_t mask = key->bits == 64 ? UINT64_MAX : (UINT64_C(1) << key->bits) - 1;
        ret[0] = sign_extended((first >> key->offset) & mask, key->bits, key->repr);
        null = l->n_keys == 1 ? null : (first >> (key->offset + key->bits) & 1) != 0;
    } else {
        memcpy(ret, record + key->offset, key->bits > 64 ? 16 : 8);
        null = l->n_keys == 1 ? null : (first >> k & 1) != 0;
    }
    if (null)
        ret[0] = ret[1] = 0;
    return null;
}

void hac_group_keys_load_records(hac_group_table *t, const uint8_t *records, size_t rows, size_t null_row)
{
    const hac_group_layout *l = &t->layout;
    size_t word = 0;
    uint8_t *nulls = (uint8_t *)WORDS_OF(t, l->key_words + l->n_keys + 1);
    for (size_t k = 0; k < l->n_keys; k++) {
        bool two = l->keys[k].bits > 64, some = false;
        uint64_t *low = WORDS_OF(t, word), *high = WORDS_OF(t, word + 1);
        uint8_t *states = nulls + k * HAC_BATCH_ROWS;
        for (size_t i = 0; i < rows; i++) {
            uint64_t w[2];
            states[i] = hac_group_record_key(l, records + i * l->stride, k, i == null_row, w);
            some |= states[i] != 0;
            low[i] = w[0];
            if (two)
                high[i] = w[1];
        }
        t->nulls[k] = some ? states : NULL;
        t->columns[word] = low;
        t->columns[word + 1] = high;
        word += two ? 2 : 1;
    }
    finish_words(t, rows, word);
}

/* ---- hashes ---- */

static uint64_t hash_value(uint64_t h, hac_repr repr, uint64_t low, uint64_t high)
{
    if (repr == HAC_REPR_STRING)
        return hac_hash_string_words(h, low, high);
    h = hac_hash_word(h, low);
    return repr == HAC_REPR_I128 ? hac_hash_word(h, high) : h;
}

static void hash_first_words(uint64_t start, const uint64_t *w, size_t rows, uint64_t *hash)
{
    for (size_t i = 0; i < rows; i++)
        hash[i] = hac_hash_word(start, w[i]);
}

static void hash_column(uint64_t *hash, hac_repr repr, const uint64_t *low, const uint64_t *high,
                        const uint8_t *nulls, size_t rows)
{
    if (nulls == NULL && repr == HAC_REPR_STRING) {
        for (size_t i = 0; i < rows; i++)
            hash[i] = hac_hash_string_words(hash[i], low[i], high[i]);
    } else if (nulls == NULL && repr != HAC_REPR_I128) {
        for (size_t i = 0; i < rows; i++)
            hash[i] = hac_hash_word(hash[i], low[i]);
    } else {
        for (size_t i = 0; i < rows; i++)
            hash[i] = nulls != NULL && nulls[i] != 0
                          ? hac_hash_word(hash[i], HAC_HASH_NULL)
                          : hash_value(hash[i], repr, low[i], high == NULL ? 0 : high[i]);
    }
}

/* Partitions and passes of pairs (expr/distinct_query.h) are found by the hash of the query's own keys,
 * except for the upper three bits. A group's pairs are then in at most eight partitions: few enough that each
 * is counted there, and enough to share the work of a single large group. Slots use bits of the hash of all
 * keys. The partition of up to 4096 is in bits 52 to 63, the pass of up to 64 in bits 46 to 51. */
#define OWN_KEYS_BITS (UINT64_C(0x7fff) << 46)

static void spread_pairs(uint64_t *hash, const uint64_t *own, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        hash[i] = (hash[i] & ~OWN_KEYS_BITS) | (own[i] >> 3 & OWN_KEYS_BITS);
}

void hac_group_keys_hash(hac_group_table *t, size_t rows)
{
    const hac_group_layout *l = &t->layout;
    if (l->n_keys == 1 && l->packed && t->nulls[0] == NULL) {
        hash_first_words(t->hash_start, t->columns[0], rows, t->hash);
        return;
    }
    for (size_t i = 0; i < rows; i++)
        t->hash[i] = t->hash_start;
    uint64_t own[HAC_BATCH_ROWS];
    size_t word = 0;
    for (size_t k = 0; k < l->n_keys; k++) {
        bool two = l->keys[k].bits > 64;
        if (l->query->pairs && k == l->n_keys - 1)
            memcpy(own, t->hash, rows * sizeof *own);
        hash_column(t->hash, l->keys[k].repr, t->columns[word], two ? t->columns[word + 1] : NULL,
                    t->nulls[k], rows);
        word += two ? 2 : 1;
    }
    if (l->query->pairs && l->n_keys > 1)
        spread_pairs(t->hash, own, rows);
}
