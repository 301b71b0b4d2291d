/* One run of a part: its session from opening to end. */
#include "driver/replay/replay_work.h"

bool replay_open_session(replay_run *run, hd_module *module)
{
    const hd_replay_options *options = run->part->plan->options;
    bool unsupported = false;
    run->session = hd_session_open(run->file->launch, module, run->diagnostics, &unsupported);
    run->status = run->session ? HD_STATUS_DONE : unsupported ? HD_STATUS_UNDECIDED : HD_STATUS_REJECTED;
    if (!run->session)
        return false;
    if (options->instruction_limit)
        run->session->options.instruction_limit = options->instruction_limit;
    run->session->options.threads = run->part->threads;
    run->session->options.budget = &run->part->budget;
    run->session->options.stop = &run->stop;
    run->session->options.meter = &run->meter;
    return true;
}

static hd_status status_of(hd_exec_status status)
{
    switch (status) {
    case HD_EXEC_DONE: return HD_STATUS_DONE;
    case HD_EXEC_FAULT: return HD_STATUS_FAULT;
    case HD_EXEC_STOPPED:
    case HD_EXEC_LIMIT:
    case HD_EXEC_UNSUPPORTED: return HD_STATUS_UNDECIDED;
    }
    return HD_STATUS_INTERNAL;
}

void replay_run_ended(replay_run *run, hd_exec_status status, const hd_exec_statistics *statistics)
{
    run->races = statistics->races;
    run->ended = status == HD_EXEC_DONE;
    run->status = run->session && run->session->rejected ? HD_STATUS_REJECTED : status_of(status);
}

void replay_run_steps(replay_run *run)
{
    hd_exec_statistics statistics = {0};
    hd_exec_status status = hd_session_run(run->session, NULL, &statistics);
    replay_run_ended(run, status, &statistics);
}

void replay_stop_runs(replay_part *p, uint32_t first)
{
    for (uint32_t i = first; i < p->run_count; i++)
        atomic_store(&p->runs[i].stop, true);
}
