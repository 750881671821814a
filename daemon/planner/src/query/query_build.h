/* SPDX-License-Identifier: Apache-2.0 */
/* The plans a query can become. Each plan is built for a given set of devices; query_plan.c prices them and
 * chooses. */
#ifndef PLANNER_QUERY_BUILD_H
#define PLANNER_QUERY_BUILD_H

#include "plan/device_set.h"
#include "plan/price.h"
#include "planner/query_plan.h"

typedef enum hac_query_strategy {
    HAC_QUERY_WHOLE = 0, /* one task */
    HAC_QUERY_ROWS,      /* no aggregation */
    HAC_QUERY_HOST,      /* query.aggregate */
    HAC_QUERY_DEVICE,    /* hash.aggregate */
    HAC_QUERY_MIXED      /* query.aggregate on CPUs, hash.aggregate on other devices */
} hac_query_strategy;

/* How large the parts of a query's plan are. */
typedef struct hac_query_sizes {
    uint64_t chunk, chunks; /* bytes, or rows of a table */
    uint64_t region;        /* bytes of partials (or rows) a chunk, in one pass */
    uint32_t partitions, passes;
    uint64_t group_region;     /* as estimated; with several passes as it stays */
    uint64_t groups;           /* estimated */
    uint64_t part_rows, parts; /* of rows in an order; 0: not in parts */
    uint64_t grain;            /* chunks that a piece has at least: one a thread */
} hac_query_sizes;

/* Sizes for a query on `n` devices. HAC_REFUSED: there is not enough memory. */
HAC_MUST_USE hac_status hac_query_size(const hac_query_spec *spec, const hac_machine *machine,
                                       const uint32_t *devices, size_t n, hac_query_sizes *ret,
                                       hac_error *err);

/* Sets part_rows and parts for that many rows. */
void hac_query_choose_parts(const hac_query_spec *spec, uint64_t rows, hac_query_sizes *sizes);
/* Sizes of a round. */
void hac_query_round_sizes(const hac_query_spec *spec, uint32_t threads, hac_query_sizes *ret);

/* The maximum number of threads that one of the listed devices has. */
uint32_t hac_query_threads(const hac_machine *machine, const uint32_t *devices, size_t n);

/* Name of the codelet that does most of the work. */
const char *hac_query_codelet(const hac_query_spec *spec, hac_query_strategy strategy);

/* Whether the statistics of Parquet files hold the answer, as far as is known: tasks then read no rows. */
bool hac_query_is_answered(const hac_query_spec *spec);

/* Bytes that the query's tasks work on: without those that statistics answer, unless these answer all. */
uint64_t hac_query_work(const hac_query_spec *spec);

/* What the models of a codelet are kept under: formats differ too much to share one. */
void hac_query_model(const hac_query_spec *spec, const char *codelet, char *ret, size_t capacity);
/* The suffix of the narrower model number `which` of a codelet's tasks. Returns false if there is none. */
#define HAC_QUERY_NARROWER_MAX 64
bool hac_query_narrower(const hac_query_spec *spec, const char *codelet, size_t which,
                        char ret[HAC_QUERY_NARROWER_MAX]);

/* `host`: the devices that run host codelets. */
HAC_MUST_USE hac_status hac_query_build(const hac_machine *machine, const hac_query_spec *spec,
                                        const hac_query_sizes *sizes, hac_query_strategy strategy,
                                        const hac_device_set *set, const hac_device_set *host, hac_plan **ret,
                                        hac_error *err);
/* The plan of one round, by spec->round.stage. */
HAC_MUST_USE hac_status hac_query_build_round(const hac_machine *machine, const hac_query_spec *spec,
                                              const hac_query_sizes *sizes, hac_query_strategy strategy,
                                              const hac_device_set *set, const hac_device_set *host,
                                              hac_plan **ret, hac_error *err);
HAC_MUST_USE hac_status hac_query_build_footers(const hac_machine *machine, const hac_query_spec *spec,
                                                const hac_device_set *set, hac_plan **ret, hac_error *err);

#endif
