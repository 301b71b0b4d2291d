/* Instructions at which lanes of a warp meet: shfl, vote, match, redux and elect with .sync.
 *
 * A lane waits for the lanes that its member mask names and that have not ended. Sides of a branch that do not
 * reconverge earlier because of a return may arrive one after the other: the first ones wait (park.h), and the last one
 * executes the instruction for all, since the values of waiting lanes do not change. When the others are on top of the
 * stack again, they get their results and continue; each side is a separate event. Lanes with different masks form
 * separate groups.
 *
 * On a SIMT stack lanes wait at reconvergence points, and no lane of a caller continues before its callee has returned.
 * With independent thread scheduling these lanes could reach the instruction, or end: waiting for them is a limit of
 * the model, not an error of the kernel. The same holds for lanes at another instruction of the same kind and mask,
 * which meets this one on a GPU. If all awaited lanes themselves wait for each other, no schedule helps: this is a
 * fault. */
#include "hwmodel/exec/control/meet.h"
#include "hwmodel/exec/checks/checks.h"
#include "hwmodel/exec/control/park.h"
#include "hwmodel/exec/ops/rows.h"
#include "hwmodel/exec/state/fault.h"

/* ---- meeting ----------------------------------------------------------------------------------------------------- */

/* The lanes of `all` whose named live lanes are all in `all`. */
static uint32_t complete_lanes(const hd_warp *w, const uint32_t *named, uint32_t all)
{
    uint32_t complete = 0;
    HD_EACH_BIT (lane, all)
        complete |= (uint32_t) !(named[lane] & w->lanes & ~all) << lane;
    return complete;
}

static uint32_t named_by(const uint32_t *named, uint32_t lanes)
{
    uint32_t all = 0;
    HD_EACH_BIT (lane, lanes)
        all |= named[lane];
    return all;
}

/* Lanes disabled by the guard are in the same stack entry and would have to continue alone. */
static hd_step wait_for_others(const hd_op *op, hd_warp *w, uint32_t mask, hd_park_key key, uint32_t missing,
                               const char *what)
{
    if (hd_top(w)->mask != mask)
        return hd_stuck(op, w, mask, missing, what);
    if (mask & ~w->parked)
        hd_park(w, mask, key);
    if (hd_switch_side(w) || hd_end_waiting(w))
        return HD_STEP_BLOCKED;
    return hd_stuck(op, w, mask, missing, what);
}

void hd_give_row(hd_warp *w, hd_ref to, const uint32_t *row, uint32_t mask, uint32_t with)
{
    hd_merge(hd_row_of_frame(w, to), row, mask, 4);
    HD_EACH_BIT (lane, with & ~mask)
        w->met_row[lane] = row[lane];
}

void hd_give_word(hd_warp *w, hd_ref to, uint32_t word, uint32_t mask, uint32_t with)
{
    hd_set_warp_word(w, to, word, mask);
    w->met_word = (w->met_word & ~(with & ~mask)) | (word & with & ~mask);
}

static void take_results(const hd_op *op, hd_warp *w, uint32_t mask)
{
    bool truth = op->flags & HD_OP_PREDICATE;
    if (op->d != HD_NO_REF && !truth)
        hd_merge(hd_row_of_frame(w, op->d), w->met_row, mask, 4);
    if (truth || op->e != HD_NO_REF)
        hd_set_warp_word(w, truth ? op->d : op->e, w->met_word, mask);
}

hd_step hd_meet(const hd_op *op, hd_warp *w, uint32_t mask, hd_ref members, const char *what, uint32_t *with)
{
    const uint32_t *named = hd_row(w, members);
    HD_EACH_BIT (lane, mask) {
        if (!(named[lane] >> lane & 1))
            return hd_fault(op, w, 1u << lane, "%s with a member mask 0x%08x that does not name the lane itself", what,
                            named[lane]);
    }
    *with = mask;
    if (!(named_by(named, mask) & w->lanes & ~mask) && !w->parked && !w->passed) { /* the common case */
        hd_uninitialized_meet(op, w, mask);
        return HD_STEP_NEXT;
    }
    if (hd_take_pass(w, mask)) {
        take_results(op, w, mask);
        hd_top(w)->pc++;
        return HD_STEP_JUMPED;
    }
    hd_park_key key = HD_PARK_KEY(HD_PARK_EXCHANGE, hd_top(w)->pc);
    uint32_t all = mask | (hd_parked_at(w, key) & hd_top_frame(w)->lanes);
    *with = complete_lanes(w, named, all);
    if (!(mask & ~*with)) {
        hd_uninitialized_meet(op, w, *with);
        return HD_STEP_NEXT;
    }
    return wait_for_others(op, w, mask, key, named_by(named, mask) & w->lanes & ~all, what);
}

hd_step hd_met(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t with)
{
    if (!hd_op_meets(op))
        return HD_STEP_NEXT;
    w->parked &= ~mask;
    if (with == mask)
        return HD_STEP_NEXT;
    hd_unpark(w, with & ~mask);
    if (w->cta->checks && hd_checks_done(op, w, with) == HD_STEP_STOP)
        return HD_STEP_STOP;
    hd_top(w)->pc++;
    return HD_STEP_JUMPED;
}

/* ---- lanes that cannot arrive ------------------------------------------------------------------------------------ */

/* The op at which a lane of the running function waits. */
static const hd_op *op_of(const hd_warp *w, uint32_t lane)
{
    const hd_frame *f = hd_top_frame(w);
    for (uint32_t i = w->stack.count; i-- > f->bottom;)
        if (w->stack.items[i].mask >> lane & 1)
            return &f->code->ops[w->stack.items[i].pc];
    return NULL;
}

/* The lanes that a parked lane waits for. */
static uint32_t waits_for(const hd_warp *w, uint32_t lane)
{
    const hd_op *op = op_of(w, lane);
    if (op && op->flags & HD_OP_NAMES_LANES)
        return ((const uint32_t *)hd_row(w, op->f))[lane] & w->lanes;
    return w->lanes;
}

/* The transitive closure of the lanes that these lanes wait for. */
static uint32_t all_awaited(const hd_warp *w, uint32_t lanes)
{
    uint32_t all = lanes;
    for (uint32_t left = lanes & w->parked; left;) {
        uint32_t more = waits_for(w, (uint32_t)__builtin_ctz(left)) & ~all;
        left &= left - 1;
        left |= more & w->parked;
        all |= more;
    }
    return all;
}

/* Whether one of these lanes waits at another instruction with the same spelling and the same named lanes. */
static bool same_kind_elsewhere(const hd_op *op, const hd_warp *w, uint32_t mask, uint32_t missing)
{
    const hd_code *code = hd_top_frame(w)->code;
    const hd_instruction *instructions = code->function->instructions.items;
    HD_EACH_BIT (lane, hd_op_meets(op) ? missing & w->parked : 0) {
        const hd_op *other = op_of(w, lane);
        if (other && hd_op_meets(other) && waits_for(w, lane) == waits_for(w, (uint32_t)__builtin_ctz(mask)) &&
            hd_insn_form(code->function, &instructions[op - code->ops]) ==
                hd_insn_form(code->function, &instructions[other - code->ops]))
            return true;
    }
    return false;
}

hd_step hd_stuck(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t missing, const char *what)
{
    uint32_t free = all_awaited(w, missing) & ~w->parked & ~mask;
    const char *why = NULL;
    if (free & ~hd_top_frame(w)->lanes)
        why = "lanes of a function that has called this one cannot go on before it is back; code that the compiler "
              "inlined has no such call";
    else if (free & hd_top(w)->mask)
        why = "lanes that the guard leaves out cannot go on without the others, as they do with independent thread "
              "scheduling";
    else if (free)
        why = "lanes that wait where the sides of a branch meet cannot run on or end before the others, as they do "
              "with independent thread "
              "scheduling";
    else if (same_kind_elsewhere(op, w, mask, missing))
        why = "they wait at another instruction of the same kind and mask; lanes meet at one instruction here";
    hd_step step = hd_fault(op, w, mask, "%s waits for lanes 0x%08x, which are elsewhere", what, missing);
    hd_fault_note_elsewhere(w, missing);
    if (why)
        hd_fault_not_modelled(w->cta, why);
    return step;
}

hd_step hd_block_warp(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t number, const char *what)
{
    if (hd_top(w)->mask & ~w->parked || hd_switch_side(w)) /* the rest of a split entry is on top already */
        return HD_STEP_BLOCKED;
    if (w->parked == w->lanes && number != HD_NO_BARRIER) {
        w->state = HD_WARP_WAITING;
        w->barrier = (uint8_t)number;
        w->waiting = op;
        return HD_STEP_BLOCKED;
    }
    if (hd_end_waiting(w))
        return HD_STEP_BLOCKED;
    uint32_t named =
        op->flags & HD_OP_NAMES_LANES ? ((const uint32_t *)hd_row(w, op->f))[__builtin_ctz(mask)] : HD_ALL_LANES;
    return hd_stuck(op, w, mask, named & w->lanes & ~mask, what);
}
