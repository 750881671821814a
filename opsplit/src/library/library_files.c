/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of users: files NAME@VERSION.yaml in the folders `subop` and `op`. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "base/io.h"
#include "base/paths.h"
#include "config/yaml_tree.h"
#include "library/library_files.h"
#include "library/logic_access.h"

struct hac_library {
    char *directory; /* NULL: there is no folder */
    hac_library_entry *entries;
    size_t n;
};

static const char *const folders[] = {[HAC_LIBRARY_SUBOP] = "subop", [HAC_LIBRARY_OP] = "op"};

HAC_DEFINE_CLEANUP(hac_library *, hac_library_free)
HAC_DEFINE_CLEANUP(hac_yaml_node *, hac_yaml_free)

static void close_folder(DIR **folder)
{
    if (*folder != NULL)
        closedir(*folder);
}

hac_status hac_library_directory(char **ret, hac_error *err)
{
    char path[PATH_MAX];
    int errnum = hac_user_path(HAC_FOLDER_DATA, "opsplit", path, sizeof path);
    if (errnum == ENOENT)
        return hac_fail(err, HAC_INVALID,
                        "neither XDG_DATA_HOME nor HOME is set; one of them says where your "
                        "operators are kept");
    if (errnum != 0)
        return hac_fail_errno(err, HAC_INVALID, errnum, "the folder of your operators");
    char *copy = strdup(path);
    if (copy == NULL)
        return hac_fail_no_memory(err);
    *ret = copy;
    return HAC_OK;
}

/* ---- entries ---- */

static void clear_entry(hac_library_entry *entry)
{
    free(entry->text);
    free(entry->about);
    free(entry->damage);
}

void hac_library_free(hac_library *library)
{
    if (library == NULL)
        return;
    for (size_t i = 0; i < library->n; i++)
        clear_entry(&library->entries[i]);
    free(library->entries);
    free(library->directory);
    free(library);
}

static int compare(const void *a, const void *b)
{
    const hac_library_entry *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    int names = strcmp(x->name, y->name);
    if (names != 0)
        return names;
    return x->version < y->version ? -1 : x->version > y->version;
}

/* Makes room for one more entry, so that nothing fails after the file is written. */
static hac_status reserve_entry(hac_library *library, hac_error *err)
{
    if (library->n == HAC_LIBRARY_ENTRIES_MAX)
        return hac_fail(err, HAC_INVALID, "%s: more than %d operators; remove versions that are not used",
                        library->directory, HAC_LIBRARY_ENTRIES_MAX);
    hac_library_entry *entries = realloc(library->entries, (library->n + 1) * sizeof *entries);
    if (entries == NULL)
        return hac_fail_no_memory(err);
    library->entries = entries;
    return HAC_OK;
}

static void add_entry(hac_library *library, const hac_library_entry *entry)
{
    library->entries[library->n++] = *entry;
    qsort(library->entries, library->n, sizeof *library->entries, compare);
}

size_t hac_library_count(const hac_library *library)
{
    return library->n;
}

void hac_library_advise(const hac_library_entry *entry, char ret[HAC_LIBRARY_ADVICE_MAX])
{
    snprintf(ret, HAC_LIBRARY_ADVICE_MAX, "mend the file, or `hacctl opsplit %s remove %s@%u`",
             entry->kind == HAC_LIBRARY_SUBOP ? "subop" : "op", entry->name, entry->version);
}

const hac_library_entry *hac_library_at(const hac_library *library, size_t i)
{
    return i < library->n ? &library->entries[i] : NULL;
}

const hac_library_entry *hac_library_find(const hac_library *library, hac_library_kind kind, const char *name,
                                          unsigned version)
{
    const hac_library_entry *found = NULL;
    for (size_t i = 0; i < library->n; i++) {
        const hac_library_entry *entry = &library->entries[i];
        if (entry->kind == kind && strcmp(entry->name, name) == 0 &&
            (version == 0 || entry->version == version))
            found = entry; /* the last match is the newest */
    }
    return found;
}

/* ---- reading ---- */

/* Parses "damp@12.yaml"; false: the file has another name. */
static bool parse_name(const char *file, char *ret_name, unsigned *ret_version)
{
    const char *at = strchr(file, '@');
    size_t length = at != NULL ? (size_t)(at - file) : 0;
    if (length == 0 || length >= HAC_LIBRARY_NAME_MAX || !isdigit((unsigned char)at[1]))
        return false;
    char *end;
    unsigned long version = strtoul(at + 1, &end, 10);
    if (strcmp(end, ".yaml") != 0 || version == 0 || version > 999999)
        return false;
    memcpy(ret_name, file, length);
    ret_name[length] = '\0';
    *ret_version = (unsigned)version;
    return true;
}

/* Reads `text` of a definition, whatever else the file has. */
static hac_status read_about(const char *path, const char *text, char **ret, hac_error *err)
{
    hac_cleanup(hac_yaml_free_cleanup) hac_yaml_node *root = NULL;
    hac_status status = hac_yaml_parse_columns(path, text, strlen(text), &root, err);
    if (status != HAC_OK)
        return status;
    const hac_yaml_node *about = hac_logic_field(root, "text");
    *ret = strdup(about != NULL && about->kind == HAC_YAML_SCALAR ? about->text : "");
    return *ret != NULL ? HAC_OK : hac_fail_no_memory(err);
}

static hac_status read_text(const char *path, char **ret, hac_error *err)
{
    hac_autofree char *text = NULL;
    struct stat info;
    size_t length = 0;
    hac_status status = hac_yaml_read_file(path, &text, &length, err);
    if (status == HAC_NOT_FOUND && lstat(path, &info) == 0)
        return hac_fail(err, HAC_INVALID, "%s: a link to nothing", path);
    if (status != HAC_OK)
        return status;
    if (memchr(text, '\0', length) != NULL)
        return hac_fail(err, HAC_INVALID, "%s: holds a NUL character", path);
    *ret = strndup(text, length);
    return *ret != NULL ? HAC_OK : hac_fail_no_memory(err);
}

/* Makes the entry of a file that is not a definition. The entry keeps the name, and its users get the
 * reason. */
static hac_status note_damage(hac_library_entry *entry, const hac_error *why, hac_error *err)
{
    free(entry->text);
    entry->text = strdup("");
    entry->about = strdup("");
    entry->damage = strdup(why->message);
    return entry->text != NULL && entry->about != NULL && entry->damage != NULL ? HAC_OK
                                                                                : hac_fail_no_memory(err);
}

static hac_status read_entry(hac_library *library, hac_library_kind kind, const char *file, hac_error *err)
{
    hac_library_entry entry = {.kind = kind};
    hac_autofree char *path = NULL;
    hac_error why = HAC_ERROR_NONE;
    if (!parse_name(file, entry.name, &entry.version))
        return HAC_OK; /* a temporary file, or a foreign one */
    if (asprintf(&path, "%s/%s/%s", library->directory, folders[kind], file) < 0)
        return hac_fail_no_memory(err);
    hac_status status = read_text(path, &entry.text, &why);
    if (status == HAC_NOT_FOUND)
        return HAC_OK; /* removed just now */
    if (status == HAC_OK)
        status = read_about(path, entry.text, &entry.about, &why);
    if (status == HAC_INVALID || status == HAC_FAILED)
        status = note_damage(&entry, &why, err);
    else if (status != HAC_OK)
        (void)hac_fail(err, status, "%s", why.message);
    if (status == HAC_OK)
        status = reserve_entry(library, err);
    if (status == HAC_OK)
        add_entry(library, &entry);
    else
        clear_entry(&entry);
    return status;
}

static hac_status read_folder(hac_library *library, hac_library_kind kind, hac_error *err)
{
    hac_autofree char *path = NULL;
    if (asprintf(&path, "%s/%s", library->directory, folders[kind]) < 0)
        return hac_fail_no_memory(err);
    hac_cleanup(close_folder) DIR *folder = opendir(path);
    if (folder == NULL)
        return errno == ENOENT ? HAC_OK : hac_fail_errno(err, HAC_IO, errno, "%s: cannot read", path);
    hac_status status = HAC_OK;
    for (const struct dirent *file; status == HAC_OK && (file = readdir(folder)) != NULL;)
        status = read_entry(library, kind, file->d_name, err);
    return status;
}

hac_status hac_library_open(const char *directory, hac_library **ret, hac_error *err)
{
    hac_cleanup(hac_library_free_cleanup) hac_library *library = calloc(1, sizeof *library);
    if (library == NULL)
        return hac_fail_no_memory(err);
    if (directory != NULL && (library->directory = strdup(directory)) == NULL)
        return hac_fail_no_memory(err);
    hac_status status = HAC_OK;
    if (directory != NULL)
        status = read_folder(library, HAC_LIBRARY_SUBOP, err);
    if (status == HAC_OK && directory != NULL)
        status = read_folder(library, HAC_LIBRARY_OP, err);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(library);
    return status;
}

hac_status hac_library_open_own(hac_library **ret, hac_error *err)
{
    hac_autofree char *folder = NULL;
    if (hac_library_directory(&folder, NULL) != HAC_OK)
        folder = NULL;
    return hac_library_open(folder, ret, err);
}

/* ---- writing ---- */

static hac_status make_folders(const hac_library *library, hac_library_kind kind, hac_error *err)
{
    hac_autofree char *path = NULL;
    if (asprintf(&path, "%s/%s", library->directory, folders[kind]) < 0)
        return hac_fail_no_memory(err);
    int errnum = hac_make_folders(path);
    return errnum == 0 ? HAC_OK : hac_fail_errno(err, HAC_IO, errnum, "%s: cannot make the folder", path);
}

static hac_status write_text(int fd, const char *path, const char *text, size_t length, hac_error *err)
{
    int errnum = hac_write_all(fd, text, length, HAC_FAILPOINT_NAME("library.write"));
    if (errnum == 0 && HAC_FAILPOINT("library.sync", -1, fsync(fd)) != 0)
        errnum = errno;
    return errnum == 0 ? HAC_OK : hac_fail_errno(err, HAC_IO, errnum, "%s: cannot write", path);
}

/* Writes the whole file or nothing: link() does not replace a version that another process has just added. */
static hac_status write_file(const char *path, const char *text, size_t length, hac_error *err)
{
    hac_autofree char *temporary = NULL;
    if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
        return hac_fail_no_memory(err);
    hac_autoclose int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return hac_fail_errno(err, HAC_IO, errno, "%s: cannot write", temporary);
    hac_status status = write_text(fd, temporary, text, length, err);
    if (status == HAC_OK && HAC_FAILPOINT("library.link", -1, link(temporary, path)) != 0)
        status = errno == EEXIST
                     ? hac_fail(err, HAC_AGAIN, "%s was added by somebody else just now; try again", path)
                     : hac_fail_errno(err, HAC_IO, errno, "%s: cannot write", path);
    (void)unlink(temporary);
    return status;
}

static hac_status store(hac_library *library, hac_library_entry *entry, hac_error *err)
{
    hac_autofree char *path = NULL;
    hac_status status = reserve_entry(library, err);
    if (status == HAC_OK)
        status = make_folders(library, entry->kind, err);
    if (status != HAC_OK)
        return status;
    if (asprintf(&path, "%s/%s/%s@%u.yaml", library->directory, folders[entry->kind], entry->name,
                 entry->version) < 0)
        return hac_fail_no_memory(err);
    status = write_file(path, entry->text, strlen(entry->text), err);
    if (status == HAC_OK)
        add_entry(library, entry);
    return status;
}

hac_status hac_library_put(hac_library *library, hac_library_kind kind, const hac_library_definition *d,
                           hac_library_added *ret, hac_error *err)
{
    if (library->directory == NULL)
        return hac_fail(err, HAC_INVALID, "there is no folder to keep operators in");
    const hac_library_entry *newest = hac_library_find(library, kind, d->name, 0);
    hac_library_entry entry = {.kind = kind, .version = newest != NULL ? newest->version + 1 : 1};
    snprintf(entry.name, sizeof entry.name, "%s", d->name);
    memcpy(ret->name, entry.name, sizeof ret->name);
    if (newest != NULL && strlen(newest->text) == d->length &&
        memcmp(newest->text, d->text, d->length) == 0) {
        ret->version = newest->version;
        ret->is_new = false;
        return HAC_OK;
    }
    entry.text = strndup(d->text, d->length);
    entry.about = strdup(d->about);
    hac_status status =
        entry.text != NULL && entry.about != NULL ? store(library, &entry, err) : hac_fail_no_memory(err);
    if (status != HAC_OK) {
        clear_entry(&entry);
        return status;
    }
    ret->version = entry.version;
    ret->is_new = true;
    return HAC_OK;
}

static hac_status remove_entry(hac_library *library, size_t i, hac_error *err)
{
    const hac_library_entry *entry = &library->entries[i];
    hac_autofree char *path = NULL;
    if (asprintf(&path, "%s/%s/%s@%u.yaml", library->directory, folders[entry->kind], entry->name,
                 entry->version) < 0)
        return hac_fail_no_memory(err);
    if (unlink(path) != 0 && errno != ENOENT)
        return hac_fail_errno(err, HAC_IO, errno, "%s: cannot remove", path);
    clear_entry(&library->entries[i]);
    memmove(&library->entries[i], &library->entries[i + 1], (library->n - i - 1) * sizeof *library->entries);
    library->n--;
    return HAC_OK;
}

hac_status hac_library_remove(hac_library *library, hac_library_kind kind, const char *name, unsigned version,
                              hac_error *err)
{
    if (kind == HAC_LIBRARY_SUBOP && hac_subop_find(name) != NULL)
        return hac_fail(err, HAC_INVALID, "`%s` is built in and cannot be removed", name);
    if (hac_library_find(library, kind, name, version) == NULL)
        return version == 0
                   ? hac_fail(err, HAC_NOT_FOUND, "no %s of yours is called `%.64s`",
                              kind == HAC_LIBRARY_SUBOP ? "sub-operator" : "OP", name)
                   : hac_fail(err, HAC_NOT_FOUND, "there is no version %u of `%.64s`", version, name);
    hac_status status = HAC_OK;
    for (size_t i = library->n; i-- > 0 && status == HAC_OK;) {
        const hac_library_entry *entry = &library->entries[i];
        if (entry->kind == kind && strcmp(entry->name, name) == 0 &&
            (version == 0 || entry->version == version))
            status = remove_entry(library, i, err);
    }
    return status;
}
