/* Calls: call frames, arguments and results, indirect calls with several targets, and alloca.
 *
 * The lanes of an indirect call are grouped by target. The target of the lowest lane is called first, as one call
 * frame; when it has returned, the target of the lowest remaining lane, and so on; then all lanes continue after the
 * call. A call frame's local memory follows its caller's. alloca moves the end of each lane's stack independently; a
 * callee's call frame starts after the farthest one. */
#include "hwmodel/exec/control/call.h"
#include "hwmodel/exec/checks/checks.h"
#include "hwmodel/exec/control/columns.h"
#include "hwmodel/exec/control/control.h"
#include "hwmodel/exec/control/events.h"
#include "hwmodel/exec/control/frame.h"
#include "hwmodel/exec/state/fault.h"

enum { DEEPEST_CALL = 4096, LARGEST_LOCAL_BYTES = 512 * 1024 };

/* ---- arguments and results --------------------------------------------------------------------------------------- */

/* One of the two call frames between which a value is passed. */
typedef struct side {
    const unsigned char *bases[3]; /* by HD_REF_* */
    unsigned char *local;
    uint32_t base; /* of the call frame in it */
} side;

/* For values, or for their shadow (undefined) bits. */
static side side_of(const hd_warp *w, const hd_frame *f, bool shadow)
{
    if (!shadow)
        return (side){{f->registers, f->code->constant_rows, w->special}, w->local, f->local_base};
    const unsigned char *zeros = w->cta->checks->zeros;
    return (side){{f->shadow, zeros, zeros}, w->shadow_local, f->local_base};
}

static unsigned char *row_of(const side *s, hd_ref ref)
{
    return (unsigned char *)(uintptr_t)s->bases[ref >> HD_REF_SHIFT] + (ref & ((1u << HD_REF_SHIFT) - 1));
}

/* Byte k of a lane: in a row with `lane_bytes` per lane, or in local memory. */
static unsigned char *byte_in_row(unsigned char *row, uint32_t lane, uint32_t k, uint32_t lane_bytes)
{
    return row + (size_t)(k / 8) * 8 * LANES + lane * hd_min(lane_bytes, 8) + k % 8;
}
static unsigned char *byte_in_local(const side *s, uint32_t lane, uint32_t at)
{
    at += s->base;
    return s->local + (size_t)(at / 4) * 4 * LANES + lane * 4 + at % 4;
}

static void pass_predicate(unsigned char *to, const unsigned char *from, uint32_t mask)
{
    uint32_t old, new;
    memcpy(&old, to, 4);
    memcpy(&new, from, 4);
    new = (old & ~mask) | (new &mask);
    memcpy(to, &new, 4);
}

/* Passes one value for the lanes of `mask`. A register wider than the value is zero-extended. */
static void pass(const side *to, hd_ref to_row, uint32_t to_local, const side *from, hd_ref from_row,
                 uint32_t from_local, const hd_call_copy *c, uint32_t mask)
{
    if (!c->bytes) {
        pass_predicate(row_of(to, to_row), row_of(from, from_row), mask);
        return;
    }
    HD_EACH_BIT (lane, mask) {
        uint32_t wide = to_row == HD_NO_REF ? c->bytes : c->row_bytes;
        for (uint32_t k = 0; k < wide; k++) {
            const unsigned char *in = from_row == HD_NO_REF
                                          ? byte_in_local(from, lane, from_local + k)
                                          : byte_in_row(row_of(from, from_row), lane, k, c->row_bytes);
            unsigned char *out = to_row == HD_NO_REF ? byte_in_local(to, lane, to_local + k)
                                                     : byte_in_row(row_of(to, to_row), lane, k, c->row_bytes);
            *out = k < c->bytes ? *in : 0;
        }
    }
}

static void pass_arguments(hd_warp *w, const hd_frame *caller, const hd_call *call, const hd_callee *callee,
                           uint32_t mask, bool shadow)
{
    side from = side_of(w, caller, shadow), to = side_of(w, hd_top_frame(w), shadow);
    for (uint32_t i = 0; i < call->arguments; i++) {
        const hd_call_copy *c = &caller->code->copies.items[callee->first + i];
        pass(&to, c->formal, c->there, &from, c->row, c->local, c, mask);
    }
}

static void pass_results(hd_warp *w, const hd_frame *left, uint32_t mask, bool shadow)
{
    const hd_frame *caller = hd_top_frame(w);
    const hd_call *call = left->call->use.detail;
    side from = side_of(w, left, shadow), to = side_of(w, caller, shadow);
    for (uint32_t i = 0; i < call->results; i++) {
        const hd_call_copy *c = &caller->code->copies.items[left->callee->first + call->arguments + i];
        pass(&to, c->row, c->local, &from, c->formal, c->there, c, mask);
    }
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static const hd_callee *callee_of(const hd_op *op, const hd_warp *w, uint32_t lane)
{
    const hd_call *call = op->use.detail;
    if (!call->indirect)
        return call->callees;
    uint64_t address = hd_lane_value(hd_row(w, op->a), op->a_bytes, lane);
    for (uint32_t i = 0; i < call->count; i++)
        if (call->callees[i].address == address)
            return &call->callees[i];
    return NULL;
}

/* Describes an invalid target address. */
static hd_step bad_target(const hd_op *op, hd_warp *w, uint32_t lane)
{
    const hd_program *p = w->cta->program;
    const hd_symbol *s = NULL;
    uint64_t address = hd_lane_value(hd_row(w, op->a), op->a_bytes, lane);
    for (uint32_t i = 0; i < p->module->symbols.count && !s; i++)
        if (p->module->symbols.items[i].kind == HD_SYMBOL_FUNCTION && p->image->addresses[i] == address)
            s = &p->module->symbols.items[i];
    if (!s)
        return hd_fault_is(
            w, HD_FAULT_PC,
            hd_fault(op, w, 1u << lane, "call of address 0x%llx, where no function is", (unsigned long long)address));
    return hd_fault(op, w, 1u << lane, "call of function %s, which does not fit the call's prototype or list",
                    hd_names_text(&p->module->names, s->name));
}

static uint32_t stack_end(const hd_frame *f) { return (f->local_end + 15) / 16 * 16; }

/* Calls the target of the lowest lane of `mask` for all lanes with this target. */
static hd_step enter(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_frame caller = *hd_top_frame(w);
    const hd_callee *callee = callee_of(op, w, (uint32_t)__builtin_ctz(mask));
    uint32_t same = mask;
    for (uint32_t lane = 0; lane < LANES && ((const hd_call *)op->use.detail)->count > 1; lane++)
        if (mask >> lane & 1 && callee_of(op, w, lane) != callee)
            same &= ~(1u << lane);
    hd_push_frame(w, w->cta->program->codes.items[callee->code], same, stack_end(&caller));
    hd_frame *f = hd_top_frame(w);
    f->call = op;
    f->callee = callee;
    f->rest = mask & ~same;
    pass_arguments(w, &caller, op->use.detail, callee, same, false);
    if (w->cta->checks && w->cta->checks->uninitialized)
        pass_arguments(w, &caller, op->use.detail, callee, same, true);
    return w->cta->sink_count && !hd_emit_event(w, HD_EVENT_CALL) ? hd_stop(w) : HD_STEP_JUMPED;
}

hd_step hd_run_call(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_frame *caller = hd_top_frame(w);
    uint32_t base = stack_end(caller);
    HD_EACH_BIT (lane, mask) { /* check all targets before the first one executes */
        const hd_callee *callee = callee_of(op, w, lane);
        if (!callee)
            return bad_target(op, w, lane);
        if (w->frame_count >= DEEPEST_CALL ||
            base + w->cta->program->codes.items[callee->code]->local_bytes > LARGEST_LOCAL_BYTES)
            return hd_fault_is(w, HD_FAULT_STACK,
                               hd_fault(op, w, mask,
                                        "stack overflow: the call stack has %u frames and %u bytes a thread",
                                        w->frame_count, base));
        if (!((const hd_call *)op->use.detail)->indirect)
            break;
    }
    return enter(op, w, mask);
}

bool hd_leave_frame(hd_warp *w, bool *stopped)
{
    hd_frame left = w->frames.items[--w->frame_count];
    if (!w->frame_count)
        return false;
    const hd_op *op = left.call;
    uint32_t back = left.lanes & w->lanes, rest = left.rest & w->lanes;
    hd_rebase(w);
    if (back && ((const hd_call *)op->use.detail)->no_return) {
        hd_fault(op, w, back, "a function that is called as .noreturn returns");
        return *stopped = true;
    }
    pass_results(w, &left, back, false);
    if (w->cta->checks && w->cta->checks->uninitialized)
        pass_results(w, &left, back, true);
    if (w->cta->sink_count && !hd_emit_event(w, HD_EVENT_RETURN))
        return *stopped = true;
    if (rest)
        *stopped = enter(op, w, rest) == HD_STEP_STOP;
    else
        hd_top(w)->pc++;
    return true;
}

/* ---- alloca ------------------------------------------------------------------------------------------------------ */

static uint32_t *tops_of(hd_frame *f)
{
    if (!f->tops)
        f->tops = hd_malloc(LANES * sizeof *f->tops);
    for (uint32_t i = 0; i < LANES && !f->has_tops; i++)
        f->tops[i] = f->local_end;
    f->has_tops = true;
    return f->tops;
}

static void set_end(hd_warp *w, hd_frame *f)
{
    f->local_end = f->local_base + f->code->local_bytes;
    for (uint32_t i = 0; i < LANES; i++)
        f->local_end = hd_max(f->local_end, f->tops[i]);
    hd_grow_local(w, f->local_end);
}

static uint64_t value_of(const hd_op *op, const hd_warp *w, uint32_t lane)
{
    return hd_lane_value(hd_row(w, op->a), op->a_bytes, lane);
}

static void set_value(const hd_op *op, hd_warp *w, uint32_t lane, uint64_t value)
{
    memcpy((unsigned char *)hd_row_of_frame(w, op->d) + (size_t)lane * op->d_bytes, &value, op->d_bytes);
}

/* op->offset: the alignment. The address is in the .local space. */
hd_step hd_run_alloca(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_frame *f = hd_top_frame(w);
    uint32_t *tops = tops_of(f), before[LANES];
    HD_EACH_BIT (lane, mask) {
        uint32_t align = (uint32_t)op->offset;
        uint64_t bytes = value_of(op, w, lane), at = (tops[lane] + align - 1ull) / align * align;
        if (bytes > LARGEST_LOCAL_BYTES || at + bytes > LARGEST_LOCAL_BYTES)
            return hd_fault_is(w, HD_FAULT_STACK,
                               hd_fault(op, w, 1u << lane,
                                        "stack overflow: alloca of %llu bytes where %u of %u are in use",
                                        (unsigned long long)bytes, tops[lane], LARGEST_LOCAL_BYTES));
        before[lane] = tops[lane];
        tops[lane] = (uint32_t)(at + bytes + 3) / 4 * 4;
        set_value(op, w, lane, at);
    }
    set_end(w, f);
    HD_EACH_BIT (lane, w->cta->checks && w->cta->checks->uninitialized ? mask : 0)
        hd_uninitialized_local(w, lane, before[lane], tops[lane] - before[lane], true);
    return HD_STEP_NEXT;
}

hd_step hd_run_stack_save(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint32_t *tops = tops_of(hd_top_frame(w));
    HD_EACH_BIT (lane, mask)
        set_value(op, w, lane, tops[lane]);
    return HD_STEP_NEXT;
}

hd_step hd_run_stack_restore(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_frame *f = hd_top_frame(w);
    uint32_t *tops = tops_of(f);
    HD_EACH_BIT (lane, mask) {
        uint64_t value = value_of(op, w, lane);
        if (value < f->local_base + f->code->local_bytes || value > tops[lane])
            return hd_fault(op, w, 1u << lane, "stackrestore of 0x%llx, which stacksave did not give",
                            (unsigned long long)value);
        tops[lane] = (uint32_t)value;
    }
    set_end(w, f);
    return HD_STEP_NEXT;
}
