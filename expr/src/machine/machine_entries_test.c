/* SPDX-License-Identifier: Apache-2.0 */
/* Results by entry of a dictionary. machine_test.c compares every operation with the reference, with and
 * without dictionaries; here are dictionaries that are not remembered, and what follows them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine_parts.h"
#include "test_columns.h"

#define STRING_BYTES (4u << 20)

/* A program of upper(input). */
static hac_program *upper_alone(void)
{
    hac_program_builder *builder = NULL;
    hac_program *program = NULL;
    assert_int_equal(hac_program_builder_new(&builder, NULL), HAC_OK);
    hac_value_id text = hac_program_builder_input(builder, 0, test_type(HAC_REPR_STRING)),
                 upper = hac_program_builder_op(builder, HAC_OP_UPPER, text, 0, 0, 0);
    hac_program_builder_output(builder, upper, test_type(HAC_REPR_STRING));
    assert_int_equal(hac_program_builder_finish(builder, &program, NULL), HAC_OK);
    hac_program_builder_free(builder);
    return program;
}

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

/* The entries of every other dictionary are too far apart for the results to be remembered, as one of them,
 * without the first character, is at an odd offset. Nothing is left of them when a dictionary follows that
 * has entries at the same offsets. */
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
        if (round % 2 == 0)
            refs[7] = (hac_string_ref){refs[7].offset + 1, refs[7].length - 1};
        column.dictionary = round + 1;
        hac_machine_c_run(machine, &batch, outputs);
        assert_int_equal(outputs[0].dictionary != 0, round % 2 == 1);
        for (size_t row = 0; row < HAC_BATCH_ROWS; row++) {
            char wanted[64];
            const char *letter = round % 2 == 0 && row == 7 ? "" : "K";
            int bytes = snprintf(wanted, sizeof wanted, "%s%zu.%zu", letter, round, row % entries);
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

/* Offsets that are multiples of a power of two, then some between them, and the first ones again. */
static void test_offsets_between(void **state)
{
    (void)state;
    static const char text[] = "abcdefghijklmnopqrstuvwxyz";
    const size_t entries = 64;
    hac_program *program = upper_and_length();
    hac_machine_c *machine = NULL;
    hac_column column = test_column_new(HAC_REPR_STRING, false), outputs[2];
    hac_batch batch = {HAC_BATCH_ROWS, 1, &column};
    hac_string_ref *refs = column.values;
    char *bytes = (char *)(uintptr_t)column.bytes;
    assert_int_equal(hac_machine_c_new(program, STRING_BYTES, &machine, NULL), HAC_OK);
    for (size_t i = 0; i < entries * 512; i++)
        bytes[i] = text[(i * 7 + i / 26) % 26];
    for (size_t round = 0; round < 40; round++) {
        const size_t between = round % 4 == 3 ? 0 : (size_t)1 << (round / 4);
        for (size_t row = 0; row < HAC_BATCH_ROWS; row++)
            refs[row] = (hac_string_ref){(uint32_t)(row % entries * 512 + row % 3 % 2 * between % 512), 1};
        column.dictionary = 1 + round / 8;
        hac_machine_c_run(machine, &batch, outputs);
        assert_int_not_equal(outputs[0].dictionary, 0);
        for (size_t row = 0; row < HAC_BATCH_ROWS; row++) {
            char letter = bytes[refs[row].offset];
            ref_value upper = reference_get(&outputs[0], HAC_REPR_STRING, row);
            assert_int_equal(upper.bytes, 1);
            assert_int_equal(upper.string[0], letter - 'a' + 'A');
        }
    }
    hac_machine_c_free(machine);
    hac_program_free(program);
    test_column_free(&column);
}

/* Nearly as many entries as there are codes, 16 bytes apart: once all are known, batches need no more. */
static void test_nearly_all_codes(void **state)
{
    (void)state;
    const size_t entries = 64800, stride = 16, length = 12;
    hac_program *program = upper_alone();
    hac_machine_c *machine = NULL;
    hac_column column = test_column_new(HAC_REPR_STRING, false), output;
    const uint8_t *own_bytes = column.bytes;
    hac_batch batch = {HAC_BATCH_ROWS, 1, &column};
    hac_string_ref *refs = column.values;
    char *bytes = calloc(entries, stride);
    assert_non_null(bytes);
    assert_int_equal(hac_machine_c_new(program, STRING_BYTES, &machine, NULL), HAC_OK);
    for (size_t i = 0; i < entries; i++)
        snprintf(bytes + i * stride, stride, "entry%07zu", i);
    column.bytes = (const uint8_t *)bytes;
    column.dictionary = 1;
    for (size_t first = 0; first < 3 * entries; first += batch.rows) {
        for (size_t row = 0; row < batch.rows; row++) { /* the first one is in the middle of the range */
            size_t entry = (first % entries + row) % entries;
            refs[row] = (hac_string_ref){(uint32_t)((entry + entries / 2) % entries * stride), length};
        }
        hac_machine_c_run(machine, &batch, &output);
        assert_int_not_equal(output.dictionary, 0);
        for (size_t row = 0; row < batch.rows; row++) {
            char wanted[32];
            snprintf(wanted, sizeof wanted, "ENTRY%s", bytes + refs[row].offset + strlen("entry"));
            ref_value upper = reference_get(&output, HAC_REPR_STRING, row);
            assert_int_equal(upper.bytes, length);
            assert_memory_equal(upper.string, wanted, length);
        }
    }
    hac_machine_c_free(machine);
    hac_program_free(program);
    column.bytes = own_bytes;
    test_column_free(&column);
    free(bytes);
}

/* More steps than a machine has memory for, with their results for entries. */
static void test_many_dictionary_steps(void **state)
{
    (void)state;
    hac_program_builder *builder = NULL;
    hac_program *program = NULL;
    assert_int_equal(hac_program_builder_new(&builder, NULL), HAC_OK);
    hac_value_id text = hac_program_builder_input(builder, 0, test_type(HAC_REPR_STRING)),
                 two = hac_program_builder_constant(builder, HAC_REPR_I64, 2, 0), sum = two;
    for (uint64_t i = 1; i < 60; i++) {
        hac_value_id from = hac_program_builder_constant(builder, HAC_REPR_I64, i, 0),
                     part = hac_program_builder_op(builder, HAC_OP_SUBSTR, text, from, two, 0),
                     length = hac_program_builder_op(builder, HAC_OP_LENGTH, part, 0, 0, 0);
        sum = hac_program_builder_op(builder, HAC_OP_ADD_I64, sum, length, 0, 0);
    }
    hac_program_builder_output(builder, sum, test_type(HAC_REPR_I64));
    assert_int_equal(hac_program_builder_finish(builder, &program, NULL), HAC_OK);
    hac_machine_c *machine = NULL;
    hac_column column = test_column_new(HAC_REPR_STRING, false), result;
    hac_batch batch = {512, 1, &column};
    assert_int_equal(hac_machine_c_new(program, STRING_BYTES, &machine, NULL), HAC_OK);
    for (size_t round = 1; round <= 4; round++) {
        for (size_t row = 0; row < batch.rows; row++)
            test_column_set(
                &column, HAC_REPR_STRING, row,
                &(ref_value){.bytes = (row + round) % 30, .string = "abcdefghijklmnopqrstuvwxyzabcd"});
        column.dictionary = round;
        hac_machine_c_run(machine, &batch, &result);
        for (size_t row = 0; row < batch.rows; row++) { /* two characters of each start but the last */
            int64_t bytes = (int64_t)((row + round) % 30);
            assert_int_equal(((const int64_t *)result.values)[row], bytes == 0 ? 2 : 2 * bytes + 1);
        }
    }
    assert_in_range(machine->entries_bytes, 3 << 20, 4 << 20);
    hac_machine_c_free(machine);
    hac_program_free(program);
    hac_program_builder_free(builder);
    test_column_free(&column);
}

/* Dictionaries whose entries have one row each: after some time results are no longer remembered. */
static void test_lone_entries(void **state)
{
    (void)state;
    const size_t rows = 256, batches = (1 << 17) / rows;
    hac_program *program = upper_and_length();
    hac_machine_c *machine = NULL;
    hac_column column = test_column_new(HAC_REPR_STRING, false), outputs[2];
    hac_batch batch = {rows, 1, &column};
    assert_int_equal(hac_machine_c_new(program, STRING_BYTES, &machine, NULL), HAC_OK);
    for (size_t row = 0; row < rows; row++)
        test_column_set(&column, HAC_REPR_STRING, row, &(ref_value){.bytes = 3, .string = "abc"});
    for (size_t i = 0; i < batches + 2; i++) {
        column.dictionary = i + 1;
        hac_machine_c_run(machine, &batch, outputs);
        assert_int_equal(outputs[0].dictionary != 0, i < batches);
    }
    hac_machine_c_free(machine);
    hac_program_free(program);
    test_column_free(&column);
}

/* An entry that is no number is a failure only in batches that have it. */
static void test_failed_entry(void **state)
{
    (void)state;
    hac_program_builder *builder = NULL;
    hac_program *program = NULL;
    hac_machine_c *machine = NULL;
    hac_column column = test_column_new(HAC_REPR_STRING, false), result;
    hac_batch batch = {128, 1, &column};
    ref_value bad = {.bytes = 1, .string = "x"}, good = {.bytes = 1, .string = "7"};
    assert_int_equal(hac_program_builder_new(&builder, NULL), HAC_OK);
    hac_value_id text = hac_program_builder_input(builder, 0, test_type(HAC_REPR_STRING));
    hac_program_builder_output(builder, hac_program_builder_op(builder, HAC_OP_STRING_TO_I64, text, 0, 0, 0),
                               test_type(HAC_REPR_I64));
    assert_int_equal(hac_program_builder_finish(builder, &program, NULL), HAC_OK);
    assert_int_equal(hac_machine_c_new(program, 0, &machine, NULL), HAC_OK);
    for (size_t row = 0; row < batch.rows; row++)
        test_column_set(&column, HAC_REPR_STRING, row, row == 5 ? &bad : &good);
    column.dictionary = 1;
    hac_machine_c_run(machine, &batch, &result);
    assert_int_equal(result.states[5], HAC_ROW_MALFORMED);
    assert_int_equal(result.states[6], HAC_ROW_OK);
    hac_string_ref *refs = column.values;
    refs[5] = refs[6];
    hac_machine_c_run(machine, &batch, &result);
    assert_null(result.states);
    assert_int_equal(((const int64_t *)result.values)[5], 7);
    hac_machine_c_free(machine);
    hac_program_free(program);
    hac_program_builder_free(builder);
    test_column_free(&column);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wide_dictionaries), cmocka_unit_test(test_offsets_between),
        cmocka_unit_test(test_nearly_all_codes),  cmocka_unit_test(test_many_dictionary_steps),
        cmocka_unit_test(test_lone_entries),      cmocka_unit_test(test_failed_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
