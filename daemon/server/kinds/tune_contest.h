/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test by which `tune` decides whether other settings of a device are better than the present ones. This
 * file knows neither devices nor jobs: it says which candidate is measured next, takes the times, and judges.
 *
 * A contest has candidates (number 0 is the present settings) and workloads. A *visit* measures all workloads
 * with one candidate. The score of a candidate against another is the geometric mean, over the workloads, of
 * the ratios of their times; below 1 the candidate is faster.
 *
 * 1. Screening: every candidate is visited twice, in order and in reverse order, so that a machine that
 *    becomes slower or faster meanwhile favours nobody. The candidate with the best score against the present
 *    settings becomes the challenger. If no candidate is faster, the contest is over.
 * 2. Rounds: in each round the present settings and the challenger are visited once each, and the one that
 *    goes first changes from round to round. Screening does not count here, so that the luck by which a
 *    challenger was chosen does not help it.
 *
 * The challenger wins if it was faster in at least 9 of 10 rounds, its median score says at least 3 %, and no
 * workload became more than 10 % slower (median over the rounds). If both settings are equally fast, the
 * chance of 9 wins out of 10 is 11/1024, about 1 % (a sign test: it assumes nothing about the noise but that
 * it favours neither). Rounds end as soon as the challenger has lost twice.
 */
#ifndef SERVER_TUNE_CONTEST_H
#define SERVER_TUNE_CONTEST_H

#include <stdbool.h>
#include <stddef.h>

#define HAC_CONTEST_CANDIDATES_MAX 48
#define HAC_CONTEST_WORKLOADS_MAX  8
#define HAC_CONTEST_SCREENINGS     2
#define HAC_CONTEST_ROUNDS         10
#define HAC_CONTEST_LOSSES_MAX     1
#define HAC_CONTEST_MIN_GAIN       0.03
#define HAC_CONTEST_SLOWER_MAX     0.10

typedef struct hac_contest {
    size_t n_candidates, n_workloads;
    /* Seconds of a workload; 0: not measured. Index 0 of a round is the present settings, 1 the challenger.
     */
    double screening[HAC_CONTEST_CANDIDATES_MAX][HAC_CONTEST_SCREENINGS][HAC_CONTEST_WORKLOADS_MAX];
    double rounds[HAC_CONTEST_ROUNDS][2][HAC_CONTEST_WORKLOADS_MAX];
    bool out[HAC_CONTEST_CANDIDATES_MAX]; /* the candidate cannot run all workloads */
    size_t challenger;                    /* 0: none yet, or nobody was faster */
    size_t visits, n_rounds;              /* complete ones */
} hac_contest;

typedef struct hac_contest_verdict {
    bool kept;       /* the challenger is better */
    size_t wins;     /* rounds in which it was faster */
    double score;    /* median of the rounds; of the screening if there were no rounds; 0: no challenger */
    double worst;    /* ratio of the workload that gained least or lost most, median of the rounds */
    size_t worst_of; /* that workload */
} hac_contest_verdict;

/* The candidate to visit now; returns false if the contest is over. */
bool hac_contest_next(hac_contest *contest, size_t *ret_candidate);

/* The visit to the candidate that hac_contest_next named has ended: seconds of each workload. NULL: the
 * candidate cannot run them all, and is out. */
void hac_contest_end_visit(hac_contest *contest, const double *seconds);

/* Score of a candidate against the present settings in the screening; 0: not known. */
double hac_contest_screening_score(const hac_contest *contest, size_t candidate);

/* Score of the challenger in a round. */
double hac_contest_round_score(const hac_contest *contest, size_t round);

/* The result of a contest that is over. */
hac_contest_verdict hac_contest_judge(const hac_contest *contest);

#endif
