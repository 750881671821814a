/* SPDX-License-Identifier: Apache-2.0 */
#include "tune_contest.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double geometric_ratio(const hac_contest *contest, const double *seconds, const double *base)
{
    double sum = 0;
    for (size_t w = 0; w < contest->n_workloads; w++) {
        if (!(seconds[w] > 0) || !(base[w] > 0))
            return 0;
        sum += log(seconds[w] / base[w]);
    }
    return exp(sum / (double)contest->n_workloads);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare);
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double hac_contest_screening_score(const hac_contest *contest, size_t candidate)
{
    double product = 1;
    size_t n = 0;
    for (size_t s = 0; s < HAC_CONTEST_SCREENINGS; s++) {
        double ratio = geometric_ratio(contest, contest->screening[candidate][s], contest->screening[0][s]);
        if (ratio > 0) {
            product *= ratio;
            n++;
        }
    }
    return n == HAC_CONTEST_SCREENINGS && !contest->out[candidate] ? pow(product, 1.0 / (double)n) : 0;
}

double hac_contest_round_score(const hac_contest *contest, size_t round)
{
    return geometric_ratio(contest, contest->rounds[round][1], contest->rounds[round][0]);
}

static size_t count_wins(const hac_contest *contest)
{
    size_t wins = 0;
    for (size_t r = 0; r < contest->n_rounds; r++)
        wins += hac_contest_round_score(contest, r) < 1;
    return wins;
}

static size_t find_challenger(const hac_contest *contest)
{
    size_t best = 0;
    double best_score = 1;
    for (size_t c = 1; c < contest->n_candidates; c++) {
        double score = hac_contest_screening_score(contest, c);
        if (score > 0 && score < best_score) {
            best = c;
            best_score = score;
        }
    }
    return best;
}

static size_t screening_visits(const hac_contest *contest)
{
    return HAC_CONTEST_SCREENINGS * contest->n_candidates;
}

/* The candidate and the number of the screening of a visit. */
static size_t screened(const hac_contest *contest, size_t visit, size_t *ret_screening)
{
    size_t at = visit % contest->n_candidates;
    *ret_screening = visit / contest->n_candidates;
    return *ret_screening % 2 == 0 ? at : contest->n_candidates - 1 - at;
}

/* Which of the two a visit of the rounds goes to: 0 1, 1 0, 0 1 … */
static size_t side_of(const hac_contest *contest, size_t *ret_round)
{
    size_t visit = contest->visits - screening_visits(contest);
    *ret_round = visit / 2;
    return (visit + visit / 2) % 2;
}

bool hac_contest_next(hac_contest *contest, size_t *ret_candidate)
{
    size_t number;
    while (contest->visits < screening_visits(contest)) {
        *ret_candidate = screened(contest, contest->visits, &number);
        if (!contest->out[*ret_candidate])
            return contest->n_candidates > 1 && !contest->out[0];
        contest->visits++;
    }
    if (contest->visits == screening_visits(contest))
        contest->challenger = find_challenger(contest);
    if (contest->challenger == 0 || contest->out[0] || contest->out[contest->challenger] ||
        contest->n_rounds == HAC_CONTEST_ROUNDS ||
        contest->n_rounds - count_wins(contest) > HAC_CONTEST_LOSSES_MAX)
        return false;
    *ret_candidate = side_of(contest, &number) == 0 ? 0 : contest->challenger;
    return true;
}

void hac_contest_end_visit(hac_contest *contest, const double *seconds)
{
    size_t number, bytes = contest->n_workloads * sizeof *seconds;
    bool screening = contest->visits < screening_visits(contest);
    size_t side = screening ? 0 : side_of(contest, &number);
    size_t candidate = screening   ? screened(contest, contest->visits, &number)
                       : side == 0 ? 0
                                   : contest->challenger;
    assert(screening || number < HAC_CONTEST_ROUNDS);
    contest->visits++;
    if (seconds == NULL)
        contest->out[candidate] = true;
    else
        memcpy(screening ? contest->screening[candidate][number] : contest->rounds[number][side], seconds,
               bytes);
    if (!screening && contest->visits % 2 == screening_visits(contest) % 2)
        contest->n_rounds++;
}

/* The workload whose median ratio is the largest. */
static void find_worst(const hac_contest *contest, hac_contest_verdict *ret)
{
    for (size_t w = 0; w < contest->n_workloads; w++) {
        double ratios[HAC_CONTEST_ROUNDS];
        for (size_t r = 0; r < contest->n_rounds; r++)
            ratios[r] = contest->rounds[r][1][w] / contest->rounds[r][0][w];
        double ratio = median(ratios, contest->n_rounds);
        if (w > 0 && ratio <= ret->worst)
            continue;
        ret->worst = ratio;
        ret->worst_of = w;
    }
}

hac_contest_verdict hac_contest_judge(const hac_contest *contest)
{
    hac_contest_verdict ret = {.kept = false};
    double scores[HAC_CONTEST_ROUNDS];
    if (contest->challenger == 0)
        return ret;
    ret.score = hac_contest_screening_score(contest, contest->challenger);
    if (contest->n_rounds == 0)
        return ret;
    for (size_t r = 0; r < contest->n_rounds; r++)
        scores[r] = hac_contest_round_score(contest, r);
    ret.wins = count_wins(contest);
    ret.score = median(scores, contest->n_rounds);
    find_worst(contest, &ret);
    ret.kept = contest->n_rounds == HAC_CONTEST_ROUNDS && !contest->out[0] &&
               !contest->out[contest->challenger] &&
               ret.wins + HAC_CONTEST_LOSSES_MAX >= HAC_CONTEST_ROUNDS &&
               ret.score <= 1 - HAC_CONTEST_MIN_GAIN && ret.worst <= 1 + HAC_CONTEST_SLOWER_MAX;
    return ret;
}
