/* SPDX-License-Identifier: Apache-2.0 */
/* Images: the right one, those for something else, truncated at every byte, one byte changed. Needs no
 * device. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/test_support.h"
#include "image.h"
#include "program_file.h"

#define KERNELS "0123456789abcdef"

static const hac_device_facts here = {.platform = "Platform of tests",
                                      .name = "device-of-tests",
                                      .driver = "1.2",
                                      .max_work_group = 256,
                                      .block_items = 65536,
                                      .local_memory = 1 << 20};

typedef struct image {
    uint8_t *data;
    size_t bytes, entries;
} image;

/* Of two programs. */
static image image_new(void)
{
    static const char *const names[] = {"one.program", "another"};
    hac_error err = HAC_ERROR_NONE;
    char path[] = "/tmp/hac-image-test-XXXXXX";
    image ret = {0};
    hac_autofree uint8_t *header = NULL;
    assert_int_equal(hac_image_header(&here, KERNELS, 2, &header, &ret.entries, &err), HAC_OK);
    ret.data = malloc(ret.entries + 4096);
    assert_non_null(ret.data);
    memcpy(ret.data, header, ret.entries);
    ret.bytes = ret.entries;
    for (size_t i = 0; i < 2; i++) {
        hac_autofree uint8_t *entry = NULL;
        size_t bytes;
        hac_program_entry e = {.key = 7 + i,
                               .name = names[i],
                               .name_bytes = strlen(names[i]),
                               .notes = "x",
                               .notes_bytes = i,
                               .binary = (const uint8_t *)"binary",
                               .binary_bytes = 6};
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        close(fd);
        assert_int_equal(hac_program_file_write(path, &e, &err), HAC_OK);
        assert_int_equal(hac_program_file_read(path, &entry, &bytes, &err), HAC_OK);
        unlink(path);
        strcpy(path, "/tmp/hac-image-test-XXXXXX");
        memcpy(ret.data + ret.bytes, entry, bytes);
        ret.bytes += bytes;
    }
    return ret;
}

static void assert_refused(const image *i, size_t bytes, const hac_device_facts *facts, hac_status expected,
                           const char *words)
{
    hac_error err = HAC_ERROR_NONE;
    size_t entries;
    hac_autofree uint8_t *copy = malloc(bytes + 1); /* of exactly this size, for the address sanitizer */
    assert_non_null(copy);
    memcpy(copy, i->data, bytes);
    assert_int_equal(hac_image_check(copy, bytes, "k.image", facts, KERNELS, &entries, &err), expected);
    if (strstr(err.message, words) == NULL || strstr(err.message, "k.image") == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.message, words);
}

static void test_right(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    image i = image_new();
    hac_program_entry entry;
    size_t at;
    assert_true(hac_image_is_ours(i.data, i.bytes));
    assert_int_equal(hac_image_check(i.data, i.bytes, "k.image", &here, KERNELS, &at, &err), HAC_OK);
    assert_int_equal(at, i.entries);
    assert_int_equal(hac_program_entry_read(i.data, i.bytes, &at, &entry), HAC_OK);
    assert_memory_equal(entry.name, "one.program", entry.name_bytes);
    assert_false(hac_image_is_ours((const uint8_t *)"HACPROG1 and more", 17));
    assert_false(hac_image_is_ours(i.data, 7));
    free(i.data);
}

static void test_for_something_else(void **state)
{
    (void)state;
    image i = image_new();
    hac_device_facts f = here;
    strcpy(f.name, "another device");
    assert_refused(&i, i.bytes, &f, HAC_UNSUPPORTED,
                   "was built for device \"device-of-tests\", here it is \"another device\"");
    f = here;
    strcpy(f.driver, "1.3");
    assert_refused(&i, i.bytes, &f, HAC_UNSUPPORTED, "driver \"1.2\", here it is \"1.3\"; build it again");
    f = here;
    f.style = HAC_STYLE_SIMT;
    assert_refused(&i, i.bytes, &f, HAC_UNSUPPORTED, "style \"block\", here it is \"simt\"");
    f = here;
    f.local_memory = 5;
    assert_refused(&i, i.bytes, &f, HAC_UNSUPPORTED, "local_memory \"1048576\", here it is \"5\"");
    free(i.data);
}

/* No checksum covers the bytes of an entry's key: the caller compares them. */
static bool is_key(const image *i, size_t at)
{
    hac_program_entry entry;
    for (size_t from = i->entries, start = from; from < i->bytes; start = from) {
        assert_int_equal(hac_program_entry_read(i->data, i->bytes, &from, &entry), HAC_OK);
        if (at >= start + 8 && at < start + 16)
            return true;
    }
    return false;
}

static void test_damaged(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    image i = image_new();
    for (size_t n = 0; n < i.bytes; n++)
        assert_refused(&i, n, &here, HAC_FAILED, "not whole");
    for (size_t at = 8; at < i.bytes; at++) { /* before that it is not recognised as an image */
        size_t entries;
        if (is_key(&i, at))
            continue;
        i.data[at] ^= 0x41;
        assert_int_equal(hac_image_check(i.data, i.bytes, "k.image", &here, KERNELS, &entries, &err),
                         HAC_FAILED);
        i.data[at] ^= 0x41;
    }
    i.bytes++;
    assert_refused(&i, i.bytes, &here, HAC_FAILED, "1 bytes follow");
    free(i.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_for_something_else),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
