/* SPDX-License-Identifier: Apache-2.0 */
/* What an executor or a builder gets at its start: its environment, and its first message. */
#ifndef SERVER_CHILD_SETUP_H
#define SERVER_CHILD_SETUP_H

#include "loop/child.h"
#include "resources/device.h"

/* Sends the Setup message, which tells a child which device it serves. `steps_fd`: where an executor counts
 * its steps (task_watch.h); -1: nowhere. */
void hac_child_setup_send(hac_child *child, const hac_server_device *device, const char *program_directory,
                          const char *scratch_directory, int steps_fd);

/* Builds the environment of a child: hacd's variables that pass the allow-list, then the device's own
 * (`config` NULL: none). Returns a NULL-terminated, malloc'ed array; the caller frees the array, not the
 * strings. */
HAC_MUST_USE hac_status hac_child_setup_environment(const hac_device_config *config, char ***ret,
                                                    hac_error *err);

#endif
