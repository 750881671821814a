/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs for tests and benchmarks, the same on every machine for the same arguments. Run it without
 * arguments: it lists them.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/random.h"

#define WORDS     50000u /* of the language */
#define WORD_MAX  16
#define LINE_MIN  60u
#define ALIAS_MAX (UINT64_C(1) << 26)
#define CLUSTERS  24u  /* of points */
#define TERMS     100u /* of a document */

typedef struct request {
    const char *kind;
    uint64_t size, count; /* see the table of kinds */
    double skew;
    uint64_t seed;
} request;

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
    uint64_t r = hac_random_u64(seed);
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
        if (s == 0 || hac_random_u64(&seed) % 2)
            ret[n++] = "nrstd"[(rank / 7 + s) % 5];
    }
    ret[n] = 0;
    *ret_length = (uint8_t)n;
}

static int write_text(const request *r)
{
    hac_autofree language *l = malloc(sizeof *l);
    hac_cleanup(zipf_clear) zipf z = {0};
    uint64_t bytes = r->size, seed = r->seed;
    if (l == NULL || !zipf_make(&z, WORDS, r->skew))
        return ENOMEM;
    for (uint32_t i = 0; i < WORDS; i++)
        make_word(i, l->words[i], &l->length[i]);
    size_t column = 0;
    bool capital = true;
    for (uint64_t done = 0; done < bytes;) {
        uint32_t w = zipf_draw(&z, &seed);
        uint64_t bits = hac_random_u64(&seed);
        char out[WORD_MAX + 4];
        size_t n = l->length[w];
        memcpy(out, l->words[w], n);
        if (capital)
            out[0] = (char)(out[0] - 'a' + 'A');
        capital = bits % 12 == 0;
        if (capital || bits % 12 == 1)
            out[n++] = capital ? '.' : ',';
        column += n + 1;
        out[n++] = column > LINE_MIN + bits % 16 ? '\n' : ' ';
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

/* A word for each key, longer than the language's from key WORDS on. */
static void make_name(uint32_t key, char ret[2 * WORD_MAX])
{
    char word[WORD_MAX];
    uint8_t length;
    make_word(key % WORDS, word, &length);
    snprintf(ret, 2 * WORD_MAX, "%s%" PRIu32, word, key / WORDS);
}

static void make_row(const zipf *z, uint64_t *seed, record *ret)
{
    ret->key = zipf_draw(z, seed);
    make_name(ret->key, ret->name);
    for (size_t i = 0; i < 4; i++)
        ret->r[i] = hac_random_u64(seed);
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

static int write_rows(const request *r)
{
    hac_cleanup(zipf_clear) zipf z = {0};
    uint64_t seed = r->seed;
    if (!zipf_make(&z, r->count, r->skew))
        return ENOMEM;
    bool json = strcmp(r->kind, "jsonl") == 0, quoted = strcmp(r->kind, "quoted") == 0;
    if (!json)
        puts("key,name,price,quantity,discount,date,paid,balance,c8,c9,c10,c11,c12,c13,c14,note");
    for (uint64_t i = 0; i < r->size; i++) {
        record row;
        make_row(&z, &seed, &row);
        if (json)
            print_json(&row);
        else
            print_csv(&row, quoted);
    }
    return 0;
}

/* ---- sales: four columns, the same in every format ---- */

/* The price in hundredths. */
typedef struct sale {
    uint64_t id, key, price, quantity;
} sale;

static void print_sale(const sale *s, char delimiter)
{
    printf("%" PRIu64 "%cstore-%" PRIu64 "%c%" PRIu64 ".%02" PRIu64 "%c%" PRIu64 "\n", s->id, delimiter,
           s->key, delimiter, s->price / 100, s->price % 100, delimiter, s->quantity);
}

static void print_sale_json(const sale *s)
{
    printf("{\"id\":%" PRIu64 ",\"key\":\"store-%" PRIu64 "\",\"price\":%" PRIu64 ".%02" PRIu64
           ",\"quantity\":%" PRIu64 "}\n",
           s->id, s->key, s->price / 100, s->price % 100, s->quantity);
}

/* id:i64,key:i32,quantity:i32,price:f64, as this machine has them */
static void write_sale(const sale *s)
{
    struct {
        int64_t id;
        int32_t key, quantity;
        double price;
    } fixed = {(int64_t)s->id, (int32_t)s->key, (int32_t)s->quantity, (double)s->price / 100};
    fwrite_unlocked(&fixed, 1, sizeof fixed, stdout);
}

static int write_sales(const request *r)
{
    hac_cleanup(zipf_clear) zipf z = {0};
    uint64_t seed = r->seed;
    const char *format = strchr(r->kind, '-') + 1;
    if (!zipf_make(&z, r->count, r->skew))
        return ENOMEM;
    if (strcmp(format, "csv") == 0)
        puts("id,key,price,quantity");
    else if (strcmp(format, "tsv") == 0)
        puts("id\tkey\tprice\tquantity");
    for (uint64_t i = 0; i < r->size; i++) {
        uint64_t random = hac_random_u64(&seed);
        sale s = {i, zipf_draw(&z, &seed), (random >> 32) % 100000000, random % 100};
        if (strcmp(format, "jsonl") == 0)
            print_sale_json(&s);
        else if (strcmp(format, "fixed") == 0)
            write_sale(&s);
        else
            print_sale(&s, strcmp(format, "csv") == 0 ? ',' : '\t');
    }
    return 0;
}

/* ---- what the jobs of the MapReduce papers take ---- */

static int write_bytes(const request *r)
{
    hac_cleanup(zipf_clear) zipf z = {0};
    uint64_t seed = r->seed;
    if (!zipf_make(&z, 256, r->skew))
        return ENOMEM;
    for (uint64_t i = 0; i < r->size; i++)
        putchar_unlocked((int)zipf_draw(&z, &seed));
    return 0;
}

/* In [0, 1). */
static double uniform(uint64_t *seed)
{
    return (double)(hac_random_u64(seed) >> 11) * 0x1p-53;
}

static void print_header(char letter, uint64_t columns)
{
    for (uint64_t i = 0; i < columns; i++)
        printf("%s%c%" PRIu64, i > 0 ? "," : "", letter, i);
    putchar('\n');
}

/* Clouds around CLUSTERS centres in [0, 1000). */
static int write_points(const request *r)
{
    hac_cleanup(zipf_clear) zipf z = {0};
    uint64_t seed = r->seed;
    if (!zipf_make(&z, CLUSTERS, r->skew))
        return ENOMEM;
    bool fixed = strcmp(r->kind, "points-fixed") == 0;
    if (!fixed)
        print_header('x', r->count);
    for (uint64_t i = 0; i < r->size; i++) {
        uint64_t centre = zipf_draw(&z, &seed);
        for (uint64_t c = 0; c < r->count; c++) {
            double spread = uniform(&seed) + uniform(&seed) + uniform(&seed) - 1.5;
            double x = 1000 * uniform(&centre) + 40 * spread;
            if (fixed)
                fwrite(&x, sizeof x, 1, stdout);
            else
                printf("%s%.3f", c > 0 ? "," : "", x);
        }
        if (!fixed)
            putchar('\n');
    }
    return 0;
}

/* Links of a graph, each once: the j-th of a node goes to somewhere in the j-th stretch of nodes behind it,
 * and the stretches together are less than half of the way around. */
static int write_edges(const request *r)
{
    uint64_t seed = r->seed, each = (r->size + r->count - 1) / r->count;
    uint64_t stretch = (r->count - 1) / 2 / each;
    if (stretch == 0)
        return EDOM;
    for (uint64_t i = 0; i < r->size; i++) {
        uint64_t from = i / each, step = 1 + i % each * stretch + hac_random_u64(&seed) % stretch;
        int64_t edge[2] = {(int64_t)from, (int64_t)((from + step) % r->count)};
        fwrite(edge, sizeof edge, 1, stdout);
    }
    return 0;
}

/* y = 3x + 7, and up to 1 more or less. */
static int write_regression(const request *r)
{
    uint64_t seed = r->seed;
    puts("x,y");
    for (uint64_t i = 0; i < r->size; i++) {
        double x = 1000 * uniform(&seed);
        printf("%.3f,%.3f\n", x, 3 * x + 7 + 2 * uniform(&seed) - 1);
    }
    return 0;
}

static int write_matrix(const request *r)
{
    uint64_t seed = r->seed;
    for (uint64_t i = 0; i < r->size * r->count; i++)
        printf("%.6f%c", 2 * uniform(&seed) - 1, (i + 1) % r->count == 0 ? '\n' : ',');
    return 0;
}

/* A line for each of `size` names that are drawn. */
static int write_named(const request *r,
                       void (*line)(const request *r, uint64_t i, const char *name, uint64_t *seed))
{
    hac_cleanup(zipf_clear) zipf z = {0};
    uint64_t seed = r->seed;
    if (!zipf_make(&z, r->count, r->skew))
        return ENOMEM;
    for (uint64_t i = 0; i < r->size; i++) {
        char name[2 * WORD_MAX];
        make_name(zipf_draw(&z, &seed), name);
        line(r, i, name, &seed);
    }
    return 0;
}

static void put_view(const request *r, uint64_t i, const char *name, uint64_t *seed)
{
    (void)i;
    printf("http://%s.example/,u%" PRIu64 "\n", name, hac_random_u64(seed) % (r->size / 10 + 1));
}

static int write_views(const request *r)
{
    puts("url,visitor");
    return write_named(r, put_view);
}

static void put_term(const request *r, uint64_t i, const char *name, uint64_t *seed)
{
    (void)r;
    (void)seed;
    printf("d%" PRIu64 "\t%s\n", i / TERMS, name);
}

static int write_index(const request *r)
{
    return write_named(r, put_term);
}

/* ---- the command line ---- */

#define MB UINT64_C(1000000)
#define K  UINT64_C(1000)

/* S, M and L are of the order that Phoenix (HPCA 2007) and Mars (PACT 2008) measure. */
static const struct kind {
    const char *name, *unit;
    uint64_t sizes[3];
    const char *counted; /* what COUNT counts; NULL: there is none */
    uint64_t count, count_max;
    bool skew;
    int (*write)(const request *r);
    const char *is;
} kinds[] = {
    {"text",
     "BYTES",
     {10 * MB, 50 * MB, 100 * MB},
     NULL,
     1,
     1,
     true,
     write_text,
     "wordcount: words of Zipf frequencies"},
    {"lines", "BYTES", {50 * MB, 100 * MB, 500 * MB}, NULL, 1, 1, true, write_text, "string-match: the same"},
    {"bytes", "BYTES", {100 * MB, 400 * MB, 1400 * MB}, NULL, 1, 1, true, write_bytes, "histogram"},
    {"csv",
     "ROWS",
     {100 * K, 1000 * K, 10000 * K},
     "KEYS",
     1000,
     ALIAS_MAX,
     true,
     write_rows,
     "groups: key (integer), name (string), 14 more columns"},
    {"quoted",
     "ROWS",
     {100 * K, 1000 * K, 10000 * K},
     "KEYS",
     1000,
     ALIAS_MAX,
     true,
     write_rows,
     "the same; quotes, commas and newlines in fields"},
    {"jsonl",
     "ROWS",
     {100 * K, 1000 * K, 10000 * K},
     "KEYS",
     1000,
     ALIAS_MAX,
     true,
     write_rows,
     "the first eight columns as objects"},
    {"sales-csv",
     "ROWS",
     {1 * MB, 6 * MB, 60 * MB},
     "KEYS",
     1000,
     ALIAS_MAX,
     true,
     write_sales,
     "id, key (string), price, quantity"},
    {"sales-tsv", "ROWS", {1 * MB, 6 * MB, 60 * MB}, "KEYS", 1000, ALIAS_MAX, true, write_sales, "the same"},
    {"sales-jsonl",
     "ROWS",
     {1 * MB, 6 * MB, 60 * MB},
     "KEYS",
     1000,
     ALIAS_MAX,
     true,
     write_sales,
     "the same"},
    {"sales-fixed",
     "ROWS",
     {1 * MB, 6 * MB, 60 * MB},
     "KEYS",
     1000,
     ALIAS_MAX,
     true,
     write_sales,
     "the same: id:i64,key:i32,quantity:i32,price:f64"},
    {"points",
     "ROWS",
     {50 * K, 200 * K, 500 * K},
     "COLUMNS",
     3,
     256,
     true,
     write_points,
     "k-means: 24 clouds, of x0, x1 ..."},
    {"points-fixed",
     "ROWS",
     {50 * K, 200 * K, 500 * K},
     "COLUMNS",
     3,
     256,
     true,
     write_points,
     "the same as f64, and with all of their digits"},
    {"edges-fixed",
     "EDGES",
     {1 * MB, 10 * MB, 100 * MB},
     "NODES",
     100 * K,
     ALIAS_MAX,
     false,
     write_edges,
     "pagerank: links of a graph, two i64 each"},
    {"regression",
     "ROWS",
     {3 * MB, 6 * MB, 30 * MB},
     NULL,
     1,
     1,
     false,
     write_regression,
     "linear-regression: x, y"},
    {"matrix",
     "ROWS",
     {10 * K, 100 * K, 1000 * K},
     "COLUMNS",
     16,
     256,
     false,
     write_matrix,
     "matrix-multiply: no header"},
    {"views",
     "ROWS",
     {1 * MB, 2 * MB, 3 * MB},
     "URLS",
     100 * K,
     ALIAS_MAX,
     true,
     write_views,
     "page-view-count: url, visitor"},
    {"index",
     "ROWS",
     {1 * MB, 2 * MB, 4 * MB},
     "TERMS",
     WORDS,
     ALIAS_MAX,
     true,
     write_index,
     "inverted-index: document TAB term"},
};

static int usage(const char *program)
{
    fprintf(stderr, "usage: %s KIND SIZE [COUNT] [SKEW] [SEED]\n\n", program);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct kind *k = &kinds[i];
        char words[64];
        snprintf(words, sizeof words, "%s %s%s%s%s%s [SEED]", k->name, k->unit,
                 k->counted != NULL ? " [" : "", k->counted != NULL ? k->counted : "",
                 k->counted != NULL ? "]" : "", k->skew ? " [SKEW]" : "");
        fprintf(stderr, "  %-41s S M L: %" PRIu64 " %" PRIu64 " %" PRIu64 "\n%43s%s\n", words, k->sizes[0],
                k->sizes[1], k->sizes[2], "", k->is);
    }
    fputs("\nSIZE is a number or S, M or L. SKEW is the exponent of the Zipf distribution of words, keys, "
          "clouds:\n"
          "0 is uniform, 1 is English (the default).\n",
          stderr);
    return 2;
}

static bool parse_number(const char *text, uint64_t *ret)
{
    char *end;
    errno = 0;
    *ret = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

static bool parse_skew(const char *text, double *ret)
{
    char *end;
    *ret = strtod(text, &end);
    return end != text && *end == '\0' && *ret >= 0 && *ret <= 10;
}

/* What stands behind the kind. */
static bool parse(const struct kind *k, char **words, request *ret)
{
    static const char letters[] = "SML";
    const char *letter = *words != NULL && strlen(*words) == 1 ? strchr(letters, **words) : NULL;
    *ret = (request){k->name, 0, k->count, 1, 1};
    if (*words == NULL)
        return false;
    if (letter != NULL)
        ret->size = k->sizes[letter - letters];
    else if (!parse_number(*words, &ret->size))
        return false;
    words++;
    if (k->counted != NULL && *words != NULL && !parse_number(*words++, &ret->count))
        return false;
    if (k->skew && *words != NULL && !parse_skew(*words++, &ret->skew))
        return false;
    if (*words != NULL && !parse_number(*words++, &ret->seed))
        return false;
    return *words == NULL && ret->count >= 1 && ret->count <= k->count_max;
}

int main(int argc, char **argv)
{
    request r;
    const struct kind *k = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && argc > 1; i++)
        if (strcmp(kinds[i].name, argv[1]) == 0)
            k = &kinds[i];
    if (k == NULL || !parse(k, argv + 2, &r))
        return usage(*argv);
    int error = k->write(&r);
    if (error == 0 && (fflush(stdout) != 0 || ferror(stdout)))
        error = errno;
    if (error != 0)
        fprintf(stderr, "%s: %s\n", *argv, strerror(error));
    return error != 0;
}
