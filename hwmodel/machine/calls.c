/* Calls, returns and jumps by address.
 *
 * Addresses of code are those of a table: a function has a range of its own, in which an instruction is at the offset
 * that the listing gives it; functions of the device runtime, which are executed as the interpreter's (hwmodel/exec/
 * ops/builtin.h), have an address each. What is passed to these, and returned by all, is where ptxas 13.0 has it:
 * arguments from R4 on, each in as many registers as it needs, 64 bits from an even one on; the result from R4 on; in
 * R20 and R21 the address that a call returns to.
 *
 * A call of code in the same function is a jump. One of another function makes a call frame, with all registers of the
 * caller, whose values are copied, as are those that it leaves; the lanes that do not call wait for it, and so does the
 * rest of a warp that calls several functions. A GPU has no such frames: the callee's lanes go on when they return. */
#include "hwmodel/exec/checks/checks.h"
#include "hwmodel/exec/control/events.h"
#include "hwmodel/exec/control/frame.h"
#include "hwmodel/exec/control/groups.h"
#include "hwmodel/exec/ops/builtin.h"
#include "hwmodel/exec/ops/rows.h"
#include "hwmodel/exec/state/fault.h"
#include "hwmodel/machine/decoder.h"

enum { DEEPEST_CALL = 4096, FIRST_ARGUMENT = 4, RETURN_ADDRESS = 20 };
enum { RANGE_BITS = 24, BUILTIN_BYTES = 16 }; /* of a function; of one of the runtime, in the first range */
#define CODE_BEGIN (1ull << 48)               /* above all memory */

/* ---- addresses --------------------------------------------------------------------------------------------------- */

uint64_t hd_machine_code_address(const hd_function *f) { return CODE_BEGIN + (((uint64_t)f->index + 1) << RANGE_BITS); }

uint64_t hd_machine_builtin_address(const char *name)
{
    const hd_builtin *b = hd_builtin_find(name);
    return b ? CODE_BEGIN + (uint64_t)BUILTIN_BYTES * (1 + hd_builtin_number(b)) : 0;
}

bool hd_machine_needs_heap(const char *name)
{
    const hd_builtin *b = hd_builtin_find(name);
    return b && b->heap;
}

static const hd_builtin *builtin_at(uint64_t address)
{
    uint64_t number = (address - CODE_BEGIN) / BUILTIN_BYTES - 1;
    return address % BUILTIN_BYTES || number >= HD_BUILTINS ? NULL : hd_builtin_numbered((uint32_t)number);
}

/* The instruction at an offset in the function; HD_NONE. */
static uint32_t instruction_at(const hd_function *f, uint64_t offset)
{
    uint32_t low = 0, high = f->instructions.count;
    while (low < high) {
        uint32_t at = low + (high - low) / 2;
        if (f->machine->lines[at].address < offset)
            low = at + 1;
        else
            high = at;
    }
    return low < f->instructions.count && f->machine->lines[low].address == offset ? low : HD_NONE;
}

/* The instruction of the running function at an address; HD_NONE. */
static uint32_t local_target(const hd_warp *w, uint64_t address)
{
    const hd_function *f = hd_top_frame(w)->code->function;
    return instruction_at(f, address - hd_machine_code_address(f));
}

/* The address after the call that the running function returns to; 0: a kernel. */
static uint64_t return_address(const hd_warp *w)
{
    if (w->frame_count < 2)
        return 0;
    const hd_function *f = w->frames.items[w->frame_count - 2].code->function;
    uint32_t call = w->stack.items[hd_top_frame(w)->bottom - 1].pc;
    return call + 1 < f->instructions.count ? hd_machine_code_address(f) + f->machine->lines[call + 1].address : 0;
}

static uint32_t *general(const hd_warp *w, uint32_t number)
{
    return (uint32_t *)(void *)(hd_top_frame(w)->registers + w->cta->program->machine_rows->general +
                                number * 4u * LANES);
}

/* ---- call frames ------------------------------------------------------------------------------------------------- */

/* The code of a call's target, and the instruction in it; NULL: none. */
static const hd_code *code_at(const hd_warp *w, uint64_t address, uint32_t *pc)
{
    const hd_program *p = w->cta->program;
    for (uint32_t i = 0; i < p->codes.count; i++) {
        const hd_function *f = p->codes.items[i]->function;
        if ((address - hd_machine_code_address(f)) >> RANGE_BITS)
            continue;
        *pc = instruction_at(f, address - hd_machine_code_address(f));
        return *pc == HD_NONE ? NULL : p->codes.items[i];
    }
    return NULL;
}

/* The lanes of a mask with the address of the first of them. */
static uint32_t lanes_of(const uint64_t *addresses, uint32_t mask)
{
    uint32_t same = 0, first = (uint32_t)__builtin_ctz(mask);
    for (uint32_t i = first; i < LANES; i++)
        same |= (uint32_t)(mask >> i & 1 && addresses[i] == addresses[first]) << i;
    return same;
}

/* Calls the target of the first lane for all that have it, and the others' after it. */
static hd_step enter(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint64_t *addresses = hd_row(w, op->a);
    uint32_t first = (uint32_t)__builtin_ctz(mask), same = lanes_of(addresses, mask), pc = 0;
    const hd_code *code = code_at(w, addresses[first] + (uint64_t)op->offset, &pc);
    hd_frame caller = *hd_top_frame(w);
    const hd_op *call = &caller.code->ops[hd_top(w)->pc];
    if (w->frame_count >= DEEPEST_CALL)
        return hd_fault_is(w, HD_FAULT_STACK,
                           hd_fault(op, w, same, "stack overflow: the call stack has %u frames", w->frame_count));
    hd_push_frame(w, code, same, caller.local_base);
    memcpy(hd_top_frame(w)->registers, caller.registers, code->register_bytes);
    if (w->cta->checks)
        hd_checks_enter(w, &caller);
    hd_top(w)->pc = pc;
    hd_top_frame(w)->call = call;
    hd_top_frame(w)->rest = mask & ~same;
    return w->cta->sink_count && !hd_emit_event(w, HD_EVENT_CALL) ? hd_stop(w) : HD_STEP_JUMPED;
}

/* The registers of a frame that is left, or their shadows, of its lanes; uniform ones, which are the warp's, of all. */
static void pass_registers(const hd_machine_rows *rows, unsigned char *to, const unsigned char *left, uint32_t lanes)
{
    for (uint32_t at = 0; at < rows->barriers; at += 4) {
        uint32_t old, new;
        memcpy(&old, to + at, 4);
        memcpy(&new, left + at, 4);
        new = (old & ~lanes) | (new &lanes);
        memcpy(to + at, &new, 4);
    }
    for (uint32_t at = rows->barriers; at < rows->uniform; at += 4 * LANES)
        hd_merge(to + at, left + at, lanes, 4);
    memcpy(to + rows->uniform, left + rows->uniform, rows->temporaries - rows->uniform);
}

hd_step hd_machine_leave(hd_warp *w)
{
    hd_frame left = w->frames.items[--w->frame_count];
    while (w->splits.count && hd_array_last(&w->splits).frame > w->frame_count)
        w->splits.count--;
    w->stack.count = left.bottom;
    hd_rebase(w);
    const hd_machine_rows *rows = w->cta->program->machine_rows;
    pass_registers(rows, hd_top_frame(w)->registers, left.registers, left.lanes);
    if (w->cta->checks && w->cta->checks->uninitialized)
        pass_registers(rows, hd_top_frame(w)->shadow, left.shadow, left.lanes);
    hd_top(w)->mask &= w->lanes;
    if (w->cta->sink_count && !hd_emit_event(w, HD_EVENT_RETURN))
        return hd_stop(w);
    if (!(left.rest & w->lanes)) {
        hd_top(w)->pc++;
        return HD_STEP_NEXT;
    }
    return enter(hd_machine_inner_op(left.call), w, left.rest & w->lanes);
}

/* ---- the device runtime ------------------------------------------------------------------------------------------ */

/* Between registers and the rows of 8 bytes that the builtin's copies name. */
static void take_arguments(hd_warp *w, const hd_builtin *b, const hd_call_copy *copies)
{
    uint32_t number = FIRST_ARGUMENT;
    for (uint32_t i = 0; b->parameters[i]; i++) {
        bool wide = b->parameters[i] == '8';
        uint64_t *to = hd_row_of_frame(w, copies[i].row);
        number += wide && number % 2;
        const uint32_t *low = general(w, number), *high = wide ? general(w, number + 1) : NULL;
        for (uint32_t lane = 0; lane < LANES; lane++)
            to[lane] = low[lane] | (high ? (uint64_t)high[lane] << 32 : 0);
        number += wide ? 2 : 1;
    }
}

static void give_result(hd_warp *w, const hd_builtin *b, const hd_call_copy *copy, uint32_t mask)
{
    const uint64_t *from = b->result_bytes ? hd_row(w, copy->row) : NULL;
    uint32_t *low = general(w, FIRST_ARGUMENT), *high = general(w, FIRST_ARGUMENT + 1);
    HD_EACH_BIT (lane, from ? mask : 0) {
        low[lane] = (uint32_t)from[lane];
        if (b->result_bytes == 8)
            high[lane] = (uint32_t)(from[lane] >> 32);
    }
    for (uint32_t k = 0; k < b->result_bytes / 4u; k++)
        hd_checks_define(w, w->cta->program->machine_rows->general + (FIRST_ARGUMENT + k) * 4u * LANES, mask);
}

void hd_machine_add_builtins(hd_machine_decoder *d)
{
    for (uint32_t n = 0; n < HD_BUILTINS; n++) {
        const hd_builtin *b = hd_builtin_numbered(n);
        uint32_t arguments = (uint32_t)strlen(b->parameters);
        for (uint32_t i = 0; i < HD_MACHINE_BUILTIN_COPIES; i++) {
            uint32_t bytes = i < arguments ? b->parameters[i] - '0' : b->result_bytes;
            hd_ref row = HD_REF(HD_REF_FRAME, d->temporaries + 8 * LANES * (HD_MACHINE_TEMPORARIES - i));
            hd_array_push(&d->code->copies,
                          ((hd_call_copy){.row = row, .formal = HD_NO_REF, .bytes = bytes, .row_bytes = 8}));
        }
    }
}

static hd_step run_builtin(const hd_op *op, hd_warp *w, const hd_builtin *b, uint32_t mask)
{
    const hd_call call = {.arguments = (uint32_t)strlen(b->parameters), .results = b->result_bytes != 0};
    hd_op inner = *op;
    inner.first = hd_builtin_number(b) * HD_MACHINE_BUILTIN_COPIES;
    inner.use.detail = &call;
    const hd_call_copy *copies = &hd_top_frame(w)->code->copies.items[inner.first];
    take_arguments(w, b, copies);
    hd_step step = b->run(&inner, w, mask);
    if (step == HD_STEP_NEXT)
        give_result(w, b, &copies[call.arguments], mask);
    return step;
}

/* ---- jumps ------------------------------------------------------------------------------------------------------- */

static const char *const verbs[] = {
    [HD_MACHINE_JUMP] = "jump to", [HD_MACHINE_CALL] = "call of", [HD_MACHINE_RETURN] = "return to"};

static hd_step bad_target(const hd_op *op, hd_warp *w, uint32_t lanes, uint64_t address)
{
    uint64_t offset = address - hd_machine_code_address(hd_top_frame(w)->code->function);
    if (offset >> RANGE_BITS)
        return hd_fault_is(w, HD_FAULT_PC,
                           hd_fault(op, w, lanes, "a %s address 0x%llx, where the program has no code",
                                    verbs[op->boolean], (unsigned long long)address));
    return hd_fault_is(w, HD_FAULT_PC,
                       hd_fault(op, w, lanes, "a %s 0x%llx, where the function has no instruction", verbs[op->boolean],
                                (unsigned long long)offset));
}

/* The lanes leave their group, for where their addresses are: in this function, or after the call that this returns
 * to. */
static hd_step go(const hd_op *op, hd_warp *w, uint32_t mask, const uint64_t *addresses, uint64_t offset)
{
    uint32_t pc = hd_top(w)->pc, returned = 0;
    bool apart = hd_top(w)->mask != mask || lanes_of(addresses, mask) != mask;
    if (apart)
        hd_groups_split(w, op->join);
    hd_top(w)->mask &= ~mask;
    hd_top(w)->pc = pc + 1;
    for (uint32_t rest = mask, same; rest; rest &= ~same) {
        same = lanes_of(addresses, rest);
        uint64_t address = addresses[__builtin_ctz(rest)] + offset;
        uint32_t target = local_target(w, address);
        if (target != HD_NONE) {
            hd_machine_push_group(w, target, same);
        } else if (op->boolean != HD_MACHINE_JUMP && address && address == return_address(w)) {
            returned |= same;
        } else {
            hd_machine_push_group(w, pc, rest);
            return bad_target(op, w, same, address);
        }
    }
    w->cta->statistics->divergent_branches += apart;
    if (returned)
        return hd_machine_choose(op, w);
    hd_machine_drop_empty(w);
    hd_groups_choose(w);
    return HD_STEP_JUMPED;
}

/* After calls of the runtime, to the address in R20 and R21. */
static hd_step go_back(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint32_t *low = general(w, RETURN_ADDRESS), *high = general(w, RETURN_ADDRESS + 1);
    uint64_t addresses[LANES];
    uint32_t next = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        addresses[i] = (uint64_t)high[i] << 32 | low[i];
        next |= (uint32_t)(mask >> i & 1 && local_target(w, addresses[i]) == hd_top(w)->pc + 1) << i;
    }
    return next == mask && hd_top(w)->mask == mask ? HD_STEP_NEXT : go(op, w, mask, addresses, 0);
}

/* Where the targets are: lanes that call the runtime, and other functions. */
typedef struct targets {
    uint32_t builtin, other;
} targets;

static hd_step call_builtins(const hd_op *op, hd_warp *w, uint32_t mask, targets *t)
{
    const uint64_t *addresses = hd_row(w, op->a);
    for (uint32_t rest = mask, same, pc; rest; rest &= ~same) {
        same = lanes_of(addresses, rest);
        uint64_t address = addresses[__builtin_ctz(rest)] + (uint64_t)op->offset;
        const hd_builtin *b = builtin_at(address);
        hd_step step = b ? run_builtin(op, w, b, same) : HD_STEP_NEXT;
        if (step != HD_STEP_NEXT)
            return step;
        t->builtin |= b ? same : 0;
        t->other |= !b && local_target(w, address) == HD_NONE ? same : 0;
        if (!b && local_target(w, address) == HD_NONE && !code_at(w, address, &pc))
            return bad_target(op, w, same, address);
    }
    return HD_STEP_NEXT;
}

hd_step hd_machine_run_jump(const hd_op *op, hd_warp *w, uint32_t mask)
{
    targets t = {0};
    const hd_machine_op *m = hd_machine_op_of(op);
    if (op->count) { /* a predicate, which is a second guard */
        mask &= hd_machine_truth(w, m->in[0]);
        if (!mask)
            return HD_STEP_NEXT;
    }
    if (op->boolean != HD_MACHINE_CALL)
        return go(op, w, mask, hd_row(w, op->a), (uint64_t)op->offset);
    hd_step step = call_builtins(op, w, mask, &t);
    if (step != HD_STEP_NEXT)
        return step;
    if (t.builtin == mask)
        return go_back(op, w, mask);
    if (!t.builtin && !t.other)
        return go(op, w, mask, hd_row(w, op->a), (uint64_t)op->offset);
    if ((t.builtin | t.other) != mask)
        return hd_fault(op, w, mask & ~(t.builtin | t.other),
                        "a call of the running function by some lanes and of others by the rest is not executed");
    return enter(op, w, t.other);
}
