/* SPDX-License-Identifier: Apache-2.0 */
#include "sort.h"

#include <inttypes.h>
#include <string.h>

#include "base/type.h"
#include "connection/options.h"
#include "jobs/job_input.h"

hac_status hac_sort_options_read(const hac_sort_options *options, hac_sort_options *ret, hac_error *err)
{
    hac_sort_options known = HAC_SORT_OPTIONS_INIT;
    hac_status status =
        hac_options_read(options, "sort", "HAC_SORT_OPTIONS_INIT", &known, sizeof(known), err);
    if (status == HAC_OK)
        *ret = known;
    return status;
}

hac_status hac_sort_spec_encode(const hac_sort_options *options, uint32_t payload_bytes,
                                Hac__Client__SortSpec *ret, hac_error *err)
{
    if (hac_type_size(options->type) == 0)
        return hac_fail(err, HAC_INVALID, "the sort's type is not set: one of u32, i32, f32, u64, i64, f64");
    if (options->algorithm > HAC_SORT_RADIX || options->scheme > HAC_SCHEME_NONE ||
        options->fold > HAC_FOLD_STEPS)
        return hac_fail(err, HAC_INVALID, "algorithm %d, scheme %d or fold %d does not exist",
                        (int)options->algorithm, (int)options->scheme, (int)options->fold);
    if (options->fold == HAC_FOLD_STEPS && (options->n_fold_steps == 0 || options->fold_steps == NULL))
        return hac_fail(err, HAC_INVALID, "the steps to fold are not given");
    if (options->n_fold_steps > HAC_FOLD_STEPS_MAX)
        return hac_fail(err, HAC_INVALID, "%zu fold steps are given, at most %d can be",
                        options->n_fold_steps, HAC_FOLD_STEPS_MAX);
    if (payload_bytes > HAC_PAYLOAD_MAX)
        return hac_fail(err, HAC_INVALID, "a payload of %" PRIu32 " bytes is wider than %d", payload_bytes,
                        HAC_PAYLOAD_MAX);
    if (payload_bytes > 0 && options->argsort)
        return hac_fail(err, HAC_INVALID, "an argsort gives indices: it takes no payload");
    Hac__Client__SortSpec spec = HAC__CLIENT__SORT_SPEC__INIT;
    spec.type = (uint32_t)options->type;
    spec.descending = options->descending != 0;
    spec.argsort = options->argsort != 0;
    spec.algorithm = (uint32_t)options->algorithm;
    spec.scheme = (uint32_t)options->scheme;
    spec.fold = (uint32_t)options->fold;
    if (options->fold == HAC_FOLD_STEPS) {
        spec.n_fold_steps = options->n_fold_steps;
        spec.fold_steps = (uint32_t *)(uintptr_t)options->fold_steps;
    }
    spec.payload_bytes = payload_bytes;
    *ret = spec;
    return HAC_OK;
}

hac_status hac_sort_key_bytes(const hac_sort_options *options, uint64_t items, uint64_t *ret, hac_error *err)
{
    uint64_t size = hac_type_size(options->type), bytes;
    if (size == 0)
        return hac_fail(err, HAC_INVALID, "the sort's type is not set: one of u32, i32, f32, u64, i64, f64");
    if (__builtin_mul_overflow(size, items, &bytes) || bytes > INT64_MAX)
        return hac_fail(err, HAC_INVALID, "%" PRIu64 " keys are more than can be", items);
    *ret = bytes;
    return HAC_OK;
}

/* ---- submission ---- */

static hac_status fill_job(hac_job *job, const hac_sort_call *call, hac_error *err)
{
    hac_result_shape *shape = &job->shape;
    shape->known = true;
    shape->type = call->options->type;
    shape->argsort = call->options->argsort != 0;
    shape->items = call->items;
    shape->payload_bytes = call->payload_bytes;
    if (call->payload_format != NULL) {
        if (strlen(call->payload_format) >= sizeof(shape->payload_format))
            return hac_fail(err, HAC_UNSUPPORTED, "Arrow format \"%.40s…\" is too long",
                            call->payload_format);
        strcpy(shape->payload_format, call->payload_format);
    }
    uint64_t payload_at, bytes;
    if (!hac_result_layout(shape, &payload_at, &bytes))
        return hac_fail(err, HAC_INVALID, "%" PRIu64 " items are more than can be", call->items);
    return HAC_OK;
}

static hac_status submit(const hac_sort_call *call, hac_job *job, hac_error *err)
{
    const hac_sort_options *options = call->options;
    Hac__Client__SortSpec spec;
    Hac__Client__JobOptions job_options;
    hac_status status = hac_sort_spec_encode(options, call->payload_bytes, &spec, err);
    if (status == HAC_OK)
        status = hac_job_options_encode(&options->job, &job_options, err);
    if (status == HAC_OK)
        status = fill_job(job, call, err);
    if (status != HAC_OK)
        return status;
    job_options.acknowledge = call->acknowledge;
    Hac__Client__Input keys = call->keys, payload = call->payload;
    Hac__Client__SubmitSort sort = HAC__CLIENT__SUBMIT_SORT__INIT;
    sort.spec = &spec;
    sort.input = &keys;
    sort.payload = call->payload_bytes > 0 ? &payload : NULL;
    sort.options = &job_options;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_SUBMIT_SORT;
    request.submit_sort = &sort;
    /* The first response to a small job is its result. Waiting for the result here would allow only one job
     * at a time. */
    bool quick = keys.where_case == HAC__CLIENT__INPUT__WHERE_DATA && !job_options.progress &&
                 !job_options.detach && !job_options.acknowledge;
    return hac_job_submit(job, &request, &call->fd, call->fd >= 0 ? 1 : 0, !quick, err);
}

hac_status hac_sort_submit(hac_client *client, const hac_sort_call *call, hac_job **ret_job, hac_error *err)
{
    hac_cleanup(hac_job_unref_cleanup) hac_job *job = NULL;
    hac_status status = hac_job_new(client, &call->options->job, &job, err);
    if (status != HAC_OK) {
        hac_client_give_back(client, call->owned);
        return status;
    }
    job->input = call->owned; /* also on failure */
    status = submit(call, job, err);
    if (status == HAC_OK)
        *ret_job = hac_steal_ptr(job);
    return status;
}

/* ---- inputs ---- */

bool hac_sort_file_inline(const hac_sort_options *options, uint64_t bytes)
{
    return bytes <= HAC_INLINE_MAX && options->algorithm == HAC_SORT_AUTO &&
           options->scheme == HAC_SCHEME_AUTO && options->fold == HAC_FOLD_AUTO;
}

hac_status hac_sort_copy_in(hac_client *client, const void *data, uint64_t bytes, hac_sort_call *call,
                            hac_error *err)
{
    if (bytes <= HAC_INLINE_MAX) {
        hac_job_input_inline(data, bytes, &call->keys);
        return HAC_OK;
    }
    hac_buffer *buffer = NULL;
    hac_status status = hac_buffer_alloc(client, bytes, &buffer, err);
    if (status != HAC_OK)
        return status;
    memcpy(hac_buffer_data(buffer), data, (size_t)bytes);
    call->owned = hac_buffer_take(buffer);
    hac_job_input_buffer(call->owned, 0, bytes, &call->keys);
    return HAC_OK;
}

hac_status hac_sort_buffer(hac_client *client, hac_buffer *keys, uint64_t offset, uint64_t items,
                           const hac_sort_options *options, hac_job **ret_job, hac_error *err)
{
    hac_sort_options known;
    uint64_t bytes = 0;
    hac_status status = hac_sort_options_read(options, &known, err);
    if (status == HAC_OK)
        status = hac_sort_key_bytes(&known, items, &bytes, err);
    if (status == HAC_OK)
        status = hac_job_input_check(client, keys, offset, bytes, "keys", err);
    if (status != HAC_OK)
        return status;
    hac_sort_call call = {.options = &known, .items = items, .fd = -1};
    hac_job_input_buffer(keys->mapping, offset, bytes, &call.keys);
    return hac_sort_submit(client, &call, ret_job, err);
}

hac_status hac_sort_memory(hac_client *client, const void *keys, uint64_t items,
                           const hac_sort_options *options, hac_job **ret_job, hac_error *err)
{
    hac_sort_options known;
    uint64_t bytes = 0;
    hac_status status = hac_sort_options_read(options, &known, err);
    if (status == HAC_OK)
        status = hac_sort_key_bytes(&known, items, &bytes, err);
    if (status != HAC_OK)
        return status;
    hac_sort_call call = {.options = &known, .items = items, .fd = -1};
    status = hac_sort_copy_in(client, keys, bytes, &call, err);
    return status != HAC_OK ? status : hac_sort_submit(client, &call, ret_job, err);
}

hac_status hac_sort_pairs(hac_client *client, hac_buffer *keys, hac_buffer *payload, uint32_t payload_bytes,
                          uint64_t items, const hac_sort_options *options, hac_job **ret_job, hac_error *err)
{
    hac_sort_options known;
    uint64_t bytes = 0, all_payload;
    hac_status status = hac_sort_options_read(options, &known, err);
    if (status == HAC_OK)
        status = hac_sort_key_bytes(&known, items, &bytes, err);
    if (status != HAC_OK)
        return status;
    if (payload_bytes == 0)
        return hac_fail(err, HAC_INVALID, "a payload needs at least one byte an item");
    if (__builtin_mul_overflow(payload_bytes, items, &all_payload))
        return hac_fail(err, HAC_INVALID, "%" PRIu64 " items are more than can be", items);
    status = hac_job_input_check(client, keys, 0, bytes, "keys", err);
    if (status == HAC_OK)
        status = hac_job_input_check(client, payload, 0, all_payload, "payloads", err);
    if (status != HAC_OK)
        return status;
    hac_sort_call call = {.options = &known, .items = items, .payload_bytes = payload_bytes, .fd = -1};
    hac_job_input_buffer(keys->mapping, 0, bytes, &call.keys);
    hac_job_input_buffer(payload->mapping, 0, all_payload, &call.payload);
    return hac_sort_submit(client, &call, ret_job, err);
}
