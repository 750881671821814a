/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the reader fails once: opening, reading every column of the corpus' good files, with
 * codes and dictionaries. What codecs allocate is not reached. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/test_oom.h"
#include "parquet/column.h"

#define FILE_MAX (64u << 10)

static hac_status read_group(hac_parquet_column *column, size_t group, uint64_t rows, hac_error *err)
{
    static _Alignas(64) uint8_t values[16 * HAC_BATCH_ROWS];
    static uint8_t states[HAC_BATCH_ROWS];
    hac_status status = hac_parquet_column_begin(column, group, err);
    for (uint64_t at = 0; status == HAC_OK && at < rows; at += HAC_BATCH_ROWS) {
        size_t n = rows - at < HAC_BATCH_ROWS ? (size_t)(rows - at) : HAC_BATCH_ROWS;
        hac_column v = {.values = values, .states = states};
        const uint32_t *codes;
        const uint8_t *nulls;
        bool marked;
        status = hac_parquet_column_codes(column, n, &codes, &nulls, err);
        if (status == HAC_OK || status == HAC_NOT_FOUND)
            status = hac_parquet_column_read(column, n, NULL, 0, &v, &marked, err);
    }
    return status;
}

static hac_status read_leaf(const hac_parquet_file *file, size_t leaf, hac_error *err)
{
    hac_parquet_column *column = NULL;
    hac_status status = hac_parquet_column_new(file, leaf, &file->leaves[leaf], &column, err);
    for (size_t group = 0; status == HAC_OK && group < file->n_groups; group++)
        status = read_group(column, group, file->groups[group].rows, err);
    hac_parquet_column_free(column);
    return status;
}

static hac_status read_all(void *context, hac_error *err)
{
    const hac_parquet_place *place = context;
    hac_parquet_file *file = NULL;
    hac_status status = hac_parquet_open(place, NULL, &file, err);
    for (size_t leaf = 0; status == HAC_OK && leaf < file->n_leaves; leaf++)
        if (file->leaves[leaf].why == NULL)
            status = read_leaf(file, leaf, err);
    hac_parquet_close(file);
    return status;
}

static void test_corpus(void **state)
{
    (void)state;
    static uint8_t data[FILE_MAX];
    static const char directory[] = HAC_SOURCE_DIR "/tests/fuzz/corpus/parquet_file";
    DIR *files = opendir(directory);
    assert_non_null(files);
    int read = 0;
    for (struct dirent *entry; (entry = readdir(files)) != NULL;) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        hac_autofclose FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "rbe");
        hac_parquet_place place = {.fd = -1, .memory = data};
        place.bytes = file == NULL ? 0 : fread(data, 1, sizeof data, file);
        hac_error err = HAC_ERROR_NONE;
        if (place.bytes == 0 || place.bytes == sizeof data || read_all(&place, &err) != HAC_OK)
            continue;
        hac_test_exhaust(read_all, &place, 3);
        read++;
    }
    closedir(files);
    assert_true(read >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
