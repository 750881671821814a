/* SPDX-License-Identifier: Apache-2.0 */
/* sort.small, sort.nan_order and sort.gather against test_sort_items and loops. HAC_TEST_TIMES=1 prints
 * times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "radix.h"
#include "small_sort.h"
#include "test_codelets.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t key_of(hac_type type, int pattern, uint64_t i, uint64_t n)
{
    static const uint32_t special[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001,
                                       0,          0x80000000, 0x7f800000, 0xff800000,
                                       1,          0x80000001, 0x3f800000, 0xbf800000};
    uint64_t r = hac_random_u64(&random_state);
    switch (pattern) {
    case 0:
        return r;
    case 1:
        return i;
    case 2:
        return n - i;
    case 3:
        return 7;
    case 4:
        return r % 5 << 20;
    case 5: {
        uint64_t key = special[r % 12];
        bool all_ones = (key & 0x7f800000) == 0x7f800000;
        if (hac_type_size(type) == 4)
            return key;
        return all_ones ? (key & 0x80000000) << 32 | UINT64_C(0x7ff0000000000000) | (key & 0x7fffff)
                        : key << 32;
    }
    default:
        return r >> (r & 63);
    }
}

static void check_small(hac_type type, bool descending, bool argsort, size_t n, int pattern)
{
    uint8_t in[HAC_SMALL_SORT_BYTES + 1], out[HAC_INLINE_MAX + 8];
    size_t size = hac_type_size(type);
    test_item *wanted = calloc(n + 1, sizeof *wanted);
    assert_non_null(wanted);
    for (size_t i = 0; i < n; i++) {
        uint64_t key = key_of(type, pattern, i, n);
        memcpy(in + 1 + i * size, &key, size); /* keys in a message are not aligned */
        key = size == 4 ? (uint32_t)key : key;
        wanted[i] = (test_item){test_rank(type, key), i};
    }
    test_sort_items(wanted, n, descending);
    memset(out, 0xa5, sizeof out);
    hac_task task = {
        .type = type, .descending = descending, .inline_in = in + 1, .inline_in_bytes = n * size};
    HAC_SET_PARAMS(&task, &(hac_small_sort_params){.index_bytes = argsort ? 4 : 0});
    hac_task_result result = {.inline_out = out};
    assert_int_equal(hac_radix_check_small(NULL, &task, NULL), HAC_OK);
    assert_int_equal(hac_radix_run_small(NULL, &task, &result, NULL), HAC_OK);
    assert_int_equal(result.inline_out_bytes, n * (argsort ? 4 : size));
    for (size_t i = 0; i < n; i++)
        if (argsort)
            assert_int_equal(((uint32_t *)(void *)out)[i], wanted[i].index);
        else
            assert_memory_equal(out + i * size, in + 1 + wanted[i].index * size, size);
    for (size_t i = result.inline_out_bytes; i < sizeof out; i++)
        assert_int_equal(out[i], 0xa5);
    free(wanted);
}

static void every_size_type_and_pattern(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,   1,   2,   3,   7,    23,   24,   25,   26,
                                   100, 255, 256, 257, 1000, 4095, 4096, 8191, 8192};
    for (int type = HAC_TYPE_U32; type <= HAC_TYPE_F64; type++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
            for (int pattern = 0; pattern < 7; pattern++)
                for (int mode = 0; mode < 4; mode++)
                    if (sizes[s] * hac_type_size((hac_type)type) <= HAC_SMALL_SORT_BYTES)
                        check_small((hac_type)type, mode & 1, mode & 2, sizes[s], pattern);
}

static void bad_small_tasks_are_refused(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_task task = {.type = HAC_TYPE_U64, .inline_in_bytes = 8};
    assert_int_equal(hac_radix_check_small(NULL, &task, &err), HAC_OK);
    task.inline_in_bytes = 12;
    assert_int_equal(hac_radix_check_small(NULL, &task, &err), HAC_INVALID);
    task.inline_in_bytes = HAC_SMALL_SORT_BYTES + 8;
    assert_int_equal(hac_radix_check_small(NULL, &task, &err), HAC_INVALID);
    task.inline_in_bytes = 8;
    HAC_SET_PARAMS(&task, &(hac_small_sort_params){.index_bytes = 8});
    assert_int_equal(hac_radix_check_small(NULL, &task, &err), HAC_INVALID);
    HAC_SET_PARAMS(&task, &(hac_small_sort_params){.index_bytes = 0});
    task.type = HAC_TYPE_NONE;
    assert_int_equal(hac_radix_check_small(NULL, &task, &err), HAC_INVALID);
}

static void a_thousand_keys_take_microseconds(void **state)
{
    (void)state;
    if (getenv("HAC_TEST_TIMES") == NULL)
        return;
    for (int type = HAC_TYPE_U32; type <= HAC_TYPE_F64; type++)
        for (int argsort = 0; argsort < 2; argsort++) {
            uint64_t in[1000], out[1000];
            double best = 1e9;
            for (size_t i = 0; i < 1000; i++)
                in[i] = hac_random_u64(&random_state) & UINT64_C(0xbfffffffbfffffff);
            for (int run = 0; run < 2000; run++) {
                struct timespec a, b;
                clock_gettime(CLOCK_MONOTONIC, &a);
                if (argsort)
                    hac_small_sort_index((hac_type)type, false, in, 1000, (uint32_t *)(void *)out);
                else
                    hac_small_sort_keys((hac_type)type, false, in, 1000, out);
                clock_gettime(CLOCK_MONOTONIC, &b);
                double t = (double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) * 1e-3;
                best = t < best ? t : best;
            }
            print_message("%s%s: %.1f us\n", hac_type_name((hac_type)type), argsort ? " argsort" : "", best);
        }
}

/* ---- sort.nan_order ---- */

static void nans_get_their_input_order(void **state)
{
    (void)state;
    static const float numbers[] = {3, 1, 2};
    uint32_t in[9] = {0x7fc00001, 0, 0xffc00002, 0, 0x7f800003, 0, 0x7fc00001, 0xff800009, 0x7fc00000},
             out[9];
    for (size_t i = 0; i < 3; i++)
        memcpy(&in[2 * i + 1], &numbers[i], 4);
    for (int descending = 0; descending < 2; descending++)
        for (size_t nans = 0; nans <= 6; nans++) {
            size_t n = 3 + nans, place = descending ? 0 : 3;
            uint32_t kept[9];
            size_t k = 0;
            /* in[]: numbers, and the first `nans` NaNs */
            uint32_t input[9];
            size_t m = 0, left = nans;
            for (size_t i = 0; i < 9; i++) {
                bool number = i == 1 || i == 3 || i == 5;
                if (!number && left == 0)
                    continue;
                left -= !number;
                input[m++] = in[i];
                if (!number)
                    kept[k++] = in[i];
            }
            assert_int_equal(m, n);
            static const float up[] = {1, 2, 3}, down[] = {3, 2, 1};
            memcpy(out + (descending ? nans : 0), descending ? down : up, 12);
            for (size_t i = 0; i < nans; i++)
                out[place + i] = kept[nans - 1 - i];
            hac_task task = {.type = HAC_TYPE_F32, .descending = descending, .n_spans = 2};
            hac_task_result result = {0};
            task.spans[0] = (hac_span){(uint8_t *)input, n * 4};
            task.spans[1] = (hac_span){(uint8_t *)out, n * 4};
            HAC_SET_PARAMS(&task, &(hac_nan_order_params){.items = n});
            assert_int_equal(hac_radix_check_nan_order(NULL, &task, NULL), HAC_OK);
            assert_int_equal(hac_radix_run_nan_order(NULL, &task, &result, NULL), HAC_OK);
            assert_int_equal(result.values[0], nans);
            assert_memory_equal(out + place, kept, nans * 4);
            HAC_SET_PARAMS(&task, &(hac_nan_order_params){.items = n + 1});
            assert_int_equal(hac_radix_check_nan_order(NULL, &task, NULL), HAC_INVALID);
        }
}

/* ---- sort.gather ---- */

static void elements_of_all_widths_are_gathered(void **state)
{
    (void)state;
    enum { N = 1000 };
    for (size_t width = 1; width <= 40; width++)
        for (uint32_t index_bytes = 4; index_bytes <= 8; index_bytes += 4) {
            uint8_t *payload = malloc(N * width), *out = malloc(N * width);
            uint64_t index[N];
            assert_non_null(payload);
            assert_non_null(out);
            for (size_t i = 0; i < N * width; i++)
                payload[i] = (uint8_t)hac_random_u64(&random_state);
            for (size_t i = 0; i < N; i++) {
                uint64_t from = hac_random_u64(&random_state) % N;
                memcpy((uint8_t *)index + i * index_bytes, &from, index_bytes);
            }
            memset(out, 0, N * width);
            hac_task task = {.n_spans = 3, .first = 10, .count = N - 20};
            hac_task_result result = {0};
            task.spans[0] = (hac_span){payload, N * width};
            task.spans[1] = (hac_span){(uint8_t *)index, (uint64_t)N * index_bytes};
            task.spans[2] = (hac_span){out, N * width};
            hac_gather_params params = {.items = N, .width = width, .index_bytes = index_bytes};
            HAC_SET_PARAMS(&task, &params);
            assert_int_equal(hac_radix_check_gather(NULL, &task, NULL), HAC_OK);
            assert_int_equal(hac_radix_run_gather(NULL, &task, &result, NULL), HAC_OK);
            for (size_t i = 0; i < N; i++) {
                uint64_t from = 0;
                memcpy(&from, (uint8_t *)index + i * index_bytes, index_bytes);
                static const uint8_t nothing[40];
                bool inside = i >= 10 && i < N - 10;
                assert_memory_equal(out + i * width, inside ? payload + from * width : nothing, width);
            }
            uint64_t outside = N;
            memcpy((uint8_t *)index + (size_t)500 * index_bytes, &outside, index_bytes);
            assert_int_equal(hac_radix_run_gather(NULL, &task, &result, NULL), HAC_INVALID);
            params.items = N + 1;
            HAC_SET_PARAMS(&task, &params);
            assert_int_equal(hac_radix_check_gather(NULL, &task, NULL), HAC_INVALID);
            free(payload);
            free(out);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_type_and_pattern),         cmocka_unit_test(bad_small_tasks_are_refused),
        cmocka_unit_test(a_thousand_keys_take_microseconds),   cmocka_unit_test(nans_get_their_input_order),
        cmocka_unit_test(elements_of_all_widths_are_gathered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
