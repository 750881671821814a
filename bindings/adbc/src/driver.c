/* SPDX-License-Identifier: Apache-2.0 */
/* The entry of the driver: fills in the table of functions that a driver manager calls. What is not in the
 * table (transactions, Substrait, partitions, statistics, options that are no texts) stays NULL, and the
 * manager answers that it is not implemented. */
#include <string.h>

#include "driver.h"

HAC_ADBC_API AdbcStatusCode AdbcDriverInit(int version, void *raw_driver, struct AdbcError *error);
HAC_ADBC_API AdbcStatusCode AdbcDriverHacInit(int version, void *raw_driver, struct AdbcError *error);

static AdbcStatusCode release_driver(struct AdbcDriver *driver, struct AdbcError *error)
{
    (void)driver;
    (void)error;
    return ADBC_STATUS_OK;
}

AdbcStatusCode AdbcDriverInit(int version, void *raw_driver, struct AdbcError *error)
{
    struct AdbcDriver *driver = raw_driver;
    if (version != ADBC_VERSION_1_0_0 && version != ADBC_VERSION_1_1_0)
        return hac_adbc_refuse(error, ADBC_STATUS_NOT_IMPLEMENTED,
                               "this driver has version 1.0 and 1.1 of ADBC, not %d", version);
    bool has_1_1 = version == ADBC_VERSION_1_1_0;
    memset(driver, 0, has_1_1 ? ADBC_DRIVER_1_1_0_SIZE : ADBC_DRIVER_1_0_0_SIZE);
    driver->release = release_driver;
    hac_adbc_fill_connection(driver, has_1_1);
    hac_adbc_fill_statement(driver, has_1_1);
    hac_adbc_fill_objects(driver);
    if (has_1_1) {
        driver->ErrorGetDetailCount = hac_adbc_error_detail_count;
        driver->ErrorGetDetail = hac_adbc_error_detail;
    }
    return ADBC_STATUS_OK;
}

/* The name that a manager derives from that of the library. */
AdbcStatusCode AdbcDriverHacInit(int version, void *raw_driver, struct AdbcError *error)
{
    return AdbcDriverInit(version, raw_driver, error);
}
