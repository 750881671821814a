/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs for tests and benchmarks, the same on every machine for the same arguments:
 *
 *     make_input text BYTES [SKEW [SEED]]            English-like text: lines of words, Zipf frequencies
 *     make_input csv ROWS KEYS [SKEW [SEED]]         key (integer), name (string), and 14 more columns
 *     make_input quoted ROWS KEYS [SKEW [SEED]]      the same; names and notes in quotes, commas and newlines
 * in them make_input jsonl ROWS KEYS [SKEW [SEED]]       the first eight columns as objects
 *
 * SKEW is the exponent of the Zipf distribution of words or keys: 0 is uniform, 1 is English (the default).
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define WORDS     50000u /* of the language */
#define WORD_MAX  16
#define LINE_MIN  60u
#define ALIAS_MAX (UINT64_C(1) << 26)

static uint64_t next_random(uint64_t *seed) /* splitmix64 */
{
    uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* ---- a Zipf distribution, by Walker's alias method: one random number and one look-up a draw ---- */

typedef struct zipf {
    uint32_t n;
    uint32_t *alias;
    uint32_t *keep; /* of 2^32 */
} zipf;

static void pair_up(zipf *z, double *weight, uint32_t *small, uint32_t *large)
{
    size_t n_small = 0, n_large = 0;
    for (uint32_t i = 0; i < z->n; i++)
        *(weight[i] < 1 ? &small[n_small++] : &large[n_large++]) = i;
    while (n_small > 0 && n_large > 0) {
        uint32_t s = small[--n_small], l = large[n_large - 1];
        z->keep[s] = (uint32_t)(weight[s] * 4294967295.0);
        z->alias[s] = l;
        weight[l] -= 1 - weight[s];
        if (weight[l] < 1) {
            n_large--;
            small[n_small++] = l;
        }
    }
    while (n_large > 0)
        z->keep[large[--n_large]] = UINT32_MAX;
    while (n_small > 0)
        z->keep[small[--n_small]] = UINT32_MAX;
}

static bool zipf_make(zipf *z, uint64_t n, double skew)
{
    hac_autofree double *weight = malloc(n * sizeof *weight);
    hac_autofree uint32_t *small = malloc(n * sizeof *small), *large = malloc(n * sizeof *large);
    double sum = 0;
    z->n = (uint32_t)n;
    z->alias = calloc(n, sizeof *z->alias);
    z->keep = calloc(n, sizeof *z->keep);
    if (weight == NULL || small == NULL || large == NULL || z->alias == NULL || z->keep == NULL)
        return false;
    for (uint64_t i = 0; i < n; i++)
        sum += weight[i] = pow((double)(i + 1), -skew);
    for (uint64_t i = 0; i < n; i++)
        weight[i] *= (double)n / sum;
    pair_up(z, weight, small, large);
    return true;
}

static void zipf_clear(zipf *z)
{
    free(z->alias);
    free(z->keep);
}

static uint32_t zipf_draw(const zipf *z, uint64_t *seed)
{
    uint64_t r = next_random(seed);
    uint32_t i = (uint32_t)((r >> 32) * z->n >> 32);
    return (uint32_t)r <= z->keep[i] ? i : z->alias[i];
}

/* ---- words: the frequent ones are short, as in English ---- */

typedef struct language {
    char words[WORDS][WORD_MAX];
    uint8_t length[WORDS];
} language;

static void make_word(uint32_t rank, char ret[WORD_MAX], uint8_t *ret_length)
{
    static const char vowels[] = "eaoiu", consonants[] = "tnshrdlcmwfgypbvk";
    uint64_t seed = rank * UINT64_C(77) + 5, code = rank;
    size_t syllables = rank < 60 ? 1 : rank < 2500 ? 2 : 3, n = 0;
    for (size_t s = 0; s < syllables; s++) { /* the syllables spell the rank: no word comes twice */
        ret[n++] = consonants[code % 17];
        code /= 17;
        ret[n++] = vowels[code % 5];
        code /= 5;
        if (s == 0 || next_random(&seed) % 2)
            ret[n++] = "nrstd"[(rank / 7 + s) % 5];
    }
    ret[n] = 0;
    *ret_length = (uint8_t)n;
}

static int write_text(uint64_t bytes, double skew, uint64_t seed)
{
    hac_autofree language *l = malloc(sizeof *l);
    hac_cleanup(zipf_clear) zipf z = {0};
    if (l == NULL || !zipf_make(&z, WORDS, skew))
        return ENOMEM;
    for (uint32_t i = 0; i < WORDS; i++)
        make_word(i, l->words[i], &l->length[i]);
    size_t column = 0;
    bool capital = true;
    for (uint64_t done = 0; done < bytes;) {
        uint32_t w = zipf_draw(&z, &seed);
        uint64_t r = next_random(&seed);
        char out[WORD_MAX + 4];
        size_t n = l->length[w];
        memcpy(out, l->words[w], n);
        if (capital)
            out[0] = (char)(out[0] - 'a' + 'A');
        capital = r % 12 == 0;
        if (capital || r % 12 == 1)
            out[n++] = capital ? '.' : ',';
        column += n + 1;
        out[n++] = column > LINE_MIN + r % 16 ? '\n' : ' ';
        column = out[n - 1] == '\n' ? 0 : column;
        n = n < bytes - done ? n : (size_t)(bytes - done);
        fwrite_unlocked(out, 1, n, stdout);
        done += n;
    }
    return 0;
}

/* ---- rows ---- */

typedef struct record {
    uint32_t key;
    char name[2 * WORD_MAX];
    uint64_t r[4];
} record;

static void make_row(const zipf *z, uint64_t *seed, record *ret)
{
    char word[WORD_MAX];
    uint8_t length;
    ret->key = zipf_draw(z, seed);
    make_word(ret->key % WORDS, word, &length);
    snprintf(ret->name, sizeof ret->name, "%s%" PRIu32, word, ret->key / WORDS);
    for (size_t i = 0; i < 4; i++)
        ret->r[i] = next_random(seed);
}

static void print_csv(const record *row, bool quoted)
{
    const uint64_t *r = row->r;
    printf("%" PRIu32 ",%s%s%s,%" PRIu64 ".%02" PRIu64 ",%" PRIu64 ",0.%06" PRIu64 ",20%02" PRIu64
           "-%02" PRIu64 "-%02" PRIu64 ",%s,%" PRId64,
           row->key, quoted ? "\"" : "", row->name, quoted ? ", Ltd.\"" : "", r[0] % 1000, r[0] >> 20 & 63,
           1 + (r[0] >> 40) % 50, (r[1] & 0xfffff) % 1000000, 10 + r[1] / 1048576 % 16, 1 + (r[1] >> 30) % 12,
           1 + (r[1] >> 40) % 28, r[1] >> 63 ? "true" : "false", (int64_t)(r[2] % 2000001) - 1000000);
    printf(",%" PRIu64 ",%" PRIu64 ".%03" PRIu64 ",%c%c,%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ".5,%s\n",
           r[2] >> 44, r[2] >> 30 & 255, r[2] >> 20 & 511, (char)('A' + r[3] % 26),
           (char)('A' + r[3] / 26 % 26), r[3] >> 48, r[3] >> 40 & 7 ? "open" : "", r[3] >> 20 & 0xffff,
           r[3] & 0xfff,
           !quoted          ? "none"
           : r[3] >> 36 & 3 ? "\"a \"\"note\"\"\""
                            : "\"two\nlines\"");
}

static void print_json(const record *row)
{
    const uint64_t *r = row->r;
    printf("{\"key\":%" PRIu32 ",\"name\":\"%s\",\"price\":%" PRIu64 ".%02" PRIu64 ",\"quantity\":%" PRIu64
           ",\"discount\":0.%06" PRIu64 ",\"date\":\"20%02" PRIu64 "-01-15\",\"paid\":%s,\"balance\":%" PRId64
           "}\n",
           row->key, row->name, r[0] % 1000, r[0] >> 20 & 63, 1 + (r[0] >> 40) % 50,
           (r[1] & 0xfffff) % 1000000, 10 + r[1] / 1048576 % 16, r[1] >> 63 ? "true" : "false",
           (int64_t)(r[2] % 2000001) - 1000000);
}

static int write_rows(const char *kind, uint64_t rows, uint64_t keys, double skew, uint64_t seed)
{
    hac_cleanup(zipf_clear) zipf z = {0};
    if (!zipf_make(&z, keys, skew))
        return ENOMEM;
    bool json = strcmp(kind, "jsonl") == 0, quoted = strcmp(kind, "quoted") == 0;
    if (!json)
        puts("key,name,price,quantity,discount,date,paid,balance,c8,c9,c10,c11,c12,c13,c14,note");
    for (uint64_t i = 0; i < rows; i++) {
        record row;
        make_row(&z, &seed, &row);
        if (json)
            print_json(&row);
        else
            print_csv(&row, quoted);
    }
    return 0;
}

int main(int argc, char **argv)
{
    bool text = argc >= 3 && strcmp(argv[1], "text") == 0;
    bool rows = argc >= 4 && (strcmp(argv[1], "csv") == 0 || strcmp(argv[1], "quoted") == 0 ||
                              strcmp(argv[1], "jsonl") == 0);
    if (!text && !rows) {
        fprintf(stderr, "usage: %s text BYTES [SKEW [SEED]] | csv|quoted|jsonl ROWS KEYS [SKEW [SEED]]\n",
                *argv);
        return 2;
    }
    int next = text ? 3 : 4;
    uint64_t n = strtoull(argv[2], NULL, 10), keys = rows ? strtoull(argv[3], NULL, 10) : WORDS;
    double skew = argc > next ? strtod(argv[next], NULL) : 1;
    uint64_t seed = argc > next + 1 ? strtoull(argv[next + 1], NULL, 10) : 1;
    if (keys == 0 || keys > ALIAS_MAX) {
        fprintf(stderr, "%s: 1 to %" PRIu64 " keys\n", *argv, ALIAS_MAX);
        return 2;
    }
    int error = text ? write_text(n, skew, seed) : write_rows(argv[1], n, keys, skew, seed);
    if (error == 0 && (fflush(stdout) != 0 || ferror(stdout)))
        error = errno;
    if (error != 0)
        fprintf(stderr, "%s: %s\n", *argv, strerror(error));
    return error != 0;
}
