/* SPDX-License-Identifier: Apache-2.0 */
#include "device_nodes.h"

#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REPORTS = 16, GROUP_TEXT = 64 };

/* Nodes that drivers open, with the drop-in of systemd/hacd.service.d that allows them; NULL: the unit itself
 * does. */
static const struct node_kind {
    const char *pattern, *drop_in;
} kinds[] = {
    {"/dri/renderD*", NULL},          {"/kfd", "rocm.conf"},          {"/nvidiactl", "nvidia.conf"},
    {"/nvidia[0-9]*", "nvidia.conf"}, {"/nvidia-uvm", "nvidia.conf"}, {"/accel/accel[0-9]*", "intel.conf"},
    {"/intel-fpga*", "intel.conf"},   {"/dfl-*", "intel.conf"},       {"/xfpga/*", "xilinx.conf"},
};

static const char *drop_in_of(const char *path)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char pattern[64];
        snprintf(pattern, sizeof pattern, "*%s", kinds[i].pattern);
        if (kinds[i].drop_in != NULL && fnmatch(pattern, path, 0) == 0)
            return kinds[i].drop_in;
    }
    return NULL;
}

void hac_device_node_hint(const char *path, int reason, const char *group, bool private_daemon, char *ret,
                          unsigned size)
{
    const char *drop_in = drop_in_of(path);
    if (reason == EACCES && private_daemon)
        snprintf(ret, size, "add your user to the group %s, and log in again", group);
    else if (reason == EACCES)
        snprintf(ret, size,
                 "hacd's user is not in the group %s: `systemctl edit hacd`, SupplementaryGroups=%s under "
                 "[Service]; in a "
                 "container, a supplementary group",
                 group, group);
    else if (private_daemon)
        snprintf(ret, size,
                 "the device policy of the session or container denies it: pass the device into it");
    else if (drop_in != NULL)
        snprintf(ret, size,
                 "the unit's device policy denies it: copy share/hac/systemd/%s to "
                 "/etc/systemd/system/hacd.service.d, then "
                 "`systemctl daemon-reload; systemctl restart hacd`; in a container, pass the device into it",
                 drop_in);
    else
        snprintf(ret, size, "the device policy of the unit or container denies it: DeviceAllow=%s rw", path);
}

static void group_name(const char *path, char ret[GROUP_TEXT])
{
    struct stat st;
    const struct group *group = NULL;
    if (stat(path, &st) != 0) {
        snprintf(ret, GROUP_TEXT, "of %.50s", path);
        return;
    }
    group = getgrgid(st.st_gid);
    if (group != NULL)
        snprintf(ret, GROUP_TEXT, "%.60s", group->gr_name);
    else
        snprintf(ret, GROUP_TEXT, "%u", (unsigned)st.st_gid);
}

void hac_device_nodes_denied(const char *dev, bool private_daemon, hac_device_node_report report,
                             void *context)
{
    unsigned reported = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char pattern[PATH_MAX];
        glob_t found = {0};
        if ((size_t)snprintf(pattern, sizeof pattern, "%s%s", dev, kinds[i].pattern) < sizeof pattern &&
            glob(pattern, 0, NULL, &found) == 0) {
            for (size_t j = 0; j < found.gl_pathc && reported < REPORTS; j++) {
                const char *path = found.gl_pathv[j];
                char group[GROUP_TEXT], hint[512];
                if (access(path, R_OK | W_OK) == 0 || (errno != EACCES && errno != EPERM))
                    continue;
                int reason = errno;
                group_name(path, group);
                hac_device_node_hint(path, reason, group, private_daemon, hint, sizeof hint);
                report(context, path, strerror(reason), hint);
                reported++;
            }
        }
        globfree(&found);
    }
}
