/* SPDX-License-Identifier: Apache-2.0 */
/* For tests and fuzzing: a valid message of every kind, and the means to spoil it. */
#ifndef HAC_SAMPLES_H
#define HAC_SAMPLES_H

#include "base/query_layout.h"
#include "proto/frame.h"
#include "proto/messages.h"

typedef enum hac_sample_kind {
    HAC_SAMPLE_REQUEST = 0,
    HAC_SAMPLE_RESPONSE,
    HAC_SAMPLE_COMMAND,
    HAC_SAMPLE_REPORT,
    HAC_SAMPLE_KINDS
} hac_sample_kind;

extern const char *const hac_sample_kind_names[HAC_SAMPLE_KINDS];

typedef struct hac_sample {
    const char *name;
    size_t n_fds;
    size_t bytes;
    uint8_t body[HAC_FRAME_BODY_MAX];
} hac_sample;

/* Number of samples of a kind; fills in the index-th. */
size_t hac_sample_count(hac_sample_kind kind);
void hac_sample_get(hac_sample_kind kind, size_t index, hac_sample *ret);

/* All parts that messages are made of, valid: change some, and pack. */
typedef struct hac_sample_client {
    Hac__Client__Request request;
    Hac__Client__Response response;
    Hac__Client__Hello hello;
    Hac__Client__BufferAlloc alloc;
    Hac__Client__BufferGrow grow;
    Hac__Client__BufferRelease release;
    Hac__Client__SubmitSort sort;
    Hac__Client__SortSpec spec;
    Hac__Client__Input input, payload;
    Hac__Client__JobOptions options;
    Hac__Client__PlanSort plan;
    Hac__Client__SimulatedDevice device;
    Hac__Client__Capability capability;
    Hac__Client__Query query;
    Hac__Client__JobRef job;
    Hac__Client__SubmitCalibrate calibrate;
    Hac__Client__RevertTuning revert;
    Hac__Client__MoreText more_text;
    Hac__Client__BuildKernels build_kernels;
    Hac__Client__SubmitQuery submit_query;
    Hac__Client__AppendSplit split;
    Hac__Client__PlanQuery plan_query;
    Hac__Client__SubmitOps submit_ops;
    Hac__Client__PlanOps plan_ops;
    Hac__Client__AppendGraph append_graph;
    Hac__Client__Output output;
    Hac__Client__OpTask op_task, second_op;
    Hac__Client__OpSpan op_span;
    Hac__Client__QuerySpec query_spec;
    Hac__Client__QuerySource source;
    Hac__Client__CompiledQuery compiled;
    Hac__Client__QueryMethod method;
    Hac__Client__Empty empty;
    Hac__Client__Failure failure;
    Hac__Client__Buffer buffer;
    Hac__Client__JobAccepted accepted;
    Hac__Client__JobEvent event;
    Hac__Client__JobDone done;
    Hac__Client__SplitDone split_done;
    Hac__Client__GraphDone graph_done;
    Hac__Client__Text text;
    Hac__Client__SimulatedDevice *devices[17];
    Hac__Client__Capability *capabilities[33];
    Hac__Client__Input *inputs[HAC_DESCRIPTORS_MAX + 1];
    Hac__Client__OpTask *op_tasks[513];
    Hac__Client__OpSpan *op_spans[17];
    uint32_t op_buffers[33], op_after[65];
    uint64_t sources[HAC_DESCRIPTORS_MAX + 1];
    char *names[17];
    uint32_t steps[65];
    uint8_t data[HAC_INLINE_MAX + 1];
} hac_sample_client;

typedef struct hac_sample_executor {
    Hac__Executor__Command command;
    Hac__Executor__Report report;
    Hac__Executor__Setup setup;
    Hac__Executor__BufferAdd buffer_add;
    Hac__Executor__BufferRemove buffer_remove;
    Hac__Executor__DescriptorAdd descriptor_add;
    Hac__Executor__DescriptorRemove descriptor_remove;
    Hac__Executor__Run run, *runs[2];
    Hac__Executor__Span span;
    Hac__Executor__Build build;
    Hac__Executor__Ping ping;
    Hac__Executor__Nothing nothing;
    Hac__Executor__DeviceFacts facts;
    Hac__Executor__ProbeReport probe;
    Hac__Executor__Ready ready;
    Hac__Executor__Done done, *dones[2];
    Hac__Executor__Built built;
    Hac__Executor__BuildEnd build_end;
    Hac__Executor__Image image;
    Hac__Executor__Pong pong;
    Hac__Executor__Span *spans[17];
    Hac__Executor__DeviceFacts *devices[65];
    uint32_t affinity[257];
    uint64_t numbers[32];
    char *names[65];
    uint8_t data[HAC_QUERY_INLINE_MAX + 1];
} hac_sample_executor;

/* Every part valid, request and response without a member. */
void hac_sample_client_init(hac_sample_client *c);
void hac_sample_executor_init(hac_sample_executor *e);

/* Makes the part a request's (… report's) member. */
#define hac_sample_choose(owner, member, CASE, part) ((owner).what_case = (CASE), (owner).member = (part))

#endif
