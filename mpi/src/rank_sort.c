/* SPDX-License-Identifier: Apache-2.0 */
/* hac-mpi sort: a sample sort. Equal items keep their input order: where keys of different ranks are
 * compared, the item of the lower rank is less, then the earlier one. A key that half of the items have is
 * therefore divided as well. */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/type.h"
#include "cli/output.h"
#include "commands.h"
#include "ranks.h"
#include "request/sort_request.h"

#define SAMPLES     256  /* of each rank, at equal distances in its sorted part */
#define PIECE_ITEMS 8192 /* items that are written together */
#define WIDTH_MAX   8    /* bytes of a key or a number */

/* A key as an unsigned integer in the order of the job, and its place in the sorted parts of all ranks in
 * a row. */
typedef struct rank_sample {
    uint64_t key, place;
} rank_sample;

typedef struct rank_sorting {
    hac_mpi *mpi;
    const hac_sort_options *options;
    size_t width; /* of a key */
    hac_key_order order;
    uint64_t infinity;   /* mapped; floats above it are NaN, which are all equal */
    uint64_t items;      /* in all */
    uint64_t first, own; /* of this rank's part */
    hac_buffer *keys, *places;
    hac_job *job;
    const uint8_t *sorted;     /* the keys of the part, in order */
    const uint64_t *sorted_at; /* with argsort: their numbers in the input */
    uint8_t *received;         /* the keys that this rank merges, rank by rank */
    uint64_t *received_at;     /* with argsort */
    uint64_t *runs;            /* run r is the received items [runs[r], runs[r + 1]) */
    uint64_t before;           /* items of the result before those of this rank */
} rank_sorting;

static void sorting_clear(rank_sorting *s)
{
    hac_job_free(s->job);
    hac_buffer_free(s->keys);
    hac_buffer_free(s->places);
    free(s->received);
    free(s->received_at);
    free(s->runs);
}

static unsigned ranks_of(const rank_sorting *s)
{
    return hac_mpi_ranks(s->mpi)->ranks;
}

static unsigned rank_of(const rank_sorting *s)
{
    return hac_mpi_ranks(s->mpi)->rank;
}

static bool has_runs(const rank_sorting *s, uint64_t items)
{
    return items > 0 && s->options->argsort;
}

/* ---- keys ---- */

static uint64_t mapped(const rank_sorting *s, const uint8_t *at)
{
    uint64_t wide;
    uint32_t narrow;
    if (s->width == sizeof wide)
        return hac_key_map64(s->order, *(uint64_t *)memcpy(&wide, at, sizeof wide));
    return hac_key_map32(s->order, *(uint32_t *)memcpy(&narrow, at, sizeof narrow));
}

static uint64_t key_at(const rank_sorting *s, const uint8_t *keys, uint64_t i)
{
    uint64_t key = mapped(s, keys + i * s->width);
    key = key > s->infinity ? UINT64_MAX : key;
    return s->options->descending ? ~key : key;
}

static void set_order(rank_sorting *s)
{
    const double wide = __builtin_inf();
    const float narrow = __builtin_inff();
    s->width = hac_type_size(s->options->type);
    s->order = hac_key_order_of(s->options->type, false);
    s->infinity = !hac_type_is_float(s->options->type) ? UINT64_MAX
                  : s->width == sizeof wide            ? mapped(s, (const uint8_t *)&wide)
                                                       : mapped(s, (const uint8_t *)&narrow);
}

static bool is_less(uint64_t key, uint64_t place, const rank_sample *than)
{
    return key != than->key ? key < than->key : place < than->place;
}

static int compare(const void *a, const void *b)
{
    const rank_sample *x = a, *y = b;
    return is_less(x->key, x->place, y) ? -1 : is_less(y->key, y->place, x) ? 1 : 0;
}

/* ---- this rank's part ---- */

static hac_status read_part(rank_sorting *s, const hac_sort_source *input, hac_client *client, hac_error *err)
{
    uint64_t bytes = s->own * s->width, done = 0, at = input->offset + s->first * s->width;
    hac_status status = hac_buffer_alloc(client, bytes, &s->keys, err);
    if (status == HAC_OK)
        status = hac_buffer_alloc(client, s->own * sizeof(uint64_t), &s->places, err);
    while (status == HAC_OK && done < bytes) {
        uint64_t want = bytes - done < HAC_OUTPUT_PIECE ? bytes - done : HAC_OUTPUT_PIECE;
        ssize_t n = pread(input->fd, (char *)hac_buffer_data(s->keys) + done, want, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? hac_fail_errno(err, HAC_FAILED, errno, "%s", input->name)
                         : hac_fail(err, HAC_FAILED, "%s: is shorter than it was", input->name);
        done += (uint64_t)n;
    }
    for (uint64_t i = 0; status == HAC_OK && i < s->own; i++)
        ((uint64_t *)hac_buffer_data(s->places))[i] = s->first + i;
    return status;
}

static hac_status sort_part(rank_sorting *s, const hac_sort_source *input, hac_client *client, hac_error *err)
{
    hac_sort_options options = *s->options;
    hac_status status;
    options.argsort = 0;
    if (s->own == 0)
        return HAC_OK;
    if (!s->options->argsort) {
        status = hac_sort_fd(client, input->fd, input->offset + s->first * s->width, s->own, input->name,
                             &options, &s->job, err);
    } else {
        status = read_part(s, input, client, err);
        if (status == HAC_OK)
            status =
                hac_sort_pairs(client, s->keys, s->places, sizeof(uint64_t), s->own, &options, &s->job, err);
    }
    if (status == HAC_OK)
        status = hac_job_wait(s->job, -1, err);
    if (status != HAC_OK)
        return status;
    s->sorted = hac_job_data(s->job);
    s->sorted_at = has_runs(s, s->own) ? hac_job_payload(s->job) : NULL;
    return HAC_OK;
}

/* ---- where the ranks' parts of the result begin ---- */

/* The number of items of this rank's sorted part that are less than the sample. */
static uint64_t count_less(const rank_sorting *s, const rank_sample *than)
{
    uint64_t low = 0, high = s->own;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (is_less(key_at(s, s->sorted, middle), s->first + middle, than))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static hac_status share_samples(const rank_sorting *s, rank_sample *samples, uint64_t *counts, hac_error *err)
{
    unsigned n = ranks_of(s);
    hac_autofree uint64_t *offsets = calloc(n + 1, sizeof *offsets);
    if (offsets == NULL)
        return hac_fail_no_memory(err);
    counts[rank_of(s)] = s->own < SAMPLES ? s->own : SAMPLES;
    for (uint64_t i = 0; i < counts[rank_of(s)]; i++) {
        uint64_t at = (uint64_t)((unsigned __int128)s->own * (2 * i + 1) / (2 * counts[rank_of(s)]));
        samples[rank_of(s) * SAMPLES + i] = (rank_sample){key_at(s, s->sorted, at), s->first + at};
    }
    for (unsigned r = 0; r <= n; r++)
        offsets[r] = r * SAMPLES * sizeof *samples;
    hac_status status = hac_mpi_share(s->mpi, samples, offsets, err);
    return status == HAC_OK ? hac_mpi_share_numbers(s->mpi, counts, err) : status;
}

/* Finds which items of this rank's part go to rank r: [ret_cuts[r], ret_cuts[r + 1]). */
static hac_status find_cuts(const rank_sorting *s, uint64_t *ret_cuts, hac_error *err)
{
    unsigned n = ranks_of(s);
    uint64_t all = 0;
    hac_autofree rank_sample *samples = calloc((size_t)n * SAMPLES, sizeof *samples);
    hac_autofree uint64_t *counts = calloc(n, sizeof *counts);
    if (samples == NULL || counts == NULL)
        return hac_fail_no_memory(err);
    hac_status status = share_samples(s, samples, counts, err);
    if (status != HAC_OK)
        return status;
    for (unsigned r = 0; r < n; all += counts[r++])
        memmove(samples + all, samples + (size_t)r * SAMPLES, counts[r] * sizeof *samples);
    qsort(samples, all, sizeof *samples, compare);
    for (unsigned r = 1; r < n; r++)
        ret_cuts[r] = all > 0 ? count_less(s, &samples[all * r / n]) : 0;
    ret_cuts[n] = s->own;
    return HAC_OK;
}

/* ---- exchange ---- */

static hac_status exchange_items(rank_sorting *s, const uint64_t *cuts, hac_error *err)
{
    unsigned n = ranks_of(s);
    uint64_t mine = s->runs[n];
    hac_autofree uint64_t *from = calloc(n + 1, sizeof *from);
    hac_autofree uint64_t *to = calloc(n + 1, sizeof *to);
    s->received = malloc(mine * s->width + 1);
    s->received_at = malloc((has_runs(s, mine) ? mine * sizeof(uint64_t) : 0) + 1);
    hac_status status = from == NULL || to == NULL || s->received == NULL || s->received_at == NULL
                            ? hac_fail_no_memory(err)
                            : HAC_OK;
    status = hac_mpi_agree(s->mpi, status, err);
    for (int places = 0; places <= (s->options->argsort ? 1 : 0) && status == HAC_OK; places++) {
        uint64_t size = places ? sizeof(uint64_t) : s->width;
        for (unsigned r = 0; r <= n; r++) {
            from[r] = cuts[r] * size;
            to[r] = s->runs[r] * size;
        }
        status = hac_mpi_exchange(s->mpi, places ? (const void *)s->sorted_at : s->sorted, from,
                                  places ? (void *)s->received_at : s->received, to, err);
    }
    return status;
}

/* Exchanges the numbers of items between all ranks, then the items. */
static hac_status exchange(rank_sorting *s, const uint64_t *cuts, hac_error *err)
{
    unsigned n = ranks_of(s);
    hac_autofree uint64_t *all = calloc((size_t)n * n, sizeof *all);
    hac_autofree uint64_t *offsets = calloc(n + 1, sizeof *offsets);
    s->runs = calloc(n + 1, sizeof *s->runs);
    if (all == NULL || offsets == NULL || s->runs == NULL)
        return hac_fail_no_memory(err);
    for (unsigned r = 0; r <= n; r++)
        offsets[r] = (uint64_t)r * n * sizeof *all;
    for (unsigned r = 0; r < n; r++)
        all[(size_t)rank_of(s) * n + r] = cuts[r + 1] - cuts[r];
    hac_status status = hac_mpi_share(s->mpi, all, offsets, err);
    for (unsigned r = 0; r < n; r++)
        for (unsigned to = 0; to < rank_of(s); to++)
            s->before += all[(size_t)r * n + to];
    for (unsigned r = 0; r < n; r++)
        s->runs[r + 1] = s->runs[r] + all[(size_t)r * n + rank_of(s)];
    return status == HAC_OK ? exchange_items(s, cuts, err) : status;
}

/* ---- merge ---- */

/* A heap of the next item of each run. The smallest item is on top; of equal items that of the lower rank. */
typedef struct heap {
    struct {
        uint64_t key, at, end;
        unsigned run;
    } * tops;
    unsigned n;
} heap;

static bool goes_before(const heap *h, unsigned a, unsigned b)
{
    return h->tops[a].key != h->tops[b].key ? h->tops[a].key < h->tops[b].key
                                            : h->tops[a].run < h->tops[b].run;
}

static void sink(heap *h, unsigned i)
{
    for (;;) {
        unsigned min = i;
        for (unsigned child = 2 * i + 1; child <= 2 * i + 2 && child < h->n; child++)
            if (goes_before(h, child, min))
                min = child;
        if (min == i)
            return;
        __typeof__(*h->tops) moved = h->tops[i];
        h->tops[i] = h->tops[min];
        h->tops[min] = moved;
        i = min;
    }
}

static void fill(const rank_sorting *s, heap *h)
{
    for (unsigned r = 0; r < ranks_of(s); r++) {
        if (s->runs[r] == s->runs[r + 1])
            continue;
        h->tops[h->n].run = r;
        h->tops[h->n].at = s->runs[r];
        h->tops[h->n].end = s->runs[r + 1];
        h->tops[h->n++].key = key_at(s, s->received, s->runs[r]);
    }
    for (unsigned i = h->n; i-- > 0;)
        sink(h, i);
}

/* The index in `received` of the next item. */
static uint64_t take(const rank_sorting *s, heap *h)
{
    uint64_t at = h->tops[0].at++;
    if (h->tops[0].at < h->tops[0].end)
        h->tops[0].key = key_at(s, s->received, h->tops[0].at);
    else
        h->tops[0] = h->tops[--h->n];
    sink(h, 0);
    return at;
}

static void put(const rank_sorting *s, uint8_t *to, size_t width, uint64_t at)
{
    if (s->options->argsort)
        memcpy(to, &s->received_at[at], width); /* little-endian, like all stored values */
    else
        memcpy(to, s->received + at * s->width, width);
}

static hac_status write_at(int fd, const char *path, const uint8_t *bytes, uint64_t n, uint64_t at,
                           hac_error *err)
{
    while (n > 0) {
        ssize_t done = pwrite(fd, bytes, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return hac_fail_errno(err, HAC_FAILED, errno, "%s", path);
        bytes += done;
        n -= (uint64_t)done;
        at += (uint64_t)done;
    }
    return HAC_OK;
}

static hac_status merge(const rank_sorting *s, const char *path, hac_error *err)
{
    size_t width = !s->options->argsort           ? s->width
                   : s->items < UINT64_C(1) << 32 ? sizeof(uint32_t)
                                                  : sizeof(uint64_t);
    uint64_t mine = s->runs[ranks_of(s)];
    hac_autofree uint8_t *piece = malloc((size_t)PIECE_ITEMS * WIDTH_MAX);
    heap h = {.tops = calloc(ranks_of(s), sizeof *h.tops)};
    hac_status status = piece == NULL || h.tops == NULL ? hac_fail_no_memory(err) : HAC_OK;
    hac_autoclose int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (status == HAC_OK && fd < 0)
        status = hac_fail_errno(err, HAC_FAILED, errno, "%s: OUT has to be in a folder that all ranks share",
                                path);
    if (status == HAC_OK)
        fill(s, &h);
    for (uint64_t done = 0; done < mine && status == HAC_OK;) {
        uint64_t n = mine - done < PIECE_ITEMS ? mine - done : PIECE_ITEMS;
        for (uint64_t i = 0; i < n; i++)
            put(s, piece + i * width, width, take(s, &h));
        status = write_at(fd, path, piece, n * width, (s->before + done) * width, err);
        done += n;
    }
    free(h.tops);
    return status;
}

/* ---- OUT ---- */

/* All ranks write the temporary file of rank 0. */
static hac_status open_output(const rank_sorting *s, const hac_args *args, hac_output_file **ret,
                              char path[PATH_MAX], hac_error *err)
{
    hac_autofree char *temporary = NULL;
    hac_autofree uint64_t *offsets = calloc(ranks_of(s) + 1, sizeof *offsets);
    hac_status status = offsets == NULL ? hac_fail_no_memory(err) : HAC_OK;
    if (rank_of(s) == 0 && status == HAC_OK) {
        status = hac_output_open(args->values[HAC_OPT_OUTPUT], ret, err);
        if (status == HAC_OK)
            status = hac_output_temporary(*ret, &temporary, err);
        if (status == HAC_OK)
            snprintf(path, PATH_MAX, "%s", temporary);
    }
    status = hac_mpi_agree(s->mpi, status, err);
    for (unsigned r = 0; status == HAC_OK && r < ranks_of(s); r++)
        offsets[r + 1] = PATH_MAX; /* rank 0 writes the whole result */
    return status == HAC_OK ? hac_mpi_share(s->mpi, path, offsets, err) : status;
}

static hac_status exchange_and_write(rank_sorting *s, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_output_free_cleanup) hac_output_file *output = NULL;
    char path[PATH_MAX] = "";
    hac_autofree uint64_t *cuts = calloc(ranks_of(s) + 1, sizeof *cuts);
    hac_status status = open_output(s, args, &output, path, err);
    if (status == HAC_OK && cuts == NULL)
        return hac_fail_no_memory(err);
    if (status == HAC_OK)
        status = find_cuts(s, cuts, err);
    if (status == HAC_OK)
        status = exchange(s, cuts, err);
    if (status != HAC_OK)
        return status;
    status = hac_mpi_agree(s->mpi, merge(s, path, err), err);
    return status == HAC_OK && output != NULL ? hac_output_commit(output, err) : status;
}

/* ---- the command ---- */

static hac_status check_usage(const hac_args *args, hac_error *err)
{
    const hac_option_set refused =
        HAC_OPTION_SET(HAC_OPT_DETACH, HAC_OPT_TRACE, HAC_OPT_RECEIPT, HAC_OPT_INPUT_FORMAT, HAC_OPT_KEY);
    hac_status status =
        hac_args_refuse(args, "sort", refused, "not possible: ranks sort arrays and wait for them", err);
    if (status != HAC_OK)
        return status;
    if (!hac_args_has(args, HAC_OPT_OUTPUT) || strcmp(args->values[HAC_OPT_OUTPUT], "-") == 0)
        return hac_fail(err, HAC_INVALID, "sort: ranks write their parts of one file; say which with -o OUT");
    return HAC_OK;
}

static hac_status prepare(rank_sorting *s, hac_cli *cli, const hac_args *args, hac_sort_source *input,
                          hac_error *err)
{
    hac_status status = hac_sort_source_open(args->words[0], s->options, input, err);
    if (status == HAC_OK && !input->sized)
        status = hac_fail(err, HAC_INVALID,
                          "sort: %s is not a regular file, so ranks cannot read parts of it", input->name);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (status != HAC_OK)
        return status;
    set_order(s);
    s->items = input->items;
    s->first = (uint64_t)((unsigned __int128)s->items * rank_of(s) / ranks_of(s));
    s->own = (uint64_t)((unsigned __int128)s->items * (rank_of(s) + 1) / ranks_of(s)) - s->first;
    return sort_part(s, input, cli->client, err);
}

hac_status hac_mpi_sort(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_sort_request_clear) hac_sort_request request = {.job = {.names = NULL}};
    hac_cleanup(sorting_clear) rank_sorting s = {.mpi = cli->ranks->context, .options = &request.options};
    hac_sort_source input = {.fd = -1};
    hac_status status = check_usage(args, err);
    if (status == HAC_OK)
        status = hac_sort_request_parse(&request, "sort", args, err);
    if (status == HAC_OK)
        status = prepare(&s, cli, args, &input, err);
    status = hac_mpi_agree(s.mpi, status, err);
    if (status == HAC_OK)
        status = exchange_and_write(&s, args, err);
    hac_close(input.fd);
    return status;
}
