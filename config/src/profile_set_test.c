/* SPDX-License-Identifier: Apache-2.0 */
/* Directories, order and matching. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/test_support.h"
#include "config/profile.h"

/* Two directories, "admin" and "shipped", in a fresh one. */
typedef struct fixture {
    char root[32], admin[48], shipped[48];
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    strcpy(f->root, "/tmp/hac-profiles-XXXXXX");
    if (mkdtemp(f->root) == NULL)
        return -1;
    snprintf(f->admin, sizeof f->admin, "%s/admin", f->root);
    snprintf(f->shipped, sizeof f->shipped, "%s/shipped", f->root);
    *state = f;
    return mkdir(f->admin, 0700) | mkdir(f->shipped, 0700) | hac_test_fds_setup(state);
}

static int tear_down(void **state)
{
    fixture *f = *state;
    char command[64];
    int leaked = hac_test_fds_teardown(state);
    snprintf(command, sizeof command, "rm -rf %s", f->root);
    int failed = system(command);
    free(f);
    return leaked | failed;
}

static void put(const char *directory, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *out = fopen(path, "we");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

/* A profile called `name` with that match. */
static void put_profile(const char *directory, const char *file, const char *name, const char *match)
{
    char text[256];
    snprintf(text, sizeof text, "name: %s\nmatch: %s\nkind: cpu\n", name, match);
    put(directory, file, text);
}

static hac_profile_set *load(const fixture *f)
{
    const char *directories[] = {f->admin, "/nonexistent/profiles", f->shipped};
    hac_error err = HAC_ERROR_NONE;
    hac_profile_set *set = NULL;
    if (hac_profile_set_load(directories, 3, true, NULL, NULL, &set, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return set;
}

static void test_order(void **state)
{
    const fixture *f = *state;
    put_profile(f->shipped, "10-a.yaml", "s10", "{type: cpu}");
    put_profile(f->shipped, "02-b.yaml", "s02", "{type: cpu}");
    put_profile(f->shipped, "Z.yaml", "sZ", "{type: cpu}");
    put_profile(f->shipped, "a.yaml", "sa", "{type: cpu}");
    put_profile(f->admin, "99-z.yaml", "a99", "{type: cpu}");
    put_profile(f->admin, "10-a.yaml", "a10", "{type: cpu}");
    put(f->admin, "README.md", "not a profile");
    put(f->admin, ".hidden.yaml", "not a profile");
    put(f->admin, "x.yaml~", "not a profile");
    put(f->admin, "x.yml", "not a profile");
    put(f->admin, ".yaml", "not a profile");
    put(f->admin, "yaml", "not a profile");
    hac_profile_set *set = load(f);
    static const char *const expected[] = {"a10", "a99", "s02", "s10", "sZ", "sa"};
    assert_int_equal(hac_profile_set_count(set), 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(hac_profile_name(hac_profile_set_get(set, i)), expected[i]);
    assert_null(hac_profile_set_get(set, 6));
    char path[128];
    snprintf(path, sizeof path, "%s/10-a.yaml", f->admin);
    assert_string_equal(hac_profile_path(hac_profile_set_get(set, 0)), path);
    hac_profile_set_free(set);
}

static const char *match(const hac_profile_set *set, const char *platform, const char *vendor,
                         const char *device, const char *type)
{
    const hac_profile_match m = {platform, vendor, device, type};
    const hac_profile *profile = hac_profile_set_match(set, &m);
    return profile != NULL ? hac_profile_name(profile) : "-";
}

static void test_first_match_wins(void **state)
{
    const fixture *f = *state;
    put_profile(f->shipped, "10-special.yaml", "special", "{platform: P, device: 'Big*'}");
    put_profile(f->shipped, "20-general.yaml", "general", "{platform: P}");
    put_profile(f->shipped, "30-shadowed.yaml", "shadowed", "{platform: P, device: Small}");
    put_profile(f->shipped, "90-any.yaml", "any", "{type: gpu}");
    hac_profile_set *set = load(f);
    assert_string_equal(match(set, "P", "V", "Big One", "cpu"), "special");
    assert_string_equal(match(set, "P", "V", "Small", "cpu"), "general");
    assert_string_equal(match(set, "Q", "V", "Small", "gpu"), "any");
    assert_string_equal(match(set, "Q", "V", "Small", "cpu"), "-");
    hac_profile_set_free(set);
    put_profile(f->admin, "99-mine.yaml", "mine", "{platform: P}");
    set = load(f);
    assert_string_equal(match(set, "P", "V", "Big One", "cpu"), "mine");
    hac_profile_set_free(set);
}

static bool glob_matches(const fixture *f, const char *pattern, const char *device)
{
    char quoted[128];
    snprintf(quoted, sizeof quoted, "{device: '%s'}", pattern);
    put_profile(f->shipped, "10-x.yaml", "x", quoted);
    hac_profile_set *set = load(f);
    bool matches = strcmp(match(set, "", "", device, "cpu"), "x") == 0;
    hac_profile_set_free(set);
    return matches;
}

static void test_globs(void **state)
{
    const fixture *f = *state;
    static const struct {
        const char *pattern, *device;
        bool matches;
    } cases[] = {
        {"*", "", true},
        {"*", "anything", true},
        {"abc", "abc", true},
        {"abc", "abcd", false},
        {"abc", "ab", false},
        {"a*", "a", true},
        {"a*", "ba", false},
        {"*c", "abc", true},
        {"*c", "abcd", false},
        {"*b*", "abc", true},
        {"*b*", "ac", false},
        {"a*c", "ac", true},
        {"a*c", "abcbc", true},
        {"a**c", "abc", true},
        {"a*b*c", "aXbXbXc", true},
        {"a*b*c", "aXcXb", false},
        {"*ab", "aab", true},
        {"*aab", "aaaab", true},
        {"a?c", "abc", true},
        {"a?c", "ac", false},
        {"?", "", false},
        {"?*", "a", true},
        {"NVIDIA*", "nvidia corporation", true},
        {"gfx[0-9]*", "gfx9", false},
        {"Graphics [0x9bca]", "Graphics [0x9bca]", true},
        {"a\\b", "a\\b", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (glob_matches(f, cases[i].pattern, cases[i].device) != cases[i].matches)
            fail_msg("%s on \"%s\" is not %d", cases[i].pattern, cases[i].device, cases[i].matches);
}

/* fnmatch would take longer than the universe has. */
static void test_glob_of_many_stars(void **state)
{
    const fixture *f = *state;
    char text[2048];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    clock_t start = clock();
    assert_false(glob_matches(f, "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
    assert_true(clock() - start < CLOCKS_PER_SEC);
}

static void test_match_fields(void **state)
{
    const fixture *f = *state;
    put_profile(f->shipped, "10.yaml", "platform", "{platform: 'P*'}");
    put_profile(f->shipped, "20.yaml", "vendor", "{vendor: 'V*'}");
    put_profile(f->shipped, "30.yaml", "device", "{device: 'D*'}");
    put_profile(f->shipped, "40.yaml", "cpu", "{type: cpu}");
    put_profile(f->shipped, "41.yaml", "gpu", "{type: gpu}");
    put_profile(f->shipped, "42.yaml", "accelerator", "{type: accelerator}");
    hac_profile_set *set = load(f);
    assert_string_equal(match(set, "Px", "", "", "cpu"), "platform");
    assert_string_equal(match(set, "x", "Vx", "Dx", "cpu"), "vendor");
    assert_string_equal(match(set, "x", "x", "Dx", "cpu"), "device");
    assert_string_equal(match(set, "x", "x", "x", "cpu"), "cpu");
    assert_string_equal(match(set, "x", "x", "x", "gpu"), "gpu");
    assert_string_equal(match(set, "x", "x", "x", "accelerator"), "accelerator");
    assert_string_equal(match(set, "x", "x", "x", "custom"), "-");
    assert_string_equal(match(set, NULL, NULL, NULL, NULL), "-");
    hac_profile_set_free(set);
    put_profile(f->shipped, "99.yaml", "any", "{type: any}");
    set = load(f);
    assert_string_equal(match(set, NULL, NULL, NULL, NULL), "any");
    hac_profile_set_free(set);
}

static void test_strict(void **state)
{
    const fixture *f = *state;
    const char *directories[] = {f->admin};
    hac_error err = HAC_ERROR_NONE;
    hac_profile_set *set = NULL;
    put_profile(f->admin, "10-good.yaml", "good", "{type: cpu}");
    put(f->admin, "20-bad.yaml", "name: bad\nmatch: {type: cpu}\nkind: toaster\n");
    put(f->admin, "30-worse.yaml", "name: [\n");
    assert_int_equal(hac_profile_set_load(directories, 1, true, NULL, NULL, &set, &err), HAC_INVALID);
    assert_null(set);
    assert_non_null(strstr(err.message, "20-bad.yaml:3: key `kind`: `toaster` is not known"));
    assert_int_equal(hac_profile_set_load(directories, 1, true, NULL, NULL, &set, NULL), HAC_INVALID);
}

typedef struct reports {
    size_t n;
    char messages[4][HAC_ERROR_MESSAGE_SIZE];
} reports;

static void report(void *context, const hac_error *err)
{
    reports *r = context;
    assert_true(r->n < 4);
    strcpy(r->messages[r->n++], err->message);
}

static void test_not_strict(void **state)
{
    const fixture *f = *state;
    char path[128];
    const char *directories[] = {f->admin, path};
    reports r = {.n = 0};
    hac_error err = HAC_ERROR_NONE;
    hac_profile_set *set = NULL;
    put_profile(f->admin, "10-good.yaml", "good", "{type: cpu}");
    put(f->admin, "20-bad.yaml", "name: bad\nmatch: {type: cpu}\nkind: toaster\n");
    put_profile(f->admin, "30-good.yaml", "too", "{type: cpu}");
    snprintf(path, sizeof path, "%s/40-directory.yaml", f->admin);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/50-dangling.yaml", f->admin);
    assert_int_equal(symlink("/nonexistent", path), 0);
    snprintf(path, sizeof path, "%s/10-good.yaml", f->admin); /* a file for a directory */
    assert_int_equal(hac_profile_set_load(directories, 2, false, report, &r, &set, &err), HAC_OK);
    assert_int_equal(hac_profile_set_count(set), 2);
    assert_string_equal(hac_profile_name(hac_profile_set_get(set, 1)), "too");
    assert_int_equal(r.n, 4);
    assert_non_null(strstr(r.messages[0], "20-bad.yaml:3: key `kind`"));
    assert_non_null(strstr(r.messages[1], "40-directory.yaml: not a regular file"));
    assert_non_null(strstr(r.messages[2], "50-dangling.yaml: cannot open"));
    assert_non_null(strstr(r.messages[3], "10-good.yaml: cannot list: Not a directory"));
    hac_profile_set_free(set);
    set = NULL;
    assert_int_equal(hac_profile_set_load(directories, 2, false, NULL, NULL, &set, &err), HAC_OK);
    hac_profile_set_free(set);
}

static void test_none(void **state)
{
    (void)state;
    const char *directories[] = {"/nonexistent/a", "/nonexistent/b"};
    hac_error err = HAC_ERROR_NONE;
    hac_profile_set *set = NULL;
    assert_int_equal(hac_profile_set_load(directories, 2, true, NULL, NULL, &set, &err), HAC_OK);
    assert_int_equal(hac_profile_set_count(set), 0);
    assert_string_equal(match(set, "P", "V", "D", "cpu"), "-");
    hac_profile_set_free(set);
    assert_int_equal(hac_profile_set_load(NULL, 0, true, NULL, NULL, &set, &err), HAC_OK);
    hac_profile_set_free(set);
    hac_profile_set_free(NULL);
}

/* Names as the drivers give them (clinfo). */
static void test_shipped(void **state)
{
    (void)state;
    const char *directories[] = {HAC_SOURCE_DIR "/config/profiles"};
    hac_error err = HAC_ERROR_NONE;
    hac_profile_set *set = NULL;
    if (hac_profile_set_load(directories, 1, true, NULL, NULL, &set, &err) != HAC_OK)
        fail_msg("%s", err.message);
    assert_string_equal(
        match(set, "Portable Computing Language", "AuthenticAMD", "pthread-skylake-avx512-AMD EPYC", "cpu"),
        "cpu");
    assert_string_equal(match(set, "rusticl", "Mesa/X.org", "llvmpipe (LLVM 15.0.6, 256 bits)", "cpu"),
                        "llvmpipe");
    assert_string_equal(match(set, "rusticl", "AMD", "AMD Radeon RX 6800 (navi21, LLVM 17)", "gpu"), "mesa");
    assert_string_equal(match(set, "NVIDIA CUDA", "NVIDIA Corporation", "NVIDIA H200", "gpu"), "nvidia");
    assert_string_equal(
        match(set, "AMD Accelerated Parallel Processing", "Advanced Micro Devices, Inc.", "gfx90a", "gpu"),
        "amd");
    assert_string_equal(
        match(set, "Intel(R) OpenCL Graphics", "Intel(R) Corporation", "Intel(R) UHD Graphics", "gpu"),
        "intel");
    assert_string_equal(match(set, "Intel(R) OpenCL HD Graphics", "Intel(R) Corporation",
                              "Intel(R) Gen9 HD Graphics NEO", "gpu"),
                        "intel");
    assert_string_equal(match(set, "Intel(R) OpenCL", "Intel(R) Corporation", "Intel(R) Xeon(R)", "cpu"),
                        "-");
    assert_string_equal(match(set, "Clover", "AMD", "AMD POLARIS10", "gpu"), "-");
    hac_profile_set_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_first_match_wins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_globs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_glob_of_many_stars, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_match_fields, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_strict, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_not_strict, set_up, tear_down),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_shipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
