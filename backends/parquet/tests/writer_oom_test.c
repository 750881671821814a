/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the writer fails once, from the first to the last. What codecs allocate is not reached.
 */
#include <pthread.h>

#include "base/test_oom.h"
#include "parquet/writer.h"

static hac_status discard(void *context, const uint8_t *data, size_t bytes, hac_error *err)
{
    (void)context;
    (void)data;
    (void)bytes;
    (void)err;
    return HAC_OK;
}

/* Two columns with a dictionary that grows, one that is given up, and several row groups. */
static hac_status write_all(void *context, hac_error *err)
{
    const hac_parquet_write_options *options = context;
    static hac_field fields[] = {{.name = "a", .type = {.kind = HAC_KIND_I64}},
                                 {.name = "b", .type = {.kind = HAC_KIND_STRING}},
                                 {.name = "c", .type = {.kind = HAC_KIND_F64}}};
    static const hac_schema schema = {.fields = fields, .n_fields = 3};
    static int64_t numbers[HAC_BATCH_ROWS];
    static hac_string_ref refs[HAC_BATCH_ROWS];
    static double floats[HAC_BATCH_ROWS];
    static const uint8_t text[2 * HAC_BATCH_ROWS];
    const hac_column columns[] = {{.type = fields[0].type, .values = numbers},
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
        status = hac_parquet_writer_add(writer, columns, HAC_BATCH_ROWS, err);
    }
    uint64_t bytes = 0;
    if (status == HAC_OK)
        status = hac_parquet_writer_end(writer, &bytes, err);
    hac_parquet_writer_free(writer);
    return status;
}

typedef struct oom_call {
    void *context;
    hac_error *err;
    hac_status status;
} oom_call;

static void *call_write_all(void *argument)
{
    oom_call *call = argument;
    call->status = write_all(call->context, call->err);
    return NULL;
}

/* The threads of hac_pool_run_few belong to the thread that calls it, and their memory is freed with it. */
static hac_status write_in_thread(void *context, hac_error *err)
{
    oom_call call = {.context = context, .err = err};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, call_write_all, &call), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return call.status;
}

static void test_one_group(void **state)
{
    (void)state;
    hac_test_exhaust(write_all, &(hac_parquet_write_options){.codec = HAC_PARQUET_SNAPPY}, 40);
}

static void test_groups(void **state)
{
    (void)state;
    hac_parquet_write_options options = {
        .codec = HAC_PARQUET_UNCOMPRESSED, .group_bytes = 200000, .block_bytes = 200000, .threads = 3};
    hac_test_exhaust(write_in_thread, &options, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_group),
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
