/* SPDX-License-Identifier: Apache-2.0 */
#include "while.h"

#include <string.h>

#include "base/clock.h"
#include "fused_rounds.h"
#include "rounds_ahead.h"
#include "run/tasks/scalar.h"

hac_status hac_run_while(hac_logic_run_state *run, const hac_logic_step *step, hac_run_body *run_body,
                         hac_error *err)
{
    static const hac_loop_engine *const engines[] = {&hac_fused_rounds, &hac_rounds_ahead};
    hac_run_loop loop = {.step = step, .run_body = run_body, .start = hac_now_ns()};
    bool on = true;
    loop.measured.graph_rounds_max = HAC_LOOP_GRAPH_ROUNDS_MAX;
    hac_run_find_changed(step, &loop.changed);
    hac_status status = step->rounds > 0 && !step->first ? hac_run_look(run, step, &on, err) : HAC_OK;
    while (status == HAC_OK && on && loop.done < step->rounds) {
        loop.sent = loop.done;
        const hac_loop_engine *engine =
            hac_loop_choose(run, &loop, engines, sizeof engines / sizeof *engines);
        loop.in_flight = false;
        loop.mark = hac_now_ns();
        status = engine->begin(run, &loop, err);
        while (status == HAC_OK && loop.in_flight)
            status = engine->round(run, &loop, &on, err);
        status = engine->settle(run, &loop, status, &on, err);
    }
    run->useless_seconds += (double)(loop.added - loop.done) * loop.measured.round_seconds;
    return status;
}
