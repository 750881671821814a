/* SPDX-License-Identifier: Apache-2.0 */
/* Results by entry of a dictionary. machine_test.c compares every operation with the reference, with and
 * without dictionaries; here are dictionaries that are not remembered, and what follows them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machine_parts.h"
#include "test_columns.h"

#define STRING_BYTES (4u << 20)

/* A program of upper(input) and length(input). */
static hac_program *upper_and_length(void)
{
    hac_program_builder *builder = NULL;
    hac_program *program = NULL;
    assert_int_equal(hac_program_builder_new(&builder, NULL), HAC_OK);
    hac_value_id text = hac_program_builder_input(builder, 0, test_type(HAC_REPR_STRING)),
                 upper = hac_program_builder_op(builder, HAC_OP_UPPER, text, 0, 0, 0),
                 length = hac_program_builder_op(builder, HAC_OP_LENGTH, text, 0, 0, 0);
    hac_program_builder_output(builder, upper, test_type(HAC_REPR_STRING));
    hac_program_builder_output(builder, length, test_type(HAC_REPR_I64));
    assert_int_equal(hac_program_builder_finish(builder, &program, NULL), HAC_OK);
    hac_program_builder_free(builder);
    return program;
}

/* The entries of every other dictionary are too far apart for the results to be remembered. Nothing is left
 * of them when a dictionary follows that has entries at the same offsets. */
static void test_wide_dictionaries(void **state)
{
    (void)state;
    hac_program *program = upper_and_length();
    hac_machine_c *machine = NULL;
    hac_column column = test_column_new(HAC_REPR_STRING, false), outputs[2];
    hac_batch batch = {HAC_BATCH_ROWS, 1, &column};
    hac_string_ref *refs = column.values;
    assert_int_equal(hac_machine_c_new(program, STRING_BYTES, &machine, NULL), HAC_OK);
    for (size_t round = 0; round < 12; round++) {
        const size_t entries = round % 2 == 0 ? HAC_BATCH_ROWS : 1 + round / 2;
        for (size_t row = 0; row < entries; row++) {
            ref_value text = {0};
            text.bytes = (size_t)snprintf(text.string, sizeof text.string, "k%zu.%zu", round, row);
            test_column_set(&column, HAC_REPR_STRING, row, &text);
        }
        for (size_t row = entries; row < HAC_BATCH_ROWS; row++)
            refs[row] = refs[row % entries];
        column.dictionary = round + 1;
        hac_machine_c_run(machine, &batch, outputs);
        assert_int_equal(outputs[0].dictionary != 0, round % 2 == 1);
        for (size_t row = 0; row < HAC_BATCH_ROWS; row++) {
            char wanted[64];
            int bytes = snprintf(wanted, sizeof wanted, "K%zu.%zu", round, row % entries);
            ref_value upper = reference_get(&outputs[0], HAC_REPR_STRING, row);
            assert_int_equal(upper.bytes, bytes);
            assert_memory_equal(upper.string, wanted, (size_t)bytes);
            assert_int_equal(((const int64_t *)outputs[1].values)[row], bytes);
        }
    }
    hac_machine_c_free(machine);
    hac_program_free(program);
    test_column_free(&column);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wide_dictionaries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
