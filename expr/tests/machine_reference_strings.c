/* SPDX-License-Identifier: Apache-2.0 */
/* The reference's operations on strings. */
#include <locale.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/text.h"
#include "machine_reference.h"

typedef __int128 i128;

/* Sets `at` to the offset of each character, and of the end. Returns the number of characters. */
static size_t characters(const ref_value *v, size_t *at)
{
    size_t n = 0;
    for (size_t i = 0; i < v->bytes; n++) {
        size_t length = hac_utf8_sequence(v->string + i, v->bytes - i);
        at[n] = i;
        i += length == 0 ? 1 : length;
    }
    at[n] = v->bytes;
    return n;
}

static ref_value pattern(const hac_program *program, size_t index)
{
    const hac_constant *k = &program->constants[index];
    ref_value value = {0};
    reference_set_string(&value, (const char *)program->bytes + k->low, k->high);
    return value;
}

static bool like(const char *t, const char *t_end, const char *p, const char *p_end)
{
    if (p == p_end)
        return t == t_end;
    size_t step = t == t_end ? 0 : hac_utf8_sequence(t, (size_t)(t_end - t));
    step = step == 0 ? 1 : step;
    if (*p == '%')
        return like(t, t_end, p + 1, p_end) || (t < t_end && like(t + step, t_end, p, p_end));
    if (t == t_end)
        return false;
    if (*p == '_')
        return like(t + step, t_end, p + 1, p_end);
    if (*p == '\\')
        p++;
    return *t == *p && like(t + 1, t_end, p + 1, p_end);
}

static void trim(const ref_value *a, bool left, bool right, ref_value *ret)
{
    static const char blanks[] = " \t\n\v\f\r";
    size_t first = 0, end = a->bytes;
    while (left && first < end && memchr(blanks, a->string[first], 6) != NULL)
        first++;
    while (right && end > first && memchr(blanks, a->string[end - 1], 6) != NULL)
        end--;
    reference_set_string(ret, a->string + first, end - first);
}

static void substr(const ref_value *a, i128 from, i128 count, ref_value *ret)
{
    size_t at[REFERENCE_STRING_MAX + 1], n = characters(a, at), first = SIZE_MAX, end = 0;
    for (size_t i = 0; i < n; i++)
        if ((i128)i + 1 >= from && (i128)i + 1 < from + count) {
            first = first == SIZE_MAX ? at[i] : first;
            end = at[i + 1];
        }
    if (first != SIZE_MAX)
        reference_set_string(ret, a->string + first, end - first);
}

static void replace(const ref_value *a, const ref_value *b, const ref_value *c, ref_value *ret)
{
    char text[REFERENCE_STRING_MAX * 2];
    size_t used = 0;
    for (size_t i = 0; i < a->bytes && used < REFERENCE_STRING_MAX;) {
        bool found =
            b->bytes > 0 && b->bytes <= a->bytes - i && memcmp(a->string + i, b->string, b->bytes) == 0;
        memcpy(text + used, found ? c->string : a->string + i, found ? c->bytes : 1);
        used += found ? c->bytes : 1;
        i += found ? b->bytes : 1;
    }
    reference_set_string(ret, text, used);
}

static bool within(const ref_value *a, size_t at, const ref_value *b)
{
    return b->bytes <= a->bytes - at && memcmp(a->string + at, b->string, b->bytes) == 0;
}

static size_t find(const ref_value *a, const ref_value *b)
{
    for (size_t i = 0; i <= a->bytes; i++)
        if (within(a, i, b))
            return i;
    return SIZE_MAX;
}

/* The C library's letters: of the locale C.UTF-8. */
static void change_case(const ref_value *a, bool upper, ref_value *ret)
{
    static locale_t utf8;
    size_t at[REFERENCE_STRING_MAX + 1], n = characters(a, at);
    if (utf8 == NULL)
        utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
    locale_t before = uselocale(utf8);
    for (size_t i = 0; i < n; i++) {
        mbstate_t state = {0}, other = {0};
        wchar_t wide = 0;
        char narrow[16];
        size_t bytes = at[i + 1] - at[i];
        memcpy(narrow, a->string + at[i], bytes);
        if (mbrtowc(&wide, narrow, bytes, &state) == bytes && wide != 0)
            bytes =
                wcrtomb(narrow, (wchar_t)(upper ? towupper((wint_t)wide) : towlower((wint_t)wide)), &other);
        memcpy(ret->string + ret->bytes, narrow, bytes);
        ret->bytes += bytes;
    }
    uselocale(before);
}

static void pad(const ref_value *a, int64_t wanted, const ref_value *fill, bool left, ref_value *ret)
{
    size_t at[REFERENCE_STRING_MAX + 1], fills[REFERENCE_STRING_MAX + 1], n = characters(a, at),
                                                                          m = characters(fill, fills);
    int64_t missing = wanted > (int64_t)n ? wanted - (int64_t)n : 0;
    if (wanted <= (int64_t)n) {
        reference_set_string(ret, a->string, at[wanted < 0 ? 0 : wanted]);
        return;
    }
    if (m == 0) {
        ret->state = HAC_ROW_RANGE;
        return;
    }
    if (missing > REFERENCE_STRING_MAX) {
        ret->state = 255;
        return;
    }
    char text[REFERENCE_STRING_MAX * 8];
    size_t used = 0;
    if (!left)
        memcpy(text, a->string, used = a->bytes);
    for (size_t i = 0; i < (size_t)missing; i++) {
        size_t from = fills[i % m], bytes = fills[i % m + 1] - from;
        memcpy(text + used, fill->string + from, bytes);
        used += bytes;
    }
    if (left) {
        memcpy(text + used, a->string, a->bytes);
        used += a->bytes;
    }
    reference_set_string(ret, text, used);
}

/* All parts are cut first. */
static void split_part(const ref_value *a, const ref_value *separator, int64_t n, ref_value *ret)
{
    size_t from[REFERENCE_STRING_MAX + 2] = {0}, end[REFERENCE_STRING_MAX + 2], parts = 0, at = 0;
    size_t starts[REFERENCE_STRING_MAX + 1];
    if (separator->bytes == 0) {
        parts = characters(a, starts);
        for (size_t i = 0; i < parts; i++) {
            from[i] = starts[i];
            end[i] = starts[i + 1];
        }
    }
    while (separator->bytes > 0 && at < a->bytes) {
        if (!within(a, at, separator)) {
            at++;
            continue;
        }
        end[parts++] = at;
        from[parts] = at += separator->bytes;
    }
    if (separator->bytes > 0)
        end[parts++] = a->bytes;
    i128 index = n > 0 ? (i128)n - 1 : n < 0 ? (i128)parts + n : -1;
    if (index >= 0 && index < (i128)parts)
        reference_set_string(ret, a->string + from[index], end[index] - from[index]);
}

bool reference_strings(const hac_program *program, const hac_instruction *at, const ref_value *a,
                       const ref_value *b, const ref_value *c, ref_value *ret)
{
    size_t starts[REFERENCE_STRING_MAX + 1];
    ref_value other;
    switch (at->op) {
    case HAC_OP_LENGTH:
        ret->i64 = (int64_t)characters(a, starts);
        return true;
    case HAC_OP_BYTES:
        ret->i64 = (int64_t)a->bytes;
        return true;
    case HAC_OP_LOWER:
    case HAC_OP_UPPER:
        change_case(a, at->op == HAC_OP_UPPER, ret);
        return true;
    case HAC_OP_REVERSE:
        for (size_t i = characters(a, starts); i-- > 0;) {
            memcpy(ret->string + ret->bytes, a->string + starts[i], starts[i + 1] - starts[i]);
            ret->bytes += starts[i + 1] - starts[i];
        }
        return true;
    case HAC_OP_LPAD:
    case HAC_OP_RPAD:
        pad(a, b->i64, c, at->op == HAC_OP_LPAD, ret);
        return true;
    case HAC_OP_SPLIT_PART:
        split_part(a, b, c->i64, ret);
        return true;
    case HAC_OP_JSON_EXTRACT: /* tests/integration/nested_test.py compares them with DuckDB */
    case HAC_OP_JSON_STRING:
    case HAC_OP_JSON_ELEMENT:
    case HAC_OP_JSON_SLICE:
    case HAC_OP_JSON_TYPE:
    case HAC_OP_JSON_KEYS:
    case HAC_OP_JSON_LENGTH:
    case HAC_OP_JSON_CONTAINS:
    case HAC_OP_JSON_VALID:
        ret->state = 255;
        return true;
    case HAC_OP_HASH:
        ret->u64 = XXH64(a->string, a->bytes, 0);
        return true;
    case HAC_OP_TRIM:
    case HAC_OP_LTRIM:
    case HAC_OP_RTRIM:
        trim(a, at->op != HAC_OP_RTRIM, at->op != HAC_OP_LTRIM, ret);
        return true;
    case HAC_OP_SUBSTR:
        substr(a, b->i64, c->i64, ret);
        return true;
    case HAC_OP_CONCAT:
        if (a->bytes + b->bytes > REFERENCE_STRING_MAX) {
            ret->state = 255;
            return true;
        }
        memcpy(ret->string, a->string, a->bytes);
        memcpy(ret->string + a->bytes, b->string, b->bytes);
        ret->bytes = a->bytes + b->bytes;
        return true;
    case HAC_OP_REPLACE:
        replace(a, b, c, ret);
        return true;
    case HAC_OP_POSITION:
        other = *a;
        other.bytes = find(a, b);
        ret->i64 = other.bytes == SIZE_MAX ? 0 : (int64_t)characters(&other, starts) + 1;
        return true;
    case HAC_OP_STARTS_WITH:
        ret->boolean = within(a, 0, b);
        return true;
    case HAC_OP_ENDS_WITH:
        ret->boolean = b->bytes <= a->bytes && within(a, a->bytes - b->bytes, b);
        return true;
    case HAC_OP_CONTAINS:
        ret->boolean = find(a, b) != SIZE_MAX;
        return true;
    case HAC_OP_LIKE:
        other = pattern(program, at->k);
        ret->boolean = like(a->string, a->string + a->bytes, other.string, other.string + other.bytes);
        return true;
    default:
        return false;
    }
}
