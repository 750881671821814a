/* SPDX-License-Identifier: Apache-2.0 */
/* Each rule of the client protocol with what just passes and what just does not. */
#include <math.h>

#include "base/op_layout.h"
#include "base/text.h"
#include "hac/query.h"
#include "test_messages.h"

static hac_decoder *decoder;
static hac_sample_client c;

static char empty_text[1];
static char long_255[256], long_256[257], long_511[512], long_512[513];

static int set_up(void **state)
{
    memset(long_255, 'x', 255);
    memset(long_256, 'x', 256);
    memset(long_511, 'x', 511);
    memset(long_512, 'x', 512);
    return hac_test_fds_setup(state) != 0 || hac_decoder_new(&decoder, NULL) != HAC_OK;
}

static int tear_down(void **state)
{
    hac_decoder_free(decoder);
    return hac_test_fds_teardown(state);
}

#define SUBMIT(change)                                                                                       \
    (hac_sample_client_init(&c),                                                                             \
     hac_sample_choose(c.request, submit_sort, HAC__CLIENT__REQUEST__WHAT_SUBMIT_SORT, &c.sort), (change))
#define PLAN(change)                                                                                         \
    (hac_sample_client_init(&c),                                                                             \
     hac_sample_choose(c.request, plan_sort, HAC__CLIENT__REQUEST__WHAT_PLAN_SORT, &c.plan), (change))
#define REQUEST(member, CASE, part, change)                                                                  \
    (hac_sample_client_init(&c),                                                                             \
     hac_sample_choose(c.request, member, HAC__CLIENT__REQUEST__WHAT_##CASE, &c.part), (change))
#define RESPONSE(member, CASE, part, change)                                                                 \
    (hac_sample_client_init(&c),                                                                             \
     hac_sample_choose(c.response, member, HAC__CLIENT__RESPONSE__WHAT_##CASE, &c.part), (change))

#define GOOD(made, n_fds) ((void)(made), accept(decoder, HAC_SAMPLE_REQUEST, &c.request.base, n_fds))
#define BAD(made, n_fds, wanted)                                                                             \
    ((void)(made), refuse(decoder, HAC_SAMPLE_REQUEST, &c.request.base, n_fds, wanted))
#define GOOD_RESPONSE(made, n_fds)                                                                           \
    ((void)(made), accept(decoder, HAC_SAMPLE_RESPONSE, &c.response.base, n_fds))
#define BAD_RESPONSE(made, n_fds, wanted)                                                                    \
    ((void)(made), refuse(decoder, HAC_SAMPLE_RESPONSE, &c.response.base, n_fds, wanted))

#define OFF_MAX ((uint64_t)INT64_MAX)

static void test_request_itself(void **state)
{
    (void)state;
    hac_sample_client_init(&c);
    refuse(decoder, HAC_SAMPLE_REQUEST, &c.request.base, 0, "Request: is empty");
    BAD(REQUEST(drain, DRAIN, empty, c.request.serial = 0), 0, "Request: serial: is missing");
    GOOD(REQUEST(drain, DRAIN, empty, c.request.serial = UINT64_MAX), 0);
    BAD(REQUEST(drain, DRAIN, empty, 0), 1, "1 descriptors came with it, it takes 0");
    BAD(REQUEST(drain, DRAIN, empty, 0), 253, "253 descriptors");
    GOOD(REQUEST(hello, HELLO, hello, c.hello.version = UINT32_MAX),
         0); /* versions are the receiver's to judge */
    GOOD(REQUEST(hello, HELLO, hello, c.hello.software = long_255), 0);
    BAD(REQUEST(hello, HELLO, hello, c.hello.software = long_256), 0,
        "Request: hello: software: has 256 bytes, at most 255 are allowed");
}

static void test_buffers(void **state)
{
    (void)state;
    GOOD(REQUEST(buffer_alloc, BUFFER_ALLOC, alloc, c.alloc.bytes = OFF_MAX), 0);
    BAD(REQUEST(buffer_alloc, BUFFER_ALLOC, alloc, c.alloc.bytes = OFF_MAX + 1), 0,
        "buffer_alloc: bytes: is 92233");
    BAD(REQUEST(buffer_alloc, BUFFER_ALLOC, alloc, c.alloc.bytes = 0), 0, "buffer_alloc: bytes: is missing");
    BAD(REQUEST(buffer_alloc, BUFFER_ALLOC, alloc, 0), 1, "1 descriptors");
    BAD(REQUEST(buffer_grow, BUFFER_GROW, grow, c.grow.bytes = 0), 0, "buffer_grow: bytes: is missing");
    BAD(REQUEST(buffer_grow, BUFFER_GROW, grow, c.grow.bytes = UINT64_MAX), 0,
        "buffer_grow: bytes: is 18446");
}

static void test_sort_spec(void **state)
{
    (void)state;
    for (uint32_t type = 1; type <= 6; type++)
        GOOD(SUBMIT(c.spec.type = type), 0);
    BAD(SUBMIT(c.spec.type = 0), 0, "submit_sort: spec: type: is missing");
    BAD(SUBMIT(c.spec.type = 7), 0, "spec: type: is 7, at most 6 is allowed");
    GOOD(SUBMIT(c.spec.algorithm = 2), 0);
    BAD(SUBMIT(c.spec.algorithm = 3), 0, "algorithm: is 3");
    GOOD(SUBMIT(c.spec.scheme = 4), 0);
    BAD(SUBMIT(c.spec.scheme = 5), 0, "scheme: is 5");
    BAD(SUBMIT(c.spec.fold = 3), 0, "fold: is 3");
    GOOD(SUBMIT(c.spec.n_fold_steps = 64), 0);
    BAD(SUBMIT(c.spec.n_fold_steps = 65), 0, "fold_steps: has more than 64 elements");
    BAD(SUBMIT(c.spec.payload_bytes = 257), 0, "payload_bytes: is 257");
    BAD(SUBMIT(c.sort.spec = NULL), 0, "submit_sort: spec: is missing");
    BAD(SUBMIT(c.sort.input = NULL), 0, "submit_sort: input: is missing");
    BAD(SUBMIT(c.sort.options = NULL), 0, "submit_sort: options: is missing");
}

static void test_job_options(void **state)
{
    (void)state;
    GOOD(SUBMIT(c.options.n_devices = 16), 0);
    BAD(SUBMIT(c.options.n_devices = 17), 0, "options: devices: has more than 16 elements");
    BAD(SUBMIT(c.names[1] = long_256), 0, "options: devices: has 256 bytes");
    GOOD(SUBMIT(c.options.priority = 100), 0);
    BAD(SUBMIT(c.options.priority = 101), 0, "priority: is 101, at most 100");
    BAD(SUBMIT(c.options.priority = -101), 0, "priority: is -101, at most 100");
    BAD(SUBMIT(c.options.priority = INT32_MIN), 0, "priority: is -2147483648");
    BAD(SUBMIT(c.options.deadline_seconds = (double)NAN), 0, "deadline_seconds: is not a finite number");
    BAD(SUBMIT(c.options.deadline_seconds = -(double)INFINITY), 0,
        "deadline_seconds: is not a finite number");
    BAD(SUBMIT(c.options.deadline_seconds = -1), 0, "deadline_seconds: is negative");
    BAD(SUBMIT(c.options.determinism = 2), 0, "determinism: is 2");
}

static void use_buffer(uint64_t offset, uint64_t bytes)
{
    c.input.offset = offset;
    c.input.bytes = bytes;
}

static void use_data(size_t length, uint64_t offset, uint64_t bytes)
{
    c.input.where_case = HAC__CLIENT__INPUT__WHERE_DATA;
    c.input.data = (ProtobufCBinaryData){length, c.data};
    use_buffer(offset, bytes);
}

static void use_descriptor(uint32_t index, uint64_t offset, uint64_t bytes)
{
    c.input.where_case = HAC__CLIENT__INPUT__WHERE_DESCRIPTOR;
    c.input.descriptor = index;
    use_buffer(offset, bytes);
}

static void test_input_in_a_buffer(void **state)
{
    (void)state;
    GOOD(SUBMIT(use_buffer(0, 0)), 0);
    GOOD(SUBMIT(use_buffer(64, OFF_MAX - 64)), 0);
    BAD(SUBMIT(use_buffer(64, OFF_MAX - 63)), 0, "input: 9223372036854775744 bytes from byte 64 on");
    BAD(SUBMIT(use_buffer(0, UINT64_MAX)), 0, "input: bytes: is 18446744073709551615");
    BAD(SUBMIT(use_buffer(UINT64_MAX - 63, 64)), 0, "input: offset: is 18446744073709551552");
    BAD(SUBMIT(use_buffer(1, 4)), 0, "input: offset: is 1, must be a multiple of 64");
    BAD(SUBMIT(use_buffer(32, 4)), 0, "input: offset: is 32");
    BAD(SUBMIT(use_buffer(0, 4)), 1, "do not name each of the 1 descriptors");
    BAD(SUBMIT(c.input.where_case = HAC__CLIENT__INPUT__WHERE__NOT_SET), 0, "submit_sort: input: is empty");
    GOOD(SUBMIT(c.input.name = long_255), 0);
    BAD(SUBMIT(c.input.name = long_256), 0, "input: name: has 256 bytes");
}

static void test_input_inline(void **state)
{
    (void)state;
    GOOD(SUBMIT(use_data(HAC_INLINE_MAX, 0, HAC_INLINE_MAX)), 0);
    BAD(SUBMIT(use_data(HAC_INLINE_MAX + 1, 0, HAC_INLINE_MAX + 1)), 0, "input: data: has 32769 bytes");
    BAD(SUBMIT(use_data(8, 0, 9)), 0, "input: 9 bytes from byte 0 on, but it has 8 inline");
    BAD(SUBMIT(use_data(8, 0, 7)), 0, "input: 7 bytes");
    BAD(SUBMIT(use_data(8, 64, 8)), 0, "input: 8 bytes from byte 64 on");
}

static void test_input_descriptors(void **state)
{
    (void)state;
    GOOD(SUBMIT(use_descriptor(0, 3, 100)), 1);
    BAD(SUBMIT(use_descriptor(0, 3, 100)), 0, "do not name each of the 0 descriptors");
    BAD(SUBMIT(use_descriptor(0, 3, 100)), 2, "do not name each of the 2 descriptors");
    BAD(SUBMIT(use_descriptor(1, 3, 100)), 1, "do not name each of the 1 descriptors");
    BAD(SUBMIT(use_descriptor(15, 3, 100)), 16, "do not name each of the 16 descriptors");
    BAD(SUBMIT(use_descriptor(252, 3, 100)), 253, "do not name each of the 253 descriptors");
    BAD(SUBMIT(use_descriptor(253, 3, 100)), 1, "input: descriptor: is 253, at most 252");
    BAD(SUBMIT(use_descriptor(UINT32_MAX, 3, 100)), 1, "input: descriptor: is 4294967295");
    BAD(SUBMIT(use_descriptor(0, OFF_MAX, 1)), 1, "input: 1 bytes from byte 9223372036854775807 on");
    BAD(SUBMIT(use_descriptor(0, 0, 1)), 254, "254 descriptors");
    BAD(SUBMIT(use_descriptor(0, 0, 1)), 509, "509 descriptors");
}

static void use_pair(uint32_t width, uint32_t first, uint32_t second)
{
    c.spec.payload_bytes = width;
    c.sort.payload = &c.payload;
    use_descriptor(first, 0, 4);
    c.payload.where_case = HAC__CLIENT__INPUT__WHERE_DESCRIPTOR;
    c.payload.descriptor = second;
}

static void test_payload(void **state)
{
    (void)state;
    GOOD(SUBMIT(use_pair(8, 0, 1)), 2);
    GOOD(SUBMIT(use_pair(8, 1, 0)), 2);
    BAD(SUBMIT(use_pair(8, 0, 0)), 1, "payload: descriptor: 0 is named twice");
    BAD(SUBMIT(use_pair(8, 0, 2)), 3, "do not name each of the 3");
    BAD(SUBMIT(use_pair(0, 0, 1)), 2, "payload: is there, but its width is 0");
    BAD(SUBMIT(c.spec.payload_bytes = 8), 0, "payload: is missing, but its width is 8");
    BAD(SUBMIT((use_pair(8, 0, 1), c.payload.offset = OFF_MAX, c.payload.bytes = 1)), 2, "payload: 1 bytes");
}

static void test_plan_sort(void **state)
{
    (void)state;
    GOOD(PLAN(c.plan.n_devices = 16), 0);
    BAD(PLAN(c.plan.n_devices = 17), 0, "plan_sort: devices: has more than 16");
    BAD(PLAN(c.plan.spec = NULL), 0, "plan_sort: spec: is missing");
    BAD(PLAN(c.plan.options = NULL), 0, "plan_sort: options: is missing");
    BAD(PLAN(c.plan.format = 3), 0, "plan_sort: format: 3 is not one of its values");
    BAD(PLAN(c.plan.format = (Hac__Client__PlanFormat)-1), 0, "plan_sort: format: ");
    GOOD(PLAN(c.plan.input = HAC__CLIENT__PLAN_INPUT__PLAN_INPUT_DATA), 0);
    BAD(PLAN(c.plan.input = 3), 0, "plan_sort: input: 3 is not one of its values");
    GOOD(PLAN(c.device.n_capability = 32), 0);
    BAD(PLAN(c.device.n_capability = 33), 0, "devices: capability: has more than 32");
    BAD(PLAN(c.device.name = NULL), 0, "devices: name: is missing");
    BAD(PLAN(c.capability.key = NULL), 0, "capability: key: is missing");
    BAD(PLAN(c.capability.items_per_second = (double)INFINITY), 0, "items_per_second: is not");
    BAD(PLAN(c.device.link_latency = -1e-9), 0, "link_latency: is negative");
    BAD(PLAN(0), 1, "1 descriptors");
}

#define SUBMIT_QUERY(change)                                                                                 \
    (hac_sample_client_init(&c),                                                                             \
     hac_sample_choose(c.request, submit_query, HAC__CLIENT__REQUEST__WHAT_SUBMIT_QUERY, &c.submit_query),   \
     (change))
#define PLAN_QUERY(change)                                                                                   \
    (hac_sample_client_init(&c),                                                                             \
     hac_sample_choose(c.request, plan_query, HAC__CLIENT__REQUEST__WHAT_PLAN_QUERY, &c.plan_query),         \
     (change))

static void test_compiled_query(void **state)
{
    (void)state;
    static uint8_t bytes[HAC_QUERY_BYTES_MAX + 1];
    GOOD(SUBMIT_QUERY((c.compiled.query = (ProtobufCBinaryData){HAC_QUERY_BYTES_MAX, bytes})), 0);
    BAD(SUBMIT_QUERY((c.compiled.query = (ProtobufCBinaryData){HAC_QUERY_BYTES_MAX + 1, bytes})), 0,
        "query: has 35841 bytes");
    BAD(SUBMIT_QUERY((c.compiled.query = (ProtobufCBinaryData){0, NULL})), 0, "query: is missing");
    BAD(SUBMIT_QUERY(c.query_spec.compiled = NULL), 0, "spec: compiled: is missing");
    BAD(PLAN_QUERY(c.query_spec.compiled = NULL), 0, "spec: compiled: is missing");
    BAD(SUBMIT_QUERY(c.query_spec.describe = HAC__CLIENT__DESCRIPTION__DESCRIBE_FILE), 0,
        "spec: compiled: is there, but it is no query");
    GOOD(SUBMIT_QUERY((c.query_spec.describe = HAC__CLIENT__DESCRIPTION__DESCRIBE_COLUMNS,
                       c.query_spec.compiled = NULL)),
         0);
    BAD(PLAN_QUERY((c.query_spec.describe = HAC__CLIENT__DESCRIPTION__DESCRIBE_COLUMNS,
                    c.query_spec.compiled = NULL)),
        0, "spec: describe: is there, but a query is planned");
}

/* A description of footers needs the compiled query. */
static void ask_footers(void)
{
    c.query_spec.describe = HAC__CLIENT__DESCRIPTION__DESCRIBE_FOOTERS;
    c.source.format = HAC_INPUT_PARQUET;
    c.source.options = (ProtobufCBinaryData){0, NULL};
}

static void plan_footers(size_t n_sources, size_t n_values)
{
    static uint64_t values[HAC_DESCRIPTORS_MAX * HAC_FOOTER_N_VALUES + 1];
    ask_footers();
    c.query_spec.describe = HAC__CLIENT__DESCRIPTION__DESCRIBE_NOTHING;
    c.plan_query.n_sources = n_sources;
    c.plan_query.footers = values;
    c.plan_query.n_footers = n_values;
}

static void test_footers(void **state)
{
    (void)state;
    GOOD(SUBMIT_QUERY(ask_footers()), 0);
    BAD(SUBMIT_QUERY((ask_footers(), c.query_spec.compiled = NULL)), 0, "spec: compiled: is missing");
    BAD(SUBMIT_QUERY((ask_footers(), c.source.format = HAC_INPUT_CSV)), 0, "are those of Parquet files");
    BAD(PLAN_QUERY(ask_footers()), 0, "spec: describe: is there, but a query is planned");
    GOOD(PLAN_QUERY(plan_footers(2, 0)), 0);
    GOOD(PLAN_QUERY(plan_footers(2, 2 * HAC_FOOTER_N_VALUES)), 0);
    GOOD(PLAN_QUERY(plan_footers(253, 253 * HAC_FOOTER_N_VALUES)), 0);
    BAD(PLAN_QUERY(plan_footers(2, 2 * HAC_FOOTER_N_VALUES - 1)), 0, "footers: has 9 figures of 2 sources");
    BAD(PLAN_QUERY(plan_footers(253, 253 * HAC_FOOTER_N_VALUES + 1)), 0, "footers: has more than 1265");
    BAD(PLAN_QUERY((plan_footers(2, 2 * HAC_FOOTER_N_VALUES), c.source.format = HAC_INPUT_CSV)), 0,
        "footers: has 10 figures");
}

static void use_delimiter(void)
{
    static uint8_t delimiter[] = {1, 8, ';', 0, 0, 0, 0, 0, 0, 0};
    c.source.format = 4;
    c.source.options = (ProtobufCBinaryData){sizeof delimiter, delimiter};
}

static void test_query_spec(void **state)
{
    (void)state;
    BAD(SUBMIT_QUERY(c.submit_query.spec = NULL), 0, "submit_query: spec: is missing");
    BAD(SUBMIT_QUERY(c.submit_query.options = NULL), 0, "submit_query: options: is missing");
    BAD(SUBMIT_QUERY(c.query_spec.source = NULL), 0, "spec: source: is missing");
    GOOD(SUBMIT_QUERY(c.query_spec.method = NULL), 0);
    GOOD(SUBMIT_QUERY((c.query_spec.limit = 0, c.query_spec.has_limit = 0)), 0);
    BAD(SUBMIT_QUERY(c.query_spec.has_limit = 0), 0, "limit: is there, but there is none");
    GOOD(SUBMIT_QUERY(c.query_spec.output_format = 8), 0);
    BAD(SUBMIT_QUERY(c.query_spec.output_format = 9), 0, "output_format: is 9");
    BAD(SUBMIT_QUERY(c.source.format = 0), 0, "source: format: is missing");
    GOOD(SUBMIT_QUERY(c.source.format = 11), 0);
    BAD(SUBMIT_QUERY(c.source.format = HAC_INPUT_END), 0, "source: format: is ");
    GOOD(SUBMIT_QUERY(c.source.options.len = 0), 0);
    BAD(SUBMIT_QUERY(c.source.options.len--), 0, "source: options: the options of the input are malformed");
    BAD(SUBMIT_QUERY(use_delimiter()), 0,
        "options: --delimiter: this is an option of csv, and the input is jsonl");
    BAD(SUBMIT_QUERY(c.method.hot_keys = 3), 0, "hot_keys: is 3");
    GOOD(SUBMIT_QUERY(c.method.sample = 1000), 0);
    BAD(SUBMIT_QUERY(c.method.sample = 1001), 0, "sample: is 1001");
    BAD(SUBMIT_QUERY(c.method.hot_share = 1001), 0, "hot_share: is 1001");
    BAD(SUBMIT_QUERY(c.method.engine = 3), 0, "engine: is 3");
    BAD(SUBMIT_QUERY(c.method.work_groups = 65537), 0, "work_groups: is 65537");
    BAD(SUBMIT_QUERY(c.method.work_items = 65537), 0, "work_items: is 65537");
}

static void use_table(void)
{
    c.source.format = 1;
    c.query_spec.rows = 100;
}

static void test_query_table(void **state)
{
    (void)state;
    GOOD(SUBMIT_QUERY(use_table()), 0);
    BAD(SUBMIT_QUERY((use_table(), c.source.format = 2)), 0, "rows: are there, but the source is no");
    BAD(SUBMIT_QUERY((use_table(), use_data(8, 0, 8))), 0, "inputs[0]: is no buffer, but a table");
    BAD(SUBMIT_QUERY((use_table(), use_descriptor(0, 0, 8))), 1, "inputs[0]: is no buffer, but a table");
    GOOD(SUBMIT_QUERY((use_table(), c.query_spec.rows = OFF_MAX)), 0);
    BAD(SUBMIT_QUERY((use_table(), c.query_spec.rows = OFF_MAX + 1)), 0, "rows: is 92233");
}

/* Inputs that name one descriptor each, in the order given. */
static void use_descriptors(size_t n, size_t first)
{
    static Hac__Client__Input inputs[254];
    c.submit_query.n_inputs = n;
    for (size_t i = 0; i < n; i++) {
        hac__client__input__init(&inputs[i]);
        inputs[i].where_case = HAC__CLIENT__INPUT__WHERE_DESCRIPTOR;
        inputs[i].descriptor = (uint32_t)((i + first) % n);
        c.inputs[i] = &inputs[i];
    }
}

static void test_query_inputs(void **state)
{
    (void)state;
    GOOD(SUBMIT_QUERY(use_descriptors(1, 0)), 1);
    GOOD(SUBMIT_QUERY(use_descriptors(63, 5)), 63);
    GOOD(SUBMIT_QUERY(use_descriptors(64, 5)), 64);
    GOOD(SUBMIT_QUERY(use_descriptors(253, 100)), 253);
    BAD(SUBMIT_QUERY(use_descriptors(254, 0)), 253, "inputs: has more than 253 elements");
    BAD(SUBMIT_QUERY(use_descriptors(253, 0)), 252, "do not name each of the 252 descriptors");
    BAD(SUBMIT_QUERY(use_descriptors(64, 0)), 63, "do not name each of the 63 descriptors");
    BAD(SUBMIT_QUERY(use_descriptors(63, 0)), 64, "do not name each of the 64 descriptors");
    BAD(SUBMIT_QUERY((use_descriptors(2, 0), c.inputs[1] = c.inputs[0])), 1,
        "inputs[1]: descriptor: 0 is named twice");
    BAD(SUBMIT_QUERY(c.submit_query.n_inputs = 0), 0, "inputs: there are none");
    BAD(SUBMIT_QUERY(c.submit_query.n_inputs = 2), 0, "inputs[0]: is no descriptor, but one of 2");
    GOOD(SUBMIT_QUERY(use_data(HAC_QUERY_DATA_MAX, 0, HAC_QUERY_DATA_MAX)), 0);
    BAD(SUBMIT_QUERY(use_data(HAC_QUERY_DATA_MAX + 1, 0, HAC_QUERY_DATA_MAX + 1)), 0,
        "inputs[0]: data: has 16385 bytes");
    BAD(SUBMIT_QUERY(use_data(8, 0, 9)), 0, "inputs[0]: 9 bytes from byte 0 on, but it has 8");
    BAD(SUBMIT_QUERY(use_buffer(1, 4)), 0, "inputs[0]: offset: is 1");
}

static void use_splits(void)
{
    c.submit_query.n_inputs = 0;
    c.submit_query.splits = 1;
    c.submit_query.name = long_255;
}

static void test_query_splits(void **state)
{
    (void)state;
    GOOD(SUBMIT_QUERY(use_splits()), 0);
    GOOD(SUBMIT_QUERY((use_splits(), c.submit_query.name = NULL)), 0);
    BAD(SUBMIT_QUERY((use_splits(), c.submit_query.name = long_256)), 0, "name: has 256 bytes");
    BAD(SUBMIT_QUERY((use_splits(), c.submit_query.splits = 0)), 0,
        "name: is there, but there are no splits");
    BAD(SUBMIT_QUERY((use_splits(), c.submit_query.n_inputs = 1)), 0, "inputs: are there, but");
    BAD(SUBMIT_QUERY((use_splits(), use_table())), 0, "splits: of no text");
    BAD(SUBMIT_QUERY((use_splits(), c.source.format = 9)), 0, "splits: of no text");
    BAD(SUBMIT_QUERY((use_splits(), c.query_spec.describe = HAC__CLIENT__DESCRIPTION__DESCRIBE_COLUMNS,
                      c.query_spec.compiled = NULL)),
        0, "splits: of no query");
    BAD(SUBMIT_QUERY(use_splits()), 1, "1 descriptors");
}

static void use_set(uint64_t bytes, uint32_t sets, uint64_t set_bytes)
{
    c.split.bytes = bytes;
    c.split.sets = sets;
    c.split.set_bytes = set_bytes;
}

static void test_append_split(void **state)
{
    (void)state;
#define SPLIT(change) REQUEST(append_split, APPEND_SPLIT, split, change)
    GOOD(SPLIT(use_set(OFF_MAX, 1024, OFF_MAX)), 0);
    BAD(SPLIT(use_set(OFF_MAX + 1, 1, 1)), 0, "append_split: bytes: is 9223");
    BAD(SPLIT(use_set(OFF_MAX, 1025, 1)), 0, "append_split: sets: is 1025");
    BAD(SPLIT(use_set(OFF_MAX, 1, OFF_MAX + 1)), 0, "append_split: set_bytes: is 9223");
    GOOD(SPLIT(use_set(64, 0, 0)), 0);
    BAD(SPLIT(use_set(63, 0, 0)), 0, "bytes: is 63, the header alone has 64");
    GOOD(SPLIT((use_set(1000, 1, 1000), c.split.input_bytes = 1000)), 0);
    BAD(SPLIT((use_set(1000, 1, 1000), c.split.input_bytes = 1001)), 0, "input_bytes: is 1001");
    BAD(SPLIT(c.split.input_bytes = OFF_MAX + 1), 0, "append_split: input_bytes: is 9223");
    BAD(SPLIT(c.split.reading_ns = OFF_MAX + 1), 0, "append_split: reading_ns: is 9223");
    BAD(SPLIT(c.split.input_wait_ns = OFF_MAX + 1), 0, "append_split: input_wait_ns: is 9223");
    BAD(SPLIT(c.split.device_wait_ns = OFF_MAX + 1), 0, "append_split: device_wait_ns: is 9223");
    BAD(SPLIT(c.split.writing_ns = OFF_MAX + 1), 0, "append_split: writing_ns: is 9223");
    BAD(SPLIT(use_set(1000, 2, 1001)), 0, "set_bytes: is 1001");
    BAD(SPLIT(use_set(1000, 0, 1)), 0, "set_bytes: is 1");
    BAD(SPLIT(use_set(1000, 1, 0)), 0, "set_bytes: is 0, of 1");
    BAD(SPLIT(c.split.job = 0), 0, "append_split: job: is missing");
    BAD(SPLIT(c.split.name = long_256), 0, "append_split: name: has 256");
    BAD(SPLIT(c.split.buffer = 0), 0, "buffer: is missing");
    GOOD(SPLIT((use_set(0, 0, 0), c.split.buffer = 0, c.split.last = 1)), 0);
    BAD(SPLIT((use_set(0, 0, 0), c.split.buffer = 0)), 0, "buffer: is missing");
    BAD(SPLIT((use_set(100, 0, 0), c.split.buffer = 0, c.split.last = 1)), 0, "buffer: is missing");
    BAD(SPLIT((use_set(0, 1, 0), c.split.buffer = 0, c.split.last = 1)), 0, "buffer: is missing");
    BAD(SPLIT(0), 1, "1 descriptors");
    BAD(SPLIT(c.split.offset = 64), 0, "offset: is of a split that is in no file");
    BAD(SPLIT(c.split.bytes_before = 1), 0, "offset: is of a split that is in no file");
}

static void use_range(uint64_t offset, uint64_t bytes, uint32_t sets, uint64_t set_bytes)
{
    use_set(bytes, sets, set_bytes);
    c.split.in_file = 1;
    c.split.buffer = 0;
    c.split.offset = offset;
}

static void test_split_in_file(void **state)
{
    (void)state;
    GOOD(SPLIT(use_range(0, 1, 1, 1)), 1);
    GOOD(SPLIT((use_range(16, 4097, 2, 4096), c.split.bytes_before = OFF_MAX)), 1);
    GOOD(SPLIT(use_range(0, 1 << 30, 1024, 1 << 20)), 1);
    GOOD(SPLIT(use_range(OFF_MAX - 1024, 1024, 1024, 1)), 1);
    BAD(SPLIT(use_range(0, 4096, 1, 4096)), 0, "0 descriptors");
    BAD(SPLIT(use_range(0, 4096, 1, 4096)), 2, "2 descriptors");
    BAD(SPLIT((use_range(0, 4096, 1, 4096), c.split.buffer = 7)), 1, "buffer: is 7, of a split in a file");
    BAD(SPLIT(use_range(0, 0, 0, 0)), 1, "bytes: is 0, from byte 0 on");
    BAD(SPLIT(use_range(OFF_MAX, 1, 1, 1)), 1, "bytes: is 1, from byte 9223");
    BAD(SPLIT(use_range(OFF_MAX + 1, 1, 1, 1)), 1, "offset: is 9223");
    BAD(SPLIT((use_range(0, 1, 1, 1), c.split.bytes_before = OFF_MAX + 1)), 1, "bytes_before: is 9223");
    BAD(SPLIT(use_range(0, 4096, 1, 0)), 1, "sets: is 1, of 4096 bytes in sets of 0");
    BAD(SPLIT(use_range(0, 4096, 2, 4096)), 1, "sets: is 2, of 4096 bytes in sets of 4096");
    BAD(SPLIT(use_range(0, 4097, 1, 4096)), 1, "sets: is 1, of 4097 bytes");
    BAD(SPLIT(use_range(0, 1025, 1025, 1)), 1, "append_split: sets: is 1025");
    BAD(SPLIT(use_range(0, 100, 1, 101)), 1, "set_bytes: is 101");
    BAD(SPLIT(use_range(0, 1 << 21, 1, (1 << 20) + 1)), 1, "set_bytes: is 1048577, of a split in a file");
}

static void test_ops(void **state)
{
    (void)state;
#define OPS(change) REQUEST(submit_ops, SUBMIT_OPS, submit_ops, change)
    GOOD(OPS(0), 0);
    BAD(OPS(0), 1, "1 descriptors");
    GOOD(OPS(c.submit_ops.n_buffers = 32), 0);
    BAD(OPS(c.submit_ops.n_buffers = 33), 0, "submit_ops: buffers: has more than 32");
    BAD(OPS(c.submit_ops.n_buffers = 1), 0, "tasks[0]: spans[0]: buffer: is 1 of 1");
    BAD(OPS(c.op_buffers[1] = 0), 0, "buffers[1]: is missing");
    BAD(OPS(c.submit_ops.n_tasks = 0), 0, "tasks: there are none");
    BAD(OPS((c.submit_ops.n_tasks = 513, c.second_op.call.len = 1)), 0, "tasks: has more than 512");
    BAD(OPS(c.submit_ops.options = NULL), 0, "submit_ops: options: is missing");
    BAD(OPS(c.submit_ops.policy = 2), 0, "policy: 2 is not one of its values");
    GOOD(OPS(c.submit_ops.n_tentative = 2), 0);
    BAD(OPS(c.submit_ops.n_tentative = 3), 0, "n_tentative: 3 of 2 tasks");
    BAD(OPS(c.op_task.codelet = NULL), 0, "tasks: codelet: is missing");
    BAD(OPS(c.op_task.codelet = (char *)(uintptr_t) "sort.small"), 0, "codelet: is no sub-operator's");
    BAD(OPS(c.op_task.codelet = (char *)(uintptr_t) "op.map.cl"), 0, "codelet: is no sub-operator's");
    BAD(OPS(c.op_task.codelet = (char *)(uintptr_t) "op"), 0, "codelet: is no sub-operator's");
    BAD(OPS(c.op_task.type = 99), 0, "tasks: type: is 99");
    BAD(OPS(c.op_task.first = 4095), 0, "tasks[0]: grain: is 4096");
    BAD(OPS(c.op_task.count = 0), 0, "tasks[0]: grain: is 4096");
    GOOD(OPS((c.op_task.count = 0, c.op_task.grain = 0)), 0);
    BAD(OPS((c.op_task.grain = 0, c.op_task.first = OFF_MAX)), 0, "tasks[0]: count: the range ends");
    BAD(OPS(c.op_span.offset = 63), 0, "spans[0]: offset");
    BAD(OPS(c.op_span.offset = OFF_MAX - 62), 0, "spans[0]");
    GOOD(OPS(c.op_task.n_spans = 16), 0);
    GOOD(OPS((c.op_span.offset = 64, c.op_span.bytes = 128, c.op_span.touch_first = 64,
              c.op_span.touch_bytes = 128)),
         0);
    BAD(OPS((c.op_span.offset = 64, c.op_span.touch_first = 63, c.op_span.touch_bytes = 1)), 0,
        "touch_bytes: are outside");
    BAD(OPS((c.op_span.bytes = 128, c.op_span.touch_first = 1, c.op_span.touch_bytes = 128)), 0,
        "touch_bytes: are outside");
    BAD(OPS(c.op_span.touch_first = 64), 0, "touch_first: is there");
    BAD(OPS(c.op_task.n_spans = 17), 0, "spans: has more than 16");
    BAD(OPS(c.op_task.call.len = 0), 0, "call: is missing");
    BAD(OPS(c.op_task.call.len = 16385), 0, "call: has 16385");
    BAD(OPS(c.op_after[0] = 1), 0, "tasks[1]: after: 1 does not come before it");
    BAD(OPS(c.op_task.units = -1), 0, "units: is negative");
#define PLAN_OPS(change) REQUEST(plan_ops, PLAN_OPS, plan_ops, (c.submit_ops.n_buffers = 0, (change)))
    GOOD(PLAN_OPS(0), 0);
    BAD(PLAN_OPS(c.submit_ops.n_buffers = 2), 0, "ops: buffers: are there");
    BAD(PLAN_OPS(c.plan_ops.n_sizes = 1), 0, "buffer: is 1 of 1");
    BAD(PLAN_OPS(c.plan_ops.ops = NULL), 0, "plan_ops: ops: is missing");
    BAD(PLAN_OPS((c.submit_ops.graphs = 1, c.submit_ops.n_tasks = 0)), 0, "graphs: only one is planned");
    BAD(PLAN_OPS(0), 1, "1 descriptors");
}

static void test_output(void **state)
{
    (void)state;
#define OUTPUT(change) REQUEST(output, OUTPUT, output, change)
    GOOD(OUTPUT(0), 0);
    GOOD(OUTPUT(c.output.failure = NULL), 0);
    GOOD(OUTPUT((c.output.failure = NULL, c.output.ended = 0)), 0);
    BAD(OUTPUT(c.output.ended = 0), 0, "failure: is there, but the output has not ended");
    BAD(OUTPUT(c.output.job = 0), 0, "job: is missing");
    BAD(OUTPUT(c.failure.code = 0), 0, "code: is missing");
    BAD(OUTPUT(0), 1, "1 descriptors");
}

static void test_append_graph(void **state)
{
    (void)state;
    static char long_log[HAC_OPS_LOG_MAX + 2];
    memset(long_log, 'x', HAC_OPS_LOG_MAX + 1);
    BAD(OPS(c.submit_ops.graphs = 1), 0, "graphs: will follow, but there is one");
    GOOD(OPS((c.submit_ops.graphs = 1, c.submit_ops.n_tasks = 0, c.submit_ops.n_buffers = 0)), 0);
#define GRAPH(change) REQUEST(append_graph, APPEND_GRAPH, append_graph, change)
    GOOD(GRAPH(0), 0);
    GOOD(GRAPH(c.append_graph.graph = NULL), 0); /* a log alone */
    GOOD(GRAPH((c.append_graph.graph = NULL, c.append_graph.log = empty_text, c.append_graph.last = 1)), 0);
    BAD(GRAPH((c.append_graph.graph = NULL, c.append_graph.log = empty_text)), 0, "graph: is missing");
    BAD(GRAPH(c.append_graph.job = 0), 0, "job: is missing");
    BAD(GRAPH(c.append_graph.log = long_log), 0, "log: has 16385 bytes");
    BAD(GRAPH(c.submit_ops.n_tasks = 0), 0, "graph: tasks: there are none");
    BAD(GRAPH((c.submit_ops.graphs = 1, c.submit_ops.n_tasks = 0)), 0, "graph: has graphs of its own");
    BAD(GRAPH(c.submit_ops.buffers[1] = 0), 0, "graph: buffers[1]: is missing");
    BAD(GRAPH(0), 1, "1 descriptors");
#define GRAPH_DONE(change) RESPONSE(graph_done, GRAPH_DONE, graph_done, change)
    GOOD_RESPONSE(GRAPH_DONE(0), 0);
    BAD_RESPONSE(GRAPH_DONE(0), 1, "1 descriptors");
    BAD_RESPONSE(GRAPH_DONE(c.graph_done.values.len = HAC_INLINE_MAX + 1), 0, "values: has 32769");
}

static void test_plan_query(void **state)
{
    (void)state;
    GOOD(PLAN_QUERY(0), 0);
    BAD(PLAN_QUERY(0), 1, "1 descriptors");
    GOOD(PLAN_QUERY(c.plan_query.n_sources = 253), 0);
    BAD(PLAN_QUERY(c.plan_query.n_sources = 254), 0, "sources: has more than 253");
    BAD(PLAN_QUERY(c.plan_query.n_sources = 0), 0, "sources: there are none");
    BAD(PLAN_QUERY(c.sources[1] = OFF_MAX + 1), 0, "sources: is 92233");
    BAD(PLAN_QUERY(c.plan_query.spec = NULL), 0, "plan_query: spec: is missing");
    BAD(PLAN_QUERY(c.plan_query.options = NULL), 0, "plan_query: options: is missing");
    BAD(PLAN_QUERY((c.plan_query.devices = c.devices, c.plan_query.n_devices = 17)), 0, "devices: has more");
    BAD(PLAN_QUERY(c.query_spec.has_limit = 0), 0, "limit: is there, but there is none");
    GOOD(PLAN_QUERY(c.plan_query.splits = true), 0);
}

static void test_other_requests(void **state)
{
    (void)state;
    for (int topic = 0; topic <= 13; topic++)
        GOOD(REQUEST(query, QUERY, query, c.query.topic = (Hac__Client__Topic)topic), 0);
    BAD(REQUEST(query, QUERY, query, c.query.topic = 14), 0, "query: topic: 14 is not one of its values");
    BAD(REQUEST(query, QUERY, query, c.query.topic = 99), 0, "query: topic: 99");
    GOOD(REQUEST(more_text, MORE_TEXT, more_text, (void)0), 0);
    BAD(REQUEST(more_text, MORE_TEXT, more_text, c.more_text.text = 0), 0, "more_text: text: is missing");
    BAD(REQUEST(more_text, MORE_TEXT, more_text, c.more_text.offset = 0), 0, "more_text: offset: is missing");
    BAD(REQUEST(more_text, MORE_TEXT, more_text, c.more_text.offset = HAC_TEXT_MAX + 1), 0,
        "more_text: offset: is 67108865");
    GOOD(REQUEST(revert_tuning, REVERT_TUNING, revert, c.revert.all = 1), 0);
    BAD(REQUEST(revert_tuning, REVERT_TUNING, revert, (c.revert.devices = c.names, c.revert.n_devices = 17)),
        0, "revert_tuning: devices: has more than 16");
    GOOD(REQUEST(build_kernels, BUILD_KERNELS, build_kernels, (void)0), 1);
    BAD(REQUEST(build_kernels, BUILD_KERNELS, build_kernels, (void)0), 0, "descriptor");
    BAD(REQUEST(build_kernels, BUILD_KERNELS, build_kernels, c.build_kernels.device = NULL), 1,
        "device: is missing");
    BAD(REQUEST(submit_calibrate, SUBMIT_CALIBRATE, calibrate, c.calibrate.options = NULL), 0,
        "options: is missing");
    BAD(REQUEST(submit_calibrate, SUBMIT_CALIBRATE, calibrate,
                (c.calibrate.devices = c.names, c.calibrate.n_devices = 17)),
        0, "submit_calibrate: devices: has more than 16");
}

static void test_answers(void **state)
{
    (void)state;
    hac_sample_client_init(&c);
    refuse(decoder, HAC_SAMPLE_RESPONSE, &c.response.base, 0, "Response: is empty");
    BAD_RESPONSE(RESPONSE(ok, OK, empty, c.response.serial = 0), 0, "Response: serial: is missing");
    BAD_RESPONSE(RESPONSE(ok, OK, empty, 0), 1, "Response: 1 descriptors");
    GOOD_RESPONSE(RESPONSE(failure, FAILURE, failure, c.response.serial = 0), 0);
    GOOD_RESPONSE(RESPONSE(failure, FAILURE, failure, c.failure.code = 13), 0);
    BAD_RESPONSE(RESPONSE(failure, FAILURE, failure, c.failure.code = 14), 0, "failure: code: is 14");
    BAD_RESPONSE(RESPONSE(failure, FAILURE, failure, c.failure.code = 0), 0, "failure: code: is missing");
    GOOD_RESPONSE(RESPONSE(failure, FAILURE, failure, c.failure.message = long_511), 0);
    BAD_RESPONSE(RESPONSE(failure, FAILURE, failure, c.failure.message = long_512), 0,
                 "message: has 512 bytes");
    BAD_RESPONSE(RESPONSE(failure, FAILURE, failure, c.failure.retry_after_seconds = -1), 0,
                 "seconds: is negative");
    BAD_RESPONSE(RESPONSE(buffer, BUFFER, buffer, c.buffer.bytes = 0), 0, "buffer: bytes: is missing");
    BAD_RESPONSE(RESPONSE(buffer, BUFFER, buffer, c.buffer.bytes = OFF_MAX + 1), 0, "buffer: bytes: is 922");
    BAD_RESPONSE(RESPONSE(buffer, BUFFER, buffer, c.buffer.attached = 1), 0,
                 "0 descriptors came with it, it takes 1");
    GOOD_RESPONSE(RESPONSE(buffer, BUFFER, buffer, c.buffer.attached = 1), 1);
    BAD_RESPONSE(RESPONSE(buffer, BUFFER, buffer, c.buffer.attached = 1), 2, "2 descriptors");
    BAD_RESPONSE(RESPONSE(buffer, BUFFER, buffer, 0), 1, "1 descriptors");
}

static void test_events(void **state)
{
    (void)state;
#define EVENT(change) RESPONSE(event, EVENT, event, (c.response.serial = 0, (change)))
    GOOD_RESPONSE(EVENT(c.event.eta_seconds = -1), 0);
    BAD_RESPONSE(EVENT(c.response.serial = 1), 0, "serial: an event has none");
    BAD_RESPONSE(EVENT(c.event.fraction = 1.001), 0, "fraction: is above 1");
    BAD_RESPONSE(EVENT(c.event.fraction = -0.1), 0, "fraction: is negative");
    BAD_RESPONSE(EVENT(c.event.fraction = (double)NAN), 0, "fraction: is not");
    BAD_RESPONSE(EVENT(c.event.eta_seconds = (double)INFINITY), 0, "eta_seconds: is not");
    BAD_RESPONSE(EVENT(c.event.state = 6), 0, "state: 6 is not");
    BAD_RESPONSE(EVENT(c.event.stage = long_256), 0, "stage: has 256");
    GOOD_RESPONSE(EVENT(c.event.note = long_511), 0);
    BAD_RESPONSE(EVENT(c.event.note = long_512), 0, "note: has 512");
    BAD_RESPONSE(EVENT(0), 1, "1 descriptors");
}

static void done_without_result(int job_state, Hac__Client__Failure *failure)
{
    c.done.state = (Hac__Client__JobState)job_state;
    c.done.result_case = HAC__CLIENT__JOB_DONE__RESULT__NOT_SET;
    c.done.failure = failure;
}

static void done_with_buffer(uint64_t bytes, uint64_t result_bytes, int attached)
{
    c.done.result_case = HAC__CLIENT__JOB_DONE__RESULT_BUFFER;
    c.done.buffer = &c.buffer;
    c.buffer.bytes = bytes;
    c.buffer.attached = attached;
    c.done.result_bytes = result_bytes;
}

static void test_job_done(void **state)
{
    (void)state;
#define DONE(change) RESPONSE(done, DONE, done, change)
    static char text[HAC_INLINE_MAX + 2];
    memset(text, 't', HAC_INLINE_MAX);
    GOOD_RESPONSE(DONE((done_without_result(3, NULL), c.done.text = text)), 0);
    text[HAC_INLINE_MAX] = 't';
    BAD_RESPONSE(DONE((done_without_result(3, NULL), c.done.text = text)), 0, "done: text: has 32769");
    GOOD_RESPONSE(DONE(done_without_result(4, &c.failure)), 0);
    GOOD_RESPONSE(DONE(done_without_result(5, &c.failure)), 0);
    GOOD_RESPONSE(DONE(done_without_result(5, NULL)), 0);
    BAD_RESPONSE(DONE(done_without_result(2, NULL)), 0, "state: the job has not ended");
    BAD_RESPONSE(DONE(done_without_result(0, NULL)), 0, "state: the job has not ended");
    BAD_RESPONSE(DONE(done_without_result(6, NULL)), 0, "state: 6 is not");
    BAD_RESPONSE(DONE(done_without_result(3, &c.failure)), 0, "failure: is there, but");
    BAD_RESPONSE(DONE(done_without_result(4, NULL)), 0, "failure: is missing");
    BAD_RESPONSE(DONE((c.done.state = 4, c.done.failure = &c.failure)), 0, "there is a result, but");
    BAD_RESPONSE(DONE(c.done.result_bytes = 4095), 0, "result_bytes: is 4095, but there are 4096");
    BAD_RESPONSE(DONE((c.done.data.len = HAC_INLINE_MAX + 1, c.done.result_bytes = HAC_INLINE_MAX + 1)), 0,
                 "data: has 32769");
    BAD_RESPONSE(DONE(0), 1, "1 descriptors");
    GOOD_RESPONSE(DONE(done_with_buffer(100, 100, 0)), 0);
    GOOD_RESPONSE(DONE(done_with_buffer(100, 100, 1)), 1);
    BAD_RESPONSE(DONE(done_with_buffer(100, 100, 1)), 0, "0 descriptors");
    BAD_RESPONSE(DONE(done_with_buffer(100, 101, 0)), 0, "result_bytes: is 101, but the buffer has 100");
    BAD_RESPONSE(DONE(done_with_buffer(100, UINT64_MAX, 0)), 0, "result_bytes: is 18446744073709551615");
    BAD_RESPONSE(DONE(c.done.seconds = -1), 0, "seconds: is negative");
}

static void split_with_buffer(uint64_t bytes, uint64_t result_bytes, int attached)
{
    c.split_done.result_case = HAC__CLIENT__SPLIT_DONE__RESULT_BUFFER;
    c.split_done.buffer = &c.buffer;
    c.buffer.bytes = bytes;
    c.buffer.attached = attached;
    c.split_done.result_bytes = result_bytes;
}

static void split_with_data(size_t length, uint64_t result_bytes)
{
    c.split_done.result_case = HAC__CLIENT__SPLIT_DONE__RESULT_DATA;
    c.split_done.data = (ProtobufCBinaryData){length, c.data};
    c.split_done.result_bytes = result_bytes;
}

static void test_split_done(void **state)
{
    (void)state;
#define SPLIT_DONE(change) RESPONSE(split_done, SPLIT_DONE, split_done, change)
    GOOD_RESPONSE(SPLIT_DONE(0), 0);
    BAD_RESPONSE(SPLIT_DONE(0), 1, "1 descriptors");
    BAD_RESPONSE(SPLIT_DONE(c.split_done.result_bytes = 1), 0, "result_bytes: is 1, but there are 0");
    GOOD_RESPONSE(SPLIT_DONE(split_with_data(HAC_INLINE_MAX, HAC_INLINE_MAX)), 0);
    BAD_RESPONSE(SPLIT_DONE(split_with_data(HAC_INLINE_MAX + 1, HAC_INLINE_MAX + 1)), 0, "data: has 32769");
    BAD_RESPONSE(SPLIT_DONE(split_with_data(100, 99)), 0, "result_bytes: is 99, but there are 100");
    BAD_RESPONSE(SPLIT_DONE(split_with_data(100, 101)), 0, "result_bytes: is 101, but there are 100");
    GOOD_RESPONSE(SPLIT_DONE(split_with_buffer(100, 99, 0)), 0);
    GOOD_RESPONSE(SPLIT_DONE(split_with_buffer(100, 100, 1)), 1);
    BAD_RESPONSE(SPLIT_DONE(split_with_buffer(100, 100, 1)), 0, "0 descriptors");
    BAD_RESPONSE(SPLIT_DONE(split_with_buffer(100, 101, 0)), 0, "result_bytes: is 101, but there are 100");
    BAD_RESPONSE(SPLIT_DONE(c.response.serial = 0), 0, "serial: is missing");
}

static void text_of(size_t length, uint64_t bytes)
{
    c.text.text = (ProtobufCBinaryData){length, c.data};
    c.text.bytes = bytes;
}

static void test_text(void **state)
{
    (void)state;
#define TEXT(change) RESPONSE(text, TEXT, text, change)
    GOOD_RESPONSE(TEXT(text_of(0, 0)), 0);
    GOOD_RESPONSE(TEXT(text_of(HAC_INLINE_MAX, HAC_INLINE_MAX)), 0);
    BAD_RESPONSE(TEXT(text_of(HAC_INLINE_MAX + 1, HAC_INLINE_MAX + 1)), 0, "text: text: has 32769");
    GOOD_RESPONSE(TEXT(text_of(1, HAC_TEXT_MAX)), 0);
    BAD_RESPONSE(TEXT(text_of(1, HAC_TEXT_MAX + 1)), 0, "text: bytes: is 67108865");
    BAD_RESPONSE(TEXT(text_of(0, 100)), 0, "bytes: is 100, but there are 0");
    BAD_RESPONSE(TEXT(text_of(100, 100)), 1, "1 descriptors came with it, it takes 0");
    GOOD_RESPONSE(TEXT(text_of(100, 200)), 0);
    BAD_RESPONSE(TEXT(text_of(100, 99)), 0, "bytes: is 99, but there are 100");
}

/* What is refused by the peer is not sent either, and the error says so. */
static void test_encode_refuses(void **state)
{
    (void)state;
    static uint8_t body[HAC_FRAME_BODY_MAX];
    size_t bytes = 7;
    hac_error err = HAC_ERROR_NONE;
    SUBMIT(c.input.name = (char *)(uintptr_t) "\xff");
    assert_int_equal(hac_encode(&c.request.base, body, &bytes, &err), HAC_INTERNAL);
    assert_int_equal(err.code, HAC_INTERNAL);
    assert_string_equal(err.message,
                        "a message would break the protocol: Request: submit_sort: input: name: is not "
                        "valid UTF-8");
    DONE((c.done.data.len = HAC_INLINE_MAX + 1, c.done.text = long_511));
    assert_int_equal(hac_encode(&c.response.base, body, &bytes, NULL), HAC_INTERNAL);
    c.done.data.len = HAC_INLINE_MAX;
    static char text[HAC_INLINE_MAX + 1];
    memset(text, 't', HAC_INLINE_MAX);
    c.done.text = text;
    assert_int_equal(hac_encode(&c.response.base, body, &bytes, &err), HAC_INTERNAL);
    assert_non_null(strstr(err.message, "does not fit a frame"));
    assert_int_equal(bytes, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request_itself),
        cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_sort_spec),
        cmocka_unit_test(test_job_options),
        cmocka_unit_test(test_input_in_a_buffer),
        cmocka_unit_test(test_input_inline),
        cmocka_unit_test(test_input_descriptors),
        cmocka_unit_test(test_payload),
        cmocka_unit_test(test_plan_sort),
        cmocka_unit_test(test_other_requests),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_job_done),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_encode_refuses),
        cmocka_unit_test(test_compiled_query),
        cmocka_unit_test(test_query_spec),
        cmocka_unit_test(test_query_table),
        cmocka_unit_test(test_query_inputs),
        cmocka_unit_test(test_ops),
        cmocka_unit_test(test_footers),
        cmocka_unit_test(test_plan_query),
        cmocka_unit_test(test_query_splits),
        cmocka_unit_test(test_append_split),
        cmocka_unit_test(test_split_in_file),
        cmocka_unit_test(test_append_graph),
        cmocka_unit_test(test_output),
        cmocka_unit_test(test_split_done),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
