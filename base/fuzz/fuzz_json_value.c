/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: the first byte says how long a path is, the path and a text follow. What is read as JSON
 * is walked through, written in one way, and read again; the text that is written is the same the next time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void check_again(const hac_json_value *value)
{
    size_t capacity = value->bytes * 6;
    uint8_t *once = malloc(capacity + 1), *twice = malloc(capacity + 1);
    hac_json_value again;
    must(once != NULL && twice != NULL);
    size_t n = hac_json_compact(value, once, capacity);
    must(n <= capacity && hac_json_read(once, n, &again) && again.kind == value->kind);
    must(hac_json_compact(&again, twice, capacity) == n && memcmp(once, twice, n) == 0);
    must(hac_json_count(&again) == hac_json_count(value));
    if (value->kind == HAC_JSON_STRING) {
        size_t length = hac_json_text(value, twice); /* `again` lies in the other text */
        must(length <= value->bytes && hac_json_text_is(value, twice, length) &&
             hac_json_text_is(&again, twice, length));
    }
    free(once);
    free(twice);
}

static void walk(const hac_json_value *value, unsigned depth)
{
    hac_json_items items = hac_json_items_of(value);
    hac_json_value name, item, element;
    for (int64_t i = 1; depth < 16 && hac_json_next(&items, &name, &item); i++) {
        must(item.at >= value->at && item.at + item.bytes <= value->at + value->bytes);
        must(value->kind != HAC_JSON_ARRAY ||
             (hac_json_element(value, i, &element) && element.at == item.at));
        walk(&item, depth + 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    hac_json_value value, found;
    if (bytes == 0 || bytes > 4096)
        return 0;
    size_t path = data[0] < bytes - 1 ? data[0] : bytes - 1;
    uint8_t *text = malloc(bytes - path); /* of its own, so that what is read behind its end is found */
    must(text != NULL);
    memcpy(text, data + 1 + path, bytes - 1 - path);
    if (hac_json_read(text, bytes - 1 - path, &value)) {
        check_again(&value);
        walk(&value, 0);
        bool right = hac_json_path_problem(data + 1, path) == NULL;
        if (hac_json_find(&value, data + 1, path, &found)) {
            must(right);
            check_again(&found);
        }
    }
    free(text);
    return 0;
}
