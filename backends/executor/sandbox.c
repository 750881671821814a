/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/sockios.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/landlock.h"
#include "landlock.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE              65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

#define OOM_SCORE_ABOVE_HACD 500
#define OOM_SCORE_MAX        1000

HAC_DEFINE_CLEANUP(scmp_filter_ctx, seccomp_release)

static bool is_off(void)
{
#ifdef HAC_SANDBOX_CAN_BE_OFF
    const char *setting = getenv("HAC_SANDBOX");
    return setting != NULL && strcmp(setting, "off") == 0;
#else
    return false;
#endif
}

/* If memory runs out, the kernel should end this process and not hacd, so its score is hacd's plus this much.
 * If the score cannot be written, there is no such choice. */
static void raise_oom_score(void)
{
    hac_autofclose FILE *file = fopen("/proc/self/oom_score_adj", "r+e");
    int score = 0;
    if (file == NULL || fscanf(file, "%d", &score) != 1)
        return;
    score += OOM_SCORE_ABOVE_HACD;
    rewind(file);
    fprintf(file, "%d", score < OOM_SCORE_MAX ? score : OOM_SCORE_MAX);
}

hac_status hac_sandbox_early(hac_error *err)
{
    struct rlimit none = {0, 0};
    pid_t parent = getppid();
    raise_oom_score(); /* while the process is dumpable: later its files in /proc belong to root */
    if (!is_off() && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
        return hac_fail_errno(err, HAC_IO, errno, "prctl(PR_SET_DUMPABLE)");
    if (setrlimit(RLIMIT_CORE, &none) != 0)
        return hac_fail_errno(err, HAC_IO, errno, "setrlimit(RLIMIT_CORE)");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return hac_fail_errno(err, HAC_IO, errno, "prctl(PR_SET_NO_NEW_PRIVS)");
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)
        return hac_fail_errno(err, HAC_IO, errno, "prctl(PR_SET_PDEATHSIG)");
    /* a parent that died before this call sends no signal; the end of its socket is noticed all the same */
    if (getppid() != parent)
        return hac_fail(err, HAC_NOT_FOUND, "hacd has closed the connection");
    return HAC_OK;
}

/* Files ------------------------------------------------------------------------------------------- */

/* What every driver needs. Only these files of /proc, not those of other processes. Globs are for devices. */
/* clang-format off */
static const char *const system_readable[] = {
    "/usr", "/lib", "/lib64", "/lib32", "/opt", "/etc/OpenCL", "/etc/ld.so.*", "/etc/localtime",
    "/etc/nvidia", "/etc/drirc", "/etc/vulkan", "/etc/glvnd", "/etc/alternatives", "/sys", "/proc/self",
    "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/devices", "/proc/modules", "/proc/version",
    "/proc/filesystems", "/proc/driver", "/proc/sys/vm", "/proc/sys/kernel/random", "/run/opengl-driver",
    "/nix/store", "/var/lib/dkms", NULL,
};
/* clang-format on */

/* clang-format off */
static const char *const system_devices[] = {
    "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/dri", "/dev/nvidia*", "/dev/kfd",
    "/dev/mali*", "/dev/accel", "/dev/xfpga", "/dev/xclmgmt*", "/dev/intel-fpga*", NULL,
};
/* clang-format on */

static bool add_path(int ruleset, const char *path, uint64_t access)
{
    hac_autoclose int fd = open(path, O_PATH | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    if (!S_ISDIR(st.st_mode))
        access &= LL_FILE;
    struct ll_path_beneath rule = {.allowed_access = access, .parent_fd = fd};
    return syscall(SYS_landlock_add_rule, ruleset, LL_RULE_PATH_BENEATH, &rule, 0) == 0;
}

static bool add_paths(int ruleset, const char *const *paths, uint64_t access)
{
    for (; *paths != NULL; paths++) {
        if (strpbrk(*paths, "*?[") == NULL) {
            if (!add_path(ruleset, *paths, access))
                return false;
            continue;
        }
        glob_t found = {0};
        bool added = true;
        if (glob(*paths, 0, NULL, &found) == 0)
            for (size_t i = 0; i < found.gl_pathc && added; i++)
                added = add_path(ruleset, found.gl_pathv[i], access);
        globfree(&found);
        if (!added)
            return false;
    }
    return true;
}

/* Directories that the user named for libraries and drivers: "a:b", or one. */
static bool add_from_environment(int ruleset, const char *name, uint64_t access)
{
    const char *value = getenv(name);
    hac_autofree char *copy = value != NULL ? strdup(value) : NULL;
    char *rest = NULL;
    if (copy == NULL)
        return true;
    for (char *path = strtok_r(copy, ":", &rest); path != NULL; path = strtok_r(NULL, ":", &rest))
        if (path[0] == '/' && path[1] != '\0' && !add_path(ruleset, path, access))
            return false;
    return true;
}

static int make_ruleset(int abi)
{
    struct ll_ruleset_attr attr = {.handled_access_fs = LL_ALL_1};
    size_t bytes = sizeof attr.handled_access_fs;
    if (abi >= 2)
        attr.handled_access_fs |= LL_REFER;
    if (abi >= 3)
        attr.handled_access_fs |= LL_TRUNCATE;
    if (abi >= 4) {
        attr.handled_access_net = LL_NET_BIND_TCP | LL_NET_CONNECT_TCP;
        bytes += sizeof attr.handled_access_net;
    }
    if (abi >= 6) {
        attr.scoped = LL_SCOPE_ABSTRACT_UNIX_SOCKET | LL_SCOPE_SIGNAL;
        bytes += sizeof attr.scoped;
    }
    /* The call filter decides about running files: the builder's driver runs a linker. */
    attr.handled_access_fs &= ~(uint64_t)LL_EXECUTE;
    return (int)syscall(SYS_landlock_create_ruleset, &attr, bytes, 0);
}

hac_status hac_sandbox_files(const char *const *readable, const char *const *writable,
                             const char **ret_missing, hac_error *err)
{
    *ret_missing = NULL;
    if (is_off())
        return HAC_OK;
    int abi = hac_landlock_version();
    if (abi < 1) {
        *ret_missing = "Landlock (file access rules)";
        return HAC_OK;
    }
    hac_autoclose int ruleset = make_ruleset(abi);
    uint64_t read_write = LL_READ | LL_WRITE | (abi >= 2 ? LL_REFER : 0) | (abi >= 3 ? LL_TRUNCATE : 0);
    uint64_t device = LL_READ | LL_WRITE_FILE;
    if (ruleset < 0 || !add_paths(ruleset, system_readable, LL_READ) ||
        !add_paths(ruleset, system_devices, device) ||
        !add_from_environment(ruleset, "LD_LIBRARY_PATH", LL_READ) ||
        !add_from_environment(ruleset, "OCL_ICD_VENDORS", LL_READ) ||
        !add_from_environment(ruleset, "OCL_ICD_FILENAMES", LL_READ) ||
        !add_paths(ruleset, readable, LL_READ) || !add_paths(ruleset, writable, read_write))
        return hac_fail_errno(err, HAC_IO, errno, "cannot make the file access rules");
    if (syscall(SYS_landlock_restrict_self, ruleset, 0) != 0)
        return hac_fail_errno(err, HAC_IO, errno, "landlock_restrict_self");
    return HAC_OK;
}

/* System calls ------------------------------------------------------------------------------------ */

/* Calls that an executor never needs, whatever their arguments. */
/* clang-format off */
static const char *const denied_calls[] = {
    /* other programs */
    "execve", "execveat", "fork", "vfork",
    /* the network, and other processes' sockets */
    "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4",
    /* other processes */
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp",
    "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "tkill", "setrlimit", "sched_setaffinity",
    "sched_setscheduler", "sched_setparam", "sched_setattr", "setpriority", "ioprio_set", "migrate_pages",
    /* identity and location of the process */
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "setfsuid",
    "setfsgid", "capset", "setpgid", "setsid", "setns", "unshare", "chroot", "pivot_root", "personality",
    "sethostname", "setdomainname",
    /* file systems */
    "mount", "umount2", "move_mount", "open_tree", "fsopen", "fsmount", "fsconfig", "fspick",
    "mount_setattr", "swapon", "swapoff", "quotactl", "quotactl_fd", "fanotify_init", "open_by_handle_at",
    "name_to_handle_at", "mknod", "mknodat", "chmod", "fchmodat", "chown", "lchown", "fchownat", "fchown",
    /* the kernel */
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register",
    "keyctl", "add_key", "request_key", "kexec_load", "kexec_file_load", "init_module", "finit_module",
    "delete_module", "iopl", "ioperm", "reboot", "acct", "syslog", "settimeofday", "clock_settime",
    "adjtimex", "clock_adjtime", "lookup_dcookie", "vhangup", "modify_ldt", "mq_open", "shmget", "shmat",
    "msgget", "semget",
};
/* clang-format on */

static int deny(scmp_filter_ctx filter, const char *name)
{
    int call = seccomp_syscall_resolve_name(name);
    /* the call is not of this architecture, or newer than the library */
    if (call == __NR_SCMP_ERROR || call < 0)
        return 0;
    return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), call, 0, NULL);
}

/* The kernel reads these arguments as 32 bits, so a comparison of all 64 would let a number with high bits
 * set pass. */
#define INT_EQ(argument, value)                                                                              \
    {                                                                                                        \
        argument, SCMP_CMP_MASKED_EQ, UINT32_MAX, value                                                      \
    }

/* Calls that are refused for some arguments. */
static int deny_by_argument(scmp_filter_ctx filter)
{
    const scmp_datum_t self = (scmp_datum_t)getpid();
    const struct {
        int call;
        struct scmp_arg_cmp when;
    } rules[] = {
        /* new threads are allowed, new processes are not */
        {SCMP_SYS(clone), {0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0}},
        /* abort() and raise() signal the process itself */
        {SCMP_SYS(kill), {0, SCMP_CMP_NE, self, 0}},
        {SCMP_SYS(tgkill), {0, SCMP_CMP_NE, self, 0}},
        {SCMP_SYS(rt_sigqueueinfo), {0, SCMP_CMP_NE, self, 0}},
        {SCMP_SYS(rt_tgsigqueueinfo), {0, SCMP_CMP_NE, self, 0}},
        /* The kernel signals the owner of a descriptor: any process of the same uid, with any signal. */
        {SCMP_SYS(fcntl), INT_EQ(1, F_SETOWN)},
        {SCMP_SYS(fcntl), INT_EQ(1, F_SETOWN_EX)},
        {SCMP_SYS(fcntl), INT_EQ(1, F_SETSIG)},
        {SCMP_SYS(ioctl), INT_EQ(1, FIOSETOWN)},
        {SCMP_SYS(ioctl), INT_EQ(1, SIOCSPGRP)},
        /* limits may be read; a set would affect every process of the same user */
        {SCMP_SYS(prlimit64), {2, SCMP_CMP_NE, 0, 0}},
        {SCMP_SYS(prctl), INT_EQ(0, PR_SET_DUMPABLE)},
        {SCMP_SYS(prctl), INT_EQ(0, PR_SET_PTRACER)},
        {SCMP_SYS(prctl), INT_EQ(0, PR_SET_PDEATHSIG)},
        /* typing into a terminal */
        {SCMP_SYS(ioctl), INT_EQ(1, TIOCSTI)},
    };
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof rules / sizeof *rules; i++)
        r = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), rules[i].call, 1, &rules[i].when);
    /* clone3 hides its flags in memory; the C library falls back to clone */
    return r != 0 ? r : seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0, NULL);
}

static int load_filter(void)
{
    hac_cleanup(seccomp_release_cleanup) scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (filter == NULL)
        return -ENOMEM;
    /* also for the driver's threads */
    int r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    for (size_t i = 0; r == 0 && i < sizeof denied_calls / sizeof *denied_calls; i++)
        r = deny(filter, denied_calls[i]);
    if (r == 0)
        r = deny_by_argument(filter);
    return r != 0 ? r : seccomp_load(filter);
}

hac_status hac_sandbox_calls(bool jit, const char **ret_missing, hac_error *err)
{
    *ret_missing = NULL;
    if (is_off())
        return HAC_OK;
    if (!jit && prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
        *ret_missing = "write-xor-execute (PR_SET_MDWE)";
    int r = load_filter();
    if (r != 0)
        return hac_fail_errno(err, HAC_IO, -r, "cannot load the system call filter");
    return HAC_OK;
}
