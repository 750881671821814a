/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a sort's answer is right, looked at from outside: all items are there, and each stands where
 * comparisons of values and places want it. Where that does not hold, qsort on (key, place) pairs says which
 * item is wrong. Shares no code with hac.
 *
 *   oracle gen TYPE PATTERN ITEMS SEED OUT           writes an input
 *   oracle check TYPE desc|asc keys|argsort IN OUT   exit 0: OUT is right; 1: says where it is not
 *   oracle patterns                                  lists the patterns
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct pair {
    uint64_t bits; /* of the key, as they lie in the file */
    uint64_t place;
} pair;

static char type_class; /* u, i or f */
static unsigned type_bits;
static bool descending;

static void die(const char *what)
{
    fprintf(stderr, "oracle: %s\n", what);
    exit(2);
}

static void set_type(const char *name)
{
    if (strchr("uif", name[0]) == NULL || (strcmp(name + 1, "32") != 0 && strcmp(name + 1, "64") != 0))
        die("unknown type");
    type_class = name[0];
    type_bits = name[1] == '3' ? 32 : 64;
}

/* ---- order ---- */

static double as_double(uint64_t bits)
{
    float f;
    double d;
    uint32_t low = (uint32_t)bits;
    if (type_bits == 32) {
        memcpy(&f, &low, sizeof f);
        return (double)f; /* exact; a NaN stays a NaN */
    }
    memcpy(&d, &bits, sizeof d);
    return d;
}

static int compare_floats(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (isnan(a) != 0) - (isnan(b) != 0); /* NaNs last, and all equal */
    if (a < b)
        return -1;
    if (a > b)
        return 1;
    return (signbit(b) != 0) - (signbit(a) != 0); /* -0.0 before +0.0 */
}

static int compare_keys(uint64_t a, uint64_t b)
{
    if (type_class == 'f')
        return compare_floats(as_double(a), as_double(b));
    if (type_class == 'i') {
        int64_t x = type_bits == 32 ? (int32_t)(uint32_t)a : (int64_t)a;
        int64_t y = type_bits == 32 ? (int32_t)(uint32_t)b : (int64_t)b;
        return (x > y) - (x < y);
    }
    return (a > b) - (a < b);
}

static int compare_pairs(const void *left, const void *right)
{
    const pair *a = left, *b = right;
    int c = compare_keys(a->bits, b->bits);
    if (descending)
        c = -c;
    return c != 0 ? c : (a->place > b->place) - (a->place < b->place);
}

/* ---- files ---- */

typedef struct items {
    uint8_t *data;
    size_t bytes;
    size_t width;
    size_t count;
} items;

static items read_items(const char *path, size_t width)
{
    struct stat info;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fstat(fileno(file), &info) != 0)
        die(path);
    size_t bytes = (size_t)info.st_size;
    uint8_t *data = malloc(bytes + 1);
    if (data == NULL || fread(data, 1, bytes, file) != bytes)
        die(path);
    fclose(file);
    return (items){data, bytes, width, bytes / width};
}

static uint64_t at(const items *from, size_t index) /* little-endian machines only, as hac */
{
    uint64_t value = 0;
    if (from->width == 4)
        memcpy(&value, from->data + index * 4, 4);
    else
        memcpy(&value, from->data + index * 8, 8);
    return value;
}

/* ---- what is right ---- */

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The same for the same items in any order, and, but for one chance in 2^64, for no others. */
static uint64_t sum_of(const items *of)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < of->count; i++)
        sum += mix(at(of, i) + UINT64_C(0x9e3779b97f4a7c15));
    return sum;
}

static bool is_nan(uint64_t bits)
{
    return type_class == 'f' && isnan(as_double(bits));
}

/* Keys that compare as equal have the same bits, NaNs apart, which keep the order they came in. */
static bool keys_are_right(const items *in, const items *out)
{
    size_t next = 0;
    for (size_t i = 0; i < out->count; i++) {
        uint64_t bits = at(out, i);
        int c = i == 0 ? 0 : compare_keys(at(out, i - 1), bits);
        if (descending ? c < 0 : c > 0)
            return false;
        if (!is_nan(bits))
            continue;
        while (next < in->count && !is_nan(at(in, next)))
            next++;
        if (next == in->count || at(in, next++) != bits)
            return false;
    }
    return sum_of(in) == sum_of(out);
}

/* Places that rise with (key, place), each of them below the number of items, are all of them. */
static bool places_are_right(const items *in, const items *out)
{
    pair before = {0, 0};
    for (size_t i = 0; i < out->count; i++) {
        uint64_t place = at(out, i);
        if (place >= in->count)
            return false;
        pair now = {at(in, place), place};
        if (i > 0 && compare_pairs(&before, &now) >= 0)
            return false;
        before = now;
    }
    return true;
}

/* Says which item is wrong, if one is; whether one is. */
static int find_wrong(bool argsort, const items *in, const items *out)
{
    pair *pairs = malloc((in->count + 1) * sizeof *pairs);
    if (pairs == NULL)
        die("out of memory");
    for (size_t i = 0; i < in->count; i++)
        pairs[i] = (pair){at(in, i), i};
    qsort(pairs, in->count, sizeof *pairs, compare_pairs);
    size_t i = 0;
    while (i < in->count && at(out, i) == (argsort ? pairs[i].place : pairs[i].bits))
        i++;
    if (i < in->count)
        printf("item %zu of %zu is %#" PRIx64 ", %#" PRIx64 " is right\n", i, in->count, at(out, i),
               argsort ? pairs[i].place : pairs[i].bits);
    free(pairs);
    return i < in->count;
}

static int check(bool argsort, const char *in_path, const char *out_path)
{
    size_t width = type_bits / 8, out_width = argsort ? 4 : width;
    items in = read_items(in_path, width), out = read_items(out_path, out_width);
    int wrong = 0;
    if (out.bytes != in.count * out_width) {
        printf("%zu bytes came out, %zu are right\n", out.bytes, in.count * out_width);
        wrong = 1;
    } else if (!(argsort ? places_are_right(&in, &out) : keys_are_right(&in, &out))) {
        wrong = find_wrong(argsort, &in, &out);
    }
    free(in.data);
    free(out.data);
    return wrong;
}

/* ---- inputs ---- */

static uint64_t random_state;

static uint64_t next_random(void) /* splitmix64 */
{
    return mix(random_state += UINT64_C(0x9e3779b97f4a7c15));
}

/* The bits of the key that stands for x: any order-keeping map will do. */
static uint64_t key_of(double x)
{
    float f = (float)x;
    uint32_t low;
    uint64_t bits;
    if (type_class == 'f' && type_bits == 32) {
        memcpy(&low, &f, sizeof low);
        return low;
    }
    if (type_class == 'f') {
        memcpy(&bits, &x, sizeof bits);
        return bits;
    }
    if (type_class == 'i')
        return type_bits == 32 ? (uint32_t)(int32_t)x : (uint64_t)(int64_t)x;
    return type_bits == 32 ? (uint32_t)(int64_t)(x + 2147483648.0) : (uint64_t)(int64_t)(x + 2147483648.0);
}

static uint64_t random_bits(void)
{
    return type_bits == 32 ? next_random() >> 32 : next_random();
}

static double unit(void)
{
    return (double)(next_random() >> 11) * 0x1p-53;
}

/* Values that go wrong: extremes, and for floats zeros, infinities, denormals, NaNs of both signs with
 * payloads. */
static uint64_t special(void)
{
    static const uint64_t f32[] = {0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x00000001, 0x80000001,
                                   0x007fffff, 0x807fffff, 0x7fc00000, 0xffc00000, 0x7fc00001, 0xffc12345,
                                   0x7f800001, 0xff800001, 0x7fffffff, 0xffffffff, 0x3f800000, 0xbf800000,
                                   0x7f7fffff, 0xff7fffff, 0x00800000};
    static const uint64_t f64[] = {
        0x0000000000000000, 0x8000000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x0000000000000001,
        0x8000000000000001, 0x000fffffffffffff, 0x800fffffffffffff, 0x7ff8000000000000, 0xfff8000000000000,
        0x7ff8000000000001, 0xfff8123456789abc, 0x7ff0000000000001, 0xfff0000000000001, 0x7fffffffffffffff,
        0xffffffffffffffff, 0x3ff0000000000000, 0xbff0000000000000, 0x7fefffffffffffff, 0xffefffffffffffff};
    static const uint64_t whole[] = {
        0,          1,          2,          UINT64_MAX, UINT64_MAX - 1, INT64_MAX, (uint64_t)INT64_MIN,
        0x80000000, 0x7fffffff, 0xffffffff, 0x80000001, 0x100000000,    0xffff,    0x10000,
        0xff};
    uint64_t r = next_random();
    if (r % 8 == 0)
        return random_bits();
    r >>= 8;
    if (type_class != 'f')
        return type_bits == 32 ? (uint32_t)whole[r % (sizeof whole / 8)] : whole[r % (sizeof whole / 8)];
    if (type_bits == 32)
        return f32[r % (sizeof f32 / 8)];
    return f64[r % (sizeof f64 / 8)];
}

static const char *const patterns[] = {"random", "sorted", "reversed", "equal", "few",     "zipf",
                                       "organ",  "near",   "special",  "saw",   "onlynan", NULL};

static uint64_t item(const char *pattern, uint64_t i, uint64_t n)
{
    double place = (double)i - (double)n / 2;
    if (strcmp(pattern, "random") == 0)
        return random_bits(); /* floats: any bits, NaNs among them */
    if (strcmp(pattern, "sorted") == 0)
        return key_of(place);
    if (strcmp(pattern, "reversed") == 0)
        return key_of(-place);
    if (strcmp(pattern, "equal") == 0)
        return key_of(7);
    if (strcmp(pattern, "few") == 0)
        return key_of((double)(next_random() % 13) - 6);
    if (strcmp(pattern, "zipf") == 0) {
        double rank = floor(pow(unit() + 1e-9, -1.3));
        return key_of(rank < 1e9 ? rank : 1e9);
    }
    if (strcmp(pattern, "organ") == 0)
        return key_of((double)(i < n - i ? i : n - i));
    if (strcmp(pattern, "near") == 0)
        return next_random() % 20 == 0 ? key_of((double)(next_random() % (n + 1)) - (double)n / 2)
                                       : key_of(place);
    if (strcmp(pattern, "saw") == 0)
        return key_of((double)(i % 4097));
    if (strcmp(pattern, "onlynan") == 0)
        return type_class != 'f' ? random_bits() & 1
               : type_bits == 32
                   ? (random_bits() & 0x803fffff) | 0x7fc00000
                   : (random_bits() & UINT64_C(0x8007ffffffffffff)) | UINT64_C(0x7ff8000000000000);
    return special();
}

static int generate(const char *pattern, uint64_t n, const char *path)
{
    const char *const *known = patterns;
    while (*known != NULL && strcmp(*known, pattern) != 0)
        known++;
    if (*known == NULL)
        die("unknown pattern");
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        die(path);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t bits = item(pattern, i, n);
        fwrite(&bits, type_bits / 8, 1, file);
    }
    if (fclose(file) != 0)
        die(path);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "patterns") == 0) {
        for (const char *const *p = patterns; *p != NULL; p++)
            puts(*p);
        return 0;
    }
    if (argc != 7)
        die("usage: gen TYPE PATTERN ITEMS SEED OUT | check TYPE asc|desc keys|argsort IN OUT | patterns");
    set_type(argv[2]);
    if (strcmp(argv[1], "gen") == 0) {
        random_state = strtoull(argv[5], NULL, 10);
        return generate(argv[3], strtoull(argv[4], NULL, 10), argv[6]);
    }
    descending = strcmp(argv[3], "desc") == 0;
    return check(strcmp(argv[4], "argsort") == 0, argv[5], argv[6]);
}
