/* Runs a grid: CTAs one after another, the warps of one in turns; the loop that steps a warp, and what sinks are told.
 * The order is documented in exec.h. */
#include "base/pool.h"
#include "hwmodel/exec/checks.h"
#include "hwmodel/exec/columns.h"
#include "hwmodel/exec/cta.h"
#include "hwmodel/exec/park.h"

/* ---- events -------------------------------------------------------------------------------------------------- */

static hd_event issue_event(const hd_warp *w, uint32_t pc, uint32_t active, uint32_t mask)
{
    const hd_frame *f = hd_top_frame(w);
    return (hd_event){.kind = HD_EVENT_ISSUE,
                      .cta = w->cta->index,
                      .warp = w->id,
                      .frame = f->serial,
                      .function = f->code->index,
                      .instruction = pc,
                      .active = active,
                      .effective = mask};
}

/* Where another frame begins or goes on, no stretch is open: there was an event. */
static __attribute__((noinline)) bool turn_stretch(hd_warp *w, uint32_t pc, uint32_t active)
{
    const hd_event first = issue_event(w, pc, active, active);
    if (w->cta->stretch->going == w->id && hd_stretch_turns(w->cta->stretch, pc)) {
        hd_stretch_turn(w->cta->stretch, pc, active);
        return true;
    }
    if (!hd_emit_stretch(w->cta))
        return false;
    hd_stretch_begin(w->cta->stretch, &first);
    w->cta->gathering->warp = w;
    w->cta->gathering->frame = w->frame_count - 1;
    return true;
}

static inline bool tell_in_stretch(const hd_op *op, hd_warp *w, uint32_t pc, uint32_t active, uint32_t mask)
{
    hd_stretch *s = w->cta->stretch;
    if (__builtin_expect(pc != s->next || active != s->active || w->id != s->going, 0) && !turn_stretch(w, pc, active))
        return false;
    if (op->written_count && mask && w->cta->columns)
        hd_gather_later(w->cta->gathering, op, mask);
    hd_stretch_add(s, mask, op->flags & HD_OP_LAST_OF_STRETCH);
    return true;
}

/* ran: the instruction did. */
static bool tell(const hd_op *op, hd_warp *w, uint32_t pc, uint32_t active, uint32_t mask, bool ran)
{
    if (w->cta->stretch)
        return tell_in_stretch(op, w, pc, active, mask);
    hd_event e = issue_event(w, pc, active, mask);
    return hd_tell_event(op, w, &e, ran ? mask : 0);
}

/* ---- a warp -------------------------------------------------------------------------------------------------- */

static inline uint32_t guarded(const hd_op *op, const hd_warp *w, uint32_t active)
{
    if (op->guard == HD_NO_REF)
        return active;
    uint32_t truth = hd_word(w, op->guard);
    return active & (op->flags & HD_OP_GUARD_NOT ? ~truth : truth);
}

/* Where there are sinks or checks, or livelock.c watches. */
static hd_step step_told(const hd_op *op, hd_warp *w, uint32_t pc, uint32_t active, uint32_t mask)
{
    bool retried = op->flags & HD_OP_RETRY, told = retried && mask && !(mask & ~w->told);
    bool before = op->flags & HD_OP_CONTROL || (!w->cta->columns && !retried) || (retried && !op->written_count);
    if (w->cta->stretch)
        hd_gather_before(w->cta->gathering, w->cta->stretch, ~(uint64_t)0);
    if (w->cta->trace)
        hd_livelock_trace(op, w);
    if (op->flags & HD_OP_SYNTHETIC)
        return op->run(op, w, mask);
    if (op->flags & HD_OP_IDENTITY)
        return w->cta->checks ? hd_checks_step(op, w, active, mask) : mask ? op->run(op, w, mask) : HD_STEP_NEXT;
    if (before && !told && !tell(op, w, pc, active, mask, false))
        return hd_stop(w);
    hd_step step = w->cta->checks ? hd_checks_step(op, w, active, mask) : mask ? op->run(op, w, mask) : HD_STEP_NEXT;
    if (retried)
        w->told = step == HD_STEP_BLOCKED ? w->told | mask : w->told & ~mask;
    if (!before && step != HD_STEP_STOP && step != HD_STEP_BLOCKED && !tell(op, w, pc, active, mask, true))
        return hd_stop(w);
    return step;
}

/* The same where sinks take stretches and nothing else looks. */
static inline hd_step step_in_stretch(const hd_op *op, hd_warp *w, uint32_t pc, uint32_t active, uint32_t mask)
{
    if (op->flags & (HD_OP_SYNTHETIC | HD_OP_IDENTITY | HD_OP_RETRY))
        return step_told(op, w, pc, active, mask);
    hd_gather_before(w->cta->gathering, w->cta->stretch, op->words);
    bool before = op->flags & HD_OP_CONTROL || !w->cta->columns;
    if (before && !tell_in_stretch(op, w, pc, active, mask))
        return hd_stop(w);
    hd_step step = mask ? op->run(op, w, mask) : HD_STEP_NEXT;
    return before || step == HD_STEP_STOP || tell_in_stretch(op, w, pc, active, mask) ? step : hd_stop(w);
}

/* Not __builtin_popcount, which is a call where the CPU may lack an instruction for it. */
static inline uint32_t lanes_in(uint32_t mask)
{
    mask -= mask >> 1 & 0x55555555;
    mask = (mask & 0x33333333) + (mask >> 2 & 0x33333333);
    return ((mask + (mask >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

static inline void count(hd_exec_statistics *s, const hd_op *op, uint32_t active, uint32_t mask)
{
    if (op->flags & (HD_OP_SYNTHETIC | HD_OP_IDENTITY))
        return;
    uint32_t lanes = lanes_in(active);
    s->warp_instructions++;
    s->thread_instructions += lanes;
    s->effective_instructions += mask == active ? lanes : lanes_in(mask);
}

/* The instruction was not done: it counts when it is. */
static inline void uncount(hd_exec_statistics *s, hd_warp *w, uint32_t active, uint32_t mask)
{
    s->warp_instructions--;
    s->thread_instructions -= lanes_in(active);
    s->effective_instructions -= lanes_in(mask);
    w->issued--;
}

/* How many instructions from the top's on go straight on in the open stretch, at most `most`, if nothing stops them before. */
static inline uint32_t straight_on(const hd_stretch *s, const hd_warp *w, const hd_entry *top, uint32_t most)
{
    uint32_t rest = s->limit - s->next, to_join = top->join - top->pc;
    if (top->pc != s->next || top->mask != s->active || w->id != s->going)
        return 0;
    rest = rest < most ? rest : most;
    return rest < to_join ? rest : to_join; /* a join that is not ahead is beyond all that follows */
}

static inline bool is_plain(const hd_op *op)
{
    return !(op->flags & (HD_OP_SYNTHETIC | HD_OP_IDENTITY | HD_OP_RETRY | HD_OP_CONTROL | HD_OP_ORDERED | HD_OP_LAST_OF_STRETCH));
}

/* Up to `most` instructions that go straight on in the open stretch, the first of which is plain: what step_in_stretch does with each, with less
 * looking. *before: how many ran before the last one. */
static __attribute__((noinline)) hd_step run_on(hd_warp *w, const hd_op *op, uint32_t most, uint32_t *before)
{
    hd_cta *cta = w->cta;
    hd_stretch *s = cta->stretch;
    hd_gathering *g = cta->gathering;
    hd_entry *top = hd_top(w);
    hd_step step = HD_STEP_NEXT;
    uint32_t active = top->mask, lanes = lanes_in(active), effective = 0, n = 0;
    uint8_t *places = s->effective + (s->next - s->base), active_place = s->active_place;
    const bool widths = cta->columns;
    for (; step == HD_STEP_NEXT && n < most && is_plain(op); op++) {
        uint32_t mask = guarded(op, w, active);
        hd_gather_before(g, s, op->words);
        effective += mask == active ? lanes : lanes_in(mask);
        w->issued++;
        step = mask ? op->run(op, w, mask) : HD_STEP_NEXT;
        n++;
        if (step == HD_STEP_STOP && widths)
            break; /* it is not told */
        if (widths && op->written_count && mask)
            hd_gather_later(g, op, mask);
        *places++ = mask == active ? active_place : hd_stretch_place(s, mask);
        s->next++;
        top->pc += step != HD_STEP_STOP;
    }
    if (s->next == s->limit)
        s->going = HD_NONE;
    cta->statistics->warp_instructions += n;
    cta->statistics->thread_instructions += n * lanes;
    cta->statistics->effective_instructions += effective;
    *before = n - 1;
    return step;
}

/* A single instruction; counts it. */
static inline hd_step run_single(hd_warp *w, const hd_op *op, uint32_t pc, uint32_t active, hd_watched watched)
{
    uint32_t mask = guarded(op, w, active);
    count(w->cta->statistics, op, active, mask);
    w->issued++;
    if (__builtin_expect(op->flags & HD_OP_ORDERED, 0) && !hd_await_turn(w->cta))
        return HD_STEP_STOP;
    hd_step step = watched == HD_WATCHED_IN_STRETCHES ? step_in_stretch(op, w, pc, active, mask)
                   : watched                          ? step_told(op, w, pc, active, mask)
                   : mask                             ? op->run(op, w, mask)
                                                      : HD_STEP_NEXT;
    if (step == HD_STEP_NEXT)
        hd_top(w)->pc = pc + 1;
    if (__builtin_expect(step > HD_STEP_JUMPED, 0)) {
        if (step == HD_STEP_BLOCKED)
            uncount(w->cta->statistics, w, active, mask);
        else if (step != HD_STEP_STOP)
            hd_top(w)->pc = pc + 1;
    }
    return step;
}

/* One turn of a warp. false: the run stops. *spun: the turn ended only because it was long enough. */
static bool run_warp(hd_warp *w, bool *spun)
{
    const uint32_t quantum = w->cta->grid->cooperative ? HD_COOPERATIVE_QUANTUM : HD_EXEC_QUANTUM;
    const hd_watched watched = w->cta->watched;
    *spun = false;
    for (uint32_t n = 0, straight, before = 0; n < quantum; n++) {
        const hd_entry *top = hd_top(w);
        if (!top->mask || top->pc == top->join) {
            bool stopped;
            if (!hd_warp_settle(w, &stopped)) {
                w->state = HD_WARP_DONE;
                return true;
            }
            if (stopped)
                return hd_stop(w), false;
            top = hd_top(w);
        }
        const hd_op *op = &hd_top_frame(w)->code->ops[top->pc];
        hd_step step;
        if (watched == HD_WATCHED_IN_STRETCHES && is_plain(op) && (straight = straight_on(w->cta->stretch, w, top, quantum - n))) {
            step = run_on(w, op, straight, &before);
            n += before;
        } else
            step = run_single(w, op, top->pc, top->mask, watched);
        if (__builtin_expect(step > HD_STEP_JUMPED, 0)) {
            if (step == HD_STEP_STOP)
                return false;
            if (step == HD_STEP_WAIT || w->state == HD_WARP_WAITING)
                return true;
            if (step == HD_STEP_YIELD) {
                if (!(++w->yields % HD_YIELDS_OF_SIDE))
                    hd_switch_side(w);
                break;
            }
        }
    }
    return *spun = true;
}

/* ---- a CTA --------------------------------------------------------------------------------------------------- */

static void name_cta(hd_cta *cta, uint32_t index)
{
    const uint32_t *grid = cta->grid->grid;
    cta->index = index;
    cta->id[0] = index % grid[0];
    cta->id[1] = index / grid[0] % grid[1];
    cta->id[2] = index / grid[0] / grid[1];
}

static bool start_cta(hd_cta *cta, uint32_t index)
{
    const hd_grid *g = cta->grid;
    uint32_t threads = hd_grid_threads_per_cta(g);
    name_cta(cta, index);
    cta->live_warps = cta->warp_count;
    memset(cta->barriers, 0, sizeof cta->barriers);
    cta->async_arrivals = 0;
    if (cta->checks)
        hd_checks_start(cta);
    hd_livelock_free(cta);
    hd_watch(cta);
    cta->livelock = (hd_livelock){.writes = cta->writes};
    if (cta->shared_bytes)
        memset(cta->shared, 0, cta->shared_bytes);
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        hd_warp *w = &cta->warps[i];
        uint32_t lanes = threads - i * LANES;
        w->index = i;
        w->id = index * cta->warp_count + i;
        hd_special_fill(cta->program, w);
        hd_warp_start(w, cta->program->codes.items[0], lanes >= LANES ? HD_ALL_LANES : (1u << lanes) - 1);
        if (cta->sink_count && ((!i && !hd_emit(w, HD_EVENT_CTA_START)) || !hd_emit(w, HD_EVENT_WARP_START)))
            return hd_stop(w), false;
    }
    cta->statistics->ctas++;
    cta->statistics->warps += cta->warp_count;
    return true;
}

static bool end_warp(hd_warp *w)
{
    hd_cta *cta = w->cta;
    cta->live_warps--;
    hd_async_finish(w);
    if (cta->sink_count && (!hd_emit(w, HD_EVENT_WARP_END) || (!cta->live_warps && !hd_emit(w, HD_EVENT_CTA_END))))
        return hd_stop(w), false;
    hd_barriers_check(cta);
    return true;
}

bool hd_await_turn(hd_cta *cta)
{
    if (!cta->crew || cta->has_turn)
        return true;
    if (hd_crew_tell(cta->crew, &cta->share, cta->footprint))
        cta->has_turn = hd_crew_await(cta->crew, cta->index, cta->footprint);
    if (!cta->has_turn)
        cta->status = HD_EXEC_STOPPED;
    return cta->has_turn;
}

/* A CTA that is beyond the limit by itself. Whether all of them are is looked at when one ends: what ran when a run was
 * stopped does not depend on the number of threads then. */
static bool over_limit(const hd_cta *cta)
{
    uint64_t limit = cta->options->instruction_limit;
    return limit && cta->statistics->warp_instructions - cta->issued_before > limit;
}

/* A CTA that has read what another one was to write first may run for long: conflicts are looked for now and then. */
static bool goes_on_in_crew(hd_cta *cta)
{
    if (cta->statistics->warp_instructions > cta->compare_at) {
        cta->compare_at = cta->statistics->warp_instructions + HD_CREW_SEGMENT;
        hd_crew_compare(cta->crew, cta->index, cta->footprint);
    }
    return !atomic_load(&cta->crew->stopped);
}

/* A turn of every warp that is ready. false: the run stops. */
static bool run_round(hd_cta *cta, bool *all_spun)
{
    bool any = false, spun;
    *all_spun = true;
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        hd_warp *w = &cta->warps[i];
        if (w->state != HD_WARP_READY)
            continue;
        any = true;
        if (!run_warp(w, &spun) || (w->state == HD_WARP_DONE && !end_warp(w)))
            return false;
        if (over_limit(cta) && hd_await_turn(cta))
            hd_stop_at_limit(cta, w);
        if (hd_asked_to_stop(cta->options))
            hd_stop(w);
        if (cta->status != HD_EXEC_DONE || (cta->crew && !goes_on_in_crew(cta)))
            return false;
        *all_spun = *all_spun && spun;
    }
    if (!any)
        hd_fault_deadlock(cta);
    return any;
}

static bool run_cta(hd_cta *cta)
{
    bool all_spun;
    while (cta->live_warps) {
        if (!run_round(cta, &all_spun))
            return false;
        if (hd_livelock_check(cta, all_spun)) {
            hd_fault_livelock(cta);
            return false;
        }
    }
    return true;
}

/* ---- a grid -------------------------------------------------------------------------------------------------- */

static bool tell_launch(hd_cta *cta, hd_event_kind kind)
{
    hd_event e = {.kind = (uint8_t)kind, .function = cta->program->codes.items[0]->index};
    for (uint32_t i = 0; i < cta->sink_count; i++)
        if (!cta->sinks[i].take(cta->sinks[i].context, &e)) {
            cta->status = HD_EXEC_STOPPED;
            return false;
        }
    return true;
}

static void run_alone(hd_grid_job *job)
{
    hd_cta *cta = hd_cta_new(job, job->statistics);
    uint64_t ctas = hd_grid_ctas(job->grid);
    uint64_t limit = job->options->instruction_limit, before = cta->issued_before;
    bool good = tell_launch(cta, HD_EVENT_LAUNCH);
    for (uint64_t i = 0; i < ctas && good; i++) {
        cta->issued_before = cta->statistics->warp_instructions;
        good = start_cta(cta, (uint32_t)i) && run_cta(cta);
        if (good && limit && cta->statistics->warp_instructions - before > limit) {
            hd_stop_at_limit(cta, NULL);
            good = false;
        }
    }
    if (good)
        tell_launch(cta, HD_EVENT_LAUNCH_END);
    else
        hd_emit_stretch(cta);
    job->statistics->races += hd_checks_races(cta);
    job->status = cta->status;
    hd_cta_delete(cta);
}

/* ---- a cooperative grid ---------------------------------------------------------------------------------------- */

typedef struct cooperation {
    hd_cta **ctas;
    uint32_t count, live;
    bool *stuck;  /* by CTA: it came back to a state in which it has been since anybody wrote */
    bool *spun;   /* in this round */
    bool failed;
    uint32_t at;  /* the CTA that failed */
} cooperation;

/* One round of every CTA; true where somebody wrote. */
static bool run_all(cooperation *c)
{
    bool wrote = false;
    for (c->at = 0; c->at < c->count; c->at++) {
        hd_cta *cta = c->ctas[c->at];
        uint64_t writes = cta->writes;
        if (!cta->live_warps)
            continue;
        if (!run_round(cta, &c->spun[c->at])) {
            c->failed = true;
            return false;
        }
        c->live -= !cta->live_warps;
        wrote = wrote || cta->writes != writes;
    }
    return wrote;
}

/* A CTA that goes in circles waits for another one, until all of them do. */
static void check_all(cooperation *c, bool wrote)
{
    uint32_t stuck = 0, last = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        hd_cta *cta = c->ctas[i];
        cta->writes += wrote;
        c->stuck[i] = !wrote && c->stuck[i];
        if (!cta->live_warps)
            continue;
        c->stuck[i] = hd_livelock_check(cta, c->spun[i]) || c->stuck[i];
        stuck += c->stuck[i];
        last = c->stuck[i] ? i : last;
    }
    if (!c->live || stuck < c->live)
        return;
    c->at = last;
    c->failed = true;
    hd_fault_livelock(c->ctas[last]);
}

static void run_together(hd_grid_job *job)
{
    uint32_t count = (uint32_t)hd_grid_ctas(job->grid);
    cooperation c = {.count = count, .live = count};
    c.ctas = hd_calloc(count, sizeof *c.ctas);
    c.stuck = hd_calloc(count, sizeof *c.stuck);
    c.spun = hd_calloc(count, sizeof *c.spun);
    for (uint32_t i = 0; i < count; i++)
        c.ctas[i] = hd_cta_new(job, job->statistics);
    c.failed = !tell_launch(c.ctas[0], HD_EVENT_LAUNCH);
    for (uint32_t i = 0; i < count && !c.failed; i++) {
        c.at = i;
        c.failed = !start_cta(c.ctas[i], i);
    }
    while (c.live && !c.failed) {
        bool wrote = run_all(&c);
        if (!c.failed)
            check_all(&c, wrote);
    }
    job->status = c.failed ? c.ctas[c.at]->status : HD_EXEC_DONE;
    if (c.failed)
        hd_emit_stretch(c.ctas[0]);
    if (!c.failed && !tell_launch(c.ctas[0], HD_EVENT_LAUNCH_END))
        job->status = c.ctas[0]->status;
    for (uint32_t i = 0; i < count; i++) {
        job->statistics->races += hd_checks_races(c.ctas[i]);
        hd_cta_delete(c.ctas[i]);
    }
    free(c.ctas);
    free(c.stuck);
    free(c.spun);
}

/* Runs the CTAs of a share, each with counts of its own; false where the run is to stop. */
static bool run_share(hd_cta *cta)
{
    hd_crew_share *share = &cta->share;
    for (; share->done < share->count; share->done++) {
        cta->has_turn = false;
        cta->compare_at = HD_CREW_SEGMENT;
        *cta->statistics = (hd_exec_statistics){0};
        if (!start_cta(cta, (uint32_t)(share->first + share->done)) || !run_cta(cta))
            return false;
        share->statistics[share->done] = *cta->statistics;
    }
    return true;
}

/* One thread of several. The CTA that fails has its turn: the others do so only after it told them. */
static void run_in_crew(void *context, uint32_t index, uint32_t worker)
{
    hd_grid_job *job = context;
    hd_exec_statistics statistics = {0};
    hd_cta *cta = hd_cta_new(job, &statistics);
    bool good = true;
    (void)worker;
    cta->footprint = &job->crew->overlaps.footprints[index];
    while (good && hd_crew_take(job->crew, &cta->share, cta->footprint)) {
        good = run_share(cta);
        if (hd_crew_tell(job->crew, &cta->share, cta->footprint))
            continue;
        name_cta(cta, (uint32_t)cta->share.over);
        cta->has_turn = true;
        statistics = (hd_exec_statistics){0}; /* what ran of a later CTA */
        hd_stop_at_limit(cta, NULL);
        good = false;
    }
    hd_exec_status status = cta->has_turn ? cta->status : HD_EXEC_DONE;
    if (hd_asked_to_stop(job->options)) /* whosever turn it is */
        status = HD_EXEC_STOPPED;
    if (status != HD_EXEC_DONE)
        hd_crew_stop(job->crew);
    else
        statistics = (hd_exec_statistics){0}; /* the crew has them */
    hd_crew_leave(job->crew, cta->footprint);
    hd_cta_delete(cta);
    pthread_mutex_lock(&job->crew->lock);
    if (status != HD_EXEC_DONE)
        job->status = status;
    hd_exec_statistics_add(job->statistics, &statistics);
    pthread_mutex_unlock(&job->crew->lock);
}

static void note_textures(hd_crew *crew, const hd_image *image)
{
    for (uint32_t i = 0; image->textures && i < image->textures->count; i++)
        if (image->textures->items[i].bytes)
            hd_overlaps_texels(&crew->overlaps, image->memory, image->textures->items[i].bytes);
}

/* What came of a crew's run becomes the job's. */
static void accept(hd_grid_job *job, const hd_grid_job *run)
{
    const hd_crew *crew = run->crew;
    hd_exec_statistics_add(job->statistics, run->statistics);
    hd_exec_statistics_add(job->statistics, &crew->total);
    hd_diagnostics_join(job->diagnostics, run->diagnostics);
    if (crew->printed.count)
        job->options->print(job->options->print_context, crew->printed.items, crew->printed.count);
    job->status = run->status;
}

/* Unless DONE, nothing has happened. */
static hd_crew_result try_with_crew(hd_grid_job *job, uint32_t threads)
{
    hd_crew crew;
    hd_diagnostics said;
    hd_exec_statistics statistics = {0};
    hd_exec_options options = *job->options;
    hd_grid_job run = *job;
    const hd_program *p = job->program;
    hd_crew_init(&crew, hd_grid_ctas(job->grid), threads, options.instruction_limit, p->image->memory, p->history->exact);
    note_textures(&crew, p->image);
    hd_diagnostics_init_part(&said, job->diagnostics);
    if (options.print) {
        options.print = hd_crew_print;
        options.print_context = &crew;
    }
    run.options = &options;
    run.crew = &crew;
    run.diagnostics = &said;
    run.statistics = &statistics;
    hd_parallel(threads, threads, run_in_crew, &run);
    hd_crew_result result = hd_crew_finish(&crew);
    if (result == HD_CREW_DONE)
        accept(job, &run);
    hd_diagnostics_free(&said);
    hd_crew_free(&crew);
    return result;
}

/* CTAs of the program's last launches conflict: not each of the next ones need be tried. */
static bool expects_conflict(hd_history *h)
{
    if (!h->skipped)
        return false;
    h->skipped--;
    return true;
}

/* What allocations there are is known only when the program runs. */
static void open_history(const hd_program *p)
{
    if (!p->history->exact)
        p->history->exact = hd_calloc((size_t)p->image->memory->allocations.count + 1, sizeof *p->history->exact);
}

/* Whether threads meet in it is chance: so it is only said where somebody asks. */
static void report_conflict(const hd_grid_job *job)
{
    const hd_program *p = job->program;
    hd_report(job->diagnostics, HD_DIAG_REPEATED_LAUNCH, p->module->source, p->kernel->header_span,
              "kernel %s: thread blocks that run at the same time use the same bytes of global memory, and one of them writes; "
              "the launch runs again with one after another", hd_names_text(&p->module->names, p->kernel->name));
}

static void run_with_crew(hd_grid_job *job, uint32_t threads)
{
    hd_spare *spare = job->options->spare;
    hd_history *history = job->program->history;
    hd_crew_result result = HD_CREW_VAGUE;
    if (job->program->surfaces || expects_conflict(history)) {
        run_alone(job);
        return;
    }
    open_history(job->program);
    uint32_t taken = spare ? hd_spare_take(spare, threads - 1) : threads - 1;
    while (taken && result == HD_CREW_VAGUE)
        result = try_with_crew(job, 1 + taken);
    if (spare)
        hd_spare_give(spare, taken);
    if (result == HD_CREW_CONFLICT) {
        if (!history->conflicts)
            report_conflict(job);
        history->skipped = 1u << (history->conflicts < 16 ? history->conflicts : 16);
        history->conflicts++;
        job->statistics->repeated++;
    }
    if (result != HD_CREW_DONE)
        run_alone(job);
}

static bool take_stretches(const hd_sink *sinks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!sinks[i].take_stretch || sinks[i].columns & ~(uint32_t)HD_COLUMN_WIDTHS)
            return false;
    return count > 0;
}

hd_exec_status hd_program_run(const hd_program *program, const hd_grid *grid, const hd_exec_options *options,
                              const hd_sink *sinks, uint32_t sink_count, hd_exec_statistics *statistics,
                              hd_diagnostics *diagnostics)
{
    uint64_t ctas = hd_grid_ctas(grid);
    uint32_t threads = options->threads > ctas ? (uint32_t)ctas : options->threads;
    bool alone = threads < 2 || sink_count || options->check_uninitialized || options->check_races;
    hd_stretch stretch = {.going = HD_NONE};
    hd_gathering gathering;
    gathering.count = 0;
    gathering.words = 0;
    bool stretches = take_stretches(sinks, sink_count);
    hd_grid_job job = {program, grid, options, sinks, sink_count, stretches ? &stretch : NULL, &gathering, diagnostics, NULL, statistics, HD_EXEC_DONE};
    if (grid->cooperative || alone) {
        (grid->cooperative ? run_together : run_alone)(&job);
        return job.status;
    }
    run_with_crew(&job, threads);
    return job.status;
}
