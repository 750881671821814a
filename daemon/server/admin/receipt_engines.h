/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What receipts say of engines: whether a device's tasks ran OpenCL kernels, and of which style, or C code;
 * on whose cores; and why no kernels ran. A device's executor is a process of the host: C code that it runs
 * for a GPU or an FPGA runs on the host's cores, and is not the device's work. An executor reports for each
 * task how many kernels it launched.
 */
#ifndef SERVER_RECEIPT_ENGINES_H
#define SERVER_RECEIPT_ENGINES_H

#include "base/text.h"
#include "jobs/job.h"

/* What a device of the job's plan has done so far, in all of the job's plans. */
hac_device_use hac_receipt_use(const hacd_job *job, uint32_t plan_device);

/* Adds "engines": for each engine that ran, what it is, on which cores, its tasks and seconds. */
void hac_receipt_engines(const hacd_job *job, uint32_t plan_device, const hac_device_use *use, hac_text *t);

/* The same in words, a line for each engine. */
void hac_receipt_engines_text(const hacd_job *job, uint32_t plan_device, const hac_device_use *use,
                              hac_text *t);

/* Whether tasks of the job ran, but none by kernels; then says why, and what would change it, in one line
 * without a full stop. */
bool hac_receipt_why_no_kernels(const hacd_job *job, char *ret, size_t capacity);

#endif
