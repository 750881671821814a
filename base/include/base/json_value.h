/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of JSON in a text that need not be JSON: its members and elements, its strings, and paths to a
 * value. Nothing is copied or allocated, nothing recurses, and no byte outside of the text is read, also if
 * the text changes meanwhile. Strings need not be UTF-8. As in input files, NaN, Infinity and -Infinity are
 * numbers.
 */
#ifndef BASE_JSON_VALUE_H
#define BASE_JSON_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum hac_json_kind {
    HAC_JSON_NONE = 0, /* no value */
    HAC_JSON_NULL,
    HAC_JSON_BOOL,
    HAC_JSON_NUMBER,
    HAC_JSON_STRING,
    HAC_JSON_ARRAY,
    HAC_JSON_OBJECT
} hac_json_kind;

typedef struct hac_json_value {
    const uint8_t *at; /* a string with its quotes */
    size_t bytes;
    hac_json_kind kind;
} hac_json_value;

/* False: the text is not one value of JSON, or is nested more than HAC_JSON_DEPTH_MAX deep. */
bool hac_json_read(const uint8_t *text, size_t bytes, hac_json_value *ret);

/* The elements of an array or the members of an object that hac_json_read has read; other values have none.
 */
typedef struct hac_json_items {
    const uint8_t *at, *end;
    bool object, begun;
} hac_json_items;
hac_json_items hac_json_items_of(const hac_json_value *value);
/* The next one, and of a member its name, a string. False: there are no more. */
bool hac_json_next(hac_json_items *items, hac_json_value *ret_name, hac_json_value *ret);

/* The characters of a string. `ret` has `string->bytes` bytes. Returns the length. */
size_t hac_json_text(const hac_json_value *string, uint8_t *ret);
/* Whether the characters of a string are `text`. */
bool hac_json_text_is(const hac_json_value *string, const uint8_t *text, size_t bytes);

/* The value without blanks, and with each string written in one way. SIZE_MAX: it has more than `capacity`
 * bytes. */
size_t hac_json_compact(const hac_json_value *value, uint8_t *ret, size_t capacity);

/*
 * Paths are those of SQL engines: `$.a."b c"[0][-1]`, where $ is the value itself, elements are counted from
 * 0, and -1 (or #-1) is the last one; `/a/0`, a pointer; any other text is the name of a member.
 */
/* What is wrong with the path, in words; NULL: nothing. */
const char *hac_json_path_problem(const uint8_t *path, size_t bytes);
/* False: the value has nothing there, or something is wrong with the path. Of members with the same name the
 * last one counts. */
bool hac_json_find(const hac_json_value *value, const uint8_t *path, size_t bytes, hac_json_value *ret);

/* Element `number`, counted from 1, or from the end if it is negative. False: there is none. */
bool hac_json_element(const hac_json_value *array, int64_t number, hac_json_value *ret);
/* The number of elements, or of members. */
size_t hac_json_count(const hac_json_value *value);

#endif
