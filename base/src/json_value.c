/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_value.h"

#include <string.h>

#include "base/json_escape.h"
#include "base/json_grammar.h"

typedef struct json_reader {
    const uint8_t *at, *end;
} json_reader;

static void skip_blanks(json_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r' || *r->at == '\n'))
        r->at++;
}

static bool take(json_reader *r, uint8_t byte)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != byte)
        return false;
    r->at++;
    return true;
}

/* ---- strings ---- */

/* Reads the character of an escape, from behind its backslash on; -1: it is none. */
static int32_t read_escape(json_reader *r)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (r->at == r->end)
        return -1;
    uint8_t name = *r->at++;
    const char *found = name != 0 ? strchr(names, name) : NULL;
    if (found != NULL)
        return values[found - names];
    int32_t code = name == 'u' ? hac_json_unicode(&r->at, r->end) : -1;
    return code < 0 ? -1 : code;
}

/* From the opening quote on. */
static bool skip_string(json_reader *r)
{
    for (r->at++; r->at < r->end;) {
        uint8_t byte = *r->at++;
        if (byte == '"')
            return true;
        if (byte == '\\' && read_escape(r) < 0)
            return false;
    }
    return false;
}

size_t hac_json_text(const hac_json_value *string, uint8_t *ret)
{
    json_reader r = {string->at + 1, string->at + string->bytes - 1};
    size_t n = 0;
    while (string->bytes >= 2 && r.at < r.end) {
        uint8_t byte = *r.at++;
        int32_t code = byte == '\\' ? read_escape(&r) : -1;
        if (code >= 0)
            n += hac_json_put_utf8(code, ret + n); /* no more bytes than the escape has */
        else
            ret[n++] = byte;
    }
    return n;
}

/* ---- other values ---- */

static bool is_digit(const json_reader *r)
{
    return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

static bool skip_digits(json_reader *r)
{
    const uint8_t *first = r->at;
    while (is_digit(r))
        r->at++;
    return r->at > first;
}

static bool skip_number(json_reader *r)
{
    r->at += *r->at == '-';
    const uint8_t *first = r->at;
    if (!skip_digits(r) || (*first == '0' && r->at - first > 1))
        return false;
    if (r->at < r->end && *r->at == '.') {
        r->at++;
        if (!skip_digits(r))
            return false;
    }
    if (r->at == r->end || (*r->at | 0x20) != 'e')
        return true;
    r->at++;
    r->at += r->at < r->end && (*r->at == '+' || *r->at == '-');
    return skip_digits(r);
}

static bool skip_word(json_reader *r)
{
    static const char *const words[] = {HAC_JSON_WORDS, "-Infinity"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(r->end - r->at) >= n && memcmp(r->at, words[i], n) == 0) {
            r->at += n;
            return true;
        }
    }
    return false;
}

/* Skips a value that has no brackets. */
static bool skip_scalar(json_reader *r)
{
    if (r->at == r->end)
        return false;
    if (*r->at == '"')
        return skip_string(r);
    bool number = is_digit(r) || (*r->at == '-' && r->end - r->at > 1 && r->at[1] != 'I');
    return number ? skip_number(r) : skip_word(r);
}

/* Open brackets, one bit each: 1 for an object. */
typedef struct open_brackets {
    uint64_t bits[HAC_JSON_DEPTH_MAX / 64];
    size_t depth;
} open_brackets;

static bool in_object(const open_brackets *n)
{
    return n->bits[(n->depth - 1) / 64] >> (n->depth - 1) % 64 & 1;
}

static bool push(open_brackets *n, bool object)
{
    if (n->depth == HAC_JSON_DEPTH_MAX)
        return false;
    uint64_t bit = UINT64_C(1) << n->depth % 64;
    n->bits[n->depth / 64] = (n->bits[n->depth / 64] & ~bit) | (object ? bit : 0);
    n->depth++;
    return true;
}

static bool skip_name(json_reader *r)
{
    skip_blanks(r);
    return r->at < r->end && *r->at == '"' && skip_string(r) && take(r, ':');
}

/* Opens brackets up to a value that has none, or up to an empty pair. */
static bool descend(json_reader *r, open_brackets *n)
{
    for (;;) {
        skip_blanks(r);
        bool object = r->at < r->end && *r->at == '{';
        if (!object && (r->at == r->end || *r->at != '['))
            return skip_scalar(r);
        r->at++;
        if (take(r, object ? '}' : ']'))
            return true;
        if (!push(n, object) || (object && !skip_name(r)))
            return false;
    }
}

static bool skip_value(json_reader *r)
{
    open_brackets n = {.depth = 0};
    for (;;) {
        if (!descend(r, &n))
            return false;
        while (n.depth > 0 && !take(r, ',')) {
            if (!take(r, in_object(&n) ? '}' : ']'))
                return false;
            n.depth--;
        }
        if (n.depth == 0)
            return true;
        if (in_object(&n) && !skip_name(r))
            return false;
    }
}

static hac_json_kind kind_of(uint8_t first)
{
    return first == '{'                   ? HAC_JSON_OBJECT
           : first == '['                 ? HAC_JSON_ARRAY
           : first == '"'                 ? HAC_JSON_STRING
           : first == 'n'                 ? HAC_JSON_NULL
           : first == 't' || first == 'f' ? HAC_JSON_BOOL
                                          : HAC_JSON_NUMBER;
}

static bool read_value(json_reader *r, hac_json_value *ret)
{
    skip_blanks(r);
    const uint8_t *first = r->at;
    if (!skip_value(r))
        return false;
    *ret = (hac_json_value){first, (size_t)(r->at - first), kind_of(*first)};
    return true;
}

bool hac_json_read(const uint8_t *text, size_t bytes, hac_json_value *ret)
{
    json_reader r = {text, text + bytes};
    hac_json_value value;
    if (!read_value(&r, &value))
        return false;
    skip_blanks(&r);
    *ret = value;
    return r.at == r.end;
}

/* ---- elements and members ---- */

hac_json_items hac_json_items_of(const hac_json_value *value)
{
    bool object = value->kind == HAC_JSON_OBJECT;
    if ((!object && value->kind != HAC_JSON_ARRAY) || value->bytes < 2)
        return (hac_json_items){0};
    return (hac_json_items){
        .at = value->at + 1, .end = value->at + value->bytes - 1, .object = object, .begun = false};
}

bool hac_json_next(hac_json_items *items, hac_json_value *ret_name, hac_json_value *ret)
{
    json_reader r = {items->at, items->end};
    skip_blanks(&r);
    if (r.at == r.end || (items->begun && !take(&r, ',')))
        return false;
    items->begun = true;
    skip_blanks(&r);
    const uint8_t *name = r.at;
    if (items->object && (r.at == r.end || *name != '"' || !skip_string(&r)))
        return false;
    *ret_name = (hac_json_value){name, (size_t)(r.at - name), HAC_JSON_STRING};
    if ((items->object && !take(&r, ':')) || !read_value(&r, ret))
        return false;
    items->at = r.at;
    return true;
}

size_t hac_json_count(const hac_json_value *value)
{
    hac_json_items items = hac_json_items_of(value);
    hac_json_value name, item;
    size_t n = 0;
    while (hac_json_next(&items, &name, &item))
        n++;
    return n;
}

bool hac_json_element(const hac_json_value *array, int64_t number, hac_json_value *ret)
{
    hac_json_value name;
    uint64_t wanted = (uint64_t)number;
    if (array->kind != HAC_JSON_ARRAY || number == 0)
        return false;
    if (number < 0) {
        uint64_t n = hac_json_count(array), back = 0 - (uint64_t)number;
        if (back > n)
            return false;
        wanted = n - back + 1;
    }
    hac_json_items items = hac_json_items_of(array);
    while (hac_json_next(&items, &name, ret))
        if (--wanted == 0)
            return true;
    return false;
}

/* ---- writing ---- */

typedef struct json_writer {
    uint8_t *to;
    size_t n, capacity;
} json_writer;

static bool put(json_writer *w, const void *data, size_t bytes)
{
    if (bytes > w->capacity - w->n)
        return false;
    memcpy(w->to + w->n, data, bytes);
    w->n += bytes;
    return true;
}

static bool put_character(json_writer *w, int32_t code)
{
    static const char named[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt", digits[] = "0123456789abcdef";
    const char *found = code > 0 && code < 0x80 ? strchr(named, code) : NULL;
    uint8_t utf8[4];
    if (found != NULL)
        return put(w, (const char[]){'\\', names[found - named]}, 2);
    if (code < 0x20)
        return put(w, (const char[]){'\\', 'u', '0', '0', digits[code >> 4], digits[code & 15]}, 6);
    return put(w, utf8, hac_json_put_utf8(code, utf8));
}

/* Writes the string that begins at the reader, from its opening quote on. */
static bool put_string(json_writer *w, json_reader *r)
{
    bool good = put(w, "\"", 1);
    r->at++;
    while (good && r->at < r->end && *r->at != '"') {
        uint8_t byte = *r->at++;
        int32_t code = byte == '\\' ? read_escape(r) : byte;
        good = code < 0 || byte >= 0x80 ? put(w, &byte, 1) : put_character(w, code);
    }
    r->at += r->at < r->end;
    return good && put(w, "\"", 1);
}

size_t hac_json_compact(const hac_json_value *value, uint8_t *ret, size_t capacity)
{
    json_reader r = {value->at, value->at + value->bytes};
    json_writer w = {ret, 0, capacity};
    for (skip_blanks(&r); r.at < r.end; skip_blanks(&r)) {
        if (*r.at == '"' ? !put_string(&w, &r) : !put(&w, r.at++, 1))
            return SIZE_MAX;
    }
    return w.n;
}

/* ---- paths ---- */

typedef enum step_kind { STEP_END = 0, STEP_MEMBER, STEP_ELEMENT, STEP_EITHER, STEP_PROBLEM } step_kind;

/* A step of a path: the name of a member, or an element counted from 1, or from the end. */
typedef struct path_step {
    step_kind kind;
    const uint8_t *name;
    size_t bytes;
    bool pointer; /* ~1 and ~0 in the name stand for / and ~ */
    int64_t number;
} path_step;

/* Reads a number of a few digits. False: there is none, or it is too large. */
static bool take_number(json_reader *r, int64_t *ret)
{
    const uint8_t *first = r->at;
    *ret = 0;
    for (; is_digit(r) && r->at - first < 18; r->at++)
        *ret = *ret * 10 + (*r->at - '0');
    return r->at > first && !is_digit(r);
}

/* [0], [-1], [#-1], from behind the bracket on. */
static path_step element_step(json_reader *r)
{
    path_step step = {.kind = STEP_PROBLEM};
    int64_t number;
    bool end = r->at < r->end && *r->at == '#';
    r->at += end;
    bool back = r->at < r->end && *r->at == '-';
    r->at += back;
    if ((end && !back) || !take_number(r, &number) || r->at == r->end || *r->at != ']')
        return step;
    r->at++;
    step.kind = STEP_ELEMENT;
    step.number = back ? -number : number + 1;
    return step;
}

/* .name or ."name", from behind the point on. */
static path_step member_step(json_reader *r)
{
    bool quoted = r->at < r->end && *r->at == '"';
    r->at += quoted;
    path_step step = {.kind = STEP_MEMBER, .name = r->at};
    while (r->at < r->end && (quoted ? *r->at != '"' : *r->at != '.' && *r->at != '['))
        r->at++;
    step.bytes = (size_t)(r->at - step.name);
    bool star = !quoted && step.bytes == 1 && step.name[0] == '*';
    if ((quoted && r->at == r->end) || (!quoted && step.bytes == 0) || star)
        step.kind = STEP_PROBLEM;
    r->at += quoted && r->at < r->end;
    return step;
}

/* A name of a pointer, which is a number where it meets an array. */
static path_step pointer_step(json_reader *r)
{
    path_step step = {.kind = STEP_EITHER, .name = r->at, .pointer = true};
    while (r->at < r->end && *r->at != '/')
        r->at++;
    step.bytes = (size_t)(r->at - step.name);
    json_reader digits = {step.name, r->at};
    if (!take_number(&digits, &step.number) || digits.at != r->at)
        step.kind = STEP_MEMBER;
    step.number++;
    return step;
}

static path_step next_step(json_reader *r)
{
    if (r->at == r->end)
        return (path_step){.kind = STEP_END};
    uint8_t sign = *r->at++;
    return sign == '/'   ? pointer_step(r)
           : sign == '.' ? member_step(r)
           : sign == '[' ? element_step(r)
                         : (path_step){.kind = STEP_PROBLEM};
}

/* The reader of the path's steps. False: the whole path is the name of a member. */
static bool has_steps(const uint8_t *path, size_t bytes, json_reader *ret)
{
    bool root = bytes > 0 && path[0] == '$';
    *ret = (json_reader){path + root, path + bytes};
    return root || bytes == 0 || path[0] == '/';
}

const char *hac_json_path_problem(const uint8_t *path, size_t bytes)
{
    json_reader r;
    path_step step;
    if (!has_steps(path, bytes, &r))
        return NULL;
    bool pointer = bytes > 0 && path[0] == '/';
    while ((step = next_step(&r)).kind != STEP_END)
        if (step.kind == STEP_PROBLEM || step.pointer != pointer)
            return memchr(path, '*', bytes) != NULL
                       ? "a * in a path stands for several values; unnest the list"
                       : "write a path as in '$.a.b', '$.a[0]' or '$.\"a b\"'";
    return NULL;
}

/* Whether a member's name is that of the step. */
static bool is_named(const hac_json_value *name, const path_step *step)
{
    json_reader r = {name->at + 1, name->at + name->bytes - 1};
    uint8_t utf8[4];
    size_t k = 0;
    while (r.at < r.end) {
        uint8_t byte = *r.at++;
        int32_t code = byte == '\\' ? read_escape(&r) : -1;
        size_t n = code >= 0 ? hac_json_put_utf8(code, utf8) : 1;
        for (size_t i = 0; i < n; i++, k++) {
            bool tilde = step->pointer && k + 1 < step->bytes && step->name[k] == '~' &&
                         (step->name[k + 1] == '0' || step->name[k + 1] == '1');
            k += tilde;
            uint8_t wanted = k >= step->bytes ? 0
                             : tilde          ? (step->name[k] == '0' ? '~' : '/')
                                              : step->name[k];
            if (k >= step->bytes || wanted != (code >= 0 ? utf8[i] : byte))
                return false;
        }
    }
    return k == step->bytes;
}

bool hac_json_text_is(const hac_json_value *string, const uint8_t *text, size_t bytes)
{
    const path_step step = {.name = text, .bytes = bytes};
    return is_named(string, &step);
}

static bool find_member(const hac_json_value *object, const path_step *step, hac_json_value *ret)
{
    hac_json_value name, item;
    hac_json_items items = hac_json_items_of(object);
    bool found = false;
    while (object->kind == HAC_JSON_OBJECT && hac_json_next(&items, &name, &item)) {
        if (is_named(&name, step)) {
            *ret = item;
            found = true;
        }
    }
    return found;
}

bool hac_json_find(const hac_json_value *value, const uint8_t *path, size_t bytes, hac_json_value *ret)
{
    json_reader r;
    hac_json_value at = *value;
    path_step step = {.kind = STEP_MEMBER, .name = path, .bytes = bytes};
    bool found = has_steps(path, bytes, &r) || find_member(&at, &step, &at);
    if (r.at == path && bytes > 0 && path[0] != '/')
        r.at = r.end; /* the name has been taken */
    while (found && (step = next_step(&r)).kind != STEP_END) {
        bool element = step.kind == STEP_ELEMENT || (step.kind == STEP_EITHER && at.kind == HAC_JSON_ARRAY);
        hac_json_value from = at;
        found = step.kind != STEP_PROBLEM &&
                (element ? hac_json_element(&from, step.number, &at) : find_member(&from, &step, &at));
    }
    if (found)
        *ret = at;
    return found;
}
