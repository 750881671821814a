/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the iterator with a vector from an untrusted writer. Input: an operand, then the bytes of the
 * vector. Oracle besides the sanitizers: the elements ascend and are within the shape.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <hac/vector.h>

enum { WALK_MAX = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static uint8_t touch(const hac_vector_entry *entry)
{
    uint8_t sum = 0;
    if (entry->value.type != HAC_VECTOR_OF_STRING)
        return (uint8_t)entry->value.u64;
    for (uint64_t i = 0; i < entry->value.bytes; i++)
        sum = (uint8_t)(sum + (uint8_t)entry->value.text[i]);
    return sum;
}

static void walk(const hac_vector *vector, const hac_op_operand *o)
{
    hac_vector_iterator *it = NULL;
    hac_vector_entry last = {0}, entry;
    volatile uint8_t sum = 0;
    must(hac_vector_iter(vector, &it, NULL) == HAC_OK);
    for (size_t n = 0; n < WALK_MAX && hac_vector_next(it, &entry, NULL) == HAC_OK; n++) {
        must(entry.row < o->rows && (o->form == HAC_VECTOR_VARIABLE_LEN || entry.column < o->columns));
        must(n == 0 || entry.row > last.row || (entry.row == last.row && entry.column > last.column));
        sum = (uint8_t)(sum + touch(&entry));
        last = entry;
    }
    hac_vector_iter_free(it);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hac_op_operand operand;
    hac_vector *vector = NULL;
    if (size < sizeof operand)
        return 0;
    memcpy(&operand, data, sizeof operand);
    size -= sizeof operand;
    void *memory = NULL;
    must(posix_memalign(&memory, 64, size + 1) == 0); /* the sanitizer detects accesses beyond the end */
    memcpy(memory, data + sizeof operand, size);
    if (hac_vector_view(&operand, memory, size, &vector, NULL) == HAC_OK)
        walk(vector, &operand);
    hac_vector_free(vector);
    free(memory);
    return 0;
}
