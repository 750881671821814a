/* SPDX-License-Identifier: Apache-2.0 */
#include "created_by.h"

#include <string.h>
#include <strings.h>

#define VERSION    " version "
#define NUMBER_MAX 1000000
#define EVER       (NUMBER_MAX + 1u) /* as a major version: no version is known to be good */

/* Writers with known bugs. One row for each bug: the versions before that one have it. */
static const struct {
    const char *application;
    unsigned before[3];
    uint8_t doubts;
} writers[] = {
    /* The signed order for all types (PARQUET-251, PARQUET-686). */
    {"parquet-mr", {1, 10, 0}, HAC_PARQUET_DOUBT_UNSIGNED_BOUNDS},
    {"parquet-cpp", {1, 3, 0}, HAC_PARQUET_DOUBT_UNSIGNED_BOUNDS},
    /* A chunk's size without the header of its dictionary page (PARQUET-816). */
    {"parquet-mr", {1, 2, 9}, HAC_PARQUET_DOUBT_CHUNK_BYTES},
    /* 0 as the number of nulls of columns that were dictionaries in memory (ARROW-12513). Arrow's versions
     * before 1.0 call themselves parquet-cpp. */
    {"parquet-cpp", {EVER, 0, 0}, HAC_PARQUET_DOUBT_DICTIONARY_NULLS},
    {"parquet-cpp-arrow", {5, 0, 0}, HAC_PARQUET_DOUBT_DICTIONARY_NULLS},
    /* Without a version: a maximum of bytes that was cut and not incremented. */
    {"github.com/segmentio/parquet-go", {0, 0, 1}, HAC_PARQUET_DOUBT_BYTES_BOUNDS},
    /* Bounds of timestamps in another unit than the values (parquet-dotnet issue 769). */
    {"Parquet.Net", {EVER, 0, 0}, HAC_PARQUET_DOUBT_TIME_BOUNDS},
};

/* Reads the number at *at (0 if there is none) and skips it and a following dot. */
static unsigned take_number(const char **at)
{
    unsigned ret = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        ret = ret < NUMBER_MAX ? ret * 10 + (unsigned)(**at - '0') : ret;
    *at += **at == '.';
    return ret;
}

static bool written_before(const char *created_by, const char *application, const unsigned version[3])
{
    size_t bytes = strlen(application);
    if (strncasecmp(created_by, application, bytes) != 0)
        return false;
    const char *at = created_by + bytes;
    if (*at != '\0' && *at != ' ')
        return false; /* "parquet-cpp-arrow" is not parquet-cpp */
    at = strncmp(at, VERSION, strlen(VERSION)) == 0 ? at + strlen(VERSION) : "";
    for (int i = 0; i < 3; i++) {
        unsigned number = take_number(&at);
        if (number != version[i])
            return number < version[i];
    }
    return false;
}

uint8_t hac_parquet_doubts_about(const char *created_by)
{
    uint8_t ret = 0;
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (written_before(created_by, writers[i].application, writers[i].before))
            ret |= writers[i].doubts;
    return ret;
}

bool hac_parquet_is_signed(const hac_parquet_leaf *leaf)
{
    return leaf->type.kind != HAC_KIND_NONE && leaf->conversion != HAC_PARQUET_UNSIGNED &&
           leaf->physical != HAC_PARQUET_BYTE_ARRAY && leaf->physical != HAC_PARQUET_FIXED &&
           leaf->physical != HAC_PARQUET_INT96;
}

bool hac_parquet_doubtful_bounds(uint8_t doubts, const hac_parquet_leaf *leaf)
{
    bool bytes = leaf->physical == HAC_PARQUET_BYTE_ARRAY || leaf->physical == HAC_PARQUET_FIXED;
    return ((doubts & HAC_PARQUET_DOUBT_UNSIGNED_BOUNDS) != 0 && !hac_parquet_is_signed(leaf)) ||
           ((doubts & HAC_PARQUET_DOUBT_BYTES_BOUNDS) != 0 && bytes) ||
           ((doubts & HAC_PARQUET_DOUBT_TIME_BOUNDS) != 0 && leaf->type.kind == HAC_KIND_TIMESTAMP);
}
