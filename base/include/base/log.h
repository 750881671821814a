/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's and the executors' log: one line a record on standard error, "LEVEL component: message", with
 * the journal's "<N>" prefix when standard error is the journal. Never blocks: a line that cannot be written
 * at once is dropped and counted. Libraries do not log.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/error.h"

typedef enum hac_log_level { HAC_LOG_ERROR = 0, HAC_LOG_WARNING, HAC_LOG_INFO, HAC_LOG_DEBUG } hac_log_level;

/* Called once at start, before threads: component name ("hacd", "hac-executor cpu.0"), least level shown. */
void hac_log_init(const char *component, hac_log_level level);
void hac_log_set_level(hac_log_level level);
void hac_log(hac_log_level level, const char *fmt, ...) HAC_PRINTF(2, 3);

#endif
