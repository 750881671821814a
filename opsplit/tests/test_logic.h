/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of logic files share: checks of good files and of bad files. */
#ifndef OPSPLIT_TEST_LOGIC_H
#define OPSPLIT_TEST_LOGIC_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "opsplit/logic.h"

typedef struct bad_logic {
    const char *text, *message; /* the beginning of the first problem, after "t.yaml:" */
} bad_logic;

/* The file is refused, and the first problem begins with `message`, after "t.yaml:". */
static inline void check_bad(const char *text, const char *message)
{
    hac_logic *logic = NULL;
    hac_logic_problems problems;
    hac_error err = HAC_ERROR_NONE;
    char expected[600];
    if (hac_logic_parse("t.yaml", text, strlen(text), NULL, &logic, &problems, &err) == HAC_OK) {
        hac_logic_free(logic);
        fail_msg("this is taken:\n%s", text);
    }
    snprintf(expected, sizeof expected, "t.yaml:%s", message);
    if (strncmp(err.message, expected, strlen(expected)) != 0)
        fail_msg("%s\nsays: %s\nand not: %s", text, err.message, expected);
    assert_null(logic);
    if (problems.n > 0)
        assert_string_equal(problems.messages[0], err.message);
    hac_logic_problems_clear(&problems);
}

static inline hac_logic *parse(const char *text)
{
    hac_logic *logic = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_logic_parse("t.yaml", text, strlen(text), NULL, &logic, NULL, &err) != HAC_OK)
        fail_msg("%s\n%s", text, err.message);
    return logic;
}

static inline const hac_logic_vector *vector(const hac_logic *logic, const char *name)
{
    int index = hac_logic_vector_find(logic, name);
    if (index < 0)
        fail_msg("no vector %s", name);
    return &logic->vectors[index];
}

static inline void check_vector(const hac_logic *logic, const char *name, hac_vector_template form,
                                hac_kind kind)
{
    if (vector(logic, name)->form != form || vector(logic, name)->kind != kind)
        fail_msg("%s is a %s of %s", name, hac_vector_template_get(vector(logic, name)->form)->name,
                 hac_element_name(vector(logic, name)->kind));
}

#endif
