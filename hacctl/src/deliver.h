/* SPDX-License-Identifier: Apache-2.0 */
/* What a job leaves behind: its result, and the receipt and trace that were asked for. */
#ifndef HACCTL_DELIVER_H
#define HACCTL_DELIVER_H

#include "cli.h"
#include "output.h"

typedef struct hac_delivery {
    hac_output *result;  /* NULL: none wanted */
    hac_output *receipt; /* NULL: not asked for */
    hac_output *trace;
    const char *conversion; /* JSON for the receipt's field of that name; NULL: none */
} hac_delivery;

/* Opens --receipt and --trace, and with `result` the result's --output (standard output without one), so that
 * what cannot be written is known before there is work done. */
HAC_MUST_USE hac_status hac_delivery_open(hac_delivery *delivery, const hac_args *args, bool result,
                                          hac_error *err);
void hac_delivery_close(hac_delivery *delivery);

/* Writes all of it, of a job that is done; nothing gets its name before all is written. */
HAC_MUST_USE hac_status hac_deliver(hac_delivery *delivery, hac_cli *cli, const hac_job *job, hac_error *err);

/* With --detach: prints the job's id. A job whose id nobody has heard of is given up. */
HAC_MUST_USE hac_status hac_deliver_id(const hac_cli *cli, hac_job *job, hac_error *err);
/* Prints it, and no more: HAC_NOT_FOUND when the reader has gone. */
HAC_MUST_USE hac_status hac_print_id(const hac_cli *cli, uint64_t job, hac_error *err);
/* It could not be printed, and the job is given up: adds that to the message, or leaves quietly where the
 * reader has gone. */
hac_status hac_fail_id(uint64_t job, hac_status status, hac_error *err);

/* HAC_INVALID when --detach comes with an option that needs the job's end, when two outputs are one file, or
 * a receipt or trace would overwrite an input. `result`: there is one, without --output on standard output.
 */
HAC_MUST_USE hac_status hac_delivery_check(const hac_args *args, bool result, hac_error *err);
/* HAC_INVALID when what is written in the background would follow the job's id on standard output. */
HAC_MUST_USE hac_status hac_delivery_check_background(const hac_args *args, bool result, hac_error *err);

#endif
