/* SPDX-License-Identifier: Apache-2.0 */
#include "created_by.h"

#include <string.h>
#include <strings.h>

#define VERSION     " version "
#define NUMBER_MOST 1000000

/* The number at *at, 0 if there is none; goes on behind it and a dot. */
static unsigned take_number(const char **at)
{
    unsigned ret = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        ret = ret < NUMBER_MOST ? ret * 10 + (unsigned)(**at - '0') : ret;
    *at += **at == '.';
    return ret;
}

bool hac_parquet_written_before(const char *created_by, const char *application, unsigned major,
                                unsigned minor, unsigned patch)
{
    size_t bytes = strlen(application);
    if (strncasecmp(created_by, application, bytes) != 0)
        return false;
    const char *at = created_by + bytes;
    if (*at != '\0' && *at != ' ')
        return false; /* "parquet-cpp-arrow" is not parquet-cpp */
    at = strncmp(at, VERSION, strlen(VERSION)) == 0 ? at + strlen(VERSION) : "";
    const unsigned wanted[] = {major, minor, patch};
    for (int i = 0; i < 3; i++) {
        unsigned number = take_number(&at);
        if (number != wanted[i])
            return number < wanted[i];
    }
    return false;
}
