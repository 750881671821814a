/* SPDX-License-Identifier: Apache-2.0 */
#include "test_codelets.h"
#include "opencl/codelets.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- devices ---- */

static char programs[] = "/tmp/hac-test-programs-XXXXXX";

static void remove_programs(void)
{
    DIR *directory = opendir(programs);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;)
        unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory != NULL)
        closedir(directory);
    rmdir(programs);
}

/* Where devices look for programs: a folder of links, made at the first call. */
static const char *own_programs(void)
{
    static bool made;
    if (!made) {
        assert_non_null(mkdtemp(programs));
        assert_int_equal(atexit(remove_programs), 0);
    }
    made = true;
    return programs;
}

/* Makes the device find those programs in `from` that were built for the same device with any options.
 * Options are not compiled into programs, but test results are recorded with them. */
static void link_programs(const hac_device *device, const char *from)
{
    const char *own = hac_device_program_directory(device), *name = strrchr(own, '/') + 1;
    size_t same = (size_t)(strrchr(name, '-') - name) + 1;
    DIR *directory = opendir(from);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", from, entry->d_name);
        if (strncmp(entry->d_name, name, same) == 0 && strchr(entry->d_name + same, '-') == NULL &&
            symlink(path, own) == 0)
            break;
    }
    if (directory != NULL)
        closedir(directory);
}

hac_device *test_open_device(hac_device_options options)
{
    hac_error err = HAC_ERROR_NONE;
    hac_device *device = NULL;
    const char *built = getenv("HAC_TEST_PROGRAMS");
    options.platform = getenv("HAC_TEST_PLATFORM");
    options.program_directory = built != NULL ? own_programs() : NULL;
    if (getenv("HAC_TEST_SIMT") != NULL)
        options.style = HAC_STYLE_CHOICE_SIMT;
    if (options.platform != NULL && strcmp(options.platform, "rusticl") == 0 &&
        options.max_loop_iterations == 0)
        options.max_loop_iterations = 65535;
    if (hac_device_open(hac_programs(), &options, &device, &err) != HAC_OK)
        fail_msg("%s", err.message);
    if (built != NULL)
        link_programs(device, built);
    return device;
}

bool test_small_sizes(void)
{
    return getenv("HAC_TEST_SMALL") != NULL;
}

/* ---- memory ---- */

uint8_t *test_guarded(uint64_t bytes)
{
    uint64_t capacity = (bytes + TEST_GUARD + 63) / 64 * 64;
    uint8_t *data = aligned_alloc(64, capacity);
    assert_non_null(data);
    memset(data, 0xa5, capacity);
    return data;
}

bool test_guard_is_whole(const uint8_t *data, uint64_t bytes)
{
    for (uint64_t i = bytes; i < bytes + TEST_GUARD; i++)
        if (data[i] != 0xa5)
            return false;
    return true;
}

/* ---- order ---- */

uint64_t test_load(const uint8_t *data, uint64_t i, size_t size)
{
    uint64_t wide = 0;
    if (size == 4) /* constant sizes: tests spend much of their time here */
        memcpy(&wide, data + i * 4, 4);
    else if (size == 8)
        memcpy(&wide, data + i * 8, 8);
    else
        memcpy(&wide, data + i * size, size);
    return wide;
}

uint64_t test_rank(hac_type type, uint64_t key)
{
    bool wide = hac_type_size(type) == 8;
    uint64_t sign = wide ? UINT64_C(1) << 63 : UINT64_C(1) << 31, magnitude = key & (sign - 1);
    if (type == HAC_TYPE_U32 || type == HAC_TYPE_U64)
        return key;
    if (type == HAC_TYPE_I32 || type == HAC_TYPE_I64)
        return key ^ sign;
    if (magnitude > (wide ? UINT64_C(0x7ff0000000000000) : UINT64_C(0x7f800000)))
        return UINT64_MAX;
    return key & sign ? sign - 1 - magnitude : sign + magnitude;
}

/* Byte by byte, the lowest first: qsort would take longer than the sorts under test. */
void test_sort_items(test_item *items, size_t n, bool descending)
{
    test_item *other = malloc((n + 1) * sizeof *other), *from = items, *to = other;
    uint64_t flip = descending ? UINT64_MAX : 0;
    assert_non_null(other);
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t begin[257] = {0};
        for (size_t i = 0; i < n; i++)
            begin[((from[i].rank ^ flip) >> shift & 255) + 1]++;
        if (n == 0 || begin[((from[0].rank ^ flip) >> shift & 255) + 1] == n)
            continue; /* this byte is equal in all */
        for (size_t b = 1; b < 257; b++)
            begin[b] += begin[b - 1];
        for (size_t i = 0; i < n; i++)
            to[begin[(from[i].rank ^ flip) >> shift & 255]++] = from[i];
        test_item *last = from;
        from = to;
        to = last;
    }
    if (from != items)
        memcpy(items, from, n * sizeof *items);
    free(other);
}
