/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ADBC 1.1: the structures of the standard that a driver needs, with the standard's own names and guard
 * (https://arrow.apache.org/adbc/). A driver manager loads the driver and calls the functions in AdbcDriver.
 * <hac/hac.h> has the Arrow structures.
 */
#ifndef ADBC
#define ADBC

#include <stddef.h>
#include <stdint.h>

#include <hac/hac.h>

typedef uint8_t AdbcStatusCode;

enum {
    ADBC_STATUS_OK = 0,
    ADBC_STATUS_UNKNOWN = 1,
    ADBC_STATUS_NOT_IMPLEMENTED = 2,
    ADBC_STATUS_NOT_FOUND = 3,
    ADBC_STATUS_INVALID_ARGUMENT = 5,
    ADBC_STATUS_INVALID_STATE = 6,
    ADBC_STATUS_INVALID_DATA = 7,
    ADBC_STATUS_INTERNAL = 9,
    ADBC_STATUS_IO = 10,
    ADBC_STATUS_CANCELLED = 11,
    ADBC_STATUS_UNAUTHORIZED = 14
};

#define ADBC_VERSION_1_0_0 1000000
#define ADBC_VERSION_1_1_0 1001000

/* AdbcError.vendor_code of a caller that knows AdbcError.private_data. */
#define ADBC_ERROR_VENDOR_CODE_PRIVATE_DATA INT32_MIN

/* Codes of ConnectionGetInfo. */
enum {
    ADBC_INFO_VENDOR_NAME = 0,
    ADBC_INFO_VENDOR_VERSION = 1,
    ADBC_INFO_VENDOR_SQL = 3,
    ADBC_INFO_VENDOR_SUBSTRAIT = 4,
    ADBC_INFO_DRIVER_NAME = 100,
    ADBC_INFO_DRIVER_VERSION = 101,
    ADBC_INFO_DRIVER_ADBC_VERSION = 103
};

/* Depths of ConnectionGetObjects. */
enum {
    ADBC_OBJECT_DEPTH_ALL = 0,
    ADBC_OBJECT_DEPTH_CATALOGS = 1,
    ADBC_OBJECT_DEPTH_DB_SCHEMAS = 2,
    ADBC_OBJECT_DEPTH_TABLES = 3
};

struct AdbcError {
    char *message;
    int32_t vendor_code;
    char sqlstate[5];
    void (*release)(struct AdbcError *error);
    void *private_data;                /* since 1.1 */
    struct AdbcDriver *private_driver; /* since 1.1 */
};

struct AdbcErrorDetail {
    const char *key;
    const uint8_t *value;
    size_t value_length;
};

struct AdbcDatabase {
    void *private_data;
    struct AdbcDriver *private_driver;
};

struct AdbcConnection {
    void *private_data;
    struct AdbcDriver *private_driver;
};

struct AdbcStatement {
    void *private_data;
    struct AdbcDriver *private_driver;
};

struct AdbcPartitions;

/* clang-format off */
struct AdbcDriver {
    void *private_data;
    void *private_manager;
    AdbcStatusCode (*release)(struct AdbcDriver *, struct AdbcError *);

    AdbcStatusCode (*DatabaseInit)(struct AdbcDatabase *, struct AdbcError *);
    AdbcStatusCode (*DatabaseNew)(struct AdbcDatabase *, struct AdbcError *);
    AdbcStatusCode (*DatabaseSetOption)(struct AdbcDatabase *, const char *, const char *, struct AdbcError *);
    AdbcStatusCode (*DatabaseRelease)(struct AdbcDatabase *, struct AdbcError *);

    AdbcStatusCode (*ConnectionCommit)(struct AdbcConnection *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetInfo)(struct AdbcConnection *, const uint32_t *, size_t, struct ArrowArrayStream *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetObjects)(struct AdbcConnection *, int, const char *, const char *, const char *, const char **, const char *, struct ArrowArrayStream *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetTableSchema)(struct AdbcConnection *, const char *, const char *, const char *, struct ArrowSchema *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetTableTypes)(struct AdbcConnection *, struct ArrowArrayStream *, struct AdbcError *);
    AdbcStatusCode (*ConnectionInit)(struct AdbcConnection *, struct AdbcDatabase *, struct AdbcError *);
    AdbcStatusCode (*ConnectionNew)(struct AdbcConnection *, struct AdbcError *);
    AdbcStatusCode (*ConnectionSetOption)(struct AdbcConnection *, const char *, const char *, struct AdbcError *);
    AdbcStatusCode (*ConnectionReadPartition)(struct AdbcConnection *, const uint8_t *, size_t, struct ArrowArrayStream *, struct AdbcError *);
    AdbcStatusCode (*ConnectionRelease)(struct AdbcConnection *, struct AdbcError *);
    AdbcStatusCode (*ConnectionRollback)(struct AdbcConnection *, struct AdbcError *);

    AdbcStatusCode (*StatementBind)(struct AdbcStatement *, struct ArrowArray *, struct ArrowSchema *, struct AdbcError *);
    AdbcStatusCode (*StatementBindStream)(struct AdbcStatement *, struct ArrowArrayStream *, struct AdbcError *);
    AdbcStatusCode (*StatementExecuteQuery)(struct AdbcStatement *, struct ArrowArrayStream *, int64_t *, struct AdbcError *);
    AdbcStatusCode (*StatementExecutePartitions)(struct AdbcStatement *, struct ArrowSchema *, struct AdbcPartitions *, int64_t *, struct AdbcError *);
    AdbcStatusCode (*StatementGetParameterSchema)(struct AdbcStatement *, struct ArrowSchema *, struct AdbcError *);
    AdbcStatusCode (*StatementNew)(struct AdbcConnection *, struct AdbcStatement *, struct AdbcError *);
    AdbcStatusCode (*StatementPrepare)(struct AdbcStatement *, struct AdbcError *);
    AdbcStatusCode (*StatementRelease)(struct AdbcStatement *, struct AdbcError *);
    AdbcStatusCode (*StatementSetOption)(struct AdbcStatement *, const char *, const char *, struct AdbcError *);
    AdbcStatusCode (*StatementSetSqlQuery)(struct AdbcStatement *, const char *, struct AdbcError *);
    AdbcStatusCode (*StatementSetSubstraitPlan)(struct AdbcStatement *, const uint8_t *, size_t, struct AdbcError *);

    /* since 1.1 */
    int (*ErrorGetDetailCount)(const struct AdbcError *);
    struct AdbcErrorDetail (*ErrorGetDetail)(const struct AdbcError *, int);
    const struct AdbcError *(*ErrorFromArrayStream)(struct ArrowArrayStream *, AdbcStatusCode *);

    AdbcStatusCode (*DatabaseGetOption)(struct AdbcDatabase *, const char *, char *, size_t *, struct AdbcError *);
    AdbcStatusCode (*DatabaseGetOptionBytes)(struct AdbcDatabase *, const char *, uint8_t *, size_t *, struct AdbcError *);
    AdbcStatusCode (*DatabaseGetOptionDouble)(struct AdbcDatabase *, const char *, double *, struct AdbcError *);
    AdbcStatusCode (*DatabaseGetOptionInt)(struct AdbcDatabase *, const char *, int64_t *, struct AdbcError *);
    AdbcStatusCode (*DatabaseSetOptionBytes)(struct AdbcDatabase *, const char *, const uint8_t *, size_t, struct AdbcError *);
    AdbcStatusCode (*DatabaseSetOptionDouble)(struct AdbcDatabase *, const char *, double, struct AdbcError *);
    AdbcStatusCode (*DatabaseSetOptionInt)(struct AdbcDatabase *, const char *, int64_t, struct AdbcError *);

    AdbcStatusCode (*ConnectionCancel)(struct AdbcConnection *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetOption)(struct AdbcConnection *, const char *, char *, size_t *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetOptionBytes)(struct AdbcConnection *, const char *, uint8_t *, size_t *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetOptionDouble)(struct AdbcConnection *, const char *, double *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetOptionInt)(struct AdbcConnection *, const char *, int64_t *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetStatistics)(struct AdbcConnection *, const char *, const char *, const char *, char, struct ArrowArrayStream *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetStatisticNames)(struct AdbcConnection *, struct ArrowArrayStream *, struct AdbcError *);
    AdbcStatusCode (*ConnectionSetOptionBytes)(struct AdbcConnection *, const char *, const uint8_t *, size_t, struct AdbcError *);
    AdbcStatusCode (*ConnectionSetOptionDouble)(struct AdbcConnection *, const char *, double, struct AdbcError *);
    AdbcStatusCode (*ConnectionSetOptionInt)(struct AdbcConnection *, const char *, int64_t, struct AdbcError *);

    AdbcStatusCode (*StatementCancel)(struct AdbcStatement *, struct AdbcError *);
    AdbcStatusCode (*StatementExecuteSchema)(struct AdbcStatement *, struct ArrowSchema *, struct AdbcError *);
    AdbcStatusCode (*StatementGetOption)(struct AdbcStatement *, const char *, char *, size_t *, struct AdbcError *);
    AdbcStatusCode (*StatementGetOptionBytes)(struct AdbcStatement *, const char *, uint8_t *, size_t *, struct AdbcError *);
    AdbcStatusCode (*StatementGetOptionDouble)(struct AdbcStatement *, const char *, double *, struct AdbcError *);
    AdbcStatusCode (*StatementGetOptionInt)(struct AdbcStatement *, const char *, int64_t *, struct AdbcError *);
    AdbcStatusCode (*StatementSetOptionBytes)(struct AdbcStatement *, const char *, const uint8_t *, size_t, struct AdbcError *);
    AdbcStatusCode (*StatementSetOptionDouble)(struct AdbcStatement *, const char *, double, struct AdbcError *);
    AdbcStatusCode (*StatementSetOptionInt)(struct AdbcStatement *, const char *, int64_t, struct AdbcError *);
};
/* clang-format on */

#define ADBC_DRIVER_1_0_0_SIZE (offsetof(struct AdbcDriver, ErrorGetDetailCount))
#define ADBC_DRIVER_1_1_0_SIZE (sizeof(struct AdbcDriver))

#endif
