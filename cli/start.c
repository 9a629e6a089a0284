/* SPDX-License-Identifier: MIT
 *
 * start.c - what a process of the program begins and ends with
 */
#include "cli/start.h"

#include <limits.h>
#include <stdlib.h>

#include "cli/budget.h"
#include "cli/cost.h"
#include "cli/dhat.h"
#include "cli/measure/measure.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/report.h"
#include "cli/scratch.h"
#include "cli/stream.h"

bool start_env_for_file(struct run *run)
{
    struct mf_options options = { .size = sizeof(struct mf_options) };

    options.threads = run->options->threads < UINT_MAX
                          ? (unsigned)run->options->threads
                          : UINT_MAX;
    budget_env(run, &options);
    options.progress = run->trial ? trial_progress : progress_update;
    options.progress_user = run;
    options.pending_edit = report_pending_edit;
    options.pending_edit_user = run;
    options.scratch_file = scratch_file();
    options.isa = getenv("MODELFILE_ISA");
    options.scratch_folder = getenv("TMPDIR");
    options.timings = run->options->timings || run->options->record;
    run->progress.shown = run->started;
    timings_begin(run);
    run->env = mf_env_new(&options);
    if (!run->env) {
        report_no_env(run);
        return false;
    }
    dhat_env_begins(run->env);
    mf_env_use_dash(run->env);
    if (run->trial)
        mf_env_discard(run->env);
    return true;
}

bool start_env(struct run *run)
{
    const char *refused;

    if (!start_env_for_file(run))
        return false;
    progress_catch_signals(run);
    refused = run->options->help ? NULL : mf_isa_refused(run->env);
    if (refused)
        report_usage(run, "MODELFILE_ISA is '%s': %s", getenv("MODELFILE_ISA"),
                     refused);
    return !refused;
}

void start_answer(struct run *run)
{
    clock_gettime(CLOCK_MONOTONIC, &run->started);
    run->code = EXIT_DONE;
    run->size = 0;
    run->other_io = (struct mf_io_stats){ 0 };
    run->other_heap = (struct mf_heap_stats){ 0 };
    run->last_remark[0] = 0;
}

void start_finish(struct run *run)
{
    ranks_leave(run);
    out_flush(&run->out);
    if (run->out.error)
        report_lost(run);
    else if (run->out.stopped)
        report_stopped(run);
    record_close(run);
    if (!run->out.error && !run->out.stopped && run->env && !run->out.closed &&
        run->code != EXIT_USAGE) {
        stream_close(run);
        cost_close(run);
    }
    timings_close(run);
}
