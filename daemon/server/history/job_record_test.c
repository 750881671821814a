/* SPDX-License-Identifier: Apache-2.0 */
#include "job_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/test_support.h"

static char *written(const hac_job_record *record, size_t *ret_bytes)
{
    hac_text text = HAC_TEXT_NONE;
    char *bytes = NULL;
    hac_job_record_write(record, &text);
    assert_int_equal(hac_text_finish(&text, &bytes, ret_bytes, NULL), HAC_OK);
    return bytes;
}

static void set(hac_job_record *record, hac_record_part part, const char *text)
{
    record->parts[part].text = text;
    record->parts[part].bytes = strlen(text);
}

static void read_back(void **state)
{
    (void)state;
    hac_job_record record = {.id = 7}, got;
    size_t bytes = 0;
    set(&record, HAC_RECORD_LINE, "{\"id\":7}");
    set(&record, HAC_RECORD_WHY, "");
    set(&record, HAC_RECORD_TRACE, "a\nwhy 5\nb");
    char *file = written(&record, &bytes);
    assert_int_equal(hac_job_record_read(file, bytes, &got, NULL), HAC_OK);
    assert_int_equal(got.id, 7);
    for (size_t i = 0; i < HAC_RECORD_PARTS; i++) {
        assert_int_equal(got.parts[i].bytes, record.parts[i].bytes);
        assert_int_equal(got.parts[i].text == NULL, record.parts[i].text == NULL);
        if (got.parts[i].text != NULL)
            assert_memory_equal(got.parts[i].text, record.parts[i].text, record.parts[i].bytes);
    }
    free(file);
}

/* Every shorter file, and every file with one byte changed, is refused. */
static void damaged(void **state)
{
    (void)state;
    hac_job_record record = {.id = 123456}, got;
    size_t bytes = 0;
    set(&record, HAC_RECORD_LINE, "{\"id\":123456}");
    set(&record, HAC_RECORD_LOG, "one\ntwo\n");
    char *file = written(&record, &bytes);
    for (size_t n = 0; n < bytes; n++) {
        char *copy = malloc(n + 1); /* exact, for the sanitizers */
        assert_non_null(copy);
        memcpy(copy, file, n);
        assert_int_equal(hac_job_record_read(copy, n, &got, NULL), HAC_INVALID);
        free(copy);
        file[n] = (char)(file[n] ^ 4);
        /* the checksum does not cover the number of the job, which its reader compares */
        if (hac_job_record_read(file, bytes, &got, NULL) == HAC_OK)
            assert_int_not_equal(got.id, 123456);
        file[n] = (char)(file[n] ^ 4);
    }
    free(file);
}

/* The last parts are left out. */
static void large(void **state)
{
    (void)state;
    hac_job_record record = {.id = 1}, got;
    size_t bytes = 0, half = HAC_JOB_RECORD_BYTES_MAX / 2;
    char *text = malloc(half + 1);
    assert_non_null(text);
    memset(text, 'x', half);
    text[half] = '\0';
    set(&record, HAC_RECORD_LINE, "{}");
    set(&record, HAC_RECORD_PLAN_JSON, text);
    set(&record, HAC_RECORD_TRACE, text);
    char *file = written(&record, &bytes);
    assert_true(bytes <= HAC_JOB_RECORD_BYTES_MAX);
    assert_int_equal(hac_job_record_read(file, bytes, &got, NULL), HAC_OK);
    assert_non_null(got.parts[HAC_RECORD_PLAN_JSON].text);
    assert_null(got.parts[HAC_RECORD_TRACE].text);
    free(file);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_back),
        cmocka_unit_test(damaged),
        cmocka_unit_test(large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
