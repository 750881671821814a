/* SPDX-License-Identifier: Apache-2.0 */
/* hacd lends this machine's accelerators to programs. This file reads the command line, finds the directories
 * and the listening socket, and starts the server. */
#include <fcntl.h>
#include <getopt.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/paths.h"
#include "base/program_folder.h"
#include "loop/scratch.h"
#include "process_limits.h"
#include "server.h"

#define LISTEN_FDS_START 3 /* sd_listen_fds(3) */
#define ADMIN_NAME       "admin"
#define HEAP_KEPT        ((size_t)512 << 10)

static void usage(FILE *out)
{
    fputs(
        "usage: hacd [--private] [--socket PATH [--socket-mode MODE] | --listen-fd N] [--admin-socket PATH]\n"
        "            [--config FILE]\n"
        "       hacd --check-config [--config FILE]\n"
        "       hacd --version\n"
        "\n"
        "Lends this machine's accelerators to programs; see hacd(8).\n"
        "\n"
        "  --private            one user's daemon: XDG directories, leaves when idle\n"
        "  --socket PATH        listen here (default " HAC_SYSTEM_SOCKET ")\n"
        "  --socket-mode MODE   its mode in octal, 0666 for all users (default 0700: this user, and root)\n"
        "  --admin-socket PATH  listen here for administrators (default: beside the other socket)\n"
        "  --listen-fd N        serve this listening socket; --socket then names it\n"
        "  --config FILE        hacd.yaml (default /etc/hac/hacd.yaml)\n"
        "  --check-config       read configuration and profiles, say what is wrong, leave\n",
        out);
}

typedef struct hacd_arguments {
    bool private_daemon, check_config;
    int listen_fd, socket_mode; /* < 0: none was given */
    const char *socket, *admin_socket, *config;
} hacd_arguments;

static bool parse_descriptor(const char *text, int *ret)
{
    char *end = NULL;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 0 || value > 1 << 20) {
        fprintf(stderr, "hacd: `%s` is not a descriptor's number\n", text);
        return false;
    }
    *ret = (int)value;
    return true;
}

/* Permissions of a socket in octal. Its owner, hacd's user, keeps them. */
static bool parse_mode(const char *text, int *ret)
{
    char *end = NULL;
    long value = strtol(text, &end, 8);
    if (end == text || *end != '\0' || value < 0600 || value > 0777 || (value & 0600) != 0600) {
        fprintf(stderr, "hacd: `%s` is not a socket's mode: 0600 to 0777 in octal, with 0600 for its owner\n",
                text);
        return false;
    }
    *ret = (int)value;
    return true;
}

/* What one socket has, another cannot have. */
static bool arguments_agree(const hacd_arguments *args)
{
    const char *problem = NULL;
    if (args->socket_mode >= 0 && args->listen_fd >= 0)
        problem = "--socket-mode is for a socket that hacd makes, not for --listen-fd";
    else if (args->admin_socket != NULL && args->listen_fd >= 0)
        problem = "--listen-fd serves one socket; there is none for administrators";
    else if (args->private_daemon && (args->socket_mode >= 0 || args->admin_socket != NULL))
        problem = "a private daemon serves one user, who administers it: no --socket-mode, no --admin-socket";
    if (problem != NULL)
        fprintf(stderr, "hacd: %s\n", problem);
    return problem == NULL;
}

static int parse_arguments(int argc, char **argv, hacd_arguments *ret)
{
    static const struct option options[] = {
        {"private", no_argument, NULL, 'p'},
        {"socket", required_argument, NULL, 's'},
        {"socket-mode", required_argument, NULL, 'm'},
        {"admin-socket", required_argument, NULL, 'a'},
        {"listen-fd", required_argument, NULL, 'l'},
        {"config", required_argument, NULL, 'c'},
        {"check-config", no_argument, NULL, 'C'},
        {"version", no_argument, NULL, 'V'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    *ret = (hacd_arguments){.listen_fd = -1, .socket_mode = -1};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 'p':
            ret->private_daemon = true;
            break;
        case 's':
            ret->socket = optarg;
            break;
        case 'm':
            if (!parse_mode(optarg, &ret->socket_mode))
                return 2;
            break;
        case 'a':
            ret->admin_socket = optarg;
            break;
        case 'l':
            if (!parse_descriptor(optarg, &ret->listen_fd))
                return 2;
            break;
        case 'c':
            ret->config = optarg;
            break;
        case 'C':
            ret->check_config = true;
            break;
        case 'V':
            puts("hacd " HAC_VERSION);
            exit(0);
        case 'h':
            usage(stdout);
            exit(0);
        default:
            usage(stderr);
            return 2;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "hacd: unexpected argument `%s`\n", argv[optind]);
        return 2;
    }
    return arguments_agree(ret) ? 0 : 2;
}

/* ---- directories -------------------------------------------------------------------------------------- */

static bool join(char *ret, size_t capacity, const char *directory, const char *name)
{
    int n = snprintf(ret, capacity, "%s/%s", directory, name);
    return n > 0 && (size_t)n < capacity;
}

/* The user's folder, else `otherwise` in hac-UID of /tmp. */
static bool user_directory(hac_user_folder folder, const char *otherwise, char *ret, size_t capacity)
{
    char base[64];
    int errnum = hac_user_path(folder, NULL, ret, capacity);
    if (errnum != ENOENT)
        return errnum == 0;
    return hac_temporary_path("/tmp", base, sizeof base) && join(ret, capacity, base, otherwise);
}

/* Without HOME, everything lies below /tmp/hac-UID. Anybody can make directories in /tmp, so this one must be
 * ours. */
static hac_status check_temporary_base(hac_error *err)
{
    char base[64];
    struct stat info;
    if (!hac_temporary_path("/tmp", base, sizeof base))
        return hac_fail(err, HAC_INTERNAL, "the path of a directory in /tmp is too long");
    if (mkdir(base, 0700) != 0 && errno != EEXIST)
        return hac_fail_errno(err, HAC_IO, errno, "cannot make the directory %s", base);
    if (lstat(base, &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid() ||
        (info.st_mode & 077) != 0)
        return hac_fail(err, HAC_REFUSED, "%s is not a directory of this user alone; set HOME, or remove it",
                        base);
    return HAC_OK;
}

static bool needs_temporary_base(const hac_server_options *o, const char *profiles, const char *cache)
{
    const char *const paths[] = {o->state_directory, cache, profiles};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (strncmp(paths[i], "/tmp/hac-", strlen("/tmp/hac-")) == 0)
            return true;
    return false;
}

static hac_status make_directory(char *path, hac_error *err)
{
    int errnum = hac_make_folders(path);
    return errnum == 0 ? HAC_OK : hac_fail_errno(err, HAC_IO, errnum, "cannot make the directory %s", path);
}

/* SCRATCH/PID and its parents. */
static hac_status make_scratch(hac_server_options *o, hac_error *err)
{
    char parent[PATH_MAX];
    snprintf(parent, sizeof parent, "%s", o->scratch_directory);
    *strrchr(parent, '/') = '\0';
    hac_status status = make_directory(parent, err);
    return status == HAC_OK ? hac_scratch_claim(o->scratch_directory, &o->scratch_lock, err) : status;
}

/* The files of this installation or build tree, wherever it lies; else those of the configured prefix. */
static const char here;

static const char *shipped_profiles(void)
{
    static char beside[PATH_MAX];
    const char *named = getenv("HAC_PROFILES");
    if (named != NULL)
        return named;
    return hac_program_file_beside(&here, HAC_DATA_BESIDE "/profiles", beside) ? beside
                                                                               : HAC_DATA_DIRECTORY
               "/profiles";
}

static bool find_executor(char ret[PATH_MAX])
{
    static const char *const beside[] = {"."};
    return hac_program_find(&here, beside, 1, HAC_LIBEXEC_DIRECTORY, "hac-executor", ret);
}

static hac_status find_directories(const hacd_arguments *args, hac_server_options *o, hac_error *err)
{
    static char profiles[PATH_MAX];
    char cache[PATH_MAX];
    bool ok = true;
    if (args->private_daemon) {
        ok = user_directory(HAC_FOLDER_STATE, "state", o->state_directory, sizeof o->state_directory) &&
             user_directory(HAC_FOLDER_CACHE, "cache", cache, sizeof cache) &&
             user_directory(HAC_FOLDER_CONFIG, "config", profiles, sizeof profiles) &&
             join(o->config_path, sizeof o->config_path, profiles, "hacd.yaml");
        size_t used = strlen(profiles);
        ok = ok && used + sizeof "/profiles" <= sizeof profiles;
        if (ok)
            memcpy(profiles + used, "/profiles", sizeof "/profiles");
    } else {
        const char *state = getenv("STATE_DIRECTORY"), *systems = getenv("CACHE_DIRECTORY");
        snprintf(o->state_directory, sizeof o->state_directory, "%s",
                 state != NULL ? state : "/var/lib/hacd");
        snprintf(cache, sizeof cache, "%s", systems != NULL ? systems : "/var/cache/hacd");
        snprintf(o->config_path, sizeof o->config_path, "/etc/hac/hacd.yaml");
        snprintf(profiles, sizeof profiles, "/etc/hac/profiles.d");
    }
    if (ok && args->private_daemon && needs_temporary_base(o, profiles, cache)) {
        hac_status status = check_temporary_base(err);
        if (status != HAC_OK)
            return status;
    }
    ok = ok && join(o->cache_directory, sizeof o->cache_directory, cache, "programs") &&
         join(o->scratch_directory, sizeof o->scratch_directory, cache, "scratch");
    if (!ok)
        return hac_fail(err, HAC_IO, "a directory's path is too long");
    size_t used = strlen(o->scratch_directory);
    snprintf(o->scratch_directory + used, sizeof o->scratch_directory - used, "/%d", (int)getpid());
    o->profile_directories[0] = profiles;
    o->profile_directories[1] = shipped_profiles();
    o->n_profile_directories = 2;
    if (args->config != NULL)
        snprintf(o->config_path, sizeof o->config_path, "%s", args->config);
    if (!find_executor(o->executor_program))
        return hac_fail(err, HAC_IO, "the path of hac-executor is too long");
    return HAC_OK;
}

/* ---- the socket --------------------------------------------------------------------------------------- */

static int socket_option(int fd, int option)
{
    int value = -1;
    socklen_t length = sizeof value;
    return getsockopt(fd, SOL_SOCKET, option, &value, &length) == 0 ? value : -1;
}

/* What is wrong with a descriptor that was passed as a listener; NULL: nothing. */
static const char *not_a_listener(int fd)
{
    int type = socket_option(fd, SO_TYPE);
    if (type < 0)
        return errno == EBADF ? "is not open" : "is not a socket";
    if (socket_option(fd, SO_DOMAIN) != AF_UNIX)
        return "is not a Unix socket";
    if (type != SOCK_SEQPACKET)
        return type == SOCK_STREAM  ? "is a stream socket"
               : type == SOCK_DGRAM ? "is a datagram socket"
                                    : "is a socket of another type";
    return socket_option(fd, SO_ACCEPTCONN) == 1 ? NULL : "does not listen";
}

static hac_status check_listener(int fd, const char *from, hac_error *err)
{
    const char *problem = not_a_listener(fd);
    if (problem != NULL)
        return hac_fail(err, HAC_INVALID,
                        "descriptor %d, from %s, %s; a listening Unix socket of type SEQPACKET is wanted "
                        "(ListenSequentialPacket= in hacd.socket)",
                        fd, from, problem);
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot keep descriptor %d from child processes", fd);
    return HAC_OK;
}

static hac_status listen_at(const char *path, int *ret, hac_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return hac_fail(err, HAC_INVALID, "the socket path %s is longer than %zu bytes", path,
                        sizeof address.sun_path - 1);
    strcpy(address.sun_path, path);
    hac_autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot make a socket");
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return hac_fail(err, HAC_REFUSED, "another hacd serves %s", path);
    unlink(path); /* nobody listens there any more */
    hac_close(hac_steal_fd(&fd));
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 128) != 0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot listen at %s", path);
    *ret = hac_steal_fd(&fd);
    return HAC_OK;
}

/* Whether the service manager calls its `index`th socket `name`. */
static bool is_named(const char *names, int index, const char *name)
{
    for (; names != NULL && index > 0; index--) {
        names = strchr(names, ':');
        names += names != NULL;
    }
    size_t length = strlen(name);
    return names != NULL && strncmp(names, name, length) == 0 &&
           (names[length] == ':' || names[length] == '\0');
}

/* The service manager passes sockets from descriptor 3 on (sd_listen_fds(3)): the one for everybody, and
 * that of hacd-admin.socket, in any order. */
static hac_status take_activated(hac_server_options *o, const char *count, const char *names, hac_error *err)
{
    bool two = strcmp(count, "2") == 0;
    int admin = two && is_named(names, 0, ADMIN_NAME) ? 0 : two && is_named(names, 1, ADMIN_NAME) ? 1 : -1;
    if (strcmp(count, "1") != 0 && admin < 0)
        return hac_fail(err, HAC_INVALID,
                        "LISTEN_FDS=%s: the socket that hacd.socket listens at is wanted, and that of "
                        "hacd-admin.socket, if any",
                        count);
    o->listener = LISTEN_FDS_START + (admin == 0);
    o->admin_listener = admin >= 0 ? LISTEN_FDS_START + admin : -1;
    o->admin_apart = admin >= 0;
    hac_status status = check_listener(o->listener, "LISTEN_FDS", err);
    return status == HAC_OK && admin >= 0 ? check_listener(o->admin_listener, "LISTEN_FDS", err) : status;
}

/* The variables are for this process only, so they are removed. */
static hac_status activated_sockets(hac_server_options *o, hac_error *err)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    bool ours = pid != NULL && count != NULL && strtol(pid, NULL, 10) == (long)getpid();
    hac_status status = ours ? take_activated(o, count, getenv("LISTEN_FDNAMES"), err) : HAC_NOT_FOUND;
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return status;
}

/* The socket for administrators lies beside the one for everybody: admin.sock beside hacd.sock, which is
 * where libhac looks for it (HAC_ADMIN_SOCKET), and NAME.admin.sock beside NAME.sock, since several
 * daemons may listen in one directory. */
static bool name_admin_socket(const char *path, char *ret, size_t capacity)
{
    static const char suffix[] = ".sock";
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t length = strlen(name), cut = sizeof suffix - 1;
    int folder = (int)(name - path);
    if (length > cut && strcmp(name + length - cut, suffix) == 0)
        length -= cut;
    int n = strcmp(name, HAC_SOCKET_NAME) == 0
                ? snprintf(ret, capacity, "%.*s" ADMIN_NAME "%s", folder, path, suffix)
                : snprintf(ret, capacity, "%.*s." ADMIN_NAME "%s", folder + (int)length, path, suffix);
    return n > 0 && (size_t)n < capacity;
}

/* Only hacd's user and root can connect: the umask leaves nothing to others before the mode is set. */
static hac_status listen_for_administrators(const char *path, const char *named, hac_server_options *o,
                                            hac_error *err)
{
    bool fits = named == NULL ? name_admin_socket(path, o->admin_path, sizeof o->admin_path)
                              : (size_t)snprintf(o->admin_path, sizeof o->admin_path, "%s", named) <
                                    sizeof o->admin_path;
    if (!fits)
        return hac_fail(err, HAC_INVALID, "the path of the socket for administrators is too long");
    o->admin_apart = named != NULL;
    hac_status status = listen_at(o->admin_path, &o->admin_listener, err);
    if (status == HAC_OK && chmod(o->admin_path, 0600) != 0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot change the mode of %s", o->admin_path);
    return status;
}

static hac_status find_listener(const hacd_arguments *args, hac_server_options *o, hac_error *err)
{
    const char *path = args->socket != NULL ? args->socket : HAC_SYSTEM_SOCKET;
    if (args->socket != NULL || args->listen_fd < 0)
        snprintf(o->socket_path, sizeof o->socket_path, "%s", path);
    if (args->listen_fd >= 0) {
        o->listener = args->listen_fd;
        return check_listener(args->listen_fd, "--listen-fd", err);
    }
    hac_status status = activated_sockets(o, err);
    o->activated = status == HAC_OK;
    if (o->activated && (args->socket_mode >= 0 || args->admin_socket != NULL))
        return hac_fail(err, HAC_INVALID,
                        "the service manager passes the sockets; --socket-mode and --admin-socket "
                        "are for sockets that hacd makes");
    if (status != HAC_NOT_FOUND)
        return status;
    status = listen_at(path, &o->listener, err);
    if (status == HAC_OK && !args->private_daemon)
        status = listen_for_administrators(path, args->admin_socket, o, err);
    /* Last: until then nobody else comes in, and hacd still may not start. */
    if (status == HAC_OK && args->socket_mode >= 0 && chmod(path, (mode_t)args->socket_mode) != 0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot change the mode of %s", path);
    return status;
}

/* ---- start -------------------------------------------------------------------------------------------- */

static void print_problem(void *context, const hac_error *problem)
{
    (void)context;
    fprintf(stderr, "hacd: %s\n", problem->message);
}

/* Root can read files that the service cannot. */
static void warn_unreadable(const hac_server_options *o)
{
    struct stat file;
    const struct passwd *service = o->private_daemon || geteuid() != 0 ? NULL : getpwnam("hacd");
    if (service == NULL || stat(o->config_path, &file) != 0)
        return;
    mode_t wanted = file.st_uid == service->pw_uid   ? S_IRUSR
                    : file.st_gid == service->pw_gid ? S_IRGRP
                                                     : S_IROTH;
    if ((file.st_mode & wanted) == 0)
        fprintf(stderr, "hacd: warning: %s: its mode keeps the service's user, hacd, from reading it\n",
                o->config_path);
}

static int check_config(const hac_server_options *o)
{
    hac_error err = HAC_ERROR_NONE;
    hac_daemon_config config;
    hac_profile_set *profiles = NULL;
    hac_status status = hac_daemon_config_load(o->config_path, &config, &err);
    bool none = status == HAC_NOT_FOUND;
    if (none)
        status = hac_daemon_config_default(&config, &err);
    if (status == HAC_OK) {
        warn_unreadable(o);
        for (size_t i = 0; i < config.n_warnings; i++)
            fprintf(stderr, "hacd: warning: %s\n", config.warnings[i]);
        const char *const *directories = config.n_profile_directories > 0
                                             ? (const char *const *)config.profile_directories
                                             : o->profile_directories;
        size_t n = config.n_profile_directories > 0 ? config.n_profile_directories : o->n_profile_directories;
        status = hac_profile_set_load(directories, n, true, NULL, NULL, &profiles, &err);
        hac_daemon_config_clear(&config);
    }
    if (status == HAC_OK)
        printf("%s: %s\n%zu profiles, all sound\n", o->config_path,
               none ? "not there, all is at its default" : "sound", hac_profile_set_count(profiles));
    else
        print_problem(NULL, &err);
    hac_profile_set_free(profiles);
    return hac_status_exit_code(status);
}

/* A file that the command line names must exist; the default one need not. */
static hac_status check_named(const hacd_arguments *args, hac_error *err)
{
    if (args->config != NULL && access(args->config, F_OK) != 0)
        return hac_fail_errno(err, HAC_NOT_FOUND, errno, "cannot read %s", args->config);
    return HAC_OK;
}

/* Hides the memory of the machine's daemon from processes of the same uid: executors have it too, and
 * without Landlock one that was taken over could open /proc/PID/mem. A private daemon is not protected
 * against its own user, who may want to debug it. */
static hac_status hide_memory(const hacd_arguments *args, hac_error *err)
{
    if (!args->private_daemon && !args->check_config && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
        return hac_fail_errno(err, HAC_IO, errno, "prctl(PR_SET_DUMPABLE)");
    return HAC_OK;
}

int main(int argc, char **argv)
{
    hacd_arguments args;
    hac_error err = HAC_ERROR_NONE;
    static hac_server_options options = {.listener = -1, .admin_listener = -1, .scratch_lock = -1};
    int usage_error = parse_arguments(argc, argv, &args);
    if (usage_error != 0)
        return usage_error;
    umask(077);
    hac_heap_keep(HEAP_KEPT);
    hac_log_init("hacd", HAC_LOG_INFO);
    hac_log_to_journal();
    options.private_daemon = args.private_daemon;
    hac_status status = hide_memory(&args, &err);
    if (status == HAC_OK)
        status = hac_process_limits_raise(&err);
    if (status == HAC_OK)
        status = find_directories(&args, &options, &err);
    if (status == HAC_OK)
        status = check_named(&args, &err);
    if (status == HAC_OK && args.check_config)
        return check_config(&options);
    hac_server_hold_signals();
    if (status == HAC_OK)
        status = find_listener(&args, &options, &err);
    if (status == HAC_OK)
        status = make_directory(options.state_directory, &err);
    if (status == HAC_OK)
        status = make_directory(options.cache_directory, &err);
    if (status == HAC_OK)
        status = make_scratch(&options, &err);
    if (status != HAC_OK) {
        hac_log_record(HAC_LOG_ERROR, HAC_EVENT_FAILED, NULL, "%s", err.message);
        return hac_status_exit_code(status);
    }
    return hac_server_run(&options);
}
