/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the writer fails once, from the first to the last: HAC_NO_MEMORY, no leak, no crash.
 * The linker's --wrap puts these functions before the C library's; what codecs allocate is not reached. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <limits.h>

#include <cmocka.h>

#include "parquet/writer.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *pointer, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *pointer, size_t size);

static atomic_long left = LONG_MAX; /* allocations that still succeed */

static bool fails(void)
{
    return atomic_fetch_sub(&left, 1) <= 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *pointer, size_t size)
{
    return fails() ? NULL : __real_realloc(pointer, size);
}

static hac_status discard(void *context, const uint8_t *data, size_t bytes, hac_error *err)
{
    (void)context;
    (void)data;
    (void)bytes;
    (void)err;
    return HAC_OK;
}

/* Two columns with a dictionary that grows, one that is given up, and several row groups. */
static hac_status write_all(const hac_parquet_write_options *options, hac_error *err)
{
    static hac_field fields[] = {{.name = "a", .type = {.kind = HAC_KIND_I64}},
                                 {.name = "b", .type = {.kind = HAC_KIND_STRING}},
                                 {.name = "c", .type = {.kind = HAC_KIND_F64}}};
    static const hac_schema schema = {.fields = fields, .n_fields = 3};
    static int64_t numbers[HAC_BATCH_ROWS];
    static hac_string_ref refs[HAC_BATCH_ROWS];
    static double floats[HAC_BATCH_ROWS];
    static const uint8_t text[2 * HAC_BATCH_ROWS];
    const hac_vector vectors[] = {{.type = fields[0].type, .values = numbers},
                                  {.type = fields[1].type, .values = refs, .bytes = text},
                                  {.type = fields[2].type, .values = floats}};
    hac_parquet_writer *writer = NULL;
    hac_status status = hac_parquet_writer_new(&schema, 3, options, discard, NULL, &writer, err);
    for (int64_t batch = 0; status == HAC_OK && batch < 21; batch++) {
        for (int64_t i = 0; i < HAC_BATCH_ROWS; i++) {
            numbers[i] = (batch * HAC_BATCH_ROWS + i) / 20;
            refs[i] = (hac_string_ref){.length = (uint32_t)((batch * 31 + i) % 200)};
            floats[i] = (double)(batch * HAC_BATCH_ROWS + i);
        }
        status = hac_parquet_writer_add(writer, vectors, HAC_BATCH_ROWS, err);
    }
    uint64_t bytes = 0;
    if (status == HAC_OK)
        status = hac_parquet_writer_end(writer, &bytes, err);
    hac_parquet_writer_free(writer);
    return status;
}

static void exhaust(const hac_parquet_write_options *options, long at_least)
{
    for (long n = 0;; n++) {
        hac_error err = HAC_ERROR_NONE;
        atomic_store(&left, n);
        hac_status status = write_all(options, &err);
        atomic_store(&left, LONG_MAX);
        if (status == HAC_OK) {
            assert_true(n >= at_least);
            return;
        }
        assert_int_equal(status, HAC_NO_MEMORY);
        assert_string_equal(err.message, "out of memory");
    }
}

static void test_one_group(void **state)
{
    (void)state;
    exhaust(&(const hac_parquet_write_options){.codec = HAC_PARQUET_SNAPPY}, 40);
}

static void test_groups(void **state)
{
    (void)state;
    exhaust(
        &(const hac_parquet_write_options){
            .codec = HAC_PARQUET_UNCOMPRESSED, .group_bytes = 200000, .block_bytes = 200000, .threads = 3},
        40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_group),
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
