/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of hacd: names, types and meaning, in one table. `hacctl metrics` takes its HELP lines from it,
 * docs/metrics.md is generated from it (target hac_metrics_docs), and a test compares both with the rules and
 * the dashboard in docs/examples/monitoring. */
#ifndef SERVER_METRICS_TABLE_H
#define SERVER_METRICS_TABLE_H

/* X(CONSTANT, family, type, unit, labels, help, what to make of it) */
#define HAC_METRICS(X)                                                                                       \
    X(BUILD, "hacd_build", "info", "", "version, protocol", "The daemon that runs.",                         \
      "Which release answered; a change is an upgrade")                                                      \
    X(START, "hacd_start_time_seconds", "gauge", "seconds", "", "When hacd was started, since the epoch.",   \
      "Resets of all counters; many are a crash loop (alert HacdRestarts), none at all a daemon that is "    \
      "gone (alert HacdDown)")                                                                               \
    X(DRAINING, "hacd_draining", "gauge", "", "", "1 while hacd takes no new jobs and is about to leave.",   \
      "1 for long: a job does not end")                                                                      \
    X(RESIDENT, "hacd_resident_memory_bytes", "gauge", "bytes", "",                                          \
      "Memory of hacd itself; pool memory is not among it.",                                                 \
      "Steady growth without jobs is a leak (alert HacdMemoryGrows)")                                        \
    X(CPU, "hacd_cpu_seconds", "counter", "seconds", "", "CPU time of hacd itself.",                         \
      "What the control plane costs; a core of it for long is an attack, or a defect")                       \
    X(TURN, "hacd_loop_turn_seconds", "histogram", "seconds", "",                                            \
      "How long one turn of the event loop was at work.",                                                    \
      "hacd is one thread: what takes long here delays everybody (alert HacdLoopSlow)")                      \
    X(JOBS, "hacd_jobs", "gauge", "", "flow, state", "Jobs that have not ended, by flow and state.",         \
      "Load; state `waiting` waits for its client's input, not for a device")                                \
    X(QUEUE, "hacd_queue_length_jobs", "gauge", "jobs", "", "Jobs that wait for their turn.",                \
      "More than none for long: more work than devices (alert HacdQueueLong)")                               \
    X(ENDED, "hacd_jobs_ended", "counter", "", "state, flow", "Jobs that have ended, by outcome and flow.",  \
      "Rate of work done; the share of `failed` (alert HacdJobsFail)")                                       \
    X(QUEUE_TIME, "hacd_job_queue_seconds", "histogram", "seconds", "flow",                                  \
      "Time from a job's acceptance to its first task.",                                                     \
      "What users feel of the queue (alert HacdQueueSlow)")                                                  \
    X(RUN_TIME, "hacd_job_run_seconds", "histogram", "seconds", "flow",                                      \
      "Time from a job's first task to its end; of jobs that are done.", "Latency by flow")                  \
    X(BUILD_TIME, "hacd_job_build_seconds", "counter", "seconds", "flow",                                    \
      "Time that jobs waited for kernels to be built.", "High after an upgrade or with a new driver only")   \
    X(BYTES_IN, "hacd_job_input_bytes", "counter", "bytes", "flow", "Input of jobs that have ended.",        \
      "Throughput")                                                                                          \
    X(BYTES_OUT, "hacd_job_output_bytes", "counter", "bytes", "flow", "Results of jobs that are done.",      \
      "Throughput")                                                                                          \
    X(JOB_ERROR, "hacd_job_prediction_ratio", "histogram", "ratio", "flow",                                  \
      "Predicted time of a job divided by the measured one.",                                                \
      "1 is right; below 1, jobs take longer than planned (alert HacdPredictionOff)")                        \
    X(RETRIES, "hacd_task_retries", "counter", "", "flow",                                                   \
      "Tasks that were lost with an executor as they ran.", "Follows hacd_executor_deaths")                  \
    X(RESTARTS, "hacd_job_restarts", "counter", "", "flow", "Jobs that started over from their inputs.",     \
      "Work lost to dying executors")                                                                        \
    X(CAPABILITY, "hacd_job_capability_ratio", "gauge", "ratio", "flow",                                     \
      "Capability ratio k of the last job with one.",                                                        \
      "Weaker device ÷ stronger one; it changes with drivers")                                               \
    X(SHARE, "hacd_job_share_ratio", "gauge", "ratio", "flow, device, kind",                                 \
      "Share of each device in the last job that was split; kind: planned, measured.",                       \
      "They drift apart when a model is wrong or a device is busy")                                          \
    X(USABLE, "hacd_device_usable", "gauge", "", "device", "1 if the device is used, 0 if not.",             \
      "0: `hacctl devices` says why (alert HacdDeviceDown)")                                                 \
    X(BUSY, "hacd_device_busy_seconds", "counter", "seconds", "device", "Time spent in tasks.",              \
      "Its rate is the device's use: 1 is all of it (alert HacdDeviceIdle)")                                 \
    X(PREDICTED, "hacd_device_predicted_seconds", "counter", "seconds", "device",                            \
      "Predicted time of the tasks behind hacd_device_busy_seconds.",                                        \
      "Divide the rates: 1 is a right model")                                                                \
    X(TASK_ERROR, "hacd_task_prediction_ratio", "histogram", "ratio", "device",                              \
      "Predicted time of a task divided by the measured one.", "How good the models are, task by task")      \
    X(BACKLOG, "hacd_device_backlog_seconds", "gauge", "seconds", "device",                                  \
      "Predicted time of the tasks that executors of the device hold.", "Tenths of a second at most")        \
    X(TASKS, "hacd_tasks", "counter", "", "device", "Tasks that have ended, with success or not.", "Rate")   \
    X(TASKS_LOST, "hacd_tasks_lost", "counter", "", "device",                                                \
      "Tasks of executors that died, started or not.", "Follows hacd_executor_deaths")                       \
    X(MODELS, "hacd_models", "gauge", "", "device", "Performance models (codelet, type, size) learnt.",      \
      "0 long after the start: state is not kept")                                                           \
    X(MODEL_ERROR, "hacd_model_error_ratio", "gauge", "ratio", "device",                                     \
      "Median absolute deviation of the models' samples, relative; mean over all samples.",                  \
      "How steady the device is; 0.3 and more: something else runs on it")                                   \
    X(EXECUTORS, "hacd_executors", "gauge", "", "device, state", "Executor processes.",                      \
      "One a device and user")                                                                               \
    X(STARTS, "hacd_executor_starts", "counter", "", "device", "Executors that were started.",               \
      "Many: users come and go faster than executor_idle_timeout")                                           \
    X(DEATHS, "hacd_executor_deaths", "counter", "", "device, cause",                                        \
      "Executors that have ended; cause: asked, hung, sigkill, signal, exit.",                               \
      "All but `asked` are failures; `sigkill` that nobody sent is the OOM killer (alert HacdExecutorsDie)") \
    X(EXECUTOR_RESTARTS, "hacd_executor_restarts", "counter", "", "",                                        \
      "Executors that died without being asked to.", "The sum of the failures in hacd_executor_deaths")      \
    X(FILL, "hacd_splice_fill_ratio", "histogram", "ratio", "device",                                        \
      "Highest fill of a WorkingBuffer in a task, of its capacity.",                                         \
      "Always 1 with many pauses: the device is the bottleneck; low: reading is")                            \
    X(PAUSES, "hacd_splice_pauses", "counter", "", "device",                                                 \
      "Data blocks that waited for the device to be triggered.",                                             \
      "Divide by hacd_splice_blocks: back-pressure (alert HacdSplicePauses)")                                \
    X(TRIGGERS, "hacd_splice_triggers", "counter", "", "device", "Times that the device was triggered.",     \
      "Data sets")                                                                                           \
    X(BLOCKS, "hacd_splice_blocks", "counter", "", "device",                                                 \
      "Data blocks that went into a LaunchingBuffer.", "Rate")                                               \
    X(SPLICE_BYTES, "hacd_splice_bytes", "counter", "bytes", "device", "Bytes in these data blocks.",        \
      "Throughput")                                                                                          \
    X(STAGES, "hacd_splice_stage_seconds", "counter", "seconds", "device, stage",                            \
      "Work time of each stage of splice, summed over its threads.", "The largest one is the bottleneck")    \
    X(CONNECTIONS, "hacd_connections", "gauge", "", "", "Open connections.", "Load")                         \
    X(ACCEPTED, "hacd_connections_accepted", "counter", "", "", "Connections that were accepted.", "Rate")   \
    X(CONNECTIONS_REFUSED, "hacd_connections_refused", "counter", "", "reason",                              \
      "Connections that were not served; reason: limit, descriptors, error.",                                \
      "`descriptors`: raise LimitNOFILE (alert HacdRefuses)")                                                \
    X(CUT, "hacd_connections_cut", "counter", "", "",                                                        \
      "Connections that hacd ended: protocol broken, or unread answers.",                                    \
      "A client that is broken, or hostile; the log names its user (alert HacdClientsCut)")                  \
    X(REQUESTS, "hacd_requests", "counter", "", "", "Requests of clients.", "Rate")                          \
    X(REFUSED, "hacd_requests_refused", "counter", "", "reason",                                             \
      "Requests that were answered by an error, by its kind; `refused` is a limit.",                         \
      "Users at their limits (alert HacdRefuses)")                                                           \
    X(USER_MEMORY, "hacd_user_memory_bytes", "gauge", "bytes", "user, kind",                                 \
      "Pool memory of a user (uid); kind: used, or kept for its next job.",                                  \
      "Beside its limit (alert HacdUserAtLimit)")                                                            \
    X(USER_MEMORY_LIMIT, "hacd_user_memory_limit_bytes", "gauge", "bytes", "user", "Limit of both.",         \
      "Configuration")                                                                                       \
    X(USER, "hacd_user_resources", "gauge", "", "user, resource",                                            \
      "Resources in use by a user; resource: connections, jobs, running_jobs, descriptors.",                 \
      "Beside its limit (alert HacdUserAtLimit)")                                                            \
    X(USER_LIMIT, "hacd_user_resources_limit", "gauge", "", "user, resource", "Limits of these.",            \
      "Configuration")                                                                                       \
    X(USER_SECONDS, "hacd_user_device_seconds", "counter", "seconds", "user",                                \
      "Device time that a user has spent, weighted by the capability of the devices.",                       \
      "Shares of the machine")                                                                               \
    X(USER_REFUSED, "hacd_user_refused", "counter", "", "user, resource",                                    \
      "Refused requests of a user, because of a limit or of other users; resource: memory, descriptors, "    \
      "connections, jobs, unread_descriptors.",                                                              \
      "Who is at a limit; ends with the user's last connection, job and buffer")                             \
    X(LOG, "hacd_log_records", "counter", "", "level", "Records written to the log.", "Rate of errors")      \
    X(LOG_DROPPED, "hacd_log_records_dropped", "counter", "", "reason",                                      \
      "Records not written; reason: limit (one a user, kind and minute), lost (the log took no more).",      \
      "`lost`: the journal does not keep up (alert HacdLogLost); `limit`: somebody makes many")              \
    X(HTTP, "hacd_metrics_http_requests", "counter", "", "result",                                           \
      "Requests for metrics over HTTP; result: served, refused, late.",                                      \
      "`late`: a client that did not finish in time")

#define HAC_METRIC_CONSTANT(constant, name, type, unit, labels, help, use) HAC_METRIC_##constant,
typedef enum hac_metric_family { HAC_METRICS(HAC_METRIC_CONSTANT) HAC_N_METRICS } hac_metric_family;
#undef HAC_METRIC_CONSTANT

typedef struct hac_metric_description {
    const char *name, *type, *unit, *labels, *help, *use;
} hac_metric_description;
extern const hac_metric_description hac_metric_descriptions[HAC_N_METRICS];

#endif
