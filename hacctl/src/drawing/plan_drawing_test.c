/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_drawing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/text.h"

/* Tags close in order, attributes are quoted, there is no bare & or < and no control byte. */
static void assert_xml(const char *xml)
{
    const char *stack[32];
    size_t depth = 0;
    for (const char *c = xml; *c != '\0';) {
        assert_true((unsigned char)*c >= 0x20 || *c == '\n');
        if (*c == '&') {
            assert_true(strncmp(c, "&amp;", 5) == 0 || strncmp(c, "&lt;", 4) == 0 ||
                        strncmp(c, "&gt;", 4) == 0 || strncmp(c, "&quot;", 6) == 0);
            c++;
        } else if (*c != '<') {
            c++;
        } else if (c[1] == '/') {
            assert_true(depth > 0);
            size_t length = strcspn(stack[--depth], " >/\n");
            assert_int_equal(strncmp(c + 2, stack[depth], length), 0);
            assert_int_equal(c[2 + length], '>');
            c += 3 + length;
        } else {
            const char *name = ++c;
            bool quoted = false;
            for (; *c != '\0' && (quoted || *c != '>'); c++) {
                quoted ^= *c == '"';
                assert_true(*c != '<');
            }
            assert_int_equal(*c, '>');
            if (c[-1] != '/') {
                assert_true(depth < 32);
                stack[depth++] = name;
            }
            c++;
        }
    }
    assert_int_equal(depth, 0);
    assert_null(strstr(xml, "nan"));
}

static size_t occurrences(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        n++;
    return n;
}

/* The drawing of a plan; the caller frees it. */
static char *draw(const char *plan)
{
    char *svg = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_plan_drawing_of_text(plan, &svg, &err) != HAC_OK)
        fail_msg("%s in %s", err.message, plan);
    assert_xml(svg);
    return svg;
}

/* Two devices sort halves of 2^n items side by side, then the first merges all of them. */
static void network_plan(unsigned n, char **plan)
{
    unsigned half = 1u << (n - 1), steps = n * (n + 1) / 2, before = (n - 1) * n / 2;
    hac_text text = HAC_TEXT_NONE;
    hac_text_addf(&text,
                  "{\"flow\":\"sort\",\"k\":0.6,\"k_source\":\"profile\",\"predicted_seconds\":0.001,"
                  "\"devices\":[\"<\\\"a\\\" & 'b'>\",\"slow\"],\"shares\":[0.5,0.5],\"type\":\"u32\","
                  "\"items\":%u,\"descending\":true,\"argsort\":false,\"algorithm\":\"bitonic\","
                  "\"scheme\":\"upper\",\"n\":%u,\"N\":1,\"weaker_items\":%u,\"corun_steps\":[[1,%u]],"
                  "\"folded_steps\":[%u],\"parts\":["
                  "{\"device\":\"slow\",\"first\":0,\"items\":%u,\"k\":0.6},"
                  "{\"device\":\"<\\\"a\\\" & 'b'>\",\"first\":%u,\"items\":%u,\"k\":1}],\"tasks\":[",
                  2 * half, n, half, before, steps, half, half, half);
    for (unsigned d = 0; d < 2 && before > 0; d++)
        hac_text_addf(
            &text,
            "{\"stage\":\"steps\",\"devices\":[\"%s\"],\"steps\":[1,%u],\"side_by_side\":true,"
            "\"item_first\":%u,\"item_count\":%u,\"predicted_start\":0,\"predicted_seconds\":0.0004},",
            d == 0 ? "slow" : "<\\\"a\\\" & 'b'>", before, d * half, half);
    hac_text_addf(
        &text,
        "{\"stage\":\"steps\",\"devices\":[\"<\\\"a\\\" & 'b'>\"],\"steps\":[%u,%u],"
        "\"item_first\":0,\"item_count\":%u,\"predicted_start\":0.0004,\"predicted_seconds\":0.0006}]}",
        before + 1, steps, 2 * half);
    assert_int_equal(hac_text_finish(&text, plan, NULL, NULL), HAC_OK);
}

/* A network has every comparator: half as many as items in each step. */
static void network(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 6; n++) {
        hac_autofree char *plan = NULL, *svg = NULL;
        network_plan(n, &plan);
        svg = draw(plan);
        assert_int_equal(occurrences(svg, "<circle") - 1,
                         n * (n + 1) / 2 * (1u << (n - 1))); /* one in the legend */
        assert_non_null(strstr(svg, "sort of"));
        assert_non_null(strstr(svg, "u32, descending, scheme upper"));
        assert_non_null(strstr(svg, "&lt;&quot;a&quot; &amp; 'b'&gt;"));
        assert_int_equal(occurrences(svg, "text-decoration=\"underline\""),
                         2); /* the folded step, and the legend */
        assert_int_equal(occurrences(svg, "stroke-width=\"1.6\""), n > 1 ? 2 : 1);
    }
}

/* A copy of `text` with the first `from` replaced by `to`. */
static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    char *copy = NULL;
    assert_non_null(at);
    assert_true(asprintf(&copy, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
    return copy;
}

/* Plans of other releases, or of a daemon that is broken, become a time line or an error. */
static void odd_plans(void **state)
{
    (void)state;
    static const char *const changes[][2] = {{"\"item_count\":16", "\"item_count\":17"},
                                             {"\"item_first\":8", "\"item_first\":40"},
                                             {"\"steps\":[1,6]", "\"steps\":[1,600]"},
                                             {"\"device\":\"slow\"", "\"device\":\"gone\""},
                                             {"\"first\":8", "\"first\":-8"},
                                             {"\"n\":4", "\"n\":1e9"},
                                             {"\"items\":16", "\"items\":1e18"},
                                             {"\"scheme\":\"upper\"", "\"scheme\":null"},
                                             {"\"devices\":[\"slow\"]", "\"devices\":[7]"}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        hac_autofree char *plan = NULL;
        network_plan(4, &plan);
        hac_autofree char *odd = replaced(plan, changes[i][0], changes[i][1]);
        hac_autofree char *svg = draw(odd);
        assert_non_null(strstr(svg, i + 1 < sizeof changes / sizeof *changes ? "milliseconds" : "circle"));
    }
    static const char *const refused[] = {"", "[]", "{}", "{\"flow\":\"sort\"}", "{\"tasks\":[]}"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char *svg = NULL;
        assert_int_equal(hac_plan_drawing_of_text(refused[i], &svg, NULL), HAC_PROTOCOL);
    }
}

/* A task that any device may run is drawn on the first, a divided one on all, short ones of a stage as one.
 * */
static void timeline(void **state)
{
    (void)state;
    hac_text text = HAC_TEXT_NONE;
    char *plan = NULL;
    hac_text_add(
        &text, "{\"flow\":\"mapreduce\",\"k\":null,\"k_source\":\"model\",\"predicted_seconds\":2,"
               "\"devices\":[\"a\",\"b\"],\"shares\":[0.75,0.25],\"rounds\":3,\"tasks_omitted\":9,\"tasks\":["
               "{\"codelet\":\"query.chunks\",\"stage\":null,\"devices\":[\"a\",\"b\"],\"range\":true,"
               "\"count\":8,\"predicted_start\":0,\"predicted_seconds\":1}");
    for (int i = 0; i < 4000; i++)
        hac_text_addf(&text,
                      ",{\"stage\":\"merge\",\"devices\":[\"b\"],\"range\":false,\"predicted_start\":%g,"
                      "\"predicted_seconds\":1e-7}",
                      1 + i * 1e-7);
    hac_text_add(&text,
                 ",{\"stage\":\"finish\",\"devices\":[\"a\",\"b\"],\"range\":false,\"predicted_start\":1.5,"
                 "\"predicted_seconds\":0.5}]}");
    assert_int_equal(hac_text_finish(&text, &plan, NULL, NULL), HAC_OK);
    hac_autofree char *svg = draw(plan);
    free(plan);
    assert_true(strlen(svg) < 10000);
    assert_int_equal(occurrences(svg, "query.chunks: starts at 0 µs, takes 1 s"), 2);
    assert_int_equal(occurrences(svg, "merge, 4000 tasks"), 1);
    assert_int_equal(occurrences(svg, "finish: starts at 1.5 s"), 1);
    assert_non_null(strstr(svg, "75.0 % of items"));
    assert_non_null(strstr(svg, "the last of 3 rounds · 9 more tasks are not drawn"));
}

static void one_task(void **state)
{
    (void)state;
    hac_autofree char *svg =
        draw("{\"flow\":\"sort\",\"predicted_seconds\":1,\"devices\":[\"a\",\"b\"],\"tasks\":"
             "[{\"stage\":\"x\",\"devices\":[\"a\",\"b\"],\"range\":false}]}");
    assert_int_equal(occurrences(svg, "may take the task"), 2);
    assert_int_equal(occurrences(svg, "x: starts"), 1);
}

static void hot_keys(void **state)
{
    (void)state;
    static const char plan[] =
        "{\"flow\":\"mapreduce\",\"predicted_seconds\":1,\"devices\":[\"a\"],\"tasks\":[]}";
    static const char query[] =
        "{\"hot_keys\":{\"on\":true,\"sample_coverage\":0.1,\"sample_hit_rate\":null,\"hot_set\":40,"
        "\"chosen\":2,"
        "\"hit_rate\":0.5,\"local_hit_rate\":0.75,\"pairs_local\":132,\"pairs_global\":220,\"tables_grown\":"
        "0,"
        "\"key_ranges_more\":0,\"work_groups\":[{\"work_groups\":3,\"min\":0.02,\"max\":0.9,\"bars\":["
        "{\"first\":0,\"last\":0,\"rows\":0,\"hits\":0,\"hit_rate\":null},"
        "{\"first\":1,\"last\":2,\"rows\":100,\"hits\":2,\"hit_rate\":0.02}]}]},"
        "\"merge\":{\"partials\":7,\"pairs\":70,\"groups\":60}}";
    cJSON *json = cJSON_Parse(plan), *figures = cJSON_Parse(query);
    char *svg = NULL;
    assert_int_equal(hac_plan_drawing(json, figures, &svg, NULL), HAC_OK);
    assert_xml(svg);
    assert_non_null(strstr(svg, "work-groups 1 to 2: 2 of 100 rows"));
    assert_non_null(strstr(svg, "hit rate: 50.0 % of the rows after it"));
    assert_non_null(strstr(svg, "with none of the sample"));
    assert_non_null(strstr(svg, "no rows"));
    free(svg);
    cJSON_SetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(figures, "hot_keys"), "pairs_local"), 0);
    cJSON_SetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(figures, "hot_keys"), "pairs_global"), 0);
    assert_int_equal(hac_plan_drawing(json, figures, &svg, NULL), HAC_OK);
    assert_null(strstr(svg, "hot keys"));
    free(svg);
    cJSON_Delete(json);
    cJSON_Delete(figures);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(network), cmocka_unit_test(odd_plans),
                                       cmocka_unit_test(timeline), cmocka_unit_test(one_task),
                                       cmocka_unit_test(hot_keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
