/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs of hac_query_splits, opened one after another. */
#ifndef CLIENT_INPUT_LIST_H
#define CLIENT_INPUT_LIST_H

#include "files/path_columns.h"
#include "input/input.h"
#include "record_cut.h"

typedef struct hac_input_list {
    const hac_splits *splits;
    const hac_query_options *options;
    size_t next; /* index of the input to open next */
    int fd;      /* -1: no input is open */
    hac_input *input;
    hac_path_keys_text keys; /* folders of the input that have keys */
    bool ahead; /* `input` is already open, and the next call of hac_input_list_next returns it */
} hac_input_list;

/* Closes the current input and opens the next input. HAC_NOT_FOUND: there are no more inputs. */
HAC_MUST_USE hac_status hac_input_list_next(hac_input_list *inputs, hac_error *err);
void hac_input_list_clear(hac_input_list *inputs);
static inline bool hac_input_list_is_last(const hac_input_list *inputs)
{
    return inputs->next == inputs->splits->n_inputs;
}

/* Fills in the rule by which the inputs are cut into sets of `set_bytes`. HAC_INVALID: the options do not
 * define the records. */
HAC_MUST_USE hac_status hac_input_list_rule(const hac_query_options *options, uint64_t set_bytes,
                                            hac_record_rule *ret, hac_error *err);

/* Fails because the input ends within a record of fixed width. */
hac_status hac_fail_ragged(const char *name, uint64_t bytes, const hac_record_rule *rule, hac_error *err);

#endif
