/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <string.h>

#include "base/format.h"
#include "base/suggest.h"

static const hac_option options[HAC_OPT_COUNT] = {
#define HAC_OPTION(id, ...) [HAC_OPT_##id] = {__VA_ARGS__},
#include "options.def"
#undef HAC_OPTION
};

const hac_option *hac_option_get(hac_option_id id)
{
    return &options[id];
}

hac_option_id hac_option_find(const char *name)
{
    for (size_t i = 0; i < HAC_OPT_COUNT; i++)
        if (strcmp(options[i].name, name) == 0)
            return (hac_option_id)i;
    return HAC_OPT_COUNT;
}

int hac_option_choice(hac_option_id id, const char *value)
{
    size_t length = strlen(value);
    const char *p = options[id].choices;
    for (int i = 0; *p != '\0'; i++) {
        size_t word = strcspn(p, " ");
        if (word == length && memcmp(p, value, word) == 0)
            return i;
        p += word + (p[word] == ' ');
    }
    return -1;
}

static void add(hac_option_set *set, size_t id)
{
    set->bits[id / 64] |= UINT64_C(1) << id % 64;
}

bool hac_option_set_has(hac_option_set set, size_t id)
{
    return (set.bits[id / 64] >> id % 64 & 1) != 0;
}

hac_option_set hac_option_set_of(const hac_option_id *ids, size_t n)
{
    hac_option_set set = {{0}};
    for (size_t i = 0; i < n; i++)
        add(&set, ids[i]);
    return set;
}

hac_option_set hac_options_in(hac_option_section section)
{
    hac_option_set set = {{0}};
    for (size_t i = 0; i < HAC_OPT_COUNT; i++)
        if (options[i].section == section)
            add(&set, i);
    return set;
}

hac_option_set hac_options_for(uint32_t commands)
{
    hac_option_set set = {{0}};
    for (size_t i = 0; i < HAC_OPT_COUNT; i++)
        if (options[i].section == HAC_SECTION_GLOBAL || (options[i].commands & commands) != 0)
            add(&set, i);
    return set;
}

hac_option_set hac_option_set_union(hac_option_set a, hac_option_set b)
{
    for (size_t i = 0; i < sizeof a.bits / sizeof *a.bits; i++)
        a.bits[i] |= b.bits[i];
    return a;
}

hac_option_set hac_option_set_others(hac_option_set set)
{
    for (size_t i = 0; i < sizeof set.bits / sizeof *set.bits; i++)
        set.bits[i] = ~set.bits[i];
    return set;
}

hac_option_set hac_option_set_minus(hac_option_set a, hac_option_set b)
{
    for (size_t i = 0; i < sizeof a.bits / sizeof *a.bits; i++)
        a.bits[i] &= ~b.bits[i];
    return a;
}

/* Options outside the set have an empty name, which hac_suggest never picks. */
static const char *name_in_set(const void *set, size_t i)
{
    return hac_option_set_has(*(const hac_option_set *)set, i) ? options[i].name : "";
}

const char *hac_option_nearest(hac_option_set set, const char *name)
{
    return *name != '\0' ? hac_suggest(name, &set, HAC_OPT_COUNT, name_in_set) : NULL;
}
