/* Detects uses of uninitialized values.
 *
 * Every bit of a register, of local and of shared memory has a shadow bit: 1 means undefined. Registers and local
 * memory of a new call frame and shared memory of a new CTA are undefined; all other memory is defined. Instructions
 * that only move bits (mov, selp, prmt, shifts, bit fields, integer conversions, shuffles, loads, stores, arguments)
 * move the shadow bits in the same way; and, or, xor and lop3 are evaluated per bit, so that masks clear undefined
 * bits; every other result is undefined as a whole if any bit that it depends on is. None of this is reported, because
 * correct programs copy padding and compute values that they discard. Faults are
 *
 *   - an undefined guard, index of a branch, target of an indirect call, or operand of a barrier
 *   - an undefined address
 *   - a completely undefined value of 32 bits or more, stored to global memory or used by an atomic
 *
 * Results of votes, matches, reductions and textures are assumed defined; matrices: shadow_matrix.c. The destination of
 * a cp.async is undefined until it has been waited for. Machine code: uninitialized_machine.c. */
#include "hwmodel/exec/checks/shadow.h"
#include "hwmodel/exec/ops/access.h"
#include "hwmodel/exec/state/fault.h"

/* ---- reports ----------------------------------------------------------------------------------------------------- */

hd_step hd_uninitialized_report(const hd_op *op, hd_warp *w, uint32_t lanes, uint32_t reg, const char *use)
{
    const hd_code *code = hd_shadow_code(w);
    char name[128];
    uint32_t origin = hd_shadow_origins(hd_top_frame(w))[reg];
    hd_register_spell(code->function, reg, name, sizeof name);
    hd_step step = hd_fault(op, w, lanes, "%s was never written and is used as %s", name, use);
    if (origin != HD_NONE)
        hd_fault_note_location(w, code, origin, "its value comes from here, where what was never written is read");
    return step;
}

static hd_step check_guard(const hd_op *op, hd_warp *w, uint32_t active)
{
    const hd_instruction *insn = hd_shadow_insn(op, hd_shadow_code(w));
    if (insn->guard == HD_NONE)
        return HD_STEP_NEXT;
    uint32_t bad = hd_shadow_register(w, insn->guard) & active;
    return bad ? hd_uninitialized_report(op, w, bad, insn->guard, "a guard") : HD_STEP_NEXT;
}

/* ---- uses -------------------------------------------------------------------------------------------------------- */

/* Checks the registers of addresses: elements of ADDRESS operands. */
hd_step hd_uninitialized_addresses(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_code *code = hd_shadow_code(w);
    const hd_instruction *insn = hd_shadow_insn(op, code);
    const hd_operand *o = hd_insn_operands(code->function, insn), *end = o + insn->operand_count;
    for (; o < end; o += hd_operand_extent(o))
        for (const hd_operand *e = o; o->kind == HD_OPERAND_ADDRESS && e < o + hd_operand_extent(o); e++) {
            uint32_t bad = e->kind == HD_OPERAND_REGISTER ? hd_shadow_register(w, e->value) & mask : 0;
            if (bad)
                return hd_uninitialized_report(op, w, bad, e->value, "an address");
        }
    return HD_STEP_NEXT;
}

/* Checks every register that is read, because each affects control flow. */
hd_step hd_uninitialized_all(const hd_op *op, hd_warp *w, uint32_t mask, const char *use)
{
    const hd_code *code = hd_shadow_code(w);
    HD_INSN_REGISTERS (code->function, hd_shadow_insn(op, code), o) {
        uint32_t bad = o->flags & HD_OPERAND_USE ? hd_shadow_register(w, o->value) & mask : 0;
        if (bad)
            return hd_uninitialized_report(op, w, bad, o->value, use);
    }
    return HD_STEP_NEXT;
}

static hd_step check_callee(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_code *code = hd_shadow_code(w);
    const hd_call *call = op->use.detail;
    uint32_t bad = call->indirect ? hd_shadow_undefined(w, op->a, op->a_bytes) & mask : 0;
    HD_INSN_REGISTERS (code->function, hd_shadow_insn(op, code), o)
        if (bad && o->flags & HD_OPERAND_USE && code->register_rows[o->value] == op->a)
            return hd_uninitialized_report(op, w, bad, o->value, "a function's address");
    return HD_STEP_NEXT;
}

static bool is_access(uint32_t behaviour) { return behaviour & (HD_BEHAVE_LOAD | HD_BEHAVE_STORE | HD_BEHAVE_ATOMIC); }

/* Reports a stored register, given its row. */
static hd_step report_stored(const hd_op *op, hd_warp *w, uint32_t lanes, hd_ref ref)
{
    const hd_code *code = hd_shadow_code(w);
    HD_INSN_REGISTERS (code->function, hd_shadow_insn(op, code), o)
        if (o->flags & HD_OPERAND_USE && code->register_rows[o->value] == ref)
            return hd_uninitialized_report(op, w, lanes, o->value, "a value in global memory");
    return HD_STEP_NEXT;
}

static hd_step before_matrix(const hd_op *op, hd_warp *w, uint32_t mask, const hd_form *form)
{
    hd_ref bad = HD_NO_REF;
    if (form->opcode == HD_OP_WMMA_LOAD || form->opcode == HD_OP_LDMATRIX)
        return hd_shadow_matrix_load(op, w, mask);
    if (form->opcode != HD_OP_WMMA_STORE && form->opcode != HD_OP_STMATRIX)
        return HD_STEP_NEXT;
    hd_step step = hd_shadow_matrix_store(op, w, mask, &bad);
    return bad == HD_NO_REF ? step : report_stored(op, w, mask, bad);
}

static hd_step before(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_code *code = hd_shadow_code(w);
    const hd_form *form = hd_insn_form(code->function, hd_shadow_insn(op, code));
    if (form->behaviour & HD_BEHAVE_CALL)
        return check_callee(op, w, mask);
    if (is_access(form->behaviour) && !(form->behaviour & HD_BEHAVE_TEXTURE)) {
        hd_step step = hd_uninitialized_addresses(op, w, mask);
        return step == HD_STEP_NEXT ? before_matrix(op, w, mask, form) : step;
    }
    if (form->behaviour & HD_BEHAVE_BRANCH)
        return hd_uninitialized_all(op, w, mask, "a branch's index");
    if (form->behaviour & HD_BEHAVE_BARRIER)
        return hd_uninitialized_all(op, w, mask, "an operand of a barrier");
    if (!hd_op_meets(op))
        hd_shadow_spread(op, w, mask, form);
    return HD_STEP_NEXT;
}

hd_step hd_uninitialized_before(const hd_op *op, hd_warp *w, uint32_t active, uint32_t mask)
{
    if (w->cta->program->independent)
        return hd_uninitialized_machine_before(op, w, active, mask);
    hd_step step = check_guard(op, w, active);
    return step == HD_STEP_NEXT && mask ? before(op, w, mask) : step;
}

void hd_uninitialized_meet(const hd_op *op, hd_warp *w, uint32_t lanes)
{
    const hd_code *code = hd_shadow_code(w);
    if (w->cta->checks && w->cta->checks->uninitialized && !w->cta->program->independent)
        hd_shadow_spread(op, w, lanes, hd_insn_form(code->function, hd_shadow_insn(op, code)));
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Shadow of byte `at` of a lane's region; NULL if that memory is always defined. */
static unsigned char *shadow_byte(const hd_warp *w, const hd_region *r, uint64_t at, uint32_t lane)
{
    if (r->interleaved)
        return w->shadow_local + at / 4 * 4 * LANES + lane * 4 + at % 4;
    return r->bytes == w->cta->shared ? w->cta->checks->shared + at : NULL;
}

void hd_uninitialized_shared(hd_cta *cta, uint32_t at, uint32_t bytes, bool undefined)
{
    if (cta->checks && cta->checks->uninitialized)
        memset(cta->checks->shared + at, undefined ? 0xff : 0, bytes);
}

static bool region_of(const hd_op *op, hd_warp *w, uint32_t lane, hd_region *r, uint64_t *at)
{
    uint64_t address = w->cta->addresses[lane];
    bool found = hd_region_find(op, w, (hd_space)op->space, address, r);
    *at = address - r->first;
    return found && (r->interleaved || (w->cta->shared_bytes && r->bytes == w->cta->shared));
}

/* Sets the shadow of one element of a lane, as the load extended it. */
static bool load_bits(const hd_op *op, hd_warp *w, uint32_t lane, uint32_t k, const hd_region *r, uint64_t at)
{
    const hd_code *code = hd_shadow_code(w);
    hd_ref ref = code->refs.items[op->first + k];
    uint32_t bytes = op->item_bytes, width = code->widths.items[op->first + k];
    unsigned char bits[16] = {0}, any = 0;
    if (ref == HD_NO_REF)
        return false;
    for (uint32_t b = 0; b < bytes && r; b++)
        any |= bits[b] = *shadow_byte(w, r, at + (uint64_t)k * bytes + b, lane);
    if (op->flags & HD_OP_SIGNED && bits[bytes - 1] & 0x80)
        memset(bits + bytes, 0xff, sizeof bits - bytes);
    for (uint32_t b = 0; b < width; b++)
        hd_shadow_row(w, ref)[(size_t)(b / 8) * 8 * LANES + lane * hd_min(width, 8) + b % 8] = bits[b];
    return any != 0;
}

void hd_shadow_load(const hd_op *op, hd_warp *w, uint32_t mask)
{
    bool any = false;
    HD_EACH_BIT (lane, mask) {
        hd_region r;
        uint64_t at;
        bool has = region_of(op, w, lane, &r, &at);
        for (uint32_t k = 0; k < op->count; k++)
            any |= load_bits(op, w, lane, k, has ? &r : NULL, at);
    }
    if (any)
        hd_shadow_origin(op, w, mask, true);
}

/* Bytes that are stored. In machine code, whose values may have been scaled: uninitialized_machine.c. */
bool hd_shadow_has_no_value(const hd_warp *w, const unsigned char *bits, uint32_t bytes)
{
    uint32_t undefined = 0;
    for (uint32_t b = 0; b < bytes; b++) {
        if (w->cta->program->independent ? !bits[b] : bits[b] != 0xff)
            return false;
        undefined += (uint32_t)__builtin_popcount(bits[b]);
    }
    return undefined >= bytes * 6;
}

/* Sets the shadow of the bytes of element k that a lane stores; true if the element has no value. */
static bool store_bits(const hd_op *op, const hd_warp *w, uint32_t lane, uint32_t k, unsigned char bits[16])
{
    const hd_code *code = hd_shadow_code(w);
    hd_ref ref = code->refs.items[op->first + k];
    uint32_t width = code->widths.items[op->first + k];
    for (uint32_t b = 0; b < op->item_bytes; b++)
        bits[b] = hd_shadow_has(ref) && b < width
                      ? hd_shadow_row(w, ref)[(size_t)(b / 8) * 8 * LANES + lane * hd_min(width, 8) + b % 8]
                      : 0;
    return hd_shadow_has_no_value(w, bits, op->item_bytes);
}

hd_step hd_shadow_store(const hd_op *op, hd_warp *w, uint32_t mask)
{
    HD_EACH_BIT (lane, mask) {
        hd_region r;
        uint64_t at;
        bool has = region_of(op, w, lane, &r, &at);
        for (uint32_t k = 0; k < op->count; k++) {
            unsigned char bits[16];
            bool undefined = store_bits(op, w, lane, k, bits);
            for (uint32_t b = 0; b < op->item_bytes && has; b++)
                *shadow_byte(w, &r, at + (uint64_t)k * op->item_bytes + b, lane) = bits[b];
            if (!has && undefined && op->item_bytes >= 4)
                return report_stored(op, w, 1u << lane, hd_shadow_code(w)->refs.items[op->first + k]);
        }
    }
    return HD_STEP_NEXT;
}

void hd_shadow_define_bytes(const hd_op *op, hd_warp *w, uint32_t mask)
{
    HD_EACH_BIT (lane, mask) {
        hd_region r;
        uint64_t at;
        for (uint32_t b = 0; region_of(op, w, lane, &r, &at) && b < op->item_bytes * hd_max(op->count, 1u); b++)
            *shadow_byte(w, &r, at + b, lane) = 0;
    }
}

/* st.bulk: the destination is in shared memory, in bounds. */
static void after_bulk(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint64_t *sizes = hd_row(w, op->b);
    HD_EACH_BIT (lane, mask) {
        hd_region r;
        uint64_t at;
        if (region_of(op, w, lane, &r, &at))
            hd_uninitialized_shared(w->cta, (uint32_t)at, (uint32_t)sizes[lane], false);
    }
}

static hd_step after_atomic(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_code *code = hd_shadow_code(w);
    hd_shadow_written(op, w, mask, 0);
    HD_INSN_REGISTERS (code->function, hd_shadow_insn(op, code), o) {
        uint32_t bad = o->flags & HD_OPERAND_USE ? hd_shadow_register(w, o->value) & mask : 0;
        if (bad)
            return hd_uninitialized_report(op, w, bad, o->value, "an operand of an atomic");
    }
    hd_shadow_define_bytes(op, w, mask);
    return HD_STEP_NEXT;
}

/* Results of the device runtime. */
static void after_builtin(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_call *call = op->use.detail;
    for (uint32_t i = 0; i < call->results; i++) {
        const hd_call_copy *c = &hd_shadow_code(w)->copies.items[op->first + call->arguments + i];
        if (c->row != HD_NO_REF)
            hd_shadow_set(hd_shadow_row(w, c->row), c->row_bytes, mask, 0);
        HD_EACH_BIT (lane, c->row == HD_NO_REF ? mask : 0)
            hd_uninitialized_local(w, lane, hd_top_frame(w)->local_base + c->local, c->bytes, false);
    }
}

hd_step hd_uninitialized_after(const hd_op *op, hd_warp *w, uint32_t mask)
{
    if (w->cta->program->independent)
        return hd_uninitialized_machine_after(op, w, mask);
    const hd_code *code = hd_shadow_code(w);
    const hd_form *form = hd_insn_form(code->function, hd_shadow_insn(op, code));
    switch (form->opcode) {
    case HD_OP_LD:
    case HD_OP_LDU: hd_shadow_load(op, w, mask); return HD_STEP_NEXT;
    case HD_OP_ST: return hd_shadow_store(op, w, mask);
    case HD_OP_ATOM:
    case HD_OP_RED: return after_atomic(op, w, mask);
    case HD_OP_CALL: after_builtin(op, w, mask); return HD_STEP_NEXT;
    case HD_OP_ST_BULK: after_bulk(op, w, mask); return HD_STEP_NEXT;
    case HD_OP_WMMA_LOAD: /* done before */
    case HD_OP_LDMATRIX:
    case HD_OP_WMMA_STORE:
    case HD_OP_STMATRIX: return HD_STEP_NEXT;
    case HD_OP_CP_ASYNC: /* these set the shadow of shared memory themselves */
    case HD_OP_CP_ASYNC_MBARRIER_ARRIVE:
    case HD_OP_MBARRIER_INIT:
    case HD_OP_MBARRIER_INVAL:
    case HD_OP_MBARRIER_EXPECT_TX:
    case HD_OP_MBARRIER_COMPLETE_TX:
    case HD_OP_MBARRIER_ARRIVE:
    case HD_OP_MBARRIER_ARRIVE_DROP:
    case HD_OP_MBARRIER_TEST_WAIT:
    case HD_OP_MBARRIER_TRY_WAIT:
    case HD_OP_DISCARD: hd_shadow_written(op, w, mask, 0); return HD_STEP_NEXT;
    default: break;
    }
    if (is_access(form->behaviour) || form->behaviour & (HD_BEHAVE_BARRIER | HD_BEHAVE_ASYNC))
        hd_shadow_written(op, w, mask, 0);
    if (form->behaviour & (HD_BEHAVE_STORE | HD_BEHAVE_ATOMIC | HD_BEHAVE_ASYNC))
        memset(w->cta->checks->shared, 0, w->cta->shared_bytes);
    return HD_STEP_NEXT;
}
