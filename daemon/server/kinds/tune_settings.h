/* SPDX-License-Identifier: Apache-2.0 */
/* Which settings of a device `tune` compares: for one subject after the other, the present settings and those
 * that differ from them in this subject only. */
#ifndef SERVER_TUNE_SETTINGS_H
#define SERVER_TUNE_SETTINGS_H

#include "resources/device.h"

typedef enum hac_tune_subject {
    HAC_TUNE_THREADS = 0, /* of a CPU device: number of threads, and on which cores they run */
    HAC_TUNE_STYLE,       /* vector (block) or scalar (simt) kernels */
    HAC_TUNE_SIZES,       /* block style: items of a block; lock-step style: work-items of a work-group */
    HAC_TUNE_SUBJECTS
} hac_tune_subject;

/* The candidates, at most `capacity`; the first one is the present settings. Settings that the profile
 * states, or that an image was made for, do not change. Settings that pin the same threads to equal cores are
 * listed once. */
size_t hac_tune_list(const hac_server_device *device, hac_tune_subject subject, hac_device_tuning *ret,
                     size_t capacity);

/* "threads and placement", "kernel style", "block items" or "work group". */
const char *hac_tune_subject_name(const hac_server_device *device, hac_tune_subject subject);

/* The value of a setting in a subject: "2 threads, compact", "simt", "65536", "auto". */
void hac_tune_describe(const hac_device_tuning *settings, hac_tune_subject subject, char *ret,
                       size_t capacity);

#endif
