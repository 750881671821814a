/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/profile.h"

enum { FILES_MAX = 1024 }; /* of one directory */

struct hac_profile_set {
    hac_profile **profiles;
    size_t n;
};

/* The names of one directory's files. */
typedef struct names {
    char **at;
    size_t n;
} names;

HAC_DEFINE_CLEANUP(hac_profile_set *, hac_profile_set_free)
HAC_DEFINE_CLEANUP(hac_profile *, hac_profile_free)

static void names_clear(names *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->at[i]);
    free(list->at);
}

static void closedir_cleanup(DIR **dir)
{
    if (*dir != NULL)
        closedir(*dir);
}

void hac_profile_set_free(hac_profile_set *set)
{
    if (set == NULL)
        return;
    for (size_t i = 0; i < set->n; i++)
        hac_profile_free(set->profiles[i]);
    free(set->profiles);
    free(set);
}

size_t hac_profile_set_count(const hac_profile_set *set)
{
    return set->n;
}

const hac_profile *hac_profile_set_get(const hac_profile_set *set, size_t index)
{
    return index < set->n ? set->profiles[index] : NULL;
}

static bool is_profile_name(const char *name)
{
    size_t length = strlen(name);
    return name[0] != '.' && length > 5 && strcmp(name + length - 5, ".yaml") == 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static hac_status add_name(names *list, const char *directory, const char *name, hac_error *err)
{
    if (list->n == FILES_MAX)
        return hac_fail(err, HAC_INVALID, "%s: too many profiles; allowed: at most %d", directory, FILES_MAX);
    char **at = realloc(list->at, (list->n + 1) * sizeof *at);
    if (at == NULL)
        return hac_fail_no_memory(err);
    list->at = at;
    if (asprintf(&at[list->n], "%s/%s", directory, name) < 0)
        return hac_fail_no_memory(err);
    list->n++;
    return HAC_OK;
}

/* The sorted paths of the profiles in the directory. A directory that does not exist has no profiles. */
static hac_status list_directory(const char *directory, names *list, hac_error *err)
{
    hac_cleanup(closedir_cleanup) DIR *dir = opendir(directory);
    if (dir == NULL && errno == ENOENT)
        return HAC_OK;
    if (dir == NULL)
        return hac_fail_errno(err, HAC_IO, errno, "%s: cannot list", directory);
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (entry == NULL && errno != 0)
            return hac_fail_errno(err, HAC_IO, errno, "%s: cannot list", directory);
        if (entry == NULL)
            break;
        hac_status status =
            is_profile_name(entry->d_name) ? add_name(list, directory, entry->d_name, err) : HAC_OK;
        if (status != HAC_OK)
            return status;
    }
    if (list->n > 0)
        qsort(list->at, list->n, sizeof *list->at, compare_names);
    return HAC_OK;
}

static hac_status add_profile(hac_profile_set *set, const char *path, hac_error *err)
{
    hac_cleanup(hac_profile_free_cleanup) hac_profile *profile = NULL;
    hac_status status = hac_profile_load(path, &profile, err);
    if (status != HAC_OK)
        return status;
    hac_profile **profiles = realloc(set->profiles, (set->n + 1) * sizeof(hac_profile *));
    if (profiles == NULL)
        return hac_fail_no_memory(err);
    set->profiles = profiles;
    set->profiles[set->n++] = hac_steal_ptr(profile);
    return HAC_OK;
}

/* Where problems are reported, and whether a problem ends the loading. */
typedef struct judge {
    bool strict;
    void (*report)(void *context, const hac_error *err);
    void *context;
    hac_error *err;
} judge;

static hac_status judged(const judge *j, hac_status status, const hac_error *problem)
{
    if (status == HAC_OK)
        return HAC_OK;
    if (j->strict || status == HAC_NO_MEMORY)
        return hac_fail(j->err, status, "%s", problem->message);
    if (j->report != NULL)
        j->report(j->context, problem);
    return HAC_OK;
}

static hac_status add_directory(hac_profile_set *set, const char *directory, const judge *j)
{
    hac_cleanup(names_clear) names list = {NULL, 0};
    hac_error problem = HAC_ERROR_NONE;
    hac_status status = judged(j, list_directory(directory, &list, &problem), &problem);
    for (size_t i = 0; status == HAC_OK && i < list.n; i++)
        status = judged(j, add_profile(set, list.at[i], &problem), &problem);
    return status;
}

hac_status hac_profile_set_load(const char *const *directories, size_t n_directories, bool strict,
                                void (*report)(void *context, const hac_error *err), void *context,
                                hac_profile_set **ret, hac_error *err)
{
    const judge j = {.strict = strict, .report = report, .context = context, .err = err};
    hac_cleanup(hac_profile_set_free_cleanup) hac_profile_set *set = calloc(1, sizeof *set);
    if (set == NULL)
        return hac_fail_no_memory(err);
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < n_directories; i++)
        status = add_directory(set, directories[i], &j);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(set);
    return status;
}

const hac_profile *hac_profile_set_match(const hac_profile_set *set, const hac_profile_match *match)
{
    for (size_t i = 0; i < set->n; i++)
        if (hac_profile_fits(set->profiles[i], match))
            return set->profiles[i];
    return NULL;
}
