/* SPDX-License-Identifier: Apache-2.0 */
/* Denied device nodes: what an ordinary user may not open is reported with its group; the hint follows the
 * errno. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/test_support.h"
#include "device_nodes.h"

#define NOBODY 65534

static void test_hints(void **state)
{
    (void)state;
    char hint[512];
    hac_device_node_hint("/dev/kfd", EPERM, "render", false, hint, sizeof hint);
    assert_non_null(strstr(hint, "hac/systemd/rocm.conf"));
    hac_device_node_hint("/dev/nvidia0", EPERM, "root", false, hint, sizeof hint);
    assert_non_null(strstr(hint, "nvidia.conf"));
    hac_device_node_hint("/dev/xfpga/icap.u256", EPERM, "root", false, hint, sizeof hint);
    assert_non_null(strstr(hint, "xilinx.conf"));
    hac_device_node_hint("/dev/intel-fpga-port.0", EPERM, "root", false, hint, sizeof hint);
    assert_non_null(strstr(hint, "intel.conf"));
    hac_device_node_hint("/dev/dri/renderD128", EPERM, "render", false, hint, sizeof hint);
    assert_non_null(strstr(hint, "DeviceAllow=/dev/dri/renderD128 rw"));
    hac_device_node_hint("/dev/kfd", EACCES, "render", false, hint, sizeof hint);
    assert_non_null(strstr(hint, "SupplementaryGroups=render"));
    hac_device_node_hint("/dev/kfd", EACCES, "render", true, hint, sizeof hint);
    assert_non_null(strstr(hint, "add your user to the group render"));
    hac_device_node_hint("/dev/kfd", EPERM, "render", true, hint, sizeof hint);
    assert_null(strstr(hint, "rocm.conf")); /* a private daemon has no unit */
}

typedef struct seen {
    unsigned count;
    char paths[8][256], hint[512];
} seen;

static void see(void *context, const char *path, const char *why, const char *hint)
{
    seen *s = context;
    assert_string_equal(why, strerror(EACCES));
    assert_true(s->count < 8);
    snprintf(s->paths[s->count++], sizeof s->paths[0], "%s", path);
    snprintf(s->hint, sizeof s->hint, "%s", hint);
}

static void make_node(const char *dev, const char *name, mode_t mode)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dev, name);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(chmod(path, mode), 0);
}

/* As NOBODY, who is denied kfd and renderD128, and not nvidiactl. Returns the number of the first
 * wrong thing. */
static int look(const char *dev)
{
    seen s = {0};
    char kfd[256], render[256];
    snprintf(kfd, sizeof kfd, "%s/kfd", dev);
    snprintf(render, sizeof render, "%s/dri/renderD128", dev);
    if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        return 1;
    hac_device_nodes_denied(dev, false, see, &s);
    if (s.count != 2)
        return 2;
    return strcmp(s.paths[0], render) != 0  ? 3
           : strcmp(s.paths[1], kfd) != 0   ? 4
           : strstr(s.hint, "root") == NULL ? 5
                                            : 0;
}

static void test_denied(void **state)
{
    (void)state;
    if (getuid() != 0)
        skip();
    char dev[] = "/tmp/hac-nodes.XXXXXX", folder[256], remove[300];
    assert_non_null(mkdtemp(dev));
    assert_int_equal(chmod(dev, 0755), 0);
    snprintf(folder, sizeof folder, "%s/dri", dev);
    assert_int_equal(mkdir(folder, 0755), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    make_node(dev, "dri/renderD128", 0660);
    make_node(dev, "dri/card0", 0660); /* drivers do without it */
    make_node(dev, "kfd", 0660);
    make_node(dev, "nvidiactl", 0666);
    make_node(dev, "sda", 0600);
    pid_t child = fork();
    if (child == 0)
        _exit(look(dev));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    snprintf(remove, sizeof remove, "rm -r %s", dev);
    assert_int_equal(system(remove), 0);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hints),
        cmocka_unit_test(test_denied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
