/* SPDX-License-Identifier: Apache-2.0 */
/* Files of device binaries, and images made of them: whole, truncated at every byte, one byte changed. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/test_support.h"
#include "codelet/codelet.h"
#include "codelets.h"
#include "opencl/codelets.h"
#include "opencl/device.h"
#include "opencl/device_open.h"
#include "program_file.h"

static char directory[] = "/tmp/hac-test-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static hac_program_entry make_entry(const char *name, const char *notes, const char *binary)
{
    return (hac_program_entry){.key = 0x1234567890abcdef,
                               .name = name,
                               .name_bytes = strlen(name),
                               .notes = notes,
                               .notes_bytes = strlen(notes),
                               .binary = (const uint8_t *)binary,
                               .binary_bytes = strlen(binary)};
}

static uint8_t *write_and_read(const hac_program_entry *entry, size_t *ret_bytes)
{
    uint8_t *data = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_program_file_write(path_of("a.bin"), entry, &err) != HAC_OK ||
        hac_program_file_read(path_of("a.bin"), &data, ret_bytes, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return data;
}

static void assert_entry(const hac_program_entry *a, const hac_program_entry *b)
{
    assert_true(a->key == b->key);
    assert_int_equal(a->name_bytes, b->name_bytes);
    assert_memory_equal(a->name, b->name, a->name_bytes);
    assert_int_equal(a->notes_bytes, b->notes_bytes);
    if (a->notes_bytes > 0)
        assert_memory_equal(a->notes, b->notes, a->notes_bytes);
    assert_int_equal(a->binary_bytes, b->binary_bytes);
    assert_memory_equal(a->binary, b->binary, a->binary_bytes);
}

static void test_round_trip(void **state)
{
    (void)state;
    const char *notes[] = {"", "sort.small u32: wrong\n"};
    for (size_t i = 0; i < 2; i++) {
        hac_program_entry entry = make_entry("radix.block.32", notes[i], "binary"), got;
        size_t bytes = 0, offset = 0;
        hac_autofree uint8_t *data = write_and_read(&entry, &bytes);
        assert_int_equal(hac_program_entry_read(data, bytes, &offset, &got), HAC_OK);
        assert_entry(&entry, &got);
        assert_int_equal(offset, bytes);
        assert_int_equal(hac_program_entry_read(data, bytes, &offset, &got), HAC_NOT_FOUND);
    }
}

/* Copies the data, so that the sanitizer sees reads beyond the end. */
static hac_status read_copy(const uint8_t *data, size_t bytes, hac_program_entry *ret)
{
    hac_autofree uint8_t *copy = malloc(bytes + (bytes == 0));
    size_t offset = 0;
    memcpy(copy, data, bytes);
    hac_status status = hac_program_entry_read(copy, bytes, &offset, ret);
    return status;
}

static void test_cut_and_flipped(void **state)
{
    (void)state;
    hac_program_entry entry = make_entry("selftest", "a b: c\n", "0123456789"), got;
    size_t bytes = 0;
    hac_autofree uint8_t *data = write_and_read(&entry, &bytes);
    for (size_t keep = 0; keep < bytes; keep++)
        assert_int_equal(read_copy(data, keep, &got), HAC_NOT_FOUND);
    for (size_t at = 0; at < bytes; at++)
        for (int bit = 0; bit < 8; bit++) {
            data[at] ^= (uint8_t)(1 << bit);
            hac_status status = read_copy(data, bytes, &got);
            /* the caller compares the key (bytes 8 to 15) */
            assert_int_equal(status, at >= 8 && at < 16 ? HAC_OK : HAC_NOT_FOUND);
            data[at] ^= (uint8_t)(1 << bit);
        }
    assert_int_equal(read_copy(data, bytes, &got), HAC_OK);
}

static void test_several_entries(void **state)
{
    (void)state;
    hac_program_entry a = make_entry("one", "", "11"), b = make_entry("two", "n\n", "2222"), got;
    size_t a_bytes, b_bytes, offset = 0;
    hac_autofree uint8_t *a_data = write_and_read(&a, &a_bytes);
    hac_autofree uint8_t *b_data = write_and_read(&b, &b_bytes);
    hac_autofree uint8_t *both = malloc(a_bytes + b_bytes);
    memcpy(both, a_data, a_bytes);
    memcpy(both + a_bytes, b_data, b_bytes);
    assert_int_equal(hac_program_entry_read(both, a_bytes + b_bytes, &offset, &got), HAC_OK);
    assert_entry(&a, &got);
    assert_int_equal(hac_program_entry_read(both, a_bytes + b_bytes, &offset, &got), HAC_OK);
    assert_entry(&b, &got);
    assert_int_equal(offset, a_bytes + b_bytes);
    offset = a_bytes + b_bytes + 5;
    assert_int_equal(hac_program_entry_read(both, a_bytes + b_bytes, &offset, &got), HAC_NOT_FOUND);
}

static void test_who_may_have_written_it(void **state)
{
    (void)state;
    hac_program_entry entry = make_entry("one", "", "11");
    size_t bytes = 0;
    uint8_t *again = NULL;
    free(write_and_read(&entry, &bytes));
    hac_error err = HAC_ERROR_NONE;
    struct stat st;
    assert_int_equal(stat(path_of("a.bin"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(chmod(path_of("a.bin"), 0620), 0);
    assert_int_equal(hac_program_file_read(path_of("a.bin"), &again, &bytes, &err), HAC_REFUSED);
    assert_int_equal(chmod(path_of("a.bin"), 0602), 0);
    assert_int_equal(hac_program_file_read(path_of("a.bin"), &again, &bytes, &err), HAC_REFUSED);
    assert_int_equal(hac_program_file_read(directory, &again, &bytes, &err), HAC_REFUSED);
    assert_int_equal(hac_program_file_read(path_of("none"), &again, &bytes, &err), HAC_NOT_FOUND);
    assert_int_equal(symlink("a.bin", path_of("link")), 0);
    assert_int_equal(hac_program_file_read(path_of("link"), &again, &bytes, &err), HAC_REFUSED);
    assert_non_null(strstr(err.message, "link: is a link; name the file itself"));
    assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
    assert_int_equal(hac_program_file_read(path_of("fifo"), &again, &bytes, &err), HAC_REFUSED);
    assert_int_equal(truncate(path_of("a.bin"), 0), 0);
    assert_int_equal(chmod(path_of("a.bin"), 0600), 0);
    assert_int_equal(hac_program_file_read(path_of("a.bin"), &again, &bytes, &err), HAC_IO);
    assert_int_equal(hac_program_file_write("/nonexistent/x.bin", &entry, &err), HAC_IO);
    assert_null(again);
}

static void test_nothing_left_behind(void **state)
{
    (void)state;
    hac_program_entry entry = make_entry("one", "", "11");
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(mkdir(path_of("taken.bin"), 0700), 0);
    assert_int_equal(hac_program_file_write(path_of("taken.bin"), &entry, &err), HAC_IO);
    assert_non_null(strstr(err.message, "rename"));
    char command[128];
    snprintf(command, sizeof command, "ls %s | grep -q 'taken.bin\\.'", directory);
    assert_int_not_equal(system(command), 0);
}

/* Images: `program: {binary: …}` ------------------------------------------------------------------- */

static hac_status kernel_from_image(const char *image, hac_error *err)
{
    hac_device *device = NULL;
    cl_kernel kernel;
    hac_device_options options = {.program_binary = image, .never_build = true};
    hac_status status = hac_device_open(hac_programs(), &options, &device, err);
    if (status == HAC_OK)
        status = hac_device_kernel(device, "selftest", "selftest_sum", &kernel, err);
    hac_device_close(device);
    return status;
}

static void write_file(const char *path, const uint8_t *data, size_t bytes)
{
    hac_autofclose FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
}

/* The image is an entry of another program, then a saved one. */
static void test_image(void **state)
{
    (void)state;
    hac_device *device = NULL;
    hac_error err = HAC_ERROR_NONE;
    hac_device_options options = {.program_directory = directory};
    assert_int_equal(hac_device_open(hac_programs(), &options, &device, &err), HAC_OK);
    assert_int_equal(hac_program_build(device, "selftest", &err), HAC_OK);
    assert_int_equal(hac_codelet_find("selftest.sum")->known_answer(device, HAC_TYPE_U32, &err), HAC_OK);
    if (hac_program_save(device, "selftest", "", &err) != HAC_OK)
        fail_msg("%s", err.message);
    char command[400];
    snprintf(command, sizeof command, "cat %s/a.bin %s/selftest-*.bin > %s/image", directory,
             hac_device_program_directory(device), directory);
    hac_device_close(device);
    hac_program_entry other = make_entry("other", "", "11");
    assert_int_equal(chmod(path_of("a.bin"), 0600), 0);
    assert_int_equal(hac_program_file_write(path_of("a.bin"), &other, &err), HAC_OK);
    assert_int_equal(system(command), 0);
    if (kernel_from_image(path_of("image"), &err) != HAC_OK)
        fail_msg("%s", err.message);

    assert_int_equal(kernel_from_image(path_of("a.bin"), &err), HAC_UNSUPPORTED);
    assert_non_null(strstr(err.message, "selftest"));
    assert_int_equal(kernel_from_image("/nonexistent", &err), HAC_NOT_FOUND);
    const uint8_t noise[] = "this is no binary of any driver, but the driver has to find that out";
    write_file(path_of("noise"), noise, sizeof noise);
    assert_int_equal(kernel_from_image(path_of("noise"), &err), HAC_DEVICE);
    assert_non_null(strstr(err.message, "clCreateProgramWithBinary"));
}

/* The compiler's message is passed on; an executor never compiles. */
static void test_never_build(void **state)
{
    (void)state;
    hac_device *device = NULL;
    hac_error err = HAC_ERROR_NONE;
    cl_kernel kernel;
    hac_device_options options = {.program_directory = "/nonexistent", .never_build = true};
    assert_int_equal(hac_device_open(hac_programs(), &options, &device, &err), HAC_OK);
    assert_false(hac_program_is_ready(device, "selftest"));
    assert_int_equal(hac_device_kernel(device, "selftest", "selftest_sum", &kernel, &err), HAC_NOT_FOUND);
    hac_device_close(device);
}

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) == NULL;
}

static int remove_directory(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),          cmocka_unit_test(test_cut_and_flipped),
        cmocka_unit_test(test_several_entries),     cmocka_unit_test(test_who_may_have_written_it),
        cmocka_unit_test(test_nothing_left_behind), cmocka_unit_test(test_image),
        cmocka_unit_test(test_never_build),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
