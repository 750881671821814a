/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka with the headers it wants before it. */
#ifndef TEST_CMOCKA_H
#define TEST_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
