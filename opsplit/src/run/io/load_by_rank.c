/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs on several ranks: each rank reads a part, and gets the rows that it works on. Every rank reads
 * short inputs as a whole. */
#include "load_by_rank.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "input_files.h"
#include "run/state/exchange.h"
#include "run/state/run_base.h"
#include "run/state/vectors.h"

#define APART_MIN (UINT64_C(1) << 20) /* bytes; a shorter input is read faster than it is exchanged */
/* Bytes of the begin and the end of a file that are compared between ranks. */
#define LOOK_BYTES ((size_t)1 << 16)

static uint64_t mix(uint64_t hash, const void *from, uint64_t n)
{
    const uint8_t *bytes = from;
    for (uint64_t word; n > 0; n -= n < sizeof word ? n : sizeof word, bytes += sizeof word) {
        word = 0;
        memcpy(&word, bytes, n < sizeof word ? n : sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

/* Fails if the number is not the same on all ranks. */
static hac_status compare(const hac_logic_run_state *run, const hac_logic_input *input, uint64_t print,
                          hac_error *err)
{
    const hac_ranks *ranks = run->options->ranks;
    hac_autofree uint64_t *prints = calloc(ranks->ranks, sizeof *prints);
    if (prints == NULL)
        return hac_fail_no_memory(err);
    prints[ranks->rank] = print;
    hac_status status = hac_run_share_numbers(run, prints, err);
    for (unsigned r = 1; r < ranks->ranks && status == HAC_OK; r++)
        if (prints[r] != prints[0])
            status = hac_fail(err, HAC_FAILED,
                              "input %s is not the same for rank %u as for rank 0; every rank needs the same "
                              "files",
                              input->name, r);
    return status;
}

/* ---- before reading ---- */

typedef struct file_look {
    uint64_t bytes, print; /* of all files */
    bool apart;
} file_look;

static hac_status look_into(int fd, uint64_t size, uint64_t *print, hac_error *err)
{
    hac_autofree char *block = malloc(LOOK_BYTES);
    if (block == NULL)
        return hac_fail_no_memory(err);
    for (unsigned end = 0; end < 2; end++) {
        ssize_t n = pread(fd, block, LOOK_BYTES, end && size > LOOK_BYTES ? (off_t)(size - LOOK_BYTES) : 0);
        if (n < 0)
            return hac_fail_errno(err, HAC_FAILED, errno, "reading");
        *print = mix(*print, block, (uint64_t)n);
    }
    return HAC_OK;
}

/* Compares the input between ranks: names and sizes of the files of a folder, since one rank reads each of
 * them, and the contents at both ends of a file. */
static hac_status look_at(const hac_logic_run_state *run, hac_run_loading *l, file_look *ret, hac_error *err)
{
    hac_query_options options;
    bool by_client = false;
    hac_status status = HAC_OK;
    *ret = (file_look){.apart = true};
    l->sizes = calloc(l->n_paths + 1, sizeof *l->sizes);
    if (l->sizes == NULL)
        return hac_fail_no_memory(err);
    for (size_t f = 0; f < l->n_paths && status == HAC_OK && ret->apart; f++) {
        struct stat st;
        if (stat(l->paths[f], &st) != 0)
            return hac_fail_errno(err, HAC_FAILED, errno, "%s cannot be read", l->paths[f]);
        uint64_t size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
        l->sizes[f] = size;
        ret->bytes += size;
        ret->print = mix(ret->print, &size, sizeof size);
        if (l->input->directory) {
            const char *name = basename(l->paths[f]);
            ret->print = mix(ret->print, name, strlen(name));
            continue;
        }
        ret->apart = S_ISREG(st.st_mode);
        status = hac_run_query_options(run, l->input, l->paths[f], &options, &by_client, err);
        ret->apart = ret->apart && status == HAC_OK && hac_run_is_apart(l->input, &options) && !by_client;
        if (status == HAC_OK && ret->apart)
            status = hac_run_open_file(run, l->paths[f], &l->fd, &st, err);
        if (status == HAC_OK && ret->apart && look_into(l->fd, size, &ret->print, err) != HAC_OK)
            status = hac_error_prefix(err, "%s", l->paths[f]);
    }
    return status;
}

/* Divides whole files between ranks, in order, by the bytes before them. */
static void distribute_files(const hac_ranks *ranks, hac_run_loading *l, uint64_t bytes)
{
    uint64_t before = 0;
    l->end_path = 0;
    for (size_t f = 0; f < l->n_paths; before += l->sizes[f++]) {
        unsigned rank = (unsigned)((unsigned __int128)before * ranks->ranks / bytes);
        rank = rank < ranks->ranks ? rank : ranks->ranks - 1; /* empty files at the end */
        l->first_path += rank < ranks->rank;
        l->end_path += rank <= ranks->rank;
    }
}

hac_status hac_run_rank_files(const hac_logic_run_state *run, hac_run_loading *l, hac_status status,
                              hac_error *err)
{
    file_look seen = {.apart = false};
    l->end_path = l->n_paths;
    if (hac_run_is_single_rank(run))
        return status;
    status = hac_run_agree(run, status, err);
    if (status == HAC_OK)
        status = hac_run_agree(run, look_at(run, l, &seen, err), err);
    if (status == HAC_OK)
        /* The rest is read as a whole. */
        status = compare(run, l->input, seen.apart ? seen.print : UINT64_MAX, err);
    if (status != HAC_OK || !seen.apart || seen.bytes < APART_MIN)
        return status;
    l->firsts = calloc(run->options->ranks->ranks + 1, sizeof *l->firsts);
    if (l->input->directory)
        distribute_files(run->options->ranks, l, seen.bytes);
    return hac_run_agree(run, l->firsts == NULL ? hac_fail_no_memory(err) : HAC_OK, err);
}

/* ---- after reading ---- */

hac_status hac_run_rank_rows(const hac_logic_run_state *run, hac_run_loading *l, hac_status status,
                             hac_error *err)
{
    l->rows = l->here;
    if (hac_run_is_single_rank(run))
        return status;
    status = hac_run_agree(run, status, err);
    if (status != HAC_OK || l->firsts == NULL)
        return status;
    unsigned n = run->options->ranks->ranks;
    l->firsts[run->options->ranks->rank + 1] = l->here;
    status = hac_run_share_numbers(run, l->firsts + 1, err);
    for (unsigned r = 0; r < n; r++)
        l->firsts[r + 1] += l->firsts[r];
    l->rows = l->firsts[n];
    return status;
}

hac_status hac_run_rank_texts(const hac_logic_run_state *run, hac_run_texts *texts, hac_error *err)
{
    const hac_ranks *ranks = run->options->ranks;
    hac_autofree uint64_t *bytes = calloc(ranks->ranks, sizeof *bytes);
    if (bytes == NULL)
        return hac_fail_no_memory(err);
    bytes[ranks->rank] = texts->here;
    hac_status status = hac_run_share_numbers(run, bytes, err);
    texts->before = texts->all = 0;
    for (unsigned r = 0; r < ranks->ranks; r++) {
        texts->before += r < ranks->rank ? bytes[r] : 0;
        texts->all += bytes[r];
    }
    return status;
}

/* Exchanges the offsets of rows, and the text between them. */
static hac_status share_texts(hac_logic_run_state *run, const hac_run_loading *l, hac_run_vector *vector,
                              hac_error *err)
{
    const hac_ranks *ranks = run->options->ranks;
    uint64_t *offsets = (uint64_t *)(void *)(hac_run_data(vector) + vector->operand.offsets);
    hac_autofree uint64_t *bytes = calloc(ranks->ranks + 1, sizeof *bytes);
    if (bytes == NULL)
        return hac_fail_no_memory(err);
    for (unsigned r = 0; r <= ranks->ranks; r++)
        bytes[r] = l->firsts[r] * sizeof *offsets;
    hac_status status = ranks->share(ranks->context, offsets, bytes, err);
    offsets[l->rows] = vector->operand.entries;
    for (unsigned r = 0; r <= ranks->ranks; r++)
        bytes[r] = offsets[l->firsts[r]];
    if (status == HAC_OK)
        status = ranks->share(ranks->context, hac_run_data(vector) + vector->operand.values, bytes, err);
    run->report->bytes_shared += l->rows * sizeof *offsets + vector->operand.entries;
    return status;
}

hac_status hac_run_rank_spread(hac_logic_run_state *run, const hac_run_loading *l, hac_run_vector *vector,
                               hac_error *err)
{
    return hac_kind_is_text((hac_kind)vector->operand.kind) ? share_texts(run, l, vector, err)
                                                            : hac_run_spread(run, vector, l->firsts, err);
}

/* ---- what each has read ---- */

/* A hash of everything that an input gave. */
static uint64_t fingerprint(const hac_logic_run_state *run, const hac_logic_input *input)
{
    uint64_t hash = 0;
    for (size_t c = 0; c < input->n_columns; c++) {
        const hac_run_vector *v =
            input->columns[c].vector >= 0 ? &run->vectors[input->columns[c].vector] : NULL;
        if (v == NULL || v->memory == NULL || input->columns[c].place > 0)
            continue;
        bool text = hac_kind_is_text((hac_kind)v->operand.kind);
        hash = mix(hash ^ v->operand.rows, hac_run_data(v) + v->operand.values,
                   text ? v->operand.entries : v->operand.rows * hac_run_row_bytes(&v->operand));
        if (text)
            hash = mix(hash, hac_run_data(v) + v->operand.offsets, (v->operand.rows + 1) * sizeof(uint64_t));
    }
    return hash;
}

/* Fails if ranks have different data. Each of them would work on a part of other data. */
hac_status hac_run_check_same(const hac_logic_run_state *run, const hac_logic_input *input, hac_error *err)
{
    return compare(run, input, fingerprint(run, input), err);
}
