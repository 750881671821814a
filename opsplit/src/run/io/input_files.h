/* SPDX-License-Identifier: Apache-2.0 */
/* Files of an input, and the query that reads one. */
#ifndef OPSPLIT_RUN_INPUT_FILES_H
#define OPSPLIT_RUN_INPUT_FILES_H

#include <sys/stat.h>

#include "run/state/run_types.h"

/* Opens a file to read; waits for the writer of a FIFO. HAC_CANCELLED: the run is given up. */
HAC_MUST_USE hac_status hac_run_open_file(const hac_logic_run_state *run, const char *path, int *ret_fd,
                                          struct stat *ret_stat, hac_error *err);
/* The options of the query that reads a file of the input. *ret_by_client: libhac has to read the file,
 * because it is compressed or a JSON document. */
HAC_MUST_USE hac_status hac_run_query_options(const hac_logic_run_state *run, const hac_logic_input *input,
                                              const char *path, hac_query_options *ret, bool *ret_by_client,
                                              hac_error *err);
/* Whether ranks can read parts of a regular file with these options. */
bool hac_run_is_apart(const hac_logic_input *input, const hac_query_options *options);

#endif
