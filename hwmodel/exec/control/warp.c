/* A turn of a warp: the loop that executes its instructions, and their events. */
#include "hwmodel/exec/control/warp.h"
#include "hwmodel/exec/checks/checks.h"
#include "hwmodel/exec/control/columns.h"
#include "hwmodel/exec/control/events.h"
#include "hwmodel/exec/control/groups.h"
#include "hwmodel/exec/control/livelock.h"
#include "hwmodel/exec/control/park.h"
#include "hwmodel/exec/control/stack.h"
#include "hwmodel/exec/ops/faulty_lane.h"

/* ---- events ------------------------------------------------------------------------------------------------------ */

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

/* If another call frame begins or continues, no segment is open, because an event precedes. */
static __attribute__((noinline)) bool begin_part(hd_warp *w, uint32_t pc, uint32_t active)
{
    const hd_event first = issue_event(w, pc, active, active);
    if (w->cta->segment->open_warp == w->id && hd_segment_accepts_part(w->cta->segment, pc)) {
        hd_segment_begin_part(w->cta->segment, pc, active);
        return true;
    }
    if (!hd_emit_segment(w->cta))
        return false;
    hd_segment_begin(w->cta->segment, &first);
    w->cta->gathering->warp = w;
    w->cta->gathering->frame = w->frame_count - 1;
    return true;
}

static inline bool emit_in_segment(const hd_op *op, hd_warp *w, uint32_t pc, uint32_t active, uint32_t mask)
{
    hd_segment_event *s = w->cta->segment;
    if (__builtin_expect(pc != s->next || active != s->active || w->id != s->open_warp, 0) &&
        !begin_part(w, pc, active))
        return false;
    if (op->written_count && mask && w->cta->columns)
        hd_gather_later(w->cta->gathering, op, mask);
    hd_segment_append(s, mask, op->flags & HD_OP_LAST_OF_SEGMENT);
    return true;
}

/* ran: the instruction has executed. */
static bool emit_issue(const hd_op *op, hd_warp *w, uint32_t pc, uint32_t active, uint32_t mask, bool ran)
{
    if (w->cta->segment)
        return emit_in_segment(op, w, pc, active, mask);
    hd_event e = issue_event(w, pc, active, mask);
    return hd_emit_issue(op, w, &e, ran ? mask : 0);
}

/* ---- a warp ------------------------------------------------------------------------------------------------------ */

static inline uint32_t guarded(const hd_op *op, const hd_warp *w, uint32_t active)
{
    if (op->guard == HD_NO_REF)
        return active;
    uint32_t truth = hd_warp_word(w, op->guard);
    return active & (op->flags & HD_OP_GUARD_NOT ? ~truth : truth);
}

static hd_step run_faulty(const hd_op *op, hd_warp *w, uint32_t active, uint32_t mask)
{
    hd_faulty_begin(op, w, mask);
    hd_step step = w->cta->checks ? hd_checks_step(op, w, active, mask) : mask ? op->run(op, w, mask) : HD_STEP_NEXT;
    if (step != HD_STEP_BLOCKED && step != HD_STEP_STOP && step != HD_STEP_JUMPED)
        hd_faulty_end(op, w, mask);
    return step;
}

/* With all that looks at it. */
static hd_step run_watched(const hd_op *op, hd_warp *w, uint32_t active, uint32_t mask)
{
    return w->cta->faulty && !(op->flags & HD_OP_IDENTITY) ? run_faulty(op, w, active, mask)
           : w->cta->checks                                ? hd_checks_step(op, w, active, mask)
           : mask                                          ? op->run(op, w, mask)
                                                           : HD_STEP_NEXT;
}

/* With sinks or checks, or while livelock.c records. */
static hd_step step_watched(const hd_op *op, hd_warp *w, uint32_t pc, uint32_t active, uint32_t mask)
{
    bool retried = op->flags & HD_OP_RETRY, reported = retried && mask && !(mask & ~w->reported);
    bool before = op->flags & HD_OP_CONTROL || (!w->cta->columns && !retried) || (retried && !op->written_count);
    if (w->cta->segment)
        hd_gather_before(w->cta->gathering, w->cta->segment, ~(uint64_t)0);
    if (w->cta->trace)
        hd_livelock_trace(op, w);
    if (op->flags & HD_OP_SYNTHETIC)
        return op->run(op, w, mask);
    if (op->flags & HD_OP_IDENTITY)
        return run_watched(op, w, active, mask);
    if (before && !reported && !emit_issue(op, w, pc, active, mask, false))
        return hd_stop(w);
    hd_step step = run_watched(op, w, active, mask);
    if (retried)
        w->reported = step == HD_STEP_BLOCKED ? w->reported | mask : w->reported & ~mask;
    if (!before && step != HD_STEP_STOP && step != HD_STEP_BLOCKED && !emit_issue(op, w, pc, active, mask, true))
        return hd_stop(w);
    return step;
}

/* The same if sinks take trace segments and nothing else observes instructions. */
static inline hd_step step_in_segment(const hd_op *op, hd_warp *w, uint32_t pc, uint32_t active, uint32_t mask)
{
    if (op->flags & (HD_OP_SYNTHETIC | HD_OP_IDENTITY | HD_OP_RETRY))
        return step_watched(op, w, pc, active, mask);
    hd_gather_before(w->cta->gathering, w->cta->segment, op->words);
    bool before = op->flags & HD_OP_CONTROL || !w->cta->columns;
    if (before && !emit_in_segment(op, w, pc, active, mask))
        return hd_stop(w);
    hd_step step = mask ? op->run(op, w, mask) : HD_STEP_NEXT;
    return before || step == HD_STEP_STOP || emit_in_segment(op, w, pc, active, mask) ? step : hd_stop(w);
}

/* Not __builtin_popcount, which is a call unless the target CPU has the instruction. */
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

/* The instruction was not executed: it counts when it is. */
static inline void uncount(hd_exec_statistics *s, hd_warp *w, uint32_t active, uint32_t mask)
{
    s->warp_instructions--;
    s->thread_instructions -= lanes_in(active);
    s->effective_instructions -= lanes_in(mask);
    w->issued--;
}

/* The number of instructions from the top's pc that extend the open segment in sequence, at most `most`, unless
 * something stops them. */
static inline uint32_t straight_on(const hd_segment_event *s, const hd_warp *w, const hd_entry *top, uint32_t most)
{
    uint32_t rest = s->limit - s->next, to_join = top->join - top->pc;
    if (top->pc != s->next || top->mask != s->active || w->id != s->open_warp)
        return 0;
    rest = hd_min(rest, most);
    return hd_min(rest, to_join); /* a join that is not ahead does not limit the run */
}

static inline bool is_plain(const hd_op *op)
{
    return !(op->flags &
             (HD_OP_SYNTHETIC | HD_OP_IDENTITY | HD_OP_RETRY | HD_OP_CONTROL | HD_OP_ORDERED | HD_OP_LAST_OF_SEGMENT));
}

/* Executes up to `most` instructions that extend the open segment in sequence, the first of which is plain: as
 * step_in_segment, with fewer tests. *before: number of instructions executed before the last one. */
static __attribute__((noinline)) hd_step run_on(hd_warp *w, const hd_op *op, uint32_t most, uint32_t *before)
{
    hd_cta *cta = w->cta;
    hd_segment_event *s = cta->segment;
    hd_gathering *g = cta->gathering;
    hd_entry *top = hd_top(w);
    hd_step step = HD_STEP_NEXT;
    uint32_t active = top->mask, lanes = lanes_in(active), effective = 0, n = 0;
    uint8_t *masks = s->effective + (s->next - s->base), active_mask = s->active_mask;
    const bool widths = cta->columns;
    for (; step == HD_STEP_NEXT && n < most && is_plain(op); op++) {
        uint32_t mask = guarded(op, w, active);
        hd_gather_before(g, s, op->words);
        effective += mask == active ? lanes : lanes_in(mask);
        w->issued++;
        step = mask ? op->run(op, w, mask) : HD_STEP_NEXT;
        n++;
        if (step == HD_STEP_STOP && widths)
            break; /* it is not reported */
        if (widths && op->written_count && mask)
            hd_gather_later(g, op, mask);
        *masks++ = mask == active ? active_mask : hd_segment_mask(s, mask);
        s->next++;
        top->pc += step != HD_STEP_STOP;
    }
    if (s->next == s->limit)
        s->open_warp = HD_NONE;
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
    hd_step step = watched == HD_WATCHED_IN_SEGMENTS ? step_in_segment(op, w, pc, active, mask)
                   : watched                         ? step_watched(op, w, pc, active, mask)
                   : mask                            ? op->run(op, w, mask)
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

bool hd_run_warp(hd_warp *w, bool *spun)
{
    const uint32_t quantum = w->cta->grid->cooperative ? HD_COOPERATIVE_QUANTUM : HD_EXEC_QUANTUM;
    const hd_watched watched = w->cta->watched;
    const uint64_t writes = w->cta->writes;
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
        if (watched == HD_WATCHED_IN_SEGMENTS && is_plain(op) &&
            (straight = straight_on(w->cta->segment, w, top, quantum - n))) {
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
                    w->passes = w->cta->program->independent || (hd_switch_side(w), false);
                break;
            }
        }
    }
    if (w->cta->program->independent)
        hd_groups_end_turn(w, w->cta->writes != writes);
    return *spun = true;
}
