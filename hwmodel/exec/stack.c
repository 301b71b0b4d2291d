/* A warp's SIMT stack and call frames.
 *
 * An entry is (pc, join, mask). Only the top runs; an entry whose pc reaches its join is popped, and the one below,
 * which waits there with all lanes, goes on. A branch that splits leaves the entry at the join (or gives it up where an
 * outer one joins at the same place) and pushes a side for each target that is not the join. Every split leaves fewer
 * lanes in each side, so a frame's entries stay below twice the lanes. Lanes that return leave all entries of their
 * frame, lanes that exit those of all frames; an entry without lanes is popped.
 */
#include "hwmodel/exec/alu.h"

void hd_rebase(hd_warp *w)
{
    hd_frame *f = hd_top_frame(w);
    w->bases[HD_REF_FRAME] = f->registers;
    w->bases[HD_REF_CONSTANT] = f->code->constant_rows;
    w->bases[HD_REF_SPECIAL] = w->special;
    w->bases[3] = f->code->constant_rows;
}

static void push(hd_warp *w, uint32_t pc, uint32_t join, uint32_t mask)
{
    hd_array_push(&w->stack, (hd_entry){pc, join, mask});
}

/* Room for a frame's local memory, zeroed. Words are interleaved by lane, so a larger block keeps the places of the old
 * one. */
static void grow_local(hd_warp *w, uint32_t needed)
{
    if (needed <= w->local_capacity)
        return;
    uint32_t capacity = needed < 2 * w->local_capacity ? 2 * w->local_capacity : needed;
    w->local = hd_realloc(w->local, (size_t)capacity * LANES);
    memset(w->local + (size_t)w->local_capacity * LANES, 0, (size_t)(capacity - w->local_capacity) * LANES);
    w->local_capacity = capacity;
}

static void push_frame(hd_warp *w, const hd_code *code, uint32_t mask, uint32_t local_base, const hd_op *call)
{
    if (w->frame_count == w->frames.count)
        hd_array_push(&w->frames, (hd_frame){0});
    hd_frame *f = &w->frames.items[w->frame_count++];
    if (f->register_capacity < code->register_bytes) {
        free(f->registers);
        f->registers = aligned_alloc(64, ((size_t)code->register_bytes + 63) / 64 * 64);
        if (!f->registers)
            hd_out_of_memory(code->register_bytes);
        f->register_capacity = code->register_bytes;
    }
    if (code->register_bytes)
        memset(f->registers, 0, code->register_bytes);
    f->code = code;
    f->serial = w->next_serial++;
    f->local_base = local_base;
    f->bottom = w->stack.count;
    f->call = call;
    f->lanes = mask;
    grow_local(w, local_base + code->local_bytes);
    push(w, 0, HD_NONE, mask);
    hd_rebase(w);
}

void hd_warp_start(hd_warp *w, const hd_code *code, uint32_t lanes)
{
    w->stack.count = 0;
    w->frame_count = 0;
    w->next_serial = 0;
    w->lanes = lanes;
    w->state = HD_WARP_READY;
    w->issued = 0;
    if (w->local_capacity)
        memset(w->local, 0, (size_t)w->local_capacity * LANES);
    push_frame(w, code, lanes, 0, NULL);
}

bool hd_emit(const hd_warp *w, hd_event_kind kind)
{
    const hd_cta *cta = w->cta;
    const hd_frame *f = w->frame_count ? hd_top_frame(w) : NULL;
    hd_event e = {.kind = (uint8_t)kind,
                  .cta = cta->index,
                  .warp = w->id,
                  .frame = f ? f->serial : 0,
                  .function = f ? f->code->index : 0,
                  .active = w->stack.count ? hd_top(w)->mask : 0};
    e.effective = e.active;
    for (uint32_t i = 0; i < cta->sink_count; i++)
        if (!cta->sinks[i].take(cta->sinks[i].context, &e))
            return false;
    return true;
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

enum { DEEPEST_CALL = 4096, LARGEST_LOCAL_BYTES = 512 * 1024 };

static unsigned char *word_of(hd_warp *w, uint32_t offset)
{
    return w->local + (size_t)(offset / 4) * 4 * LANES + offset % 4;
}

/* Between the local memory of two frames, a lane at a time; both places are aligned alike. */
static void copy_local(hd_warp *w, uint32_t to, uint32_t from, uint32_t bytes, uint32_t mask)
{
    for (uint32_t lane = 0; lane < LANES; lane++)
        for (uint32_t k = 0; k < bytes && mask >> lane & 1; k++)
            word_of(w, to + k)[lane * 4] = word_of(w, from + k)[lane * 4];
}

/* A register or immediate into local memory, or back. */
static void copy_row(hd_warp *w, unsigned char *row, uint32_t local, uint32_t bytes, uint32_t mask, bool to_row)
{
    for (uint32_t lane = 0; lane < LANES; lane++)
        for (uint32_t k = 0; k < bytes && mask >> lane & 1; k++) {
            unsigned char *in_row = row + (size_t)(k / 8) * 8 * LANES + lane * (bytes < 8 ? bytes : 8) + k % 8;
            unsigned char *in_local = &word_of(w, local + k)[lane * 4];
            if (to_row)
                *in_row = *in_local;
            else
                *in_local = *in_row;
        }
}

hd_step hd_run_call(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_frame caller = *hd_top_frame(w);
    const hd_code *callee = w->cta->program->codes.items[op->target];
    uint32_t base = caller.local_base + caller.code->local_bytes;
    if (w->frame_count >= DEEPEST_CALL || base + callee->local_bytes > LARGEST_LOCAL_BYTES)
        return hd_fault(op, w, mask, "the call stack overflows (%u frames, %u bytes a thread)", w->frame_count, base);
    push_frame(w, callee, mask, base, op);
    for (uint32_t i = 0; i < op->count; i++) { /* arguments */
        const hd_copy *c = &caller.code->copies.items[op->first + i];
        if (c->row == HD_NO_REF) {
            copy_local(w, base + c->to, caller.local_base + c->from, c->bytes, mask);
        } else {
            const unsigned char *bases[] = {caller.registers, caller.code->constant_rows, w->special, NULL};
            unsigned char *row =
                (unsigned char *)(uintptr_t)bases[c->row >> HD_REF_SHIFT] + (c->row & ((1u << HD_REF_SHIFT) - 1));
            copy_row(w, row, base + c->to, c->bytes, mask, false);
        }
    }
    return w->cta->sink_count && !hd_emit(w, HD_EVENT_CALL) ? hd_stop(w) : HD_STEP_JUMPED;
}

hd_step hd_stop(hd_warp *w)
{
    w->cta->status = HD_EXEC_STOPPED;
    return HD_STEP_STOP;
}

/* Back in the caller: results are copied for the lanes of the call that still live, and the caller goes on behind it.
 */
static bool leave_frame(hd_warp *w)
{
    hd_frame left = w->frames.items[--w->frame_count];
    if (!w->frame_count)
        return false;
    hd_rebase(w);
    hd_frame *caller = hd_top_frame(w);
    const hd_op *op = left.call;
    for (uint32_t i = op->count; i < op->count + op->written_count; i++) { /* results */
        const hd_copy *c = &caller->code->copies.items[op->first + i];
        uint32_t mask = left.lanes & w->lanes;
        if (c->row == HD_NO_REF)
            copy_local(w, caller->local_base + c->to, left.local_base + c->from, c->bytes, mask);
        else
            copy_row(w, hd_row_of_frame(w, c->row), left.local_base + c->from, c->bytes, mask, true);
    }
    hd_top(w)->pc++;
    return true;
}

/* ---- settling ------------------------------------------------------------------------------------------------ */

bool hd_warp_settle(hd_warp *w, bool *stopped)
{
    *stopped = false;
    for (;;) {
        const hd_frame *f = hd_top_frame(w);
        while (w->stack.count > f->bottom && (!hd_top(w)->mask || hd_top(w)->pc == hd_top(w)->join))
            w->stack.count--;
        if (w->stack.count > f->bottom)
            return true;
        uint32_t frames = w->frame_count;
        if (!leave_frame(w))
            return false;
        if (frames > 1 && w->cta->sink_count && !hd_emit(w, HD_EVENT_RETURN)) {
            *stopped = true;
            return true;
        }
    }
}

/* ---- branches ------------------------------------------------------------------------------------------------ */

static void split_begin(hd_warp *w, uint32_t join, uint32_t *inner)
{
    hd_entry *top = hd_top(w);
    *inner = join == HD_NONE ? top->join : join;
    if (join == HD_NONE || join == top->join)
        w->stack.count--; /* an outer entry waits there already, or none has to */
    else
        top->pc = join;
    w->cta->statistics->divergent_branches++;
}

hd_step hd_run_branch(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_entry *top = hd_top(w);
    uint32_t rest = top->mask & ~mask, next = top->pc + 1, join;
    if (!rest || next == op->target) {
        top->pc = op->target;
        return HD_STEP_JUMPED;
    }
    split_begin(w, op->join, &join);
    if (next != join)
        push(w, next, join, rest);
    if (op->target != join)
        push(w, op->target, join, mask);
    return HD_STEP_JUMPED;
}

/* brx.idx: lanes with the same index go together; the first index on top, lanes whose guard is false below all. */
hd_step hd_run_branch_table(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint32_t *index = hd_row(w, op->a), *targets = hd_top_frame(w)->code->refs.items + op->first;
    uint32_t rest = hd_top(w)->mask & ~mask, next = hd_top(w)->pc + 1, join, bad = 0;
    uint32_t first = index[__builtin_ctz(mask)], same = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        bad |= (uint32_t)(index[i] >= op->count) << i & mask;
        same |= (uint32_t)(index[i] == first) << i & mask;
    }
    if (bad)
        return hd_fault(op, w, bad, "brx.idx with index %u of %u targets", index[__builtin_ctz(bad)], op->count);
    if (same == mask && !rest) {
        hd_top(w)->pc = targets[first];
        return HD_STEP_JUMPED;
    }
    split_begin(w, op->join, &join);
    if (rest && next != join)
        push(w, next, join, rest);
    for (uint32_t k = op->count; k-- > 0;) {
        uint32_t side = 0;
        for (uint32_t i = 0; i < LANES; i++)
            side |= (uint32_t)(index[i] == k) << i & mask;
        if (side && targets[k] != join)
            push(w, targets[k], join, side);
    }
    return HD_STEP_JUMPED;
}

hd_step hd_run_return(const hd_op *op, hd_warp *w, uint32_t mask)
{
    if (w->frame_count == 1)
        return hd_run_exit(op, w, mask);
    hd_top(w)->pc++;
    for (uint32_t i = hd_top_frame(w)->bottom; i < w->stack.count; i++)
        w->stack.items[i].mask &= ~mask;
    return HD_STEP_JUMPED;
}

hd_step hd_run_exit(const hd_op *op, hd_warp *w, uint32_t mask)
{
    (void)op;
    hd_top(w)->pc++;
    for (uint32_t i = 0; i < w->stack.count; i++)
        w->stack.items[i].mask &= ~mask;
    w->lanes &= ~mask;
    return HD_STEP_JUMPED;
}

hd_step hd_run_trap(const hd_op *op, hd_warp *w, uint32_t mask)
{
    return hd_fault(op, w, mask, "the kernel executes trap");
}
