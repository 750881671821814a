/* SPDX-License-Identifier: Apache-2.0 */
#include "base/landlock.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/failpoint.h"

#define CREATE_RULESET_VERSION 1u /* linux/landlock.h, which an older build machine does not have */

int hac_landlock_version(void)
{
    long version = HAC_FAILPOINT("landlock.version", -1,
                                 syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION));
    return version > 0 ? (int)version : 0;
}
