/* SPDX-License-Identifier: Apache-2.0 */
#include "regexp/regexp.h"

#include <cstdio>
#include <cstring>
#include <memory>

#include <re2/re2.h>

struct hac_regexp {
    RE2 re;
    hac_regexp(const re2::StringPiece &pattern, const RE2::Options &options) : re(pattern, options)
    {
    }
};

static void describe(const RE2 &re, char ret[HAC_REGEXP_PROBLEM_MAX])
{
    const char *hint = "";
    if (re.error_code() == RE2::ErrorBadPerlOp)
        hint = "; there are no lookarounds";
    else if (re.error_code() == RE2::ErrorBadEscape)
        hint = "; there are no references back";
    else if (re.error_code() == RE2::ErrorPatternTooLarge)
        hint = "; it needs too much memory";
    std::snprintf(ret, HAC_REGEXP_PROBLEM_MAX, "%s%s", re.error().c_str(), hint);
}

hac_regexp *hac_regexp_new(const char *pattern, size_t bytes, unsigned flags,
                           char ret_problem[HAC_REGEXP_PROBLEM_MAX])
{
    try {
        RE2::Options options;
        options.set_log_errors(false);
        options.set_max_mem(HAC_REGEXP_MEMORY);
        options.set_case_sensitive((flags & HAC_REGEXP_IGNORE_CASE) == 0);
        options.set_dot_nl((flags & HAC_REGEXP_DOT_NEWLINE) != 0);
        std::unique_ptr<hac_regexp> made(new hac_regexp(re2::StringPiece(pattern, bytes), options));
        if (made->re.ok())
            return made.release();
        describe(made->re, ret_problem);
    } catch (...) {
        std::snprintf(ret_problem, HAC_REGEXP_PROBLEM_MAX, "out of memory");
    }
    return nullptr;
}

void hac_regexp_free(hac_regexp *regexp)
{
    delete regexp;
}

unsigned hac_regexp_groups(const hac_regexp *regexp)
{
    return static_cast<unsigned>(regexp->re.NumberOfCapturingGroups());
}

/* Sets groups 0 … n - 1 of the leftmost match at or behind `from`. */
static hac_regexp_found search(const hac_regexp *regexp, const re2::StringPiece &text, size_t from,
                               re2::StringPiece *groups, int n)
{
    try {
        bool found = regexp->re.Match(text, from, text.size(), RE2::UNANCHORED, groups, n);
        return found ? HAC_REGEXP_FOUND : HAC_REGEXP_NOT_FOUND;
    } catch (...) {
        return HAC_REGEXP_NO_MEMORY;
    }
}

hac_regexp_found hac_regexp_matches(const hac_regexp *regexp, const char *text, size_t bytes)
{
    return search(regexp, re2::StringPiece(text, bytes), 0, nullptr, 0);
}

hac_regexp_found hac_regexp_extract(const hac_regexp *regexp, const char *text, size_t bytes, unsigned group,
                                    size_t *ret_first, size_t *ret_bytes)
{
    re2::StringPiece groups[HAC_REGEXP_GROUPS_MAX + 1];
    hac_regexp_found found = HAC_REGEXP_NOT_FOUND;
    *ret_first = *ret_bytes = 0;
    if (group <= HAC_REGEXP_GROUPS_MAX && group <= hac_regexp_groups(regexp))
        found = search(regexp, re2::StringPiece(text, bytes), 0, groups, static_cast<int>(group) + 1);
    if (found == HAC_REGEXP_FOUND && groups[group].data() != nullptr) {
        *ret_first = static_cast<size_t>(groups[group].data() - text);
        *ret_bytes = groups[group].size();
    }
    return found;
}

const char *hac_regexp_replacement_problem(const hac_regexp *regexp, const char *by, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (by[i] != '\\')
            continue;
        if (++i == bytes || (by[i] != '\\' && (by[i] < '0' || by[i] > '9')))
            return "behind a \\ of the replacement stands a group's number, or a second \\";
        if (by[i] != '\\' && static_cast<unsigned>(by[i] - '0') > hac_regexp_groups(regexp))
            return "the replacement has the number of a group that the pattern has not";
    }
    return nullptr;
}

/* ---- replacing ---- */

namespace
{
struct output {
    char *to;
    size_t capacity, used;
    bool full;

    void put(const char *at, size_t bytes)
    {
        full |= bytes > capacity - used;
        if (full)
            return;
        if (bytes > 0)
            std::memcpy(to + used, at, bytes);
        used += bytes;
    }
};
} // namespace

static void put_replacement(output *out, const char *by, size_t bytes, const re2::StringPiece *groups,
                            unsigned n_groups)
{
    for (size_t i = 0; i < bytes; i++) {
        if (by[i] != '\\' || i + 1 == bytes) {
            out->put(by + i, 1);
            continue;
        }
        unsigned group = static_cast<unsigned>(by[++i] - '0');
        if (by[i] == '\\')
            out->put(by + i, 1);
        else if (group < n_groups)
            out->put(groups[group].data(), groups[group].size());
    }
}

/* Bytes of the character at `at`; of one that is not UTF-8: 1. A match must not begin inside of a character. */
static size_t character(const char *at, size_t bytes)
{
    unsigned char first = static_cast<unsigned char>(*at);
    size_t length = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 1;
    for (size_t i = 1; i < length; i++)
        if (i >= bytes || (static_cast<unsigned char>(at[i]) & 0xc0) != 0x80)
            return 1;
    return length;
}

hac_regexp_found hac_regexp_replace(const hac_regexp *regexp, const char *text, size_t bytes, const char *by,
                                    size_t by_bytes, bool all, char *to, size_t capacity, size_t *ret_bytes)
{
    re2::StringPiece groups[HAC_REGEXP_GROUPS_MAX + 1];
    unsigned n = hac_regexp_groups(regexp) < HAC_REGEXP_GROUPS_MAX ? hac_regexp_groups(regexp) + 1
                                                                   : HAC_REGEXP_GROUPS_MAX + 1;
    output out = {to, capacity, 0, false};
    size_t at = 0, last_end = static_cast<size_t>(-1);
    while (at <= bytes && !out.full) {
        hac_regexp_found found =
            search(regexp, re2::StringPiece(text, bytes), at, groups, static_cast<int>(n));
        if (found == HAC_REGEXP_NO_MEMORY)
            return found;
        if (found == HAC_REGEXP_NOT_FOUND)
            break;
        size_t first = static_cast<size_t>(groups[0].data() - text);
        out.put(text + at, first - at);
        at = first;
        /* An empty match right behind another one is none. */
        if (groups[0].empty() && first == last_end) {
            size_t step = at < bytes ? character(text + at, bytes - at) : 0;
            out.put(text + at, step);
            at += step;
            if (step == 0)
                break;
            last_end = static_cast<size_t>(-1);
            continue;
        }
        put_replacement(&out, by, by_bytes, groups, n);
        at += groups[0].size();
        last_end = at;
        if (!all)
            break;
    }
    if (at < bytes)
        out.put(text + at, bytes - at);
    *ret_bytes = out.used;
    return out.full ? HAC_REGEXP_NO_MEMORY : HAC_REGEXP_FOUND;
}
