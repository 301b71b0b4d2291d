/* A warp's SIMT stack and call frames.
 *
 * An entry is (pc, join, mask). Only the top executes; an entry whose pc reaches its join is popped, and the one
 * below, which waits there with all lanes, continues. A branch that diverges leaves the entry at the join (or drops
 * it, if an outer one has the same join) and pushes a side for each target other than the join. Every split leaves
 * fewer lanes per side, so a call frame has fewer entries than twice its lanes. Returning lanes are removed from all
 * entries of their call frame, exiting lanes from those of all call frames; an entry without lanes is popped.
 */
#include "hwmodel/exec/control/stack.h"
#include "hwmodel/exec/control/call.h"
#include "hwmodel/exec/control/columns.h"
#include "hwmodel/exec/control/control.h"
#include "hwmodel/exec/control/frame.h"
#include "hwmodel/exec/control/groups.h"
#include "hwmodel/exec/ops/special.h"
#include "hwmodel/exec/state/fault.h"

static void push(hd_warp *w, uint32_t pc, uint32_t join, uint32_t mask)
{
    hd_array_push(&w->stack, (hd_entry){pc, join, mask});
}

void hd_warp_start(hd_warp *w, const hd_code *code, uint32_t lanes)
{
    w->stack.count = w->splits.count = 0;
    w->frame_count = 0;
    w->next_serial = 0;
    w->lanes = lanes;
    w->state = HD_WARP_READY;
    w->issued = 0;
    w->yields = w->reported = w->parked = w->passed = w->cluster_arrived = w->cluster_open = 0;
    w->met_word = 0;
    w->turns = w->quiet = w->spin_checks = 0;
    w->passes = false;
    memset(w->met_row, 0, sizeof w->met_row);
    w->async.count = 0;
    memset(w->async_groups, 0, sizeof w->async_groups);
    w->async_arrives = 0;
    if (w->local_capacity)
        memset(w->local, 0, (size_t)w->local_capacity * LANES);
    hd_push_frame(w, code, lanes, 0);
}

/* ---- popping finished entries ------------------------------------------------------------------------------------ */

bool hd_warp_settle(hd_warp *w, bool *stopped)
{
    *stopped = false;
    if (w->cta->program->independent && hd_top(w)->mask)
        return hd_groups_choose(w);
    for (;;) {
        const hd_frame *f = hd_top_frame(w);
        while (w->stack.count > f->bottom && (!hd_top(w)->mask || hd_top(w)->pc == hd_top(w)->join))
            w->stack.count--;
        if (w->stack.count > f->bottom)
            return true;
        if (!hd_leave_frame(w, stopped))
            return false;
        if (*stopped)
            return true;
    }
}

/* ---- branches ---------------------------------------------------------------------------------------------------- */

static void split_begin(hd_warp *w, uint32_t join, uint32_t *inner)
{
    hd_entry *top = hd_top(w);
    *inner = join == HD_NONE ? top->join : join;
    if (join == HD_NONE || join == top->join)
        w->stack.count--; /* an outer entry waits there already, or no lane does */
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

/* The lanes of `mask` whose index selects `target`. */
static uint32_t lanes_to(const uint32_t *index, const uint32_t *targets, uint32_t mask, uint32_t target)
{
    uint32_t lanes = 0;
    HD_EACH_BIT (lane, mask)
        lanes |= (uint32_t)(targets[index[lane]] == target) << lane;
    return lanes;
}

/* Pushes the sides by their first index in the table, last ones first, below those that run before them. */
static void push_table_sides(hd_warp *w, const uint32_t *index, const uint32_t *targets, uint32_t mask, uint32_t join)
{
    struct {
        uint32_t target, place, lanes;
    } sides[LANES];
    uint32_t count = 0;
    for (uint32_t rest = mask, side; rest; rest &= ~side) {
        uint32_t target = targets[index[__builtin_ctz(rest)]], place = 0, at = count++;
        side = lanes_to(index, targets, rest, target);
        while (targets[place] != target)
            place++;
        for (; at && sides[at - 1].place < place; at--)
            sides[at] = sides[at - 1];
        sides[at].target = target;
        sides[at].place = place;
        sides[at].lanes = side;
    }
    for (uint32_t i = 0; i < count; i++)
        if (sides[i].target != join)
            push(w, sides[i].target, join, sides[i].lanes);
}

/* brx.idx: lanes with the same target form one side, whatever their index. Lanes that fall through because of the guard
 * join those for which the table gives the next instruction; this side runs last. */
hd_step hd_run_branch_table(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint32_t *index = hd_row(w, op->a), *targets = hd_top_frame(w)->code->refs.items + op->first;
    uint32_t rest = hd_top(w)->mask & ~mask, next = hd_top(w)->pc + 1, join, bad = 0;
    for (uint32_t i = 0; i < LANES; i++)
        bad |= (uint32_t)(index[i] >= op->count) << i & mask;
    if (bad)
        return hd_fault(op, w, bad, "brx.idx with index %u of %u targets", index[__builtin_ctz(bad)], op->count);
    uint32_t first = targets[index[__builtin_ctz(mask)]];
    if (rest)
        rest |= lanes_to(index, targets, mask, next);
    mask &= ~rest;
    if (!mask || (!rest && lanes_to(index, targets, mask, first) == mask)) {
        hd_top(w)->pc = mask ? first : next;
        return HD_STEP_JUMPED;
    }
    split_begin(w, op->join, &join);
    if (rest && next != join)
        push(w, next, join, rest);
    push_table_sides(w, index, targets, mask, join);
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
    if (!op->boolean && !w->cta->grid->cooperative && hd_special_used(w->cta->program, HD_SREG_ENVREG2))
        return hd_fault_note(op, w, mask,
                             "the launch is not cooperative, and the kernel reads %envreg2, as a barrier of "
                             "the grid does: see 'cooperative' in heddle-launch(5)",
                             "the kernel executes trap");
    return hd_fault(op, w, mask, op->boolean ? "the kernel stops at a breakpoint (brkpt)" : "the kernel executes trap");
}
