/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests only (target hac_test_support). A group of tests must leave as many descriptors open as it found:
 *
 *     return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
 *
 * or, for one test, cmocka_unit_test_setup_teardown(test, hac_test_fds_setup, hac_test_fds_teardown). Both
 * may be used at once: the setups nest.
 */
#ifndef BASE_TEST_SUPPORT_H
#define BASE_TEST_SUPPORT_H

/* cmocka.h needs these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Numbers of random cases: sanitizers see as much in fewer of them. */
#ifdef HAC_SANITIZED
#define HAC_TEST_CASES(usual, sanitized) (sanitized)
#else
#define HAC_TEST_CASES(usual, sanitized) (usual)
#endif

/* Number of descriptors this process has open. */
size_t hac_test_open_descriptors(void);

/* cmocka's signatures; the teardown fails, and prints what is open, when the number has changed. */
int hac_test_fds_setup(void **state);
int hac_test_fds_teardown(void **state);

/* Asserts, in the middle of a test, that `count` descriptors are open. */
#define hac_test_assert_descriptors(count) assert_int_equal(hac_test_open_descriptors(), count)

/* Fails, and shows both, unless `part` occurs in `text`. */
void hac_test_assert_says(const char *text, const char *part);

/* The exact sum of f64 values, rounded once: Shewchuk's partial sums, as Python's math.fsum has them. Of
 * values below 2^1000. */
#define HAC_TEST_FSUM_PARTS 48
typedef struct hac_test_fsum {
    double parts[HAC_TEST_FSUM_PARTS];
    size_t n;
} hac_test_fsum;

void hac_test_fsum_add(hac_test_fsum *sum, double value);
double hac_test_fsum_result(const hac_test_fsum *sum);

/* Descriptor of a file with this content and without a name, at its end. */
int hac_test_file(const void *data, size_t bytes);

#endif
