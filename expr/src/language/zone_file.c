/* SPDX-License-Identifier: Apache-2.0 */
#include "zone_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/suggest.h"

#define FOLDER "/usr/share/zoneinfo"

enum { FILE_MAX = 256 * 1024, NAMES_MAX = 4096, DEPTH = 3, HEADER = 44, TYPE = 6 };

#define DAMAGED "the file is damaged"

/* ---- the rule behind the changes ----------------------------------------------------------------------- */

/* A rule as the variable TZ has it: CET-1CEST,M3.5.0,M10.5.0/3 */
typedef struct rule_reader {
    const char *at, *end;
    bool good;
} rule_reader;

static bool take(rule_reader *r, char c)
{
    bool there = r->at < r->end && *r->at == c;
    r->at += there;
    return there;
}

static void expect(rule_reader *r, char c)
{
    r->good = take(r, c) && r->good;
}

static int32_t take_number(rule_reader *r, int32_t max)
{
    const char *from = r->at;
    int32_t value = 0;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9' && value <= max; r->at++)
        value = value * 10 + (*r->at - '0');
    r->good = r->good && r->at > from && value <= max;
    return value;
}

/* CET, or <+03> */
static void take_letters(rule_reader *r)
{
    const char *from = r->at;
    if (take(r, '<')) {
        while (r->at < r->end && *r->at != '>')
            r->at++;
        expect(r, '>');
        return;
    }
    while (r->at < r->end && ((*r->at >= 'A' && *r->at <= 'Z') || (*r->at >= 'a' && *r->at <= 'z')))
        r->at++;
    r->good = r->good && r->at > from;
}

/* [+-]hh[:mm[:ss]] in seconds */
static int32_t take_clock(rule_reader *r, int32_t max_hours)
{
    bool negative = take(r, '-');
    if (!negative)
        (void)take(r, '+');
    int32_t seconds = take_number(r, max_hours) * 3600;
    if (take(r, ':'))
        seconds += take_number(r, 59) * 60;
    if (take(r, ':'))
        seconds += take_number(r, 59);
    return negative ? -seconds : seconds;
}

/* M3.5.0/2, J60, 59/-1 */
static hac_zone_yearly take_yearly(rule_reader *r, int32_t offset)
{
    hac_zone_yearly rule = {.kind = HAC_ZONE_DAY, .clock = 2 * 3600, .offset = offset};
    expect(r, ',');
    if (take(r, 'M')) {
        rule.kind = HAC_ZONE_WEEKDAY;
        rule.month = (uint8_t)take_number(r, 12);
        expect(r, '.');
        rule.week = (uint8_t)take_number(r, 5);
        expect(r, '.');
        rule.day = take_number(r, 6);
    } else {
        rule.kind = take(r, 'J') ? HAC_ZONE_NO_LEAP : HAC_ZONE_DAY;
        rule.day = take_number(r, 365);
    }
    if (take(r, '/'))
        rule.clock = take_clock(r, 167);
    return rule;
}

static bool read_rule(const char *text, size_t bytes, hac_zone_rules *ret)
{
    rule_reader r = {text, text + bytes, true};
    if (bytes == 0)
        return true;
    take_letters(&r);
    int32_t standard = -take_clock(&r, 24), summer = standard + 3600; /* TZ counts to the west */
    if (r.at == r.end)
        return r.good;
    take_letters(&r);
    if (r.at < r.end && *r.at != ',')
        summer = -take_clock(&r, 24);
    ret->has_yearly = true;
    ret->yearly[0] = take_yearly(&r, summer);
    ret->yearly[1] = take_yearly(&r, standard);
    return r.good && r.at == r.end;
}

/* ---- the file ------------------------------------------------------------------------------------------ */

typedef struct zone_header {
    uint32_t ut, standard, leaps, times, types, letters;
} zone_header;

static uint64_t big_endian(const uint8_t *at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

static bool read_header(const uint8_t *at, size_t bytes, zone_header *ret)
{
    if (bytes < HEADER || memcmp(at, "TZif", 4) != 0)
        return false;
    uint32_t counts[6];
    for (size_t i = 0; i < 6; i++)
        counts[i] = (uint32_t)big_endian(at + 20 + 4 * i, 4);
    *ret = (zone_header){counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]};
    /* bounded, so that no sum of them overflows */
    return ret->ut <= 256 && ret->standard <= 256 && ret->leaps <= 4096 &&
           ret->times <= HAC_ZONE_CHANGES_MAX && ret->types >= 1 && ret->types <= 256 && ret->letters <= 4096;
}

/* Bytes behind the header, with times of `width` bytes. */
static size_t block_bytes(const zone_header *h, size_t width)
{
    return h->times * (width + 1) + (size_t)h->types * TYPE + h->letters + h->leaps * (width + 4) +
           h->standard + h->ut;
}

/* `at` is behind the header, and the block is there. */
static bool read_changes(const uint8_t *at, const zone_header *h, size_t width, hac_zone_rules *ret)
{
    const uint8_t *kinds = at + h->times * width, *types = kinds + h->times;
    int32_t offset = (int32_t)(uint32_t)big_endian(types, 4);
    ret->offset = offset;
    for (size_t i = 0; i < h->times; i++) {
        int64_t time = (int64_t)(big_endian(at + i * width, width) << (64 - 8 * width)) >> (64 - 8 * width);
        if (kinds[i] >= h->types)
            return false;
        int32_t next = (int32_t)(uint32_t)big_endian(types + (size_t)kinds[i] * TYPE, 4);
        if (time < -HAC_ZONE_TIME_MAX) /* "always was" */
            ret->offset = next;
        else if (next != offset)
            ret->changes[ret->n_changes++] = (hac_zone_change){time, next};
        offset = next;
    }
    return true;
}

hac_status hac_zone_parse(const uint8_t *file, size_t bytes, hac_zone_rules *ret, hac_error *err)
{
    zone_header h;
    size_t at = HEADER, width = 4;
    *ret = (hac_zone_rules){0};
    bool good = read_header(file, bytes, &h);
    if (good && file[4] >= '2') { /* the first block is for programs of before 2005 */
        at += block_bytes(&h, width);
        width = 8;
        good = at <= bytes && read_header(file + at, bytes - at, &h);
        at += HEADER;
    }
    if (!good || at > bytes || block_bytes(&h, width) > bytes - at ||
        !read_changes(file + at, &h, width, ret))
        return hac_fail(err, HAC_INVALID, DAMAGED);
    if (h.leaps > 0)
        return hac_fail(err, HAC_INVALID, "the file counts leap seconds, which timestamps do not have");
    at += block_bytes(&h, width);
    if (width == 8) {
        const uint8_t *end = at < bytes ? memchr(file + at + 1, '\n', bytes - at - 1) : NULL;
        if (end == NULL || file[at] != '\n' ||
            !read_rule((const char *)file + at + 1, (size_t)(end - file) - at - 1, ret))
            return hac_fail(err, HAC_INVALID, DAMAGED);
    }
    hac_autofree uint8_t *written = malloc(HAC_ZONE_BYTES_MAX);
    if (written == NULL)
        return hac_fail_no_memory(err);
    return hac_zone_valid(written, hac_zone_write(ret, written)) ? HAC_OK
                                                                 : hac_fail(err, HAC_INVALID, DAMAGED);
}

/* ---- names --------------------------------------------------------------------------------------------- */

typedef struct zone_names {
    hac_arena *arena;
    const char **names;
    size_t n;
} zone_names;

static const char *folder(void)
{
    const char *own = secure_getenv("TZDIR");
    return own != NULL && own[0] == '/' ? own : FOLDER;
}

/* Letters, digits, _, + and -, joined by single slashes: nothing that leaves the folder. */
static bool name_valid(const char *name, size_t bytes)
{
    char before = '/';
    for (size_t i = 0; i < bytes; before = name[i++]) {
        char c = name[i];
        bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
                     c == '+' || c == '-';
        if (!plain && (c != '/' || before == '/'))
            return false;
    }
    return bytes > 0 && bytes < HAC_ZONE_NAME_MAX && before != '/';
}

static void list_names(zone_names *list, int in, const char *prefix, unsigned depth);

static void list_entry(zone_names *list, int in, const char *prefix, const struct dirent *entry,
                       unsigned depth)
{
    struct stat facts;
    size_t n = strlen(prefix), bytes = strlen(entry->d_name);
    char *name = hac_arena_alloc(list->arena, n + bytes + 2);
    if (name == NULL || !name_valid(entry->d_name, bytes) || fstatat(in, entry->d_name, &facts, 0) != 0)
        return;
    memcpy(name, prefix, n);
    memcpy(name + n, entry->d_name, bytes);
    if (S_ISREG(facts.st_mode) && list->n < NAMES_MAX && name[0] >= 'A' && name[0] <= 'Z') {
        list->names[list->n++] = name;
    } else if (S_ISDIR(facts.st_mode) && depth > 1 && strcmp(name, "posix") != 0 &&
               strcmp(name, "right") != 0) {
        name[n + bytes] = '/';
        list_names(list, openat(in, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), name, depth - 1);
    }
}

/* Takes `in`. */
static void list_names(zone_names *list, int in, const char *prefix, unsigned depth)
{
    DIR *entries = in >= 0 ? fdopendir(in) : NULL;
    if (entries == NULL) {
        if (in >= 0)
            close(in);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
        list_entry(list, in, prefix, entry, depth);
    closedir(entries);
}

static const char *listed(const void *list, size_t i)
{
    return ((const char *const *)list)[i];
}

/* -1: there is no such file. */
static int open_zone(const char *name, size_t bytes)
{
    char path[HAC_ZONE_NAME_MAX];
    struct stat facts;
    hac_autoclose int in = open(folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (in < 0 || !name_valid(name, bytes))
        return -1;
    memcpy(path, name, bytes);
    path[bytes] = '\0';
    hac_autoclose int fd = openat(in, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) ? hac_steal_fd(&fd) : -1;
}

/* Opens the zone that has the name in other letters. */
static hac_status open_similar(hac_arena *arena, const char *name, size_t bytes, int *ret, hac_error *err)
{
    char copy[HAC_ZONE_NAME_MAX] = "", there[HAC_SUGGEST_TEXT_MAX] = "";
    zone_names list = {arena, hac_arena_alloc(arena, NAMES_MAX * sizeof *list.names), 0};
    if (list.names == NULL)
        return hac_fail_no_memory(err);
    memcpy(copy, name, bytes < sizeof copy ? bytes : sizeof copy - 1);
    list_names(&list, open(folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "", DEPTH);
    for (size_t i = 0; i < list.n && *ret < 0; i++)
        if (strlen(list.names[i]) == bytes && strncasecmp(list.names[i], name, bytes) == 0)
            *ret = open_zone(list.names[i], bytes);
    if (*ret >= 0)
        return HAC_OK;
    if (list.n == 0)
        return hac_fail(err, HAC_INVALID,
                        "there are no time zones in %s; install the package tzdata, or set TZDIR", folder());
    const char *near = hac_suggest(copy, list.names, list.n, listed), *slash = NULL;
    for (size_t i = 0; near == NULL && i < list.n; i++) /* the city alone */
        if ((slash = strrchr(list.names[i], '/')) != NULL && strcasecmp(slash + 1, copy) == 0)
            near = list.names[i];
    if (near != NULL)
        snprintf(there, sizeof there, "did you mean '%s'?", near);
    else
        snprintf(there, sizeof there,
                 "zones have names such as 'Europe/Berlin', 'UTC' and 'Etc/GMT-2' (two hours ahead)");
    return hac_fail(err, HAC_INVALID, "unknown time zone '%s'; %s", copy, there);
}

hac_status hac_zone_load(hac_arena *arena, const char *name, size_t bytes, hac_zone_rules *ret,
                         hac_error *err)
{
    hac_autoclose int fd = open_zone(name, bytes);
    hac_error why = HAC_ERROR_NONE;
    if (fd < 0 && bytes == 3 && strncasecmp(name, "UTC", 3) == 0) { /* there without a database, too */
        *ret = (hac_zone_rules){0};
        return HAC_OK;
    }
    hac_status status = fd < 0 ? open_similar(arena, name, bytes, &fd, err) : HAC_OK;
    if (status != HAC_OK)
        return status;
    hac_autofree uint8_t *file = malloc(FILE_MAX);
    if (file == NULL)
        return hac_fail_no_memory(err);
    size_t used = 0;
    for (ssize_t n; used < FILE_MAX && (n = read(fd, file + used, FILE_MAX - used)) > 0;)
        used += (size_t)n;
    status = hac_zone_parse(file, used, ret, &why);
    return status == HAC_OK ? HAC_OK
                            : hac_fail(err, status, "the time zone '%.*s' in %s: %s", (int)bytes, name,
                                       folder(), why.message);
}
