/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock, the kernel's file access rules for unprivileged processes (landlock(7)). */
#ifndef BASE_LANDLOCK_H
#define BASE_LANDLOCK_H

/* The version of the kernel's interface (ABI), from 1; 0: the kernel has no Landlock, or it is turned off. */
int hac_landlock_version(void);

#endif
