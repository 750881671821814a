/* SPDX-License-Identifier: Apache-2.0 */
/* Device nodes that are there and that hacd, and so its executors, may not open. A driver does not report
 * such a device, or reports it as absent. The errno of the node says why:
 *
 *   EACCES  owner, group and mode of the node: hacd's user is not in its group.
 *   EPERM   the device policy of hacd's cgroup: DeviceAllow= of the unit, or that of a container.
 *
 * The check is access(2), which asks for both and opens nothing: a GPU that sleeps stays asleep, and hacd
 * does not wait. */
#ifndef RESOURCES_DEVICE_NODES_H
#define RESOURCES_DEVICE_NODES_H

#include <stdbool.h>

/* One node that may not be opened. The texts are valid during the call. */
typedef void (*hac_device_node_report)(void *context, const char *path, const char *why, const char *hint);

/* Reports the denied nodes of known kinds of accelerators below `dev` ("/dev"), at most 16. `private_daemon`:
 * the hints are for the user whose daemon it is, not for a unit. */
void hac_device_nodes_denied(const char *dev, bool private_daemon, hac_device_node_report report,
                             void *context);

/* What to do about a node that access(2) refused with `reason` (errno). `path` is below `dev`; `group` is the
 * node's. Writes at most `size` bytes. */
void hac_device_node_hint(const char *path, int reason, const char *group, bool private_daemon, char *ret,
                          unsigned size);

#endif
