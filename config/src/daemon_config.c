/* SPDX-License-Identifier: Apache-2.0 */
#include "config/daemon_config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memory_cgroup.h"
#include "schema.h"
#include "units.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

HAC_DEFINE_CLEANUP(hac_yaml_node *, hac_yaml_free)

static const hac_choice log_levels[] = {{"error", HAC_LOG_ERROR},
                                        {"warning", HAC_LOG_WARNING},
                                        {"info", HAC_LOG_INFO},
                                        {"debug", HAC_LOG_DEBUG},
                                        {NULL, 0}};

static const hac_choice identities[] = {
    {"uid", HAC_IDENTITY_UID}, {"cgroup", HAC_IDENTITY_CGROUP}, {NULL, 0}};

void hac_daemon_config_clear(hac_daemon_config *config)
{
    for (size_t i = 0; i < config->n_profile_directories; i++)
        free(config->profile_directories[i]);
    free(config->users);
    for (size_t i = 0; i < config->n_warnings; i++)
        free(config->warnings[i]);
    free(config->warnings);
    memset(config, 0, sizeof *config);
}

#define MEMORY_ALLOWED "size of at least 1MiB, or 1% to 100% of the memory there is"

/* Values that are no scalars ------------------------------------------------------------------------ */

static uint64_t share_of_memory(double percent)
{
    uint64_t share = (uint64_t)((double)hac_memory_available() * percent / 100);
    return share > 0 ? share : UINT64_C(1) << 30; /* the size of memory is not known */
}

/* Keeps a message that is no error. */
static hac_status add_warning(const hac_scope *scope, hac_daemon_config *config, const hac_error *warning)
{
    char **grown = reallocarray(config->warnings, config->n_warnings + 1, sizeof *grown);
    if (grown == NULL)
        return hac_fail_no_memory(scope->err);
    config->warnings = grown;
    grown[config->n_warnings] = strdup(warning->message);
    if (grown[config->n_warnings] == NULL)
        return hac_fail_no_memory(scope->err);
    config->n_warnings++;
    return HAC_OK;
}

/* Parses "4GiB" or "50%". */
static hac_status read_memory(const hac_scope *scope, const hac_key *key, const hac_yaml_node *value,
                              void *at)
{
    const hac_key size = {.type = HAC_KEY_SIZE, .min = "1MiB", .allowed = key->allowed};
    char number[16], show[HAC_YAML_SHOW_SIZE];
    double percent = 0;
    hac_status status = hac_key_need(scope, key, value, HAC_YAML_SCALAR);
    if (status != HAC_OK)
        return status;
    size_t length = strlen(value->text);
    if (length == 0 || length > sizeof number || value->text[length - 1] != '%')
        return hac_key_read(scope, &size, value, at);
    memcpy(number, value->text, length - 1);
    number[length - 1] = '\0';
    if (hac_units_number(number, &percent, NULL) != HAC_OK || percent < 1 || percent > 100)
        return hac_key_fail(scope, key, value, "`%s` is not a share of the memory",
                            hac_yaml_show(value->text, show));
    *(uint64_t *)at = share_of_memory(percent);
    return HAC_OK;
}

static hac_status read_directory(const hac_scope *scope, const hac_key *key, const hac_yaml_node *item,
                                 hac_daemon_config *config)
{
    char show[HAC_YAML_SHOW_SIZE];
    hac_status status = hac_key_need(scope, key, item, HAC_YAML_SCALAR);
    if (status != HAC_OK)
        return status;
    if (item->text[0] != '/' || strlen(item->text) >= PATH_MAX)
        return hac_key_fail(scope, key, item, "`%s` is not an absolute path",
                            hac_yaml_show(item->text, show));
    char *copy = strdup(item->text);
    if (copy == NULL)
        return hac_fail_no_memory(scope->err);
    config->profile_directories[config->n_profile_directories++] = copy;
    if (access(copy, F_OK) == 0 || errno != ENOENT)
        return HAC_OK;
    hac_error warning = HAC_ERROR_NONE;
    (void)hac_yaml_fail(scope->file, item->line, &warning,
                        "key `%s`: there is no directory `%s`; no profile is read from it", key->path,
                        hac_yaml_show(copy, show));
    return add_warning(scope, config, &warning);
}

static hac_status read_directories(const hac_scope *scope, const hac_key *key, const hac_yaml_node *value,
                                   void *at)
{
    if (value->kind == HAC_YAML_SCALAR && strcmp(value->text, "auto") == 0)
        return HAC_OK;
    hac_status status = hac_key_need(scope, key, value, HAC_YAML_LIST);
    if (status == HAC_OK && (value->count == 0 || value->count > HAC_PROFILE_DIRECTORIES_MAX))
        return hac_key_fail(scope, key, value, "has %zu entries", value->count);
    for (const hac_yaml_node *item = value->first; status == HAC_OK && item != NULL; item = item->next)
        status = read_directory(scope, key, item, at);
    return status;
}

/* Parses an address and a port: "127.0.0.1:9100" or "[::1]:9100". Only loopback addresses are allowed. */
static bool parse_loopback(const char *text, hac_loopback *ret)
{
    struct in_addr v4;
    struct in6_addr v6;
    const char *colon = strrchr(text, ':');
    bool brackets = text[0] == '[' && colon != NULL && colon > text + 1 && colon[-1] == ']';
    const char *address = brackets ? text + 1 : text;
    size_t length = colon != NULL ? (size_t)(colon - address) - brackets : 0;
    if (length == 0 || length >= sizeof ret->address ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1) || strlen(colon + 1) > 5)
        return false;
    memcpy(ret->address, address, length);
    ret->address[length] = '\0';
    long port = strtol(colon + 1, NULL, 10);
    ret->port = (uint16_t)port;
    bool loopback = brackets ? inet_pton(AF_INET6, ret->address, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6)
                             : inet_pton(AF_INET, ret->address, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127;
    return loopback && port > 0 && port < 65536;
}

static hac_status read_loopback(const hac_scope *scope, const hac_key *key, const hac_yaml_node *value,
                                void *at)
{
    char show[HAC_YAML_SHOW_SIZE];
    hac_loopback where = {.port = 0};
    hac_status status = hac_key_need(scope, key, value, HAC_YAML_SCALAR);
    if (status != HAC_OK)
        return status;
    if (strcmp(value->text, "none") != 0 && !parse_loopback(value->text, &where))
        return hac_key_fail(scope, key, value,
                            "`%s` is not a port at an address that only this machine reaches",
                            hac_yaml_show(value->text, show));
    *(hac_loopback *)at = where;
    return HAC_OK;
}

/* Limits of named users ---------------------------------------------------------------------------- */

#define LIMIT(field) offsetof(hac_user_limits, field)

static const hac_key limit_keys[] = {
    {.path = "pool_memory",
     .type = HAC_KEY_OTHER,
     .offset = LIMIT(memory),
     .read = read_memory,
     .type_name = "size or share",
     .allowed = MEMORY_ALLOWED,
     .fallback = "pool_memory_per_user",
     .help = "Memory of the user's buffers"},
    {.path = "max_jobs",
     .type = HAC_KEY_INTEGER,
     .offset = LIMIT(jobs),
     .min = "0",
     .max = "1000000",
     .fallback = "max_jobs_per_user",
     .help = "Jobs of the user; 0: no access"},
    {.path = "max_connections",
     .type = HAC_KEY_INTEGER,
     .offset = LIMIT(connections),
     .min = "0",
     .max = "65536",
     .fallback = "max_connections_per_user",
     .help = "Connections of the user; 0: no access"},
    {.path = "max_descriptors",
     .type = HAC_KEY_INTEGER,
     .offset = LIMIT(descriptors),
     .min = "64",
     .max = "1000000",
     .fallback = "max_descriptors_per_user",
     .help = "Descriptors that the daemon holds for the user"},
    {.path = "share",
     .type = HAC_KEY_NUMBER,
     .offset = LIMIT(share),
     .min = "0.01",
     .max = "100",
     .fallback = "1",
     .help = "Weight of the user when devices are shared: 2 gets twice as much time as 1"},
};

static const hac_config_schema limit_schema = {.keys = limit_keys, .n_keys = COUNT(limit_keys)};

/* The id of a user or group: `name` is a number, or a name in the system's user database. */
static bool find_id(const char *name, bool group, uint32_t *ret)
{
    char *end = NULL;
    unsigned long number = strtoul(name, &end, 10);
    if (name[0] >= '0' && name[0] <= '9' && *end == '\0' && number < UINT32_MAX) {
        *ret = (uint32_t)number;
        return true;
    }
    const struct group *g = group ? getgrnam(name) : NULL;
    const struct passwd *p = group ? NULL : getpwnam(name);
    *ret = g != NULL ? g->gr_gid : p != NULL ? p->pw_uid : 0;
    return g != NULL || p != NULL;
}

static hac_status read_user(const hac_scope *scope, const hac_key *key, const hac_yaml_node *item,
                            hac_daemon_config *config)
{
    const hac_scope inner = {.schema = &limit_schema, .file = scope->file, .err = scope->err};
    char show[HAC_YAML_SHOW_SIZE];
    hac_user_entry *entry = &config->users[config->n_users];
    *entry = (hac_user_entry){
        .group = item->key[0] == '@',
        .limits = {.connections = UINT32_MAX, .jobs = UINT32_MAX, .descriptors = UINT32_MAX}};
    bool found = find_id(item->key + entry->group, entry->group, &entry->id);
    for (size_t i = 0; found && i < config->n_users; i++)
        if (config->users[i].group == entry->group && config->users[i].id == entry->id)
            return hac_key_fail(scope, key, item, "`%s` is there twice", hac_yaml_show(item->key, show));
    hac_status status = hac_key_need(scope, key, item, HAC_YAML_MAP);
    if (status == HAC_OK)
        status = hac_schema_read(&inner, item, &entry->limits);
    if (status != HAC_OK)
        return status;
    if (!found) {
        char path[HAC_YAML_PATH_SIZE];
        hac_error warning = HAC_ERROR_NONE;
        (void)hac_yaml_fail(scope->file, item->key_line, &warning,
                            "key `%s`: there is no %s `%s` on this machine; this entry is left out",
                            hac_yaml_path(item, path), entry->group ? "group" : "user",
                            hac_yaml_show(item->key + entry->group, show));
        return add_warning(scope, config, &warning);
    }
    config->n_users++;
    return HAC_OK;
}

static hac_status read_users(const hac_scope *scope, const hac_key *key, const hac_yaml_node *value, void *at)
{
    hac_daemon_config *config = at;
    hac_status status = hac_key_need(scope, key, value, HAC_YAML_MAP);
    if (status != HAC_OK || value->count == 0)
        return status;
    if (value->count > HAC_USER_ENTRIES_MAX)
        return hac_key_fail(scope, key, value, "has %zu entries", value->count);
    config->users = calloc(value->count, sizeof *config->users);
    if (config->users == NULL)
        return hac_fail_no_memory(scope->err);
    for (const hac_yaml_node *item = value->first; status == HAC_OK && item != NULL; item = item->next)
        status = read_user(scope, key, item, config);
    return status;
}

/* Whether an entry applies to a user: it names the user, or one of the user's groups. */
static bool speaks_for(const hac_user_entry *entry, bool group, uid_t uid, const gid_t *groups, size_t n)
{
    if (entry->group != group)
        return false;
    if (!group)
        return entry->id == uid;
    for (size_t i = 0; i < n; i++)
        if (groups[i] == entry->id)
            return true;
    return false;
}

static const hac_user_entry *find_entry(const hac_daemon_config *config, bool group, uid_t uid,
                                        const gid_t *groups, size_t n)
{
    for (size_t i = 0; i < config->n_users; i++)
        if (speaks_for(&config->users[i], group, uid, groups, n))
            return &config->users[i];
    return NULL;
}

hac_user_limits hac_daemon_config_limits(const hac_daemon_config *config, uid_t uid, const gid_t *groups,
                                         size_t n_groups)
{
    hac_user_limits limits = {.memory = config->pool_memory_per_user,
                              .connections = config->max_connections_per_user,
                              .jobs = config->max_jobs_per_user,
                              .descriptors = config->max_descriptors_per_user,
                              .share = 1};
    const hac_user_entry *entry = find_entry(config, false, uid, groups, n_groups);
    if (entry == NULL)
        entry = find_entry(config, true, uid, groups, n_groups);
    if (entry == NULL)
        return limits;
    const hac_user_limits *own = &entry->limits;
    limits.memory = own->memory != 0 ? own->memory : limits.memory;
    limits.connections = own->connections != UINT32_MAX ? own->connections : limits.connections;
    limits.jobs = own->jobs != UINT32_MAX ? own->jobs : limits.jobs;
    limits.descriptors = own->descriptors != UINT32_MAX ? own->descriptors : limits.descriptors;
    limits.share = own->share > 0 ? own->share : limits.share;
    return limits;
}

/* The table ----------------------------------------------------------------------------------------- */

#define FIELD(field) offsetof(hac_daemon_config, field)

static const hac_key keys[] = {
    {.path = "log_level",
     .type = HAC_KEY_CHOICE,
     .offset = FIELD(log_level),
     .choices = log_levels,
     .fallback = "info",
     .help = "Lowest level that is logged"},
    {.path = "profile_directories",
     .type = HAC_KEY_OTHER,
     .read = read_directories,
     .type_name = "list of paths",
     .allowed = "a list of 1 to 8 absolute paths, or `auto`",
     .fallback = "auto",
     .help = "Directories of device profiles, first match wins; auto: the administrator's, then the shipped "
             "ones"},
    {.path = "idle_exit",
     .type = HAC_KEY_DURATION,
     .offset = FIELD(idle_exit),
     .min = "1s",
     .max = "8760h",
     .word = "none",
     .fallback = "30s",
     .help = "A private daemon exits after this time without clients and jobs; none: never"},
    {.path = "result_expiry",
     .type = HAC_KEY_DURATION,
     .offset = FIELD(result_expiry),
     .min = "1s",
     .max = "8760h",
     .fallback = "10min",
     .help = "Time for which the result of a detached job is kept"},
    {.path = "pool_memory_per_user",
     .type = HAC_KEY_OTHER,
     .offset = FIELD(pool_memory_per_user),
     .read = read_memory,
     .type_name = "size or share",
     .allowed = MEMORY_ALLOWED,
     .fallback = "50%",
     .help = "Memory of one user's buffers, in use or kept for reuse"},
    {.path = "pool_memory",
     .type = HAC_KEY_OTHER,
     .offset = FIELD(pool_memory),
     .read = read_memory,
     .type_name = "size or share",
     .allowed = MEMORY_ALLOWED,
     .fallback = "100%",
     .help = "Memory of all users' buffers. What is free is shared fairly among users (docs/users.md)"},
    {.path = "max_jobs_per_user",
     .type = HAC_KEY_INTEGER,
     .offset = FIELD(max_jobs_per_user),
     .min = "0",
     .max = "1000000",
     .fallback = "1000",
     .help = "Jobs of one user that wait, run, or have a result that was not released; 0: access only for "
             "those in `users`"},
    {.path = "max_jobs",
     .type = HAC_KEY_INTEGER,
     .offset = FIELD(max_jobs),
     .min = "1",
     .max = "1000000",
     .fallback = "20000",
     .help = "Jobs of all users. What is free is shared fairly among users (docs/users.md)"},
    {.path = "max_connections_per_user",
     .type = HAC_KEY_INTEGER,
     .offset = FIELD(max_connections_per_user),
     .min = "0",
     .max = "65536",
     .fallback = "256",
     .help = "Connections of one user; 0: access only for those in `users`"},
    {.path = "max_connections",
     .type = HAC_KEY_INTEGER,
     .offset = FIELD(max_connections),
     .min = "1",
     .max = "65536",
     .fallback = "4096",
     .help = "Connections of all users. What is free is shared fairly among users (docs/users.md)"},
    {.path = "max_descriptors_per_user",
     .type = HAC_KEY_INTEGER,
     .offset = FIELD(max_descriptors_per_user),
     .min = "64",
     .max = "1000000",
     .fallback = "4096",
     .help = "Buffers and open files that the daemon holds for one user; a query of 253 files needs 253"},
    {.path = "users",
     .type = HAC_KEY_OTHER,
     .read = read_users,
     .type_name = "map",
     .allowed = "a map from user names, uids, `\"@group\"` names or gids to `{pool_memory, max_jobs, "
                "max_connections, max_descriptors, share}`, at most 256",
     .fallback = "{}",
     .help = "Limits of certain users: the entry with the user's name applies, otherwise the first entry "
             "with one of the user's groups"},
    {.path = "identity",
     .type = HAC_KEY_CHOICE,
     .offset = FIELD(identity),
     .choices = identities,
     .fallback = "uid",
     .help =
         "What a user is: a uid, or with `cgroup` a uid in a pod, container or service, each with limits of "
         "its own (docs/users.md)"},
    {.path = "executor_idle_timeout",
     .type = HAC_KEY_DURATION,
     .offset = FIELD(executor_idle_timeout),
     .min = "100ms",
     .max = "8760h",
     .fallback = "60s",
     .help = "An executor without work exits after this time"},
    {.path = "task_deadline_factor",
     .type = HAC_KEY_NUMBER,
     .offset = FIELD(task_deadline_factor),
     .min = "2",
     .max = "100000",
     .fallback = "20",
     .help = "A task that shows no progress for this multiple of its predicted time counts as hung, and its "
             "executor is killed"},
    {.path = "task_deadline_minimum",
     .type = HAC_KEY_DURATION,
     .offset = FIELD(task_deadline_minimum),
     .min = "100ms",
     .max = "8760h",
     .fallback = "10s",
     .help = "Minimum time without progress before a task counts as hung"},
    {.path = "build_deadline",
     .type = HAC_KEY_DURATION,
     .offset = FIELD(build_deadline),
     .min = "1s",
     .max = "8760h",
     .fallback = "10min",
     .help =
         "A builder that takes longer for one program is hung and killed, and the device does without it; "
         "slow compilers take minutes"},
    {.path = "drain_deadline",
     .type = HAC_KEY_DURATION,
     .offset = FIELD(drain_deadline),
     .min = "100ms",
     .max = "24h",
     .fallback = "25s",
     .help = "Time for running jobs at shutdown; then they are cancelled"},
    {.path = "metrics_http",
     .type = HAC_KEY_OTHER,
     .offset = FIELD(metrics_http),
     .read = read_loopback,
     .type_name = "address and port",
     .allowed = "`127.0.0.1:PORT` (any of 127.0.0.0/8), `[::1]:PORT`, or `none`",
     .fallback = "none",
     .help =
         "Address of the HTTP server for metrics (`/metrics`), without metrics by user (docs/metrics.md); "
         "under systemd this needs a drop-in"},
    {.path = "calibrate_when_idle",
     .type = HAC_KEY_BOOL,
     .offset = FIELD(calibrate_when_idle),
     .fallback = "true",
     .help = "Measures devices whose speed is not known, for a few seconds each, while there are no jobs"},
    {.path = "share_without_landlock",
     .type = HAC_KEY_BOOL,
     .offset = FIELD(share_without_landlock),
     .fallback = "false",
     .help = "Serves several users at a time though the kernel has no Landlock, so that files of the "
             "daemon's user keep executors of different users apart less well"},
};

static const hac_config_schema schema = {.keys = keys, .n_keys = COUNT(keys)};

hac_status hac_daemon_config_default(hac_daemon_config *ret, hac_error *err)
{
    return hac_daemon_config_parse("hacd.yaml", "", 0, ret, err);
}

hac_status hac_daemon_config_parse(const char *name, const char *text, size_t length, hac_daemon_config *ret,
                                   hac_error *err)
{
    hac_cleanup(hac_yaml_free_cleanup) hac_yaml_node *root = NULL;
    hac_cleanup(hac_daemon_config_clear) hac_daemon_config config = {.n_profile_directories = 0};
    const hac_scope scope = {.schema = &schema, .file = name, .err = err};
    hac_status status = hac_yaml_parse(name, text, length, &root, err);
    if (status == HAC_OK)
        status = hac_schema_defaults(&schema, &config, err);
    if (status == HAC_OK)
        status = hac_schema_read(&scope, root, &config);
    if (status != HAC_OK)
        return status;
    *ret = config;
    memset(&config, 0, sizeof config); /* *ret owns it all now */
    return HAC_OK;
}

hac_status hac_daemon_config_load(const char *path, hac_daemon_config *ret, hac_error *err)
{
    hac_autofree char *text = NULL;
    size_t length = 0;
    hac_status status = hac_yaml_read_file(path, &text, &length, err);
    return status != HAC_OK ? status : hac_daemon_config_parse(path, text, length, ret, err);
}

void hac_daemon_config_reference(FILE *out)
{
    fputs(
        "# hacd.yaml\n\n"
        "<!-- Generated from the key table in config/src/daemon_config.c by `cmake --build . --target "
        "hac_config_docs`; do not edit. -->\n\n"
        "The daemon's configuration: `/etc/hac/hacd.yaml` for the system daemon. Every key has a default, so "
        "the\n"
        "file may be empty or missing. Limits per user apply to each user alone. `hacctl reload` makes the "
        "daemon\n"
        "read the file again. The daemon refuses a wrong file with file, line and key, and keeps the old "
        "values.\n\n"
        "## Keys\n\n",
        out);
    hac_schema_table(&schema, out);
    fputs("\n## Keys of an entry of `users`\n\n"
          "Limits that an entry does not set are those of all users. For example:\n\n"
          "```yaml\n"
          "max_jobs_per_user: 100\n"
          "users:\n"
          "  alice: {max_jobs: 1000, share: 2}\n"
          "  \"@students\": {pool_memory: 2GiB, share: 0.5}\n"
          "  mallory: {max_connections: 0}\n"
          "```\n\n",
          out);
    hac_schema_table(&limit_schema, out);
}

void hac_daemon_config_example(FILE *out)
{
    fputs("# SPDX-License-Identifier: Apache-2.0\n"
          "# The daemon's configuration; every key is shown at its default (docs/hacd.yaml.md).\n",
          out);
    hac_schema_example(&schema, out);
}
