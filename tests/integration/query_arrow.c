/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries of columns through libhac and a running hacd: groups of u32 keys are counted and summed, with hot
 * keys on and off, in pool memory and copied into it; a plain loop is the oracle.
 *
 *     query_arrow ROWS KEYS SKEW   (SKEW: 0 uniform, 1 half of the rows have key 0)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hac/hac.h>

static void keep_schema(struct ArrowSchema *schema)
{
    (void)schema;
}

static void keep_array(struct ArrowArray *array)
{
    (void)array;
}

static void must(hac_status status, const hac_error *err, const char *what)
{
    if (status == HAC_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, err->message);
    exit(1);
}

typedef struct input {
    uint64_t rows, keys;
    uint32_t *key;
    int64_t *value;
    int64_t *sum, *count; /* by key: the oracle */
} input;

/* `skew` sixteenths of the rows have key 0. */
static void fill(input *in, unsigned skew)
{
    uint64_t x = 88172645463325252u;
    in->sum = calloc(in->keys, sizeof *in->sum);
    in->count = calloc(in->keys, sizeof *in->count);
    if (in->sum == NULL || in->count == NULL)
        exit(1);
    for (uint64_t i = 0; i < in->rows; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        in->key[i] = (x >> 60) < skew ? 0 : (uint32_t)(x % in->keys);
        in->value[i] = (int64_t)(x >> 20) % 1000 - 500;
        in->sum[in->key[i]] += in->value[i];
        in->count[in->key[i]]++;
    }
}

static void check(const input *in, hac_job *job, const char *what)
{
    hac_error err = HAC_ERROR_NONE;
    struct ArrowSchema schema;
    struct ArrowArray array;
    must(hac_job_export_arrow(job, &schema, &array, &err), &err, what);
    uint64_t groups = 0;
    for (uint64_t k = 0; k < in->keys; k++)
        groups += in->count[k] > 0;
    int bad = array.n_children != 3 || (uint64_t)array.length != groups ||
              strcmp(schema.children[0]->format, "I") != 0 || strcmp(schema.children[1]->format, "l") != 0;
    for (int64_t i = 0; i < array.length && !bad; i++) {
        uint32_t key = ((const uint32_t *)array.children[0]->buffers[1])[i];
        bad = key >= in->keys || ((const int64_t *)array.children[1]->buffers[1])[i] != in->sum[key] ||
              ((const int64_t *)array.children[2]->buffers[1])[i] != in->count[key];
    }
    printf("%s: %" PRId64 " groups: %s\n", what, array.length, bad ? "WRONG" : "right");
    schema.release(&schema);
    array.release(&array);
    if (bad)
        exit(1);
}

static void run(hac_client *client, const input *in, hac_engine engine, hac_hot_keys hot, const char *what)
{
    hac_error err = HAC_ERROR_NONE;
    const void *buffers[2][2] = {{NULL, in->key}, {NULL, in->value}}, *none[1] = {NULL};
    struct ArrowSchema fields[2] = {{.format = "I", .name = "k", .release = keep_schema},
                                    {.format = "l", .name = "v", .release = keep_schema}};
    struct ArrowArray columns[2], *children[2] = {&columns[0], &columns[1]};
    struct ArrowSchema *field_at[2] = {&fields[0], &fields[1]};
    for (int i = 0; i < 2; i++)
        columns[i] = (struct ArrowArray){
            .length = (int64_t)in->rows, .n_buffers = 2, .buffers = buffers[i], .release = keep_array};
    struct ArrowSchema schema = {
        .format = "+s", .name = "", .n_children = 2, .children = field_at, .release = keep_schema};
    struct ArrowArray array = {.length = (int64_t)in->rows,
                               .n_buffers = 1,
                               .buffers = none,
                               .n_children = 2,
                               .children = children,
                               .release = keep_array};
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    options.group_by = "k";
    options.select = "sum(v) as s, count() as n";
    options.result_format = HAC_RESULT_TABLE;
    options.engine = engine;
    options.hot_keys = hot;
    hac_job *job = NULL;
    must(hac_query_arrow(client, &schema, &array, &options, &job, &err), &err, what);
    must(hac_job_wait(job, -1, &err), &err, what);
    char *receipt = NULL;
    must(hac_client_query(client, HAC_TOPIC_RECEIPT, hac_job_id(job), HAC_PLAN_JSON, &receipt, &err), &err,
         what);
    const char *query = strstr(receipt, "\"query\":"),
               *ran = query != NULL ? strstr(query, "\"engine\":") : NULL;
    printf("job %llu %.20s ", (unsigned long long)hac_job_id(job), ran != NULL ? ran : "no engine");
    free(receipt);
    check(in, job, what);
    hac_job_free(job);
}

int main(int argc, char **argv)
{
    hac_error err = HAC_ERROR_NONE;
    hac_client *client = NULL;
    hac_buffer *pool = NULL;
    input in = {.rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000,
                .keys = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000};
    must(hac_client_connect(NULL, &client, &err), &err, "connect");
    uint64_t key_bytes = (in.rows * sizeof(uint32_t) + 63) / 64 * 64;
    must(hac_buffer_alloc(client, key_bytes + in.rows * sizeof(int64_t) + 64, &pool, &err), &err, "buffer");
    in.key = hac_buffer_data(pool);
    in.value = (int64_t *)(void *)((char *)hac_buffer_data(pool) + key_bytes);
    fill(&in, argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0);
    run(client, &in, HAC_ENGINE_AUTO, HAC_HOT_KEYS_AUTO, "in the pool");
    run(client, &in, HAC_ENGINE_AUTO, HAC_HOT_KEYS_ON, "hot keys on");
    run(client, &in, HAC_ENGINE_HOST, HAC_HOT_KEYS_AUTO, "by the host");
    run(client, &in, HAC_ENGINE_DEVICE, HAC_HOT_KEYS_OFF, "hot keys off");
    input copy = in;
    copy.key = malloc(in.rows * sizeof(uint32_t) + 1);
    copy.value = malloc(in.rows * sizeof(int64_t) + 1);
    if (copy.key == NULL || copy.value == NULL)
        return 1;
    memcpy(copy.key, in.key, in.rows * sizeof(uint32_t));
    memcpy(copy.value, in.value, in.rows * sizeof(int64_t));
    run(client, &copy, HAC_ENGINE_AUTO, HAC_HOT_KEYS_AUTO, "copied in");
    free(copy.key);
    free(copy.value);
    free(in.sum);
    free(in.count);
    hac_buffer_free(pool);
    hac_client_free(client);
    return 0;
}
