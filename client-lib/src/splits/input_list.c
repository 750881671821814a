/* SPDX-License-Identifier: Apache-2.0 */
#include "input_list.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/format.h"
#include "base/packing.h"
#include "base/text.h"

void hac_input_list_clear(hac_input_list *inputs)
{
    hac_input_free(hac_steal_ptr(inputs->input));
    hac_close(hac_steal_fd(&inputs->fd));
}

hac_status hac_input_list_next(hac_input_list *inputs, hac_error *err)
{
    const hac_splits *splits = inputs->splits;
    const char *name = NULL;
    if (inputs->ahead) {
        inputs->ahead = false;
        return HAC_OK;
    }
    hac_input_list_clear(inputs);
    if (inputs->next == splits->n_inputs)
        return HAC_NOT_FOUND;
    size_t index = inputs->next++;
    hac_error local = HAC_ERROR_NONE; /* *err may contain an old message */
    hac_status status = splits->open(splits->context, index, &inputs->fd, &name, &local);
    if (status != HAC_OK) {
        inputs->fd = -1;
        if (local.message[0] == '\0')
            (void)hac_fail(&local, status, "input %zu cannot be opened", index + 1);
        return hac_fail(err, status, "%s", local.message);
    }
    status = hac_path_keys(inputs->options, name, &inputs->keys, err);
    if (status != HAC_OK)
        return status;
    bool named = name != NULL && hac_is_packed_name(name);
    bool by_name = splits->uncompressed == 2 ||
                   (splits->uncompressed == 0 && hac_formats[inputs->options->input_format].any_bytes);
    bool raw = by_name ? !named : splits->uncompressed != 0;
    return hac_input_open(inputs->fd, name, raw, inputs->options, &inputs->input, err);
}

hac_status hac_input_list_rule(const hac_query_options *options, uint64_t set_bytes, hac_record_rule *ret,
                               hac_error *err)
{
    hac_record_rule rule = {.format = options->input_format,
                            .big_endian = options->input_options.big_endian != 0,
                            .set_bytes = set_bytes};
    hac_status status = HAC_OK;
    if (rule.format == HAC_INPUT_FIXED)
        status = hac_record_bytes(options->schema, &rule.record_bytes, err);
    if (status == HAC_OK)
        *ret = rule;
    return status;
}

hac_status hac_fail_ragged(const char *name, uint64_t bytes, const hac_record_rule *rule, hac_error *err)
{
    return hac_fail(err, HAC_FAILED,
                    "%s: %" PRIu64 " bytes are no whole number of records of %" PRIu64 " bytes", name, bytes,
                    rule->record_bytes);
}
